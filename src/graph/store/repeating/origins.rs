//! Keeps track of where answers have something from when a turn between is deleted.
//!
//! An answer that was given a turn may have a word that the turn's own answer had from a third one. The search for what repeats
//! that third turn follows the links from answer to answer, so it would end where the turn between was. Before a turn is deleted,
//! such answers are therefore linked to the third turn: a memory with a score of zero, which nobody is shown.

use std::collections::{HashMap, HashSet};

use serde_json::json;

use super::{CandidateAnswer, Carrier, TURNS_PER_STATEMENT};
use crate::graph::StoreError;
use crate::graph::engine::Engine as _;
use crate::graph::store::GraphStore;
use crate::graph::store::record::{params, text};
use crate::graph::store::statements::forgetting as cypher;
use crate::graph::types::response_id::ResponseId;

/// Number of turns before one in its conversation that are checked: more than any window shows.
const MAX_EARLIER_TURNS: usize = 500;

/// What the answers to some turns may have words from.
#[derive(Debug, Default)]
struct Origins {
    /// By the turn that was given them.
    given: HashMap<String, Vec<Carrier>>,
    /// What came before in the conversations.
    earlier: Vec<Carrier>,
}

impl Origins {
    /// All of a turn, also through other turns that are about to be deleted.
    fn of<'a>(
        &'a self,
        turn: &'a Carrier,
        to_delete: &'a HashMap<String, Carrier>,
    ) -> Vec<&'a Carrier> {
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
                match to_delete.get(&origin.id) {
                    Some(also_deleted) => to_visit.push(also_deleted),
                    None => found.push(origin),
                }
            }
            let reached = reached.entry(&turn.session).or_insert(i64::MIN);
            if turn.position <= *reached {
                continue;
            }
            let is_new = |it: &&Carrier| {
                it.is_before(&turn.session, turn.position) && it.position >= *reached
            };
            found.extend(self.earlier.iter().filter(is_new));
            to_visit.extend(to_delete.values().filter(is_new));
            *reached = turn.position;
        }
        found
    }
}

impl GraphStore {
    /// Links the answers that have words from the answers to these turns to where these have them from. To be called before
    /// the turns are deleted; a link too many does no harm.
    ///
    /// The search for what repeats the turns has read most of these answers already. They are read again, since that search
    /// empties answers until it finds none: what it read first is then outdated, and it reads for what people said, not for
    /// what was answered.
    pub(in crate::graph) async fn link_to_origins(
        &self,
        turns: &[ResponseId],
    ) -> Result<(), StoreError> {
        let ids: Vec<String> = turns.iter().map(ResponseId::to_string).collect();
        let mut to_delete = HashMap::new();
        for ids in ids.chunks(TURNS_PER_STATEMENT) {
            let rows = self.engine.read(cypher::SAID, params(json!({"ids": ids})));
            let turns = rows.await?;
            let turns = turns.iter().map(|row| Carrier::of(row, &["output"]));
            to_delete.extend(turns.map(|turn| (turn.id.clone(), turn)));
        }
        let answers = self.answers_with_words_of(&to_delete).await?;
        if answers.is_empty() {
            return Ok(());
        }
        let origins = self.origins(&to_delete, &ids).await?;
        let mut links = HashSet::new();
        for (turn, answer) in &answers {
            let origins = origins.of(turn, &to_delete).into_iter();
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

    /// The answers that were given some turns or came after them, and have words of their answers; each with the turn.
    async fn answers_with_words_of<'a>(
        &self,
        to_delete: &'a HashMap<String, Carrier>,
    ) -> Result<Vec<(&'a Carrier, CandidateAnswer)>, StoreError> {
        let told = to_delete.values().filter(|it| !it.words.is_empty());
        let told: Vec<&'a Carrier> = told.collect();
        let mut found = Vec::new();
        let add = |answer: &CandidateAnswer, turn: &'a Carrier| {
            if !to_delete.contains_key(&answer.id) && !turn.words.is_disjoint(&answer.words) {
                found.push((turn, answer.clone()));
            }
        };
        self.visit_answers_from(&told, add).await?;
        Ok(found)
    }

    /// What some turns were given, and what came before them in their conversations.
    async fn origins(
        &self,
        to_delete: &HashMap<String, Carrier>,
        ids: &[String],
    ) -> Result<Origins, StoreError> {
        const ALL: &[&str] = &["input", "attached", "output"];
        let mut origins = Origins::default();
        for ids in ids.chunks(TURNS_PER_STATEMENT) {
            let bound = params(json!({"ids": ids}));
            for row in self.engine.read(cypher::ORIGINS, bound).await? {
                let of = text(&row, "of").unwrap_or_default();
                let given = origins.given.entry(of).or_default();
                given.push(Carrier::of(&row, ALL));
            }
        }
        let mut last: HashMap<&str, i64> = HashMap::new();
        for turn in to_delete.values() {
            let last = last.entry(&turn.session).or_insert(turn.position);
            *last = turn.position.max(*last);
        }
        for (session, before) in last {
            let bound =
                params(json!({"session": session, "before": before, "most": MAX_EARLIER_TURNS}));
            let rows = self.engine.read(cypher::BEFORE, bound).await?;
            let turns = rows.iter().map(|row| Carrier::of(row, ALL));
            (origins.earlier).extend(turns.filter(|it| !to_delete.contains_key(&it.id)));
        }
        Ok(origins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(id: &str, session: &str, position: i64) -> (String, Carrier) {
        let origin = Carrier {
            id: id.to_owned(),
            session: session.to_owned(),
            position,
            words: HashSet::new(),
            output: String::new(),
        };
        (id.to_owned(), origin)
    }

    #[test]
    fn origins_are_found_through_all_turns_that_go_together() {
        let to_delete = HashMap::from([
            turn("first", "talk", 3),
            turn("second", "talk", 5),
            turn("third", "talk", 6),
            turn("elsewhere", "other", 8),
        ]);
        let given = |of: &str, origins: [(String, Carrier); 1]| {
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
            let found = origins.of(&to_delete[of], &to_delete);
            let mut found: Vec<&str> = found.iter().map(|it| it.id.as_str()).collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{of}");
        }
    }
}
