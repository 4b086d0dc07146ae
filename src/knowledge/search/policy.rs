//! Policies: what to keep in mind when a message contains certain words, or has their meaning.

use rust_stemmers::{Algorithm, Stemmer};
use serde_json::{Map, Value};

use crate::retrieval::text::{WordStemmer, each_lowercase_word};

/// The label of policies.
pub const POLICY: &str = "Policy";

/// Weight from which on a policy is of high risk: its reply is part of every answer.
pub const HIGH_RISK: f32 = 0.5;

/// In these languages triggers match in any word form; English first.
const LANGUAGES: [Algorithm; 11] = [
    Algorithm::English,
    Algorithm::Danish,
    Algorithm::Dutch,
    Algorithm::French,
    Algorithm::German,
    Algorithm::Italian,
    Algorithm::Norwegian,
    Algorithm::Portuguese,
    Algorithm::Russian,
    Algorithm::Spanish,
    Algorithm::Swedish,
];

/// Maximum sentences of a message that is compared sentence by sentence.
const SENTENCES: usize = 40;

/// Sentences unrelated to any policy. Their similarity to a trigger is the baseline that an
/// embedder gives to any two texts, which is high for some.
pub const EVERYDAY: [&str; 8] = [
    "The meeting starts at ten o'clock.",
    "Who wrote this report?",
    "The new version was released yesterday.",
    "Please send me the link to the document.",
    "How much does the ticket cost?",
    "The train to the city was late again.",
    "Can you summarise what we decided?",
    "She moved to another team in spring.",
];

/// A message prepared for triggers: its stems in every language.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StemmedText(Vec<Vec<String>>);

impl StemmedText {
    pub fn of(text: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        each_lowercase_word(text, |word| {
            if !WordStemmer::is_english_stop_word(word) {
                words.push(word.to_owned());
            }
        });
        let stemmed = |language: &Algorithm| {
            let stemmer = Stemmer::create(*language);
            let stems = words.iter().map(|word| stemmer.stem(word).into_owned());
            stems.collect()
        };
        Self(LANGUAGES.iter().map(stemmed).collect())
    }

    /// Whether its words occur in sequence in `text`, in any form of one language.
    fn is_in(&self, text: &Self) -> bool {
        self.0.iter().zip(&text.0).any(|(own, said)| {
            !own.is_empty() && said.windows(own.len()).any(|part| part == own.as_slice())
        })
    }
}

/// The vector of a trigger.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerVector {
    vector: Vec<f32>,
    /// Its similarity to unrelated sentences.
    chance: f32,
}

impl TriggerVector {
    /// Creates it from its vector and those of [`EVERYDAY`].
    pub fn new(vector: Vec<f32>, everyday: &[Vec<f32>]) -> Self {
        let sum: f32 = everyday.iter().map(|other| dot(&vector, other)).sum();
        Self {
            chance: (sum / everyday.len().max(1) as f32).min(0.99),
            vector,
        }
    }

    /// Returns the similarity of a text beyond chance: at most 1.
    fn likeness(&self, text: &[f32]) -> f32 {
        if text.len() != self.vector.len() {
            return 0.0;
        }
        (dot(&self.vector, text) - self.chance) / (1.0 - self.chance)
    }
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(x, y)| x * y).sum()
}

/// Returns the sentences of a message, and the message itself.
pub fn sentences(text: &str) -> Vec<&str> {
    let ends = ['.', '!', '?', '\n', ';', '。', '！', '？', '؟'];
    let parts = text.split(ends).map(str::trim);
    let parts = parts.filter(|part| part.chars().any(char::is_alphabetic));
    parts.take(SENTENCES).chain([text]).collect()
}

/// A policy of the team.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Its chunk's number in the index.
    pub entry: usize,
    pub name: String,
    /// As written.
    pub triggers: Vec<String>,
    said: Vec<StemmedText>,
    /// Vectors of the triggers that have one; empty before the embedder was asked.
    pub meanings: Vec<TriggerVector>,
    /// It concerns everything with one of these as tag, label or source.
    pub tags: Vec<String>,
    /// From 0 to 1.
    pub weight: f32,
    /// A reminder at the end of the prompt.
    pub reminder: Option<String>,
    /// Part of every answer at high risk; the whole answer if nothing was found.
    pub reply: Option<String>,
}

