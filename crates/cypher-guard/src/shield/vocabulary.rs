//! The names that a statement may use: labels, types and properties of the knowledge.

use std::collections::{BTreeMap, BTreeSet};

use super::super::problem::{CheckResult, Problem};
use super::super::tree::Name;
use crate::hidden::Guard;
use crate::schema::{Pattern, Property, Schema};

/// Maximum number of names that a refusal suggests if none is similar.
const PROPOSALS: usize = 20;

pub(super) struct SchemaNames<'a> {
    guard: &'a Guard<'a>,
    schema: &'a Schema,
    labels: BTreeSet<&'a str>,
    types: BTreeSet<&'a str>,
}

impl<'a> SchemaNames<'a> {
    /// Excludes hidden names, whatever the schema says.
    pub(super) fn of(guard: &'a Guard<'a>, schema: &'a Schema) -> Self {
        let ends = schema.patterns.iter().flat_map(|p| [&p.from, &p.to]);
        let labels = schema.nodes.keys().chain(ends).map(String::as_str);
        let kinds = schema.patterns.iter().map(|p| &p.kind);
        let types = schema.relationships.keys().chain(kinds).map(String::as_str);
        Self {
            guard,
            schema,
            labels: labels
                .filter(|l| is_usable(l, guard.hidden_labels))
                .collect(),
            types: types.filter(|t| is_usable(t, guard.hidden_types)).collect(),
        }
    }

    pub(super) fn nodes(&self) -> &'a BTreeMap<String, Vec<Property>> {
        &self.schema.nodes
    }

    pub(super) fn relationships(&self) -> &'a BTreeMap<String, Vec<Property>> {
        &self.schema.relationships
    }

    pub(super) fn labels(&self) -> &BTreeSet<&'a str> {
        &self.labels
    }

    pub(super) fn types(&self) -> &BTreeSet<&'a str> {
        &self.types
    }

    pub(super) fn check_label(&self, label: &Name) -> CheckResult<()> {
        if self.guard.hidden_labels.contains(&label.text.as_str()) {
            return Err(out_of_reach(label));
        }
        if self.labels.contains(label.text.as_str()) {
            return Ok(());
        }
        let message = format!("there is no label {}", label.text);
        Err(Problem::at(label.at, message).advice(proposal(&label.text, &self.labels)))
    }

    pub(super) fn check_type(&self, kind: &Name) -> CheckResult<()> {
        if self.guard.hidden_types.contains(&kind.text.as_str()) {
            return Err(out_of_reach(kind));
        }
        if self.types.contains(kind.text.as_str()) {
            return Ok(());
        }
        let message = format!("there is no relationship type {}", kind.text);
        Err(Problem::at(kind.at, message).advice(proposal(&kind.text, &self.types)))
    }

    /// Checks a name after a colon in an expression, where it may be a label or a type.
    pub(super) fn check_label_or_type(&self, name: &Name) -> CheckResult<()> {
        let text = name.text.as_str();
        if self.guard.hidden_labels.contains(&text) {
            return Err(out_of_reach(name));
        }
        if self.types.contains(text) || self.labels.contains(text) {
            return Ok(());
        }
        if self.guard.hidden_types.contains(&text) {
            return Err(out_of_reach(name));
        }
        self.check_label(name)
    }

    /// Checks that one of the labels has the property, or a label that the node may also have.
    pub(super) fn check_node_property(
        &self,
        labels: &[String],
        property: &Name,
    ) -> CheckResult<()> {
        let problem = match self.check_property(&self.schema.nodes, labels, property) {
            Ok(()) => return Ok(()),
            Err(problem) => problem,
        };
        let others =
            self.schema.nodes.iter().filter(|(_, properties)| {
                properties.iter().any(|known| known.name == property.text)
            });
        for (other, _) in others {
            if labels
                .iter()
                .any(|label| self.may_go_together(label, other))
            {
                return Ok(());
            }
        }
        Err(problem)
    }

    /// Whether a node may have both labels: the schema then has patterns for the relationships of
    /// both.
    fn may_go_together(&self, one: &str, other: &str) -> bool {
        let patterns = &self.schema.patterns;
        let is_shared = |pattern: &Pattern| {
            let (mut from, mut to) = (pattern.clone(), pattern.clone());
            other.clone_into(&mut from.from);
            other.clone_into(&mut to.to);
            (pattern.from == one && patterns.contains(&from))
                || (pattern.to == one && patterns.contains(&to))
        };
        patterns.iter().any(is_shared)
    }

    /// Checks that one of the types has the property.
    pub(super) fn check_relationship_property(
        &self,
        types: &[String],
        property: &Name,
    ) -> CheckResult<()> {
        self.check_property(&self.schema.relationships, types, property)
    }

    /// Of what was only sampled, there may be properties that the schema does not name; a name that resembles one of those is
    /// refused nevertheless.
    fn check_property(
        &self,
        known: &BTreeMap<String, Vec<Property>>,
        owners: &[String],
        property: &Name,
    ) -> CheckResult<()> {
        // Nothing is known about the properties of names that occur only in patterns.
        if !owners.iter().all(|owner| known.contains_key(owner)) {
            return Ok(());
        }
        let of_owners: BTreeSet<&str> = owners
            .iter()
            .filter_map(|owner| known.get(owner))
            .flatten()
            .map(|property| property.name.as_str())
            .collect();
        if of_owners.contains(property.text.as_str()) {
            return Ok(());
        }
        let is_sampled = owners
            .iter()
            .any(|owner| self.schema.sampled.contains(owner));
        if is_sampled && nearest(&property.text, &of_owners).is_none() {
            return Ok(());
        }
        let message = format!("{} has no property {}", owners.join(" or "), property.text);
        Err(Problem::at(property.at, message).advice(proposal(&property.text, &of_owners)))
    }

    /// Whether the schema has such a pattern between any of the labels.
    pub(super) fn has_pattern(&self, from: &[String], kinds: &[String], to: &[String]) -> bool {
        self.schema.patterns.iter().any(|pattern| {
            from.contains(&pattern.from)
                && kinds.contains(&pattern.kind)
                && to.contains(&pattern.to)
        })
    }
}

