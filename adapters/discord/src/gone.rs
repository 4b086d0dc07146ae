//! Forgets what was said in deleted places, whether the bot saw the deletion or not.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{
    AudienceId, EventId, InboxClosed, Incoming, IncomingMessage, Reply, SilentReply,
};
use serenity::model::id::{ChannelId, GuildId};
use tokio::time::timeout;

use crate::errors::RefusalReason;
use crate::ids::{self, DiscordPlace};
use crate::inbound::DiscordEventHandler;
use crate::name::NAME;
use crate::shards::ShardRange;
use crate::withdraw::DiscordWithdrawer;

/// Maximum time for Discord to tell whether a channel exists.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of conversations to check at a start, newest first.
const MAX_CHECKED_CONVERSATIONS: usize = 500;
/// Another process may still open the thread of a message that is younger than this.
const THREAD_OPENING_WINDOW: TimeDelta = TimeDelta::hours(1);
/// Maximum number of servers that Discord lists at once; if there are as many, there may be more.
pub(crate) const GUILDS_PAGE_SIZE: usize = 200;

impl DiscordEventHandler {
    /// Tells the bot that a channel or thread was deleted, or that it was removed from a whole
    /// server.
    pub(crate) async fn deliver_gone(
        &self,
        guild: GuildId,
        channel: Option<ChannelId>,
    ) -> Result<(), InboxClosed> {
        let (place, event) = match channel {
            Some(channel) => (
                format!("{NAME}/{guild}/{channel}"),
                format!("{NAME}/gone/{guild}/{channel}"),
            ),
            // The bot may be invited and removed again.
            None => (
                format!("{NAME}/{guild}"),
                format!("{NAME}/gone/{guild}/at/{}", Utc::now().timestamp_millis()),
            ),
        };
        tracing::info!(place, "is gone: what was said there is forgotten");
        let message = IncomingMessage::place_gone(
            EventId::new(event),
            AudienceId::new(place),
            guild.to_string(),
            ids::SOMEBODY,
        );
        let reply = self.silent();
        self.inbox
            .deliver(Incoming::Message { message, reply })
            .await
    }

    /// Returns a reply that posts nothing, for there is nobody to answer.
    pub(crate) fn silent(&self) -> Box<dyn Reply> {
        Box::new(SilentReply(Arc::new(DiscordWithdrawer(Arc::clone(
            &self.hub,
        )))))
    }

    /// Looks for places that were deleted while the bot was offline. Call it after left-over
    /// messages were taken, whose threads may still have to be opened.
    pub(crate) async fn look_for_gone(&self) -> Result<(), InboxClosed> {
        let asked = self
            .inbox
            .request_conversations(format!("{NAME}/"), MAX_CHECKED_CONVERSATIONS);
        let Some(conversations) = asked.await? else {
            return Ok(());
        };
        let places = conversations
            .iter()
            .filter_map(|id| DiscordPlace::parse(id.as_str()));
        let places: HashSet<(GuildId, ChannelId)> = places
            .filter_map(|place| Some((place.guild?, place.channel)))
            .filter(|(guild, _)| self.hub.shards.hears(*guild))
            .collect();
        if places.is_empty() {
            return Ok(());
        }
        let Some(servers) = self.hub.outbox.try_once(self.hub.api.guilds()).await else {
            return Ok(());
        };
        let is_all = servers.len() < GUILDS_PAGE_SIZE;
        let servers: HashSet<GuildId> = servers.iter().map(|server| server.id).collect();
        self.hub
            .servers
            .record(self.hub.me, servers.iter().copied());
        let (mut left, mut never_in) = (HashSet::new(), BTreeSet::new());
        for (guild, channel) in places {
            if !servers.contains(&guild) {
                let was_in = self.hub.servers.has(self.hub.me, guild);
                if is_all && !was_in {
                    never_in.insert(guild);
                } else if is_all && left.insert(guild) {
                    self.deliver_gone(guild, None).await?;
                }
            } else if !may_others_open(self.hub.shards, channel, Utc::now())
                && self.is_gone(guild, channel).await
                && !self.hub.in_use.has(&(guild, channel))
            {
                self.deliver_gone(guild, Some(channel)).await?;
            }
        }
        self.hub.servers.report_never_in(self.hub.me, &never_in);
        Ok(())
    }

    async fn is_gone(&self, guild: GuildId, channel: ChannelId) -> bool {
        // What stands beside its question, since no thread could be opened, is gone with the channel.
        let beside = self.hub.unopened.channel_of(channel);
        let stands_in = beside.unwrap_or(channel);
        let is_known = self.hub.directory.spot(guild, stands_in).is_some();
        // A thread that is still to be opened does not exist either.
        if is_known || self.hub.in_use.has(&(guild, channel)) {
            return false;
        }
        let found = timeout(LOOKUP_TIMEOUT, self.hub.api.channel(stands_in)).await;
        matches!(found, Ok(Err(failure)) if failure.is(RefusalReason::NoChannel))
    }
}

/// Whether a missing place may be a thread that another process is about to open: a process with
/// other shards takes over our questions. If it is gone after all, a later start finds it.
fn may_others_open(shards: ShardRange, channel: ChannelId, now: DateTime<Utc>) -> bool {
    let age = now - channel.created_at().to_utc();
    !shards.is_all() && age < THREAD_OPENING_WINDOW
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::id_at;

    #[test]
    fn what_another_process_may_open_yet_is_not_gone() {
        let (all, some) = (ShardRange::all(2), ShardRange::new(1, 1, 2).unwrap());
        let now = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
        let said = |before: TimeDelta| ChannelId::new(id_at(now - before).get());
        let (young, old) = (said(TimeDelta::minutes(5)), said(TimeDelta::days(1)));
        for (shards, channel, expected) in [
            (all, young, false),
            (all, old, false),
            (some, young, true),
            (some, old, false),
        ] {
            let found = may_others_open(shards, channel, now);
            assert_eq!(found, expected, "{shards}: {channel}");
        }
    }
}
