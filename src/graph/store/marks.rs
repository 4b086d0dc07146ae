//! Marks for everything that was said until a moment, by somebody or somewhere.
//!
//! Such a mark also covers what is not in the graph yet: the turn of a question that another process is answering.

use std::time::Duration;

use chrono::{DateTime, Utc};
use muninn_platform::{AudienceId, ConversationId, Delivered};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::GraphStore;
use super::answers::ForgottenEvent;
use super::claims::millis;
use super::record::{integer, params};
use super::statements::{answers, forgetting as cypher, messages};
use crate::graph::engine::batches::repeat;
use crate::graph::engine::{Engine, Params};
use crate::graph::session::SessionGuard;
use crate::graph::types::redacted::REDACTED_ANSWER;
use crate::graph::{Forget, NewTurn, ResponseId, StoreError};

/// Whose words, or the words of which place, are forgotten up to a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covered<'a> {
    /// Stable ID of the person.
    Person(&'a str),
    Audience(&'a AudienceId),
    /// A place and everything below it.
    Under(&'a str),
}

impl Covered<'_> {
    /// The ID of its mark.
    fn mark(self) -> String {
        match self {
            Self::Person(person) => format!("person {person}"),
            Self::Audience(audience) => format!("audience {audience}"),
            Self::Under(place) => format!("place {place}"),
        }
    }

    /// Whether something said by this author in this conversation is meant.
    pub fn includes(
        self,
        author: &str,
        conversation: &ConversationId,
        audience: &AudienceId,
    ) -> bool {
        match self {
            Self::Person(person) => person == author,
            Self::Audience(place) => place == audience,
            Self::Under(place) => [conversation.as_str(), audience.as_str()]
                .into_iter()
                .any(|id| places_of(id).any(|it| it == place)),
        }
    }
}

/// The marks that may cover a turn, without the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveringMarks {
    event: String,
    marks: Vec<String>,
    /// When the question was sent, in milliseconds. A turn without that time is never covered.
    asked_at: Option<i64>,
}

impl CoveringMarks {
    pub fn of(new: &NewTurn) -> Self {
        Self {
            event: new.turn.event.clone(),
            marks: whole_marks(new),
            asked_at: new.asked_at.map(|at| at.timestamp_millis()),
        }
    }
}

impl GraphStore {
    /// Marks that everything which somebody said, or which was said somewhere, is forgotten up to a moment by the platform's
    /// clock.
    pub async fn mark_covered(
        &self,
        what: Covered<'_>,
        until: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let bound = json!({"id": what.mark(), "until": until.timestamp_millis()});
        let marking = self.engine.write(cypher::MARK_COVERED, params(bound));
        marking.await.map(drop)
    }

    /// Records that a message was deleted on its platform, whether it was kept or not. Unless it is forgotten as well, the mark
    /// ends with [`GraphStore::sweep_deletions`].
    pub async fn mark_deleted(&self, message: &ForgottenEvent) -> Result<(), StoreError> {
        let now = Utc::now().timestamp_millis();
        let bound = json!({"session": message.session, "event": message.event, "now": now});
        let marking = self.engine.write(cypher::MARK_DELETED, params(bound));
        marking.await.map(drop)
    }

    /// Removes the marks of messages that were deleted this long ago, and that will not be delivered any more.
    pub async fn sweep_deletions(&self, kept: Duration) -> Result<(), StoreError> {
        let before = Utc::now().timestamp_millis() - millis(kept);
        let bound = params(json!({"before": before}));
        let old = self.engine.read(cypher::OLD_DELETIONS, bound.clone());
        // Usually there are none, and a write would be synced.
        if old.await?.is_empty() {
            return Ok(());
        }
        repeat(&self.engine, cypher::SWEEP_DELETIONS, bound).await
    }

    /// Until when everything in a conversation is forgotten because its audience or a place above it is.
    pub async fn place_forgotten_until(
        &self,
        session: &ConversationId,
        audience: &AudienceId,
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        let marks = place_marks(session.as_str(), audience);
        let bound = params(json!({ "marks": marks }));
        let rows = self.engine.read(cypher::COVERED_UNTIL, bound).await?;
        let until = rows.iter().map(|row| integer(row, "until")).max();
        // As for a conversation, what was said within this millisecond counts as before.
        Ok(until.and_then(|until| DateTime::from_timestamp_millis(until + 1)))
    }

    /// Whether the question of a turn was forgotten while it was answered.
    pub(super) async fn is_covered(&self, by: &CoveringMarks) -> Result<bool, StoreError> {
        let Some(asked_at) = by.asked_at else {
            return Ok(false);
        };
        let mut marks = by.marks.clone();
        marks.push(by.event.clone());
        let row = json!({"event": by.event, "marks": marks, "at": asked_at});
        let bound = params(json!({"rows": [row]}));
        let rows = self.engine.read(messages::FORGOTTEN, bound).await?;
        Ok(!rows.is_empty())
    }

