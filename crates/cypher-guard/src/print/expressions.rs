//! Prints expressions, with parentheses only where they are needed.

use super::super::tree::{
    Case, Comprehension, Expr, FunctionCall, Name, Operator, Projected, Quantifier, Strength,
    Subquery, SubqueryKind, Unary,
};
use super::{Printer, string};

impl Printer {
    pub(super) fn map(&mut self, entries: &[(Name, Expr)]) {
        self.push("{");
        self.separated(entries, ", ", |printer, (key, value)| {
            printer.name(key);
            printer.push(": ");
            printer.expression(value);
        });
        self.push("}");
    }

    /// In parentheses if it binds weaker than its context requires.
    fn operand(&mut self, operand: &Expr, least: Strength) {
        if strength(operand) < least {
            self.push("(");
            self.expression(operand);
            self.push(")");
        } else {
            self.expression(operand);
        }
    }

    /// The base of a look-up. `1.x` would be read as a number.
    fn base(&mut self, base: &Expr) {
        if matches!(base, Expr::Integer(_) | Expr::Float(_)) {
            self.push("(");
            self.expression(base);
            self.push(")");
        } else {
            self.operand(base, Strength::Atom);
        }
    }

    /// An item of a list. `[x IN xs AND y]` would be read as a comprehension.
    fn list_item(&mut self, item: &Expr) {
        self.operand(
            item,
            if begins_with_in(item) {
                Strength::Atom
            } else {
                Strength::Or
            },
        );
    }

    fn boxed(&mut self, label: &str, inner: Option<&Expr>) {
        if let Some(inner) = inner {
            self.push(label);
            self.expression(inner);
        }
    }

    /// The part before a bar. After a label the bar would be read as another label.
    fn before_bar(&mut self, label: &str, inner: &Expr) {
        self.push(label);
        if ends_with_label(inner) {
            self.push("(");
            self.expression(inner);
            self.push(")");
        } else {
            self.expression(inner);
        }
    }

