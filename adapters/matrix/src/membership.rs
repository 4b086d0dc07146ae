//! Which rooms somebody is in, according to the homeserver at this moment.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use matrix_sdk::Room;
use matrix_sdk::ruma::UserId;
use matrix_sdk::ruma::api::client::state::get_state_event_for_key;
use matrix_sdk::ruma::events::StateEventType;
use matrix_sdk::ruma::events::room::member::{MembershipState, RoomMemberEventContent};
use muninn_platform::{AudienceId, Membership, MembershipError, in_one_line};
use tokio::time::timeout;

use crate::hub::MatrixHub;
use crate::ids;

/// Maximum time per room.
const MEMBER_LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of concurrent requests.
const MAX_CONCURRENT_REQUESTS: usize = 8;

/// Asks the homeserver who is in a room.
pub(crate) struct MatrixMembership(Arc<MatrixHub>);

impl MatrixMembership {
    fn read_by<'a>(
        &'a self,
        account: &'a str,
        places: Vec<AudienceId>,
    ) -> BoxFuture<'a, Result<Vec<AudienceId>, MembershipError>> {
        async move {
            let Some(person) = ids::person(account) else {
                return Ok(Vec::new());
            };
            let (person, rooms) = (&*person, &self.rooms());
            let asked =
                futures::stream::iter(places).map(|place| self.may_read(person, place, rooms));
            let found = asked
                .buffered(MAX_CONCURRENT_REQUESTS)
                .try_filter_map(|it| async { Ok(it) });
            found.try_collect().await
        }
        .boxed()
    }

    pub(crate) fn of(hub: &Arc<MatrixHub>) -> Arc<dyn Membership> {
        Arc::new(Self(Arc::clone(hub)))
    }

    /// Returns the bot's rooms by audience: one room, or several if others replaced it.
    fn rooms(&self) -> HashMap<AudienceId, Vec<Room>> {
        let mut rooms: HashMap<AudienceId, Vec<Room>> = HashMap::new();
        for room in self.0.client.joined_rooms() {
            let place = self.0.audience_of(room.room_id());
            rooms.entry(place).or_default().push(room);
        }
        rooms
    }

    async fn may_read(
        &self,
        person: &UserId,
        place: AudienceId,
        rooms: &HashMap<AudienceId, Vec<Room>>,
    ) -> Result<Option<AudienceId>, MembershipError> {
        for room in rooms.get(&place.channel()).into_iter().flatten() {
            if self.0.serves(person, room.room_id()) && self.is_in(person, room).await? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    async fn is_in(&self, person: &UserId, room: &Room) -> Result<bool, MembershipError> {
        // The SDK keeps known memberships up to date: most need no request.
        let known = timeout(MEMBER_LOOKUP_TIMEOUT, room.get_member(person)).await;
        let known = known.map_err(|_| away())?;
        let known = known.map_err(|error| MembershipError(in_one_line(&error)))?;
        if known.is_none_or(|known| *known.membership() != MembershipState::Join) {
            return Ok(false);
        }
        let request = get_state_event_for_key::v3::Request::new(
            room.room_id().to_owned(),
            StateEventType::RoomMember,
            person.to_string(),
        );
        let asked = timeout(MEMBER_LOOKUP_TIMEOUT, self.0.client.send(request)).await;
        let told = match asked {
            Ok(Ok(told)) => told,
            Ok(Err(error)) => {
                let status = error.as_client_api_error();
                // They were never a member.
                return match status.map(|error| error.status_code.as_u16()) {
                    Some(403 | 404) => Ok(false),
                    Some(_) | None => Err(MembershipError(in_one_line(&error))),
                };
            }
            Err(_) => return Err(away()),
        };
        let member = told.into_content().deserialize_as_unchecked();
        let member: RoomMemberEventContent =
            member.map_err(|error| MembershipError(in_one_line(&error)))?;
        Ok(member.membership == MembershipState::Join)
    }
}

fn away() -> MembershipError {
    MembershipError("the homeserver does not answer".to_owned())
}

#[async_trait]
impl Membership for MatrixMembership {
    async fn readable(
        &self,
        account: &str,
        places: Vec<AudienceId>,
    ) -> Result<Vec<AudienceId>, MembershipError> {
        self.read_by(account, places).await
    }
}
