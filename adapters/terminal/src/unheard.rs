//! Answers to those who are gone: their turn is kept, and `history` has it when they come back.

use muninn_platform::{Inbox, InboxClosed, Incoming, IncomingMessage};

use crate::NAME;
use crate::script::PlainReply;

/// Has everything answered that an earlier process accepted and did not answer.
pub(crate) async fn take_left_over(inbox: &Inbox) -> Result<(), InboxClosed> {
    deliver(inbox, inbox.take_left_over(NAME)).await
}

/// The same of what processes accepted that end later, for as long as it is polled.
pub(crate) async fn follow_left_over(inbox: &Inbox) -> Result<(), InboxClosed> {
    loop {
        let left_over = inbox.next_left_over(NAME).await;
        deliver(inbox, left_over).await?;
    }
}

async fn deliver(inbox: &Inbox, messages: Vec<IncomingMessage>) -> Result<(), InboxClosed> {
    for message in messages {
        let reply = Box::new(PlainReply::unheard());
        inbox.deliver(Incoming::Message { message, reply }).await?;
    }
    Ok(())
}
