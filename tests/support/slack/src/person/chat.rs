//! One conversation, or one thread of it, as a person sees it.

use serde_json::{Value, json};

use super::view::{AssistantThread, Message};
use super::{SlackPerson, TIMEOUT};
use crate::ids::{BOT_USER, id};
use crate::post::{Post, StreamState, Writer};
use crate::state::State;
use crate::workspace::{Workspace, file_json};

/// One conversation, or one thread of it, as a person sees it.
#[derive(Clone, Debug)]
pub struct Chat {
    pub(super) person: SlackPerson,
    channel: String,
    thread: Option<String>,
}

/// What people type is escaped by their client.
fn typed(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// The rich text that people's clients send beside the text.
fn rich(text: &str, number: usize) -> Value {
    let plain = |text: &str| json!({ "type": "text", "text": text });
    let mention = format!("<@{BOT_USER}>");
    let mut elements = Vec::new();
    for (at, part) in text.split(&mention).enumerate() {
        if at > 0 {
            elements.push(json!({ "type": "user", "user_id": BOT_USER }));
        }
        if !part.is_empty() {
            elements.push(plain(
                &part
                    .replace("&lt;", "<")
                    .replace("&gt;", ">")
                    .replace("&amp;", "&"),
            ));
        }
    }
    json!([{ "type": "rich_text", "block_id": format!("b{number}"),
        "elements": [{ "type": "rich_text_section", "elements": elements }] }])
}

impl Chat {
    pub(super) fn new(person: SlackPerson, channel: &str) -> Self {
        let (channel, thread) = (channel.to_owned(), None);
        Self {
            person,
            channel,
            thread,
        }
    }

    /// `C…` or `D…`.
    pub fn channel_id(&self) -> &str {
        &self.channel
    }

    /// The root of the thread that this is; none for the conversation itself.
    pub fn thread_ts(&self) -> Option<&str> {
        self.thread.as_deref()
    }

    /// The thread below a message.
    pub fn in_thread(&self, root: &str) -> Self {
        let thread = Some(root.to_owned());
        Self {
            thread,
            ..self.clone()
        }
    }

    /// Says something to nobody; its `ts`.
    pub fn say(&self, text: &str) -> String {
        self.say_raw(&typed(text))
    }

    /// Says something to the bot.
    pub fn ask(&self, text: &str) -> String {
        self.say_raw(&format!("<@{BOT_USER}> {}", typed(text)))
    }

    /// Says something in Slack's own markup: `<@U…>`, `<https://…|label>`.
    pub fn say_raw(&self, text: &str) -> String {
        self.post(|workspace, post| {
            text.clone_into(&mut post.text);
            post.blocks = rich(text, workspace.number());
        })
    }

    fn post(&self, fill: impl FnOnce(&mut Workspace, &mut Post)) -> String {
        self.person.shared.change(|state| {
            let workspace = &mut state.workspace;
            let writer = Writer::Member(self.person.id().to_owned());
            let mut post = Post::new(&self.channel, workspace.ts(), writer, "");
            post.thread_ts.clone_from(&self.thread);
            fill(workspace, &mut post);
            post.texts = vec![post.text.clone()];
            workspace.publish(post)
        })
    }

    /// Says something else in an earlier message.
    pub fn edit(&self, ts: &str, text: &str) {
        self.edit_raw(ts, &typed(text));
    }

    /// As [`Chat::edit`], in Slack's own markup.
    pub fn edit_raw(&self, ts: &str, text: &str) {
        self.person.shared.change(|state| {
            let (now, number) = (state.workspace.ts(), state.workspace.number());
            // Slack tells in which second.
            let second = now.split_once('.').map_or(&*now, |(second, _)| second);
            let now = format!("{second}.000000");
            let editor = self.person.id().to_owned();
            state.workspace.revise(&self.channel, ts, |post| {
                post.rewrite(text, rich(text, number));
                post.edited = Some((editor, now));
            });
        });
    }

    /// Takes a message back.
    pub fn delete(&self, ts: &str) {
        self.person
            .shared
            .change(|state| state.workspace.remove(&self.channel, ts));
    }

    /// Sends a file, with what is said about it.
    pub fn attach(&self, name: &str, media_type: &str, content: &[u8], caption: &str) -> String {
        self.attach_raw(name, media_type, content, &typed(caption))
    }

    /// As [`Chat::attach`], the caption in Slack's own markup.
    pub fn attach_raw(
        &self,
        name: &str,
        media_type: &str,
        content: &[u8],
        caption: &str,
    ) -> String {
        self.post(|workspace, post| {
            let number = workspace.number();
            let (file, user) = (id('F', number), self.person.id());
            let file = file_json(workspace, &file, user, name, media_type, content.len());
            let shown = if workspace.room(&self.channel).is_shared {
                // "file_access": of files in shared channels only the id is told.
                json!({ "id": file["id"], "created": file["created"], "mode": "file_access",
                    "file_access": "check_file_info" })
            } else {
                file.clone()
            };
            workspace
                .files
                .insert(id('F', number), (file, content.to_vec()));
            post.files = vec![shown];
            post.subtype = Some("file_share");
            caption.clone_into(&mut post.text);
        })
    }

    /// Presses the stop button, which is there while an agent's session is processing.
    ///
    /// # Panics
    /// Panics when there is none in time.
    pub async fn stop(&self) {
        self.sees_thread("a stop button", |thread| thread.lifecycle == "processing")
            .await;
        self.stop_if_processing();
    }

    /// Presses the stop button if it is there now; says whether it is.
    pub fn stop_if_processing(&self) -> bool {
        self.person.shared.change(|state| {
            if self.thread_of(state).lifecycle != "processing" {
                return false;
            }
            let root = self.thread.clone().unwrap_or_default();
            let mut stopped = Vec::new();
            for post in &mut state.workspace.posts {
                let is_here = post.channel == self.channel && post.thread_ts.as_deref() == Some(&root);
                if is_here && post.stream == StreamState::Running {
                    post.stream = StreamState::StoppedByPerson;
                    stopped.push(post.ts.clone());
                }
            }
            let event = json!({ "type": "agent_session_stopped", "channel": self.channel, "thread_ts": root,
                "user": self.person.id(), "streaming_message_ts": stopped });
            state.workspace.tell("agent_session_stopped", &self.channel, event);
            true
        })
    }

    /// Everything that is said here now, by anybody, as this person sees it.
    pub fn messages(&self) -> Vec<Message> {
        self.of(&self.person.shared.look())
    }

    /// What the bot says here now.
    pub fn said(&self) -> Vec<Message> {
        let mut said = self.messages();
        said.retain(|message| message.is_bots);
        said
    }

    fn of(&self, state: &State) -> Vec<Message> {
        let is_seen = |post: &&Post| {
            let is_mine = post
                .only_for
                .as_ref()
                .is_none_or(|only| only == self.person.id());
            let thread = self.thread.as_deref();
            let is_here = thread
                .is_none_or(|root| post.ts == root || post.thread_ts.as_deref() == Some(root));
            post.channel == self.channel
                && is_mine
                && is_here
                && post.subtype != Some("assistant_app_thread")
        };
        state
            .workspace
            .posts
            .iter()
            .filter(is_seen)
            .map(|post| Message::of(post, &state.workspace))
            .collect()
    }

    /// Waits until the bot says exactly this.
    ///
    /// # Panics
    /// Panics when it does not in time.
    pub async fn hears(&self, text: &str) -> Message {
        self.finds(&format!("{text:?}"), |message| message.shown == text)
            .await
    }

    /// Waits for a message of the bot that is not deleted.
    ///
    /// # Panics
    /// Panics when none comes in time.
    pub async fn finds(&self, what: &str, is_it: impl Fn(&Message) -> bool) -> Message {
        self.sees(what, |messages| {
            let mut said = messages
                .iter()
                .filter(|message| message.is_bots && !message.is_deleted);
            said.find(|message| is_it(message)).cloned()
        })
        .await
    }

    /// Waits for a message of the bot that it still writes.
    ///
    /// # Panics
    /// Panics when none comes in time.
    pub async fn streams(&self) -> Message {
        let is_growing = |message: &Message| message.stream == StreamState::Running;
        self.finds("a stream", is_growing).await
    }

    /// Waits for something in what is said here, by anybody.
    ///
    /// # Panics
    /// Panics when it does not come in time.
    pub async fn sees<T>(&self, what: &str, find: impl Fn(&[Message]) -> Option<T>) -> T {
        let found = self
            .person
            .shared
            .until(TIMEOUT, |state| find(&self.of(state)));
        match found.await {
            Ok(found) => found,
            Err(()) => panic!("waited for {what}; the bot says {:#?}", self.said()),
        }
    }

    /// What is shown beside the thread now.
    pub fn thread(&self) -> AssistantThread {
        self.thread_of(&self.person.shared.look())
    }

    fn thread_of(&self, state: &State) -> AssistantThread {
        let key = (
            self.channel.clone(),
            self.thread.clone().unwrap_or_default(),
        );
        state
            .workspace
            .sessions
            .get(&key)
            .map(AssistantThread::of)
            .unwrap_or_default()
    }

    /// Waits for something beside the thread: a status, a title, prompts.
    ///
    /// # Panics
    /// Panics when it does not come in time.
    pub async fn sees_thread(
        &self,
        what: &str,
        is_it: impl Fn(&AssistantThread) -> bool,
    ) -> AssistantThread {
        let found = self.person.shared.until(TIMEOUT, |state| {
            let thread = self.thread_of(state);
            is_it(&thread).then_some(thread)
        });
        match found.await {
            Ok(thread) => thread,
            Err(()) => panic!(
                "waited for {what}; beside the thread is {:#?}",
                self.thread()
            ),
        }
    }
}