    /// As [`GraphStore::set_delivered`], for a turn that was just appended. If its question was forgotten while it was saved, it
    /// is removed: whoever forgot it did not find it.
    pub async fn set_first_delivered(
        &self,
        guard: &SessionGuard,
        new: &NewTurn,
        delivered: &Delivered,
    ) -> Result<bool, StoreError> {
        let (session, by) = (guard.session(), CoveringMarks::of(new));
        self.set_late_delivered(session, new.turn.id, &by, delivered)
            .await
    }

    /// The same for a turn that was appended a while ago, when the graph could not be told.
    pub async fn set_late_delivered(
        &self,
        session: &ConversationId,
        response: ResponseId,
        by: &CoveringMarks,
        delivered: &Delivered,
    ) -> Result<bool, StoreError> {
        let bound = params(json!({
            "id": response.to_string(), "delivered": json!(delivered).to_string(),
            "blot": REDACTED_ANSWER, "marks": by.marks, "askedAt": by.asked_at.unwrap_or(i64::MAX),
        }));
        let rows = self
            .engine
            .write(answers::SET_FIRST_DELIVERED, bound)
            .await?;
        let stands = rows.first().and_then(|row| row.get("stands")?.as_bool());
        if stands == Some(true) {
            return Ok(true);
        }
        if self.is_covered(by).await? {
            self.forget_in(session, Forget::Turn(response)).await?;
        }
        Ok(false)
    }
}

/// The marks of everything in which a turn may be forgotten, and when it was asked; a turn without that time is never covered.
pub(super) fn covering_params(new: &NewTurn) -> Params {
    let asked_at = new.asked_at.map_or(i64::MAX, |at| at.timestamp_millis());
    params(json!({"marks": whole_marks(new), "askedAt": asked_at}))
}

/// The marks that cover a turn, as a row of [`super::statements::messages::FORGOTTEN`].
pub(super) fn marks_of(new: &NewTurn) -> Value {
    let turn = &new.turn;
    let mut marks = whole_marks(new);
    marks.push(turn.event.clone());
    // An answer is kept after its question was sent, and something may be forgotten in between.
    let said_at = new.asked_at.unwrap_or(turn.created_at);
    json!({"event": turn.event, "marks": marks, "at": said_at.timestamp_millis()})
}

fn whole_marks(new: &NewTurn) -> Vec<String> {
    let turn = &new.turn;
    let mut marks = place_marks(&turn.session, &new.audience.id);
    marks.extend([turn.session.clone(), Covered::Person(&turn.author).mark()]);
    marks
}

fn place_marks(session: &str, audience: &AudienceId) -> Vec<String> {
    let places = places_of(session).chain(places_of(audience.as_str()));
    let mut marks: Vec<String> = places.map(|place| Covered::Under(place).mark()).collect();
    marks.sort_unstable();
    marks.dedup();
    marks.push(Covered::Audience(audience).mark());
    marks
}

/// An ID and those of the places above it.
fn places_of(id: &str) -> impl Iterator<Item = &str> {
    let above = id.match_indices('/').map(|(at, _)| &id[..at]);
    above.chain(std::iter::once(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_covers_its_person_its_audience_or_its_place_with_everything_below() {
        let channel = AudienceId::new("slack/T/C");
        let aside = AudienceId::new("slack/T/C/private/U1");
        for (what, session, audience, is_covered) in [
            (Covered::Person("ada"), "slack/T/C/1", &channel, true),
            (Covered::Person("bob"), "slack/T/C/1", &channel, false),
            (Covered::Audience(&channel), "slack/T/C/1", &channel, true),
            // What somebody asks privately there is an audience of its own.
            (Covered::Audience(&channel), aside.as_str(), &aside, false),
            (Covered::Under("slack/T/C"), aside.as_str(), &aside, true),
            (Covered::Under("slack/T"), "slack/T/C/1", &channel, true),
            (Covered::Under("slack/T/C/1"), "slack/T/C/1", &channel, true),
            (
                Covered::Under("slack/T/C/1"),
                "slack/T/C/12",
                &channel,
                false,
            ),
        ] {
            let conversation = ConversationId::new(session);
            let includes = what.includes("ada", &conversation, audience);
            assert_eq!(includes, is_covered, "{what:?} {session}");
            let mut new = crate::testing::new_turn(session, "Which port?");
            new.audience.id = audience.clone();
            let row = marks_of(&new);
            let marks = row["marks"].as_array().unwrap();
            assert_eq!(
                marks.contains(&json!(what.mark())),
                is_covered,
                "{what:?} {session}"
            );
        }
    }
}
