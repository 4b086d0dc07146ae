//! A stored message, and its form in methods and events.

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::ids::{APP, BOT, BOT_USER, TEAM};
use crate::workspace::Workspace;

/// Who wrote a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Writer {
    /// A person, or another app's bot, by user id.
    Member(String),
    /// The app under test.
    App,
    /// Slack itself.
    Slackbot,
}

/// The progress of a streamed message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StreamState {
    /// It was posted complete.
    None,
    Running,
    Stopped,
    /// Stopped by somebody with the stop button.
    StoppedByPerson,
}

#[derive(Clone, Debug)]
pub(crate) struct Post {
    pub(crate) channel: String,
    pub(crate) ts: String,
    pub(crate) thread_ts: Option<String>,
    pub(crate) writer: Writer,
    pub(crate) text: String,
    pub(crate) blocks: Value,
    pub(crate) attachments: Value,
    pub(crate) metadata: Value,
    pub(crate) files: Vec<Value>,
    pub(crate) subtype: Option<&'static str>,
    pub(crate) edited: Option<(String, String)>,
    /// All texts it had.
    pub(crate) texts: Vec<String>,
    /// The only person who sees it, if it is ephemeral.
    pub(crate) only_for: Option<String>,
    pub(crate) stream: StreamState,
    pub(crate) is_gone: bool,
    pub(crate) unfurls: (bool, bool),
    pub(crate) at: Instant,
    pub(crate) revised_at: Instant,
}

impl Post {
    pub(crate) fn new(channel: &str, ts: String, writer: Writer, text: &str) -> Self {
        let now = Instant::now();
        Self {
            channel: channel.to_owned(),
            ts,
            thread_ts: None,
            writer,
            text: text.to_owned(),
            blocks: Value::Null,
            attachments: Value::Null,
            metadata: Value::Null,
            files: Vec::new(),
            subtype: None,
            edited: None,
            texts: vec![text.to_owned()],
            only_for: None,
            stream: StreamState::None,
            is_gone: false,
            unfurls: (false, true),
            at: now,
            revised_at: now,
        }
    }

    /// Replaces its content.
    pub(crate) fn rewrite(&mut self, text: &str, blocks: Value) {
        text.clone_into(&mut self.text);
        self.blocks = blocks;
        self.texts.push(text.to_owned());
        self.revised_at = Instant::now();
    }

    /// Turns a deleted root whose thread goes on into a tombstone.
    pub(crate) fn bury(&mut self) {
        self.rewrite("This message was deleted.", Value::Null);
        self.subtype = Some("tombstone");
        self.writer = Writer::Slackbot;
        self.files.clear();
    }

    pub(crate) fn user(&self) -> &str {
        match &self.writer {
            Writer::Member(user) => user,
            Writer::App => BOT_USER,
            Writer::Slackbot => "USLACKBOT",
        }
    }

    /// Returns it as in `conversations.history` and events, without the channel.
    pub(crate) fn json(&self, workspace: &Workspace) -> Value {
        let mut told =
            json!({ "type": "message", "ts": self.ts, "text": self.text, "user": self.user() });
        self.add_writer(workspace, &mut told);
        let mut set = |name: &str, value: Value| told[name] = value;
        if let Some(subtype) = self.subtype {
            set("subtype", json!(subtype));
        }
        if let Some(thread) = &self.thread_ts {
            set("thread_ts", json!(thread));
        }
        if self.blocks.is_array() {
            set("blocks", self.blocks.clone());
        }
        if self.attachments.is_array() {
            set("attachments", self.attachments.clone());
        }
        if !self.files.is_empty() {
            set("files", json!(self.files));
            set("upload", json!(false));
        }
        if let Some((user, ts)) = &self.edited {
            set("edited", json!({ "user": user, "ts": ts }));
        }
        // It is not documented how a running stream is marked, so it is not.
        self.add_thread(workspace, &mut told);
        told
    }

    /// Adds the author.
    fn add_writer(&self, workspace: &Workspace, told: &mut Value) {
        let mut set = |name: &str, value: Value| told[name] = value;
        match &self.writer {
            Writer::App => {
                set("bot_id", json!(BOT));
                set("app_id", json!(APP));
                set("team", json!(TEAM));
                set("bot_profile", bot_json(BOT, "Muninn", APP));
            }
            Writer::Member(user) => {
                let member = workspace.members.get(user);
                let team = member.map_or(TEAM, |member| member.team());
                set("team", json!(team));
                if team != TEAM {
                    set("user_team", json!(team));
                    set("source_team", json!(team));
                }
                match member.and_then(|member| member.bot_id.as_ref()) {
                    Some(bot) => set("bot_id", json!(bot)),
                    None => set("client_msg_id", json!(client_message_id(&self.ts))),
                }
            }
            Writer::Slackbot => {}
        }
    }

    /// Adds the thread; roots include their replies.
    fn add_thread(&self, workspace: &Workspace, told: &mut Value) {
        if self.thread_ts.as_ref().is_some_and(|root| *root != self.ts) {
            let root = workspace.post(&self.channel, self.thread_ts.as_deref().unwrap_or_default());
            told["parent_user_id"] = json!(root.map(Self::user));
            return;
        }
        let replies: Vec<&Self> = workspace.thread(&self.channel, &self.ts).skip(1).collect();
        let Some(last) = replies.last() else {
            return;
        };
        let mut users: Vec<&str> = replies.iter().map(|reply| reply.user()).collect();
        users.sort_unstable();
        users.dedup();
        told["thread_ts"] = json!(self.ts);
        told["reply_count"] = json!(replies.len());
        told["reply_users_count"] = json!(users.len());
        told["reply_users"] = json!(users);
        told["latest_reply"] = json!(last.ts);
        told["is_locked"] = json!(false);
        told["subscribed"] = json!(true);
    }
}

/// Returns a bot as in `bots.info`.
pub(crate) fn bot_json(id: &str, name: &str, app: &str) -> Value {
    json!({ "id": id, "deleted": false, "name": name, "updated": 1_700_000_000, "app_id": app,
        "user_id": BOT_USER, "icons": {}, "team_id": TEAM })
}

/// Returns the UUID that people's clients give each message.
fn client_message_id(ts: &str) -> String {
    let digits: String = ts.chars().filter(char::is_ascii_digit).collect();
    format!("00000000-0000-4000-{}-{:0>12}", &digits[..4], &digits[4..])
}
