//! Keeps track of where answers have something from when a turn between is deleted.
//!
//! An answer that was given a turn may have a word that the turn's own answer had from a third one. The search for what repeats
//! that third turn follows the links from answer to answer, so it would end where the turn between was. Before a turn is deleted,
//! such answers are therefore linked to the third turn: a memory with a score of zero, which nobody is shown.

use std::collections::{HashMap, HashSet};

use serde_json::json;

use super::{CandidateAnswer, MAX_LATER_ANSWERS, TURNS_PER_STATEMENT, answer, telling};
use crate::graph::StoreError;
use crate::graph::engine::{Engine as _, Row};
use crate::graph::store::GraphStore;
use crate::graph::store::record::{integer, list, params, text};
use crate::graph::store::statements::forgetting as cypher;
use crate::graph::types::response_id::ResponseId;

/// Number of turns before one in its conversation that are checked: more than any window shows.
const MAX_EARLIER_TURNS: usize = 500;

/// A turn, with the telling words of all of it or of its answer.
#[derive(Debug)]
struct Origin {
    id: String,
    session: String,
    position: i64,
    words: HashSet<String>,
}

impl Origin {
    fn of(row: &Row, columns: &[&str]) -> Self {
        let texts = columns.iter().filter_map(|column| text(row, column));
        Self {
            id: text(row, "id").unwrap_or_default(),
            session: text(row, "session").unwrap_or_default(),
            position: integer(row, "position"),
            words: texts.flat_map(|it| telling(&it)).collect(),
        }
    }

    fn is_before(&self, session: &str, position: i64) -> bool {
        self.session == session && self.position < position
    }
}

/// An answer that has words of the answer to a turn that is about to be deleted.
#[derive(Debug)]
struct Heir {
    /// The turn.
    of: String,
    answer: CandidateAnswer,
}

/// What the answers to some turns may have words from.
#[derive(Debug, Default)]
struct Origins {
    /// By the turn that was given them.
    given: HashMap<String, Vec<Origin>>,
    /// What came before in the conversations.
    earlier: Vec<Origin>,
}

impl Origins {
    /// All of a turn, also through other turns that are about to be deleted.
    fn of<'a>(&'a self, turn: &'a Origin, leaving: &'a HashMap<String, Origin>) -> Vec<&'a Origin> {
        let mut seen = HashSet::new();
        // Up to where all turns of a conversation were visited or are going to be.
        let mut reached: HashMap<&str, i64> = HashMap::new();
        let mut to_visit = vec![turn];
        let mut found = Vec::new();
        while let Some(turn) = to_visit.pop() {
            if !seen.insert(&turn.id) {
                continue;
            }
            for origin in self.given.get(&turn.id).into_iter().flatten() {
                match leaving.get(&origin.id) {
                    Some(also_leaving) => to_visit.push(also_leaving),
                    None => found.push(origin),
                }
            }
            let reached = reached.entry(&turn.session).or_insert(i64::MIN);
            if turn.position <= *reached {
                continue;
            }
            let is_new = |it: &&Origin| {
                it.is_before(&turn.session, turn.position) && it.position >= *reached
            };
            found.extend(self.earlier.iter().filter(is_new));
            to_visit.extend(leaving.values().filter(is_new));
            *reached = turn.position;
        }
        found
    }
}

impl GraphStore {
    /// Links the answers that have words from the answers to these turns to where these have them from. To be called before
    /// the turns are deleted; a link too many does no harm.
    pub(in crate::graph) async fn hand_on_origins(
        &self,
        turns: &[ResponseId],
    ) -> Result<(), StoreError> {
        let ids: Vec<String> = turns.iter().map(ResponseId::to_string).collect();
        let mut leaving = HashMap::new();
        for ids in ids.chunks(TURNS_PER_STATEMENT) {
            let rows = self.engine.read(cypher::SAID, params(json!({"ids": ids})));
            let turns = rows.await?;
            let turns = turns.iter().map(|row| Origin::of(row, &["output"]));
            leaving.extend(turns.map(|turn| (turn.id.clone(), turn)));
        }
        let heirs = self.heirs(&leaving).await?;
        if heirs.is_empty() {
            return Ok(());
        }
        let origins = self.origins(&leaving, &ids).await?;
        let mut links = HashSet::new();
        for heir in &heirs {
            let Some(turn) = leaving.get(&heir.of) else {
                continue;
            };
            let answer = &heir.answer;
            let origins = origins.of(turn, &leaving).into_iter();
            // What came before it in its conversation is its origin without a link.
            let origins = origins
                .filter(|it| it.id != answer.id && !it.is_before(&answer.session, answer.position));
            let shared = origins.filter(|it| !it.words.is_disjoint(&answer.words));
            links.extend(shared.map(|it| (answer.id.as_str(), it.id.as_str())));
        }
        let links: Vec<(&str, &str)> = links.into_iter().collect();
        for links in links.chunks(TURNS_PER_STATEMENT) {
            let links = links
                .iter()
                .map(|(from, to)| json!({"from": from, "to": to}));
            let bound = params(json!({"links": links.collect::<Vec<_>>()}));
            self.engine.write(cypher::LINK_ORIGINS, bound).await?;
        }
        Ok(())
    }

