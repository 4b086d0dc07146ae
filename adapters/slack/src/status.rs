//! Status and typing indicators in a thread.
//!
//! Nothing waits for them, and their failures do not matter.

use std::sync::Arc;
use std::time::Duration;

use muninn_platform::{Indicator, Language};
use muninn_texts::text;
use serde_json::{Value, json};

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
    /// The reply posted a message since Slack showed them, at which it removes the status itself.
    is_posted: bool,
    indicator: Indicator,
}

impl StatusIndicator {
    pub(crate) fn new(channel: &str, thread: Option<&str>, user: &str) -> Self {
        Self {
            channel: channel.to_owned(),
            thread: thread.map(str::to_owned),
            user: user.to_owned(),
            language: Language::default(),
            is_posted: false,
            indicator: Indicator::default(),
        }
    }

    /// Shows the indicators, unless they are still shown.
    pub(crate) fn show(&mut self, hub: &Arc<SlackHub>, language: Language) {
        let is_due = self.indicator.is_due(STATUS_EVERY);
        let Some(thread) = self.thread.clone().filter(|_| is_due) else {
            return;
        };
        self.is_posted = false;
        self.language = language;
        let (hub, channel) = (Arc::clone(hub), self.channel.clone());
        let session = self.session("processing");
        self.indicator.show(async move {
            let thinking = text!("slack-thinking").in_language(language);
            let status = set_status(&hub, &channel, &thread, &thinking);
            tokio::join!(status, set_session(&hub, &session));
        });
    }

    /// Records that the reply posted a message. A change of one is none to Slack. A status that is
    /// still on its way may be shown after the message, and stay.
    pub(crate) fn record_post(&mut self) {
        self.is_posted = self.indicator.is_settled();
    }

    /// Removes the indicators. `is_answered`: the answer stands.
    pub(crate) async fn hide(&mut self, hub: &SlackHub, is_answered: bool) {
        let Some(thread) = self.thread.clone().filter(|_| self.are_shown()) else {
            return;
        };
        self.indicator.end().await;
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
        self.indicator.is_shown()
    }

    /// Returns the indicators for somebody else to remove.
    pub(crate) fn take(&mut self) -> Self {
        Self {
            channel: self.channel.clone(),
            thread: self.thread.clone(),
            user: self.user.clone(),
            language: self.language,
            is_posted: self.is_posted,
            indicator: std::mem::take(&mut self.indicator),
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
