//! Linked accounts: accounts on several platforms that belong to one person, who linked them with a code.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::AudienceId;
use serde_json::{Value, json};
use uuid::Uuid;

use super::GraphStore;
use super::record::{integer, params, text};
use super::statements::accounts as cypher;
use crate::graph::StoreError;
use crate::graph::engine::{Engine as _, Params, Row};

/// The period over which an account's tries to enter a code are counted.
const TRIES_COUNT: TimeDelta = TimeDelta::hours(1);
/// Maximum number of codes that an account may enter in that period.
const MOST_TRIES: i64 = 5;
/// Maximum number of accounts of one person.
const MOST_ACCOUNTS: usize = 8;
/// Maximum number of one person's private places that are recalled.
const MOST_PLACES: usize = 32;

/// Somebody's account on a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Stable ID, as in [`muninn_platform::Author`].
    pub id: String,
    pub platform: String,
    /// The display name. Never compared, as another account may take it.
    pub name: String,
}

/// An account that belongs to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedAccount {
    pub account: Account,
    /// When it was last used, accurate to about a day.
    pub seen_at: DateTime<Utc>,
    /// ID of the person.
    person: String,
}

/// The result of entering a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeEntryResult {
    /// These accounts belong to one person now, including the one that entered the code.
    Linked(Vec<Account>),
    /// The account made the code itself.
    Own,
    /// Nobody made the code, or it was used or has expired.
    Wrong,
    /// The account entered too many codes.
    TooOften,
    /// The person would have too many accounts. The code is used up.
    TooMany(usize),
}

/// A pending notification for an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingNotification {
    pub account: Account,
    /// The account's direct messages with the bot.
    pub home: AudienceId,
    pub text: String,
}

impl GraphStore {
    /// Lets another account be linked to this one with a code, until a moment. An earlier code becomes
    /// invalid.
    pub async fn offer_link(
        &self,
        account: &Account,
        home: &AudienceId,
        code: &str,
        until: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut bound = of(account, home);
        bound.insert("code".to_owned(), json!(code));
        bound.insert("until".to_owned(), json!(until.timestamp_millis()));
        self.engine.write(cypher::OFFER, bound).await.map(drop)
    }

    /// Links an account to the one that made a code.
    pub async fn enter_code(
        &self,
        account: &Account,
        home: &AudienceId,
        code: &str,
    ) -> Result<CodeEntryResult, StoreError> {
        let mut bound = of(account, home);
        bound.insert("code".to_owned(), json!(code));
        let since = Utc::now() - TRIES_COUNT;
        bound.insert("since".to_owned(), json!(since.timestamp_millis()));
        let rows = self.engine.write(cypher::TRY, bound.clone()).await?;
        let tried = rows.first();
        if tried.is_none_or(|row| integer(row, "tries") > MOST_TRIES) {
            return Ok(CodeEntryResult::TooOften);
        }
        if tried
            .and_then(|row| row.get("isOwn"))
            .and_then(Value::as_bool)
            == Some(true)
        {
            return Ok(CodeEntryResult::Own);
        }
        let rows = self.engine.write(cypher::USE_CODE, bound).await?;
        let Some(other) = rows.first().and_then(Account::read) else {
            return Ok(CodeEntryResult::Wrong);
        };
        self.join(account, other).await
    }

    /// Merges the accounts of two people into one person.
    async fn join(&self, account: &Account, other: Account) -> Result<CodeEntryResult, StoreError> {
        let (mut linked, its) = (
            self.accounts_of(&other.id).await?,
            self.accounts_of(&account.id).await?,
        );
        let mut people: Vec<String> = linked.iter().map(|it| it.person.clone()).collect();
        people.extend(its.iter().map(|it| it.person.clone()));
        linked.extend(its);
        let mut accounts: Vec<Account> = linked.into_iter().map(|it| it.account).collect();
        let used = [other.id.clone(), account.id.clone()];
        for one in [other, account.clone()] {
            if !accounts.iter().any(|it| it.id == one.id) {
                accounts.push(one);
            }
        }
        if accounts.len() > MOST_ACCOUNTS {
            return Ok(CodeEntryResult::TooMany(MOST_ACCOUNTS));
        }
        let person = match people.first() {
            Some(person) => person.clone(),
            None => Uuid::now_v7().to_string(),
        };
        let ids: Vec<&str> = accounts.iter().map(|it| it.id.as_str()).collect();
        let bound = json!({
            "person": person, "accounts": ids, "used": used, "now": Utc::now().timestamp_millis(),
        });
        self.engine.write(cypher::JOIN, params(bound)).await?;
        let others: BTreeSet<&String> = people.iter().filter(|it| **it != person).collect();
        if !others.is_empty() {
            let bound = params(json!({"people": others}));
            self.engine.write(cypher::DROP_PEOPLE, bound).await?;
        }
        Ok(CodeEntryResult::Linked(accounts))
    }

