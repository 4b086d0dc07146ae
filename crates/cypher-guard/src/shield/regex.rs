//! Allows only cheap regular expressions: Neo4j's engine backtracks, for hours if it has to, and no
//! time-out ends it.
//!
//! A pattern may contain characters, classes, groups and alternatives. Single characters and classes
//! may be repeated, but groups may not. The number of ways to match a text is then at most a product,
//! which is computed.

/// Maximum characters of a pattern.
const MAX_LENGTH: usize = 500;

/// Maximum bound of `{m,n}`.
const MAX_REPEATS: u64 = 100;

/// Maximum nesting depth of groups.
const MAX_DEPTH: usize = 16;

/// Assumed characters of a text that only the graph knows.
pub(super) const TEXT: u64 = 200;

/// Maximum number of ways to match a text.
const MAX_PRICE: u64 = 20_000_000;

/// Whether the pattern is cheap enough for a text from the graph.
pub(in super::super) fn check(pattern: &str) -> Result<(), String> {
    price(pattern, TEXT).map(|_| ())
}

/// Maximum number of ways to match a text of this length.
pub(super) fn price(pattern: &str, text: u64) -> Result<u64, String> {
    if pattern.chars().count() > MAX_LENGTH {
        return Err(format!("has more than {MAX_LENGTH} characters"));
    }
    let mut reader = RegexParser {
        rest: pattern.chars().collect(),
        at: 0,
        text: text.max(2),
        depth: 0,
    };
    let ways = reader.alternatives()?;
    if reader.at < reader.rest.len() {
        return Err("has a bracket too many".to_owned());
    }
    if ways.number > MAX_PRICE {
        return Err("has too many * and + and ?".to_owned());
    }
    Ok(ways.number.max(1))
}

struct RegexParser {
    rest: Vec<char>,
    at: usize,
    text: u64,
    depth: usize,
}

/// The number of ways to match, and whether the part is a single character or class.
#[derive(Clone, Copy)]
struct Ways {
    number: u64,
    is_single: bool,
}

impl RegexParser {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn take(&mut self, text: &str) -> bool {
        let is_next = (self.at..)
            .zip(text.chars())
            .all(|(at, c)| self.rest.get(at) == Some(&c));
        if is_next {
            self.at += text.chars().count();
        }
        is_next
    }

    fn alternatives(&mut self) -> Result<Ways, String> {
        let mut number = self.sequence()?;
        while self.take("|") {
            number = number.saturating_add(self.sequence()?);
        }
        Ok(Ways {
            number,
            is_single: false,
        })
    }

    fn sequence(&mut self) -> Result<u64, String> {
        let mut number: u64 = 1;
        while self.peek().is_some_and(|c| c != '|' && c != ')') {
            let atom = self.atom()?;
            number = number.saturating_mul(self.repeated(atom)?);
        }
        Ok(number)
    }

    fn atom(&mut self) -> Result<Ways, String> {
        let single = Ok(Ways {
            number: 1,
            is_single: true,
        });
        let c = self.peek().unwrap_or_default();
        self.at += 1;
        match c {
            '(' => self.group(),
            '[' => {
                self.class()?;
                single
            }
            '\\' => {
                self.escape()?;
                single
            }
            '*' | '+' | '?' | '{' => Err(format!("repeats nothing with {c}")),
            _ => single,
        }
    }

    /// What follows `\`. Back-references, boundaries that depend on earlier text, and quoting are not
    /// supported.
    fn escape(&mut self) -> Result<(), String> {
        let Some(c) = self.peek() else {
            return Err("ends with a backslash".to_owned());
        };
        let is_known = !c.is_ascii_alphanumeric() || "dDwWsSbBntr".contains(c);
        if !is_known {
            return Err(format!("uses \\{c}, which is not allowed"));
        }
        self.at += 1;
        Ok(())
    }

