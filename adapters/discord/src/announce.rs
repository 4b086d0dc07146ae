//! Posts announcements in channels.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::Utc;
use muninn_platform::{
    Announce, Announced, AudienceId, Delivered, Doubt, PlatformVocabulary, SafeText, Unconfirmed,
};
use serenity::model::id::ChannelId;

use crate::content;
use crate::directory::DiscordChannelKind;
use crate::errors::Failure;
use crate::hub::DiscordHub;
use crate::ids::{self, DiscordPlace};
use crate::intent::thread_name;
use crate::objects::Sent;
use crate::vocabulary::VOCABULARY;

pub(crate) struct DiscordAnnouncer(pub(crate) Arc<DiscordHub>);

impl DiscordAnnouncer {
    async fn post(
        &self,
        channel: ChannelId,
        text: &str,
        nonce: &str,
    ) -> Result<Sent, Unconfirmed<Failure>> {
        let message = content::announcement(text, nonce);
        let doubt = Doubt::default();
        let sent = self.0.outbox.retry(|| async {
            let sent = self.0.api.send(channel, &message).await;
            sent.inspect_err(|failure| doubt.record(failure.may_be_done))
        });
        sent.await.map_err(|failure| doubt.about(failure))
    }

    /// Posts in a forum, where messages are in posts only. A post has no nonce: an attempt that may
    /// have been carried out is the last one.
    async fn open_post(
        &self,
        forum: DiscordPlace,
        text: &str,
    ) -> Result<Sent, Unconfirmed<Failure>> {
        // Discord shows the marks of a title as they are.
        let words = text.replace(['*', '`'], "");
        let name = thread_name(&words, self.0.language_there(forum));
        let message = content::forum_post(text);
        let opened = self.0.outbox.retry(|| async {
            match self.0.api.open_post(forum.channel, &name, &message).await {
                Err(failure) if failure.may_be_done => Ok(Err(failure)),
                opened => opened.map(Ok),
            }
        });
        let (error, is_in_doubt) = match opened.await {
            Ok(Ok(sent)) => return Ok(sent),
            Ok(Err(failure)) => (failure, true),
            Err(failure) => (failure, false),
        };
        Err(Unconfirmed { error, is_in_doubt })
    }
}

#[async_trait]
impl Announce for DiscordAnnouncer {
    async fn announce(&self, audience: &AudienceId, text: &SafeText) -> Announced {
        let place = DiscordPlace::parse(audience.as_str());
        let Some(place) = place.filter(|place| place.private_to.is_none()) else {
            return Announced::Refused("it is no channel of Discord".to_owned());
        };
        let hub = &*self.0;
        let spot = hub.spot(place.guild, place.channel).await;
        let is_forum = spot.is_some_and(|spot| spot.kind == DiscordChannelKind::Forum);
        let mut channel = place.channel;
        let mut said = Vec::new();
        // Another one for each announcement, at most 21 characters; Discord allows 25.
        let announcement = Utc::now().timestamp_micros();
        let texts = content::texts(std::slice::from_ref(text));
        for (part, text) in texts.iter().enumerate() {
            let nonce = format!("a{announcement:x}.{part}");
            let posted = match is_forum && part == 0 {
                true => self.open_post(place, text).await,
                false => self.post(channel, text, &nonce).await,
            };
            let Unconfirmed { error, is_in_doubt } = match posted {
                Ok(sent) => {
                    channel = sent.channel_id;
                    said.push(ids::sent(sent.channel_id, sent.id));
                    continue;
                }
                // A partly posted announcement is not started again.
                Err(_) if !said.is_empty() => break,
                Err(unconfirmed) => unconfirmed,
            };
            if is_in_doubt {
                // Rather missing than posted twice.
                tracing::warn!(failure = %error, channel = %place.channel, "whether an announcement was taken is not known; it is not said again");
                return Announced::Said(Delivered(said));
            }
            return match error.request_failure().is_temporary() {
                true => Announced::NotYet,
                false => Announced::Refused(format!("Discord refuses it: {error}")),
            };
        }
        match said.is_empty() {
            true => Announced::NotYet,
            false => Announced::Said(Delivered(said)),
        }
    }

    fn vocabulary(&self) -> &'static PlatformVocabulary {
        &VOCABULARY
    }
}
