//! Limits of the rows that a statement returns.

use super::super::print;
use super::super::problem::{CheckResult, Problem};
use super::super::tree::{
    Aside, Branch, ByteOffset, Case, Clause, Expr, Imports, Name, Operator, Projection,
    ProjectionItem, Query, Strength,
};
use super::columns::{Column, columns_of};
use super::scope::Scope;
use crate::limits::StatementLimits;

/// Limits the rows of the whole statement.
pub(super) fn limited(
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

pub(super) fn not_a_number(word: &str, at: ByteOffset) -> Problem {
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
pub(super) fn original_of_smaller(case: &Case) -> Option<(Name, i64)> {
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
