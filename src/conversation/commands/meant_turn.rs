//! Finds the turn that somebody means by "forget last", "forget that" and the like.

use chrono::{DateTime, Utc};
use muninn_platform::{ConversationId, EventId, IncomingMessage, TimeZone};
use muninn_texts::{Text, Value, text};
use serde::{Deserialize, Serialize};

use super::Commands;
use crate::graph::answers::WhichResponse;
use crate::graph::items::ReadTurn;
use crate::graph::{ResponseId, StoreError, Turn};
use crate::retrieval::speech::{asks_to_forget_this, is_small_talk};

/// Number of turns searched for somebody's last one.
pub(super) const LOOK_BACK: usize = 64;

/// The turn to forget.
pub(super) enum MeantTurn {
    Theirs(TheirTurn),
    /// They reply to a message that is not kept as theirs.
    NotTheirs,
    Nothing,
}

/// A turn of whoever wants it forgotten.
pub(super) struct TheirTurn {
    pub(super) session: ConversationId,
    pub(super) response: ResponseId,
    /// `None` if an earlier version of this program stored the command's target.
    pub(super) described: Option<TurnDescription>,
    /// Whether it still waits for the graph, as far as is known, and can be forgotten without it.
    pub(super) is_waiting: bool,
}

impl TheirTurn {
    fn of(turn: &Turn, is_waiting: bool) -> Self {
        Self {
            session: ConversationId::new(&turn.session),
            response: turn.id,
            described: Some(TurnDescription::of(turn)),
            is_waiting,
        }
    }
}

/// Which turn was forgotten, without its words: the reply would keep them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TurnDescription {
    kind: TurnKind,
    at: DateTime<Utc>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum TurnKind {
    Exchange,
    Heard,
    Note,
}

impl TurnDescription {
    fn of(turn: &Turn) -> Self {
        let kind = match (turn.is_note(), turn.is_message()) {
            (true, _) => TurnKind::Note,
            (false, true) => TurnKind::Heard,
            (false, false) => TurnKind::Exchange,
        };
        Self {
            kind,
            at: turn.created_at,
        }
    }
}

/// What a reply calls a forgotten turn, with times in a zone.
pub(super) fn described(turn: Option<TurnDescription>, zone: TimeZone) -> Text {
    let Some(TurnDescription { kind, at }) = turn else {
        return text!("forgotten-last");
    };
    let at = Value::moment(&at.with_timezone(&zone));
    match kind {
        TurnKind::Exchange => text!("forgotten-exchange", at),
        TurnKind::Heard => text!("forgotten-heard", at),
        TurnKind::Note => text!("forgotten-note", at),
    }
}

impl Commands {
    /// The turn to which the author replies, or else their last one.
    pub(super) async fn meant_turn(
        &self,
        message: &IncomingMessage,
    ) -> Result<MeantTurn, StoreError> {
        if let Some(replied) = &message.reply_to {
            match self.turn_replied_to(message, replied).await? {
                Some(turn) if turn.author == message.author.id => {
                    let waiting = self.waiting_turns(message);
                    let is_waiting = self.is_forgotten_offline(message, &waiting, &turn);
                    return Ok(MeantTurn::Theirs(TheirTurn::of(&turn, is_waiting)));
                }
                Some(_) => return Ok(MeantTurn::NotTheirs),
                None if message.toward.answers_person => return Ok(MeantTurn::NotTheirs),
                // What it belongs to is forgotten; it could not be taken away, or not yet.
                None if self.shows_forgotten(message, replied) => return Ok(MeantTurn::NotTheirs),
                // A message of the bot that belongs to no turn, such as the reply to a command.
                None => {}
            }
        }
        let last = self.last_of(message).await?;
        Ok(last.map_or(MeantTurn::Nothing, MeantTurn::Theirs))
    }

    fn shows_forgotten(&self, message: &IncomingMessage, replied: &EventId) -> bool {
        let platform = &message.audience.platform;
        let mut sent = replied.as_messages();
        sent.any(|sent| self.withdrawals.shows_forgotten(platform, &sent))
    }

    /// The turn of a message, or of the answer that was delivered as this message.
    async fn turn_replied_to(
        &self,
        message: &IncomingMessage,
        replied: &EventId,
    ) -> Result<Option<Turn>, StoreError> {
        if let Some(turn) = self.archive.turn_of_event(replied).await? {
            return Ok(Some(turn));
        }
        let store = self.archive.store();
        for sent in replied.as_messages() {
            let sent = WhichResponse::SentAs(&message.audience.id, &sent);
            if let Some((session, response)) = store.find_response(sent).await? {
                let explained = store.explain(&session, Some(response)).await?;
                return Ok(explained.map(|explained| explained.turn));
            }
        }
        Ok(None)
    }

