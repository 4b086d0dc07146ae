//! Reads a document's metadata: title, author, date, tags, aliases.

use muninn_platform::one_line;
use serde_json::{Map, Value, json};

/// Maximum bytes of front matter; longer ones are text.
const MAX_FRONT_MATTER_BYTES: usize = 64 * 1024;

/// Maximum number of values of one kind.
const LISTED: usize = 50;

/// The properties of a document, with the field names that tools use.
const FIELDS: &[(&str, &[&str])] = &[
    ("title", &["title"]),
    ("author", &["author", "authors", "creator", "by"]),
    (
        "date",
        &[
            "date",
            "created",
            "published",
            "pubdate",
            "updated",
            "lastmod",
            "modified",
        ],
    ),
    (
        "tags",
        &["tags", "tag", "keywords", "categories", "category"],
    ),
    ("aliases", &["aliases", "alias"]),
];

/// Returns a document's properties from any fields: a list stays a list for properties that allow
/// several values.
pub(super) fn of(fields: &Map<String, Value>) -> Map<String, Value> {
    let mut about = Map::new();
    for (property, names) in FIELDS {
        let given = names.iter().find_map(|name| {
            let mut fields = fields.iter();
            fields.find(|(own, _)| own.eq_ignore_ascii_case(name))
        });
        let Some((_, value)) = given else {
            continue;
        };
        let is_list = matches!(*property, "tags" | "aliases");
        let words = words(value, is_list);
        if words.is_empty() {
            continue;
        }
        let value = if is_list {
            json!(words)
        } else {
            json!(words.join(", "))
        };
        about.insert((*property).to_owned(), value);
    }
    about
}

/// Whether a field says something of its document.
pub(super) fn is_field(name: &str) -> bool {
    let mut all = FIELDS.iter().flat_map(|(_, names)| names.iter());
    all.any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the texts of a field; a single text may be a comma-separated list.
fn words(value: &Value, is_list: bool) -> Vec<String> {
    let texts: Vec<String> = match value {
        Value::String(text) if is_list => text.split([',', ';']).map(str::to_owned).collect(),
        Value::String(text) => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(items) => items.iter().flat_map(|item| words(item, false)).collect(),
        // As in `{name: Ada, email: …}`.
        Value::Object(fields) => {
            let name = fields.get("name").and_then(Value::as_str);
            name.map(str::to_owned).into_iter().collect()
        }
        Value::Null | Value::Bool(_) => Vec::new(),
    };
    let texts = texts
        .iter()
        .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    texts.filter(|text| !text.is_empty()).take(LISTED).collect()
}

/// The front matter of a file, and the rest of its text.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FrontMatter<'a> {
    pub(super) about: Map<String, Value>,
    pub(super) body: &'a str,
    /// Why the front matter cannot be parsed, in words.
    pub(super) problem: Option<String>,
}

type Parse = fn(&str) -> Result<Map<String, Value>, String>;

/// The line around each kind of front matter, its name, and its parser.
const FORMS: [(&str, &str, Parse); 2] = [("---", "YAML", yaml), ("+++", "TOML", toml)];

/// Parses YAML between lines of dashes, or TOML between lines of plus signs. What cannot be parsed
/// is left out of both the metadata and the text, as no tool shows it, and reported.
pub(super) fn front_matter(text: &str) -> FrontMatter<'_> {
    let text = text.trim_start_matches('\u{feff}');
    let nothing = |body, problem| FrontMatter {
        about: Map::new(),
        body,
        problem,
    };
    for (mark, form, parse) in FORMS {
        let Some((settings, body)) = between(text, mark) else {
            continue;
        };
        let error = match parse(settings) {
            Ok(fields) => {
                return FrontMatter {
                    about: of(&plain(fields)),
                    ..nothing(body, None)
                };
            }
            Err(error) => one_line(&error),
        };
        // Text between two such lines may be ordinary text, not front matter.
        let looks = settings
            .lines()
            .all(|line| line.contains([':', '=', '-', '#']) || line.trim().is_empty());
        let problem =
            format!("its front matter is no {form} and was left out, the rest was read: {error}");
        return match looks {
            true => nothing(body, Some(problem)),
            false => nothing(text, None),
        };
    }
    nothing(text, None)
}

fn between<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let first = text.lines().next()?;
    if first.trim_end() != mark {
        return None;
    }
    let start = first.len() + 1;
    let mut at = start;
    for line in text.get(start..)?.split_inclusive('\n') {
        let is_end = line.trim_end() == mark || (mark == "---" && line.trim_end() == "...");
        if is_end {
            return Some((&text[start..at], &text[at + line.len()..]));
        }
        at += line.len();
        if at > MAX_FRONT_MATTER_BYTES {
            return None;
        }
    }
    None
}

