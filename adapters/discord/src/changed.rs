//! Finds edits and deletions of kept messages that happened while the bot was offline: Discord does
//! not report them to a new session.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use chrono::{DateTime, Utc};
use muninn_platform::{
    Bounds, Cut, InboxClosed, KeptMessage, Page, PageOrder, ReadPages, RequestFailure, read_pages,
};
use serenity::model::channel::Message;
use serenity::model::id::{ChannelId, GuildId, MessageId};

use crate::author_roles::AuthorRoles;
use crate::ids::{DiscordEventId, DiscordPlace};
use crate::message::{self, DiscordMessage};
use crate::missed::{MissedReader, content_bytes};
use crate::read_stopped::ReadStopped;

/// Maximum number of channels and threads to check per server: each takes at least one request.
const PLACES: usize = 500;

impl MissedReader {
    /// Delivers the edits and deletions since then of kept messages in these channels. Returns the
    /// channels of which Discord or the graph does not tell all now.
    ///
    /// # Errors
    /// Fails when the bot is ending.
    pub(crate) async fn follow_changes(
        &self,
        guild: Option<GuildId>,
        channels: Vec<ChannelId>,
        since: DateTime<Utc>,
    ) -> Result<Vec<ChannelId>, InboxClosed> {
        let mut people = guild.map(|guild| AuthorRoles::new(&self.inbound.hub, guild));
        let (mut followed, mut left) = (Followed::default(), Vec::new());
        for channel in channels {
            let following =
                self.follow_channel(guild, channel, since, people.as_mut(), &mut followed);
            match following.await {
                Ok(()) => {}
                Err(ReadStopped::Away) => left.push(channel),
                Err(ReadStopped::Closed) => return Err(InboxClosed),
            }
            if followed.looked > PLACES {
                tracing::warn!(
                    ?guild,
                    "edits and deletions of meanwhile are followed in {PLACES} channels and threads only"
                );
                break;
            }
        }
        let Followed { looked, changed } = followed;
        tracing::info!(
            ?guild,
            looked,
            changed,
            "looked what became of what is kept"
        );
        Ok(left)
    }

    async fn follow_channel(
        &self,
        guild: Option<GuildId>,
        channel: ChannelId,
        since: DateTime<Utc>,
        mut people: Option<&mut AuthorRoles<'_>>,
        followed: &mut Followed,
    ) -> Result<(), ReadStopped> {
        // Public threads belong to their channel's audience.
        let audience = DiscordPlace::new(guild, channel).audience();
        let kept = self.inbound.inbox.request_kept_messages(&audience).await?;
        let kept = kept.ok_or(ReadStopped::Away)?;
        for (place, kept) in &by_place(&kept) {
            // Discord gives nothing, rather than an error, where the bot may not read: all of it would
            // count as deleted. Threads have the permissions of their channel.
            if guild.is_some_and(|guild| self.may_read(guild, channel) != Some(true)) {
                break;
            }
            followed.looked += 1;
            if followed.looked > PLACES {
                break;
            }
            let (changes, is_all) = self.find_changes(*place, kept, since).await;
            followed.changed += changes.edited.len() + changes.deleted.len();
            let people = people.as_deref_mut();
            self.deliver_changes(guild, *place, changes, people).await?;
            if !is_all {
                return Err(ReadStopped::Away);
            }
        }
        Ok(())
    }

    /// Returns also whether these are all.
    async fn find_changes(
        &self,
        place: ChannelId,
        kept: &BTreeSet<MessageId>,
        since: DateTime<Utc>,
    ) -> (Changes, bool) {
        let Some(first) = kept.first() else {
            return (Changes::default(), true);
        };
        let ReadPages { items, cut } = self.read_around(place, kept, *first).await;
        // All kept messages existed before the read, also if our clock is behind Discord's.
        let until = match cut {
            None => kept.last().copied(),
            Some(_) => items.last().map(|newest| newest.id),
        };
        let changes = match until {
            Some(until) if *first <= until => changes(kept.range(..=until), items, since),
            Some(_) | None => Changes::default(),
        };
        (changes, !cut.is_some_and(Cut::is_temporary))
    }

