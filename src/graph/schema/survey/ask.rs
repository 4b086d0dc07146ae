//! The statements of a survey: through the graph, or name by name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::{VISITED, is_memory_label, is_memory_type, knowledge_labels, strings, times};
use crate::graph::StoreError;
use crate::graph::engine::{Engine, Row, quoted};
use crate::graph::record::{integer, params, text};

/// Names that one statement asks for.
const BATCH: usize = 50;

/// Nodes, and relationships, whose properties are read at most.
const SAMPLES: usize = 20_000;

/// As many of one label or type, at most and at least.
const SAMPLE: (usize, usize) = (1_000, 10);

/// Knowledge only; the labels are those of memory.
const KNOWLEDGE: &str =
    "MATCH (n) WHERE NOT (n:Channel OR n:MuninnSchema OR n:Response OR n:Session)";

/// The types are those of memory.
const TIES: &str = "MATCH (a)-[r]->(b) WHERE NOT type(r) IN \
    ['CONTEXT', 'HAS_RESPONSE', 'IN', 'LAST_RESPONSE', 'NEXT', 'RECALLED']";

/// Name, type and short value of each property, of a node or relationship `x`; of a list its
/// length.
const PROPERTIES: &str = "[key IN keys(x) | [key, valueType(x[key]), CASE \
    WHEN valueType(x[key]) STARTS WITH 'STRING' THEN left(x[key], 61) \
    WHEN valueType(x[key]) STARTS WITH 'LIST' THEN size(x[key]) \
    WHEN valueType(x[key]) STARTS WITH 'INTEGER' THEN x[key] \
    WHEN valueType(x[key]) STARTS WITH 'FLOAT' THEN x[key] \
    WHEN valueType(x[key]) STARTS WITH 'BOOLEAN' THEN x[key] \
    ELSE null END]] AS properties";

/// How the graph is asked.
#[derive(Debug)]
pub(super) enum Ask {
    /// From its beginning; how many names there are.
    Through(usize),
    /// Each of these labels or types by itself.
    ByName(Vec<String>),
}

impl Ask {
    /// As many of each name as keep the whole within bounds.
    fn sample(&self) -> usize {
        let names = match self {
            Self::Through(names) => *names,
            Self::ByName(names) => names.len(),
        };
        let (most, least) = SAMPLE;
        (SAMPLES / names.max(1)).clamp(least, most)
    }
}

/// Relationships of one type between nodes with the same labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tied {
    pub(super) kind: String,
    pub(super) from: Vec<String>,
    pub(super) to: Vec<String>,
}

async fn read(engine: &impl Engine, statement: &str) -> Result<Vec<Row>, StoreError> {
    engine.read(statement, params(json!({}))).await
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
        for row in read(engine, &parts.join(" UNION ALL ")).await? {
            let place = usize::try_from(integer(&row, "place")).unwrap_or(usize::MAX);
            if let Some(name) = batch.get(place) {
                found.push((name.clone(), row));
            }
        }
    }
    Ok(found)
}

/// How many nodes of each label are knowledge. Finds the labels, too, that the embedded engine
/// does not list: those that never come first.
pub(super) async fn nodes(
    engine: &impl Engine,
    ask: &mut Ask,
) -> Result<BTreeMap<String, u64>, StoreError> {
    let mut numbers = BTreeMap::new();
    let Ask::ByName(labels) = ask else {
        let statement = format!(
            "{KNOWLEDGE} WITH n LIMIT {VISITED} RETURN labels(n) AS labels, count(*) AS times"
        );
        for row in read(engine, &statement).await? {
            for label in knowledge_labels(engine, strings(&row, "labels")) {
                *numbers.entry(label).or_default() += times(&row);
            }
        }
        return Ok(numbers);
    };
    let mut known: BTreeSet<String> = labels.iter().cloned().collect();
    let mut to_ask = labels.clone();
    while !to_ask.is_empty() {
        let groups = each(engine, &to_ask, |place, label| {
            format!(
                "MATCH (n:{label}) WITH n LIMIT {VISITED} WITH labels(n) AS labels, count(*) AS times \
                 RETURN {place} AS place, labels, times"
            )
        });
        let mut beside = BTreeSet::new();
        for (label, row) in groups.await? {
            let labels = knowledge_labels(engine, strings(&row, "labels"));
            if !labels.is_empty() {
                *numbers.entry(label).or_default() += times(&row);
                beside.extend(labels);
            }
        }
        to_ask = beside.difference(&known).cloned().collect();
        known.extend(beside);
    }
    *labels = numbers.keys().cloned().collect();
    let large: Vec<String> = large(&numbers);
    let counted = each(engine, &large, |place, label| {
        format!("MATCH (n:{label}) RETURN {place} AS place, count(n) AS times")
    });
    numbers.extend(
        counted
            .await?
            .iter()
            .map(|(label, row)| (label.clone(), times(row))),
    );
    Ok(numbers)
}

/// Those of which not all can have been visited, nearly: some of the first may be memory.
fn large(numbers: &BTreeMap<String, u64>) -> Vec<String> {
    let large = numbers.iter().filter(|(_, number)| **number > VISITED / 2);
    large.map(|(name, _)| name.clone()).collect()
}

