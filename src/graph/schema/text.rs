//! Formats the schema for a model, within a token budget.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::overview::{Survey, Values};
use super::{Pattern, Property};
use crate::llm::tokens::estimate;

/// Maximum properties shown of one label or type.
const PROPERTIES: usize = 40;

/// Maximum characters of a shown value.
const VALUE: usize = 40;

/// Maximum tokens of the text around the lines: headings, and what was left out.
const FRAME: u32 = 120;

const NODES: &str = "Node labels, with properties and number:";
const RELATIONSHIPS: &str = "Relationships, with properties and number of the type:";
const VALUES: &str = "Values:";

/// Lines of one kind, most frequent first, as many as fit.
struct SchemaSection {
    /// Each with its number of tokens.
    lines: Vec<(String, u32)>,
    /// How many lines there are without the limit.
    all: usize,
}

impl SchemaSection {
    /// Takes lines while they fit into `budget`; later ones are not produced.
    fn within(budget: u32, all: usize, lines: impl Iterator<Item = String>) -> Self {
        let mut left = budget;
        let mut kept = Vec::new();
        for line in lines {
            // The line break costs a token of its own.
            let cost = estimate(&line) + 1;
            let Some(rest) = left.checked_sub(cost) else {
                break;
            };
            left = rest;
            kept.push((line, cost));
        }
        Self { lines: kept, all }
    }

    fn cost(&self) -> u32 {
        self.lines.iter().map(|(_, cost)| cost).sum()
    }

    fn is_whole(&self) -> bool {
        self.lines.len() == self.all
    }

    /// Removes lines from the end until the cost is at most `budget`.
    fn cut(&mut self, budget: u32) {
        let mut cost = self.cost();
        while cost > budget
            && let Some((_, saved)) = self.lines.pop()
        {
            cost -= saved;
        }
    }

