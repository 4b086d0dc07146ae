//! Scans a history once, by its words alone: counts what happened, and collects questions that can be asked again because
//! the history itself shows what should be found for them. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::figures::{Figure, Figures, Share};
use super::history::{AudienceHistory, Windows, draw};
use super::words::{self, REPEATED, RepeatedWords, USED, are_the_same, signature, telling};
use crate::graph::{Outcome, ResponseId, Source, Turn};
use crate::memory::recall::index::AudienceIndex;
use crate::retrieval::speech::asks_something;

/// Whoever asks the same again within this time was not helped.
const REPEAT_WINDOW: TimeDelta = TimeDelta::minutes(15);
/// Number of turns after an answer in which a repeated question is looked for.
const MAX_LATER_TURNS: usize = 100;
/// Maximum number of exchanges that count as the origin of an answer that repeats them.
const MOST_TARGETS: usize = 3;

/// Why a question can be asked again: what shows which exchanges should be found for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelevanceSignal {
    /// Its answer uses words of memories that it was given.
    Used,
    /// Its answer uses telling words of exchanges that it was not given, as far as is known.
    SaidAgain,
    /// Nearly the same was asked and answered before.
    Repeated,
    /// A colleague answered it.
    Replied,
    /// Somebody corrected its answer.
    Corrected,
    /// A file of labels says so; with the label's kind.
    Labelled(String),
    /// A file of labels says that there is nothing to find.
    Nothing,
}

impl RelevanceSignal {
    /// Whether there is nothing to find.
    pub fn has_nothing(&self) -> bool {
        match self {
            Self::Nothing => true,
            Self::Used
            | Self::SaidAgain
            | Self::Repeated
            | Self::Replied
            | Self::Corrected
            | Self::Labelled(_) => false,
        }
    }

    /// The name in tables.
    pub fn label(&self) -> String {
        match self {
            Self::Used => "a memory was used for its answer".to_owned(),
            Self::SaidAgain => "its answer says again what was said".to_owned(),
            Self::Repeated => "nearly the same was answered before".to_owned(),
            Self::Replied => "a colleague answered it".to_owned(),
            Self::Corrected => "its answer was corrected".to_owned(),
            Self::Labelled(kind) if kind.is_empty() => "labelled".to_owned(),
            Self::Labelled(kind) => format!("labelled: {kind}"),
            Self::Nothing => "labelled: nothing to be found".to_owned(),
        }
    }
}

/// A question to be asked again.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReplayQuestion {
    pub(super) id: String,
    pub(super) kind: RelevanceSignal,
    pub(super) text: String,
    /// The IDs of the asker's accounts.
    pub(super) asker: Vec<String>,
    pub(super) at: Option<DateTime<Utc>>,
    /// The conversation in which it is asked.
    pub(super) session: Option<String>,
    /// Number of turns that were known then.
    pub(super) known: usize,
    /// Whether turns in its window do not count as found.
    pub(super) has_window: bool,
    /// Its own turn, if there is one.
    pub(super) own: Option<ResponseId>,
    pub(super) targets: Vec<ResponseId>,
    /// Minimum number of targets to find.
    pub(super) least: usize,
}

/// The settings of a scan.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanSettings {
    /// Number of turns in the window.
    pub(super) window: usize,
    /// Maximum number of questions of each kind.
    pub(super) most: usize,
    /// What happened since then is also counted separately.
    pub(super) since: Option<DateTime<Utc>>,
}

/// The results of a scan.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) total: Figures,
    pub(super) weeks: BTreeMap<String, Figures>,
    pub(super) since: Figures,
    pub(super) questions: Vec<ReplayQuestion>,
}

impl Scanned {
    fn count(&mut self, at: DateTime<Utc>, since: Option<DateTime<Utc>>, figures: &Figures) {
        self.total.add(figures);
        self.weeks.entry(week(at)).or_default().add(figures);
        if since.is_none_or(|since| at > since) {
            self.since.add(figures);
        }
    }
}

