//! What the bot answers about itself: `help`, `history`, `why`, `forget`.

use std::sync::Arc;

use muninn_platform::{Command, ForgetWhat, IncomingMessage};

use crate::explain::explain;
use crate::graph::{Forget, StoreError, Turn};
use crate::memory::{Archive, Recaller};
use crate::notice::Notice;
use crate::session::SessionGuard;

/// Turns that `history` shows.
const HISTORY: usize = 20;
/// Turns that are looked through for somebody's last one.
const LOOK_BACK: usize = 64;
/// Characters of a turn in a listing.
const EXCERPT: usize = 200;

const HELP: &str = "\
What you can ask of me:
- `help`: this
- `history`: what was said here lately
- `why`: what my last answer was made from
- `forget last`: forget your last message here, with its answer
- `forget session`: forget everything said in this conversation
Anything else is a message to me.";

/// Runs commands.
#[derive(Debug)]
pub struct Commands {
    pub archive: Arc<Archive>,
    pub recaller: Arc<Recaller>,
}

impl Commands {
    /// Runs a command and says what came of it.
    pub async fn run(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        command: &Command,
    ) -> String {
        let said = match command {
            Command::Help => return HELP.to_owned(),
            Command::Unknown(name) => return Notice::UnknownCommand(name.clone()).to_string(),
            Command::History => self.history(message).await,
            Command::Why => self.why(message).await,
            Command::Forget(ForgetWhat::Last) => self.forget_last(guard, message).await,
            Command::Usage | Command::Forget(ForgetWhat::Audience) => return String::new(),
            Command::Forget(ForgetWhat::Session) => self.forget_session(guard, message).await,
        };
        said.unwrap_or_else(|error| {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                ?command,
                "a command failed"
            );
            let notice = if error.is_transient() {
                Notice::StoreNeeded
            } else {
                Notice::Failed
            };
            notice.to_string()
        })
    }

    async fn history(&self, message: &IncomingMessage) -> Result<String, StoreError> {
        let turns = self.archive.window(message, HISTORY).await?;
        if turns.is_empty() {
            return Ok(Notice::NothingYet.to_string());
        }
        let turns: Vec<String> = turns.iter().map(in_history).collect();
        Ok(turns.join("\n"))
    }

    async fn why(&self, message: &IncomingMessage) -> Result<String, StoreError> {
        let explained = self
            .archive
            .store()
            .explain(&message.conversation, None)
            .await?;
        Ok(explained.map_or_else(
            || Notice::NothingYet.to_string(),
            |explained| explain(&explained),
        ))
    }

    async fn forget_last(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
    ) -> Result<String, StoreError> {
        let is_mine = |turn: &Turn| turn.author == message.author.id;
        let store = self.archive.store();
        let turns = self.archive.window(message, LOOK_BACK).await?;
        let Some(last) = turns.iter().rfind(|turn| is_mine(turn)) else {
            return Ok(Notice::NothingToForget.to_string());
        };
        let forgotten = store.forget(guard, Forget::Turn(last.id)).await?;
        self.archive
            .forget(guard.session(), |turn| turn.id == last.id)
            .await;
        self.recaller.forget(&message.audience.id);
        Ok(Notice::ForgotTurn {
            quotes: forgotten.quotes,
        }
        .to_string())
    }

    async fn forget_session(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
    ) -> Result<String, StoreError> {
        let store = self.archive.store();
        if !message.author.is_admin && !self.all_mine(guard, message).await? {
            return Ok(Notice::NotYoursToForget.to_string());
        }
        let forgotten = store.forget(guard, Forget::Session).await?;
        let waiting = self.archive.forget(guard.session(), |_| true).await;
        self.recaller.forget(&message.audience.id);
        let turns = forgotten.turns + waiting;
        Ok(if turns == 0 {
            Notice::NothingToForget
        } else {
            Notice::ForgotSession { turns }
        }
        .to_string())
    }

    /// Whether only this person talked in the session.
    async fn all_mine(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
    ) -> Result<bool, StoreError> {
        let mut after = None;
        loop {
            let turns = self
                .archive
                .store()
                .chain(guard.session(), after, LOOK_BACK)
                .await?;
            if turns.iter().any(|turn| turn.author != message.author.id) {
                return Ok(false);
            }
            match turns.last() {
                Some(last) => after = Some(last.id),
                None => return Ok(true),
            }
        }
    }
}

fn in_history(turn: &Turn) -> String {
    format!(
        "[{}] {}: {}\n    {}",
        turn.created_at.format("%Y-%m-%d %H:%M"),
        turn.author_name,
        excerpt(&turn.input),
        excerpt(&turn.output),
    )
}

/// The beginning of a text, in one line.
pub(crate) fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}
