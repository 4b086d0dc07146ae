//! Posts the messages of an answer to the program.
//!
//! A message id is derived from its question, so a repetition replaces the same message: nothing
//! has to be searched after a crash. An answer is posted when it is complete.

use std::sync::Arc;

use async_trait::async_trait;
use muninn_platform::{
    AnswerPart, AnswerSink, ConversationId, Delivered, DisplayOutcome, Edited, EventId, LiveReply,
    MessageId, NotHandedOver, NotNow, Pace, PlatformError, PlatformVocabulary, SafeText, TextLimit,
    Withdraw, Withdrawn, misconfigured,
};
use muninn_texts::text;
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use crate::event::{own_id, place_of};
use crate::name::{NAME, VOCABULARY};
use crate::outbox::{SendError, WebhookOutbox};

/// What a reply answers.
pub(crate) struct WebhookReplyTarget {
    pub(crate) question: EventId,
    pub(crate) conversation: ConversationId,
}

/// Creates the reply for one answer to the program.
pub(crate) fn reply(
    outbox: Arc<WebhookOutbox>,
    target: WebhookReplyTarget,
) -> LiveReply<ProgramSink> {
    LiveReply::new(ProgramSink { outbox, target }, false)
}

pub(crate) struct ProgramSink {
    outbox: Arc<WebhookOutbox>,
    target: WebhookReplyTarget,
}

/// A message that the program has.
#[derive(Clone)]
pub(crate) struct ProgramMessage {
    id: MessageId,
    /// `None`: the text of an earlier answer.
    text: Option<String>,
}

/// Returns the id of a part of the answer to a question.
fn id_of(question: &EventId, part: usize) -> MessageId {
    MessageId::new(format!("{question}/answer/{part}"))
}

impl ProgramSink {
    async fn put(
        &self,
        id: MessageId,
        part: &AnswerPart<'_, SafeText>,
    ) -> Result<ProgramMessage, SendError> {
        let mut content = content("put", &self.target.conversation, &id);
        content["question"] = json!(own_id(&self.target.question));
        content["part"] = json!(part.number);
        content["text"] = json!(part.text.as_str());
        self.outbox.send(&content).await?;
        let text = Some(part.text.to_string());
        Ok(ProgramMessage { id, text })
    }
}

fn content(action: &str, conversation: &ConversationId, message: &MessageId) -> Value {
    let (channel, conversation) = place_of(conversation).unwrap_or_default();
    json!({ "action": action, "channel": channel, "conversation": conversation, "message": message })
}

#[async_trait]
impl AnswerSink for ProgramSink {
    type Message = ProgramMessage;
    type Text = SafeText;
    type Error = SendError;

    fn limit(&self) -> TextLimit {
        TextLimit::Unlimited
    }

    fn pace(&self) -> Pace {
        Pace::RARELY
    }

    fn texts(&self, parts: &[SafeText]) -> Vec<SafeText> {
        parts.to_vec()
    }

    /// Nothing is shown before the answer is complete.
    fn first_text(&self, _: &SafeText) -> Option<SafeText> {
        None
    }

    fn has_content(&self, message: &ProgramMessage, part: &AnswerPart<'_, SafeText>) -> bool {
        message.text.as_deref() == Some(part.text.as_str())
    }

    async fn post(&self, part: &AnswerPart<'_, SafeText>) -> Result<ProgramMessage, SendError> {
        let id = id_of(&self.target.question, part.number);
        self.put(id, part).await
    }

    async fn edit(
        &self,
        message: &ProgramMessage,
        part: &AnswerPart<'_, SafeText>,
    ) -> Result<Edited<ProgramMessage>, SendError> {
        let changed = self.put(message.id.clone(), part).await?;
        Ok(Edited::As(changed))
    }

    async fn delete(&self, message: &ProgramMessage) -> Result<(), SendError> {
        let content = content("delete", &self.target.conversation, &message.id);
        self.outbox.send(&content).await
    }

    async fn show(
        &self,
        _: Option<&ProgramMessage>,
        _: &AnswerPart<'_, SafeText>,
    ) -> DisplayOutcome<ProgramMessage> {
        DisplayOutcome::Refused
    }

    fn id(&self, message: &ProgramMessage) -> MessageId {
        message.id.clone()
    }

    fn messages_to_replace(&self, earlier: &Delivered) -> Vec<ProgramMessage> {
        let ids = earlier.0.iter().cloned();
        ids.map(|id| ProgramMessage { id, text: None }).collect()
    }

    fn cleanup_tasks(&self) -> &TaskTracker {
        &self.outbox.chores
    }

    fn explain_error(&self, error: SendError) -> PlatformError {
        match error {
            error @ SendError::Refused(_) => misconfigured(format!(
                "WEBHOOK_ANSWER_URL does not take answers: {error}; it has to accept signed requests (docs/platforms/webhook.md)"
            )),
            error @ SendError::Away { .. } => PlatformError::disconnected(NAME, error),
        }
    }

    /// The program claims who asks, which is not enough to export all that is kept of a person.
    async fn largest_file(&self) -> Result<u64, NotHandedOver> {
        Err(NotHandedOver::new(text!("no-copy-webhook")))
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::new(WebhookWithdrawer(Arc::clone(&self.outbox)))
    }

    fn vocabulary(&self) -> &'static PlatformVocabulary {
        &VOCABULARY
    }
}

pub(crate) struct WebhookWithdrawer(pub(crate) Arc<WebhookOutbox>);

#[async_trait]
impl Withdraw for WebhookWithdrawer {
    async fn withdraw(&self, conversation: &ConversationId, message: &MessageId) -> Withdrawn {
        match self
            .0
            .send_once(&content("delete", conversation, message))
            .await
        {
            Ok(()) => Withdrawn::Gone,
            Err(SendError::Away { .. }) => Withdrawn::NotYet,
            Err(error @ SendError::Refused(_)) => {
                Withdrawn::stays(text!("stays-program", why = error.to_string()))
            }
        }
    }

    /// The program may have it. An answer is one message, of any length.
    async fn find_answer(
        &self,
        _: &ConversationId,
        question: &EventId,
    ) -> Result<Vec<MessageId>, NotNow> {
        Ok(vec![id_of(question, 0)])
    }
}
