//! One answer on its way into a channel.
//!
//! In a thread it is streamed where the workspace has native streams. A stream only appends: where
//! the text is no continuation any more, it stays as it is until the end, and is changed then.
//! Elsewhere, and beside threads, a message is posted and changed as it grows.

mod growing;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use muninn_platform::{
    Attachment, Delivered, DownloadError, EventId, Overheard, Pace, PlatformError, Reply, SafeText,
    TextLimit,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::content::{self, Stage};
use crate::errors::ApiError;
use crate::hub::Hub;
use crate::ids::{self, Place};
use crate::outbox::Call;
use crate::standing::Standing;
use crate::status::{STATUS_EVERY, Signs};
use crate::{background, files, standing};

/// Slack's own pace for one channel.
const UPDATE_EVERY: Duration = Duration::from_secs(1);

/// What no text begins with: controls are taken out of all of them.
const UNKNOWN: &str = "\0";

/// What a reply answers, and where.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) place: Place,
    /// By which the answer is found again.
    pub(crate) question: EventId,
    /// The message that is answered, if it is one.
    pub(crate) question_ts: Option<String>,
    pub(crate) asker: String,
    /// The asker's workspace.
    pub(crate) team: String,
    /// What the thread is called where it has no title; may be empty.
    pub(crate) title: String,
    /// An earlier process may have answered it already, wholly or in part.
    pub(crate) may_be_repetition: bool,
}

pub(crate) struct PostedReply {
    hub: Arc<Hub>,
    target: Target,
    /// Messages of an earlier answer, which this one takes the place of.
    earlier: Vec<String>,
    shown: Option<Shown>,
    last_update: Option<Instant>,
    signs: Signs,
    is_finished: bool,
}

/// A message that stands in the channel.
#[derive(Clone, Debug)]
enum Shown {
    Posted {
        ts: String,
        /// As it was posted while it grew.
        text: Option<String>,
    },
    Stream {
        ts: String,
        /// All that was appended.
        sent: String,
        /// Slack still takes more of it.
        is_open: bool,
    },
}

impl Shown {
    fn ts(&self) -> &str {
        match self {
            Self::Posted { ts, .. } | Self::Stream { ts, .. } => ts,
        }
    }

    fn standing(ts: String) -> Self {
        Self::Posted { ts, text: None }
    }
}

impl PostedReply {
    pub(crate) fn new(hub: Arc<Hub>, target: Target) -> Self {
        let Place { channel, .. } = &target.place;
        let signs = Signs::new(channel, target.place.thread(), &target.asker, &target.title);
        Self {
            hub,
            target,
            earlier: Vec::new(),
            shown: None,
            last_update: None,
            signs,
            is_finished: false,
        }
    }

    fn channel(&self) -> &str {
        &self.target.place.channel
    }

