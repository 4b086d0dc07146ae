//! What the parts of a running adapter share.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use muninn_platform::{AnswerMode, Audience, AudienceId, Language, Recent, SharedRecent};
use parking_lot::Mutex;
use serenity::model::id::{ChannelId, GuildId, InteractionId, MessageId, RoleId, UserId};
use tokio_util::task::TaskTracker;

use crate::allow::Visitor;
use crate::api::DiscordApi;
use crate::directory::{Directory, DiscordLocation};
use crate::event;
use crate::ids::{self, DiscordPlace};
use crate::interaction_token::{EditRoute, InteractionToken};
use crate::message::Person;
use crate::name::NAME;
use crate::options::DiscordOptions;
use crate::outbox::DiscordOutbox;
use crate::seen_servers::SeenServers;
use crate::shards::ShardRange;
use crate::unopened::UnopenedThreads;

/// Maximum number of remembered interactions: duplicates arrive within minutes.
const INTERACTIONS: usize = 4_096;

/// Maximum number of private answers that can still be withdrawn: their tokens live for minutes.
const PRIVATE_ANSWERS: usize = 1_024;

/// Maximum number of remembered places with messages.
const IN_USE: usize = 4_096;

/// Maximum number of messages to others whose edits are checked: people add a mention within
/// minutes.
const UNADDRESSED: usize = 4_096;

/// Maximum number of the bot's own deletions to remember: Discord reports them within seconds,
/// without saying who deleted.
const REMOVED: usize = 4_096;

/// Maximum number of archived threads in the cache.
const LOOKED_UP: usize = 1_024;

/// Whether a message does not mention the bot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unaddressed {
    /// It does, or nothing is known about it.
    #[default]
    No,
    /// The bot was not given it.
    Untold,
    /// The bot was given it, and may have answered it.
    Overheard,
    /// The bot was given it when an edit of this time added the mention. Discord repeats an edit
    /// when the message gets a thread or a preview.
    SinceEdit(DateTime<Utc>),
}

pub(crate) struct DiscordHub {
    pub(crate) api: DiscordApi,
    pub(crate) me: UserId,
    pub(crate) options: DiscordOptions,
    /// The shards whose events this process receives.
    pub(crate) shards: ShardRange,
    pub(crate) directory: Directory,
    pub(crate) servers: SeenServers,
    pub(crate) unopened: UnopenedThreads,
    pub(crate) outbox: DiscordOutbox,
    /// Background work that is only awaited at shutdown.
    pub(crate) chores: TaskTracker,
    /// The interactions that arrived.
    pub(crate) interactions: SharedRecent<InteractionId, ()>,
    looked_up: SharedRecent<ChannelId, DiscordLocation>,
    /// How private answers can be withdrawn.
    pub(crate) private_answers: SharedRecent<MessageId, (Arc<InteractionToken>, EditRoute)>,
    /// Deleted places: nothing there needs to be withdrawn any more.
    gone: Mutex<Recent<(GuildId, Option<ChannelId>), bool>>,
    /// Places with messages since the start: the thread of their answer may still have to be
    /// opened.
    pub(crate) in_use: SharedRecent<(GuildId, ChannelId), ()>,
    /// Messages that do not mention the bot, until an edit does.
    pub(crate) unaddressed: SharedRecent<MessageId, Unaddressed>,
    /// The bot's own messages that it deletes, whether Discord allows it or not.
    pub(crate) removed: SharedRecent<MessageId, ()>,
}

impl DiscordHub {
    pub(crate) fn new(
        api: DiscordApi,
        me: UserId,
        options: DiscordOptions,
        shards: ShardRange,
    ) -> Self {
        Self {
            api,
            me,
            servers: SeenServers::open(&options.missed),
            unopened: UnopenedThreads::open(&options.missed),
            options,
            shards,
            directory: Directory::default(),
            outbox: DiscordOutbox::default(),
            chores: TaskTracker::new(),
            interactions: SharedRecent::new(INTERACTIONS),
            looked_up: SharedRecent::new(LOOKED_UP),
            private_answers: SharedRecent::new(PRIVATE_ANSWERS),
            gone: Mutex::new(Recent::new(LOOKED_UP)),
            in_use: SharedRecent::new(IN_USE),
            unaddressed: SharedRecent::new(UNADDRESSED),
            removed: SharedRecent::new(REMOVED),
        }
    }

