//! Recall as a whole, on turns created here.

mod authors;
mod files;

use chrono::{TimeDelta, Utc};
use muninn_platform::TimeZone;
use uuid::Uuid;

use super::*;
use crate::graph::{Embedding, ResponseId, Source, Turn};
use crate::retrieval::LocalEmbedder;

pub(super) fn turn(position: i64, input: &str, output: &str) -> Turn {
    let start: chrono::DateTime<Utc> = "2026-03-02T09:00:00Z".parse().unwrap();
    Turn {
        id: ResponseId(Uuid::from_u128(position as u128)),
        position,
        created_at: start + TimeDelta::minutes(position),
        event: format!("e{position}"),
        author: "u1".into(),
        ..Turn::of("s", "Ada", input, output)
    }
}

fn embedded(position: i64, input: &str, output: &str, embedder: &LocalEmbedder) -> Turn {
    let vector = embedder.embed(&embedded_text(input, output));
    Turn {
        embedding: vector.map(|vector| Embedding {
            embedder: embedder.name().to_owned(),
            vector,
        }),
        ..turn(position, input, output)
    }
}

struct Fixture {
    embedder: LocalEmbedder,
    calibration: Calibration,
    index: AudienceIndex,
}

impl Fixture {
    fn new(exchanges: &[(&str, &str)]) -> Self {
        let embedder = LocalEmbedder::shipped().unwrap();
        let of = (embedder.name(), embedder.dimension());
        let mut index = AudienceIndex::new(Some(of), 0);
        for ((input, output), position) in exchanges.iter().zip(1..) {
            index.push(&embedded(position, input, output, &embedder));
        }
        Self {
            calibration: Calibration::shipped().unwrap(),
            embedder,
            index,
        }
    }

    fn everything() -> RecallSettings {
        RecallSettings {
            mode: RecallMode::Probability,
            threshold: 0.0,
            usual: usize::MAX,
            sure: 0.0,
            tokens: usize::MAX,
            limit: 50,
        }
    }

    fn recall(&self, text: &str, settings: &RecallSettings) -> Vec<Recalled> {
        let vector = self.embedder.embed(text);
        let query = IndexQuery {
            text,
            vector: vector.as_deref(),
            ..IndexQuery::default()
        };
        recall(&self.index, &self.calibration, &query, settings)
    }
}

const TALK: &[(&str, &str)] = &[
    ("When is the release?", "The release goes out on Thursday."),
    (
        "Where is the style guide?",
        "The style guide is in the wiki.",
    ),
    ("The release slips.", "The release goes out on Monday now."),
    ("I like pears.", "Noted: pears."),
];

fn numbers(recalled: &[Recalled]) -> Vec<u128> {
    recalled.iter().map(|one| one.id.0.as_u128()).collect()
}

#[test]
fn a_correction_comes_after_what_it_corrects() {
    let fixture = Fixture::new(TALK);
    let settings = RecallSettings {
        limit: 2,
        ..Fixture::everything()
    };
    let recalled = fixture.recall("When does the release go out?", &settings);
    assert_eq!(numbers(&recalled), [1, 3]);
    assert_eq!(recalled[1].output, TALK[2].1);
    assert_eq!(&*recalled[1].author, "Ada");
}

#[test]
fn a_note_that_bears_on_the_question_passes_every_bar_and_another_does_not() {
    let mut fixture = Fixture::new(TALK);
    let said = |position, text: &str, source| Turn {
        source,
        ..embedded(position, text, "", &fixture.embedder)
    };
    let notes = [
        said(5, "Keys hang behind the fridge.", Source::Note),
        said(6, "Keys lie behind the oven.", Source::Message),
        said(7, "The choir sings at Easter.", Source::Note),
    ];
    notes.iter().for_each(|turn| fixture.index.push(turn));
    let settings = RecallSettings {
        threshold: 0.999,
        usual: 0,
        sure: 1.0,
        tokens: 100,
        ..Fixture::everything()
    };
    let recalled = fixture.recall("Where do the keys hang?", &settings);
    assert_eq!(numbers(&recalled), [5]);
    assert!(recalled[0].is_pinned);
    // Within the budget all the same.
    let none = RecallSettings {
        tokens: 5,
        ..settings
    };
    assert_eq!(fixture.recall("Where do the keys hang?", &none), []);
    assert_eq!(fixture.recall("thanks!", &settings), []);
}

