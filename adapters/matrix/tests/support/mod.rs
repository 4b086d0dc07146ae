//! A bot that echoes, over the contract: what the real one keeps in its graph, it keeps in [`Memory`].
#![allow(
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "a test may panic, and each test binary uses a part of this"
)]

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use muninn_matrix::testing::{Account, Person};
use muninn_matrix::{Login, Matrix, Options};
use muninn_platform::{
    Addressed, Arrivals, Body, ConversationId, Delivered, EventId, Feedback, Inbox, Incoming,
    IncomingMessage, Platform, PlatformError, Reply, SafeText,
};
use secrecy::SecretString;
use tempfile::TempDir;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub const PATIENCE: Duration = Duration::from_secs(60);

/// What outlives a process of the bot.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    seen: HashSet<EventId>,
    takes_part: HashSet<ConversationId>,
    delivered: HashMap<EventId, Delivered>,
    unanswered: Vec<IncomingMessage>,
}

/// What reached the bot, for tests to look at.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub messages: Vec<IncomingMessage>,
    pub feedback: Vec<Feedback>,
    pub stops: Vec<ConversationId>,
    /// Event ids that came again.
    pub repeated: usize,
}

/// The account and folder of a bot, which can be run any number of times.
pub struct Home {
    pub homeserver: String,
    pub account: Account,
    pub options: Options,
    pub memory: Memory,
    folder: Arc<TempDir>,
}

impl Home {
    pub async fn new(homeserver: &str) -> Self {
        let account = Account::new(homeserver, "muninn").await;
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let login = Login::Password {
            user: account.user.to_string(),
            password: Some(SecretString::from(account.password.clone())),
        };
        let mut options = Options::new(homeserver, login, folder.path().join("matrix"));
        options.allow = "*".parse().unwrap();
        Self {
            homeserver: homeserver.to_owned(),
            account,
            options,
            memory: Memory::default(),
            folder,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.options.folder.join(name)
    }

    /// Starts the bot and waits until it listens.
    pub async fn start(&self) -> Running {
        let running = self.begin();
        running.listens().await;
        running
    }

    /// Starts the bot.
    pub fn begin(&self) -> Running {
        Running::new(self.options.clone(), self.memory.clone())
    }

    /// Starts it with something to set first.
    pub async fn start_with(&self, set: impl FnOnce(&mut Options)) -> Running {
        let mut options = self.options.clone();
        set(&mut options);
        let running = Running::new(options, self.memory.clone());
        running.listens().await;
        running
    }
}

/// A bot that runs.
pub struct Running {
    shutdown: CancellationToken,
    platform: Option<JoinHandle<Result<(), PlatformError>>>,
    bot: JoinHandle<()>,
    log: watch::Receiver<Log>,
    go_on: Arc<Notify>,
    place: PathBuf,
    started: Instant,
}

impl Running {
    fn new(options: Options, memory: Memory) -> Self {
        let place = options.folder.join("place.json");
        // So that `listens` waits for this run.
        let left_over = std::mem::take(&mut memory.0.lock().unwrap().unanswered);
        let (inbox, arrivals) = Inbox::with_left_over(64, left_over);
        let (sender, log) = watch::channel(Log::default());
        let go_on = Arc::new(Notify::new());
        let bot = tokio::spawn(echo(arrivals, memory, sender, Arc::clone(&go_on)));
        let shutdown = CancellationToken::new();
        let token = shutdown.clone();
        let platform = tokio::spawn(async move { Matrix::new(options).run(inbox, token).await });
        Self {
            shutdown,
            platform: Some(platform),
            bot,
            log,
            go_on,
            place,
            started: Instant::now(),
        }
    }

