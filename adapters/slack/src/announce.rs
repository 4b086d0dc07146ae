//! Posts announcements in channels.

use std::sync::Arc;

use async_trait::async_trait;
use muninn_platform::{Announce, Announced, AudienceId, PlatformVocabulary, SafeText};
use serde_json::json;

use crate::content;
use crate::errors::ApiError;
use crate::hub::SlackHub;
use crate::ids;
use crate::mrkdwn::{fallback, markdown};
use crate::outbox::MethodCall;
use crate::withdraw::VOCABULARY;

pub(crate) struct SlackAnnouncer(pub(crate) Arc<SlackHub>);

#[async_trait]
impl Announce for SlackAnnouncer {
    async fn announce(&self, audience: &AudienceId, text: &SafeText) -> Announced {
        let hub = &self.0;
        let Some(channel) = ids::channel_of(audience) else {
            return Announced::Refused("it is no channel of Slack".to_owned());
        };
        if !self.serves(audience) {
            return Announced::NotYet;
        }
        let arguments = json!({
            "channel": channel,
            "text": fallback(text),
            "blocks": [{ "type": "markdown", "text": markdown(text.as_str()) }],
            "metadata": content::announced(),
            "unfurl_links": false,
            "unfurl_media": false,
        });
        let call = MethodCall {
            method: "chat.postMessage",
            channel,
        };
        let post = |_| hub.api.post(call.method, &arguments);
        match hub.outbox.send(call, post).await {
            Ok(answer) => {
                let ts = answer["ts"].as_str().unwrap_or_default();
                Announced::Said(ids::message(channel, ts))
            }
            Err(ApiError::Limited { .. } | ApiError::Away { .. } | ApiError::Revoked { .. }) => {
                Announced::NotYet
            }
            Err(ApiError::MissingScope { needed, .. }) => {
                Announced::Refused(format!("the app lacks the scope {needed}"))
            }
            Err(ApiError::Refused { code, .. }) => {
                Announced::Refused(format!("Slack refuses it ({code})"))
            }
        }
    }

    fn serves(&self, audience: &AudienceId) -> bool {
        let channel = ids::channel_of(audience);
        channel.is_some_and(|channel| ids::audience(&self.0.me.team, channel) == *audience)
    }

    fn vocabulary(&self) -> &'static PlatformVocabulary {
        &VOCABULARY
    }
}
