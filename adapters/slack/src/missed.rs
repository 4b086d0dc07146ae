//! Reads messages from an outage, and delivers them as if Slack had just sent them.
//!
//! Slack repeats an event for some minutes only. A message has the same id either way, so messages
//! that Slack repeats too, or that were answered before, are recognised.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use muninn_platform::{
    Bounds, Cut, InboxClosed, Missed, ONE_CONNECTION, Page, PageOrder, ReadPages, RequestFailure,
    read_pages,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::background::weight;
use crate::errors::ApiError;
use crate::event::{Push, time_of};
use crate::history_limits::{leaves_rest_out, next_cursor};
use crate::hub::SlackHub;
use crate::ids::{PlaceInChannel, SlackPlace};
use crate::inbound::{MissedPush, SlackEventHandler};
use crate::name::NAME;
use crate::options::EventDelivery;
use crate::standing::ts_at;

/// Slack itself repeats the events of a gap that is shorter than this.
const MIN_GAP_DURATION: chrono::TimeDelta = chrono::TimeDelta::seconds(15);

/// Limits for one conversation. An app that may ask once per minute gets fifteen pages of fifteen
/// messages within them.
const OF_ONE: Bounds = Bounds {
    time: Duration::from_secs(900),
    ..Bounds::MISSED
};

/// How often what cannot be read is tried, and the pause in between.
const ATTEMPTS: usize = 3;
const PAUSE_BETWEEN_ATTEMPTS: Duration = Duration::from_secs(600);

/// The pause after these attempts where there is no connection that would be made again. It doubles:
/// each attempt reads everything again.
const PAUSE_WITHOUT_CONNECTION: Duration = Duration::from_secs(30 * 60);
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

/// Every kind of conversation that the bot may be in.
const KINDS: &str = "public_channel,private_channel,mpim,im";

impl SlackEventHandler {
    /// Called when Slack is connected (again): reads what was missed. Nothing waits for it.
    /// `is_first`: the process has just started.
    pub(crate) fn read_missed(&self, is_first: bool, shutdown: &CancellationToken) {
        let now = Utc::now();
        let seen = &self.hub.seen_until;
        match seen.get(ONE_CONNECTION) {
            // What was said before the very first start was not said to it.
            None => seen.record_seen(ONE_CONNECTION, now),
            Some(since) if is_first || now - since >= MIN_GAP_DURATION => {
                let Some(since) = seen.begin_reading_missed(ONE_CONNECTION, now) else {
                    return;
                };
                self.forget_unaccepted();
                let (inbound, shutdown) = (self.clone(), shutdown.clone());
                self.hub.chores.spawn(async move {
                    let reading = inbound.read_since(since);
                    let read = shutdown.run_until_cancelled(reading).await;
                    if let Some(Ok(true)) = read {
                        inbound
                            .hub
                            .seen_until
                            .finish_reading_missed(ONE_CONNECTION, now);
                    }
                });
            }
            Some(_) => {}
        }
    }

    /// Returns whether everything since then was read; if not, the next connection or process reads
    /// it.
    ///
    /// # Errors
    /// Fails when the bot is ending; then the next process reads it.
    async fn read_since(&self, since: DateTime<Utc>) -> Result<bool, InboxClosed> {
        let mut attempts = 0;
        loop {
            let extent = Extent::of_attempt(attempts, self.hub.options.read_every);
            if CatchUp::new(self, since, extent).run().await? {
                return Ok(true);
            }
            attempts += 1;
            let Some(pause) = pause_after(attempts, &self.hub.options.entrance) else {
                tracing::warn!(%since, "what was said meanwhile cannot be read now; it is read when Slack is connected again");
                return Ok(false);
            };
            tracing::warn!(%since, ?pause, "what was said meanwhile cannot be read now; it is tried again");
            tokio::time::sleep(pause).await;
        }
    }
}

/// Returns the pause after so many attempts in vain; `None` if the next connection reads it.
fn pause_after(attempts: usize, entrance: &EventDelivery) -> Option<Duration> {
    if attempts < ATTEMPTS {
        return Some(PAUSE_BETWEEN_ATTEMPTS);
    }
    match entrance {
        EventDelivery::Socket { .. } => None,
        EventDelivery::Http { .. } => {
            let doubled = u32::try_from(attempts - ATTEMPTS).unwrap_or(u32::MAX);
            let pause = PAUSE_WITHOUT_CONNECTION.saturating_mul(2_u32.saturating_pow(doubled));
            Some(pause.min(LONGEST_PAUSE))
        }
    }
}

