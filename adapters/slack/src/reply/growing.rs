//! Shows an answer while it grows, and ends that.

use muninn_platform::{AnswerPart, AnswerSink as _, DisplayOutcome, SafeText, TextLimit};
use serde_json::json;

use super::sink::{ChannelSink, FormattedText, SlackLiveMessage, ts_of};
use crate::content;
use crate::errors::ApiError;
use crate::mrkdwn::markdown;

impl ChannelSink {
    /// Shows the beginning of an answer.
    pub(super) async fn begin(
        &self,
        part: &AnswerPart<'_, FormattedText>,
    ) -> DisplayOutcome<SlackLiveMessage> {
        if let Some(thread) = self.target.place.thread()
            && self.hub.streams.is_there()
        {
            match self.begin_stream(thread, &part.text.text).await {
                Some(Ok(shown)) => {
                    self.signs.lock().record_post();
                    self.hub.record_stream_start(self.channel(), shown.ts());
                    self.begun.lock().push(shown.ts().to_owned());
                    return DisplayOutcome::As(shown);
                }
                Some(Err(ApiError::Away { .. })) => return DisplayOutcome::Unknown,
                Some(Err(error)) => self.hub.streams.learn(&error),
                None => return DisplayOutcome::NotNow,
            }
        }
        let arguments = self.new_message(part);
        let call = self.call("chat.postMessage");
        let post = self.hub.api.post(call.method, &arguments);
        let Some(posted) = self.hub.outbox.try_send(call, post).await else {
            return DisplayOutcome::NotNow;
        };
        match posted {
            Ok(posted) => {
                self.signs.lock().record_post();
                DisplayOutcome::As(SlackLiveMessage::saying(ts_of(&posted), part))
            }
            Err(error) => {
                tracing::debug!(%error, "an answer cannot be shown while it grows");
                match error {
                    ApiError::Away { .. } => DisplayOutcome::Unknown,
                    ApiError::Limited { .. } => DisplayOutcome::NotNow,
                    ApiError::Refused { .. }
                    | ApiError::Revoked { .. }
                    | ApiError::MissingScope { .. } => DisplayOutcome::Refused,
                }
            }
        }
    }

    async fn begin_stream(
        &self,
        thread: &str,
        text: &SafeText,
    ) -> Option<Result<SlackLiveMessage, ApiError>> {
        let sent = markdown(text.as_str());
        let arguments = json!({
            "channel": self.channel(),
            "thread_ts": thread,
            "markdown_text": sent,
            "recipient_user_id": self.target.asker,
            "recipient_team_id": self.target.team,
        });
        let call = self.call("chat.startStream");
        let start = self.hub.api.post(call.method, &arguments);
        let started = self.hub.outbox.try_send(call, start).await?;
        Some(started.map(|started| SlackLiveMessage::Stream {
            ts: ts_of(&started),
            sent: Some(sent),
        }))
    }

    /// Shows more of it.
    pub(super) async fn go_on(
        &self,
        shown: &SlackLiveMessage,
        part: &AnswerPart<'_, FormattedText>,
    ) -> DisplayOutcome<SlackLiveMessage> {
        match shown {
            shown @ SlackLiveMessage::Posted { .. } if self.has_content(shown, part) => {
                DisplayOutcome::As(shown.clone())
            }
            SlackLiveMessage::Posted { ts, .. } => {
                let arguments = self.change_of(ts, part);
                let call = self.call("chat.update");
                let change = self.hub.api.post(call.method, &arguments);
                match self.hub.outbox.try_send(call, change).await {
                    Some(Ok(_)) => DisplayOutcome::As(SlackLiveMessage::saying(ts.clone(), part)),
                    Some(Err(error)) if error.is_about_content() => DisplayOutcome::Refused,
                    Some(Err(_)) | None => DisplayOutcome::NotNow,
                }
            }
            SlackLiveMessage::Stream { ts, sent } => {
                self.stream_on(ts, sent.as_deref(), &part.text.text).await
            }
        }
    }

    /// Appends to a stream. If that fails, the stream is ended and edited from then on.
    async fn stream_on(
        &self,
        ts: &str,
        sent: Option<&str>,
        text: &SafeText,
    ) -> DisplayOutcome<SlackLiveMessage> {
        let Some(so_far) = sent else {
            return self.end_for_show(ts).await;
        };
        let whole = markdown(text.as_str());
        let rest = whole.strip_prefix(so_far).unwrap_or_default();
        if rest.is_empty() {
            return DisplayOutcome::NotNow;
        }
        let arguments = json!({ "channel": self.channel(), "ts": ts, "markdown_text": rest });
        let call = self.call("chat.appendStream");
        let append = self.hub.api.post(call.method, &arguments);
        let sent = match self.hub.outbox.try_send(call, append).await {
            Some(Ok(_)) => Some(whole),
            // Somebody stopped it, or the append may have failed.
            Some(Err(error @ (ApiError::Refused { .. } | ApiError::Away { .. }))) => {
                tracing::debug!(%error, "a stream takes no more");
                None
            }
            Some(Err(
                ApiError::Limited { .. } | ApiError::Revoked { .. } | ApiError::MissingScope { .. },
            ))
            | None => return DisplayOutcome::NotNow,
        };
        let ts = ts.to_owned();
        DisplayOutcome::As(SlackLiveMessage::Stream { ts, sent })
    }

    /// Ends a stream, and returns it as an ordinary message.
    async fn end_for_show(&self, ts: &str) -> DisplayOutcome<SlackLiveMessage> {
        let arguments = json!({ "channel": self.channel(), "ts": ts });
        let call = self.call("chat.stopStream");
        let stop = self.hub.api.post(call.method, &arguments);
        match self.hub.outbox.try_send(call, stop).await {
            Some(Ok(_) | Err(ApiError::Refused { .. })) => {
                DisplayOutcome::As(SlackLiveMessage::standing(ts.to_owned()))
            }
            Some(Err(
                ApiError::Away { .. }
                | ApiError::Limited { .. }
                | ApiError::Revoked { .. }
                | ApiError::MissingScope { .. },
            ))
            | None => DisplayOutcome::NotNow,
        }
    }
}

/// Returns what fits into the first message of a growing text. It is not cut, so fences are not
/// closed, before that is necessary.
pub(super) fn first_part(so_far: &SafeText) -> Option<SafeText> {
    let TextLimit::Chars(most) = content::LIMIT else {
        return Some(so_far.clone());
    };
    if so_far.as_str().trim().is_empty() {
        None
    } else if so_far.len_chars() <= most {
        Some(so_far.clone())
    } else {
        so_far.split(content::LIMIT).into_iter().next()
    }
}
