//! How an exchange relates to the talk before it.

/// How an exchange relates to the talk before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TalkRelation {
    /// The exchange that it continues; [`super::index::NO_ONE`] if none.
    pub(super) goes_on_with: u32,
    /// It says little by itself.
    pub(super) is_short: bool,
}
