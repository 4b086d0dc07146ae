//! The stores of the suite, and turns to put into them.

use std::sync::Arc;
use std::time::Duration;

use muninn::graph::session::Sessions;
use muninn::graph::{
    Appended, Embedding, GraphConfig, GraphStore, NewTurn, ResponseId, StoreError, Turn,
    TurnContext, TurnRead, open,
};
use muninn_platform::{Audience, AudienceId, ConversationId, EventId};
use secrecy::SecretString;
use tempfile::TempDir;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use uuid::Uuid;

use crate::graph::TestGraph;

/// Tests share one server; those that need it alone lock it for writing.
static SERVER: RwLock<()> = RwLock::const_new(());

pub(crate) enum GraphBackend {
    Embedded(TempDir),
    Neo4j(Box<GraphConfig>, Share),
}

pub(crate) enum Share {
    #[expect(dead_code, reason = "held, not read")]
    Together(RwLockReadGuard<'static, ()>),
    #[expect(dead_code, reason = "held, not read")]
    Alone(RwLockWriteGuard<'static, ()>),
}

impl GraphBackend {
    pub(crate) fn embedded() -> Self {
        Self::Embedded(tempfile::tempdir().unwrap())
    }

    /// Returns the server of the environment, shared for as long as the lock is held.
    pub(crate) async fn server_together() -> (GraphConfig, Share) {
        (server(), Share::Together(SERVER.read().await))
    }

    /// Returns the same, with no other test on it.
    pub(crate) async fn server_alone() -> (GraphConfig, Share) {
        (server(), Share::Alone(SERVER.write().await))
    }

    /// Returns the server of the environment.
    pub(crate) async fn neo4j() -> Self {
        let (config, share) = Self::server_together().await;
        Self::Neo4j(Box::new(config), share)
    }

    /// Returns the server, with no other test on it.
    pub(crate) async fn neo4j_alone() -> Self {
        let (config, share) = Self::server_alone().await;
        Self::Neo4j(Box::new(config), share)
    }

    /// Returns the server, empty and with no other test on it.
    pub(crate) async fn emptied_neo4j() -> Self {
        let lane = Self::neo4j_alone().await;
        lane.open().await.wipe().await.unwrap();
        lane
    }

    pub(crate) fn config(&self) -> GraphConfig {
        match self {
            Self::Embedded(folder) => {
                GraphConfig::at(format!("embedded:{}", folder.path().display()))
            }
            Self::Neo4j(config, _) => (**config).clone(),
        }
    }

    pub(crate) async fn open(&self) -> Arc<GraphStore> {
        open(&self.config()).await.unwrap()
    }

    /// Returns a handle that has not read the graph yet, if the engine permits.
    pub(crate) async fn open_again(&self, store: &Arc<GraphStore>) -> Arc<GraphStore> {
        match self {
            Self::Embedded(_) => Arc::clone(store),
            Self::Neo4j(..) => self.open().await,
        }
    }

    /// Returns a handle per writer if the engine permits, otherwise the same one.
    pub(crate) async fn open_many(&self, count: usize) -> Vec<Arc<GraphStore>> {
        match self {
            Self::Embedded(_) => {
                let store = self.open().await;
                (0..count).map(|_| Arc::clone(&store)).collect()
            }
            Self::Neo4j(..) => {
                let mut stores = Vec::new();
                for _ in 0..count {
                    stores.push(self.open().await);
                }
                stores
            }
        }
    }
}

pub(crate) fn server() -> GraphConfig {
    let graph = TestGraph::of_environment();
    GraphConfig {
        user: graph.user,
        password: SecretString::from(graph.password),
        timeout: Duration::from_secs(30),
        ..GraphConfig::at(graph.url)
    }
}

/// A conversation of its own, on a store.
pub(crate) struct StoreConversation {
    pub(crate) store: Arc<GraphStore>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) session: ConversationId,
    pub(crate) audience: Audience,
}

impl StoreConversation {
    pub(crate) fn on(store: &Arc<GraphStore>) -> Self {
        let id = Uuid::new_v4();
        Self {
            store: Arc::clone(store),
            sessions: Arc::new(Sessions::default()),
            session: ConversationId::new(format!("test/{id}")),
            audience: Audience {
                id: AudienceId::new(format!("test/channel/{id}")),
                platform: "test".to_owned(),
                workspace: "T1".to_owned(),
                name: "ravens".to_owned(),
                private_to: None,
            },
        }
    }

