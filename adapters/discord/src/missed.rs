//! Reads what was said while the bot was offline, and processes it as if Discord had just delivered
//! it.
//!
//! Discord delivers missed events to a resumed session, but not to a new one. A new session
//! receives, with each server, the last message of each channel and open thread, so only places
//! with new messages are read. Each shard has a session of its own, and misses other events. What
//! cannot be read is tried again until a newer session of the shard reads all of it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{InboxClosed, KeyedQueue, Missed, RequestFailure, SeenUntil, join_task};
use parking_lot::Mutex;
use serenity::model::Permissions;
use serenity::model::channel::Message;
use serenity::model::id::{ChannelId, GuildId, MessageId};
use tokio_util::sync::CancellationToken;

use crate::directory::Channel;
use crate::inbound::DiscordEventHandler;
use crate::message::DiscordMessage;
use crate::missing_fields::MessagePage;
use crate::shards::ShardRange;
use crate::unread::Unread;

/// Events from this long before a crash may not have been accepted.
const ACCEPTANCE_MARGIN: TimeDelta = TimeDelta::seconds(30);

/// Pause between attempts to deliver while the queues are full.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// Reads missed messages.
#[derive(Clone)]
pub(crate) struct MissedReader {
    pub(crate) inbound: DiscordEventHandler,
    queue: Arc<KeyedQueue<ChannelId>>,
    shutdown: CancellationToken,
    state: Arc<MissedReaderState>,
}

struct MissedReaderState {
    /// By the shards of this process, in order.
    seen_until: SeenUntil,
    shards: ShardRange,
    /// Shards that have had a session in this process.
    begun: Mutex<HashSet<u32>>,
    reading: Mutex<HashMap<u32, ShardBacklog>>,
}

impl MissedReaderState {
    /// Returns the index of a shard in `seen_until`.
    fn connection(&self, shard: u32) -> usize {
        let number = self.shards.numbers().position(|one| one == shard);
        number.unwrap_or_default()
    }
}

/// What a shard still has to read.
#[derive(Debug)]
struct ShardBacklog {
    since: DateTime<Utc>,
    /// When its session began, by which its reads know it: a newer session reads all of it again.
    until: DateTime<Utc>,
    /// Servers that Discord has not described yet.
    guilds: HashSet<GuildId>,
    under_way: usize,
    /// Ends its reads, when a newer session reads all of it or the bot ends.
    ended: CancellationToken,
}

impl ShardBacklog {
    fn is_done(&self) -> bool {
        self.guilds.is_empty() && self.under_way == 0
    }
}

impl MissedReader {
    pub(crate) fn new(
        inbound: &DiscordEventHandler,
        queue: &Arc<KeyedQueue<ChannelId>>,
        shutdown: &CancellationToken,
    ) -> Self {
        let missed = &inbound.hub.options.missed;
        let shards = inbound.hub.shards;
        let names = shards.numbers().map(|shard| shards.name(shard));
        let state = MissedReaderState {
            seen_until: SeenUntil::of_several(missed, names.collect()),
            shards,
            begun: Mutex::default(),
            reading: Mutex::default(),
        };
        Self {
            inbound: inbound.clone(),
            queue: Arc::clone(queue),
            shutdown: shutdown.clone(),
            state: Arc::new(state),
        }
    }

    /// Records the time of a message that was said just now.
    pub(crate) fn record_message_time(&self, message: MessageId) {
        self.state.seen_until.record_platform_time(time_of(message));
    }

    /// Records an event of a shard. Not for the first of a new session, which says nothing about
    /// missed ones.
    pub(crate) fn record_event(&self, shard: u32) {
        let connection = self.state.connection(shard);
        let until = Utc::now() - ACCEPTANCE_MARGIN;
        self.state.seen_until.record_seen(connection, until);
    }

