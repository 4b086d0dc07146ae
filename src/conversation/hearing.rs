//! Where people are heard, who opted out, and what is off the record, according to the settings and to what people
//! asked for.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use dashmap::DashMap;
use muninn_platform::{
    Announce, Announced, Audience, AudienceId, ChannelMemory, Channels, ConversationId,
    HeardAudiences, IncomingMessage, SafeText,
};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::conversation::notice::{HearingNotice, Notice};
use crate::graph::hearing::{HearingChange, KeptHearing};
use crate::graph::{GraphStore, StoreError};

/// How often the rules that people set are read again, where other processes may change them or where they could
/// not be read yet.
const READ_EVERY: Duration = Duration::from_secs(5);
/// Longest time to announce to people that they are heard.
const ANNOUNCEMENT_TIMEOUT: Duration = Duration::from_secs(30);
/// Prefixes of messages that are off the record, unless the settings name others.
const OFF_THE_RECORD: [&str; 3] = ["[off]", "offtherecord:", "off the record:"];

/// What may be remembered of what people say to one another.
pub struct HearingRules {
    pub heard: HeardAudiences,
    channels: Arc<Channels>,
    kept: RwLock<HashMap<AudienceId, KeptHearing>>,
    /// Whether the rules that people set were read from the graph.
    is_known: AtomicBool,
    announcers: DashMap<String, Arc<dyn Announce>>,
    /// Held while the rules are changed or read, so that a read does not overwrite a newer change.
    changing: tokio::sync::Mutex<()>,
    /// Held while messages are being kept. Whoever has theirs forgotten waits for it, so that all of them are
    /// found.
    pub(crate) keeping: tokio::sync::Mutex<()>,
}

impl std::fmt::Debug for HearingRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HearingRules").finish_non_exhaustive()
    }
}

/// Why an overheard message is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotKeptReason {
    /// The rules there could not be read yet, so it is unknown who opted out.
    Unknown,
    /// People are no longer heard there.
    NotHeard,
    OptedOut,
    OffTheRecord,
    /// Messages of that age are deleted there.
    TooOld,
    /// A command to a bot.
    Command,
    /// The message is empty.
    Empty,
}

impl NotKeptReason {
    /// The name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::NotHeard => "not_heard",
            Self::OptedOut => "opted_out",
            Self::OffTheRecord => "off_the_record",
            Self::TooOld => "too_old",
            Self::Command => "command",
            Self::Empty => "empty",
        }
    }
}

impl HearingRules {
    pub fn new(channels: Arc<Channels>) -> Self {
        Self {
            heard: HeardAudiences::new(Arc::clone(&channels)),
            channels,
            kept: RwLock::default(),
            is_known: AtomicBool::new(false),
            announcers: DashMap::new(),
            changing: tokio::sync::Mutex::default(),
            keeping: tokio::sync::Mutex::default(),
        }
    }

    /// Reads the rules that people set. Until this succeeds, nothing is kept.
    pub async fn load(&self, store: &GraphStore) {
        let _changing = self.changing.lock().await;
        match store.hearing().await {
            Ok(kept) => {
                let said = kept
                    .iter()
                    .filter_map(|(audience, kept)| Some((audience.clone(), kept.memory?)));
                self.heard.set_all(said.collect());
                *self.kept_mut() = kept;
                self.is_known.store(true, Ordering::Relaxed);
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                if self.is_known.load(Ordering::Relaxed) {
                    tracing::debug!(error, "who is heard cannot be read again");
                } else {
                    tracing::warn!(
                        error,
                        "who wants to be left out cannot be read: what people say to one another is not kept until it can"
                    );
                }
            }
        }
    }

    /// Keeps reading the rules as long as they may change elsewhere, until `done`.
    pub async fn follow(&self, store: &GraphStore, done: CancellationToken) {
        loop {
            tokio::select! {
                () = done.cancelled() => return,
                () = sleep(READ_EVERY) => {}
            }
            if store.is_shared() || !self.is_known.load(Ordering::Relaxed) {
                self.load(store).await;
            }
        }
    }

