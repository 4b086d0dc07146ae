//! The supported languages.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A language that the bot speaks.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Language {
    /// The fallback for texts that another language lacks.
    #[default]
    English,
    German,
    French,
    Spanish,
    Portuguese,
    Japanese,
}

/// The text names none of them.
#[derive(Debug)]
pub struct NoLanguage;

impl fmt::Display for NoLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = Language::ALL.map(Language::code).join(", ");
        write!(f, "must be one of {codes}")
    }
}

impl std::error::Error for NoLanguage {}

impl Language {
    pub const ALL: [Self; 6] = [
        Self::English,
        Self::German,
        Self::French,
        Self::Spanish,
        Self::Portuguese,
        Self::Japanese,
    ];

    /// The ISO 639 code: `de`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
            Self::Portuguese => "pt",
            Self::Japanese => "ja",
        }
    }

    /// The language of a locale in the form of platforms and systems: `de`, `pt-BR`, `de_AT.UTF-8`. `None` if it is
    /// not supported.
    pub fn of_locale(locale: &str) -> Option<Self> {
        let name = locale.split(['-', '_', '.', '@']).next()?.trim();
        let is_it = |language: &Self| language.code().eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(is_it)
    }

    /// The first supported one of several locales in order of preference: `it_IT:de`, `fr-CH, en;q=0.5`.
    pub fn of_locales(locales: &str) -> Option<Self> {
        let mut all = locales.split([',', ':']);
        all.find_map(|it| Self::of_locale(it.split(';').next().unwrap_or_default()))
    }
}

impl From<Language> for &'static str {
    fn from(language: Language) -> Self {
        language.code()
    }
}

impl TryFrom<String> for Language {
    type Error = NoLanguage;

    fn try_from(code: String) -> Result<Self, NoLanguage> {
        code.parse()
    }
}

impl FromStr for Language {
    type Err = NoLanguage;

    fn from_str(code: &str) -> Result<Self, NoLanguage> {
        Self::of_locale(code).ok_or(NoLanguage)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// The languages in which a message is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Languages {
    /// For what everybody in the place sees.
    pub place: Language,
    /// For what its author alone sees.
    pub person: Language,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_is_of_a_language_or_of_none() {
        for (locale, language) in [
            ("de", Some(Language::German)),
            ("de_AT.UTF-8", Some(Language::German)),
            ("pt-BR", Some(Language::Portuguese)),
            ("es-419", Some(Language::Spanish)),
            ("JA", Some(Language::Japanese)),
            ("C.UTF-8", None),
            ("POSIX", None),
            ("it_IT", None),
            ("deu", None),
            ("", None),
        ] {
            assert_eq!(Language::of_locale(locale), language, "{locale}");
        }
        let first = Language::of_locales;
        assert_eq!(first("it_IT:fr_FR:en"), Some(Language::French));
        assert_eq!(first("it,pt;q=0.7, en;q=0.5"), Some(Language::Portuguese));
        assert_eq!(first("de-AT,de;q=0.9,en;q=0.8"), Some(Language::German));
        assert_eq!(first("it"), None);
    }
}
