//! What is still to be read of what was said while the bot was offline.

use chrono::{DateTime, TimeDelta, Utc};
use serenity::model::id::{ChannelId, GuildId, MessageId};

use crate::directory::Channel;
use crate::ids::id_at;

/// The shortest inactivity after which Discord archives a thread.
const SHORTEST_ARCHIVING: TimeDelta = TimeDelta::hours(1);

/// What is still to be read of a server, or of direct messages.
#[derive(Debug)]
pub(crate) struct Unread {
    /// `None`: direct messages.
    pub(crate) guild: Option<GuildId>,
    pub(crate) since: DateTime<Utc>,
    /// Whether the graph is still to list the direct channels.
    pub(crate) has_unlisted_directs: bool,
    /// Channels whose archived threads are still to be listed.
    pub(crate) unlisted: Vec<ChannelId>,
    /// Channels and threads that are still to be read, each after this message.
    pub(crate) unread: Vec<(ChannelId, MessageId)>,
    /// Channels in which edits and deletions are still to be followed.
    pub(crate) unfollowed: Vec<ChannelId>,
}

impl Unread {
    /// `has_directs`: direct messages arrive in this session.
    pub(crate) fn of_directs(has_directs: bool, since: DateTime<Utc>) -> Self {
        Self {
            guild: None,
            since,
            has_unlisted_directs: has_directs,
            unlisted: Vec::new(),
            unread: Vec::new(),
            unfollowed: Vec::new(),
        }
    }

    /// Of a server with these channels and open threads.
    pub(crate) fn of_guild(guild: GuildId, channels: &[Channel], since: DateTime<Utc>) -> Self {
        let after = id_at(since);
        let has_news = |channel: &&Channel| channel.last_message.is_some_and(|last| last > after);
        let all: Vec<ChannelId> = channels.iter().map(|channel| channel.id).collect();
        let news = channels.iter().filter(has_news);
        let may_be_archived = Utc::now() - since >= SHORTEST_ARCHIVING;
        Self {
            guild: Some(guild),
            unlisted: if may_be_archived {
                all.clone()
            } else {
                Vec::new()
            },
            unread: news.map(|channel| (channel.id, after)).collect(),
            unfollowed: all,
            ..Self::of_directs(false, since)
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.has_unlisted_directs
            && self.unlisted.is_empty()
            && self.unread.is_empty()
            && self.unfollowed.is_empty()
    }
}
