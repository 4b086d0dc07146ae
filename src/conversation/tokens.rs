//! Tokens with which programs ask the bot for a person. They are made and revoked in chat and by the operator, shown once,
//! and kept as a hash.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::AudienceId;
use uuid::Uuid;

use crate::conversation::audit::{Audit, AuditAction};
use crate::graph::accounts::Account;
use crate::graph::tokens::KeptToken;
use crate::graph::{GraphStore, StoreError};

/// Start of every token, so that a token that was pasted somewhere is recognised.
const PREFIX: &str = "muninn-mcp-";
/// Maximum number of tokens per account.
pub const MOST_TOKENS: usize = 20;
/// Longest lifetime.
const MAX_LIFETIME: TimeDelta = TimeDelta::days(3_650);

/// A token with 244 random bits, to be shown to its owner only.
#[derive(Clone)]
pub struct SecretToken(String);

impl SecretToken {
    fn fresh() -> Self {
        let halves = [Uuid::new_v4(), Uuid::new_v4()].map(|half| half.simple().to_string());
        Self(format!("{PREFIX}{}", halves.concat()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for SecretToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretToken(…)")
    }
}

/// The properties of a token to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedToken {
    pub account: Account,
    /// As [`KeptToken::places`].
    pub places: Option<Vec<AudienceId>>,
    pub until: Option<DateTime<Utc>>,
}

/// Why no token was made.
#[derive(Debug, thiserror::Error)]
pub enum NoToken {
    #[error("an account has at most {MOST_TOKENS} tokens: revoke one first")]
    TooMany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes, checks and revokes tokens.
#[derive(Clone, Debug)]
pub struct Tokens {
    store: Arc<GraphStore>,
    audit: Audit,
}

impl Tokens {
    pub fn new(store: Arc<GraphStore>, audit: Audit) -> Self {
        Self { store, audit }
    }

    /// Makes a token. `by` is who requested it, for the audit log.
    ///
    /// # Errors
    /// Fails when the account has too many tokens, or the graph cannot be reached.
    pub async fn make(&self, wanted: WantedToken, by: &str) -> Result<SecretToken, NoToken> {
        let WantedToken {
            account,
            places,
            until,
        } = wanted;
        let accounts = [account.id.clone()];
        if self.store.tokens(Some(&accounts)).await?.len() >= MOST_TOKENS {
            return Err(NoToken::TooMany);
        }
        let secret = SecretToken::fresh();
        let kept = KeptToken {
            id: Uuid::now_v7().to_string(),
            hash: hash(secret.as_str()),
            account,
            places,
            created_at: Utc::now(),
            until,
            used_at: None,
        };
        self.store.keep_token(&kept).await?;
        let about = &kept.account.id;
        self.audit
            .record_action(by, AuditAction::MadeToken, about, None)
            .await;
        Ok(secret)
    }

    /// Returns what is kept of a token; `None` if it was never made, was revoked, or has expired.
    ///
    /// # Errors
    /// Fails when the graph cannot be reached; the token then grants no access.
    pub async fn check(&self, token: &str) -> Result<Option<KeptToken>, StoreError> {
        if !token.starts_with(PREFIX) {
            return Ok(None);
        }
        let now = Utc::now();
        // The lookup is by a hash of 244 random bits, so its timing reveals nothing about them.
        let Some(kept) = self.store.token(&hash(token), now).await? else {
            return Ok(None);
        };
        if blake3::Hash::from_hex(&kept.hash).ok() != Some(blake3::hash(token.as_bytes())) {
            return Ok(None);
        }
        if let Err(error) = self.store.token_used(&kept, now).await {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "when a token was used could not be kept");
        }
        Ok(Some(kept))
    }

    /// Whether the token with this hash is still valid.
    ///
    /// # Errors
    /// Fails when the graph cannot be reached.
    pub async fn is_valid(&self, hash: &str) -> Result<bool, StoreError> {
        let kept = self.store.token(hash, Utc::now()).await?;
        Ok(kept.is_some())
    }

    /// Returns the tokens of some accounts or of all, oldest first.
    ///
    /// # Errors
    /// Fails when the graph cannot be reached.
    pub async fn list(&self, accounts: Option<&[String]>) -> Result<Vec<KeptToken>, StoreError> {
        self.store.tokens(accounts).await
    }

    /// Revokes tokens; they grant no access from now on.
    ///
    /// # Errors
    /// Fails when the graph cannot be reached.
    pub async fn revoke(&self, tokens: &[KeptToken], by: &str) -> Result<(), StoreError> {
        let ids: Vec<String> = tokens.iter().map(|it| it.id.clone()).collect();
        self.store.revoke_tokens(&ids).await?;
        for token in tokens {
            let about = &token.account.id;
            self.audit
                .record_action(by, AuditAction::RevokedToken, about, None)
                .await;
        }
        Ok(())
    }
}

/// When a token expires that is made now for `30 days` or `12h`. `None` if the words do not name a duration.
pub fn ends_after(life: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let life = TimeDelta::from_std(humantime::parse_duration(life).ok()?).ok()?;
    let is_fitting = life > TimeDelta::zero() && life <= MAX_LIFETIME;
    is_fitting.then(|| now.checked_add_signed(life))?
}

/// The hash by which a token is kept.
pub fn hash(token: &str) -> String {
    blake3::hash(token.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use muninn_platform::redact::{MARK, without_secrets};

    use super::*;

    #[test]
    fn a_token_is_long_and_its_own_and_is_taken_out_of_what_people_write() {
        let (one, other) = (SecretToken::fresh(), SecretToken::fresh());
        assert_ne!(one.as_str(), other.as_str());
        assert_eq!(one.as_str().len(), PREFIX.len() + 64);
        assert!(!format!("{one:?}").contains(one.as_str()));
        let said = format!("my token is {}, use it", one.as_str());
        assert_eq!(
            without_secrets(&said),
            format!("my token is {MARK}, use it")
        );
    }

    #[test]
    fn a_life_is_a_time_that_ends() {
        let now = DateTime::UNIX_EPOCH;
        let ends = |life| ends_after(life, now).map(|at| at.timestamp());
        assert_eq!(ends("30 days"), Some(30 * 86_400));
        assert_eq!(ends("12h"), Some(12 * 3_600));
        for none in ["", "0s", "ever", "-1h", "900 years"] {
            assert_eq!(ends(none), None, "{none}");
        }
    }
}
