//! Answers what somebody may read on Discord at this moment.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use async_trait::async_trait;
use muninn_platform::{AudienceId, Membership, MembershipError};
use serenity::model::Permissions;
use serenity::model::id::{GuildId, RoleId, UserId};

use crate::directory::{Change, Directory, DiscordChannelKind, DiscordLocation, Guild};
use crate::errors::{Failure, FailureKind};
use crate::event;
use crate::hub::DiscordHub;
use crate::ids::{self, DiscordPlace};

/// Asks Discord for somebody's roles in a server, and computes their permissions in each channel.
pub(crate) struct DiscordMembership(Arc<DiscordHub>);

impl DiscordMembership {
    pub(crate) fn of(hub: &Arc<DiscordHub>) -> Arc<dyn Membership> {
        Arc::new(Self(Arc::clone(hub)))
    }
}

/// Facts that are looked up for one request, and not kept.
struct MembershipLookup<'a> {
    hub: &'a DiscordHub,
    user: UserId,
    /// The user's roles by server; `None` if they left it.
    roles: HashMap<GuildId, Option<Vec<RoleId>>>,
    /// Servers that this process does not hear, such as those of other processes' shards; `None` if
    /// the bot is not in it.
    elsewhere: HashMap<GuildId, Option<Directory>>,
}

impl MembershipLookup<'_> {
    async fn may_read(&mut self, place: DiscordPlace) -> Result<bool, Failure> {
        let (hub, user) = (self.hub, self.user);
        if place.private_to.is_some_and(|it| it != user) {
            return Ok(false);
        }
        let Some(guild) = place.guild else {
            // Returns the existing direct channel.
            let direct = none_if_refused(hub.api.open_direct(user).await)?;
            let is_theirs = direct == Some(place.channel);
            return Ok(is_theirs && hub.lets_in(user, &[], &DiscordLocation::direct(place.channel)));
        };
        let roles = match self.roles.entry(guild) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                unknown.insert(none_if_refused(hub.api.roles_of(guild, user).await)?)
            }
        };
        let Some(roles) = roles else {
            return Ok(false);
        };
        let directory = if hub.directory.knows(guild) {
            &hub.directory
        } else {
            let asked = match self.elsewhere.entry(guild) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(ask(hub, guild).await?),
            };
            let Some(directory) = asked else {
                return Ok(false);
            };
            directory
        };
        let spot = match directory.spot(guild, place.channel) {
            Some(spot) => Some(spot),
            None => hub.spot(Some(guild), place.channel).await,
        };
        let Some(spot) = spot else {
            return Ok(false);
        };
        let rights = directory.permissions(&spot, user, roles);
        let rights = rights.unwrap_or_default();
        if !rights.contains(needed_to_read(spot.kind)) || !hub.lets_in(user, roles, &spot) {
            return Ok(false);
        }
        match spot.kind {
            DiscordChannelKind::PrivateThread if !rights.contains(Permissions::MANAGE_THREADS) => {
                let asked = hub.api.thread_member(spot.channel, user).await;
                Ok(none_if_refused(asked)?.is_some())
            }
            DiscordChannelKind::PrivateThread
            | DiscordChannelKind::PublicThread
            | DiscordChannelKind::Text
            | DiscordChannelKind::Forum
            | DiscordChannelKind::Flat
            | DiscordChannelKind::Direct => Ok(true),
        }
    }
}

/// Returns the permissions without which Discord gives nobody what was said in a channel before:
/// see its documentation of "Get Channel Messages".
fn needed_to_read(kind: DiscordChannelKind) -> Permissions {
    let needed = Permissions::VIEW_CHANNEL | Permissions::READ_MESSAGE_HISTORY;
    match kind {
        DiscordChannelKind::Flat => needed | Permissions::CONNECT,
        DiscordChannelKind::PrivateThread
        | DiscordChannelKind::PublicThread
        | DiscordChannelKind::Text
        | DiscordChannelKind::Forum
        | DiscordChannelKind::Direct => needed,
    }
}

/// Looks up the roles and channels of a server, without threads; `None` if the bot is not in it.
async fn ask(hub: &DiscordHub, guild: GuildId) -> Result<Option<Directory>, Failure> {
    let Some(rights) = none_if_refused(hub.api.guild(guild).await)? else {
        return Ok(None);
    };
    let Some(channels) = none_if_refused(hub.api.channels(guild).await)? else {
        return Ok(None);
    };
    let roles = rights.roles.iter();
    let told = Guild {
        id: rights.id,
        owner: rights.owner_id,
        roles: roles.map(|role| (role.id, role.permissions)).collect(),
        my_roles: Vec::new(),
        my_own_role: None,
        language: None,
    };
    let directory = Directory::default();
    let channels = channels.into_iter().map(event::channel).collect();
    directory.apply(Change::Guild(told, channels), hub.me);
    Ok(Some(directory))
}

/// Treats what Discord refuses as absent, such as a member who left.
fn none_if_refused<T>(asked: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match asked {
        Ok(told) => Ok(Some(told)),
        Err(failure) => match failure.kind {
            FailureKind::Refused(_) => Ok(None),
            FailureKind::Limited | FailureKind::Away | FailureKind::LoggedOut => Err(failure),
        },
    }
}

#[async_trait]
impl Membership for DiscordMembership {
    async fn readable(
        &self,
        account: &str,
        places: Vec<AudienceId>,
    ) -> Result<Vec<AudienceId>, MembershipError> {
        let Some(user) = ids::person(account) else {
            return Ok(Vec::new());
        };
        let mut asking = MembershipLookup {
            hub: &self.0,
            user,
            roles: HashMap::new(),
            elsewhere: HashMap::new(),
        };
        let mut readable = Vec::new();
        for id in places {
            let Some(place) = DiscordPlace::parse(id.as_str()) else {
                continue;
            };
            let asked = asking.may_read(place).await;
            if asked.map_err(|failure| MembershipError(failure.to_string()))? {
                readable.push(id);
            }
        }
        Ok(readable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_takes_more_than_seeing_the_channel() {
        use DiscordChannelKind::{Flat, Forum, PrivateThread, PublicThread, Text};
        const VIEW: Permissions = Permissions::VIEW_CHANNEL;
        const PAST: Permissions = VIEW.union(Permissions::READ_MESSAGE_HISTORY);
        const VOICE: Permissions = PAST.union(Permissions::CONNECT);
        for (kinds, rights, may) in [
            (&[Text, Forum, PublicThread, PrivateThread][..], PAST, true),
            (&[Text, Forum, PublicThread, PrivateThread], VIEW, false),
            (&[Flat], VOICE, true),
            (&[Flat], PAST, false),
        ] {
            for kind in kinds {
                let found = rights.contains(needed_to_read(*kind));
                assert_eq!(found, may, "{kind:?} {rights:?}");
            }
        }
    }
}
