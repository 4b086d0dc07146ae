//! Estimates the number of rows before a statement runs: that many values may be collected into one, and no time-out
//! ends a loop over it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::{
    Expr, Labels, NamedPath, NodePattern, PathElement, Projection, ProjectionItem,
};
use super::scope::Scope;
use super::size::Size;

/// Estimated rows of the first pattern in a graph of unknown size, and the minimum estimate in any graph, since a
/// node has several relationships. Each further unconnected pattern multiplies the estimate by `FURTHER`, as a
/// condition usually joins them.
const FIRST: u64 = 1_000;
const FURTHER: u64 = 10;

/// An estimate at a position of the statement.
#[derive(Clone, Debug)]
pub(super) struct RowEstimate {
    guess: u64,
    has_matched: bool,
    /// Lists of which there is one per group: together they contain at most as many elements as there were rows. A
    /// list that was unwound is removed.
    shares: BTreeSet<String>,
}

impl Default for RowEstimate {
    fn default() -> Self {
        Self {
            guess: 1,
            has_matched: false,
            shares: BTreeSet::new(),
        }
    }
}

impl RowEstimate {
    pub(super) fn guess(&self) -> u64 {
        self.guess
    }

    pub(super) fn times(&mut self, more: u64) {
        self.guess = self.guess.saturating_mul(more.max(1));
    }

    /// After the paths of a `MATCH`, which are not in `scope` yet. `counts` are the numbers of nodes by label.
    pub(super) fn apply_match(
        &mut self,
        paths: &[NamedPath],
        scope: &Scope,
        counts: Option<&BTreeMap<String, u64>>,
    ) {
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for path in paths {
            let nodes: Vec<&NodePattern> = path.path.steps.iter().filter_map(node).collect();
            let names = || nodes.iter().filter_map(|node| node.variable.as_ref());
            let hangs_together = names()
                .any(|name| known.contains(name.text.as_str()) || scope.get(&name.text).is_some());
            let is_pinned = nodes.iter().any(|node| !node.properties.is_empty());
            if !hangs_together && !is_pinned {
                let most = nodes.iter().map(|node| count(node.labels.as_ref(), counts));
                let first = most.max().unwrap_or_default().max(FIRST);
                self.times(if self.has_matched { FURTHER } else { first });
                self.has_matched = true;
            }
            known.extend(names().map(|name| name.text.as_str()));
        }
    }

    pub(super) fn apply_unwind(&mut self, list: &Expr, size: Size) {
        if let Expr::Variable(name) = list
            && self.shares.remove(&name.text)
        {
            return;
        }
        self.times(size.length);
    }

    /// After `WITH` or `RETURN`.
    pub(super) fn projected(&mut self, projection: &Projection) {
        let items = &projection.items;
        let of_groups = items
            .iter()
            .filter(|item| aggregates(item).is_some())
            .count();
        for item in items {
            let Some(alias) = &item.alias else { continue };
            let is_share = of_groups < items.len() && aggregates(item) == Some("collect");
            if is_share {
                self.shares.insert(alias.text.clone());
            } else {
                self.shares.remove(&alias.text);
            }
        }
        if of_groups > 0 && of_groups == items.len() && !projection.star {
            self.guess = 1;
        }
        if let Some(Expr::Integer(limit)) = projection.limit {
            self.guess = self.guess.min(u64::try_from(limit).unwrap_or(0));
        }
    }
}

/// The number of nodes with such labels.
fn count(labels: Option<&Labels>, counts: Option<&BTreeMap<String, u64>>) -> u64 {
    let Some(known) = counts else { return 0 };
    match labels {
        Some(Labels::Name(name)) => known.get(&name.text).copied().unwrap_or_default(),
        Some(Labels::And(all)) => {
            let least = all.iter().map(|one| count(Some(one), counts)).min();
            least.unwrap_or_default()
        }
        Some(Labels::Or(any)) => any.iter().map(|one| count(Some(one), counts)).sum(),
        None | Some(Labels::Any(_) | Labels::Not(_)) => known.values().sum(),
    }
}

fn node(step: &PathElement) -> Option<&NodePattern> {
    match step {
        PathElement::Node(node) => Some(node),
        PathElement::Relationship(_) | PathElement::Group { .. } => None,
    }
}

/// The function that aggregates all rows of a group, if the item is only that.
fn aggregates(item: &ProjectionItem) -> Option<&'static str> {
    const ALL: &[&str] = &[
        "avg", "collect", "count", "max", "min", "stdev", "stdevp", "sum",
    ];
    match &item.value {
        Expr::CountStar => Some("count"),
        Expr::Call(call) => ALL.iter().copied().find(|name| call.is(name)),
        _ => None,
    }
}
