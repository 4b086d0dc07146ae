//! Delivers events to the bot.

mod actor;
mod asked;
mod assisted;
mod gone;
mod left_over;
mod mentioned;
mod message;
mod unaccepted;
mod written;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use muninn_platform::{
    Addressed, AnswerMode, IgnoreReason, Inbox, InboxClosed, Incoming, KeyedQueue, ONE_CONNECTION,
    join_task,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::allow::Speaker;
use crate::announce::SlackAnnouncer;
use crate::event::{Interaction, Push, SlackChannelKind, SlackEvent, SlackEventKind, Slash};
use crate::hub::SlackHub;
use crate::ids::{self, SlackPlace};
use crate::intent::{EventIntent, SlackEventContext, intent};
use crate::lines::queue_key;
use crate::name::NAME;
use crate::withdraw::SlackWithdrawer;
use mentioned::ArrivedMessages;
use unaccepted::UnacceptedEvents;

/// How long an event may take until the bot has it. Slack waits three seconds before it sends an
/// event again; without an acknowledgement it does so.
const ACCEPTANCE: Duration = Duration::from_secs(2);

/// Maximum number of events in flight; more are refused, and Slack sends them again.
const MAX_EVENTS_IN_FLIGHT: usize = 1_024;

/// The result of taking an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventOutcome {
    /// The bot has it, or it is irrelevant.
    Yes,
    /// Not now: Slack has to send it again.
    No,
}

/// The result of a missed event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissedPush {
    Taken,
    /// Too old to be answered.
    TooOld,
}

/// Pause between attempts while too many events arrive.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// Delivers events of the workspace to the bot.
#[derive(Clone)]
pub(crate) struct SlackEventHandler {
    pub(crate) hub: Arc<SlackHub>,
    pub(crate) inbox: Inbox,
    queue: Arc<KeyedQueue<String>>,
    unaccepted: Arc<UnacceptedEvents>,
    arrived: Arc<ArrivedMessages>,
}

/// A relevant event.
enum RelevantEvent {
    Event(Box<(SlackEvent, EventIntent)>),
    Slash(Slash),
    Interaction(Interaction),
}

impl RelevantEvent {
    /// Whether somebody waits for an answer.
    fn is_asked(&self) -> bool {
        let Self::Event(event) = self else {
            return false;
        };
        matches!(&event.1, EventIntent::Said(heard) if heard.addressed != Addressed::Overheard)
    }
}

/// Returns the id of what Slack sends again while the bot does not have it.
fn repeated_event(push: &Push) -> Option<String> {
    match push {
        Push::Event(event) => Some(event.id.clone()),
        Push::Slash(_) | Push::Interaction(_) | Push::RateLimited(_) | Push::Other => None,
    }
}

impl SlackEventHandler {
    pub(crate) fn new(hub: Arc<SlackHub>, inbox: Inbox) -> Self {
        Self {
            hub,
            inbox,
            queue: KeyedQueue::new(MAX_EVENTS_IN_FLIGHT),
            unaccepted: Arc::default(),
            arrived: Arc::default(),
        }
    }

    /// Takes an event. It enters the queue of its conversation at once, which keeps the order for
    /// any caller; the rest happens when the result is awaited, within Slack's time limit.
    /// `is_late`: Slack has sent it before.
    pub(crate) fn take(
        &self,
        push: Push,
        is_late: bool,
    ) -> impl Future<Output = EventOutcome> + Send + use<> {
        let line = queue_key(&push);
        let repeated = repeated_event(&push);
        let work = self.sift(push);
        if let Some(event) = &repeated {
            match &work {
                Some(_) => self.unaccepted.arrive(event, Utc::now()),
                // Perhaps not any more: a channel may have been set to be ignored meanwhile.
                None => self.unaccepted.accept(event),
            }
        }
        let panicking = (Arc::clone(&self.unaccepted), repeated.clone());
        let task = work.map(|work| {
            let inbound = self.clone();
            // Continues after the time limit, so that a repetition by Slack finds it done.
            let telling = async move {
                inbound.tell(work, is_late).await?;
                if let Some(event) = &repeated {
                    inbound.unaccepted.accept(event);
                }
                Ok(())
            };
            self.queue.spawn(line, &self.hub.chores, telling)
        });
        async move {
            match task {
                None => EventOutcome::Yes,
                Some(Some(task)) => {
                    // To read it later would be another panic, which ends the reading.
                    let panicked = || {
                        if let (unaccepted, Some(event)) = &panicking {
                            unaccepted.accept(event);
                        }
                    };
                    in_time(task, panicked).await
                }
                Some(None) => {
                    tracing::warn!(
                        most = MAX_EVENTS_IN_FLIGHT,
                        "too much comes in; Slack is to send it again"
                    );
                    EventOutcome::No
                }
            }
        }
    }

