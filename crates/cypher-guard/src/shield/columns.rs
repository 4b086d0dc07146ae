//! The names of columns: as they would be without the confiner, and in place of their values.

use std::collections::BTreeSet;

use super::super::print;
use super::super::problem::{CheckResult, Problem};
use super::super::tree::{Expr, Name, Projection, ProjectionItem};
use super::rows::is_aggregating;
use super::scope::{Holds, Scope};

/// Sorts by the name of a column instead of its value, where rows are grouped: the embedded engine does not find the value
/// then.
pub(super) fn name_sort_keys(projection: &mut Projection) {
    if projection.order.is_empty() || !projection.items.iter().any(is_aggregating) {
        return;
    }
    let named = projection.items.iter();
    let named: Vec<(String, Name)> = named
        .filter_map(|item| Some((print::expression(&item.value), item.alias.clone()?)))
        .collect();
    for (key, _) in &mut projection.order {
        let printed = print::expression(key);
        if let Some((_, name)) = named.iter().find(|(value, _)| *value == printed) {
            *key = Expr::Variable(name.clone());
        }
    }
}

/// A column's name, and whether it contains IDs of nodes.
pub(super) type Column = (String, bool);

pub(super) fn columns_of(returned: &Projection, scope: &Scope) -> Vec<Column> {
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
pub(super) fn name_columns(
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
