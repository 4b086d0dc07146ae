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
use self::columns::name_sort_keys;
use self::cost::{CollectedSizes, MAX_COLLECTED};
pub(super) use self::regex::check as check_regex;
use self::rows::RowEstimate;
use self::scope::{Holds, Scope, Variable, element};
use self::size::Size;
use self::vocabulary::SchemaNames;
use super::print;
use super::problem::{CheckResult, Problem};
use super::tree::{
    Aside, Branch, ByteOffset, Case, Clause, Expr, FunctionCall, Imports, Name, Operator,
    Projection, ProjectionItem, Query, Strength, SubqueryKind,
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

/// A column's name, and whether it contains IDs of nodes.
type Column = (String, bool);

fn columns_of(returned: &Projection, scope: &Scope) -> Vec<Column> {
    let name = |item: &ProjectionItem| match (&item.alias, &item.value) {
        (Some(alias), _) => alias.text.clone(),
        (None, Expr::Variable(variable)) => variable.text.clone(),
        (None, value) => print::expression(value),
    };
    let columns = returned.items.iter();
    columns
        .map(|item| (name(item), scope.holds(&item.value) == Holds::Ids))
        .collect()
}

/// Names each column as it would be named without the confiner. A column whose name cannot be
/// printed is renamed afterwards.
fn name_columns(
    returned: &mut Projection,
    always: bool,
    columns: &mut Vec<(String, String)>,
) -> CheckResult<()> {
    let mut renamed = Vec::new();
    // A sort key may refer to the variable.
    let is_alone = returned.order.is_empty() && !returned.star;
    let named = returned.items.iter().filter_map(|item| match &item.value {
        _ if item.alias.is_some() => item.alias.as_ref(),
        Expr::Variable(variable) => Some(variable),
        _ => None,
    });
    let mut names: BTreeSet<String> = named.map(|name| name.text.clone()).collect();
    for item in &mut returned.items {
        if item.alias.is_some() || matches!(item.value, Expr::Variable(_)) {
            continue;
        }
        let (printed, is_settled) = print::column(&item.value);
        // Neo4j names the column of a map projection after its variable.
        let written = match &item.value {
            Expr::MapProjection(variable, _) if is_alone && !names.contains(&variable.text) => {
                variable.text.as_str()
            }
            _ => item.written.0.as_str(),
        };
        names.insert(written.to_owned());
        if always || printed != written || !is_settled {
            let name = Name {
                text: column_name(written),
                at: item.at,
            };
            if name.text != written {
                columns.push((name.text.clone(), written.to_owned()));
            }
            renamed.push((printed, name.clone()));
            item.alias = Some(name);
        }
    }
    // The embedded engine does not recognise an aggregate if its column has another name.
    for (key, _) in &mut returned.order {
        let printed = print::expression(key);
        if let Some((_, name)) = renamed.iter().find(|(value, _)| *value == printed) {
            *key = Expr::Variable(name.clone());
        }
    }
    refuse_equal_columns(returned)
}

fn refuse_equal_columns(returned: &Projection) -> CheckResult<()> {
    let mut names = BTreeSet::new();
    for ((name, _), item) in columns_of(returned, &Scope::default())
        .into_iter()
        .zip(&returned.items)
    {
        if !names.insert(name.clone()) {
            return Err(
                Problem::at(item.at, format!("two columns are called {name}"))
                    .advice("give one another name with AS"),
            );
        }
    }
    Ok(())
}

/// Longer expressions are not usable as names of columns.
const MAX_COLUMN_NAME: usize = 200;

fn column_name(written: &str) -> String {
    let name: String = written.chars().take(MAX_COLUMN_NAME).collect();
    name.replace(|c: char| c == '`' || c == '\\' || c.is_control(), "_")
}

/// Limits the rows of the whole statement.
fn limited(
    mut query: Query,
    columns: &[Vec<Column>],
    limits: &StatementLimits<'_>,
) -> CheckResult<Query> {
    let rows = i64::from(limits.rows);
    if let [branch] = query.branches.as_mut_slice() {
        if let Some(returned) = &mut branch.returned {
            returned.limit = Some(smaller_limit(returned.limit.take(), rows, returned.at)?);
        }
        return Ok(query);
    }
    let names = |columns: &[Column]| columns.iter().map(|c| c.0.clone()).collect::<Vec<_>>();
    for (columns, branch) in columns.iter().zip(&query.branches) {
        let at = branch
            .returned
            .as_ref()
            .map_or(ByteOffset::default(), |returned| returned.at);
        if branch
            .returned
            .as_ref()
            .is_some_and(|returned| returned.star)
        {
            return Err(Problem::at(at, "RETURN * in a UNION").advice("name the columns"));
        }
        if names(columns) != names(&columns_of_first(&query)) {
            return Err(
                Problem::at(at, "the parts of a UNION return different columns")
                    .advice("give all of them the same columns in the same order, with AS"),
            );
        }
    }
    // A LIMIT would apply to the last part only, so the whole becomes a subquery.
    let items = names(&columns[0]).into_iter().map(|text| ProjectionItem {
        value: Expr::Variable(Name {
            text,
            at: ByteOffset::default(),
        }),
        alias: None,
        written: Aside::default(),
        at: ByteOffset::default(),
    });
    let returned = Projection {
        distinct: false,
        star: false,
        items: items.collect(),
        order: Vec::new(),
        skip: None,
        limit: Some(Expr::Integer(rows)),
        at: ByteOffset::default(),
    };
    Ok(Query {
        branches: vec![Branch {
            clauses: vec![Clause::Call {
                imports: Imports::ByWith,
                query,
            }],
            returned: Some(returned),
        }],
        keeps_duplicates: false,
    })
}

fn columns_of_first(query: &Query) -> Vec<Column> {
    let first = query
        .branches
        .first()
        .and_then(|branch| branch.returned.as_ref());
    first.map_or_else(Vec::new, |returned| columns_of(returned, &Scope::default()))
}

/// A `LIMIT` of at most `rows`; for a parameter, the minimum is computed when the statement runs.
fn smaller_limit(limit: Option<Expr>, rows: i64, at: ByteOffset) -> CheckResult<Expr> {
    match limit {
        None => Ok(Expr::Integer(rows)),
        Some(Expr::Integer(number)) => Ok(Expr::Integer(number.min(rows))),
        Some(Expr::Parameter(name)) => Ok(smaller_of(&name, rows)),
        Some(Expr::Case(case)) => match original_of_smaller(&case) {
            Some((name, made)) => Ok(smaller_of(&name, rows.min(made))),
            None => Err(not_a_number("LIMIT", at)),
        },
        Some(_) => Err(not_a_number("LIMIT", at)),
    }
}

fn not_a_number(word: &str, at: ByteOffset) -> Problem {
    Problem::at(
        at,
        format!("{word} is followed by something that is computed"),
    )
    .advice("write a number")
}

/// `CASE WHEN $n < rows THEN $n ELSE rows END`
fn smaller_of(name: &Name, rows: i64) -> Expr {
    let parameter = || Expr::Parameter(name.clone());
    let is_smaller = Expr::Chain(
        Strength::Comparison,
        Box::new(parameter()),
        vec![(Operator::Less, Expr::Integer(rows))],
    );
    Expr::Case(Box::new(Case {
        subject: None,
        branches: vec![(vec![is_smaller], parameter())],
        otherwise: Some(Expr::Integer(rows)),
    }))
}

/// The original of an expression that [`smaller_of`] created.
fn original_of_smaller(case: &Case) -> Option<(Name, i64)> {
    let [(_, Expr::Parameter(name))] = case.branches.as_slice() else {
        return None;
    };
    let Some(Expr::Integer(rows)) = case.otherwise else {
        return None;
    };
    let made = print::expression(&smaller_of(name, rows));
    let given = print::expression(&Expr::Case(Box::new(case.clone())));
    (made == given).then(|| (name.clone(), rows))
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