/// How much of what was said meanwhile is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// Maximum number of earlier threads to check, those with the newest replies first.
    threads: usize,
    /// Maximum number of threads to check for edits and deletions, in all channels.
    pub(crate) changed_threads: usize,
    /// Pause before each request.
    pace: Duration,
}

impl Extent {
    /// After a time in which the bot was certainly not told. Slack lets an app make about 50 requests
    /// per minute.
    const OUTAGE: Self = Self {
        threads: 200,
        changed_threads: 300,
        pace: Duration::ZERO,
    };

    /// After so many attempts in vain: as much as in the first ones, but slowly, as nothing ends it
    /// where one conversation stays unreadable.
    fn of_attempt(attempts: usize, read_every: Duration) -> Self {
        Self {
            pace: if attempts < ATTEMPTS {
                Duration::ZERO
            } else {
                read_every
            },
            ..Self::OUTAGE
        }
    }

    /// After a pause in which there was perhaps nothing to tell, as each night: less, and slowly, so
    /// that answers find room within Slack's limits.
    pub(crate) fn after_pause(hub: &SlackHub) -> Self {
        Self {
            // An app that may ask once a minute needs that for threads with questions.
            threads: if hub.reading.is_little() { 0 } else { 50 },
            changed_threads: 50,
            pace: hub.options.read_every,
        }
    }
}

/// A read of missed messages.
pub(crate) struct CatchUp<'a> {
    pub(crate) inbound: &'a SlackEventHandler,
    pub(crate) since: String,
    /// Older messages are not answered.
    oldest: DateTime<Utc>,
    pub(crate) extent: Extent,
    read: usize,
    too_old: usize,
    /// Slack, or the graph, did not answer for something.
    pub(crate) is_incomplete: bool,
}

/// A conversation in Slack's list.
pub(crate) struct Listed {
    pub(crate) id: String,
    kind: &'static str,
    is_shared: bool,
}

impl Listed {
    pub(crate) fn read(channel: &Value) -> Option<Self> {
        let is = |name: &str| channel[name] == true;
        Some(Self {
            id: channel["id"].as_str()?.to_owned(),
            kind: if is("is_im") {
                "im"
            } else if is("is_mpim") {
                "mpim"
            } else if is("is_group") || is("is_private") {
                "group"
            } else {
                "channel"
            },
            is_shared: is("is_ext_shared"),
        })
    }

    /// Returns one of its messages as Slack would have sent it.
    pub(crate) fn push(&self, message: &Value) -> Option<Push> {
        self.to_push(message["ts"].as_str()?, message.clone())
    }

    /// Returns an event about its messages as Slack would have sent it. `name`: unique within the
    /// channel.
    pub(crate) fn to_push(&self, name: &str, mut event: Value) -> Option<Push> {
        event["type"] = json!("message");
        event["channel"] = json!(self.id);
        event["channel_type"] = json!(self.kind);
        Push::event(&json!({
            "type": "event_callback",
            "event_id": format!("missed.{}.{name}", self.id),
            "is_ext_shared_channel": self.is_shared,
            "event": event,
        }))
    }
}

impl<'a> CatchUp<'a> {
    pub(crate) fn new(
        inbound: &'a SlackEventHandler,
        since: DateTime<Utc>,
        extent: Extent,
    ) -> Self {
        let missed: &Missed = &inbound.hub.options.missed;
        Self {
            inbound,
            since: ts_at(since),
            oldest: missed.oldest(),
            extent,
            read: 0,
            too_old: 0,
            is_incomplete: false,
        }
    }

    /// Returns whether everything was read that Slack gives.
    ///
    /// # Errors
    /// Fails when the bot is ending; then the next process reads it.
    pub(crate) async fn run(mut self) -> Result<bool, InboxClosed> {
        let channels = self.channels().await;
        let threads = self.threads().await?;
        for channel in &channels {
            self.channel(channel, &threads).await?;
        }
        tracing::info!(since = %self.since, channels = channels.len(), read = self.read, "read what was said meanwhile");
        let changed = self.follow_changes(&channels).await?;
        tracing::info!(changed, "looked what became of what is kept");
        Missed::report_too_old(self.too_old);
        Ok(!self.is_incomplete)
    }