#[test]
fn what_somebody_corrected_is_given_only_where_one_asks_for_then() {
    let mut fixture = Fixture::new(TALK);
    let earlier = embedded(1, TALK[0].0, TALK[0].1, &fixture.embedder);
    let correction = Turn {
        source: Source::Note,
        reply_to: Some(earlier.event.clone()),
        ..embedded(5, "It goes out on Friday", "", &fixture.embedder)
    };
    fixture.index.push(&correction);
    fixture
        .index
        .correct(correction.id, earlier.id, correction.created_at);
    let settings = RecallSettings {
        limit: 9,
        ..Fixture::everything()
    };
    let now = fixture.recall("When does the release go out?", &settings);
    let now = numbers(&now);
    assert!(now.contains(&5) && !now.contains(&1), "{now:?}");
    let text = "When was the release originally to go out?";
    let at = correction.created_at.with_timezone(&TimeZone::UTC);
    let query = IndexQuery {
        text,
        at: Some(at),
        ..IndexQuery::default()
    };
    let then = recall(&fixture.index, &fixture.calibration, &query, &settings);
    let old = then.iter().find(|one| one.id == earlier.id).unwrap();
    assert_eq!(old.superseded, Some(correction.created_at));
}

#[test]
fn what_was_replaced_stays_so_when_its_replacement_is_corrected() {
    let mut fixture = Fixture::new(&[
        (
            "The spare key for the van is in the blue box behind the counter.",
            "",
        ),
        ("No, the van key is in the red drawer now.", ""),
    ]);
    let [blue, drawer] = [1, 2].map(|number| ResponseId(Uuid::from_u128(number)));
    fixture.index.link(drawer, blue);
    let since = |fixture: &Fixture| {
        let recalled = fixture.recall("Where is the van key?", &Fixture::everything());
        let of_box = recalled.iter().find(|one| one.id == blue);
        of_box.unwrap().superseded
    };
    let replaced_at = turn(2, "", "").created_at;
    assert_eq!(since(&fixture), Some(replaced_at));
    let correction = Turn {
        source: Source::Note,
        reply_to: Some("e2".to_owned()),
        ..embedded(3, "the van key hangs at the door", "", &fixture.embedder)
    };
    fixture.index.push(&correction);
    fixture
        .index
        .correct(correction.id, drawer, correction.created_at);
    assert_eq!(since(&fixture), Some(correction.created_at));
}

#[test]
fn the_window_is_left_out_and_so_is_what_repeats_it() {
    let mut talk = TALK.to_vec();
    talk.push(TALK[3]);
    let fixture = Fixture::new(&talk);
    let text = "Who likes pears?";
    let vector = fixture.embedder.embed(text);
    let verdicts = |exclude: &[ResponseId]| {
        let query = IndexQuery {
            text,
            vector: vector.as_deref(),
            exclude,
            ..IndexQuery::default()
        };
        let settings = Fixture::everything();
        candidates(&fixture.index, &fixture.calibration, &query, &settings, 2)
            .iter()
            .map(|one| (one.exchange.id.0.as_u128(), one.verdict))
            .collect::<std::collections::HashMap<_, _>>()
    };
    let newest = ResponseId(Uuid::from_u128(5));
    let duplicate = RecallDecision::Duplicate { of: newest };
    assert_eq!(
        verdicts(&[]),
        [(5, RecallDecision::Recalled), (4, duplicate)].into()
    );
    assert_eq!(
        verdicts(&[newest]),
        [(5, RecallDecision::InWindow), (4, duplicate)].into()
    );
}

