//! Who may talk to the bot. Pure, and closed where nothing was opened.

use std::str::FromStr;

use matrix_sdk::ruma::{OwnedRoomId, OwnedServerName, OwnedUserId, RoomId, UserId};
use muninn_platform::AllowList;

/// What `MATRIX_ALLOW` lets in. The default lets nobody in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allow(AllowList<Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Server(OwnedServerName),
    User(OwnedUserId),
    Room(OwnedRoomId),
}

/// An entry of `MATRIX_ALLOW` that is none.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "MATRIX_ALLOW has {0:?}, which is no server (example.org), user (@ann:example.org) or room (!abc:example.org), nor * for everyone"
)]
pub struct AllowError(String);

impl FromStr for Allow {
    type Err = AllowError;

    fn from_str(text: &str) -> Result<Self, AllowError> {
        AllowList::parse(text, Entry::parse)
            .map(Self)
            .map_err(AllowError)
    }
}

impl Entry {
    fn parse(entry: &str) -> Option<Self> {
        match entry.chars().next()? {
            // An id of a room needs no server any more, but a name.
            '!' if entry.len() == 1 => None,
            '!' => entry.try_into().ok().map(Self::Room),
            '@' => entry.try_into().ok().map(Self::User),
            _ => entry.try_into().ok().map(Self::Server),
        }
    }

    fn fits(&self, person: &UserId) -> bool {
        match self {
            Self::Server(server) => server == person.server_name(),
            Self::User(user) => user == person,
            Self::Room(_) => false,
        }
    }
}

impl Allow {
    /// Nobody is let in.
    pub fn is_nobody(&self) -> bool {
        self.0.is_nobody()
    }

    /// Whether what this person says in this room is answered: all members of a room that is named
    /// are served.
    pub(crate) fn serves(&self, person: &UserId, room: &RoomId) -> bool {
        let is_room = |entry: &Entry| matches!(entry, Entry::Room(allowed) if allowed == room);
        self.0.lets_in(|entry| entry.fits(person) || is_room(entry))
    }
}

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::{room_id, user_id};

    use super::*;

    #[test]
    fn only_who_is_named_is_let_in() {
        let (ann, bob) = (user_id!("@ann:example.org"), user_id!("@bob:other.org"));
        let (here, there) = (room_id!("!here:other.org"), room_id!("!there:example.org"));
        for (allow, ann_here, bob_here, bob_there) in [
            ("", false, false, false),
            (" , ", false, false, false),
            ("*", true, true, true),
            ("example.org", true, false, false),
            ("@bob:other.org", false, true, true),
            ("!here:other.org", true, true, false),
            ("example.org, !here:other.org", true, true, false),
            // A server is named exactly.
            ("rg", false, false, false),
            ("example.org:8448", false, false, false),
        ] {
            let allow: Allow = allow.parse().unwrap();
            let served = |person, room| allow.serves(person, room);
            assert_eq!(
                (served(ann, here), served(bob, here), served(bob, there)),
                (ann_here, bob_here, bob_there),
                "{allow:?}"
            );
        }
    }

    #[test]
    fn what_is_no_entry_is_named() {
        for entry in ["@ann", "!", "exa mple.org/x", "**"] {
            assert!(entry.parse::<Allow>().is_err(), "{entry}");
        }
    }
}
