//! Reads the schema from the live graph, in the same few statements on either engine.
//!
//! Whole graphs are not read: numbers come from the engine's own counts, patterns from the first
//! [`VISITED`] relationships of a type, properties from the first nodes of a label.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::tally::{Tally, value_kind};
use super::{Pattern, Survey};
use crate::graph::engine::{Engine, Row, quoted};
use crate::graph::record::{integer, list, params, text};
use crate::graph::transfer::GraphNode;
use crate::graph::{MEMORY_LABELS, MEMORY_RELATIONSHIPS, StoreError};

/// Labels or types that one statement asks for.
const BATCH: usize = 50;

/// Nodes of a label, and relationships of a type, that are visited at most.
const VISITED: u64 = 100_000;

/// Nodes, and relationships, whose properties are read at most.
const SAMPLES: usize = 20_000;

/// As many of one label or type, at most and at least.
const SAMPLE: (usize, usize) = (1_000, 20);

/// Characters of a text that are read: one more than makes it a long one.
pub(super) const SHORT: usize = 60;

/// How much there is of every label and type, by the engine's own counts; what carries a label of
/// memory too is among it. Enough to notice that a graph has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    labels: BTreeMap<String, u64>,
    types: BTreeMap<String, u64>,
}

/// A property of what is looked at, as the part of a statement.
macro_rules! properties {
    ($of:literal) => {
        concat!(
            "[key IN keys(",
            $of,
            ") | [key, valueType(",
            $of,
            "[key]), CASE ",
            "WHEN valueType(",
            $of,
            "[key]) STARTS WITH 'STRING' THEN left(",
            $of,
            "[key], 61) ",
            "WHEN valueType(",
            $of,
            "[key]) STARTS WITH 'LIST' THEN size(",
            $of,
            "[key]) ",
            "WHEN valueType(",
            $of,
            "[key]) STARTS WITH 'INTEGER' THEN ",
            $of,
            "[key] ",
            "WHEN valueType(",
            $of,
            "[key]) STARTS WITH 'FLOAT' THEN ",
            $of,
            "[key] ",
            "WHEN valueType(",
            $of,
            "[key]) STARTS WITH 'BOOLEAN' THEN ",
            $of,
            "[key] ",
            "ELSE null END]] AS properties"
        )
    };
}

/// Counts everything anew.
pub(crate) async fn counts(engine: &impl Engine) -> Result<Counts, StoreError> {
    let labels = names(engine, "CALL db.labels() YIELD label AS name RETURN name").await?;
    let types = "CALL db.relationshipTypes() YIELD relationshipType AS name RETURN name";
    let types = names(engine, types).await?;
    let labels = labels.filter(|name| is_knowledge(engine, name)).collect();
    let types = types
        .filter(|name| !MEMORY_RELATIONSHIPS.contains(&name.as_str()))
        .collect();
    Ok(Counts {
        labels: count(engine, labels, |label| format!("MATCH (n:{label})")).await?,
        types: count(engine, types, |kind| format!("MATCH ()-[n:{kind}]->()")).await?,
    })
}

async fn names(
    engine: &impl Engine,
    statement: &str,
) -> Result<impl Iterator<Item = String>, StoreError> {
    let rows = engine.read(statement, params(json!({}))).await?;
    Ok(rows.into_iter().filter_map(|row| text(&row, "name")))
}

