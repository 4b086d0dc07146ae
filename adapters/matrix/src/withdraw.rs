//! Taking away what the bot said.

use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use matrix_sdk::ruma::OwnedEventId;
use muninn_platform::{ConversationId, MessageId, Withdraw, Withdrawn};
use muninn_texts::text;

use crate::hub::Hub;
use crate::ids;
use crate::outbox::SendError;
use crate::removal;

pub(crate) struct Withdrawer(pub(crate) Arc<Hub>);

impl Withdrawer {
    fn take_away<'a>(
        &'a self,
        conversation: &'a ConversationId,
        message: &'a MessageId,
    ) -> BoxFuture<'a, Withdrawn> {
        async move {
            let Some((room, _)) = ids::parse(conversation.as_str()) else {
                return Withdrawn::Gone;
            };
            let Ok(id) = OwnedEventId::try_from(message.as_str()) else {
                return Withdrawn::Gone;
            };
            let Some(room) = self.0.client.get_room(&room) else {
                return Withdrawn::stays(text!("stays-not-in-room"));
            };
            match removal::remove(&self.0, &room, &id).await {
                Ok(()) => Withdrawn::Gone,
                Err(SendError::Away(_) | SendError::TimedOut | SendError::LoggedOut) => {
                    Withdrawn::NotYet
                }
                Err(SendError::Refused(error)) => Withdrawn::stays(text!(
                    "stays-homeserver",
                    why = muninn_platform::in_one_line(&error)
                )),
            }
        }
        .boxed()
    }
}

#[async_trait]
impl Withdraw for Withdrawer {
    async fn withdraw(&self, conversation: &ConversationId, message: &MessageId) -> Withdrawn {
        self.take_away(conversation, message).await
    }
}
