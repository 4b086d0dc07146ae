//! One answer on its way into a channel.
//!
//! In a thread it is streamed where the workspace has native streams. A stream only appends: where
//! the text is no continuation any more, it stays as it is until the end, and is changed then.
//! Elsewhere, and beside threads, a message is posted and changed as it grows.

mod delivering;
mod growing;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use muninn_platform::{
    Attachment, Delivered, DownloadError, EventId, Pace, PlatformError, PriorMessage, Reply,
    SafeText, TextLimit, Vocabulary, Withdraw,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::content::{self, Form, Stage};
use crate::ephemeral::{EphemeralReply, EphemeralTarget};
use crate::errors::ApiError;
use crate::hub::Hub;
use crate::ids::{self, Place};
use crate::outbox::Call;
use crate::status::{STATUS_EVERY, StatusIndicator};
use crate::withdraw::{VOCABULARY, Withdrawer};
use crate::{background, files};

pub(crate) use delivering::take_away_all;
use growing::Begun;

/// Slack's own pace for one channel.
const UPDATE_EVERY: Duration = Duration::from_secs(1);

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
    /// An earlier process may have answered it already, wholly or in part.
    pub(crate) may_be_repetition: bool,
}

pub(crate) struct PostedReply {
    hub: Arc<Hub>,
    target: Target,
    /// Messages of an earlier answer, which this one takes the place of.
    earlier: Vec<String>,
    shown: Option<LiveMessage>,
    last_update: Option<Instant>,
    /// Streams of this reply, which are nobody else's to end.
    begun: Vec<String>,
    /// Its first words may stand there without our knowing.
    may_stand_unheard: bool,
    /// Slack refuses what an answer that grows looks like.
    is_hidden: bool,
    signs: StatusIndicator,
    is_finished: bool,
}

/// A message that stands in the channel.
#[derive(Clone, Debug)]
enum LiveMessage {
    Posted {
        ts: String,
        /// As it was posted while it grew.
        text: Option<String>,
    },
    Stream {
        ts: String,
        /// All that was appended. None: nobody knows, or it takes no more.
        sent: Option<String>,
    },
}

impl LiveMessage {
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
        let signs = StatusIndicator::new(channel, target.place.thread(), &target.asker);
        Self {
            hub,
            target,
            earlier: Vec::new(),
            shown: None,
            last_update: None,
            begun: Vec::new(),
            may_stand_unheard: false,
            is_hidden: false,
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

    fn new_message(&self, number: usize, part: &SafeText, stage: Stage, form: Form) -> Value {
        let mut arguments = content::message(part, stage, form);
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
}

/// The `ts` that a method gave a message.
fn ts_of(answer: &Value) -> String {
    answer["ts"].as_str().unwrap_or_default().to_owned()
}

/// Deletes a message of ours; one that is gone already is no error.
pub(crate) async fn remove(hub: &Hub, channel: &str, ts: &str) -> Result<(), ApiError> {
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
        if !self.earlier.is_empty() || is_early || waits || self.is_hidden {
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
            None => match self.begin(&text).await {
                Begun::LiveMessage(shown) => self.shown = Some(shown),
                Begun::NotNow => {}
                // It is looked for before anything else is said.
                Begun::Unknown => {
                    self.may_stand_unheard = true;
                    self.may_repeat();
                }
                Begun::Refused => self.is_hidden = true,
            },
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

    async fn finish_for_asker(&mut self, parts: &[SafeText]) -> Result<(), PlatformError> {
        let channel = self.channel();
        if ids::is_direct(channel) {
            return self.finish(parts).await.map(drop);
        }
        let whisper = EphemeralTarget {
            channel: channel.to_owned(),
            user: self.target.asker.clone(),
            thread: self.target.place.thread().map(str::to_owned),
            response_url: None,
            question: self.target.question.clone(),
            is_command: true,
        };
        self.is_finished = true;
        self.hide_signs(false);
        let mut aside = EphemeralReply::new(Arc::clone(&self.hub), whisper);
        aside.finish(parts).await.map(drop)
    }

    async fn take_back_rest(&mut self) {
        self.is_finished = true;
        self.remove_what_else_stands();
        self.hide_signs(false);
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::new(Withdrawer(Arc::clone(&self.hub)))
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    async fn prior_messages(&mut self) -> Vec<PriorMessage> {
        match (&self.target.question_ts, self.target.place.thread()) {
            // The thread was there before the question.
            (Some(ts), Some(thread)) if ts != thread => {
                background::prior(&self.hub, self.channel(), thread, ts).await
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
        for ts in self.begun.drain(..) {
            self.hub.ends_stream(&self.target.place.channel, &ts);
        }
        if self.may_stand_unheard && !self.is_finished {
            self.remove_what_else_stands();
        }
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
            if let LiveMessage::Stream { ts, .. } = &shown {
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
