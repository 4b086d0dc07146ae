//! Splits text into tokens. Refuses characters that people cannot see or distinguish.

use super::problem::{CheckResult, Problem};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum CypherTokenKind {
    /// A word: a keyword or name.
    Word,
    /// A name in backticks, without them.
    Quoted(String),
    Text(String),
    Integer(i64),
    Float(f64),
    Symbol(&'static str),
    End,
}

/// A token and its position, in byte offsets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: CypherTokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Longer ones first.
const SYMBOLS: &[&str] = &[
    "<=", ">=", "<>", "=~", "..", "||", "::", "(", ")", "[", "]", "{", "}", "<", ">", "-", "+",
    "*", "/", "%", "^", "=", ",", ":", ";", ".", "|", "&", "!", "$",
];

/// All tokens, and `End`.
pub(super) fn tokens(text: &str) -> CheckResult<Vec<Token>> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::with_capacity(text.len() / 3);
    loop {
        let token = lexer.next()?;
        let is_last = token.kind == CypherTokenKind::End;
        tokens.push(token);
        if is_last {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &str {
        let start = self.at;
        while self.peek().is_some_and(&keep) {
            self.bump();
        }
        &self.text[start..self.at]
    }

    fn next(&mut self) -> CheckResult<Token> {
        self.skip_blanks()?;
        let start = self.at;
        let kind = match self.peek() {
            None => CypherTokenKind::End,
            Some('`') => CypherTokenKind::Quoted(self.quoted()?),
            Some(quote @ ('\'' | '"')) => CypherTokenKind::Text(self.string(quote)?),
            Some(digit) if digit.is_ascii_digit() => self.number()?,
            Some('.') if self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                self.number()?
            }
            Some(letter) if letter == '_' || (letter.is_alphabetic() && is_plain(letter)) => {
                self.take_while(|c| c == '_' || (c.is_alphanumeric() && is_plain(c)));
                CypherTokenKind::Word
            }
            Some(other) => self.symbol(other)?,
        };
        Ok(Token {
            kind,
            start,
            end: self.at,
        })
    }

    fn skip_blanks(&mut self) -> CheckResult<()> {
        loop {
            self.take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
            if self.rest().starts_with("//") {
                self.take_while(|c| c != '\n' && c != '\r');
            } else if let Some(comment) = self.rest().strip_prefix("/*") {
                let length = comment
                    .find("*/")
                    .ok_or_else(|| Problem::at(self.at, "a comment that begins here never ends"))?;
                self.at += length + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn symbol(&mut self, first: char) -> CheckResult<CypherTokenKind> {
        let known = SYMBOLS.iter().find(|s| self.rest().starts_with(**s));
        if let Some(symbol) = known {
            self.at += symbol.len();
            return Ok(CypherTokenKind::Symbol(symbol));
        }
        let problem = if first == '\\' {
            Problem::at(self.at, "a backslash outside of a string").advice("write plain characters")
        } else {
            let code = first as u32;
            Problem::at(
                self.at,
                format!("the character U+{code:04X} has no place here"),
            )
            .advice("use ASCII for blanks, dashes, quotes and arrows")
        };
        Err(problem)
    }

    fn quoted(&mut self) -> CheckResult<String> {
        let start = self.at;
        self.bump();
        let name = self.take_while(|c| c != '`').to_owned();
        if self.bump().is_none() {
            return Err(Problem::at(start, "a name in backticks never ends"));
        }
        let is_doubled = self.peek() == Some('`');
        if name.is_empty() || is_doubled || !name.chars().all(is_plain) {
            return Err(Problem::at(start, "a name that cannot be used here")
                .advice("names have no backticks, backslashes, control or invisible characters"));
        }
        Ok(name)
    }

    fn string(&mut self, quote: char) -> CheckResult<String> {
        let start = self.at;
        self.bump();
        let mut value = String::new();
        loop {
            let at = self.at;
            match self.bump() {
                None => return Err(Problem::at(start, "a string that begins here never ends")),
                Some(end) if end == quote => return Ok(value),
                Some('\\') => value.push(self.escape(at)?),
                Some(other) if other.is_control() && !matches!(other, '\n' | '\r' | '\t') => {
                    return Err(Problem::at(at, "a control character in a string"));
                }
                Some(other) => value.push(other),
            }
        }
    }

    fn escape(&mut self, at: usize) -> CheckResult<char> {
        let escaped = match self.bump() {
            Some(same @ ('\\' | '\'' | '"' | '`')) => Some(same),
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('u') => self.unicode(),
            Some(_) | None => None,
        };
        escaped.ok_or_else(|| {
            Problem::at(at, "an escape that is not known here")
                .advice(r"write the character itself, or one of \\ \' \n \r \t")
        })
    }

    /// The four digits after `\u`, of a character that is neither a surrogate nor a control
    /// character.
    fn unicode(&mut self) -> Option<char> {
        let digits = self.rest().get(..4)?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        let character = char::from_u32(code).filter(|c| !c.is_control())?;
        self.at += 4;
        Some(character)
    }

    fn number(&mut self) -> CheckResult<CypherTokenKind> {
        let start = self.at;
        let digits = self
            .take_while(|c| c.is_ascii_alphanumeric() || c == '_')
            .to_owned();
        let mut is_float = !digits.starts_with("0x") && digits.contains(['e', 'E']);
        // `1..3` is a range.
        let is_fraction = !digits.contains(|c: char| !c.is_ascii_digit())
            && self.peek() == Some('.')
            && self.rest()[1..].starts_with(|c: char| c.is_ascii_digit());
        if is_fraction {
            is_float = true;
            self.bump();
            self.take_while(|c| c.is_ascii_alphanumeric());
        }
        let ends_in_exponent = is_float && self.text[..self.at].ends_with(['e', 'E']);
        if ends_in_exponent && self.peek().is_some_and(|c| c == '-' || c == '+') {
            self.bump();
            self.take_while(|c| c.is_ascii_digit());
        }
        let written = &self.text[start..self.at];
        let number = if is_float {
            written
                .parse()
                .ok()
                .filter(|f: &f64| f.is_finite())
                .map(CypherTokenKind::Float)
        } else {
            integer(written).map(CypherTokenKind::Integer)
        };
        number.ok_or_else(|| {
            Problem::at(
                start,
                format!("{written} is no number that can be used here"),
            )
            .advice("write whole numbers of up to 64 bits, or decimals")
        })
    }
}

fn integer(written: &str) -> Option<i64> {
    let digits = written.replace('_', "");
    if let Some(hexadecimal) = digits.strip_prefix("0x") {
        return i64::from_str_radix(hexadecimal, 16).ok();
    }
    if let Some(octal) = digits.strip_prefix("0o") {
        return i64::from_str_radix(octal, 8).ok();
    }
    // Older servers read 017 as octal.
    let is_plain = digits == "0" || !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_plain)
}

/// Whether a character may be in a name: it is visible, and no engine could end the name at it.
fn is_plain(c: char) -> bool {
    let is_invisible = matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}');
    let is_odd_blank = c.is_whitespace() && c != ' ';
    !(c == '`' || c == '\\' || c.is_control() || is_invisible || is_odd_blank)
}