    /// Records that Slack sent everything until then.
    pub(crate) fn record_seen(&self, until: DateTime<Utc>) {
        let until = self.unaccepted.seen_until(until);
        self.hub.seen_until.record_seen(ONE_CONNECTION, until);
    }

    /// Returns since when Slack sent events that the bot does not have, and that it does not send
    /// again any more. They are to be read.
    pub(crate) fn take_unrepeated(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.unaccepted.take_unrepeated(now)
    }

    /// From now on everything that Slack sent until now is read.
    pub(crate) fn forget_unaccepted(&self) {
        self.unaccepted.clear();
    }

    /// Takes a missed event, in one queue with current events; waits until the bot has it.
    /// `is_old`: nobody waits for an answer any more.
    ///
    /// # Errors
    /// Fails when the bot is ending.
    pub(crate) async fn take_missed(
        &self,
        push: Push,
        is_old: bool,
    ) -> Result<MissedPush, InboxClosed> {
        let line = queue_key(&push);
        loop {
            let Some(work) = self.sift(push.clone()) else {
                return Ok(MissedPush::Taken);
            };
            if is_old && work.is_asked() {
                return Ok(MissedPush::TooOld);
            }
            let inbound = self.clone();
            let telling = async move { inbound.tell(work, true).await };
            match self.queue.spawn(line.clone(), &self.hub.chores, telling) {
                Some(task) => return join_task(task).await.map(|()| MissedPush::Taken),
                // It ends with the process at the latest.
                None => tokio::time::sleep(RETRY_DELAY).await,
            }
        }
    }

    /// Tells the bot that Slack is connected, so that withdrawals are possible. Nothing waits for
    /// it.
    pub(crate) fn tell_connected(&self) {
        let withdrawer = Arc::new(SlackWithdrawer(Arc::clone(&self.hub)));
        let announcer = Arc::new(SlackAnnouncer(Arc::clone(&self.hub)));
        let chores = &self.hub.chores;
        self.inbox
            .tell_connected_in(chores, NAME, withdrawer, announcer);
    }

    /// Returns the work to do; `None` for most messages of a workspace, which then wait for
    /// nothing.
    fn sift(&self, push: Push) -> Option<RelevantEvent> {
        match push {
            Push::Event(event) => {
                let intent = intent(&event.what, &self.facts(&event));
                self.note_arrival(&event.what, &intent);
                match &intent {
                    EventIntent::Nothing(why) => {
                        self.note_silence(&event.what, *why);
                        None
                    }
                    EventIntent::Uninstalled => {
                        tracing::warn!("the app was taken out of the workspace; install it again");
                        None
                    }
                    EventIntent::Said(_)
                    | EventIntent::Edited(_)
                    | EventIntent::Deleted { .. }
                    | EventIntent::Stop(_)
                    | EventIntent::Gone { .. }
                    | EventIntent::Home { .. }
                    | EventIntent::Begun { .. } => {
                        Some(RelevantEvent::Event(Box::new((event, intent))))
                    }
                }
            }
            Push::Slash(given) => Some(RelevantEvent::Slash(given)),
            Push::Interaction(done) => Some(RelevantEvent::Interaction(done)),
            Push::RateLimited(minute) => {
                tracing::warn!(%minute, "Slack drops events of this minute: it sends an app 30,000 an hour at most");
                None
            }
            Push::Other => None,
        }
    }

    async fn tell(&self, work: RelevantEvent, is_late: bool) -> Result<(), InboxClosed> {
        match work {
            RelevantEvent::Event(event) => {
                let (event, intent) = *event;
                self.event(event, intent, is_late).await
            }
            RelevantEvent::Slash(given) => self.slash(&given).await,
            RelevantEvent::Interaction(done) => self.interaction(&done).await,
        }
    }