    pub(super) fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::Null => self.push("null"),
            Expr::Bool(value) => self.push(if *value { "true" } else { "false" }),
            Expr::Integer(number) => self.push(&number.to_string()),
            Expr::Float(number) => self.push(&format!("{number:?}")),
            Expr::Text(text) => self.push(&string(text)),
            Expr::Variable(name) => self.name(name),
            Expr::Parameter(name) => {
                self.push("$");
                self.name(name);
            }
            Expr::List(items) => {
                self.push("[");
                self.separated(items, ", ", Self::list_item);
                self.push("]");
            }
            Expr::Map(entries) => self.map(entries),
            Expr::Property(base, property) => {
                self.base(base);
                self.push(".");
                self.name(property);
            }
            Expr::Index(base, index) => {
                self.operand(base, Strength::Atom);
                self.push("[");
                self.expression(index);
                self.push("]");
            }
            Expr::Slice(base, first, last) => {
                self.operand(base, Strength::Atom);
                self.boxed("[", first.as_deref());
                self.push(if first.is_some() { ".." } else { "[.." });
                self.boxed("", last.as_deref());
                self.push("]");
            }
            Expr::HasLabels(variable, labels) => {
                self.name(variable);
                self.push(":");
                self.labels(labels, true);
            }
            Expr::Unary(..) | Expr::Chain(..) | Expr::IsNull { .. } => self.operation(expression),
            Expr::Call(call) => self.call(call),
            Expr::CountStar => self.push("count(*)"),
            Expr::Case(case) => self.case(case),
            Expr::Comprehension(comprehension) => {
                self.push("[");
                self.comprehension(comprehension);
                self.push("]");
            }
            Expr::PatternComprehension(comprehension) => {
                self.push("[");
                self.named_path(&comprehension.path);
                if let Some(condition) = &comprehension.condition {
                    self.before_bar(" WHERE ", condition);
                }
                self.boxed(" | ", Some(&comprehension.result));
                self.push("]");
            }
            Expr::Quantified(quantifier, comprehension) => {
                self.push(match quantifier {
                    Quantifier::All => "all(",
                    Quantifier::Any => "any(",
                    Quantifier::None => "none(",
                    Quantifier::Single => "single(",
                });
                self.comprehension(comprehension);
                self.push(")");
            }
            Expr::Reduce(reduce) => {
                self.push("reduce(");
                self.name(&reduce.accumulator);
                self.boxed(" = ", Some(&reduce.start));
                self.push(", ");
                self.name(&reduce.variable);
                self.before_bar(" IN ", &reduce.list);
                self.boxed(" | ", Some(&reduce.step));
                self.push(")");
            }
            Expr::Exists(path) => self.named_path(path),
            Expr::Subquery(kind, subquery) => self.subquery(*kind, subquery),
            Expr::MapProjection(variable, entries) => {
                self.name(variable);
                self.push(" {");
                self.separated(entries, ", ", Self::projected);
                self.push("}");
            }
        }
    }

    fn operation(&mut self, expression: &Expr) {
        match expression {
            Expr::Unary(Unary::Not, inner) => {
                self.push("NOT ");
                self.operand(inner, Strength::Not);
            }
            Expr::Unary(Unary::Minus, inner) => {
                // Never two minus signs in a row: `--` is a relationship.
                self.push("-");
                self.operand(inner, Strength::Atom);
            }
            Expr::Chain(strength, first, rest) => {
                self.operand(first, min_operand_strength(*strength, first));
                for (operator, operand) in rest {
                    self.push(" ");
                    self.push(sign(*operator));
                    self.push(" ");
                    self.operand(operand, min_operand_strength(*strength, operand));
                }
            }
            Expr::IsNull { value, negated } => {
                self.operand(value, Strength::Sum);
                self.push(if *negated { " IS NOT NULL" } else { " IS NULL" });
            }
            other => self.expression(other),
        }
    }

    fn call(&mut self, call: &FunctionCall) {
        // The name is on the allowlist of functions.
        self.push(&call.function.text);
        self.push(if call.distinct { "(DISTINCT " } else { "(" });
        self.separated(&call.arguments, ", ", Self::expression);
        self.push(")");
    }

    fn case(&mut self, case: &Case) {
        self.push("CASE");
        self.boxed(" ", case.subject.as_ref());
        for (conditions, result) in &case.branches {
            self.push(" WHEN ");
            self.separated(conditions, ", ", Self::expression);
            self.boxed(" THEN ", Some(result));
        }
        self.boxed(" ELSE ", case.otherwise.as_ref());
        self.push(" END");
    }

    fn comprehension(&mut self, comprehension: &Comprehension) {
        self.name(&comprehension.variable);
        let Comprehension {
            list,
            condition,
            result,
            ..
        } = comprehension;
        match (condition, result) {
            (Some(condition), Some(result)) => {
                self.boxed(" IN ", Some(list));
                self.before_bar(" WHERE ", condition);
                self.boxed(" | ", Some(result));
            }
            (None, Some(result)) => {
                self.before_bar(" IN ", list);
                self.boxed(" | ", Some(result));
            }
            (condition, None) => {
                self.boxed(" IN ", Some(list));
                self.condition(condition.as_ref());
            }
        }
    }

    fn subquery(&mut self, kind: SubqueryKind, subquery: &Subquery) {
        self.push(match kind {
            SubqueryKind::Exists => "EXISTS { ",
            SubqueryKind::Count => "COUNT { ",
            SubqueryKind::Collect => "COLLECT { ",
        });
        match subquery {
            Subquery::Pattern(pattern) => self.pattern(pattern),
            Subquery::Query(query) => self.query(query),
        }
        self.push(" }");
    }

    fn projected(&mut self, entry: &Projected) {
        match entry {
            Projected::All => self.push(".*"),
            Projected::Property(name) => {
                self.push(".");
                self.name(name);
            }
            Projected::Value(name, value) => {
                self.name(name);
                self.boxed(": ", Some(value));
            }
            Projected::Variable(name) => self.name(name),
        }
    }
}

/// Whether its printed form begins with `x IN`, or another word before `IN`: `[true IN xs]` would name the
/// items of `xs`.
fn begins_with_in(expression: &Expr) -> bool {
    match expression {
        Expr::Chain(own, first, rest) => {
            let is_in = rest.first().is_some_and(|(o, _)| *o == Operator::In);
            let is_word = matches!(**first, Expr::Variable(_) | Expr::Null | Expr::Bool(_));
            (is_in && is_word) || (strength(first) >= next_stronger(*own) && begins_with_in(first))
        }
        _ => false,
    }
}

