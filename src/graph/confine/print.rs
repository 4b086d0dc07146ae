//! A tree as text. Nothing of the text it was read from gets here but names and values.

use std::fmt::Write as _;

use super::tree::{
    Arrow, Branch, Call, Case, Clause, Comprehension, Direction, Expr, Imports, Item, Labels, Name,
    NamedPath, NodePattern, Operator, Path, Pattern, Projected, Projection, Quantifier, Query,
    RelationshipPattern, Selector, Step, Strength, Subquery, SubqueryKind, Times, Unary,
};

pub(super) fn query(query: &Query) -> String {
    let mut printer = Printer::default();
    printer.query(query);
    printer.text
}

pub(super) fn expression(expression: &Expr) -> String {
    let mut printer = Printer::default();
    printer.expression(expression);
    printer.text
}

/// A name as it is written: in backticks unless every engine takes it without.
pub(super) fn identifier(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !KEYWORDS.iter().any(|word| word.eq_ignore_ascii_case(name));
    if is_plain {
        name.to_owned()
    } else {
        format!("`{name}`")
    }
}

/// Words that some engine may read as something else than a name.
const KEYWORDS: &[&str] = &[
    "ALL",
    "AND",
    "ANY",
    "AS",
    "ASC",
    "ASCENDING",
    "BY",
    "CALL",
    "CASE",
    "COLLECT",
    "CONTAINS",
    "COUNT",
    "CREATE",
    "CYPHER",
    "DELETE",
    "DESC",
    "DESCENDING",
    "DETACH",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "ENDS",
    "EXISTS",
    "EXPLAIN",
    "FALSE",
    "FILTER",
    "FINISH",
    "FOREACH",
    "GROUP",
    "HAVING",
    "IN",
    "INF",
    "INFINITY",
    "INSERT",
    "IS",
    "LET",
    "LIMIT",
    "LOAD",
    "MATCH",
    "MERGE",
    "NAN",
    "NEXT",
    "NONE",
    "NOT",
    "NULL",
    "OF",
    "OFFSET",
    "ON",
    "OPTIONAL",
    "OR",
    "ORDER",
    "PROFILE",
    "REDUCE",
    "REMOVE",
    "RETURN",
    "SET",
    "SHORTEST",
    "SHOW",
    "SINGLE",
    "SKIP",
    "STARTS",
    "THEN",
    "TRUE",
    "TYPED",
    "UNION",
    "UNWIND",
    "USE",
    "USING",
    "WHEN",
    "WHERE",
    "WITH",
    "XOR",
    "YIELD",
    "SHORTESTPATH",
    "ALLSHORTESTPATHS",
];

/// A string in quotes, so escaped that it holds no live backslash.
fn string(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 2);
    text.push('\'');
    for c in value.chars() {
        match c {
            '\\' => text.push_str(r"\\"),
            '\'' => text.push_str(r"\'"),
            '\n' => text.push_str(r"\n"),
            '\r' => text.push_str(r"\r"),
            '\t' => text.push_str(r"\t"),
            other => text.push(other),
        }
    }
    text.push('\'');
    text
}

#[derive(Default)]
struct Printer {
    text: String,
}

impl Printer {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn name(&mut self, name: &Name) {
        self.push(&identifier(&name.text));
    }

    fn separated<T>(&mut self, all: &[T], separator: &str, mut one: impl FnMut(&mut Self, &T)) {
        for (index, item) in all.iter().enumerate() {
            if index > 0 {
                self.push(separator);
            }
            one(self, item);
        }
    }

    fn query(&mut self, query: &Query) {
        let separator = if query.keeps_duplicates {
            " UNION ALL "
        } else {
            " UNION "
        };
        self.separated(&query.branches, separator, Self::branch);
    }

    fn branch(&mut self, branch: &Branch) {
        self.separated(&branch.clauses, " ", Self::clause);
        if let Some(returned) = &branch.returned {
            if !branch.clauses.is_empty() {
                self.push(" ");
            }
            self.push("RETURN");
            self.projection(returned);
        }
    }