    async fn event(
        &self,
        event: SlackEvent,
        intent: EventIntent,
        is_late: bool,
    ) -> Result<(), InboxClosed> {
        let own_id = ids::other_event(&self.hub.me.team, &event.id);
        match (intent, event.what) {
            (EventIntent::Said(heard), SlackEventKind::Message(message)) => {
                self.deliver_message(&message, heard, is_late).await
            }
            (EventIntent::Edited(edited), SlackEventKind::Changed { now, at, .. }) => {
                self.deliver_edit(own_id, &now, at, edited, is_late).await
            }
            (EventIntent::Deleted { of, place }, SlackEventKind::Deleted { user, .. }) => {
                let user = user.unwrap_or_else(|| self.hub.me.user.clone());
                self.deliver_deletion(own_id, &user, &of, place).await
            }
            (EventIntent::Gone { channel }, _) => self.deliver_gone(own_id, &channel).await,
            (EventIntent::Stop(place), _) => self.stop(&place).await,
            (EventIntent::Home { user, direct }, _) => self.home(own_id, &user, &direct).await,
            (
                EventIntent::Begun {
                    place,
                    looks_at,
                    is_new,
                },
                SlackEventKind::Assistant { user, .. },
            ) => {
                self.set_up_assistant_thread(&place, &user, looks_at, is_new);
                Ok(())
            }
            (EventIntent::Nothing(_) | EventIntent::Uninstalled, _) => Ok(()),
            // Each intent belongs to one kind of event only.
            (
                EventIntent::Said(_)
                | EventIntent::Edited(_)
                | EventIntent::Deleted { .. }
                | EventIntent::Begun { .. },
                _,
            ) => Ok(()),
        }
    }

    async fn stop(&self, place: &SlackPlace) -> Result<(), InboxClosed> {
        let conversation = place.conversation(&self.hub.me.team);
        self.inbox.deliver(Incoming::Stop(conversation)).await
    }

    pub(crate) fn facts(&self, event: &SlackEvent) -> SlackEventContext {
        let hub = &self.hub;
        let (user, team, channel, kind) = match &event.what {
            SlackEventKind::Message(message) | SlackEventKind::Changed { now: message, .. } => (
                message.user.as_deref(),
                message.team.as_deref(),
                message.channel.as_str(),
                message.kind,
            ),
            SlackEventKind::Deleted { channel, kind, .. } => (None, None, channel.as_str(), *kind),
            SlackEventKind::Home { user, channel, .. }
            | SlackEventKind::Assistant { user, channel, .. } => (
                Some(user.as_str()),
                None,
                channel.as_str(),
                SlackChannelKind::Direct,
            ),
            // Whoever sees the button is in the channel.
            SlackEventKind::Stopped { channel, .. } | SlackEventKind::Gone { channel } => {
                (None, None, channel.as_str(), SlackChannelKind::Channel)
            }
            SlackEventKind::Uninstalled | SlackEventKind::Other => {
                (None, None, "", SlackChannelKind::Channel)
            }
        };
        let speaker = Speaker {
            workspace: team.unwrap_or(&hub.me.team),
            user: user.unwrap_or_default(),
            channel,
            is_shared: event.is_shared,
        };
        let is_anybodys = matches!(
            event.what,
            SlackEventKind::Stopped { .. } | SlackEventKind::Uninstalled
        );
        SlackEventContext {
            me: hub.me.user.clone(),
            is_allowed: is_anybodys || speaker.is_let_in(&hub.options.allow),
            mode: self.mode(channel, kind),
            is_heard: self.inbox.hears(&ids::audience(&hub.me.team, channel)),
            direct_threads: hub.options.direct_threads,
        }
    }

    /// Records that a message arrived for which its mention event waits.
    fn note_arrival(&self, what: &SlackEventKind, intent: &EventIntent) {
        if let (SlackEventKind::Message(message), EventIntent::Said(heard)) = (what, intent)
            && !message.is_mention
        {
            let team = &self.hub.me.team;
            let event = ids::message_event(team, &message.channel, &message.ts);
            self.arrived.arrive(event, heard.addressed);
        }
    }

    fn note_silence(&self, what: &SlackEventKind, why: IgnoreReason) {
        if let SlackEventKind::Message(message) = what
            && why.is_worth_telling()
        {
            let user = message.user.as_deref().unwrap_or_default();
            let allow = &self.hub.options.allow;
            allow.note_not_answered(&message.channel, user);
        }
    }

