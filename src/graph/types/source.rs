//! Where an output comes from.

use serde::{Deserialize, Serialize};

impl Source {
    /// Whether the bot said it.
    pub fn is_answer(self) -> bool {
        match self {
            Self::Model | Self::Knowledge | Self::Retrieval | Self::Memory => true,
            Self::Message | Self::Note => false,
        }
    }
}

/// The origin of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A model wrote it.
    Model,
    /// A model wrote it from what it found in the team's knowledge, or it lists that.
    Knowledge,
    /// A model wrote it from passages of ingested documents, or it quotes them.
    Retrieval,
    /// It only quotes memory; no model was available. It is not embedded, so that its quotes are not recalled twice.
    Memory,
    /// No answer: people said it to one another. The bot only heard it, so its output is empty, and operations on
    /// answers ignore it.
    Message,
    /// No answer: it is a note. Operations on answers ignore it too.
    Note,
}
