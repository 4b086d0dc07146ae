//! Turns a file of exchanges into the memory of a deployed bot: each turn with its vector, with the
//! recalled turns, and with links to what it supersedes.

use std::collections::HashMap;
use std::path::Path;

use muninn::graph::session::Sessions;
use muninn::graph::{GraphConfig, GraphStore, NewTurn, ResponseId, Turn, open};
use muninn::memory::recall_eval::{Exchange, read_lines, turns};
use muninn::memory::{AudienceIndex, Calibration, IndexQuery, RecallSettings, recall, replaced};
use muninn::retrieval::LocalEmbedder;
use muninn_platform::{Audience, AudienceId, ConversationId};
use uuid::Uuid;

/// Number of turns in a prompt's window.
const WINDOW: usize = 12;

/// Puts the exchanges of some files into an embedded graph in `folder`.
pub(crate) async fn deploy(folder: &Path, files: &[&str]) {
    std::fs::create_dir_all(folder).unwrap();
    let config = GraphConfig::at(format!("embedded:{}", folder.display()));
    let store = open(&config).await.unwrap();
    // The same ones in every run, because `muninn eval` draws its questions by them.
    let mut ids = (1..).map(|number| ResponseId(Uuid::from_u128(number)));
    for file in files {
        put(&store, Path::new(file), &mut ids).await;
    }
    store.close().await.unwrap();
}

/// Puts the exchanges of a file into a graph.
async fn put(store: &GraphStore, file: &Path, ids: &mut impl Iterator<Item = ResponseId>) {
    let exchanges: Vec<Exchange> = read_lines(file).unwrap();
    let embedder = LocalEmbedder::shipped().unwrap();
    let scopes = turns(&exchanges, &embedder);
    let mut names: Vec<&&str> = scopes.keys().collect();
    names.sort_unstable();
    for scope in names {
        let turns = scopes[*scope].iter().cloned();
        let turns = turns.zip(&mut *ids).map(|(turn, id)| Turn { id, ..turn });
        Deployed::new(store, scope, &embedder).put(turns).await;
    }
}

struct Deployed<'a> {
    store: &'a GraphStore,
    sessions: Sessions,
    audience: Audience,
    index: AudienceIndex,
    embedder: &'a LocalEmbedder,
    calibration: Calibration,
    windows: HashMap<String, Vec<ResponseId>>,
}

impl<'a> Deployed<'a> {
    fn new(store: &'a GraphStore, scope: &str, embedder: &'a LocalEmbedder) -> Self {
        Self {
            store,
            sessions: Sessions::default(),
            audience: Audience {
                id: AudienceId::new(scope),
                platform: "test".to_owned(),
                workspace: "T1".to_owned(),
                name: scope.to_owned(),
                private_to: None,
            },
            index: AudienceIndex::new(Some((embedder.name(), embedder.dimension())), 0),
            embedder,
            calibration: Calibration::shipped().unwrap(),
            windows: HashMap::new(),
        }
    }

    async fn put(&mut self, turns: impl Iterator<Item = Turn>) {
        for turn in turns {
            let recalled = if turn.is_answered() {
                self.given(&turn)
            } else {
                Vec::new()
            };
            let new = NewTurn {
                recalled,
                ..NewTurn::of(self.audience.clone(), turn.clone())
            };
            let guard = self
                .sessions
                .lock(&ConversationId::new(&turn.session))
                .await;
            self.store.append(&guard, &new).await.unwrap();
            let earlier = replaced(&self.index, &self.calibration, &turn);
            if !earlier.is_empty() {
                let audience = &self.audience.id;
                self.store
                    .supersede(audience, turn.id, &earlier)
                    .await
                    .unwrap();
            }
            self.index.push(&turn);
            for (earlier, _) in earlier {
                self.index.link(turn.id, earlier);
            }
            self.windows
                .entry(turn.session.clone())
                .or_default()
                .push(turn.id);
        }
    }

    /// Returns what a model would have been given.
    fn given(&self, turn: &Turn) -> Vec<(ResponseId, f64)> {
        let window = self
            .windows
            .get(&turn.session)
            .map_or(&[][..], Vec::as_slice);
        let vector = self.embedder.embed(&turn.input);
        let query = IndexQuery {
            text: &turn.input,
            vector: vector.as_deref(),
            exclude: &window[window.len().saturating_sub(WINDOW)..],
            asker: std::slice::from_ref(&turn.author),
            ..IndexQuery::default()
        };
        let settings = RecallSettings::by(&self.calibration);
        let recalled = recall(&self.index, &self.calibration, &query, &settings);
        recalled.iter().map(|it| (it.id, it.score)).collect()
    }
}
