//! Finds the answers that repeat what is to be forgotten.
//!
//! An answer that was given a turn, or that came after it in its conversation, may repeat it in other words than a quote. It
//! repeats the turn if it has a telling word of it that is not in the answer's own question, and that nobody else of the audience
//! ever said: then the word can only come from there. An answer that repeats the turn, including one from memory that quotes it,
//! is itself a source for others. So is an answer that was regenerated since: its earlier text is unknown, and others may have
//! the word from there. An answer from memory that quoted the regenerated one was emptied then, but is unchanged in the chat; it
//! is assumed to repeat the turn.
//!
//! What a model asked its tools may contain such a word too, without the answer. Then only the trace repeats the turn.

mod origins;

use std::collections::{HashMap, HashSet};

use muninn_retrieval::rarity::rarity;
use muninn_retrieval::text::{each_content_word, each_lowercase_word};
use serde_json::{Value, json};

use super::GraphStore;
use super::record::{integer, list, params, response_id, text};
use super::statements::forgetting as cypher;
use crate::graph::engine::{Engine, Row};
use crate::graph::types::redacted::REDACTED_ANSWER;
use crate::graph::types::response_id::ResponseId;
use crate::graph::types::trace::Trace;
use crate::graph::{StoreError, Turn};

/// A word is telling if it is in less than one of 3,000 exchanges: minus the logarithm of that share.
const TELLING: f32 = 8.0;
/// Number of rounds in which repetitions of repetitions are searched.
const ROUNDS: usize = 4;
/// Number of turns per statement.
const TURNS_PER_STATEMENT: usize = 200;
/// Number of answers after a turn in its conversation that are checked: more than any window shows.
const MAX_LATER_ANSWERS: usize = 500;
/// Number of messages of other people per statement.
const MESSAGES_PER_STATEMENT: usize = 500;

/// A text that may be repeated.
#[derive(Clone, Debug)]
struct Carrier {
    id: String,
    session: String,
    position: i64,
    words: HashSet<String>,
    /// The full text, if it is an answer.
    output: String,
}

/// An answer that may repeat something.
#[derive(Clone, Debug)]
struct CandidateAnswer {
    id: String,
    session: String,
    audience: String,
    position: i64,
    output: String,
    /// The telling words in it or in its rephrased question, except those in the question itself.
    words: HashSet<String>,
    /// The same of how it came to be, which only `why` shows.
    traced: HashSet<String>,
    /// It was regenerated.
    is_revised: bool,
    /// Its text is no longer in the graph.
    is_empty: bool,
}

/// An answer that repeats some turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::graph) struct Repetition {
    pub(in crate::graph) id: ResponseId,
    /// Its text when it was examined.
    pub(in crate::graph) output: String,
}

impl Repetition {
    /// Whether it was emptied before. Its delivered messages may still contain the text.
    pub(in crate::graph) fn is_empty(&self) -> bool {
        self.output == REDACTED_ANSWER
    }
}

/// An answer that may repeat some carriers.
#[derive(Debug)]
struct Candidate {
    answer: CandidateAnswer,
    /// The words that it shares with them.
    shared: HashSet<String>,
    /// The words that its trace shares with them.
    traced: HashSet<String>,
    /// All of their words.
    given: HashSet<String>,
}

/// The search for answers that repeat some turns.
#[derive(Debug)]
pub(in crate::graph) struct Repeating {
    /// The turns, and the answers found so far.
    seen: HashSet<String>,
    /// The authors of the turns.
    authors: HashSet<String>,
    /// The texts of the turns.
    said: Vec<Carrier>,
    /// The repetitions found so far.
    found: Vec<Carrier>,
    /// The answers found so far of which only the trace repeats something.
    traced: HashSet<ResponseId>,
    /// The answers found so far that may have repeated something before they were regenerated.
    may_have_said: HashSet<ResponseId>,
}

/// The results of one round of the search.
#[derive(Debug, Default)]
struct Round {
    says: Vec<Carrier>,
    /// Regenerated answers, with everything that they may have said before.
    may_have_said: Vec<Carrier>,
    /// Answers that do not repeat anything, unlike their traces.
    traced: Vec<String>,
}

impl Round {
    fn extend(&mut self, other: Self) {
        self.says.extend(other.says);
        self.may_have_said.extend(other.may_have_said);
        self.traced.extend(other.traced);
    }
}

