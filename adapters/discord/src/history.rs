//! Reads a channel's history: its messages, then those of each of its public threads.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use muninn_platform::{AudienceId, History, HistoryError, HistoryPage, RATE_LIMIT_PAUSE};
use muninn_texts::text;
use serde::{Deserialize, Serialize};
use serenity::model::id::{ChannelId, GuildId, MessageId};

use crate::archived::archived_threads_since;
use crate::directory::DiscordChannelKind;
use crate::errors::{Failure, FailureKind, RefusalReason};
use crate::ids::DiscordPlace;
use crate::ids::id_at;
use crate::inbound::DiscordEventHandler;
use crate::message::{self, DiscordMessage};
use crate::missing_fields::MessagePage;
use crate::rights;

/// Reads the history of guild channels.
pub(crate) struct DiscordHistory(DiscordEventHandler);

impl DiscordHistory {
    pub(crate) fn of(inbound: &DiscordEventHandler) -> Arc<dyn History> {
        Arc::new(Self(inbound.clone()))
    }
}

/// How far a channel was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct HistoryCursor {
    /// The places still to read, the channel first; `None` before they were listed.
    places: Option<VecDeque<ChannelId>>,
    /// The last message that was read in the first of them.
    after: Option<MessageId>,
}

impl HistoryCursor {
    /// Parses the saved progress; starts at the beginning if that fails.
    fn read(at: Option<&str>) -> Self {
        at.and_then(|at| serde_json::from_str(at).ok())
            .unwrap_or_default()
    }

    /// Records that a page of the first place was read. `next`: its newest message, if there may be more after it.
    fn went_on(&mut self, next: Option<MessageId>) {
        self.after = next;
        if self.after.is_none()
            && let Some(places) = &mut self.places
        {
            places.pop_front();
        }
    }

    fn keep(&self) -> Option<String> {
        let is_over = self.places.as_ref().is_some_and(VecDeque::is_empty);
        (!is_over).then(|| serde_json::to_string(self).unwrap_or_default())
    }
}

#[async_trait]
impl History for DiscordHistory {
    async fn read_page(
        &self,
        channel: &AudienceId,
        since: DateTime<Utc>,
        at: Option<&str>,
    ) -> Result<HistoryPage, HistoryError> {
        let none = || HistoryError::not_there(channel, "Discord");
        let place = DiscordPlace::parse(channel.as_str()).ok_or_else(none)?;
        let guild = place.guild.filter(|_| place.private_to.is_none());
        let guild = guild.ok_or_else(none)?;
        let shards = self.0.hub.shards;
        if !shards.hears(guild) {
            return Err(HistoryError::Refused(text!(
                "history-other-shard",
                place = channel.as_str(),
                shard = shards.name(shards.shard_of(guild)),
                shards = shards.setting()
            )));
        }
        let mut far = HistoryCursor::read(at);
        let mut places = match far.places.take() {
            Some(places) => places,
            None => self.places(guild, place.channel, since).await?,
        };
        let Some(here) = places.front().copied() else {
            return Ok(HistoryPage::default());
        };
        let after = far.after.unwrap_or_else(|| id_at(since));
        let asked = self.0.hub.api.gateway_messages_after(here, after).await;
        let page = match asked {
            Ok(page) => page,
            // Deleted since, or not readable by the bot: the others may still be read.
            Err(failure) if here != place.channel && is_gone(&failure) => MessagePage::default(),
            Err(failure) => return Err(self.refusal(here, &failure)),
        };
        let said = page.messages.into_iter().map(|message| DiscordMessage {
            guild: Some(guild),
            ..message::to_message(message)
        });
        let said: Vec<DiscordMessage> = said.collect();
        let reached = said.last().map(|said| said.at);
        let messages = self.deliver(said).await?;
        far.places = Some(std::mem::take(&mut places));
        far.went_on(page.next);
        Ok(HistoryPage {
            messages,
            reached,
            next: far.keep(),
        })
    }
}

impl DiscordHistory {
    /// Returns the channel, and its threads with messages since then.
    async fn places(
        &self,
        guild: GuildId,
        channel: ChannelId,
        since: DateTime<Utc>,
    ) -> Result<VecDeque<ChannelId>, HistoryError> {
        let hub = &self.0.hub;
        let kind = hub.directory.spot(guild, channel).map(|spot| spot.kind);
        let mut places = VecDeque::new();
        match kind {
            Some(DiscordChannelKind::Forum) => {}
            Some(
                DiscordChannelKind::Text
                | DiscordChannelKind::Flat
                | DiscordChannelKind::PublicThread
                | DiscordChannelKind::PrivateThread
                | DiscordChannelKind::Direct,
            )
            | None => places.push_back(channel),
        }
        if !kind.is_some_and(DiscordChannelKind::has_threads) {
            return Ok(places);
        }
        let is_public = |kind: DiscordChannelKind| kind == DiscordChannelKind::PublicThread;
        places.extend(hub.directory.threads_of(guild, channel, is_public));
        let archived = archived_threads_since(&hub.api, channel, since).await;
        for thread in archived.map_err(|failure| self.refusal(channel, &failure))? {
            if !places.contains(&thread) {
                places.push_back(thread);
            }
        }
        Ok(places)
    }

    /// Delivers what people said; returns the number of messages.
    async fn deliver(&self, said: Vec<DiscordMessage>) -> Result<usize, HistoryError> {
        let mut messages = 0;
        // One after the other: a conversation is kept in order.
        for said in said {
            messages += usize::from(self.0.deliver_earlier_message(said).await?);
        }
        Ok(messages)
    }

    fn refusal(&self, channel: ChannelId, failure: &Failure) -> HistoryError {
        use serenity::model::Permissions;
        match failure.kind {
            FailureKind::Limited => HistoryError::Limited(failure.rest.or(Some(RATE_LIMIT_PAUSE))),
            FailureKind::Away => HistoryError::Away,
            FailureKind::Refused(RefusalReason::MayNot) => {
                let needed = Permissions::VIEW_CHANNEL | Permissions::READ_MESSAGE_HISTORY;
                let (channel, permissions) = rights::lacks(&self.0.hub, channel, needed);
                HistoryError::Refused(text!("history-lacks", channel, permissions))
            }
            FailureKind::LoggedOut | FailureKind::Refused(_) => {
                let why = failure.to_string();
                HistoryError::Refused(text!("history-refused", platform = "Discord", why))
            }
        }
    }
}

fn is_gone(failure: &Failure) -> bool {
    failure.is(RefusalReason::NoChannel) || failure.is(RefusalReason::MayNot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_is_read_after_the_other() {
        let mut far = HistoryCursor::read(None);
        assert!(far.keep().is_some());
        far.places = Some([10, 11].map(ChannelId::new).into());
        far.went_on(Some(MessageId::new(5)));
        let mut far = HistoryCursor::read(far.keep().as_deref());
        assert_eq!(far.after, Some(MessageId::new(5)));
        far.went_on(None);
        assert_eq!(far.after, None);
        assert_eq!(far.places.as_ref().unwrap().len(), 1);
        far.went_on(None);
        assert_eq!(far.keep(), None);
        assert_eq!(
            HistoryCursor::read(Some("damaged")),
            HistoryCursor::default()
        );
    }
}
