//! What is shown of an answer while it is written, and how that ends.

use muninn_platform::{SafeText, TextLimit};
use serde_json::json;

use super::{LiveMessage, PostedReply, ts_of};
use crate::content::{self, Form, Stage};
use crate::errors::ApiError;
use crate::mrkdwn::markdown;

/// What came of showing the first of an answer.
pub(super) enum Begun {
    LiveMessage(LiveMessage),
    NotNow,
    /// It may stand there: Slack did not say.
    Unknown,
    /// It cannot be shown, now or later.
    Refused,
}

impl PostedReply {
    /// Shows the first of an answer.
    pub(super) async fn begin(&mut self, text: &SafeText) -> Begun {
        if let Some(thread) = self.target.place.thread()
            && self.hub.streams.is_there()
        {
            match self.begin_stream(thread, text).await {
                Some(Ok(shown)) => {
                    self.hub.begins_stream(self.channel(), shown.ts());
                    self.begun.push(shown.ts().to_owned());
                    return Begun::LiveMessage(shown);
                }
                Some(Err(ApiError::Away { .. })) => return Begun::Unknown,
                Some(Err(error)) => self.hub.streams.learn(&error),
                None => return Begun::NotNow,
            }
        }
        let arguments = self.new_message(0, text, Stage::Growing, Form::Blocks);
        let call = self.call("chat.postMessage");
        let post = self.hub.api.post(call.method, &arguments);
        let Some(posted) = self.hub.outbox.try_send(call, post).await else {
            return Begun::NotNow;
        };
        match posted {
            Ok(posted) => Begun::LiveMessage(LiveMessage::Posted {
                ts: ts_of(&posted),
                text: Some(text.to_string()),
            }),
            Err(error) => {
                tracing::debug!(%error, "an answer cannot be shown while it grows");
                match error {
                    ApiError::Away { .. } => Begun::Unknown,
                    ApiError::Limited { .. } => Begun::NotNow,
                    ApiError::Refused { .. }
                    | ApiError::Revoked { .. }
                    | ApiError::MissingScope { .. } => Begun::Refused,
                }
            }
        }
    }

    async fn begin_stream(
        &self,
        thread: &str,
        text: &SafeText,
    ) -> Option<Result<LiveMessage, ApiError>> {
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
        Some(started.map(|started| LiveMessage::Stream {
            ts: ts_of(&started),
            sent: Some(sent),
        }))
    }

    /// Shows more of it.
    pub(super) async fn go_on(&mut self, shown: &mut LiveMessage, text: &SafeText) {
        match shown {
            LiveMessage::Posted {
                ts,
                text: shown_text,
            } => {
                if shown_text.as_deref() == Some(text.as_str()) {
                    return;
                }
                let mut arguments = content::message(text, Stage::Growing, Form::Blocks);
                arguments["channel"] = json!(self.channel());
                arguments["ts"] = json!(ts);
                arguments["metadata"] = content::metadata(self.target.question.as_str(), 0);
                let call = self.call("chat.update");
                let change = self.hub.api.post(call.method, &arguments);
                match self.hub.outbox.try_send(call, change).await {
                    Some(Ok(_)) => *shown_text = Some(text.to_string()),
                    Some(Err(error)) => self.is_hidden = error.is_about_content(),
                    None => {}
                }
            }
            LiveMessage::Stream { ts, sent } => {
                if let Some(ended) = self.stream_on(ts, sent, text).await {
                    *shown = ended;
                }
            }
        }
    }

    /// Adds to a stream. What does not take it is ended and changed from then on.
    async fn stream_on(
        &self,
        ts: &str,
        sent: &mut Option<String>,
        text: &SafeText,
    ) -> Option<LiveMessage> {
        let Some(so_far) = sent else {
            return self.end_for_show(ts).await;
        };
        let whole = markdown(text.as_str());
        let rest = whole.strip_prefix(so_far.as_str())?;
        if rest.is_empty() {
            return None;
        }
        let arguments = json!({ "channel": self.channel(), "ts": ts, "markdown_text": rest });
        let call = self.call("chat.appendStream");
        let append = self.hub.api.post(call.method, &arguments);
        match self.hub.outbox.try_send(call, append).await? {
            Ok(_) => *sent = Some(whole),
            // Somebody stopped it, or it may have been appended or not.
            Err(error @ (ApiError::Refused { .. } | ApiError::Away { .. })) => {
                tracing::debug!(%error, "a stream takes no more");
                *sent = None;
            }
            Err(
                ApiError::Limited { .. } | ApiError::Revoked { .. } | ApiError::MissingScope { .. },
            ) => {}
        }
        None
    }

    /// What was a stream, when it is none any more.
    async fn end_for_show(&self, ts: &str) -> Option<LiveMessage> {
        let arguments = json!({ "channel": self.channel(), "ts": ts });
        let call = self.call("chat.stopStream");
        let stop = self.hub.api.post(call.method, &arguments);
        match self.hub.outbox.try_send(call, stop).await? {
            Ok(_) | Err(ApiError::Refused { .. }) => Some(LiveMessage::standing(ts.to_owned())),
            Err(
                ApiError::Away { .. }
                | ApiError::Limited { .. }
                | ApiError::Revoked { .. }
                | ApiError::MissingScope { .. },
            ) => None,
        }
    }
}

/// What fits into the first message of a text that grows. It is not cut, and so not closed either,
/// before it has to be.
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