    /// The answers that were given some turns or came after them, and have words of their answers.
    async fn heirs(&self, leaving: &HashMap<String, Origin>) -> Result<Vec<Heir>, StoreError> {
        let told = leaving.values().filter(|it| !it.words.is_empty());
        let told: Vec<&Origin> = told.collect();
        let mut heirs = Vec::new();
        let mut add = |of: &Origin, answer: &CandidateAnswer| {
            if !leaving.contains_key(&answer.id) && !of.words.is_disjoint(&answer.words) {
                heirs.push(Heir {
                    of: of.id.clone(),
                    answer: answer.clone(),
                });
            }
        };
        for turns in told.chunks(TURNS_PER_STATEMENT) {
            let ids: Vec<&str> = turns.iter().map(|it| it.id.as_str()).collect();
            let bound = params(json!({"ids": ids}));
            for row in self.engine.read(cypher::GIVEN, bound).await? {
                let answer = answer(&row);
                let given = list(&row, "given").iter().filter_map(|id| id.as_str());
                let given = given.filter_map(|id| leaving.get(id));
                given.for_each(|turn| add(turn, &answer));
            }
        }
        let mut by_session: HashMap<&str, Vec<&Origin>> = HashMap::new();
        for turn in told {
            by_session.entry(&turn.session).or_default().push(turn);
        }
        for (session, turns) in by_session {
            let first = turns.iter().map(|it| it.position).min();
            let bound =
                params(json!({"session": session, "from": first, "most": MAX_LATER_ANSWERS}));
            for row in self.engine.read(cypher::AFTER, bound).await? {
                let answer = answer(&row);
                let before = turns.iter();
                let before = before.filter(|it| it.is_before(session, answer.position));
                before.for_each(|turn| add(turn, &answer));
            }
        }
        Ok(heirs)
    }

    /// What some turns were given, and what came before them in their conversations.
    async fn origins(
        &self,
        leaving: &HashMap<String, Origin>,
        ids: &[String],
    ) -> Result<Origins, StoreError> {
        const ALL: &[&str] = &["input", "attached", "output"];
        let mut origins = Origins::default();
        for ids in ids.chunks(TURNS_PER_STATEMENT) {
            let bound = params(json!({"ids": ids}));
            for row in self.engine.read(cypher::ORIGINS, bound).await? {
                let of = text(&row, "of").unwrap_or_default();
                let given = origins.given.entry(of).or_default();
                given.push(Origin::of(&row, ALL));
            }
        }
        let mut last: HashMap<&str, i64> = HashMap::new();
        for turn in leaving.values() {
            let last = last.entry(&turn.session).or_insert(turn.position);
            *last = turn.position.max(*last);
        }
        for (session, before) in last {
            let bound =
                params(json!({"session": session, "before": before, "most": MAX_EARLIER_TURNS}));
            let rows = self.engine.read(cypher::BEFORE, bound).await?;
            let turns = rows.iter().map(|row| Origin::of(row, ALL));
            (origins.earlier).extend(turns.filter(|it| !leaving.contains_key(&it.id)));
        }
        Ok(origins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(id: &str, session: &str, position: i64) -> (String, Origin) {
        let origin = Origin {
            id: id.to_owned(),
            session: session.to_owned(),
            position,
            words: HashSet::new(),
        };
        (id.to_owned(), origin)
    }

    #[test]
    fn origins_are_found_through_all_turns_that_go_together() {
        let leaving = HashMap::from([
            turn("first", "talk", 3),
            turn("second", "talk", 5),
            turn("third", "talk", 6),
            turn("elsewhere", "other", 8),
        ]);
        let given = |of: &str, origins: [(String, Origin); 1]| {
            let origins = origins.map(|(_, origin)| origin);
            (of.to_owned(), Vec::from(origins))
        };
        let origins = Origins {
            given: HashMap::from([
                given("first", [turn("given-to-first", "far", 1)]),
                given("second", [turn("elsewhere", "other", 8)]),
                given("third", [turn("given-to-third", "far", 2)]),
            ]),
            earlier: [
                turn("before-first", "talk", 1),
                turn("between", "talk", 4),
                turn("before-elsewhere", "other", 7),
                turn("after-elsewhere", "other", 9),
            ]
            .map(|(_, origin)| origin)
            .into(),
        };
        for (of, expected) in [
            (
                "second",
                &[
                    "before-elsewhere",
                    "before-first",
                    "between",
                    "given-to-first",
                ][..],
            ),
            ("first", &["before-first", "given-to-first"]),
            ("elsewhere", &["before-elsewhere"]),
        ] {
            let found = origins.of(&leaving[of], &leaving);
            let mut found: Vec<&str> = found.iter().map(|it| it.id.as_str()).collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{of}");
        }
    }
}
