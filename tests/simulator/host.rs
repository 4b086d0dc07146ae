//! The bot's processes: the program itself, or its parts in a runtime of this process. Both can be
//! killed at any time.

mod in_process;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

use self::in_process::InProcess;
use crate::desk::ProcessAddress;
use crate::plan::Host;

/// Maximum time for a process to end, however busy the machine is.
const TO_END: Duration = Duration::from_secs(40);

/// Where Debian installs the library that changes a process's clock.
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/// Held while a program starts. Until its own code runs, it has copies of all open files, and with them the locks of bots that are
/// killed at that moment.
static STARTING: Mutex<()> = Mutex::new(());

fn spawn(command: &mut Command) -> Child {
    let _starting = STARTING.lock().unwrap();
    command.spawn().unwrap()
}

/// A process's log.
pub(crate) type Log = Arc<Mutex<Vec<u8>>>;

/// One process of the bot, as a service manager sees it.
#[derive(Debug)]
pub(crate) struct Process {
    host: Host,
    pub(crate) folder: PathBuf,
    /// By variable name.
    settings: Vec<(&'static str, String)>,
    pub(crate) door: Arc<ProcessAddress>,
    pub(crate) log: Log,
    clock: Option<Clock>,
    running: Option<RunningInstance>,
}

#[derive(Debug)]
enum RunningInstance {
    Program(Child),
    InProcess(InProcess),
}

/// The clock of a program.
#[derive(Debug)]
struct Clock {
    library: PathBuf,
    /// Contains how far it is ahead.
    file: PathBuf,
}

/// Returns the library that changes clocks, if it is installed or configured.
pub(crate) fn faketime() -> Option<PathBuf> {
    let named = std::env::var_os("MUNINN_FAKETIME").map(PathBuf::from);
    let library = named.unwrap_or_else(|| PathBuf::from(FAKETIME));
    library.exists().then_some(library)
}

impl Process {
    pub(crate) fn new(
        host: Host,
        folder: PathBuf,
        settings: Vec<(&'static str, String)>,
        door: Arc<ProcessAddress>,
    ) -> Self {
        std::fs::create_dir_all(&folder).unwrap();
        Self {
            host,
            folder,
            settings,
            door,
            log: Log::default(),
            clock: None,
            running: None,
        }
    }

    /// Lets its clock jump from its next start on; returns whether that is possible.
    pub(crate) fn has_own_clock(&mut self) -> bool {
        let library = faketime().filter(|_| self.host == Host::Program);
        self.clock = library.map(|library| Clock {
            library,
            file: self.folder.join("clock"),
        });
        self.jump(0)
    }

    /// Moves the clock so many seconds ahead; returns whether that is possible.
    pub(crate) fn jump(&self, ahead: i64) -> bool {
        let Some(clock) = &self.clock else {
            return false;
        };
        // The file is read at any time, so it is replaced atomically.
        let beside = clock.file.with_extension("new");
        std::fs::write(&beside, format!("{ahead:+}s\n")).unwrap();
        std::fs::rename(beside, &clock.file).unwrap();
        let told = &self.door.clock_ahead;
        told.store(ahead, std::sync::atomic::Ordering::SeqCst);
        true
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub(crate) fn start(&mut self) {
        self.start_as(false);
    }

    /// Starts it so that no file can grow, if it is a process of its own; returns whether it is.
    pub(crate) fn start_on_full_disk(&mut self) -> bool {
        self.start_as(true);
        self.host == Host::Program
    }

    fn start_as(&mut self, is_disk_full: bool) {
        self.running = Some(match self.host {
            Host::Program => RunningInstance::Program(self.program(is_disk_full)),
            Host::InProcess => RunningInstance::InProcess(InProcess::start(
                &self.data_dir(),
                &self.settings,
                self.log.clone(),
            )),
        });
    }

    fn program(&self, is_disk_full: bool) -> Child {
        let program = env!("CARGO_BIN_EXE_muninn");
        let mut command = Command::new(if is_disk_full { "sh" } else { program });
        if is_disk_full {
            // With the signal ignored, a write beyond the limit returns an error.
            let limited = "trap '' XFSZ; ulimit -f 0; exec \"$0\" serve";
            command.args(["-c", limited, program]);
        } else {
            command.arg("serve");
        }
        command
            .current_dir(&self.folder)
            .env_clear()
            .env("USER", "ada")
            .env("DATA_DIR", self.data_dir())
            .env("LOG", "warn,muninn=debug")
            .envs(self.settings.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(Clock { library, file }) = &self.clock {
            command
                .env("LD_PRELOAD", library)
                .env("FAKETIME_TIMESTAMP_FILE", file)
                .env("FAKETIME_CACHE_DURATION", "1")
                .env("DONT_FAKE_MONOTONIC", "1");
        }
        let mut child = spawn(&mut command);
        let mut errors = child.stderr.take().unwrap();
        let log = Arc::clone(&self.log);
        tokio::spawn(async move {
            let mut piece = vec![0; 64 * 1024];
            while let Ok(read @ 1..) = errors.read(&mut piece).await {
                log.lock().unwrap().extend_from_slice(&piece[..read]);
            }
        });
        child
    }

    /// Kills it like `kill -9`.
    pub(crate) async fn kill(&mut self) {
        match self.running.take() {
            Some(RunningInstance::Program(mut child)) => child.kill().await.unwrap(),
            Some(RunningInstance::InProcess(bot)) => bot.kill().await,
            None => {}
        }
    }

    /// Ends it like a service manager.
    ///
    /// # Errors
    /// Fails when it does not end.
    pub(crate) async fn terminate(&mut self) -> Result<(), String> {
        match self.running.take() {
            Some(RunningInstance::Program(mut child)) => {
                // It may have ended by itself.
                if let Some(pid) = child.id() {
                    let pid = pid.to_string();
                    let mut signal = spawn(Command::new("kill").args(["-TERM", &pid]));
                    signal.wait().await.unwrap();
                }
                let ended = tokio::time::timeout(TO_END, child.wait()).await;
                let ended = ended.map_err(|_| format!("it did not end in {TO_END:?}"))?;
                ended.unwrap();
                Ok(())
            }
            Some(RunningInstance::InProcess(bot)) => bot.end(TO_END).await,
            None => Ok(()),
        }
    }

    /// Restarts it if it ended by itself, like a service manager.
    pub(crate) fn keep_running(&mut self) {
        let has_ended = match &mut self.running {
            Some(RunningInstance::Program(child)) => child.try_wait().unwrap().is_some(),
            Some(RunningInstance::InProcess(bot)) => bot.has_ended(),
            None => false,
        };
        if has_ended {
            self.running = None;
            self.start();
        }
    }

    /// Leaves half a record at the end of a file, as an interrupted write does when the machine
    /// stops: it was not confirmed to anybody.
    pub(crate) fn tear(&self, which: usize) {
        let mut torn: Vec<PathBuf> = std::fs::read_dir(self.data_dir())
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| half_record(path).is_some())
            .collect();
        torn.sort();
        if torn.is_empty() {
            return;
        }
        let path = &torn[which % torn.len()];
        let half = half_record(path).unwrap_or_default();
        let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(&half).unwrap();
    }
}

/// Returns what an interrupted write leaves of a record, in files that are appended to.
fn half_record(path: &Path) -> Option<Vec<u8>> {
    /// Name and version of the graph's log.
    const HEAD: usize = 5;
    let name = path.file_name()?.to_str()?;
    if name.ends_with("-wal") {
        let log = std::fs::read(path).ok()?;
        let first = log.get(HEAD..)?;
        return Some(first[..first.len().min(29)].to_vec());
    }
    let is_log = ["accepted-", "journal-"]
        .iter()
        .any(|it| name.starts_with(it));
    (is_log && name.ends_with(".jsonl")).then(|| b"{\"Accepted\":{\"event\":\"webh".to_vec())
}
