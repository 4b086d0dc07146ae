//! Formats records for people: main facts and dates, ancestors, related records. Pure.

use muninn_platform::{Language, escaped, linked};
use muninn_texts::text;
use serde_json::Value;

use super::citations::Cited;
use super::facts::{dates, is_address, short};
use super::hit::{Hit, RelatedRecord};

/// Maximum facts per card, in addition to dates.
const FACTS: usize = 4;
/// Maximum dates per card.
const DATES: usize = 4;

/// Formats records as cards in Markdown. What is not of the records themselves is in this language.
pub fn cards(cited: &[Cited], language: Language) -> String {
    let cards = cited.iter().map(|cited| card(cited, language));
    cards.collect::<Vec<_>>().join("\n\n")
}

fn card(cited: &Cited, language: Language) -> String {
    let hit = &cited.hit;
    let name = match hit.link.as_deref().filter(|link| is_address(link)) {
        Some(link) => linked(&hit.name(), link),
        None => escaped(&hit.name()),
    };
    let mut lines = vec![facts(hit).join(" · ")];
    if !hit.path.is_empty() {
        let path: Vec<String> = hit.path.iter().map(step).collect();
        lines.push(text!("card-part-of", path = path.join(" › ")).in_language(language));
    }
    if !hit.related.is_empty() {
        let related = hit.related.iter();
        let related: Vec<String> = related
            .map(|(kind, one)| format!("{} ({})", step(one), escaped(kind)))
            .collect();
        lines.push(text!("card-related", records = related.join(", ")).in_language(language));
    }
    if let Some(place) = place(&hit.properties, language) {
        lines.push(text!("card-place", place = escaped(&place)).in_language(language));
    }
    format!("**{}.** {name}\n- {}", cited.number, lines.join("\n- "))
}

/// Returns where a record was read: the file name and the line.
fn place(properties: &[(String, Value)], language: Language) -> Option<String> {
    let get = |name: &str| properties.iter().find(|(own, _)| own == name);
    let (_, file) = get("file_name")?;
    let name = file.as_str()?.rsplit(['/', '\\']).next()?;
    let line = get("line_num").and_then(|(_, line)| line.as_u64());
    Some(match line {
        // As text: the number of a line has no thousands separator.
        Some(line) => {
            text!("file-line", file = name, line = line.to_string()).in_language(language)
        }
        None => name.to_owned(),
    })
}

fn step(step: &RelatedRecord) -> String {
    let name = match step.link.as_deref().filter(|link| is_address(link)) {
        Some(link) => linked(&step.name, link),
        None => escaped(&step.name),
    };
    match step.told.as_str() {
        "" => name,
        told => format!("{name} ({})", escaped(told)),
    }
}

/// Returns its kind, its dates, and other short properties.
fn facts(hit: &Hit) -> Vec<String> {
    let dates = dates(&hit.properties).into_iter().take(DATES);
    let dates = dates.map(|dated| (dated.name.clone(), dated.text()));
    let others = short(&hit.properties).into_iter().take(FACTS);
    let told = dates.chain(others);
    let told = told.map(|(name, value)| format!("{}: {}", escaped(&name), escaped(&value)));
    std::iter::once(escaped(&hit.label)).chain(told).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::knowledge::search::rank::Scores;

    #[test]
    fn a_card_has_facts_the_hierarchy_and_what_is_related() {
        let step = |name: &str, link: Option<&str>| RelatedRecord {
            name: name.to_owned(),
            label: "series".to_owned(),
            link: link.map(str::to_owned),
            told: "series, 1890–1904".to_owned(),
        };
        let properties = json!({
            "logicalDate_coverageEndDate": "1952-12-31",
            "logicalDate_coverageStartDate": "1950-01-01",
            "levelOfDescription": "fileUnit",
            "languages": ["English", "French"],
            "text": "long",
            "scopeAndContentNote": "word ".repeat(50),
            "title": "Harbour *dues*",
            "file_name": "/srv/archive/coastal.jsonl",
            "line_num": 4,
            "scan": "/srv/archive/scans/1.tif",
            "share": "\\\\server\\scans",
        });
        let hit = Hit {
            chunk: "archives/1#0".to_owned(),
            source: "archives".to_owned(),
            label: "fileUnit".to_owned(),
            title: "Harbour *dues*".to_owned(),
            heading: None,
            link: Some("https://example.org/1".to_owned()),
            text: "Tolls.".to_owned(),
            before: None,
            after: None,
            path: vec![
                step("Port records", Some("https://example.org/2")),
                step("Dues", None),
            ],
            related: vec![("creator".to_owned(), step("Marsh, Ada", None))],
            more_related: 0,
            properties: properties
                .as_object()
                .unwrap()
                .clone()
                .into_iter()
                .collect(),
            scores: Scores::default(),
            why: Vec::new(),
            nodes: Vec::new(),
        };
        let cited = [Cited { number: 1, hit }];
        insta::assert_snapshot!(cards(&cited, Language::English));
        let german = cards(&cited, Language::German);
        let own: Vec<&str> = german.lines().skip(2).collect();
        assert_eq!(
            own,
            [
                "- Teil von: [Port records](https://example.org/2) (series, 1890–1904) › Dues (series, 1890–1904)",
                "- Verwandt: Marsh, Ada (series, 1890–1904) (creator)",
                "- Fundstelle: coastal.jsonl, Zeile 4",
            ]
        );
    }
}
