//! Posts digests of a channel – what was decided, answered and left open – on the channel's schedule.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{
    Announce, Announced, Audience, AudienceId, Author, Backoff, Body, Channels, Command,
    ConversationId, Delivered, DigestSchedule, EventId, IncomingMessage, SafeText, TextLimit,
    TimeZone,
};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::conversation::catch_up::{CatchUp, WrittenSummary};
use crate::conversation::hearing::HearingRules;
use crate::conversation::withdrawals::Withdrawals;
use crate::graph::answers::DeliveredAnswer;
use crate::graph::{GraphStore, StoreError};
use crate::memory::Archive;

/// How often to check whether a digest is due.
const POLL_INTERVAL: Duration = Duration::from_secs(20);
/// Maximum length of one message of a digest: Slack accepts 12,000 characters of Markdown.
const LONGEST: TextLimit = TextLimit::Chars(11_000);
/// A digest that is later than this is skipped: nobody wants Monday's digest on Tuesday. The next one tells it.
const TOO_LATE: TimeDelta = TimeDelta::hours(12);
/// Maximum number of periods of the schedule that one digest covers, after earlier ones could not be posted.
const MOST_PERIODS: usize = 5;

/// Longest pause after a digest could not be posted: writing one costs several model calls.
const LONGEST_REST: Duration = Duration::from_secs(3_600);

/// How long a digest that is being posted or given back may hold up the shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// Posts digests.
#[derive(Debug)]
pub struct Digests {
    archive: Arc<Archive>,
    withdrawals: Arc<Withdrawals>,
    channels: Arc<Channels>,
    /// The time zone of channels that set none.
    zone: TimeZone,
    hearing: Arc<HearingRules>,
    /// Notified when a platform becomes reachable.
    connected: Notify,
    /// Channels in which posting failed recently.
    resting: Mutex<HashMap<AudienceId, Rest>>,
}

/// When posting is tried again.
#[derive(Debug)]
struct Rest {
    backoff: Backoff,
    until: Instant,
}

/// A digest whose time has come.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Due {
    audience: AudienceId,
    /// Start of the period that it covers if the digest before it was posted.
    from: DateTime<Utc>,
    /// It never covers anything before this time.
    earliest: DateTime<Utc>,
    /// End of the period, which is the time when it is due.
    at: DateTime<Utc>,
    zone: TimeZone,
}

impl Due {
    /// `None` if it is overdue by more than [`TOO_LATE`].
    fn of(
        audience: AudienceId,
        schedule: &DigestSchedule,
        now: DateTime<Utc>,
        zone: TimeZone,
    ) -> Option<Self> {
        let at = schedule.last(now, zone);
        let before = |at, _| schedule.before(at, zone);
        (now - at < TOO_LATE).then(|| Self {
            audience,
            from: schedule.before(at, zone),
            earliest: (0..MOST_PERIODS).fold(at, before),
            at,
            zone,
        })
    }

    /// A question without an author, so that its cost is the channel's.
    fn message(&self) -> Option<IncomingMessage> {
        let mut parts = self.audience.as_str().split('/');
        let (platform, workspace) = (parts.next()?, parts.next()?);
        let audience = Audience {
            id: self.audience.clone(),
            platform: platform.to_owned(),
            workspace: workspace.to_owned(),
            name: String::new(),
            private_to: None,
        };
        let author = Author {
            id: format!("{platform}/digest"),
            name: "a colleague".to_owned(),
            is_admin: false,
            time_zone: Some(self.zone),
            language: None,
        };
        let event = format!(
            "digest/{}/{}",
            self.audience,
            self.at.format("%Y%m%dT%H%MZ")
        );
        Some(IncomingMessage::new(
            EventId::new(event),
            ConversationId::new(self.audience.as_str()),
            audience,
            author,
            Body::Command(Command::CatchUp(None)),
        ))
    }
}

/// What became of a claimed digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DigestOutcome {
    /// It was posted, or there was nothing to tell.
    Told,
    /// Nobody was told, and trying again is of no use: the next digest tells it.
    Skipped,
    /// It is tried again.
    NotYet,
}

impl Digests {
    pub fn new(
        archive: Arc<Archive>,
        withdrawals: Arc<Withdrawals>,
        channels: Arc<Channels>,
        hearing: Arc<HearingRules>,
        zone: TimeZone,
    ) -> Self {
        Self {
            archive,
            withdrawals,
            channels,
            zone,
            hearing,
            connected: Notify::new(),
            resting: Mutex::default(),
        }
    }

