//! Labelled questions: a file says what should be found for each, in the format of `tests/data/team`.

use std::collections::{BTreeSet, HashMap};

use chrono::NaiveDateTime;
use serde::Deserialize;

use super::history::AudienceHistory;
use super::recall_eval;
use super::scan::{RelevanceSignal, ReplayQuestion};
use crate::graph::ResponseId;

/// A line of the file: a question and what should be found.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Label {
    #[serde(flatten)]
    pub asked: recall_eval::EvaluationQuery,
    #[serde(default)]
    pub kind: String,
    /// The evidence that should be found, as IDs of turns or events. Empty if there is nothing to find.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Turns that say the same; each may stand for one of the evidence.
    #[serde(default)]
    pub also: Vec<String>,
}

/// Why the labels cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    #[error(
        "none of the {0} labelled questions is about a channel of this memory: their `scope` is the id of a channel, as `muninn sessions --json` lists them"
    )]
    OtherMemory(usize),
}

/// The questions of the file about one audience. A question whose evidence is no longer in memory is left out, as nothing
/// could find it.
pub(super) fn questions(labels: &[Label], history: &AudienceHistory) -> Vec<ReplayQuestion> {
    let own = labels
        .iter()
        .filter(|it| it.asked.scope == history.audience.as_str());
    let own: Vec<&Label> = own.collect();
    if own.is_empty() {
        return Vec::new();
    }
    let mut known: HashMap<String, ResponseId> = HashMap::new();
    for turn in &history.turns {
        known.insert(turn.id.to_string(), turn.id);
        known.insert(turn.event.clone(), turn.id);
    }
    own.into_iter()
        .filter_map(|it| question(it, &known, history))
        .collect()
}

fn question(
    label: &Label,
    known: &HashMap<String, ResponseId>,
    history: &AudienceHistory,
) -> Option<ReplayQuestion> {
    let ids = |names: &[String]| names.iter().map(|it| known.get(it).copied()).collect();
    let evidence: Option<Vec<ResponseId>> = ids(&label.evidence);
    let evidence = evidence?;
    let also = label.also.iter().filter_map(|it| known.get(it)).copied();
    let is_before = |at: NaiveDateTime| {
        let turns = &history.turns;
        turns.partition_point(|turn| turn.created_at.naive_utc() < at)
    };
    Some(ReplayQuestion {
        id: label.asked.id.clone(),
        kind: if evidence.is_empty() {
            RelevanceSignal::Nothing
        } else {
            RelevanceSignal::Labelled(label.kind.clone())
        },
        text: label.asked.question.clone(),
        asker: accounts(label.asked.asker.as_deref(), history),
        at: label.asked.at.map(|at| at.and_utc()),
        session: label.asked.thread.clone(),
        known: label.asked.at.map_or(history.turns.len(), is_before),
        has_window: false,
        own: None,
        least: evidence.len(),
        targets: evidence.into_iter().chain(also).collect(),
    })
}

/// The accounts of an asker, whom the file names by an ID or by a name.
fn accounts(asker: Option<&str>, history: &AudienceHistory) -> Vec<String> {
    let Some(asker) = asker else {
        return Vec::new();
    };
    let turns = history.turns.iter();
    let own = turns.filter(|turn| turn.author == asker || turn.author_name == asker);
    let own: BTreeSet<&String> = own.map(|turn| &turn.author).collect();
    own.into_iter().cloned().collect()
}

/// Checks that the file is about this memory at all.
pub(super) fn check(labels: &[Label], used: usize) -> Result<(), LabelError> {
    if used == 0 && !labels.is_empty() {
        return Err(LabelError::OtherMemory(labels.len()));
    }
    Ok(())
}
