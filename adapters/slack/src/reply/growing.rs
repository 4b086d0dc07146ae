//! What is shown of an answer while it is written, and how that ends.

use muninn_platform::{SafeText, TextLimit};
use serde_json::{Value, json};

use super::{PostedReply, Shown, ts_of};
use crate::content::{self, Stage};
use crate::errors::ApiError;
use crate::mrkdwn::markdown;

impl PostedReply {
    /// Shows the first of an answer; none where nothing can be shown now.
    pub(super) async fn begin(&self, text: &SafeText) -> Option<Shown> {
        if let Some(thread) = self.target.place.thread()
            && self.hub.streams.is_there()
        {
            let begun = self.begin_stream(thread, text).await;
            match begun {
                Some(Ok(shown)) => return Some(shown),
                Some(Err(error)) => self.hub.streams.learn(&error),
                None => return None,
            }
        }
        let arguments = self.new_message(0, text, Stage::Growing);
        let call = self.call("chat.postMessage");
        let post = self.hub.api.post(call.method, &arguments);
        let posted = self.hub.outbox.try_send(call, post).await?;
        let posted = noted(posted, "an answer cannot be shown while it grows")?;
        Some(Shown::Posted {
            ts: ts_of(&posted),
            text: Some(text.to_string()),
        })
    }

    pub(super) async fn begin_stream(
        &self,
        thread: &str,
        text: &SafeText,
    ) -> Option<Result<Shown, ApiError>> {
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
        Some(started.map(|started| Shown::Stream {
            ts: ts_of(&started),
            sent,
            is_open: true,
        }))
    }

    /// Shows more of it.
    pub(super) async fn go_on(&self, shown: &mut Shown, text: &SafeText) {
        match shown {
            Shown::Posted {
                ts,
                text: shown_text,
            } => {
                if shown_text.as_deref() == Some(text.as_str()) {
                    return;
                }
                let mut arguments = content::message(text, Stage::Growing);
                arguments["channel"] = json!(self.channel());
                arguments["ts"] = json!(ts);
                let call = self.call("chat.update");
                let change = self.hub.api.post(call.method, &arguments);
                if let Some(Ok(_)) = self.hub.outbox.try_send(call, change).await {
                    *shown_text = Some(text.to_string());
                }
            }
            Shown::Stream { ts, sent, is_open } if *is_open => {
                let whole = markdown(text.as_str());
                let Some(rest) = whole.strip_prefix(sent.as_str()) else {
                    return;
                };
                if rest.is_empty() {
                    return;
                }
                let arguments =
                    json!({ "channel": self.channel(), "ts": ts, "markdown_text": rest });
                let call = self.call("chat.appendStream");
                let append = self.hub.api.post(call.method, &arguments);
                match self.hub.outbox.try_send(call, append).await {
                    Some(Ok(_)) => *sent = whole,
                    // Somebody stopped it, or it may have been appended or not: no more of it.
                    Some(Err(ApiError::Refused { .. } | ApiError::Away { .. })) => {
                        *is_open = false;
                    }
                    Some(Err(
                        ApiError::Limited { .. }
                        | ApiError::Revoked { .. }
                        | ApiError::MissingScope { .. },
                    ))
                    | None => {}
                }
            }
            Shown::Stream { .. } => {}
        }
    }

    /// Ends a stream with what is left of the text; false where it has to be changed as well.
    pub(super) async fn end_stream(
        &self,
        ts: &str,
        sent: &str,
        is_open: bool,
        number: usize,
        part: &SafeText,
        stage: Stage,
    ) -> Result<bool, ApiError> {
        if !is_open {
            return Ok(false);
        }
        let whole = markdown(part.as_str());
        let rest = whole
            .strip_prefix(sent)
            .or_else(|| (whole == sent.trim_end()).then_some(""));
        let mut arguments = json!({ "channel": self.channel(), "ts": ts });
        if let Some(rest) = rest {
            arguments["metadata"] = content::metadata(self.target.question.as_str(), number);
            if !rest.is_empty() {
                arguments["markdown_text"] = json!(rest);
            }
            let below = content::below(stage);
            if !below.is_empty() {
                arguments["blocks"] = json!(below);
            }
        }
        let hub = &self.hub;
        let call = self.call("chat.stopStream");
        let stop = |_| hub.api.post(call.method, &arguments);
        match hub.outbox.send(call, stop).await {
            Ok(_) => Ok(rest.is_some()),
            // It ended without us: whether all of it arrived is not known.
            Err(error @ (ApiError::Refused { .. } | ApiError::MissingScope { .. })) => {
                tracing::debug!(%error, "a stream was over already");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

fn noted(sent: Result<Value, ApiError>, what: &str) -> Option<Value> {
    match sent {
        Ok(answer) => Some(answer),
        Err(error) => {
            tracing::debug!(%error, "{what}");
            None
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
