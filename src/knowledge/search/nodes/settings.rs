//! Decides which nodes are searched: those that a file names, or that the schema suggests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use muninn_platform::suggest::perhaps_meant;
use serde::Deserialize;
use serde_json::Value;

use crate::graph::NODE_NAMES;
use crate::graph::schema::{Survey, Values};

/// The built-in settings: the plots of the sample movie graph.
const SHIPPED: &str = include_str!("../../../../prompts/nodes.toml");
/// The file that replaces them, in the team's folder.
const FILE: &str = "nodes.toml";

/// Default for the maximum of nodes read per label.
const MOST_NODES: usize = 20_000;

/// A team's settings for node search; `docs/knowledge.md` explains each.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSettings {
    #[serde(default)]
    embed: Embed,
    /// The types of relationships to follow from a label's nodes; without an entry, all.
    #[serde(default)]
    follow: BTreeMap<String, Vec<String>>,
    #[serde(default = "most_nodes")]
    most_nodes: usize,
    /// These are the built-in settings, which may not match this graph.
    #[serde(skip)]
    is_shipped: bool,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Embed {
    /// By label: the properties to search.
    Named(BTreeMap<String, Vec<String>>),
    Word(Word),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    /// What the schema suggests.
    Schema,
    None,
}

impl Default for Embed {
    fn default() -> Self {
        Self::Word(Word::None)
    }
}

fn most_nodes() -> usize {
    MOST_NODES
}

/// The file is invalid.
#[derive(Debug, thiserror::Error)]
#[error("what {file} says of the nodes that are searched is not right: {problem}")]
pub struct NodeSettingsError {
    file: String,
    problem: String,
}

/// A label whose nodes are searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedLabel {
    pub label: String,
    /// The property with a node's name.
    pub name: Option<String>,
    /// The properties of its text, in order.
    pub properties: Vec<String>,
    /// Searched only by words and names: included because others are connected to it.
    pub is_beside: bool,
}

/// What to search in a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodePlan {
    pub labels: Vec<SearchedLabel>,
    /// Label, type, label.
    pub links: Vec<(String, String, String)>,
    pub most_nodes: usize,
    /// Names in the file that the graph does not have.
    pub problems: Vec<String>,
}

impl NodePlan {
    /// Lists the labels searched by meaning, with their properties, in one line; empty without any.
    pub fn searched(&self) -> String {
        in_a_line(self.labels.iter().filter(|one| !one.is_beside))
    }
}

/// Formats `Movie (title, plot), Ship (name)`
pub fn in_a_line<'a>(labels: impl Iterator<Item = &'a SearchedLabel>) -> String {
    let told = |one: &SearchedLabel| format!("{} ({})", one.label, one.properties.join(", "));
    labels.map(told).collect::<Vec<_>>().join(", ")
}

impl NodeSettings {
    /// Loads the settings from the folder, or else the built-in ones.
    ///
    /// # Errors
    /// Fails with the problem of the folder's file.
    pub fn load(folder: Option<&Path>) -> Result<Self, NodeSettingsError> {
        let own = folder.map(|folder| folder.join(FILE));
        let Some(path) = own.filter(|path| path.exists()) else {
            let shipped = Self::parse(SHIPPED).map_err(|problem| wrong(FILE, problem))?;
            return Ok(Self {
                is_shipped: true,
                ..shipped
            });
        };
        let file = path.display().to_string();
        let text =
            std::fs::read_to_string(&path).map_err(|error| wrong(&file, error.to_string()))?;
        Self::parse(&text).map_err(|problem| wrong(&file, problem))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let settings: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        if let Embed::Named(named) = &settings.embed
            && let Some((label, _)) = named.iter().find(|(_, properties)| properties.is_empty())
        {
            return Err(format!("[embed] {label} names no property"));
        }
        if settings.most_nodes == 0 {
            return Err("most_nodes is at least 1".to_owned());
        }
        Ok(settings)
    }

    /// Returns what these settings search in a graph.
    pub fn plan(&self, survey: &Survey) -> NodePlan {
        let mut plan = NodePlan {
            most_nodes: self.most_nodes,
            ..NodePlan::default()
        };
        match &self.embed {
            Embed::Word(Word::None) => return plan,
            Embed::Word(Word::Schema) => plan.labels = proposed(survey),
            Embed::Named(named) => {
                for (label, properties) in named {
                    match searched(survey, label, properties) {
                        Ok(one) => plan.labels.push(one),
                        Err(_) if self.is_shipped => {}
                        Err(problem) => plan.problems.push(problem),
                    }
                }
            }
        }
        self.follow(survey, &mut plan);
        plan
    }

