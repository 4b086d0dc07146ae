//! Which answers say again what is to be forgotten.
//!
//! An answer that was given something, or that came after it in its conversation, may have it in other words than a quote.
//! It says it again where it has a telling word of it that its own question has not, and that nobody else of the audience
//! ever said: then it can be from there alone. An answer that says it again, also one from memory that quotes it, is a
//! source of others, too. So is one that was given anew since: what it said before is not known, and others may have it from there.
//! An answer from memory that quoted it was emptied then, and stands in the chat as it was: it is taken to say it again.

use std::collections::{HashMap, HashSet};

use muninn_retrieval::rarity::rarity;
use muninn_retrieval::text::each_read;
use serde_json::{Value, json};

use super::engine::{Engine, Row};
use super::forgetting::REDACTED_ANSWER;
use super::record::{integer, list, params, response_id, text};
use super::statements::forgetting as cypher;
use super::{GraphStore, ResponseId, StoreError, Turn};

/// A word tells that stands in less than one of 3,000 exchanges: minus the logarithm of that share.
const TELLING: f32 = 8.0;
/// How often what says it again is looked for of what said it again.
const ROUNDS: usize = 4;
/// Turns of one statement.
const AT_ONCE: usize = 200;
/// Answers after a turn in its conversation that may say it again: more than any window shows.
const AFTER: usize = 500;

/// What may be said again.
#[derive(Clone, Debug)]
struct Carrier {
    id: String,
    session: String,
    position: i64,
    words: HashSet<String>,
    /// Of an answer, all that it says.
    output: String,
}

/// What may say something again.
#[derive(Clone, Debug)]
struct Answer {
    id: String,
    session: String,
    audience: String,
    position: i64,
    output: String,
    /// The telling words that are in it or in its question as it was understood, and not in the question itself.
    words: HashSet<String>,
    /// It was given anew.
    is_revised: bool,
    /// What it said is not in the graph any more.
    is_empty: bool,
}

/// An answer that says some turns again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repetition {
    pub(super) id: ResponseId,
    /// What it said when it was looked at.
    pub(super) output: String,
}

impl Repetition {
    /// Whether it was emptied before: what it went out as may say them still.
    pub(super) fn is_empty(&self) -> bool {
        self.output == REDACTED_ANSWER
    }
}

/// What may say some carriers again.
#[derive(Debug)]
struct Candidate {
    answer: Answer,
    /// The words that it shares with them.
    shared: HashSet<String>,
    /// All of theirs.
    given: HashSet<String>,
}

/// The look for the answers that say some turns again.
#[derive(Debug)]
pub(super) struct Repeating {
    /// The turns, and the answers that were found.
    seen: HashSet<String>,
    /// Who said the turns.
    authors: HashSet<String>,
    /// What was said in the turns.
    said: Vec<Carrier>,
    /// What was found that says it again.
    found: Vec<Carrier>,
}

/// What one round of a look found.
#[derive(Debug, Default)]
struct Round {
    says: Vec<Carrier>,
    /// Answers that were given anew, with all that they may have said before.
    may_have_said: Vec<Carrier>,
}

impl Round {
    fn extend(&mut self, other: Self) {
        self.says.extend(other.says);
        self.may_have_said.extend(other.may_have_said);
    }
}

