//! Settings that change how answers are made in a channel: grounding and style.

use serde::Deserialize;

/// What an answer may rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grounding {
    /// On common knowledge too, where nothing better was found.
    #[default]
    Open,
    /// Only on what was found, or said in the conversation.
    Strict,
}

/// How long an answer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerStyle {
    /// As long as the question needs.
    #[default]
    Full,
    /// One or two sentences, limited to the question.
    Brief,
}
