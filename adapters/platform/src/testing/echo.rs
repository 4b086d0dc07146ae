//! An echo bot for adapters' own tests. What the real bot keeps in its graph and its ledger, it
//! keeps in an [`EchoMemory`].
//!
//! | Said | EchoAnswer |
//! |---|---|
//! | `wait …` | `echo: …`, when [`EchoBot::go_on`] says so |
//! | `grow …` | the same, and shows `so far` meanwhile |
//! | `drop …` | shows `to be dropped`, and gives it up when it is to go on |
//! | `stream …` | `step 1`, `step 2`, `step 3` at the platform's pace, then `echo: …` |
//! | `long N` | N lines, each with its number |
//! | `table` | a table and a block of code |
//! | `hand over …` | where the one who asked finds a file `mine.json` with the words, and another, `mine.md` |
//! | `confide …` | `echo: …`, to the one who asked alone |
//! | `items` | a list of two things, each of which can be forgotten and corrected |
//! | `background` | what was said before the bot came |
//! | `say …` | nothing but the words themselves |
//! | `forget` | `forgotten`, when everything it said before is taken away; else what stays, and why |
//! | anything else | `echo: …`; of a message with files, `file: …` with what is in them |

mod memory;
mod script;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    Announce, Announced, Arrivals, AudienceId, Body, Command, ConversationId, Delivered, Feedback,
    Inbox, Incoming, IncomingMessage, Platform, PlatformError, PrivateFallback, Reply, SafeText,
};

use self::memory::EchoAnswer;
pub use self::memory::EchoMemory;
use self::script::{files, scripted, take_away, take_back};

/// Longer than anything takes, also on a loaded machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The default inbox capacity of the real bot.
const INBOX: usize = 256;

/// The default number of messages that the real bot answers at a time; the others wait.
const IN_FLIGHT: usize = 32;

/// What reached the bot, for tests to check.
#[derive(Clone, Debug, Default)]
pub struct EchoLog {
    pub messages: Vec<IncomingMessage>,
    /// Messages between people.
    pub overheard: Vec<IncomingMessage>,
    pub feedback: Vec<(AudienceId, Feedback)>,
    pub stops: Vec<ConversationId>,
    /// Errors of answers that could not be delivered.
    pub errors: Vec<String>,
    /// Number of repeated deliveries.
    pub repeated: usize,
    /// How often the platform reported its connection.
    pub connected: usize,
    /// Number of messages that were handled, with their answers kept.
    pub answered: usize,
}

impl EchoLog {
    /// Returns the texts of overheard messages, in order.
    pub fn overheard_texts(&self) -> Vec<String> {
        let all = self.overheard.iter().map(|it| match &it.body {
            Body::Text(text) => text.clone(),
            other => format!("{other:?}"),
        });
        all.collect()
    }
}

/// Posts announcements, once the platform is connected.
#[derive(Clone, Default)]
struct Announcer(Arc<Mutex<Option<Arc<dyn Announce>>>>);

impl std::fmt::Debug for Announcer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Announcer").finish_non_exhaustive()
    }
}

/// A bot that runs on a platform.
#[derive(Debug)]
pub struct EchoBot {
    shutdown: CancellationToken,
    platform: Option<JoinHandle<Result<(), PlatformError>>>,
    /// Its own runtime, so that it can end without finishing anything.
    runtime: Option<Runtime>,
    log: watch::Receiver<EchoLog>,
    go_on: watch::Sender<()>,
    announcer: Announcer,
}

impl EchoBot {
    /// Starts the bot, with the left-over messages of an earlier one.
    ///
    /// # Panics
    /// Panics when the machine cannot start its threads.
    pub fn start(platform: impl Platform + 'static, memory: &EchoMemory) -> Self {
        let (inbox, arrivals) = Inbox::with_left_over(INBOX, memory.leave_over());
        let inbox = inbox.with_heard_audiences(memory.heard().clone());
        let (sender, log) = watch::channel(EchoLog::default());
        let go_on = watch::Sender::new(());
        let runtime = Runtime::new().expect("threads for the bot");
        let announcer = Announcer::default();
        let echo = Echo {
            announcer: announcer.clone(),
            memory: memory.clone(),
            log: sender,
            go_on: go_on.clone(),
            places: Arc::new(Semaphore::new(IN_FLIGHT)),
        };
        runtime.spawn(echo.run(arrivals));
        let shutdown = CancellationToken::new();
        let token = shutdown.clone();
        let platform = runtime.spawn(async move { platform.run(inbox, token).await });
        Self {
            shutdown,
            platform: Some(platform),
            runtime: Some(runtime),
            log,
            go_on,
            announcer,
        }
    }