    /// Returns the conversations that the bot is a member of and that are not archived.
    async fn channels(&mut self) -> Vec<Listed> {
        let arguments = [
            ("types", KINDS),
            ("exclude_archived", "true"),
            ("limit", "200"),
        ];
        let order = PageOrder::OldestFirst;
        let listed = self.pages("users.conversations", "channels", order, &arguments);
        let ReadPages { items, cut } = listed.await;
        // Without the list nothing is known of any channel.
        self.is_incomplete |= cut.is_some_and(|cut| cut != Cut::TooMuch);
        items.iter().filter_map(Listed::read).collect()
    }

    /// Returns the earlier threads that the bot takes part in.
    async fn threads(&mut self) -> Result<Vec<SlackPlace>, InboxClosed> {
        if self.extent.threads == 0 {
            return Ok(Vec::new());
        }
        let SlackEventHandler { hub, inbox, .. } = self.inbound;
        let prefix = format!("{NAME}/{}/", hub.me.team);
        let asked = inbox.request_conversations(prefix, self.extent.threads);
        let Some(conversations) = asked.await? else {
            tracing::warn!("which threads there are is not known; only channels are read");
            self.is_incomplete = true;
            return Ok(Vec::new());
        };
        let places = conversations.iter();
        Ok(places
            .filter_map(|id| SlackPlace::parse(id.as_str()))
            .collect())
    }

    async fn channel(&mut self, channel: &Listed, known: &[SlackPlace]) -> Result<(), InboxClosed> {
        let arguments = [
            ("channel", channel.id.as_str()),
            ("oldest", self.since.as_str()),
            ("limit", "999"),
        ];
        let order = PageOrder::NewestFirst;
        let read = self.pages("conversations.history", "messages", order, &arguments);
        let ReadPages {
            items: mut said,
            cut,
        } = read.await;
        self.note(cut);
        said.reverse();
        let is_answered = |message: &&Value| {
            let latest = message["latest_reply"].as_str().unwrap_or_default();
            latest > self.since.as_str()
        };
        let roots = said.iter().filter(is_answered);
        let mut threads: BTreeSet<String> = roots
            .filter_map(|root| root["ts"].as_str().map(str::to_owned))
            .collect();
        let before = known.iter().filter(|place| place.channel == channel.id);
        threads.extend(before.filter_map(|place| match &place.within {
            PlaceInChannel::Thread(root) => Some(root.clone()),
            PlaceInChannel::Main | PlaceInChannel::Private(_) => None,
        }));
        for message in &said {
            self.take(channel, message).await?;
        }
        for root in threads {
            self.thread(channel, &root).await?;
        }
        Ok(())
    }

    async fn thread(&mut self, channel: &Listed, root: &str) -> Result<(), InboxClosed> {
        let arguments = [
            ("channel", channel.id.as_str()),
            ("ts", root),
            ("oldest", self.since.as_str()),
            ("limit", "1000"),
        ];
        let order = PageOrder::OldestFirst;
        let read = self.pages("conversations.replies", "messages", order, &arguments);
        let ReadPages { items: said, cut } = read.await;
        self.note(cut);
        for message in &said {
            let ts = message["ts"].as_str().unwrap_or_default();
            // The root is part of every page of its thread.
            if ts != root && ts > self.since.as_str() {
                self.take(channel, message).await?;
            }
        }
        Ok(())
    }

    pub(crate) fn note(&mut self, cut: Option<Cut>) {
        self.is_incomplete |= cut.is_some_and(Cut::is_temporary);
    }

    async fn take(&mut self, channel: &Listed, message: &Value) -> Result<(), InboxClosed> {
        self.read += 1;
        let Some(push) = channel.push(message) else {
            return Ok(());
        };
        let at = message["ts"].as_str().and_then(time_of);
        let is_old = at.is_some_and(|at| at < self.oldest);
        match self.inbound.take_missed(push, is_old).await? {
            MissedPush::Taken => {}
            MissedPush::TooOld => self.too_old += 1,
        }
        Ok(())
    }

