//! The app's home: what the bot says of itself to one person.

use std::sync::Arc;

use async_trait::async_trait;
use muninn_platform::{
    Attachment, Delivered, DownloadError, Pace, PlatformError, Reply, SafeText, TextLimit,
};
use serde_json::json;

use crate::content;
use crate::files;
use crate::hub::Hub;
use crate::outbox::Call;
use crate::status::STATUS_EVERY;
use crate::views;

/// Publishes what is answered as the person's home.
pub(crate) struct HomeReply {
    hub: Arc<Hub>,
    user: String,
    /// Their direct messages with the bot.
    direct: String,
}

impl HomeReply {
    pub(crate) fn new(hub: Arc<Hub>, user: String, direct: String) -> Self {
        Self { hub, user, direct }
    }
}

#[async_trait]
impl Reply for HomeReply {
    fn limit(&self) -> TextLimit {
        content::LIMIT
    }

    fn pace(&self) -> Pace {
        Pace {
            update_every: STATUS_EVERY,
            working_every: STATUS_EVERY,
        }
    }

    /// There is one home, and it is always replaced.
    fn replace(&mut self, _earlier: Delivered) {}

    async fn working(&mut self) {}

    async fn update(&mut self, _so_far: &SafeText) {}

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        let view = views::home(parts, &self.hub.options.command, &self.direct);
        let arguments = json!({ "user_id": self.user, "view": view });
        let hub = &self.hub;
        let call = Call {
            method: "views.publish",
            channel: &self.direct,
        };
        let publish = |_| hub.api.post(call.method, &arguments);
        let published = hub.outbox.send(call, publish).await;
        published.map_err(|error| error.sentence(&self.direct))?;
        Ok(Delivered::default())
    }

    async fn download(
        &mut self,
        attachment: &Attachment,
        most: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        files::download(&self.hub, attachment, most).await
    }
}
