//! Answers to those who are gone: their turn is kept, and `history` has it when they come back.

use muninn_platform::{Inbox, InboxClosed, Incoming};

use crate::NAME;
use crate::script::PlainReply;

/// Has everything answered that an earlier process accepted and did not answer.
pub(crate) async fn take_left_over(inbox: &Inbox) -> Result<(), InboxClosed> {
    for message in inbox.take_left_over(NAME) {
        let reply = Box::new(PlainReply::unheard());
        inbox.deliver(Incoming::Message { message, reply }).await?;
    }
    Ok(())
}
