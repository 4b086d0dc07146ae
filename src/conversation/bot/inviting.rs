//! Giving people links to the pages.

use std::sync::{Arc, Weak};

use muninn_platform::{Command, IncomingMessage, Reply};

use super::Bot;
use crate::conversation::notice::Notice;
use crate::conversation::pages::{Invites, Uninvited};
use crate::conversation::people::account_of;
use crate::conversation::turn::tell_privately;

impl Bot {
    /// Has people let in to pages by these. To be called once, before the bot runs.
    pub fn invites_by(&self, pages: Weak<dyn Invites>) {
        // A second one would be another page.
        let _ = self.pages.set(pages);
    }

    fn pages(&self) -> Option<Arc<dyn Invites>> {
        self.pages.get().and_then(Weak::upgrade)
    }

    /// Gives whoever asks a link, or ends what came of their links.
    pub(super) async fn see_to_pages(
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
                Err(Uninvited) => Notice::NoPagesHere,
            },
        };
        tell_privately(reply, &notice.in_language(message.languages.person)).await;
    }

    /// Nobody is to see what was forgotten, where it was shown a moment ago.
    pub(super) fn sign_out(&self, accounts: &[String]) {
        if let Some(pages) = self.pages() {
            pages.sign_out(accounts);
        }
    }
}
