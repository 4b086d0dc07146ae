//! Reads the schema from the live graph, and avoids scanning memory where possible.
//!
//! Each label is queried separately, and relationships from the labels at their start. Only a Neo4j
//! with many labels is scanned from its beginning: it plans each label's statement anew, which took
//! minutes for 5,000. At most [`VISITED`] nodes of a label are visited, and the properties of a few
//! of them read.

mod ask;
mod labels;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use self::ask::{Ask, RelationshipGroup};
use super::Pattern;
use super::limits::VISITED;
use super::overview::Survey;
use super::tally::{PropertyTally, value_kind};
use crate::graph::StoreError;
use crate::graph::engine::{Engine, Row};
use crate::graph::store::record::{list, params, text};
use crate::graph::types::graph_node::GraphNode;
use crate::graph::types::labels::{MEMORY_LABELS, MEMORY_RELATIONSHIPS};
use labels::{knowledge_labels, strings, times};

/// Maximum labels, or types, that are queried one by one.
const FEW_NAMES: usize = 50;

/// The engine's own counts, which are nearly free. Enough to notice that a graph has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    labels: BTreeSet<String>,
    types: BTreeSet<String>,
    nodes: u64,
    relationships: u64,
}

/// Reads all counts.
pub(crate) async fn counts(engine: &dyn Engine) -> Result<Counts, StoreError> {
    let labels = names(engine, "CALL db.labels() YIELD label AS name RETURN name").await?;
    let types = "CALL db.relationshipTypes() YIELD relationshipType AS name RETURN name";
    let types = names(engine, types).await?;
    let of_labels = MEMORY_LABELS.iter().map(|label| format!("(n:{label})"));
    let of_types = MEMORY_RELATIONSHIPS
        .iter()
        .map(|kind| format!("()-[n:{kind}]->()"));
    Ok(Counts {
        labels: labels
            .filter(|label| !knowledge_labels(engine, vec![label.clone()]).is_empty())
            .collect(),
        types: types
            .filter(|kind| !MEMORY_RELATIONSHIPS.contains(&kind.as_str()))
            .collect(),
        nodes: rest(engine, "(n)", of_labels).await?,
        relationships: rest(engine, "()-[n]->()", of_types).await?,
    })
}

async fn names(
    engine: &dyn Engine,
    statement: &str,
) -> Result<impl Iterator<Item = String>, StoreError> {
    let rows = engine.read(statement, params(json!({}))).await?;
    Ok(rows.into_iter().filter_map(|row| text(&row, "name")))
}

/// Counts the total without memory. Engines only answer from their own counts if a statement does
/// nothing else.
async fn rest(
    engine: &dyn Engine,
    all: &str,
    memory: impl Iterator<Item = String>,
) -> Result<u64, StoreError> {
    let mut left = count(engine, all).await?;
    for pattern in memory {
        left = left.saturating_sub(count(engine, &pattern).await?);
    }
    Ok(left)
}

async fn count(engine: &dyn Engine, pattern: &str) -> Result<u64, StoreError> {
    let statement = format!("MATCH {pattern} RETURN count(n) AS times");
    let rows = engine.read(&statement, params(json!({}))).await?;
    Ok(rows.first().map_or(0, times))
}

/// Reads the schema of the graph.
pub(crate) async fn survey(engine: &dyn Engine, counts: &Counts) -> Result<Survey, StoreError> {
    let names = counts.labels.len().max(counts.types.len());
    let mut ask = if engine.dialect().has_expensive_planning && names > FEW_NAMES {
        Ask::Through { names }
    } else {
        Ask::ByLabel(counts.labels.iter().cloned().collect())
    };
    let mut survey = Survey {
        nodes: ask::nodes(engine, &mut ask).await?,
        ..Survey::default()
    };
    read_nodes(engine, &ask, counts, &mut survey).await?;
    read_ties(engine, &ask, counts, &mut survey).await?;
    Ok(survey)
}

async fn read_nodes(
    engine: &dyn Engine,
    ask: &Ask,
    counts: &Counts,
    survey: &mut Survey,
) -> Result<(), StoreError> {
    for label in survey.nodes.keys() {
        survey.schema.nodes.insert(label.clone(), Vec::new());
    }
    if matches!(ask, Ask::Through { .. }) && counts.nodes > VISITED {
        // Labels that were not visited can be queried nevertheless.
        for label in &counts.labels {
            survey.schema.nodes.entry(label.clone()).or_default();
        }
        survey.schema.sampled.extend(counts.labels.iter().cloned());
    }
    let sample = ask.sample() as u64;
    let larger = survey.nodes.iter().filter(|(_, nodes)| **nodes > sample);
    let larger = larger.map(|(label, _)| label.clone());
    survey.schema.sampled.extend(larger);
    let mut tallies: BTreeMap<String, PropertyTally> = BTreeMap::new();
    for (owner, row) in ask::node_samples(engine, ask).await? {
        let labels = strings(&row, "labels");
        let beside = knowledge_labels(engine, labels.clone());
        let owners = match owner {
            Some(label) => beside.into_iter().filter(|one| *one == label).collect(),
            None => beside,
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

/// Returns name, type and short value of each property that exists.
fn sampled(engine: &dyn Engine, labels: Vec<String>, row: &Row) -> Vec<(String, String, Value)> {
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
    (engine.dialect().strip)(&mut node);
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

async fn read_ties(
    engine: &dyn Engine,
    ask: &Ask,
    counts: &Counts,
    survey: &mut Survey,
) -> Result<(), StoreError> {
    for (group, times) in ask::ties(engine, ask).await? {
        let RelationshipGroup { kind, from, to } = group;
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
    let mut tallies: BTreeMap<String, PropertyTally> = BTreeMap::new();
    let patterns = &survey.schema.patterns;
    for (kind, row) in ask::tie_samples(engine, ask, patterns).await? {
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
    let sample = ask.sample() as u64;
    let larger = survey.relationships.iter();
    let larger = larger.filter(|(_, number)| **number > sample);
    (survey.schema.sampled).extend(larger.map(|(kind, _)| kind.clone()));
    if counts.relationships > VISITED {
        // Types that were not visited can be queried nevertheless.
        for kind in &counts.types {
            if !survey.relationships.contains_key(kind) {
                survey.schema.relationships.entry(kind.clone()).or_default();
                survey.schema.sampled.insert(kind.clone());
            }
        }
    }
    Ok(())
}
