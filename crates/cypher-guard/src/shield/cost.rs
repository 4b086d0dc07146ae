//! Estimates the cost of an expression before it runs.
//!
//! Neo4j's time-out does not stop a single expression: `range(1, 1e8)`, nested loops, and repeatedly doubled
//! strings keep running and exhaust the server's memory.

use super::super::problem::{CheckResult, Problem};
use super::super::tree::{
    Comprehension, Expr, FunctionCall, Operator, Projected, Reduce, Strength, SubqueryKind,
};
use super::regex;
use super::scope::Scope;
use super::size::{LIST, MAX_RANGE, Size, both};

/// Maximum size of a value, in units of one number or ten characters.
const MAX_SIZE: u64 = 1_000_000;

/// Maximum steps of a statement's expressions for one row: a second or two.
pub(super) const MAX_WORK: u64 = 20_000_000;

/// Units copied in the time of one step.
const COPIED: u64 = 16;

/// Characters per unit of size.
const CHARACTERS: u64 = 10;

/// Maximum numbers of a `range` whose bounds are not literals.
pub(super) const MAX_COUNTED_RANGE: u32 = 1_000;

const COLLECTED: u64 = 1_000;

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

/// Estimates an expression. `scope` has the sizes of the variables, and `rows` is the number of rows to
/// collect from.
pub(super) fn estimate_cost(
    expression: &Expr,
    scope: &mut Scope,
    rows: u64,
) -> CheckResult<Weight> {
    let mut scales = CostEstimator {
        scope,
        rows,
        steps: 1,
        work: 0,
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
    rows: u64,
    /// How often the current part is evaluated.
    steps: u64,
    /// Steps so far.
    work: u64,
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
        Ok(size)
    }

    /// Adds steps that are taken at each evaluation.
    fn add_steps(&mut self, steps: u64) -> CheckResult<()> {
        self.work = self.work.saturating_add(self.steps.saturating_mul(steps));
        check_step_limit(self.work)
    }

    fn unbounded(&mut self, expression: &Expr) -> CheckResult<Size> {
        Ok(match expression {
            Expr::Null | Expr::Bool(_) | Expr::Integer(_) | Expr::Float(_) => Size::ONE,
            Expr::Text(text) => Size::list(1 + text.len() as u64 / CHARACTERS, 1),
            Expr::Parameter(_) => Size::LIST,
            Expr::Variable(name) => self.scope.get(&name.text).map_or(Size::ONE, |v| v.size),
            Expr::CountStar => Size::COUNT,
            Expr::HasLabels(..) | Expr::Exists(_) => Size::ONE,
            Expr::List(items) => {
                let item = self.largest(items)?.total();
                Size::list(items.len() as u64, item)
            }
            Expr::Map(entries) => {
                let mut size = Size::ONE;
                for (_, value) in entries {
                    size = size.with(self.estimate_size(value)?);
                }
                Size::list(1, size.total())
            }
            Expr::Property(base, _) => Size::PROPERTY.larger(self.estimate_size(base)?.element()),
            Expr::Index(base, index) => {
                self.estimate_size(index)?;
                self.estimate_size(base)?.element()
            }
            Expr::Slice(base, first, last) => {
                for bound in [first, last].into_iter().flatten() {
                    self.estimate_size(bound)?;
                }
                self.estimate_size(base)?
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
                let item =
                    self.repeated(LIST, |scales| scales.estimate_size(&comprehension.result))?;
                Size::list(LIST, item.total())
            }
            Expr::Reduce(reduce) => self.reduce(reduce)?,
            Expr::Subquery(SubqueryKind::Collect, _) => Size::list(MAX_COLLECTED, 1),
            Expr::Subquery(SubqueryKind::Exists | SubqueryKind::Count, _) => Size::ONE,
            Expr::MapProjection(variable, entries) => {
                let base = self.scope.get(&variable.text).map_or(Size::ONE, |v| v.size);
                let mut size = base;
                for entry in entries {
                    match entry {
                        Projected::Value(_, value) => size = size.with(self.estimate_size(value)?),
                        Projected::Variable(name) => {
                            let selected = self.scope.get(&name.text).map_or(Size::ONE, |v| v.size);
                            size = size.with(selected);
                        }
                        Projected::All | Projected::Property(_) => {}
                    }
                }
                Size::list(1, size.total())
            }
        })
    }

    fn largest(&mut self, all: &[Expr]) -> CheckResult<Size> {
        let mut largest = Size::ONE;
        for expression in all {
            largest = largest.larger(self.estimate_size(expression)?);
        }
        Ok(largest)
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

    fn comprehension(&mut self, comprehension: &Comprehension) -> CheckResult<Size> {
        let list = self.estimate_size(&comprehension.list)?;
        let bound = self.scope.len();
        let variable = super::scope::Holds::Anything;
        self.scope
            .bind(&comprehension.variable.text, variable, list.element());
        let item = self.repeated(list.length, |scales| {
            if let Some(condition) = &comprehension.condition {
                scales.estimate_size(condition)?;
            }
            match &comprehension.result {
                Some(result) => scales.estimate_size(result),
                None => Ok(list.element()),
            }
        });
        self.scope.truncate(bound);
        Ok(Size::list(list.length, item?.total()))
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
        self.scope
            .bind(&reduce.accumulator.text, anything(), Size::ONE);
        self.scope
            .bind(&reduce.variable.text, anything(), list.element());
        let step = self.repeated(list.length, |scales| scales.estimate_size(&reduce.step));
        self.scope.truncate(bound);
        let grown = list.length.saturating_mul(step?.total());
        let grown = start.total().saturating_add(grown);
        if copies(&reduce.step, &reduce.accumulator.text) > 0 {
            // Each step copies what has been accumulated so far.
            self.repeated(list.length, |scales| scales.add_steps(grown / COPIED))?;
        }
        Ok(Size::list(grown, 1))
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
                let size = largest.total().saturating_mul(swelling(call)?);
                Size::list(size, 1)
            }
            "collect" => Size::list(self.rows.max(COLLECTED), largest.total()),
            "count" | "size" | "length" | "char_length" | "character_length" => Size::COUNT,
            "keys" | "labels" | "nodes" | "relationships" => Size::LIST,
            "split" => Size::list(largest.total().max(LIST), 1),
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
            return self.add_steps(regex::TEXT * regex::TEXT);
        }
        let Some(pattern) = written(pattern) else {
            return Err(refused("that is computed".to_owned()));
        };
        let length = text.total().saturating_mul(CHARACTERS).max(regex::TEXT);
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
            Some(length) if length <= MAX_RANGE => Ok(Size::list(length, 1)),
            Some(_) | None => Err(Problem::at(
                call.function.at,
                format!("a range that may give more than {MAX_RANGE} numbers"),
            )
            .advice("give it numbers, or size(…) of a list, as bounds")),
        }
    }
}

