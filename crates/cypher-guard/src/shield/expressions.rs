//! Shields expressions: allowlisted functions, patterns inside of them, and label tests.

use super::super::functions;
use super::super::problem::{CheckResult, Problem};
use super::super::tree::{
    ByteOffset, Comprehension, Expr, FunctionCall, Labels, Name, Operator, PatternComprehension,
    Projected, Reduce, Selector, Strength, Subquery, SubqueryKind, Unary,
};
use super::Shield;
use super::changes::is_volatile;
use super::cost::{MAX_COUNTED_RANGE, check_step_limit, estimate_cost};
use super::literals::is_constant_range;
use super::patterns::counted;
use super::scope::{Holds, Scope, element};
use super::size::Size;
use super::temporal::count_months;
use super::vocabulary::proposal;

impl Shield<'_> {
    /// Shields an expression, and returns the estimated size of its result.
    pub(super) fn expression(
        &mut self,
        expression: &mut Expr,
        scope: &mut Scope,
    ) -> CheckResult<Size> {
        self.inner(expression, scope)?;
        let weight = estimate_cost(expression, scope, &self.rows, &self.collected)?;
        self.work = self.work.saturating_add(weight.work);
        check_step_limit(self.work)?;
        self.regex_parameters.extend(weight.regex_parameters);
        Ok(weight.size)
    }

    fn all<'e>(
        &mut self,
        expressions: impl IntoIterator<Item = &'e mut Expr>,
        scope: &mut Scope,
    ) -> CheckResult<()> {
        let mut expressions = expressions.into_iter();
        expressions.try_for_each(|expression| self.inner(expression, scope))
    }

    fn inner(&mut self, expression: &mut Expr, scope: &mut Scope) -> CheckResult<()> {
        match expression {
            Expr::Null
            | Expr::Bool(_)
            | Expr::Integer(_)
            | Expr::Float(_)
            | Expr::Text(_)
            | Expr::Variable(_) => Ok(()),
            Expr::CountStar => {
                self.is_volatile = true;
                Ok(())
            }
            Expr::Parameter(name) => self.parameter(name),
            Expr::List(items) => self.all(items, scope),
            Expr::Map(entries) => self.all(entries.iter_mut().map(|(_, value)| value), scope),
            Expr::Property(base, property) => {
                refuse_boolean(base)?;
                self.property(base, property, scope)?;
                self.inner(base, scope)?;
                count_months(base, property);
                Ok(())
            }
            Expr::Index(base, index) => {
                refuse_boolean(base)?;
                self.all([&mut **base, index], scope)
            }
            Expr::Slice(base, first, last) => {
                if is_ended_range(base, first.as_deref(), last.as_deref()) {
                    return self.function(base, scope);
                }
                refuse_boolean(base)?;
                let bounds = [first, last].into_iter().flatten();
                self.all(bounds.map(|bound| &mut **bound), scope)?;
                self.inner(base, scope)
            }
            Expr::HasLabels(variable, labels) => {
                *expression = self.label_test(variable, labels)?;
                Ok(())
            }
            Expr::Unary(unary, inner) => {
                match unary {
                    Unary::Minus => refuse_boolean(inner)?,
                    Unary::Not => {}
                }
                self.inner(inner, scope)
            }
            Expr::Chain(strength, first, rest) => {
                if *strength >= Strength::Sum {
                    refuse_boolean(first)?;
                    rest.iter()
                        .try_for_each(|(_, operand)| refuse_boolean(operand))?;
                }
                let operands = rest.iter_mut().map(|(_, operand)| operand);
                self.all(std::iter::once(&mut **first).chain(operands), scope)?;
                self.compare_times(first, rest, scope)?;
                rewrite_comparisons(expression);
                Ok(())
            }
            Expr::IsNull { value, .. } => self.inner(value, scope),
            Expr::Call(call) => {
                if let Some(id) = hidden_id(call) {
                    return self.function(id, scope);
                }
                self.function(expression, scope)?;
                hide_id(expression);
                end_range(expression);
                Ok(())
            }
            Expr::Case(case) => {
                let branches = case.branches.iter_mut();
                let in_branches = branches.flat_map(|(conditions, result)| {
                    conditions.iter_mut().chain(std::iter::once(result))
                });
                self.all(in_branches, scope)?;
                self.all(case.subject.iter_mut().chain(&mut case.otherwise), scope)
            }
            Expr::Comprehension(comprehension) | Expr::Quantified(_, comprehension) => {
                self.comprehension(comprehension, scope)
            }
            Expr::PatternComprehension(comprehension) => {
                self.pattern_comprehension(comprehension, scope)
            }
            Expr::Reduce(reduce) => self.reduce(reduce, scope),
            Expr::Exists(path) => {
                let mut inside = scope.clone();
                if path.selector != Selector::Every {
                    return self.shortest(path, &mut inside);
                }
                self.paths(std::slice::from_mut(&mut **path), &mut inside)
            }
            Expr::Subquery(kind, subquery) => {
                self.is_volatile |= *kind == SubqueryKind::Count;
                match &mut **subquery {
                    Subquery::Pattern(pattern) => {
                        let around = self.rows.clone();
                        self.shield_match(pattern, &mut scope.clone())?;
                        self.rows = around;
                        Ok(())
                    }
                    Subquery::Query(query) => self.subquery(query, *kind, scope),
                }
            }
            Expr::MapProjection(variable, entries) => self.map_projection(variable, entries, scope),
        }
    }

    /// Checks a property, if the type of its owner is known.
    fn property(&self, base: &Expr, property: &Name, scope: &Scope) -> CheckResult<()> {
        match scope.holds(base) {
            Holds::Node(Some(labels)) => self.words.check_node_property(&labels, property),
            Holds::Relationship(Some(types)) => {
                self.words.check_relationship_property(&types, property)
            }
            Holds::Node(None)
            | Holds::Nodes(_)
            | Holds::Relationship(None)
            | Holds::Path
            | Holds::Ids
            | Holds::Anything => Ok(()),
        }
    }

    /// Rewrites `n:A|B` to `n:A OR n:B`, which every engine supports.
    fn label_test(&mut self, variable: &Name, labels: &Labels) -> CheckResult<Expr> {
        let mut test = |labels: &Labels| self.label_test(variable, labels);
        match labels {
            Labels::Name(name) => {
                self.words.check_label_or_type(name)?;
                // A server may begin at it.
                self.used_labels.insert(name.text.clone());
                self.used_types.insert(name.text.clone());
                Ok(Expr::HasLabels(variable.clone(), labels.clone()))
            }
            Labels::Any(at) => Err(Problem::at(*at, "% is not allowed in a condition")
                .advice("name the labels, or leave it out")),
            Labels::Not(inner) => Ok(Expr::Unary(Unary::Not, Box::new(test(inner)?))),
            Labels::And(all) | Labels::Or(all) => {
                let (strength, operator) = match labels {
                    Labels::And(_) => (Strength::And, Operator::And),
                    _ => (Strength::Or, Operator::Or),
                };
                let mut tests = all.iter().map(test);
                let first = tests.next().unwrap_or(Ok(Expr::Null))?;
                let rest: CheckResult<Vec<_>> = tests.map(|t| Ok((operator, t?))).collect();
                Ok(Expr::Chain(strength, Box::new(first), rest?))
            }
        }
    }

    fn function(&mut self, expression: &mut Expr, scope: &mut Scope) -> CheckResult<()> {
        let Expr::Call(call) = expression else {
            return Ok(());
        };
        if !functions::is_allowed(&call.function.text) {
            return Err(unknown_function(call));
        }
        self.all(&mut call.arguments, scope)?;
        self.is_volatile |= is_volatile(call, scope);
        let (is_exists, is_size) = (call.is("exists"), call.is("size"));
        let [argument] = call.arguments.as_mut_slice() else {
            return Ok(());
        };
        // Old forms that newer servers refuse.
        let newer = match argument {
            Expr::Property(..) | Expr::Index(..) if is_exists => Expr::IsNull {
                value: Box::new(std::mem::replace(argument, Expr::Null)),
                negated: true,
            },
            Expr::Exists(path) if is_size && path.selector == Selector::Every => {
                self.is_volatile = true;
                let pattern = counted((**path).clone());
                Expr::Subquery(SubqueryKind::Count, Box::new(Subquery::Pattern(pattern)))
            }
            _ => return Ok(()),
        };
        *expression = newer;
        Ok(())
    }

    fn comprehension(
        &mut self,
        comprehension: &mut Comprehension,
        scope: &mut Scope,
    ) -> CheckResult<()> {
        self.inner(&mut comprehension.list, scope)?;
        let bound = scope.len();
        let holds = element(scope.holds(&comprehension.list));
        scope.bind(&comprehension.variable.text, holds, Size::ONE);
        let parts = comprehension
            .condition
            .iter_mut()
            .chain(&mut comprehension.result);
        let result = self.all(parts, scope);
        scope.truncate(bound);
        result
    }

    fn pattern_comprehension(
        &mut self,
        comprehension: &mut PatternComprehension,
        scope: &Scope,
    ) -> CheckResult<()> {
        let mut inside = scope.clone();
        self.paths(std::slice::from_mut(&mut comprehension.path), &mut inside)?;
        self.all(comprehension.condition.iter_mut(), &mut inside)?;
        self.inner(&mut comprehension.result, &mut inside)
    }

    fn reduce(&mut self, reduce: &mut Reduce, scope: &mut Scope) -> CheckResult<()> {
        self.all([&mut reduce.start, &mut reduce.list], scope)?;
        let bound = scope.len();
        let holds = element(scope.holds(&reduce.list));
        scope.bind(&reduce.accumulator.text, Holds::Anything, Size::ONE);
        scope.bind(&reduce.variable.text, holds, Size::ONE);
        let result = self.inner(&mut reduce.step, scope);
        scope.truncate(bound);
        result
    }

    fn map_projection(
        &mut self,
        variable: &Name,
        entries: &mut [Projected],
        scope: &mut Scope,
    ) -> CheckResult<()> {
        let base = Expr::Variable(variable.clone());
        for entry in entries {
            match entry {
                Projected::Property(property) => self.property(&base, property, scope)?,
                Projected::Value(_, value) => self.inner(value, scope)?,
                Projected::All | Projected::Variable(_) => {}
            }
        }
        Ok(())
    }
}

