//! What was said in a conversation, and why.

use muninn_platform::{ConversationId, IncomingMessage, Language, MessageId, TimeZone, excerpt};
use muninn_texts::Value;

use super::{CommandAnswer, Commands, answering, items};
use crate::conversation::explain::explain;
use crate::conversation::notice::{ItemNotice, Notice};
use crate::graph::answers::WhichResponse;
use crate::graph::items::ReadTurn;
use crate::graph::{ResponseId, StoreError, Turn};

/// Number of turns that `history` shows.
const HISTORY: usize = 20;

impl Commands {
    pub(super) async fn history(
        &self,
        message: &IncomingMessage,
    ) -> Result<CommandAnswer, StoreError> {
        let mut turns = self.archive.window(message, HISTORY).await?;
        turns.retain(Turn::is_answered);
        if turns.is_empty() {
            // Where answers are in threads, people ask outside of them.
            let audience = &message.audience.id;
            turns = self.archive.store().last_turns(audience, HISTORY).await?;
        }
        if turns.is_empty() {
            return Ok(answering(&Notice::NothingYet, message));
        }
        let zone = self.recaller.time_zone_of(message);
        let line = |turn| in_history(turn, message.language(), zone);
        let lines: Vec<String> = turns.iter().map(line).collect();
        let silences = self.silences(message).await?;
        let lines: Vec<String> = lines.into_iter().chain(silences).collect();
        Ok(CommandAnswer {
            text: lines.join("\n"),
            shows: turns.iter().map(ReadTurn::from).collect(),
            items: Vec::new(),
        })
    }

    /// Explains the last answer of this conversation, or else of this place: where answers are in
    /// threads, people ask outside of them.
    pub(super) async fn why_last(
        &self,
        message: &IncomingMessage,
    ) -> Result<CommandAnswer, StoreError> {
        let store = self.archive.store();
        let here = WhichResponse::LastIn(&message.conversation);
        let place = WhichResponse::LastOf(&message.audience.id);
        if store.find_response(here).await?.is_none()
            && let Some((session, response)) = store.find_response(place).await?
        {
            return self.why(message, &session, Some(response)).await;
        }
        let mut said = self.why(message, &message.conversation, None).await?;
        if let Some(line) = self.silences(message).await? {
            said.text = format!("{}\n{line}", said.text);
        }
        Ok(said)
    }

    pub(super) async fn why_of(
        &self,
        message: &IncomingMessage,
        answer: &MessageId,
    ) -> Result<CommandAnswer, StoreError> {
        let found = self
            .archive
            .response_of_message(&message.audience.id, answer);
        match found.await? {
            Some((session, response)) => self.why(message, &session, Some(response)).await,
            None => Ok(answering(&Notice::NoSuchAnswer, message)),
        }
    }

    pub(super) async fn why(
        &self,
        message: &IncomingMessage,
        session: &ConversationId,
        response: Option<ResponseId>,
    ) -> Result<CommandAnswer, StoreError> {
        let explained = self.archive.store().explain(session, response).await?;
        let Some(explained) = explained else {
            return Ok(answering(&Notice::NothingYet, message));
        };
        let zone = self.recaller.time_zone_of(message);
        let mut text = explain(&explained, message.language(), zone);
        let recalled = || explained.recalled.iter().map(|(_, turn)| turn);
        if !explained.recalled.is_empty() && self.number_recalled(message, recalled()).await {
            let hint = Notice::Item(ItemNotice::RecalledHint).in_language(message.language());
            text = format!("{text}\n{hint}");
        }
        let items = items::shown(recalled());
        let shown = std::iter::once(&explained.turn).chain(recalled());
        let shows = shown.map(ReadTurn::from).collect();
        Ok(CommandAnswer { text, shows, items })
    }

    /// How often the model chose not to answer in this conversation.
    pub(super) async fn silences(
        &self,
        message: &IncomingMessage,
    ) -> Result<Option<String>, StoreError> {
        let store = self.archive.store();
        let kept = store.attention(&message.conversation, &message.audience.id);
        let kept = kept.await?;
        let last = kept.last_silent_at.filter(|_| kept.silences > 0);
        Ok(last.map(|last| {
            let times = kept.silences;
            let last = last.with_timezone(&self.recaller.time_zone_of(message));
            Notice::StayedSilent { times, last }.in_language(message.language())
        }))
    }
}

fn in_history(turn: &Turn, language: Language, zone: TimeZone) -> String {
    let at = Value::moment(&turn.created_at.with_timezone(&zone)).in_language(language);
    format!(
        "[{at}] {}: {}\n    {}",
        turn.author_name,
        excerpt(&turn.input),
        excerpt(&turn.output),
    )
}
