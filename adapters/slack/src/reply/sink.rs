//! What a reply in a channel knows of its messages.

use std::sync::Arc;

use muninn_platform::{AnswerPart, AnswerStage, SafeText};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::content;
use crate::content::SlackMessageFormat;
use crate::hub::SlackHub;
use crate::outbox::MethodCall;
use crate::reply_target::SlackReplyTarget;
use crate::status::StatusIndicator;
use crate::views::below_items;

pub(crate) struct ChannelSink {
    pub(super) hub: Arc<SlackHub>,
    pub(super) target: SlackReplyTarget,
    /// Streams of this reply, which only it ends.
    pub(super) begun: Mutex<Vec<String>>,
    /// The message that cannot be changed and is being replaced. A new one is posted after it.
    pub(super) stuck: Mutex<Option<String>>,
    pub(super) signs: Mutex<StatusIndicator>,
}

/// A text with its formatting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormattedText {
    pub(super) text: SafeText,
    pub(super) form: SlackMessageFormat,
}

/// A message in the channel.
#[derive(Clone, Debug)]
pub(crate) enum SlackLiveMessage {
    Posted {
        ts: String,
        /// Its content and stage; `None` if unknown.
        says: Option<(FormattedText, AnswerStage)>,
    },
    Stream {
        ts: String,
        /// Everything appended. `None`: unknown, or the stream is closed.
        sent: Option<String>,
    },
}

impl SlackLiveMessage {
    pub(super) fn ts(&self) -> &str {
        match self {
            Self::Posted { ts, .. } | Self::Stream { ts, .. } => ts,
        }
    }

    pub(super) fn standing(ts: String) -> Self {
        Self::Posted { ts, says: None }
    }

    pub(super) fn saying(ts: String, part: &AnswerPart<'_, FormattedText>) -> Self {
        let says = Some((part.text.clone(), part.stage));
        Self::Posted { ts, says }
    }
}

impl ChannelSink {
    pub(super) fn channel(&self) -> &str {
        &self.target.place.channel
    }

    pub(super) fn call(&self, method: &'static str) -> MethodCall<'_> {
        let channel = self.channel();
        MethodCall { method, channel }
    }

    pub(super) fn content(&self, part: &AnswerPart<'_, FormattedText>) -> Value {
        let mut content =
            content::message(&part.text.text, part.stage, part.text.form, part.language);
        // Plain messages have no buttons.
        if let Some(blocks) = content["blocks"].as_array_mut().filter(|it| !it.is_empty()) {
            blocks.splice(1..1, listed(part));
        }
        content
    }

    pub(super) fn new_message(&self, part: &AnswerPart<'_, FormattedText>) -> Value {
        let mut arguments = self.content(part);
        arguments["channel"] = json!(self.channel());
        arguments["unfurl_links"] = json!(false);
        arguments["unfurl_media"] = json!(false);
        arguments["metadata"] = self.metadata(part.number);
        if let Some(thread) = self.target.place.thread() {
            arguments["thread_ts"] = json!(thread);
        }
        arguments
    }

    /// Returns the arguments that change a message.
    pub(super) fn change_of(&self, ts: &str, part: &AnswerPart<'_, FormattedText>) -> Value {
        let mut arguments = self.content(part);
        arguments["channel"] = json!(self.channel());
        arguments["ts"] = json!(ts);
        arguments["metadata"] = self.metadata(part.number);
        arguments
    }

    pub(super) fn metadata(&self, part: usize) -> Value {
        content::metadata(self.target.question.as_str(), part)
    }

    /// Nothing waits for that.
    pub(super) fn hide_signs(&self, is_answered: bool) {
        let (mut signs, hub) = (self.signs.lock().take(), Arc::clone(&self.hub));
        if signs.are_shown() {
            self.hub
                .chores
                .spawn(async move { signs.hide(&hub, is_answered).await });
        }
    }
}

/// Returns the buttons of the listed items.
pub(super) fn listed(part: &AnswerPart<'_, FormattedText>) -> Vec<Value> {
    match part.stage {
        AnswerStage::Growing | AnswerStage::Whole => Vec::new(),
        AnswerStage::Last => below_items(part.items, part.language),
    }
}

/// Returns the `ts` that a method gave a message.
pub(super) fn ts_of(answer: &Value) -> String {
    answer["ts"].as_str().unwrap_or_default().to_owned()
}