#[test]
fn what_is_volatile_or_quotes_memory_is_seen_and_not_recalled() {
    let mut fixture = Fixture::new(TALK);
    let volatile = Turn {
        volatile: true,
        ..embedded(5, "Who likes pears?", "Five people do.", &fixture.embedder)
    };
    let quote = Turn {
        source: Source::Memory,
        ..turn(6, "Who likes pears?", "I remember: pears.")
    };
    fixture.index.push(&volatile);
    let wish = Turn {
        source: Source::Memory,
        ..turn(
            7,
            "Please forget the pears",
            "I have forgotten nothing yet.",
        )
    };
    fixture.index.push(&quote);
    fixture.index.push(&quote);
    fixture.index.push(&wish);
    assert_eq!((fixture.index.len(), fixture.index.position()), (4, 7));
    let recalled = fixture.recall("Who likes pears?", &Fixture::everything());
    assert_eq!(recalled.len(), 4);
}

#[test]
fn the_budget_and_the_limit_hold() {
    let long = "pears ".repeat(2_000);
    let mut talk = TALK.to_vec();
    talk.push(("pears", &long));
    let fixture = Fixture::new(&talk);
    let settings = RecallSettings {
        tokens: 60,
        ..Fixture::everything()
    };
    let recalled = fixture.recall("pears", &settings);
    assert!(!recalled.is_empty() && recalled.len() <= 3);
    assert!(recalled.iter().all(|one| one.output.len() < 100));
}

#[test]
fn without_vectors_words_decide() {
    let fixture = Fixture::new(TALK);
    let query = IndexQuery {
        text: "Who likes pears?",
        vector: None,
        ..IndexQuery::default()
    };
    let settings = RecallSettings::by(&fixture.calibration);
    let recalled = recall(&fixture.index, &fixture.calibration, &query, &settings);
    assert!(numbers(&recalled).contains(&4));
    let cosine = RecallSettings {
        mode: RecallMode::Cosine,
        ..settings
    };
    assert_eq!(
        recall(&fixture.index, &fixture.calibration, &query, &cosine),
        []
    );
}

#[test]
fn vectors_of_another_embedder_are_never_compared() {
    let mut fixture = Fixture::new(TALK);
    let vector = fixture.embedder.embed("pears").unwrap();
    let made_by = |position, embedder: &str, vector: Vec<f32>| Turn {
        embedding: Some(Embedding {
            embedder: embedder.into(),
            vector,
        }),
        ..turn(position, "kiwis", "plums")
    };
    let ours = fixture.embedder.name().to_owned();
    fixture
        .index
        .push(&made_by(5, "other/model", vector.clone()));
    fixture.index.push(&made_by(6, &ours, vec![1.0; 3]));
    fixture
        .index
        .push(&made_by(7, &ours, vec![f32::NAN; vector.len()]));
    assert_eq!(fixture.index.foreign_vectors(), 3);
    let recalled = fixture.recall("pears", &Fixture::everything());
    let odd = recalled.iter().filter(|one| one.id.0.as_u128() > 4);
    assert!(odd.into_iter().all(|one| one.features.cosine.is_none()));
    assert!(recalled.iter().all(|one| one.probability.is_finite()));
}

#[test]
fn odd_input_is_no_trouble() {
    let million = "x y ".repeat(250_000);
    for history in [&TALK[..0], &TALK[..1], &[(&*million, "🎉"), ("", "")]] {
        let fixture = Fixture::new(history);
        for text in ["", "🎉", "อักษรไทย", "\0", &million] {
            for recalled in fixture.recall(text, &Fixture::everything()) {
                assert!((0.0..=1.0).contains(&recalled.probability));
                assert!(recalled.input.len() <= MAX_KEPT_CHARS * 4 + 3);
            }
        }
        for vector in [vec![f32::NAN; 256], vec![0.0; 256], vec![1.0; 7], vec![]] {
            let query = IndexQuery {
                text: "release",
                vector: Some(&vector),
                ..IndexQuery::default()
            };
            let settings = Fixture::everything();
            let recalled = recall(&fixture.index, &fixture.calibration, &query, &settings);
            assert!(recalled.iter().all(|one| one.probability.is_finite()));
        }
    }
}

