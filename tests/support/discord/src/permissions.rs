//! Permissions of members, and how a channel's overwrites change them.

use std::ops::{BitAnd, BitOr, Not};

use serde_json::Value;

/// A set of permissions, as Discord's bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissions(u64);

impl Permissions {
    pub const NONE: Self = Self(0);
    pub const ADMINISTRATOR: Self = Self(1 << 3);
    pub const MANAGE_CHANNELS: Self = Self(1 << 4);
    pub const MANAGE_GUILD: Self = Self(1 << 5);
    pub const ADD_REACTIONS: Self = Self(1 << 6);
    pub const VIEW_CHANNEL: Self = Self(1 << 10);
    pub const SEND_MESSAGES: Self = Self(1 << 11);
    pub const MANAGE_MESSAGES: Self = Self(1 << 13);
    pub const EMBED_LINKS: Self = Self(1 << 14);
    pub const ATTACH_FILES: Self = Self(1 << 15);
    pub const READ_MESSAGE_HISTORY: Self = Self(1 << 16);
    pub const MENTION_EVERYONE: Self = Self(1 << 17);
    pub const CONNECT: Self = Self(1 << 20);
    pub const SPEAK: Self = Self(1 << 21);
    pub const MANAGE_ROLES: Self = Self(1 << 28);
    pub const MANAGE_WEBHOOKS: Self = Self(1 << 29);
    pub const USE_APPLICATION_COMMANDS: Self = Self(1 << 31);
    pub const MANAGE_THREADS: Self = Self(1 << 34);
    pub const CREATE_PUBLIC_THREADS: Self = Self(1 << 35);
    pub const CREATE_PRIVATE_THREADS: Self = Self(1 << 36);
    pub const SEND_MESSAGES_IN_THREADS: Self = Self(1 << 38);

    /// An administrator's permissions: every bit that Discord has defined so far.
    pub const ALL: Self = Self((1 << 52) - 1);

    /// The default permissions of everybody in a new server, as far as chat needs them.
    pub const EVERYONE: Self = Self(
        Self::ADD_REACTIONS.0
            | Self::VIEW_CHANNEL.0
            | Self::SEND_MESSAGES.0
            | Self::EMBED_LINKS.0
            | Self::ATTACH_FILES.0
            | Self::READ_MESSAGE_HISTORY.0
            | Self::MENTION_EVERYONE.0
            | Self::CONNECT.0
            | Self::SPEAK.0
            | Self::USE_APPLICATION_COMMANDS.0
            | Self::CREATE_PUBLIC_THREADS.0
            | Self::CREATE_PRIVATE_THREADS.0
            | Self::SEND_MESSAGES_IN_THREADS.0,
    );

    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub const fn bits(self) -> u64 {
        self.0
    }

    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn json(self) -> Value {
        Value::String(self.0.to_string())
    }
}

impl BitOr for Permissions {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Permissions {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Not for Permissions {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0)
    }
}

/// A channel's overwrite for a role or a member.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overwrite {
    pub(crate) allow: Permissions,
    pub(crate) deny: Permissions,
}

impl Overwrite {
    fn over(self, permissions: Permissions) -> Permissions {
        (permissions & !self.deny) | self.allow
    }
}

/// Computes a member's permissions in a channel, in Discord's documented order: everyone's
/// overwrite, those of the member's roles together, the member's own.
pub(crate) fn in_channel(
    base: Permissions,
    everyone: Option<Overwrite>,
    roles: &[Overwrite],
    member: Option<Overwrite>,
) -> Permissions {
    if base.contains(Permissions::ADMINISTRATOR) {
        return Permissions::ALL;
    }
    let mut permissions = everyone.unwrap_or_default().over(base);
    let together = roles
        .iter()
        .fold(Overwrite::default(), |sum, role| Overwrite {
            allow: sum.allow | role.allow,
            deny: sum.deny | role.deny,
        });
    permissions = together.over(permissions);
    permissions = member.unwrap_or_default().over(permissions);
    if permissions.contains(Permissions::VIEW_CHANNEL) {
        permissions
    } else {
        Permissions::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: Permissions = Permissions::VIEW_CHANNEL;
    const SEND: Permissions = Permissions::SEND_MESSAGES;

    fn denies(deny: Permissions) -> Overwrite {
        Overwrite {
            deny,
            ..Overwrite::default()
        }
    }

    fn allows(allow: Permissions) -> Overwrite {
        Overwrite {
            allow,
            ..Overwrite::default()
        }
    }

    #[test]
    fn the_nearer_rule_wins() {
        let base = VIEW | SEND;
        let none = Permissions::NONE;
        let table = [
            (base, None, vec![], None, base),
            (base, Some(denies(SEND)), vec![], None, VIEW),
            (base, Some(denies(SEND)), vec![allows(SEND)], None, base),
            (base, None, vec![denies(SEND), allows(SEND)], None, base),
            (base, None, vec![allows(SEND)], Some(denies(SEND)), VIEW),
            // A member who cannot see a channel can do nothing there.
            (base, Some(denies(VIEW)), vec![], None, none),
            (
                Permissions::ADMINISTRATOR,
                Some(denies(VIEW)),
                vec![],
                None,
                Permissions::ALL,
            ),
        ];
        for (base, everyone, roles, member, expected) in table {
            assert_eq!(in_channel(base, everyone, &roles, member), expected);
        }
    }
}
