//! What a `reduce` does with its accumulator: how often each step copies it, and how deep it is nested.

use super::super::tree::{Expr, Strength};

/// How often the accumulator may be part of the expression's result.
pub(super) fn copies(expression: &Expr, accumulator: &str) -> usize {
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

/// In how many lists and maps the accumulator stands in the expression's result, less those that it is taken out of;
/// `None` if it is no part of it. For the expressions in which [`copies`] finds it at most once.
pub(super) fn levels(expression: &Expr, accumulator: &str) -> Option<i64> {
    if copies(expression, accumulator) == 0 {
        return None;
    }
    let inner = |expression: &Expr| levels(expression, accumulator);
    match expression {
        Expr::Variable(name) => (name.text == accumulator).then_some(0),
        Expr::List(items) => Some(items.iter().filter_map(inner).max()? + 1),
        Expr::Map(entries) => Some(entries.iter().filter_map(|(_, v)| inner(v)).max()? + 1),
        Expr::Property(base, _) | Expr::Index(base, _) => Some(inner(base)? - 1),
        Expr::Slice(base, ..) | Expr::Unary(_, base) => inner(base),
        Expr::Chain(_, first, rest) => {
            let operands = rest.iter().map(|(_, operand)| operand);
            std::iter::once(&**first)
                .chain(operands)
                .filter_map(inner)
                .max()
        }
        Expr::Case(case) => {
            let results = case.branches.iter().map(|(_, result)| result);
            results.chain(&case.otherwise).filter_map(inner).max()
        }
        Expr::Call(call) => call.arguments.iter().filter_map(inner).max(),
        Expr::Null
        | Expr::Bool(_)
        | Expr::Integer(_)
        | Expr::Float(_)
        | Expr::Text(_)
        | Expr::Parameter(_)
        | Expr::CountStar
        | Expr::HasLabels(..)
        | Expr::IsNull { .. }
        | Expr::Comprehension(_)
        | Expr::PatternComprehension(_)
        | Expr::Quantified(..)
        | Expr::Reduce(_)
        | Expr::Exists(_)
        | Expr::Subquery(..)
        | Expr::MapProjection(..) => None,
    }
}

/// Whether the name occurs anywhere in the printed expression.
fn mentions(expression: &Expr, name: &str) -> bool {
    let text = super::super::print::expression(expression);
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    text.split(|c| !is_part(c)).any(|word| word == name) || !name.chars().all(is_part)
}