    fn write(&self, head: &str, what: &str, to: &mut String) {
        if self.all == 0 {
            return;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(to, "{head}");
        for (line, _) in &self.lines {
            let _ = writeln!(to, "{line}");
        }
        if !self.is_whole() {
            let left_out = self.all - self.lines.len();
            let _ = writeln!(to, "({left_out} more {what} are not shown)");
        }
    }
}

/// Formats labels, relationships and values, most frequent first, in at most `budget` tokens by
/// [`estimate`]. Omitted ones are counted. A budget of less than about 120 holds nothing.
pub(super) fn text(survey: &Survey, budget: u32) -> String {
    let room = budget.saturating_sub(FRAME);
    let mut ties = SchemaSection::within(room, survey.schema.patterns.len(), tie_lines(survey));
    // Half for labels, and what relationships leave of the other half.
    let for_nodes = if ties.is_whole() {
        (room / 2).max(room - ties.cost())
    } else {
        room / 2
    };
    let nodes = SchemaSection::within(for_nodes, survey.nodes.len(), node_lines(survey));
    ties.cut(room - nodes.cost());
    let left = room - nodes.cost() - ties.cost();
    let all_values = survey.values.values().map(|of| of.len()).sum();
    let values = SchemaSection::within(left, all_values, value_lines(survey));
    let mut to = String::new();
    nodes.write(NODES, "labels", &mut to);
    ties.write(RELATIONSHIPS, "relationships", &mut to);
    if !values.lines.is_empty() {
        values.write(VALUES, "properties with values", &mut to);
    }
    to
}

fn node_lines(survey: &Survey) -> impl Iterator<Item = String> {
    ranked(&survey.nodes).into_iter().map(|(label, number)| {
        let properties = survey.schema.nodes.get(label);
        let properties = braced(properties.map_or(&[][..], Vec::as_slice));
        format!("(:{}{properties}) {number}", name(label))
    })
}

fn tie_lines(survey: &Survey) -> impl Iterator<Item = String> {
    let mut patterns: BTreeMap<&str, Vec<&Pattern>> = BTreeMap::new();
    for pattern in &survey.schema.patterns {
        patterns.entry(&pattern.kind).or_default().push(pattern);
    }
    let ranked = ranked(&survey.relationships).into_iter();
    ranked.flat_map(move |(kind, number)| {
        let properties = survey.schema.relationships.get(kind);
        let properties = braced(properties.map_or(&[][..], Vec::as_slice));
        let patterns = patterns.remove(kind).unwrap_or_default().into_iter();
        patterns.map(move |Pattern { from, kind, to }| {
            let (from, kind, to) = (name(from), name(kind), name(to));
            format!("(:{from})-[:{kind}{properties}]->(:{to}) {number}")
        })
    })
}

fn value_lines(survey: &Survey) -> impl Iterator<Item = String> {
    let mut owners = ranked(&survey.nodes);
    owners.extend(ranked(&survey.relationships));
    owners.into_iter().flat_map(move |(owner, _)| {
        let values = survey.values.get(owner).into_iter().flatten();
        values.map(move |(property, values)| {
            format!("{}.{}: {}", name(owner), name(property), listed(values))
        })
    })
}

fn listed(values: &Values) -> String {
    match values {
        Values::Few(counted) => {
            let counted = counted.iter();
            let counted = counted.map(|(value, times)| format!("{} ({times})", short(value)));
            counted.collect::<Vec<_>>().join(", ")
        }
        Values::Many(some) => {
            let some: Vec<String> = some.iter().map(short).collect();
            format!("for example {}", some.join(", "))
        }
    }
}

pub(super) fn ranked(numbers: &BTreeMap<String, u64>) -> Vec<(&str, u64)> {
    let mut all: Vec<(&str, u64)> = numbers
        .iter()
        .map(|(name, number)| (name.as_str(), *number))
        .collect();
    all.sort_by_key(|(name, number)| (std::cmp::Reverse(*number), *name));
    all
}

fn braced(properties: &[Property]) -> String {
    if properties.is_empty() {
        return String::new();
    }
    let mut shown: Vec<String> = properties
        .iter()
        .take(PROPERTIES)
        .map(|property| format!("{}: {}", name(&property.name), property.kind))
        .collect();
    if properties.len() > PROPERTIES {
        shown.push(format!("and {} more", properties.len() - PROPERTIES));
    }
    format!(" {{{}}}", shown.join(", "))
}

/// Quotes a name for Cypher, on one line.
fn name(raw: &str) -> String {
    let mut letters = raw.chars();
    let is_plain = letters
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_')
        && letters.all(|c| c.is_alphanumeric() || c == '_');
    if is_plain {
        return raw.to_owned();
    }
    let flat: String = raw
        .chars()
        .map(|c| {
            if c.is_control() || c == '\u{2028}' || c == '\u{2029}' {
                ' '
            } else {
                c
            }
        })
        .collect();
    format!("`{}`", flat.replace('`', "``"))
}

fn short(value: &serde_json::Value) -> String {
    match value.as_str() {
        Some(text) if text.chars().count() > VALUE => {
            let start: String = text.chars().take(VALUE).collect();
            serde_json::Value::from(start + "…").to_string()
        }
        Some(_) | None => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::graph::schema::Schema;

    fn property(name: &str, kind: &str) -> Property {
        (name.to_owned(), kind.to_owned()).into()
    }

    fn ravens() -> Survey {
        let mut schema = Schema::default();
        let properties = vec![property("name", "STRING"), property("mood", "STRING")];
        schema.nodes.insert("Raven".to_owned(), properties);
        schema.nodes.insert("Odd one".to_owned(), Vec::new());
        schema
            .relationships
            .insert("SEES".to_owned(), vec![property("at", "DATE")]);
        schema.patterns.insert(Pattern::from((
            "Raven".to_owned(),
            "SEES".to_owned(),
            "Odd one".to_owned(),
        )));
        let moods = Values::Few(vec![(json!("well"), 3), (json!("ill\n"), 1)]);
        let names = Values::Many(vec![json!("Huginn"), json!("x".repeat(60))]);
        Survey {
            schema,
            nodes: [("Raven".to_owned(), 4), ("Odd one".to_owned(), 9)].into(),
            relationships: [("SEES".to_owned(), 7)].into(),
            values: [(
                "Raven".to_owned(),
                [("mood".to_owned(), moods), ("name".to_owned(), names)].into(),
            )]
            .into(),
        }
    }

    #[test]
    fn everything_that_fits_is_told() {
        let expected = format!(
            "{NODES}\n(:`Odd one`) 9\n(:Raven {{name: STRING, mood: STRING}}) 4\n\
             {RELATIONSHIPS}\n(:Raven)-[:SEES {{at: DATE}}]->(:`Odd one`) 7\n\
             {VALUES}\nRaven.mood: \"well\" (3), \"ill\\n\" (1)\n\
             Raven.name: for example \"Huginn\", \"{}…\"\n",
            "x".repeat(VALUE)
        );
        assert_eq!(ravens().text(u32::MAX), expected);
        assert_eq!(Survey::default().text(1_000), "");
    }

    #[test]
    fn a_graph_with_5000_labels_keeps_within_its_budget() {
        let mut survey = ravens();
        for n in 0..5_000_u64 {
            let label = format!("Label{n}");
            let kind = format!("TIED_{n}");
            let properties = (0..n % 100).map(|p| property(&format!("property{p}"), "STRING"));
            survey
                .schema
                .nodes
                .insert(label.clone(), properties.collect());
            survey.nodes.insert(label.clone(), 100 + n);
            survey.schema.relationships.insert(kind.clone(), Vec::new());
            survey.relationships.insert(kind.clone(), n);
            survey
                .schema
                .patterns
                .insert(Pattern::from((label, kind, "Raven".to_owned())));
        }
        for budget in [200, 500, 2_000, 10_000] {
            let text = survey.text(budget);
            assert!(estimate(&text) <= budget, "{} of {budget}", estimate(&text));
            assert!(text.contains("more labels are not shown"), "{text}");
        }
        let text = survey.text(2_000);
        let most = text.lines().nth(1).unwrap_or_default();
        assert!(most.starts_with("(:Label4999 "), "{most}");
        assert!(text.contains("TIED_4999"), "{text}");
    }

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(name("A\nB`"), "`A B```");
        assert_eq!(name("größe_2"), "größe_2");
        assert_eq!(name("2x"), "`2x`");
    }
}
