//! How an answer gets its last words, whatever of it stands there already.
//!
//! Each step has another behind it: a stream that is not to be ended is ended bare and changed, what
//! cannot be changed is said anew and taken away, and what Slack refuses to format goes out as plain
//! text. So nothing stands there that stops in mid-sentence.

use std::sync::Arc;
use std::time::Duration;

use muninn_platform::{Delivered, SafeText};
use serde_json::json;

use super::{LiveMessage, PostedReply, Target, remove, ts_of};
use crate::content::{self, Form, Stage};
use crate::errors::ApiError;
use crate::hub::Hub;
use crate::ids;
use crate::mrkdwn::markdown;
use crate::standing::{self, ExistingMessage};

/// How long Slack may be away before the step behind this one is taken.
const STOP_PATIENCE: Duration = Duration::from_secs(20);
const CHANGE_PATIENCE: Duration = Duration::from_secs(60);

/// One message of an answer.
#[derive(Clone, Copy)]
struct Part<'a> {
    number: usize,
    text: &'a SafeText,
    stage: Stage,
    form: Form,
}

impl PostedReply {
    pub(super) async fn deliver(&mut self, parts: &[SafeText]) -> Result<Delivered, ApiError> {
        let mut standing = self.standing().await;
        match self.deliver_as(Form::Blocks, parts, &mut standing).await {
            Err(error) if error.is_about_content() => {
                tracing::warn!(%error, "Slack refuses the blocks of an answer; it goes out as plain text");
                let parts = content::plain_parts(parts);
                self.deliver_as(Form::Plain, &parts, &mut standing).await
            }
            other => other,
        }
    }

    /// What this answer takes the place of, part by part.
    async fn standing(&mut self) -> Vec<Option<LiveMessage>> {
        let earlier = std::mem::take(&mut self.earlier).into_iter();
        let mut standing: Vec<_> = earlier.map(|ts| Some(LiveMessage::standing(ts))).collect();
        if let Some(shown) = &self.shown {
            standing.insert(0, Some(shown.clone()));
        }
        if standing.is_empty() && self.target.may_be_repetition {
            standing = shown(standing::find(&self.hub, &self.target).await);
        }
        standing
    }

    async fn deliver_as(
        &mut self,
        form: Form,
        parts: &[SafeText],
        standing: &mut Vec<Option<LiveMessage>>,
    ) -> Result<Delivered, ApiError> {
        let mut delivered = Vec::with_capacity(parts.len());
        for (number, text) in parts.iter().enumerate() {
            let stage = if number + 1 == parts.len() {
                Stage::Last
            } else {
                Stage::Whole
            };
            let part = Part {
                number,
                text,
                stage,
                form,
            };
            if standing.len() <= number {
                standing.resize(number + 1, None);
            }
            let ts = self.complete(part, standing[number].as_ref()).await?;
            // Whatever fails from here on, this message is the answer's.
            standing[number] = Some(LiveMessage::standing(ts.clone()));
            if number == 0 {
                self.shown.clone_from(&standing[0]);
            }
            delivered.push(ids::message(self.channel(), &ts));
        }
        for surplus in standing.split_off(parts.len()).into_iter().flatten() {
            self.take_away(&surplus).await?;
        }
        Ok(Delivered(delivered))
    }

