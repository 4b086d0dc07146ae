//! Durations that the engines count differently.

use super::super::tree::{Expr, Name};

/// Counts whole months where months are asked for: the embedded engine puts all of `duration.between` into days. On Neo4j both
/// have the same months.
pub(super) fn count_months(base: &mut Expr, property: &Name) {
    const OF_MONTHS: [&str; 3] = ["years", "quarters", "months"];
    let mut names = OF_MONTHS.iter();
    if let Expr::Call(call) = base
        && call.is("duration.between")
        && names.any(|name| property.text.eq_ignore_ascii_case(name))
    {
        "duration.inMonths".clone_into(&mut call.function.text);
    }
}
