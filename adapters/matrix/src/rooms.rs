//! Answers invitations, and looks up facts about a room.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use matrix_sdk::room::{IncludeRelations, RelationsOptions};
use matrix_sdk::ruma::api::client::membership::leave_room;
use matrix_sdk::ruma::events::relation::RelationType;
use matrix_sdk::ruma::events::room::history_visibility::HistoryVisibility;
use matrix_sdk::ruma::{OwnedEventId, OwnedServerName, OwnedUserId, RoomId, UserId, uint};
use matrix_sdk::{Client, Room, RoomMemberships, RoomState};
use muninn_platform::{Audience, Author, RequestFailure};
use muninn_texts::text;
use tokio::time::{Instant, timeout, timeout_at};

use crate::errors::of_sdk;
use crate::hub::MatrixHub;
use crate::lineage;
use crate::member_lists::LIST_TIMEOUT;
use crate::name::NAME;

/// Attempts to join: a server that just sent the invitation may not be ready yet.
const ATTEMPTS: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Maximum time to open a direct room.
const OPENING: Duration = Duration::from_secs(30);

/// Answers every pending invitation.
pub(crate) fn sweep(hub: &Arc<MatrixHub>) {
    for room in hub.client.invited_rooms() {
        let hub = Arc::clone(hub);
        tokio::spawn(async move { answer_invitation(&hub, &room).await });
    }
}

/// Accepts or declines an invitation.
pub(crate) async fn answer_invitation(hub: &MatrixHub, room: &Room) {
    let id = room.room_id();
    let Some(inviter) = inviter(room).await else {
        return;
    };
    let is_served = hub.serves(&inviter, id)
        || lineage::replaced_by(&hub.client, room)
            .is_some_and(|before| hub.serves(&inviter, before.room_id()));
    if is_served {
        join(&hub.client, id, &[]).await;
        return;
    }
    tracing::warn!(room = %id, %inviter, "declined an invitation: MATRIX_ALLOW names neither the room nor the person nor their server");
    let mut request = leave_room::v3::Request::new(id.to_owned());
    request.reason = Some(text!("invitation-declined").in_language(hub.language(id)));
    if let Err(error) = hub.client.send(request).await {
        tracing::warn!(room = %id, %error, "an invitation could not be declined");
        return;
    }
    // Otherwise it would be declined again at each start.
    let _ = room.forget().await;
}

async fn inviter(room: &Room) -> Option<OwnedUserId> {
    match room.invite_details().await {
        Ok(invite) => Some(invite.inviter_id),
        // Withdrawn meanwhile.
        Err(error) if room.state() != RoomState::Invited => {
            tracing::debug!(room = %room.room_id(), %error, "no invitation any more");
            None
        }
        Err(error) => {
            tracing::warn!(room = %room.room_id(), %error, "an invitation could not be read");
            None
        }
    }
}

pub(crate) async fn join(client: &Client, id: &RoomId, via: &[OwnedServerName]) {
    let mut pause = FIRST_PAUSE;
    for attempt in 1..=ATTEMPTS {
        // A room with an invitation, or a known one, is joined through its own servers.
        let joined = match client.get_room(id) {
            Some(room) if via.is_empty() => room.join().await,
            Some(_) | None => client
                .join_room_by_id_or_alias(id.into(), via)
                .await
                .map(drop),
        };
        let error = match joined {
            Ok(()) => {
                tracing::info!(room = %id, "joined");
                return;
            }
            Err(error) => error,
        };
        let rest = match of_sdk(&error) {
            RequestFailure::Limited(rest) => rest.unwrap_or(pause).max(pause),
            // Federation takes time, even if the first response is a refusal.
            RequestFailure::Away | RequestFailure::Refused => pause,
            RequestFailure::LoggedOut => return,
        };
        if attempt == ATTEMPTS {
            tracing::warn!(room = %id, %error, "could not join; the next start tries again");
            return;
        }
        tokio::time::sleep(rest).await;
        pause = (pause * 3).min(LONGEST_PAUSE);
    }
}

/// Whether nobody else is in the room, whatever it was created for.
pub(crate) async fn is_direct(hub: &MatrixHub, room: &Room) -> bool {
    let members = match room.active_members_count() {
        // Not every homeserver counts them.
        0 => count_members(hub, room).await,
        counted => counted,
    };
    match members {
        2 => true,
        // Not known yet, or the other person has left temporarily.
        0 | 1 => room.is_direct().await.unwrap_or(false),
        _ => false,
    }
}

