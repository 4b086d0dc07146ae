//! Posts announcements in channels.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use chrono::Utc;
use muninn_platform::{Announce, Announced, AudienceId, Delivered, PlatformVocabulary, SafeText};

use crate::content;
use crate::hub::DiscordHub;
use crate::ids::{self, DiscordPlace};
use crate::vocabulary::VOCABULARY;

pub(crate) struct DiscordAnnouncer(pub(crate) Arc<DiscordHub>);

#[async_trait]
impl Announce for DiscordAnnouncer {
    async fn announce(&self, audience: &AudienceId, text: &SafeText) -> Announced {
        let place = DiscordPlace::parse(audience.as_str());
        let Some(place) = place.filter(|place| place.private_to.is_none()) else {
            return Announced::Refused("it is no channel of Discord".to_owned());
        };
        let mut said = Vec::new();
        // Another one for each announcement, at most 21 characters; Discord allows 25.
        let announcement = Utc::now().timestamp_micros();
        let texts = content::texts(std::slice::from_ref(text));
        for (part, text) in texts.iter().enumerate() {
            let message = content::announcement(text, &format!("a{announcement:x}.{part}"));
            let is_in_doubt = AtomicBool::new(false);
            let sent = self.0.outbox.retry(|| async {
                let sent = self.0.api.send(place.channel, &message).await;
                sent.inspect_err(|failure| {
                    is_in_doubt.fetch_or(failure.may_be_done, Ordering::Relaxed);
                })
            });
            match sent.await {
                Ok(sent) => said.push(ids::sent(sent.channel_id, sent.id)),
                // A partly posted announcement is not started again.
                Err(_) if !said.is_empty() => break,
                Err(failure) if is_in_doubt.load(Ordering::Relaxed) => {
                    // Rather missing than posted twice.
                    tracing::warn!(%failure, channel = %place.channel, "whether an announcement was taken is not known; it is not said again");
                    return Announced::Said(Delivered(said));
                }
                Err(failure) if failure.request_failure().is_temporary() => {
                    return Announced::NotYet;
                }
                Err(failure) => {
                    return Announced::Refused(format!("Discord refuses it: {failure}"));
                }
            }
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
