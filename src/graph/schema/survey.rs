//! Reads the schema from the live graph, in the same few statements on either engine.
//!
//! A graph of moderate size is gone through once, and so is the beginning of one with many labels:
//! Neo4j plans each label's statement anew, which took minutes for 5,000. A large graph with few
//! labels is asked label by label. Either way at most [`VISITED`] of a kind are visited, and the
//! properties of a few of them read.

mod ask;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use self::ask::{Ask, Tied};
use super::tally::{Tally, value_kind};
use super::{Pattern, Survey};
use crate::graph::engine::{Engine, Row};
use crate::graph::record::{integer, list, params, text};
use crate::graph::transfer::GraphNode;
use crate::graph::{MEMORY_LABELS, MEMORY_RELATIONSHIPS, StoreError};

/// Nodes, and relationships, that one statement visits at most.
pub(super) const VISITED: u64 = 100_000;

/// Labels, or types, that are still asked one by one.
const FEW_NAMES: usize = 50;

/// Characters of a text that are read: one more than makes it a long one.
pub(super) const SHORT: usize = 60;

/// What there is, by the engine's own counts, so that it costs next to nothing. Enough to notice
/// that a graph has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    labels: BTreeSet<String>,
    types: BTreeSet<String>,
    nodes: u64,
    relationships: u64,
}

/// Counts everything anew.
pub(crate) async fn counts(engine: &impl Engine) -> Result<Counts, StoreError> {
    let labels = names(engine, "CALL db.labels() YIELD label AS name RETURN name").await?;
    let types = "CALL db.relationshipTypes() YIELD relationshipType AS name RETURN name";
    let types = names(engine, types).await?;
    let of_label = |label: &&str| format!("MATCH (n:{label}) RETURN 0 AS whole, count(n) AS times");
    let of_type =
        |kind: &&str| format!("MATCH ()-[n:{kind}]->() RETURN 0 AS whole, count(n) AS times");
    let nodes = "MATCH (n) RETURN 1 AS whole, count(n) AS times";
    let relationships = "MATCH ()-[n]->() RETURN 1 AS whole, count(n) AS times";
    Ok(Counts {
        labels: labels
            .filter(|label| {
                !is_memory_label(label) && !stripped(engine, vec![label.clone()]).is_empty()
            })
            .collect(),
        types: types.filter(|kind| !is_memory_type(kind)).collect(),
        nodes: rest(engine, nodes, MEMORY_LABELS.iter().map(of_label)).await?,
        relationships: rest(
            engine,
            relationships,
            MEMORY_RELATIONSHIPS.iter().map(of_type),
        )
        .await?,
    })
}

async fn names(
    engine: &impl Engine,
    statement: &str,
) -> Result<impl Iterator<Item = String>, StoreError> {
    let rows = engine.read(statement, params(json!({}))).await?;
    Ok(rows.into_iter().filter_map(|row| text(&row, "name")))
}

/// How many there are in all, without those of memory.
async fn rest(
    engine: &impl Engine,
    all: &str,
    memory: impl Iterator<Item = String>,
) -> Result<u64, StoreError> {
    let parts: Vec<String> = std::iter::once(all.to_owned()).chain(memory).collect();
    let statement = parts.join(" UNION ALL ");
    let rows = engine.read(&statement, params(json!({}))).await?;
    Ok(rows
        .iter()
        .fold(0, |left: u64, row| match integer(row, "whole") {
            1 => left.saturating_add(times(row)),
            _ => left.saturating_sub(times(row)),
        }))
}

fn times(row: &Row) -> u64 {
    u64::try_from(integer(row, "times")).unwrap_or_default()
}

