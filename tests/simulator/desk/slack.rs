//! A Slack workspace. A conversation is a thread below its first message.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use loopback_slack::{
    APP_TOKEN, BOT_TOKEN, BOT_USER, Chat, DeliveryTimings, ResponseFault, Slack, TEAM,
};
use serde_json::{Value, json};

use super::{GrowingPost, Post};
use crate::plan::AnswersFailure;
use crate::words::tokens;

/// Delay of late API responses, and the number of calls of each kind that fail.
const LATE: Duration = Duration::from_millis(400);
const FAILING: usize = 2;
/// How much sooner than Slack unacknowledged events are repeated.
const FASTER: u32 = 20;

/// A channel and its person.
#[derive(Debug)]
struct SlackDeskChannel {
    chat: Chat,
    person: String,
    /// The `ts` and the event of each message, by our ids.
    said: BTreeMap<String, (String, Value)>,
    /// The first message of each conversation.
    roots: BTreeMap<String, String>,
}

impl SlackDeskChannel {
    /// Returns our id of the message with this `ts`.
    fn id_of(&self, ts: &str) -> Option<&str> {
        let mut said = self.said.iter();
        said.find(|(_, (at, _))| at == ts)
            .map(|(id, _)| id.as_str())
    }

    /// Asks in a conversation, or begins one.
    fn asks(&mut self, id: &str, conversation: &str, text: &str) {
        let root = self.roots.get(conversation).cloned();
        let ts = match &root {
            Some(root) => self.chat.in_thread(root).ask(text),
            None => self.chat.ask(text),
        };
        let mut told = json!({
            "type": "message", "channel": self.chat.channel_id(), "channel_type": "channel",
            "user": self.person, "text": format!("<@{BOT_USER}> {text}"), "ts": ts, "event_ts": ts,
        });
        match root {
            Some(root) => told["thread_ts"] = json!(root),
            None => drop(self.roots.insert(conversation.to_owned(), ts.clone())),
        }
        self.said.insert(id.to_owned(), (ts, told));
    }

    fn begin_of_events(&self) -> String {
        format!("slack/{TEAM}/{}", self.chat.channel_id())
    }
}

pub(crate) struct SlackDesk {
    slack: Slack,
    /// By channel name.
    places: Mutex<BTreeMap<String, SlackDeskChannel>>,
}

impl std::fmt::Debug for SlackDesk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SlackDesk").finish_non_exhaustive()
    }
}

impl SlackDesk {
    pub(super) async fn open() -> Self {
        let slack = Slack::start().await;
        slack.set_waits(DeliveryTimings::default().faster(FASTER));
        Self {
            slack,
            places: Mutex::default(),
        }
    }

