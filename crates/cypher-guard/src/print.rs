//! Prints a tree as text. Only names and values are taken over from the original text.

mod expressions;

use std::fmt::Write as _;

use super::tree::{
    Arrow, Branch, Clause, Direction, Expr, Imports, Labels, Name, NamedPath, NodePattern, Path,
    PathElement, Pattern, Projection, ProjectionItem, Query, RelationshipPattern, Selector, Times,
};

/// A printed statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Printed {
    pub(super) text: String,
    /// With colons between labels where Neo4j does not accept them: for engines without `&`.
    pub(super) older: Option<String>,
    /// The positions in the text where hints are allowed.
    pub(super) hints: Vec<Hint>,
}

pub(super) fn query(query: &Query) -> Printed {
    let mut printer = Printer::default();
    printer.query(query);
    let mut older = None;
    if printer.has_colons && printer.has_signs {
        older = Some(printer.text);
        printer = Printer {
            ampersands: true,
            ..Printer::default()
        };
        printer.query(query);
    }
    Printed {
        text: printer.text,
        older,
        hints: printer.hints,
    }
}

/// A hint to insert after a pattern, so that a server begins at labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hint {
    /// Offset in bytes.
    pub(super) at: usize,
    pub(super) variable: String,
    /// `USING SCAN n:Movie`, preceded by a blank.
    pub(super) text: String,
}

pub(super) fn expression(expression: &Expr) -> String {
    column(expression).0
}

/// The text of an expression, and whether it is the same in every statement.
pub(super) fn column(expression: &Expr) -> (String, bool) {
    let mut printer = Printer::default();
    printer.expression(expression);
    (printer.text, !printer.has_colons)
}

/// Prints a name, in backticks unless every engine accepts it without.
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

/// Words that some engine may not read as a name.
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

/// A quoted string, escaped so that it contains no active backslash.
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
    hints: Vec<Hint>,
    /// Every engine supports `:A:B`, but Neo4j refuses it in a statement with `|`, `&` or `!` between other
    /// labels; then `:A&B` is printed.
    ampersands: bool,
    has_colons: bool,
    has_signs: bool,
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
                self.separated(&pattern.paths, ", ", Self::named_path);
                self.note_hints(pattern);
                self.condition(pattern.condition.as_ref());
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

    /// Records hints for nodes with one of several labels.
    fn note_hints(&mut self, pattern: &Pattern) {
        let at = self.text.len();
        for step in pattern.paths.iter().flat_map(|path| &path.path.steps) {
            let PathElement::Node(node) = step else {
                continue;
            };
            let (Some(variable), Some(Labels::Or(labels))) = (&node.variable, &node.labels) else {
                continue;
            };
            if let Some(Labels::Name(label)) = labels.first() {
                let (name, label) = (identifier(&variable.text), identifier(&label.text));
                self.hints.push(Hint {
                    at,
                    variable: variable.text.clone(),
                    text: format!(" USING SCAN {name}:{label}"),
                });
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

    fn item(&mut self, item: &ProjectionItem) {
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
                PathElement::Node(node) => self.node(node),
                PathElement::Relationship(relationship) => self.relationship(relationship),
                PathElement::Group {
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
            self.has_signs |= !is_plain(labels);
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
                let is_old = is_outermost && is_plain(labels) && !self.ampersands;
                self.has_colons |= is_old;
                let separator = match labels {
                    Labels::And(_) if is_old => ":",
                    Labels::And(_) => "&",
                    _ => "|",
                };
                self.push(if is_outermost { "" } else { "(" });
                self.separated(all, separator, |printer, label| {
                    printer.labels(label, false);
                });
                self.push(if is_outermost { "" } else { ")" });
            }
        }
    }
}

/// Whether labels can be written in the old syntax: one label, or `A:B`.
fn is_plain(labels: &Labels) -> bool {
    match labels {
        Labels::Name(_) => true,
        Labels::And(all) => all.iter().all(|label| matches!(label, Labels::Name(_))),
        Labels::Any(_) | Labels::Not(_) | Labels::Or(_) => false,
    }
}
