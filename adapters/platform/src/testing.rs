//! A fake platform for whole-bot tests, which read like the chat they describe.
//!
//! ```
//! # use muninn_platform::{Inbox, Incoming, SafeText, TextLimit, testing::TestConversation};
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let (inbox, mut receiver) = Inbox::new(8);
//! # tokio::spawn(async move {
//! #     while let Some(arrival) = receiver.recv().await {
//! #         let Incoming::Message { mut reply, .. } = arrival.accept() else { break };
//! #         let answer = SafeText::new("Hello, Ann.");
//! #         reply.finish(&answer.split(TextLimit::Unlimited)).await.unwrap();
//! #     }
//! # });
//! let room = TestConversation::new(inbox, "test/general/1", "test/general");
//! let answer = room.say("ann", "Hello?").await;
//! assert_eq!(answer.text(), "Hello, Ann.");
//! # }
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chrono::Utc;
use tokio::sync::{oneshot, watch};

use crate::{
    Addressed, Addressees, Attachment, Audience, AudienceId, Author, Body, Command, ConversationId,
    Cut, Delivered, EventId, Feedback, Inbox, Incoming, IncomingMessage, ItemDeed, MessageId,
    NotHandedOver, Opinion, OwnSession, Pace, PriorMessage, PriorMessages, ShownItem, TextLimit,
    Withdrawn,
};

mod addresses;
mod board;
pub mod conformance;
mod echo;
mod files;
mod history;
mod ids;
mod pending;
mod platform;
mod recorder;

pub use addresses::free_address;
use board::Board;
pub use echo::{EchoBot, EchoLog, EchoMemory};
pub use files::own_file;
pub use history::read_history;
use ids::NAME;
pub use ids::next_event;
pub use pending::{Answer, MessageOutcome, Pending};
pub use platform::{TestChat, TestPlatform};
use recorder::Recorder;

/// Longer than any turn with fakes takes, also on a loaded machine.
const TIMEOUT: Duration = Duration::from_secs(30);

/// One conversation as a test sees it. Clones are the same conversation.
#[derive(Clone, Debug)]
pub struct TestConversation {
    inbox: Inbox,
    platform: &'static str,
    conversation: ConversationId,
    audience: Audience,
    also_recalls: Option<AudienceId>,
    limit: TextLimit,
    pace: Pace,
    patience: Duration,
    admins: Vec<String>,
    addressed: Addressed,
    toward: Addressees,
    reply_to: Option<EventId>,
    files: Vec<(Attachment, Vec<u8>)>,
    largest_file: Result<u64, NotHandedOver>,
    background: PriorMessages,
    lost_deliveries: Arc<AtomicUsize>,
    board: Board,
}

impl TestConversation {
    pub fn new(inbox: Inbox, conversation: &str, audience: &str) -> Self {
        Self {
            inbox,
            platform: NAME,
            conversation: ConversationId::new(conversation),
            audience: Audience {
                id: AudienceId::new(audience),
                platform: NAME.to_owned(),
                workspace: String::new(),
                name: audience.to_owned(),
                private_to: None,
            },
            also_recalls: None,
            limit: TextLimit::Unlimited,
            pace: Pace {
                update_every: Duration::ZERO,
                working_every: Duration::from_secs(1),
            },
            patience: TIMEOUT,
            admins: Vec::new(),
            addressed: Addressed::Directly,
            toward: Addressees::default(),
            reply_to: None,
            files: Vec::new(),
            largest_file: Ok(u64::MAX),
            background: PriorMessages::default(),
            board: Board::default(),
            lost_deliveries: Arc::default(),
        }
    }

    /// Another conversation of the same audience.
    #[must_use]
    pub fn thread(&self, name: &str) -> Self {
        let platform = &self.audience.platform;
        Self {
            conversation: ConversationId::new(format!("{platform}/{name}")),
            ..self.clone()
        }
    }

