//! Access to the pages: links that work once, and the sessions that they open for a while. There is no other
//! way in.
//!
//! Only hashes are kept, in memory only: a restart signs everybody out.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;
use uuid::Uuid;

use crate::graph::accounts::Account;

/// How long a link is valid.
pub const LINK_LIFE: TimeDelta = TimeDelta::minutes(5);
/// How long a session lasts.
pub const SESSION_LIFETIME: TimeDelta = TimeDelta::hours(12);
/// Maximum number of pending links, and of sessions; the oldest are dropped.
const MAX_GRANTS: usize = 10_000;
/// The same per account, so that nobody's links displace those of others.
const MAX_GRANTS_PER_ACCOUNT: usize = 20;

/// The visitor of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// The operator, who sees everything.
    Operator,
    /// Somebody who asked for a link in chat and sees what this account may read there.
    Person(Account),
}

/// A secret that is issued once: 244 random bits, in letters and digits that no markup changes.
#[derive(Clone)]
pub struct WebAccessToken(String);

impl WebAccessToken {
    fn fresh() -> Self {
        let halves = [Uuid::new_v4(), Uuid::new_v4()];
        Self(halves.map(|half| half.simple().to_string()).concat())
    }

    /// The token itself, for its owner only.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for WebAccessToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebAccessToken(…)")
    }
}

type Hash = [u8; blake3::OUT_LEN];

fn hash(token: &str) -> Hash {
    *blake3::hash(token.as_bytes()).as_bytes()
}

/// What a token grants, and to whom.
#[derive(Debug)]
struct TokenGrant {
    to: Viewer,
    until: DateTime<Utc>,
    /// The message at the top of the next page: the result of an action.
    receipt: Option<String>,
}

#[derive(Debug, Default)]
struct Tokens(HashMap<Hash, TokenGrant>);

impl Tokens {
    /// Adds a token, and drops expired ones, or the oldest if there are too many.
    fn grant(&mut self, to: Viewer, now: DateTime<Utc>, life: TimeDelta) -> WebAccessToken {
        self.0.retain(|_, granted| now < granted.until);
        let of_one = |granted: &&TokenGrant| granted.to == to;
        if self.0.values().filter(of_one).count() >= MAX_GRANTS_PER_ACCOUNT {
            self.drop_oldest(|granted| granted.to == to);
        }
        if self.0.len() >= MAX_GRANTS {
            self.drop_oldest(|_| true);
        }
        let token = WebAccessToken::fresh();
        let granted = TokenGrant {
            to,
            until: now + life,
            receipt: None,
        };
        self.0.insert(hash(token.as_str()), granted);
        token
    }

    fn drop_oldest(&mut self, of: impl Fn(&TokenGrant) -> bool) {
        let some = self.0.iter().filter(|(_, granted)| of(granted));
        let oldest = some.min_by_key(|(_, granted)| granted.until);
        if let Some(oldest) = oldest.map(|(hash, _)| *hash) {
            self.0.remove(&oldest);
        }
    }

    /// Drops the tokens of these accounts. Returns their number.
    fn drop_of(&mut self, accounts: &[String]) -> usize {
        let before = self.0.len();
        self.0.retain(|_, granted| match &granted.to {
            Viewer::Operator => true,
            Viewer::Person(account) => !accounts.contains(&account.id),
        });
        before - self.0.len()
    }
}

/// Pending links, and sessions.
#[derive(Debug, Default)]
pub struct Access {
    links: Mutex<Tokens>,
    signed_in: Mutex<Tokens>,
}

impl Access {
    /// Creates a link for this visitor.
    pub fn link(&self, to: Viewer, now: DateTime<Utc>) -> WebAccessToken {
        self.links.lock().grant(to, now, LINK_LIFE)
    }

    /// Whether a link is valid.
    pub fn is_link(&self, link: &str, now: DateTime<Utc>) -> bool {
        let links = self.links.lock();
        let granted = links.0.get(&hash(link));
        granted.is_some_and(|granted| now < granted.until)
    }

    /// Uses a link up, and starts a session for its visitor. `None` if it is unknown, used or expired.
    pub fn enter(&self, link: &str, now: DateTime<Utc>) -> Option<WebAccessToken> {
        let granted = self.links.lock().0.remove(&hash(link))?;
        let mut signed_in = self.signed_in.lock();
        (now < granted.until).then(|| signed_in.grant(granted.to, now, SESSION_LIFETIME))
    }

    /// The visitor of a session, if it is valid.
    pub fn viewer(&self, session: &str, now: DateTime<Utc>) -> Option<Viewer> {
        let signed_in = self.signed_in.lock();
        let granted = signed_in.0.get(&hash(session))?;
        (now < granted.until).then(|| granted.to.clone())
    }

