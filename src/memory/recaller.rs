//! Recall in a turn: embeds, and ranks by the audiences' indexes, which follow the graph.

mod following;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::DateTime;
use muninn_platform::{AudienceId, Channels, IncomingMessage, TimeZone, joined};
use tokio::time::timeout;

use super::cache::RecallCache;
use super::quote::put_best_first;
use super::recent::RecentVectors;
use super::{
    AudienceIndex, Calibration, Candidate, Earlier, MOST_QUOTED, Query, RecallSettings, Recalled,
    candidates, quote, recall, within_budget,
};
use crate::graph::{Embedding, NewTurn, ResponseId, Turn};
use crate::llm::{Admission, Breaker, Embedder, Late, ModelError};

/// Exchanges held in memory at most, of all audiences; about 1 KB each.
const MAX_EXCHANGES: usize = 200_000;
/// Turns before a message that it may lean on.
pub(super) const REACH: usize = 2;

/// How long a turn waits for a vector.
const VECTOR: Duration = Duration::from_secs(10);
/// The same of a service that failed and may be back.
const PROBE: Duration = Duration::from_secs(2);
/// Recalls.
#[derive(Debug)]
pub struct Recaller {
    embedder: Arc<Embedder>,
    breaker: Breaker,
    /// Turns may have been kept without a vector.
    has_missed: AtomicBool,
    calibration: Calibration,
    settings: RecallSettings,
    /// Some channels have a threshold of their own, or a time zone.
    channels: Arc<Channels>,
    /// Of everybody else.
    time_zone: TimeZone,
    indexes: RecallCache,
    recent: RecentVectors,
}

/// A message, with all that recall compares it by.
#[derive(Clone, Debug, Default)]
pub struct RecallQuery {
    pub text: String,
    /// None where the embedder knows no word of it, or does not answer.
    pub vector: Option<Vec<f32>>,
    /// The embedding service does not answer: only words are compared.
    pub embeddings_down: bool,
    /// Who says it.
    pub asker: Option<String>,
    /// When it is said, by their clock.
    pub at: Option<DateTime<TimeZone>>,
}

