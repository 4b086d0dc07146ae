//! Who may look: links that work once, and what they open for a while. Nothing else lets anybody in.
//!
//! Only hashes are kept, and only in memory: a restart signs everybody out.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;
use uuid::Uuid;

/// How long a link can be used.
pub const LINK_LIFE: TimeDelta = TimeDelta::minutes(5);
/// How long somebody stays signed in.
pub const SIGNED_IN: TimeDelta = TimeDelta::hours(12);
/// Links that wait, and people who are signed in, at most; the oldest give way.
const MOST: usize = 1_000;

/// A secret that is given out once: 244 random bits.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    fn fresh() -> Self {
        let halves = [Uuid::new_v4(), Uuid::new_v4()];
        let bytes: Vec<u8> = halves.iter().flat_map(|half| *half.as_bytes()).collect();
        Self(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// To be given to whoever it is for, and to nobody else.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

type Hash = [u8; blake3::OUT_LEN];

fn hash(token: &str) -> Hash {
    *blake3::hash(token.as_bytes()).as_bytes()
}

/// Links and those who are signed in.
#[derive(Debug, Default)]
pub struct Access {
    /// Until when each link can be used.
    links: Mutex<HashMap<Hash, DateTime<Utc>>>,
    /// Until when each is signed in.
    signed_in: Mutex<HashMap<Hash, DateTime<Utc>>>,
}

impl Access {
    /// What makes a link, for the operator.
    pub fn link(&self, now: DateTime<Utc>) -> Token {
        let token = Token::fresh();
        keep(
            &mut self.links.lock(),
            hash(token.as_str()),
            now,
            now + LINK_LIFE,
        );
        token
    }

    /// Uses a link up, and signs in whoever brought it. None: it was used, is too old, or never was.
    pub fn enter(&self, link: &str, now: DateTime<Utc>) -> Option<Token> {
        let until = self.links.lock().remove(&hash(link))?;
        if until <= now {
            return None;
        }
        let token = Token::fresh();
        let until = now + SIGNED_IN;
        keep(&mut self.signed_in.lock(), hash(token.as_str()), now, until);
        Some(token)
    }

    /// Whether whoever brings this is signed in.
    pub fn is_signed_in(&self, session: &str, now: DateTime<Utc>) -> bool {
        let until = self.signed_in.lock().get(&hash(session)).copied();
        until.is_some_and(|until| now < until)
    }

    pub fn sign_out(&self, session: &str) {
        self.signed_in.lock().remove(&hash(session));
    }
}

/// Adds one, and drops what is over, or the oldest where there are too many.
fn keep(
    kept: &mut HashMap<Hash, DateTime<Utc>>,
    new: Hash,
    now: DateTime<Utc>,
    until: DateTime<Utc>,
) {
    kept.retain(|_, until| now < *until);
    if kept.len() >= MOST {
        let oldest = kept.iter().min_by_key(|(_, until)| **until);
        if let Some(oldest) = oldest.map(|(hash, _)| *hash) {
            kept.remove(&oldest);
        }
    }
    kept.insert(new, until);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
    }

    #[test]
    fn a_link_works_once_and_for_five_minutes() {
        let access = Access::default();
        let link = access.link(at(0));
        let session = access.enter(link.as_str(), at(299)).unwrap();
        assert!(access.enter(link.as_str(), at(299)).is_none());
        assert!(access.is_signed_in(session.as_str(), at(300)));
        let late = access.link(at(0));
        assert!(access.enter(late.as_str(), at(300)).is_none());
        assert!(access.enter(late.as_str(), at(0)).is_none());
    }

    #[test]
    fn nothing_else_lets_anybody_in() {
        let access = Access::default();
        let link = access.link(at(0));
        assert!(!access.is_signed_in(link.as_str(), at(0)));
        for wrong in ["", "x", &link.as_str()[1..]] {
            assert!(access.enter(wrong, at(0)).is_none(), "{wrong}");
        }
        assert!(!format!("{access:?}{link:?}").contains(link.as_str()));
    }

    #[test]
    fn one_is_signed_in_for_twelve_hours_or_until_one_signs_out() {
        let access = Access::default();
        let enter = || access.enter(access.link(at(0)).as_str(), at(0)).unwrap();
        let (first, second) = (enter(), enter());
        access.sign_out(first.as_str());
        assert!(!access.is_signed_in(first.as_str(), at(1)));
        assert!(access.is_signed_in(second.as_str(), at(12 * 3_600 - 1)));
        assert!(!access.is_signed_in(second.as_str(), at(12 * 3_600)));
    }

    #[test]
    fn of_too_many_links_the_oldest_give_way() {
        let access = Access::default();
        let first = access.link(at(0));
        let second = access.link(at(1));
        for _ in 0..MOST - 1 {
            access.link(at(2));
        }
        assert!(access.enter(first.as_str(), at(3)).is_none());
        assert!(access.enter(second.as_str(), at(3)).is_some());
    }
}