    /// Records the end of the adapter, in which everything until then was accepted. What a shard without a
    /// session missed is still to be read.
    pub(crate) fn record_shutdown(&self, until: DateTime<Utc>) {
        let begun = self.state.begun.lock().clone();
        for shard in begun {
            let connection = self.state.connection(shard);
            self.state.seen_until.record_seen(connection, until);
        }
        self.state.seen_until.save();
    }

    /// Begins a new session of a shard, which received nothing before. Discord describes these
    /// servers next.
    pub(crate) fn begin_session(&self, shard: u32, guilds: &[GuildId]) {
        self.state.begun.lock().insert(shard);
        let until = Utc::now();
        let (connection, seen_until) = (self.state.connection(shard), &self.state.seen_until);
        // Nothing is read from before the very first start.
        let Some(since) = seen_until.begin_reading_missed(connection, until) else {
            return seen_until.record_seen(connection, until);
        };
        let reading = ShardBacklog {
            since,
            until,
            guilds: guilds.iter().copied().collect(),
            under_way: 1,
            ended: self.shutdown.child_token(),
        };
        let ended = reading.ended.clone();
        replace(&mut self.state.reading.lock(), shard, reading);
        // Direct messages arrive at the first shard.
        let has_directs = shard == 0;
        let unread = Unread::of_directs(has_directs, since);
        self.spawn(shard, until, ended, unread);
    }

    /// Reads what was missed in a server that Discord describes, as it does at the start of a
    /// session.
    pub(crate) fn read_missed_in_guild(&self, shard: u32, guild: GuildId, channels: &[Channel]) {
        let (since, until, ended) = {
            let mut all = self.state.reading.lock();
            let Some(reading) = all.get_mut(&shard) else {
                return;
            };
            if !reading.guilds.remove(&guild) {
                return;
            }
            reading.under_way += 1;
            (reading.since, reading.until, reading.ended.clone())
        };
        let unread = Unread::of_guild(guild, channels, since);
        self.spawn(shard, until, ended, unread);
    }

    /// Records that a server is gone, so nothing is to be read of it.
    pub(crate) fn gone(&self, shard: u32, guild: GuildId) {
        let mut all = self.state.reading.lock();
        if let Some(current) = all.get_mut(&shard) {
            current.guilds.remove(&guild);
            self.finish_if_done(shard, &mut all);
        }
    }

    /// Reads for the session that began at `until`.
    fn spawn(&self, shard: u32, until: DateTime<Utc>, ended: CancellationToken, unread: Unread) {
        let reader = self.clone();
        self.inbound.hub.chores.spawn(async move {
            let read = ended.run_until_cancelled(reader.read_all(unread)).await;
            // Otherwise the next session or process reads it.
            if matches!(read, Some(Ok(()))) {
                reader.finish_job(shard, until);
            }
        });
    }

    fn finish_job(&self, shard: u32, until: DateTime<Utc>) {
        let mut all = self.state.reading.lock();
        let current = all.get_mut(&shard);
        if let Some(current) = current.filter(|current| current.until == until) {
            current.under_way -= 1;
            self.finish_if_done(shard, &mut all);
        }
    }

    fn finish_if_done(&self, shard: u32, all: &mut HashMap<u32, ShardBacklog>) {
        if let Some(done) = all.get(&shard).filter(|current| current.is_done()) {
            let (connection, until) = (self.state.connection(shard), done.until);
            self.state
                .seen_until
                .finish_reading_missed(connection, until);
            all.remove(&shard);
        }
    }

    /// Whether the bot may read the messages of a channel; `None` if that is not known, as of archived
    /// threads.
    pub(crate) fn may_read(&self, guild: GuildId, channel: ChannelId) -> Option<bool> {
        let hub = &self.inbound.hub;
        let needed = Permissions::VIEW_CHANNEL | Permissions::READ_MESSAGE_HISTORY;
        let spot = hub.directory.spot(guild, channel)?;
        let may = hub.directory.my_permissions(&spot, hub.me)?;
        Some(may.contains(needed))
    }

