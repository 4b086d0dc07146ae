//! What the echo bot keeps when its process ends.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::{
    Addressed, AudienceId, Body, ChannelMemory, Command, ConversationId, Delivered, EventId,
    HeardAudiences, Incoming, IncomingMessage, KeptMessage, MessageId, OwnSession,
};

/// State that outlives a process of the bot.
#[derive(Clone, Debug, Default)]
pub struct EchoMemory(Arc<Mutex<EchoMemoryState>>, HeardAudiences);

#[derive(Debug, Default)]
struct EchoMemoryState {
    seen: HashSet<EventId>,
    takes_part: HashSet<ConversationId>,
    answered: HashMap<EventId, EchoAnswer>,
    unanswered: Vec<IncomingMessage>,
    sessions: Vec<(String, OwnSession)>,
    kept: Vec<(AudienceId, KeptMessage)>,
    /// The prefix of conversations that are not listed when they are next asked for.
    unlisted: Option<String>,
    /// How many of the next questions for what is kept get no answer.
    hides_kept: usize,
}

#[derive(Clone, Debug)]
pub(super) struct EchoAnswer {
    pub(super) text: String,
    pub(super) conversation: ConversationId,
    /// The id of the one who asked.
    pub(super) author: String,
    pub(super) delivered: Delivered,
}

impl EchoAnswer {
    /// Whether whoever wrote a message may have it repeated.
    pub(super) fn is_theirs_to_repeat(&self, message: &IncomingMessage) -> bool {
        self.author == message.author.id || message.may_moderate(&message.audience.id)
    }
}

impl EchoMemory {
    /// Returns the heard audiences.
    pub fn heard(&self) -> &HeardAudiences {
        &self.1
    }

    /// Makes an audience heard, from now on.
    pub fn remembers_talk_of(&self, audience: &AudienceId) {
        self.1.set(audience, ChannelMemory::Channel);
    }

    /// Returns the messages that were accepted and not answered; they may be delivered again.
    /// Records a message that was heard.
    pub(super) fn keep(&self, message: &IncomingMessage) {
        self.0.lock().keep(message);
    }

    pub(super) fn leave_over(&self) -> Vec<IncomingMessage> {
        let mut known = self.0.lock();
        let left_over = std::mem::take(&mut known.unanswered);
        for message in &left_over {
            known.seen.remove(&message.event);
        }
        left_over
    }

    /// Whether a message is for the bot, and new.
    pub(super) fn is_new(&self, message: &IncomingMessage) -> bool {
        let mut known = self.0.lock();
        let takes_part = known.takes_part.contains(&message.conversation);
        let is_meant = match (&message.body, message.addressed) {
            (Body::Edit { of, .. }, _) => known.answered.contains_key(of) || known.is_in_flight(of),
            (Body::Deletion { of }, _) => known.question(of).is_some() || known.is_in_flight(of),
            // A place can be gone whether anything was said in it or not.
            (Body::Command(Command::PlaceGone), _)
            | (Body::Text(_) | Body::Command(_), Addressed::Directly) => true,
            (Body::Text(_) | Body::Command(_), Addressed::InConversation) => takes_part,
            (Body::Text(_) | Body::Command(_), Addressed::Overheard) => false,
        };
        let is_new = is_meant && known.seen.insert(message.event.clone());
        if is_new {
            known.keep(message);
            // As with the real bot, the next message of a conversation waits until this one is
            // kept.
            known.takes_part.insert(message.conversation.clone());
            known.unanswered.push(message.clone());
        }
        is_new
    }

    pub(super) fn is_in_flight(&self, event: &EventId) -> bool {
        self.0.lock().is_in_flight(event)
    }

    pub(super) fn answer_of(&self, event: &EventId) -> Option<EchoAnswer> {
        let known = self.0.lock();
        let answered = known.question(event)?;
        known.answered.get(answered).cloned()
    }

    /// Returns the question that a message answered, and its answer.
    pub(super) fn answered_by(&self, message: &MessageId) -> Option<(EventId, EchoAnswer)> {
        let known = self.0.lock();
        let mut answered = known.answered.iter();
        let found = answered.find(|(_, answered)| answered.delivered.0.contains(message));
        found.map(|(event, answered)| (event.clone(), answered.clone()))
    }