    /// Changes the rules of an audience, as somebody asked for at some time: first in this process, then in the graph.
    ///
    /// # Errors
    /// Fails when the graph cannot be written; the change then applies to this process only.
    pub async fn change(
        &self,
        store: &GraphStore,
        audience: &Audience,
        change: &HearingChange,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let _changing = self.changing.lock().await;
        if let HearingChange::Memory(memory) = change {
            self.heard.set(&audience.id, *memory);
        }
        self.apply(&audience.id, change, at);
        store.change_hearing(audience, change, at).await
    }

    /// Why an overheard message is not kept; `None` if it is kept.
    pub fn reason_not_kept(&self, message: &IncomingMessage, text: &str) -> Option<NotKeptReason> {
        let audience = &message.audience.id;
        if !self.is_known.load(Ordering::Relaxed) {
            return Some(NotKeptReason::Unknown);
        }
        if !self.heard.hears(audience) {
            return Some(NotKeptReason::NotHeard);
        }
        let by_people = self.reason_set_by_people(
            audience,
            &message.conversation,
            Some(&message.author.id),
            message.sent_at,
        );
        if by_people.is_some() {
            return by_people;
        }
        let days = self.channels.retain_days(audience);
        let kept = days.map(|days| TimeDelta::days(i64::from(days.get())));
        if kept.is_some_and(|kept| Utc::now() - message.sent_at >= kept) {
            return Some(NotKeptReason::TooOld);
        }
        self.reason_text_not_kept(audience, text)
    }

    /// Whether people do not want this message of theirs, from before the bot joined, to be used. Also as long as that is
    /// unknown.
    pub fn leaves_out(
        &self,
        audience: &AudienceId,
        conversation: &ConversationId,
        author: Option<&str>,
        (text, at): (&str, DateTime<Utc>),
    ) -> bool {
        let is_known = self.is_known.load(Ordering::Relaxed);
        let by_text = self.reason_text_not_kept(audience, text);
        !is_known
            || by_text == Some(NotKeptReason::OffTheRecord)
            || self
                .reason_set_by_people(audience, conversation, author, at)
                .is_some()
    }

    /// What people asked for in a place, now or when the message was sent: it may be read much later.
    fn reason_set_by_people(
        &self,
        audience: &AudienceId,
        conversation: &ConversationId,
        author: Option<&str>,
        at: DateTime<Utc>,
    ) -> Option<NotKeptReason> {
        let all = self.kept_now();
        let kept = all.get(audience)?;
        let is_off =
            |place: &str| kept.off_record.contains(place) || kept.past.was_off_record(place, at);
        let is_out =
            |author: &str| kept.opted_out.contains(author) || kept.past.had_opted_out(author, at);
        if author.is_some_and(is_out) {
            Some(NotKeptReason::OptedOut)
        } else if is_off(audience.as_str()) || is_off(conversation.as_str()) {
            Some(NotKeptReason::OffTheRecord)
        } else {
            None
        }
    }

    /// Why an overheard message is not kept, by its text alone.
    pub fn reason_text_not_kept(&self, audience: &AudienceId, text: &str) -> Option<NotKeptReason> {
        let text = text.trim_start();
        let own = self.channels.off_record(audience);
        let is_marked = match &own {
            Some(words) => words.iter().any(|word| begins_with(text, word)),
            None => OFF_THE_RECORD.iter().any(|word| begins_with(text, word)),
        };
        if text.is_empty() {
            Some(NotKeptReason::Empty)
        } else if is_marked {
            Some(NotKeptReason::OffTheRecord)
        } else if is_command(text) {
            Some(NotKeptReason::Command)
        } else {
            None
        }
    }

