//! Links accounts on several platforms as those of one person, and unlinks them.
//!
//! A code is carried from one direct message to another. This proves that the same person is at both accounts and
//! wants the link.

use muninn_platform::IncomingMessage;

use super::Commands;
use crate::conversation::audit::AuditAction;
use crate::conversation::notice::{LinkNotice, Notice};
use crate::conversation::people::account_of;
use crate::graph::StoreError;
use crate::graph::accounts::CodeEntryResult;

impl Commands {
    /// Returns a code, or links the author's account to the account that was given this code.
    pub(super) async fn link_accounts(
        &self,
        message: &IncomingMessage,
        code: Option<&str>,
    ) -> Result<Notice, StoreError> {
        if !message.is_direct() {
            return Ok(Notice::Link(LinkNotice::NeedsDirectMessage));
        }
        let (account, home) = (account_of(message), &message.audience.id);
        let Some(code) = code else {
            let code = self.people.create_link_code(&account, home).await?;
            return Ok(Notice::Link(LinkNotice::Code(code)));
        };
        Ok(
            match self.people.redeem_link_code(&account, home, code).await? {
                CodeEntryResult::Linked(accounts) => {
                    let (about, count) = (&account.id, Some(accounts.len()));
                    self.audit
                        .record_message_action(message, AuditAction::Linked, about, count)
                        .await;
                    let others = accounts.into_iter().filter(|it| it.id != account.id);
                    Notice::Link(LinkNotice::Linked(others.collect()))
                }
                CodeEntryResult::Own => Notice::Link(LinkNotice::OwnCode),
                CodeEntryResult::Wrong => Notice::Link(LinkNotice::WrongCode),
                CodeEntryResult::TooOften => Notice::Link(LinkNotice::TooManyCodes),
                CodeEntryResult::TooMany(most) => Notice::Link(LinkNotice::TooManyAccounts(most)),
            },
        )
    }

    /// Removes the author's account from the accounts that it is linked to.
    pub(super) async fn unlink_account(
        &self,
        message: &IncomingMessage,
    ) -> Result<Notice, StoreError> {
        let account = account_of(message);
        let others = self.people.unlink(&account).await?;
        if others.is_empty() {
            return Ok(Notice::Link(LinkNotice::NothingLinked));
        }
        let count = Some(others.len());
        self.audit
            .record_message_action(message, AuditAction::Unlinked, &account.id, count)
            .await;
        Ok(Notice::Link(LinkNotice::Unlinked(others)))
    }
}
