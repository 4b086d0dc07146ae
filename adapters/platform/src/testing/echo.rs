//! An echo bot for adapters' own tests. What the real bot keeps in its graph and its ledger, it
//! keeps in an [`EchoMemory`].
//!
//! | Said | Answered |
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

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    Addressed, Announce, Announced, Arrivals, AudienceId, Body, ChannelMemory, Command,
    ConversationId, Delivered, EventId, Feedback, HeardAudiences, Inbox, Incoming, IncomingMessage,
    KeptMessage, Language, MessageId, Otherwise, OwnSession, Platform, PlatformError, Reply,
    SafeText, ShownItem, Withdrawn,
};

/// Longer than anything takes, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The default inbox capacity of the real bot.
const INBOX: usize = 256;

/// The default number of messages that the real bot answers at a time; the others wait.
const IN_FLIGHT: usize = 32;

/// State that outlives a process of the bot.
#[derive(Clone, Debug, Default)]
pub struct EchoMemory(Arc<Mutex<Known>>, HeardAudiences);

#[derive(Debug, Default)]
struct Known {
    seen: HashSet<EventId>,
    takes_part: HashSet<ConversationId>,
    answered: HashMap<EventId, Answered>,
    unanswered: Vec<IncomingMessage>,
    sessions: Vec<(String, OwnSession)>,
    kept: Vec<(AudienceId, KeptMessage)>,
}

#[derive(Clone, Debug)]
struct Answered {
    text: String,
    conversation: ConversationId,
    /// The id of the one who asked.
    author: String,
    delivered: Delivered,
}

impl EchoMemory {
    /// Returns the heard audiences.
    pub fn heard(&self) -> &HeardAudiences {
        &self.1
    }

    /// Makes an audience heard, from now on.
    pub fn remembers_talk_of(&self, audience: &AudienceId) {
        self.1.set(audience, ChannelMemory::Channel);
    }

    /// Returns the messages that were accepted and not answered; they may be delivered again.
    fn leave_over(&self) -> Vec<IncomingMessage> {
        let mut known = self.0.lock();
        let left_over = std::mem::take(&mut known.unanswered);
        for message in &left_over {
            known.seen.remove(&message.event);
        }
        left_over
    }

    /// Whether a message is for the bot, and new.
    fn is_new(&self, message: &IncomingMessage) -> bool {
        let mut known = self.0.lock();
        let takes_part = known.takes_part.contains(&message.conversation);
        let is_meant = match (&message.body, message.addressed) {
            (Body::Edit { of, .. }, _) => known.answered.contains_key(of) || known.is_in_flight(of),
            (Body::Deletion { of }, _) => known.question(of).is_some() || known.is_in_flight(of),
            // A place can be gone whether anything was said in it or not.
            (Body::Command(Command::PlaceGone), _)
            | (Body::Text(_) | Body::Command(_), Addressed::Directly) => true,
            (Body::Text(_) | Body::Command(_), Addressed::InConversation) => takes_part,
            (Body::Text(_) | Body::Command(_), Addressed::Overheard) => false,
        };
        let is_new = is_meant && known.seen.insert(message.event.clone());
        if is_new {
            known.keep(message);
            // As with the real bot, the next message of a conversation waits until this one is
            // kept.
            known.takes_part.insert(message.conversation.clone());
            known.unanswered.push(message.clone());
        }
        is_new
    }

    fn is_in_flight(&self, event: &EventId) -> bool {
        self.0.lock().is_in_flight(event)
    }

    fn answer_of(&self, event: &EventId) -> Option<Answered> {
        let known = self.0.lock();
        let answered = known.question(event)?;
        known.answered.get(answered).cloned()
    }

    /// Returns the question that a message answered, and its answer.
    fn answered_by(&self, message: &MessageId) -> Option<(EventId, Answered)> {
        let known = self.0.lock();
        let mut answered = known.answered.iter();
        let found = answered.find(|(_, answered)| answered.delivered.0.contains(message));
        found.map(|(event, answered)| (event.clone(), answered.clone()))
    }

    /// Returns all answers and forgets them.
    fn forget(&self) -> Vec<Answered> {
        let mut known = self.0.lock();
        known
            .answered
            .drain()
            .map(|(_, answered)| answered)
            .collect()
    }

    /// Records that a message was handled, with the answer to its event if there was one.
    fn done(&self, message: &IncomingMessage, answer: Option<(EventId, Answered)>) {
        let mut known = self.0.lock();
        known.unanswered.retain(|open| open.event != message.event);
        if let Body::Text(text) = &message.body {
            known.note_session(message, text);
        }
        known.answered.extend(answer);
    }

    fn kept(&self, audience: &AudienceId) -> Vec<KeptMessage> {
        let known = self.0.lock();
        let there = known.kept.iter().filter(|(of, _)| of == audience);
        there.map(|(_, kept)| kept.clone()).collect()
    }