/// Refuses a boolean as an operand: it would be printed in parentheses, and after a minus `(n:A)` is
/// a node.
fn refuse_boolean(operand: &Expr) -> CheckResult<()> {
    match operand {
        Expr::HasLabels(variable, _) => Err(Problem::at(
            variable.at,
            "a label test is true or false, and nothing can be computed with it",
        )),
        Expr::IsNull { .. } => Err(Problem::of_all(
            "IS NULL is true or false, and nothing can be computed with it",
        )),
        // It is printed as IS NOT NULL.
        Expr::Call(call) if call.is("exists") => Err(Problem::at(
            call.function.at,
            "exists() is true or false, and nothing can be computed with it",
        )),
        _ => Ok(()),
    }
}

/// Rewrites comparisons that an engine does not support.
fn rewrite_comparisons(expression: &mut Expr) {
    let Expr::Chain(strength, first, rest) = expression else {
        return;
    };
    if *strength == Strength::Comparison && rest.len() > 1 {
        let middles = &rest[..rest.len() - 1];
        if middles.iter().all(|(_, operand)| is_simple(operand)) {
            *expression = pairwise(std::mem::replace(first, Expr::Null), std::mem::take(rest));
        }
    }
}

/// Whether evaluating it twice is cheap and gives the same result.
fn is_simple(expression: &Expr) -> bool {
    match expression {
        Expr::Property(base, _) => matches!(**base, Expr::Variable(_)),
        Expr::Variable(_) | Expr::Integer(_) | Expr::Float(_) | Expr::Parameter(_) => true,
        _ => false,
    }
}

