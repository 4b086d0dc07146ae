//! `muninn eval`: measures how well a deployed memory works, from its own history in the graph. It calls no model, and an
//! embedding service only if the operator allows it.
//!
//! A history is first scanned by its words alone (`scan`): this counts what happened, and finds questions for which the
//! history itself shows what should be recalled. These are asked again (`replay`), each with what was known at its time,
//! through the same code that serves a turn. `docs/eval.md` explains what each figure means, and what it does not.

pub mod calibrate;
pub mod compare;
pub mod curve;
mod embedded_text;
pub mod embedder;
pub mod figures;
mod history;
pub mod interval;
mod labels;
pub mod recall_eval;
mod replay;
pub mod report;
mod scan;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use muninn_platform::{AudienceId, Channels, TimeZone, join_task};

pub use self::labels::{Label, LabelError};
pub use self::replay::Replayed;
pub use self::scan::RelevanceSignal;

use self::embedder::{Exchanges, Gathering, RepeatedVectors, sample};
use self::history::AudienceHistory;
use self::replay::{Asker, Vectors};
use self::report::{EvaluationRun, FORMAT, Report};
use self::scan::{ReplayQuestion, ScanSettings, Scanned, scan};
use super::recall::index::AudienceIndex;
use super::recall::recaller::REACH;
use super::{Calibration, RecallSettings};
use crate::graph::{GraphStore, ResponseId, StoreError, Turn};
use crate::llm::{Embedder, ModelError};
use embedded_text::text_of;

/// Minimum number of questions of each kind per channel, however small the channel's share is.
const LEAST_QUESTIONS: usize = 20;

/// What is measured: an embedder and its settings.
#[derive(Debug)]
pub struct Setup {
    /// How it differs from the deployed settings; empty for those.
    pub name: String,
    pub embedder: Embedder,
    /// Whether the embedder may be called. Otherwise questions are searched by words only.
    pub may_embed: bool,
    pub calibration: Calibration,
    pub settings: RecallSettings,
    /// The settings of channels, some of which have their own threshold.
    pub channels: Arc<Channels>,
    pub time_zone: TimeZone,
    /// Number of turns of a conversation in the prompt.
    pub window: usize,
}