    /// Returns the same conversation, with the bot of `other`.
    #[must_use]
    pub fn with_bot_of(&self, other: &Self) -> Self {
        Self {
            inbox: other.inbox.clone(),
            ..self.clone()
        }
    }

    /// Returns a place where `person` asks privately: the others in the room see neither question
    /// nor answer.
    #[must_use]
    pub fn aside(&self, person: &str) -> Self {
        let id = format!("{}/private/{person}", self.audience.id);
        Self {
            conversation: ConversationId::new(&id),
            also_recalls: Some(self.audience.id.clone()),
            audience: Audience {
                id: AudienceId::new(&id),
                private_to: Some(person.to_owned()),
                ..self.audience.clone()
            },
            board: Board::default(),
            ..self.clone()
        }
    }

    /// Makes it a conversation of `person` and the bot alone.
    #[must_use]
    pub fn direct(mut self, person: &str) -> Self {
        self.audience.private_to = Some(person.to_owned());
        self
    }

    /// Sets the platform's name.
    #[must_use]
    pub fn on(mut self, platform: &'static str) -> Self {
        platform.clone_into(&mut self.audience.platform);
        self.platform = platform;
        self
    }

    #[must_use]
    pub fn with_limit(self, limit: TextLimit) -> Self {
        Self { limit, ..self }
    }

