//! One channel, thread or direct message, as a person sees it.

mod doing;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::permissions::Permissions;
use crate::places::DiscordChannel;
use crate::server::SharedWorld;
use crate::view::{self, Message, Thread};
use crate::world::{Attached, ChannelType, Forwarded, MessageDraft, World};
use crate::{Id, TIMEOUT};

pub use doing::{Interacting, Target};

/// What Discord tells of a forwarded message: not whose it is.
const SNAPSHOT: [&str; 10] = [
    "type",
    "content",
    "timestamp",
    "edited_timestamp",
    "flags",
    "mentions",
    "mention_roles",
    "attachments",
    "embeds",
    "components",
];

/// One place, as a person sees it. Clones are the same place.
#[derive(Clone, Debug)]
pub struct Chat {
    shared: Arc<SharedWorld>,
    bot: Id,
    person: Id,
    channel: Id,
}

impl Chat {
    pub(crate) fn new(shared: &Arc<SharedWorld>, bot: Id, person: Id, channel: Id) -> Self {
        Self {
            shared: Arc::clone(shared),
            bot,
            person,
            channel,
        }
    }

    /// Returns the id of the channel or thread.
    pub fn id(&self) -> Id {
        self.channel
    }

    /// Returns the place as a test controls it.
    pub fn channel(&self) -> DiscordChannel {
        DiscordChannel::new(&self.shared, self.bot, self.channel)
    }

    fn at(&self, channel: Id) -> Self {
        Self {
            channel,
            ..self.clone()
        }
    }

    /// Sends a message that addresses nobody.
    ///
    /// # Panics
    /// Panics when this person may not.
    #[track_caller]
    pub fn say(&self, text: &str) -> Id {
        self.post(MessageDraft::text(text))
    }

    /// Sends a message to the bot.
    ///
    /// # Panics
    /// As [`Self::say`].
    #[track_caller]
    pub fn mention(&self, text: &str) -> Id {
        self.say(&format!("<@{}> {text}", self.bot))
    }

    /// Replies to a message and pings its author, which is Discord's default.
    ///
    /// # Panics
    /// As [`Self::say`].
    #[track_caller]
    pub fn reply(&self, to: Id, text: &str) -> Id {
        self.post(MessageDraft {
            reference: Some(to),
            ..MessageDraft::text(text)
        })
    }

    /// Replies to a message without pinging its author.
    ///
    /// # Panics
    /// As [`Self::say`].
    #[track_caller]
    pub fn reply_quietly(&self, to: Id, text: &str) -> Id {
        self.post(MessageDraft {
            reference: Some(to),
            allowed_mentions: Some(serde_json::json!({ "parse": ["users", "roles", "everyone"], "replied_user": false })),
            ..MessageDraft::text(text)
        })
    }

    /// Forwards a message of another place, or of this one.
    ///
    /// # Panics
    /// As [`Self::say`], and when there is no such message.
    #[track_caller]
    pub fn forward(&self, from: &Self, message: Id) -> Id {
        let snapshot = self.shared.look(|world| {
            let found = world.message(from.channel, message);
            let whole = found.map(|found| world.message_json(found, self.bot, true));
            let whole = whole.expect("a message to forward");
            let told = SNAPSHOT.map(|field| (field.to_owned(), whole[field].clone()));
            Value::Object(told.into_iter().collect())
        });
        self.post(MessageDraft {
            forwarded: Some(Forwarded {
                channel: from.channel,
                message,
                snapshot,
            }),
            ..MessageDraft::default()
        })
    }

    /// Sends a message with a file.
    ///
    /// # Panics
    /// As [`Self::say`].
    #[track_caller]
    pub fn attach(&self, name: &str, media_type: &str, content: &[u8], text: &str) -> Id {
        self.attach_claiming(name, media_type, content, content.len(), text)
    }

    /// As [`Self::attach`], with a possibly false claim of the file's size.
    ///
    /// # Panics
    /// As [`Self::say`].
    #[track_caller]
    pub fn attach_claiming(
        &self,
        name: &str,
        media_type: &str,
        content: &[u8],
        size: usize,
        text: &str,
    ) -> Id {
        let file = self.shared.with(|world| {
            let id = world.new_id();
            let file = Attached {
                id,
                channel: self.channel,
                name: name.to_owned(),
                media_type: media_type.to_owned(),
                content: content.to_vec(),
                claimed_size: size as u64,
            };
            world.files.insert(id, file);
            id
        });
        self.post(MessageDraft {
            attachments: vec![file],
            ..MessageDraft::text(text)
        })
    }

