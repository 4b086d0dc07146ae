//! The caller of a tool.

use muninn_platform::AudienceId;

use crate::graph::accounts::Account;
use crate::graph::tokens::KeptToken;

/// A person for whom a program asks.
#[derive(Clone, Debug)]
pub struct Caller {
    pub(super) account: Account,
    /// The channels, rooms and direct messages that the program reads. `None` means all that the person may
    /// read.
    pub(super) places: Option<Vec<AudienceId>>,
    /// The key by which its calls are counted: the hash of its token, or its account.
    pub(super) key: String,
    /// The hash of its token, if it has one.
    pub(super) token: Option<String>,
}

impl Caller {
    pub(super) fn of_token(token: KeptToken) -> Self {
        Self {
            account: token.account,
            places: token.places,
            key: token.hash.clone(),
            token: Some(token.hash),
        }
    }

    /// A program started on the bot's own machine: it reads what is said in terminals, like their users.
    pub fn at_terminal(account: Account) -> Self {
        Self {
            places: Some(vec![AudienceId::new(&account.platform)]),
            key: account.id.clone(),
            token: None,
            account,
        }
    }

    /// Whether the program reads a place, as far as its person may.
    pub(super) fn reads(&self, place: &AudienceId) -> bool {
        let channel = place.channel();
        let places = self.places.as_ref();
        places.is_none_or(|places| places.contains(&channel))
    }
}
