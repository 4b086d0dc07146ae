//! Estimates the number of rows before a statement runs: that many values may be collected into one, and no time-out
//! ends a loop over it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::functions;
use super::super::problem::{CheckResult, Problem};
use super::super::tree::{
    Expr, FunctionCall, Labels, NamedPath, NodePattern, PathElement, Projection, ProjectionItem,
};
use super::scope::Scope;
use super::size::Size;

/// Estimated rows of the first pattern in a graph of unknown size, and the minimum estimate of a pattern with
/// relationships in any graph, since a node has several of them. Each further unconnected pattern multiplies the
/// estimate by `FURTHER`, as a condition usually joins them.
const FIRST: u64 = 1_000;
const FURTHER: u64 = 10;

/// Minimum estimate of the rows that `collect` sees, if the graph may give more of them than was guessed.
const COLLECTED: u64 = 1_000;

/// Maximum rows that are counted: the embedded engine ends a statement that makes more.
const MAX_ROWS: u64 = 2_000_000;

/// Maximum size of what all rows hold together, in units of one number or ten characters: the embedded engine copies
/// every value into every row. Some hundred megabytes.
const MAX_HELD: u64 = 25_000_000;

/// Assumed relationships of a pattern whose length only the graph knows.
const LONG: u32 = 3;

/// An estimate at a position of the statement.
#[derive(Clone, Debug)]
pub(super) struct RowEstimate {
    guess: u64,
    /// The same with each relationship's neighbours, and with nodes that a property selects: not for the number of values,
    /// which ordinary statements would exceed, but for the copies of what the statement itself makes.
    most: u64,
    /// Whether a pattern has multiplied `most`.
    has_spread: bool,
    has_matched: bool,
    /// Whether there may be more rows than guessed, as the graph was not counted.
    is_vague: bool,
    /// Lists of which there is one per group: together they contain at most as many elements as there were rows. A
    /// list that was unwound is removed.
    shares: BTreeSet<String>,
}

impl Default for RowEstimate {
    fn default() -> Self {
        Self {
            guess: 1,
            most: 1,
            has_spread: false,
            has_matched: false,
            is_vague: false,
            shares: BTreeSet::new(),
        }
    }
}

impl RowEstimate {
    pub(super) fn guess(&self) -> u64 {
        self.guess
    }

    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// How many values `collect` may give.
    pub(super) fn collected(&self) -> u64 {
        if self.is_vague {
            self.guess.max(COLLECTED)
        } else {
            self.guess
        }
    }

    /// After a subquery, which gives this many rows for each.
    pub(super) fn apply_subquery(&mut self, guess: u64, most: u64, is_vague: bool) {
        self.guess = self.guess.saturating_mul(guess.max(1));
        self.most = self.most.saturating_mul(most.max(1));
        self.is_vague |= is_vague;
    }

    pub(super) fn is_vague(&self) -> bool {
        self.is_vague
    }

    /// From here on there may be more rows than guessed.
    fn blur(&mut self) {
        if self.has_matched && !self.is_vague {
            self.guess = self.guess.max(FIRST);
        }
        self.is_vague = true;
    }

    fn times(&mut self, more: u64) {
        self.guess = self.guess.saturating_mul(more.max(1));
        self.most = self.most.saturating_mul(more.max(1));
    }

    /// Counts the rows of a path. `most` is the number of its most frequent nodes, if all of them are counted. Of the first
    /// relationship there are about as many as of its nodes. With another one, all of them may be neighbours of one node, and
    /// then every pair of them is a row.
    fn spread(&mut self, path: &NamedPath, most: Option<u64>, hangs_together: bool) {
        let steps = &path.path.steps;
        let is_long = steps.iter().any(|step| hops(step) == LONG);
        let neighbours = most.filter(|_| !is_long).unwrap_or(MAX_ROWS).max(FURTHER);
        let mut further: u32 = steps.iter().map(hops).sum();
        let mut starts = 1;
        if !hangs_together {
            starts = most.unwrap_or(FIRST).max(1);
            if further > 0 {
                starts = starts.max(FIRST);
                further -= u32::from(!self.has_spread);
            }
        }
        let more = neighbours.saturating_pow(further).saturating_mul(starts);
        self.has_spread |= more > 1;
        self.most = self.most.saturating_mul(more);
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
            let most = nodes.iter().map(|node| count(node.labels.as_ref(), counts));
            let most = most.max().unwrap_or_default();
            let is_counted = counts.is_some_and(|known| {
                let mut labels = nodes.iter().map(|node| node.labels.as_ref());
                labels.all(|labels| is_counted(labels, known))
            });
            let before = self.most;
            if hangs_together || is_pinned {
                // A node that was bound before is one.
                if is_pinned || path.path.steps.len() > 1 {
                    self.blur();
                }
            } else if self.has_matched {
                self.blur();
                self.times(FURTHER);
            } else {
                let is_exact = is_counted && path.path.steps.len() == 1;
                self.times(if is_exact { most } else { most.max(FIRST) });
                self.has_matched = true;
                self.is_vague |= !is_exact;
            }
            self.most = before;
            self.spread(path, is_counted.then_some(most), hangs_together);
            self.most = self.most.max(self.guess);
            known.extend(names().map(|name| name.text.as_str()));
        }
    }

    pub(super) fn apply_unwind(&mut self, list: &Expr, size: Size, scope: &mut Scope) {
        if let Expr::Variable(name) = list
            && self.shares.remove(&name.text)
        {
            // Each of its rows holds the whole list of its group.
            scope.make_whole(&name.text);
            return;
        }
        self.is_vague |= size.made == 0 && size.gathered == 0;
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
        if is_one_row(projection) {
            self.guess = 1;
            self.most = 1;
            self.has_spread = false;
            self.has_matched = false;
            self.is_vague = false;
        }
        if let Some(Expr::Integer(limit)) = projection.limit {
            let limit = u64::try_from(limit).unwrap_or(0);
            self.guess = self.guess.min(limit);
            self.most = self.most.min(limit);
        }
    }

    /// Refuses a projection whose rows hold too much together: its items have these sizes, and with a star it also
    /// holds the variables of `scope`.
    pub(super) fn check_projected(
        &self,
        projection: &Projection,
        sizes: &[Size],
        scope: &Scope,
    ) -> CheckResult<()> {
        let (rows, most) = if is_one_row(projection) {
            (1, 1)
        } else {
            (self.guess.min(MAX_ROWS), self.most.min(MAX_ROWS))
        };
        let items = sizes.iter().map(|size| size.held_by(rows, most));
        let around = if projection.star { self.held(scope) } else { 0 };
        check_held(items.fold(around, u64::saturating_add))
    }

    /// Refuses rows that hold too much together.
    pub(super) fn check_rows(&self, scope: &Scope) -> CheckResult<()> {
        check_held(self.held(scope))
    }

    fn held(&self, scope: &Scope) -> u64 {
        let (rows, most) = (self.guess.min(MAX_ROWS), self.most.min(MAX_ROWS));
        let held = scope
            .visible()
            .map(|variable| variable.size.held_by(rows, most));
        held.fold(0, u64::saturating_add)
    }
}

