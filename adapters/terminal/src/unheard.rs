//! Answers to those who are gone: their turn is kept, and `history` has it when they come back.

use std::time::Duration;

use async_trait::async_trait;
use muninn_platform::{
    Attachment, Delivered, DownloadError, Inbox, InboxClosed, Incoming, Pace, PlatformError, Reply,
    SafeText, TextLimit,
};

use crate::NAME;
use crate::script::no_files;

/// Has everything answered that an earlier process accepted and did not answer.
pub(crate) async fn take_left_over(inbox: &Inbox) -> Result<(), InboxClosed> {
    for message in inbox.take_left_over(NAME) {
        let reply = Box::new(Unheard);
        inbox.deliver(Incoming::Message { message, reply }).await?;
    }
    Ok(())
}

struct Unheard;

#[async_trait]
impl Reply for Unheard {
    fn limit(&self) -> TextLimit {
        TextLimit::Unlimited
    }

    fn pace(&self) -> Pace {
        // Nobody sees it grow, so hardly ever.
        Pace {
            update_every: Duration::from_secs(3600),
            working_every: Duration::from_secs(3600),
        }
    }

    fn replace(&mut self, _earlier: Delivered) {}

    async fn working(&mut self) {}

    async fn update(&mut self, _so_far: &SafeText) {}

    async fn finish(&mut self, _parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        Ok(Delivered::default())
    }

    async fn retract(&mut self, _earlier: &Delivered) -> Result<(), PlatformError> {
        Ok(())
    }

    async fn download(&mut self, _: &Attachment, _: usize) -> Result<Vec<u8>, DownloadError> {
        Err(no_files())
    }
}
