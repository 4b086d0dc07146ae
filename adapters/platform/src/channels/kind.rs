//! What makes a channel one of another kind: what is asked there, and how it is answered.

use serde::Deserialize;

/// What an answer may rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grounding {
    /// Also common knowledge, where nothing better was found.
    #[default]
    Open,
    /// On what was found, or said in the conversation, and on nothing else.
    Strict,
}

/// How long an answer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerStyle {
    /// As long as the question needs.
    #[default]
    Full,
    /// One or two sentences, without anything beside what was asked.
    Brief,
}