fn toml(text: &str) -> Result<Map<String, Value>, String> {
    toml::from_str(text).map_err(|error| error.message().to_owned())
}

/// The parser is bounded: it refuses repeated self-references.
fn yaml(text: &str) -> Result<Map<String, Value>, String> {
    let read: Result<Option<_>, _> = serde_saphyr::from_str(text);
    let read = read.map_err(|error| error.without_snippet().to_string())?;
    // It has only comments, or nothing at all.
    Ok(read.unwrap_or_default())
}

/// Converts dates, which TOML has as a type of their own.
fn plain(fields: Map<String, Value>) -> Map<String, Value> {
    let plain = |value: Value| match value {
        Value::Object(map) if map.len() == 1 => map
            .into_iter()
            .next()
            .map_or(Value::Null, |(_, value)| value),
        other => other,
    };
    fields
        .into_iter()
        .map(|(name, value)| (name, plain(value)))
        .collect()
}

/// Returns the metadata as lines of text, so that it is indexed like everything else. The title is
/// shown above.
pub(super) fn lines(about: &Map<String, Value>) -> String {
    let line = |(word, property): (&str, &str)| {
        let text = match about.get(property)? {
            Value::String(text) => text.clone(),
            Value::Array(items) => {
                let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                items.join(", ")
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
        };
        Some(format!("{word}: {text}\n"))
    };
    let all = [
        ("Author", "author"),
        ("Date", "date"),
        ("Tags", "tags"),
        ("Also called", "aliases"),
    ];
    all.into_iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_properties() {
        let expected = json!({
            "title": "Tides", "author": "Ada Marsh, Bo", "date": "2026-01-02",
            "tags": ["sea", "moon"], "aliases": ["Ebb"],
        });
        for text in [
            "---\ntitle: Tides\nauthors: [Ada Marsh, {name: Bo, email: b@x}]\ndate: 2026-01-02\n\
             keywords: sea, moon\naliases:\n  - Ebb\nlayout: page\n---\nBody.\n",
            "+++\ntitle = \"Tides\"\nauthor = [\"Ada Marsh\", \"Bo\"]\ndate = 2026-01-02\n\
             tags = [\"sea\", \"moon\"]\naliases = \"Ebb\"\n+++\nBody.\n",
        ] {
            let read = front_matter(text);
            let about = Value::Object(read.about);
            assert_eq!((about, read.body), (expected.clone(), "Body.\n"));
            assert_eq!(read.problem, None);
        }
    }

    #[test]
    fn what_is_no_settings_stays_text() {
        for text in [
            "---\nA line between two.\n---\nBody.\n",
            "---\nno: end\n",
            "Body.\n",
            "",
            "---",
        ] {
            let expected = FrontMatter {
                body: text,
                ..FrontMatter::default()
            };
            assert_eq!(front_matter(text), expected, "{text}");
        }
        let again = (b'b'..b'j').map(|c| {
            let (name, before) = (c as char, (c - 1) as char);
            format!(
                "{name}: &{name} [{}]\n",
                vec![format!("*{before}"); 9].join(",")
            )
        });
        let again: String = again.collect();
        let bomb = format!("---\na: &a [x,x,x,x,x,x,x,x,x]\n{again}title: *i\n---\nBody.\n");
        assert_eq!(front_matter(&bomb).body, "Body.\n");
    }

    #[test]
    fn settings_that_cannot_be_read_are_told_of() {
        for (text, words) in [
            (
                "---\ntitle: Keel: the manual\n---\nBody.\n",
                "its front matter is no YAML and was left out, the rest was read: ",
            ),
            (
                "+++\ntitle = Keel\n+++\nBody.\n",
                "its front matter is no TOML and was left out, the rest was read: ",
            ),
        ] {
            let read = front_matter(text);
            assert_eq!((read.about, read.body), (Map::new(), "Body.\n"));
            let problem = read.problem.unwrap();
            assert!(problem.starts_with(words), "{problem}");
            assert!(problem.len() > words.len() && !problem.contains('\n'));
        }
        for text in ["---\n---\nBody.\n", "---\n# none yet\n---\nBody.\n"] {
            let read = front_matter(text);
            assert_eq!((read.body, read.problem), ("Body.\n", None), "{text}");
        }
    }
}
