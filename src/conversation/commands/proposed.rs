//! What a model proposed: notes, which are kept only when the person who was asked agrees, and tool calls, which that person
//! approves or declines.

use muninn_platform::redact::without_secrets;
use muninn_platform::{ConversationId, EventId, IncomingMessage};
use serde::{Deserialize, Serialize};

use super::Commands;
use crate::agent::tools::{ProposedCall, notes, proposed};
use crate::graph::answers::WhichResponse;
use crate::graph::{ResponseId, Source, StoreError, Turn};
use crate::retrieval::language::WordList;
use crate::retrieval::text::lowercase_words;

const YES: WordList = WordList::of(
    "yes yeah yep yup sure ok okay absolutely definitely ja jo klar gerne oui ouais volontiers sí si claro vale sim sì certo \
    va bene graag tak jasne да конечно давай はい 是 好 можно",
);
/// Words beside a yes.
const WITH_YES: WordList = WordList::of("do it that save keep mach das mal accord");
/// Japanese words are in pairs of characters here and below, as [`lowercase_words`] splits them; "don't" becomes "not".
const NO: WordList = WordList::of(
    "no nope nah not dont nein nee nö nicht non pas não nao nie niet нет не いえ いや だめ やめ しな 不 不要 不用 不行",
);
/// Words beside a no.
const WITH_NO: WordList = WordList::of(
    "rather better lieber besser surtout ne mejor lo hagas haga eso melhor faça faças isso meglio liever lepiej надо лучше \
    いい めて てく でく くだ ださ さい 結構 構で です ない いで 大丈 丈夫 夫で あり りが がと とう うご ござ ざい いま ます",
);
/// Words that negate what follows or precedes them: "don't do it", "mach das nicht".
const NEGATING: WordList = WordList::of("not dont nicht pas niet");
/// Words beside a no only if they are negated: "no, do it" is not clear.
const NEGATED: WordList = WordList::of(
    "do it that this mach mache machen tu tun das es le fais faites faire ça cela doe doen dat het",
);
const POLITE: WordList = WordList::of(
    "please thanks thank you bitte danke il te vous plaît merci por favor gracias muchas obrigado obrigada per favore grazie \
    alsjeblieft bedankt proszę dziękuję пожалуйста спасибо",
);
/// Maximum number of words in an agreement.
const MOST_WORDS: usize = 5;
/// Maximum number of turns, from the last one back, among which the proposal of an earlier note is looked for.
const LOOKED_BACK: usize = 100;

/// Whether a message agrees and says nothing else.
fn agrees(text: &str) -> bool {
    let words = lowercase_words(text);
    let is_known = |word: &String| YES.has(word) || WITH_YES.has(word) || POLITE.has(word);
    words.len() <= MOST_WORDS
        && words.iter().all(is_known)
        && words.iter().any(|word| YES.has(word))
        && !text.contains(['?', '？'])
}

/// Whether a message declines and says nothing else.
fn declines(text: &str) -> bool {
    let words = lowercase_words(text);
    let is_negated = words.iter().any(|word| NEGATING.has(word));
    let is_known = |word: &String| {
        NO.has(word) || WITH_NO.has(word) || POLITE.has(word) || (is_negated && NEGATED.has(word))
    };
    words.iter().all(is_known)
        && words.iter().any(|word| NO.has(word))
        && !text.contains(['?', '？'])
}

/// What a message decides about a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// This note is to be kept.
    Note(String),
    /// The call that this answer proposed is to be made or left.
    Call { answer: ResponseId, is_yes: bool },
}

/// What is stored about a decided question. It outlives what is forgotten, so it contains no result.
#[derive(Debug, Serialize, Deserialize)]
pub enum Decided {
    Declined,
    /// The call was started; its result is not known yet.
    Begun,
    /// The turn that keeps the result.
    Kept(ResponseId),
    /// The result itself, as earlier versions stored it. Whether it was forgotten since is unknown.
    Done(String),
}

impl Decided {
    /// Whether this was stored of a call that was declined.
    pub fn is_declined(stored: &str) -> bool {
        matches!(serde_json::from_str(stored), Ok(Self::Declined))
    }
}

/// Under which event it is stored what was decided about the call that an answer proposed.
pub fn decision_event(answer: ResponseId, call: &ProposedCall) -> EventId {
    EventId::new(format!("approval/{}/{}", answer.0, call.version()))
}

impl Commands {
    /// What a message decides about the proposal in the last answer to its author in this conversation. A note that is not
    /// agreed to is not kept in any case, so only a call can be declined. After it was declined, a yes is to something else.
    pub async fn find_decision(&self, message: &IncomingMessage, text: &str) -> Option<Decision> {
        let is_yes = agrees(text);
        let says_more = !message.attachments.is_empty();
        if says_more || (!is_yes && !declines(text)) {
            return None;
        }
        match self.proposal(message, is_yes).await {
            Ok(Some(Decision::Note(_))) if !is_yes => None,
            Ok(decision) => decision,
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

    async fn proposal(
        &self,
        message: &IncomingMessage,
        is_yes: bool,
    ) -> Result<Option<Decision>, StoreError> {
        let store = self.archive.store();
        // The message may be delivered again after its note was kept, and before that was said.
        let kept = self.archive.turn_of_event(&message.event).await?;
        if let Some(note) = kept.filter(Turn::is_note) {
            return Ok(Some(Decision::Note(note.input)));
        }
        let last = WhichResponse::LastTo(&message.audience.id, &message.author.id);
        let Some((session, response)) = store.find_response(last).await? else {
            return Ok(None);
        };
        if session != message.conversation {
            return Ok(None);
        }
        let Some(explained) = store.explain(&session, Some(response)).await? else {
            return Ok(None);
        };
        match explained.turn.source {
            Source::Model | Source::Knowledge | Source::Retrieval => {}
            // Already kept, or nothing was answered.
            Source::Memory | Source::Message | Source::Note => return Ok(None),
        }
        let tools = &explained.trace.tools;
        let Some(call) = proposed(tools) else {
            return Ok(notes::proposed(tools).map(Decision::Note));
        };
        let decided = store.outcome(&decision_event(response, &call)).await?;
        let was_declined = decided.is_some_and(|decided| Decided::is_declined(&decided));
        let answer = response;
        Ok((!is_yes || !was_declined).then_some(Decision::Call { answer, is_yes }))
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
            "oui, s'il te plaît",
            "Да",
            "sure, thanks",
        ] {
            assert!(agrees(yes), "{yes}");
            assert!(!declines(yes), "{yes}");
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

    #[test]
    fn a_no_is_told_from_what_asks_or_says_more() {
        for no in [
            "no",
            "No, thanks!",
            "nope",
            "please don't",
            "don’t do it",
            "do not do that, please",
            "Nein danke.",
            "lieber nicht",
            "bitte mach das nicht",
            "Non merci",
            "ne le fais pas",
            "no, gracias",
            "mejor no",
            "no lo hagas",
            "Não, obrigada",
            "não faça isso",
            "いいえ",
            "いいえ、結構です",
            "やめてください",
            "しないでください",
        ] {
            assert!(declines(no), "{no}");
            assert!(!agrees(no), "{no}");
        }
        for other in [
            "",
            "please",
            "yes",
            "no?",
            "no, do it",
            "ok no",
            "not sure",
            "not yet",
            "no idea, what does it do?",
            "no problem",
            "no, make it about the door",
            "nein, erst morgen",
            "non, plutôt demain",
            "no, mañana",
            "não sei",
            "いいです",
            "結構です",
            "いいえ、明日にして",
        ] {
            assert!(!declines(other), "{other}");
        }
    }
}