fn check_held(held: u64) -> CheckResult<()> {
    if held > MAX_HELD {
        return Err(
            Problem::of_all("too many rows hold copies of long lists or texts").advice(
                "keep only the variables that are needed, or end the rows with LIMIT first",
            ),
        );
    }
    Ok(())
}

/// Whether the projection aggregates everything into one row.
fn is_one_row(projection: &Projection) -> bool {
    let items = &projection.items;
    let mut values = items.iter().map(|item| &item.value);
    !items.is_empty() && !projection.star && values.all(|value| is_aggregated(value) == Some(true))
}

/// Whether an item is computed from aggregates.
pub(super) fn is_aggregating(item: &ProjectionItem) -> bool {
    is_aggregated(&item.value) == Some(true)
}

/// Whether an expression is computed from aggregates; `None` if from literals alone.
fn is_aggregated(expression: &Expr) -> Option<bool> {
    let all = |parts: &mut dyn Iterator<Item = &Expr>| {
        let known: Vec<bool> = parts.filter_map(is_aggregated).collect();
        (!known.is_empty()).then(|| known.iter().all(|is| *is))
    };
    match expression {
        Expr::Null | Expr::Bool(_) | Expr::Integer(_) | Expr::Float(_) | Expr::Text(_) => None,
        Expr::CountStar => Some(true),
        Expr::Call(call) if is_aggregate(call) => Some(true),
        Expr::Call(call) => all(&mut call.arguments.iter()),
        Expr::Unary(_, inner) | Expr::Property(inner, _) => is_aggregated(inner),
        Expr::IsNull { value, .. } => is_aggregated(value),
        Expr::List(items) => all(&mut items.iter()),
        Expr::Map(entries) => all(&mut entries.iter().map(|(_, value)| value)),
        Expr::Index(base, index) => all(&mut [&**base, &**index].into_iter()),
        Expr::Slice(base, first, last) => {
            let bounds = [first, last].into_iter().flatten();
            all(&mut bounds.chain([base]).map(|part| &**part))
        }
        Expr::Chain(_, first, rest) => {
            let operands = rest.iter().map(|(_, operand)| operand);
            all(&mut std::iter::once(&**first).chain(operands))
        }
        Expr::Variable(_)
        | Expr::Parameter(_)
        | Expr::HasLabels(..)
        | Expr::Case(_)
        | Expr::Comprehension(_)
        | Expr::PatternComprehension(_)
        | Expr::Quantified(..)
        | Expr::Reduce(_)
        | Expr::Exists(_)
        | Expr::Subquery(..)
        | Expr::MapProjection(..) => Some(false),
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

/// Whether the number of nodes is known for each of the labels.
fn is_counted(labels: Option<&Labels>, known: &BTreeMap<String, u64>) -> bool {
    match labels {
        Some(Labels::Name(name)) => known.contains_key(&name.text),
        Some(Labels::And(all) | Labels::Or(all)) => {
            all.iter().all(|one| is_counted(Some(one), known))
        }
        None | Some(Labels::Any(_) | Labels::Not(_)) => true,
    }
}

fn node(step: &PathElement) -> Option<&NodePattern> {
    match step {
        PathElement::Node(node) => Some(node),
        PathElement::Relationship(_) | PathElement::Group { .. } => None,
    }
}

/// Number of relationships of a step.
fn hops(step: &PathElement) -> u32 {
    match step {
        PathElement::Node(_) => 0,
        PathElement::Relationship(it) if it.hops.is_none() && it.times.is_none() => 1,
        PathElement::Relationship(_) | PathElement::Group { .. } => LONG,
    }
}

/// The function that aggregates all rows of a group, if the item is only that.
fn aggregates(item: &ProjectionItem) -> Option<&'static str> {
    match &item.value {
        Expr::CountStar => Some("count"),
        Expr::Call(call) => functions::aggregate(&call.function.text),
        _ => None,
    }
}

fn is_aggregate(call: &FunctionCall) -> bool {
    functions::aggregate(&call.function.text).is_some()
}
