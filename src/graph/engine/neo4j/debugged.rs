//! Parses values that the driver exposes only through `{:?}`. The driver's version is pinned;
//! unreadable text yields nothing.

use serde_json::{Map, Value};

/// Maximum nesting depth of values.
const MAX_DEPTH: usize = 2_000;

/// The field of a struct that contains a map in `Some`.
pub(super) fn field(struct_text: &str, name: &str) -> Option<Value> {
    let start = struct_text.find(&format!(" {name}: Some("))?;
    let rest = &struct_text[start + name.len() + ": Some(".len() + 1..];
    let mut reader = DebugTextParser { rest, depth: 0 };
    let map = reader.map()?;
    reader.take(")")?;
    Some(map)
}

struct DebugTextParser<'a> {
    rest: &'a str,
    depth: usize,
}

impl DebugTextParser<'_> {
    fn take(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    fn value(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let kind_length = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(self.rest.len());
        let (kind, rest) = self.rest.split_at(kind_length);
        self.rest = rest;
        if kind == "Null" {
            self.depth -= 1;
            return Some(Value::Null);
        }
        self.take("(")?;
        let value = match kind {
            "String" => Value::String(self.string()?),
            "Dictionary" => self.map()?,
            "List" => self.list()?,
            "Boolean" | "Integer" | "Float" => {
                let end = self.rest.find(')')?;
                let (number, rest) = self.rest.split_at(end);
                self.rest = rest;
                // NaN and infinities are not JSON, and are never needed.
                serde_json::from_str(number).unwrap_or(Value::Null)
            }
            _ => return None,
        };
        self.take(")")?;
        self.depth -= 1;
        Some(value)
    }

    fn list(&mut self) -> Option<Value> {
        self.take("[")?;
        let mut items = Vec::new();
        while !self.rest.starts_with(']') {
            items.push(self.value()?);
            self.comma()?;
        }
        self.take("]")?;
        Some(Value::Array(items))
    }

    fn map(&mut self) -> Option<Value> {
        self.take("{")?;
        let mut entries = Map::new();
        while !self.rest.starts_with('}') {
            let key = self.string()?;
            self.take(": ")?;
            entries.insert(key, self.value()?);
            self.comma()?;
        }
        self.take("}")?;
        Some(Value::Object(entries))
    }

    /// A comma, or the end of the list.
    fn comma(&mut self) -> Option<()> {
        if self.rest.starts_with([']', '}']) {
            return Some(());
        }
        self.take(", ")
    }

    fn string(&mut self) -> Option<String> {
        self.take("\"")?;
        let mut text = String::new();
        let mut characters = self.rest.char_indices();
        loop {
            let (at, c) = characters.next()?;
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                '\\' => {
                    let (_, escaped) = characters.next()?;
                    text.push(match escaped {
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        '0' => '\0',
                        same @ ('\\' | '"' | '\'') => same,
                        'u' => {
                            characters.next().filter(|(_, c)| *c == '{')?;
                            let digits = characters.by_ref().map(|(_, c)| c);
                            let digits: String = digits.take_while(|c| *c != '}').collect();
                            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
                        }
                        _ => return None,
                    });
                }
                other => text.push(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[derive(Debug)]
    #[expect(dead_code, reason = "only shown")]
    enum Bolt {
        Null,
        Boolean(bool),
        Integer(i64),
        Float(f64),
        String(String),
        List(Vec<Self>),
        Dictionary(BTreeMap<String, Self>),
        Bytes(Vec<u8>),
    }

    #[derive(Debug)]
    #[expect(dead_code, reason = "only shown")]
    struct Summary {
        db: Option<String>,
        plan: Option<BTreeMap<String, Bolt>>,
        profile: Option<BTreeMap<String, Bolt>>,
    }

    fn summary(value: Bolt) -> String {
        let text = Summary {
            db: Some("neo4j".to_owned()),
            plan: Some(BTreeMap::from([("a".to_owned(), value)])),
            profile: None,
        };
        format!("{text:?}")
    }

    #[test]
    fn values_come_back_from_what_is_shown() {
        let odd = "a \"quote\", a \\, `b`\n\u{0}\u{1F}\u{202E}ß'}])";
        let shown = summary(Bolt::List(vec![
            Bolt::Null,
            Bolt::Boolean(true),
            Bolt::Integer(-3),
            Bolt::Float(1.5),
            Bolt::String(odd.to_owned()),
            Bolt::List(Vec::new()),
            Bolt::Dictionary(BTreeMap::from([(odd.to_owned(), Bolt::Null)])),
        ]));
        assert_eq!(
            field(&shown, "plan"),
            Some(json!({"a": [null, true, -3, 1.5, odd, [], {odd: null}]}))
        );
    }

    #[test]
    fn what_is_not_known_is_nothing() {
        assert_eq!(field(&summary(Bolt::Bytes(vec![1])), "plan"), None);
        assert_eq!(field(&summary(Bolt::Null), "profile"), None);
        assert_eq!(field("Summary { plan: Some({\"a\": Strin", "plan"), None);
    }
}