    /// The author's turns in this place that wait for the graph, oldest first.
    fn waiting_turns(&self, message: &IncomingMessage) -> Vec<Turn> {
        let (audience, person) = (&message.audience.id, &message.author.id);
        self.archive.waiting_turns_of(audience, person)
    }

    /// Whether a turn can be forgotten without the graph, for which it waits. Under a legal hold it is copied there first.
    fn is_forgotten_offline(
        &self,
        message: &IncomingMessage,
        waiting: &[Turn],
        turn: &Turn,
    ) -> bool {
        let is_held = self.archive.store().is_held(&message.audience.id);
        !is_held && waiting.iter().any(|it| it.id == turn.id)
    }

    /// The author's last turn in this conversation, or else in this place: where answers are in threads, people ask outside
    /// of them.
    async fn last_of(&self, message: &IncomingMessage) -> Result<Option<TheirTurn>, StoreError> {
        let (audience, person) = (&message.audience.id, &message.author.id);
        let waiting = self.waiting_turns(message);
        let theirs = |turn: &Turn| {
            let is_waiting = self.is_forgotten_offline(message, &waiting, turn);
            TheirTurn::of(turn, is_waiting)
        };
        // Turns that wait for the graph are newer than those in it, and may be found while it is away.
        let is_here = |turn: &&Turn| turn.session == message.conversation.as_str();
        let newest = waiting.iter().filter(is_here).rfind(says_something);
        if let Some(turn) = newest {
            return Ok(Some(theirs(turn)));
        }
        let mut turns = self.archive.window(message, LOOK_BACK).await?;
        let read: Vec<ReadTurn> = turns.iter().map(ReadTurn::from).collect();
        let gone = self.archive.find_changed_turns(&read).await?.forgotten;
        // A note is a turn of theirs too. A turn that is about to be deleted is nobody's last turn.
        turns.retain(|turn| !gone.contains(&turn.id));
        let mine = || turns.iter().filter(|turn| turn.author == *person);
        if let Some(turn) = mine().rfind(says_something) {
            return Ok(Some(theirs(turn)));
        }
        if turns.iter().any(|turn| !turn.is_message()) {
            return Ok(mine().next_back().map(theirs));
        }
        if let Some(turn) = waiting.iter().rfind(says_something) {
            return Ok(Some(theirs(turn)));
        }
        let store = self.archive.store();
        let saved = store.last_turns_by(audience, person, LOOK_BACK).await?;
        let all = || saved.iter().chain(&waiting);
        let last = all().rfind(says_something).or_else(|| all().next_back());
        Ok(last.map(theirs))
    }
}

/// Whether a turn is one that people want forgotten: not what they say around it, such as "forget it" and "thanks".
fn says_something(turn: &&Turn) -> bool {
    let text = turn.input.trim();
    let has_file = text.is_empty() || !turn.attached.is_empty();
    turn.is_note() || has_file || !(asks_to_forget_this(text) || is_small_talk(text))
}

#[cfg(test)]
mod tests {
    use super::super::once::CommandOutcome;
    use super::*;

    #[test]
    fn what_is_said_around_a_turn_is_not_what_is_to_be_forgotten() {
        for (said, is_something) in [
            ("My locker PIN is 4711.", true),
            ("4711", true),
            ("hunter2", true),
            ("", true),
            ("forget it in the car", true),
            ("forget it", false),
            ("Vergiss das!", false),
            ("Thanks a lot!", false),
            ("hi", false),
            ("👍", false),
        ] {
            let turn = Turn::message("s", "ada", said);
            assert_eq!(says_something(&&turn), is_something, "{said}");
            assert!(says_something(&&Turn::note("s", "ada", said)), "{said}");
        }
    }

    #[test]
    fn a_target_of_an_earlier_version_is_read() {
        let stored = format!("{{\"Turn\":[\"room/a\",\"{}\"]}}", ResponseId::fresh());
        let outcome: CommandOutcome = serde_json::from_str(&stored).unwrap();
        assert!(matches!(outcome, CommandOutcome::Turn(_, _, None)));
    }
}