#[test]
fn a_long_history_is_searched_too() {
    let fillers: Vec<String> = (0..3_000)
        .map(|n| format!("Ticket {n} was closed."))
        .collect();
    let mut talk: Vec<(&str, &str)> = fillers.iter().map(|text| (&**text, "Fine.")).collect();
    talk.insert(1_500, TALK[1]);
    let fixture = Fixture::new(&talk);
    let settings = RecallSettings::by(&fixture.calibration);
    let recalled = fixture.recall("Where do I find the style guide?", &settings);
    assert!(numbers(&recalled).contains(&1_501), "{recalled:?}");
}

#[test]
fn words_alone_find_what_was_said_in_a_young_history() {
    let mut index = AudienceIndex::new(None, 0);
    let told = [
        "The code of the coffee machine is 4711.",
        "We moved the standup to ten.",
        "The printer is out of toner.",
        "Bob is on holiday until Friday.",
    ];
    for (position, told) in (1..).zip(told) {
        index.push(&turn(position, told, "Noted."));
    }
    let calibration = Calibration::shipped().unwrap();
    let query = IndexQuery {
        text: "What is the code of the coffee machine?",
        vector: None,
        ..IndexQuery::default()
    };
    let settings = RecallSettings::by(&calibration);
    let considered = candidates(&index, &calibration, &query, &settings, 9);
    assert_eq!(considered[0].exchange.input, told[0], "{considered:#?}");
    let found = quote(&index, &calibration, &query, &settings);
    assert!(
        found.iter().any(|one| one.input == told[0]),
        "{considered:#?}"
    );
}

#[test]
fn what_asks_for_nothing_recalls_nothing() {
    let fixture = Fixture::new(TALK);
    let settings = RecallSettings::by(&fixture.calibration);
    for text in ["thanks!", "🎉", "good morning", "haha ok"] {
        assert_eq!(fixture.recall(text, &settings), [], "{text}");
    }
    assert!(!fixture.recall("Which pears?", &settings).is_empty());
}

#[test]
fn a_budget_is_filled_with_the_best_and_more_goes_in_only_where_it_is_sure() {
    let fixture = Fixture::new(TALK);
    let tokens = |usual, sure| {
        let settings = RecallSettings {
            usual,
            sure,
            ..Fixture::everything()
        };
        fixture.recall("Who likes pears?", &settings).len()
    };
    assert_eq!(tokens(usize::MAX, 1.0), TALK.len());
    assert_eq!(tokens(72, 0.0), TALK.len());
    assert_eq!(tokens(72, 1.0), 2);
    // The best one is included however long it is.
    assert_eq!(tokens(1, 1.0), 1);
}

#[test]
fn where_nothing_stands_out_nothing_is_recalled() {
    let fixture = Fixture::new(TALK);
    let text = "Who likes pears?";
    let best = fixture.recall(text, &Fixture::everything());
    let best = best.iter().map(|one| one.probability).fold(0.0, f64::max);
    let at = |mode, threshold| {
        let settings = RecallSettings {
            mode,
            threshold,
            ..Fixture::everything()
        };
        fixture.recall(text, &settings).len()
    };
    let enough = |threshold: f64| best >= recall::rank::least_best(threshold);
    for part in [0.5, 0.7, 0.9, 0.99] {
        let threshold = best * part;
        let recalled = at(RecallMode::Probability, threshold);
        assert_eq!(recalled > 0, enough(threshold), "{threshold} of {best}");
    }
    assert!(enough(best * 0.5) && !enough(best * 0.99));
    assert!(at(RecallMode::Cosine, 0.1) > 0);
    for threshold in [0.0, 0.02, 0.5, 1.0] {
        assert!((threshold..=1.0).contains(&recall::rank::least_best(threshold)));
    }
}

