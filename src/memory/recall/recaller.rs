//! Recall for a turn: embeds the message and ranks with the audiences' indexes, which follow the graph.

mod following;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use muninn_platform::{AudienceId, Channels, IncomingMessage, TimeZone, join_task};
use tokio::time::timeout;

use super::cache::RecallCache;
use super::quote::put_best_first;
use super::recent::RecentVectors;
use crate::graph::{Embedding, NewTurn, ResponseId, Turn};
use crate::llm::{Admission, Breaker, Embedder, ModelError, TimedOutWait};
use crate::memory::{
    AudienceIndex, Calibration, Candidate, Earlier, IndexQuery, MOST_QUOTED, RecallSettings,
    Recalled, recall, within_budget,
};
use crate::memory::{candidates, quote};

/// Maximum number of exchanges in memory, of all audiences; about 1 KB each.
const MAX_EXCHANGES: usize = 200_000;
/// Number of turns before a message on which it may depend.
pub(in crate::memory) const REACH: usize = 2;

/// How long a turn waits for a vector.
const EMBEDDING_TIMEOUT: Duration = Duration::from_secs(10);
/// The same for a service that failed and may work again.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// Recalls earlier turns.
#[derive(Debug)]
pub struct Recaller {
    embedder: Arc<Embedder>,
    breaker: Breaker,
    /// Whether turns may have been kept without a vector.
    has_missed: AtomicBool,
    calibration: Calibration,
    settings: RecallSettings,
    /// The settings of channels, some of which have their own threshold or time zone.
    channels: Arc<Channels>,
    /// The default time zone.
    time_zone: TimeZone,
    indexes: RecallCache,
    recent: RecentVectors,
}

/// A message with everything that recall compares.
#[derive(Clone, Debug, Default)]
pub struct RecallQuery {
    pub text: String,
    /// `None` if the embedder knows no word of it, or does not answer.
    pub vector: Option<Vec<f32>>,
    /// The embedding service does not answer, so only words are compared.
    pub embeddings_down: bool,
    /// The IDs of the author's accounts.
    pub asker: Vec<String>,
    /// When it was said, in the author's time zone.
    pub at: Option<DateTime<TimeZone>>,
}

impl RecallQuery {
    /// Without a vector, because the service does not answer.
    fn by_words(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            vector: None,
            embeddings_down: true,
            ..Self::default()
        }
    }

    /// Sets the author's accounts and the time: who "I" is, and what "yesterday" is.
    #[must_use]
    pub fn said_by(self, accounts: Vec<String>, at: DateTime<TimeZone>) -> Self {
        Self {
            asker: accounts,
            at: Some(at),
            ..self
        }
    }
}

impl Recaller {
    pub fn new(embedder: Embedder, calibration: Calibration, settings: RecallSettings) -> Self {
        Self {
            has_missed: AtomicBool::new(match &embedder {
                Embedder::Local(_) => false,
                // An earlier process may have left some without a vector.
                Embedder::Remote(_) => true,
            }),
            embedder: Arc::new(embedder),
            breaker: Breaker::default(),
            calibration,
            settings,
            channels: Arc::default(),
            time_zone: TimeZone::UTC,
            indexes: RecallCache::new(MAX_EXCHANGES),
            recent: RecentVectors::default(),
        }
    }

    /// Sets the settings of channels.
    #[must_use]
    pub fn with_channels(self, channels: Arc<Channels>) -> Self {
        Self { channels, ..self }
    }

    /// Sets the time zone for people and channels without one.
    #[must_use]
    pub fn with_time_zone(self, time_zone: TimeZone) -> Self {
        Self { time_zone, ..self }
    }

    /// The time zone for a message: its author's, else the channel's, else the default.
    pub fn time_zone_of(&self, message: &IncomingMessage) -> TimeZone {
        let of_author = message.author.time_zone;
        of_author.unwrap_or_else(|| self.time_zone_in(message.channel()))
    }

    /// The time zone of a channel, for people without one.
    pub fn time_zone_in(&self, channel: &AudienceId) -> TimeZone {
        let its = self.channels.of(channel).and_then(|set| set.time_zone);
        its.unwrap_or(self.time_zone)
    }

    /// Adds the author and time of a message to its query.
    pub fn with_message_context(
        &self,
        sought: RecallQuery,
        message: &IncomingMessage,
    ) -> RecallQuery {
        let at = message.sent_at.with_timezone(&self.time_zone_of(message));
        sought.said_by(message.accounts(), at)
    }

    /// Adds the current time to a question that is not a message, and the accounts of the person who asks it; none if
    /// nobody does.
    pub fn with_current_context(
        &self,
        sought: RecallQuery,
        audience: &AudienceId,
        accounts: Vec<String>,
    ) -> RecallQuery {
        let zone = self.time_zone_in(&audience.channel());
        sought.said_by(accounts, Utc::now().with_timezone(&zone))
    }