    /// Registers a reachable platform, on which announcements are now possible.
    pub fn register_announcer(&self, platform: &str, announce: Arc<dyn Announce>) {
        self.announcers.insert(platform.to_owned(), announce);
    }

    /// The announcer of a platform that is reachable.
    pub fn announcer(&self, platform: &str) -> Option<Arc<dyn Announce>> {
        let announcer = self.announcers.get(platform);
        announcer.map(|it| Arc::clone(it.value()))
    }

    /// Whether people there were told that they are heard, as far as is known.
    pub fn is_announced(&self, audience: &AudienceId) -> bool {
        let all = self.kept_now();
        all.get(audience).is_some_and(|kept| kept.is_announced)
    }

    /// Tells people in an audience that they are heard, unless they were told. Returns whether they know now.
    pub async fn announce(&self, store: &GraphStore, audience: &Audience) -> bool {
        if self.is_announced(&audience.id) {
            return true;
        }
        let Some(announcer) = self.announcer(&audience.platform) else {
            return false;
        };
        self.set_announced(audience, true);
        let said = match store.claim_announcement(audience).await {
            // Another process or an earlier one told them.
            Ok(false) => return true,
            Ok(true) => {
                let language = self.channels.language(&audience.id, None);
                let notice = Notice::Hearing(HearingNotice::Everybody(announcer.vocabulary()));
                let notice = notice.in_language(language);
                say(&*announcer, &audience.id, &notice).await
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(error, audience = %audience.id, "people are told later that they are heard");
                self.set_announced(audience, false);
                return false;
            }
        };
        let Err(why) = said else { return true };
        tracing::warn!(audience = %audience.id, why, "people could not be told that they are heard");
        self.set_announced(audience, false);
        if let Err(error) = store.release_announcement(&audience.id).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, audience = %audience.id, "people are not told that they are heard");
        }
        false
    }

    /// Announces a text to everybody in an audience.
    pub async fn announce_text(&self, audience: &Audience, text: &str) {
        let Some(announcer) = self.announcer(&audience.platform) else {
            return;
        };
        if let Err(why) = say(&*announcer, &audience.id, text).await {
            tracing::warn!(audience = %audience.id, why, "people could not be told what holds for them from now on");
        }
    }

    fn apply(&self, audience: &AudienceId, change: &HearingChange, at: DateTime<Utc>) {
        let mut all = self.kept_mut();
        all.entry(audience.clone()).or_default().apply(change, at);
    }

    fn set_announced(&self, audience: &Audience, is_announced: bool) {
        let mut all = self.kept_mut();
        all.entry(audience.id.clone()).or_default().is_announced = is_announced;
    }

    fn kept_now(&self) -> RwLockReadGuard<'_, HashMap<AudienceId, KeptHearing>> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept_mut(&self) -> RwLockWriteGuard<'_, HashMap<AudienceId, KeptHearing>> {
        self.kept.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is remembered of an audience.
    pub fn memory(&self, audience: &AudienceId) -> ChannelMemory {
        self.heard.memory(audience)
    }
}

/// Announces a text in an audience. Returns why it was not posted. A text that timed out may have been posted.
async fn say(announcer: &dyn Announce, audience: &AudienceId, text: &str) -> Result<(), String> {
    let text = SafeText::new(text);
    match timeout(ANNOUNCEMENT_TIMEOUT, announcer.announce(audience, &text)).await {
        Ok(Announced::Said(_)) | Err(_) => Ok(()),
        Ok(Announced::NotYet) => Err("the platform is away".to_owned()),
        Ok(Announced::Refused(why)) => Err(why),
    }
}