    fn clause(&mut self, clause: &Clause) {
        match clause {
            Clause::Match { optional, pattern } => {
                self.push(if *optional {
                    "OPTIONAL MATCH "
                } else {
                    "MATCH "
                });
                self.pattern(pattern);
            }
            Clause::Unwind { list, variable } => {
                self.push("UNWIND ");
                self.expression(list);
                self.push(" AS ");
                self.name(variable);
            }
            Clause::With {
                projection,
                condition,
            } => {
                self.push("WITH");
                self.projection(projection);
                self.condition(condition.as_ref());
            }
            Clause::Call { imports, query } => {
                self.push("CALL ");
                match imports {
                    Imports::ByWith => {}
                    Imports::All => self.push("(*) "),
                    Imports::Named(names) => {
                        self.push("(");
                        self.separated(names, ", ", Self::name);
                        self.push(") ");
                    }
                }
                self.push("{ ");
                self.query(query);
                self.push(" }");
            }
        }
    }

    fn condition(&mut self, condition: Option<&Expr>) {
        if let Some(condition) = condition {
            self.push(" WHERE ");
            self.expression(condition);
        }
    }

    fn projection(&mut self, projection: &Projection) {
        let Projection {
            distinct,
            star,
            items,
            order,
            skip,
            limit,
            at: _,
        } = projection;
        self.push(if *distinct { " DISTINCT " } else { " " });
        if *star {
            self.push(if items.is_empty() { "*" } else { "*, " });
        }
        self.separated(items, ", ", Self::item);
        if !order.is_empty() {
            self.push(" ORDER BY ");
            self.separated(order, ", ", |printer, (key, direction)| {
                printer.expression(key);
                if *direction == Direction::Descending {
                    printer.push(" DESC");
                }
            });
        }
        for (word, count) in [(" SKIP ", skip), (" LIMIT ", limit)] {
            if let Some(count) = count {
                self.push(word);
                self.expression(count);
            }
        }
    }