/// Whether the label is one of knowledge, and not one by which an engine stands for none.
fn is_knowledge(engine: &impl Engine, label: &str) -> bool {
    !MEMORY_LABELS.contains(&label) && !stripped(engine, vec![label.to_owned()]).is_empty()
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

async fn count(
    engine: &impl Engine,
    of: Vec<String>,
    pattern: impl Fn(&str) -> String,
) -> Result<BTreeMap<String, u64>, StoreError> {
    let rows = each(engine, &of, |place, name| {
        format!(
            "{} RETURN {place} AS place, count(n) AS times",
            pattern(name)
        )
    });
    let rows = rows.await?;
    let counted = rows.iter().map(|(name, row)| (name.clone(), times(row)));
    Ok(counted.filter(|(_, times)| *times > 0).collect())
}

fn times(row: &Row) -> u64 {
    u64::try_from(integer(row, "times")).unwrap_or_default()
}

/// Asks the same of each name, many in one statement; every row says by its `place` whose it is.
/// A name that cannot be quoted is left out: no query can say it either.
async fn each(
    engine: &impl Engine,
    names: &[String],
    part: impl Fn(usize, &str) -> String,
) -> Result<Vec<(String, Row)>, StoreError> {
    let mut found = Vec::new();
    for batch in names.chunks(BATCH) {
        let parts: Vec<String> = batch
            .iter()
            .enumerate()
            .filter_map(|(place, name)| Some(part(place, &quoted(name).ok()?)))
            .collect();
        if parts.is_empty() {
            continue;
        }
        let statement = parts.join(" UNION ALL ");
        for row in engine.read(&statement, params(json!({}))).await? {
            let place = usize::try_from(integer(&row, "place")).unwrap_or(usize::MAX);
            if let Some(name) = batch.get(place) {
                found.push((name.clone(), row));
            }
        }
    }
    Ok(found)
}

/// Looks at the graph.
pub(crate) async fn survey(engine: &impl Engine, counts: &Counts) -> Result<Survey, StoreError> {
    let mut survey = Survey::default();
    let labels = label_numbers(engine, counts, &mut survey).await?;
    read_nodes(engine, &labels, &mut survey).await?;
    let types: Vec<String> = counts.types.keys().cloned().collect();
    read_patterns(engine, counts, &types, &mut survey).await?;
    let types: Vec<String> = survey.relationships.keys().cloned().collect();
    read_relationships(engine, &types, &mut survey).await?;
    Ok(survey)
}

/// How many nodes of each label are no memory. Finds the labels, too, that the embedded engine
/// does not list: those that never come first.
async fn label_numbers(
    engine: &impl Engine,
    counts: &Counts,
    survey: &mut Survey,
) -> Result<Vec<String>, StoreError> {
    let mut known: BTreeSet<String> = counts.labels.keys().cloned().collect();
    let mut to_ask: Vec<String> = known.iter().cloned().collect();
    while !to_ask.is_empty() {
        let groups = each(engine, &to_ask, |place, label| {
            format!(
                "MATCH (n:{label}) WITH n LIMIT {VISITED} WITH labels(n) AS labels, count(*) AS times \
                 RETURN {place} AS place, labels, times"
            )
        });
        let mut more = BTreeSet::new();
        let mut visited: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for (label, row) in groups.await? {
            let beside = strings(&row, "labels");
            let (all, kept) = visited.entry(label).or_default();
            *all += times(&row);
            if !is_memory(&beside) {
                *kept += times(&row);
                more.extend(stripped(engine, beside));
            }
        }
        for (label, (all, kept)) in visited {
            let number = if all >= VISITED {
                counts.labels.get(&label).copied().unwrap_or(all)
            } else {
                kept
            };
            if kept > 0 {
                survey.nodes.insert(label, number);
            }
        }
        to_ask = more.difference(&known).cloned().collect();
        known.extend(to_ask.iter().cloned());
    }
    Ok(survey.nodes.keys().cloned().collect())
}

fn strings(row: &Row, column: &str) -> Vec<String> {
    let items = list(row, column).iter();
    items
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

fn is_memory(labels: &[String]) -> bool {
    labels
        .iter()
        .any(|label| MEMORY_LABELS.contains(&label.as_str()))
}

/// As many of each as keep the whole within bounds.
fn sample_of(names: usize) -> usize {
    let (most, least) = SAMPLE;
    (SAMPLES / names.max(1)).clamp(least, most)
}

async fn read_nodes(
    engine: &impl Engine,
    labels: &[String],
    survey: &mut Survey,
) -> Result<(), StoreError> {
    let sample = sample_of(labels.len());
    let rows = each(engine, labels, |place, label| {
        format!(
            concat!(
                "MATCH (n:{label}) WITH n LIMIT {sample} ",
                "RETURN {place} AS place, labels(n) AS labels, ",
                properties!("n")
            ),
            label = label,
            sample = sample,
            place = place,
        )
    });
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for (label, row) in rows.await? {
        let labels = strings(&row, "labels");
        if !is_memory(&labels) {
            let read = sampled(engine, labels, &row);
            tallies.entry(label).or_default().add(read);
        }
    }
    for label in labels {
        let tally = tallies.remove(label).unwrap_or_default();
        let (properties, values) = tally.finish();
        survey.schema.nodes.insert(label.clone(), properties);
        if !values.is_empty() {
            survey.values.insert(label.clone(), values);
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
    for property in list(row, "properties") {
        if let Some([Value::String(key), Value::String(kind), value]) =
            property.as_array().map(Vec::as_slice)
        {
            kinds.insert(key.clone(), value_kind(kind, value));
            node.properties.insert(key.clone(), value.clone());
        }
    }
    engine.strip(&mut node);
    node.properties
        .into_iter()
        .filter_map(|(key, value)| Some((key.clone(), kinds.remove(&key)?, value)))
        .collect()
}

async fn read_patterns(
    engine: &impl Engine,
    counts: &Counts,
    types: &[String],
    survey: &mut Survey,
) -> Result<(), StoreError> {
    let groups = each(engine, types, |place, kind| {
        format!(
            "MATCH (a)-[r:{kind}]->(b) WITH a, b LIMIT {VISITED} \
             WITH labels(a) AS from, labels(b) AS to, count(*) AS times \
             RETURN {place} AS place, from, to, times"
        )
    });
    let mut visited: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (kind, row) in groups.await? {
        let (from, to) = (strings(&row, "from"), strings(&row, "to"));
        let (all, kept) = visited.entry(kind.clone()).or_default();
        *all += times(&row);
        let (begins, ends) = (stripped(engine, from.clone()), stripped(engine, to.clone()));
        if is_memory(&from) || is_memory(&to) || begins.is_empty() || ends.is_empty() {
            continue;
        }
        *kept += times(&row);
        for from in &begins {
            survey.schema.patterns.extend(ends.iter().map(|to| Pattern {
                from: from.clone(),
                kind: kind.clone(),
                to: to.clone(),
            }));
        }
    }
    for (kind, (all, kept)) in visited {
        let number = if all >= VISITED {
            counts.types.get(&kind).copied().unwrap_or(all)
        } else {
            kept
        };
        if kept > 0 {
            survey.relationships.insert(kind, number);
        }
    }
    Ok(())
}

async fn read_relationships(
    engine: &impl Engine,
    types: &[String],
    survey: &mut Survey,
) -> Result<(), StoreError> {
    let sample = sample_of(types.len());
    let rows = each(engine, types, |place, kind| {
        format!(
            concat!(
                "MATCH (a)-[r:{kind}]->(b) WITH a, r, b LIMIT {sample} ",
                "RETURN {place} AS place, labels(a) AS from, labels(b) AS to, ",
                properties!("r")
            ),
            kind = kind,
            sample = sample,
            place = place,
        )
    });
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for (kind, row) in rows.await? {
        if is_memory(&strings(&row, "from")) || is_memory(&strings(&row, "to")) {
            continue;
        }
        let read = list(&row, "properties").iter().filter_map(|property| {
            match property.as_array()?.as_slice() {
                [Value::String(key), Value::String(kind), value] => {
                    Some((key.clone(), value_kind(kind, value), value.clone()))
                }
                _ => None,
            }
        });
        tallies.entry(kind).or_default().add(read.collect());
    }
    for kind in types {
        let (properties, values) = tallies.remove(kind).unwrap_or_default().finish();
        survey.schema.relationships.insert(kind.clone(), properties);
        if !values.is_empty() {
            survey.values.insert(kind.clone(), values);
        }
    }
    Ok(())
}
