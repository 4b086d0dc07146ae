//! Shields patterns: adds labels and types, checks properties, and reverses arrows.

use std::collections::BTreeSet;

use super::super::problem::{CheckResult, Problem};
use super::super::tree::{
    Arrow, ByteOffset, Expr, Labels, Name, NamedPath, NodePattern, Operator, Path, PathElement,
    Pattern, RelationshipPattern, Selector, Strength, Times,
};
use super::Shield;
use super::scope::{Holds, Scope};
use super::size::Size;

impl Shield<'_> {
    /// Shields what follows `MATCH`, and binds its variables.
    pub(super) fn shield_match(
        &mut self,
        pattern: &mut Pattern,
        scope: &mut Scope,
    ) -> CheckResult<()> {
        self.rows.apply_match(&pattern.paths, scope, self.nodes);
        self.paths(&mut pattern.paths, scope)?;
        // The embedded engine does not support WHERE inside of a node or relationship.
        let mut conditions = Vec::new();
        for path in &mut pattern.paths {
            if path.selector == Selector::Every {
                take_conditions(&mut path.path, &mut conditions);
            }
        }
        if let Some(condition) = &mut pattern.condition {
            self.expression(condition, scope)?;
        }
        pattern.condition = joined(pattern.condition.take(), conditions);
        Ok(())
    }

    /// Shields a list of paths, and binds their variables.
    pub(super) fn paths(&mut self, paths: &mut [NamedPath], scope: &mut Scope) -> CheckResult<()> {
        self.count_relationships(paths)?;
        for path in &mut *paths {
            if let Selector::Words(words) = &path.selector {
                return Err(
                    Problem::of_all(format!("{words} before a path is not allowed"))
                        .advice("write shortestPath((a)-[:TYPE*]-(b)) or allShortestPaths(…)"),
                );
            }
            self.put_names_in(&mut path.path)?;
            if path.selector == Selector::Every {
                end_paths(&mut path.path);
            }
            self.bind(&path.path, scope);
            if let Some(variable) = &path.variable {
                scope.bind(&variable.text, Holds::Path, Size::LIST);
            }
        }
        for path in paths {
            self.path(&mut path.path, scope)?;
        }
        Ok(())
    }

    /// Shields `shortestPath(…)` in an expression, where Neo4j accepts no labels: both ends must be nodes that a
    /// pattern bound, so that they are knowledge.
    pub(super) fn shortest(&mut self, path: &mut NamedPath, scope: &mut Scope) -> CheckResult<()> {
        let at = match path.path.steps.first() {
            Some(PathElement::Node(node)) => node.at,
            Some(PathElement::Relationship(_) | PathElement::Group { .. }) | None => {
                ByteOffset::default()
            }
        };
        let is_bare = |step: &PathElement| {
            let PathElement::Node(node) = step else {
                return false;
            };
            let variable = node
                .variable
                .as_ref()
                .and_then(|name| scope.get(&name.text));
            variable.is_some_and(|variable| matches!(variable.holds, Holds::Node(_)))
                && node.properties.is_empty()
                && node.condition.is_none()
        };
        let are_bound = match path.path.steps.as_slice() {
            [first, PathElement::Relationship(_), last] => is_bare(first) && is_bare(last),
            _ => false,
        };
        if !are_bound || path.variable.is_some() {
            return Err(Problem::at(
                at,
                "a shortest path in an expression has ends that no MATCH bound",
            )
            .advice("bind both nodes with MATCH, then write shortestPath((a)-[:TYPE*]-(b))"));
        }
        for step in &path.path.steps {
            if let PathElement::Node(node) = step
                && let Some(labels) = &node.labels
            {
                self.check_labels(labels)?;
            }
        }
        self.paths(std::slice::from_mut(path), scope)?;
        end_paths(&mut path.path);
        for step in &mut path.path.steps {
            if let PathElement::Node(node) = step {
                node.labels = None;
            }
        }
        Ok(())
    }

    /// Counts relationships: a server that plans many together takes minutes, and no time-out ends that.
    fn count_relationships(&mut self, paths: &[NamedPath]) -> CheckResult<()> {
        let here: usize = paths.iter().map(|path| relationships(&path.path)).sum();
        self.relationships += here;
        self.together += here;
        let (many, most) = if self.together > MAX_TOGETHER {
            ("one pattern", MAX_TOGETHER)
        } else {
            ("one statement", MAX_RELATIONSHIPS)
        };
        if self.together > MAX_TOGETHER || self.relationships > MAX_RELATIONSHIPS {
            return Err(
                Problem::of_all(format!("more than {most} relationships in {many}")).advice(
                    "ask for less at once, use -[:TYPE*1..3]->, or put WITH between MATCHes",
                ),
            );
        }
        Ok(())
    }

    /// Adds labels of the knowledge to every node, and types to every relationship.
    fn put_names_in(&mut self, path: &mut Path) -> CheckResult<()> {
        for step in &mut path.steps {
            match step {
                PathElement::Node(node) => {
                    if let Some(labels) = &node.labels {
                        self.check_labels(labels)?;
                    }
                    let labels = self.confined_labels(node.labels.take(), node.at)?;
                    note_names(&labels, &mut self.used_labels);
                    node.labels = Some(labels);
                }
                PathElement::Relationship(relationship) => {
                    let types = relationship.types.as_ref();
                    let types = self.confined_types(types, relationship.at)?;
                    note_names(&types, &mut self.used_types);
                    relationship.types = Some(types);
                }
                PathElement::Group { path, .. } => self.put_names_in(path)?,
            }
        }
        Ok(())
    }

    /// The labels of a node, unless these are all there are.
    fn telling_labels(&self, node: &NodePattern) -> Option<Vec<String>> {
        let all = self.words.labels().len();
        certain(node.labels.as_ref()?).filter(|labels| labels.len() == 1 || labels.len() < all)
    }

    /// The types of a relationship, unless these are all there are.
    fn telling_types(&self, relationship: &RelationshipPattern) -> Option<Vec<String>> {
        let all = self.words.types().len();
        certain(relationship.types.as_ref()?).filter(|types| types.len() == 1 || types.len() < all)
    }

    /// Binds the variables of a path. Variables that are bound already are unchanged.
    fn bind(&self, path: &Path, scope: &mut Scope) {
        for step in &path.steps {
            match step {
                PathElement::Node(node) => {
                    let labels = self.telling_labels(node);
                    bind_new(
                        scope,
                        node.variable.as_ref(),
                        Holds::Node(labels),
                        Size::NODE,
                    );
                }
                PathElement::Relationship(relationship) => {
                    let is_list = relationship.hops.is_some() || relationship.times.is_some();
                    let (holds, size) = if is_list {
                        (Holds::Anything, Size::LIST)
                    } else {
                        let types = self.telling_types(relationship);
                        (Holds::Relationship(types), Size::NODE)
                    };
                    bind_new(scope, relationship.variable.as_ref(), holds, size);
                }
                PathElement::Group { path, .. } => {
                    // Outside of its group a variable is a list.
                    let mut inside = Scope::default();
                    self.bind(path, &mut inside);
                    inside.forget();
                    scope.extend(inside);
                }
            }
        }
    }

    fn path(&mut self, path: &mut Path, scope: &mut Scope) -> CheckResult<()> {
        self.turn_round(path, scope);
        for step in &mut path.steps {
            match step {
                PathElement::Node(node) => self.node(node, scope)?,
                PathElement::Relationship(relationship) => {
                    self.relationship(relationship, scope)?
                }
                PathElement::Group {
                    path, condition, ..
                } => {
                    let mut inside = scope.clone();
                    hide(path, &mut inside);
                    self.bind(path, &mut inside);
                    self.path(path, &mut inside)?;
                    if let Some(condition) = condition {
                        self.expression(condition, &mut inside)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn node(&mut self, node: &mut NodePattern, scope: &mut Scope) -> CheckResult<()> {
        let known = self.telling_labels(node);
        let known = known.or_else(|| bound_labels(node, scope));
        for (property, value) in &mut node.properties {
            if let Some(labels) = &known {
                self.words.check_node_property(labels, property)?;
            }
            self.expression(value, scope)?;
        }
        if let Some(condition) = &mut node.condition {
            self.expression(condition, scope)?;
        }
        Ok(())
    }

    fn check_labels(&self, labels: &Labels) -> CheckResult<()> {
        match labels {
            Labels::Name(name) => self.words.check_label(name),
            Labels::Any(_) => Ok(()),
            Labels::Not(inner) => self.check_labels(inner),
            Labels::And(all) | Labels::Or(all) => all.iter().try_for_each(|l| self.check_labels(l)),
        }
    }

    /// Labels that a node of the knowledge has, and no other node.
    fn confined_labels(&mut self, labels: Option<Labels>, at: ByteOffset) -> CheckResult<Labels> {
        match labels {
            None | Some(Labels::Any(_)) => self.all_labels(at),
            Some(labels) if certain(&labels).is_some() => Ok(labels),
            Some(labels) => {
                let labels = self.without_wildcards(labels)?;
                Ok(Labels::And(vec![labels, self.all_labels(at)?]))
            }
        }
    }

    fn without_wildcards(&mut self, labels: Labels) -> CheckResult<Labels> {
        let mut each = |all: Vec<Labels>| {
            let all = all.into_iter().map(|labels| self.without_wildcards(labels));
            all.collect::<CheckResult<Vec<_>>>()
        };
        Ok(match labels {
            Labels::Name(name) => Labels::Name(name),
            Labels::Any(at) => self.all_labels(at)?,
            Labels::Not(inner) => Labels::Not(Box::new(self.without_wildcards(*inner)?)),
            Labels::And(all) => Labels::And(each(all)?),
            Labels::Or(all) => Labels::Or(each(all)?),
        })
    }

    fn all_labels(&mut self, at: ByteOffset) -> CheckResult<Labels> {
        let all = names(self.words.labels().iter().copied(), at);
        self.add_names(all.len(), at)?;
        one_of(all).ok_or_else(|| {
            Problem::at(at, "there is no knowledge in the graph yet")
                .advice("answer without the graph")
        })
    }

    fn relationship(
        &mut self,
        relationship: &mut RelationshipPattern,
        scope: &mut Scope,
    ) -> CheckResult<()> {
        let known = self.telling_types(relationship);
        for (property, value) in &mut relationship.properties {
            if let Some(types) = &known {
                self.words.check_relationship_property(types, property)?;
            }
            self.expression(value, scope)?;
        }
        if let Some(condition) = &mut relationship.condition {
            self.expression(condition, scope)?;
        }
        Ok(())
    }

    /// The types meant, as a list of names: a relationship has exactly one type, so every type expression is
    /// equivalent to a list.
    fn confined_types(&mut self, types: Option<&Labels>, at: ByteOffset) -> CheckResult<Labels> {
        if let Some(types) = types {
            self.check_types(types)?;
            if certain(types).is_some() && !matches!(types, Labels::And(_)) {
                return Ok(types.clone());
            }
        }
        let all = self.words.types().iter().copied();
        let meant = all.filter(|kind| types.is_none_or(|types| has_type(types, kind)));
        let meant = names(meant, at);
        self.add_names(meant.len(), at)?;
        one_of(meant).ok_or_else(|| {
            Problem::at(at, "no relationship of the knowledge is of such a type")
                .advice("leave the relationship out")
        })
    }

    fn check_types(&self, types: &Labels) -> CheckResult<()> {
        match types {
            Labels::Name(name) => self.words.check_type(name),
            Labels::Any(_) => Ok(()),
            Labels::Not(inner) => self.check_types(inner),
            Labels::And(all) | Labels::Or(all) => all.iter().try_for_each(|t| self.check_types(t)),
        }
    }

    /// Labels of which the node has at least one, from the pattern or from its binding.
    fn labels_of(&self, node: &NodePattern, scope: &Scope) -> Option<Vec<String>> {
        self.telling_labels(node)
            .or_else(|| bound_labels(node, scope))
            .or_else(|| certain(node.labels.as_ref()?))
    }

    /// Reverses an arrow if the schema has only the other direction.
    fn turn_round(&mut self, path: &mut Path, scope: &Scope) {
        for at in 1..path.steps.len().saturating_sub(1) {
            let (before, rest) = path.steps.split_at_mut(at);
            let (
                Some(PathElement::Node(left)),
                [
                    PathElement::Relationship(relationship),
                    PathElement::Node(right),
                    ..,
                ],
            ) = (before.last(), rest)
            else {
                continue;
            };
            let is_single = relationship.times.is_none()
                && matches!(
                    relationship.hops,
                    None | Some(Times {
                        least: Some(1),
                        most: Some(1)
                    })
                );
            let (Some(types), Some(left), Some(right)) = (
                self.telling_types(relationship),
                self.labels_of(left, scope),
                self.labels_of(right, scope),
            ) else {
                continue;
            };
            let (from, to, turned) = match relationship.arrow {
                Arrow::Right => (&left, &right, Arrow::Left),
                Arrow::Left => (&right, &left, Arrow::Right),
                Arrow::None => continue,
            };
            let is_wrong = !self.words.has_pattern(from, &types, to)
                && self.words.has_pattern(to, &types, from);
            if is_single && is_wrong {
                relationship.arrow = turned;
                self.notes.push(format!(
                    "the graph has (:{})-[:{}]->(:{}), so the arrow was turned round",
                    to.join("|"),
                    types.join("|"),
                    from.join("|")
                ));
            }
        }
    }
}

/// Binds a variable. A bound node keeps what is known about it, as it may not be a node at all.
fn bind_new(scope: &mut Scope, variable: Option<&Name>, holds: Holds, size: Size) {
    let Some(variable) = variable else {
        return;
    };
    match scope.get(&variable.text).map(|known| known.holds.clone()) {
        None => scope.bind(&variable.text, holds, size),
        // A node without known labels is now one of these.
        Some(Holds::Node(None)) if matches!(holds, Holds::Node(_)) => {
            scope.bind(&variable.text, holds, size);
        }
        Some(_) => {}
    }
}

/// Inside of a group, its own variables are single values, whatever they are outside.
fn hide(path: &Path, scope: &mut Scope) {
    for step in &path.steps {
        match step {
            PathElement::Node(node) => {
                if let Some(variable) = &node.variable {
                    scope.bind(&variable.text, Holds::Node(None), Size::NODE);
                }
            }
            PathElement::Relationship(relationship) => {
                if let Some(variable) = &relationship.variable {
                    scope.bind(&variable.text, Holds::Relationship(None), Size::NODE);
                }
            }
            PathElement::Group { path, .. } => hide(path, scope),
        }
    }
}

/// Labels of which one is certainly present; `None` if that is not certain.
fn certain(labels: &Labels) -> Option<Vec<String>> {
    match labels {
        Labels::Name(name) => Some(vec![name.text.clone()]),
        Labels::Any(_) | Labels::Not(_) => None,
        Labels::And(all) => {
            let known: Vec<String> = all.iter().filter_map(certain).flatten().collect();
            (!known.is_empty()).then_some(known)
        }
        Labels::Or(all) => {
            let each: Option<Vec<Vec<String>>> = all.iter().map(certain).collect();
            each.map(|each| each.into_iter().flatten().collect())
        }
    }
}

/// The labels known of a node that was bound before.
fn bound_labels(node: &NodePattern, scope: &Scope) -> Option<Vec<String>> {
    match &scope.get(&node.variable.as_ref()?.text)?.holds {
        Holds::Node(labels) => labels.clone(),
        Holds::Nodes(_) | Holds::Relationship(_) | Holds::Path | Holds::Ids | Holds::Anything => {
            None
        }
    }
}

fn note_names(labels: &Labels, into: &mut BTreeSet<String>) {
    match labels {
        Labels::Name(name) => {
            into.insert(name.text.clone());
        }
        Labels::Any(_) => {}
        Labels::Not(inner) => note_names(inner, into),
        Labels::And(all) | Labels::Or(all) => all.iter().for_each(|l| note_names(l, into)),
    }
}

fn has_type(types: &Labels, kind: &str) -> bool {
    match types {
        Labels::Name(name) => name.text == kind,
        Labels::Any(_) => true,
        Labels::Not(inner) => !has_type(inner, kind),
        Labels::And(all) => all.iter().all(|types| has_type(types, kind)),
        Labels::Or(all) => all.iter().any(|types| has_type(types, kind)),
    }
}

fn names<'a>(all: impl Iterator<Item = &'a str>, at: ByteOffset) -> Vec<Labels> {
    let name = |text: &str| {
        Labels::Name(Name {
            text: text.to_owned(),
            at,
        })
    };
    all.map(name).collect()
}

fn one_of(mut all: Vec<Labels>) -> Option<Labels> {
    if all.len() > 1 {
        Some(Labels::Or(all))
    } else {
        all.pop()
    }
}

/// Maximum relationships in one pattern with the `MATCH` clauses around it, and in all patterns of a statement.
/// Models use at most 6. Neo4j planned 7 without labels and types in 4 s, 8 in 15 s and 10 in 36 s.
const MAX_TOGETHER: usize = 7;
const MAX_RELATIONSHIPS: usize = 30;

fn relationships(path: &Path) -> usize {
    let steps = path.steps.iter().map(|step| match step {
        PathElement::Node(_) => 0,
        PathElement::Relationship(_) => 1,
        PathElement::Group { path, .. } => relationships(path),
    });
    steps.sum()
}

/// The longest path without an explicit bound.
const MAX_HOPS: u32 = 1_000;

/// Bounds `*`: the embedded engine silently limits it to 10.
fn end_paths(path: &mut Path) {
    for step in &mut path.steps {
        match step {
            PathElement::Node(_) => {}
            PathElement::Relationship(relationship) => {
                if let Some(hops @ Times { most: None, .. }) = &mut relationship.hops {
                    hops.least = hops.least.or(Some(1));
                    hops.most = Some(MAX_HOPS);
                }
            }
            PathElement::Group { path, .. } => end_paths(path),
        }
    }
}

/// The path as a pattern to count.
pub(super) fn counted(mut path: NamedPath) -> Pattern {
    let mut conditions = Vec::new();
    take_conditions(&mut path.path, &mut conditions);
    Pattern {
        paths: vec![path],
        condition: joined(None, conditions),
    }
}

fn take_conditions(path: &mut Path, conditions: &mut Vec<Expr>) {
    for step in &mut path.steps {
        match step {
            PathElement::Node(node) => conditions.extend(node.condition.take()),
            PathElement::Relationship(relationship) => {
                let is_single = relationship.hops.is_none() && relationship.times.is_none();
                if is_single {
                    conditions.extend(relationship.condition.take());
                }
            }
            // Its variables are lists outside.
            PathElement::Group { .. } => {}
        }
    }
}

/// Joins conditions with `AND`.
fn joined(first: Option<Expr>, more: Vec<Expr>) -> Option<Expr> {
    let mut all = Vec::new();
    for condition in first.into_iter().chain(more) {
        match condition {
            // Flattened, as the parser would produce it.
            Expr::Chain(Strength::And, first, rest) => {
                all.push(*first);
                all.extend(rest.into_iter().map(|(_, operand)| operand));
            }
            other => all.push(other),
        }
    }
    let mut all = all.into_iter();
    let first = all.next()?;
    let rest: Vec<_> = all.map(|condition| (Operator::And, condition)).collect();
    if rest.is_empty() {
        return Some(first);
    }
    Some(Expr::Chain(Strength::And, Box::new(first), rest))
}
