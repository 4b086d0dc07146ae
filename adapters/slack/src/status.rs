//! Status and typing indicators in a thread.
//!
//! Nothing waits for them, and their failures do not matter.

use std::sync::Arc;
use std::time::Duration;

use muninn_platform::Language;
use muninn_texts::text;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::hub::SlackHub;

/// Slack removes a status after two minutes.
pub(crate) const STATUS_EVERY: Duration = Duration::from_secs(60);

/// The title of a conversation in Slack's lists. It contains nothing of what is said: a title has
/// more readers, outlives its question, and nobody can remove a secret from it.
pub(crate) fn title(language: Language) -> String {
    text!("slack-title").in_language(language)
}

/// The indicators of one reply.
pub(crate) struct StatusIndicator {
    channel: String,
    /// Outside threads there are none.
    thread: Option<String>,
    user: String,
    /// The language in which they were shown last.
    language: Language,
    shown_at: Option<Instant>,
    /// The reply posted a message since Slack showed them, at which it removes the status itself.
    is_posted: bool,
    /// The last request in flight.
    on_its_way: Option<JoinHandle<()>>,
}

impl StatusIndicator {
    pub(crate) fn new(channel: &str, thread: Option<&str>, user: &str) -> Self {
        Self {
            channel: channel.to_owned(),
            thread: thread.map(str::to_owned),
            user: user.to_owned(),
            language: Language::default(),
            shown_at: None,
            is_posted: false,
            on_its_way: None,
        }
    }

    /// Shows the indicators, unless they are still shown.
    pub(crate) fn show(&mut self, hub: &Arc<SlackHub>, language: Language) {
        // Slightly early, because the bot's clock ticks at that pace.
        let is_due = self
            .shown_at
            .is_none_or(|at| at.elapsed() + Duration::from_secs(1) > STATUS_EVERY);
        let Some(thread) = self.thread.clone().filter(|_| is_due) else {
            return;
        };
        self.shown_at = Some(Instant::now());
        self.is_posted = false;
        self.language = language;
        let (hub, channel) = (Arc::clone(hub), self.channel.clone());
        let session = self.session("processing");
        let before = self.on_its_way.take();
        self.on_its_way = Some(tokio::spawn(async move {
            if let Some(before) = before {
                let _ = before.await;
            }
            let thinking = text!("slack-thinking").in_language(language);
            let status = set_status(&hub, &channel, &thread, &thinking);
            tokio::join!(status, set_session(&hub, &session));
        }));
    }

    /// Records that the reply posted a message. A change of one is none to Slack. A status that is
    /// still on its way may be shown after the message, and stay.
    pub(crate) fn record_post(&mut self) {
        let on_its_way = self.on_its_way.as_ref();
        self.is_posted = on_its_way.is_none_or(JoinHandle::is_finished);
    }

    /// Removes the indicators. `is_answered`: the answer stands.
    pub(crate) async fn hide(&mut self, hub: &SlackHub, is_answered: bool) {
        let Some(thread) = self.thread.clone().filter(|_| self.shown_at.is_some()) else {
            return;
        };
        self.shown_at = None;
        if let Some(on_its_way) = self.on_its_way.take() {
            let _ = on_its_way.await;
        }
        if !(is_answered && self.is_posted) {
            set_status(hub, &self.channel, &thread, "").await;
        }
        set_session(hub, &self.session("active")).await;
    }

    fn session(&self, status: &str) -> Value {
        json!({ "channel_id": self.channel, "thread_ts": self.thread, "status": status,
            "initiator_user_id": self.user, "title": title(self.language) })
    }

    pub(crate) fn are_shown(&self) -> bool {
        self.shown_at.is_some()
    }

    /// Returns the indicators for somebody else to remove.
    pub(crate) fn take(&mut self) -> Self {
        Self {
            channel: self.channel.clone(),
            thread: self.thread.clone(),
            user: self.user.clone(),
            language: self.language,
            shown_at: self.shown_at.take(),
            is_posted: self.is_posted,
            on_its_way: self.on_its_way.take(),
        }
    }
}

async fn set_status(hub: &SlackHub, channel: &str, thread: &str, status: &str) {
    if !hub.statuses.is_there() {
        return;
    }
    let arguments = json!({ "channel_id": channel, "thread_ts": thread, "status": status });
    if let Err(error) = hub
        .api
        .post("assistant.threads.setStatus", &arguments)
        .await
    {
        hub.statuses.learn(&error);
        tracing::debug!(%error, "no status");
    }
}

/// An agent's session shows Slack's own stop button while it is `processing`.
async fn set_session(hub: &SlackHub, session: &Value) {
    if !hub.sessions.is_there() {
        return;
    }
    if let Err(error) = hub.api.post("agents.sessions.setStatus", session).await {
        hub.sessions.learn(&error);
        tracing::debug!(%error, "no session");
    }
}
