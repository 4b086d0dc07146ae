//! A workspace on loopback, and the program that runs as an app in it.

use std::net::SocketAddr;
use std::time::Duration;

use loopback_slack::{APP_TOKEN, Addresses, BOT_TOKEN, SIGNING_SECRET, Slack, TIMEOUT};
use tokio::net::TcpStream;
use tokio::process::Child;

use super::support::model_server::ModelServer;
use super::support::program::Program;

/// A workspace, and the program that runs as an app in it.
pub(crate) struct SlackProgram {
    pub(crate) slack: Slack,
    pub(crate) program: Program,
    /// The address where it listens, unless it uses a socket.
    door: Option<ListenAddress>,
}

impl SlackProgram {
    pub(crate) async fn over_socket(model: &ModelServer) -> Self {
        let slack = Slack::with_manifest(&manifest(model, &[]).await).await;
        let program = program(model, &slack).with("SLACK_APP_TOKEN", APP_TOKEN);
        Self {
            slack,
            program,
            door: None,
        }
    }

    pub(crate) async fn over_http(model: &ModelServer) -> Self {
        let public = ["--url", "https://muninn.test"];
        let slack = Slack::with_manifest(&manifest(model, &public).await).await;
        let (program, door) = listening(program(model, &slack));
        slack.tell_over_http(door.addresses());
        Self {
            slack,
            program,
            door: Some(door),
        }
    }

    /// Starts it and waits until it is connected, or listens.
    pub(crate) async fn start(&self) -> Child {
        let before = self.slack.calls_of("apps.connections.open").len();
        let bot = self.program.start();
        match &self.door {
            Some(door) => door.opens().await,
            None => self.slack.connected(before + 1).await,
        }
        bot
    }
}

/// The address where a program listens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListenAddress(SocketAddr);

impl ListenAddress {
    pub(crate) fn addresses(self) -> Addresses {
        let at = |path| format!("http://{}/slack/{path}", self.0);
        Addresses {
            events: at("events"),
            interactions: at("interactions"),
            commands: at("commands"),
        }
    }

    /// Waits until somebody listens.
    pub(crate) async fn opens(self) {
        let opens = async {
            while TcpStream::connect(self.0).await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let in_time = tokio::time::timeout(TIMEOUT, opens).await;
        assert!(in_time.is_ok(), "nobody listens at {}", self.0);
    }
}

/// Returns a program that receives events over HTTP.
pub(crate) fn listening(program: Program) -> (Program, ListenAddress) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let door = ListenAddress(listener.local_addr().unwrap());
    let program = program
        .with("SLACK_SIGNING_SECRET", SIGNING_SECRET)
        .with("SLACK_HTTP_ADDR", door.0.to_string());
    (program, door)
}

pub(crate) fn program(model: &ModelServer, slack: &Slack) -> Program {
    Program::new(model)
        .with("SLACK_API_URL", slack.api_url())
        .with("SLACK_BOT_TOKEN", BOT_TOKEN)
        .with("SLACK_ALLOW", "*")
}

/// Returns the output of `muninn manifest slack`, which needs no token.
pub(crate) async fn manifest(model: &ModelServer, more: &[&str]) -> serde_json::Value {
    let arguments = [&["manifest", "slack"], more].concat();
    let printed = Program::new(model).says(&arguments).await;
    serde_json::from_str(&printed).unwrap()
}
