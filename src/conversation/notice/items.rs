//! What is said of lists, and of the things in them.

use chrono::{DateTime, Utc};
use muninn_platform::Vocabulary;
use muninn_texts::{Text, Value, text};

/// What is said of single things that are remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemNotice {
    /// Said below a list of what is remembered.
    ListHint {
        first: usize,
        has_more: bool,
        is_search: bool,
    },
    /// The same below what was recalled.
    RecalledHint,
    NothingListed {
        is_search: bool,
        /// What is listed already was all.
        is_end: bool,
    },
    /// A list has so many things, and no more.
    ListEnds(usize),
    /// Nobody knows what a number means.
    ListAgain,
    NoSuchNumber {
        number: u32,
        listed: usize,
    },
    Gone(u32),
    Changed(u32),
    NotYours {
        number: u32,
        vocabulary: &'static Vocabulary,
    },
    NothingToCorrect(u32),
    Corrected(u32),
    AlreadyCorrected {
        by: String,
        at: DateTime<Utc>,
    },
    Forgot {
        number: u32,
        /// What it had corrected.
        earlier: usize,
    },
}

impl ItemNotice {
    /// Its sentence.
    pub(super) fn text(&self) -> Text {
        match self {
            Self::ListHint {
                first,
                has_more,
                is_search,
            } => match (has_more, is_search) {
                (true, true) => text!("list-hint-more-words", first = *first),
                (true, false) => text!("list-hint-more", first = *first),
                (false, true | false) => text!("list-hint", first = *first),
            },
            Self::RecalledHint => text!("recalled-hint"),
            Self::NothingListed {
                is_search: true, ..
            } => text!("nothing-found"),
            Self::NothingListed { is_end: true, .. } => text!("nothing-more"),
            Self::NothingListed { .. } => text!("nothing-listed"),
            Self::ListEnds(listed) => text!("list-ends-after", listed = *listed),
            Self::ListAgain => text!("list-again"),
            Self::NoSuchNumber { number, listed } => {
                text!("no-such-number", number = *number, listed = *listed)
            }
            Self::Gone(number) => text!("item-gone", number = *number),
            Self::Changed(number) => text!("item-changed", number = *number),
            Self::NotYours {
                number,
                vocabulary: Vocabulary { moderator, .. },
            } => text!("not-your-item", number = *number, moderator = *moderator),
            Self::NothingToCorrect(number) => text!("nothing-to-correct", number = *number),
            Self::Corrected(number) => text!("corrected-item", number = *number),
            Self::AlreadyCorrected { by, at } => {
                text!("already-corrected", by, at = Value::moment(at))
            }
            Self::Forgot { number, earlier } => {
                text!("forgot-item", number = *number, earlier = *earlier)
            }
        }
    }
}
