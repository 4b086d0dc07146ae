//! Reads and appends the turns of a session and of an audience.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use muninn_platform::{AudienceId, ConversationId, EventId};
use serde_json::{Value, json};

use super::marks::{CoveringMarks, covering_params};
use super::record::{
    append_params, each_turn, embedding, integer, is_deleted, params, response_id, summary, text,
    turn, turns, unexpected,
};
use super::{GraphStore, statements};
use super::{no_row, single};
use crate::graph::engine::{Engine, Purge, Row};
use crate::graph::session::SessionGuard;
use crate::graph::types::redacted;
use crate::graph::types::response_id::ResponseId;
use crate::graph::{
    Appended, AudienceChanges, NewTurn, StoreError, Summary, Turn, TurnContext, TurnRead,
};

impl GraphStore {
    /// Everything a turn needs before it begins, in one round trip.
    pub async fn begin_turn(&self, read: &TurnRead<'_>) -> Result<TurnContext, StoreError> {
        let until = read.seen.saturating_add(statements::NEWS_LIMIT);
        let bound = json!({
            "session": read.session.as_str(),
            "audience": read.audience.as_str(),
            "event": read.event.as_str(),
            "window": read.window.min(statements::MAX_WINDOW),
            "seen": read.seen,
            "until": until,
        });
        let statement = statements::begin_turn(read.window);
        let rows = self.engine.read(statement, params(bound)).await?;
        let row = single(&rows)?;
        let mut window = turns(row, "window")?;
        // Positions increase along a chain, as both are set in one transaction.
        window.sort_by_key(|turn| turn.position);
        if window.len() == read.window && !window.iter().all(Turn::is_answered) {
            window = self.long_window(read).await?;
        }
        Ok(TurnContext {
            duplicate: match row.get("duplicate") {
                None | Some(Value::Null) => None,
                Some(found) if is_deleted(found) => None,
                // A message that was only heard may still be answered.
                Some(found) => Some(turn(found)?).filter(Turn::is_answered),
            },
            is_forgotten: row.get("isForgotten").and_then(Value::as_bool) == Some(true),
            window,
            summary: summary(row)?,
            news: news(row, read.seen, until)?,
        })
    }

    /// As many of a session's last answers as a window has turns, with the heard messages between and
    /// after them, as far as the longest window reaches.
    async fn long_window(&self, read: &TurnRead<'_>) -> Result<Vec<Turn>, StoreError> {
        let bound = json!({
            "session": read.session.as_str(), "window": statements::MAX_WINDOW,
        });
        let rows = self.engine.read(statements::WINDOW, params(bound)).await?;
        let mut window = turns(single(&rows)?, "window")?;
        window.sort_by_key(|turn| turn.position);
        let answers = window.iter().enumerate().rev();
        let mut answers = answers.filter(|(_, turn)| turn.is_answered());
        let first = answers.nth(read.window.saturating_sub(1));
        let from = first.map_or(0, |(place, _)| place);
        Ok(window.split_off(from))
    }

    /// Appends a turn to its session's chain, in one transaction and one round trip.
    pub async fn append(
        &self,
        guard: &SessionGuard,
        new: &NewTurn,
    ) -> Result<Appended, StoreError> {
        if !new.turn.is_answered() {
            return self.append_message(guard, new).await;
        }
        let statement = match (new.context.is_empty(), new.recalled.is_empty()) {
            (true, true) => statements::APPEND,
            (true, false) => statements::APPEND_RECALLED,
            (false, true | false) => statements::APPEND_LINKED,
        };
        let mut bound = append_params(&self.engine, guard.session().as_str(), new);
        bound.extend(covering_params(new));
        let refusal = match self.engine.write(statement, bound).await {
            Ok(rows) => match rows.first() {
                Some(row) => {
                    return Ok(Appended::Saved {
                        position: integer(row, "position"),
                    });
                }
                None => unexpected("a save that wrote nothing, of an event without a turn"),
            },
            // The same event at the same time in another session violates the constraint.
            Err(error @ (StoreError::Refused { .. } | StoreError::Invalid(_))) => error,
            Err(error) => return Err(error),
        };
        match self.turn_of_event(&EventId::new(&new.turn.event)).await? {
            Some(heard) if heard.is_message() => {
                self.remove_heard_message(&new.turn.event).await?;
                // The heard message is removed now, so the second try ends the recursion.
                let appended = Box::pin(self.append(guard, new)).await;
                self.purge_replaced().await;
                appended
            }
            Some(turn) => Ok(Appended::Duplicate(Box::new(turn))),
            None if self.is_covered(&CoveringMarks::of(new)).await? => Ok(Appended::Forgotten),
            None => Err(refusal),
        }
    }

