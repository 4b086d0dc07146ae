//! Decides who may talk to the bot. Pure; an empty list admits nobody.

use matrix_sdk::ruma::{OwnedRoomId, OwnedServerName, OwnedUserId, RoomId, UserId};
use muninn_platform::{AllowEntry, AllowList};

/// The allow list of `MATRIX_ALLOW`. The default admits nobody.
pub type MatrixAllowList = AllowList<MatrixAllowEntry>;

/// An entry of the allow list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatrixAllowEntry {
    Server(OwnedServerName),
    User(OwnedUserId),
    Room(OwnedRoomId),
}

impl AllowEntry for MatrixAllowEntry {
    const VARIABLE: &'static str = "MATRIX_ALLOW";
    const ENTRIES: &'static str = "servers, users or rooms";
    const FORMS: &'static str =
        "server (example.org), user (@ann:example.org) or room (!abc:example.org)";

    fn parse(entry: &str) -> Option<Self> {
        match entry.chars().next()? {
            // A room id may lack a server name, but not a name.
            '!' if entry.len() == 1 => None,
            '!' => entry.try_into().ok().map(Self::Room),
            '@' => entry.try_into().ok().map(Self::User),
            _ => entry.try_into().ok().map(Self::Server),
        }
    }
}

/// Whether messages of this person in this room are answered: all members of a listed room are
/// served.
pub(crate) fn is_let_in(allow: &MatrixAllowList, person: &UserId, room: &RoomId) -> bool {
    allow.lets_in(|entry| match entry {
        MatrixAllowEntry::Server(server) => server == person.server_name(),
        MatrixAllowEntry::User(user) => user == person,
        MatrixAllowEntry::Room(allowed) => allowed == room,
    })
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
            // A server name has to match exactly.
            ("rg", false, false, false),
            ("example.org:8448", false, false, false),
        ] {
            let allow: MatrixAllowList = allow.parse().unwrap();
            let served = |person, room| is_let_in(&allow, person, room);
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
            assert!(entry.parse::<MatrixAllowList>().is_err(), "{entry}");
        }
    }
}
