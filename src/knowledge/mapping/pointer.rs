//! JSON pointers with `*` for every element of a list.

use serde_json::Value;

/// `/a/b`, or `/a/*/b` for the `b` of every element of `a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    text: String,
    steps: Vec<PointerToken>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PointerToken {
    Name(String),
    Every,
}

impl Pointer {
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let Some(rest) = text.strip_prefix('/') else {
            return Err("is no JSON pointer; it begins with /");
        };
        let steps = rest.split('/').map(|step| match step {
            "*" => PointerToken::Every,
            name => PointerToken::Name(name.replace("~1", "/").replace("~0", "~")),
        });
        Ok(Self {
            text: text.to_owned(),
            steps: steps.collect(),
        })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the name of the field that it points at.
    pub(super) fn name(&self) -> Option<&str> {
        match self.steps.last()? {
            PointerToken::Name(name) => Some(name),
            PointerToken::Every => None,
        }
    }

    /// Whether it yields a list, with any number of elements.
    pub(super) fn is_many(&self) -> bool {
        self.steps.contains(&PointerToken::Every)
    }

    /// Returns every value it points at, without nulls.
    pub(crate) fn all<'a>(&self, record: &'a Value) -> Vec<&'a Value> {
        let mut at = vec![record];
        for step in &self.steps {
            at = at
                .into_iter()
                .flat_map(|value| match (step, value) {
                    (PointerToken::Every, Value::Array(items)) => items.iter().collect(),
                    // A single value may be written where a list is expected.
                    (PointerToken::Every, other) => vec![other],
                    (PointerToken::Name(name), value) => {
                        step_into(value, name).into_iter().collect()
                    }
                })
                .collect();
        }
        at.retain(|value| !value.is_null());
        at
    }

    pub(super) fn first<'a>(&self, record: &'a Value) -> Option<&'a Value> {
        self.all(record).into_iter().next()
    }
}

fn step_into<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Object(object) => object.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// A text with pointers in braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    parts: Vec<PointerTemplatePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PointerTemplatePart {
    Text(String),
    At(Pointer),
}

impl Template {
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (inside, after) = after.split_once('}').ok_or("has a { without its }")?;
            parts.push(PointerTemplatePart::Text(before.to_owned()));
            parts.push(PointerTemplatePart::At(Pointer::parse(inside)?));
            rest = after;
        }
        parts.push(PointerTemplatePart::Text(rest.to_owned()));
        Ok(Self { parts })
    }

    pub(super) fn pointers(&self) -> impl Iterator<Item = &Pointer> {
        self.parts.iter().filter_map(|part| match part {
            PointerTemplatePart::At(pointer) => Some(pointer),
            PointerTemplatePart::Text(_) => None,
        })
    }

    /// Fills in the values; `None` if one of them is missing.
    pub(super) fn fill(&self, record: &Value) -> Option<String> {
        let mut filled = String::new();
        for part in &self.parts {
            match part {
                PointerTemplatePart::Text(text) => filled.push_str(text),
                PointerTemplatePart::At(pointer) => filled.push_str(&word(pointer.first(record)?)?),
            }
        }
        Some(filled)
    }
}

/// Returns a value as a word, for ids and links.
pub(super) fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(_) | Value::String(_) | Value::Null | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}