    /// Posts an announcement.
    ///
    /// # Panics
    /// Panics when the platform was not reached yet.
    pub async fn announce(&self, audience: &AudienceId, text: &str) -> Announced {
        let announcer = self.announcer.0.lock().clone();
        let announcer = announcer.expect("the platform was reached");
        announcer.announce(audience, &SafeText::new(text)).await
    }

    /// Lets waiting answers continue.
    pub fn go_on(&self) {
        self.go_on.send_replace(());
    }

    pub fn log(&self) -> EchoLog {
        self.log.borrow().clone()
    }

    /// Waits for a message to the bot.
    ///
    /// # Panics
    /// Panics when it is not in time.
    pub async fn hears(&self) -> IncomingMessage {
        self.hears_number(1).await
    }

    /// Waits for the message with this number, counted from 1.
    ///
    /// # Panics
    /// Panics when it does not come in time.
    pub async fn hears_number(&self, number: usize) -> IncomingMessage {
        let told = |log: &EchoLog| log.messages.get(number - 1).cloned();
        self.gets(&format!("message {number}"), told).await
    }

    /// Waits for something that reached the bot.
    ///
    /// # Panics
    /// Panics when it does not come in time.
    pub async fn gets<T>(&self, what: &str, find: impl Fn(&EchoLog) -> Option<T>) -> T {
        let mut log = self.log.clone();
        let mut found = None;
        let looked = log.wait_for(|log| {
            found = find(log);
            found.is_some()
        });
        let looked = tokio::time::timeout(TIMEOUT, looked).await.is_ok();
        match found {
            Some(found) if looked => found,
            _ => panic!("the bot did not get {what}: {:#?}", self.log()),
        }
    }

    /// Ends the bot as a signal does. Returns all that reached it.
    ///
    /// # Panics
    /// Panics when it does not end in time, or not well.
    pub async fn stop(mut self) -> EchoLog {
        self.ends().await;
        self.log()
    }

    /// As [`EchoBot::stop`], for a bot that may be replaced by another, or that already ended.
    ///
    /// # Panics
    /// Panics when it does not end in time, or not well.
    pub async fn ends(&mut self) {
        self.shutdown.cancel();
        if self.platform.is_some() {
            self.ended().await.expect("it ends well");
        }
        // What announces holds the platform's client, and with it files that are open.
        self.announcer.0.lock().take();
    }

    /// Ends the bot as `kill -9` does: nothing is finished or taken back. Returns once it writes to
    /// no file any more.
    ///
    /// # Panics
    /// Panics when it does not end.
    pub fn crash(mut self) {
        self.dies();
    }

    /// As [`EchoBot::crash`], for a bot that is replaced by another.
    ///
    /// # Panics
    /// Panics when it does not end.
    pub fn dies(&mut self) {
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        // A runtime must not be waited for within another one.
        let ended = std::thread::spawn(move || runtime.shutdown_timeout(TIMEOUT));
        ended.join().expect("the bot's threads end");
    }

    /// Waits until the bot gives up, and returns the reason.
    ///
    /// # Panics
    /// Panics when it does not, or ends well.
    pub async fn gives_up(mut self) -> String {
        self.ended().await.expect_err("it gives up").to_string()
    }

    async fn ended(&mut self) -> Result<(), PlatformError> {
        let platform = self.platform.take().expect("it is ended once");
        let ended = tokio::time::timeout(TIMEOUT, platform).await;
        ended.expect("it ends in time").expect("it does not panic")
    }

