//! A Discord server. One conversation of a channel is a thread that its person opens; the other
//! begins with a mention in the channel, for which the bot opens a thread.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use loopback_discord::{Chat, Discord, Guild, Id, Message};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{GrowingPost, Post};
use crate::people::waits;
use crate::plan::AnswersFailure;

/// Delay of late API responses, and the number of calls of each kind that fail.
const LATE: Duration = Duration::from_millis(400);
const FAILING: usize = 2;

/// Maximum greetings before anything else is said, and their interval.
const GREETED_AT_MOST: usize = 60;
const TO_GREET_AGAIN: Duration = Duration::from_secs(1);

/// The conversation in the thread that its person opens.
const OWN_THREAD: &str = "c0";

/// A channel and its person.
#[derive(Debug)]
struct DiscordDeskChannel {
    chat: Chat,
    own_thread: Chat,
    /// The mention that began the other conversation.
    root: Option<Id>,
    /// The place and id of each message, by our ids.
    said: BTreeMap<String, (Chat, Id)>,
}

impl DiscordDeskChannel {
    fn new(guild: &Guild, name: &str) -> Self {
        let chat = guild.person("ann").at(&guild.text(name));
        Self {
            own_thread: chat.open_thread("Berths"),
            chat,
            root: None,
            said: BTreeMap::new(),
        }
    }

    /// Returns every place of the channel.
    fn chats(&self) -> Vec<Chat> {
        let threads = self.chat.threads();
        let threads = threads.iter().map(|thread| self.chat.thread(thread.id));
        std::iter::once(self.chat.clone()).chain(threads).collect()
    }

    fn thread_of(&self, conversation: &str) -> Option<Chat> {
        if conversation == OWN_THREAD {
            return Some(self.own_thread.clone());
        }
        let threads = self.chat.threads();
        let mut threads = threads.iter().map(|thread| thread.id);
        let thread = threads.find(|thread| Some(*thread) == self.root)?;
        Some(self.chat.thread(thread))
    }

    /// Asks in a conversation, or begins one.
    fn asks(&mut self, id: &str, conversation: &str, text: &str) {
        let chat = self.thread_of(conversation);
        let begins = chat.is_none();
        let chat = chat.unwrap_or_else(|| self.chat.clone());
        let message = chat.mention(text);
        if begins {
            self.root = Some(message);
        }
        self.said.insert(id.to_owned(), (chat, message));
    }

    /// Returns our id of the question that a message of the bot answers. The first message in a
    /// thread answers the message of the thread.
    fn answered_by(&self, message: &Message) -> Option<&str> {
        let question = message.replies_to.unwrap_or(message.channel);
        let mut said = self.said.iter();
        said.find(|(_, (_, id))| *id == question)
            .map(|(id, _)| id.as_str())
    }
}

pub(crate) struct DiscordDesk {
    discord: Discord,
    guild: Guild,
    bot: Id,
    /// Messages from before the bot's first connection were not addressed to it.
    was_there: OnceCell<()>,
    /// By channel name.
    places: Mutex<BTreeMap<String, DiscordDeskChannel>>,
}

impl std::fmt::Debug for DiscordDesk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiscordDesk").finish_non_exhaustive()
    }
}

impl DiscordDesk {
    pub(super) async fn open() -> Self {
        let discord = Discord::start().await;
        Self {
            guild: discord.guild("Harbour"),
            bot: discord.bot(),
            discord,
            was_there: OnceCell::new(),
            places: Mutex::default(),
        }
    }