    /// Waits until it has read what there is.
    pub async fn listens(&self) {
        let begun = std::time::SystemTime::now() - self.started.elapsed();
        let listening = async {
            loop {
                let kept = std::fs::metadata(&self.place).and_then(|file| file.modified());
                if kept.is_ok_and(|kept| kept >= begun) {
                    return;
                }
                // A file says nothing when it changes.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, listening).await;
        assert!(in_time.is_ok(), "the bot does not listen");
    }

    /// What goes on when it is told to.
    pub fn go_on(&self) {
        self.go_on.notify_waiters();
    }

    pub fn log(&self) -> Log {
        self.log.borrow().clone()
    }

    /// Waits for something that reached the bot.
    pub async fn gets<T>(&self, what: &str, find: impl Fn(&Log) -> Option<T>) -> T {
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

    /// Ends it as a signal does.
    pub async fn stop(mut self) {
        self.shutdown.cancel();
        let platform = self.platform.take().unwrap();
        let ended = tokio::time::timeout(PATIENCE, platform).await;
        ended.expect("it ends").unwrap().expect("it ends well");
    }

    /// Ends it without a word; whatever it was doing is not done.
    pub async fn crash(mut self) {
        let platform = self.platform.take().unwrap();
        platform.abort();
        self.bot.abort();
        let _ = platform.await;
        let _ = (&mut self.bot).await;
    }

    /// Waits until it gives up, and says why.
    pub async fn gives_up(mut self) -> String {
        let platform = self.platform.take().unwrap();
        let ended = tokio::time::timeout(PATIENCE, platform).await;
        ended
            .expect("it gives up")
            .unwrap()
            .unwrap_err()
            .to_string()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shutdown.cancel();
        self.bot.abort();
        if let Some(platform) = self.platform.take() {
            platform.abort();
        }
    }
}

async fn echo(mut arrivals: Arrivals, memory: Memory, log: watch::Sender<Log>, go_on: Arc<Notify>) {
    // Ends with the bot.
    let mut answers = tokio::task::JoinSet::new();
    while let Some(arrival) = arrivals.recv().await {
        let (incoming, acceptance) = arrival.into_parts();
        match incoming {
            Incoming::Stop(conversation) => {
                log.send_modify(|log| log.stops.push(conversation));
                go_on.notify_waiters();
            }
            Incoming::Feedback { feedback, .. } => {
                log.send_modify(|log| log.feedback.push(feedback))
            }
            Incoming::Message { message, reply } => {
                if is_new(&message, &memory) {
                    memory.0.lock().unwrap().unanswered.push(message.clone());
                    log.send_modify(|log| log.messages.push(message.clone()));
                    let (memory, go_on) = (memory.clone(), Arc::clone(&go_on));
                    answers.spawn(answer(message, reply, memory, go_on));
                } else {
                    log.send_modify(|log| log.repeated += 1);
                }
            }
        }
        acceptance.give();
    }
    while answers.join_next().await.is_some() {}
}

/// Whether it is for the bot, and came for the first time.
fn is_new(message: &IncomingMessage, memory: &Memory) -> bool {
    let mut known = memory.0.lock().unwrap();
    let takes_part = known.takes_part.contains(&message.conversation);
    let is_meant = match (&message.body, message.addressed) {
        (Body::Edit { of, .. } | Body::Deletion { of }, _) => known.delivered.contains_key(of),
        (Body::Text(_) | Body::Command(_), Addressed::Directly) => true,
        (Body::Text(_) | Body::Command(_), Addressed::InConversation) => takes_part,
    };
    is_meant && known.seen.insert(message.event.clone())
}

async fn answer(
    message: IncomingMessage,
    mut reply: Box<dyn Reply>,
    memory: Memory,
    go_on: Arc<Notify>,
) {
    reply.working().await;
    let earlier = |of: &EventId| memory.0.lock().unwrap().delivered.get(of).cloned();
    let (text, of) = match &message.body {
        Body::Command(command) => (format!("command: {command:?}"), None),
        Body::Text(text) if !message.attachments.is_empty() => {
            (files(&message, text, reply.as_mut()).await, None)
        }
        Body::Text(text) => match scripted(text, reply.as_mut(), &go_on).await {
            Some(text) => (text, None),
            None => return done(&message, &memory, None, None),
        },
        Body::Edit { of, text } => {
            reply.replace(earlier(of).unwrap_or_default());
            (format!("echo: {text}"), Some(of))
        }
        Body::Deletion { of } => {
            let retracted = reply.retract(&earlier(of).unwrap_or_default()).await;
            retracted.unwrap();
            return done(&message, &memory, None, None);
        }
    };
    let parts = SafeText::new(&text).split(reply.limit());
    // What is not delivered stays unanswered, as in the real bot.
    if let Ok(delivered) = reply.finish(&parts).await {
        done(&message, &memory, of, Some(delivered));
    }
}

fn done(
    message: &IncomingMessage,
    memory: &Memory,
    of: Option<&EventId>,
    delivered: Option<Delivered>,
) {
    let mut known = memory.0.lock().unwrap();
    known.unanswered.retain(|open| open.event != message.event);
    known.takes_part.insert(message.conversation.clone());
    if let Some(delivered) = delivered {
        let of = of.unwrap_or(&message.event).clone();
        known.delivered.insert(of, delivered);
    }
}

/// The answer, unless there is none.
async fn scripted(text: &str, reply: &mut dyn Reply, go_on: &Notify) -> Option<String> {
    match text.split_once(' ').unwrap_or((text, "")) {
        ("long", length) => {
            let lines = length.parse().unwrap_or(1);
            Some(
                (0..lines)
                    .map(|line| format!("{line} *x* \"quoted\" <b>\n"))
                    .collect(),
            )
        }
        ("table", _) => {
            Some("| a | b |\n|---|---|\n| 1 | **2** |\n\n```rust\nfn f() {}\n```".to_owned())
        }
        ("grow", words) => {
            // Shown while it waits.
            let waiting = go_on.notified();
            reply.update(&SafeText::streaming("so far ")).await;
            waiting.await;
            Some(format!("echo: {words}"))
        }
        ("wait", words) => {
            go_on.notified().await;
            Some(format!("echo: {words}"))
        }
        ("drop", _) => {
            reply.update(&SafeText::streaming("to be dropped ")).await;
            go_on.notified().await;
            None
        }
        ("stream", words) => {
            let pace = reply.pace().update_every;
            for end in 1..=3 {
                reply.update(&SafeText::new(&format!("step {end}"))).await;
                tokio::time::sleep(pace + Duration::from_millis(50)).await;
            }
            Some(format!("echo: {words}"))
        }
        _ => Some(format!("echo: {text}")),
    }
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

/// A homeserver, a bot on it that listens, and a person.
pub async fn bot_and_ann() -> Option<(Home, Running, Person)> {
    let homeserver = homeserver()?;
    let home = Home::new(&homeserver).await;
    let running = home.start().await;
    let ann = Person::new(&homeserver, "ann").await;
    Some((home, running, ann))
}

/// The homeserver to test with, if there is one.
pub fn homeserver() -> Option<String> {
    let found = muninn_matrix::testing::homeserver();
    if found.is_none() {
        #[expect(clippy::print_stderr, reason = "says that nothing was tested")]
        {
            eprintln!("not tested: SYNAPSE_TEST_URL is not set");
        }
    }
    found
}
