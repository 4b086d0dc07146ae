//! Reads what was said while the bot was offline, and processes it as if Discord had just delivered
//! it.
//!
//! Discord delivers missed events to a resumed session, but not to a new one. A new session
//! receives, with each server, the last message of each channel and open thread, so only places
//! with new messages are read. Each shard has a session of its own, and misses other events.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{
    Bounds, InboxClosed, Incoming, KeyedQueue, Page, PageOrder, RequestFailure, SeenUntil,
    count_with_noun, join_task, read_pages,
};
use parking_lot::Mutex;
use serenity::model::Permissions;
use serenity::model::channel::Message;
use serenity::model::id::{ChannelId, GuildId, MessageId};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::archived::archived_threads_since;
use crate::author_roles::AuthorRoles;
use crate::directory::Channel;
use crate::event::{self, DiscordMessage};
use crate::hub::DiscordHub;
use crate::ids::{DiscordPlace, id_at};
use crate::inbound::DiscordEventHandler;
use crate::read_stopped::ReadStopped;
use crate::shards::ShardRange;

/// Events from this long before a crash may not have been accepted.
const ACCEPTANCE_MARGIN: TimeDelta = TimeDelta::seconds(30);

/// Limits for one channel.
pub(crate) const OF_ONE: Bounds = Bounds {
    items: 5_000,
    bytes: 8 * 1024 * 1024,
    time: Duration::from_secs(600),
};

/// Maximum number of direct channels to check, those with the newest answers first.
const DIRECTS: usize = 200;

/// The shortest inactivity after which Discord archives a thread.
const SHORTEST_ARCHIVING: TimeDelta = TimeDelta::hours(1);

