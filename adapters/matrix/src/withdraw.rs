//! Withdraws the bot's messages.

use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use muninn_platform::{ConversationId, EventId, MessageId, NotNow, Withdraw, Withdrawn};
use muninn_texts::text;

use crate::hub::MatrixHub;
use crate::ids;
use crate::removal;

pub(crate) struct MatrixWithdrawer(pub(crate) Arc<MatrixHub>);

impl MatrixWithdrawer {
    fn take_away<'a>(
        &'a self,
        conversation: &'a ConversationId,
        message: &'a MessageId,
    ) -> BoxFuture<'a, Withdrawn> {
        async move {
            let Some((room, id)) = ids::parse_sent(conversation, message) else {
                return Withdrawn::Gone;
            };
            let Some(room) = self.0.client.get_room(&room) else {
                return Withdrawn::stays(text!("stays-not-in-room"));
            };
            match removal::remove(&self.0, &room, &id).await {
                Ok(()) => Withdrawn::Gone,
                Err(error) if error.request_failure().is_temporary() => Withdrawn::NotYet,
                Err(error) => Withdrawn::stays(text!("stays-homeserver", why = error.reason())),
            }
        }
        .boxed()
    }

    fn answers_to<'a>(
        &'a self,
        question: &'a EventId,
    ) -> BoxFuture<'a, Result<Vec<MessageId>, NotNow>> {
        async move {
            let Some((room, Some(question))) = ids::parse(question.as_str()) else {
                return Ok(Vec::new());
            };
            let Some(room) = self.0.client.get_room(&room) else {
                return Ok(Vec::new());
            };
            let asked = || removal::answers_to(&self.0, &room, &question);
            match self.0.outbox.retry(asked).await {
                Ok(found) => Ok(found.iter().map(|id| MessageId::new(id.as_str())).collect()),
                Err(error) if error.request_failure().is_temporary() => Err(NotNow),
                // What cannot be read cannot be found.
                Err(error) => {
                    tracing::debug!(room = %room.room_id(), %error, "an answer is not looked for");
                    Ok(Vec::new())
                }
            }
        }
        .boxed()
    }
}

#[async_trait]
impl Withdraw for MatrixWithdrawer {
    async fn withdraw(&self, conversation: &ConversationId, message: &MessageId) -> Withdrawn {
        self.take_away(conversation, message).await
    }

    async fn find_answer(
        &self,
        _: &ConversationId,
        question: &EventId,
    ) -> Result<Vec<MessageId>, NotNow> {
        self.answers_to(question).await
    }
}
