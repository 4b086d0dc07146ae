//! What the bot answers about itself: `help`, `history`, `why`, `usage`, `forget`.

use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use muninn_platform::{
    AudienceId, Command, ConversationId, ForgetWhat, IncomingMessage, MessageId,
};

use crate::explain::explain;
use crate::graph::answers::Spent;
use crate::graph::{Forget, Forgotten, ResponseId, StoreError, Turn};
use crate::memory::{Archive, Recaller};
use crate::notice::Notice;
use crate::prompts::one_line;
use crate::session::{SessionGuard, Sessions};

/// Turns that `history` shows.
const HISTORY: usize = 20;
/// Turns that are looked through for somebody's last one.
const LOOK_BACK: usize = 64;
/// Characters of a turn in a listing.
const EXCERPT: usize = 200;

const HELP: &str = "\
What you can ask of me:
- `help`: this
- `about`: what I am, and what I remember here
- `history`: what was said here lately
- `why`: what my last answer was made from
- `forget last`: forget your last message here, with its answer
- `forget session`: forget everything said in this conversation
- `forget room`: forget everything said in this room or channel, in all its conversations
- `usage`: what you and this room have spent
Anything else is a message to me.";

const ABOUT: &str = "\
I answer questions, and I remember what was said to me here: when it helps with a later question, I recall it. What I \
remember of a place is recalled for those who are in it and for nobody else. Messages that are deleted are forgotten, \
and so is whatever you tell me to forget.";

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
            Command::Why => self.why_last(message).await,
            Command::WhyOf(answer) => self.why_of(message, answer).await,
            Command::About => self.about(message).await,
            Command::Usage => self.usage(message).await,
            // The bot sees to these itself: they are about other sessions than the one it holds.
            Command::Again(_) | Command::Forget(ForgetWhat::Last | ForgetWhat::Audience) => {
                Ok(Notice::Failed.to_string())
            }
            Command::Forget(ForgetWhat::Session) => self.forget_session(guard, message).await,
        };
        self::said(said)
    }

    async fn history(&self, message: &IncomingMessage) -> Result<String, StoreError> {
        let turns = self.archive.window(message, HISTORY).await?;
        if turns.is_empty() {
            return Ok(Notice::NothingYet.to_string());
        }
        let turns: Vec<String> = turns.iter().map(in_history).collect();
        Ok(turns.join("\n"))
    }

    /// Of this conversation, or else of this place: where answers stand in threads, people ask
    /// beside them.
    async fn why_last(&self, message: &IncomingMessage) -> Result<String, StoreError> {
        let store = self.archive.store();
        if !store.takes_part(&message.conversation).await?
            && let Some((session, response)) = store.last_response(&message.audience.id).await?
        {
            return self.why(&session, Some(response)).await;
        }
        self.why(&message.conversation, None).await
    }

    async fn why_of(
        &self,
        message: &IncomingMessage,
        answer: &MessageId,
    ) -> Result<String, StoreError> {
        let found = self
            .archive
            .response_of_message(&message.audience.id, answer);
        match found.await? {
            Some((session, response)) => self.why(&session, Some(response)).await,
            None => Ok(Notice::NoSuchAnswer.to_string()),
        }
    }

    async fn about(&self, message: &IncomingMessage) -> Result<String, StoreError> {
        let extent = self.archive.store().extent(&message.audience.id).await?;
        let remembered = match (extent.turns, extent.since) {
            (0, _) | (_, None) => "I remember nothing of this place yet.".to_owned(),
            (turns, Some(since)) => format!(
                "I remember {turns} questions and answers from {} conversations here, since {}.",
                extent.sessions,
                since.format("%Y-%m-%d"),
            ),
        };
        Ok(format!("{ABOUT}\n\n{remembered}\n\n{HELP}"))
    }

    async fn why(
        &self,
        session: &ConversationId,
        response: Option<ResponseId>,
    ) -> Result<String, StoreError> {
        let explained = self.archive.store().explain(session, response).await?;
        Ok(explained.map_or_else(
            || Notice::NothingYet.to_string(),
            |explained| explain(&explained),
        ))
    }

    /// Forgets the last turn of the one who asks, and says what came of it. The caller holds no
    /// session: the turn may be of another one.
    pub async fn forget_last(&self, sessions: &Sessions, message: &IncomingMessage) -> String {
        let forgotten = async {
            let Some((session, last)) = self.last_of(message).await? else {
                return Ok(Notice::NothingToForget);
            };
            let guard = sessions.lock(&session).await;
            let audience = &message.audience.id;
            let Forgotten { quotes, .. } = self.forget_turn(&guard, audience, last).await?;
            Ok(Notice::ForgotTurn { quotes })
        };
        said(forgotten.await.map(|notice| notice.to_string()))
    }

    /// The last turn of the one who asks, in this conversation, or else in this place: where answers
    /// stand in threads, people ask beside them.
    async fn last_of(
        &self,
        message: &IncomingMessage,
    ) -> Result<Option<(ConversationId, ResponseId)>, StoreError> {
        let turns = self.archive.window(message, LOOK_BACK).await?;
        if turns.is_empty() {
            let store = self.archive.store();
            let (audience, person) = (&message.audience.id, &message.author.id);
            return store.last_turn_by(audience, person).await;
        }
        let mine = turns.iter().rfind(|turn| turn.author == message.author.id);
        Ok(mine.map(|turn| (message.conversation.clone(), turn.id)))
    }

    /// Forgets one turn, wherever it is kept.
    ///
    /// # Errors
    /// When the graph cannot be asked.
    pub async fn forget_turn(
        &self,
        guard: &SessionGuard,
        audience: &AudienceId,
        turn: ResponseId,
    ) -> Result<Forgotten, StoreError> {
        let waiting = self
            .archive
            .forget(guard.session(), |waiting| waiting.id == turn)
            .await;
        let mut forgotten = self
            .archive
            .store()
            .forget(guard, Forget::Turn(turn))
            .await?;
        forgotten.turns += waiting;
        self.recaller.forget(audience);
        Ok(forgotten)
    }

    /// Forgets everything said in an audience, one session after the other, and says what came of
    /// it. The caller holds no session, so that two who do this at once do not wait for each other.
    pub async fn forget_audience(&self, sessions: &Sessions, message: &IncomingMessage) -> String {
        if !message.author.is_admin {
            return Notice::AdministratorNeeded.to_string();
        }
        let forgotten = self.forget_sessions(sessions, &message.audience.id).await;
        said(forgotten.map(|turns| {
            match turns {
                0 => Notice::NothingYet,
                turns => Notice::ForgotAudience { turns },
            }
            .to_string()
        }))
    }

    async fn forget_sessions(
        &self,
        sessions: &Sessions,
        audience: &AudienceId,
    ) -> Result<usize, StoreError> {
        let store = self.archive.store();
        let mut turns = 0;
        for session in store.sessions_of(audience).await? {
            let guard = sessions.lock(&session).await;
            turns += store.forget(&guard, Forget::Session).await?.turns;
            turns += self.archive.forget(&session, |_| true).await;
        }
        self.recaller.forget(audience);
        Ok(turns)
    }

    async fn usage(&self, message: &IncomingMessage) -> Result<String, StoreError> {
        let store = self.archive.store();
        let (person, audience) = (&message.author.id, &message.audience.id);
        let mut lines = Vec::new();
        for (days, called) in [(1, "the last 24 hours"), (30, "the last 30 days")] {
            let since = Utc::now() - TimeDelta::days(days);
            let usage = store.usage(person, audience, since).await?;
            lines.push(format!("In {called}:"));
            lines.push(format!("- you: {}", spent(usage.person)));
            lines.push(format!("- here, all together: {}", spent(usage.audience)));
        }
        Ok(lines.join("\n"))
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

/// The outcome of a command, in words.
fn said(outcome: Result<String, StoreError>) -> String {
    outcome.unwrap_or_else(|error| {
        tracing::warn!(error = &error as &dyn std::error::Error, "a command failed");
        let notice = if error.is_transient() {
            Notice::StoreNeeded
        } else {
            Notice::Failed
        };
        notice.to_string()
    })
}

fn spent(spent: Spent) -> String {
    let Spent {
        turns,
        prompt_tokens,
        completion_tokens,
    } = spent;
    format!("{turns} answers, {prompt_tokens} tokens read and {completion_tokens} written")
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
    let line = one_line(text);
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}