    fn store(&self) -> &GraphStore {
        self.archive.store()
    }

    /// To be called when a platform becomes reachable.
    pub fn notify_connected(&self) {
        self.connected.notify_one();
    }

    /// Posts each digest when it is due, until `done`.
    pub async fn run(&self, catch_up: &CatchUp, done: CancellationToken) {
        loop {
            tokio::select! {
                () = done.cancelled() => return,
                () = self.connected.notified() => self.resting.lock().clear(),
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
            for due in self.due(Utc::now()) {
                if done.is_cancelled() {
                    return;
                }
                if self.is_backing_off(&due.audience) {
                    continue;
                }
                tokio::select! {
                    () = end_of_grace(&done) => return,
                    () = self.post_once(catch_up, &due, &done) => {}
                }
            }
        }
    }

    fn due(&self, now: DateTime<Utc>) -> Vec<Due> {
        let digests = self.channels.digests().into_iter();
        let due = digests.filter_map(|(audience, schedule)| {
            let zone = self.channels.of(&audience).and_then(|it| it.time_zone);
            Due::of(audience, &schedule, now, zone.unwrap_or(self.zone))
        });
        due.collect()
    }

    fn is_backing_off(&self, audience: &AudienceId) -> bool {
        let resting = self.resting.lock();
        let rest = resting.get(audience);
        rest.is_some_and(|rest| Instant::now() < rest.until)
    }

    /// Posts a digest unless this or another process already did.
    async fn post_once(&self, catch_up: &CatchUp, due: &Due, done: &CancellationToken) {
        let is_over = self.try_to(catch_up, due, done).await.unwrap_or_else(|error| {
            metrics::counter!("muninn_failed_digests_total").increment(1);
            tracing::warn!(error = &error as &dyn std::error::Error, audience = %due.audience, "no digest; it is tried again");
            false
        });
        let mut resting = self.resting.lock();
        if is_over {
            resting.remove(&due.audience);
        } else {
            let rest = resting.entry(due.audience.clone()).or_insert_with(|| Rest {
                backoff: Backoff::new(POLL_INTERVAL, LONGEST_REST),
                until: Instant::now(),
            });
            rest.until = Instant::now() + rest.backoff.pause();
        }
    }

    /// Tries to post a digest. Returns whether nothing more is to be done about it.
    async fn try_to(
        &self,
        catch_up: &CatchUp,
        due: &Due,
        done: &CancellationToken,
    ) -> Result<bool, StoreError> {
        let Some(mut message) = due.message() else {
            return Ok(true);
        };
        message.languages = self.channels.languages(&message);
        let announcer = self.hearing.announcer(&message.audience.platform);
        // Checked before the digest is written, as another process may serve that workspace.
        let Some(announce) = announcer.filter(|it| it.serves(&due.audience)) else {
            return Ok(true);
        };
        // Only the process that claims the digest posts it. If it is killed in between, the digest is missing rather
        // than posted twice, and the next one tells what it would have told.
        let (store, audience) = (self.store(), &due.audience);
        let claimed = store.claim_digest(audience, due.from, due.at).await?;
        let Some(claimed) = claimed else {
            return Ok(true);
        };
        let from = claimed.told_until.max(due.earliest);
        let writing = (catch_up, &*announce);
        let outcome = self
            .write_and_post(writing, &message, (audience, from..due.at), done)
            .await;
        match outcome {
            Ok(DigestOutcome::Told) => self.record_told(due).await,
            Ok(DigestOutcome::Skipped) => {}
            Ok(DigestOutcome::NotYet) | Err(_) => {
                store
                    .release_digest(audience, due.at, claimed.before)
                    .await?;
            }
        }
        outcome.map(|outcome| outcome != DigestOutcome::NotYet)
    }

    /// Records what was told. If that fails, the next digest tells it once more.
    async fn record_told(&self, due: &Due) {
        let recorded = self.store().record_told_digest(&due.audience, due.at).await;
        if let Err(error) = recorded {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, audience = %due.audience, "the next digest tells again what this one told");
        }
    }

