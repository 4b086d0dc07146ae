//! Who may talk to the bot. Pure, and closed where nothing was opened.

use std::str::FromStr;

use matrix_sdk::ruma::{OwnedRoomId, OwnedServerName, OwnedUserId, RoomId, UserId};

/// What `MATRIX_ALLOW` lets in. The default lets nobody in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    everyone: bool,
    servers: Vec<OwnedServerName>,
    users: Vec<OwnedUserId>,
    rooms: Vec<OwnedRoomId>,
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
        let mut allow = Self::default();
        for entry in text.split([',', ' ', '\n']).map(str::trim) {
            let wrong = || AllowError(entry.to_owned());
            match entry.chars().next() {
                None => {}
                // An id of a room needs no server any more, but a name.
                Some('!') if entry.len() == 1 => return Err(wrong()),
                Some('*') if entry == "*" => allow.everyone = true,
                Some('@') => allow.users.push(entry.try_into().map_err(|_| wrong())?),
                Some('!') => allow.rooms.push(entry.try_into().map_err(|_| wrong())?),
                Some(_) => allow.servers.push(entry.try_into().map_err(|_| wrong())?),
            }
        }
        Ok(allow)
    }
}

impl Allow {
    /// Nobody is let in.
    pub fn is_nobody(&self) -> bool {
        *self == Self::default()
    }

    /// Whether this person is let in, wherever they are.
    pub(crate) fn lets_in(&self, person: &UserId) -> bool {
        self.everyone
            || self.users.iter().any(|user| user == person)
            || self
                .servers
                .iter()
                .any(|server| server == person.server_name())
    }

    /// Whether what this person says in this room is answered: all members of a room that is named
    /// are served.
    pub(crate) fn serves(&self, person: &UserId, room: &RoomId) -> bool {
        self.lets_in(person) || self.rooms.iter().any(|allowed| allowed == room)
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

    #[test]
    fn nothing_is_nobody() {
        assert!("".parse::<Allow>().unwrap().is_nobody());
        assert!(!"*".parse::<Allow>().unwrap().is_nobody());
    }
}
