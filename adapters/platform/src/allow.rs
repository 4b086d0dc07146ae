//! Who may talk to the bot. Pure, and closed where nothing was opened.

/// The entries of an allow list, each read by its adapter. The default lets nobody in.
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

impl<E> AllowList<E> {
    /// Reads entries that commas or white space separate; `*` is everyone, and `read` knows the rest.
    ///
    /// # Errors
    /// Gives the first entry that is none.
    pub fn parse(text: &str, read: impl Fn(&str) -> Option<E>) -> Result<Self, String> {
        let mut list = Self::default();
        let entries = text.split(|c: char| c == ',' || c.is_whitespace());
        for entry in entries.filter(|entry| !entry.is_empty()) {
            if entry == "*" {
                list.everyone = true;
            } else {
                list.entries
                    .push(read(entry).ok_or_else(|| entry.to_owned())?);
            }
        }
        Ok(list)
    }

    /// Nobody is let in.
    pub fn is_nobody(&self) -> bool {
        !self.everyone && self.entries.is_empty()
    }

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

    fn parse(text: &str) -> Result<AllowList<u8>, String> {
        AllowList::parse(text, |entry| entry.parse().ok())
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
        assert_eq!(parse("1, x7"), Err("x7".to_owned()));
        assert_eq!(parse("**"), Err("**".to_owned()));
    }

    #[test]
    fn nothing_is_nobody() {
        assert!(parse(" ").unwrap().is_nobody());
        assert!(!parse("*").unwrap().is_nobody());
        assert!(!parse("7").unwrap().is_nobody());
    }
}