/// Replaces the numbers of types that were not gone through to their end.
pub(super) async fn whole_numbers(
    engine: &impl Engine,
    ask: &Ask,
    numbers: &mut BTreeMap<String, u64>,
) -> Result<(), StoreError> {
    if let Ask::ByName(_) = ask {
        let large = large(numbers);
        let counted = each(engine, &large, |place, kind| {
            format!("MATCH ()-[r:{kind}]->() RETURN {place} AS place, count(r) AS times")
        });
        let counted = counted.await?;
        numbers.extend(counted.iter().map(|(kind, row)| (kind.clone(), times(row))));
    }
    Ok(())
}

/// A few nodes with their properties; where they were asked for by name, under it.
pub(super) async fn node_samples(
    engine: &impl Engine,
    ask: &Ask,
) -> Result<Vec<(Option<String>, Row)>, StoreError> {
    let sample = ask.sample();
    match ask {
        Ask::Through(_) => {
            let statement = format!(
                "{KNOWLEDGE} WITH n LIMIT {VISITED} WITH labels(n) AS labels, collect(n) AS members \
                 UNWIND members[0..{sample}] AS x RETURN labels, {PROPERTIES}"
            );
            let rows = read(engine, &statement).await?;
            Ok(rows.into_iter().map(|row| (None, row)).collect())
        }
        Ask::ByName(labels) => {
            let rows = each(engine, labels, |place, label| {
                format!(
                    "MATCH (x:{label}) WITH x LIMIT {sample} \
                     RETURN {place} AS place, labels(x) AS labels, {PROPERTIES}"
                )
            });
            let rows = rows.await?.into_iter();
            Ok(rows.map(|(label, row)| (Some(label), row)).collect())
        }
    }
}

/// Relationships between knowledge, by their type and the labels at their ends.
pub(super) async fn ties(
    engine: &impl Engine,
    ask: &Ask,
) -> Result<BTreeMap<Tied, u64>, StoreError> {
    let grouped = "labels(a) AS from, labels(b) AS to, count(*) AS times";
    let rows: Vec<(String, Row)> = match ask {
        Ask::Through(_) => {
            let statement =
                format!("{TIES} WITH a, r, b LIMIT {VISITED} RETURN type(r) AS name, {grouped}");
            named(read(engine, &statement).await?)
        }
        Ask::ByName(types) => {
            let rows = each(engine, types, |place, kind| {
                format!(
                    "MATCH (a)-[r:{kind}]->(b) WITH a, b LIMIT {VISITED} WITH {grouped} \
                     RETURN {place} AS place, from, to, times"
                )
            });
            rows.await?
        }
    };
    let mut found = BTreeMap::new();
    for (kind, row) in rows {
        let from = knowledge_labels(engine, strings(&row, "from"));
        let to = knowledge_labels(engine, strings(&row, "to"));
        if !from.is_empty() && !to.is_empty() {
            *found.entry(Tied { kind, from, to }).or_default() += times(&row);
        }
    }
    Ok(found)
}

fn named(rows: Vec<Row>) -> Vec<(String, Row)> {
    let rows = rows.into_iter();
    rows.filter_map(|row| Some((text(&row, "name")?, row)))
        .collect()
}

/// A few relationships between knowledge, with their properties.
pub(super) async fn tie_samples(
    engine: &impl Engine,
    ask: &Ask,
) -> Result<Vec<(String, Row)>, StoreError> {
    let sample = ask.sample();
    let rows = match ask {
        Ask::Through(_) => {
            let statement = format!(
                "{TIES} WITH a, r, b LIMIT {VISITED} \
                 WITH type(r) AS name, labels(a) AS from, labels(b) AS to, collect(r) AS members \
                 UNWIND members[0..{sample}] AS x RETURN name, from, to, {PROPERTIES}"
            );
            named(read(engine, &statement).await?)
        }
        Ask::ByName(types) => {
            let rows = each(engine, types, |place, kind| {
                format!(
                    "MATCH (a)-[x:{kind}]->(b) WITH a, x, b LIMIT {sample} \
                     RETURN {place} AS place, labels(a) AS from, labels(b) AS to, {PROPERTIES}"
                )
            });
            rows.await?
        }
    };
    let is_knowledge = |row: &Row| {
        let mut ends = strings(row, "from");
        ends.extend(strings(row, "to"));
        !ends.iter().any(|label| is_memory_label(label))
    };
    let rows = rows.into_iter();
    Ok(rows
        .filter(|(kind, row)| !is_memory_type(kind) && is_knowledge(row))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{MEMORY_LABELS, MEMORY_RELATIONSHIPS};

    #[test]
    fn the_statements_name_all_of_memory() {
        for label in MEMORY_LABELS {
            assert!(KNOWLEDGE.contains(&format!("n:{label}")), "{label}");
            let linked = crate::graph::statements::APPEND_LINKED;
            assert!(linked.contains(&format!("k:{label}")), "{label}");
        }
        for kind in MEMORY_RELATIONSHIPS {
            assert!(TIES.contains(&format!("'{kind}'")), "{kind}");
        }
    }
}