/// Counts the members of a room by their list, which the SDK keeps; 0 if the homeserver does not
/// give it in time. The request goes on meanwhile: if it was dropped, the next one would begin anew.
async fn count_members(hub: &MatrixHub, room: &Room) -> u64 {
    let (id, now) = (room.room_id(), Instant::now());
    let until = if room.are_members_synced() {
        now + LIST_TIMEOUT
    } else {
        hub.member_lists.lock().wait_until(id, now)
    };
    if until <= now {
        return 0;
    }
    let listed = room.clone();
    let listing = async move { listed.members(RoomMemberships::ACTIVE).await };
    let members = timeout_at(until, tokio::spawn(listing.boxed())).await;
    let members = members.ok().and_then(Result::ok).and_then(Result::ok);
    let Some(members) = members else {
        return 0;
    };
    hub.member_lists.lock().came(id);
    members.len() as u64
}

/// Whether the bot is alone with somebody in a room, by its member list: invited people can read
/// it, too.
pub(crate) async fn are_alone(room: &Room, person: &UserId) -> bool {
    match room.members(RoomMemberships::ACTIVE).await {
        Ok(members) => {
            let is_there = |user: &UserId| members.iter().any(|it| it.user_id() == user);
            members.len() == 2 && is_there(person) && is_there(room.own_user_id())
        }
        Err(_) => false,
    }
}

/// Whether what is said in a room now is for this person alone. In a room that is not direct the
/// others may only be missing so far, and usually read what was said before they came.
pub(crate) async fn is_private_to(room: &Room, person: &UserId) -> bool {
    let hides_history = matches!(
        room.history_visibility_or_default(),
        HistoryVisibility::Invited | HistoryVisibility::Joined
    );
    are_alone(room, person).await && (hides_history || room.is_direct().await.unwrap_or(false))
}

/// Whether what a person says in a room stays between them and the bot. To be alone now is enough to
/// be answered without a mention, but not for this.
pub(crate) async fn is_said_alone(hub: &MatrixHub, room: &Room, person: &UserId) -> bool {
    is_direct(hub, room).await && is_private_to(room, person).await
}

/// Returns the bot's direct room with a person who asked in a room with others; creates one if
/// there is none. `None` if that fails, or if it is not encrypted although the room `asked_in` is.
pub(crate) async fn open_direct(client: &Client, asked_in: &Room, person: &UserId) -> Option<Room> {
    let known: Vec<Room> = client.get_dm_rooms(person).collect();
    let mut found = None;
    for room in known {
        // A direct room stays direct when its person leaves, or somebody else comes.
        if are_alone(&room, person).await {
            found = Some(room);
            break;
        }
    }
    let room = match found {
        Some(room) => room,
        None => match timeout(OPENING, client.create_dm(person)).await {
            Ok(Ok(room)) => room,
            Ok(Err(error)) => {
                tracing::warn!(%person, %error, "no direct room could be opened");
                return None;
            }
            Err(_) => return None,
        },
    };
    let is_open = is_encrypted(asked_in).await && !is_encrypted(&room).await;
    (!is_open).then_some(room)
}

/// Asks the homeserver if the state is unknown, as in a newly opened room.
async fn is_encrypted(room: &Room) -> bool {
    let state = room.latest_encryption_state().await;
    state.is_ok_and(|state| state.is_encrypted())
}

/// Whether the bot has written in a thread, as far as the homeserver tells.
pub(crate) async fn takes_part(room: &Room, thread: &OwnedEventId) -> bool {
    let options = RelationsOptions {
        limit: Some(uint!(100)),
        include_relations: IncludeRelations::RelationsOfType(RelationType::Thread),
        ..RelationsOptions::default()
    };
    let Ok(found) = room.relations(thread.clone(), options).await else {
        return false;
    };
    let mut events = found.chunk.iter();
    events.any(|event| {
        event
            .sender()
            .is_some_and(|sender| sender == room.own_user_id())
    })
}

pub(crate) async fn audience(hub: &MatrixHub, room: &Room) -> Audience {
    let id = room.room_id();
    let name = room.display_name().await;
    // Ids of newer rooms name no server.
    let server = id.server_name().unwrap_or(room.own_user_id().server_name());
    Audience {
        id: hub.audience_of(id),
        platform: NAME.to_owned(),
        workspace: server.to_string(),
        name: name.map_or_else(|_| id.to_string(), |name| name.to_string()),
        private_to: None,
    }
}

pub(crate) async fn author(room: &Room, person: &UserId) -> Author {
    let levels = room.power_levels_or_default().await;
    Author {
        id: format!("{NAME}/{person}"),
        name: name_of(room, person)
            .await
            .unwrap_or_else(|| person.localpart().to_owned()),
        is_admin: levels.user_can_redact_event_of_other(person),
        time_zone: None,
        language: None,
    }
}

/// Returns a person's display name in the room.
pub(crate) async fn name_of(room: &Room, person: &UserId) -> Option<String> {
    let member = room.get_member_no_sync(person).await.ok().flatten()?;
    member.display_name().map(str::to_owned)
}

/// Returns the URL of a message.
pub(crate) fn link(room: &RoomId, event: &matrix_sdk::ruma::EventId, via: &UserId) -> String {
    room.matrix_to_event_uri_via(event.to_owned(), [via.server_name().to_owned()])
        .to_string()
}