/// A literal text, also a concatenation of literals.
fn written(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Text(text) => Some(text.clone()),
        Expr::Chain(Strength::Sum, first, rest) => {
            let mut text = written(first)?;
            for (operator, part) in rest {
                if !matches!(operator, Operator::Plus | Operator::Concatenate) {
                    return None;
                }
                text.push_str(&written(part)?);
            }
            Some(text)
        }
        _ => None,
    }
}

/// Whether the bounds of the `range` are literals.
pub(super) fn is_constant_range(call: &FunctionCall) -> bool {
    call.arguments.iter().all(|bound| constant(bound).is_some())
}

fn constant(expression: &Expr) -> Option<i64> {
    match expression {
        Expr::Integer(number) => Some(*number),
        Expr::Unary(super::super::tree::Unary::Minus, inner) => match **inner {
            Expr::Integer(number) => number.checked_neg(),
            _ => None,
        },
        _ => None,
    }
}

/// By what factor `replace` may lengthen a text.
fn swelling(call: &FunctionCall) -> CheckResult<u64> {
    match call.arguments.get(2) {
        Some(Expr::Text(to)) => {
            let from = match &call.arguments[1] {
                Expr::Text(from) => from.len().max(1),
                _ => 1,
            };
            Ok(to.len().div_ceil(from).max(1) as u64)
        }
        _ => Err(
            Problem::at(call.function.at, "replace puts in what is computed")
                .advice("write the text to put in as a string"),
        ),
    }
}

/// How often the accumulator may be part of the expression's result.
fn copies(expression: &Expr, accumulator: &str) -> usize {
    let each = |all: &[Expr]| all.iter().map(|e| copies(e, accumulator)).sum::<usize>();
    let several = usize::from(mentions(expression, accumulator)) * 2;
    match expression {
        Expr::Variable(name) => usize::from(name.text == accumulator),
        Expr::Chain(Strength::Sum, first, rest) => {
            let joined = rest.iter().map(|(_, operand)| copies(operand, accumulator));
            copies(first, accumulator) + joined.sum::<usize>()
        }
        // Numbers and booleans, which do not grow.
        Expr::Chain(..) | Expr::IsNull { .. } | Expr::HasLabels(..) | Expr::Exists(_) => 0,
        Expr::Unary(_, inner) => copies(inner, accumulator),
        Expr::Property(base, _) | Expr::Index(base, _) | Expr::Slice(base, ..) => {
            copies(base, accumulator)
        }
        Expr::List(items) => each(items),
        Expr::Map(entries) => entries.iter().map(|(_, v)| copies(v, accumulator)).sum(),
        Expr::Case(case) => {
            let results = case.branches.iter().map(|(_, result)| result);
            let results = results.chain(&case.otherwise);
            results.map(|r| copies(r, accumulator)).max().unwrap_or(0)
        }
        Expr::Call(call) => match call.function.text.to_ascii_lowercase().as_str() {
            "size" | "length" | "type" | "id" | "elementid" | "abs" => 0,
            "coalesce" | "tostring" | "tointeger" | "tofloat" | "tolower" | "toupper" | "trim"
            | "substring" | "left" | "right" | "reverse" | "tail" | "head" | "last" => {
                let arguments = call.arguments.iter();
                arguments.map(|a| copies(a, accumulator)).max().unwrap_or(0)
            }
            _ => several,
        },
        Expr::Null
        | Expr::Bool(_)
        | Expr::Integer(_)
        | Expr::Float(_)
        | Expr::Text(_)
        | Expr::Parameter(_)
        | Expr::CountStar => 0,
        Expr::Quantified(..) => 0,
        Expr::Comprehension(_)
        | Expr::PatternComprehension(_)
        | Expr::Reduce(_)
        | Expr::Subquery(..)
        | Expr::MapProjection(..) => several,
    }
}

/// Whether the name occurs anywhere in the printed expression.
fn mentions(expression: &Expr, name: &str) -> bool {
    let text = super::super::print::expression(expression);
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    text.split(|c| !is_part(c)).any(|word| word == name) || !name.chars().all(is_part)
}
