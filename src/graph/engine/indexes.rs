//! Constraints and indexes on memory, and the statements that create them.

use std::fmt;

/// A constraint or an index on the properties of a label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Index {
    name: &'static str,
    label: &'static str,
    /// As they are written in a statement about `n`.
    properties: &'static str,
    is_unique: bool,
}

impl Index {
    pub(crate) const fn unique(
        name: &'static str,
        label: &'static str,
        properties: &'static str,
    ) -> Self {
        Self {
            name,
            label,
            properties,
            is_unique: true,
        }
    }

    pub(crate) const fn plain(
        name: &'static str,
        label: &'static str,
        properties: &'static str,
    ) -> Self {
        Self {
            is_unique: false,
            ..Self::unique(name, label, properties)
        }
    }

    pub(crate) fn name(&self) -> String {
        format!("muninn_{}", self.name)
    }
}

/// The statement that creates it.
impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            label,
            properties,
            is_unique,
        } = self;
        if *is_unique {
            write!(
                f,
                "CREATE CONSTRAINT muninn_{name} IF NOT EXISTS FOR (n:{label}) REQUIRE {properties} IS UNIQUE"
            )
        } else {
            write!(
                f,
                "CREATE INDEX muninn_{name} IF NOT EXISTS FOR (n:{label}) ON ({properties})"
            )
        }
    }
}

/// The constraints and indexes on memory in every engine.
pub(crate) const OF_MEMORY: &[Index] = &[
    Index::unique("session_id", "Session", "n.id"),
    Index::unique("response_id", "Response", "n.id"),
    Index::unique("response_event", "Response", "n.eventId"),
    Index::unique("channel_id", "Channel", "n.id"),
    Index::plain("channel_private", "Channel", "n.privateTo"),
    Index::unique("account_id", "MuninnAccount", "n.id"),
    Index::unique("person_id", "MuninnPerson", "n.id"),
    Index::unique("token_id", "MuninnToken", "n.id"),
    Index::unique("token_hash", "MuninnToken", "n.hash"),
    Index::plain("response_place", "Response", "n.audience, n.position"),
    Index::unique("source_id", "MuninnSource", "n.id"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unique_is_a_constraint_and_the_rest_an_index() {
        let all: Vec<String> = OF_MEMORY.iter().map(Index::to_string).collect();
        assert_eq!(
            all[0],
            "CREATE CONSTRAINT muninn_session_id IF NOT EXISTS FOR (n:Session) REQUIRE n.id IS UNIQUE"
        );
        let place = all.iter().find(|one| one.contains("response_place"));
        assert_eq!(
            place.unwrap(),
            "CREATE INDEX muninn_response_place IF NOT EXISTS FOR (n:Response) ON (n.audience, n.position)"
        );
    }
}