    /// Writes a digest of a period and posts it.
    async fn write_and_post(
        &self,
        (catch_up, announce): (&CatchUp, &dyn Announce),
        message: &IncomingMessage,
        (audience, period): (&AudienceId, Range<DateTime<Utc>>),
        done: &CancellationToken,
    ) -> Result<DigestOutcome, StoreError> {
        let written = tokio::select! {
            biased;
            // Nobody saw any of it, so the next process writes and posts it.
            () = done.cancelled() => return Ok(DigestOutcome::NotYet),
            written = catch_up.digest(message, period.start, period.end) => written?,
        };
        let Some(WrittenSummary { text, made_from }) = written else {
            return Ok(DigestOutcome::Told);
        };
        let changed = self.archive.find_changed_turns(&made_from).await?;
        if changed.is_any_forgotten() {
            tracing::info!(%audience, "something in a digest was forgotten meanwhile; it is written again");
            return Ok(DigestOutcome::NotYet);
        }
        match announce_parts(announce, audience, &text).await {
            Announced::Said(messages) => {
                let listing = DeliveredAnswer::new(message.conversation.clone(), messages);
                let withdraw = self.withdrawals.of(&message.audience.platform);
                let (withdrawals, archive) = (&self.withdrawals, &self.archive);
                withdrawals
                    .keep_listing(archive, &made_from, listing, withdraw)
                    .await;
                Ok(DigestOutcome::Told)
            }
            Announced::NotYet => {
                tracing::info!(%audience, "a digest cannot be said now; it is tried again");
                Ok(DigestOutcome::NotYet)
            }
            Announced::Refused(why) => {
                tracing::warn!(%audience, why, "a digest cannot be said there");
                Ok(DigestOutcome::Skipped)
            }
        }
    }
}

/// Returns [`SHUTDOWN_GRACE`] after `done`.
async fn end_of_grace(done: &CancellationToken) {
    done.cancelled().await;
    tokio::time::sleep(SHUTDOWN_GRACE).await;
}

/// Posts a digest in as many messages as it needs. If one after the first fails, the rest is skipped.
async fn announce_parts(announce: &dyn Announce, audience: &AudienceId, text: &str) -> Announced {
    let mut all = None;
    for part in SafeText::new(text).split(LONGEST) {
        match announce.announce(audience, &part).await {
            // Without messages where the platform did not confirm them.
            Announced::Said(messages) => all.get_or_insert_with(Vec::new).extend(messages.0),
            said @ (Announced::NotYet | Announced::Refused(_)) if all.is_none() => return said,
            Announced::NotYet | Announced::Refused(_) => break,
        }
    }
    match all {
        None => Announced::NotYet,
        Some(all) => Announced::Said(Delivered(all)),
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use parking_lot::Mutex;

    use super::*;

    /// Answers each announcement with the next outcome.
    struct Scripted(Mutex<Vec<Announced>>);

    #[async_trait]
    impl Announce for Scripted {
        async fn announce(&self, _: &AudienceId, _: &SafeText) -> Announced {
            self.0.lock().remove(0)
        }
    }

    #[test]
    fn a_digest_reaches_back_a_few_periods_of_its_schedule() {
        let time = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        for (schedule, from, earliest) in [
            (
                "Mon 09:00 UTC",
                "2026-04-13T09:00:00Z",
                "2026-03-16T09:00:00Z",
            ),
            (
                "weekdays 09:00 UTC",
                "2026-04-17T09:00:00Z",
                "2026-04-13T09:00:00Z",
            ),
        ] {
            // A Monday.
            let now = time("2026-04-20T10:00:00Z");
            let schedule: DigestSchedule = schedule.parse().unwrap();
            let audience = AudienceId::new("test/a");
            let due = Due::of(audience.clone(), &schedule, now, TimeZone::UTC).unwrap();
            assert_eq!(due.at, time("2026-04-20T09:00:00Z"));
            assert_eq!((due.from, due.earliest), (time(from), time(earliest)));
            let late = now + TOO_LATE;
            assert_eq!(Due::of(audience, &schedule, late, TimeZone::UTC), None);
        }
    }

    #[tokio::test]
    async fn a_digest_whose_messages_are_not_known_is_not_said_again() {
        let said = |ids: &[&str]| {
            let ids = ids.iter().map(|id| muninn_platform::MessageId::new(*id));
            Announced::Said(Delivered(ids.collect()))
        };
        let long = "word ".repeat(3_000);
        for (outcomes, expected) in [
            (vec![Announced::NotYet], Announced::NotYet),
            (vec![said(&[]), said(&["2"])], said(&["2"])),
            (vec![said(&[]), Announced::NotYet], said(&[])),
            (vec![said(&["1"]), Announced::NotYet], said(&["1"])),
        ] {
            let announce = Scripted(Mutex::new(outcomes));
            let audience = AudienceId::new("test/a");
            let told = announce_parts(&announce, &audience, &long).await;
            assert_eq!(told, expected);
        }
    }
}
