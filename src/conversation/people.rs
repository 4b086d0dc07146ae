//! People with accounts on several platforms: their private memory is recalled from all linked accounts, and these share
//! one quota.
//!
//! The links are cached in memory for some seconds. Before anything is recalled from another account the graph is asked
//! again, so that a link that any process has just removed is not used.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{Announced, AudienceId, Body, IncomingMessage, SafeText};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::conversation::audit::{Audit, AuditAction, MUNINN};
use crate::conversation::clock::{ClockWatch, MAX_JUMP};
use crate::conversation::hearing::HearingRules;
use crate::conversation::notice::{LinkNotice, Notice};
use crate::graph::accounts::{Account, CodeEntryResult, LinkedAccount, PendingNotification};
use crate::graph::{GraphStore, StoreError};

/// How often the links are read again, and pending notifications are looked for.
const READ_EVERY: Duration = Duration::from_secs(5);
/// A link ends when its account was not used for this long, as platforms may give its ID to somebody else.
const UNUSED: TimeDelta = TimeDelta::days(90);
/// Precision of the recorded time of an account's last use.
const DAY: TimeDelta = TimeDelta::days(1);
/// Longest time for one notification.
const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a code is valid.
const CODE_HOLDS: TimeDelta = TimeDelta::minutes(10);
/// The alphabet of codes: nothing that is confused with another letter when it is read aloud or typed.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// The bytes of a random UUID that are completely random.
const RANDOM: [usize; 8] = [0, 1, 2, 3, 4, 5, 9, 10];

/// Which accounts belong to one person.
#[derive(Debug)]
pub struct People {
    store: Arc<GraphStore>,
    audit: Audit,
    /// For each account of a person with several: all accounts of the person.
    linked: RwLock<HashMap<String, Vec<String>>>,
    /// Whether the links were read.
    is_known: AtomicBool,
    clock: Mutex<ClockWatch>,
}

impl People {
    pub fn new(store: Arc<GraphStore>, audit: Audit) -> Self {
        Self {
            store,
            audit,
            linked: RwLock::default(),
            is_known: AtomicBool::new(false),
            clock: Mutex::new(ClockWatch::new(Utc::now(), Instant::now())),
        }
    }

    /// The accounts that are linked to this one.
    pub fn linked_accounts(&self, account: &str) -> Vec<String> {
        let linked = self.linked.read().unwrap_or_else(PoisonError::into_inner);
        let accounts = linked.get(account).into_iter().flatten();
        accounts.filter(|it| *it != account).cloned().collect()
    }

    /// Follows changes by other processes and sends pending notifications, until `done`.
    pub async fn follow(&self, hearing: &HearingRules, done: CancellationToken) {
        loop {
            self.is_clock_believed();
            if self.store.is_shared() || !self.is_known.load(Ordering::Relaxed) {
                self.load().await;
            }
            if let Err(error) = self.tell_all(hearing).await {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(error, "people are told later which accounts were linked");
            }
            tokio::select! {
                () = done.cancelled() => return,
                () = sleep(READ_EVERY) => {}
            }
        }
    }

    /// Reads the links.
    pub async fn load(&self) {
        match self.store.all_accounts().await {
            Ok(all) => {
                *self.linked.write().unwrap_or_else(PoisonError::into_inner) = all;
                self.is_known.store(true, Ordering::Relaxed);
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(error, "which accounts are linked cannot be read");
            }
        }
    }

