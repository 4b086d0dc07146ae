//! Notices about lists of remembered items, and about single items.

use chrono::DateTime;
use muninn_platform::{PlatformVocabulary, TimeZone};
use muninn_texts::{Text, Value, text};

/// A notice about remembered items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemNotice {
    /// Below a list of remembered items.
    ListHint {
        first: usize,
        has_more: bool,
        is_search: bool,
    },
    /// The same below recalled items.
    RecalledHint,
    NothingListed {
        is_search: bool,
        /// Whether everything was listed already.
        is_end: bool,
    },
    /// The maximum length of a list is reached.
    ListEnds(usize),
    /// The number does not refer to any list.
    ListAgain,
    NoSuchNumber {
        number: u32,
        listed: usize,
    },
    Gone(u32),
    Changed(u32),
    NotYours {
        number: u32,
        vocabulary: &'static PlatformVocabulary,
    },
    NothingToCorrect(u32),
    /// It is a question whose answer only quotes: a correction would leave what it quotes in force.
    NothingStated(u32),
    Corrected(u32),
    AlreadyCorrected {
        by: String,
        /// In the reader's time zone.
        at: DateTime<TimeZone>,
    },
    Forgot {
        number: u32,
        /// Number of earlier versions that it corrected.
        earlier: usize,
    },
}

impl ItemNotice {
    /// The sentence of the notice.
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
                vocabulary: PlatformVocabulary { moderator, .. },
            } => text!("not-your-item", number = *number, moderator = *moderator),
            Self::NothingToCorrect(number) => text!("nothing-to-correct", number = *number),
            Self::NothingStated(number) => text!("nothing-stated", number = *number),
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