    /// The accounts of the person who owns this one, including itself; empty if it is not linked.
    pub async fn accounts_of(&self, account: &str) -> Result<Vec<LinkedAccount>, StoreError> {
        let bound = params(json!({"id": account}));
        let rows = self.engine.read(cypher::OF_PERSON, bound).await?;
        let mut linked: Vec<LinkedAccount> = rows.iter().filter_map(LinkedAccount::read).collect();
        // There may be duplicates while two people are being merged.
        linked.dedup_by(|later, earlier| later.account.id == earlier.account.id);
        Ok(linked)
    }

    /// The accounts of all people who have several, by account.
    pub async fn all_accounts(&self) -> Result<HashMap<String, Vec<String>>, StoreError> {
        let rows = self.engine.read(cypher::ALL, Params::new()).await?;
        let mut people: HashMap<String, Vec<String>> = HashMap::new();
        for row in &rows {
            if let (Some(person), Some(account)) = (text(row, "person"), text(row, "id")) {
                people.entry(person).or_default().push(account);
            }
        }
        let each = |accounts: Vec<String>| {
            let all = accounts.clone();
            accounts.into_iter().map(move |one| (one, all.clone()))
        };
        Ok(people.into_values().flat_map(each).collect())
    }

    /// Removes an account from its person. Returns the accounts that were linked to it.
    pub async fn unlink(&self, account: &str) -> Result<Vec<Account>, StoreError> {
        let linked = self.accounts_of(account).await?;
        if linked.is_empty() {
            return Ok(Vec::new());
        }
        let bound = params(json!({"id": account}));
        self.engine.write(cypher::LEAVE, bound).await?;
        let people: BTreeSet<&String> = linked.iter().map(|it| &it.person).collect();
        let bound = params(json!({"people": people}));
        self.engine.write(cypher::DROP_LONELY, bound).await?;
        let others = linked.into_iter().map(|it| it.account);
        Ok(others.filter(|it| it.id != account).collect())
    }

    /// Records that an account was used at a moment.
    pub async fn account_seen(&self, account: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
        let bound = params(json!({"id": account, "now": at.timestamp_millis()}));
        self.engine.write(cypher::SEEN, bound).await.map(drop)
    }

    /// Queues a notification for the direct messages of some accounts.
    pub async fn queue_notification(
        &self,
        accounts: &[Account],
        text: &str,
    ) -> Result<(), StoreError> {
        let ids: Vec<&str> = accounts.iter().map(|it| it.id.as_str()).collect();
        let bound = params(json!({"ids": ids, "text": text}));
        self.engine.write(cypher::TELL, bound).await.map(drop)
    }

    /// The pending notifications.
    pub async fn pending_notifications(&self) -> Result<Vec<PendingNotification>, StoreError> {
        let rows = self.engine.read(cypher::UNTOLD, Params::new()).await?;
        let pending = |row: &Row| {
            Some(PendingNotification {
                account: Account::read(row)?,
                home: AudienceId::new(text(row, "home")?),
                text: text(row, "tell")?,
            })
        };
        Ok(rows.iter().filter_map(pending).collect())
    }

    /// Removes a notification that was delivered or cannot be.
    pub async fn remove_notification(
        &self,
        notification: &PendingNotification,
    ) -> Result<(), StoreError> {
        let bound = params(json!({"id": notification.account.id, "text": notification.text}));
        self.engine.write(cypher::TOLD, bound).await.map(drop)
    }

    /// The private places of these accounts: direct messages, and what was asked privately.
    pub async fn private_places(&self, accounts: &[String]) -> Result<Vec<AudienceId>, StoreError> {
        let bound = params(json!({"ids": accounts, "most": MOST_PLACES}));
        let rows = self.engine.read(cypher::PRIVATE_TO, bound).await?;
        let places = rows.iter().filter_map(|row| text(row, "audience"));
        Ok(places.map(AudienceId::new).collect())
    }

    /// The account that alone reads a place, if any; `None` if nothing was ever kept there.
    pub async fn private_to(
        &self,
        audience: &AudienceId,
    ) -> Result<Option<Option<String>>, StoreError> {
        let bound = params(json!({"audience": audience.as_str()}));
        let rows = self.engine.read(cypher::WHO_ALONE, bound).await?;
        Ok(rows.first().map(|row| text(row, "person")))
    }
}

impl Account {
    fn read(row: &Row) -> Option<Self> {
        Some(Self {
            id: text(row, "id")?,
            platform: text(row, "platform").unwrap_or_default(),
            name: text(row, "name").unwrap_or_default(),
        })
    }
}

impl LinkedAccount {
    fn read(row: &Row) -> Option<Self> {
        Some(Self {
            account: Account::read(row)?,
            seen_at: DateTime::from_timestamp_millis(integer(row, "seenAt"))?,
            person: text(row, "person")?,
        })
    }
}

fn of(account: &Account, home: &AudienceId) -> Params {
    params(json!({
        "id": account.id, "platform": account.platform, "name": account.name,
        "home": home.as_str(), "now": Utc::now().timestamp_millis(),
    }))
}
