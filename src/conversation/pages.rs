//! Lets the chat create links to the [pages](crate::web) for people who ask for one.

use std::fmt;

use crate::graph::accounts::Account;

/// Lets people in to the pages.
pub trait Invites: Send + Sync {
    /// Returns an address that signs this account in, once, within five minutes.
    ///
    /// # Errors
    /// Fails when the account could see nothing there.
    fn invite(&self, account: &Account) -> Result<String, NoMembershipData>;

    /// Signs out everybody who came in with links of these accounts. Returns how many sessions ended.
    fn sign_out(&self, accounts: &[String]) -> usize;
}

/// The account's platform does not tell who may read what, so nothing can be shown to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMembershipData;

impl fmt::Debug for dyn Invites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invites").finish_non_exhaustive()
    }
}
