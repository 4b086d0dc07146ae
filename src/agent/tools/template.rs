//! Texts of tool files with placeholders for arguments, `{town}`, and for variables of the environment,
//! `${WEATHER_KEY}`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};

/// The bot's own settings, whose tokens and passwords must not be sent anywhere else. A test compares the file with the
/// options.
static OWN_SETTINGS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("../../../.env.example").lines();
    let names = lines.filter_map(|line| {
        let (name, _) = line.trim_start_matches(['#', ' ']).split_once('=')?;
        let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        (!name.is_empty() && name.chars().all(is_name)).then_some(name)
    });
    names.collect()
});

/// Shorter values of variables are not secrets, and occur in many texts.
const SHORTEST_SECRET: usize = 4;

/// A text with placeholders.
#[derive(Clone, Debug)]
pub(crate) struct Template(Vec<TemplatePart>);

#[derive(Clone, Debug)]
enum TemplatePart {
    Text(String),
    Argument(String),
    Variable(SecretString),
}

/// The values of variables, and which ones are missing.
#[derive(Debug)]
pub(crate) struct Variables {
    value: fn(&str) -> Option<String>,
    pub(crate) missing: Vec<String>,
}

impl Variables {
    pub(crate) fn new(value: fn(&str) -> Option<String>) -> Self {
        Self {
            value,
            missing: Vec::new(),
        }
    }

    pub(crate) fn of_environment() -> Self {
        Self::new(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn take(&mut self, name: &str) -> Result<TemplatePart, String> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!("${{{name}}} is no name of a variable"));
        }
        if OWN_SETTINGS.contains(name) {
            return Err(format!(
                "${{{name}}} is a setting of the bot itself, which is never sent on; use a variable of another name"
            ));
        }
        let value = (self.value)(name);
        if value.is_none() && !self.missing.iter().any(|it| it == name) {
            self.missing.push(name.to_owned());
        }
        let value = SecretString::from(value.unwrap_or_default());
        Ok(TemplatePart::Variable(value))
    }
}

impl Template {
    /// Parses a text. `{{` and `}}` stand for braces.
    ///
    /// # Errors
    /// Describes what is wrong with it.
    pub(crate) fn parse(text: &str, variables: &mut Variables) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let is_variable = rest[..at].ends_with('$') && rest[at..].starts_with('{');
            let is_doubled = rest[at..].starts_with("{{") || rest[at..].starts_with("}}");
            if is_doubled && !is_variable {
                plain.push_str(&rest[..=at]);
                rest = &rest[at + 2..];
                continue;
            }
            let (before, from) = rest.split_at(at);
            let inside = from.strip_prefix('{').and_then(|it| it.split_once('}'));
            let Some((name, after)) = inside else {
                return Err(format!(
                    "{text:?} has a single brace; write {{{{ or }}}} for one"
                ));
            };
            plain.push_str(if is_variable {
                &before[..at - 1]
            } else {
                before
            });
            if !plain.is_empty() {
                parts.push(TemplatePart::Text(std::mem::take(&mut plain)));
            }
            parts.push(if is_variable {
                variables.take(name)?
            } else {
                TemplatePart::Argument(name.to_owned())
            });
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(TemplatePart::Text(plain));
        }
        Ok(Self(parts))
    }

    /// The arguments for which it has placeholders.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            TemplatePart::Argument(name) => Some(name.as_str()),
            TemplatePart::Text(_) | TemplatePart::Variable(_) => None,
        })
    }

    /// The values of the variables in it.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        self.0.iter().filter_map(|part| match part {
            TemplatePart::Variable(value) => Some(value),
            TemplatePart::Text(_) | TemplatePart::Argument(_) => None,
        })
    }

    /// Its text, if a call fills nothing in.
    pub(crate) fn plain(&self) -> String {
        self.filled(&Map::new(), str::to_owned).unwrap_or_default()
    }

    /// Fills the placeholders with `encoded` arguments; `None` if an argument was not given.
    pub(crate) fn filled(
        &self,
        arguments: &Map<String, Value>,
        encoded: impl Fn(&str) -> String,
    ) -> Option<String> {
        let parts = self.0.iter().map(|part| match part {
            TemplatePart::Text(text) => Some(text.clone()),
            TemplatePart::Variable(value) => Some(value.expose_secret().to_owned()),
            TemplatePart::Argument(name) => Some(encoded(&as_text(arguments.get(name)?)?)),
        });
        parts.collect()
    }

    /// The argument if it is the whole text; it then keeps its JSON type.
    pub(crate) fn only_argument(&self) -> Option<&str> {
        match self.0.as_slice() {
            [TemplatePart::Argument(name)] => Some(name),
            _ => None,
        }
    }
}

/// Values of variables that are sent to others, who may send them back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets(Vec<SecretString>);

impl Secrets {
    pub(crate) fn add<'a>(&mut self, secrets: impl Iterator<Item = &'a SecretString>) {
        self.0.extend(secrets.cloned());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn remove_from(&self, text: &mut String) {
        for secret in &self.0 {
            let secret = secret.expose_secret();
            if secret.len() >= SHORTEST_SECRET && text.contains(secret) {
                *text = text.replace(secret, "[removed]");
            }
        }
    }
}

/// An argument as text; `None` for null.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => {
            let texts: Vec<String> = values.iter().filter_map(as_text).collect();
            Some(texts.join(","))
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => Some(value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Template, String> {
        let value = |name: &str| (name == "KEY").then(|| "s3cret".to_owned());
        Template::parse(text, &mut Variables::new(value))
    }

    #[test]
    fn places_are_filled() {
        let given = json!({"a": "x y", "n": 3, "list": [1, "two"], "none": null});
        let given = given.as_object().unwrap();
        for (text, expected) in [
            ("plain", Some("plain")),
            ("{a}/{n}", Some("<x y>/<3>")),
            ("{list}", Some("<1,two>")),
            ("Bearer ${KEY}", Some("Bearer s3cret")),
            ("{{a}} $5 {a}", Some("{a} $5 <x y>")),
            ("{none}", None),
            ("{other}", None),
        ] {
            let filled = read(text).unwrap().filled(given, |it| format!("<{it}>"));
            assert_eq!(filled.as_deref(), expected, "{text}");
        }
        assert_eq!(read("{a}").unwrap().only_argument(), Some("a"));
        assert!(read("{a}!").unwrap().only_argument().is_none());
        assert!(!format!("{:?}", read("${KEY}")).contains("s3cret"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("{a", "single brace"),
            ("a}", "single brace"),
            ("${SLACK_BOT_TOKEN}", "never sent on"),
            ("${OPENAI_API_KEY}", "never sent on"),
            ("${WEBHOOK_SECRET}", "never sent on"),
            ("${A B}", "no name of a variable"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(expected), "{text}: {said}");
        }
        let mut variables = Variables::new(|_| None);
        Template::parse("${NOT_THERE} ${NOT_THERE}", &mut variables).unwrap();
        assert_eq!(variables.missing, ["NOT_THERE"]);
    }

    proptest! {
        #[test]
        fn a_text_without_places_is_itself(text in "\\PC{0,40}") {
            let doubled = text.replace('{', "{{").replace('}', "}}");
            // `${` begins a variable.
            prop_assume!(!doubled.contains("${"));
            prop_assert_eq!(read(&doubled).unwrap().plain(), text);
        }
    }
}