    pub(super) fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("SLACK_API_URL", self.slack.api_url()),
            ("SLACK_BOT_TOKEN", BOT_TOKEN.to_owned()),
            ("SLACK_APP_TOKEN", APP_TOKEN.to_owned()),
            ("SLACK_ALLOW", "*".to_owned()),
        ]
    }

    fn places(&self) -> MutexGuard<'_, BTreeMap<String, SlackDeskChannel>> {
        self.places.lock().unwrap()
    }

    /// Lets a few calls fail from now on.
    pub(super) fn fails(&self, failure: Option<AnswersFailure>) {
        let fault = match failure {
            None => return,
            Some(AnswersFailure::Refused) => ResponseFault::Status(503),
            Some(AnswersFailure::AcknowledgementLost) => ResponseFault::LostAnswer,
            Some(AnswersFailure::AcknowledgementLate) => ResponseFault::Slow(LATE),
        };
        for method in [
            "chat.postMessage",
            "chat.update",
            "chat.startStream",
            "chat.appendStream",
            "chat.stopStream",
            "chat.delete",
        ] {
            self.slack.fail(method, fault.clone(), FAILING);
        }
    }

    pub(super) fn says(&self, body: &Value) {
        let text = |key: &str| body[key].as_str().unwrap_or_default();
        let mut places = self.places();
        let place = places.entry(text("channel").to_owned());
        let place = place.or_insert_with_key(|name| {
            let channel = self.slack.channel(name);
            let person = self.slack.person("Ann");
            SlackDeskChannel {
                chat: person.in_channel(&channel),
                person: person.id().to_owned(),
                said: BTreeMap::new(),
                roots: BTreeMap::new(),
            }
        });
        match body["type"].as_str() {
            None => match place.said.get(text("id")) {
                // One message that Slack reports twice.
                Some((_, told)) => drop(self.slack.tell_event(told.clone())),
                // Slack treats a message that begins with a slash as a slash command.
                None => {
                    let said = text("text").trim_start_matches('/');
                    place.asks(text("id"), text("conversation"), said);
                }
            },
            Some("edit") => {
                let newer = format!("<@{BOT_USER}> {}", text("text"));
                place.chat.edit_raw(&place.said[text("of")].0, &newer);
            }
            Some("deletion") => {
                let (ts, _) = &place.said[text("of")];
                place.chat.delete(ts);
                // Nobody can reply to a message that does not exist any more.
                place.roots.retain(|_, root| root != ts);
            }
            // Without a turn in flight there is no stop button.
            Some("stop") => {
                if let Some(root) = place.roots.get(text("conversation")) {
                    place.chat.in_thread(root).stop_if_processing();
                }
            }
            Some(other) => panic!("nobody does that in Slack: {other}"),
        }
    }

    /// Returns the bot's messages that answer something.
    pub(super) fn answers(&self) -> Vec<GrowingPost> {
        let places = self.places();
        let mut all = Vec::new();
        for (name, place) in places.iter() {
            for message in place.chat.said() {
                let question = &message.metadata["event_payload"]["question"];
                let question = question.as_str().unwrap_or_default();
                let ts = question.rsplit('/').next().unwrap_or_default();
                // The answer to an edit refers to the edit: any text that it ever had identifies
                // it.
                let said = message.texts.iter().flat_map(|text| tokens(text)).next();
                let said = said.map(|token| format!("m{}", token.number));
                let Some(id) = place.id_of(ts).map(str::to_owned).or(said) else {
                    continue;
                };
                if message.is_ephemeral {
                    continue;
                }
                all.push(GrowingPost {
                    post: Post {
                        channel: name.clone(),
                        question: id,
                        text: message.shown,
                        grows_in: Some(message.ts),
                    },
                    is_deleted: message.is_deleted,
                    texts: message.texts,
                });
            }
        }
        all
    }

    /// Returns private messages, as answers to the last command before them.
    pub(super) fn whispers(&self) -> Vec<Post> {
        let places = self.places();
        let mut all = Vec::new();
        for (name, place) in places.iter() {
            let commands = || {
                let said = place.said.iter();
                said.filter(|(id, _)| id.starts_with('o'))
            };
            let whispers = place.chat.said().into_iter();
            for whisper in whispers.filter(|message| message.is_ephemeral) {
                let before = commands().filter(|(_, (ts, _))| *ts < whisper.ts);
                let last = before.max_by(|(_, one), (_, other)| one.0.cmp(&other.0));
                all.extend(last.map(|(id, _)| Post {
                    channel: name.clone(),
                    question: id.clone(),
                    text: whisper.shown.clone(),
                    grows_in: None,
                }));
            }
        }
        all
    }

    pub(super) async fn all_told(&self) {
        self.slack.all_told().await;
    }

    pub(super) fn malformed(&self) -> Vec<String> {
        self.slack.take_violations()
    }

    pub(super) fn translated(&self, exported: String) -> String {
        let mut exported = exported;
        for (name, place) in self.places().iter() {
            let begin = place.begin_of_events();
            for (id, (ts, _)) in &place.said {
                let own = format!("webhook/{name}/{id}");
                exported = exported.replace(&format!("{begin}/{ts}"), &own);
            }
            exported = exported.replace(&begin, &format!("webhook/{name}"));
        }
        exported
    }
}
