//! The catalogue of texts in all languages.

use std::array;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};

use crate::Language;
use crate::numerals::counted;

include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// A text that exists in English.
#[derive(Debug)]
pub(crate) struct CatalogueEntry {
    pub(crate) key: &'static str,
    /// Without its extension.
    pub(crate) file: &'static str,
    /// The names of its arguments.
    pub(crate) takes: &'static [&'static str],
}

/// Proof that a text with these arguments exists.
#[derive(Clone, Copy, Debug)]
pub struct Proof(());

/// Proves at compile time that a text exists and takes exactly these arguments.
///
/// # Panics
/// Panics otherwise, during compilation.
pub const fn prove(key: &str, given: &[&str]) -> Proof {
    let mut at = 0;
    while at < TEXTS.len() {
        if is_same(TEXTS[at].key, key) {
            let takes = TEXTS[at].takes;
            assert!(
                are_in(takes, given),
                "the text takes an argument that is not given"
            );
            assert!(
                are_in(given, takes),
                "the text does not take an argument that is given"
            );
            return Proof(());
        }
        at += 1;
    }
    panic!("no file in texts/en has this text");
}

const fn are_in(names: &[&str], all: &[&str]) -> bool {
    let mut at = 0;
    while at < names.len() {
        let mut found = false;
        let mut other = 0;
        while other < all.len() {
            found = found || is_same(names[at], all[other]);
            other += 1;
        }
        if !found {
            return false;
        }
        at += 1;
    }
    true
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

type Bundle = FluentBundle<FluentResource>;
/// The arguments of a text, formatted for the language that it turns out to be in.
type Arguments<'a> = &'a dyn Fn(Language) -> FluentArgs<'static>;
type Format = fn(&FluentValue<'_>, &intl_memoizer::concurrent::IntlLangMemoizer) -> Option<String>;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::of(FILES));

/// The texts of all languages.
struct Catalogue([Bundle; Language::ALL.len()]);

impl Catalogue {
    /// Parses files, each given with its language code and name.
    fn of(files: &[(&str, &str, &str)]) -> Self {
        Self(array::from_fn(|at| bundle(Language::ALL[at], files)))
    }

    /// Falls back to English if the text is missing or invalid in the language.
    fn render(&self, language: Language, key: &str, arguments: Arguments<'_>) -> String {
        let said = self.rendered(language, key, arguments);
        let said = said.or_else(|| self.rendered(Language::English, key, arguments));
        said.unwrap_or_else(|| key.to_owned())
    }

    /// `None` if the text is missing or invalid in the language.
    fn rendered(&self, language: Language, key: &str, arguments: Arguments<'_>) -> Option<String> {
        let bundle = &self.0[language as usize];
        let given = arguments(language);
        let mut errors = Vec::new();
        let pattern = bundle.get_message(key)?.value()?;
        let said = bundle.format_pattern(pattern, Some(&given), &mut errors);
        if let Some(error) = errors.first() {
            tracing::error!(%error, key, %language, "a text is wrong");
            return None;
        }
        Some(said.into_owned())
    }
}

/// Invalid entries of a file are skipped; a test finds them.
fn bundle(language: Language, files: &[(&str, &str, &str)]) -> Bundle {
    let locale = language.code().parse().unwrap_or_default();
    let mut bundle = Bundle::new_concurrent(vec![locale]);
    // None of these languages is written from right to left.
    bundle.set_use_isolating(false);
    bundle.set_formatter(Some(format_of(language)));
    for (_, _, text) in files.iter().filter(|(code, ..)| *code == language.code()) {
        let read = FluentResource::try_new((*text).to_owned());
        let read = read.unwrap_or_else(|(read, _)| read);
        bundle.add_resource_overriding(read);
    }
    bundle
}

/// The number format of a language, as a function, because the library accepts no closure.
fn format_of(language: Language) -> Format {
    match language {
        Language::English => |value, _| number(Language::English, value),
        Language::German => |value, _| number(Language::German, value),
        Language::French => |value, _| number(Language::French, value),
        Language::Spanish => |value, _| number(Language::Spanish, value),
        Language::Portuguese => |value, _| number(Language::Portuguese, value),
        Language::Japanese => |value, _| number(Language::Japanese, value),
    }
}

fn number(language: Language, value: &FluentValue<'_>) -> Option<String> {
    match value {
        FluentValue::Number(number) => Some(counted(language, number.into())),
        FluentValue::String(_)
        | FluentValue::Custom(_)
        | FluentValue::Error
        | FluentValue::None => None,
    }
}

/// A text in a language, or else in English.
pub(crate) fn render(language: Language, key: &str, arguments: Arguments<'_>) -> String {
    CATALOGUE.render(language, key, arguments)
}

fn none(_: Language) -> FluentArgs<'static> {
    FluentArgs::new()
}

/// The texts of a file without arguments, by key.
pub fn plain_texts(language: Language, file: &str) -> impl Iterator<Item = (&'static str, String)> {
    let texts = TEXTS
        .iter()
        .filter(move |it| it.file == file && it.takes.is_empty());
    texts.map(move |text| (text.key, render(language, text.key, &none)))
}

#[cfg(test)]
mod tests;
