//! Estimates the cost of an expression before it runs.
//!
//! No time-out stops a single expression, neither Neo4j's nor the embedded engine's: `range(1, 1e8)`, nested loops, and
//! repeatedly doubled strings keep running and exhaust the memory.

use std::collections::BTreeMap;

use super::super::problem::{CheckResult, Problem};
use super::super::tree::{
    Comprehension, Expr, FunctionCall, Name, Operator, Projected, Reduce, Strength, Subquery,
    SubqueryKind,
};
use super::accumulator::{copies, levels};
use super::literals::{constant, split, swelling, written};
use super::regex;
use super::rows::RowEstimate;
use super::scope::Scope;
use super::size::{CHARACTERS, LIST, LOOPS, MAX_RANGE, Size, Unknown, both};

/// Maximum size of a value, in units of one number or ten characters.
const MAX_SIZE: u64 = 1_000_000;

/// Maximum lists and maps inside of each other. Values are walked recursively, and JSON is read to a depth of 128.
const MAX_NESTING: u64 = 100;

/// Maximum steps of a statement's expressions for one row: a second or two.
pub(super) const MAX_WORK: u64 = 20_000_000;

/// Units copied in the time of one step.
const COPIED: u64 = 16;

/// Maximum numbers of a `range` whose bounds are not literals.
pub(super) const MAX_COUNTED_RANGE: u32 = 1_000;

/// Maximum rows of one `COLLECT { … }`.
pub(super) const MAX_COLLECTED: u64 = 10_000;

/// The estimated result of an expression and its cost.
pub(super) struct Weight {
    pub(super) size: Size,
    /// In steps.
    pub(super) work: u64,
    /// Parameters used as regular expressions.
    pub(super) regex_parameters: Vec<String>,
}

/// What was found out about the results of `COLLECT { … }`, by the position of their `RETURN`.
pub(super) type CollectedSizes = BTreeMap<usize, Size>;

/// Estimates an expression. `scope` has the sizes of the variables, and `rows` are those to collect from.
pub(super) fn estimate_cost(
    expression: &Expr,
    scope: &mut Scope,
    rows: &RowEstimate,
    collected: &CollectedSizes,
) -> CheckResult<Weight> {
    let mut scales = CostEstimator {
        scope,
        rows,
        collected,
        steps: 1,
        work: 0,
        items: 0,
        regex_parameters: Vec::new(),
    };
    let size = scales.estimate_size(expression)?;
    Ok(Weight {
        size,
        work: scales.work,
        regex_parameters: scales.regex_parameters,
    })
}

/// Refuses an expression with too many steps.
pub(super) fn check_step_limit(work: u64) -> CheckResult<()> {
    if work > MAX_WORK {
        return Err(Problem::of_all("loops in loops take too many steps")
            .advice("filter and join with MATCH and WHERE"));
    }
    Ok(())
}

struct CostEstimator<'a> {
    scope: &'a mut Scope,
    rows: &'a RowEstimate,
    collected: &'a CollectedSizes,
    /// How often the current part is evaluated.
    steps: u64,
    /// Steps so far.
    work: u64,
    /// Items of all loops so far.
    items: u64,
    regex_parameters: Vec<String>,
}