/// Whether a name can be printed, and is not hidden.
fn is_usable(name: &str, hidden: &[&str]) -> bool {
    let is_printable =
        !name.is_empty() && !name.contains(|c: char| c == '`' || c == '\\' || c.is_control());
    is_printable && !hidden.contains(&name)
}

fn out_of_reach(name: &Name) -> Problem {
    Problem::at(
        name.at,
        format!(
            "{} is no part of the knowledge that can be asked",
            name.text
        ),
    )
    .advice("use only what the schema names")
}

/// How similar a name must be at least to be meant.
const LIKENESS: f64 = 0.6;

/// The most similar name, if it is similar enough.
fn nearest<'a>(unknown: &str, known: &BTreeSet<&'a str>) -> Option<&'a str> {
    let small = unknown.to_lowercase();
    let nearest = known
        .iter()
        .map(|name| {
            (
                strsim::normalized_damerau_levenshtein(&small, &name.to_lowercase()),
                *name,
            )
        })
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    nearest
        .filter(|(likeness, _)| *likeness >= LIKENESS)
        .map(|(_, name)| name)
}

/// The most similar name, or all of them.
pub(super) fn proposal(unknown: &str, known: &BTreeSet<&str>) -> String {
    if known.is_empty() {
        return "there is none at all".to_owned();
    }
    if let Some(name) = nearest(unknown, known) {
        return format!("perhaps {name}");
    }
    let names: Vec<&str> = known.iter().take(PROPOSALS).copied().collect();
    let more = if known.len() > PROPOSALS { "…" } else { "" };
    format!("there is {}{more}", names.join(", "))
}
