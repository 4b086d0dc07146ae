//! The statements that read the schema: label by label, or by a scan of the graph.
//!
//! Limits stand after the labels are taken, not after the nodes: the embedded engine copies each node that a `WITH` passes on,
//! with all of its properties. For 100,000 chunks, which have a vector each, that took 900 MB.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::labels::{is_memory_label, knowledge_labels, strings, times};
use crate::graph::StoreError;
use crate::graph::engine::{Engine, Row, quote_identifier};
use crate::graph::schema::Pattern;
use crate::graph::schema::limits::VISITED;
use crate::graph::store::record::{integer, params, text};
use crate::graph::types::labels::MEMORY_RELATIONSHIPS;

/// Names per statement.
const BATCH: usize = 50;

/// Maximum nodes, and relationships, whose properties are read.
const SAMPLES: usize = 20_000;

/// Maximum and minimum of those per label or type.
const SAMPLE: (usize, usize) = (1_000, 10);

/// Matches knowledge only; the labels listed are those of memory.
const KNOWLEDGE: &str = "MATCH (n) WHERE NOT (n:Channel OR n:MuninnAccount OR n:MuninnClaim OR n:MuninnForgotten OR n:MuninnHeld OR n:MuninnImported OR n:MuninnPerson OR n:MuninnPrivate \
    OR n:MuninnProcess OR n:MuninnRetired OR n:MuninnSchema OR n:MuninnSource OR n:MuninnStaged OR n:MuninnToken OR n:Pending OR n:Response OR n:Session)";

/// Matches knowledge only; the types listed are those of memory.
const TIES: &str = "MATCH (a)-[r]->(b) WHERE NOT type(r) IN \
    ['CONTEXT', 'HAS_ACCOUNT', 'HAS_RESPONSE', 'IN', 'LAST_RESPONSE', 'NEXT', 'RECALLED', 'SUPERSEDES']";

/// Name, type and short value of each property of a node or relationship `x`; for a list its
/// length.
const PROPERTIES: &str = "[key IN keys(x) | [key, valueType(x[key]), CASE \
    WHEN valueType(x[key]) STARTS WITH 'STRING' THEN left(x[key], 61) \
    WHEN valueType(x[key]) STARTS WITH 'LIST' THEN size(x[key]) \
    WHEN valueType(x[key]) STARTS WITH 'INTEGER' THEN x[key] \
    WHEN valueType(x[key]) STARTS WITH 'FLOAT' THEN x[key] \
    WHEN valueType(x[key]) STARTS WITH 'BOOLEAN' THEN x[key] \
    ELSE null END]] AS properties";

/// How the graph is queried.
#[derive(Debug)]
pub(super) enum Ask {
    /// Each of these labels separately.
    ByLabel(Vec<String>),
    /// A scan from the beginning; `names` is the number of labels or types.
    Through { names: usize },
}

impl Ask {
    /// Returns the sample size per name that keeps the total within bounds.
    pub(super) fn sample(&self) -> usize {
        let names = match self {
            Self::ByLabel(labels) => labels.len(),
            Self::Through { names } => *names,
        };
        let (most, least) = SAMPLE;
        (SAMPLES / names.max(1)).clamp(least, most)
    }
}

/// Relationships of one type between nodes with the same labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RelationshipGroup {
    pub(super) kind: String,
    pub(super) from: Vec<String>,
    pub(super) to: Vec<String>,
}

async fn read(engine: &dyn Engine, statement: &str) -> Result<Vec<Row>, StoreError> {
    engine.read(statement, params(json!({}))).await
}

/// Asks the same of each item, many in one statement; `place` in every row says which item it is
/// about. An item without a statement is left out: its name cannot be quoted, so no query can use
/// it either.
async fn each<T: Clone>(
    engine: &dyn Engine,
    of: &[T],
    part: impl Fn(usize, &T) -> Result<String, StoreError>,
) -> Result<Vec<(T, Row)>, StoreError> {
    let mut found = Vec::new();
    for batch in of.chunks(BATCH) {
        let parts = batch.iter().enumerate();
        let parts: Vec<String> = parts
            .filter_map(|(place, one)| part(place, one).ok())
            .collect();
        if parts.is_empty() {
            continue;
        }
        for row in read(engine, &parts.join(" UNION ALL ")).await? {
            let place = usize::try_from(integer(&row, "place")).unwrap_or(usize::MAX);
            if let Some(one) = batch.get(place) {
                found.push((one.clone(), row));
            }
        }
    }
    Ok(found)
}

