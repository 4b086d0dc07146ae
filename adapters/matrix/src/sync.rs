//! The sync loop: fetches events, delivers them to the bot, and stores the position.

mod asking;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use matrix_sdk::Room;
use matrix_sdk::deserialized_responses::TimelineEvent;
use matrix_sdk::ruma::{OwnedRoomId, RoomId, UserId};
use matrix_sdk::sync::{JoinedRoomUpdate, SyncResponse};
use muninn_platform::{Inbox, PlatformError, connect_at_start, end_tasks, misconfigured};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::announce::MatrixAnnouncer;
use crate::event::{MatrixEvent, MatrixEventKind, sent_by_age};
use crate::files::Folder;
use crate::history::MatrixHistory;
use crate::hub::MatrixHub;
use crate::inbound::MatrixEventHandler;
use crate::lineage::Replaced;
use crate::membership::MatrixMembership;
use crate::name::NAME;
use crate::options::MatrixOptions;
use crate::position::Position;
use crate::withdraw::MatrixWithdrawer;
use crate::{crypto, gap, login, rooms, sealed};
use crate::{lineage, upgrade};
use asking::{Keys, SyncStopReason, keys, read_back, read_by_sdk, sync_with_retries};

/// How long the homeserver holds a request open when there is nothing new.
const POLL: Duration = Duration::from_secs(30);

/// How often messages that wait for keys are checked.
const KEY_CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// How old a message may always be that arrives while the bot listens: other homeservers, and keys,
/// take their time, and clocks differ.
pub(crate) const LISTENING_AGE: Duration = Duration::from_secs(600);

/// How long a message in a room that takes the place of another waits until the homeserver says who
/// is in both. The messages of all other rooms wait with it, once per room.
const MEMBERS_TIMEOUT: Duration = Duration::from_secs(15);

/// Maximum time at the end for background tasks of replies that were given up.
const CHORES: Duration = Duration::from_secs(20);

/// Serves until it is told to end. Boxed like much else that awaits the SDK: its futures are large,
/// and the compiler examines all of one in each function that has to prove it `Send`. Behind a box
/// it does so once.
pub(crate) fn run<'a>(
    options: &'a MatrixOptions,
    inbox: Inbox,
    shutdown: &'a CancellationToken,
) -> BoxFuture<'a, Result<(), PlatformError>> {
    serve(options, inbox, shutdown).boxed()
}

async fn serve(
    options: &MatrixOptions,
    inbox: Inbox,
    shutdown: &CancellationToken,
) -> Result<(), PlatformError> {
    let begun = Instant::now();
    let opening = connect_at_start(NAME, || login::log_in(options).boxed());
    let Some(opened) = shutdown.run_until_cancelled(opening).await else {
        return Ok(());
    };
    let client = opened?;
    let me = client
        .user_id()
        .ok_or_else(|| misconfigured("the session is of nobody"))?
        .to_owned();
    options.allow.warn();
    let keys = keys(&client).await;
    let path = Folder::look(&options.folder).place();
    let position = Position::read(&path)
        .map_err(|error| misconfigured(format!("{} cannot be read: {error}", path.display())))?;
    let hub = MatrixHub::new(client, &me, options.clone(), &position);
    let inbound = MatrixEventHandler {
        hub: Arc::clone(&hub),
        inbox,
    };
    // Histories can be read while it is connected.
    let history = MatrixHistory::of(&inbound);
    options.histories.add(NAME, &history);
    let membership = MatrixMembership::of(&hub);
    options.memberships.add(NAME, &membership);
    let mut listener = Listener {
        hub,
        inbound,
        position,
        path,
        keys,
        deciding: HashMap::new(),
    };
    let ended = match listener.listen(begun, shutdown).await {
        Err(SyncStopReason::Lost(error)) => Err(error),
        // The bot ended first, or told the adapter to end.
        Ok(()) | Err(SyncStopReason::Closed) => Ok(()),
    };
    end_tasks(&listener.hub.chores, CHORES).await;
    ended
}

struct Listener {
    hub: Arc<MatrixHub>,
    inbound: MatrixEventHandler,
    position: Position,
    path: PathBuf,
    keys: Keys,
    /// Rooms that take the place of others, while the homeserver is asked whether their members are
    /// the same; `None` if it does not say.
    deciding: HashMap<OwnedRoomId, JoinHandle<Option<bool>>>,
}

