//! Recognises statements whose result changes by itself: they count or sum up all there is, or ask for the time or
//! for chance.

use super::super::functions;
use super::super::tree::{Expr, FunctionCall, Operator, Strength, SubqueryKind};
use super::scope::Scope;

/// Whether the result of a call changes by itself, apart from its arguments.
pub(super) fn is_volatile(call: &FunctionCall, scope: &Scope) -> bool {
    let function = call.function.text.to_ascii_lowercase();
    match (function.as_str(), call.arguments.as_slice()) {
        ("rand" | "randomuuid", _) => true,
        ("size" | "length", [argument]) => is_gathered(argument, scope),
        // A list of names stays true for longer than their number.
        ("collect", _) => false,
        (name, arguments) => functions::aggregate(name).is_some() || is_now(name, arguments),
    }
}

/// Whether a function with this lower-case name gives the current time. `date('2026-01-01')` is constant.
fn is_now(function: &str, arguments: &[Expr]) -> bool {
    let (kind, form) = match function.split_once('.') {
        Some((kind, form)) => (kind, Some(form)),
        None => (function, None),
    };
    functions::is_clock(kind)
        && match form {
            None => match arguments {
                [] => true,
                [Expr::Map(entries)] => {
                    let mut names = entries.iter().map(|(name, _)| &name.text);
                    names.all(|name| name.eq_ignore_ascii_case("timezone"))
                }
                _ => false,
            },
            Some("realtime" | "statement" | "transaction") => true,
            // Without a second argument, it truncates the current time.
            Some("truncate") => arguments.len() == 1,
            Some(_) => false,
        }
}

/// Whether an expression is a list of all that some rows or patterns gave.
pub(super) fn is_gathered(expression: &Expr, scope: &Scope) -> bool {
    match expression {
        Expr::PatternComprehension(_) | Expr::Subquery(SubqueryKind::Collect, _) => true,
        Expr::Variable(name) => scope.get(&name.text).is_some_and(|v| v.is_gathered),
        Expr::Slice(base, ..) => is_gathered(base, scope),
        Expr::Comprehension(comprehension) => is_gathered(&comprehension.list, scope),
        Expr::Chain(Strength::Sum, first, rest) => {
            let joined = rest
                .iter()
                .filter(|(operator, _)| matches!(operator, Operator::Plus | Operator::Concatenate));
            is_gathered(first, scope)
                || joined
                    .into_iter()
                    .any(|(_, operand)| is_gathered(operand, scope))
        }
        Expr::Call(call) => {
            let keeps_all = ["tail", "reverse", "coalesce"].iter().any(|it| call.is(it));
            call.is("collect")
                || keeps_all && call.arguments.iter().any(|it| is_gathered(it, scope))
        }
        _ => false,
    }
}