    /// Reads a page of the messages of a channel after the given one.
    pub(crate) async fn page_after(
        &self,
        channel: ChannelId,
        after: MessageId,
    ) -> Result<MessagePage, RequestFailure> {
        let page = self.inbound.hub.api.gateway_messages_after(channel, after);
        page.await.map_err(|failure| {
            tracing::info!(%failure, %channel, "what was said meanwhile is not given");
            failure.request_failure()
        })
    }

    /// Delivers messages of a channel.
    pub(crate) async fn take_all(&self, all: Vec<DiscordMessage>) -> Result<(), InboxClosed> {
        let oldest = self.inbound.hub.options.missed.oldest();
        let mut too_old = 0;
        for said in all {
            if said.author.is_bot {
                continue;
            }
            too_old += usize::from(!self.take(said, oldest).await?);
        }
        Missed::report_too_old(too_old);
        Ok(())
    }

    /// Delivers a message in its channel's queue, with new events. Returns false if it is too old
    /// to be answered.
    async fn take(&self, said: DiscordMessage, oldest: DateTime<Utc>) -> Result<bool, InboxClosed> {
        self.run_in_channel_queue(said.channel, || {
            let (inbound, said) = (self.inbound.clone(), said.clone());
            async move { inbound.deliver_missed_message(said, oldest).await }
        })
        .await
    }

    /// Runs something in a channel's queue, as soon as there is room.
    pub(crate) async fn run_in_channel_queue<T, F>(
        &self,
        channel: ChannelId,
        telling: impl Fn() -> F + Send,
    ) -> Result<T, InboxClosed>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, InboxClosed>> + Send + 'static,
    {
        loop {
            match self
                .queue
                .spawn(channel, &self.inbound.hub.chores, telling())
            {
                Some(task) => return join_task(task).await,
                // It ends with the process at the latest.
                None => tokio::time::sleep(RETRY_DELAY).await,
            }
        }
    }
}

/// Gives a shard another backlog, and ends the reads of the one before.
fn replace(all: &mut HashMap<u32, ShardBacklog>, shard: u32, newer: ShardBacklog) {
    if let Some(older) = all.insert(shard, newer) {
        older.ended.cancel();
    }
}

/// The size of a message.
pub(crate) fn content_bytes(message: &Message) -> usize {
    message.content.len()
}

/// Returns the time of a message.
fn time_of(message: MessageId) -> DateTime<Utc> {
    message.created_at().to_utc()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::id_at;

    #[test]
    fn a_newer_session_ends_the_reads_of_the_one_before() {
        let backlog = || ShardBacklog {
            since: DateTime::UNIX_EPOCH,
            until: DateTime::UNIX_EPOCH,
            guilds: HashSet::new(),
            under_way: 1,
            ended: CancellationToken::new(),
        };
        let (first, second, other) = (backlog(), backlog(), backlog());
        let ended = [&first, &second, &other].map(|backlog| backlog.ended.clone());
        let mut all = HashMap::new();
        replace(&mut all, 0, first);
        replace(&mut all, 1, other);
        replace(&mut all, 0, second);
        let ended = ended.map(|ended| ended.is_cancelled());
        assert_eq!(ended, [true, false, false]);
    }

    #[test]
    fn an_id_says_when() {
        // The example from Discord's documentation.
        let time = DateTime::from_timestamp_millis(1_462_015_105_796).unwrap();
        let example = 175_928_847_299_117_063;
        let id = id_at(time).get();
        assert!(id <= example && example - id < 1 << 22, "{id}");
        assert_eq!(time_of(MessageId::new(example)), time);
        assert!(id_at(time + TimeDelta::milliseconds(1)).get() > example);
        assert_eq!(id_at(DateTime::UNIX_EPOCH).get(), 1 << 22);
    }
}
