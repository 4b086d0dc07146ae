//! What is known about the variables at a position of the statement.

use std::collections::BTreeSet;

use super::super::tree::Expr;
use super::size::Size;

/// What a variable certainly contains.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Holds {
    /// A node, with at least one of these labels if they are known.
    Node(Option<Vec<String>>),
    /// A list of such nodes.
    Nodes(Option<Vec<String>>),
    /// A relationship, of one of these types if they are known.
    Relationship(Option<Vec<String>>),
    Path,
    /// Only `elementId`s of nodes: one, or a list.
    Ids,
    Anything,
}

#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) holds: Holds,
    pub(super) size: Size,
    /// Whether it is a list of all that some rows or patterns gave.
    pub(super) is_gathered: bool,
}

/// Later variables shadow earlier ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    variables: Vec<Variable>,
}

impl Scope {
    pub(super) fn get(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().rev().find(|v| v.name == name)
    }

    pub(super) fn bind(&mut self, name: &str, holds: Holds, size: Size) {
        self.variables.push(Variable {
            name: name.to_owned(),
            holds,
            size,
            is_gathered: false,
        });
    }

    /// The variables that are not shadowed.
    pub(super) fn visible(&self) -> impl Iterator<Item = &Variable> {
        let mut seen = BTreeSet::new();
        let latest = self.variables.iter().rev();
        latest.filter(move |variable| seen.insert(variable.name.as_str()))
    }

    /// After this many rows were made, any of which may contain nearly all that was gathered.
    pub(super) fn spread_over(&mut self, rows: u64) {
        for variable in &mut self.variables {
            variable.size = variable.size.spread_over(rows);
        }
    }

    /// Only some of so many rows hold these variables.
    pub(super) fn shared(&mut self, some: u64, all: u64) {
        for variable in &mut self.variables {
            variable.size = variable.size.shared(some, all);
        }
    }

    /// Each row holds all of this list, not only a part of it.
    pub(super) fn make_whole(&mut self, name: &str) {
        if let Some(list) = self.variables.iter_mut().rev().find(|v| v.name == name) {
            list.size = list.size.spread_over(1);
        }
    }

    /// What copying all variables costs, in numbers copied.
    pub(super) fn copying(&self) -> u64 {
        let costs = self.visible().map(|variable| variable.size.copying());
        costs.fold(0, u64::saturating_add)
    }

    pub(super) fn add(&mut self, variable: Variable) {
        self.variables.push(variable);
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.variables.extend(other.variables);
    }

    /// The number of bindings, including shadowed ones.
    pub(super) fn len(&self) -> usize {
        self.variables.len()
    }

    /// Keeps the names, but forgets what they contain.
    pub(super) fn forget(&mut self) {
        for variable in &mut self.variables {
            variable.holds = Holds::Anything;
        }
    }

    /// Removes later bindings.
    pub(super) fn truncate(&mut self, len: usize) {
        self.variables.truncate(len);
    }

    fn of(&self, name: &str) -> Holds {
        self.get(name).map_or(Holds::Anything, |v| v.holds.clone())
    }

    /// What an expression certainly returns, apart from nulls.
    pub(super) fn holds(&self, expression: &Expr) -> Holds {
        match expression {
            Expr::Variable(name) => self.of(&name.text),
            Expr::Call(call) => match call.arguments.as_slice() {
                [argument] => called(&call.function.text, self.holds(argument)),
                _ => Holds::Anything,
            },
            Expr::Index(list, _) => match self.holds(list) {
                Holds::Nodes(labels) => Holds::Node(labels),
                Holds::Ids
                | Holds::Node(_)
                | Holds::Relationship(_)
                | Holds::Path
                | Holds::Anything => Holds::Anything,
            },
            Expr::Slice(list, ..) => match self.holds(list) {
                Holds::Nodes(labels) => Holds::Nodes(labels),
                Holds::Ids => Holds::Ids,
                Holds::Node(_) | Holds::Relationship(_) | Holds::Path | Holds::Anything => {
                    Holds::Anything
                }
            },
            Expr::List(items) if !items.is_empty() => {
                let are_ids = items.iter().all(|item| self.holds(item) == Holds::Ids);
                if are_ids { Holds::Ids } else { Holds::Anything }
            }
            Expr::Comprehension(comprehension) => self.comprehended(comprehension),
            Expr::Null
            | Expr::Bool(_)
            | Expr::Integer(_)
            | Expr::Float(_)
            | Expr::Text(_)
            | Expr::Parameter(_)
            | Expr::List(_)
            | Expr::Map(_)
            | Expr::Property(..)
            | Expr::HasLabels(..)
            | Expr::Unary(..)
            | Expr::Chain(..)
            | Expr::IsNull { .. }
            | Expr::CountStar
            | Expr::Case(_)
            | Expr::PatternComprehension(_)
            | Expr::Quantified(..)
            | Expr::Reduce(_)
            | Expr::Exists(_)
            | Expr::Subquery(..)
            | Expr::MapProjection(..) => Holds::Anything,
        }
    }

    fn comprehended(&self, comprehension: &super::super::tree::Comprehension) -> Holds {
        let list = self.holds(&comprehension.list);
        let Some(result) = &comprehension.result else {
            return list;
        };
        let mut inner = self.clone();
        inner.bind(&comprehension.variable.text, element(list), Size::ONE);
        match inner.holds(result) {
            Holds::Node(labels) => Holds::Nodes(labels),
            Holds::Ids => Holds::Ids,
            Holds::Nodes(_) | Holds::Relationship(_) | Holds::Path | Holds::Anything => {
                Holds::Anything
            }
        }
    }
}

/// What an element of such a list is.
pub(super) fn element(list: Holds) -> Holds {
    match list {
        Holds::Nodes(labels) => Holds::Node(labels),
        Holds::Ids | Holds::Node(_) | Holds::Relationship(_) | Holds::Path | Holds::Anything => {
            Holds::Anything
        }
    }
}

fn called(function: &str, argument: Holds) -> Holds {
    let function = function.to_ascii_lowercase();
    match (function.as_str(), argument) {
        ("elementid", Holds::Node(_)) | ("collect" | "head" | "last", Holds::Ids) => Holds::Ids,
        ("collect", Holds::Node(labels)) => Holds::Nodes(labels),
        ("head" | "last", Holds::Nodes(labels)) => Holds::Node(labels),
        ("reverse" | "tail", Holds::Nodes(labels)) => Holds::Nodes(labels),
        ("nodes", Holds::Path) => Holds::Nodes(None),
        ("startnode" | "endnode", Holds::Relationship(_)) => Holds::Node(None),
        (_, _) => Holds::Anything,
    }
}