    /// Adds the neighbours of the searched nodes.
    fn follow(&self, survey: &Survey, plan: &mut NodePlan) {
        let is_followed = |label: &str, kind: &str| {
            let named = self.follow.get(label);
            named.is_none_or(|kinds| kinds.iter().any(|one| one == kind))
        };
        let own: BTreeSet<String> = plan.labels.iter().map(|one| one.label.clone()).collect();
        let mut beside = BTreeSet::new();
        for pattern in &survey.schema.patterns {
            let (from, to) = (&pattern.from, &pattern.to);
            let is_wanted = (own.contains(from) && is_followed(from, &pattern.kind))
                || (own.contains(to) && is_followed(to, &pattern.kind));
            if !is_wanted || is_ingested(survey, from) || is_ingested(survey, to) {
                continue;
            }
            plan.links
                .push((from.clone(), pattern.kind.clone(), to.clone()));
            let others = [from, to].into_iter().filter(|end| !own.contains(*end));
            beside.extend(others.cloned());
        }
        plan.labels.extend(beside.into_iter().filter_map(|label| {
            let name = name_of(survey, &label)?;
            Some(SearchedLabel {
                properties: vec![name.clone()],
                name: Some(name),
                is_beside: true,
                label,
            })
        }));
    }
}

fn wrong(file: &str, problem: String) -> NodeSettingsError {
    NodeSettingsError {
        file: file.to_owned(),
        problem,
    }
}

fn searched(survey: &Survey, label: &str, properties: &[String]) -> Result<SearchedLabel, String> {
    let Some(known) = survey.schema.nodes.get(label) else {
        let meant = perhaps_meant(label, survey.schema.nodes.keys().map(String::as_str));
        return Err(format!("the graph has no label {label}{}", hint(meant)));
    };
    let has = |name: &str| known.iter().any(|property| property.name == name);
    for property in properties {
        if !has(property) {
            let meant = perhaps_meant(property, known.iter().map(|one| one.name.as_str()));
            return Err(format!(
                "no {label} has a property {property}{}",
                hint(meant)
            ));
        }
    }
    Ok(SearchedLabel {
        label: label.to_owned(),
        name: name_of(survey, label),
        properties: properties.to_vec(),
        is_beside: false,
    })
}

fn hint(meant: Option<&str>) -> String {
    meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"))
}

fn name_of(survey: &Survey, label: &str) -> Option<String> {
    let known = survey.schema.nodes.get(label)?;
    let is_text = |name: &&str| {
        let mut texts = known.iter().filter(|property| property.kind == "STRING");
        texts.any(|property| property.name == *name)
    };
    NODE_NAMES.into_iter().find(is_text).map(str::to_owned)
}

/// Whether its nodes are chunks of an ingested source, which are searched as such.
fn is_ingested(survey: &Survey, label: &str) -> bool {
    let known = survey.schema.nodes.get(label);
    known.is_some_and(|known| known.iter().any(|property| property.name == "chunkId"))
}

/// Returns every label with text: its name, and each property with sentences.
pub fn proposed(survey: &Survey) -> Vec<SearchedLabel> {
    let labels = survey.schema.nodes.iter();
    labels
        .filter(|(label, _)| !is_ingested(survey, label))
        .filter_map(|(label, known)| {
            let name = name_of(survey, label);
            let texts = known.iter().filter(|property| {
                property.kind == "STRING"
                    && name.as_ref() != Some(&property.name)
                    && holds_sentences(survey, label, &property.name)
            });
            let texts: Vec<String> = texts.map(|property| property.name.clone()).collect();
            (!texts.is_empty()).then(|| SearchedLabel {
                label: label.clone(),
                properties: name.iter().cloned().chain(texts).collect(),
                name,
                is_beside: false,
            })
        })
        .collect()
}

