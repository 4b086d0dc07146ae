//! The messages of one answer in a channel.
//!
//! In a thread the answer is streamed if the workspace has native streams. A stream only appends:
//! if the text is not a continuation any more, the stream stays as it is and is changed at the end.
//! Elsewhere, and outside threads, a message is posted and edited as it grows.

mod delivering;
mod growing;
mod sink;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use muninn_platform::{
    AnswerPart, AnswerSink, Attachment, Delivered, DisplayOutcome, DownloadError,
    DroppedReplyState, Edited, HandedOver, Language, LiveReply, MessageId, NotHandedOver, OwnFile,
    Pace, PlatformError, PlatformVocabulary, PriorMessages, Reply as _, SafeText, TextLimit,
    Withdraw,
};
use parking_lot::Mutex;
use tokio_util::task::TaskTracker;

use crate::content::{self, SlackMessageFormat};
use crate::ephemeral::{EphemeralReply, EphemeralTarget};
use crate::errors::ApiError;
use crate::handing::{self, LARGEST_FILE};
use crate::hub::SlackHub;
use crate::ids::{self, SlackPlace};
use crate::reply_target::{SlackReplyTarget, remove};
use crate::standing;
use crate::status::{STATUS_EVERY, StatusIndicator};
use crate::withdraw::{SlackWithdrawer, VOCABULARY};
use crate::{background, files};
use sink::{ChannelSink, FormattedText, SlackLiveMessage};

pub(crate) use delivering::take_away_all;

/// Minimum interval of updates: Slack's pace for one channel.
const UPDATE_EVERY: Duration = Duration::from_secs(1);

/// Creates the reply for one answer in a channel.
pub(crate) fn reply(hub: Arc<SlackHub>, target: SlackReplyTarget) -> LiveReply<ChannelSink> {
    let SlackPlace { channel, .. } = &target.place;
    let signs = StatusIndicator::new(channel, target.place.thread(), &target.asker);
    let may_be_repetition = target.may_be_repetition;
    let sink = ChannelSink {
        hub,
        target,
        begun: Mutex::default(),
        stuck: Mutex::default(),
        signs: Mutex::new(signs),
    };
    LiveReply::new(sink, may_be_repetition)
}

fn in_form(parts: &[SafeText], form: SlackMessageFormat) -> Vec<FormattedText> {
    let words = |text: &SafeText| FormattedText {
        text: text.clone(),
        form,
    };
    parts.iter().map(words).collect()
}

#[async_trait]
impl AnswerSink for ChannelSink {
    type Message = SlackLiveMessage;
    type Text = FormattedText;
    type Error = ApiError;

    fn limit(&self) -> TextLimit {
        content::LIMIT
    }

    fn pace(&self) -> Pace {
        Pace {
            update_every: UPDATE_EVERY,
            working_every: STATUS_EVERY,
        }
    }

    fn texts(&self, parts: &[SafeText]) -> Vec<FormattedText> {
        in_form(parts, SlackMessageFormat::Blocks)
    }

    fn first_text(&self, so_far: &SafeText) -> Option<FormattedText> {
        let text = growing::first_part(so_far)?;
        let form = SlackMessageFormat::Blocks;
        Some(FormattedText { text, form })
    }

    fn simplify_format(&self, error: &ApiError, parts: &[SafeText]) -> Option<Vec<FormattedText>> {
        let plain = || in_form(&content::plain_parts(parts), SlackMessageFormat::Plain);
        error.is_about_content().then(plain)
    }

    fn has_content(
        &self,
        message: &SlackLiveMessage,
        part: &AnswerPart<'_, FormattedText>,
    ) -> bool {
        match message {
            SlackLiveMessage::Posted { says, .. } => says
                .as_ref()
                .is_some_and(|(words, stage)| words == part.text && *stage == part.stage),
            SlackLiveMessage::Stream { .. } => false,
        }
    }

    async fn post(
        &self,
        part: &AnswerPart<'_, FormattedText>,
    ) -> Result<SlackLiveMessage, ApiError> {
        self.post_part(part).await
    }

    async fn edit(
        &self,
        message: &SlackLiveMessage,
        part: &AnswerPart<'_, FormattedText>,
    ) -> Result<Edited<SlackLiveMessage>, ApiError> {
        self.complete(message, part).await
    }