    /// Returns all answers and forgets them.
    pub(super) fn forget(&self) -> Vec<EchoAnswer> {
        let mut known = self.0.lock();
        known
            .answered
            .drain()
            .map(|(_, answered)| answered)
            .collect()
    }

    /// Records that a message was handled, with the answer to its event if there was one.
    pub(super) fn done(&self, message: &IncomingMessage, answer: Option<(EventId, EchoAnswer)>) {
        let mut known = self.0.lock();
        known.unanswered.retain(|open| open.event != message.event);
        if let Body::Text(text) = &message.body {
            known.note_session(message, text);
        }
        known.answered.extend(answer);
    }

    pub(super) fn kept(&self, audience: &AudienceId) -> Option<Vec<KeptMessage>> {
        let mut known = self.0.lock();
        if known.hides_kept > 0 {
            known.hides_kept -= 1;
            return None;
        }
        let there = known.kept.iter().filter(|(of, _)| of == audience);
        Some(there.map(|(_, kept)| kept.clone()).collect())
    }

    /// Leaves the next questions for the kept messages of audiences without an answer, as a graph does
    /// that is away.
    pub fn hides_kept(&self, times: usize) {
        self.0.lock().hides_kept = times;
    }

    /// Leaves the next question for the conversations with this prefix without an answer, as a graph
    /// does that is away.
    pub fn does_not_list(&self, prefix: &str) {
        self.0.lock().unlisted = Some(prefix.to_owned());
    }

    pub(super) fn conversations(&self, prefix: &str) -> Option<Vec<ConversationId>> {
        let mut known = self.0.lock();
        if known.unlisted.take_if(|it| *it == prefix).is_some() {
            return None;
        }
        let all = known.takes_part.iter();
        let all = all.filter(|it| it.as_str().starts_with(prefix));
        Some(all.cloned().collect())
    }

    pub(super) fn sessions(&self, person: &str, prefix: &str) -> Vec<OwnSession> {
        let known = self.0.lock();
        let mine = known.sessions.iter().rev().filter(|(author, session)| {
            author == person && session.conversation.as_str().starts_with(prefix)
        });
        mine.map(|(_, session)| session.clone())
            .take(Incoming::MOST_SESSIONS)
            .collect()
    }
}

impl EchoMemoryState {
    /// Keeps a message.
    fn keep(&mut self, message: &IncomingMessage) {
        if matches!(message.body, Body::Text(_)) {
            let kept = KeptMessage {
                event: message.event.clone(),
                conversation: message.conversation.clone(),
            };
            let audience = message.audience.id.clone();
            self.kept.push((audience, kept));
        }
    }

    /// Whether a message is in flight: its answer may be posted before that is recorded here.
    fn is_in_flight(&self, event: &EventId) -> bool {
        self.unanswered.iter().any(|open| open.event == *event)
    }

    /// Returns the question with this event, or the one that this message answered.
    fn question<'a>(&'a self, event: &'a EventId) -> Option<&'a EventId> {
        if self.answered.contains_key(event) {
            return Some(event);
        }
        let messages: Vec<MessageId> = event.as_messages().collect();
        let is_it = |answered: &EchoAnswer| {
            let mut delivered = answered.delivered.0.iter();
            delivered.any(|message| messages.contains(message))
        };
        let mut answered = self.answered.iter();
        answered.find(|(_, answer)| is_it(answer)).map(|(of, _)| of)
    }

    fn note_session(&mut self, message: &IncomingMessage, text: &str) {
        let is_it = |(author, session): &&mut (String, OwnSession)| {
            *author == message.author.id && session.conversation == message.conversation
        };
        if let Some((_, session)) = self.sessions.iter_mut().find(is_it) {
            session.turns += 1;
            session.last_at = message.sent_at;
            return;
        }
        let session = OwnSession {
            conversation: message.conversation.clone(),
            title: text.to_owned(),
            turns: 1,
            last_at: message.sent_at,
        };
        self.sessions.push((message.author.id.clone(), session));
    }
}
