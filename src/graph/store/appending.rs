//! Appends many turns in one transaction: those that waited while the graph was away.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::GraphStore;
use super::record::{append_params, params, text, title, unexpected};
use super::statements::appending as cypher;
use crate::graph::engine::value::float;
use crate::graph::engine::{Engine, Params, TransactionStep};
use crate::graph::ingest::PRIVATE;
use crate::graph::session::SessionGuard;
use crate::graph::types::labels::MEMORY_LABELS;
use crate::graph::{NewTurn, StoreError};

/// The longest transaction: its sessions wait for it.
const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(20);

/// Appends turns to the chains of their sessions, in order. A turn whose event already has one is skipped,
/// but an answer replaces a message that was only heard. Messages and notes need no guard, as no running
/// answer depends on them. Returns the events that had a turn already.
pub(in crate::graph) async fn append_all(
    store: &GraphStore,
    guards: &[SessionGuard],
    turns: &[Arc<NewTurn>],
) -> Result<HashSet<String>, StoreError> {
    append_with(store, guards, turns, Vec::new()).await
}

/// The same, with further statements in the transaction if anything is new.
pub(in crate::graph) async fn append_with(
    store: &GraphStore,
    guards: &[SessionGuard],
    turns: &[Arc<NewTurn>],
    further: Vec<(&'static str, Params)>,
) -> Result<HashSet<String>, StoreError> {
    let held: HashSet<&str> = guards.iter().map(|it| it.session().as_str()).collect();
    if let Some(turn) = turns
        .iter()
        .find(|it| it.turn.is_answered() && !held.contains(&*it.turn.session))
    {
        let session = &turn.turn.session;
        return Err(unexpected(format!("session {session} is not held")));
    }
    let known = known_events(&store.engine, turns).await?;
    let replaces_any = turns.iter().any(|it| replaces_heard(it, &known));
    let appended = append_unknown(store, turns, known, further).await;
    if replaces_any {
        store.purge_replaced().await;
    }
    appended
}

/// Whether a turn replaces a message that was only heard.
fn replaces_heard(new: &NewTurn, known: &HashMap<String, bool>) -> bool {
    !new.turn.is_message() && known.get(&new.turn.event) == Some(&true)
}

/// Appends those of some turns whose event has none, or only a heard message.
async fn append_unknown(
    store: &GraphStore,
    turns: &[Arc<NewTurn>],
    mut known: HashMap<String, bool>,
    further: Vec<(&'static str, Params)>,
) -> Result<HashSet<String>, StoreError> {
    for turn in turns {
        if replaces_heard(turn, &known) {
            store.remove_heard_message(&turn.turn.event).await?;
            known.remove(&turn.turn.event);
        }
    }
    let messages = turns
        .iter()
        .filter(|it| !it.turn.is_answered())
        .map(|it| &**it);
    let forgotten = store.forgotten_among(messages).await?;
    let mut seen = HashSet::new();
    let new: Vec<&NewTurn> = turns
        .iter()
        .map(|turn| &**turn)
        .filter(|it| !forgotten.contains(&it.turn.event))
        .filter(|it| !known.contains_key(&it.turn.event) && seen.insert(&it.turn.event))
        .collect();
    if new.is_empty() {
        return Ok(known.into_keys().collect());
    }
    let mut steps = steps(&store.engine, &new);
    steps.extend(further);
    let steps = TransactionStep::all(steps);
    store.engine.transact(steps, TRANSACTION_TIMEOUT).await?;
    Ok(known.into_keys().collect())
}

/// The events that already have a turn, and whether that was only heard.
async fn known_events(
    engine: &dyn Engine,
    turns: &[Arc<NewTurn>],
) -> Result<HashMap<String, bool>, StoreError> {
    let events: Vec<&str> = turns.iter().map(|it| it.turn.event.as_str()).collect();
    let bound = params(json!({"events": events}));
    let rows = engine.read(cypher::KNOWN_EVENTS, bound).await?;
    let heard = |row| text(row, "source").as_deref() == Some("message");
    let known = rows
        .iter()
        .filter_map(|row| Some((text(row, "event")?, heard(row))));
    Ok(known.collect())
}

/// The statements, in the order of their locks; those with nothing to do are left out.
fn steps(engine: &dyn Engine, turns: &[&NewTurn]) -> Vec<(&'static str, Params)> {
    let rows = [
        (cypher::SESSIONS, sessions(turns)),
        (cypher::CHANNELS, channels(turns)),
        (cypher::MEMBERS, members(turns)),
        (cypher::TURNS, responses(engine, turns)),
        (cypher::NEXT, next(turns)),
        (cypher::ENDS, ends(turns)),
        (cypher::RECALLED, recalled(turns)),
        (cypher::CONTEXT, context(turns)),
    ];
    rows.into_iter()
        .filter(|(_, rows)| !rows.is_empty())
        .map(|(statement, rows)| {
            let mut bound = params(json!({"rows": rows}));
            if statement == cypher::CONTEXT {
                let labels = MEMORY_LABELS.iter().filter(|label| **label != PRIVATE);
                bound.insert("memory".to_owned(), labels.copied().collect());
            }
            (statement, bound)
        })
        .collect()
}

fn sessions(turns: &[&NewTurn]) -> Vec<Value> {
    // The title is the first question to the bot.
    let mut first: BTreeMap<&str, (&NewTurn, Option<&NewTurn>)> = BTreeMap::new();
    for turn in turns {
        let (_, asked) = first.entry(&turn.turn.session).or_insert((turn, None));
        if asked.is_none() && turn.turn.is_answered() {
            *asked = Some(turn);
        }
    }
    let row = |(session, (turn, asked)): (&str, (&NewTurn, Option<&NewTurn>))| {
        json!({
            "session": session, "createdAt": turn.turn.created_at.to_rfc3339(),
            "title": asked.map(|asked| title(asked.turn.said())),
        })
    };
    first.into_iter().map(row).collect()
}

fn channels(turns: &[&NewTurn]) -> Vec<Value> {
    // With the data of the last turn.
    let mut channels: BTreeMap<&str, (&NewTurn, usize)> = BTreeMap::new();
    for turn in turns {
        let entry = channels.entry(turn.audience.id.as_str());
        let (last, number) = entry.or_insert((turn, 0));
        *last = turn;
        *number += 1;
    }
    let row = |(id, (turn, turns)): (&str, (&NewTurn, usize))| {
        let audience = &turn.audience;
        json!({
            "audience": id, "turns": turns, "platform": audience.platform,
            "workspace": audience.workspace, "channelName": audience.name,
            "privateTo": audience.private_to,
        })
    };
    channels.into_iter().map(row).collect()
}

fn members(turns: &[&NewTurn]) -> Vec<Value> {
    let mut seen = HashSet::new();
    turns
        .iter()
        .map(|it| (it.turn.session.as_str(), it.audience.id.as_str()))
        .filter(|it| seen.insert(*it))
        .map(|(session, audience)| json!({"session": session, "audience": audience}))
        .collect()
}

/// The heard messages, and the answered turns.
fn responses(engine: &dyn Engine, turns: &[&NewTurn]) -> Vec<Value> {
    let mut behind: HashMap<&str, usize> = HashMap::new();
    let mut rows: Vec<Value> = turns
        .iter()
        .rev()
        .map(|turn| {
            let place = behind.entry(turn.audience.id.as_str()).or_default();
            let mut row = append_params(engine, &turn.turn.session, turn);
            row.insert("behind".to_owned(), json!(*place));
            row.remove("context");
            row.remove("recalled");
            *place += 1;
            Value::Object(row)
        })
        .collect();
    rows.reverse();
    rows
}

fn next(turns: &[&NewTurn]) -> Vec<Value> {
    let mut last: HashMap<&str, String> = HashMap::new();
    let mut pairs = Vec::new();
    for turn in turns {
        let id = turn.turn.id.to_string();
        if let Some(before) = last.insert(&turn.turn.session, id.clone()) {
            pairs.push(json!({"from": before, "to": id}));
        }
    }
    pairs
}

fn ends(turns: &[&NewTurn]) -> Vec<Value> {
    let mut ends: BTreeMap<&str, (String, String)> = BTreeMap::new();
    for turn in turns {
        let id = turn.turn.id.to_string();
        let entry = ends.entry(&turn.turn.session);
        entry
            .and_modify(|(_, last)| last.clone_from(&id))
            .or_insert_with(|| (id.clone(), id.clone()));
    }
    let row = |(session, (first, last)): (&str, (String, String))| json!({"session": session, "first": first, "last": last});
    ends.into_iter().map(row).collect()
}

fn recalled(turns: &[&NewTurn]) -> Vec<Value> {
    let of = |turn: &&NewTurn| {
        let (id, audiences) = (turn.turn.id.to_string(), json!(turn.recalled_audiences()));
        let memories = turn.recalled.clone().into_iter();
        memories.map(move |(memory, score)| {
            json!({
                "turn": id, "audiences": audiences,
                "id": memory.to_string(), "score": float(score),
            })
        })
    };
    turns.iter().flat_map(of).collect()
}

fn context(turns: &[&NewTurn]) -> Vec<Value> {
    let of = |turn: &&NewTurn| {
        let id = turn.turn.id.to_string();
        let sources = turn.context.clone().into_iter();
        sources.map(move |source| json!({"turn": id, "source": source}))
    };
    turns.iter().flat_map(of).collect()
}
