//! Records what the bot does with a reply.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tokio::sync::watch;

use super::board::Board;
use super::ids::NAME;
use super::pending::Delivery;
use crate::{
    Attachment, Delivered, DownloadError, HandedOver, NotHandedOver, OwnFile, Pace, PlatformError,
    PriorMessages, PrivateFallback, Reply, SafeText, ShownItem, TextLimit, Withdraw,
};

/// Records what the bot does with a reply.
pub(super) struct Recorder {
    pub(super) limit: TextLimit,
    pub(super) pace: Pace,
    pub(super) delivery: watch::Sender<Delivery>,
    pub(super) lost_deliveries: Arc<AtomicUsize>,
    pub(super) files: Vec<(Attachment, Vec<u8>)>,
    pub(super) largest_file: Result<u64, NotHandedOver>,
    pub(super) background: PriorMessages,
    pub(super) board: Board,
    pub(super) replaced: Delivered,
}

#[async_trait]
impl Reply for Recorder {
    fn limit(&self) -> TextLimit {
        self.limit
    }

    fn pace(&self) -> Pace {
        self.pace
    }

    fn replace(&mut self, earlier: Delivered) {
        self.replaced = earlier;
    }

    async fn show_typing(&mut self) {
        self.delivery.send_modify(|delivery| delivery.workings += 1);
    }

    async fn update(&mut self, so_far: &SafeText) {
        self.delivery
            .send_modify(|delivery| delivery.updates.push(so_far.to_string()));
    }

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        let lost = self
            .lost_deliveries
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1))
            .is_ok();
        let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
        let delivered = if lost {
            Err(lost_connection())
        } else {
            Ok(self.board.post(&self.replaced, &parts))
        };
        self.delivery
            .send_modify(|delivery| delivery.finish(parts, lost));
        delivered
    }

    /// Nobody else sees it, so it is not in the room.
    async fn finish_privately(
        &mut self,
        parts: &[SafeText],
        _: PrivateFallback,
    ) -> Result<Delivered, PlatformError> {
        let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
        let delivered = self.board.post_privately(&parts);
        self.delivery
            .send_modify(|delivery| delivery.finish(parts, false));
        Ok(delivered)
    }

    fn offer_items(&mut self, items: &[ShownItem]) {
        self.delivery
            .send_modify(|delivery| delivery.offered = items.to_vec());
    }

    async fn largest_file(&mut self) -> Result<u64, NotHandedOver> {
        self.largest_file.clone()
    }

    async fn hand_over(&mut self, files: &[OwnFile]) -> Result<HandedOver, NotHandedOver> {
        for file in files {
            let content = file.read().await?;
            let handed = (file.name.clone(), content);
            self.delivery
                .send_modify(|delivery| delivery.files.push(handed));
        }
        Ok(HandedOver::Directly)
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::new(self.board.clone())
    }

    async fn prior_messages(&mut self) -> PriorMessages {
        self.background.clone()
    }

    async fn download(
        &mut self,
        attachment: &Attachment,
        most: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        let found = self.files.iter().find(|(file, _)| file == attachment);
        match found {
            Some((_, content)) if content.len() <= most => Ok(content.clone()),
            Some(_) => Err(DownloadError::TooLarge { most }),
            None => Err(DownloadError::Refused("there is no such file".to_owned())),
        }
    }
}

fn lost_connection() -> PlatformError {
    PlatformError::Disconnected {
        platform: NAME,
        source: "this delivery was to be lost".into(),
    }
}