    /// Returns another conversation of the same audience.
    pub(crate) fn beside(&self) -> Self {
        Self {
            audience: self.audience.clone(),
            ..Self::on(&self.store)
        }
    }

    /// Returns the same conversation as another process sees it.
    pub(crate) fn elsewhere(&self, store: &Arc<GraphStore>) -> Self {
        Self {
            store: Arc::clone(store),
            sessions: Arc::new(Sessions::default()),
            session: self.session.clone(),
            audience: self.audience.clone(),
        }
    }

    pub(crate) fn turn(&self, input: &str) -> NewTurn {
        let output = format!("answer to {}", input.chars().take(40).collect::<String>());
        let made = Turn::of(self.session.as_str(), "Snorri", input, &output);
        NewTurn {
            recalls_also: Vec::new(),
            audience: self.audience.clone(),
            turn: Turn {
                event: format!("event/{}", made.id),
                author: "U1".to_owned(),
                embedding: Some(Embedding {
                    embedder: "test-4".to_owned(),
                    vector: vec![0.5, -0.5, 0.5, 0.5],
                }),
                model: Some("m".to_owned()),
                prompt_tokens: 12,
                completion_tokens: 34,
                duration_ms: 56,
                link: Some("https://chat.test/1".to_owned()),
                ..made
            },
            context: Vec::new(),
            recalled: Vec::new(),
            trace: Default::default(),
            asked_at: None,
        }
    }

    pub(crate) async fn try_append(&self, turn: &NewTurn) -> Result<Appended, StoreError> {
        let guard = self.sessions.lock(&self.session).await;
        self.store.append(&guard, turn).await
    }

    /// Appends it; returns the turn as it must be read again.
    pub(crate) async fn append(&self, turn: &NewTurn) -> Turn {
        match self.try_append(turn).await.unwrap() {
            Appended::Saved { position } => Turn {
                position,
                ..turn.turn.clone()
            },
            Appended::Duplicate(found) => panic!("a duplicate of {found:?}"),
            Appended::Forgotten => panic!("forgotten: {turn:?}"),
        }
    }

    pub(crate) async fn say(&self, input: &str) -> Turn {
        self.append(&self.turn(input)).await
    }

    pub(crate) async fn forget(&self, what: muninn::graph::Forget) -> muninn::graph::Forgotten {
        let guard = self.sessions.lock(&self.session).await;
        self.store.forget(&guard, what).await.unwrap()
    }

    pub(crate) async fn begin(&self, event: &str, window: usize, seen: i64) -> TurnContext {
        self.store
            .begin_turn(&TurnRead {
                session: &self.session,
                audience: &self.audience.id,
                event: &EventId::new(event),
                window,
                seen,
            })
            .await
            .unwrap()
    }

    /// Returns the chain, which must be whole.
    pub(crate) async fn chain(&self) -> Vec<Turn> {
        let shape = self.store.chain_shape(&self.session).await.unwrap();
        assert!(shape.is_whole(), "{shape:?}");
        let chain = self
            .store
            .chain(&self.session, None, usize::MAX)
            .await
            .unwrap();
        assert_eq!(chain.len(), shape.turns);
        chain
    }
}

/// Returns the turn as every read except the news does.
pub(crate) fn bare(turn: &Turn) -> Turn {
    Turn {
        embedding: None,
        ..turn.clone()
    }
}

pub(crate) fn ids(turns: &[Turn]) -> Vec<ResponseId> {
    turns.iter().map(|turn| turn.id).collect()
}

/// Runs each test on each store.
#[macro_export]
macro_rules! on_every_store {
    ($($name:ident),* $(,)?) => {
        $crate::on_every_store!(on_embedded, on_neo4j, neo4j: $($name),*);
    };
    ($embedded:ident, $neo4j:ident, $server:ident: $($name:ident),*) => {
        mod $embedded {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(&$crate::lanes::GraphBackend::embedded()).await;
            })*
        }
        mod $neo4j {
            $(#[tokio::test(flavor = "multi_thread")]
            #[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
            async fn $name() {
                super::$name(&$crate::lanes::GraphBackend::$server().await).await;
            })*
        }
    };
}

/// Runs each test on each store, with an empty server and no other test on it.
#[macro_export]
macro_rules! alone_on_every_store {
    ($($name:ident),* $(,)?) => {
        $crate::on_every_store!(alone_on_embedded, alone_on_neo4j, emptied_neo4j: $($name),*);
    };
}
