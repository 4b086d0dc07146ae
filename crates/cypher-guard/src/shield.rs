//! Changes a tree so that it reaches the knowledge and nothing else, or says why that is
//! impossible.
//!
//! Every node in a pattern gets the knowledge labels unless its own labels already say that it is
//! knowledge, and every relationship gets the knowledge types. This includes variables bound
//! before: a name may be shadowed or rebound, and an additional label costs little.

mod accumulator;
mod changes;
mod columns;
mod cost;
mod expressions;
mod limit;
mod literals;
mod patterns;
mod regex;
mod rows;
mod scope;
mod size;
mod temporal;
mod vocabulary;

use std::collections::{BTreeMap, BTreeSet};

use self::changes::is_gathered;
use self::columns::{columns_of, name_columns, name_sort_keys};
use self::cost::{CollectedSizes, MAX_COLLECTED};
use self::limit::{limited, not_a_number, original_of_smaller};
pub(super) use self::regex::check as check_regex;
use self::rows::RowEstimate;
use self::scope::{Holds, Scope, Variable, element};
use self::size::Size;
use self::vocabulary::SchemaNames;
use super::problem::{CheckResult, Problem};
use super::tree::{
    ByteOffset, Clause, Expr, FunctionCall, Imports, Name, Projection, Query, SubqueryKind,
};
use crate::hidden::Guard;
use crate::limits::StatementLimits;
use crate::schema::Schema;

/// What was found out about a statement while it was confined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    /// Columns with `elementId`s of nodes.
    pub(super) id_columns: Vec<String>,
    /// Changes beyond confining, described for the model.
    pub(super) notes: Vec<String>,
    /// Labels and types that it uses.
    pub(super) labels: BTreeSet<String>,
    pub(super) types: BTreeSet<String>,
    /// Columns whose name cannot be printed, and their name.
    pub(super) columns: Vec<(String, String)>,
    pub(super) regex_parameters: BTreeSet<String>,
    /// Whether its result changes by itself.
    pub(super) is_volatile: bool,
}

/// Maximum number of labels and types added to one statement: a schema of thousands would make it
/// endless.
const MAX_ADDED_NAMES: usize = 10_000;

/// Maximum branches of a `UNION`.
const MAX_BRANCHES: usize = 10;

/// Returns the tree that may be printed and run, and what was found out about it.
pub(super) fn shield(
    mut query: Query,
    guard: &Guard<'_>,
    schema: &Schema,
    limits: &StatementLimits<'_>,
    parameters: &[&str],
) -> CheckResult<(Query, Findings)> {
    let mut shield = Shield {
        words: SchemaNames::of(guard, schema),
        parameters,
        nodes: limits.nodes,
        added: 0,
        notes: Vec::new(),
        used_labels: BTreeSet::new(),
        used_types: BTreeSet::new(),
        relationships: 0,
        together: 0,
        work: 0,
        rows: RowEstimate::default(),
        regex_parameters: BTreeSet::new(),
        returned: Size::ONE,
        collected: CollectedSizes::new(),
        is_volatile: false,
    };
    let mut renamed = Vec::new();
    let mut columns = Vec::new();
    let branches = query.branches.len();
    if branches > MAX_BRANCHES {
        return Err(Problem::of_all(format!(
            "more than {MAX_BRANCHES} parts of a UNION"
        )));
    }
    for branch in &mut query.branches {
        let mut scope = Scope::default();
        shield.rows = RowEstimate::default();
        shield.clauses(&mut branch.clauses, &mut scope)?;
        let Some(returned) = &mut branch.returned else {
            return Err(Problem::of_all("the statement returns nothing"));
        };
        shield.projection(returned, &scope)?;
        name_columns(returned, branches > 1, &mut renamed)?;
        columns.push(columns_of(returned, &scope));
    }
    let query = limited(query, &columns, limits)?;
    let mut id_columns = columns[0].clone();
    id_columns.retain(|name| columns.iter().all(|of_branch| of_branch.contains(name)));
    let findings = Findings {
        id_columns: id_columns
            .into_iter()
            .filter(|c| c.1)
            .map(|c| c.0)
            .collect(),
        notes: shield.notes,
        labels: shield.used_labels,
        types: shield.used_types,
        columns: renamed,
        regex_parameters: shield.regex_parameters,
        is_volatile: shield.is_volatile,
    };
    Ok((query, findings))
}