    /// The IDs of the accounts that wrote in an audience under a name, or the one with this ID.
    pub fn accounts_named(&self, audience: &AudienceId, name: &str) -> BTreeSet<String> {
        let index = self.indexes.get(audience);
        let named = index.map(|index| index.read(|index| index.accounts_named(name)));
        named.unwrap_or_default()
    }

    fn settings_of(&self, audience: &AudienceId) -> RecallSettings {
        let set = self.channels.of(audience);
        let threshold = set.and_then(|settings| settings.recall_threshold);
        RecallSettings {
            threshold: threshold.unwrap_or(self.settings.threshold),
            ..self.settings
        }
    }

    /// Embeds an exchange that is to be kept. `None` if it has nothing to embed, or cannot be embedded now;
    /// then it is embedded later.
    pub async fn embed_exchange(&self, text: &str) -> Option<Embedding> {
        let sought = self.embedded(text).await;
        if sought.embeddings_down {
            self.has_missed.store(true, Ordering::Relaxed);
        }
        Some(Embedding {
            vector: sought.vector?,
            embedder: self.embedder.name()?.to_owned(),
        })
    }

    /// Embeds messages that are to be kept. Those that cannot be embedded now are embedded later.
    pub async fn embed_messages(&self, messages: &mut [NewTurn]) {
        let wait = match self.breaker.admission() {
            Admission::Ask => EMBEDDING_TIMEOUT,
            Admission::Probe => PROBE_TIMEOUT,
            Admission::Skip => return self.has_missed.store(true, Ordering::Relaxed),
        };
        let texts: Vec<String> = messages.iter().map(|it| it.turn.input.clone()).collect();
        let embedder = Arc::clone(&self.embedder);
        let embed = async move { embedder.embed(&texts).await };
        // Run on another thread: thousands of messages must not block a turn.
        let embedding = tokio::task::spawn_blocking(move || {
            tokio::runtime::Handle::current().block_on(timeout(wait, embed))
        });
        let embedded = join_task(embedding)
            .await
            .unwrap_or(Err(ModelError::TimedOut(TimedOutWait::Fixed(wait))));
        self.breaker.record(&embedded);
        let vectors: Vec<Option<Vec<f32>>> = match embedded {
            Ok(vectors) => vectors,
            Err(error) => {
                self.has_missed.store(true, Ordering::Relaxed);
                let error = &error as &dyn std::error::Error;
                return tracing::warn!(error, "messages are kept without vectors");
            }
        };
        let Some(name) = self.embedder.name() else {
            return;
        };
        for (message, vector) in messages.iter_mut().zip(vectors) {
            message.turn.embedding = vector.map(|vector| Embedding {
                embedder: name.to_owned(),
                vector,
            });
        }
    }

    /// Prepares a message as a query. Only the first turn waits for a service that hangs.
    pub async fn embed_query(&self, text: &str) -> RecallQuery {
        let sought = self.embedded(text).await;
        match (&*self.embedder, &sought.vector) {
            (Embedder::Remote(_), Some(vector)) => self.recent.keep(text, vector),
            (Embedder::Remote(_), None) | (Embedder::Local(_), _) => {}
        }
        sought
    }

