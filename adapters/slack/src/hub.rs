//! State shared by the parts of a running adapter.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use muninn_platform::{
    Addressed, ConversationId, EventId, Language, MessageId, PlatformError, SeenUntil,
    SharedRecent, StartError, connect_at_start, misconfigured,
};
use parking_lot::Mutex;
use serde_json::json;
use tokio_util::task::TaskTracker;

use crate::api::SlackApi;
use crate::directory::Directory;
use crate::errors::ApiError;
use crate::history_limits::HistoryLimits;
use crate::ids;
use crate::name::NAME;
use crate::options::SlackOptions;
use crate::outbox::SlackOutbox;

/// Number of remembered events, for recognising repetitions by Slack. The bot recognises older ones
/// by its graph.
const REMEMBERED: usize = 8_192;

/// Number of threads for which the viewed channel is remembered.
const ASSISTED: usize = 1_024;

/// Number of shared answers that are remembered: until the message with the button is gone.
const SHARED: usize = 1_024;

/// The bot's identity.
#[derive(Clone, Debug)]
pub(crate) struct SlackBotIdentity {
    pub(crate) team: String,
    pub(crate) user: String,
    /// The workspace's URL, ending in a slash.
    pub(crate) url: String,
}

/// A feature that a workspace may lack; it is assumed until Slack refuses it.
#[derive(Debug)]
pub(crate) struct Feature {
    name: &'static str,
    is_there: AtomicBool,
}

impl Feature {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            is_there: AtomicBool::new(true),
        }
    }

    pub(crate) fn is_there(&self) -> bool {
        self.is_there.load(Ordering::Relaxed)
    }

    /// Records a refusal.
    pub(crate) fn learn(&self, error: &ApiError) {
        if error.is_not_there() && self.is_there.swap(false, Ordering::Relaxed) {
            tracing::info!(%error, "this workspace has no {}; it is done without", self.name);
        }
    }
}

/// A thread made for talking to the bot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assisted {
    /// The channel that its person is viewing.
    pub(crate) looks_at: Option<String>,
    pub(crate) has_title: bool,
}

pub(crate) struct SlackHub {
    pub(crate) api: SlackApi,
    pub(crate) me: SlackBotIdentity,
    pub(crate) options: SlackOptions,
    pub(crate) outbox: SlackOutbox,
    /// Other processes may be this bot too, and write at the same time.
    pub(crate) has_peers: bool,
    pub(crate) directory: Directory,
    /// Background tasks, which only the end waits for.
    pub(crate) chores: TaskTracker,
    pub(crate) streams: Feature,
    pub(crate) sessions: Feature,
    pub(crate) statuses: Feature,
    /// What Slack lets the app read.
    pub(crate) reading: HistoryLimits,
    /// Until when all events were accepted by the bot.
    pub(crate) seen_until: SeenUntil,
    /// How each message that the bot has received was addressed to it.
    pub(crate) seen: SharedRecent<EventId, Addressed>,
    /// Questions and their conversations.
    pub(crate) conversations: SharedRecent<EventId, ConversationId>,
    pub(crate) assisted: SharedRecent<ConversationId, Assisted>,
    /// People's direct message channels.
    directs: SharedRecent<String, String>,
    /// Streams that replies of this process are writing.
    streaming: Mutex<HashSet<MessageId>>,
    /// Whether a private answer was shared, or is being shared, by its message.
    pub(crate) shared: SharedRecent<MessageId, bool>,
}

impl SlackHub {
    /// Asks Slack who the bot is, and waits while Slack cannot be reached.
    ///
    /// # Errors
    /// Fails when Slack does not accept the token, or cannot be reached for too long.
    pub(crate) async fn open(
        options: &SlackOptions,
        has_peers: bool,
    ) -> Result<Arc<Self>, PlatformError> {
        let api = SlackApi::new(options)?;
        let me = connect_at_start(NAME, || who_am_i(&api)).await?;
        let directory = Directory::new(&me.team);
        Ok(Arc::new(Self {
            api,
            me,
            outbox: SlackOutbox::new(options.post_every),
            options: options.clone(),
            has_peers,
            directory,
            chores: TaskTracker::new(),
            streams: Feature::new("native streams"),
            sessions: Feature::new("agent sessions"),
            statuses: Feature::new("assistant status"),
            reading: HistoryLimits::default(),
            seen_until: SeenUntil::open(&options.missed),
            seen: SharedRecent::new(REMEMBERED),
            conversations: SharedRecent::new(REMEMBERED),
            assisted: SharedRecent::new(ASSISTED),
            directs: SharedRecent::new(REMEMBERED),
            streaming: Mutex::default(),
            shared: SharedRecent::new(SHARED),
        }))
    }

    /// Returns the language for telling one person something in a channel: their language in Slack,
    /// if known already.
    pub(crate) fn language(&self, user: &str, channel: &str) -> Language {
        let place = || {
            let audience = ids::audience(&self.me.team, channel);
            self.options.channels.language(&audience, None)
        };
        self.directory.language_of(user).unwrap_or_else(place)
    }