/// Counts the knowledge nodes of each label. Also finds labels that the embedded engine does not
/// list: those that are never first on a node.
pub(super) async fn nodes(
    engine: &dyn Engine,
    ask: &mut Ask,
) -> Result<BTreeMap<String, u64>, StoreError> {
    let mut numbers = BTreeMap::new();
    let Ask::ByLabel(labels) = ask else {
        let statement = format!(
            "{KNOWLEDGE} WITH labels(n) AS labels LIMIT {VISITED} RETURN labels, count(*) AS times"
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
            Ok(format!(
                "MATCH (n:{}) WITH labels(n) AS labels LIMIT {VISITED} \
                 RETURN {place} AS place, labels, count(*) AS times",
                quote_identifier(label)?
            ))
        });
        let mut beside = BTreeSet::new();
        for (label, row) in groups.await? {
            let labels = knowledge_labels(engine, strings(&row, "labels"));
            if labels.contains(&label) {
                *numbers.entry(label).or_default() += times(&row);
            }
            beside.extend(labels);
        }
        to_ask = beside.difference(&known).cloned().collect();
        known.extend(beside);
    }
    *labels = numbers.keys().cloned().collect();
    replace_large(engine, &mut numbers, |label| format!("(n:{label})")).await?;
    Ok(numbers)
}

/// Replaces the counts of labels that were not visited completely by the engine's own counts, which
/// include memory.
async fn replace_large(
    engine: &dyn Engine,
    numbers: &mut BTreeMap<String, u64>,
    pattern: impl Fn(&str) -> String,
) -> Result<(), StoreError> {
    // Half, because some of the visited nodes may have been memory.
    let large = numbers.iter().filter(|(_, number)| **number > VISITED / 2);
    let large: Vec<String> = large.map(|(name, _)| name.clone()).collect();
    let counted = each(engine, &large, |place, name| {
        Ok(format!(
            "MATCH {} WITH count(n) AS times RETURN {place} AS place, times",
            pattern(&quote_identifier(name)?)
        ))
    });
    let counted = counted.await?;
    numbers.extend(counted.iter().map(|(name, row)| (name.clone(), times(row))));
    Ok(())
}

/// Replaces the counts of types that were not visited completely.
pub(super) async fn whole_numbers(
    engine: &dyn Engine,
    ask: &Ask,
    numbers: &mut BTreeMap<String, u64>,
) -> Result<(), StoreError> {
    match ask {
        Ask::ByLabel(_) => {
            replace_large(engine, numbers, |kind| format!("()-[n:{kind}]->()")).await
        }
        Ask::Through { .. } => Ok(()),
    }
}

/// Returns a few nodes with their properties, under the label that was queried, if any.
pub(super) async fn node_samples(
    engine: &dyn Engine,
    ask: &Ask,
) -> Result<Vec<(Option<String>, Row)>, StoreError> {
    let sample = ask.sample();
    match ask {
        Ask::ByLabel(labels) => {
            let rows = each(engine, labels, |place, label| {
                Ok(format!(
                    "MATCH (x:{}) WITH x LIMIT {sample} \
                     RETURN {place} AS place, labels(x) AS labels, {PROPERTIES}",
                    quote_identifier(label)?
                ))
            });
            let rows = rows.await?.into_iter();
            Ok(rows.map(|(label, row)| (Some(label), row)).collect())
        }
        Ask::Through { .. } => {
            let statement = format!(
                "{KNOWLEDGE} WITH n LIMIT {VISITED} WITH labels(n) AS labels, collect(n) AS members \
                 UNWIND members[0..{sample}] AS x RETURN labels, {PROPERTIES}"
            );
            let rows = read(engine, &statement).await?;
            Ok(rows.into_iter().map(|row| (None, row)).collect())
        }
    }
}