    /// The message, with the accounts that its author has now. To be called before anything is done for the message: who writes
    /// from an account that was not used for long may be somebody else, so its link ends first.
    pub async fn with_current_accounts(&self, message: IncomingMessage) -> IncomingMessage {
        // Messages also go when their platform deletes an account, so a deletion is no use of it.
        let is_deletion = matches!(message.body, Body::Deletion { .. });
        if message.other_accounts.is_empty() || is_deletion {
            return message;
        }
        let author = &message.author.id;
        // A program holds a token of whoever had the account when it was made, and tells nothing about who has it now.
        let is_used = message.through.is_none();
        let accounts = self.accounts_in_use(author, is_used).await;
        let accounts = accounts.unwrap_or_else(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(
                error,
                "whether accounts are still linked is unknown, so they are not"
            );
            Vec::new()
        });
        let others = accounts.into_iter().filter(|it| it != author).collect();
        IncomingMessage {
            other_accounts: others,
            ..message
        }
    }

    /// The message, with the private places of its author's other accounts added to what is recalled. Nothing is added
    /// where others read the answer.
    pub async fn with_private_memory(&self, message: &IncomingMessage) -> IncomingMessage {
        let mut message = message.clone();
        let author = &message.author.id;
        let is_private = message.audience.private_to.as_ref() == Some(author);
        // A program may read only what its token names.
        let is_asked_by_them = message.through.is_none();
        if is_private && is_asked_by_them && !message.other_accounts.is_empty() {
            match self.private_places(author).await {
                Ok(places) => {
                    let own = message.recalled_audiences();
                    let elsewhere = places.into_iter().filter(|place| !own.contains(&place));
                    message.private_elsewhere = elsewhere.collect();
                }
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::debug!(error, "what was said from other accounts is not recalled");
                }
            }
        }
        message
    }

    async fn private_places(&self, account: &str) -> Result<Vec<AudienceId>, StoreError> {
        let accounts = self.accounts_in_use(account, false).await?;
        self.store.private_places(&accounts).await
    }

    /// All accounts of the person who owns this one; none if it is not linked. Its link ends if it was not used for long.
    /// `is_used`: whether it is used now.
    async fn accounts_in_use(
        &self,
        account: &str,
        is_used: bool,
    ) -> Result<Vec<String>, StoreError> {
        let linked = self.store.accounts_of(account).await?;
        let Some(own) = linked.iter().find(|it| it.account.id == account) else {
            if !self.linked_accounts(account).is_empty() {
                // It was unlinked meanwhile.
                self.load().await;
            }
            return Ok(Vec::new());
        };
        let now = Utc::now();
        if is_unused(own, now) {
            self.end_unused(own).await?;
            return Ok(Vec::new());
        }
        if is_used && now - own.seen_at > DAY && self.is_clock_believed() {
            self.store.account_seen(account, now).await?;
        }
        Ok(linked.into_iter().map(|it| it.account.id).collect())
    }

    /// Ends the links of the person's accounts that were not used for long, before these are told of a new one.
    async fn end_all_unused(&self, account: &Account) -> Result<Vec<Account>, StoreError> {
        let mut linked = self.store.accounts_of(&account.id).await?;
        linked.retain(|it| is_unused(it, Utc::now()));
        for unused in &linked {
            self.end_unused(unused).await?;
        }
        Ok(linked.into_iter().map(|it| it.account).collect())
    }

    fn is_clock_believed(&self) -> bool {
        let mut clock = self.clock.lock();
        clock.is_believed(Utc::now(), Instant::now())
    }

    /// Whether it is certain how long ago something was: a clock that is ahead for a minute would end links that are in use.
    async fn is_time_certain(&self) -> Result<bool, StoreError> {
        if !self.is_clock_believed() {
            return Ok(false);
        }
        let server = self.store.server_time().await?;
        Ok(server.is_none_or(|server| Utc::now() - server <= MAX_JUMP))
    }

    /// Ends the link of an account that was not used for long, once that is certain.
    async fn end_unused(&self, account: &LinkedAccount) -> Result<(), StoreError> {
        let id = &account.account.id;
        if !self.is_time_certain().await? {
            tracing::debug!(account = %id, "it may not have been used for long; the clock was set");
            return Ok(());
        }
        tracing::info!(account = %id, "its link ends: it was not used for long");
        let others = self.unlink(&account.account).await?;
        let told = Notice::Link(LinkNotice::Ended).to_string();
        self.store
            .queue_notification(std::slice::from_ref(&account.account), &told)
            .await?;
        let count = Some(others.len());
        self.audit
            .record_action(MUNINN, AuditAction::Unlinked, id, count)
            .await;
        Ok(())
    }

    /// Returns a code with which another account can be linked to this one.
    ///
    /// # Errors
    /// Fails when the graph cannot be used.
    pub async fn create_link_code(
        &self,
        account: &Account,
        home: &AudienceId,
    ) -> Result<String, StoreError> {
        // A code counts as a use of the account, so this has to be known before.
        self.accounts_in_use(&account.id, true).await?;
        let code = fresh_code();
        let until = Utc::now() + CODE_HOLDS;
        self.store.offer_link(account, home, &code, until).await?;
        Ok(shown(&code))
    }

    /// Links an account to the one that was given a code, and queues the notifications.
    ///
    /// # Errors
    /// Fails when the graph cannot be used.
    pub async fn redeem_link_code(
        &self,
        account: &Account,
        home: &AudienceId,
        code: &str,
    ) -> Result<CodeEntryResult, StoreError> {
        // As for a code that is given.
        self.accounts_in_use(&account.id, true).await?;
        let mut entered = self.store.enter_code(account, home, &typed(code)).await?;
        if let CodeEntryResult::Linked(accounts) = &mut entered {
            self.load().await;
            let ended = self.end_all_unused(account).await?;
            accounts.retain(|it| !ended.contains(it));
            let others = accounts.iter().filter(|it| it.id != account.id).cloned();
            let others: Vec<Account> = others.collect();
            let told = Notice::Link(LinkNotice::LinkedElsewhere(account.clone())).to_string();
            self.store.queue_notification(&others, &told).await?;
        }
        Ok(entered)
    }

    /// Unlinks an account and queues the notifications. Returns the accounts to which it was linked.
    ///
    /// # Errors
    /// Fails when the graph cannot be used.
    pub async fn unlink(&self, account: &Account) -> Result<Vec<Account>, StoreError> {
        let others = self.store.unlink(&account.id).await?;
        self.load().await;
        if !others.is_empty() {
            let told = Notice::Link(LinkNotice::UnlinkedElsewhere(account.clone())).to_string();
            self.store.queue_notification(&others, &told).await?;
        }
        Ok(others)
    }

    /// Sends pending notifications to people's direct messages. A notification is repeated after a kill in between.
    async fn tell_all(&self, hearing: &HearingRules) -> Result<(), StoreError> {
        for untold in self.store.pending_notifications().await? {
            let PendingNotification {
                account,
                home,
                text,
            } = &untold;
            // Another process may serve the platform, or this one may later.
            let Some(announcer) = hearing.announcer(&account.platform) else {
                continue;
            };
            let text = SafeText::new(text);
            match timeout(NOTIFICATION_TIMEOUT, announcer.announce(home, &text)).await {
                Ok(Announced::Said(_)) => {}
                Ok(Announced::NotYet) | Err(_) => continue,
                Ok(Announced::Refused(why)) => {
                    tracing::warn!(account = %account.id, why, "somebody could not be told that accounts were linked or unlinked");
                }
            }
            self.store.remove_notification(&untold).await?;
        }
        Ok(())
    }
}