/// `!roll 6`, `/remind me`: a command to this or another bot.
fn is_command(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(['!', '/']) else {
        return false;
    };
    let word = rest.split_whitespace().next().unwrap_or_default();
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// Whether a text begins with these words, in any case.
fn begins_with(text: &str, words: &str) -> bool {
    let mut text = text.chars().flat_map(char::to_lowercase);
    let words = words.trim();
    !words.is_empty()
        && words
            .chars()
            .flat_map(char::to_lowercase)
            .all(|c| text.next() == Some(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_asked_for_holds_for_what_they_said_before_too() {
        let rules = HearingRules::new(Arc::default());
        let (here, elsewhere) = (AudienceId::new("a"), AudienceId::new("b"));
        let (thread, other) = (ConversationId::new("a/1"), ConversationId::new("a/2"));
        let now = Utc::now();
        let of = |author, text| rules.leaves_out(&here, &thread, author, (text, now));
        assert!(of(Some("ada"), "yes"), "nobody knows who opted out");
        rules.is_known.store(true, Ordering::Relaxed);
        assert!(!of(Some("ada"), "yes") && !of(None, "!roll 6"));
        assert!(of(Some("ada"), "[off] he is ill"));
        let mut kept = KeptHearing::default();
        kept.opted_out.insert("xaver".to_owned());
        rules.kept_mut().insert(here.clone(), kept.clone());
        assert!(of(Some("xaver"), "yes") && !of(Some("ada"), "yes") && !of(None, "yes"));
        assert!(!rules.leaves_out(&elsewhere, &thread, Some("xaver"), ("yes", now)));
        kept.off_record.insert(thread.to_string());
        rules.kept_mut().insert(here.clone(), kept);
        assert!(of(Some("ada"), "yes"));
        assert!(!rules.leaves_out(&here, &other, Some("ada"), ("yes", now)));
    }

    #[test]
    fn what_people_took_back_holds_for_what_was_said_before() {
        let rules = HearingRules::new(Arc::default());
        let here = AudienceId::new("a");
        let (thread, other) = (ConversationId::new("a/1"), ConversationId::new("a/2"));
        rules.is_known.store(true, Ordering::Relaxed);
        let at = |hour: i64| DateTime::UNIX_EPOCH + TimeDelta::hours(hour);
        for (hour, change) in [
            (1, HearingChange::OffTheRecord(thread.to_string())),
            (2, HearingChange::OffTheRecord(thread.to_string())),
            (3, HearingChange::OnTheRecord(thread.to_string())),
            (4, HearingChange::OnTheRecord(thread.to_string())),
            (5, HearingChange::OptOut("xaver".to_owned())),
            (6, HearingChange::OptIn("xaver".to_owned())),
            (7, HearingChange::OptIn("xaver".to_owned())),
        ] {
            rules.apply(&here, &change, at(hour));
        }
        for (place, author, left_out) in [
            (&thread, "ada", vec![1, 2]),
            (&other, "ada", Vec::new()),
            (&other, "xaver", vec![0, 1, 2, 3, 4, 5]),
        ] {
            let is_out =
                |hour: &i64| rules.leaves_out(&here, place, Some(author), ("yes", at(*hour)));
            let hours: Vec<i64> = (0..8).filter(is_out).collect();
            assert_eq!(hours, left_out, "{place} {author}");
        }
    }

    #[test]
    fn what_a_message_says_decides_too() {
        let rules = HearingRules::new(Arc::default());
        let audience = AudienceId::new("a");
        for (text, expected) in [
            ("yes, Thursday", None),
            ("  ", Some(NotKeptReason::Empty)),
            ("[OFF] he is ill", Some(NotKeptReason::OffTheRecord)),
            (
                " OffTheRecord: he is ill",
                Some(NotKeptReason::OffTheRecord),
            ),
            (
                "off the record: he is ill",
                Some(NotKeptReason::OffTheRecord),
            ),
            ("officially he is well", None),
            ("!roll 6", Some(NotKeptReason::Command)),
            ("/remind me", Some(NotKeptReason::Command)),
            ("/etc/hosts is broken", None),
            ("!!!", None),
        ] {
            assert_eq!(
                rules.reason_text_not_kept(&audience, text),
                expected,
                "{text:?}"
            );
        }
    }
}