    #[track_caller]
    fn post(&self, draft: MessageDraft) -> Id {
        let posted = self.shared.with(|world| {
            let channel = world
                .channel_for(self.person, self.channel)
                .map_err(|error| error.message)?
                .clone();
            world
                .may_write(self.person, &channel)
                .map_err(|error| error.message)?;
            Ok::<_, String>(world.post(self.channel, self.person, draft))
        });
        posted.unwrap_or_else(|why| panic!("a person may not write there: {why}"))
    }

    /// Edits a message.
    ///
    /// # Panics
    /// Panics when it is somebody else's.
    #[track_caller]
    pub fn edit(&self, message: Id, text: &str) {
        let is_own = self.shared.look(|world| {
            world
                .message(self.channel, message)
                .is_some_and(|found| found.author == self.person)
        });
        assert!(is_own, "only one's own messages can be changed");
        self.shared.with(|world| {
            world.rewrite(self.channel, message, |found| {
                text.clone_into(&mut found.draft.content)
            })
        });
    }

    /// Lets Discord report a message again, as it may. Not a deleted one.
    pub fn is_told_again(&self, message: Id) {
        self.shared
            .with(|world| world.tell_again(self.channel, message));
    }

    /// Deletes a message: one's own, or as a moderator.
    ///
    /// # Panics
    /// Panics when this person may not.
    #[track_caller]
    pub fn delete(&self, message: Id) {
        let may = self.shared.look(|world| {
            let found = world.message(self.channel, message);
            found.is_some_and(|found| found.author == self.person) || self.moderates(world)
        });
        assert!(may, "this person may not delete that message");
        self.shared.with(|world| world.erase(self.channel, message));
    }

    /// Deletes several messages at once, as a moderator.
    ///
    /// # Panics
    /// Panics when this person is none.
    #[track_caller]
    pub fn bulk_delete(&self, messages: &[Id]) {
        assert!(
            self.shared.look(|world| self.moderates(world)),
            "only a moderator deletes in bulk"
        );
        self.shared
            .with(|world| world.erase_all(self.channel, messages));
    }

    fn moderates(&self, world: &World) -> bool {
        world
            .permissions(self.person, &world.channels[&self.channel])
            .contains(Permissions::MANAGE_MESSAGES)
    }

    /// Pins a message, which Discord announces in the channel.
    pub fn pin(&self, message: Id) {
        self.shared
            .with(|world| world.pin(self.channel, self.person, message));
    }

    /// Lets Discord embed the page of a link in a message: a change that is no edit.
    pub fn unfurls(&self, message: Id, url: &str) {
        self.shared
            .with(|world| world.unfurl(self.channel, message, url));
    }

    /// Begins to type.
    pub fn types(&self) {
        self.shared
            .with(|world| world.types(self.person, self.channel));
    }

    /// Opens a post in a forum.
    pub fn open_post(&self, title: &str, text: &str) -> Self {
        let id = self.shared.with(|world| {
            let id = world.new_id();
            world.open_post(
                id,
                self.channel,
                self.person,
                title,
                MessageDraft::text(text),
            );
            id
        });
        self.at(id)
    }

    /// Opens a public thread.
    pub fn open_thread(&self, name: &str) -> Self {
        self.open(name, ChannelType::PublicThread)
    }

    /// Opens a thread at a message of this channel.
    pub fn open_thread_on(&self, message: Id, name: &str) -> Self {
        self.shared.with(|world| {
            let kind = ChannelType::PublicThread;
            world.open_thread_from(self.channel, message, self.person, name, kind);
        });
        self.at(message)
    }

    /// Opens a private thread.
    pub fn open_private_thread(&self, name: &str) -> Self {
        self.open(name, ChannelType::PrivateThread)
    }

    fn open(&self, name: &str, kind: ChannelType) -> Self {
        let id = self.shared.with(|world| {
            let id = world.new_id();
            world.open_thread(id, self.channel, self.person, name, kind);
            id
        });
        self.at(id)
    }

    /// Adds somebody to a thread, such as the bot.
    pub fn brings(&self, user: Id) {
        self.shared
            .with(|world| world.join_thread(self.channel, user));
    }

