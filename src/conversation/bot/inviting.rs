//! Access outside of chat: links to the pages, and tokens for people's programs.

use std::sync::{Arc, Weak};

use chrono::Utc;
use muninn_platform::{Command, IncomingMessage, PrivateFallback, Reply, TokenDeed};

use super::Bot;
use crate::conversation::notice::{Notice, TokenNotice};
use crate::conversation::pages::{Invites, NoMembershipData};
use crate::conversation::people::account_of;
use crate::conversation::readable::ProgramAccess;
use crate::conversation::tokens::{NoToken, Tokens, WantedToken, ends_after};
use crate::conversation::turn::tell_privately;
use crate::graph::StoreError;

impl Bot {
    /// Sets what creates links to the pages. To be called once, before the bot runs.
    pub fn set_pages(&self, pages: Weak<dyn Invites>) {
        // A second one would be another page.
        let _ = self.pages.set(pages);
    }

    fn pages(&self) -> Option<Arc<dyn Invites>> {
        self.pages.get().and_then(Weak::upgrade)
    }

    /// Sends the author a link to the pages, or ends the sessions that their links opened.
    pub(super) async fn handle_pages_command(
        &self,
        message: &IncomingMessage,
        command: &Command,
        reply: &mut dyn Reply,
    ) {
        let notice = match (self.pages(), command) {
            (None, _) => Notice::NoPages,
            (Some(pages), Command::WebSignOut) => {
                Notice::SignedOut(pages.sign_out(&message.accounts()))
            }
            (Some(pages), _) => match pages.invite(&account_of(message)) {
                Ok(link) => Notice::PagesLink(link),
                Err(NoMembershipData) => Notice::NoPagesHere,
            },
        };
        let said = notice.in_language(message.languages.person);
        tell_privately(reply, &said, PrivateFallback::Nowhere).await;
    }

    /// Sets how programs ask. To be called once, before the bot runs.
    pub fn set_programs(&self, programs: ProgramAccess) {
        // A second one would be another address.
        let _ = self.programs.set(programs);
    }

    /// Makes, lists or revokes the author's tokens.
    pub(super) async fn handle_token_command(
        &self,
        message: &IncomingMessage,
        deed: &TokenDeed,
        reply: &mut dyn Reply,
    ) {
        let said = self.token_deed(message, deed).await;
        let said = said.unwrap_or_else(|error| {
            tracing::warn!(error = &error as &dyn std::error::Error, "a command failed");
            Notice::of_store_error(&error)
        });
        let said = said.in_language(message.languages.person);
        tell_privately(reply, &said, PrivateFallback::Nowhere).await;
    }

    async fn token_deed(
        &self,
        message: &IncomingMessage,
        deed: &TokenDeed,
    ) -> Result<Notice, StoreError> {
        let store = Arc::clone(self.archive.store());
        let tokens = Tokens::new(store, self.commands.audit.clone());
        let (accounts, who) = (message.accounts(), &message.author.id);
        match deed {
            TokenDeed::Make { everywhere, life } => {
                let Some(ProgramAccess { address, readable }) = self.programs.get() else {
                    return Ok(Notice::Token(TokenNotice::NoMcp));
                };
                let account = account_of(message);
                if !readable.is_told_by(&account.platform) {
                    return Ok(Notice::Token(TokenNotice::NoTokenHere));
                }
                let until = match life {
                    None => None,
                    Some(life) => match ends_after(life, Utc::now()) {
                        None => return Ok(Notice::Token(TokenNotice::NoSuchLife(life.clone()))),
                        until => until,
                    },
                };
                let place = (!everywhere).then(|| message.channel().channel());
                let wanted = WantedToken {
                    account,
                    places: place.map(|place| vec![place]),
                    until,
                };
                match tokens.make(wanted, who).await {
                    Ok(token) => Ok(Notice::Token(TokenNotice::Made {
                        token: token.as_str().to_owned(),
                        address: address.clone(),
                        is_everywhere: *everywhere,
                        until,
                    })),
                    Err(NoToken::TooMany) => Ok(Notice::Token(TokenNotice::TooMany)),
                    Err(NoToken::Store(error)) => Err(error),
                }
            }
            TokenDeed::List => Ok(Notice::Token(TokenNotice::List(
                tokens.list(Some(&accounts)).await?,
            ))),
            TokenDeed::Revoke(number) => {
                let all = tokens.list(Some(&accounts)).await?;
                let revoked = match number {
                    None => all.as_slice(),
                    Some(number) => {
                        let at = usize::try_from(*number).unwrap_or(usize::MAX);
                        let one = at.checked_sub(1).and_then(|at| all.get(at..=at));
                        match one {
                            Some(one) => one,
                            None => return Ok(Notice::Token(TokenNotice::NoSuchToken(*number))),
                        }
                    }
                };
                tokens.revoke(revoked, who).await?;
                Ok(Notice::Token(TokenNotice::Revoked(revoked.len())))
            }
        }
    }

    /// Signs these accounts out of the pages, so that nobody still sees what was just forgotten.
    pub(super) fn sign_out(&self, accounts: &[String]) {
        if let Some(pages) = self.pages() {
            pages.sign_out(accounts);
        }
    }
}
