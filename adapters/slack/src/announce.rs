//! Posts announcements in channels.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::Utc;
use muninn_platform::{
    Announce, Announced, AudienceId, Delivered, Doubt, PlatformVocabulary, SafeText, Unconfirmed,
};
use serde_json::json;

use crate::content;
use crate::errors::ApiError;
use crate::hub::SlackHub;
use crate::ids;
use crate::mrkdwn::{fallback, markdown};
use crate::outbox::MethodCall;
use crate::standing;
use crate::withdraw::VOCABULARY;

pub(crate) struct SlackAnnouncer(pub(crate) Arc<SlackHub>);

impl SlackAnnouncer {
    /// Posts the text, marked with `id`, and returns its `ts`.
    async fn post(
        &self,
        channel: &str,
        id: &str,
        text: &SafeText,
    ) -> Result<String, Unconfirmed<ApiError>> {
        let hub = &self.0;
        let arguments = json!({
            "channel": channel,
            "text": fallback(text),
            "blocks": [{ "type": "markdown", "text": markdown(text.as_str()) }],
            "metadata": content::announced(id),
            "unfurl_links": false,
            "unfurl_media": false,
        });
        let call = MethodCall {
            method: "chat.postMessage",
            channel,
        };
        let doubt = Doubt::default();
        let (arguments, doubt) = (&arguments, &doubt);
        let post = |may_be_done| async move {
            // As for answers: an earlier attempt may have posted it.
            if may_be_done
                && let Some(standing) = standing::find_announcement(hub, channel, id).await?
            {
                return Ok(standing);
            }
            let posted = hub.api.post(call.method, arguments).await;
            let posted = posted.inspect_err(|error| doubt.record(error.may_be_done()));
            Ok(posted?["ts"].as_str().unwrap_or_default().to_owned())
        };
        let posted = hub.outbox.send(call, post).await;
        posted.map_err(|error| doubt.about(error))
    }
}

#[async_trait]
impl Announce for SlackAnnouncer {
    async fn announce(&self, audience: &AudienceId, text: &SafeText) -> Announced {
        let Some(channel) = ids::channel_of(audience) else {
            return Announced::Refused("it is no channel of Slack".to_owned());
        };
        if !self.serves(audience) {
            return Announced::NotYet;
        }
        // Unique in the channel.
        let id = Utc::now().timestamp_micros().to_string();
        let Unconfirmed { error, is_in_doubt } = match self.post(channel, &id, text).await {
            Ok(ts) => return said(channel, &ts),
            Err(unconfirmed) => unconfirmed,
        };
        if is_in_doubt {
            // Rather missing than posted twice.
            tracing::warn!(%error, channel, "whether an announcement was taken is not known; it is not said again");
            return said(channel, &id);
        }
        match error {
            ApiError::Limited { .. } | ApiError::Away { .. } | ApiError::Revoked { .. } => {
                Announced::NotYet
            }
            ApiError::MissingScope { needed, .. } => {
                Announced::Refused(format!("the app lacks the scope {needed}"))
            }
            ApiError::Refused { code, .. } => {
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

fn said(channel: &str, ts: &str) -> Announced {
    Announced::Said(Delivered(vec![ids::message(channel, ts)]))
}
