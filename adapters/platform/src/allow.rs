//! Decides who may talk to the bot. Pure; an empty list admits nobody.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use crate::SelfCheckFinding;

/// One entry of an adapter's allow list.
pub trait AllowEntry: Sized {
    /// The variable that holds the list.
    const VARIABLE: &'static str;
    /// What the list is to be set to: "ids of channels or users".
    const ENTRIES: &'static str;
    /// The accepted forms of an entry, shown to whoever wrote an invalid one.
    const FORMS: &'static str;

    /// Parses an entry other than `*`.
    fn parse(text: &str) -> Option<Self>;
}

/// An invalid entry of an allow list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} has {entry:?}, which is no {forms}, nor * for everyone")]
pub struct AllowError {
    variable: &'static str,
    entry: String,
    forms: &'static str,
}

/// An allow list. The default admits nobody. Clones share one list, so that it can be
/// [replaced](AllowList::replace) while a bot runs.
#[derive(Debug)]
pub struct AllowList<E>(Arc<RwLock<Entries<E>>>);

#[derive(Debug)]
struct Entries<E> {
    everyone: bool,
    entries: Vec<E>,
}

impl<E> Clone for AllowList<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E> Default for AllowList<E> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<E> Default for Entries<E> {
    fn default() -> Self {
        Self {
            everyone: false,
            entries: Vec::new(),
        }
    }
}

/// Parses entries separated by commas or white space; `*` is everyone. The first invalid entry is
/// an error.
impl<E: AllowEntry> FromStr for AllowList<E> {
    type Err = AllowError;

    fn from_str(text: &str) -> Result<Self, AllowError> {
        match Entries::read(text) {
            (read, None) => Ok(Self(Arc::new(RwLock::new(read)))),
            (_, Some(wrong)) => Err(wrong),
        }
    }
}

impl<E: AllowEntry> Entries<E> {
    /// Returns the valid entries, and the first invalid one as an error.
    fn read(text: &str) -> (Self, Option<AllowError>) {
        let (mut read, mut wrong) = (Self::default(), None);
        let entries = text.split(|c: char| c == ',' || c.is_whitespace());
        for entry in entries.filter(|entry| !entry.is_empty()) {
            match E::parse(entry) {
                _ if entry == "*" => read.everyone = true,
                Some(entry) => read.entries.push(entry),
                None => {
                    wrong.get_or_insert_with(|| AllowError {
                        variable: E::VARIABLE,
                        entry: entry.to_owned(),
                        forms: E::FORMS,
                    });
                }
            }
        }
        (read, wrong)
    }
}

impl<E: AllowEntry + PartialEq> AllowList<E> {
    /// Replaces the list for all its clones. Returns whether it changed.
    ///
    /// # Errors
    /// Fails at an invalid entry. Then only people that both lists admit are let in: those who were
    /// removed stay out, and nobody is added by mistake.
    pub fn replace(&self, text: &str) -> Result<bool, AllowError> {
        let (read, wrong) = Entries::read(text);
        let mut list = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Some(wrong) = wrong else {
            let is_other = list.everyone != read.everyone || list.entries != read.entries;
            *list = read;
            return Ok(is_other);
        };
        let were = std::mem::take(&mut *list);
        let stay = |entry: &E| were.everyone || were.entries.contains(entry);
        *list = Entries {
            everyone: were.everyone && read.everyone,
            entries: match read.everyone {
                true => were.entries,
                false => read.entries.into_iter().filter(stay).collect(),
            },
        };
        Err(wrong)
    }
}

impl<E: AllowEntry> AllowList<E> {
    /// Describes the problem of a list that admits nobody.
    pub fn finding(&self) -> Option<SelfCheckFinding> {
        let list = self.list();
        let is_nobody = !list.everyone && list.entries.is_empty();
        is_nobody.then(|| {
            SelfCheckFinding::error(format!(
                "{} is empty, so nobody is answered; set it to {}",
                E::VARIABLE,
                E::ENTRIES
            ))
        })
    }

    /// Logs the problem of a list that admits nobody.
    pub fn warn(&self) {
        if let Some(finding) = self.finding() {
            tracing::warn!("{}", finding.text);
        }
    }

    /// Logs that somebody is not answered because the list does not admit them.
    pub fn note_not_answered(&self, place: impl Display, person: impl Display) {
        let variable = E::VARIABLE;
        tracing::info!(%place, %person, "not answered: {variable} does not let them in");
    }
}

impl<E> AllowList<E> {
    /// Whether everyone is let in, or any entry matches.
    pub fn lets_in(&self, fits: impl Fn(&E) -> bool) -> bool {
        let list = self.list();
        list.everyone || list.entries.iter().any(fits)
    }

    /// Whether any entry matches.
    pub fn names(&self, fits: impl Fn(&E) -> bool) -> bool {
        self.list().entries.iter().any(fits)
    }

    fn list(&self) -> RwLockReadGuard<'_, Entries<E>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
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

    /// Before, what is written then, and who of 1, 2, 3 is let in after that.
    #[test]
    fn a_list_is_replaced_for_its_clones_and_a_wrong_one_lets_nobody_new_in() {
        for (before, then, is_right, expected) in [
            ("1", "1, 2", true, [true, true, false]),
            ("1, 2", "", true, [false, false, false]),
            ("*", "2", true, [false, true, false]),
            ("1, 2", "2, 3, x", false, [false, true, false]),
            ("1", "*, x", false, [true, false, false]),
            ("*", "2, x", false, [false, true, false]),
            ("*", "*, x", false, [true, true, true]),
        ] {
            let list = parse(before).unwrap();
            let clone = list.clone();
            assert_eq!(list.replace(then).is_ok(), is_right, "{then}");
            let found = [1, 2, 3].map(|sought| clone.lets_in(|n| *n == sought));
            assert_eq!(found, expected, "{before}, then {then}");
        }
        let list = parse("1").unwrap();
        assert_eq!(
            (list.replace("1"), list.replace("2")),
            (Ok(false), Ok(true))
        );
    }

    #[test]
    fn a_list_that_lets_nobody_in_is_told_of() {
        let finding = parse(" ").unwrap().finding().unwrap();
        let expected = "TEST_ALLOW is empty, so nobody is answered; set it to numbers";
        assert_eq!(finding, SelfCheckFinding::error(expected));
        for text in ["*", "7"] {
            assert_eq!(parse(text).unwrap().finding(), None, "{text}");
        }
    }
}