/// How strongly an expression binds.
fn strength(expression: &Expr) -> Strength {
    match expression {
        Expr::Chain(strength, ..) => *strength,
        Expr::Unary(Unary::Not, _) => Strength::Not,
        Expr::Unary(Unary::Minus, _) => Strength::Sign,
        Expr::IsNull { .. } => Strength::Test,
        // After a minus, this would continue a path: `(a)--(b) - [x] - (c)`.
        Expr::Exists(_) => Strength::Not,
        // The shield allows it only where no parentheses are needed: `(n:A)` is a node.
        Expr::HasLabels(..) => Strength::Test,
        Expr::Integer(number) if *number < 0 => Strength::Sign,
        Expr::Null
        | Expr::Bool(_)
        | Expr::Integer(_)
        | Expr::Float(_)
        | Expr::Text(_)
        | Expr::Variable(_)
        | Expr::Parameter(_)
        | Expr::List(_)
        | Expr::Map(_)
        | Expr::Property(..)
        | Expr::Index(..)
        | Expr::Slice(..)
        | Expr::Call(_)
        | Expr::CountStar
        | Expr::Case(_)
        | Expr::Comprehension(_)
        | Expr::PatternComprehension(_)
        | Expr::Quantified(..)
        | Expr::Reduce(_)
        | Expr::Subquery(..)
        | Expr::MapProjection(..) => Strength::Atom,
    }
}

/// The next stronger level. Operators of one strength form one chain, so an operand of the same strength
/// was in parentheses.
fn next_stronger(strength: Strength) -> Strength {
    match strength {
        Strength::Or => Strength::Xor,
        Strength::Xor => Strength::And,
        Strength::And => Strength::Not,
        Strength::Not => Strength::Comparison,
        Strength::Comparison => Strength::Test,
        Strength::Test => Strength::Sum,
        Strength::Sum => Strength::Product,
        Strength::Product => Strength::Power,
        Strength::Power => Strength::Sign,
        Strength::Sign | Strength::Atom => Strength::Atom,
    }
}

/// Minimum strength of an operand without parentheses. The embedded engine does not parse `a < b IN c`.
fn min_operand_strength(strength: Strength, operand: &Expr) -> Strength {
    match operand {
        Expr::Chain(Strength::Test, ..) | Expr::IsNull { .. }
            if strength == Strength::Comparison =>
        {
            Strength::Sum
        }
        _ => next_stronger(strength),
    }
}

fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::Or => "OR",
        Operator::Xor => "XOR",
        Operator::And => "AND",
        Operator::Equal => "=",
        Operator::Unequal => "<>",
        Operator::Less => "<",
        Operator::LessOrEqual => "<=",
        Operator::Greater => ">",
        Operator::GreaterOrEqual => ">=",
        Operator::Matches => "=~",
        Operator::StartsWith => "STARTS WITH",
        Operator::EndsWith => "ENDS WITH",
        Operator::Contains => "CONTAINS",
        Operator::In => "IN",
        Operator::Plus => "+",
        Operator::Minus => "-",
        Operator::Concatenate => "||",
        Operator::Times => "*",
        Operator::Divide => "/",
        Operator::Modulo => "%",
        Operator::Power => "^",
    }
}

fn ends_with_label(expression: &Expr) -> bool {
    match expression {
        Expr::HasLabels(..) => true,
        Expr::Unary(_, inner) => ends_with_label(inner),
        Expr::Chain(_, first, rest) => {
            ends_with_label(rest.last().map_or(first, |(_, operand)| operand))
        }
        Expr::Null
        | Expr::Bool(_)
        | Expr::Integer(_)
        | Expr::Float(_)
        | Expr::Text(_)
        | Expr::Variable(_)
        | Expr::Parameter(_)
        | Expr::List(_)
        | Expr::Map(_)
        | Expr::Property(..)
        | Expr::Index(..)
        | Expr::Slice(..)
        | Expr::IsNull { .. }
        | Expr::Call(_)
        | Expr::CountStar
        | Expr::Case(_)
        | Expr::Comprehension(_)
        | Expr::PatternComprehension(_)
        | Expr::Quantified(..)
        | Expr::Reduce(_)
        | Expr::Exists(_)
        | Expr::Subquery(..)
        | Expr::MapProjection(..) => false,
    }
}
