//! The program itself, run as by a service manager.

use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::model_server::{KEY, ModelServer, ModelServerRequest};

/// The program's folder and settings.
#[derive(Debug)]
pub struct Program {
    pub folder: TempDir,
    /// Whether everything that `serve` logs is also written to a file there.
    pub is_logged: bool,
    variables: Vec<(&'static str, String)>,
}

impl Program {
    /// Uses a model, and settings without delays.
    pub fn new(model: &ModelServer) -> Self {
        let program = Self {
            folder: tempfile::tempdir().unwrap(),
            is_logged: false,
            variables: Vec::new(),
        };
        program
            .with("USER", "ada")
            .with("DATA_DIR", "./muninn-data")
            .with("OPENAI_BASE_URL", model.base_url())
            .with("OPENAI_API_KEY", KEY)
            .with("CHAT_MODEL", "chat")
            .with("UTILITY_MODEL", "utility")
            .with("MESSAGES_PER_MINUTE", "1000")
            // Nothing leaves the window here, so nothing is summarised.
            .with("WINDOW_TURNS", "50")
    }

    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// `muninn serve`.
    pub fn start(&self) -> Child {
        let mut serve = self.command(&["serve"]);
        if self.is_logged {
            let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
            serve.stderr(log).env("LOG", "warn,muninn=debug");
        }
        serve
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_muninn"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Waits until the bot has recorded that it accepted this.
    pub async fn accepts(&self, text: &str) {
        let data = self.folder.path().join("muninn-data");
        let is_there = || {
            let files = std::fs::read_dir(&data).into_iter().flatten().flatten();
            let mut ledgers = files.filter(|file| {
                file.file_name()
                    .as_encoded_bytes()
                    .starts_with(b"accepted-")
            });
            ledgers.any(|file| {
                std::fs::read_to_string(file.path()).is_ok_and(|all| all.contains(text))
            })
        };
        let looked = async {
            while !is_there() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(60), looked).await;
        assert!(in_time.is_ok(), "{text:?} was not accepted");
    }

    /// Returns a command's output, also if it fails.
    pub async fn says(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().await.unwrap();
        let said = [output.stdout, output.stderr].concat();
        String::from_utf8(said).unwrap()
    }
}

/// Returns an address at which nobody listens.
pub fn free_address() -> String {
    muninn_platform::testing::free_address().to_string()
}

/// Kills it like `kill -9`.
pub async fn kill(mut bot: Child) {
    bot.kill().await.unwrap();
}

/// Ends it like a service manager.
pub async fn end(mut bot: Child) {
    let pid = bot.id().unwrap().to_string();
    let signal = Command::new("kill").args(["-TERM", &pid]).status().await;
    assert!(signal.unwrap().success());
    let ended = tokio::time::timeout(Duration::from_secs(60), bot.wait()).await;
    assert!(ended.expect("it ends").unwrap().success());
}

/// Matches requests whose question ends like this.
pub fn asks(text: &'static str) -> impl Fn(&ModelServerRequest) -> bool {
    move |request| request.last_user().ends_with(text)
}

/// Returns the whole text of a request.
pub fn prompt(request: &ModelServerRequest) -> String {
    ["system", "user", "assistant"]
        .iter()
        .flat_map(|role| request.texts(role))
        .collect::<Vec<_>>()
        .join("\n")
}