    fn conversations(&self, prefix: &str) -> Vec<ConversationId> {
        let known = self.0.lock();
        let all = known.takes_part.iter();
        all.filter(|it| it.as_str().starts_with(prefix))
            .cloned()
            .collect()
    }

    fn sessions(&self, person: &str, prefix: &str) -> Vec<OwnSession> {
        let known = self.0.lock();
        let mine = known.sessions.iter().rev().filter(|(author, session)| {
            author == person && session.conversation.as_str().starts_with(prefix)
        });
        mine.map(|(_, session)| session.clone())
            .take(Incoming::MOST_SESSIONS)
            .collect()
    }
}

impl Known {
    /// Keeps a message.
    fn keep(&mut self, message: &IncomingMessage) {
        if matches!(message.body, Body::Text(_)) {
            let kept = KeptMessage {
                event: message.event.clone(),
                conversation: message.conversation.clone(),
            };
            let audience = message.audience.id.clone();
            self.kept.push((audience, kept));
        }
    }

    /// Whether a message is in flight: its answer may be posted before that is recorded here.
    fn is_in_flight(&self, event: &EventId) -> bool {
        self.unanswered.iter().any(|open| open.event == *event)
    }

    /// Returns the question with this event, or the one that this message answered.
    fn question<'a>(&'a self, event: &'a EventId) -> Option<&'a EventId> {
        if self.answered.contains_key(event) {
            return Some(event);
        }
        let messages: Vec<MessageId> = event.as_messages().collect();
        let is_it = |answered: &Answered| {
            let mut delivered = answered.delivered.0.iter();
            delivered.any(|message| messages.contains(message))
        };
        let mut answered = self.answered.iter();
        answered.find(|(_, answer)| is_it(answer)).map(|(of, _)| of)
    }

