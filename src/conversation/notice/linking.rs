//! Notices about linked accounts.

use muninn_texts::{Text, Value, text};

use crate::graph::accounts::Account;

/// A notice about linked accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkNotice {
    /// The code by which another account is linked to this one.
    Code(String),
    /// These accounts belong to the author too.
    Linked(Vec<Account>),
    /// To the owners of the accounts to which another was linked.
    LinkedElsewhere(Account),
    /// Accounts can be linked in direct messages only.
    NeedsDirectMessage,
    OwnCode,
    WrongCode,
    TooManyCodes,
    TooManyAccounts(usize),
    Unlinked(Vec<Account>),
    /// To the owners of the accounts to which it was linked.
    UnlinkedElsewhere(Account),
    NothingLinked,
    /// The link ended because the account was not used for a long time.
    Ended,
}

impl LinkNotice {
    /// The sentence of the notice.
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
