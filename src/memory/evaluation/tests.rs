//! Tests which events are counted in a history, and which questions are collected from it.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::AudienceId;

use super::figures::Figure;
use super::history::AudienceHistory;
use super::scan::{RelevanceSignal, ReplayQuestion, ScanSettings, Scanned, scan};
use crate::graph::answers::Votes;
use crate::graph::{Outcome, Replaced, ResponseId, Turn};

/// A history under construction: each turn is a minute after the previous one.
struct HistoryBuilder {
    history: AudienceHistory,
    at: DateTime<Utc>,
}

impl HistoryBuilder {
    fn new() -> Self {
        Self {
            history: AudienceHistory {
                audience: AudienceId::new("test/c"),
                turns: Vec::new(),
                outcomes: HashMap::new(),
                replaced: HashMap::new(),
            },
            at: "2026-05-04T09:00:00Z".parse().unwrap(),
        }
    }

    fn push(&mut self, turn: Turn) -> ResponseId {
        let id = turn.id;
        self.at += TimeDelta::minutes(1);
        self.history.turns.push(Turn {
            position: self.history.turns.len() as i64 + 1,
            created_at: self.at,
            ..turn
        });
        id
    }

    /// A question in its own conversation that was answered from memories.
    fn ask(&mut self, author: &str, input: &str, output: &str, given: &[ResponseId]) -> ResponseId {
        let session = format!("test/c/{}", self.history.turns.len());
        let id = self.push(Turn::of(&session, author, input, output));
        let outcome = Outcome {
            id,
            votes: Votes::default(),
            recalled: given.to_vec(),
            knowledge: 0,
            changed: 0,
        };
        self.history.outcomes.insert(id, outcome);
        id
    }

    fn hear(&mut self, author: &str, text: &str, reply_to: Option<ResponseId>) -> ResponseId {
        self.push(Turn {
            reply_to: reply_to.map(|id| id.to_string()),
            ..Turn::message("test/c/talk", author, text)
        })
    }

    fn replace(&mut self, later: ResponseId, earlier: ResponseId, by_hand: bool) {
        let replaced = Replaced {
            later,
            earlier,
            corrected_at: by_hand.then_some(self.at),
        };
        self.history
            .replaced
            .entry(later)
            .or_default()
            .push(replaced);
    }

    fn outcome(&mut self, id: ResponseId) -> &mut Outcome {
        self.history.outcomes.get_mut(&id).unwrap()
    }

    fn scan(&self) -> Scanned {
        let rules = ScanSettings {
            window: 12,
            most: 1_000,
            since: None,
        };
        scan(&self.history, &rules)
    }
}

fn count(scanned: &Scanned, figure: Figure) -> (u64, u64) {
    let share = scanned.total.get(figure);
    (share.part, share.whole)
}

fn of_kind(scanned: &Scanned, kind: &RelevanceSignal) -> Vec<ReplayQuestion> {
    let all = scanned.questions.iter().filter(|it| it.kind == *kind);
    all.cloned().collect()
}

#[test]
fn an_answer_uses_the_memory_whose_words_it_says() {
    let mut told = HistoryBuilder::new();
    let keys = told.ask(
        "Ada",
        "The spare keys hang in the boathouse.",
        "Noted.",
        &[],
    );
    let lunch = told.ask("Ada", "Lunch is at noon on Fridays.", "Noted.", &[]);
    let asked = told.ask(
        "Bob",
        "how do I get in tonight?",
        "With the spare keys that hang in the boathouse.",
        &[keys, lunch],
    );
    let scanned = told.scan();
    assert_eq!(count(&scanned, Figure::Used), (1, 2));
    assert_eq!(count(&scanned, Figure::Given), (1, 3));
    let questions = of_kind(&scanned, &RelevanceSignal::Used);
    assert_eq!(questions.len(), 1);
    assert_eq!(
        (questions[0].targets.as_slice(), questions[0].known),
        (&[keys][..], 2)
    );
    assert_eq!(questions[0].id, asked.to_string());
}

#[test]
fn what_an_answer_says_again_is_found_though_it_was_not_given() {
    let mut told = HistoryBuilder::new();
    let keys = told.ask(
        "Ada",
        "The spare keys hang in the boathouse beside the anchor.",
        "Noted.",
        &[],
    );
    told.ask("Ada", "Lunch is at noon on Fridays.", "Noted.", &[]);
    told.ask(
        "Bob",
        "how do I get in tonight?",
        "Look in the boathouse, beside the anchor.",
        &[],
    );
    let scanned = told.scan();
    let questions = of_kind(&scanned, &RelevanceSignal::SaidAgain);
    assert_eq!(questions.len(), 1, "{:?}", scanned.questions);
    assert_eq!(questions[0].targets, [keys]);
    // An answer does not count as repeating words that are in its question.
    told.ask(
        "Bob",
        "is the boathouse beside the anchor?",
        "Yes, the boathouse beside the anchor.",
        &[],
    );
    assert_eq!(of_kind(&told.scan(), &RelevanceSignal::SaidAgain).len(), 1);
}

