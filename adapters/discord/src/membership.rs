//! What somebody may read on Discord at this moment.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use async_trait::async_trait;
use muninn_platform::{AudienceId, Membership, MembershipError};
use serenity::model::Permissions;
use serenity::model::id::{GuildId, RoleId, UserId};

use crate::directory::{Kind, Spot};
use crate::errors::{Failure, Kind as Failed};
use crate::hub::Hub;
use crate::ids::{self, Place};

/// Asks Discord who is in a server with which roles, and goes by the rights of these in each channel.
pub(crate) struct DiscordMembership(Arc<Hub>);

impl DiscordMembership {
    pub(crate) fn of(hub: &Arc<Hub>) -> Arc<dyn Membership> {
        Arc::new(Self(Arc::clone(hub)))
    }

    async fn may_read(
        &self,
        user: UserId,
        place: Place,
        roles: &mut Roles,
    ) -> Result<bool, Failure> {
        if place.private_to.is_some_and(|it| it != user) {
            return Ok(false);
        }
        let Some(guild) = place.guild else {
            // Gives the one that there is.
            let direct = none_if_refused(self.0.api.open_direct(user).await)?;
            let is_theirs = direct == Some(place.channel);
            return Ok(is_theirs && self.0.lets_in(user, &[], &Spot::direct(place.channel)));
        };
        let roles = match roles.entry(guild) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                unknown.insert(none_if_refused(self.0.api.roles_of(guild, user).await)?)
            }
        };
        let Some(roles) = roles else {
            return Ok(false);
        };
        let Some(spot) = self.0.spot(Some(guild), place.channel).await else {
            return Ok(false);
        };
        let rights = self.0.directory.permissions(&spot, user, roles);
        let rights = rights.unwrap_or_default();
        if !rights.view_channel() || !self.0.lets_in(user, roles, &spot) {
            return Ok(false);
        }
        match spot.kind {
            Kind::PrivateThread if !rights.contains(Permissions::MANAGE_THREADS) => {
                let asked = self.0.api.thread_member(spot.channel, user).await;
                Ok(none_if_refused(asked)?.is_some())
            }
            Kind::PrivateThread
            | Kind::PublicThread
            | Kind::Text
            | Kind::Forum
            | Kind::Flat
            | Kind::Direct => Ok(true),
        }
    }
}

/// Somebody's roles in servers; none where they are in it no more.
type Roles = HashMap<GuildId, Option<Vec<RoleId>>>;

/// What Discord refuses to tell is not there, as a member who left.
fn none_if_refused<T>(asked: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match asked {
        Ok(told) => Ok(Some(told)),
        Err(failure) => match failure.kind {
            Failed::Refused(_) => Ok(None),
            Failed::Limited | Failed::Away | Failed::LoggedOut => Err(failure),
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
        let mut roles = Roles::new();
        let mut readable = Vec::new();
        for id in places {
            let Some(place) = Place::parse(id.as_str()) else {
                continue;
            };
            let asked = self.may_read(user, place, &mut roles).await;
            if asked.map_err(|failure| MembershipError(failure.to_string()))? {
                readable.push(id);
            }
        }
        Ok(readable)
    }
}
