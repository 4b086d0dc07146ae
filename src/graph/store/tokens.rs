//! Tokens of programs. Only a hash is kept, so that nobody can get a token out of the graph.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{Audience, AudienceId};
use serde_json::{Value, json};

use super::GraphStore;
use super::accounts::Account;
use super::record::{integer, params, text};
use super::statements::tokens as cypher;
use crate::graph::StoreError;
use crate::graph::engine::value::instant;
use crate::graph::engine::{Engine as _, Row};

/// Precision of the recorded time of last use.
const USED_EXACTLY: TimeDelta = TimeDelta::hours(1);

/// A token without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptToken {
    pub id: String,
    /// In hexadecimal digits.
    pub hash: String,
    /// Its owner.
    pub account: Account,
    /// The channels, rooms and direct messages that it reads, including what its owner asks privately there. `None`
    /// means everything that its owner may read.
    pub places: Option<Vec<AudienceId>>,
    pub created_at: DateTime<Utc>,
    /// When it expires. `None` means never; it is valid until it is revoked.
    pub until: Option<DateTime<Utc>>,
    /// When it was last used, accurate to about an hour; `None` if never.
    pub used_at: Option<DateTime<Utc>>,
}

impl KeptToken {
    /// Whether it may read a place, as far as its owner may.
    pub fn reads(&self, place: &AudienceId) -> bool {
        let channel = place.channel();
        let places = self.places.as_ref();
        places.is_none_or(|places| places.contains(&channel))
    }
}

impl GraphStore {
    /// Stores a token.
    pub async fn keep_token(&self, token: &KeptToken) -> Result<(), StoreError> {
        let places = token
            .places
            .as_ref()
            .map(|places| json!(places).to_string());
        let over = params(json!({"now": millis(token.created_at)}));
        self.engine.write(cypher::DROP_OVER, over).await?;
        let bound = json!({
            "hash": token.hash, "id": token.id, "account": token.account.id,
            "platform": token.account.platform, "name": token.account.name, "places": places,
            "now": millis(token.created_at), "until": token.until.map(millis),
        });
        self.engine
            .write(cypher::KEEP, params(bound))
            .await
            .map(drop)
    }

    /// The token with this hash; `None` if there is none or it has expired.
    pub async fn token(
        &self,
        hash: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<KeptToken>, StoreError> {
        let bound = params(json!({"hash": hash, "now": millis(now)}));
        let rows = self.engine.read(cypher::BY_HASH, bound).await?;
        Ok(rows.first().and_then(KeptToken::read))
    }

    /// The tokens of some accounts or of all, oldest first.
    pub async fn tokens(&self, accounts: Option<&[String]>) -> Result<Vec<KeptToken>, StoreError> {
        let now = millis(Utc::now());
        let rows = match accounts {
            Some(accounts) => {
                let bound = params(json!({"accounts": accounts, "now": now}));
                self.engine.read(cypher::OF_ACCOUNTS, bound).await?
            }
            None => {
                let bound = params(json!({"now": now}));
                self.engine.read(cypher::ALL, bound).await?
            }
        };
        Ok(rows.iter().filter_map(KeptToken::read).collect())
    }

    /// Records that a token was used at a moment.
    pub async fn token_used(&self, token: &KeptToken, at: DateTime<Utc>) -> Result<(), StoreError> {
        if token.used_at.is_some_and(|last| at - last < USED_EXACTLY) {
            return Ok(());
        }
        let bound = params(json!({"hash": token.hash, "now": millis(at)}));
        self.engine.write(cypher::USED, bound).await.map(drop)
    }

    /// Revokes these tokens, given by their IDs.
    pub async fn revoke_tokens(&self, ids: &[String]) -> Result<(), StoreError> {
        let bound = params(json!({"ids": ids}));
        self.engine.write(cypher::REVOKE, bound).await.map(drop)
    }

    /// When something was last said in places; nothing for those in which nothing is kept.
    pub async fn last_used(
        &self,
        ids: &[&AudienceId],
    ) -> Result<HashMap<AudienceId, DateTime<Utc>>, StoreError> {
        let bound = params(json!({"ids": ids}));
        let rows = self.engine.read(cypher::LAST_USED, bound).await?;
        let used = rows.iter().filter_map(|row| {
            let at = row.get("lastAt").and_then(instant)?;
            Some((AudienceId::new(text(row, "id")?), at))
        });
        Ok(used.collect())
    }

    /// The stored data of places; nothing for those in which nothing was ever kept.
    pub async fn places(&self, ids: &[AudienceId]) -> Result<Vec<Audience>, StoreError> {
        let bound = params(json!({"ids": ids}));
        let rows = self.engine.read(cypher::PLACES, bound).await?;
        let said = |row: &Row, column| text(row, column).unwrap_or_default();
        let place = |row: &Row| Audience {
            id: AudienceId::new(said(row, "id")),
            platform: said(row, "platform"),
            workspace: said(row, "workspace"),
            name: said(row, "name"),
            private_to: text(row, "privateTo"),
        };
        Ok(rows.iter().map(place).collect())
    }
}

impl KeptToken {
    fn read(row: &Row) -> Option<Self> {
        let places = match text(row, "places") {
            // An unreadable list grants no access.
            Some(places) => Some(serde_json::from_str(&places).ok()?),
            None => None,
        };
        let at = |column: &str| {
            let is_there = row.get(column).is_some_and(Value::is_i64);
            is_there.then(|| DateTime::from_timestamp_millis(integer(row, column)))?
        };
        Some(Self {
            id: text(row, "id")?,
            hash: text(row, "hash")?,
            account: Account {
                id: text(row, "account")?,
                platform: text(row, "platform")?,
                name: text(row, "name").unwrap_or_default(),
            },
            places,
            created_at: at("createdAt")?,
            until: at("until"),
            used_at: at("usedAt"),
        })
    }
}

fn millis(at: DateTime<Utc>) -> i64 {
    at.timestamp_millis()
}
