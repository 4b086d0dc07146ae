//! JSON request bodies with placeholders for arguments.

use serde_json::{Map, Value};

use crate::agent::tools::template::{Template, Variables};

/// A JSON body with placeholders for arguments.
#[derive(Debug)]
pub(super) enum Json {
    Plain(Value),
    Text(Template),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Json {
    pub(super) fn parse(value: Value, variables: &mut Variables) -> Result<Self, String> {
        Ok(match value {
            Value::String(text) => Self::Text(
                Template::parse(&text, variables).map_err(|detail| format!("body: {detail}"))?,
            ),
            Value::Array(items) => {
                let items = items.into_iter().map(|item| Self::parse(item, variables));
                Self::List(items.collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                let mut parsed = Vec::new();
                for (name, field) in fields {
                    parsed.push((name, Self::parse(field, variables)?));
                }
                Self::Object(parsed)
            }
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => Self::Plain(plain),
        })
    }

    /// `None` if an argument was not given; the field is then left out.
    pub(super) fn filled(&self, arguments: &Map<String, Value>) -> Option<Value> {
        match self {
            Self::Plain(value) => Some(value.clone()),
            Self::Text(template) => match template.only_argument() {
                Some(name) => arguments.get(name).cloned(),
                None => template.filled(arguments, str::to_owned).map(Value::String),
            },
            Self::List(items) => {
                let items = items.iter().filter_map(|item| item.filled(arguments));
                Some(Value::Array(items.collect()))
            }
            Self::Object(fields) => {
                let fields = fields
                    .iter()
                    .filter_map(|(name, field)| Some((name.clone(), field.filled(arguments)?)));
                Some(Value::Object(fields.collect()))
            }
        }
    }

    pub(super) fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Plain(_) => Vec::new(),
            Self::Text(template) => vec![template],
            Self::List(items) => items.iter().flat_map(Self::templates).collect(),
            Self::Object(fields) => fields.iter().flat_map(|(_, it)| it.templates()).collect(),
        }
    }

    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.templates().into_iter().flat_map(Template::arguments)
    }
}
