//! A bot's account on a homeserver, and the echo bot in it.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use muninn_matrix::testing::{MatrixAccount, MatrixChat, MatrixPerson, RoomKind};
use muninn_matrix::{Login, Matrix, MatrixOptions};
use muninn_platform::testing::{EchoBot, EchoMemory};
use secrecy::SecretString;
use tempfile::TempDir;

pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// The account and folder of a bot, which can run any number of times.
pub(crate) struct MatrixInstallation {
    pub(crate) homeserver: String,
    pub(crate) account: MatrixAccount,
    pub(crate) options: MatrixOptions,
    pub(crate) memory: EchoMemory,
    pub(crate) folder: Arc<TempDir>,
}

impl MatrixInstallation {
    pub(crate) async fn new(homeserver: &str) -> Self {
        let account = MatrixAccount::new(homeserver, "muninn").await;
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let login = Login::Password {
            user: account.user.to_string(),
            password: Some(SecretString::from(account.password.clone())),
        };
        let mut options = MatrixOptions::new(homeserver, login, folder.path().join("matrix"));
        options.allow = "*".parse().unwrap();
        Self {
            homeserver: homeserver.to_owned(),
            account,
            options,
            memory: EchoMemory::default(),
            folder,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.options.folder.join(name)
    }

    /// Starts the bot and waits until it listens.
    pub(crate) async fn start(&self) -> MatrixBot {
        let running = self.begin();
        running.listens().await;
        running
    }

    /// Starts the bot.
    pub(crate) fn begin(&self) -> MatrixBot {
        MatrixBot::new(self.options.clone(), &self.memory)
    }

    /// Starts it with changed options.
    pub(crate) async fn start_with(&self, set: impl FnOnce(&mut MatrixOptions)) -> MatrixBot {
        let mut options = self.options.clone();
        set(&mut options);
        let running = MatrixBot::new(options, &self.memory);
        running.listens().await;
        running
    }
}

/// A running bot.
pub(crate) struct MatrixBot {
    bot: EchoBot,
    folder: PathBuf,
    started: Instant,
}

impl Deref for MatrixBot {
    type Target = EchoBot;

    fn deref(&self) -> &EchoBot {
        &self.bot
    }
}

impl DerefMut for MatrixBot {
    fn deref_mut(&mut self) -> &mut EchoBot {
        &mut self.bot
    }
}

impl MatrixBot {
    fn new(options: MatrixOptions, memory: &EchoMemory) -> Self {
        Self {
            folder: options.folder.clone(),
            bot: EchoBot::start(Matrix::new(options), memory),
            // With this `listens` waits for this run.
            started: Instant::now(),
        }
    }

    /// Waits until it has read all events.
    pub(crate) async fn listens(&self) {
        let begun = std::time::SystemTime::now() - self.started.elapsed();
        let place = self.folder.join("place.json");
        let listening = async {
            loop {
                let kept = std::fs::metadata(&place).and_then(|file| file.modified());
                if kept.is_ok_and(|kept| kept >= begun) {
                    return;
                }
                // Polled: a change of a file wakes nobody.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let in_time = tokio::time::timeout(TIMEOUT, listening).await;
        assert!(in_time.is_ok(), "the bot does not listen");
    }

    /// Stops it as a signal does.
    pub(crate) async fn stop(self) {
        self.bot.stop().await;
        databases_closed(&self.folder).await;
    }

    /// Stops it as a signal does; another run may take its place.
    pub(crate) async fn ends(&mut self) {
        self.bot.ends().await;
        databases_closed(&self.folder).await;
    }

    /// Waits until it gives up, and returns the reason.
    pub(crate) async fn gives_up(self) -> String {
        let reason = self.bot.gives_up().await;
        databases_closed(&self.folder).await;
        reason
    }
}

/// Waits until this process has no file of the folder open. The SDK closes its databases on threads
/// of its own after the client is gone, and a file that is copied or replaced meanwhile is damaged.
/// Where there is no `/proc`, it does not wait.
async fn databases_closed(folder: &Path) {
    let Ok(folder) = folder.canonicalize() else {
        return; // It was not even created.
    };
    let is_open = || {
        let files = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
        files
            .flatten()
            .filter_map(|file| std::fs::read_link(file.path()).ok())
            .any(|file| file.starts_with(&folder))
    };
    let closing = async {
        while is_open() {
            // Polled: nothing tells when a database is closed.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let in_time = tokio::time::timeout(TIMEOUT, closing).await;
    assert!(in_time.is_ok(), "files in {} stay open", folder.display());
}

/// A room with a listening bot, and a person in it.
pub(crate) struct MatrixFixture {
    pub(crate) home: MatrixInstallation,
    pub(crate) bot: MatrixBot,
    pub(crate) ann: MatrixPerson,
    in_room: MatrixChat,
}

/// Dereferences to the person's chat in the room.
impl Deref for MatrixFixture {
    type Target = MatrixChat;

    fn deref(&self) -> &MatrixChat {
        &self.in_room
    }
}

impl MatrixFixture {
    pub(crate) async fn starts_again(&mut self) {
        self.bot = self.home.start().await;
    }

    /// Creates another room with the bot and the person.
    pub(crate) async fn room_of(&self, kind: RoomKind) -> MatrixChat {
        self.ann.room(&self.home.account.user, kind).await
    }
}

/// Runs a chat in a room of this kind; fails if an answer was lost.
pub(crate) fn run(kind: RoomKind, chat: impl AsyncFnOnce(&mut MatrixFixture)) {
    run_badly(kind, async |scene| {
        chat(scene).await;
        assert_eq!(scene.bot.log().errors, Vec::<String>::new());
    });
}

/// Runs a chat in which answers cannot be delivered.
pub(crate) fn run_badly(kind: RoomKind, chat: impl AsyncFnOnce(&mut MatrixFixture)) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (home, bot, ann) = bot_and_ann().await;
        let in_room = ann.room(&home.account.user, kind).await;
        let mut scene = MatrixFixture {
            home,
            bot,
            ann,
            in_room,
        };
        chat(&mut scene).await;
    });
}

/// Creates a homeserver, a listening bot on it, and a person.
pub(crate) async fn bot_and_ann() -> (MatrixInstallation, MatrixBot, MatrixPerson) {
    let homeserver = homeserver();
    let home = MatrixInstallation::new(&homeserver).await;
    let running = home.start().await;
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    (home, running, ann)
}

pub(crate) use muninn_matrix::testing::homeserver;
