//! Completes a message of an answer, whatever of it is posted already.
//!
//! Each step has a fallback: a stream that cannot be ended with its text is ended without it and
//! changed, a message that cannot be changed is posted again and the old one deleted, and a format
//! that Slack refuses becomes plain text. So no message stops in mid-sentence.

use std::sync::Arc;
use std::time::Duration;

use muninn_platform::{AnswerPart, Edited};
use serde_json::json;

use super::sink::{ChannelSink, FormattedText, SlackLiveMessage, listed, ts_of};
use crate::content::{self, SlackMessageFormat};
use crate::errors::ApiError;
use crate::hub::SlackHub;
use crate::mrkdwn::markdown;
use crate::reply_target::{SlackReplyTarget, remove};
use crate::standing::{self, AnswerMessages};

/// How long Slack may be unreachable before the fallback is used.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);
const CHANGE_TIMEOUT: Duration = Duration::from_secs(60);

impl ChannelSink {
    /// Changes a message to its final content.
    pub(super) async fn complete(
        &self,
        shown: &SlackLiveMessage,
        part: &AnswerPart<'_, FormattedText>,
    ) -> Result<Edited<SlackLiveMessage>, ApiError> {
        let ts = shown.ts();
        let as_told = || Edited::As(SlackLiveMessage::saying(ts.to_owned(), part));
        if let SlackLiveMessage::Stream { sent, .. } = shown
            && self.end_stream(ts, sent.as_deref(), part).await?
        {
            return Ok(as_told());
        }
        let why = match self.change(ts, part).await {
            Ok(()) => return Ok(as_told()),
            Err(error) => error,
        };
        let is_hopeless = match &why {
            // Plain text is tried first.
            error @ ApiError::Refused { .. } if error.is_about_content() => {
                part.text.form == SlackMessageFormat::Blocks
            }
            error @ ApiError::Refused { .. } => !error.is_unchangeable(),
            ApiError::Away { .. } => false,
            ApiError::Limited { .. } | ApiError::Revoked { .. } | ApiError::MissingScope { .. } => {
                true
            }
        };
        if is_hopeless {
            return Err(why);
        }
        tracing::debug!(error = %why, "a message cannot be changed; it is said anew");
        *self.stuck.lock() = Some(ts.to_owned());
        Ok(Edited::Stuck(SlackLiveMessage::standing(ts.to_owned())))
    }

    async fn change(&self, ts: &str, part: &AnswerPart<'_, FormattedText>) -> Result<(), ApiError> {
        let arguments = self.change_of(ts, part);
        let hub = &self.hub;
        let call = self.call("chat.update");
        let change = |_| hub.api.post(call.method, &arguments);
        let changed = hub.outbox.send_within(CHANGE_TIMEOUT, call, change).await;
        changed.map(drop)
    }

    /// Posts a part.
    pub(super) async fn post_part(
        &self,
        part: &AnswerPart<'_, FormattedText>,
    ) -> Result<SlackLiveMessage, ApiError> {
        let arguments = self.new_message(part);
        let (hub, target) = (&self.hub, &self.searched());
        let (arguments, call) = (&arguments, self.call("chat.postMessage"));
        let post = |may_be_done| async move {
            // Slack has no idempotency key, so an earlier post has to be searched.
            if may_be_done
                && let Some(Some(standing)) =
                    (standing::find(hub, target).await?.parts.into_iter()).nth(part.number)
            {
                // It may be what was shown while the answer grew.
                return Ok(SlackLiveMessage::standing(standing));
            }
            let posted = hub.api.post(call.method, arguments).await?;
            self.signs.lock().record_post();
            Ok(SlackLiveMessage::saying(ts_of(&posted), part))
        };
        hub.outbox.send(call, post).await
    }

