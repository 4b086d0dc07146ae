//! Handles places made for asking the bot: an assistant's threads, an agent's messages.

use std::sync::Arc;

use muninn_platform::AudienceId;
use serde_json::json;

use super::SlackEventHandler;
use crate::hub::Assisted;
use crate::ids::{self, PlaceInChannel, SlackPlace};
use crate::membership::SlackMembership;
use crate::status::title;
use crate::views;

impl SlackEventHandler {
    /// Sets up a thread made for the bot: suggestions, and the channel that its person is viewing.
    pub(super) fn set_up_assistant_thread(
        &self,
        place: &SlackPlace,
        user: &str,
        looks_at: Option<String>,
        is_new: bool,
    ) {
        let conversation = place.conversation(&self.hub.me.team);
        let known = self.hub.assisted.get(&conversation).unwrap_or_default();
        let assisted = Assisted {
            looks_at,
            has_title: known.has_title,
        };
        self.hub.assisted.insert(conversation, assisted);
        if !is_new {
            return;
        }
        let (hub, place, user) = (Arc::clone(&self.hub), place.clone(), user.to_owned());
        self.hub.chores.spawn(async move {
            let language = hub.language_told(&user, &place.channel).await;
            let mut arguments = views::suggestions(language);
            arguments["channel_id"] = json!(place.channel);
            // An agent's messages have no thread before the first message.
            if let Some(thread) = place.thread() {
                arguments["thread_ts"] = json!(thread);
            }
            let method = "assistant.threads.setSuggestedPrompts";
            if let Err(error) = hub.api.post(method, &arguments).await {
                tracing::debug!(%error, "no prompts");
            }
        });
    }

    /// Sets the title of a thread made for the bot.
    pub(super) fn entitle(&self, place: &SlackPlace, user: &str) {
        let conversation = place.conversation(&self.hub.me.team);
        let untitled = self.hub.assisted.get(&conversation);
        let untitled = untitled.filter(|assisted| !assisted.has_title);
        let (Some(assisted), Some(thread)) = (untitled, place.thread()) else {
            return;
        };
        let assisted = Assisted {
            has_title: true,
            ..assisted
        };
        self.hub.assisted.insert(conversation, assisted);
        self.set_title(place, thread, user);
    }

    /// Removes a question from the title of a thread, where earlier versions put it.
    pub(super) fn reset_title(&self, place: &SlackPlace, user: &str) {
        if let Some(thread) = place.thread().filter(|_| ids::is_direct(&place.channel)) {
            self.set_title(place, thread, user);
        }
    }

    /// Only one person sees such a thread in a list, so the title is in their language.
    fn set_title(&self, place: &SlackPlace, thread: &str, user: &str) {
        // Whoever writes there was looked up before.
        let title = title(self.hub.language(user, &place.channel));
        let arguments = json!({ "channel_id": place.channel, "thread_ts": thread, "title": title });
        let hub = Arc::clone(&self.hub);
        self.hub.chores.spawn(async move {
            let method = "assistant.threads.setTitle";
            if let Err(error) = hub.api.post(method, &arguments).await {
                tracing::debug!(%error, "no title");
            }
        });
    }

    /// Returns the channel that a person is viewing while they ask, if they and the bot are in it
    /// now and it is served: its memory is recalled for them. They may have left or been removed
    /// since Slack reported it.
    pub(super) async fn looked_at(&self, place: &SlackPlace, user: &str) -> Option<AudienceId> {
        let hub = &self.hub;
        let assisted = |place: &SlackPlace| hub.assisted.get(&place.conversation(&hub.me.team));
        let beside = SlackPlace::new(&place.channel, PlaceInChannel::Main);
        let assisted = assisted(place).or_else(|| assisted(&beside))?;
        let looks_at = assisted.looks_at?;
        let channel = hub.directory.channel_now(&hub.api, &looks_at).await?;
        if !channel.is_member || channel.is_shared {
            return None;
        }
        let team = &hub.me.team;
        let asked = vec![ids::audience(team, &looks_at)];
        let account = ids::author(team, user);
        let readable = SlackMembership::of(hub).readable(&account, asked).await;
        match readable {
            Ok(readable) => readable.into_iter().next(),
            Err(error) => {
                tracing::warn!(%error, "whether somebody is in the channel that they look at is not known");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use muninn_platform::Inbox;

    use super::*;
    use crate::testing::opened;

    #[tokio::test]
    async fn a_channel_that_the_bot_was_removed_from_is_soon_not_recalled() {
        let (slack, hub) = opened().await;
        let (channel, ann) = (slack.channel("general"), slack.person("Ann"));
        ann.in_channel(&channel);
        let place = SlackPlace::new(ann.with_bot().channel_id(), PlaceInChannel::Main);
        let looks_at = Assisted {
            looks_at: Some(channel.id().to_owned()),
            has_title: true,
        };
        hub.assisted
            .insert(place.conversation(&hub.me.team), looks_at);
        let general = ids::audience(&hub.me.team, channel.id());
        let handler = SlackEventHandler::new(hub, Inbox::new(1).0);
        assert_eq!(handler.looked_at(&place, ann.id()).await, Some(general));
        channel.remove_bot();
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(6 * 60)).await;
        tokio::time::resume();
        assert_eq!(handler.looked_at(&place, ann.id()).await, None);
    }
}