#[test]
fn the_surer_something_helps_the_less_is_given_beside_it() {
    let fixture = Fixture::new(TALK);
    let settings = RecallSettings {
        usual: 64,
        sure: 1.0,
        ..Fixture::everything()
    };
    let given = |text| fixture.recall(text, &settings).len();
    assert!(given("Who likes pears?") < given("Is the moon bigger than Mars?"));
    // Nobody asks anything here.
    assert!(given("The moon is bigger than Mars.") < given("Is the moon bigger than Mars?"));
}

#[test]
fn a_question_that_nobody_answered_is_no_answer() {
    let fixture = Fixture::new(&[
        ("Where does Bob keep the ladder?", ""),
        ("Bob keeps the ladder behind the shed.", ""),
        (
            "Where does Bob keep the saw?",
            "Bob keeps it in the cellar, above the wine rack and the jars.",
        ),
    ]);
    let asking = |text| -> Vec<f32> {
        let recalled = fixture.recall(text, &Fixture::everything());
        recalled
            .iter()
            .map(|one| one.features.hints.asking)
            .collect()
    };
    assert_eq!(asking("Where is the ladder of Bob?"), [1.0, 0.0, 0.0]);
}

impl Fixture {
    /// The quotes for a message in a session with the earlier messages `before`.
    fn quoted(&self, before: &[&str], text: &str) -> Vec<Recalled> {
        self.quoted_for(&[], before, text)
    }

    /// The same, where the asker has these accounts.
    fn quoted_for(&self, asker: &[String], before: &[&str], text: &str) -> Vec<Recalled> {
        let vectors: Vec<_> = before
            .iter()
            .map(|text| self.embedder.embed(text))
            .collect();
        let earlier = before.iter().zip(&vectors).map(|(text, vector)| Earlier {
            text,
            vector: vector.as_deref(),
        });
        let earlier: Vec<Earlier<'_>> = earlier.collect();
        let vector = self.embedder.embed(text);
        let query = IndexQuery {
            text,
            vector: vector.as_deref(),
            earlier: &earlier,
            asker,
            ..IndexQuery::default()
        };
        let settings = RecallSettings::by(&self.calibration);
        quote(&self.index, &self.calibration, &query, &settings)
    }
}

#[test]
fn what_only_the_question_before_is_about_is_not_quoted_beside_the_answer() {
    let fixture = Fixture::new(&[
        ("Maria is on call this week.", "Noted."),
        ("The standup is at nine in the blue room.", "Noted."),
    ]);
    let before = ["When is the standup in the blue room?"];
    let quoted = fixture.quoted(&before, "who's on call?");
    assert_eq!(numbers(&quoted), [1]);
}

#[test]
fn a_question_that_nobody_answered_is_not_quoted_beside_an_answer() {
    let fixture = Fixture::new(&[
        ("Where is the key to the cellar?", ""),
        ("The key to the cellar is with Bob.", ""),
    ]);
    let quoted = fixture.quoted(&[], "where is the key to the cellar?");
    assert_eq!(numbers(&quoted), [2]);
}

#[test]
fn what_only_repeats_words_of_the_question_is_not_quoted() {
    let question = "What are the ferry times?";
    let fixture = Fixture::new(&[("ferry times", ""), ("I like pears.", "")]);
    assert!(!numbers(&fixture.quoted(&[], question)).contains(&1));
    let fixture = Fixture::new(&[("price of the summer ticket", ""), ("I like pears.", "")]);
    let quoted = fixture.quoted(&[], "What is the price of the summer ticket?");
    assert!(!numbers(&quoted).contains(&1));
    let fixture = Fixture::new(&[
        ("ferry times", ""),
        ("The ferry times are nine and ten.", ""),
    ]);
    assert_eq!(numbers(&fixture.quoted(&[], question)), [2]);
}

