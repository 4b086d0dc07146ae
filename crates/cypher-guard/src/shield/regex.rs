//! Allows only cheap regular expressions: Neo4j's engine backtracks, for hours if it has to, and no
//! time-out ends it.
//!
//! A pattern may contain characters, classes, groups and alternatives. Single characters and classes
//! may be repeated, but groups may not. The number of ways to match a text is then at most a product,
//! which is computed. Of the ends of an unbounded repetition only those count that the characters after it
//! leave over.

/// Maximum characters of a pattern.
const MAX_LENGTH: usize = 500;

/// Maximum bound of `{m,n}`.
const MAX_REPEATS: u64 = 100;

/// Maximum nesting depth of groups.
const MAX_DEPTH: usize = 16;

/// Assumed characters of a text that only the graph knows, and of any other one at least.
pub(super) const TEXT: u64 = 2_000;
pub(super) const SHORT: u64 = 200;

/// Maximum number of ways to match a text.
const MAX_PRICE: u64 = 20_000_000;

/// What a pattern may cost that is known only when the statement runs.
pub(super) const PARAMETER: u64 = 4_000_000;

/// Whether such a pattern is cheap enough for a text from the graph.
pub(in super::super) fn check(pattern: &str) -> Result<(), String> {
    match price(pattern, TEXT)? {
        price if price > PARAMETER => Err("has too many * and + and ?".to_owned()),
        _ => Ok(()),
    }
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
        most: 1,
    };
    let ways = reader.alternatives()?;
    if reader.at < reader.rest.len() {
        return Err("has a bracket too many".to_owned());
    }
    let price = ways.number.max(reader.most);
    if price > MAX_PRICE {
        return Err("has too many * and + and ?".to_owned());
    }
    Ok(price)
}

struct RegexParser {
    rest: Vec<char>,
    at: usize,
    text: u64,
    depth: usize,
    /// The most ways at any position.
    most: u64,
}

/// The number of ways to match, and whether the part is a single character or class.
#[derive(Clone, Copy)]
struct Ways {
    number: u64,
    is_single: bool,
}

/// The same for a repeated part.
#[derive(Clone, Copy)]
struct Repeated {
    number: u64,
    is_unbounded: bool,
    is_optional: bool,
}

/// Whether an atom fits few of a text's characters; `None` if it takes none.
fn selects(atom: &str) -> Option<bool> {
    match atom {
        "^" | "$" | r"\b" | r"\B" => None,
        "." | r"\D" | r"\W" | r"\S" | r"\w" => Some(false),
        flags if flags.starts_with("(?") && !flags.contains(':') => None,
        class if class.starts_with('[') => {
            let without_digits = class.replace("0-9", "");
            Some(!without_digits.contains(['^', '-', 'D', 'W', 'S', 'w']))
        }
        group if group.starts_with('(') => {
            let words = group.trim_matches(['(', ')']).split('|');
            let is_word = |word: &str| !word.is_empty() && word.chars().all(char::is_alphanumeric);
            Some(words.into_iter().all(is_word))
        }
        _ => Some(true),
    }
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
        let mut is_after_few = true;
        while self.peek().is_some_and(|c| c != '|' && c != ')') {
            let start = self.at;
            let atom = self.atom()?;
            let written: String = self.rest[start..self.at].iter().collect();
            let ways = self.repeated(atom)?;
            if written == "." && ways.is_unbounded && is_after_few && self.is_at_end() {
                // It takes the rest of the text, from the few positions that what is before it leaves over.
                continue;
            }
            is_after_few = match selects(&written) {
                Some(selects) if !ways.is_optional => selects,
                Some(selects) => selects && is_after_few,
                None => is_after_few,
            };
            number = number.saturating_mul(ways.number);
            self.most = self.most.max(number);
            if ways.is_unbounded {
                number = number.div_ceil(self.distance());
            }
        }
        Ok(number)
    }

    /// Whether nothing but `$` follows, also after the groups around.
    fn is_at_end(&self) -> bool {
        let rest = self.rest.get(self.at..).unwrap_or_default();
        match rest.iter().find(|c| **c != '$') {
            None => true,
            Some('|' | ')') if self.depth == 0 => true,
            Some(')') => !rest.iter().any(|c| !matches!(c, '$' | ')')),
            Some(_) => false,
        }
    }

    /// How far apart the literal characters that follow are at least in a text.
    fn distance(&self) -> u64 {
        let rest = self.rest.get(self.at..).unwrap_or_default();
        let is_literal = |c: &&char| !r".*+?{}[]()|\^$".contains(**c);
        let mut literal: Vec<char> = rest.iter().take_while(is_literal).copied().collect();
        if matches!(rest.get(literal.len()), Some('*' | '+' | '?' | '{')) {
            // The last one is repeated.
            literal.pop();
        }
        let literal: Vec<String> = literal.iter().map(|c| c.to_lowercase().collect()).collect();
        let is_period = |by: &usize| literal[*by..] == literal[..literal.len() - by];
        let period = (1..literal.len()).find(is_period);
        period.unwrap_or(literal.len()).max(1) as u64
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
    fn repeated(&mut self, part: Ways) -> Result<Repeated, String> {
        let once = |number| Repeated {
            number,
            is_unbounded: false,
            is_optional: number != part.number,
        };
        let rest = self.rest.get(self.at..).unwrap_or_default();
        let may_be_none = matches!(rest, ['*', ..] | ['{', '0', ..]);
        let (times, is_optional, is_unbounded) = if self.take("*") || self.take("+") {
            (self.text, false, true)
        } else if self.take("?") {
            (2, true, false)
        } else if self.take("{") {
            let times = self.counted()?;
            (times.unwrap_or(self.text), false, times.is_none())
        } else {
            return Ok(once(part.number));
        };
        if !part.is_single && !is_optional {
            return Err("repeats a group; repeat a character or a class such as [ab]*".to_owned());
        }
        // A lazy one costs the same.
        if !self.take("?") && (self.take("+") || self.take("*") || self.take("{")) {
            return Err("repeats what is repeated".to_owned());
        }
        if part.is_single {
            Ok(Repeated {
                number: times,
                is_unbounded,
                is_optional: is_optional || may_be_none,
            })
        } else {
            Ok(once(part.number.saturating_add(1)))
        }
    }

    /// `3}`, `2,5}`; `None` for `2,}`, which has no end.
    fn counted(&mut self) -> Result<Option<u64>, String> {
        let least = self.number();
        let most = if self.take(",") {
            if self.peek() == Some('}') {
                self.take("}");
                return Ok(None);
            }
            self.number()
        } else {
            least
        };
        match (least, most) {
            (Some(least), Some(most)) if least <= most && most <= MAX_REPEATS => {
                if self.take("}") {
                    return Ok(Some(most - least + 1));
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
            "(?i).*foo.*bar.*",
            "(?i).*(foo|bar).*",
            "(?i)(.*matrix.*)",
            ".*foo.*|.*bar.*",
            ".*, .*",
            ".*[0-9]+.*$",
            r"(?i).*\bfoo\b.*\bbar\b.*",
            r".*\d{4}.*",
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
            r".*\s.*\s.*Z",
            "(?s).*.*.*Z",
            ".*aa.*aa.*aa.*b",
            "(.*x.*|y)(.*.*)z",
            ".*.*.*",
            ".*[^x].*[^x].*",
            ".*a?.*a?.*",
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
