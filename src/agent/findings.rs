//! Formats what tools found for a prompt.

use muninn_platform::{count_with_noun, one_line};
use serde_json::{Map, Value};

use crate::agent::prompts::Finding;
use crate::graph::query::{Cut, QueryResult};
use crate::llm::tokens::{KeptPart, cut, estimate};

/// Maximum tokens of one value; longer texts are cut.
const VALUE_TOKENS: u32 = 400;
/// Tokens of a heading beside its text, and of a line's marker and line break.
const OVERHEAD: u32 = 4;

/// The result of a statement as a finding with this heading.
pub fn of_rows(heading: &str, result: &QueryResult, ids: &[String]) -> Finding {
    let shown: Vec<usize> = (0..result.columns.len())
        .filter(|column| !ids.contains(&result.columns[*column]))
        .collect();
    let line = |row: &Vec<Value>| {
        let fields: Vec<String> = shown
            .iter()
            .map(|column| format!("{}: {}", result.columns[*column], in_words(&row[*column])))
            .collect();
        fields.join("; ")
    };
    let count = match (result.rows.len(), result.cut) {
        (0, _) => "nothing found".to_owned(),
        (rows, None) => count_with_noun(rows, "row"),
        (rows, Some(Cut::Rows | Cut::Bytes)) => {
            format!("the first {} of more", count_with_noun(rows, "row"))
        }
    };
    Finding {
        heading: format!("{heading}: {count}"),
        lines: result.rows.iter().map(line).collect(),
    }
}

/// A finding for a search without results, or a failed one.
pub fn without(heading: &str, why: &str) -> Finding {
    Finding {
        heading: format!("{heading}: {}", one_line(why)),
        lines: Vec::new(),
    }
}

/// JSON as lines: one per field or element.
pub fn json_lines(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let line = |(name, value): (&String, &Value)| {
                format!("{}: {}", one_line(name), in_words(value))
            };
            fields.iter().map(line).collect()
        }
        Value::Array(values) if !values.is_empty() => values.iter().map(in_words).collect(),
        single => vec![in_words(single)],
    }
}

/// A value in readable form, on one line.
pub fn in_words(value: &Value) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => one_line(&cut(text, VALUE_TOKENS, KeptPart::Head)),
        Value::Array(values) if values.is_empty() => "(none)".to_owned(),
        Value::Array(values) => values.iter().map(in_words).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => format!("({})", fields_in_words(fields)),
    }
}

fn fields_in_words(fields: &Map<String, Value>) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}: {}", one_line(name), in_words(value)))
        .collect();
    fields.join(", ")
}

/// The findings within `budget` tokens. Long ones are cut at their end in favour of short ones.
pub fn fitting(findings: &[Finding], budget: u32) -> Vec<Finding> {
    let mut by_cost: Vec<usize> = (0..findings.len()).collect();
    by_cost.sort_by_key(|index| cost(&findings[*index]));
    let mut left = budget;
    let mut fitted = findings.to_vec();
    for (done, index) in by_cost.into_iter().enumerate() {
        let others = u32::try_from(findings.len() - done).unwrap_or(u32::MAX);
        shorten(&mut fitted[index], left / others);
        left = left.saturating_sub(cost(&fitted[index]));
    }
    fitted
}

fn shorten(finding: &mut Finding, budget: u32) {
    finding.heading = cut(&finding.heading, budget / 2, KeptPart::Head).into_owned();
    let mut left = budget.saturating_sub(cost_of(&finding.heading) + 4 * OVERHEAD);
    let mut kept = 0;
    for line in &finding.lines {
        let cost = cost_of(line);
        if cost > left {
            break;
        }
        left -= cost;
        kept += 1;
    }
    let dropped = finding.lines.len() - kept;
    let whole = finding.lines.get(kept).map(|line| sentences(line, left));
    finding.lines.truncate(kept);
    finding.lines.extend(whole.filter(|it| !it.is_empty()));
    if dropped > 0 {
        finding.lines.push(format!("(and {dropped} more)"));
    }
}

/// The first sentences of a line that fit, with a mark for the omitted rest.
fn sentences(line: &str, budget: u32) -> String {
    const ENDS: [char; 9] = ['.', '!', '?', ';', '…', '。', '！', '？', '؟'];
    let mut fitting = "";
    for (at, end) in line.match_indices(ENDS) {
        let part = &line[..at + end.len()];
        let is_end = line[part.len()..]
            .chars()
            .next()
            .is_none_or(char::is_whitespace);
        if !is_end && end.is_ascii() {
            continue;
        }
        if cost_of(part) + OVERHEAD > budget {
            break;
        }
        fitting = part;
    }
    match fitting {
        "" => String::new(),
        some => format!("{some} […]"),
    }
}

