//! A growing answer as the bot sees it, over a sink.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::Instant;

use super::{
    AnswerPart, AnswerSink, AnswerStage, Directly, DroppedReplyState, LiveAnswer, LiveAnswerAction,
    LiveAnswerEvent,
};
use crate::{
    Attachment, Delivered, DownloadError, HandedOver, Language, NotHandedOver, OwnFile, Pace,
    PlatformError, PlatformVocabulary, PriorMessages, PrivateFallback, Reply, SafeText, ShownItem,
    TextLimit, Withdraw,
};

/// One answer that is delivered through a sink.
pub struct LiveReply<S: AnswerSink> {
    sink: Arc<S>,
    answer: LiveAnswer<S::Message>,
    last_update: Option<Instant>,
    /// The language of the bot's own sentences.
    language: Language,
    /// The items that the answer lists.
    items: Vec<ShownItem>,
}

impl<S: AnswerSink> LiveReply<S> {
    /// `may_stand`: an earlier process may have posted it, wholly or in part.
    pub fn new(sink: S, may_stand: bool) -> Self {
        let mut answer = LiveAnswer::new();
        if may_stand {
            answer.expect_earlier();
        }
        Self {
            sink: Arc::new(sink),
            answer,
            last_update: None,
            language: Language::English,
            items: Vec::new(),
        }
    }

    async fn deliver(&mut self, parts: &[SafeText]) -> Result<Delivered, S::Error> {
        let error = match self.deliver_texts(&self.sink.texts(parts)).await {
            Ok(delivered) => return Ok(delivered),
            Err(error) => error,
        };
        match self.sink.simplify_format(&error, parts) {
            Some(plainer) => {
                tracing::warn!(%error, "the look of an answer is refused; it goes out as plain text");
                self.deliver_texts(&plainer).await
            }
            None => Err(error),
        }
    }

    async fn deliver_texts(&mut self, texts: &[S::Text]) -> Result<Delivered, S::Error> {
        let sink = Arc::clone(&self.sink);
        let (language, items) = (self.language, self.items.as_slice());
        let part_of = |number: usize| AnswerPart {
            number,
            text: &texts[number],
            stage: if number + 1 == texts.len() {
                AnswerStage::Last
            } else {
                AnswerStage::Whole
            },
            language,
            items,
        };
        let mut event = LiveAnswerEvent::Finish { parts: texts.len() };
        loop {
            event = match self.answer.step(event) {
                LiveAnswerAction::Find => LiveAnswerEvent::Found(sink.find().await?),
                LiveAnswerAction::Post { part } => {
                    LiveAnswerEvent::Posted(sink.post(&part_of(part)).await?)
                }
                LiveAnswerAction::Edit { message, part } => {
                    let part = part_of(part);
                    if sink.has_content(&message, &part) {
                        LiveAnswerEvent::Edited(super::Edited::As(message))
                    } else {
                        LiveAnswerEvent::Edited(sink.edit(&message, &part).await?)
                    }
                }
                LiveAnswerAction::Delete { message, is_spare } => {
                    match sink.delete(&message).await {
                        Ok(()) => {}
                        Err(error) if is_spare => {
                            tracing::warn!(%error, "half an answer stays beside the whole");
                        }
                        Err(error) => return Err(error),
                    }
                    LiveAnswerEvent::Deleted
                }
                LiveAnswerAction::Done | LiveAnswerAction::Show(_) | LiveAnswerAction::Nothing => {
                    let ids = self.answer.messages().map(|message| sink.id(message));
                    return Ok(Delivered(ids.collect()));
                }
            };
        }
    }
}

#[async_trait]
impl<S: AnswerSink> Reply for LiveReply<S> {
    fn limit(&self) -> TextLimit {
        self.sink.limit()
    }

    fn pace(&self) -> Pace {
        self.sink.pace()
    }

    fn replace(&mut self, earlier: Delivered) {
        self.answer.replace(self.sink.messages_to_replace(&earlier));
    }

    fn expect_earlier_delivery(&mut self) {
        if self.sink.expect_earlier_delivery() {
            self.answer.expect_earlier();
        }
    }

    async fn show_typing(&mut self) {
        self.sink.show_typing(self.language);
    }