impl Answer {
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
    /// The answers that say it again and were not found before, in as many rounds as it takes, [`ROUNDS`] at most.
    pub(super) async fn look(&mut self, store: &GraphStore) -> Result<Vec<Repetition>, StoreError> {
        let mut all = Vec::new();
        let mut may_have_said = HashSet::new();
        let mut next = self.round(store, &self.said).await?;
        next.extend(self.round(store, &self.found).await?);
        for _ in 0..ROUNDS {
            next.says.retain(|it| self.seen.insert(it.id.clone()));
            next.may_have_said
                .retain(|it| may_have_said.insert(it.id.clone()));
            let Round {
                says,
                may_have_said: revised,
            } = next;
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

    /// Looks once more whether some of the answers say it again. What they said may be in others all the same.
    pub(super) fn look_again_at<'a>(&mut self, answers: impl Iterator<Item = &'a Repetition>) {
        for answer in answers {
            self.seen.remove(&answer.id.to_string());
        }
    }

    /// What says some carriers again, and what may have.
    async fn round(&self, store: &GraphStore, carriers: &[Carrier]) -> Result<Round, StoreError> {
        let mut round = Round::default();
        let mut candidates = store.candidates(carriers).await?;
        candidates.retain(|it| !self.seen.contains(&it.answer.id));
        let said = store.said_by_others(&candidates, &self.authors).await?;
        for candidate in candidates {
            let Candidate {
                answer,
                mut shared,
                given,
            } = candidate;
            let said = said.get(&answer.audience);
            shared.retain(|word| !said.is_some_and(|said| said.contains(word)));
            let words = shared;
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
    /// The answers that say again what people said in these turns, without those turns.
    pub(super) async fn repeating(&self, turns: &[ResponseId]) -> Result<Repeating, StoreError> {
        let ids: Vec<String> = turns.iter().map(ResponseId::to_string).collect();
        let (said, authors) = self.carriers(&ids).await?;
        Ok(Repeating {
            seen: ids.into_iter().collect(),
            authors,
            said,
            found: Vec::new(),
        })
    }

    /// What people said in some turns, and who they are. An answer of these turns that says again what was said in another
    /// of them carries that, too: what was given that answer alone has it from there.
    async fn carriers(
        &self,
        ids: &[String],
    ) -> Result<(Vec<Carrier>, HashSet<String>), StoreError> {
        let mut turns = Vec::new();
        let mut authors = HashSet::new();
        for ids in ids.chunks(AT_ONCE) {
            let bound = params(json!({"ids": ids}));
            for row in self.engine.read(cypher::SAID, bound).await? {
                authors.extend(text(&row, "author"));
                let of = |column| telling(&text(&row, column).unwrap_or_default());
                let said: HashSet<String> = of("input").union(&of("attached")).cloned().collect();
                let carrier = Carrier {
                    id: text(&row, "id").unwrap_or_default(),
                    session: text(&row, "session").unwrap_or_default(),
                    position: integer(&row, "position"),
                    words: said,
                    output: String::new(),
                };
                turns.push((carrier, of("output")));
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

    /// The answers that were given some of the carriers or came after them, where they share words with them or were given
    /// anew, and those that are empty although what they were given is there.
    async fn candidates(&self, carriers: &[Carrier]) -> Result<Vec<Candidate>, StoreError> {
        let by_id: HashMap<&str, &Carrier> = carriers.iter().map(|it| (&*it.id, it)).collect();
        let ids: Vec<&str> = by_id.keys().copied().collect();
        let mut found: HashMap<String, Candidate> = HashMap::new();
        let mut add = |answer: Answer, words: &HashSet<String>| {
            let shared: Vec<String> = answer.words.intersection(words).cloned().collect();
            if !shared.is_empty() || answer.is_revised || answer.is_empty {
                let known = found.entry(answer.id.clone());
                let known = known.or_insert_with(|| Candidate {
                    answer,
                    shared: HashSet::new(),
                    given: HashSet::new(),
                });
                known.shared.extend(shared);
                known.given.extend(words.iter().cloned());
            }
        };
        for ids in ids.chunks(AT_ONCE) {
            let bound = params(json!({"ids": ids}));
            for row in self.engine.read(cypher::GIVEN, bound).await? {
                let given = list(&row, "given").iter().filter_map(|id| id.as_str());
                for carrier in given.filter_map(|id| by_id.get(id)) {
                    add(answer(&row), &carrier.words);
                }
            }
        }
        let mut by_session: HashMap<&str, Vec<&Carrier>> = HashMap::new();
        for carrier in carriers {
            by_session
                .entry(&carrier.session)
                .or_default()
                .push(carrier);
        }
        for (session, carriers) in by_session {
            let first = carriers.iter().map(|it| it.position).min();
            let bound = params(json!({"session": session, "from": first, "most": AFTER}));
            for row in self.engine.read(cypher::AFTER, bound).await? {
                let answer = Answer {
                    // Others that are empty were taken away as something else was forgotten.
                    is_empty: false,
                    ..answer(&row)
                };
                let before = carriers.iter().filter(|it| it.position < answer.position);
                before.for_each(|carrier| add(answer.clone(), &carrier.words));
            }
        }
        Ok(found.into_values().collect())
    }

    /// Of the words that some candidates share, those that others than these authors said, by audience.
    async fn said_by_others(
        &self,
        candidates: &[Candidate],
        authors: &HashSet<String>,
    ) -> Result<HashMap<String, HashSet<String>>, StoreError> {
        let mut shared: HashMap<&str, HashSet<&str>> = HashMap::new();
        for Candidate {
            answer,
            shared: words,
            ..
        } in candidates
        {
            let words = words.iter().map(String::as_str);
            shared.entry(&answer.audience).or_default().extend(words);
        }
        shared.retain(|_, words| !words.is_empty());
        let mut said = HashMap::new();
        for (audience, words) in shared {
            let bound = params(json!({"audience": audience, "words": words, "authors": authors}));
            // Reads all that was said there: once, whatever it is asked for.
            let rows = self.engine.read(cypher::SAID_BY_OTHERS, bound).await?;
            let words = rows.iter().filter_map(|row| text(row, "word"));
            said.insert(audience.to_owned(), words.collect());
        }
        Ok(said)
    }
}

fn answer(row: &Row) -> Answer {
    let of = |column| text(row, column).unwrap_or_default();
    let (asked, output) = (telling(&of("input")), of("output"));
    // A question is rephrased with the words of those before it.
    let mut words = telling(&output);
    words.extend(telling(&of("rephrasedQuestion")));
    Answer {
        id: of("id"),
        session: of("session"),
        audience: of("audience"),
        position: integer(row, "position"),
        words: words.difference(&asked).cloned().collect(),
        is_revised: row.get("isRevised").and_then(Value::as_bool) == Some(true),
        is_empty: output == REDACTED_ANSWER,
        output,
    }
}

/// Whether an answer says again what people said in an earlier turn: it has a telling word of that which its own question has
/// not. Without a look at what others ever said, so rather once too often.
pub fn says_again(answer: &Turn, said: &Turn) -> bool {
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

/// The words of a text that few texts have, in small letters.
fn telling(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    each_read(text, |_, word| {
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
            assert_eq!(says_again(&answer, &said), again, "{asked} {answered}");
        }
        let rephrased = Turn {
            rephrased_question: Some("Who has the locker with the code ZEBRA-4711?".to_owned()),
            ..Turn::of("s", "bo", "Who has it?", "Nobody knows.")
        };
        assert!(says_again(&rephrased, &said));
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
