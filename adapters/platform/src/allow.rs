//! Who may talk to the bot. Pure, and closed where nothing was opened.

use std::fmt::Display;
use std::str::FromStr;

use crate::Finding;

/// One entry of an adapter's allow list.
pub trait AllowEntry: Sized {
    /// The variable that holds the list.
    const VARIABLE: &'static str;
    /// What the list is to be set to: "ids of channels or users".
    const ENTRIES: &'static str;
    /// What an entry looks like, for whoever wrote one that is none.
    const FORMS: &'static str;

    /// Reads an entry that is not `*`.
    fn parse(text: &str) -> Option<Self>;
}

/// An entry of an allow list that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} has {entry:?}, which is no {forms}, nor * for everyone")]
pub struct AllowError {
    variable: &'static str,
    entry: String,
    forms: &'static str,
}

/// The entries of an allow list. The default lets nobody in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowList<E> {
    everyone: bool,
    entries: Vec<E>,
}

impl<E> Default for AllowList<E> {
    fn default() -> Self {
        Self {
            everyone: false,
            entries: Vec::new(),
        }
    }
}

/// Reads entries that commas or white space separate; `*` is everyone. The first that is none is an
/// error.
impl<E: AllowEntry> FromStr for AllowList<E> {
    type Err = AllowError;

    fn from_str(text: &str) -> Result<Self, AllowError> {
        let mut list = Self::default();
        let entries = text.split(|c: char| c == ',' || c.is_whitespace());
        for entry in entries.filter(|entry| !entry.is_empty()) {
            if entry == "*" {
                list.everyone = true;
                continue;
            }
            let none = || AllowError {
                variable: E::VARIABLE,
                entry: entry.to_owned(),
                forms: E::FORMS,
            };
            list.entries.push(E::parse(entry).ok_or_else(none)?);
        }
        Ok(list)
    }
}

impl<E: AllowEntry> AllowList<E> {
    /// What is wrong with a list that lets nobody in.
    pub fn finding(&self) -> Option<Finding> {
        let is_nobody = !self.everyone && self.entries.is_empty();
        is_nobody.then(|| {
            Finding::error(format!(
                "{} is empty, so nobody is answered; set it to {}",
                E::VARIABLE,
                E::ENTRIES
            ))
        })
    }

    /// Says in the log what is wrong with the list.
    pub fn warn(&self) {
        if let Some(finding) = self.finding() {
            tracing::warn!("{}", finding.text);
        }
    }

    /// Says in the log that somebody is not answered, as the list does not let them in.
    pub fn note_not_answered(&self, place: impl Display, person: impl Display) {
        let variable = E::VARIABLE;
        tracing::info!(%place, %person, "not answered: {variable} does not let them in");
    }
}

impl<E> AllowList<E> {
    /// Whether everyone is let in, or an entry fits.
    pub fn lets_in(&self, fits: impl Fn(&E) -> bool) -> bool {
        self.everyone || self.names(fits)
    }

    /// Whether an entry fits.
    pub fn names(&self, fits: impl Fn(&E) -> bool) -> bool {
        self.entries.iter().any(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl AllowEntry for u8 {
        const VARIABLE: &'static str = "TEST_ALLOW";
        const ENTRIES: &'static str = "numbers";
        const FORMS: &'static str = "number";

        fn parse(text: &str) -> Option<Self> {
            text.parse().ok()
        }
    }

    fn parse(text: &str) -> Result<AllowList<u8>, AllowError> {
        text.parse()
    }

    #[test]
    fn entries_are_read_or_named() {
        for (text, fits_7, names_7) in [
            ("", false, false),
            (" ,\n, ", false, false),
            ("7", true, true),
            ("1, 7", true, true),
            ("1 2\t3", false, false),
            ("*", true, false),
            ("*,7", true, true),
        ] {
            let list = parse(text).unwrap();
            let found = (list.lets_in(|n| *n == 7), list.names(|n| *n == 7));
            assert_eq!(found, (fits_7, names_7), "{text:?}");
        }
        for (text, wrong) in [("1, x7", "x7"), ("**", "**")] {
            let said = parse(text).unwrap_err().to_string();
            let expected =
                format!("TEST_ALLOW has {wrong:?}, which is no number, nor * for everyone");
            assert_eq!(said, expected);
        }
    }

    #[test]
    fn a_list_that_lets_nobody_in_is_told_of() {
        let finding = parse(" ").unwrap().finding().unwrap();
        let expected = "TEST_ALLOW is empty, so nobody is answered; set it to numbers";
        assert_eq!(finding, Finding::error(expected));
        for text in ["*", "7"] {
            assert_eq!(parse(text).unwrap().finding(), None, "{text}");
        }
    }
}