/// Maximum time for the graph to list the direct channels.
const LISTING_TIMEOUT: Duration = Duration::from_secs(30);

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
        };
        self.state.reading.lock().insert(shard, reading);
        // Direct messages arrive at the first shard.
        let has_directs = shard == 0;
        let reader = self.clone();
        self.spawn(shard, until, async move {
            if has_directs {
                reader.read_directs(since).await?;
            }
            Ok(())
        });
    }

    /// Reads what was missed in a server that Discord describes, as it does at the start of a
    /// session.
    pub(crate) fn read_missed_in_guild(&self, shard: u32, guild: GuildId, channels: &[Channel]) {
        let (since, until) = {
            let mut all = self.state.reading.lock();
            let Some(reading) = all.get_mut(&shard) else {
                return;
            };
            if !reading.guilds.remove(&guild) {
                return;
            }
            reading.under_way += 1;
            (reading.since, reading.until)
        };
        let after = id_at(since);
        let has_news = |channel: &&Channel| channel.last_message.is_some_and(|last| last > after);
        let all: Vec<ChannelId> = channels.iter().map(|channel| channel.id).collect();
        let mut channels: Vec<ChannelId> = channels
            .iter()
            .filter(has_news)
            .map(|channel| channel.id)
            .collect();
        let reader = self.clone();
        self.spawn(shard, until, async move {
            channels.extend(reader.archived_since(guild, &all, since).await?);
            reader.read_guild(guild, &channels, since).await?;
            reader.follow_changes(Some(guild), &all, since).await
        });
    }

    /// Records that a server is gone, so nothing is to be read of it.
    pub(crate) fn gone(&self, shard: u32, guild: GuildId) {
        let mut all = self.state.reading.lock();
        if let Some(current) = all.get_mut(&shard) {
            current.guilds.remove(&guild);
            self.finish_if_done(shard, &mut all);
        }
    }

    /// Runs a read of the session that began at `until`.
    fn spawn(
        &self,
        shard: u32,
        until: DateTime<Utc>,
        job: impl Future<Output = Result<(), ReadStopped>> + Send + 'static,
    ) {
        let reader = self.clone();
        self.inbound.hub.chores.spawn(async move {
            match reader.shutdown.run_until_cancelled(job).await {
                Some(Ok(())) => reader.finish_job(shard, until),
                Some(Err(ReadStopped::Away)) => {
                    tracing::warn!(
                        "what was said meanwhile cannot be read now; it is read in the next session"
                    );
                }
                // The next process reads what is not finished.
                Some(Err(ReadStopped::Closed)) | None => {}
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

    async fn read_guild(
        &self,
        guild: GuildId,
        channels: &[ChannelId],
        since: DateTime<Utc>,
    ) -> Result<(), ReadStopped> {
        let mut people = AuthorRoles::new(&self.inbound.hub, guild);
        for channel in channels {
            if self.may_read(guild, *channel) == Some(false) {
                continue;
            }
            let said = self.read(*channel, since).await;
            let mut all = Vec::new();
            for mut said in said {
                said.guild = Some(guild);
                if self.inbound.may_concern_bot(&said).await {
                    said.author.roles = people.roles_of(said.author.id).await?;
                }
                all.push(said);
            }
            self.take_all(all).await?;
        }
        Ok(())
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

    /// Returns the public threads of these channels that were archived since then and have messages
    /// since then. Discord does not describe them to a new session.
    async fn archived_since(
        &self,
        guild: GuildId,
        channels: &[ChannelId],
        since: DateTime<Utc>,
    ) -> Result<Vec<ChannelId>, ReadStopped> {
        let mut found = Vec::new();
        if Utc::now() - since < SHORTEST_ARCHIVING {
            return Ok(found);
        }
        let DiscordHub {
            api,
            outbox,
            directory,
            ..
        } = &*self.inbound.hub;
        for channel in channels {
            let spot = directory.spot(guild, *channel);
            let has_threads = spot.is_some_and(|spot| spot.kind.has_threads());
            if !has_threads || self.may_read(guild, *channel) == Some(false) {
                continue;
            }
            let listed = outbox.retry(|| archived_threads_since(api, *channel, since));
            match listed.await {
                Ok(threads) => found.extend(threads),
                Err(failure) if failure.request_failure().is_temporary() => {
                    return Err(ReadStopped::Away);
                }
                Err(failure) => {
                    tracing::info!(%failure, %channel, "its archived threads are not given");
                }
            }
        }
        Ok(found)
    }

    async fn read_directs(&self, since: DateTime<Utc>) -> Result<(), ReadStopped> {
        let (found, answer) = oneshot::channel();
        let asked = Incoming::Conversations {
            prefix: crate::ids::prefix(None),
            most: DIRECTS,
            found,
        };
        self.inbound.inbox.deliver(asked).await?;
        let Ok(Ok(conversations)) = timeout(LISTING_TIMEOUT, answer).await else {
            return Ok(());
        };
        let places = conversations
            .iter()
            .filter_map(|id| DiscordPlace::parse(id.as_str()));
        let channels: HashSet<ChannelId> = places
            .filter(|place| place.private_to.is_none())
            .map(|place| place.channel)
            .collect();
        let channels = Vec::from_iter(channels);
        for channel in &channels {
            let said = self.read(*channel, since).await;
            self.take_all(said).await?;
        }
        self.follow_changes(None, &channels, since).await
    }

    /// Reads what was said in a channel since then, oldest first.
    async fn read(&self, channel: ChannelId, since: DateTime<Utc>) -> Vec<DiscordMessage> {
        let read = read_pages(OF_ONE, PageOrder::OldestFirst, content_bytes, |from| {
            self.page_after(channel, from.unwrap_or_else(|| id_at(since)))
        })
        .await;
        if let Some(cut) = read.cut {
            tracing::warn!(%channel, %cut, read = read.items.len(), "not all that was said meanwhile is read");
        }
        read.items.into_iter().map(event::to_message).collect()
    }

    /// Reads a page of the messages of a channel after the given one, oldest first.
    pub(crate) async fn page_after(
        &self,
        channel: ChannelId,
        after: MessageId,
    ) -> Result<Page<Message, MessageId>, RequestFailure> {
        let page = self.inbound.hub.api.gateway_messages_after(channel, after);
        let mut items = page.await.map_err(|failure| {
            tracing::info!(%failure, %channel, "what was said meanwhile is not given");
            failure.request_failure()
        })?;
        // Each page has its newest first.
        items.sort_by_key(|message| message.id);
        let is_full = items.len() == usize::from(crate::background::PAGE);
        let newest = items.last().map(|newest| newest.id);
        let next = newest.filter(|_| is_full);
        Ok(Page { items, next })
    }

    async fn take_all(&self, all: Vec<DiscordMessage>) -> Result<(), InboxClosed> {
        let oldest = self.inbound.hub.options.missed.oldest();
        let mut too_old = 0;
        for said in all {
            if said.author.is_bot {
                continue;
            }
            too_old += usize::from(!self.take(said, oldest).await?);
        }
        if too_old > 0 {
            let number = count_with_noun(too_old, "message");
            tracing::warn!("{number} older than MISSED_MESSAGES_AGE are not answered");
        }
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