    /// Leaves the thread.
    pub fn leaves_thread(&self) {
        self.shared
            .with(|world| world.leave_thread(self.channel, self.person));
    }

    /// Waits for the thread of a message.
    ///
    /// # Panics
    /// Panics when there is none in time.
    pub async fn thread_on(&self, message: Id) -> Self {
        self.sees("a thread on the message", |chat| {
            let on = chat.iter().find(|said| said.id == message)?;
            on.thread
        })
        .await;
        self.at(message)
    }

    /// This person's direct messages with the bot.
    pub fn direct(&self) -> Self {
        let open = |world: &mut World| world.direct(self.bot, self.person);
        let channel = self.shared.with(open);
        self.at(channel)
    }

    /// Returns a thread of this channel by its id, as this person sees it.
    pub fn thread(&self, id: Id) -> Self {
        self.at(id)
    }

    /// Returns the threads of this channel that this person sees.
    pub fn threads(&self) -> Vec<Thread> {
        self.shared
            .look(|world| world.threads_shown(self.channel, self.person))
    }

    /// Waits for a matching thread of this channel.
    ///
    /// # Panics
    /// Panics when there is none in time.
    pub async fn finds_thread(&self, what: &str, fits: impl Fn(&Thread) -> bool) -> Self {
        let find = |world: &World| {
            world
                .threads_shown(self.channel, self.person)
                .into_iter()
                .find(|thread| fits(thread))
        };
        let found = view::until(&self.shared, TIMEOUT, find).await;
        self.at(found.unwrap_or_else(|| panic!("no thread: {what}")).id)
    }

    /// Returns the bot's current messages here, without deleted ones and without Discord's own
    /// notices.
    pub fn said(&self) -> Vec<Message> {
        self.all()
            .into_iter()
            .filter(|said| self.is_bots(said) && !said.is_deleted && !said.is_system)
            .collect()
    }

    /// Returns all messages here, including deleted ones.
    pub fn all(&self) -> Vec<Message> {
        self.shared
            .look(|world| world.shown(self.channel, self.person))
    }

    fn is_bots(&self, message: &Message) -> bool {
        message.author == self.bot
    }

    /// Waits until the bot has said exactly this.
    ///
    /// # Panics
    /// Panics when it does not in time.
    pub async fn hears(&self, text: &str) -> Message {
        self.finds(text, |said| said.text == text && !said.is_deleted)
            .await
    }

    /// Waits for a matching message of the bot, also a deleted one.
    ///
    /// # Panics
    /// Panics when there is none in time.
    pub async fn finds(&self, what: &str, fits: impl Fn(&Message) -> bool) -> Message {
        self.sees(what, |all| {
            all.iter()
                .find(|said| self.is_bots(said) && fits(said))
                .cloned()
        })
        .await
    }

    /// Waits for something in all that this person sees here.
    ///
    /// # Panics
    /// Panics when it is not in time.
    pub async fn sees<T>(&self, what: &str, find: impl Fn(&[Message]) -> Option<T>) -> T {
        let look = |world: &World| find(&world.shown(self.channel, self.person));
        match view::until(&self.shared, TIMEOUT, look).await {
            Some(found) => found,
            None => panic!("{what:?} was not there, but {:#?}", self.all()),
        }
    }

    /// Returns the times at which somebody began to type here, on the server's clock.
    pub fn typed(&self) -> Vec<Duration> {
        let bots = |world: &World| -> Vec<Duration> {
            let here = world
                .typed
                .iter()
                .filter(|(channel, user, _)| *channel == self.channel && *user == self.bot);
            here.map(|(.., at)| *at).collect()
        };
        self.shared.look(bots)
    }

    /// Waits until the bot was seen typing this many times.
    ///
    /// # Panics
    /// Panics when it is not in time.
    pub async fn sees_typing(&self, times: usize) {
        let typed = |world: &World| {
            let here = world
                .typed
                .iter()
                .filter(|(channel, user, _)| *channel == self.channel && *user == self.bot);
            (here.count() >= times).then_some(())
        };
        let found = view::until(&self.shared, TIMEOUT, typed).await;
        assert!(
            found.is_some(),
            "the bot was not seen to type {times} times, but {}",
            self.typed().len()
        );
    }
}