    async fn delete(&self, message: &SlackLiveMessage) -> Result<(), ApiError> {
        if let SlackLiveMessage::Stream { ts, .. } = message {
            self.stop_bare(ts).await;
        }
        remove(&self.hub, self.channel(), message.ts()).await
    }

    async fn find(&self) -> Result<Vec<Option<SlackLiveMessage>>, ApiError> {
        let found = standing::find(&self.hub, &self.target).await?;
        Ok(delivering::shown(found))
    }

    async fn show(
        &self,
        shown: Option<&SlackLiveMessage>,
        part: &AnswerPart<'_, FormattedText>,
    ) -> DisplayOutcome<SlackLiveMessage> {
        match shown {
            Some(shown) => self.go_on(shown, part).await,
            None => self.begin(part).await,
        }
    }

    fn id(&self, message: &SlackLiveMessage) -> MessageId {
        ids::message(self.channel(), message.ts())
    }

    fn messages_to_replace(&self, earlier: &Delivered) -> Vec<SlackLiveMessage> {
        let standing = earlier.0.iter().filter_map(ids::standing_ts);
        standing
            .map(|ts| SlackLiveMessage::standing(ts.to_owned()))
            .collect()
    }

    fn show_typing(&self, language: Language) {
        self.signs.lock().show(&self.hub, language);
    }

    fn has_typing_to_hide(&self) -> bool {
        self.signs.lock().are_shown()
    }

    async fn hide_typing(&self, ending: DroppedReplyState) {
        match ending {
            DroppedReplyState::Delivered => self.hide_signs(true),
            DroppedReplyState::Failed => self.hide_signs(false),
            DroppedReplyState::GivenUp => {
                let mut signs = self.signs.lock().take();
                signs.hide(&self.hub, false).await;
            }
        }
    }

    fn on_reply_dropped(&self, _: Option<&SlackLiveMessage>) {
        for ts in self.begun.lock().drain(..) {
            self.hub.record_stream_end(self.channel(), &ts);
        }
    }

    fn remove_found(&self) -> bool {
        take_away_all(&self.hub, &self.target);
        true
    }

    fn cleanup_tasks(&self) -> &TaskTracker {
        &self.hub.chores
    }

    fn explain_error(&self, error: ApiError) -> PlatformError {
        error.sentence(self.channel())
    }

    async fn deliver_aside(&self, parts: &[SafeText]) -> Option<Result<Delivered, PlatformError>> {
        let channel = self.channel();
        if ids::is_direct(channel) {
            return None;
        }
        // Slack shows it in no thread that the question would only begin.
        let question = self.target.question_ts.as_deref();
        let thread = self.target.place.thread();
        let whisper = EphemeralTarget {
            channel: channel.to_owned(),
            user: self.target.asker.clone(),
            thread: thread.filter(|_| thread != question).map(str::to_owned),
            response_url: None,
            question: self.target.question.clone(),
            is_command: true,
            may_be_shared: false,
        };
        self.hide_signs(false);
        let mut aside = EphemeralReply::new(Arc::clone(&self.hub), whisper);
        Some(aside.finish(parts).await)
    }

    async fn largest_file(&self) -> Result<u64, NotHandedOver> {
        Ok(LARGEST_FILE)
    }

    async fn hand_over(&self, files: &[OwnFile]) -> Result<HandedOver, NotHandedOver> {
        handing::hand_over(&self.hub, &self.target.asker, self.channel(), files).await
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::new(SlackWithdrawer(Arc::clone(&self.hub)))
    }

    fn vocabulary(&self) -> &'static PlatformVocabulary {
        &VOCABULARY
    }

    async fn prior_messages(&self) -> PriorMessages {
        match (&self.target.question_ts, self.target.place.thread()) {
            // The thread existed before the question.
            (Some(ts), Some(thread)) if ts != thread => {
                background::read_prior_messages(&self.hub, self.channel(), thread, ts).await
            }
            (Some(_) | None, _) => PriorMessages::default(),
        }
    }

    async fn download(
        &self,
        attachment: &Attachment,
        most: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        files::download(&self.hub, attachment, most).await
    }
}
