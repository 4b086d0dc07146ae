//! A bot that echoes, over the contract: what the real one keeps in its graph, it keeps in [`Memory`].

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
use tokio::runtime::Runtime;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What outlives a process of the bot.
#[derive(Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<Known>>);

impl Memory {
    /// What was accepted and not answered, which may come once more.
    fn leave_over(&self) -> Vec<IncomingMessage> {
        let mut known = self.0.lock().unwrap();
        let left_over = std::mem::take(&mut known.unanswered);
        for message in &left_over {
            known.seen.remove(&message.event);
        }
        left_over
    }
}

#[derive(Default)]
struct Known {
    seen: HashSet<EventId>,
    takes_part: HashSet<ConversationId>,
    delivered: HashMap<EventId, Delivered>,
    unanswered: Vec<IncomingMessage>,
}

/// What reached the bot, for tests to look at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) messages: Vec<IncomingMessage>,
    pub(crate) feedback: Vec<Feedback>,
    pub(crate) stops: Vec<ConversationId>,
    /// Answers that could not be delivered, and why.
    pub(crate) errors: Vec<String>,
    /// Event ids that came again.
    pub(crate) repeated: usize,
}

/// The account and folder of a bot, which can be run any number of times.
pub(crate) struct Home {
    pub(crate) homeserver: String,
    pub(crate) account: Account,
    pub(crate) options: Options,
    pub(crate) memory: Memory,
    pub(crate) folder: Arc<TempDir>,
}

impl Home {
    pub(crate) async fn new(homeserver: &str) -> Self {
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

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.options.folder.join(name)
    }

    /// Starts the bot and waits until it listens.
    pub(crate) async fn start(&self) -> Running {
        let running = self.begin();
        running.listens().await;
        running
    }

    /// Starts the bot.
    pub(crate) fn begin(&self) -> Running {
        Running::new(self.options.clone(), self.memory.clone())
    }

    /// Starts it with something to set first.
    pub(crate) async fn start_with(&self, set: impl FnOnce(&mut Options)) -> Running {
        let mut options = self.options.clone();
        set(&mut options);
        let running = Running::new(options, self.memory.clone());
        running.listens().await;
        running
    }
}

/// A bot that runs.
pub(crate) struct Running {
    shutdown: CancellationToken,
    platform: Option<JoinHandle<Result<(), PlatformError>>>,
    /// Its own, so that it can end without anything of it being finished.
    runtime: Option<Runtime>,
    log: watch::Receiver<Log>,
    go_on: Arc<Notify>,
    place: PathBuf,
    started: Instant,
}

impl Running {
    fn new(options: Options, memory: Memory) -> Self {
        let place = options.folder.join("place.json");
        // So that `listens` waits for this run.
        let left_over = memory.leave_over();
        let (inbox, arrivals) = Inbox::with_left_over(64, left_over);
        let (sender, log) = watch::channel(Log::default());
        let go_on = Arc::new(Notify::new());
        let runtime = Runtime::new().unwrap();
        runtime.spawn(echo(arrivals, memory, sender, Arc::clone(&go_on)));
        let shutdown = CancellationToken::new();
        let token = shutdown.clone();
        let platform = runtime.spawn(async move { Matrix::new(options).run(inbox, token).await });
        Self {
            shutdown,
            platform: Some(platform),
            runtime: Some(runtime),
            log,
            go_on,
            place,
            started: Instant::now(),
        }
    }

    /// Waits until it has read what there is.
    pub(crate) async fn listens(&self) {
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
    pub(crate) fn go_on(&self) {
        self.go_on.notify_waiters();
    }

    pub(crate) fn log(&self) -> Log {
        self.log.borrow().clone()
    }

    /// Waits for something that reached the bot.
    pub(crate) async fn gets<T>(&self, what: &str, find: impl Fn(&Log) -> Option<T>) -> T {
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
    pub(crate) async fn stop(mut self) {
        self.shutdown.cancel();
        let platform = self.platform.take().unwrap();
        let ended = tokio::time::timeout(PATIENCE, platform).await;
        ended.expect("it ends").unwrap().expect("it ends well");
    }

    /// Ends it as `kill -9` does: nothing that was begun is finished or taken back.
    pub(crate) fn crash(mut self) {
        self.runtime.take().unwrap().shutdown_background();
    }

    /// Waits until it gives up, and says why.
    pub(crate) async fn gives_up(mut self) -> String {
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
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
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
                    let log = log.clone();
                    answers.spawn(async move {
                        if let Err(error) = answer(message, reply, memory, go_on).await {
                            log.send_modify(|log| log.errors.push(error.to_string()));
                        }
                    });
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
) -> Result<(), PlatformError> {
    reply.working().await;
    let earlier = |of: &EventId| memory.0.lock().unwrap().delivered.get(of).cloned();
    let (text, of) = match &message.body {
        Body::Command(command) => (format!("command: {command:?}"), None),
        Body::Text(text) if !message.attachments.is_empty() => {
            (files(&message, text, reply.as_mut()).await, None)
        }
        Body::Text(text) => match scripted(text, reply.as_mut(), &go_on).await {
            Some(text) => (text, None),
            None => {
                done(&message, &memory, None, None);
                return Ok(());
            }
        },
        Body::Edit { of, text } => {
            reply.replace(earlier(of).unwrap_or_default());
            (format!("echo: {text}"), Some(of))
        }
        Body::Deletion { of } => {
            reply.retract(&earlier(of).unwrap_or_default()).await?;
            done(&message, &memory, None, None);
            return Ok(());
        }
    };
    let parts = SafeText::new(&text).split(reply.limit());
    // What is not delivered stays unanswered, as in the real bot.
    let delivered = reply.finish(&parts).await?;
    done(&message, &memory, of, Some(delivered));
    Ok(())
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
pub(crate) async fn bot_and_ann() -> Option<(Home, Running, Person)> {
    let homeserver = homeserver()?;
    let home = Home::new(&homeserver).await;
    let running = home.start().await;
    let ann = Person::new(&homeserver, "ann").await;
    Some((home, running, ann))
}

/// The homeserver to test with, if there is one.
pub(crate) fn homeserver() -> Option<String> {
    let found = muninn_matrix::testing::homeserver();
    if found.is_none() {
        #[expect(clippy::print_stderr, reason = "says that nothing was tested")]
        {
            eprintln!("not tested: SYNAPSE_TEST_URL is not set");
        }
    }
    found
}