    /// Keeps the result of an action for the next page.
    pub fn keep_receipt(&self, session: &str, receipt: String) {
        if let Some(granted) = self.signed_in.lock().0.get_mut(&hash(session)) {
            granted.receipt = Some(receipt);
        }
    }

    pub fn take_receipt(&self, session: &str) -> Option<String> {
        let mut signed_in = self.signed_in.lock();
        signed_in.0.get_mut(&hash(session))?.receipt.take()
    }

    pub fn sign_out(&self, session: &str) {
        self.signed_in.lock().0.remove(&hash(session));
    }

    /// Ends the sessions and links of these accounts. Returns the number of sessions.
    pub fn sign_out_all(&self, accounts: &[String]) -> usize {
        self.links.lock().drop_of(accounts);
        self.signed_in.lock().drop_of(accounts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
    }

    fn person(id: &str) -> Viewer {
        Viewer::Person(Account {
            id: id.to_owned(),
            platform: "slack".to_owned(),
            name: "Ann".to_owned(),
        })
    }

    #[test]
    fn a_link_works_once_and_for_five_minutes() {
        let access = Access::default();
        let link = access.link(person("ann"), at(0));
        assert!(access.is_link(link.as_str(), at(299)) && !access.is_link(link.as_str(), at(300)));
        let session = access.enter(link.as_str(), at(299)).unwrap();
        assert!(!access.is_link(link.as_str(), at(299)));
        assert!(access.enter(link.as_str(), at(299)).is_none());
        let viewer = access.viewer(session.as_str(), at(300));
        assert_eq!(viewer, Some(person("ann")));
        let late = access.link(Viewer::Operator, at(0));
        assert!(access.enter(late.as_str(), at(300)).is_none());
        assert!(access.enter(late.as_str(), at(0)).is_none());
    }

    #[test]
    fn nothing_else_lets_anybody_in() {
        let access = Access::default();
        let link = access.link(Viewer::Operator, at(0));
        assert_eq!(access.viewer(link.as_str(), at(0)), None);
        for wrong in ["", "x", &link.as_str()[1..]] {
            assert!(access.enter(wrong, at(0)).is_none(), "{wrong}");
        }
        assert!(!format!("{access:?}{link:?}").contains(link.as_str()));
    }

    #[test]
    fn one_is_signed_in_for_twelve_hours_or_until_one_signs_out() {
        let access = Access::default();
        let enter = |who| {
            let link = access.link(who, at(0));
            access.enter(link.as_str(), at(0)).unwrap()
        };
        let (first, second) = (enter(Viewer::Operator), enter(Viewer::Operator));
        access.sign_out(first.as_str());
        assert_eq!(access.viewer(first.as_str(), at(1)), None);
        let late = at(12 * 3_600);
        assert!(access.viewer(second.as_str(), at(12 * 3_600 - 1)).is_some());
        assert_eq!(access.viewer(second.as_str(), late), None);
    }

    #[test]
    fn an_account_is_signed_out_everywhere_and_no_other_one() {
        let access = Access::default();
        let enter = |id: &str| {
            let link = access.link(person(id), at(0));
            access.enter(link.as_str(), at(0)).unwrap()
        };
        let (one, two, other) = (enter("ann"), enter("ann"), enter("bob"));
        let waiting = access.link(person("ann"), at(0));
        assert_eq!(access.sign_out_all(&["ann".to_owned()]), 2);
        for gone in [one, two] {
            assert_eq!(access.viewer(gone.as_str(), at(0)), None);
        }
        assert!(access.enter(waiting.as_str(), at(0)).is_none());
        assert_eq!(access.viewer(other.as_str(), at(0)), Some(person("bob")));
    }

    #[test]
    fn a_receipt_is_for_one_page_of_the_one_who_did_it() {
        let access = Access::default();
        let link = access.link(person("ann"), at(0));
        let session = access.enter(link.as_str(), at(0)).unwrap();
        access.keep_receipt("another", "nobody's".to_owned());
        access.keep_receipt(session.as_str(), "Forgotten.".to_owned());
        let taken = access.take_receipt(session.as_str());
        assert_eq!(taken.as_deref(), Some("Forgotten."));
        assert_eq!(access.take_receipt(session.as_str()), None);
    }

    #[test]
    fn whoever_asks_for_many_links_drives_out_their_own() {
        let access = Access::default();
        let bobs = access.link(person("bob"), at(0));
        let first = access.link(person("ann"), at(0));
        for second in 1..=MAX_GRANTS_PER_ACCOUNT {
            access.link(person("ann"), at(i64::try_from(second).unwrap()));
        }
        assert!(access.enter(first.as_str(), at(30)).is_none());
        assert!(access.enter(bobs.as_str(), at(30)).is_some());
    }
}
