//! The app's home tab: the bot's description of itself for one person.

use std::sync::Arc;

use async_trait::async_trait;
use muninn_platform::{Delivered, Language, PlatformError, Reply, SafeText, TextLimit};
use serde_json::json;

use crate::content;
use crate::hub::SlackHub;
use crate::outbox::MethodCall;
use crate::views;

/// A reply that publishes the answer as the person's home tab. There is one home tab, which is
/// always replaced.
pub(crate) struct HomeReply {
    hub: Arc<SlackHub>,
    user: String,
    /// The channel of their direct messages with the bot.
    direct: String,
    language: Language,
}

impl HomeReply {
    pub(crate) fn new(hub: Arc<SlackHub>, user: String, direct: String) -> Self {
        Self {
            hub,
            user,
            direct,
            language: Language::default(),
        }
    }
}

#[async_trait]
impl Reply for HomeReply {
    fn limit(&self) -> TextLimit {
        content::LIMIT
    }

    fn set_label_language(&mut self, language: Language) {
        self.language = language;
    }

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        let view = views::home(
            parts,
            &self.hub.options.command,
            &self.direct,
            self.language,
        );
        let arguments = json!({ "user_id": self.user, "view": view });
        let hub = &self.hub;
        let call = MethodCall {
            method: "views.publish",
            channel: &self.direct,
        };
        let publish = |_| hub.api.post(call.method, &arguments);
        let published = hub.outbox.send(call, publish).await;
        published.map_err(|error| error.sentence(&self.direct))?;
        Ok(Delivered::default())
    }
}