    /// Makes a message of it what it is to be; gives its `ts`.
    async fn complete(
        &self,
        part: Part<'_>,
        shown: Option<&LiveMessage>,
    ) -> Result<String, ApiError> {
        let Some(shown) = shown else {
            return self.post(part).await;
        };
        let ts = shown.ts().to_owned();
        if let LiveMessage::Stream { sent, .. } = shown
            && self.end_stream(&ts, sent.as_deref(), part).await?
        {
            return Ok(ts);
        }
        let why = match self.change(&ts, part).await {
            Ok(()) => return Ok(ts),
            Err(error) => error,
        };
        let is_hopeless = match &why {
            // Plain words come first.
            error @ ApiError::Refused { .. } if error.is_about_content() => {
                part.form == Form::Blocks
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
        let posted = self.post(part).await?;
        if let Err(error) = self.remove(&ts).await {
            tracing::warn!(%error, "half an answer stays beside the whole");
        }
        Ok(posted)
    }

    async fn change(&self, ts: &str, part: Part<'_>) -> Result<(), ApiError> {
        let mut arguments = content::message(part.text, part.stage, part.form);
        arguments["channel"] = json!(self.channel());
        arguments["ts"] = json!(ts);
        arguments["metadata"] = content::metadata(self.target.question.as_str(), part.number);
        let hub = &self.hub;
        let call = self.call("chat.update");
        let change = |_| hub.api.post(call.method, &arguments);
        let changed = hub.outbox.send_within(CHANGE_PATIENCE, call, change).await;
        changed.map(drop)
    }

    async fn post(&self, part: Part<'_>) -> Result<String, ApiError> {
        let arguments = self.new_message(part.number, part.text, part.stage, part.form);
        let (hub, target) = (&self.hub, &self.target);
        let (arguments, call) = (&arguments, self.call("chat.postMessage"));
        let post = |may_be_done| async move {
            // Slack keeps no key by which a repetition would be known, so it is looked for.
            if may_be_done
                && let Some(Some(standing)) =
                    (standing::find(hub, target).await.parts.into_iter()).nth(part.number)
            {
                return Ok(standing);
            }
            let posted = hub.api.post(call.method, arguments).await?;
            Ok(ts_of(&posted))
        };
        hub.outbox.send(call, post).await
    }

    /// Ends a stream with what is left of the text; false where it has to be changed as well.
    async fn end_stream(
        &self,
        ts: &str,
        sent: Option<&str>,
        part: Part<'_>,
    ) -> Result<bool, ApiError> {
        let whole = markdown(part.text.as_str());
        let rest = sent.filter(|_| part.form == Form::Blocks).and_then(|sent| {
            let is_whole = || (whole == sent.trim_end()).then_some("");
            whole.strip_prefix(sent).or_else(is_whole)
        });
        if let Some(rest) = rest {
            let mut arguments = json!({ "channel": self.channel(), "ts": ts });
            arguments["metadata"] = content::metadata(self.target.question.as_str(), part.number);
            if !rest.is_empty() {
                arguments["markdown_text"] = json!(rest);
            }
            let below = content::below(part.stage);
            if !below.is_empty() {
                arguments["blocks"] = json!(below);
            }
            match self.stop_stream(&arguments).await {
                Ok(()) => return Ok(true),
                Err(error @ ApiError::Revoked { .. }) => return Err(error),
                // It ended without us, or with a part of it, or Slack refuses what is to be said.
                Err(error) => tracing::info!(%error, "a stream did not take its end"),
            }
        }
        let bare = json!({ "channel": self.channel(), "ts": ts });
        if let Err(error) = self.stop_stream(&bare).await {
            tracing::debug!(%error, "a stream was over already");
        }
        Ok(false)
    }

    async fn stop_stream(&self, arguments: &serde_json::Value) -> Result<(), ApiError> {
        let hub = &self.hub;
        let call = self.call("chat.stopStream");
        let stop = |_| hub.api.post(call.method, arguments);
        let stopped = hub.outbox.send_within(STOP_PATIENCE, call, stop).await;
        stopped.map(drop)
    }

    async fn take_away(&self, shown: &LiveMessage) -> Result<(), ApiError> {
        if let LiveMessage::Stream { ts, .. } = shown {
            let bare = json!({ "channel": self.channel(), "ts": ts });
            if let Err(error) = self.stop_stream(&bare).await {
                tracing::debug!(%error, "a stream was over already");
            }
        }
        self.remove(shown.ts()).await
    }

    pub(super) async fn remove(&self, ts: &str) -> Result<(), ApiError> {
        remove(&self.hub, self.channel(), ts).await
    }

    /// Takes away what else stands of an answer that is taken back: what nobody heard of, because
    /// the process was killed. Nothing waits for it.
    pub(super) fn remove_what_else_stands(&self) {
        take_away_all(&self.hub, &self.target);
    }
}

/// Takes away all that stands of an answer but what is written now. Nothing waits for it.
pub(crate) fn take_away_all(hub: &Arc<Hub>, target: &Target) {
    let (chores, hub, target) = (hub.chores.clone(), Arc::clone(hub), target.clone());
    let chore = async move {
        let ExistingMessage { parts, halves } = standing::find(&hub, &target).await;
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

/// What is found, as what stands: half an answer is the beginning of the whole, unless that is there.
fn shown(found: ExistingMessage) -> Vec<Option<LiveMessage>> {
    let has_beginning = found.has_beginning();
    let mut shown: Vec<Option<LiveMessage>> = found
        .parts
        .into_iter()
        .map(|part| part.map(LiveMessage::standing))
        .collect();
    let mut halves = found
        .halves
        .into_iter()
        .map(|ts| Some(LiveMessage::Stream { ts, sent: None }));
    if !has_beginning && let Some(first) = halves.next() {
        match shown.first_mut() {
            Some(place) => *place = first,
            None => shown.push(first),
        }
    }
    // Behind the parts that may come, whatever their number.
    shown.extend(halves);
    shown
}