impl Carrier {
    /// A turn of [`cypher::SAID`] and the like, with the telling words of some columns.
    fn of(row: &Row, columns: &[&str]) -> Self {
        let texts = columns.iter().filter_map(|column| text(row, column));
        Self {
            id: text(row, "id").unwrap_or_default(),
            session: text(row, "session").unwrap_or_default(),
            position: integer(row, "position"),
            words: texts.flat_map(|it| telling(&it)).collect(),
            output: String::new(),
        }
    }

    fn is_before(&self, session: &str, position: i64) -> bool {
        self.session == session && self.position < position
    }
}

impl CandidateAnswer {
    fn carries(self, words: HashSet<String>) -> Carrier {
        Carrier {
            id: self.id,
            session: self.session,
            position: self.position,
            words,
            output: self.output,
        }
    }
}

impl Repeating {
    /// The repetitions that were not found before, in as many rounds as needed, at most [`ROUNDS`].
    pub(in crate::graph) async fn look(
        &mut self,
        store: &GraphStore,
    ) -> Result<Vec<Repetition>, StoreError> {
        let mut all = Vec::new();
        let mut next = self.round(store, &self.said).await?;
        next.extend(self.round(store, &self.found).await?);
        for _ in 0..ROUNDS {
            next.says.retain(|it| self.seen.insert(it.id.clone()));
            let mut revised = Vec::new();
            for carrier in next.may_have_said {
                if self.may_have_said.insert(response_id(&carrier.id)?) {
                    revised.push(carrier);
                }
            }
            let (says, traced) = (next.says, next.traced);
            for id in &traced {
                self.traced.insert(response_id(id)?);
            }
            if says.is_empty() && revised.is_empty() {
                break;
            }
            next = self.round(store, &says).await?;
            next.extend(self.round(store, &revised).await?);
            for carrier in &says {
                all.push(Repetition {
                    id: response_id(&carrier.id)?,
                    output: carrier.output.clone(),
                });
            }
            self.found.extend(says);
        }
        Ok(all)
    }

    /// Takes the answers of which only the trace repeats something, as far as they were found.
    pub(in crate::graph) fn take_traced(&mut self) -> Vec<ResponseId> {
        std::mem::take(&mut self.traced).into_iter().collect()
    }

    /// Takes the answers that may have repeated something before they were regenerated: messages that show what was said until
    /// then still contain it.
    pub(in crate::graph) fn take_revised(&mut self) -> Vec<ResponseId> {
        std::mem::take(&mut self.may_have_said)
            .into_iter()
            .collect()
    }

    /// Checks again whether some of the answers repeat the turns. Their earlier text may be in other answers in any case.
    pub(in crate::graph) fn look_again_at<'a>(
        &mut self,
        answers: impl Iterator<Item = &'a Repetition>,
    ) {
        for answer in answers {
            self.seen.remove(&answer.id.to_string());
        }
    }

    /// The answers that repeat some carriers, and those that may have done so before.
    async fn round(&self, store: &GraphStore, carriers: &[Carrier]) -> Result<Round, StoreError> {
        let mut round = Round::default();
        let mut candidates = store.candidates(carriers).await?;
        candidates.retain(|it| !self.seen.contains(&it.answer.id));
        let said = store.said_by_others(&candidates, &self.authors).await?;
        for candidate in candidates {
            let Candidate {
                answer,
                shared: mut words,
                mut traced,
                given,
            } = candidate;
            let said = said.get(&answer.audience);
            let is_only_from_there =
                |word: &String| !said.is_some_and(|said| said.contains(word.as_str()));
            words.retain(is_only_from_there);
            traced.retain(is_only_from_there);
            if words.is_empty() && !traced.is_empty() {
                round.traced.push(answer.id.clone());
            }
            if !words.is_empty() {
                round.says.push(answer.carries(words));
            } else if answer.is_empty {
                round.says.push(answer.carries(given));
            } else if answer.is_revised {
                round.may_have_said.push(answer.carries(given));
            }
        }
        Ok(round)
    }
}

impl GraphStore {
    /// The answers that repeat what people said in these turns, except these turns themselves.
    pub(in crate::graph) async fn repeating(
        &self,
        turns: &[ResponseId],
    ) -> Result<Repeating, StoreError> {
        let ids: Vec<String> = turns.iter().map(ResponseId::to_string).collect();
        let (said, authors) = self.carriers(&ids).await?;
        Ok(Repeating {
            seen: ids.into_iter().collect(),
            authors,
            said,
            found: Vec::new(),
            traced: HashSet::new(),
            may_have_said: HashSet::new(),
        })
    }