    /// The same, but asks Slack for their language if it is unknown.
    pub(crate) async fn language_told(&self, user: &str, channel: &str) -> Language {
        self.directory.person(&self.api, user).await;
        self.language(user, channel)
    }

    /// Whether the bot has received a message as addressed like this: an edit may have added the
    /// mention.
    pub(crate) fn has_heard(&self, event: &EventId, addressed: Addressed) -> bool {
        let seen = self.seen.get(event);
        seen.is_some_and(|seen| seen == Addressed::Directly || seen == addressed)
    }

    /// Records that the bot has it.
    pub(crate) fn record_received(&self, event: EventId) {
        self.seen.insert(event, Addressed::Directly);
    }

    pub(crate) fn record_stream_start(&self, channel: &str, ts: &str) {
        self.streaming.lock().insert(ids::message(channel, ts));
    }

    pub(crate) fn record_stream_end(&self, channel: &str, ts: &str) {
        self.streaming.lock().remove(&ids::message(channel, ts));
    }

    /// Whether a reply of this process writes that message.
    pub(crate) fn is_streaming(&self, channel: &str, ts: &str) -> bool {
        self.streaming.lock().contains(&ids::message(channel, ts))
    }

    /// Records that a private answer is being shared. Returns false if it is already.
    pub(crate) fn begin_sharing(&self, answer: &MessageId) -> bool {
        self.shared.insert(answer.clone(), true) != Some(true)
    }

    /// Records the channel of a person's direct messages.
    pub(crate) fn remember_direct(&self, user: &str, channel: &str) {
        self.directs.insert(user.to_owned(), channel.to_owned());
    }

    /// Whether a channel is known to be the bot's direct messages with this person.
    pub(crate) fn knows_direct(&self, user: &str, channel: &str) -> bool {
        let known = self.directs.get(&user.to_owned());
        known.is_some_and(|known| known == channel)
    }

    /// Whether a channel is the bot's direct messages with this person. Commands and shortcuts also
    /// work in direct messages between people, of which Slack tells the bot nothing: without an
    /// answer of Slack it is none of the bot's.
    pub(crate) async fn is_direct_with(&self, user: &str, channel: &str) -> bool {
        if !ids::is_direct(channel) || self.knows_direct(user, channel) {
            return ids::is_direct(channel);
        }
        let found = self.directory.channel_now(&self.api, channel).await;
        found.is_some_and(|found| found.direct_with.as_deref() == Some(user))
    }

    /// Returns the channel of a person's direct messages, if Slack confirms `said_to_be`.
    pub(crate) async fn direct_of(&self, user: &str, said_to_be: &str) -> Option<String> {
        let known = self.directs.get(&user.to_owned());
        if known.is_some() {
            return known;
        }
        let asked = [("channel", said_to_be)];
        let answer = self.api.get("conversations.info", &asked).await.ok()?;
        let channel = &answer["channel"];
        let is_theirs = channel["is_im"] == true && channel["user"] == user;
        is_theirs.then(|| {
            self.remember_direct(user, said_to_be);
            said_to_be.to_owned()
        })
    }

    /// Returns the URL of a message.
    pub(crate) fn link(&self, channel: &str, ts: &str, thread: Option<&str>) -> String {
        let digits = ts.replace('.', "");
        let link = format!("{}archives/{channel}/p{digits}", self.me.url);
        match thread.filter(|root| *root != ts) {
            Some(root) => format!("{link}?thread_ts={root}&cid={channel}"),
            None => link,
        }
    }
}

/// # Errors
/// Fails when Slack does not answer, or does not accept the token.
async fn who_am_i(api: &SlackApi) -> Result<SlackBotIdentity, StartError> {
    let answer = api.post("auth.test", &json!({})).await;
    let answer = answer
        .map_err(|error| StartError::new(error.request_failure(), error.sentence("any channel")))?;
    let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    let mut url = text("url");
    if !url.ends_with('/') {
        url.push('/');
    }
    let (team, user) = (text("team_id"), text("user_id"));
    if team.is_empty() || user.is_empty() {
        return Err(misconfigured(
            "SLACK_BOT_TOKEN is no bot's token; it begins with xoxb- and stands under OAuth & Permissions",
        )
        .into());
    }
    Ok(SlackBotIdentity { team, user, url })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::opened;

    #[tokio::test]
    async fn an_answer_is_shared_once_unless_that_failed() {
        let (_slack, hub) = opened().await;
        let (one, other) = (ids::message("C1", "1.0"), ids::message("C1", "2.0"));
        assert!(hub.begin_sharing(&one));
        assert!(!hub.begin_sharing(&one));
        assert!(hub.begin_sharing(&other));
        hub.shared.insert(one.clone(), false);
        assert!(hub.begin_sharing(&one));
        assert!(!hub.begin_sharing(&one) && !hub.begin_sharing(&other));
    }
}
