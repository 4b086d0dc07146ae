//! Letting people in to the [pages](crate::web), as the pages offer it to whoever asks for it in chat.

use std::fmt;

use crate::graph::accounts::Account;

/// Lets people in to the pages.
pub trait Invites: Send + Sync {
    /// An address that lets this account in, once, within five minutes.
    ///
    /// # Errors
    /// When it could see nothing there.
    fn invite(&self, account: &Account) -> Result<String, Uninvited>;

    /// Signs out everybody whom links of these accounts let in; gives how many that were.
    fn sign_out(&self, accounts: &[String]) -> usize;
}

/// The platform of the account does not tell who may read what, so nothing can be shown to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uninvited;

impl fmt::Debug for dyn Invites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invites").finish_non_exhaustive()
    }
}