    async fn append_message(
        &self,
        guard: &SessionGuard,
        new: &NewTurn,
    ) -> Result<Appended, StoreError> {
        let turns = [Arc::new(new.clone())];
        self.append_all(std::slice::from_ref(guard), &turns).await?;
        let kept = self.turn_of_event(&EventId::new(&new.turn.event)).await?;
        match kept {
            Some(turn) if turn.id == new.turn.id => Ok(Appended::Saved {
                position: turn.position,
            }),
            Some(earlier) => Ok(Appended::Duplicate(Box::new(earlier))),
            None => Err(unexpected("a message that was kept and is not there")),
        }
    }

    /// Removes a heard message from its chain, because it is answered after all and the turn of its
    /// event replaces it. Nothing is marked as forgotten. When that turn is saved, [`Self::purge_replaced`] does the rest.
    pub(in crate::graph) async fn remove_heard_message(
        &self,
        event: &str,
    ) -> Result<(), StoreError> {
        let Some(heard) = self.turn_of_event(&EventId::new(event)).await? else {
            return Ok(());
        };
        let bound = json!({
            "session": heard.session, "id": heard.id.to_string(),
            "blot": redacted::REDACTED_ANSWER,
        });
        self.copy_held_turns(&[heard.id], "").await?;
        self.copy_held_quotes(&[heard.id]).await?;
        self.engine
            .write(statements::messages::FORGET, params(bound))
            .await
            .map(drop)
    }

    /// Purges what was replaced from every file of the graph. That takes a second in a large graph, so what replaces it is saved
    /// before, and is saved whatever becomes of the files.
    pub(in crate::graph) async fn purge_replaced(&self) {
        if let Err(error) = self.engine.purge(Purge::Replaced).await {
            let error = &error as &dyn std::error::Error;
            tracing::error!(error, "what was replaced is still in a file of the graph");
        }
    }

    /// The session's answers after a given one (or its first ones), at most `limit`, in order, without
    /// the heard messages in between.
    pub async fn answers_after(
        &self,
        session: &ConversationId,
        after: Option<ResponseId>,
        limit: usize,
    ) -> Result<Vec<Turn>, StoreError> {
        let bound = json!({
            "session": session.as_str(), "limit": limit,
            "after": after.map(|id| id.to_string()).unwrap_or_default(),
        });
        let rows = self
            .engine
            .read(statements::ANSWERS_AFTER, params(bound))
            .await?;
        let found = rows.iter().filter_map(|row| row.get("turn"));
        each_turn(found)
    }

    /// Appends turns to the chains of their sessions, in order: all in one transaction, or none. Turns
    /// whose event already has one are skipped. Returns the events that had one already.
    pub async fn append_all(
        &self,
        guards: &[SessionGuard],
        turns: &[Arc<NewTurn>],
    ) -> Result<HashSet<String>, StoreError> {
        super::appending::append_all(self, guards, turns).await
    }