impl CostEstimator<'_> {
    fn estimate_size(&mut self, expression: &Expr) -> CheckResult<Size> {
        self.add_steps(1)?;
        let size = self.unbounded(expression)?;
        if size.total() > MAX_SIZE {
            return Err(Problem::of_all("a value grows too big")
                .advice("do not repeat strings and lists again and again"));
        }
        if size.depth > MAX_NESTING {
            let message = format!("more than {MAX_NESTING} lists and maps nested in each other");
            return Err(Problem::of_all(message).advice("put values beside each other in a list"));
        }
        Ok(size)
    }

    /// Adds steps that are taken at each evaluation.
    fn add_steps(&mut self, steps: u64) -> CheckResult<()> {
        self.work = self.work.saturating_add(self.steps.saturating_mul(steps));
        check_step_limit(self.work)
    }

    fn unbounded(&mut self, expression: &Expr) -> CheckResult<Size> {
        Ok(match expression {
            Expr::Null | Expr::Bool(_) | Expr::Integer(_) | Expr::Float(_) => Size::LITERAL,
            Expr::Text(text) => Size::text(1 + text.len() as u64 / CHARACTERS),
            Expr::Parameter(_) => Size::LIST,
            Expr::Variable(name) => {
                let size = self.size_of(name);
                // The embedded engine copies a value wherever it is used.
                self.add_steps(size.copying() / COPIED)?;
                size
            }
            Expr::CountStar => Size::COUNT,
            Expr::HasLabels(..) | Expr::Exists(_) => Size::ONE,
            Expr::List(items) => {
                let (mut largest, mut all) = (Size::ONE, Size::ONE);
                for item in items {
                    let size = self.estimate_size(item)?;
                    (largest, all) = (largest.larger(size), all.with(size));
                }
                Size::holding(items.len() as u64, largest, all)
            }
            Expr::Map(entries) => {
                let (mut size, mut longest) = (Size::ONE, 0);
                for (_, value) in entries {
                    let value = self.estimate_size(value)?;
                    (size, longest) = (size.with(value), longest.max(value.longest()));
                }
                Size {
                    inside: longest,
                    ..Size::holding(1, size, size)
                }
            }
            Expr::Property(base, _) => Size::PROPERTY.larger(self.estimate_size(base)?.element()),
            Expr::Index(base, index) => {
                self.estimate_size(index)?;
                let base = self.estimate_size(base)?;
                if base.depth == 0 {
                    // The property of a node.
                    Size::PROPERTY.larger(base.element())
                } else {
                    base.element()
                }
            }
            Expr::Slice(base, first, last) => {
                for bound in [first, last].into_iter().flatten() {
                    self.estimate_size(bound)?;
                }
                let size = self.estimate_size(base)?;
                let end = last.as_deref().and_then(constant);
                match end.and_then(|end| u64::try_from(end).ok()) {
                    Some(end) => size.first(end),
                    None => size,
                }
            }
            Expr::Unary(_, inner) => self.estimate_size(inner)?,
            Expr::IsNull { value, .. } => {
                self.estimate_size(value)?;
                Size::ONE
            }
            Expr::Chain(strength, first, rest) => self.chain(*strength, first, rest)?,
            Expr::Call(call) => self.call(call)?,
            Expr::Case(case) => {
                let mut size = Size::ONE;
                let results = case.branches.iter().map(|(_, result)| result);
                let conditions = case.branches.iter().flat_map(|(conditions, _)| conditions);
                for condition in conditions.chain(&case.subject) {
                    self.estimate_size(condition)?;
                }
                for result in results.chain(&case.otherwise) {
                    size = size.larger(self.estimate_size(result)?);
                }
                size
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension)?,
            Expr::Quantified(_, comprehension) => {
                self.comprehension(comprehension)?;
                Size::ONE
            }
            Expr::PatternComprehension(comprehension) => {
                // The names that it binds are single nodes and relationships.
                let item = self.looped(LIST, |scales| scales.estimate_size(&comprehension.result));
                Size {
                    unknown: Unknown::of(LOOPS),
                    ..Size::list(LIST, item?)
                }
            }
            Expr::Reduce(reduce) => self.reduce(reduce)?,
            Expr::Subquery(SubqueryKind::Collect, subquery) => self.collected_by(subquery),
            Expr::Subquery(SubqueryKind::Exists | SubqueryKind::Count, _) => Size::ONE,
            Expr::MapProjection(variable, entries) => {
                let mut size = self.size_of(variable);
                for entry in entries {
                    match entry {
                        Projected::Value(_, value) => size = size.with(self.estimate_size(value)?),
                        Projected::Variable(name) => {
                            size = size.with(self.size_of(name));
                        }
                        Projected::All | Projected::Property(_) => {}
                    }
                }
                Size::holding(1, size, size)
            }
        })
    }

    /// The size of a variable. Those that a pattern binds inside of an expression are nodes and relationships.
    fn size_of(&self, variable: &Name) -> Size {
        let known = self.scope.get(&variable.text);
        known.map_or(Size::NODE, |variable| variable.size)
    }

    fn collected_by(&self, subquery: &Subquery) -> Size {
        let returned = match subquery {
            Subquery::Query(query) => query.branches.first().and_then(|it| it.returned.as_ref()),
            Subquery::Pattern(_) => None,
        };
        let known = returned.and_then(|returned| self.collected.get(&returned.at.into()));
        let unknown = || Size::list(MAX_COLLECTED, Size::ONE);
        known.copied().unwrap_or_else(unknown)
    }

    fn chain(
        &mut self,
        strength: Strength,
        first: &Expr,
        rest: &[(Operator, Expr)],
    ) -> CheckResult<Size> {
        let mut size = self.estimate_size(first)?;
        let joins = strength == Strength::Sum;
        for (operator, operand) in rest {
            let right = self.estimate_size(operand)?;
            match operator {
                Operator::Matches => self.matches(size, operand)?,
                // Strings and lists are searched, compared and copied.
                _ => self.add_steps(size.total().saturating_add(right.total()) / COPIED)?,
            }
            let constant = constant(operand).map(i64::unsigned_abs);
            size = match operator {
                Operator::Plus | Operator::Minus if size.count.is_some() && constant.is_some() => {
                    Size {
                        count: both(size.count, constant),
                        ..size
                    }
                }
                Operator::Plus | Operator::Concatenate => size.with(right),
                Operator::Minus => Size {
                    count: both(size.count, right.count),
                    ..size
                },
                _ if joins => size,
                _ => Size {
                    count: size.count.filter(|_| {
                        *operator == Operator::Divide && constant.is_some_and(|by| by > 0)
                    }),
                    ..Size::ONE
                },
            };
        }
        Ok(size)
    }

    /// Estimates a part that is evaluated this often.
    fn repeated<T>(
        &mut self,
        times: u64,
        part: impl FnOnce(&mut Self) -> CheckResult<T>,
    ) -> CheckResult<T> {
        let before = self.steps;
        self.steps = before.saturating_mul(times.max(1));
        check_step_limit(self.steps)?;
        let result = part(self);
        self.steps = before;
        result
    }

    /// Estimates what is evaluated for each item of a list. The embedded engine copies all variables for each.
    fn looped<T>(
        &mut self,
        times: u64,
        part: impl FnOnce(&mut Self) -> CheckResult<T>,
    ) -> CheckResult<T> {
        self.repeated(times, |scales| {
            scales.items = scales.items.saturating_add(scales.steps);
            scales.add_steps(scales.scope.copying() / COPIED)?;
            part(scales)
        })
    }

    fn comprehension(&mut self, comprehension: &Comprehension) -> CheckResult<Size> {
        let list = self.estimate_size(&comprehension.list)?;
        let bound = self.scope.len();
        let variable = super::scope::Holds::Anything;
        self.scope
            .bind(&comprehension.variable.text, variable, list.element());
        let item = self.looped(list.loops(), |scales| {
            if let Some(condition) = &comprehension.condition {
                scales.estimate_size(condition)?;
            }
            match &comprehension.result {
                Some(result) => scales.estimate_size(result),
                None => Ok(list.element()),
            }
        });
        self.scope.truncate(bound);
        Ok(list.mapped(item?))
    }

    /// If the accumulator is used at most once per step, it grows by what is added and is not doubled.
    fn reduce(&mut self, reduce: &Reduce) -> CheckResult<Size> {
        let start = self.estimate_size(&reduce.start)?;
        let list = self.estimate_size(&reduce.list)?;
        if copies(&reduce.step, &reduce.accumulator.text) > 1 {
            let message = format!("reduce uses {} more than once", reduce.accumulator.text);
            return Err(Problem::at(reduce.accumulator.at, message)
                .advice("use the accumulator once in each result"));
        }
        let bound = self.scope.len();
        let anything = || super::scope::Holds::Anything;
        let loops = list.loops();
        // A loop over the accumulator runs for what has been added.
        let so_far = Size {
            depth: start.depth,
            inside: start.longest(),
            unknown: Unknown::of(LOOPS.max(start.longest().saturating_add(loops))),
            ..Size::ONE
        };
        self.scope
            .bind(&reduce.accumulator.text, anything(), so_far);
        self.scope
            .bind(&reduce.variable.text, anything(), list.element());
        let before = self.items;
        let step = self.looped(loops, |scales| scales.estimate_size(&reduce.step));
        self.scope.truncate(bound);
        let step = step?;
        let grown = loops.saturating_mul(step.total());
        let grown = start.total().saturating_add(grown);
        if copies(&reduce.step, &reduce.accumulator.text) > 0 {
            // Each step copies what has been accumulated so far, and so does each loop in it.
            let copied = self.items.saturating_sub(before);
            self.work = self
                .work
                .saturating_add(copied.saturating_mul(grown / COPIED));
            check_step_limit(self.work)?;
        }
        let added = levels(&reduce.step, &reduce.accumulator.text).unwrap_or(0);
        let added = loops.saturating_mul(u64::try_from(added).unwrap_or(0));
        let joined = list.mapped(step);
        Ok(Size {
            length: grown,
            item: grown,
            bound: grown,
            inside: start.longest().max(step.longest()),
            unknown: Unknown::either(start.unknown, step.unknown).map(|unknown| Unknown {
                level: 0,
                ..unknown
            }),
            depth: start.depth.max(step.depth).saturating_add(added),
            made: start.made.saturating_add(joined.made),
            gathered: start.gathered.saturating_add(joined.gathered),
            groups: start.groups.min(joined.groups),
            ..Size::ONE
        })
    }

    fn call(&mut self, call: &FunctionCall) -> CheckResult<Size> {
        let function = call.function.text.to_ascii_lowercase();
        let mut sizes = Vec::new();
        for argument in &call.arguments {
            sizes.push(self.estimate_size(argument)?);
        }
        let largest = sizes
            .iter()
            .fold(Size::ONE, |one, other| one.larger(*other));
        let all = sizes.iter().fold(0, |sum, size| size.total() + sum);
        self.add_steps(all / COPIED)?;
        Ok(match function.as_str() {
            "range" => self.range(call, &sizes)?,
            "replace" => {
                let swelling = swelling(call)?;
                Size {
                    length: largest.total().saturating_mul(swelling),
                    made: largest.made.saturating_mul(swelling),
                    gathered: largest.gathered.saturating_mul(swelling),
                    groups: largest.groups,
                    ..Size::ONE
                }
            }
            "collect" => Size {
                made: 0,
                gathered: self.rows.guess().saturating_mul(largest.total()),
                groups: self.rows.guess(),
                ..Size::list(self.rows.collected(), largest)
            },
            "count" | "size" | "length" | "char_length" | "character_length" => Size::COUNT,
            "keys" | "labels" => Size::NAMES,
            "nodes" | "relationships" => Size::LIST,
            "split" => split(call, sizes.first().copied().unwrap_or(largest)),
            "coalesce" => Size {
                count: sizes
                    .iter()
                    .try_fold(0, |added: u64, size| Some(added.max(size.count?))),
                ..largest
            },
            "head" | "last" => largest.element(),
            "tointeger" | "abs" | "floor" | "ceil" => largest,
            _ => Size {
                count: None,
                ..largest
            },
        })
    }

    /// A regular expression is a literal, or a parameter whose value is checked when the statement runs.
    fn matches(&mut self, text: Size, pattern: &Expr) -> CheckResult<()> {
        let refused = |why: String| {
            Problem::of_all(format!("a regular expression {why}"))
                .advice("use CONTAINS, STARTS WITH and ENDS WITH, with toLower(…)")
        };
        if let Expr::Parameter(name) = pattern {
            self.regex_parameters.push(name.text.clone());
            return self.add_steps(regex::PARAMETER);
        }
        let Some(pattern) = written(pattern) else {
            return Err(refused("that is computed".to_owned()));
        };
        let is_of_graph = text.unknown.is_some();
        let least = if is_of_graph {
            regex::TEXT
        } else {
            regex::SHORT
        };
        let length = text.total().saturating_mul(CHARACTERS).max(least);
        self.add_steps(regex::price(&pattern, length).map_err(refused)?)
    }

    fn range(&mut self, call: &FunctionCall, sizes: &[Size]) -> CheckResult<Size> {
        let bounds: Vec<Option<i64>> = call.arguments.iter().map(constant).collect();
        let length = match bounds.as_slice() {
            [Some(first), Some(last), ..] => {
                let step = bounds
                    .get(2)
                    .copied()
                    .flatten()
                    .unwrap_or(1)
                    .unsigned_abs()
                    .max(1);
                Some((first.abs_diff(*last) / step).saturating_add(1))
            }
            [_, _, ..] => {
                let mut pairs = bounds.iter().zip(sizes);
                let are_small = pairs.all(|(constant, size)| match constant {
                    Some(number) => number.unsigned_abs() <= MAX_RANGE,
                    None => size.count.is_some(),
                });
                are_small.then_some(MAX_COUNTED_RANGE.into())
            }
            _ => None,
        };
        match length {
            Some(length) if length <= MAX_RANGE => Ok(Size::list(length, Size::LITERAL)),
            Some(_) | None => Err(Problem::at(
                call.function.at,
                format!("a range that may give more than {MAX_RANGE} numbers"),
            )
            .advice("give it numbers, or size(…) of a list, as bounds")),
        }
    }
}