    /// Records that something was said in this place, whether its thread exists yet or not.
    pub(crate) fn record_use(&self, place: DiscordPlace) {
        if let Some(guild) = place.guild {
            self.in_use.insert((guild, place.channel), ());
        }
    }

    /// Records that these channels, or the whole server (`None`), are gone.
    pub(crate) fn record_gone(&self, guild: GuildId, channels: &[Option<ChannelId>]) {
        let mut gone = self.gone.lock();
        for channel in channels {
            gone.insert((guild, *channel), true);
        }
    }

    /// Records that the bot is in the server again.
    pub(crate) fn record_return(&self, guild: GuildId) {
        let mut gone = self.gone.lock();
        if gone.get(&(guild, None)).is_some() {
            gone.insert((guild, None), false);
        }
    }

    pub(crate) fn is_known_gone(&self, guild: GuildId, channel: Option<ChannelId>) -> bool {
        let gone = self.gone.lock().get(&(guild, channel)).copied();
        gone.unwrap_or_default()
    }

    /// Returns the place of a channel; `None` if Discord does not know it either.
    pub(crate) async fn spot(
        &self,
        guild: Option<GuildId>,
        channel: ChannelId,
    ) -> Option<DiscordLocation> {
        let Some(guild) = guild else {
            return Some(DiscordLocation::direct(channel));
        };
        if let Some(spot) = self.directory.spot(guild, channel) {
            return Some(spot);
        }
        let looked_up = self.looked_up.get(&channel);
        if looked_up.is_some() {
            return looked_up;
        }
        let asking = || self.api.channel(channel);
        let found = match self.outbox.retry(asking).await {
            Ok(found) => event::channel(found),
            Err(failure) => {
                tracing::debug!(%channel, %failure, "a channel that is not known");
                return None;
            }
        };
        let spot = DiscordLocation {
            guild: Some(guild),
            ..DiscordLocation::of(&found)
        };
        self.looked_up.insert(channel, spot.clone());
        Some(spot)
    }

    pub(crate) fn is_allowed(&self, who: &Person, spot: &DiscordLocation) -> bool {
        self.lets_in(who.id, &who.roles, spot)
    }

    /// Whether somebody with these roles is answered there.
    pub(crate) fn lets_in(&self, user: UserId, roles: &[RoleId], spot: &DiscordLocation) -> bool {
        let parent = spot.parent.filter(|_| spot.kind.is_thread());
        let visitor = Visitor {
            user,
            roles,
            guild: spot.guild,
            channels: [Some(spot.channel), parent],
        };
        visitor.is_let_in(&self.options.allow)
    }

    /// Returns the language for everybody in an audience.
    pub(crate) fn language(&self, audience: &AudienceId, guild: Option<Language>) -> Language {
        self.options.channels.language(audience, guild)
    }

    /// Returns the same for a channel or thread.
    pub(crate) fn language_there(&self, place: DiscordPlace) -> Language {
        let guild = place.guild.and_then(|it| self.directory.language_in(it));
        let spot = place
            .guild
            .and_then(|it| self.directory.spot(it, place.channel));
        let audience = match spot {
            Some(spot) => self.audience(&spot, None).id,
            None => place.audience(),
        };
        self.language(&audience, guild)
    }

    pub(crate) fn mode(&self, spot: &DiscordLocation) -> AnswerMode {
        let audience = DiscordPlace::new(spot.guild, spot.audience_channel()).audience();
        let set = self.options.channels.answer_mode(&audience);
        set.unwrap_or(self.options.answer)
    }

    /// Returns the audience: who can read what is said there.
    pub(crate) fn audience(&self, spot: &DiscordLocation, private_to: Option<UserId>) -> Audience {
        let channel = match private_to {
            Some(_) => spot.channel,
            None => spot.audience_channel(),
        };
        let name = spot
            .guild
            .filter(|_| channel != spot.channel)
            .and_then(|guild| self.directory.name(guild, channel));
        let place = DiscordPlace {
            guild: spot.guild,
            channel,
            private_to,
        };
        let name = name.unwrap_or_else(|| spot.name.clone());
        Audience {
            id: place.audience(),
            platform: NAME.to_owned(),
            workspace: spot
                .guild
                .map(|guild| guild.to_string())
                .unwrap_or_default(),
            name: match private_to {
                Some(_) => format!("{name} (private)"),
                None => name,
            },
            private_to: private_to.map(ids::author),
        }
    }
}