/// Whether the link of an account has ended because the account was not used.
pub fn is_unused(account: &LinkedAccount, now: DateTime<Utc>) -> bool {
    now - account.seen_at > UNUSED
}

/// The account that wrote a message.
pub fn account_of(message: &IncomingMessage) -> Account {
    Account {
        id: message.author.id.clone(),
        platform: message.audience.platform.clone(),
        name: message.author.name.clone(),
    }
}

/// Eight letters or digits with 40 random bits: with five tries an hour nobody guesses a code while it is valid.
fn fresh_code() -> String {
    let random = uuid::Uuid::new_v4().into_bytes();
    let letter = |at: &usize| char::from(LETTERS[usize::from(random[*at] % 32)]);
    RANDOM.iter().map(letter).collect()
}

/// The code as it is shown to people.
fn shown(code: &str) -> String {
    let (one, two) = code.split_at(code.len() / 2);
    format!("{one}-{two}")
}

/// Normalises a code as people type it: in lower case, with blanks, or with similar-looking letters.
fn typed(code: &str) -> String {
    let letters = code.chars().filter(char::is_ascii_alphanumeric);
    let meant = letters.map(|letter| match letter.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        'U' => 'V',
        other => other,
    });
    meant.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::graph::testing::write;
    use crate::graph::{GraphConfig, open};

    #[tokio::test]
    async fn a_clock_that_jumps_ahead_ends_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let place = format!("embedded:{}", folder.path().join("graph").display());
        let store = open(&GraphConfig::at(place)).await.unwrap();
        let people = People::new(Arc::clone(&store), Audit::new(folder.path()));
        let account = |id: &str| Account {
            id: id.to_owned(),
            platform: "terminal".to_owned(),
            name: id.to_owned(),
        };
        let home = AudienceId::new("terminal");
        let (one, other) = (account("ada"), account("ada2"));
        let code = people.create_link_code(&one, &home).await.unwrap();
        let linked = people.redeem_link_code(&other, &home, &code).await;
        let linked = linked.unwrap();
        assert!(matches!(linked, CodeEntryResult::Linked(_)), "{linked:?}");
        let unused = "MATCH (a:MuninnAccount {id: 'ada'}) SET a.seenAt = 1";
        write(&store, unused).await.unwrap();
        let hours_ago = |hours| {
            let then = Utc::now() - TimeDelta::hours(hours);
            ClockWatch::new(then, Instant::now())
        };
        for (hours, linked) in [(2, 2), (0, 0)] {
            *people.clock.lock() = hours_ago(hours);
            let mut message = crate::testing::message("1");
            message.other_accounts = vec!["ada2".to_owned()];
            // Whoever has the account now, nothing of it is used.
            let message = people.with_current_accounts(message).await;
            assert_eq!(message.other_accounts, [""; 0]);
            let accounts = store.accounts_of("ada").await.unwrap();
            assert_eq!(accounts.len(), linked, "{hours}");
        }
    }

    #[test]
    fn a_code_is_read_as_it_was_meant() {
        let code = fresh_code();
        assert_eq!(code.len(), 8);
        assert_eq!(typed(&shown(&code)), code);
        assert_eq!(typed(&shown(&code).to_lowercase()), code);
        assert_eq!(typed(" k7qf 92mo"), "K7QF92M0");
    }

    #[test]
    fn codes_are_all_different() {
        let all: HashSet<String> = (0..1_000).map(|_| fresh_code()).collect();
        assert_eq!(all.len(), 1_000);
    }
}