/// What to measure.
#[derive(Debug, Default)]
pub struct EvaluationRequest {
    /// Only these audiences; all if empty.
    pub channels: Vec<AudienceId>,
    /// Maximum number of questions of each kind that are asked again.
    pub most: usize,
    /// What happened since then is also counted separately.
    pub since: Option<DateTime<Utc>>,
    pub labels: Vec<Label>,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    #[error("nothing was said to the bot yet, so there is nothing to measure")]
    Empty,
    #[error("there is no channel {0}; `muninn sessions --json` lists them as audiences")]
    NoChannel(String),
    #[error(transparent)]
    Labels(#[from] LabelError),
    #[error("the embedder {0:?} cannot be used")]
    Embedder(String, #[source] ModelError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reports progress, in audiences.
pub type ProgressCallback<'a> = &'a mut (dyn FnMut(usize, usize) + Send);

/// Measures a memory with each of `setups`, of which the first is the deployed one.
///
/// # Errors
/// Fails when there is nothing to measure, or when an embedder or the graph fails.
pub async fn evaluate(
    store: &GraphStore,
    setups: &[Arc<Setup>],
    wanted: &EvaluationRequest,
    far: ProgressCallback<'_>,
) -> Result<Report, EvaluationError> {
    let audiences = audiences(store, wanted).await?;
    let turns: usize = audiences.iter().map(|(_, turns)| turns).sum();
    let mut runs: Vec<SetupEvaluation> = Vec::new();
    for setup in setups {
        runs.push(SetupEvaluation::begin(setup).await?);
    }
    let mut report = empty(wanted);
    let mut labelled = 0;
    for (at, (audience, own)) in audiences.iter().enumerate() {
        far(at, audiences.len());
        let history = Arc::new(AudienceHistory::read(store, audience).await?);
        let window = setups.iter().map(|it| it.window).max();
        let part = |of: usize| (of * own).div_ceil(turns.max(1));
        let rules = ScanSettings {
            window: window.unwrap_or_default(),
            most: part(wanted.most).max(LEAST_QUESTIONS),
            since: wanted.since,
        };
        let mut scanned = blocking(&history, move |history| scan(history, &rules)).await;
        let labels = labels::questions(&wanted.labels, &history);
        labelled += labels.len();
        let mut questions = std::mem::take(&mut scanned.questions);
        questions.extend(labels);
        let questions = Arc::new(questions);
        for run in &mut runs {
            let most = part(embedder::MAX_EXCHANGES).max(1);
            run.ask(&history, &questions, most).await?;
        }
        take(&mut report, audience, &history, scanned);
    }
    far(audiences.len(), audiences.len());
    labels::check(&wanted.labels, labelled)?;
    report.runs = runs.into_iter().map(SetupEvaluation::end).collect();
    Ok(report)
}

/// The audiences that have talked, with their numbers of turns.
async fn audiences(
    store: &GraphStore,
    wanted: &EvaluationRequest,
) -> Result<Vec<(AudienceId, usize)>, EvaluationError> {
    let mut turns = store.turns_by_audience().await?;
    let unknown = wanted
        .channels
        .iter()
        .find(|it| !turns.contains_key(it.as_str()));
    if let Some(channel) = unknown {
        return Err(EvaluationError::NoChannel(channel.as_str().to_owned()));
    }
    let named: HashSet<&str> = wanted.channels.iter().map(AudienceId::as_str).collect();
    turns.retain(|name, turns| {
        *turns > 0 && !name.is_empty() && (named.is_empty() || named.contains(&**name))
    });
    if turns.is_empty() {
        return Err(EvaluationError::Empty);
    }
    let all = turns.into_iter();
    Ok(all
        .map(|(name, turns)| (AudienceId::new(name), turns))
        .collect())
}

fn empty(wanted: &EvaluationRequest) -> Report {
    Report {
        format: FORMAT,
        muninn: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: Utc::now(),
        first: None,
        last: None,
        total: Default::default(),
        channels: BTreeMap::new(),
        weeks: BTreeMap::new(),
        since: wanted.since.map(|_| Default::default()),
        runs: Vec::new(),
    }
}

fn take(report: &mut Report, audience: &AudienceId, history: &AudienceHistory, scanned: Scanned) {
    let times = || history.turns.iter().map(|turn| turn.created_at);
    report.first = report.first.into_iter().chain(times().min()).min();
    report.last = report.last.into_iter().chain(times().max()).max();
    report.total.add(&scanned.total);
    for (week, figures) in &scanned.weeks {
        report.weeks.entry(week.clone()).or_default().add(figures);
    }
    if let Some(since) = &mut report.since {
        since.add(&scanned.since);
    }
    let channel = audience.as_str().to_owned();
    report.channels.insert(channel, scanned.total);
}

/// Runs on a thread where it blocks nobody.
async fn blocking<T: Send + 'static>(
    history: &Arc<AudienceHistory>,
    work: impl FnOnce(&AudienceHistory) -> T + Send + 'static,
) -> T {
    let history = Arc::clone(history);
    join_task(tokio::task::spawn_blocking(move || work(&history))).await
}

/// A setup being measured.
struct SetupEvaluation {
    setup: Arc<Setup>,
    /// The name of its embedder and the dimension of its vectors; `None` if unknown.
    embedder: Option<(String, usize)>,
    gathering: Gathering,
    replayed: Vec<Replayed>,
}

impl SetupEvaluation {
    async fn begin(setup: &Arc<Setup>) -> Result<Self, EvaluationError> {
        let embedder = &setup.embedder;
        if setup.may_embed {
            embedder
                .resolve_name()
                .await
                .map_err(|error| unusable(embedder, error))?;
        }
        let known = embedder.name().zip(embedder.dimension());
        Ok(Self {
            embedder: known.map(|(name, dimension)| (name.to_owned(), dimension)),
            setup: Arc::clone(setup),
            gathering: Gathering::default(),
            replayed: Vec::new(),
        })
    }

    /// Asks an audience's questions, and examines some of its exchanges.
    async fn ask(
        &mut self,
        history: &Arc<AudienceHistory>,
        questions: &Arc<Vec<ReplayQuestion>>,
        most: usize,
    ) -> Result<(), EvaluationError> {
        // Before the service has answered, the kept vectors show its name and dimension.
        if self.embedder.is_none() {
            self.embedder = kept_embedder(&self.setup.embedder, &history.turns);
        }
        let vectors = self.vectors_of(&texts(history, questions)).await?;
        let exchanges = self.exchanges(history).await?;
        let now = self.made_now(history, most).await?;
        let (setup, embedder) = (Arc::clone(&self.setup), self.embedder.clone());
        let questions = Arc::clone(questions);
        let mut gathering = std::mem::take(&mut self.gathering);
        let (gathering, replayed) = blocking(history, move |history| {
            let asker = Asker {
                embedder: embedder
                    .as_ref()
                    .map(|(name, dimension)| (&**name, *dimension)),
                calibration: &setup.calibration,
                settings: settings_of(&setup, &history.audience),
                time_zone: setup.time_zone,
                window: setup.window,
                vectors: &vectors,
                exchanges: exchanges.as_ref(),
            };
            let (replayed, index): (_, AudienceIndex) = asker.replay(history, &questions);
            let all = Exchanges::new(&index, &history.turns, exchanges.as_ref());
            gathering.look(&all, &sample(&history.turns, most), &now);
            (gathering, replayed)
        })
        .await;
        self.gathering = gathering;
        self.replayed.extend(replayed);
        Ok(())
    }

    fn end(self) -> EvaluationRun {
        let name = self.embedder.map_or_else(String::new, |(name, _)| name);
        EvaluationRun {
            name: self.setup.name.clone(),
            is_by_words: !self.setup.may_embed,
            embedder: self.gathering.check(&name),
            replayed: self.replayed,
        }
    }

    /// The vectors of texts; none if the embedder may not be called.
    async fn vectors_of(&self, texts: &[String]) -> Result<Vectors, EvaluationError> {
        if !self.setup.may_embed {
            return Ok(Vectors::new());
        }
        let embedder = &self.setup.embedder;
        let made = embedder.embed(texts).await;
        let made = made.map_err(|error| unusable(embedder, error))?;
        Ok(texts.iter().cloned().zip(made).collect())
    }

    /// Vectors of the exchanges, where hardly any kept vector is from this embedder.
    async fn exchanges(
        &self,
        history: &AudienceHistory,
    ) -> Result<Option<HashMap<ResponseId, Vec<f32>>>, EvaluationError> {
        let can_be_recalled = history.turns.iter().filter(|it| it.can_be_recalled());
        let turns: Vec<&Turn> = can_be_recalled.collect();
        let own = self.embedder.as_ref().map(|(name, _)| name.as_str());
        let is_own = |turn: &&&Turn| {
            let kept = turn.embedding.as_ref();
            kept.is_some_and(|it| Some(it.embedder.as_str()) == own)
        };
        // The deployed memory is measured as it is.
        if self.setup.name.is_empty()
            || !self.setup.may_embed
            || turns.iter().filter(is_own).count() * 2 > turns.len()
        {
            return Ok(None);
        }
        let texts: Vec<String> = turns.iter().map(|turn| text_of(turn)).collect();
        let mut vectors = self.vectors_of(&texts).await?;
        let pairs = turns.iter().zip(&texts);
        let made = pairs.filter_map(|(turn, text)| {
            // Two exchanges may have the same text.
            let vector = vectors.get_mut(text)?.clone()?;
            Some((turn.id, vector))
        });
        Ok(Some(made.collect()))
    }

    async fn made_now(
        &self,
        history: &AudienceHistory,
        most: usize,
    ) -> Result<RepeatedVectors, EvaluationError> {
        if !self.setup.may_embed {
            return Ok(RepeatedVectors::default());
        }
        let sample = sample(&history.turns, most);
        let mut texts: Vec<String> = sample.iter().map(|turn| text_of(turn)).collect();
        let first = self.vectors_of(&texts).await?;
        // A service that reverses each request would do the same to a reversed one, so the order is rotated instead.
        let others_first = texts.len().min(1);
        texts.rotate_left(others_first);
        let again = self.vectors_of(&texts).await?;
        let of = |vectors: &Vectors| {
            let vector = |turn: &&Turn| (turn.id, vectors.get(&text_of(turn)).cloned().flatten());
            sample.iter().map(vector).collect()
        };
        Ok(RepeatedVectors {
            first: of(&first),
            again: of(&again),
        })
    }
}

fn unusable(embedder: &Embedder, error: ModelError) -> EvaluationError {
    let name = match embedder {
        Embedder::Local(local) => local.name(),
        Embedder::Remote(remote) => remote.model(),
    };
    EvaluationError::Embedder(name.to_owned(), error)
}

/// The embedder of an audience's vectors, if it is this one.
fn kept_embedder(embedder: &Embedder, turns: &[Turn]) -> Option<(String, usize)> {
    let mut kept = turns.iter().rev().filter_map(|it| it.embedding.as_ref());
    let own = kept.find(|it| embedder.matches_name(&it.embedder))?;
    Some((own.embedder.clone(), own.vector.len()))
}

fn settings_of(setup: &Setup, audience: &AudienceId) -> RecallSettings {
    let set = setup.channels.of(audience);
    let threshold = set.and_then(|it| it.recall_threshold);
    RecallSettings {
        threshold: threshold.unwrap_or(setup.settings.threshold),
        ..setup.settings
    }
}

/// The texts of questions to embed: their own, and what was said right before them.
fn texts(history: &AudienceHistory, questions: &[ReplayQuestion]) -> Vec<String> {
    let mut texts: HashSet<&str> = HashSet::new();
    let mut sessions: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, turn) in history.turns.iter().enumerate() {
        sessions.entry(&turn.session).or_default().push(place);
    }
    for question in questions {
        texts.insert(&question.text);
        let session = question.session.as_deref().unwrap_or_default();
        let said = sessions.get(session).map_or(&[][..], Vec::as_slice);
        let before = said.partition_point(|place| *place < question.known);
        let earlier = &said[before.saturating_sub(REACH)..before];
        texts.extend(
            earlier
                .iter()
                .map(|place| history.turns[*place].input.as_str()),
        );
    }
    let mut texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
    texts.sort_unstable();
    texts
}