impl Listener {
    async fn listen(
        &mut self,
        begun: Instant,
        shutdown: &CancellationToken,
    ) -> Result<(), SyncStopReason> {
        let ended = async {
            shutdown.cancelled().await;
            SyncStopReason::Closed
        };
        tokio::pin!(ended);
        let inbound = self.inbound.clone();
        tokio::select! {
            end = &mut ended => Err(end),
            end = self.go_on(begun) => end,
            closed = inbound.inbox.follow_left_over(NAME, &inbound) => Err(closed.into()),
            closed = inbound.follow_held_changes() => Err(closed.into()),
        }
    }

    async fn go_on(&mut self, begun: Instant) -> Result<(), SyncStopReason> {
        crypto::rotate_room_keys(&self.hub.client).await;
        let is_first = self.position.since.is_none();
        if is_first {
            self.begin().await?;
        } else {
            let inbound = &self.inbound;
            inbound.inbox.deliver_left_over(NAME, inbound).await?;
        }
        // Messages do not wait for withdrawals.
        let withdrawer = Arc::new(MatrixWithdrawer(Arc::clone(&self.hub)));
        let announcer = Arc::new(MatrixAnnouncer(Arc::clone(&self.hub)));
        let (inbox, chores) = (&self.inbound.inbox, &self.hub.chores);
        inbox.tell_connected_in(chores, NAME, withdrawer, announcer);
        // Missed events are available at once.
        let mut poll = Duration::ZERO;
        let mut is_late = !is_first;
        loop {
            self.catch_up(is_late).await?;
            let Some(response) = self.next(poll).await? else {
                continue;
            };
            let given_at = Utc::now();
            self.take(&response, is_late).await?;
            if poll.is_zero() {
                secure(&self.hub).await?;
            }
            self.position.since = Some(response.next_batch);
            self.position.since_at = Some(given_at);
            self.keep();
            if poll.is_zero() {
                rooms::sweep(&self.hub);
                for room in self.hub.client.joined_rooms() {
                    upgrade::follow(&self.hub, &room);
                }
                let rooms = self.hub.client.joined_rooms().len();
                tracing::info!(account = %self.hub.me, rooms, after = ?begun.elapsed(), "listening");
            }
            (poll, is_late) = (POLL, false);
        }
    }

    /// Runs the very first sync: earlier messages are not answered.
    async fn begin(&mut self) -> Result<(), SyncStopReason> {
        // Synapse repeats its response, minutes old, to an identical first request, so no two are
        // identical. It does not hold this one open, whatever the timeout.
        let poll = Duration::from_millis(u64::from(Utc::now().timestamp_subsec_millis()) + 1);
        let response = self.next(poll).await?;
        let given_at = Utc::now();
        secure(&self.hub).await?;
        self.position.since = match response {
            Some(response) => Some(response.next_batch),
            None => read_by_sdk(&self.hub.client).await,
        };
        self.position.since_at = Some(given_at);
        self.keep();
        let inbound = &self.inbound;
        inbound.inbox.deliver_left_over(NAME, inbound).await?;
        Ok(())
    }

    /// Reads missed events. The SDK stores its position before the events are processed, and
    /// returns none twice. Those that were not processed, because the process ended in between, are
    /// requested from the rooms. `is_missed`: an earlier process did not process them.
    async fn catch_up(&mut self, is_missed: bool) -> Result<(), SyncStopReason> {
        let mut read = read_by_sdk(&self.hub.client).await;
        if read.is_none() {
            // Without rooms in the store, all of them have to be requested.
            let asked = sync_with_retries(&self.hub, None, Duration::ZERO).await;
            asked.map_err(SyncStopReason::Lost)?;
            read = read_by_sdk(&self.hub.client).await;
        }
        let (Some(since), Some(until)) = (self.position.since.clone(), read) else {
            return Ok(());
        };
        if since == until {
            return Ok(());
        }
        tracing::info!("asking the rooms for what was not taken in before the end");
        for room in self.hub.client.left_rooms() {
            self.left(&room.room_id().to_owned());
        }
        let not_before = self.nothing_missing_before();
        for room in self.hub.client.joined_rooms() {
            let events = read_back(&self.hub, &room, &since, &until, not_before).await?;
            let oldest = self.oldest(is_missed);
            let age = EventAge::of_clock(oldest);
            self.take_events(&room, &events, true, age).await?;
        }
        self.position.since = Some(until);
        // At a start this is written with the first response, which follows at once. Until then the bot does not listen, and
        // nobody may take it for that.
        if !is_missed {
            self.keep();
        }
        Ok(())
    }