    fn note_session(&mut self, message: &IncomingMessage, text: &str) {
        let is_it = |(author, session): &&mut (String, OwnSession)| {
            *author == message.author.id && session.conversation == message.conversation
        };
        if let Some((_, session)) = self.sessions.iter_mut().find(is_it) {
            session.turns += 1;
            session.last_at = message.sent_at;
            return;
        }
        let session = OwnSession {
            conversation: message.conversation.clone(),
            title: text.to_owned(),
            turns: 1,
            last_at: message.sent_at,
        };
        self.sessions.push((message.author.id.clone(), session));
    }
}

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
        let looked = tokio::time::timeout(PATIENCE, looked).await.is_ok();
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
        let ended = std::thread::spawn(move || runtime.shutdown_timeout(PATIENCE));
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
        let ended = tokio::time::timeout(PATIENCE, platform).await;
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
                Incoming::Sessions {
                    person,
                    prefix,
                    found,
                } => drop(found.send(self.memory.sessions(&person, &prefix))),
                Incoming::Conversations { prefix, found, .. } => {
                    drop(found.send(self.memory.conversations(&prefix)));
                }
                Incoming::Kept {
                    audience, found, ..
                } => drop(found.send(self.memory.kept(&audience))),
                Incoming::Overheard(message) => {
                    self.memory.0.lock().keep(&message);
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
            let _ = tokio::time::timeout(PATIENCE, answered).await;
        }
        let mut asker = message.author.id.clone();
        let (text, of) = match &message.body {
            Body::Command(Command::Again(answer)) => match memory.answered_by(answer) {
                Some((
                    event,
                    Answered {
                        text,
                        delivered,
                        author,
                        ..
                    },
                )) if author == message.author.id || message.may_moderate(&message.audience.id) => {
                    asker = author;
                    reply.replace(delivered);
                    (format!("{text} again"), event)
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
                let answered = memory.answer_of(of);
                let (conversation, mut gone) = answered.map_or_else(
                    || (message.conversation.clone(), Delivered::default()),
                    |answered| (answered.conversation, answered.delivered),
                );
                let withdrawer = reply.withdrawer();
                if gone.0.is_empty() {
                    let found = withdrawer.find_answer(&conversation, of).await;
                    gone = Delivered(found.unwrap_or_default());
                }
                for answer in &gone.0 {
                    let withdrawn = withdrawer.withdraw(&conversation, answer);
                    if withdrawn.await != Withdrawn::Gone {
                        return Ok(());
                    }
                }
                withdrawer.clear_title(&conversation).await;
                memory.done(message, None);
                return Ok(());
            }
        };
        let parts = SafeText::new(&text).split(reply.limit());
        if matches!(&message.body, Body::Text(text) if text.starts_with("confide ")) {
            memory.done(message, None);
            return reply.finish_privately(&parts, Otherwise::Nowhere).await;
        }
        let mut delivered = reply.finish(&parts).await?;
        if matches!(&message.body, Body::Text(text) if text.starts_with(UNKEPT)) {
            delivered = Delivered::default();
        }
        let answered = Answered {
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

/// Withdraws all of it. Returns what stays.
async fn take_away(said: Vec<Answered>, reply: &dyn Reply) -> String {
    let withdrawer = reply.withdrawer();
    let mut stays = Vec::new();
    for answered in said {
        for message in &answered.delivered.0 {
            match withdrawer.withdraw(&answered.conversation, message).await {
                Withdrawn::Gone => {}
                Withdrawn::NotYet => stays.push("later".to_owned()),
                Withdrawn::Stays(why) => stays.push(why.in_language(Language::English)),
            }
        }
        withdrawer.clear_title(&answered.conversation).await;
    }
    if stays.is_empty() {
        return "forgotten".to_owned();
    }
    format!("{} stay, because {}", stays.len(), stays.join("; "))
}

/// Returns the answer, unless there is none.
async fn scripted(
    text: &str,
    reply: &mut dyn Reply,
    mut go_on: watch::Receiver<()>,
) -> Option<String> {
    let (word, words) = text.split_once(' ').unwrap_or((text, ""));
    match word {
        "say" => return Some(words.to_owned()),
        "long" => {
            let line = |line| format!("{line} *x* \"quoted\" <b>\n");
            return Some((0..words.parse().unwrap_or(1)).map(line).collect());
        }
        "table" => {
            let table = "| a | b |\n|---|---|\n| 1 | **2** |\n\n```rust\nfn f() {}\n```";
            return Some(table.to_owned());
        }
        "background" => return Some(prior(reply, words).await),
        "items" => return Some(items(reply)),
        "propose" => {
            reply.offer_items(&[item(0)]);
            return Some("Shall I do this?".to_owned());
        }
        "hand" => return Some(hand_over(words, reply).await),
        "grow" => {
            reply.update(&SafeText::streaming("so far ")).await;
            told_to(&mut go_on).await;
        }
        "wait" => told_to(&mut go_on).await,
        "drop" => {
            reply.update(&SafeText::streaming("to be dropped ")).await;
            told_to(&mut go_on).await;
            return None;
        }
        "stream" => {
            let pace = reply.pace().update_every;
            for end in 1..=3 {
                reply.update(&SafeText::new(&format!("step {end}"))).await;
                tokio::time::sleep(pace + Duration::from_millis(50)).await;
            }
        }
        _ => return Some(format!("echo: {text}")),
    }
    Some(format!("echo: {words}"))
}

fn item(number: u32) -> ShownItem {
    ShownItem {
        number,
        id: format!("0192f0c4-3b5e-7c11-8f00-00000000000{number}"),
        version: 7,
    }
}

fn items(reply: &mut dyn Reply) -> String {
    reply.offer_items(&[item(1), item(2)]);
    "1. the kettle\n2. the ladder".to_owned()
}

/// Hands two files over to the one who asks, and returns the outcome.
async fn hand_over(words: &str, reply: &mut dyn Reply) -> String {
    let words = words.strip_prefix("over ").unwrap_or(words);
    let files = [
        super::own_file("mine.json", "application/json", words.as_bytes()),
        super::own_file("mine.md", "text/markdown", b"# Mine\n"),
    ];
    if let Err(why) = reply.largest_file().await {
        return format!("not handed over: {why}");
    }
    match reply.hand_over(&files).await {
        Ok(place) => format!("handed over: {place:?}"),
        Err(why) => format!("not handed over: {why}"),
    }
}

/// Returns once the bot is told to continue, or ends.
async fn told_to(go_on: &mut watch::Receiver<()>) {
    let _ = go_on.changed().await;
}

/// Returns what was said before; `counted`: only the first and the last, with the number between.
async fn prior(reply: &mut dyn Reply, words: &str) -> String {
    let prior = reply.prior_messages().await;
    let lines = prior.said.iter();
    let mut lines: Vec<String> = lines
        .map(|said| format!("{}: {}", said.author, said.text))
        .collect();
    if words == "counted" && lines.len() > 2 {
        let (first, last) = (lines.remove(0), lines.pop().unwrap_or_default());
        lines = vec![first, format!("{} between", lines.len()), last];
    }
    if let Some(cut) = prior.cut {
        lines.push(format!("({cut})"));
    }
    format!("overheard:\n{}", lines.join("\n"))
}

async fn files(message: &IncomingMessage, text: &str, reply: &mut dyn Reply) -> String {
    let mut said = format!("file: {text}");
    for file in &message.attachments {
        let read = reply.download(file, 1000).await;
        let content = match read {
            Ok(content) => format!(
                "{} bytes, {}",
                content.len(),
                String::from_utf8_lossy(&content)
            ),
            Err(error) => error.to_string(),
        };
        said.push_str(&format!("\n{} ({}): {content}", file.name, file.media_type));
    }
    said
}