#[test]
fn what_repeats_words_of_a_question_is_quoted_where_it_decides_it() {
    let fixture = Fixture::new(&[("printer broken", ""), ("I like pears.", "")]);
    for question in [
        "Is the printer broken?",
        "Do you know whether the printer is broken?",
        "Tell me whether the printer is broken.",
    ] {
        let quoted = fixture.quoted(&[], question);
        assert!(numbers(&quoted).contains(&1), "{question}: {quoted:#?}");
    }
}

/// Facts that somebody may tell when trying out the bot.
const FIRST_FACTS: &[&str] = &[
    "We deploy on Thursdays at 14:00.",
    "The wifi code is heron42.",
    "Tom is on holiday until Monday.",
    "The build takes twelve minutes.",
    "Maria is on call this week.",
];

#[test]
fn what_answers_best_comes_first_and_the_rest_apart_from_it() {
    let told: Vec<(&str, &str)> = FIRST_FACTS.iter().map(|fact| (*fact, "")).collect();
    let fixture = Fixture::new(&told);
    let quoted = fixture.quoted(FIRST_FACTS, "who is on call this week?");
    assert_eq!(numbers(&quoted)[0], 5, "{quoted:#?}");
    let (answering, beside) = split_quotes(quoted);
    assert_eq!(numbers(&answering), [5]);
    assert!(!numbers(&beside).contains(&5));
    assert_eq!(split_quotes(Vec::new()), (Vec::new(), Vec::new()));
}

#[test]
fn a_fact_that_is_told_has_no_other_quoted_that_shares_no_word_with_it() {
    for known in 1..FIRST_FACTS.len() {
        let (told, now) = (&FIRST_FACTS[..known], FIRST_FACTS[known]);
        let exchanges: Vec<(&str, &str)> = told.iter().map(|fact| (*fact, "")).collect();
        let quoted = Fixture::new(&exchanges).quoted(told, now);
        assert_eq!(numbers(&quoted), [0; 0], "{now}");
    }
}

#[test]
fn what_one_said_oneself_is_not_quoted_if_the_question_is_about_something_else() {
    let ada = ["u1".to_owned()];
    let quoted = |told, question| {
        let fixture = Fixture::new(&[(told, "")]);
        numbers(&fixture.quoted_for(&ada, &[], question))
    };
    let cat = "The cat is called Tom.";
    for question in [
        "How do I refund a customer?",
        "How can I refund a customer?",
        "Where do I find the refund form?",
        "Wie kann ich einem Kunden Geld erstatten?",
    ] {
        assert_eq!(quoted(cat, question), [0; 0], "{question}");
    }
    assert_eq!(quoted(cat, "What did I say?"), [1]);
    let town = "my name is Rasmus and i live in Aarhus";
    assert_eq!(quoted(town, "which town am i from"), [1]);
}

#[test]
fn in_another_script_nothing_is_quoted_that_shares_no_word_with_the_question() {
    for (told, beside, answered) in [
        (
            ["私の誕生日は三月三日です", "オフィスの鍵は受付にあります"],
            ["昼ご飯は何を食べますか？", "猫の名前は何ですか？"],
            ("私の誕生日はいつですか？", 1),
        ),
        (
            [
                "Мой день рождения третьего марта",
                "Ключ от офиса лежит на ресепшене",
            ],
            ["Что мы едим на обед?", "Как зовут кота?"],
            ("Где ключ от офиса?", 2),
        ),
    ] {
        let fixture = Fixture::new(&told.map(|fact| (fact, "")));
        for question in beside {
            assert_eq!(
                numbers(&fixture.quoted(&[], question)),
                [0; 0],
                "{question}"
            );
        }
        let (question, best) = answered;
        let quoted = numbers(&fixture.quoted(&[], question));
        assert_eq!(quoted.first(), Some(&best), "{question}");
    }
}
