//! Answers people who are gone: their turns are kept, and `history` shows them when they come back.

use async_trait::async_trait;
use muninn_platform::{Inbox, IncomingMessage, Readdress, Reply};

use crate::name::NAME;
use crate::script::PlainReply;

/// Creates replies for what an earlier process accepted and did not answer.
pub(crate) struct Unheard;

#[async_trait]
impl Readdress for Unheard {
    async fn reply_again(&self, _: &IncomingMessage) -> Option<Box<dyn Reply>> {
        Some(Box::new(PlainReply::unheard()))
    }
}

/// Answers what terminals of an earlier process asked, if no adapter does that; until the bot ends.
pub async fn answer_unheard(inbox: &Inbox) {
    if inbox.deliver_left_over(NAME, &Unheard).await.is_ok() {
        inbox.follow_left_over(NAME, &Unheard).await;
    }
}
