//! The permissions that the bot has, and those that it needs.

use serenity::model::Permissions;
use serenity::model::id::ChannelId;

use crate::directory::DiscordLocation;
use crate::hub::DiscordHub;
use crate::ids::{self, DiscordPlace};

/// The least permissions for all features, for the invitation URL.
pub(crate) const NEEDED: Permissions = Permissions::VIEW_CHANNEL
    .union(Permissions::SEND_MESSAGES)
    .union(Permissions::READ_MESSAGE_HISTORY)
    .union(Permissions::CREATE_PUBLIC_THREADS)
    .union(Permissions::CREATE_PRIVATE_THREADS)
    .union(Permissions::SEND_MESSAGES_IN_THREADS);

/// Their names in a channel's settings.
const PERMISSION_NAMES: [(Permissions, &str); 6] = [
    (Permissions::VIEW_CHANNEL, "View Channel"),
    (Permissions::SEND_MESSAGES, "Send Messages"),
    (Permissions::READ_MESSAGE_HISTORY, "Read Message History"),
    (Permissions::CREATE_PUBLIC_THREADS, "Create Public Threads"),
    (
        Permissions::CREATE_PRIVATE_THREADS,
        "Create Private Threads",
    ),
    (
        Permissions::SEND_MESSAGES_IN_THREADS,
        "Send Messages in Threads",
    ),
];

/// Returns their names in the settings, in one line.
pub(crate) fn names(missing: Permissions) -> String {
    let names = PERMISSION_NAMES
        .iter()
        .filter(|(one, _)| missing.contains(*one));
    names.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

/// Describes what cannot be done in a channel, and the missing permission.
pub(crate) fn describe_inability(
    hub: &DiscordHub,
    channel: ChannelId,
    what: &str,
    needed: Permissions,
) -> String {
    let (named, names) = lacks(hub, channel, needed);
    format!("Muninn cannot {what} in {named}: it lacks {names} there")
}

/// Describes why a thread cannot be opened in a channel, for the log: a permission that is missing
/// of those needed, or what Discord allows no more.
pub(crate) fn describe_unopened_thread(
    hub: &DiscordHub,
    channel: ChannelId,
    missing: Option<Permissions>,
) -> String {
    const WHAT: &str = "open a thread for its answer";
    let why = match missing {
        Some(needed) => describe_inability(hub, channel, WHAT, needed),
        None => format!("Muninn cannot {WHAT} in {channel}"),
    };
    format!("{why}; the answer stands in the channel")
}

/// Returns a channel's name, and the needed permissions that the bot lacks there.
pub(crate) fn lacks(hub: &DiscordHub, channel: ChannelId, needed: Permissions) -> (String, String) {
    let spot = hub.directory.spot_of(channel);
    let may = spot
        .as_ref()
        .and_then(|spot| hub.directory.my_permissions(spot, hub.me));
    // An unknown permission counts as missing.
    let missing = may.map_or(needed, |may| needed - may);
    let missing = if missing.is_empty() { needed } else { missing };
    let named = spot.map_or_else(|| channel.to_string(), |spot| format!("#{}", spot.name));
    (named, names(missing))
}

/// Describes which permission is missing to answer in a place.
pub(crate) fn describe_missing_permission(hub: &DiscordHub, place: DiscordPlace) -> String {
    let spot = place
        .guild
        .and_then(|guild| hub.directory.spot(guild, place.channel));
    let channel = ids::link(place.guild, place.channel, None);
    let missing = spot.as_ref().and_then(|spot| {
        let may = hub.directory.my_permissions(spot, hub.me)?;
        Some(lacking(spot, may))
    });
    let names = names(missing.unwrap_or(Permissions::empty()));
    let named = match &spot {
        Some(spot) => format!("#{} ({channel})", spot.name),
        None => channel,
    };
    if names.is_empty() {
        return format!("Muninn may not write in {named}; look at its permissions there");
    }
    format!("Muninn may not write in {named}: it lacks {names} there")
}

fn lacking(spot: &DiscordLocation, may: Permissions) -> Permissions {
    let write = if spot.kind.is_thread() {
        Permissions::SEND_MESSAGES_IN_THREADS
    } else {
        Permissions::SEND_MESSAGES
    };
    let needed = Permissions::VIEW_CHANNEL | Permissions::READ_MESSAGE_HISTORY | write;
    needed - may
}

#[cfg(test)]
mod tests {
    use serenity::model::id::{ChannelId, GuildId};

    use super::*;
    use crate::directory::DiscordChannelKind;

    #[test]
    fn what_is_missing_is_named() {
        let channel = DiscordLocation {
            guild: Some(GuildId::new(1)),
            channel: ChannelId::new(2),
            kind: DiscordChannelKind::Text,
            parent: None,
            name: "general".to_owned(),
        };
        let thread = DiscordLocation {
            kind: DiscordChannelKind::PublicThread,
            ..channel.clone()
        };
        let may = Permissions::VIEW_CHANNEL | Permissions::SEND_MESSAGES;
        assert_eq!(names(lacking(&channel, may)), "Read Message History");
        assert_eq!(
            names(lacking(&thread, may)),
            "Read Message History, Send Messages in Threads"
        );
        assert!(lacking(&channel, NEEDED).is_empty());
        let named = PERMISSION_NAMES.iter().map(|(one, _)| *one);
        assert_eq!(
            named.fold(Permissions::empty(), |all, one| all | one),
            NEEDED
        );
    }
}