/// Rewrites `a < b < c` to `a < b AND b < c`, because the embedded engine does not support chained
/// comparisons.
fn pairwise(first: Expr, rest: Vec<(Operator, Expr)>) -> Expr {
    let mut left = first;
    let mut pairs = Vec::new();
    for (operator, right) in rest {
        let pair = Expr::Chain(
            Strength::Comparison,
            Box::new(left),
            vec![(operator, right.clone())],
        );
        pairs.push((Operator::And, pair));
        left = right;
    }
    let (_, first) = pairs.remove(0);
    Expr::Chain(Strength::And, Box::new(first), pairs)
}

/// The ID in `head([id(n)])`, as [`hide_id`] writes it.
fn hidden_id(call: &mut FunctionCall) -> Option<&mut Expr> {
    let is_head = call.is("head");
    match call.arguments.as_mut_slice() {
        [Expr::List(items)] if is_head => match items.as_mut_slice() {
            [id] if is_id(id) => Some(id),
            _ => None,
        },
        _ => None,
    }
}

fn is_id(expression: &Expr) -> bool {
    matches!(expression, Expr::Call(call) if call.is("elementId") || call.is("id"))
}

/// Hides an ID from the planner wherever it is used: `+id(n) = 204`, `NOT id(n) <> 204` and many
/// other forms become `NodeByIdSeek`. Neo4j then fetches the node first and checks its labels only
/// together with the other conditions, in its own order, so that their cost or failure would reveal
/// something about a node of memory.
fn hide_id(expression: &mut Expr) {
    if is_id(expression) {
        let id = std::mem::replace(expression, Expr::Null);
        *expression = Expr::Call(Box::new(FunctionCall {
            function: Name {
                text: "head".to_owned(),
                at: ByteOffset::default(),
            },
            distinct: false,
            arguments: vec![Expr::List(vec![id])],
        }));
    }
}

/// Bounds a `range` whose length only the graph knows: no time-out ends a loop over it.
fn end_range(expression: &mut Expr) {
    if is_counted_range(expression) {
        let range = std::mem::replace(expression, Expr::Null);
        let end = Expr::Integer(MAX_COUNTED_RANGE.into());
        *expression = Expr::Slice(Box::new(range), None, Some(Box::new(end)));
    }
}

fn is_counted_range(expression: &Expr) -> bool {
    matches!(expression, Expr::Call(call) if call.is("range") && !is_constant_range(call))
}

/// Whether [`end_range`] created it.
fn is_ended_range(base: &Expr, first: Option<&Expr>, last: Option<&Expr>) -> bool {
    let end = i64::from(MAX_COUNTED_RANGE);
    is_counted_range(base)
        && first.is_none()
        && matches!(last, Some(Expr::Integer(number)) if *number == end)
}

fn unknown_function(call: &FunctionCall) -> Problem {
    let Name { text, at } = &call.function;
    let message = format!("the function {text} is not known here");
    if text.contains('.') {
        let advice = "functions of APOC and other plugins cannot be used; write it in plain Cypher";
        return Problem::at(*at, message).advice(advice);
    }
    Problem::at(*at, message).advice(proposal(text, &functions::all().collect()))
}