/// The ISO 8601 week of a time.
pub(super) fn week(at: DateTime<Utc>) -> String {
    at.format("%G-W%V").to_string()
}

pub(super) fn scan(history: &AudienceHistory, rules: &ScanSettings) -> Scanned {
    let mut scanned = Scanned::default();
    let reader = HistoryScanner {
        history,
        names: words::names(&history.turns),
        corrected: history.corrected(),
        places: history
            .turns
            .iter()
            .enumerate()
            .map(|(place, turn)| (turn.id, place))
            .collect(),
        events: history
            .turns
            .iter()
            .enumerate()
            .map(|(place, turn)| (turn.event.as_str(), place))
            .collect(),
        replaced_by: history.replaced_by(),
        drawn: drawn(history, rules.most),
    };
    let mut index = AudienceIndex::new(None, 0);
    let mut entries: Vec<usize> = Vec::new();
    let mut windows = Windows::new(rules.window);
    let mut said: HashSet<BTreeSet<String>> = HashSet::new();
    for (place, turn) in history.turns.iter().enumerate() {
        let shown = windows.get(&turn.session);
        let known = MemorySnapshot {
            index: &index,
            entries: &entries,
            shown: &shown,
        };
        let mut figures = Figures::default();
        if let Some(outcome) = history
            .outcomes
            .get(&turn.id)
            .filter(|_| turn.is_answered())
        {
            reader.count_answer(&mut figures, place, outcome, &known);
        }
        scanned.questions.extend(reader.questions(place, &known));
        if turn.can_be_recalled() {
            let text = format!("{}\n{}", turn.input, turn.output);
            if let Some(signature) = signature(&text) {
                let is_copy = !said.insert(signature);
                figures.count(Figure::Duplicate, Share::one(is_copy));
            }
        }
        scanned.count(turn.created_at, rules.since, &figures);
        windows.push(&turn.session, place);
        let before = index.len();
        index.push(turn);
        if index.len() > before {
            entries.push(place);
        }
    }
    scanned.questions.extend(reader.corrections());
    scanned
}

/// The turns from which questions are made: at most `most`, the same ones each time.
fn drawn(history: &AudienceHistory, most: usize) -> HashSet<ResponseId> {
    let mut ids: Vec<ResponseId> = history.turns.iter().map(|it| it.id).collect();
    ids.sort_by_key(|id| draw(*id));
    ids.truncate(most);
    ids.into_iter().collect()
}

/// What was known when a turn was made.
struct MemorySnapshot<'a> {
    index: &'a AudienceIndex,
    /// The turn number of each exchange in the index.
    entries: &'a [usize],
    /// Turn numbers of its window.
    shown: &'a [usize],
}

struct HistoryScanner<'a> {
    history: &'a AudienceHistory,
    names: HashSet<String>,
    corrected: HashSet<ResponseId>,
    places: HashMap<ResponseId, usize>,
    events: HashMap<&'a str, usize>,
    /// What replaces each earlier exchange; there may be several with similar wording.
    replaced_by: HashMap<ResponseId, Vec<ResponseId>>,
    drawn: HashSet<ResponseId>,
}

