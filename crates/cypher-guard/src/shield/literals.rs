//! What can be read from literals.

use super::super::problem::{CheckResult, Problem};
use super::super::tree::{Expr, FunctionCall, Operator, Strength};
use super::size::{CHARACTER_LOOPS, CHARACTERS, LIST, PART_LOOPS, Size, Unknown};

/// A literal text, also a concatenation of literals.
pub(super) fn written(expression: &Expr) -> Option<String> {
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

pub(super) fn constant(expression: &Expr) -> Option<i64> {
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
pub(super) fn swelling(call: &FunctionCall) -> CheckResult<u64> {
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

/// The parts of a text. A part of what the statement makes may be nearly all of it.
pub(super) fn split(call: &FunctionCall, text: Size) -> Size {
    let characters = text.total().saturating_mul(CHARACTERS);
    let is_of_graph = text.unknown.is_some();
    let length = if is_of_graph {
        text.total()
    } else {
        characters
    };
    let length = length.max(LIST);
    let item = if text.made > 0 || text.gathered > 0 {
        text.total()
    } else {
        1
    };
    let assumed = match call.arguments.get(1) {
        Some(Expr::Text(separator)) if !separator.is_empty() => PART_LOOPS,
        _ => CHARACTER_LOOPS,
    };
    Size {
        length,
        item,
        bound: length.saturating_add(text.total()),
        unknown: Unknown::of(characters.max(assumed)).filter(|_| is_of_graph),
        made: text.made.saturating_mul(CHARACTERS),
        ..Size::NAMES
    }
}
