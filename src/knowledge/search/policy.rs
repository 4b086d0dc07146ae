//! Policies: what has to be kept in mind when certain words are said.

use serde_json::{Map, Value};

use crate::memory::text::Words;

/// The label of policies.
pub const POLICY: &str = "Policy";

/// What the team wants to be kept in mind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Its chunk's number in the index.
    pub entry: usize,
    pub name: String,
    /// Stems of each trigger, in their order.
    triggers: Vec<Vec<String>>,
    /// What is about the same has one of these as tag, label or source.
    pub tags: Vec<String>,
    /// From 0 to 1.
    pub weight: f32,
    /// Closes the prompt.
    pub reminder: Option<String>,
    /// The answer where nothing was found.
    pub reply: Option<String>,
}

impl Policy {
    /// Of the properties of its node.
    pub fn of(entry: usize, properties: &Map<String, Value>) -> Self {
        let words = Words::default();
        let text = |name: &str| {
            let text = properties.get(name).and_then(Value::as_str);
            text.map(str::trim)
                .filter(|it| !it.is_empty())
                .map(str::to_owned)
        };
        let triggers = listed(properties.get("triggers"));
        let weight = match properties.get("weight") {
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => None,
        };
        Self {
            entry,
            name: text("title").or_else(|| text("name")).unwrap_or_default(),
            triggers: triggers
                .iter()
                .map(|trigger| words.list(trigger))
                .filter(|stems| !stems.is_empty())
                .collect(),
            tags: listed(properties.get("tags")),
            weight: weight.unwrap_or(1.0).clamp(0.0, 1.0) as f32,
            reminder: text("reminder"),
            reply: text("reply"),
        }
    }

    /// Whether a trigger is said in it: its words one after the other, in any of their forms.
    pub fn is_triggered_by(&self, stems: &[String]) -> bool {
        self.triggers
            .iter()
            .any(|trigger| stems.windows(trigger.len()).any(|part| part == trigger))
    }

    /// Whether something with these tags, label and source is what it is about.
    pub fn is_about(&self, tags: &[String], label: &str, source: &str) -> bool {
        self.tags.iter().any(|tag| {
            let same = |other: &str| tag.eq_ignore_ascii_case(other);
            same(label) || same(source) || tags.iter().any(|other| same(other))
        })
    }
}

/// The stems of what is said, as triggers are compared with.
pub fn stems<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let words = Words::default();
    texts.flat_map(|text| words.list(text)).collect()
}

/// A list, or a text whose parts are separated by semicolons.
fn listed(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => {
            let texts = items.iter().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        }
        Some(Value::String(text)) => {
            let parts = text.split(';').map(str::trim);
            let parts = parts.filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect()
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn policy(properties: &Value) -> Policy {
        Policy::of(0, properties.as_object().unwrap())
    }

    #[test]
    fn a_trigger_is_said_in_any_form_but_not_in_parts() {
        let policy = policy(&json!({"triggers": ["hurting myself", "Overdose", "the"]}));
        for (text, expected) in [
            ("I keep HURTING myself.", true),
            ("He hurts. Myself, I don't.", true),
            ("overdoses happen", true),
            ("It hurts a lot, said my self", false),
            ("the the the", false),
            ("", false),
        ] {
            let stems = stems([text].into_iter());
            assert_eq!(policy.is_triggered_by(&stems), expected, "{text}");
        }
    }

    #[test]
    fn lists_may_be_written_as_text() {
        let policy =
            policy(&json!({"triggers": "fire; smoke", "tags": "safety;", "weight": "0.5"}));
        assert_eq!(policy.triggers.len(), 2);
        assert_eq!((policy.tags.len(), policy.weight), (1, 0.5));
        assert!(policy.is_about(&["Safety".to_owned()], "Section", "wiki"));
        assert!(policy.is_about(&[], "SAFETY", "wiki"));
        assert!(!policy.is_about(&[], "Section", "wiki"));
    }
}
