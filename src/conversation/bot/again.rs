//! Answers a question again, on request.

use muninn_platform::{IncomingMessage, MessageId, Reply};

use super::Bot;
use crate::conversation::notice::Notice;
use crate::conversation::turn::{KeptReason, Regenerated, Regeneration, TurnError, deliver};

impl Bot {
    /// Regenerates the answer that a message asks for. Returns whether the message needs nothing more.
    pub(super) async fn answer_again(
        &self,
        message: &IncomingMessage,
        answer: &MessageId,
        reply: &mut dyn Reply,
    ) -> bool {
        let notice = match self.try_again(message, answer, reply).await {
            Ok(Ok(is_done)) => return is_done,
            Ok(Err(notice)) => notice,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, event = %message.event, "nothing was answered again");
                if error.is_transient() {
                    Notice::StoreNeeded
                } else {
                    Notice::Failed
                }
            }
        };
        deliver(reply, &notice.in_language(message.language())).await;
        true
    }

    /// Returns whether the message needs nothing more, or why nothing is regenerated.
    async fn try_again(
        &self,
        message: &IncomingMessage,
        answer: &MessageId,
        reply: &mut dyn Reply,
    ) -> Result<Result<bool, Notice>, TurnError> {
        let archive = &self.archive;
        if archive.is_away() {
            return Ok(Err(Notice::StoreNeeded));
        }
        let found = archive.response_of_message(&message.audience.id, answer);
        let Some((session, response)) = found.await? else {
            return Ok(Err(Notice::NoSuchAnswer));
        };
        let guard = self.sessions.lock(&session).await;
        let _place = self.acquire_turn_permit(message).await;
        let taken = self
            .regenerate(&guard, message, response, Regeneration::Again, reply)
            .await?;
        Ok(match taken {
            // Of those that are not regenerated: delivered twice, made once, or stopped. The present answer stays.
            Ok(Regenerated::Over | Regenerated::Undelivered)
            | Err(KeptReason::Same | KeptReason::CallResult | KeptReason::Stopped) => {
                Ok(self.is_shown(message, taken))
            }
            Err(KeptReason::OutOfWindow) => Err(Notice::TooLateToAskAgain),
            Err(KeptReason::NotTheirs) => Err(Notice::NotYoursToAskAgain(reply.vocabulary())),
        })
    }
}
