//! What is remembered of a channel.

use serde::{Deserialize, Serialize};

/// What is remembered of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChannelMemory {
    /// Questions to the bot, and its answers.
    #[default]
    Asked,
    /// Also what people say to one another there.
    Channel,
}

impl ChannelMemory {
    pub fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Channel => "channel",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Asked, Self::Channel]
            .into_iter()
            .find(|it| it.name() == name)
    }
}