    /// Returns where a new message is searched that Slack did not confirm. A message that it
    /// replaces has the same metadata, and is no result.
    fn searched(&self) -> SlackReplyTarget {
        let mut target = self.target.clone();
        if let Some(stuck) = self.stuck.lock().clone() {
            target.question_ts = Some(stuck);
        }
        target
    }

    /// Ends a stream with the rest of the text; returns false if it has to be changed too.
    async fn end_stream(
        &self,
        ts: &str,
        sent: Option<&str>,
        part: &AnswerPart<'_, FormattedText>,
    ) -> Result<bool, ApiError> {
        let FormattedText { text, form } = part.text;
        let whole = markdown(text.as_str());
        let rest = sent
            .filter(|_| *form == SlackMessageFormat::Blocks)
            .and_then(|sent| {
                let is_whole = || (whole == sent.trim_end()).then_some("");
                whole.strip_prefix(sent).or_else(is_whole)
            });
        if let Some(rest) = rest {
            let mut arguments = json!({ "channel": self.channel(), "ts": ts });
            arguments["metadata"] = self.metadata(part.number);
            if !rest.is_empty() {
                arguments["markdown_text"] = json!(rest);
            }
            let mut below = listed(part);
            below.extend(content::below(part.stage, part.language));
            if !below.is_empty() {
                arguments["blocks"] = json!(below);
            }
            match self.stop_stream(&arguments).await {
                Ok(()) => return Ok(true),
                Err(error @ ApiError::Revoked { .. }) => return Err(error),
                // It ended without us, or with part of the text, or Slack refuses the content.
                Err(error) => tracing::info!(%error, "a stream did not take its end"),
            }
        }
        self.stop_bare(ts).await;
        Ok(false)
    }

    /// Ends a stream without further text.
    pub(super) async fn stop_bare(&self, ts: &str) {
        let bare = json!({ "channel": self.channel(), "ts": ts });
        if let Err(error) = self.stop_stream(&bare).await {
            tracing::debug!(%error, "a stream was over already");
        }
    }

    async fn stop_stream(&self, arguments: &serde_json::Value) -> Result<(), ApiError> {
        let hub = &self.hub;
        let call = self.call("chat.stopStream");
        let stop = |_| hub.api.post(call.method, arguments);
        let stopped = hub.outbox.send_within(STOP_TIMEOUT, call, stop).await;
        stopped.map(drop)
    }
}

/// Deletes every message of an answer except those being written. Nothing waits for it.
pub(crate) fn take_away_all(hub: &Arc<SlackHub>, target: &SlackReplyTarget) {
    let (chores, hub, target) = (hub.chores.clone(), Arc::clone(hub), target.clone());
    let chore = async move {
        let (found, _) = standing::search(&hub, &target).await;
        let AnswerMessages { parts, halves } = found;
        let channel = &target.place.channel;
        for ts in &halves {
            let bare = json!({ "channel": channel, "ts": ts });
            let _ = hub.api.post("chat.stopStream", &bare).await;
        }
        for ts in parts.iter().flatten().chain(&halves) {
            if let Err(error) = remove(&hub, channel, ts).await {
                tracing::warn!(%error, channel, "what was taken back stays");
            }
        }
    };
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        chores.spawn_on(chore, &runtime);
    }
}

/// Converts the messages found: half an answer is the beginning of the whole one, unless that was
/// posted.
pub(super) fn shown(found: AnswerMessages) -> Vec<Option<SlackLiveMessage>> {
    let has_beginning = found.has_beginning();
    let mut shown: Vec<Option<SlackLiveMessage>> = found
        .parts
        .into_iter()
        .map(|part| part.map(SlackLiveMessage::standing))
        .collect();
    let mut halves = found
        .halves
        .into_iter()
        .map(|ts| Some(SlackLiveMessage::Stream { ts, sent: None }));
    if !has_beginning && let Some(first) = halves.next() {
        match shown.first_mut() {
            Some(place) => *place = first,
            None => shown.push(first),
        }
    }
    // After any parts that may follow.
    shown.extend(halves);
    shown
}
