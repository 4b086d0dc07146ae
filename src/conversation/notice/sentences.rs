//! Joins sentences to a paragraph.

use muninn_texts::{Language, Text, text};

/// Joins the sentences.
pub(super) fn sentences(texts: Vec<Text>, language: Language) -> String {
    let one = texts
        .into_iter()
        .reduce(|first, next| text!("two-sentences", first, next));
    one.map_or(String::new(), |text| text.in_language(language))
}