    #[must_use]
    pub fn with_pace(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    /// Sets the maximum size of files that are handed over, or why none can be.
    #[must_use]
    pub fn with_largest_file(self, largest: Result<u64, &str>) -> Self {
        Self {
            largest_file: largest.map_err(NotHandedOver::new),
            ..self
        }
    }

    /// Sets how long the test waits for an answer before it fails.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Lets `author` forget what others said, from now on.
    #[must_use]
    pub fn with_admin(mut self, author: &str) -> Self {
        self.admins.push(author.to_owned());
        self
    }

    /// Makes later messages not name the bot.
    #[must_use]
    pub fn unaddressed(self) -> Self {
        Self {
            addressed: Addressed::InConversation,
            ..self
        }
    }

    /// Makes later messages reply to this one.
    #[must_use]
    pub fn replying_to(self, event: &str) -> Self {
        Self {
            reply_to: Some(EventId::new(event)),
            ..self
        }
    }

    /// Says something to others, as an adapter delivers it: nothing if the bot does not hear them.
    /// Returns once it is durable, and whether the bot was told.
    ///
    /// # Panics
    /// As [`TestConversation::send`].
    pub async fn tell(&self, event: &str, author: &str, text: &str) -> bool {
        let message = self.message(event, author, Body::Text(text.to_owned()));
        self.overhear(message).await
    }

    /// As [`TestConversation::tell`], for any message.
    ///
    /// # Panics
    /// As [`TestConversation::send`].
    pub async fn overhear(&self, message: IncomingMessage) -> bool {
        if !self.inbox.hears(&self.audience.id) {
            return false;
        }
        let asked = format!("{:?} among people", message.event);
        let message = IncomingMessage {
            addressed: Addressed::Overheard,
            ..message
        };
        self.put(Incoming::Overheard(message), &asked).await;
        true
    }

    /// Sets to whom later messages are addressed.
    #[must_use]
    pub fn toward(self, toward: Addressees) -> Self {
        Self { toward, ..self }
    }

    /// Attaches this file to later messages too.
    #[must_use]
    pub fn with_file(mut self, name: &str, media_type: &str, content: &[u8]) -> Self {
        let attachment = Attachment {
            id: format!("file/{}", self.files.len()),
            name: name.to_owned(),
            media_type: media_type.to_owned(),
            size: Some(content.len() as u64),
        };
        self.files.push((attachment, content.to_vec()));
        self
    }

    /// Adds a message from before the bot joined.
    #[must_use]
    pub fn with_background(self, author: &str, text: &str) -> Self {
        self.with_background_of(None, author, text)
    }

    /// The same, with the message's event.
    #[must_use]
    pub fn with_background_of(mut self, event: Option<&str>, author: &str, text: &str) -> Self {
        self.background.said.push(PriorMessage {
            event: event.map(EventId::new),
            author_id: Some(author.to_owned()),
            author: author.to_owned(),
            text: text.to_owned(),
            at: Utc::now(),
        });
        self
    }

    /// Makes the earlier messages incomplete.
    #[must_use]
    pub fn with_background_cut(mut self, cut: Cut) -> Self {
        self.background.cut = Some(cut);
        self
    }

    /// Asks what the bot's last message was made from (`why`).
    ///
    /// # Panics
    /// Panics when there is none, or as [`TestConversation::say`].
    pub async fn why_last(&self, author: &str) -> Answer {
        let last = self.board.last().expect("the bot said something");
        let body = Body::Command(Command::WhyOf(last));
        self.deliver(&next_event(), author, body)
            .await
            .answer()
            .await
    }

    /// Presses a button of an item that the bot listed, and waits for the answer.
    ///
    /// # Panics
    /// As [`TestConversation::say`].
    pub async fn press(&self, author: &str, item: &ShownItem, deed: ItemDeed) -> Answer {
        let body = Body::Command(Command::Shown(item.clone(), deed));
        self.deliver(&next_event(), author, body)
            .await
            .answer()
            .await
    }

    /// Reacts to the bot's last message with yes or no, and does not wait.
    ///
    /// # Panics
    /// Panics when there is none, or as [`TestConversation::send`].
    pub async fn decide_last(&self, author: &str, is_yes: bool) -> Pending {
        let asked = self.board.last().expect("the bot said something");
        let body = Body::Command(Command::Decide { asked, is_yes });
        self.deliver(&next_event(), author, body).await
    }

    /// Asks for another answer in place of the bot's last message, as the event `event`, and does
    /// not wait.
    ///
    /// # Panics
    /// Panics when there is none, or as [`TestConversation::send`].
    pub async fn ask_again(&self, event: &str, author: &str) -> Pending {
        let last = self.board.last().expect("the bot said something");
        let body = Body::Command(Command::Again(last));
        self.deliver(event, author, body).await
    }

    /// Returns the conversations of a person whose ids begin with this one's.
    ///
    /// # Panics
    /// Panics when the bot does not tell.
    pub async fn sessions_of(&self, person: &str) -> Vec<OwnSession> {
        let (found, answer) = oneshot::channel();
        let incoming = Incoming::Sessions {
            person: person.to_owned(),
            prefix: self.conversation.to_string(),
            found,
        };
        self.put(incoming, "the sessions").await;
        let told = tokio::time::timeout(self.patience, answer).await;
        told.expect("in time").expect("the bot tells")
    }

    /// Returns the bot's messages as people see them now, including those in the room's other
    /// conversations.
    pub fn shown(&self) -> Vec<String> {
        self.board.texts()
    }

    /// Returns the bot's messages that only the person who asked sees.
    pub fn shown_privately(&self) -> Vec<String> {
        self.board.private_texts()
    }

    /// Returns the id of the bot's last message.
    ///
    /// # Panics
    /// Panics when there is none.
    pub fn last_message(&self) -> MessageId {
        self.board.last().expect("the bot said something")
    }

    /// Reports that the whole audience is gone from the platform, with all its conversations.
    ///
    /// # Panics
    /// As [`TestConversation::send`].
    pub async fn is_gone(&self) -> Pending {
        let place = Self {
            conversation: ConversationId::new(self.audience.id.as_str()),
            ..self.clone()
        };
        let body = Body::Command(Command::PlaceGone);
        place.deliver(&next_event(), "the platform", body).await
    }

    /// Sets the outcome of the next withdrawal of a message.
    pub fn refuse_next_withdrawal(&self, outcome: Withdrawn) {
        self.board.refuse(outcome);
    }

    /// Tells the bot that this platform is connected, as an adapter does.
    ///
    /// # Panics
    /// As [`TestConversation::send`].
    pub async fn connect(&self) {
        let incoming = Incoming::Connected {
            platform: self.platform,
            withdraw: Arc::new(self.board.clone()),
            announce: Arc::new(self.board.clone()),
        };
        self.put(incoming, "a connection").await;
    }

    /// Waits until a message of the bot with this text is in the room.
    ///
    /// # Panics
    /// Panics when none does in time.
    pub async fn shows(&self, text: &str) {
        let stands = async {
            while !self.shown().iter().any(|shown| shown.contains(text)) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let stands = tokio::time::timeout(self.patience, stands).await;
        assert!(
            stands.is_ok(),
            "{text:?} does not stand among {:?}",
            self.shown()
        );
    }

    /// Waits until no message of the bot with this text is in the room, also none that only the
    /// person who asked sees.
    ///
    /// # Panics
    /// Panics when one stays.
    pub async fn hides(&self, text: &str) {
        let has_it = |all: Vec<String>| all.iter().any(|shown| shown.contains(text));
        let gone = async {
            while has_it(self.shown()) || has_it(self.shown_privately()) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let gone = tokio::time::timeout(self.patience, gone).await;
        let all = [self.shown(), self.shown_privately()].concat();
        assert!(gone.is_ok(), "{text:?} stays among {all:?}");
    }

    /// Makes the next delivery fail: its `finish` returns an error.
    pub fn lose_next_delivery(&self) {
        self.lost_deliveries.fetch_add(1, Ordering::SeqCst);
    }

    /// Says something and waits for the answer.
    ///
    /// # Panics
    /// Panics when no answer comes in time, or the bot gives it up; so the test fails and says
    /// which.
    pub async fn say(&self, author: &str, text: &str) -> Answer {
        self.send(author, text).await.answer().await
    }

    /// As [`TestConversation::say`], with an event id of the caller's choice: the same id is the same event
    /// again.
    ///
    /// # Panics
    /// As [`TestConversation::say`].
    pub async fn say_as_event(&self, event: &str, author: &str, text: &str) -> Answer {
        self.send_as_event(event, author, text).await.answer().await
    }

    /// Gives a command (`"why"`, `"forget last"`) and waits for the answer.
    ///
    /// # Panics
    /// As [`TestConversation::say`].
    pub async fn command(&self, author: &str, command: &str) -> Answer {
        self.send_command(author, command).await.answer().await
    }

    /// Says something and does not wait.
    ///
    /// # Panics
    /// Panics when the bot takes nothing any more, or not in time.
    pub async fn send(&self, author: &str, text: &str) -> Pending {
        self.send_as_event(&next_event(), author, text).await
    }

    /// As [`TestConversation::send`], with an event id of the caller's choice.
    ///
    /// # Panics
    /// As [`TestConversation::send`].
    pub async fn send_as_event(&self, event: &str, author: &str, text: &str) -> Pending {
        let body = Body::Text(text.to_owned());
        self.deliver(event, author, body).await
    }

    /// As [`TestConversation::command`], and does not wait.
    ///
    /// # Panics
    /// As [`TestConversation::send`].
    pub async fn send_command(&self, author: &str, command: &str) -> Pending {
        let body = Body::Command(Command::parse(command));
        self.deliver(&next_event(), author, body).await
    }

    /// Edits an earlier message, and does not wait.
    ///
    /// # Panics
    /// As [`TestConversation::send`].
    pub async fn edit(&self, of: &str, author: &str, text: &str) -> Pending {
        let body = Body::Edit {
            of: EventId::new(of),
            text: text.to_owned(),
        };
        self.deliver(&next_event(), author, body).await
    }

    /// Deletes an earlier message, and does not wait.
    ///
    /// # Panics
    /// As [`TestConversation::send`].
    pub async fn delete(&self, of: &str, author: &str) -> Pending {
        let of = EventId::new(of);
        self.deliver(&next_event(), author, Body::Deletion { of })
            .await
    }

    /// Rates the bot's last message, as the event `event`.
    ///
    /// # Panics
    /// Panics when there is none, or the bot takes nothing any more.
    pub async fn react(&self, event: &str, person: &str, opinion: Opinion) {
        let answer = self.board.last().expect("the bot said something");
        let feedback = Feedback::Given {
            event: EventId::new(event),
            answer,
            person: person.to_owned(),
            opinion,
        };
        self.put_feedback(feedback).await;
    }

    /// Takes a rating back.
    ///
    /// # Panics
    /// As [`TestConversation::send`].
    pub async fn withdraw(&self, event: &str) {
        let event = EventId::new(event);
        self.put_feedback(Feedback::Withdrawn { event }).await;
    }

    async fn put_feedback(&self, feedback: Feedback) {
        let audience = self.audience.id.clone();
        let incoming = Incoming::Feedback { audience, feedback };
        self.put(incoming, "feedback").await;
    }

    /// Stops the turn in flight.
    ///
    /// # Panics
    /// As [`TestConversation::send`].
    pub async fn stop(&self) {
        self.put(Incoming::Stop(self.conversation.clone()), "a stop")
            .await;
    }

    /// Says that nobody waits for the answer to a message any more.
    ///
    /// # Panics
    /// As [`TestConversation::send`].
    pub async fn give_up(&self, event: &str) {
        let incoming = Incoming::GivenUp(EventId::new(event));
        self.put(incoming, "that nobody waits").await;
    }

    /// Returns the message as the bot would receive it, for tests below the inbox.
    pub fn message(&self, event: &str, author: &str, body: Body) -> IncomingMessage {
        let author = Author {
            id: author.to_owned(),
            name: author.to_owned(),
            is_admin: self.admins.iter().any(|admin| admin == author),
            time_zone: None,
            language: None,
        };
        IncomingMessage {
            also_recalls: self.also_recalls.clone(),
            addressed: self.addressed,
            toward: self.toward,
            attachments: self.files.iter().map(|(file, _)| file.clone()).collect(),
            reply_to: self.reply_to.clone(),
            link: Some(format!("https://chat.test/{event}")),
            ..IncomingMessage::new(
                EventId::new(event),
                self.conversation.clone(),
                self.audience.clone(),
                author,
                body,
            )
        }
    }

    /// Delivers a message that an earlier process left over.
    ///
    /// # Panics
    /// As [`TestConversation::send`].
    pub async fn redeliver(&self, message: IncomingMessage) -> Pending {
        let asked = format!("{message:?} once more");
        self.put_message(message, asked).await
    }

    async fn deliver(&self, event: &str, author: &str, body: Body) -> Pending {
        let asked = format!("{body:?} of {author} in {}", self.conversation);
        self.put_message(self.message(event, author, body), asked)
            .await
    }

    async fn put_message(&self, message: IncomingMessage, asked: String) -> Pending {
        let (sender, receiver) = watch::channel(pending::Delivery::default());
        let reply = Box::new(Recorder {
            limit: self.limit,
            pace: self.pace,
            delivery: sender,
            lost_deliveries: Arc::clone(&self.lost_deliveries),
            files: self.files.clone(),
            largest_file: self.largest_file.clone(),
            background: self.background.clone(),
            board: self.board.clone(),
            replaced: Delivered::default(),
        });
        self.put(Incoming::Message { message, reply }, &asked).await;
        Pending::new(asked, self.patience, receiver)
    }

    async fn put(&self, incoming: Incoming, what: &str) {
        match tokio::time::timeout(self.patience, self.inbox.deliver(incoming)).await {
            Ok(Ok(())) => {}
            Ok(Err(closed)) => panic!("nobody takes {what}: {closed}"),
            Err(_) => panic!("the inbox was full for {:?}: {what}", self.patience),
        }
    }
}

#[cfg(test)]
mod tests;