    pub(super) fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("DISCORD_API_PROXY", self.discord.url()),
            ("DISCORD_TOKEN", self.discord.token().to_owned()),
            ("DISCORD_ALLOW", "*".to_owned()),
        ]
    }

    fn places(&self) -> MutexGuard<'_, BTreeMap<String, DiscordDeskChannel>> {
        self.places.lock().unwrap()
    }

    /// Lets a few calls fail from now on.
    pub(super) fn fails(&self, failure: Option<AnswersFailure>) {
        let Some(failure) = failure else { return };
        let one = "/channels/{channel_id}/messages/{message_id}";
        for (method, route) in [
            ("POST", "/channels/{channel_id}/messages"),
            (
                "POST",
                "/channels/{channel_id}/messages/{message_id}/threads",
            ),
            ("PATCH", one),
            ("DELETE", one),
        ] {
            let next = self.discord.next(method, route).times(FAILING);
            match failure {
                AnswersFailure::Refused => next.fails(503),
                AnswersFailure::AcknowledgementLost => next.loses_its_answer(),
                AnswersFailure::AcknowledgementLate => next.is_slow(LATE),
            }
        }
    }

    pub(super) async fn says(&self, body: &Value) {
        self.was_there.get_or_init(|| self.greets()).await;
        let text = |key: &str| body[key].as_str().unwrap_or_default();
        let mut places = self.places();
        let place = places
            .entry(text("channel").to_owned())
            .or_insert_with_key(|name| DiscordDeskChannel::new(&self.guild, name));
        match body["type"].as_str() {
            None => match place.said.get(text("id")) {
                // One message that Discord reports twice.
                Some((chat, message)) => chat.is_told_again(*message),
                None => place.asks(text("id"), text("conversation"), text("text")),
            },
            Some("edit") => {
                let newer = format!("<@{}> {}", self.bot, text("text"));
                let (chat, message) = &place.said[text("of")];
                chat.edit(*message, &newer);
            }
            Some("deletion") => {
                let (chat, message) = &place.said[text("of")];
                chat.delete(*message);
            }
            // Without a turn in flight there is no stop button.
            Some("stop") => {
                let Some(chat) = place.thread_of(text("conversation")) else {
                    return;
                };
                let said = chat.said().into_iter();
                let has_stop = |said: &Message| said.buttons.iter().any(|it| it.label == "Stop");
                if let Some(growing) = said.rev().find(has_stop) {
                    drop(chat.click(&growing, "Stop"));
                }
            }
            Some(other) => panic!("nobody does that in Discord: {other}"),
        }
    }

    /// Somebody else greets the bot until it answers.
    async fn greets(&self) {
        let lobby = self.guild.text("lobby");
        let chat = self.guild.person("bob").at(&lobby);
        let is_answered = || !chat.threads().is_empty();
        for _ in 0..GREETED_AT_MOST {
            chat.mention("Are you there?");
            if waits(TO_GREET_AGAIN, is_answered).await {
                return;
            }
        }
        panic!("nobody is there");
    }

    /// Returns the bot's messages that answer something.
    pub(super) fn answers(&self) -> Vec<GrowingPost> {
        let mut all = Vec::new();
        for (name, place) in self.places().iter() {
            let messages = place.chats().into_iter().flat_map(|chat| chat.all());
            for message in messages.filter(|it| it.author == self.bot && !it.is_system) {
                let Some(id) = place.answered_by(&message) else {
                    continue;
                };
                all.push(GrowingPost {
                    post: Post {
                        channel: name.clone(),
                        question: id.to_owned(),
                        text: message.text,
                        grows_in: Some(message.id.to_string()),
                    },
                    is_deleted: message.is_deleted,
                    texts: message.texts,
                });
            }
        }
        all
    }

    pub(super) fn malformed(&self) -> Vec<String> {
        self.discord.take_violations()
    }

    pub(super) fn translated(&self, exported: String) -> String {
        let mut exported = exported;
        let guild = self.guild.id();
        for (name, place) in self.places().iter() {
            for (id, (chat, message)) in &place.said {
                let event = format!("discord/{}/{message}", chat.id());
                exported = exported.replace(&event, &format!("webhook/{name}/{id}"));
            }
            for chat in place.chats() {
                let own = match chat.id() == place.chat.id() {
                    true => format!("webhook/{name}"),
                    false => format!("webhook/{name}/{}", chat.id()),
                };
                exported = exported.replace(&format!("discord/{guild}/{}", chat.id()), &own);
            }
        }
        exported
    }
}