    /// Fetches new events, and meanwhile checks messages that wait for keys. `None` if the SDK has
    /// read more than it returns.
    async fn next(&mut self, poll: Duration) -> Result<Option<SyncResponse>, SyncStopReason> {
        let hub = Arc::clone(&self.hub);
        let since = self.position.since.clone();
        let asked = sync_with_retries(&hub, since.as_deref(), poll);
        tokio::pin!(asked);
        loop {
            let look = tokio::time::sleep(KEY_CHECK_INTERVAL);
            let sessions = tokio::select! {
                response = &mut asked => return response.map_err(SyncStopReason::Lost),
                Some(sessions) = self.keys.next() => sessions,
                () = look, if sealed::are_due(&self.position) || !self.deciding.is_empty() => Vec::new(),
            };
            self.take_decided().await;
            let before = self.position.sealed.clone();
            let oldest = self.oldest(false);
            sealed::retry_decryption(&self.inbound, &mut self.position, &sessions, oldest).await?;
            if before != self.position.sealed {
                self.keep();
            }
        }
    }

    async fn take(&mut self, response: &SyncResponse, is_late: bool) -> Result<(), SyncStopReason> {
        for id in response.rooms.invited.keys() {
            if let Some(room) = self.hub.client.get_room(id) {
                let hub = Arc::clone(&self.hub);
                tokio::spawn(async move { rooms::answer_invitation(&hub, &room).await });
            }
        }
        for id in response.rooms.left.keys() {
            self.left(id);
        }
        for (id, update) in &response.rooms.joined {
            self.take_room(id, update, is_late).await?;
        }
        Ok(())
    }

    fn left(&mut self, id: &OwnedRoomId) {
        self.position.sealed.retain(|sealed| sealed.room != *id);
        let Some(room) = self.hub.client.get_room(id) else {
            return;
        };
        tracing::info!(room = %id, "not in this room any more");
        tokio::spawn(async move {
            // Declined invitations appear here too, and are already forgotten.
            if let Err(error) = room.forget().await {
                tracing::debug!(room = %room.room_id(), %error, "not forgotten");
            }
        });
    }

    async fn take_room(
        &mut self,
        id: &OwnedRoomId,
        update: &JoinedRoomUpdate,
        is_late: bool,
    ) -> Result<(), SyncStopReason> {
        let Some(room) = self.hub.client.get_room(id) else {
            return Ok(());
        };
        let timeline = &update.timeline;
        let since = self.position.since.clone().filter(|_| timeline.limited);
        let not_before = self.nothing_missing_before();
        let mut events = match (since, &timeline.prev_batch) {
            (Some(since), Some(until)) => {
                read_back(&self.hub, &room, &since, until, not_before).await?
            }
            (_, None) | (None, Some(_)) => Vec::new(),
        };
        events.extend(timeline.events.iter().cloned());
        let listening_since = earlier(Utc::now(), LISTENING_AGE);
        let is_listening = (self.position.since_at).is_some_and(|at| at >= listening_since);
        let age = EventAge {
            oldest: self.oldest(is_late),
            // What was read back, or came while the homeserver could not be reached, may be of any age, whatever it says.
            is_told: is_listening && !is_late && !timeline.limited,
        };
        self.take_events(&room, &events, is_late, age).await?;
        upgrade::follow(&self.hub, &room);
        Ok(())
    }

    async fn take_events(
        &mut self,
        room: &Room,
        events: &[TimelineEvent],
        is_late: bool,
        age: EventAge,
    ) -> Result<(), SyncStopReason> {
        let id = room.room_id();
        let read = events
            .iter()
            .map(|event| MatrixEvent::read(event.raw().json().get()));
        let read: Vec<Option<MatrixEvent>> = read.collect();
        let before = gap::before_invitation(read.iter().map(Option::as_ref), &self.hub.me);
        let has_messages = has_messages(read.iter().skip(before).flatten(), &self.hub.me);
        self.take_place(room, has_messages).await;
        let mut skipped = 0;
        for (told, event) in events.iter().zip(&read).skip(before) {
            let Some(event) = event else { continue };
            let is_old = age.is_old(event, told);
            match &event.what {
                // Whatever its age, as otherwise the old words would stay remembered.
                MatrixEventKind::Edit { .. } if is_old => {
                    self.hub.record_event(id, event);
                    if !self.inbound.hold_edit(room, event, true).await {
                        self.inbound.deliver_old_edit(room, event.clone()).await?;
                    }
                }
                MatrixEventKind::Message(_) | MatrixEventKind::Undecryptable(_) if is_old => {
                    self.hub.record_event(id, event);
                    let is_heard = self
                        .inbound
                        .deliver_earlier_message(room, event.clone())
                        .await?;
                    skipped += usize::from(!is_heard);
                }
                MatrixEventKind::Undecryptable(seal) => self.put_aside(room, event, seal),
                MatrixEventKind::Message(_)
                | MatrixEventKind::Edit { .. }
                | MatrixEventKind::Redaction { .. }
                | MatrixEventKind::Reaction { .. }
                | MatrixEventKind::Membership { .. }
                | MatrixEventKind::Other => self.inbound.take(room, event, is_late).await?,
            }
        }
        if skipped > 0 {
            tracing::info!(room = %id, skipped, "messages older than MATRIX_CATCH_UP are not answered");
        }
        Ok(())
    }

