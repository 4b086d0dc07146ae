//! Who did something.

/// Who did something, with their name.
pub(super) struct Actor<'a> {
    pub(super) user: &'a str,
    /// From the event.
    pub(super) name: Option<&'a str>,
    pub(super) team: Option<&'a str>,
}

impl<'a> Actor<'a> {
    /// Somebody without a name in the event.
    pub(super) fn nameless(user: &'a str, team: Option<&'a str>) -> Self {
        let name = None;
        Self { user, name, team }
    }
}
