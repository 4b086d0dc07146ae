//! Notes that a model proposed. They are kept only when the person who was asked agrees.

use muninn_platform::redact::without_secrets;
use muninn_platform::{ConversationId, IncomingMessage};

use super::Commands;
use crate::agent::tools::{notes, proposed};
use crate::graph::answers::WhichResponse;
use crate::graph::{ResponseId, Source, StoreError, Turn};
use crate::retrieval::language::WordList;
use crate::retrieval::text::lowercase_words;

const YES: WordList = WordList::of(
    "yes yeah yep yup sure ok okay absolutely definitely ja jo klar gerne oui ouais volontiers sí si claro vale sim sì certo \
    va bene graag tak jasne да конечно давай はい 是 好 можно",
);
const BESIDE: WordList = WordList::of(
    "please do it that save keep thanks thank you bitte danke mach das mal s'il te vous plaît merci d'accord por favor gracias \
    obrigado per favore grazie alsjeblieft proszę dziękuję пожалуйста спасибо",
);
/// Maximum number of words in an agreement.
const MOST_WORDS: usize = 5;
/// Maximum number of turns, from the last one back, among which the proposal of an earlier note is looked for.
const LOOKED_BACK: usize = 100;

/// Whether a message agrees and says nothing else.
fn agrees(text: &str) -> bool {
    let words = lowercase_words(text);
    let is_known = |word: &String| YES.has(word) || BESIDE.has(word);
    words.len() <= MOST_WORDS
        && words.iter().all(is_known)
        && words.iter().any(|word| YES.has(word))
        && !text.contains('?')
}

/// What a message agrees to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreed {
    Note(String),
    /// The call that this answer proposed.
    Call(ResponseId),
}

impl Commands {
    /// What a message agrees to: the proposal in the last answer to its author in this conversation.
    pub async fn find_agreed_proposal(
        &self,
        message: &IncomingMessage,
        text: &str,
    ) -> Option<Agreed> {
        if !agrees(text) {
            return None;
        }
        match self.proposal(message).await {
            Ok(proposal) => proposal,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "what was proposed cannot be known");
                None
            }
        }
    }

    /// Whether a note was proposed to its author, and the new text of the message that agreed still agrees and says nothing
    /// else. `edit` is about the message, and `session` is the note's.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn is_still_agreed(
        &self,
        session: &ConversationId,
        edit: &IncomingMessage,
        note: &Turn,
        text: &str,
    ) -> Result<bool, StoreError> {
        if !agrees(text) {
            return Ok(false);
        }
        let placed = IncomingMessage {
            conversation: session.clone(),
            ..edit.clone()
        };
        let window = self.archive.window(&placed, LOOKED_BACK).await?;
        let before = window.iter().take_while(|turn| turn.id != note.id);
        let is_theirs = |turn: &&Turn| turn.is_answered() && turn.author == note.author;
        let Some(last) = before.filter(is_theirs).last() else {
            return Ok(false);
        };
        let store = self.archive.store();
        let explained = store.explain(session, Some(last.id)).await?;
        let proposed = explained.and_then(|explained| notes::proposed(&explained.trace.tools));
        Ok(proposed.is_some_and(|proposed| without_secrets(&proposed) == note.input))
    }

    async fn proposal(&self, message: &IncomingMessage) -> Result<Option<Agreed>, StoreError> {
        let store = self.archive.store();
        // The message may be delivered again after its note was kept, and before that was said.
        let kept = self.archive.turn_of_event(&message.event).await?;
        if let Some(note) = kept.filter(Turn::is_note) {
            return Ok(Some(Agreed::Note(note.input)));
        }
        let last = WhichResponse::LastTo(&message.audience.id, &message.author.id);
        let Some((session, response)) = store.find_response(last).await? else {
            return Ok(None);
        };
        if session != message.conversation {
            return Ok(None);
        }
        let explained = store.explain(&session, Some(response)).await?;
        Ok(explained.and_then(|explained| match explained.turn.source {
            Source::Model | Source::Knowledge | Source::Retrieval => {
                let tools = &explained.trace.tools;
                let call = proposed(tools).map(|_| Agreed::Call(response));
                call.or_else(|| notes::proposed(tools).map(Agreed::Note))
            }
            // Already kept, or nothing was answered.
            Source::Memory | Source::Message | Source::Note => None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_is_told_from_what_asks_for_more() {
        for yes in [
            "yes",
            "Yes, please!",
            "ok do it",
            "Ja, bitte.",
            "oui",
            "Да",
            "sure, thanks",
        ] {
            assert!(agrees(yes), "{yes}");
        }
        for other in [
            "",
            "no",
            "please",
            "yes?",
            "yes, and what is the next one",
            "yes but without the date",
            "ok deploy the gateway",
            "save it",
        ] {
            assert!(!agrees(other), "{other}");
        }
    }
}
