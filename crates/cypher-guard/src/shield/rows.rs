//! How many rows there may be, guessed before it runs: so much may be collected into one value, and no time-out ends
//! what loops over that.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::{Expr, Item, Labels, NamedPath, NodePattern, Projection, Step};
use super::cost::Size;
use super::scope::Scope;

/// What the first pattern may give in a graph of unknown size, and the least that is guessed of one in any, since a
/// node has several relationships; and how many times more each further one that hangs together with nothing: mostly
/// a condition joins them.
const FIRST: u64 = 1_000;
const FURTHER: u64 = 10;

/// A guess, at a place of the statement.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    guess: u64,
    has_matched: bool,
    /// Lists of which there is one for each group: together they hold no more than there were rows. One that was
    /// unwound is none any more.
    shares: BTreeSet<String>,
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            guess: 1,
            has_matched: false,
            shares: BTreeSet::new(),
        }
    }
}

impl Rows {
    pub(super) fn guess(&self) -> u64 {
        self.guess
    }

    pub(super) fn times(&mut self, more: u64) {
        self.guess = self.guess.saturating_mul(more.max(1));
    }

    /// After the paths of a `MATCH`, of which `scope` knows nothing yet. `counts` are the nodes of each label.
    pub(super) fn matched(
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

    pub(super) fn unwound(&mut self, list: &Expr, size: Size) {
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

/// How many nodes may have such labels.
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

fn node(step: &Step) -> Option<&NodePattern> {
    match step {
        Step::Node(node) => Some(node),
        Step::Relationship(_) | Step::Group { .. } => None,
    }
}

/// The function that makes one value of all rows of a group, where the item is nothing else.
fn aggregates(item: &Item) -> Option<&'static str> {
    const ALL: &[&str] = &[
        "avg", "collect", "count", "max", "min", "stdev", "stdevp", "sum",
    ];
    match &item.value {
        Expr::CountStar => Some("count"),
        Expr::Call(call) => ALL.iter().copied().find(|name| call.is(name)),
        _ => None,
    }
}