    fn abandon(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for EchoBot {
    fn drop(&mut self) {
        self.abandon();
    }
}

#[derive(Clone)]
struct Echo {
    memory: EchoMemory,
    log: watch::Sender<EchoLog>,
    go_on: watch::Sender<()>,
    announcer: Announcer,
    places: Arc<Semaphore>,
}

impl Echo {
    async fn run(self, mut arrivals: Arrivals) {
        // Ends with the bot.
        let mut answers = JoinSet::new();
        while let Some(arrival) = arrivals.recv().await {
            let (incoming, ack) = arrival.into_parts();
            match incoming {
                Incoming::Stop(conversation) => {
                    self.log.send_modify(|log| log.stops.push(conversation));
                    self.go_on.send_replace(());
                }
                Incoming::GivenUp(_) => {}
                Incoming::Sessions {
                    person,
                    prefix,
                    found,
                } => drop(found.send(self.memory.sessions(&person, &prefix))),
                Incoming::Conversations { prefix, found, .. } => {
                    if let Some(all) = self.memory.conversations(&prefix) {
                        drop(found.send(all));
                    }
                }
                Incoming::Kept {
                    audience, found, ..
                } => {
                    if let Some(kept) = self.memory.kept(&audience) {
                        drop(found.send(kept));
                    }
                }
                Incoming::Overheard(message) => {
                    self.memory.keep(&message);
                    self.log.send_modify(|log| log.overheard.push(message));
                }
                Incoming::Connected { announce, .. } => {
                    *self.announcer.0.lock() = Some(announce);
                    self.log.send_modify(|log| log.connected += 1);
                }
                Incoming::Feedback { audience, feedback } => self
                    .log
                    .send_modify(|log| log.feedback.push((audience, feedback))),
                Incoming::Message { message, .. } if !self.memory.is_new(&message) => {
                    self.log.send_modify(|log| log.repeated += 1);
                }
                Incoming::Message { message, reply } => {
                    // Subscribes before the message is in the log: whoever sees it there may call
                    // `go_on`.
                    let go_on = self.go_on.subscribe();
                    self.log
                        .send_modify(|log| log.messages.push(message.clone()));
                    let echo = self.clone();
                    answers.spawn(async move { echo.serve(message, reply, go_on).await });
                }
            }
            ack.ack();
        }
        while answers.join_next().await.is_some() {}
    }

    async fn serve(
        self,
        message: IncomingMessage,
        reply: Box<dyn Reply>,
        go_on: watch::Receiver<()>,
    ) {
        // The semaphore is never closed, so a permit will come.
        let _place = self.places.acquire().await;
        match self.answer(&message, reply, go_on).await {
            Ok(()) => self.log.send_modify(|log| log.answered += 1),
            // As with the real bot, an undelivered answer leaves the question unanswered.
            Err(error) => {
                let error = error.to_string();
                self.log.send_modify(|log| log.errors.push(error));
            }
        }
    }

    async fn answer(
        &self,
        message: &IncomingMessage,
        mut reply: Box<dyn Reply>,
        go_on: watch::Receiver<()>,
    ) -> Result<(), PlatformError> {
        reply.show_typing().await;
        let memory = &self.memory;
        if let Body::Edit { of, .. } | Body::Deletion { of } = &message.body {
            // As with the real bot, a command about a message waits for its answer.
            let mut log = self.log.subscribe();
            let answered = log.wait_for(|_| !memory.is_in_flight(of));
            let _ = tokio::time::timeout(TIMEOUT, answered).await;
        }
        let mut asker = message.author.id.clone();
        let (text, of) = match &message.body {
            Body::Command(Command::Again(answer)) => match memory.answered_by(answer) {
                Some((event, earlier)) if earlier.is_theirs_to_repeat(message) => {
                    asker = earlier.author;
                    reply.replace(earlier.delivered);
                    (format!("{} again", earlier.text), event)
                }
                Some(_) => ("somebody else asked".to_owned(), message.event.clone()),
                None => ("no such answer".to_owned(), message.event.clone()),
            },
            Body::Command(command) => (format!("command: {command:?}"), message.event.clone()),
            Body::Text(text) if text == "forget" => {
                let said = take_away(memory.forget(), reply.as_ref()).await;
                (said, message.event.clone())
            }
            Body::Text(text) if !message.attachments.is_empty() => {
                let said = files(message, text, reply.as_mut()).await;
                (said, message.event.clone())
            }
            Body::Text(text) => match scripted(text, reply.as_mut(), go_on).await {
                Some(text) => (text, message.event.clone()),
                None => {
                    memory.done(message, None);
                    return Ok(());
                }
            },
            Body::Edit { of, text } => {
                let earlier = memory.answer_of(of).map(|answered| answered.delivered);
                reply.replace(earlier.unwrap_or_default());
                (format!("echo: {text}"), of.clone())
            }
            Body::Deletion { of } => {
                if take_back(message, of, memory.answer_of(of), reply.as_ref()).await {
                    memory.done(message, None);
                }
                return Ok(());
            }
        };
        let parts = SafeText::new(&text).split(reply.limit());
        if matches!(&message.body, Body::Text(text) if text.starts_with("confide ")) {
            memory.done(message, None);
            return reply
                .finish_privately(&parts, PrivateFallback::Nowhere)
                .await
                .map(drop);
        }
        let mut delivered = reply.finish(&parts).await?;
        if matches!(&message.body, Body::Text(text) if text.starts_with(UNKEPT)) {
            delivered = Delivered::default();
        }
        let answered = EchoAnswer {
            text,
            conversation: message.conversation.clone(),
            author: asker,
            delivered,
        };
        memory.done(message, Some((of, answered)));
        Ok(())
    }
}

/// The delivery of an answer to this is not recorded, as when a process is killed before that.
const UNKEPT: &str = "unkept";