    fn item(&mut self, item: &Item) {
        self.expression(&item.value);
        if let Some(alias) = &item.alias {
            self.push(" AS ");
            self.name(alias);
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        self.separated(&pattern.paths, ", ", Self::named_path);
        self.condition(pattern.condition.as_ref());
    }

    fn named_path(&mut self, path: &NamedPath) {
        if let Some(variable) = &path.variable {
            self.name(variable);
            self.push(" = ");
        }
        let (before, after) = match &path.selector {
            Selector::Every => (String::new(), ""),
            Selector::ShortestPath => ("shortestPath(".to_owned(), ")"),
            Selector::AllShortestPaths => ("allShortestPaths(".to_owned(), ")"),
            Selector::Words(words) => (format!("{words} "), ""),
        };
        self.push(&before);
        self.path(&path.path);
        self.push(after);
    }

    fn path(&mut self, path: &Path) {
        for step in &path.steps {
            match step {
                Step::Node(node) => self.node(node),
                Step::Relationship(relationship) => self.relationship(relationship),
                Step::Group {
                    path,
                    condition,
                    times,
                } => {
                    self.push("(");
                    self.path(path);
                    self.condition(condition.as_ref());
                    self.push(")");
                    self.times(*times);
                }
            }
        }
    }

    fn node(&mut self, node: &NodePattern) {
        self.push("(");
        if let Some(variable) = &node.variable {
            self.name(variable);
        }
        if let Some(labels) = &node.labels {
            self.push(":");
            self.labels(labels, true);
        }
        if !node.properties.is_empty() {
            self.push(" ");
            self.map(&node.properties);
        }
        self.condition(node.condition.as_ref());
        self.push(")");
    }

    fn relationship(&mut self, relationship: &RelationshipPattern) {
        self.push(if relationship.arrow == Arrow::Left {
            "<-["
        } else {
            "-["
        });
        if let Some(variable) = &relationship.variable {
            self.name(variable);
        }
        if let Some(types) = &relationship.types {
            self.push(":");
            self.labels(types, true);
        }
        if let Some(hops) = relationship.hops {
            self.hops(hops);
        }
        if !relationship.properties.is_empty() {
            self.push(" ");
            self.map(&relationship.properties);
        }
        self.condition(relationship.condition.as_ref());
        self.push(if relationship.arrow == Arrow::Right {
            "]->"
        } else {
            "]-"
        });
        self.times(relationship.times);
    }

    fn hops(&mut self, hops: Times) {
        self.push("*");
        let number = |n: Option<u32>| n.map_or_else(String::new, |n| n.to_string());
        match hops {
            Times {
                least: None,
                most: None,
            } => {}
            Times { least, most } if least == most => self.push(&number(least)),
            Times { least, most } => {
                let _ = write!(self.text, "{}..{}", number(least), number(most));
            }
        }
    }

    fn times(&mut self, times: Option<Times>) {
        let Some(Times { least, most }) = times else {
            return;
        };
        let least = least.unwrap_or(0);
        let _ = match most {
            Some(most) => write!(self.text, "{{{least},{most}}}"),
            None => write!(self.text, "{{{least},}}"),
        };
    }

    fn labels(&mut self, labels: &Labels, is_outermost: bool) {
        match labels {
            Labels::Name(name) => self.name(name),
            Labels::Any(_) => self.push("%"),
            Labels::Not(inner) => {
                self.push("!");
                self.labels(inner, false);
            }
            Labels::And(all) | Labels::Or(all) => {
                let is_and = matches!(labels, Labels::And(_));
                // The form of old is understood everywhere.
                let are_names = all.iter().all(|label| matches!(label, Labels::Name(_)));
                let separator = match (is_and, is_outermost && are_names) {
                    (true, true) => ":",
                    (true, false) => "&",
                    (false, _) => "|",
                };
                self.push(if is_outermost { "" } else { "(" });
                self.separated(all, separator, |printer, label| {
                    printer.labels(label, false);
                });
                self.push(if is_outermost { "" } else { ")" });
            }
        }
    }

    fn map(&mut self, entries: &[(Name, Expr)]) {
        self.push("{");
        self.separated(entries, ", ", |printer, (key, value)| {
            printer.name(key);
            printer.push(": ");
            printer.expression(value);
        });
        self.push("}");
    }

    /// In parentheses if it binds weaker than what stands around it.
    fn operand(&mut self, operand: &Expr, least: Strength) {
        if strength(operand) < least {
            self.push("(");
            self.expression(operand);
            self.push(")");
        } else {
            self.expression(operand);
        }
    }

    /// What a look-up follows. `1.x` would be read as a number.
    fn base(&mut self, base: &Expr) {
        if matches!(base, Expr::Integer(_) | Expr::Float(_)) {
            self.push("(");
            self.expression(base);
            self.push(")");
        } else {
            self.operand(base, Strength::Atom);
        }
    }

    /// An item of a list. `[x IN xs]` would be a comprehension.
    fn list_item(&mut self, item: &Expr) {
        let is_ambiguous = matches!(item, Expr::Chain(Strength::Test, first, _)
            if matches!(**first, Expr::Variable(_)));
        self.operand(
            item,
            if is_ambiguous {
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

    fn expression(&mut self, expression: &Expr) {
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
                self.condition(comprehension.condition.as_ref());
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
                self.boxed(" IN ", Some(&reduce.list));
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
            Expr::Unary(sign, inner) => {
                // Never two in a row: `--` is a relationship.
                self.push(if *sign == Unary::Minus { "-" } else { "+" });
                self.operand(inner, Strength::Atom);
            }
            Expr::Chain(strength, first, rest) => {
                self.operand(first, above(*strength));
                for (operator, operand) in rest {
                    self.push(" ");
                    self.push(sign(*operator));
                    self.push(" ");
                    self.operand(operand, above(*strength));
                }
            }
            Expr::IsNull { value, negated } => {
                self.operand(value, Strength::Sum);
                self.push(if *negated { " IS NOT NULL" } else { " IS NULL" });
            }
            other => self.expression(other),
        }
    }

    fn call(&mut self, call: &Call) {
        // The name is on the list of functions.
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
        self.boxed(" IN ", Some(&comprehension.list));
        self.condition(comprehension.condition.as_ref());
        self.boxed(" | ", comprehension.result.as_ref());
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

/// How strongly an expression holds together.
fn strength(expression: &Expr) -> Strength {
    match expression {
        Expr::Chain(strength, ..) => *strength,
        Expr::Unary(Unary::Not, _) => Strength::Not,
        Expr::Unary(Unary::Minus | Unary::Plus, _) => Strength::Sign,
        Expr::IsNull { .. } => Strength::Test,
        // Next to a minus, a path would go on: `(a)--(b) - [x] - (c)`.
        Expr::Exists(_) => Strength::Not,
        // The shield lets it stand only where no parentheses are needed: `(n:A)` is a node.
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

/// The next stronger one: operators of one strength stand in one chain, so an operand of the same
/// strength was in parentheses.
fn above(strength: Strength) -> Strength {
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