    fn call(&self, method: &'static str) -> Call<'_> {
        let channel = self.channel();
        Call { method, channel }
    }

    async fn deliver(&mut self, parts: &[SafeText]) -> Result<Delivered, ApiError> {
        let mut standing: Vec<Option<Shown>> = Vec::new();
        for ts in std::mem::take(&mut self.earlier) {
            standing.push(Some(Shown::standing(ts)));
        }
        if let Some(shown) = &self.shown {
            standing.insert(0, Some(shown.clone()));
        }
        if standing.is_empty() && self.target.may_be_repetition {
            standing = self.found().await;
        }
        let mut delivered = Vec::with_capacity(parts.len());
        for (number, part) in parts.iter().enumerate() {
            let stage = if number + 1 == parts.len() {
                Stage::Last
            } else {
                Stage::Whole
            };
            let shown = standing.get_mut(number).and_then(Option::take);
            let ts = self.complete(number, part, stage, shown).await?;
            if number == 0 {
                // Whatever fails from here on, this message is the answer's.
                self.shown = Some(Shown::standing(ts.clone()));
            }
            delivered.push(ids::message(self.channel(), &ts));
        }
        for surplus in standing.into_iter().flatten() {
            self.remove(surplus.ts()).await?;
        }
        Ok(Delivered(delivered))
    }

    /// What stands there of this answer already.
    async fn found(&self) -> Vec<Option<Shown>> {
        let found = standing::find(&self.hub, &self.target).await;
        let shown = |standing: Standing| match standing.is_running {
            false => Shown::standing(standing.ts),
            // What was appended to it is not known.
            true => Shown::Stream {
                ts: standing.ts,
                sent: String::from(UNKNOWN),
                is_open: true,
            },
        };
        found
            .into_iter()
            .map(|standing| standing.map(shown))
            .collect()
    }

    /// Makes a message of it what it is to be; gives its `ts`.
    async fn complete(
        &self,
        number: usize,
        part: &SafeText,
        stage: Stage,
        shown: Option<Shown>,
    ) -> Result<String, ApiError> {
        let standing = match shown {
            None => None,
            Some(Shown::Posted { ts, .. }) => Some(ts),
            Some(Shown::Stream { ts, sent, is_open }) => {
                if self
                    .end_stream(&ts, &sent, is_open, number, part, stage)
                    .await?
                {
                    return Ok(ts);
                }
                Some(ts)
            }
        };
        if let Some(ts) = standing
            && self.change(&ts, number, part, stage).await?
        {
            return Ok(ts);
        }
        self.post(number, part, stage).await
    }

    /// Changes a message; false where it is there no more, or cannot be changed any more.
    async fn change(
        &self,
        ts: &str,
        number: usize,
        part: &SafeText,
        stage: Stage,
    ) -> Result<bool, ApiError> {
        let mut arguments = content::message(part, stage);
        arguments["channel"] = json!(self.channel());
        arguments["ts"] = json!(ts);
        arguments["metadata"] = content::metadata(self.target.question.as_str(), number);
        let hub = &self.hub;
        let call = self.call("chat.update");
        let change = |_| hub.api.post(call.method, &arguments);
        match hub.outbox.send(call, change).await {
            Ok(_) => Ok(true),
            Err(error)
                if error.is(&[
                    "message_not_found",
                    "edit_window_closed",
                    "cant_update_message",
                ]) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    async fn post(&self, number: usize, part: &SafeText, stage: Stage) -> Result<String, ApiError> {
        let arguments = self.new_message(number, part, stage);
        let (hub, target) = (&self.hub, &self.target);
        let (arguments, call) = (&arguments, self.call("chat.postMessage"));
        let post = |may_be_done| async move {
            // Slack keeps no key by which a repetition would be known, so it is looked for.
            if may_be_done
                && let Some(Some(standing)) =
                    standing::find(hub, target).await.into_iter().nth(number)
                && !standing.is_running
            {
                return Ok(standing.ts);
            }
            let posted = hub.api.post(call.method, arguments).await?;
            Ok(ts_of(&posted))
        };
        hub.outbox.send(call, post).await
    }

    fn new_message(&self, number: usize, part: &SafeText, stage: Stage) -> Value {
        let mut arguments = content::message(part, stage);
        arguments["channel"] = json!(self.channel());
        arguments["unfurl_links"] = json!(false);
        arguments["unfurl_media"] = json!(false);
        arguments["metadata"] = content::metadata(self.target.question.as_str(), number);
        if let Some(thread) = self.target.place.thread() {
            arguments["thread_ts"] = json!(thread);
        }
        arguments
    }

    /// Nothing waits for that.
    fn hide_signs(&mut self, is_answered: bool) {
        let (mut signs, hub) = (self.signs.take(), Arc::clone(&self.hub));
        if signs.are_shown() {
            self.hub
                .chores
                .spawn(async move { signs.hide(&hub, is_answered).await });
        }
    }

    async fn remove(&self, ts: &str) -> Result<(), ApiError> {
        remove(&self.hub, self.channel(), ts).await
    }
}

/// The `ts` that a method gave a message.
fn ts_of(answer: &Value) -> String {
    answer["ts"].as_str().unwrap_or_default().to_owned()
}

/// Deletes a message of ours; one that is gone already is no error.
async fn remove(hub: &Hub, channel: &str, ts: &str) -> Result<(), ApiError> {
    let arguments = json!({ "channel": channel, "ts": ts });
    let call = Call {
        method: "chat.delete",
        channel,
    };
    let delete = |_| hub.api.post(call.method, &arguments);
    match hub.outbox.send(call, delete).await {
        Ok(_) => Ok(()),
        Err(error) if error.is(&["message_not_found", "channel_not_found"]) => Ok(()),
        Err(error) => Err(error),
    }
}

#[async_trait]
impl Reply for PostedReply {
    fn limit(&self) -> TextLimit {
        content::LIMIT
    }

    fn pace(&self) -> Pace {
        Pace {
            update_every: UPDATE_EVERY,
            working_every: STATUS_EVERY,
        }
    }

    fn replace(&mut self, earlier: Delivered) {
        let standing = earlier.0.iter().filter_map(ids::standing_ts);
        self.earlier = standing.map(str::to_owned).collect();
    }

    fn may_repeat(&mut self) {
        self.target.may_be_repetition = true;
    }

    async fn working(&mut self) {
        self.signs.show(&self.hub);
    }

    async fn update(&mut self, so_far: &SafeText) {
        // An answer that stands is not undone for one that may be given up, and what may stand there
        // already is looked at when the text is whole.
        let is_early = self
            .last_update
            .is_some_and(|at| at.elapsed() < UPDATE_EVERY);
        let waits = self.target.may_be_repetition && self.shown.is_none();
        if !self.earlier.is_empty() || is_early || waits {
            return;
        }
        let Some(text) = growing::first_part(so_far) else {
            return;
        };
        match self.shown.take() {
            Some(mut shown) => {
                self.go_on(&mut shown, &text).await;
                self.shown = Some(shown);
            }
            None => {
                self.shown = self.begin(&text).await;
            }
        }
        if self.shown.is_some() {
            self.last_update = Some(Instant::now());
        }
    }

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        // Also if it fails: what is shown stays, and is completed when it is delivered again.
        self.is_finished = true;
        let delivered = self.deliver(parts).await;
        self.hide_signs(delivered.is_ok());
        delivered.map_err(|error| error.sentence(self.channel()))
    }

    async fn retract(&mut self, earlier: &Delivered) -> Result<(), PlatformError> {
        self.is_finished = true;
        for ts in earlier.0.iter().filter_map(ids::standing_ts) {
            let removed = self.remove(ts).await;
            removed.map_err(|error| error.sentence(self.channel()))?;
        }
        self.hide_signs(false);
        Ok(())
    }

    async fn background(&mut self) -> Vec<Overheard> {
        match (&self.target.question_ts, self.target.place.thread()) {
            // The thread was there before the question.
            (Some(ts), Some(thread)) if ts != thread => {
                background::overheard(&self.hub, self.channel(), thread, ts).await
            }
            (Some(_) | None, _) => Vec::new(),
        }
    }

    async fn download(
        &mut self,
        attachment: &Attachment,
        most: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        files::download(&self.hub, attachment, most).await
    }
}

impl Drop for PostedReply {
    fn drop(&mut self) {
        let taken_back = self.shown.take().filter(|_| !self.is_finished);
        let mut signs = self.signs.take();
        if taken_back.is_none() && !signs.are_shown() {
            return;
        }
        let (hub, channel) = (Arc::clone(&self.hub), self.channel().to_owned());
        // Bounded as everything that goes out; `run` waits for it.
        let chore = async move {
            signs.hide(&hub, false).await;
            let Some(shown) = taken_back else { return };
            if let Shown::Stream {
                ts, is_open: true, ..
            } = &shown
            {
                let arguments = json!({ "channel": channel, "ts": ts });
                let _ = hub.api.post("chat.stopStream", &arguments).await;
            }
            if let Err(error) = remove(&hub, &channel, shown.ts()).await {
                tracing::warn!(%error, channel, "an answer that was given up stays");
            }
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            self.hub.chores.spawn_on(chore, &runtime);
        }
    }
}