impl HistoryScanner<'_> {
    fn turn(&self, place: usize) -> &Turn {
        &self.history.turns[place]
    }

    fn said_again(&self, turn: &Turn, known: &MemorySnapshot<'_>) -> RepeatedWords {
        let window: Vec<&Turn> = known.shown.iter().map(|it| self.turn(*it)).collect();
        RepeatedWords::read(known.index, turn, &window, &self.names)
    }

    fn count_answer(
        &self,
        figures: &mut Figures,
        place: usize,
        outcome: &Outcome,
        known: &MemorySnapshot<'_>,
    ) {
        let turn = self.turn(place);
        let votes = outcome.votes;
        figures.count(
            Figure::RatedGood,
            Share::of(votes.good, votes.good + votes.bad),
        );
        let corrected = self.corrected.contains(&turn.id);
        figures.count(Figure::Corrected, Share::one(corrected));
        let rests_on_knowledge = outcome.knowledge + outcome.changed > 0;
        if asks_something(&turn.input) {
            let asked_again = self.is_asked_again(place);
            figures.count(Figure::AskedAgain, Share::one(asked_again));
            let silent = outcome.recalled.is_empty() && !rests_on_knowledge;
            figures.count(Figure::Silent, Share::one(silent));
            if silent {
                let unhappy = asked_again || corrected;
                figures.count(Figure::SilentAndAskedAgain, Share::one(unhappy));
            }
        }
        if rests_on_knowledge {
            let changed = outcome.changed > 0;
            figures.count(Figure::KnowledgeChanged, Share::one(changed));
        }
        figures.count(Figure::Given, Share::one(!outcome.recalled.is_empty()));
        if outcome.recalled.is_empty() {
            return;
        }
        figures.count(
            Figure::Outdated,
            Share::one(self.is_outdated(turn, outcome)),
        );
        if is_written(turn) {
            let used = self.used(turn, outcome, known).len();
            figures.count(Figure::Used, Share::of(used, outcome.recalled.len()));
        }
    }

    /// The memories that an answer was given and used.
    fn used(&self, turn: &Turn, outcome: &Outcome, known: &MemorySnapshot<'_>) -> Vec<ResponseId> {
        let again = self.said_again(turn, known);
        let entry = |id: &ResponseId| {
            let place = self.places.get(id)?;
            known.entries.binary_search(place).ok()
        };
        let is_used = |id: &&ResponseId| entry(id).is_some_and(|it| again.shared(it) >= USED);
        outcome.recalled.iter().filter(is_used).copied().collect()
    }

    /// Whether the same person soon asks the same again there.
    fn is_asked_again(&self, place: usize) -> bool {
        let turn = self.turn(place);
        let asked = telling(&turn.input);
        let soon = turn.created_at + REPEAT_WINDOW;
        let next = self.history.turns[place + 1..].iter().take(MAX_LATER_TURNS);
        let mut next = next.take_while(|it| it.created_at <= soon);
        next.any(|it| {
            it.author == turn.author
                && it.is_answered()
                && are_the_same(&asked, &telling(&it.input))
        })
    }

    /// Whether it was given a replaced memory without the one that replaces it.
    fn is_outdated(&self, turn: &Turn, outcome: &Outcome) -> bool {
        let was_known = |id: &&ResponseId| {
            let place = self.places.get(*id);
            place.is_some_and(|it| self.turn(*it).position < turn.position)
        };
        let is_outdated = |given: &ResponseId| {
            let later = self.replaced_by.get(given).into_iter().flatten();
            let mut known = later.filter(was_known).peekable();
            known.peek().is_some() && known.all(|it| !outcome.recalled.contains(it))
        };
        outcome.recalled.iter().any(is_outdated)
    }

    fn questions(&self, place: usize, known: &MemorySnapshot<'_>) -> Vec<ReplayQuestion> {
        let turn = self.turn(place);
        if !self.drawn.contains(&turn.id) {
            return Vec::new();
        }
        if !turn.is_answered() {
            return self.replied(turn).into_iter().collect();
        }
        let targets = self.targets(turn, known);
        let repeated = self
            .repeated(turn, known)
            .map(|it| (RelevanceSignal::Repeated, vec![it]));
        let all = targets.into_iter().chain(repeated);
        all.map(|(kind, targets)| ReplayQuestion {
            id: turn.id.to_string(),
            kind,
            text: turn.input.clone(),
            asker: vec![turn.author.clone()],
            at: Some(turn.created_at),
            session: Some(turn.session.clone()),
            known: place,
            has_window: true,
            own: None,
            targets,
            least: 1,
        })
        .collect()
    }

    /// The origins of an answer, as far as its words show them.
    fn targets(
        &self,
        turn: &Turn,
        known: &MemorySnapshot<'_>,
    ) -> Option<(RelevanceSignal, Vec<ResponseId>)> {
        if !is_written(turn) || known.index.is_empty() {
            return None;
        }
        let outcome = self.history.outcomes.get(&turn.id)?;
        let used = self.used(turn, outcome, known);
        if !used.is_empty() {
            return Some((RelevanceSignal::Used, used));
        }
        let again = self.said_again(turn, known);
        let best = again.best(REPEATED, MOST_TARGETS).into_iter();
        let best = best.map(|entry| known.entries[entry]);
        let best = best.filter(|place| !known.shown.contains(place));
        let best: Vec<ResponseId> = best.map(|place| self.turn(place).id).collect();
        (!best.is_empty()).then_some((RelevanceSignal::SaidAgain, best))
    }

    /// The last exchange in which nearly the same was asked and answered.
    fn repeated(&self, turn: &Turn, known: &MemorySnapshot<'_>) -> Option<ResponseId> {
        let asked = telling(&turn.input);
        let words = crate::memory::recall::history::words(known.index, &turn.input, &[]);
        let found = known.index.postings().score(&words).coverage;
        let covered = found.iter().enumerate().filter(|(_, part)| **part >= 0.6);
        let mut places = covered.map(|(entry, _)| known.entries[entry]);
        let is_it = |place: &usize| {
            let earlier = self.turn(*place);
            !known.shown.contains(place)
                && is_written(earlier)
                && are_the_same(&asked, &telling(&earlier.input))
        };
        places.rfind(is_it).map(|place| self.turn(place).id)
    }

    /// A question to colleagues that one of them answered with a reply. It is asked again at the end of the history.
    fn replied(&self, turn: &Turn) -> Option<ReplayQuestion> {
        let event = turn.reply_to.as_ref().filter(|_| turn.is_message())?;
        let asked = self.turn(*self.events.get(event.as_str())?);
        let answers = asks_something(&asked.input)
            && asked.author != turn.author
            && !asks_something(&turn.input);
        let tells = telling(&turn.input).len() >= 3;
        (asked.is_message() && answers && tells)
            .then(|| self.now(asked, RelevanceSignal::Replied, turn.id))
    }

    /// Questions whose answers somebody corrected. They are asked again at the end of the history.
    fn corrections(&self) -> Vec<ReplayQuestion> {
        let later = self.history.turns.iter().map(|it| it.id);
        let all = later.filter_map(|id| self.history.replaced.get(&id));
        let corrections = all.flatten().filter(|it| it.corrected_at.is_some());
        let asked = corrections.filter_map(|it| {
            let turn = self.turn(*self.places.get(&it.earlier)?);
            let is_known = self.places.contains_key(&it.later);
            (is_known && turn.is_answered())
                .then(|| self.now(turn, RelevanceSignal::Corrected, it.later))
        });
        asked.collect()
    }

    fn now(&self, turn: &Turn, kind: RelevanceSignal, target: ResponseId) -> ReplayQuestion {
        ReplayQuestion {
            id: turn.id.to_string(),
            kind,
            text: turn.input.clone(),
            asker: vec![turn.author.clone()],
            at: self.history.turns.last().map(|it| it.created_at),
            session: None,
            known: self.history.turns.len(),
            has_window: false,
            own: Some(turn.id),
            targets: vec![target],
            least: 1,
        }
    }
}

/// Whether a model wrote the answer: an answer that only quotes repeats its quotes.
fn is_written(turn: &Turn) -> bool {
    match turn.source {
        Source::Model | Source::Knowledge | Source::Retrieval => true,
        Source::Memory | Source::Message | Source::Note => false,
    }
}
