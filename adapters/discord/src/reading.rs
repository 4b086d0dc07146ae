//! Reads what was said while the bot was offline, in one server or in direct messages, until all of it
//! is read.

use std::collections::HashSet;
use std::mem;
use std::time::Duration;

use muninn_platform::{Backoff, Bounds, Cut, InboxClosed, Page, PageOrder, read_pages};
use serenity::model::id::{ChannelId, GuildId, MessageId};

use crate::archived::archived_threads_since;
use crate::author_roles::AuthorRoles;
use crate::hub::DiscordHub;
use crate::ids::{self, DiscordPlace, id_at};
use crate::message::{self, DiscordMessage};
use crate::missed::{MissedReader, content_bytes};
use crate::unread::Unread;

/// Maximum number of direct channels to check, those with the newest answers first.
const DIRECTS: usize = 200;

/// First pause before what could not be read is tried again, doubling up to [`MAX_REREAD_DELAY`].
const FIRST_REREAD_DELAY: Duration = Duration::from_secs(1);
const MAX_REREAD_DELAY: Duration = Duration::from_secs(600);

impl MissedReader {
    /// Reads all of it. What Discord or the graph does not give is asked for again and again.
    pub(crate) async fn read_all(&self, mut left: Unread) -> Result<(), InboxClosed> {
        let mut backoff = Backoff::new(FIRST_REREAD_DELAY, MAX_REREAD_DELAY);
        while !left.is_empty() {
            self.try_to_read(&mut left).await?;
            if !left.is_empty() {
                tracing::warn!(guild = ?left.guild, "not all that was said meanwhile can be read now; the rest is tried again");
                tokio::time::sleep(backoff.pause()).await;
            }
        }
        Ok(())
    }

    /// Reads what can be read now, and leaves the rest.
    async fn try_to_read(&self, left: &mut Unread) -> Result<(), InboxClosed> {
        if left.has_unlisted_directs
            && let Some(directs) = self.list_directs().await?
        {
            let after = id_at(left.since);
            left.has_unlisted_directs = false;
            left.unread = directs.iter().map(|channel| (*channel, after)).collect();
            left.unfollowed = directs;
        }
        let guild = left.guild;
        let open = mem::take(&mut left.unread);
        let mut unread = self.read_channels(guild, open).await?;
        let archived = self.list_archived(left).await;
        unread.extend(self.read_channels(guild, archived).await?);
        left.unread = unread;
        let unfollowed = mem::take(&mut left.unfollowed);
        left.unfollowed = self.follow_changes(guild, unfollowed, left.since).await?;
        Ok(())
    }

    /// Reads what was said in channels, each after a message. Returns what Discord does not give now.
    async fn read_channels(
        &self,
        guild: Option<GuildId>,
        channels: Vec<(ChannelId, MessageId)>,
    ) -> Result<Vec<(ChannelId, MessageId)>, InboxClosed> {
        let mut people = guild.map(|guild| AuthorRoles::new(&self.inbound.hub, guild));
        let mut left = Vec::new();
        for (channel, after) in channels {
            if guild.is_some_and(|guild| self.may_read(guild, channel) == Some(false)) {
                continue;
            }
            let rest = self.read_channel(guild, channel, after, people.as_mut());
            left.extend(rest.await?.map(|after| (channel, after)));
        }
        Ok(left)
    }

    /// Reads what was said in a channel after a message. Returns after which one the rest is, if Discord
    /// does not give all of it now.
    async fn read_channel(
        &self,
        guild: Option<GuildId>,
        channel: ChannelId,
        after: MessageId,
        mut people: Option<&mut AuthorRoles<'_>>,
    ) -> Result<Option<MessageId>, InboxClosed> {
        let (said, mut is_all) = self.read(channel, after).await;
        let (mut all, mut until) = (Vec::new(), after);
        for mut said in said {
            said.guild = guild;
            if let Some(people) = &mut people
                && self.inbound.may_concern_bot(&said).await
            {
                let Ok(roles) = people.roles_of(said.author.id).await else {
                    // What was said after it waits too: a conversation is kept in order.
                    is_all = false;
                    break;
                };
                said.author.roles = roles;
            }
            until = said.id;
            all.push(said);
        }
        self.take_all(all).await?;
        Ok((!is_all).then_some(until))
    }

    /// Returns the public threads of its unlisted channels that were archived since then and have messages
    /// since then. Discord does not describe them to a new session.
    async fn list_archived(&self, left: &mut Unread) -> Vec<(ChannelId, MessageId)> {
        let (since, mut found) = (left.since, Vec::new());
        let Some(guild) = left.guild else {
            return found;
        };
        let DiscordHub {
            api,
            outbox,
            directory,
            ..
        } = &*self.inbound.hub;
        for channel in mem::take(&mut left.unlisted) {
            let spot = directory.spot(guild, channel);
            let has_threads = spot.is_some_and(|spot| spot.kind.has_threads());
            if !has_threads || self.may_read(guild, channel) == Some(false) {
                continue;
            }
            let listed = outbox.retry(|| archived_threads_since(api, channel, since));
            match listed.await {
                Ok(threads) => {
                    found.extend(threads.into_iter().map(|thread| (thread, id_at(since))));
                }
                Err(failure) => {
                    tracing::info!(%failure, %channel, "its archived threads are not given");
                    if failure.request_failure().is_temporary() {
                        left.unlisted.push(channel);
                    }
                }
            }
        }
        found
    }

    /// Returns the direct channels with answers of the bot; `None` if the graph does not list them now.
    async fn list_directs(&self) -> Result<Option<Vec<ChannelId>>, InboxClosed> {
        let inbox = &self.inbound.inbox;
        let asked = inbox.request_conversations(ids::prefix(None), DIRECTS);
        let Some(conversations) = asked.await? else {
            return Ok(None);
        };
        let places = conversations
            .iter()
            .filter_map(|id| DiscordPlace::parse(id.as_str()));
        let channels: HashSet<ChannelId> = places
            .filter(|place| place.private_to.is_none())
            .map(|place| place.channel)
            .collect();
        Ok(Some(Vec::from_iter(channels)))
    }

    /// Reads what was said in a channel after a message, oldest first. Returns also whether that is all.
    async fn read(&self, channel: ChannelId, after: MessageId) -> (Vec<DiscordMessage>, bool) {
        let read = read_pages(
            Bounds::MISSED,
            PageOrder::OldestFirst,
            content_bytes,
            |from: Option<MessageId>| async move {
                let page = self.page_after(channel, from.unwrap_or(after)).await?;
                Ok(Page {
                    items: page.messages,
                    next: page.next,
                })
            },
        )
        .await;
        if let Some(cut) = read.cut {
            tracing::warn!(%channel, %cut, read = read.items.len(), "not all that was said meanwhile is read");
        }
        let said = read.items.into_iter().map(message::to_message);
        (said.collect(), !read.cut.is_some_and(Cut::is_temporary))
    }
}