/// Whether the values are many and have several words, or are too long to be shown.
fn holds_sentences(survey: &Survey, label: &str, property: &str) -> bool {
    let values = survey.values.get(label).and_then(|all| all.get(property));
    match values {
        None => true,
        Some(Values::Few(_)) => false,
        Some(Values::Many(some)) => {
            let words =
                |value: &Value| value.as_str().map_or(0, |it| it.split_whitespace().count());
            some.iter().map(words).sum::<usize>() >= 3 * some.len().max(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::graph::schema::{Pattern, Property};

    fn survey() -> Survey {
        let mut survey = Survey::default();
        let property = |name: &str, kind: &str| Property {
            name: name.to_owned(),
            kind: kind.to_owned(),
        };
        let labels = [
            (
                "Ship",
                vec![
                    ("name", "STRING"),
                    ("log", "STRING"),
                    ("flag", "STRING"),
                    ("built", "INTEGER"),
                ],
            ),
            ("Captain", vec![("name", "STRING"), ("born", "INTEGER")]),
            ("Section", vec![("chunkId", "STRING"), ("text", "STRING")]),
        ];
        for (label, properties) in labels {
            let known = properties.iter().map(|(name, kind)| property(name, kind));
            survey
                .schema
                .nodes
                .insert(label.to_owned(), known.collect());
        }
        for (from, kind, to) in [
            ("Captain", "COMMANDED", "Ship"),
            ("Ship", "SISTER_OF", "Ship"),
            ("Section", "NAMES", "Ship"),
        ] {
            survey.schema.patterns.insert(Pattern {
                from: from.to_owned(),
                kind: kind.to_owned(),
                to: to.to_owned(),
            });
        }
        let values = [
            (
                "name",
                Values::Many(vec![json!("Fram"), json!("Gjøa"), json!("Vega")]),
            ),
            ("flag", Values::Few(vec![(json!("Norway"), 3)])),
        ];
        let values = values.map(|(name, values)| (name.to_owned(), values));
        survey.values.insert("Ship".to_owned(), values.into());
        survey
    }

    fn planned(file: &str) -> NodePlan {
        NodeSettings::parse(file).unwrap().plan(&survey())
    }

    fn names(plan: &NodePlan) -> Vec<String> {
        let told = |one: &SearchedLabel| {
            let beside = if one.is_beside { " beside" } else { "" };
            format!("{}[{}]{beside}", one.label, one.properties.join(","))
        };
        plan.labels.iter().map(told).collect()
    }

    #[test]
    fn what_is_named_is_searched_with_what_it_is_connected_to() {
        let plan = planned("[embed]\nShip = [\"name\", \"log\"]");
        assert_eq!(names(&plan), ["Ship[name,log]", "Captain[name] beside"]);
        let kinds: Vec<&str> = plan
            .links
            .iter()
            .map(|(_, kind, _)| kind.as_str())
            .collect();
        assert_eq!(kinds, ["COMMANDED", "SISTER_OF"]);
        let plan = planned("[embed]\nShip = [\"log\"]\n[follow]\nShip = [\"SISTER_OF\"]");
        assert_eq!(names(&plan), ["Ship[log]"]);
        assert_eq!(plan.links.len(), 1);
    }

    #[test]
    fn the_schema_proposes_what_holds_sentences() {
        assert_eq!(
            names(&planned("embed = \"schema\"")),
            ["Ship[name,log]", "Captain[name] beside"]
        );
        assert!(planned("").labels.is_empty());
        assert!(planned("embed = \"none\"").labels.is_empty());
    }

    #[test]
    fn what_the_graph_has_not_is_said_with_what_was_meant() {
        let plan = planned("[embed]\nShips = [\"log\"]\nCaptain = [\"nane\"]");
        assert!(plan.labels.is_empty());
        assert_eq!(
            plan.problems,
            [
                "no Captain has a property nane; did you mean name?",
                "the graph has no label Ships; did you mean Ship?",
            ]
        );
    }

    #[test]
    fn what_ships_is_right_and_what_does_not_fit_is_named() {
        NodeSettings::load(None).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for (file, told) in [
            ("[embed]\nShip = []", "names no property"),
            ("embed = \"all\"", "embed"),
            ("embedded = \"schema\"", "embedded"),
            ("most_nodes = 0", "most_nodes"),
        ] {
            std::fs::write(folder.path().join(FILE), file).unwrap();
            let error = NodeSettings::load(Some(folder.path())).unwrap_err();
            assert!(error.to_string().contains(told), "{error}");
        }
    }
}