    /// The audience's turns after `seen`, at most `limit`, in the order of their positions.
    pub async fn turns_since(
        &self,
        audience: &AudienceId,
        seen: i64,
        limit: usize,
    ) -> Result<AudienceChanges, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut found = AudienceChanges {
            through: seen,
            more: true,
            ..AudienceChanges::default()
        };
        // Forgotten turns leave gaps, so a range may have fewer turns than positions.
        loop {
            let missing = limit - i64::try_from(found.turns.len()).unwrap_or(i64::MAX);
            let until = found
                .through
                .saturating_add(missing.min(statements::NEWS_LIMIT));
            let bound = json!({
                "audience": audience.as_str(), "seen": found.through, "until": until,
            });
            let rows = self
                .engine
                .read(statements::TURNS_SINCE, params(bound))
                .await?;
            let next = stretch(&rows, found.through, until)?;
            found.turns.extend(next.turns);
            found.through = next.through;
            found.is_behind |= next.is_behind;
            found.more = next.more;
            found.epoch = next.epoch;
            let is_full = i64::try_from(found.turns.len()).unwrap_or(i64::MAX) >= limit;
            if is_full || !found.more {
                return Ok(found);
            }
        }
    }

    /// Whether the graph has a lower position or an earlier epoch of an audience than a reader has seen, as after a backup of it was
    /// restored. The members of a cluster that are read from may lag, so the one that takes writes is asked.
    pub async fn was_restored(
        &self,
        audience: &AudienceId,
        (position, epoch): (i64, i64),
    ) -> Result<bool, StoreError> {
        let bound = params(json!({"audience": audience.as_str()}));
        let rows = if self.is_shared() {
            self.engine.write(statements::COUNTERS, bound).await?
        } else {
            self.engine.read(statements::COUNTERS, bound).await?
        };
        let row = single(&rows)?;
        Ok(integer(row, "last") < position || integer(row, "epoch") < epoch)
    }

    /// The session's turns after `after` (or its first ones), at most `limit`, in order.
    pub async fn chain(
        &self,
        session: &ConversationId,
        after: Option<ResponseId>,
        limit: usize,
    ) -> Result<Vec<Turn>, StoreError> {
        let mut found: Vec<Turn> = Vec::new();
        while found.len() < limit {
            let step = (limit - found.len()).min(statements::CHAIN_STEP);
            let from = found.last().map(|turn| turn.id).or(after);
            let rows = self.chain_step(session, from, step).await?;
            let is_end = rows.len() < step;
            let next = rows.iter().filter_map(|row| row.get("turn"));
            found.extend(each_turn(next)?);
            if is_end {
                break;
            }
        }
        Ok(found)
    }

    /// The last turns of those of some sessions that have any.
    pub async fn ends_of(
        &self,
        sessions: &[ConversationId],
    ) -> Result<HashMap<ConversationId, ResponseId>, StoreError> {
        let bound = params(json!({"sessions": sessions}));
        let rows = self.engine.read(statements::CHAIN_ENDS, bound).await?;
        let last = |row: &Row| {
            let session = ConversationId::new(text(row, "session").unwrap_or_default());
            Ok((session, response_id(&text(row, "id").unwrap_or_default())?))
        };
        rows.iter().map(last).collect()
    }

    /// A session's turns up to one of them; if that is gone, those that were made before it.
    pub async fn turns_until(
        &self,
        session: &ConversationId,
        last: ResponseId,
    ) -> Result<Vec<ResponseId>, StoreError> {
        let bound = params(json!({"session": session, "last": last.to_string()}));
        let rows = self.engine.read(statements::TURNS_UNTIL, bound).await?;
        let ids = rows.iter().filter_map(|row| text(row, "id"));
        ids.map(|id| response_id(&id)).collect()
    }

    /// Replaces the summary, unless the present one does not end at `previous` any more, or something
    /// was forgotten since `epoch`. Returns whether it did.
    pub async fn save_summary(
        &self,
        guard: &SessionGuard,
        summary: &Summary,
        previous: Option<ResponseId>,
        epoch: i64,
    ) -> Result<bool, StoreError> {
        let bound = json!({
            "session": guard.session().as_str(),
            "text": summary.text,
            "through": summary.through.to_string(),
            "trust": summary.trust.name(),
            "previous": previous.map(|id| id.to_string()).unwrap_or_default(),
            "epoch": epoch,
        });
        let rows = self
            .engine
            .write(statements::SAVE_SUMMARY, params(bound))
            .await?;
        Ok(!rows.is_empty())
    }

    /// One row for each of the next turns, in order.
    async fn chain_step(
        &self,
        session: &ConversationId,
        after: Option<ResponseId>,
        limit: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let statement = match after {
            Some(_) => statements::CHAIN_AFTER,
            None => statements::CHAIN_FIRST,
        };
        let bound = json!({
            "session": session.as_str(),
            "after": after.map(|id| id.to_string()),
            "limit": limit,
        });
        let mut rows = self.engine.read(statement, params(bound)).await?;
        rows.sort_by_key(|row| integer(row, "step"));
        Ok(rows)
    }
}