    /// Reads the pages of a channel with kept messages, from the first of them on. A busy channel has far more between two of
    /// them than can be read.
    async fn read_around(
        &self,
        place: ChannelId,
        kept: &BTreeSet<MessageId>,
        first: MessageId,
    ) -> ReadPages<Message> {
        // What is kept and was not read must not count as deleted, so nothing may be left out before the last item.
        let order = PageOrder::OldestWithoutGap;
        read_pages(
            Bounds::MISSED,
            order,
            content_bytes,
            |from: Option<MessageId>| async move {
                let page = self
                    .page_after(place, from.unwrap_or(before(first)))
                    .await?;
                // It would count as deleted.
                if page.unreadable.iter().any(|(id, _)| kept.contains(id)) {
                    return Err(RequestFailure::Refused);
                }
                let next = page.next.and_then(|newest| next_page(kept, newest));
                let mut items = page.messages;
                // The last one tells how far it was read.
                let newest = items.last().map(|newest| newest.id);
                items.retain(|it| kept.contains(&it.id) || Some(it.id) == newest);
                Ok(Page { items, next })
            },
        )
        .await
    }

    async fn deliver_changes(
        &self,
        guild: Option<GuildId>,
        place: ChannelId,
        changes: Changes,
        mut people: Option<&mut AuthorRoles<'_>>,
    ) -> Result<(), ReadStopped> {
        for (mut now, at) in changes.edited {
            now.guild = guild;
            if let Some(people) = &mut people {
                now.author.roles = people.roles_of(now.author.id).await?;
            }
            self.run_in_channel_queue(place, || {
                let (inbound, now) = (self.inbound.clone(), now.clone());
                async move { inbound.deliver_edit(now, at).await }
            })
            .await?;
        }
        self.run_in_channel_queue(place, || {
            let (inbound, deleted) = (self.inbound.clone(), changes.deleted.clone());
            async move { inbound.deliver_deletions(guild, place, deleted).await }
        })
        .await?;
        Ok(())
    }
}

/// Returns after which message the next page with kept messages begins, once all up to `read` are
/// read.
fn next_page(kept: &BTreeSet<MessageId>, read: MessageId) -> Option<MessageId> {
    let next = kept.range((Bound::Excluded(read), Bound::Unbounded)).next();
    next.map(|next| before(*next))
}

/// Returns the id before the one of a message.
fn before(message: MessageId) -> MessageId {
    MessageId::new(message.get() - 1)
}

/// Groups the kept messages by their channel or thread.
fn by_place(kept: &[KeptMessage]) -> BTreeMap<ChannelId, BTreeSet<MessageId>> {
    let mut places: BTreeMap<ChannelId, BTreeSet<MessageId>> = BTreeMap::new();
    for kept in kept {
        match DiscordEventId::parse(&kept.event) {
            Some(DiscordEventId::Message {
                channel,
                message,
                is_first: true,
            }) => drop(places.entry(channel).or_default().insert(message)),
            Some(DiscordEventId::Message { .. } | DiscordEventId::Interaction(_)) | None => {}
        }
    }
    places
}

/// How much was followed.
#[derive(Debug, Default)]
struct Followed {
    /// Channels and threads.
    looked: usize,
    changed: usize,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Changes {
    /// The edited messages with their new text, and the time of the edit.
    edited: Vec<(DiscordMessage, DateTime<Utc>)>,
    deleted: Vec<MessageId>,
}

/// Returns the changes of kept messages; `standing` are all that still exist. Changes before
/// `since` are known.
fn changes<'a>(
    kept: impl Iterator<Item = &'a MessageId>,
    standing: Vec<Message>,
    since: DateTime<Utc>,
) -> Changes {
    let mut standing: BTreeMap<MessageId, Message> = standing
        .into_iter()
        .map(|message| (message.id, message))
        .collect();
    let mut changes = Changes::default();
    for id in kept {
        let Some(message) = standing.remove(id) else {
            changes.deleted.push(*id);
            continue;
        };
        let at = message.edited_timestamp.map(|at| *at);
        if let Some(at) = at.filter(|at| *at > since) {
            changes.edited.push((message::to_message(message), at));
        }
    }
    changes
}
