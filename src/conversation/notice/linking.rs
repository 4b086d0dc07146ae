//! What is said of accounts of one person.

use muninn_texts::{Text, Value, text};

use crate::graph::accounts::Account;

/// What is said of linked accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkNotice {
    /// The code by which another account is linked to this one.
    Code(String),
    /// These accounts are the author's, too.
    Linked(Vec<Account>),
    /// Said to those whose account it was linked to.
    LinkedElsewhere(Account),
    /// Accounts are linked in direct messages alone.
    NeedsDirectMessage,
    OwnCode,
    WrongCode,
    TooManyCodes,
    TooManyAccounts(usize),
    Unlinked(Vec<Account>),
    /// Said to those whose account it was linked to.
    UnlinkedElsewhere(Account),
    NothingLinked,
    /// The account was not used for long.
    Ended,
}

impl LinkNotice {
    /// Its sentence.
    pub(super) fn text(&self) -> Text {
        match self {
            Self::Code(code) => text!("link-code", code),
            Self::Linked(others) => text!("linked", others = accounts(others)),
            Self::LinkedElsewhere(account) => {
                text!("linked-elsewhere", account = an_account(account))
            }
            Self::NeedsDirectMessage => text!("link-needs-direct-message"),
            Self::OwnCode => text!("own-link-code"),
            Self::WrongCode => text!("wrong-link-code"),
            Self::TooManyCodes => text!("too-many-link-codes"),
            Self::TooManyAccounts(most) => text!("too-many-accounts", most = *most),
            Self::Unlinked(others) => text!("unlinked", others = accounts(others)),
            Self::UnlinkedElsewhere(account) => {
                text!("unlinked-elsewhere", account = an_account(account))
            }
            Self::NothingLinked => text!("nothing-linked"),
            Self::Ended => text!("link-ended"),
        }
    }
}

/// "your account Maria on Discord and your account @maria:example.org on Matrix"
fn accounts(accounts: &[Account]) -> Value {
    Value::list(accounts.iter().map(an_account))
}

fn an_account(account: &Account) -> Text {
    let Account { platform, name, .. } = account;
    let (first, rest) = platform.split_at(platform.len().min(1));
    let platform = format!("{}{rest}", first.to_uppercase());
    text!("an-account", name, platform)
}
