//! Names of columns in place of their values.

use super::super::print;
use super::super::tree::{Expr, Name, Projection};
use super::rows::is_aggregating;

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