    fn class(&mut self) -> Result<(), String> {
        self.take("^");
        let start = self.at;
        loop {
            let Some(c) = self.peek() else {
                return Err("has [ without ]".to_owned());
            };
            self.at += 1;
            match c {
                ']' if self.at > start + 1 => return Ok(()),
                '\\' => self.escape()?,
                '[' | '&' => return Err(format!("uses {c} in a class; write \\{c}")),
                _ => {}
            }
        }
    }

    fn group(&mut self) -> Result<Ways, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("has groups more than {MAX_DEPTH} deep"));
        }
        if self.take("?") && !self.take(":") {
            let start = self.at;
            while self.peek().is_some_and(|c| "imsu".contains(c)) {
                self.at += 1;
            }
            let has_flags = self.at > start;
            if has_flags && self.take(")") {
                self.depth -= 1;
                return Ok(Ways {
                    number: 1,
                    is_single: false,
                });
            }
            if !has_flags || !self.take(":") {
                return Err(
                    "looks around or names a group with (?, which is not allowed".to_owned(),
                );
            }
        }
        let ways = self.alternatives()?;
        if !self.take(")") {
            return Err("has ( without )".to_owned());
        }
        self.depth -= 1;
        Ok(ways)
    }

    /// The effect of a repetition on the number of ways.
    fn repeated(&mut self, part: Ways) -> Result<u64, String> {
        let (times, is_optional) = if self.take("*") || self.take("+") {
            (self.text, false)
        } else if self.take("?") {
            (2, true)
        } else if self.take("{") {
            (self.counted()?, false)
        } else {
            return Ok(part.number);
        };
        if !part.is_single && !is_optional {
            return Err("repeats a group; repeat a character or a class such as [ab]*".to_owned());
        }
        // A lazy one costs the same.
        if !self.take("?") && (self.take("+") || self.take("*") || self.take("{")) {
            return Err("repeats what is repeated".to_owned());
        }
        if part.is_single {
            Ok(times)
        } else {
            Ok(part.number.saturating_add(1))
        }
    }

    /// `3}`, `2,5}`, `2,}`
    fn counted(&mut self) -> Result<u64, String> {
        let least = self.number();
        let most = if self.take(",") {
            if self.peek() == Some('}') {
                self.take("}");
                return Ok(self.text);
            }
            self.number()
        } else {
            least
        };
        match (least, most) {
            (Some(least), Some(most)) if least <= most && most <= MAX_REPEATS => {
                if self.take("}") {
                    return Ok(most - least + 1);
                }
                Err("has { without }".to_owned())
            }
            _ => Err(format!(
                "repeats with {{ in a way that is not allowed; up to {{{MAX_REPEATS}}} is"
            )),
        }
    }

    fn number(&mut self) -> Option<u64> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let digits: String = self.rest[start..self.at].iter().collect();
        digits.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_models_write_is_cheap() {
        for pattern in [
            "(?i).*matrix.*",
            ".*foo.*bar.*",
            "^[A-Z][a-z]+ [A-Z].*$",
            r"\d{4}-\d{2}-\d{2}",
            "(?i)(the|a)? ?matrix",
            "(?i:x)|y{2,5}|[^]a-z]?",
            r".*\bwar\b.*",
        ] {
            assert_eq!(check(pattern), Ok(()), "{pattern}");
        }
    }

    #[test]
    fn what_goes_back_for_long_is_refused() {
        for pattern in [
            "(.*a){25}b",
            "(a+)+b",
            "(a|a)*b",
            "(a|ab)+c",
            ".*a.*a.*a.*a.*b",
            "a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?aaaaaaaa",
            r"(a*)\1",
            "(?=a)b",
            "(?<x>a)",
            "a{1,100000}",
            "[a-z&&[^b]]",
            "a**",
            "a++",
            "(a",
            "a)",
            "[a",
            r"\Qa*\E",
            r"\p{L}",
            "*a",
        ] {
            assert!(check(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_long_text_makes_it_dearer() {
        assert!(price(".*a.*b", 1_000).is_ok());
        assert!(price(".*a.*b", 10_000).is_err());
    }
}