    async fn update(&mut self, so_far: &SafeText) {
        let every = self.sink.pace().update_every;
        let is_early = self.last_update.is_some_and(|at| at.elapsed() < every);
        if is_early && !self.sink.keeps_pace() {
            return;
        }
        let LiveAnswerAction::Show(shown) = self.answer.step(LiveAnswerEvent::Grew) else {
            return;
        };
        let Some(text) = self.sink.first_text(so_far) else {
            return;
        };
        let part = AnswerPart {
            number: 0,
            text: &text,
            stage: AnswerStage::Growing,
            language: self.language,
            items: &self.items,
        };
        let shown = self.sink.show(shown.as_ref(), &part).await;
        self.answer.step(LiveAnswerEvent::Shown(shown));
        if self.answer.first().is_some() {
            self.last_update = Some(Instant::now());
        }
    }

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        // Also if it fails: the shown messages stay, and the next delivery completes them.
        let delivered = self.deliver(parts).await;
        let ending = if delivered.is_ok() {
            DroppedReplyState::Delivered
        } else {
            DroppedReplyState::Failed
        };
        self.sink.hide_typing(ending).await;
        delivered.map_err(|error| self.sink.explain_error(error))
    }

    async fn finish_for_asker(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        match self.sink.deliver_aside(parts).await {
            Some(delivered) => {
                self.answer.leave_messages_posted();
                delivered
            }
            None => self.finish(parts).await,
        }
    }

    async fn finish_privately(
        &mut self,
        parts: &[SafeText],
        otherwise: PrivateFallback,
    ) -> Result<Delivered, PlatformError> {
        match (self.sink.deliver_directly(parts).await, otherwise) {
            (Directly::Tried(delivered), _) => {
                // None of it is shown here, so only the typing indicator has to be removed.
                self.answer.leave_messages_posted();
                self.sink.hide_typing(DroppedReplyState::Delivered).await;
                delivered
            }
            (Directly::NotNeeded, _) | (Directly::Impossible(_), PrivateFallback::Here) => {
                self.finish_for_asker(parts).await
            }
            (Directly::ByAnotherWay(words), _)
            | (Directly::Impossible(words), PrivateFallback::Nowhere) => {
                let words = SafeText::new(&words.in_language(self.language));
                self.finish_for_asker(&words.split(self.sink.limit())).await
            }
        }
    }

    fn set_label_language(&mut self, language: Language) {
        self.language = language;
    }

    fn offer_items(&mut self, items: &[ShownItem]) {
        self.items = items.to_vec();
    }

    async fn largest_file(&mut self) -> Result<u64, NotHandedOver> {
        self.sink.largest_file().await
    }

    async fn hand_over(&mut self, files: &[OwnFile]) -> Result<HandedOver, NotHandedOver> {
        self.sink.hand_over(files).await
    }

    async fn remove_remaining_messages(&mut self) {
        if self.sink.remove_found() {
            self.answer.leave_messages_posted();
            self.sink.hide_typing(DroppedReplyState::GivenUp).await;
        }
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        self.sink.withdrawer()
    }

    fn vocabulary(&self) -> &'static PlatformVocabulary {
        self.sink.vocabulary()
    }

    async fn prior_messages(&mut self) -> PriorMessages {
        self.sink.prior_messages().await
    }

    async fn download(
        &mut self,
        attachment: &Attachment,
        most: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        self.sink.download(attachment, most).await
    }
}

impl<S: AnswerSink> fmt::Debug for LiveReply<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveReply").finish_non_exhaustive()
    }
}

impl<S: AnswerSink> Drop for LiveReply<S> {
    fn drop(&mut self) {
        self.sink.on_reply_dropped(self.answer.first());
        let given_up = self.answer.give_up();
        if given_up.unheard {
            self.sink.remove_found();
        }
        if given_up.messages.is_empty() && !self.sink.has_typing_to_hide() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let sink = Arc::clone(&self.sink);
        // Bounded in time like every request; the adapter waits for it when it ends.
        let chore = async move {
            sink.hide_typing(DroppedReplyState::GivenUp).await;
            for message in given_up.messages {
                if let Err(error) = sink.delete(&message).await {
                    tracing::warn!(%error, "an answer that was given up stays");
                }
            }
        };
        self.sink.cleanup_tasks().spawn_on(chore, &runtime);
    }
}
