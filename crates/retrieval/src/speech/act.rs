//! What a text does: it asks, it states, both or neither.

/// The speech act of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Act {
    pub asks: bool,
    /// It states something that may be worth remembering.
    pub states: bool,
}

/// Only a question.
pub const QUESTION: Act = Act {
    asks: true,
    states: false,
};