    /// Checks whether a room replaced another. This is decided before its first messages are
    /// delivered, and stays so: otherwise what is said there would belong to two audiences.
    async fn take_place(&mut self, room: &Room, has_messages: bool) {
        let id = room.room_id();
        let asking = self.deciding.remove(id);
        if self.position.replaced.contains_key(id) {
            return;
        }
        let Some(before) = lineage::replaced_by(&self.hub.client, room) else {
            return;
        };
        let asking = asking.unwrap_or_else(|| {
            let (hub, before, room) = (Arc::clone(&self.hub), before.clone(), room.clone());
            let asking = async move { upgrade::keeps_memory(&hub, &before, &room).await };
            tokio::spawn(asking.boxed())
        });
        let Some(keeps_memory) = self.keeps_memory(id, asking, has_messages).await else {
            return;
        };
        tracing::info!(room = %id, before = %before.room_id(), keeps_memory, "this room takes the place of another");
        let replaced = Replaced {
            room: before.room_id().to_owned(),
            keeps_memory,
        };
        self.position
            .replaced
            .insert(id.to_owned(), replaced.clone());
        self.hub.record_replacement(id.to_owned(), replaced);
        self.keep();
        if !keeps_memory {
            let (hub, room) = (Arc::clone(&self.hub), room.clone());
            tokio::spawn(async move { upgrade::say_without_memory(&hub, &room).await });
        }
    }

    /// Whether a room keeps the memory of the room before it. `None` while the homeserver does not
    /// say who is in both and there are no messages, which have to be delivered to an audience. All
    /// rooms wait for this, so the homeserver is asked in the background.
    async fn keeps_memory(
        &mut self,
        id: &RoomId,
        mut asking: JoinHandle<Option<bool>>,
        has_messages: bool,
    ) -> Option<bool> {
        if !has_messages && !asking.is_finished() {
            self.deciding.insert(id.to_owned(), asking);
            return None;
        }
        let told = tokio::time::timeout(MEMBERS_TIMEOUT, &mut asking).await;
        asking.abort();
        match told.ok().and_then(Result::ok).flatten() {
            None if has_messages => {
                tracing::warn!(room = %id, "the members of a room that takes the place of another are not told in time; it does not keep the memory");
                Some(false)
            }
            told => told,
        }
    }

    /// Decides about the rooms whose members are told by now.
    async fn take_decided(&mut self) {
        let told = self.deciding.iter();
        let told = told.filter(|(_, asking)| asking.is_finished());
        let told: Vec<OwnedRoomId> = told.map(|(id, _)| id.clone()).collect();
        for id in told {
            match self.hub.client.get_room(&id) {
                Some(room) => self.take_place(&room, false).await,
                None => drop(self.deciding.remove(&id)),
            }
        }
    }

    fn put_aside(&mut self, room: &Room, event: &MatrixEvent, seal: &crate::event::Sealed) {
        let is_served = self.hub.serves(&event.sender, room.room_id());
        if is_served && event.sender != self.hub.me {
            sealed::put_aside(&mut self.position, room, event, seal);
        }
    }

    /// Returns the time before which messages are not answered. `is_missed`: they were sent while
    /// the bot did not listen.
    fn oldest(&self, is_missed: bool) -> DateTime<Utc> {
        let set = self.hub.options.catch_up;
        let most = if is_missed {
            set
        } else {
            set.max(LISTENING_AGE)
        };
        earlier(Utc::now(), most)
    }

    /// Returns the time before which no message is missing: what was sent so long before the
    /// position was given was in an earlier sync, or would not be answered at any rate.
    fn nothing_missing_before(&self) -> DateTime<Utc> {
        let most = self.hub.options.catch_up.max(LISTENING_AGE);
        let since_at = self.position.since_at;
        since_at.map_or(DateTime::UNIX_EPOCH, |since_at| earlier(since_at, most))
    }