/// The state while a statement is walked.
struct Shield<'a> {
    words: SchemaNames<'a>,
    parameters: &'a [&'a str],
    nodes: Option<&'a BTreeMap<String, u64>>,
    added: usize,
    notes: Vec<String>,
    used_labels: BTreeSet<String>,
    used_types: BTreeSet<String>,
    /// Number of relationships in all patterns, and in those since the last clause other than
    /// MATCH: a server plans these together.
    relationships: usize,
    together: usize,
    /// Total steps of the expressions of one row.
    work: u64,
    rows: RowEstimate,
    /// Parameters used as regular expressions.
    regex_parameters: BTreeSet<String>,
    /// The largest column of the last projection.
    returned: Size,
    collected: CollectedSizes,
    is_volatile: bool,
}

impl Shield<'_> {
    fn clauses(&mut self, clauses: &mut [Clause], scope: &mut Scope) -> CheckResult<()> {
        let around = std::mem::take(&mut self.together);
        for clause in clauses {
            if !matches!(clause, Clause::Match { .. }) {
                self.together = 0;
            }
            match clause {
                Clause::Match { pattern, .. } => self.shield_match(pattern, scope)?,
                Clause::Unwind { list, variable } => {
                    let size = self.expression(list, scope)?;
                    self.rows.apply_unwind(list, size, scope);
                    let holds = match scope.holds(list) {
                        // A value that is not a list can be unwound too.
                        Holds::Ids => Holds::Ids,
                        other => element(other),
                    };
                    scope.bind(&variable.text, holds, size.element());
                }
                Clause::With {
                    projection,
                    condition,
                } => {
                    let projected = self.projection(projection, scope)?;
                    *scope = projected;
                    if let Some(condition) = condition {
                        self.expression(condition, scope)?;
                    }
                }
                Clause::Call { imports, query } => self.called(imports, query, scope)?,
            }
            self.rows.check_rows(scope)?;
        }
        self.together = around;
        Ok(())
    }

    /// Shields `WITH` or `RETURN`, and returns what its columns contain.
    fn projection(&mut self, projection: &mut Projection, scope: &Scope) -> CheckResult<Scope> {
        let mut after = if projection.star {
            scope.clone()
        } else {
            Scope::default()
        };
        let mut before = scope.clone();
        let mut sizes = Vec::new();
        for item in &mut projection.items {
            let size = self.expression(&mut item.value, &mut before)?;
            sizes.push(size);
            let name = match (&item.alias, &item.value) {
                (Some(alias), _) => &alias.text,
                (None, Expr::Variable(variable)) => &variable.text,
                (None, _) => continue,
            };
            after.add(Variable {
                name: name.clone(),
                holds: scope.holds(&item.value),
                size,
                is_gathered: is_gathered(&item.value, scope),
            });
        }
        name_sort_keys(projection);
        // Sort keys may refer to earlier and to new variables.
        before.extend(after.clone());
        for (key, _) in &mut projection.order {
            self.expression(key, &mut before)?;
        }
        for (word, count) in [("SKIP", &projection.skip), ("LIMIT", &projection.limit)] {
            self.count(word, count.as_ref(), projection.at)?;
        }
        self.rows.check_projected(projection, &sizes, scope)?;
        self.rows.projected(projection);
        after.spread_over(self.rows.guess());
        let largest = sizes.into_iter().reduce(Size::larger);
        self.returned = largest.unwrap_or(Size::ONE);
        Ok(after)
    }

    fn count(&self, word: &str, count: Option<&Expr>, at: ByteOffset) -> CheckResult<()> {
        match count {
            None | Some(Expr::Integer(_)) => Ok(()),
            Some(Expr::Parameter(name)) => self.parameter(name),
            Some(Expr::Case(case)) => match original_of_smaller(case) {
                Some((name, _)) => self.parameter(&name),
                None => Err(not_a_number(word, at)),
            },
            Some(_) => Err(not_a_number(word, at)),
        }
    }

    fn parameter(&self, name: &Name) -> CheckResult<()> {
        if self.parameters.contains(&name.text.as_str()) {
            return Ok(());
        }
        Err(
            Problem::at(name.at, format!("there is no parameter ${}", name.text))
                .advice("write the value itself"),
        )
    }

    /// Shields `CALL { … }`, and binds what it returns.
    fn called(
        &mut self,
        imports: &Imports,
        query: &mut Query,
        scope: &mut Scope,
    ) -> CheckResult<()> {
        let mut outside = match imports {
            Imports::ByWith | Imports::All => scope.clone(),
            Imports::Named(names) => {
                let mut named = Scope::default();
                let known = names.iter().filter_map(|name| scope.get(&name.text));
                known.for_each(|variable| named.add(variable.clone()));
                named
            }
        };
        outside.spread_over(1);
        let is_single = query.branches.len() == 1;
        let around = std::mem::take(&mut self.rows);
        let (mut guess, mut most, mut is_vague) = (0, 0, false);
        let mut returned_columns = Vec::new();
        for branch in &mut query.branches {
            self.rows = RowEstimate::default();
            let starts_with_imports = matches!(branch.clauses.first(), Some(Clause::With { .. }));
            let mut inside = if *imports == Imports::ByWith && !starts_with_imports {
                Scope::default()
            } else {
                outside.clone()
            };
            self.clauses(&mut branch.clauses, &mut inside)?;
            let Some(returned) = &mut branch.returned else {
                return Err(Problem::of_all("a subquery returns nothing"));
            };
            if returned.star {
                return Err(Problem::at(returned.at, "RETURN * in a subquery")
                    .advice("name what it returns"));
            }
            let mut columns = self.projection(returned, &inside)?;
            if !is_single {
                columns.forget();
            }
            returned_columns.push((columns, self.rows.guess()));
            guess = guess.max(self.rows.guess());
            most = most.max(self.rows.most());
            is_vague |= self.rows.is_vague();
        }
        for (mut columns, rows) in returned_columns {
            // The rows of one branch do not hold what another one returns.
            columns.shared(rows, guess);
            scope.extend(columns);
        }
        self.rows = around;
        self.rows.apply_subquery(guess, most, is_vague);
        Ok(())
    }

    /// Shields a subquery of an expression, which sees the variables around it.
    fn subquery(
        &mut self,
        query: &mut Query,
        kind: SubqueryKind,
        scope: &Scope,
    ) -> CheckResult<()> {
        let around = std::mem::take(&mut self.rows);
        let (mut rows, mut collected): (u64, u64) = (0, 0);
        let mut item = Size::ONE;
        for branch in &mut query.branches {
            self.rows = RowEstimate::default();
            let mut inside = scope.clone();
            inside.spread_over(1);
            self.clauses(&mut branch.clauses, &mut inside)?;
            if let Some(returned) = &mut branch.returned {
                self.projection(returned, &inside)?;
                item = item.larger(self.returned);
            }
            rows = rows.saturating_add(self.rows.guess());
            collected = collected.saturating_add(self.rows.collected());
        }
        self.rows = around;
        if kind == SubqueryKind::Collect && rows > MAX_COLLECTED {
            return Err(Problem::of_all("COLLECT { … } may collect too many rows")
                .advice("end it with LIMIT, or join its patterns"));
        }
        if let Some(returned) = query.branches.first().and_then(|it| it.returned.as_ref()) {
            let size = Size {
                made: rows.saturating_mul(item.total()),
                ..Size::list(collected.min(MAX_COLLECTED), item)
            };
            self.collected.insert(returned.at.into(), size);
        }
        Ok(())
    }

    /// Counts added names, so that a large schema does not make the statement endless.
    fn add_names(&mut self, names: usize, at: ByteOffset) -> CheckResult<()> {
        self.added += names;
        if self.added > MAX_ADDED_NAMES {
            return Err(Problem::at(
                at,
                "too many nodes and relationships without a label or type",
            )
            .advice("name the labels and types"));
        }
        Ok(())
    }
}

impl FunctionCall {
    fn is(&self, function: &str) -> bool {
        self.function.text.eq_ignore_ascii_case(function)
    }
}
