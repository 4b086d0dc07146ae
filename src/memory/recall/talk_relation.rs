//! How an exchange relates to the talk before it.

/// How an exchange relates to the talk before it.
#[derive(Clone, Copy, Debug)]
pub(in crate::memory) struct TalkRelation {
    /// The exchange that it continues; [`super::index::NO_ONE`] if none.
    pub(in crate::memory) goes_on_with: u32,
    /// It says little by itself.
    pub(in crate::memory) is_short: bool,
}