fn strings(row: &Row, column: &str) -> Vec<String> {
    let items = list(row, column).iter();
    items
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

fn is_memory_label(label: &str) -> bool {
    MEMORY_LABELS.contains(&label)
}

fn is_memory_type(kind: &str) -> bool {
    MEMORY_RELATIONSHIPS.contains(&kind)
}

/// Labels without one by which an engine stands for none; nothing for a node of memory.
fn knowledge_labels(engine: &impl Engine, labels: Vec<String>) -> Vec<String> {
    if labels.iter().any(|label| is_memory_label(label)) {
        return Vec::new();
    }
    stripped(engine, labels)
}

fn stripped(engine: &impl Engine, labels: Vec<String>) -> Vec<String> {
    let mut node = GraphNode {
        id: String::new(),
        labels,
        properties: Map::new(),
    };
    engine.strip(&mut node);
    node.labels
}

/// Looks at the graph.
pub(crate) async fn survey(engine: &impl Engine, counts: &Counts) -> Result<Survey, StoreError> {
    let by_name = |number: u64, names: &BTreeSet<String>| {
        if number > VISITED && names.len() <= FEW_NAMES {
            Ask::ByName(names.iter().cloned().collect())
        } else {
            Ask::Through(names.len())
        }
    };
    let mut survey = Survey::default();
    read_labels(
        engine,
        by_name(counts.nodes, &counts.labels),
        counts,
        &mut survey,
    )
    .await?;
    let ask = by_name(counts.relationships, &counts.types);
    read_types(engine, &ask, &mut survey).await?;
    Ok(survey)
}

async fn read_labels(
    engine: &impl Engine,
    mut ask: Ask,
    counts: &Counts,
    survey: &mut Survey,
) -> Result<(), StoreError> {
    survey.nodes = ask::nodes(engine, &mut ask).await?;
    // Those that were not come across are known all the same, and can be asked for.
    for label in survey.nodes.keys().chain(&counts.labels) {
        survey.schema.nodes.entry(label.clone()).or_default();
    }
    if matches!(ask, Ask::ByName(_)) || counts.nodes <= VISITED {
        let seen = &survey.nodes;
        survey
            .schema
            .nodes
            .retain(|label, _| seen.contains_key(label));
    }
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for (owner, row) in ask::node_samples(engine, &ask).await? {
        let labels = strings(&row, "labels");
        let owners = match owner {
            Some(label) if knowledge_labels(engine, labels.clone()).is_empty() => {
                tracing::debug!(label, "a node of memory carries a label of knowledge");
                Vec::new()
            }
            Some(label) => vec![label],
            None => knowledge_labels(engine, labels.clone()),
        };
        let read = sampled(engine, labels, &row);
        for label in owners {
            tallies.entry(label).or_default().add(read.clone());
        }
    }
    for (label, tally) in tallies {
        let (properties, values) = tally.finish();
        survey.schema.nodes.insert(label.clone(), properties);
        if !values.is_empty() {
            survey.values.insert(label, values);
        }
    }
    Ok(())
}

/// Name, type and short value of each property that is really there.
fn sampled(engine: &impl Engine, labels: Vec<String>, row: &Row) -> Vec<(String, String, Value)> {
    let mut kinds = BTreeMap::new();
    let mut node = GraphNode {
        id: String::new(),
        labels,
        properties: Map::new(),
    };
    for (key, kind, value) in properties_of(row) {
        kinds.insert(key.clone(), kind);
        node.properties.insert(key, value);
    }
    engine.strip(&mut node);
    node.properties
        .into_iter()
        .filter_map(|(key, value)| Some((key.clone(), kinds.remove(&key)?, value)))
        .collect()
}

fn properties_of(row: &Row) -> impl Iterator<Item = (String, String, Value)> {
    list(row, "properties")
        .iter()
        .filter_map(|property| match property.as_array()?.as_slice() {
            [Value::String(key), Value::String(kind), value] => {
                Some((key.clone(), value_kind(kind, value), value.clone()))
            }
            _ => None,
        })
}

async fn read_types(
    engine: &impl Engine,
    ask: &Ask,
    survey: &mut Survey,
) -> Result<(), StoreError> {
    for (tied, times) in ask::ties(engine, ask).await? {
        let Tied { kind, from, to } = tied.clone();
        *survey.relationships.entry(kind.clone()).or_default() += times;
        for from in &from {
            survey.schema.patterns.extend(to.iter().map(|to| Pattern {
                from: from.clone(),
                kind: kind.clone(),
                to: to.clone(),
            }));
        }
    }
    ask::whole_numbers(engine, ask, &mut survey.relationships).await?;
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for (kind, row) in ask::tie_samples(engine, ask).await? {
        let tally = tallies.entry(kind).or_default();
        tally.add(properties_of(&row).collect());
    }
    for kind in survey.relationships.keys() {
        let (properties, values) = tallies.remove(kind).unwrap_or_default().finish();
        survey.schema.relationships.insert(kind.clone(), properties);
        if !values.is_empty() {
            survey.values.insert(kind.clone(), values);
        }
    }
    Ok(())
}