#[test]
fn silence_and_asking_again_are_counted() {
    let mut told = HistoryBuilder::new();
    told.ask(
        "Ada",
        "Where does the Kestrel ferry leave from?",
        "I do not know.",
        &[],
    );
    told.ask(
        "Ada",
        "where does the kestrel ferry leave from, please?",
        "Pier 4.",
        &[],
    );
    told.ask(
        "Bob",
        "Where does the Kestrel ferry leave from?",
        "Pier 4.",
        &[],
    );
    told.ask("Bob", "I like it.", "Good.", &[]);
    let scanned = told.scan();
    assert_eq!(count(&scanned, Figure::AskedAgain), (1, 3));
    assert_eq!(scanned.total.answers(), 4);
    assert_eq!(count(&scanned, Figure::Silent), (3, 3));
    assert_eq!(count(&scanned, Figure::SilentAndAskedAgain), (1, 3));
    assert_eq!(of_kind(&scanned, &RelevanceSignal::Repeated).len(), 2);
    // A quarter of an hour later it no longer counts.
    let mut told = HistoryBuilder::new();
    told.ask(
        "Ada",
        "Where does the Kestrel ferry leave from?",
        "I do not know.",
        &[],
    );
    told.at += TimeDelta::minutes(20);
    told.ask(
        "Ada",
        "Where does the Kestrel ferry leave from?",
        "Pier 4.",
        &[],
    );
    assert_eq!(count(&told.scan(), Figure::AskedAgain), (0, 2));
}

#[test]
fn who_says_the_same_twice_asks_nothing_again() {
    let mut told = HistoryBuilder::new();
    for _ in 0..2 {
        told.ask(
            "Ada",
            "The Kestrel ferry leaves from pier 4 now.",
            "Noted.",
            &[],
        );
    }
    let scanned = told.scan();
    assert_eq!(count(&scanned, Figure::AskedAgain), (0, 0));
    assert_eq!(scanned.total.answers(), 2);
}

#[test]
fn an_answer_from_what_was_replaced_is_outdated_unless_it_had_the_newer_one() {
    let mut told = HistoryBuilder::new();
    let old = told.ask("Ada", "The rent is 900 euros.", "Noted.", &[]);
    let early = told.ask("Bob", "how much is it?", "900.", &[old]);
    let new = told.ask("Ada", "The rent is 950 euros.", "Noted.", &[]);
    told.replace(new, old, false);
    told.ask("Bob", "how much is it?", "900.", &[old]);
    told.ask("Bob", "how much is it?", "950.", &[old, new]);
    let scanned = told.scan();
    assert_eq!(count(&scanned, Figure::Outdated), (1, 3));
    assert_eq!(count(&scanned, Figure::Corrected), (0, 5));
    // Replaced by several: any of them counts as newer.
    let newest = told.ask("Ada", "The rent is 990 euros.", "Noted.", &[]);
    told.replace(newest, old, false);
    told.ask("Bob", "how much is it?", "950.", &[old, new]);
    told.ask("Bob", "how much is it?", "990.", &[old, newest]);
    assert_eq!(count(&told.scan(), Figure::Outdated), (1, 5));
    // Somebody corrects it.
    let correction = told.push(Turn::note("test/c/n", "Bob", "The rent is 950 euros."));
    told.replace(correction, early, true);
    let scanned = told.scan();
    assert_eq!(count(&scanned, Figure::Corrected), (1, 8));
    let questions = of_kind(&scanned, &RelevanceSignal::Corrected);
    assert_eq!(questions[0].targets, [correction]);
    assert_eq!(questions[0].own, Some(early));
}

#[test]
fn votes_knowledge_and_copies_are_counted() {
    let mut told = HistoryBuilder::new();
    let said = "The spare keys hang in the boathouse.";
    let liked = told.ask("Ada", said, "Noted.", &[]);
    told.outcome(liked).votes = Votes { good: 2, bad: 1 };
    let known = told.ask("Bob", "who owns the boat?", "Ada.", &[]);
    told.outcome(known).knowledge = 2;
    told.outcome(known).changed = 1;
    told.hear("Eve", "the spare keys HANG in the boathouse!", None);
    told.ask("Bob", said, "Noted.", &[]);
    let scanned = told.scan();
    assert_eq!(count(&scanned, Figure::RatedGood), (2, 3));
    assert_eq!(count(&scanned, Figure::KnowledgeChanged), (1, 1));
    assert_eq!(count(&scanned, Figure::Silent), (0, 1));
    assert_eq!(
        count(&scanned, Figure::Duplicate),
        (1, 4),
        "a copy has the same answer"
    );
}

#[test]
fn what_a_colleague_answered_can_be_asked_again() {
    let mut told = HistoryBuilder::new();
    let asked = told.hear("Ada", "who took the grey headset home?", None);
    let answer = told.hear("Bob", "Rhodri took it after the exercise", Some(asked));
    told.hear("Eve", "no idea", Some(asked));
    told.hear("Ada", "the grey one or the black one?", Some(asked));
    let questions = of_kind(&told.scan(), &RelevanceSignal::Replied);
    assert_eq!(questions.len(), 1, "{questions:?}");
    assert_eq!(questions[0].targets, [answer]);
    assert_eq!((questions[0].known, questions[0].own), (4, Some(asked)));
}

#[test]
fn the_same_questions_are_drawn_each_time() {
    let mut told = HistoryBuilder::new();
    for _ in 0..200 {
        told.ask(
            "Ada",
            "Where does the Kestrel ferry leave from?",
            "Pier 4.",
            &[],
        );
    }
    let few = |most| {
        let rules = ScanSettings {
            window: 1,
            most,
            since: None,
        };
        let questions = scan(&told.history, &rules).questions.into_iter();
        questions.map(|it| it.id).collect::<Vec<String>>()
    };
    let (few, more) = (few(50), few(100));
    assert!((40..=50).contains(&few.len()), "{}", few.len());
    assert!(few.iter().all(|it| more.contains(it)));
}