impl RecallQuery {
    /// Without a vector, since the service does not answer.
    fn by_words(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            vector: None,
            embeddings_down: true,
            ..Self::default()
        }
    }

    /// As somebody says it at a time: who "I" is, and what "yesterday".
    #[must_use]
    pub fn said_by(self, asker: &str, at: DateTime<TimeZone>) -> Self {
        Self {
            asker: Some(asker.to_owned()),
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
                // An earlier process may have missed some.
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

    /// With what is set for single channels.
    #[must_use]
    pub fn with_channels(self, channels: Arc<Channels>) -> Self {
        Self { channels, ..self }
    }

    /// By this time zone's days, where neither a person nor a channel has one.
    #[must_use]
    pub fn with_time_zone(self, time_zone: TimeZone) -> Self {
        Self { time_zone, ..self }
    }

    /// By whose days a message is understood: those of whoever wrote it, else the channel's, else everybody's.
    pub fn time_zone_of(&self, message: &IncomingMessage) -> TimeZone {
        let of_author = message.author.time_zone;
        of_author.unwrap_or_else(|| self.time_zone_in(message.channel()))
    }

    /// By which the days of a channel begin, for whoever has no other.
    pub fn time_zone_in(&self, channel: &AudienceId) -> TimeZone {
        let its = self.channels.of(channel).and_then(|set| set.time_zone);
        its.unwrap_or(self.time_zone)
    }

    /// A message as its author says it.
    pub fn as_said(&self, sought: RecallQuery, message: &IncomingMessage) -> RecallQuery {
        let at = message.sent_at.with_timezone(&self.time_zone_of(message));
        sought.said_by(&message.author.name, at)
    }

    fn settings_of(&self, audience: &AudienceId) -> RecallSettings {
        let set = self.channels.of(audience);
        let threshold = set.and_then(|settings| settings.recall_threshold);
        RecallSettings {
            threshold: threshold.unwrap_or(self.settings.threshold),
            ..self.settings
        }
    }

    /// Embeds an exchange that is to be kept. None where it embeds to nothing, or cannot be embedded
    /// now: then it is later.
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

    /// Embeds messages that are to be kept. Those that cannot be embedded now are later.
    pub async fn embed_messages(&self, messages: &mut [NewTurn]) {
        let wait = match self.breaker.admission() {
            Admission::Ask => VECTOR,
            Admission::Probe => PROBE,
            Admission::Skip => return self.has_missed.store(true, Ordering::Relaxed),
        };
        let texts: Vec<String> = messages.iter().map(|it| it.turn.input.clone()).collect();
        let embedder = Arc::clone(&self.embedder);
        let embed = async move { embedder.embed(&texts).await };
        // Thousands of them are no reason for a turn to wait.
        let embedding = tokio::task::spawn_blocking(move || {
            tokio::runtime::Handle::current().block_on(timeout(wait, embed))
        });
        let embedded = joined(embedding)
            .await
            .unwrap_or(Err(ModelError::TimedOut(Late::Fixed(wait))));
        let vectors: Vec<Option<Vec<f32>>> = match embedded {
            Ok(vectors) => vectors,
            Err(error) => {
                self.breaker.failed(&error);
                self.has_missed.store(true, Ordering::Relaxed);
                let error = &error as &dyn std::error::Error;
                return tracing::warn!(error, "messages are kept without vectors");
            }
        };
        self.breaker.succeeded();
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

    /// Makes a message ready to be looked for. A service that hangs is waited for once, not in every
    /// turn.
    pub async fn seek(&self, text: &str) -> RecallQuery {
        let sought = self.embedded(text).await;
        match (&*self.embedder, &sought.vector) {
            (Embedder::Remote(_), Some(vector)) => self.recent.keep(text, vector),
            (Embedder::Remote(_), None) | (Embedder::Local(_), _) => {}
        }
        sought
    }

    async fn embedded(&self, text: &str) -> RecallQuery {
        let wait = match self.breaker.admission() {
            Admission::Ask => VECTOR,
            Admission::Probe => PROBE,
            Admission::Skip => return RecallQuery::by_words(text),
        };
        let texts = [text.to_owned()];
        let embedded = timeout(wait, self.embedder.embed(&texts))
            .await
            .unwrap_or(Err(ModelError::TimedOut(Late::Fixed(wait))));
        match embedded {
            Ok(vectors) => {
                self.breaker.succeeded();
                RecallQuery {
                    text: text.to_owned(),
                    vector: vectors.into_iter().next().flatten(),
                    ..RecallQuery::default()
                }
            }
            Err(error) => {
                self.breaker.failed(&error);
                tracing::warn!(error = &error as &dyn std::error::Error, "no embedding");
                RecallQuery::by_words(text)
            }
        }
    }

    /// The audiences' earlier turns that help with a message, oldest first, without those that are
    /// `shown` already. A message may lean on the turns `before` it in its session. The budget is
    /// that of the first audience, for all of them together.
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
            // The usual case, and within the budget already.
            [one] => recalled(one),
            several => within_budget(several.iter().map(recalled).collect(), &self.settings),
        }
    }

    /// What a person is quoted of them where no model answers, best first: a few, or nothing.
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

    /// What was considered for a message, best first, and what became of it.
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
        look: impl Fn(&AudienceIndex, &Query<'_>) -> Vec<T>,
    ) -> Vec<T> {
        let Some(index) = self.indexes.get(audience) else {
            return Vec::new();
        };
        let before = &before[before.len().saturating_sub(REACH)..];
        let vectors: Vec<Option<Vec<f32>>> = before
            .iter()
            .map(|turn| self.vector_of(&turn.input))
            .collect();
        let earlier: Vec<Earlier<'_>> = before
            .iter()
            .zip(&vectors)
            .map(|(turn, vector)| Earlier {
                text: &turn.input,
                vector: vector.as_deref(),
            })
            .collect();
        let query = Query {
            text: &sought.text,
            vector: sought.vector.as_deref(),
            earlier: &earlier,
            exclude: shown,
            asker: sought.asker.as_deref(),
            at: sought.at,
        };
        index.read(|index| look(index, &query))
    }

    /// What embeds.
    pub fn embedder(&self) -> &Embedder {
        &self.embedder
    }

    /// A service is not asked: it has what was sought lately, and words have to do for the rest.
    pub(crate) fn vector_of(&self, text: &str) -> Option<Vec<f32>> {
        match &*self.embedder {
            Embedder::Local(local) => local.embed(text),
            Embedder::Remote(_) => self.recent.get(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;
    use tokio::time::Instant;

    use super::*;
    use crate::llm::{Limiter, ModelConfig, RemoteEmbedder};

    #[tokio::test]
    async fn a_service_that_hangs_is_waited_for_once() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", silent.local_addr().unwrap());
        let mut config = ModelConfig::new(url, "chat");
        config.timeouts.total = Duration::from_millis(500);
        let limiter = Arc::new(Limiter::new(&config.limits));
        let remote = RemoteEmbedder::new(&config, "embedding", limiter).unwrap();
        let calibration = Calibration::shipped().unwrap();
        let settings = RecallSettings::by(&calibration);
        let recaller = Recaller::new(Embedder::Remote(remote), calibration, settings);
        let began = Instant::now();
        for _ in 0..5 {
            assert!(recaller.seek("What?").await.embeddings_down);
            assert!(recaller.embed_exchange("That.").await.is_none());
        }
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "{:?}",
            began.elapsed()
        );
        assert!(recaller.has_missed.load(Ordering::Relaxed));
    }
}
