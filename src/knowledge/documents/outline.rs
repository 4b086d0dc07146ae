//! A document in sections.

use serde_json::{Map, Value};

use crate::knowledge::record::short_title;

/// Maximum tags of a document that its chunks have.
const TAGS: usize = 30;

/// A document before it is chunked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outline {
    pub(super) title: Option<String>,
    /// The document's metadata, without its title.
    pub(super) about: Map<String, Value>,
    /// The text before the first heading.
    pub(super) opening: String,
    pub(super) sections: Vec<Section>,
    /// What could not be read of the file, in words.
    pub(super) problem: Option<String>,
}

impl Outline {
    /// Replaces the title. The heading that was the title becomes a heading again, so that its
    /// words are found, unless the new title contains all of them.
    pub(super) fn under(mut self, title: String) -> Self {
        let has = |own: &str| title.to_lowercase().contains(&own.to_lowercase());
        if let Some(heading) = self.title.take().filter(|own| !has(own)) {
            // All other headings are lower, otherwise it would not have been the title.
            let section = Section {
                level: 1,
                heading,
                body: std::mem::take(&mut self.opening),
                ..Section::default()
            };
            self.sections.insert(0, section);
        }
        self.title = Some(title);
        self
    }

    /// Shortens what each chunk gets a copy of. The words of a title or a heading are still found: they
    /// are in the text below it.
    pub(super) fn with_short_titles(mut self) -> Self {
        self.title = self.title.map(|title| shortened(&title, &mut self.opening));
        for section in &mut self.sections {
            let heading = std::mem::take(&mut section.heading);
            section.heading = shortened(&heading, &mut section.body);
        }
        for name in ["date", "tags"] {
            if let Some(value) = self.about.get_mut(name) {
                shorten_tags(value);
            }
        }
        self
    }
}

fn shortened(title: &str, text: &mut String) -> String {
    let short = short_title(title);
    if short != title {
        *text = format!("{title}\n\n{text}");
    }
    short
}

/// Shortens the texts of a value, and a list of them.
fn shorten_tags(value: &mut Value) {
    match value {
        Value::String(text) => *text = short_title(text),
        Value::Array(tags) => {
            tags.truncate(TAGS);
            tags.iter_mut().for_each(shorten_tags);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
}

/// A heading with the text below it, up to the next heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Section {
    /// 1 for the highest.
    pub(super) level: usize,
    pub(super) heading: String,
    pub(super) body: String,
    /// It is a page of a PDF, without a heading of its own.
    pub(super) is_page: bool,
    /// The page's number.
    pub(super) page: usize,
}