fn cost(finding: &Finding) -> u32 {
    cost_of(&finding.heading) + finding.lines.iter().map(|line| cost_of(line)).sum::<u32>()
}

fn cost_of(line: &str) -> u32 {
    estimate(line).saturating_add(OVERHEAD)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn result() -> QueryResult {
        QueryResult {
            columns: ["title", "roles", "id", "year"].map(str::to_owned).to_vec(),
            rows: vec![
                vec![
                    json!("The\nMatrix"),
                    json!(["Neo"]),
                    json!("4:a:1"),
                    json!(1999),
                ],
                vec![json!("Speed"), json!([]), json!("4:a:2"), json!(null)],
            ],
            nodes: Vec::new(),
            cut: None,
        }
    }

    #[test]
    fn a_line_that_does_not_fit_is_cut_after_a_sentence() {
        let text = "The dues are 40 crowns. A ship of 3.5 m pays half! Who pays late pays twice. "
            .repeat(9);
        let long = Finding {
            heading: "search".to_owned(),
            lines: vec!["head".to_owned(), text.trim().to_owned(), "next".to_owned()],
        };
        let fitted = &fitting(std::slice::from_ref(&long), 90)[0];
        assert_eq!(fitted.lines.len(), 3, "{fitted:?}");
        assert_eq!(fitted.lines[0], "head");
        let cut = fitted.lines[1].strip_suffix(" […]").unwrap();
        assert!(text.starts_with(cut) && cut.len() > 60, "{cut}");
        assert!(cut.ends_with("crowns.") || cut.ends_with("half!") || cut.ends_with("twice."));
        assert_eq!(fitted.lines[2], "(and 2 more)");
        assert_eq!(sentences("no end to it at all", 5), "");
        assert_eq!(fitting(std::slice::from_ref(&long), 9_000), [long]);
    }

    #[test]
    fn rows_are_lines_without_ids() {
        let found = of_rows("find(name: Keanu)", &result(), &["id".to_owned()]);
        assert_eq!(found.heading, "find(name: Keanu): 2 rows");
        assert_eq!(
            found.lines,
            [
                "title: The Matrix; roles: Neo; year: 1999",
                "title: Speed; roles: (none); year: (none)"
            ]
        );
    }

    #[test]
    fn it_says_when_there_was_nothing_or_more() {
        let nothing = of_rows("find()", &QueryResult::default(), &[]);
        assert_eq!(nothing.heading, "find(): nothing found");
        let more = QueryResult {
            cut: Some(Cut::Rows),
            ..result()
        };
        let heading = of_rows("find()", &more, &[]).heading;
        assert_eq!(heading, "find(): the first 2 rows of more");
    }

    #[test]
    fn a_node_is_told_with_what_it_holds() {
        let node = json!({"labels": ["Movie"], "properties": {"title": "Speed"}});
        assert_eq!(
            in_words(&node),
            "(labels: Movie, properties: (title: Speed))"
        );
    }

    #[test]
    fn a_short_finding_stays_whole_beside_a_long_one() {
        let short = Finding {
            heading: "short: 1 row".to_owned(),
            lines: vec!["it: is short".to_owned()],
        };
        let long = Finding {
            heading: "long: 500 rows".to_owned(),
            lines: vec!["it: goes on and on".to_owned(); 500],
        };
        let fitted = fitting(&[long, short.clone()], 200);
        assert_eq!(fitted[1], short);
        let last = fitted[0].lines.last().unwrap();
        assert!(last.starts_with("(and 4"), "{last}");
        assert!(fitted[0].lines.len() > 10);
    }

    proptest! {
        #[test]
        fn findings_keep_within_their_budget(
            budget in 100..2_000u32,
            sizes in prop::collection::vec((0..200usize, 0..80usize), 0..5),
        ) {
            let findings: Vec<Finding> = sizes
                .iter()
                .map(|(words, lines)| Finding {
                    heading: "find it ".repeat(*words / 10),
                    lines: vec!["word ".repeat(*words); *lines],
                })
                .collect();
            let fitted = fitting(&findings, budget);
            let total: u32 = fitted.iter().map(cost).sum();
            prop_assert!(total <= budget + budget / 8, "{total} of {budget}");
        }
    }
}
