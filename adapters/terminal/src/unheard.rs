//! Answers to those who are gone: their turn is kept, and `history` has it when they come back.

use async_trait::async_trait;
use muninn_platform::{Inbox, IncomingMessage, Readdress, Reply};

use crate::NAME;
use crate::script::PlainReply;

/// Has everything answered that an earlier process accepted and did not answer.
pub(crate) struct Unheard;

#[async_trait]
impl Readdress for Unheard {
    async fn reply_again(&self, _: &IncomingMessage) -> Option<Box<dyn Reply>> {
        Some(Box::new(PlainReply::unheard()))
    }
}

/// Has everything answered that terminals of an earlier process asked, where nobody else sees to that;
/// until the bot ends.
pub async fn answer_unheard(inbox: &Inbox) {
    if inbox.deliver_left_over(NAME, &Unheard).await.is_ok() {
        inbox.follow_left_over(NAME, &Unheard).await;
    }
}