    fn keep(&mut self) {
        self.position.edits = self.hub.edits();
        self.position.held = self.hub.held_changes();
        // At worst events are read twice, which the bot recognises by their ids.
        if let Err(error) = self.position.write(&self.path) {
            tracing::error!(%error, path = %self.path.display(), "how far was read could not be kept");
        }
    }
}

/// How old an event may be that is answered.
#[derive(Clone, Copy)]
struct EventAge {
    oldest: DateTime<Utc>,
    /// The homeserver's word about an age counts, too: the events came just now, and the clock of the sender's homeserver may be
    /// slow.
    is_told: bool,
}

impl EventAge {
    /// By the clock of the sender's homeserver alone.
    fn of_clock(oldest: DateTime<Utc>) -> Self {
        Self {
            oldest,
            is_told: false,
        }
    }

    fn is_old(self, event: &MatrixEvent, told: &TimelineEvent) -> bool {
        if event.sent_at >= self.oldest {
            return false;
        }
        let by_age = || sent_by_age(told.raw().json().get(), Utc::now());
        !(self.is_told && by_age().is_some_and(|sent_at| sent_at >= self.oldest))
    }
}

fn earlier(time: DateTime<Utc>, by: Duration) -> DateTime<Utc> {
    let by = chrono::Duration::from_std(by).ok();
    by.and_then(|by| time.checked_sub_signed(by))
        .unwrap_or(DateTime::UNIX_EPOCH)
}

/// Whether anything of others is to be delivered, now or when its key arrives.
fn has_messages<'a>(mut events: impl Iterator<Item = &'a MatrixEvent>, me: &UserId) -> bool {
    events.any(|event| {
        let is_message = match &event.what {
            MatrixEventKind::Message(_)
            | MatrixEventKind::Edit { .. }
            | MatrixEventKind::Undecryptable(_) => true,
            MatrixEventKind::Redaction { .. }
            | MatrixEventKind::Reaction { .. }
            | MatrixEventKind::Membership { .. }
            | MatrixEventKind::Other => false,
        };
        is_message && event.sender != me
    })
}

async fn secure(hub: &MatrixHub) -> Result<(), SyncStopReason> {
    crypto::set_up(&hub.client, &hub.options)
        .await
        .map_err(SyncStopReason::Lost)
}

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::user_id;

    use super::*;

    #[test]
    fn a_slow_clock_makes_no_message_old_that_came_just_now() {
        let oldest = Utc::now() - chrono::Duration::hours(1);
        for (sent_ago, age, is_told, expected) in [
            (0, None, false, false),
            (2, None, true, true),
            (2, Some(0), true, false),
            // It was read back, or another homeserver sent it late.
            (2, Some(0), false, true),
            (2, Some(7_200_000), true, true),
        ] {
            let sent_at = Utc::now() - chrono::Duration::hours(sent_ago);
            let told = serde_json::json!({
                "type": "m.room.message", "event_id": "$e", "sender": "@ann:b",
                "origin_server_ts": sent_at.timestamp_millis(),
                "content": { "msgtype": "m.text", "body": "moin" },
                "unsigned": { "age": age },
            })
            .to_string();
            let event = MatrixEvent::read(&told).unwrap();
            let told = TimelineEvent::from_plaintext(serde_json::from_str(&told).unwrap());
            let allowed = EventAge { oldest, is_told };
            assert_eq!(
                allowed.is_old(&event, &told),
                expected,
                "{sent_ago} {age:?} {is_told}"
            );
        }
    }

    #[test]
    fn an_upgraded_room_waits_for_its_members_only_with_messages_of_others() {
        let event = |sender: &str, what: &MatrixEventKind| MatrixEvent {
            id: "$e".try_into().unwrap(),
            sender: sender.try_into().unwrap(),
            sent_at: DateTime::UNIX_EPOCH,
            what: what.clone(),
        };
        let sealed = MatrixEventKind::Undecryptable(crate::event::Sealed {
            session: None,
            relates: crate::event::Relates::default(),
        });
        let joined = MatrixEventKind::Membership {
            of: "@ann:b".try_into().unwrap(),
            now: "join".to_owned(),
            before: None,
        };
        for (sender, what, expected) in [
            ("@ann:b", &sealed, true),
            ("@me:b", &sealed, false),
            ("@ann:b", &joined, false),
            ("@ann:b", &MatrixEventKind::Other, false),
        ] {
            let events = [event(sender, what)];
            let found = has_messages(events.iter(), user_id!("@me:b"));
            assert_eq!(found, expected, "{events:?}");
        }
    }
}