/// One range of news, and the value of the audience's counter.
pub(in crate::graph) fn news(
    row: &Row,
    seen: i64,
    until: i64,
) -> Result<AudienceChanges, StoreError> {
    let mut found = turns(row, "news")?;
    found.sort_by_key(|turn| turn.position);
    let last = integer(row, "last");
    // Who has no index asks for nothing. An index that was loaded meanwhile must not take that for everything.
    let is_asked = seen != i64::MAX;
    Ok(AudienceChanges {
        turns: found,
        epoch: integer(row, "epoch"),
        through: if is_asked {
            last.min(until).max(seen)
        } else {
            0
        },
        is_behind: is_asked && last < seen,
        more: last > until,
    })
}

/// The same for one row per turn.
fn stretch(rows: &[Row], seen: i64, until: i64) -> Result<AudienceChanges, StoreError> {
    let mut found = news(rows.first().ok_or_else(no_row)?, seen, until)?;
    for row in rows {
        if let Some(value @ Value::Object(_)) = row.get("turn")
            && !is_deleted(value)
        {
            found.turns.push(Turn {
                embedding: embedding(row),
                ..turn(value)?
            });
        }
    }
    found.turns.sort_by_key(|turn| turn.position);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use async_trait::async_trait;

    use super::*;
    use crate::graph::engine::Params;
    use crate::graph::session::Sessions;
    use crate::graph::testing::{FakeGraph, fake_store};
    use crate::testing::new_turn;

    /// A graph with one heard message. Its disk has no room to rewrite its file.
    #[derive(Debug, Default)]
    struct Full {
        is_removed: AtomicBool,
    }

    #[async_trait]
    impl FakeGraph for Full {
        async fn read(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
            let is_asked = [
                statements::TURN_BY_EVENT,
                statements::appending::KNOWN_EVENTS,
            ]
            .contains(&statement);
            if !is_asked || self.is_removed.load(Ordering::Relaxed) {
                return Ok(Vec::new());
            }
            let event = params.get("event").or_else(|| params["events"].get(0));
            let heard = json!({
                "id": ResponseId::fresh().to_string(), "createdAt": "2026-11-27T10:00:00Z",
                "session": "terminal/a", "eventId": event, "source": "message",
            });
            let row = json!({"turn": heard, "event": event, "source": "message"});
            Ok(vec![super::params(row)])
        }

        async fn write(&self, statement: &str, _: Params) -> Result<Vec<Row>, StoreError> {
            if statement == statements::messages::FORGET {
                self.is_removed.store(true, Ordering::Relaxed);
            }
            let is_saved =
                statement == statements::APPEND && self.is_removed.load(Ordering::Relaxed);
            let row = super::params(json!({"position": 2}));
            Ok(is_saved.then_some(row).into_iter().collect())
        }

        async fn purge(&self, _: Purge) -> Result<(), StoreError> {
            Err(StoreError::Refused {
                message: "no space left on device".to_owned(),
                transient: false,
            })
        }
    }

    #[tokio::test]
    async fn an_answer_to_a_heard_message_is_saved_also_if_the_file_cannot_be_rewritten() {
        let answer = new_turn("terminal/a", "Which port?");
        let sessions = Sessions::default();
        let guard = sessions.lock(&ConversationId::new("terminal/a")).await;
        let store = fake_store(Full::default());
        let saved = store.append(&guard, &answer).await.unwrap();
        assert!(
            matches!(saved, Appended::Saved { position: 2 }),
            "{saved:?}"
        );

        let store = fake_store(Full::default());
        let guards = [guard];
        let saved = store.append_all(&guards, &[Arc::new(answer)]).await;
        assert!(saved.unwrap().is_empty());
    }
}