/// Counts relationships between knowledge, by type and the labels at their ends.
pub(super) async fn ties(
    engine: &dyn Engine,
    ask: &Ask,
) -> Result<BTreeMap<RelationshipGroup, u64>, StoreError> {
    let grouped = "labels(a) AS from, type(r) AS name, labels(b) AS to";
    let rows: Vec<(Option<String>, Row)> = match ask {
        Ask::ByLabel(labels) => {
            let rows = each(engine, labels, |place, label| {
                Ok(format!(
                    "MATCH (a:{})-[r]->(b) WITH {grouped} LIMIT {VISITED} \
                     RETURN {place} AS place, from, name, to, count(*) AS times",
                    quote_identifier(label)?
                ))
            });
            let rows = rows.await?.into_iter();
            rows.map(|(label, row)| (Some(label), row)).collect()
        }
        Ask::Through { .. } => {
            let statement = format!(
                "{TIES} WITH {grouped} LIMIT {VISITED} RETURN from, name, to, count(*) AS times"
            );
            let rows = read(engine, &statement).await?.into_iter();
            rows.map(|row| (None, row)).collect()
        }
    };
    let mut found = BTreeMap::new();
    for (owner, row) in rows {
        let from = knowledge_labels(engine, strings(&row, "from"));
        let to = knowledge_labels(engine, strings(&row, "to"));
        let kind = text(&row, "name").unwrap_or_default();
        if from.is_empty() || to.is_empty() || MEMORY_RELATIONSHIPS.contains(&kind.as_str()) {
            continue;
        }
        // A node with several labels is found under each of them, and counted once.
        let is_first = owner.is_none_or(|owner| from.iter().min() == Some(&owner));
        let times = if is_first { times(&row) } else { 0 };
        *found
            .entry(RelationshipGroup { kind, from, to })
            .or_default() += times;
    }
    Ok(found)
}

/// Returns a few relationships between knowledge, with their properties.
pub(super) async fn tie_samples(
    engine: &dyn Engine,
    ask: &Ask,
    patterns: &BTreeSet<Pattern>,
) -> Result<Vec<(String, Row)>, StoreError> {
    let sample = ask.sample();
    let rows: Vec<(String, Row)> = match ask {
        Ask::ByLabel(_) => {
            let begins = patterns
                .iter()
                .map(|one| (one.from.clone(), one.kind.clone()));
            let begins: Vec<(String, String)> =
                begins.collect::<BTreeSet<_>>().into_iter().collect();
            let rows = each(engine, &begins, |place, (from, kind)| {
                Ok(format!(
                    "MATCH (a:{})-[x:{}]->(b) WITH labels(a) AS from, labels(b) AS to, x LIMIT {sample} \
                     RETURN {place} AS place, from, to, {PROPERTIES}",
                    quote_identifier(from)?,
                    quote_identifier(kind)?
                ))
            });
            let rows = rows.await?.into_iter();
            rows.map(|((_, kind), row)| (kind, row)).collect()
        }
        Ask::Through { .. } => {
            let statement = format!(
                "{TIES} WITH a, r, b LIMIT {VISITED} \
                 WITH type(r) AS name, labels(a) AS from, labels(b) AS to, collect(r) AS members \
                 UNWIND members[0..{sample}] AS x RETURN name, from, to, {PROPERTIES}"
            );
            let rows = read(engine, &statement).await?.into_iter();
            rows.filter_map(|row| Some((text(&row, "name")?, row)))
                .collect()
        }
    };
    let is_knowledge = |row: &Row| {
        let mut ends = strings(row, "from");
        ends.extend(strings(row, "to"));
        !ends.iter().any(|label| is_memory_label(label))
    };
    Ok(rows
        .into_iter()
        .filter(|(_, row)| is_knowledge(row))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::types::labels::MEMORY_LABELS;

    #[test]
    fn the_statements_name_all_of_memory() {
        for label in MEMORY_LABELS {
            assert!(KNOWLEDGE.contains(&format!("n:{label}")), "{label}");
            let linked = crate::graph::store::statements::APPEND_LINKED;
            // Knowledge that only some channels may see is still knowledge.
            let is_knowledge = *label == crate::graph::ingest::PRIVATE;
            assert_ne!(
                linked.contains(&format!("k:{label}")),
                is_knowledge,
                "{label}"
            );
        }
        for kind in MEMORY_RELATIONSHIPS {
            assert!(TIES.contains(&format!("'{kind}'")), "{kind}");
        }
    }
}
