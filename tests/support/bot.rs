//! A whole bot with real parts, for tests that read like a chat.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use muninn::config::{Config, Options};
use muninn::conversation::bot::Bot;
use muninn::conversation::ledger::Ledger;
use muninn::graph::GraphStore;
use muninn::memory::Archive;
use muninn::wiring::{App, wire};
use muninn_platform::testing::{MessageOutcome, Pending, TestConversation};
use muninn_platform::{HeardAudiences, Inbox};
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::graph::TestGraph;
use super::model_server::ModelServer;

/// The data of a test's bots: a folder, and a graph in it or on a server. Several bots may use it
/// in sequence; on a server also concurrently.
#[derive(Debug)]
pub struct BotStorage {
    folder: tempfile::TempDir,
    graph: Vec<String>,
    /// Separates tests that share a server.
    name: String,
}

/// Runs tests on every graph, each under the graph's name.
#[allow(unused_macros, reason = "not every test program runs on both")]
macro_rules! on_every_graph {
    ($($name:ident),* $(,)?) => {
        mod on_embedded {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name($crate::support::bot::BotStorage::embedded()).await;
            })*
        }
        mod on_neo4j {
            $(#[tokio::test(flavor = "multi_thread")]
            #[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
            async fn $name() {
                super::$name($crate::support::bot::BotStorage::neo4j(None)).await;
            })*
        }
    };
}
#[allow(unused_imports, reason = "not every test program runs on both")]
pub(crate) use on_every_graph;

/// Waits until the bot drops a message without an answer.
pub async fn nothing_said(pending: Pending) {
    match pending.outcome().await {
        MessageOutcome::GivenUp(answer) => assert_eq!(answer.updates, [""; 0]),
        said => panic!("{said:?}"),
    }
}

impl BotStorage {
    /// Creates a place with an embedded graph, in a folder of its own.
    pub fn embedded() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let graph = format!("--graph-url=embedded:{}", folder.path().display());
        Self::new(folder, vec![graph])
    }

    /// Creates a place with the Neo4j of the test run, at the address in `through` if given.
    pub fn neo4j(through: Option<&str>) -> Self {
        let server = TestGraph::of_environment();
        let graph = vec![
            format!("--graph-url={}", through.unwrap_or(&server.url)),
            format!("--graph-user={}", server.user),
            format!("--graph-password={}", server.password),
        ];
        Self::new(tempfile::tempdir().unwrap(), graph)
    }

    /// Returns host and port of that Neo4j.
    pub fn neo4j_address() -> String {
        let url = TestGraph::of_environment().url;
        let (_, address) = url.split_once("://").expect("an address");
        address.to_owned()
    }

    fn new(folder: tempfile::TempDir, graph: Vec<String>) -> Self {
        Self {
            folder,
            graph,
            name: Uuid::now_v7().simple().to_string(),
        }
    }

    /// Returns the options of a bot here, with the model server if there is one.
    pub fn config(&self, model: Option<&ModelServer>, more: &[&str]) -> Config {
        #[derive(Parser)]
        struct BotCommandLine {
            #[command(flatten)]
            options: Options,
        }
        let url = model.map_or(String::new(), ModelServer::base_url);
        let mut line = vec![
            "test".to_owned(),
            "--openai-api-key=".to_owned(),
            format!("--openai-base-url={url}"),
            format!("--data-dir={}", self.folder.path().display()),
        ];
        if !more
            .iter()
            .any(|option| option.starts_with("--messages-per-minute"))
        {
            line.push("--messages-per-minute=1000".to_owned());
        }
        // A slow response of a loaded machine must not count as an unavailable graph.
        if !more
            .iter()
            .any(|option| option.starts_with("--graph-timeout"))
        {
            line.push("--graph-timeout=60".to_owned());
        }
        line.extend(self.graph.clone());
        line.extend(more.iter().map(|&option| option.to_owned()));
        let mut config = BotCommandLine::parse_from(line)
            .options
            .into_config()
            .unwrap();
        if let Some(server) = model {
            config.model = Some(server.config());
        }
        config
    }

    /// Starts a bot. On a shared server, knowledge of an earlier test program is removed once: a
    /// bot with knowledge sends its model other requests.
    pub async fn bot(&self, config: &Config) -> TestBot {
        self.bot_with(config, Ledger::disabled()).await
    }

    /// As [`BotStorage::bot`], with a ledger.
    pub async fn bot_with(&self, config: &Config, ledger: Ledger) -> TestBot {
        static EMPTIED: OnceCell<()> = OnceCell::const_new();
        if config.graph.url.contains("://") {
            let graph = TestGraph::of_environment();
            EMPTIED
                .get_or_init(async || graph.forget_knowledge().await)
                .await;
        }
        let _ = rustls::crypto::ring::default_provider().install_default();
        let App {
            bot,
            archive,
            store,
            recaller: _,
            searcher: _,
            mcp_servers,
            heard,
        } = wire(config, ledger).await.unwrap();
        // On a busy machine a server may need longer to start than the first turn waits.
        drop(mcp_servers.states(Duration::from_secs(60)).await);
        let (inbox, received) = Inbox::new(64);
        let inbox = inbox.with_heard_audiences(heard.clone());
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(Arc::clone(&bot).run(received, shutdown.clone()));
        TestBot {
            inbox,
            running,
            shutdown,
            bot,
            heard,
            archive,
            store,
            name: self.name.clone(),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the text that is in every id of this place.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the prefix of this place's audiences.
    pub fn prefix(&self) -> String {
        format!("test/{}", self.name)
    }

    pub fn journal(&self) -> PathBuf {
        self.folder.path().join("journal-0.jsonl")
    }
}

/// A running bot.
#[derive(Debug)]
pub struct TestBot {
    pub inbox: Inbox,
    running: JoinHandle<()>,
    shutdown: CancellationToken,
    pub bot: Arc<Bot>,
    /// The heard audiences.
    pub heard: HeardAudiences,
    pub archive: Arc<Archive>,
    pub store: Arc<GraphStore>,
    name: String,
}

impl TestBot {
    /// Returns a conversation of the audience `general`.
    pub fn room(&self, conversation: &str) -> TestConversation {
        self.room_of(conversation, "general")
    }

    pub fn room_of(&self, conversation: &str, audience: &str) -> TestConversation {
        TestConversation::new(
            self.inbox.clone(),
            &format!("test/{}/{audience}/{conversation}", self.name),
            &format!("test/{}/{audience}", self.name),
        )
    }

    /// Returns the audience of [`Self::room`].
    pub fn audience(&self) -> muninn_platform::AudienceId {
        muninn_platform::AudienceId::new(format!("test/{}/general", self.name))
    }

    /// Returns an event id of this test.
    pub fn event(&self, name: &str) -> String {
        format!("{}/{name}", self.name)
    }

    /// Stops accepting messages; turns in flight are completed.
    pub fn shut_down(&self) {
        self.shutdown.cancel();
    }

    /// Returns when no turn waits for the graph any more.
    pub async fn saved_all(&self) {
        let saved = async {
            while self.archive.is_away() || self.archive.waiting() > 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let saved = tokio::time::timeout(Duration::from_secs(60), saved).await;
        saved.expect("the graph came back, and so the journal is replayed");
    }

    /// Ends it cleanly.
    pub async fn end(self) {
        self.shutdown.cancel();
        self.running.await.unwrap();
        self.store.close().await.unwrap();
    }
}
