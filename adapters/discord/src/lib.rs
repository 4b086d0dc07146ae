//! The Discord adapter: slash commands and threads.
//!
//! The `gateway` delivers events in order. `event` reads what the bot uses, and `running` sorts
//! them into changes of the `directory` of guilds and channels, messages, and interactions. Each
//! channel has its own queue. Pure functions decide what a message means (`intent`) and what an
//! interaction wants (`wanted`); `inbound` and `asked` pass them to the bot. The answer returns
//! through a `reply`: as `text` that Discord renders, in `content` with `buttons`, by its
//! `transport`, at the pace of the `outbox`.

mod allow;
mod announce;
mod answer_thread;
mod api;
mod archived;
mod asked;
mod attachment;
mod author_roles;
mod background;
mod buttons;
mod changed;
mod check;
mod commands;
mod content;
mod directory;
mod earlier;
mod errors;
mod event;
mod forwarded;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gateway;
mod gone;
mod handing;
mod history;
mod hub;
mod ids;
mod inbound;
mod intent;
mod interaction;
mod interaction_token;
mod kept_lines;
mod membership;
mod message;
mod missed;
mod missing_fields;
mod name;
mod objects;
mod options;
mod outbox;
mod presence;
mod probe;
mod read_stopped;
mod reading;
mod reply;
mod rights;
mod running;
mod seen_servers;
mod sessions;
mod shards;
mod text;
mod transport;
mod unopened;
mod unread;
mod vocabulary;
mod wanted;
mod withdraw;

use async_trait::async_trait;
use muninn_platform::{Inbox, Platform, PlatformError};
use name::NAME;
use tokio_util::sync::CancellationToken;

pub use allow::DiscordAllowList;
pub use check::{check, invite};
pub use options::{ApiEndpoint, DiscordArgs, DiscordOptions};
/// The id of a guild.
pub use serenity::model::id::GuildId;
pub use shards::{ShardRange, Shards, ShardsError};

/// The bot on Discord, in any number of guilds.
#[derive(Debug)]
pub struct Discord {
    options: DiscordOptions,
}

impl Discord {
    pub fn new(options: DiscordOptions) -> Self {
        Self { options }
    }
}

#[async_trait]
impl Platform for Discord {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, inbox: Inbox, shutdown: CancellationToken) -> Result<(), PlatformError> {
        running::run(&self.options, inbox, &shutdown).await
    }
}