    /// Returns all pages of a list, as far as Slack delivers them.
    pub(crate) async fn pages(
        &self,
        method: &'static str,
        list: &'static str,
        order: PageOrder,
        arguments: &[(&'static str, &str)],
    ) -> ReadPages<Value> {
        let api = &self.inbound.hub.api;
        let leaves_out = &AtomicBool::new(false);
        let mut read = read_pages(OF_ONE, order, weight, |cursor: Option<String>| async move {
            // A timer of no time takes a millisecond, too.
            if !self.extent.pace.is_zero() {
                tokio::time::sleep(self.extent.pace).await;
            }
            let mut arguments = arguments.to_vec();
            arguments.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let answer = match api.get(method, &arguments).await {
                // Deleted, with everything in it.
                Err(error) if error.is(&["thread_not_found"]) => Value::Null,
                answer => answer.map_err(|error| unread(&error, arguments.first()))?,
            };
            let items = answer[list].as_array().cloned().unwrap_or_default();
            let next = next_cursor(&answer);
            leaves_out.fetch_or(leaves_rest_out(&answer), Ordering::Relaxed);
            Ok(Page { items, next })
        })
        .await;
        if leaves_out.load(Ordering::Relaxed) {
            read.cut = read.cut.or(Some(Cut::TooMuch));
        }
        if let Some(cut) = read.cut {
            tracing::warn!(method, %cut, read = read.items.len(), "not all that was said meanwhile is read");
        }
        read
    }
}

/// A conversation that was archived meanwhile, or that the bot has left, is skipped.
fn unread(error: &ApiError, of: Option<&(&'static str, &str)>) -> RequestFailure {
    let of = of.map(|(_, value)| *value);
    tracing::info!(%error, of, "what was said meanwhile is not given");
    error.request_failure()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{SlackChannelKind, SlackEventKind};

    #[test]
    fn what_no_connection_will_read_is_tried_until_it_is_read() {
        let minutes = |minutes: u64| Some(Duration::from_secs(60 * minutes));
        let socket = EventDelivery::Socket {
            app_token: "xapp-1".into(),
        };
        let http = EventDelivery::Http {
            signing_secret: "s".into(),
            address: ([127, 0, 0, 1], 8080).into(),
        };
        for (attempts, by_socket, over_http) in [
            (1, minutes(10), minutes(10)),
            (2, minutes(10), minutes(10)),
            (3, None, minutes(30)),
            (4, None, minutes(60)),
            (8, None, minutes(16 * 60)),
            (9, None, minutes(24 * 60)),
            (100, None, minutes(24 * 60)),
        ] {
            assert_eq!(pause_after(attempts, &socket), by_socket, "{attempts}");
            assert_eq!(pause_after(attempts, &http), over_http, "{attempts}");
        }
    }

    #[test]
    fn what_stays_unreadable_is_read_again_slowly() {
        let every = Duration::from_secs(2);
        for (attempts, pace) in [
            (0, Duration::ZERO),
            (ATTEMPTS - 1, Duration::ZERO),
            (ATTEMPTS, every),
            (100, every),
        ] {
            let extent = Extent::of_attempt(attempts, every);
            assert_eq!(extent.pace, pace, "{attempts}");
            assert_eq!(extent.threads, Extent::OUTAGE.threads);
        }
    }

    #[test]
    fn a_listed_message_is_as_if_it_was_told() {
        for (channel, kind, is_direct) in [
            (json!({ "id": "C1", "is_channel": true }), "channel", false),
            (
                json!({ "id": "C1", "is_group": true, "is_private": true }),
                "group",
                false,
            ),
            (
                json!({ "id": "C1", "is_mpim": true, "is_private": true }),
                "mpim",
                false,
            ),
            (json!({ "id": "D1", "is_im": true }), "im", true),
        ] {
            let listed = Listed::read(&channel).unwrap();
            assert_eq!(listed.kind, kind);
            let message = json!({ "ts": "1.2", "user": "U1", "text": "hi" });
            let Some(Push::Event(event)) = listed.push(&message) else {
                panic!("no event");
            };
            let SlackEventKind::Message(message) = event.what else {
                panic!("no message");
            };
            assert_eq!((message.ts.as_str(), message.text.as_str()), ("1.2", "hi"));
            assert_eq!(message.kind == SlackChannelKind::Direct, is_direct);
        }
    }
}