    /// What people said in some turns, and their authors. If the answer of one of these turns repeats another of them, it carries
    /// that text too: whoever was given only that answer has the text from there.
    async fn carriers(
        &self,
        ids: &[String],
    ) -> Result<(Vec<Carrier>, HashSet<String>), StoreError> {
        let mut turns = Vec::new();
        let mut authors = HashSet::new();
        for ids in ids.chunks(TURNS_PER_STATEMENT) {
            let bound = params(json!({"ids": ids}));
            for row in self.engine.read(cypher::SAID, bound).await? {
                authors.extend(text(&row, "author"));
                let answered = telling(&text(&row, "output").unwrap_or_default());
                turns.push((Carrier::of(&row, &["input", "attached"]), answered));
            }
        }
        let all = turns
            .iter()
            .flat_map(|(turn, _)| turn.words.iter().cloned());
        let all: HashSet<String> = all.collect();
        let with_answer = turns.into_iter().map(|(turn, answered)| Carrier {
            words: answered
                .intersection(&all)
                .chain(&turn.words)
                .cloned()
                .collect(),
            ..turn
        });
        let carriers = with_answer.filter(|turn| !turn.words.is_empty());
        Ok((carriers.collect(), authors))
    }

    /// The answers that were given some of the carriers or came after them, if they share words with them or were regenerated,
    /// and the empty ones whose inputs still exist.
    async fn candidates(&self, carriers: &[Carrier]) -> Result<Vec<Candidate>, StoreError> {
        let mut found: HashMap<String, Candidate> = HashMap::new();
        let add = |answer: &CandidateAnswer, carrier: &Carrier| {
            let words = &carrier.words;
            let shared: Vec<String> = answer.words.intersection(words).cloned().collect();
            let traced: Vec<String> = answer.traced.intersection(words).cloned().collect();
            let shares = !shared.is_empty() || !traced.is_empty();
            if shares || answer.is_revised || answer.is_empty {
                let known = found.entry(answer.id.clone());
                let known = known.or_insert_with(|| Candidate {
                    answer: answer.clone(),
                    shared: HashSet::new(),
                    traced: HashSet::new(),
                    given: HashSet::new(),
                });
                known.shared.extend(shared);
                known.traced.extend(traced);
                known.given.extend(words.iter().cloned());
            }
        };
        let carriers: Vec<&Carrier> = carriers.iter().collect();
        self.visit_answers_from(&carriers, add).await?;
        Ok(found.into_values().collect())
    }