    fn mode(&self, channel: &str, kind: SlackChannelKind) -> AnswerMode {
        let options = &self.hub.options;
        let audience = ids::audience(&self.hub.me.team, channel);
        let set = options.channels.answer_mode(&audience);
        set.unwrap_or(match kind {
            SlackChannelKind::Channel => options.answer,
            SlackChannelKind::Direct => AnswerMode::Always,
        })
    }
}

async fn in_time(
    task: JoinHandle<Result<(), InboxClosed>>,
    panicked: impl FnOnce(),
) -> EventOutcome {
    match timeout(ACCEPTANCE, task).await {
        Ok(Ok(Ok(()))) => EventOutcome::Yes,
        Ok(Ok(Err(InboxClosed))) => EventOutcome::No,
        Ok(Err(error)) => {
            tracing::error!(%error, "a push could not be taken in");
            if error.is_panic() {
                panicked();
            }
            EventOutcome::No
        }
        Err(_) => {
            tracing::warn!("the bot is busy; Slack is to send it again");
            EventOutcome::No
        }
    }
}

#[cfg(test)]
mod tests {
    use loopback_slack::{BOT_USER, Chat};
    use muninn_platform::Arrivals;
    use serde_json::json;

    use super::*;
    use crate::testing::opened;

    fn asked(id: &str, chat: &Chat, user: &str) -> Push {
        let event = json!({ "type": "message", "user": user, "channel": chat.channel_id(), "ts": "1.0",
            "text": format!("<@{BOT_USER}> when?") });
        let told = json!({ "type": "event_callback", "event_id": id, "event": event });
        Push::event(&told).unwrap()
    }

    fn handler(hub: Arc<SlackHub>, most: usize) -> (SlackEventHandler, Arrivals) {
        let (inbox, arrivals) = Inbox::new(1);
        let mut handler = SlackEventHandler::new(hub, inbox);
        handler.queue = KeyedQueue::new(most);
        (handler, arrivals)
    }

    /// Returns whether all was seen until `now`.
    fn is_seen(handler: &SlackEventHandler, now: DateTime<Utc>) -> bool {
        handler.record_seen(now);
        handler.hub.seen_until.get(ONE_CONNECTION) == Some(now)
    }

    #[tokio::test]
    async fn what_the_bot_does_not_have_counts_as_unseen_until_it_has_it() {
        let (slack, hub) = opened().await;
        let ann = slack.person("Ann");
        let general = ann.in_channel(&slack.channel("general"));
        let (handler, mut arrivals) = handler(hub, 1);
        let before = Utc::now();
        let taken = handler.take(asked("Ev1", &general, ann.id()), false);
        // There is no place for another one, which Slack sends again.
        let refused = handler.take(asked("Ev2", &general, ann.id()), false).await;
        assert_eq!(refused, EventOutcome::No);
        assert!(is_seen(&handler, before));
        assert!(!is_seen(&handler, Utc::now()));
        let arrival = async { arrivals.recv().await.unwrap().into_parts().1.ack() };
        assert_eq!(tokio::join!(taken, arrival).0, EventOutcome::Yes);
        assert!(!is_seen(&handler, Utc::now()));
        assert_eq!(
            handler.take(asked("Ev2", &general, ann.id()), true).await,
            EventOutcome::Yes
        );
        assert!(is_seen(&handler, Utc::now()));
    }

    #[tokio::test]
    async fn what_does_not_concern_the_bot_any_more_counts_as_seen() {
        let (slack, hub) = opened().await;
        let ann = slack.person("Ann");
        let general = ann.in_channel(&slack.channel("general"));
        let (handler, mut arrivals) = handler(hub, 1);
        let taken = handler.take(asked("Ev1", &general, ann.id()), false);
        let refused = handler.take(asked("Ev2", &general, ann.id()), false).await;
        assert_eq!(refused, EventOutcome::No);
        let arrival = async { arrivals.recv().await.unwrap().into_parts().1.ack() };
        assert_eq!(tokio::join!(taken, arrival).0, EventOutcome::Yes);
        assert!(!is_seen(&handler, Utc::now()));
        let told = json!({ "type": "event_callback", "event_id": "Ev2", "event": { "type": "new_thing" } });
        let again = handler.take(Push::event(&told).unwrap(), true);
        assert_eq!(again.await, EventOutcome::Yes);
        assert!(is_seen(&handler, Utc::now()));
    }
}