impl Policy {
    /// Creates it from the properties of its node.
    pub fn of(entry: usize, properties: &Map<String, Value>) -> Self {
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
            said: triggers
                .iter()
                .map(|trigger| StemmedText::of(trigger))
                .collect(),
            triggers,
            meanings: Vec::new(),
            tags: listed(properties.get("tags")),
            weight: weight.unwrap_or(1.0).clamp(0.0, 1.0) as f32,
            reminder: text("reminder"),
            reply: text("reply"),
        }
    }

    /// Whether its triggers were embedded, as far as it has any.
    pub fn has_meanings(&self) -> bool {
        self.triggers.is_empty() || !self.meanings.is_empty()
    }

    /// Whether the text contains a trigger: its words in sequence, in any form.
    pub fn is_triggered_by(&self, text: &StemmedText) -> bool {
        self.said.iter().any(|trigger| trigger.is_in(text))
    }

    /// Whether one of these vectors has the meaning of a trigger.
    pub fn is_meant_by<'a>(
        &self,
        mut vectors: impl Iterator<Item = &'a Vec<f32>>,
        least: f32,
    ) -> bool {
        vectors.any(|vector| {
            let meanings = self.meanings.iter();
            meanings
                .map(|meaning| meaning.likeness(vector))
                .any(|likeness| likeness >= least)
        })
    }

    /// Returns what it adds to every answer.
    pub fn warning(&self) -> Option<&str> {
        let reply = self.reply.as_deref();
        reply.filter(|_| self.weight >= HIGH_RISK)
    }

    /// Whether it concerns something with these tags, label and source.
    pub fn is_about(&self, tags: &[String], label: &str, source: &str) -> bool {
        self.tags.iter().any(|tag| {
            let same = |other: &str| tag.eq_ignore_ascii_case(other);
            same(label) || same(source) || tags.iter().any(|other| same(other))
        })
    }
}

/// Parses a list, or a text separated by semicolons.
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
            assert_eq!(
                policy.is_triggered_by(&StemmedText::of(text)),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_trigger_may_be_of_many_languages() {
        let policy = policy(&json!({
            "triggers": ["mich umbringen", "suicidarme", "покончить с собой", "飛び降りる"]
        }));
        for (text, expected) in [
            ("Ich will mich umbringen!", true),
            ("Quiero suicidarme.", true),
            ("Я хочу покончить с собой", true),
            ("もう飛び降りるしかない", true),
            ("Ich bringe den Müll raus.", false),
            ("Я хочу есть", false),
        ] {
            assert_eq!(
                policy.is_triggered_by(&StemmedText::of(text)),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_trigger_is_meant_in_other_words() {
        let local = crate::retrieval::LocalEmbedder::shipped().unwrap();
        let vector = |text: &str| local.embed(text).unwrap();
        let everyday: Vec<Vec<f32>> = EVERYDAY.iter().map(|text| vector(text)).collect();
        let mut policy = policy(&json!({"triggers": ["suicide", "kill myself", "end my life"]}));
        let triggers = policy.triggers.iter();
        policy.meanings = triggers
            .map(|trigger| TriggerVector::new(vector(trigger), &everyday))
            .collect();
        for (text, expected) in [
            ("Long day. I feel suicidal. Anyway, when is lunch?", true),
            ("I am thinking of killing myself tonight", true),
            ("I want to end it all", true),
            ("How do I kill a process on Linux?", false),
            ("How do I end a subscription?", false),
            ("When does the meeting start?", false),
        ] {
            let vectors: Vec<Vec<f32>> = sentences(text).iter().map(|it| vector(it)).collect();
            assert_eq!(policy.is_meant_by(vectors.iter(), 0.5), expected, "{text}");
        }
    }

    #[test]
    fn a_reply_is_a_warning_where_the_risk_is_high() {
        let of = |weight: f64| {
            policy(&json!({"reply": "Call for help.", "weight": weight}))
                .warning()
                .map(str::to_owned)
        };
        assert_eq!(of(0.5).as_deref(), Some("Call for help."));
        assert_eq!(of(0.4), None);
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