    /// Visits the answers that were given some carriers, or came after them in their conversations, with each of these.
    async fn visit_answers_from<'a>(
        &self,
        carriers: &[&'a Carrier],
        mut visit: impl FnMut(&CandidateAnswer, &'a Carrier) + Send,
    ) -> Result<(), StoreError> {
        let by_id: HashMap<&str, &'a Carrier> = carriers.iter().map(|it| (&*it.id, *it)).collect();
        let ids: Vec<&str> = by_id.keys().copied().collect();
        for ids in ids.chunks(TURNS_PER_STATEMENT) {
            let bound = params(json!({"ids": ids}));
            for row in self.engine.read(cypher::GIVEN, bound).await? {
                let answer = answer(&row);
                let given = list(&row, "given").iter().filter_map(|id| id.as_str());
                let given = given.filter_map(|id| by_id.get(id));
                given.for_each(|carrier| visit(&answer, carrier));
            }
        }
        let mut by_session: HashMap<&str, Vec<&'a Carrier>> = HashMap::new();
        for carrier in carriers {
            by_session
                .entry(&carrier.session)
                .or_default()
                .push(carrier);
        }
        for (session, carriers) in by_session {
            let first = carriers.iter().map(|it| it.position).min();
            let bound =
                params(json!({"session": session, "from": first, "most": MAX_LATER_ANSWERS}));
            for row in self.engine.read(cypher::AFTER, bound).await? {
                let answer = CandidateAnswer {
                    // Other empty answers were withdrawn when something else was forgotten.
                    is_empty: false,
                    ..answer(&row)
                };
                let before = carriers.iter();
                let before = before.filter(|it| it.is_before(session, answer.position));
                before.for_each(|carrier| visit(&answer, carrier));
            }
        }
        Ok(())
    }

    /// Of the words that some candidates share, those that other authors said, by audience.
    async fn said_by_others(
        &self,
        candidates: &[Candidate],
        authors: &HashSet<String>,
    ) -> Result<HashMap<String, HashSet<String>>, StoreError> {
        let mut shared: HashMap<&str, HashSet<&str>> = HashMap::new();
        for candidate in candidates {
            let words = candidate.shared.union(&candidate.traced);
            let of_audience = shared.entry(&candidate.answer.audience).or_default();
            of_audience.extend(words.map(String::as_str));
        }
        let mut said = HashMap::new();
        for (audience, words) in shared {
            let words = self.said_there(audience, words, authors).await?;
            said.insert(audience.to_owned(), words);
        }
        Ok(said)
    }

    /// Those of some words that other authors said in an audience.
    async fn said_there(
        &self,
        audience: &str,
        mut words: HashSet<&str>,
        authors: &HashSet<String>,
    ) -> Result<HashSet<String>, StoreError> {
        let mut said = HashSet::new();
        let mut after = String::new();
        // Each statement reads everything that was said there, so they run for all words together.
        while !words.is_empty() {
            let bound = params(json!({
                "audience": audience, "words": words, "authors": authors, "after": after,
                "most": MESSAGES_PER_STATEMENT,
            }));
            let rows = self.engine.read(cypher::SAID_BY_OTHERS, bound).await?;
            for row in &rows {
                // "Ida" is in "Friday" too, which says nothing about her.
                each_lowercase_word(&text(row, "input").unwrap_or_default(), |word| {
                    if words.remove(word) {
                        said.insert(word.to_owned());
                    }
                });
            }
            match rows.last().and_then(|row| text(row, "id")) {
                Some(last) if rows.len() == MESSAGES_PER_STATEMENT => after = last,
                Some(_) | None => break,
            }
        }
        Ok(said)
    }
}

fn answer(row: &Row) -> CandidateAnswer {
    let of = |column| text(row, column).unwrap_or_default();
    let (asked, output) = (telling(&of("input")), of("output"));
    // A question is rephrased with words of the earlier ones.
    let mut words = telling(&output);
    words.extend(telling(&of("rephrasedQuestion")));
    let mut traced = telling(&of("cypher"));
    for text in Trace::texts(&of("trace")) {
        traced.extend(telling(&text));
    }
    CandidateAnswer {
        id: of("id"),
        session: of("session"),
        audience: of("audience"),
        position: integer(row, "position"),
        words: words.difference(&asked).cloned().collect(),
        traced: traced.difference(&asked).cloned().collect(),
        is_revised: row.get("isRevised").and_then(Value::as_bool) == Some(true),
        is_empty: output == REDACTED_ANSWER,
        output,
    }
}

/// Whether an answer repeats what people said in an earlier turn: it has a telling word of it that is not in its own question. It
/// does not check what others said, so it errs on the side of forgetting.
pub fn repeats_turn(answer: &Turn, said: &Turn) -> bool {
    let attached = said.attached.iter().map(|it| it.text.as_str());
    let mut words = HashSet::new();
    for text in attached.chain([said.input.as_str()]) {
        words.extend(telling(text));
    }
    let asked = telling(&answer.input);
    let rephrased = answer.rephrased_question.as_deref().unwrap_or_default();
    let mut again = [answer.output.as_str(), rephrased].into_iter().map(telling);
    again.any(|again| {
        again
            .iter()
            .any(|it| words.contains(it) && !asked.contains(it))
    })
}

/// The words of a text that are in few texts, in lower case.
fn telling(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    each_content_word(text, |_, word| {
        if rarity(word) >= TELLING {
            words.insert(word.to_owned());
        }
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_again_what_its_own_question_does_not() {
        let said = Turn::of("s", "ada", "My locker code is ZEBRA-4711.", "Noted.");
        for (asked, answered, again) in [
            ("What is the code?", "It is zebra-4711.", true),
            ("What is the code?", "I do not know.", false),
            ("Is it zebra 4711?", "Yes, ZEBRA-4711.", false),
            ("Where is it?", "Beside the locker.", true),
        ] {
            let answer = Turn::of("s", "bo", asked, answered);
            assert_eq!(repeats_turn(&answer, &said), again, "{asked} {answered}");
        }
        let rephrased = Turn {
            rephrased_question: Some("Who has the locker with the code ZEBRA-4711?".to_owned()),
            ..Turn::of("s", "bo", "Who has it?", "Nobody knows.")
        };
        assert!(repeats_turn(&rephrased, &said));
    }

    #[test]
    fn names_and_numbers_tell_and_common_words_do_not() {
        let words = telling("My locker code is ZEBRA-4711, and we have it at the time.");
        for word in ["zebra", "4711", "locker"] {
            assert!(words.contains(word), "{words:?}");
        }
        for word in ["my", "is", "and", "we", "have", "time"] {
            assert!(!words.contains(word), "{words:?}");
        }
        assert!(telling("What should we do today?").is_empty());
    }
}