    async fn embedded(&self, text: &str) -> RecallQuery {
        let wait = match self.breaker.admission() {
            Admission::Ask => EMBEDDING_TIMEOUT,
            Admission::Probe => PROBE_TIMEOUT,
            Admission::Skip => return RecallQuery::by_words(text),
        };
        let texts = [text.to_owned()];
        let embedded = timeout(wait, self.embedder.embed(&texts))
            .await
            .unwrap_or(Err(ModelError::TimedOut(TimedOutWait::Fixed(wait))));
        self.breaker.record(&embedded);
        match embedded {
            Ok(vectors) => RecallQuery {
                text: text.to_owned(),
                vector: vectors.into_iter().next().flatten(),
                ..RecallQuery::default()
            },
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "no embedding");
                RecallQuery::by_words(text)
            }
        }
    }

    /// Returns the audiences' earlier turns that help with a message, oldest first, without those that are
    /// `shown` already. A message may depend on the turns `before` it in its session. The budget of the first
    /// audience applies to all of them together.
    pub fn recall(
        &self,
        audiences: &[&AudienceId],
        sought: &RecallQuery,
        before: &[Turn],
        shown: &[ResponseId],
    ) -> Vec<Recalled> {
        let recalled = |audience: &&AudienceId| {
            let settings = self.settings_of(audience);
            self.look(audience, sought, before, shown, |index, query| {
                recall(index, &self.calibration, query, &settings)
            })
        };
        match audiences {
            // The usual case, within the budget already.
            [one] => recalled(one),
            several => within_budget(several.iter().map(recalled).collect(), &self.settings),
        }
    }

    /// What a person is quoted from them if no model answers, best first: a few exchanges, or none.
    pub fn quote(
        &self,
        audiences: &[&AudienceId],
        sought: &RecallQuery,
        before: &[Turn],
        hidden: &[ResponseId],
    ) -> Vec<Recalled> {
        let quoted = |audience: &&AudienceId| {
            let settings = self.settings_of(audience);
            self.look(audience, sought, before, hidden, |index, query| {
                quote(index, &self.calibration, query, &settings)
            })
        };
        let settings = RecallSettings {
            limit: MOST_QUOTED,
            ..self.settings
        };
        let mut quoted = within_budget(audiences.iter().map(quoted).collect(), &settings);
        put_best_first(&mut quoted);
        quoted
    }

    /// The candidates for a message, best first, with the decision on each.
    pub fn candidates(
        &self,
        audience: &AudienceId,
        sought: &RecallQuery,
        limit: usize,
    ) -> Vec<Candidate> {
        let settings = self.settings_of(audience);
        self.look(audience, sought, &[], &[], |index, query| {
            candidates(index, &self.calibration, query, &settings, limit)
        })
    }

    fn look<T>(
        &self,
        audience: &AudienceId,
        sought: &RecallQuery,
        before: &[Turn],
        shown: &[ResponseId],
        look: impl Fn(&AudienceIndex, &IndexQuery<'_>) -> Vec<T>,
    ) -> Vec<T> {
        let Some(index) = self.indexes.get(audience) else {
            return Vec::new();
        };
        let before = &before[before.len().saturating_sub(REACH)..];
        let vectors: Vec<Option<Vec<f32>>> = before
            .iter()
            .map(|turn| self.vector_of(turn.said()))
            .collect();
        let earlier: Vec<Earlier<'_>> = before
            .iter()
            .zip(&vectors)
            .map(|(turn, vector)| Earlier {
                text: turn.said(),
                vector: vector.as_deref(),
            })
            .collect();
        let query = IndexQuery {
            text: &sought.text,
            vector: sought.vector.as_deref(),
            earlier: &earlier,
            exclude: shown,
            asker: &sought.asker,
            at: sought.at,
        };
        index.read(|index| look(index, &query))
    }

    /// The embedder in use.
    pub fn embedder(&self) -> &Embedder {
        &self.embedder
    }

    /// The vector of a text. A service is not called: recent queries are cached, and otherwise words must do.
    pub(crate) fn vector_of(&self, text: &str) -> Option<Vec<f32>> {
        match &*self.embedder {
            Embedder::Local(local) => local.embed(text),
            Embedder::Remote(_) => self.recent.get(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use async_trait::async_trait;
    use parking_lot::Mutex;
    use serde_json::{Map, Value, json};
    use tokio::net::TcpListener;
    use tokio::time::Instant;

    use super::*;
    use crate::graph::session::Sessions;
    use crate::graph::testing::{FakeGraph, fake_store, write};
    use crate::graph::{AudienceChanges, GraphConfig, GraphStore, StoreError, open};
    use crate::llm::{Limiter, ModelConfig, RemoteEmbedder};
    use crate::retrieval::LocalEmbedder;
    use crate::testing::new_turn;

    type Row = Map<String, Value>;

    /// Opens a graph in a folder, and what recalls from it with the shipped embedder.
    async fn opened(folder: &Path) -> (Arc<GraphStore>, Recaller) {
        let place = format!("embedded:{}", folder.display());
        let store = open(&GraphConfig::at(place)).await.unwrap();
        (store, shipped())
    }

    /// What recalls with the shipped embedder.
    fn shipped() -> Recaller {
        let calibration = Calibration::shipped().unwrap();
        let settings = RecallSettings::by(&calibration);
        let embedder = Embedder::Local(LocalEmbedder::shipped().unwrap());
        Recaller::new(embedder, calibration, settings)
    }

    /// A cluster: it is read from a member that may lag, and written to its leader. Each has a last position and an epoch, and no
    /// turn is left.
    #[derive(Clone, Debug, Default)]
    struct Cluster {
        follower: Arc<Mutex<(i64, i64)>>,
        leader: Arc<Mutex<(i64, i64)>>,
    }

    impl Cluster {
        fn row(member: &Mutex<(i64, i64)>) -> Row {
            let (last, epoch) = *member.lock();
            let row = json!({"last": last, "epoch": epoch, "turn": null});
            row.as_object().cloned().unwrap()
        }
    }

    #[async_trait]
    impl FakeGraph for Cluster {
        async fn read(&self, statement: &str, _: Row) -> Result<Vec<Row>, StoreError> {
            let counts = statement.contains("AS last");
            Ok(counts
                .then(|| Self::row(&self.follower))
                .into_iter()
                .collect())
        }

        async fn write(&self, _: &str, _: Row) -> Result<Vec<Row>, StoreError> {
            Ok(vec![Self::row(&self.leader)])
        }
    }

    /// Keeps turns of conversations of their own in the audience `terminal`.
    async fn keep(store: &GraphStore, conversations: &[&str]) {
        let sessions = Sessions::default();
        for conversation in conversations {
            let turn = new_turn(conversation, &format!("The code of {conversation} is new."));
            let guard = sessions
                .lock(&muninn_platform::ConversationId::new(*conversation))
                .await;
            store.append(&guard, &turn).await.unwrap();
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn after_a_backup_is_restored_new_turns_are_recalled() {
        let folder = tempfile::tempdir().unwrap();
        let (store, recaller) = opened(folder.path()).await;
        let audience = AudienceId::new("terminal");
        let known = || {
            let index = recaller.indexes.get(&audience).unwrap();
            index.read(AudienceIndex::len)
        };
        keep(&store, &["terminal/a", "terminal/b", "terminal/c"]).await;
        recaller.load(&store, &audience).await;
        assert_eq!(known(), 3);

        // The backup is from before the last two turns.
        for statement in [
            "MATCH (r:Response) WHERE r.position > 1 DETACH DELETE r",
            "MATCH (c:Channel {id: 'terminal'}) SET c.position = 1",
        ] {
            write(&store, statement).await.unwrap();
        }
        keep(&store, &["terminal/d"]).await;
        assert!(recaller.catch_up(&store, &audience).await);
        assert_eq!(known(), 2);

        // Another one is from before something was forgotten, and more was said since than before.
        write(
            &store,
            "MATCH (c:Channel {id: 'terminal'}) SET c.epoch = 60",
        )
        .await
        .unwrap();
        assert!(recaller.catch_up(&store, &audience).await);
        write(
            &store,
            "MATCH (c:Channel {id: 'terminal'}) SET c.epoch = 40",
        )
        .await
        .unwrap();
        keep(&store, &["terminal/e"]).await;
        assert!(recaller.catch_up(&store, &audience).await);
        assert_eq!(known(), 3);
    }

    #[tokio::test]
    async fn a_member_of_a_cluster_that_lags_ends_no_index() {
        let cluster = Cluster::default();
        let (store, recaller) = (fake_store(cluster.clone()), shipped());
        let audience = AudienceId::new("terminal");
        let now = (11, 6);
        *cluster.follower.lock() = now;
        *cluster.leader.lock() = now;
        recaller.load(&store, &audience).await;
        let seen = || recaller.indexes.get(&audience).unwrap().seen();
        assert_eq!(seen(), now);

        for lags in [(10, 6), (11, 5), (10, 5)] {
            *cluster.follower.lock() = lags;
            assert!(recaller.catch_up(&store, &audience).await);
            assert_eq!(seen(), now, "{lags:?}");
        }
        let restored = (10, 5);
        *cluster.leader.lock() = restored;
        assert!(recaller.catch_up(&store, &audience).await);
        assert_eq!(seen(), restored);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_turn_that_began_without_an_index_ends_none() {
        let folder = tempfile::tempdir().unwrap();
        let (store, recaller) = opened(folder.path()).await;
        let audience = AudienceId::new("terminal");
        keep(&store, &["terminal/a"]).await;
        let seen = recaller.known_position(&audience);
        let news: AudienceChanges = store.turns_since(&audience, seen, 10).await.unwrap();
        recaller.load(&store, &audience).await;
        recaller.apply_news(&store, &audience, &news).await;
        keep(&store, &["terminal/b"]).await;
        assert!(recaller.catch_up(&store, &audience).await);
        let index = recaller.indexes.get(&audience).unwrap();
        assert_eq!(index.read(AudienceIndex::len), 2);
    }

    #[tokio::test]
    async fn a_service_that_hangs_is_waited_for_once() {
        const PATIENCE: Duration = Duration::from_secs(4);
        let _ = rustls::crypto::ring::default_provider().install_default();
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", silent.local_addr().unwrap());
        let mut config = ModelConfig::new(url, "chat");
        config.timeouts.total = PATIENCE;
        let limiter = Arc::new(Limiter::new(&config.limits));
        let remote = RemoteEmbedder::new(&config, "embedding", limiter).unwrap();
        let calibration = Calibration::shipped().unwrap();
        let settings = RecallSettings::by(&calibration);
        let recaller = Recaller::new(Embedder::Remote(remote), calibration, settings);
        let began = Instant::now();
        for _ in 0..5 {
            assert!(recaller.embed_query("What?").await.embeddings_down);
            assert!(recaller.embed_exchange("That.").await.is_none());
        }
        assert!(began.elapsed() < 2 * PATIENCE, "{:?}", began.elapsed());
        assert!(recaller.has_missed.load(Ordering::Relaxed));
    }
}
