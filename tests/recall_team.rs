//! What recall finds in first conversations, and in three months of two teams' talk:
//! `tests/data/team`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{HashMap, HashSet};
use std::path::Path;

use muninn::memory::Calibration;
use muninn::memory::recall_eval::{
    EvaluationQuery, Exchange, QuestionResult, evaluate, read_lines,
};
use muninn::retrieval::LocalEmbedder;
use serde::Deserialize;

/// The evidence that a question's answer needs.
#[derive(Deserialize)]
struct Key {
    id: String,
    scope: String,
    kind: String,
    evidence: Vec<String>,
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    forbidden: Vec<String>,
    #[serde(default)]
    superseded: Vec<String>,
}

impl Key {
    fn is_first_talk(&self) -> bool {
        self.scope.starts_with('n')
    }

    /// Whether all of the evidence is recalled, or equivalents of it.
    fn is_met(&self, answered: &QuestionResult) -> bool {
        let has = |id: &&String| answered.recalled.iter().any(|(name, _)| name == *id);
        let lacking = self.evidence.iter().filter(|id| !has(id)).count();
        lacking <= self.also.iter().filter(has).count()
    }

    /// Whether the newest value is recalled, and older ones are marked or come after it.
    fn is_current(&self, answered: &QuestionResult) -> bool {
        let place = |id: &String| answered.recalled.iter().position(|(name, _)| name == id);
        let newest = self
            .evidence
            .iter()
            .chain(&self.also)
            .filter_map(place)
            .min();
        let is_stale = |id: &String| {
            let place = place(id).filter(|_| !answered.superseded.contains(id));
            place.is_some() && place < newest
        };
        newest.is_some() && !self.superseded.iter().any(is_stale)
    }

    /// Whether evidence is marked as no longer current.
    fn is_marked(&self, answered: &QuestionResult) -> bool {
        self.evidence
            .iter()
            .any(|id| answered.superseded.contains(id))
    }

    fn is_shown(&self, answered: &QuestionResult) -> bool {
        let mut evidence = self.evidence.iter().chain(&self.also);
        evidence.any(|id| answered.quoted.contains(id))
    }
}

fn exchange(seq: i64, author: &str, input: &str, output: &str) -> Exchange {
    Exchange {
        id: seq.to_string(),
        scope: "s".to_owned(),
        thread: None,
        seq,
        at: format!("2026-05-04T09:{seq:02}:00").parse().unwrap(),
        author: author.to_owned(),
        input: input.to_owned(),
        output: output.to_owned(),
        kind: None,
        reply_to: None,
    }
}

fn ask(exchanges: &[Exchange], question: &str) -> QuestionResult {
    let embedder = LocalEmbedder::shipped().unwrap();
    let question = EvaluationQuery {
        id: "q".to_owned(),
        scope: "s".to_owned(),
        question: question.to_owned(),
        asker: Some("Ada".to_owned()),
        at: Some("2026-05-04T10:00:00".parse().unwrap()),
        thread: None,
    };
    let calibration = Calibration::shipped().unwrap();
    evaluate(exchanges, &[question], &embedder, &calibration, 50)
        .unwrap()
        .remove(0)
}

#[test]
fn a_fact_that_was_just_said_is_recalled_and_quoted() {
    let said = [exchange(1, "Ada", "Maria is on call this week.", "Noted.")];
    for question in [
        "who's on call?",
        "who’s on call",
        "Who is on call this week?",
    ] {
        let answered = ask(&said, question);
        assert_eq!(answered.recalled.len(), 1, "{question}");
        assert_eq!(answered.quoted, ["1"], "{question}");
    }
    let answered = ask(&said, "thanks!");
    assert!(answered.recalled.is_empty() && answered.quoted.is_empty());
}

#[test]
fn a_time_in_words_answers_a_question_for_a_time() {
    for (fact, question) in [
        (
            "Remember that the harbour gate opens at nine in the morning on weekdays and at ten on Saturdays.",
            "When does the harbour gate open?",
        ),
        (
            "The backups of the museum run nightly, after the last tour has left the building.",
            "When do the backups run?",
        ),
        (
            "Die Schranke am Hafen öffnet werktags um halb neun und samstags um zehn.",
            "Wann öffnet die Schranke am Hafen?",
        ),
    ] {
        let answered = ask(&[exchange(1, "Ada", fact, "Noted.")], question);
        assert_eq!(answered.quoted, ["1"], "{question}");
    }
}

#[test]
fn twelve_plain_questions_about_eight_facts_are_answered() {
    let facts = [
        "Maria is on call this week.",
        "The staging database password rotates every 90 days.",
        "Our standup moved to 9:45.",
        "The printer on the second floor is broken.",
        "Tom's birthday is on 12 June.",
        "Release 4.2 goes out on Thursday.",
        "The customer in Lyon pays 1,200 euros a month.",
        "Keys to the office are with Fatima.",
    ];
    let said: Vec<Exchange> = (1..)
        .zip(facts)
        .map(|(seq, fact)| exchange(seq, "Ada", fact, "Noted."))
        .collect();
    let questions = [
        ("who's on call?", "1"),
        ("who is on call this week", "1"),
        ("how often does the staging password rotate?", "2"),
        ("when is our standup?", "3"),
        ("what time is standup", "3"),
        ("which printer is broken?", "4"),
        ("when's tom's birthday?", "5"),
        ("when does release 4.2 go out", "6"),
        ("what goes out on thursday?", "6"),
        ("how much does the customer in lyon pay?", "7"),
        ("who has the office keys?", "8"),
        ("where are the keys to the office", "8"),
    ];
    let mut shown = 0;
    for (question, fact) in questions {
        let answered = ask(&said, question);
        assert!(
            answered.recalled.iter().any(|(id, _)| id == fact),
            "{question}"
        );
        shown += usize::from(answered.quoted.iter().any(|id| id == fact));
    }
    assert!(shown >= 10, "{shown} of 12");
}

/// Returns the statements that are marked as no longer current, when made one after the other.
fn outdated(statements: &[&str], question: &str) -> Vec<String> {
    let said = statements.iter().zip(1..);
    let said: Vec<Exchange> = said
        .map(|(text, seq)| exchange(seq, "Ada", text, ""))
        .collect();
    ask(&said, question).superseded
}

#[test]
fn the_older_of_two_values_is_marked() {
    for (statements, question) in [
        (
            [
                "The rent of the studio is 900 euros a month.",
                "The rent of the studio goes up to 950 euros.",
            ],
            "how much is the rent of the studio?",
        ),
        (
            [
                "The harvest festival is on 12 September.",
                "We moved the harvest festival to 19 September.",
            ],
            "when is the harvest festival?",
        ),
        (
            [
                "Die Probe beginnt um 18:00 Uhr.",
                "Die Probe beginnt jetzt erst um 19:30 Uhr.",
            ],
            "wann beginnt die probe?",
        ),
        (
            [
                "La visite du musée coûte 12 euros.",
                "La visite du musée coûte désormais 14 euros.",
            ],
            "combien coûte la visite du musée ?",
        ),
        (
            [
                "La clase de yoga es a las 19:00.",
                "La clase de yoga ahora es a las 20:30.",
            ],
            "¿cuándo es la clase de yoga?",
        ),
    ] {
        assert_eq!(outdated(&statements, question), ["1"], "{question}");
    }
}

#[test]
fn what_was_taken_back_replaces_nothing() {
    let statements = [
        "The price of a box is 40 euros at the supplier.",
        "The supplier raised the price of a box to 45 euros.",
        "Scrap that, the supplier did not raise the price of a box.",
    ];
    let question = "how much is the price of a box?";
    assert_eq!(outdated(&statements[..2], question), ["1"]);
    assert_eq!(outdated(&statements, question), ["2"]);
}

#[test]
fn what_takes_something_back_is_no_answer() {
    let said: Vec<Exchange> = (1..)
        .zip([
            "The rent is 900 euros.",
            "The rent is 950 euros now.",
            "Scrap that.",
        ])
        .map(|(seq, text)| exchange(seq, "Ada", text, ""))
        .collect();
    let answered = ask(&said, "How much is the rent?");
    assert_eq!(answered.superseded, ["2"]);
    assert_eq!(answered.quoted[0], "1");
    assert!(!answered.quoted.iter().any(|id| id == "3"));
}

#[test]
fn what_holds_on_one_day_replaces_a_rule_on_that_day_only() {
    let embedder = LocalEmbedder::shipped().unwrap();
    let calibration = Calibration::shipped().unwrap();
    let said = [
        exchange(1, "Ada", "The standup is at 9:30.", ""),
        exchange(2, "Ada", "Today the standup is at 11:00.", ""),
    ];
    for (at, question, marked) in [
        ("2026-05-04T10:00:00", "when is the standup?", 1),
        ("2026-05-04T10:00:00", "when is the standup tomorrow?", 0),
        ("2026-05-08T10:00:00", "when is the standup?", 0),
    ] {
        let question = EvaluationQuery {
            id: "q".to_owned(),
            scope: "s".to_owned(),
            question: question.to_owned(),
            asker: Some("Ada".to_owned()),
            at: Some(at.parse().unwrap()),
            thread: None,
        };
        let answered = evaluate(&said, &[question], &embedder, &calibration, 50);
        let answered = answered.unwrap().remove(0);
        assert_eq!(answered.superseded.len(), marked, "{at} {answered:?}");
    }
}

#[test]
fn what_still_holds_is_not_marked() {
    for (statements, question) in [
        // Something else also has a number.
        (
            [
                "The rent of the studio is 900 euros a month.",
                "The new oven costs 450 euros.",
            ],
            "how much is the rent of the studio?",
        ),
        // The same repeated.
        (
            [
                "The harvest festival is on 12 September.",
                "Reminder: the harvest festival is on 12 September.",
            ],
            "when is the harvest festival?",
        ),
        // Only for some.
        (
            [
                "A day ticket costs 8 euros.",
                "Exception: the pilot group of students pays 5 euros.",
            ],
            "what does a day ticket cost?",
        ),
        // The question asks about the past.
        (
            [
                "The rent of the studio is 900 euros a month.",
                "The rent of the studio goes up to 950 euros.",
            ],
            "how much was the rent of the studio originally?",
        ),
    ] {
        assert!(outdated(&statements, question).is_empty(), "{question}");
    }
}

#[test]
fn a_question_finds_other_forms_of_its_words() {
    for (said, question) in [
        (
            "Die Schlüssel der Werkstatt hängen neben dem Fenster.",
            "wo hängt der werkstattschlüssel bei den fenstern?",
        ),
        (
            "Les réunions du comité ont lieu le mardi.",
            "quand est la réunion du comité ?",
        ),
        (
            "Klucze do piwnicy są u pani Zofii.",
            "kto ma klucz do piwnicy?",
        ),
        ("Мы оставили ключи у соседки.", "у кого ключ?"),
        (
            "会議室の予約は総務に連絡してください。",
            "会議室はどこで予約しますか?",
        ),
        ("회의실 열쇠는 서랍에 있어요.", "회의실 열쇠 어디 있어요?"),
    ] {
        let talk = [
            exchange(1, "Ada", said, ""),
            exchange(2, "Ada", "The kettle is broken.", ""),
        ];
        let answered = ask(&talk, question);
        assert_eq!(answered.recalled[0].0, "1", "{question}");
        assert!(answered.quoted.iter().any(|id| id == "1"), "{question}");
    }
}

#[test]
fn a_question_finds_what_was_said_in_another_language() {
    let english = [
        exchange(1, "Ada", "The key to the cellar is with our neighbour.", ""),
        exchange(2, "Ada", "We leave the printer on at night.", ""),
        exchange(3, "Ada", "The doctor comes on Monday.", ""),
    ];
    for question in [
        "wer hat den schlüssel zum keller?",
        "qui a la clé de la cave ?",
        "¿quién tiene la llave del sótano?",
        "quem tem a chave do porão?",
        "chi ha la chiave della cantina?",
        "wie heeft de sleutel van de kelder?",
        "kto ma klucz do piwnicy?",
        "у кого ключ от подвала?",
        "地下室的钥匙在谁那里?",
        "地下室の鍵は誰が持っていますか?",
        "지하실 열쇠는 누가 가지고 있나요?",
    ] {
        assert_eq!(ask(&english, question).recalled[0].0, "1", "{question}");
    }
    let others = [
        exchange(1, "Ada", "Der Drucker ist seit heute kaputt.", ""),
        exchange(2, "Ada", "La reunión empieza a las nueve.", ""),
        exchange(3, "Ada", "下周一放假。", ""),
    ];
    for (question, expected) in [
        ("is the printer broken?", "1"),
        ("l'imprimante est en panne ?", "1"),
        ("when does the meeting start?", "2"),
        ("wann beginnt die sitzung?", "2"),
        ("when is the holiday?", "3"),
    ] {
        assert_eq!(ask(&others, question).recalled[0].0, expected, "{question}");
    }
}

#[test]
fn the_favourite_landmark_is_recalled() {
    let said = [
        exchange(
            1,
            "Ada",
            "i like the eiffel tower - tell me more about it",
            "The Eiffel Tower is an iconic landmark in Paris, France. It is a wrought-iron lattice tower that \
             stands at a height of 330 meters. Built in 1889, it became a symbol of Paris.",
        ),
        exchange(
            2,
            "Ada",
            "what are some popular landmarks in paris",
            "Some popular landmarks in Paris include the Eiffel Tower, Louvre Museum, Notre-Dame Cathedral, \
             Champs-Élysées, and Montmartre.",
        ),
        exchange(
            3,
            "Ada",
            "write a haiku about rain",
            "Soft rain on the roof",
        ),
    ];
    let answered = ask(&said, "What's my favorite paris landmark");
    let best: Vec<&str> = answered.recalled[..2]
        .iter()
        .map(|(id, _)| id.as_str())
        .collect();
    assert!(best.contains(&"1") && best.contains(&"2"), "{answered:?}");
    assert!(answered.quoted.iter().any(|id| id == "1"), "{answered:?}");
}

/// A conversation with its questions, and the results of recall.
struct EvaluatedConversation {
    exchanges: Vec<Exchange>,
    keys: Vec<Key>,
    answered: Vec<QuestionResult>,
}

impl EvaluatedConversation {
    fn evaluated(folder: &str) -> Self {
        let data = Path::new(folder);
        let exchanges: Vec<Exchange> = read_lines(&data.join("exchanges.jsonl")).unwrap();
        let questions: Vec<EvaluationQuery> = read_lines(&data.join("queries.jsonl")).unwrap();
        let keys: Vec<Key> = read_lines(&data.join("queries.jsonl")).unwrap();
        let embedder = LocalEmbedder::shipped().unwrap();
        let calibration = Calibration::shipped().unwrap();
        let answered = evaluate(&exchanges, &questions, &embedder, &calibration, 50).unwrap();
        Self {
            exchanges,
            keys,
            answered,
        }
    }
}

/// Returns the percentage of these questions for which something holds.
fn percent(
    keys: &[Key],
    answered: &[QuestionResult],
    of: &dyn Fn(&Key) -> bool,
    holds: &dyn Fn(&Key, &QuestionResult) -> bool,
) -> usize {
    let all = keys.iter().zip(answered).filter(|(key, _)| of(key));
    let all: Vec<bool> = all.map(|(key, answered)| holds(key, answered)).collect();
    all.iter().filter(|holds| **holds).count() * 100 / all.len()
}

/// Notes on topics that the teams never mention, and questions about them.
const NOTES: [(&str, &str); 8] = [
    (
        "The kettle in the annex is descaled on Tuesdays.",
        "when is the kettle descaled?",
    ),
    (
        "Bicycles go into the shed behind the bakery.",
        "where do bicycles go?",
    ),
    (
        "The piano tuner wants the hall empty.",
        "what does the piano tuner want?",
    ),
    (
        "Aunt Gertrud is allergic to hazelnuts.",
        "who is allergic to hazelnuts?",
    ),
    (
        "The choir sings in the crypt at Easter.",
        "where does the choir sing at Easter?",
    ),
    (
        "The spare tent lacks three pegs.",
        "what does the spare tent lack?",
    ),
    (
        "Der Imker kommt immer am ersten Samstag.",
        "wann kommt der imker?",
    ),
    (
        "We water the tomatoes before seven.",
        "when do we water the tomatoes?",
    ),
];

/// They are two years old, and no question of the teams is about them. If they are not pinned, 540
/// of them fill the budget of 261 questions.
#[test]
fn notes_are_recalled_whatever_their_age_and_do_not_crowd_in() {
    let data = Path::new("tests/data/team");
    let mut exchanges: Vec<Exchange> = read_lines(&data.join("exchanges.jsonl")).unwrap();
    let mut questions: Vec<EvaluationQuery> = read_lines(&data.join("queries.jsonl")).unwrap();
    let scopes: HashSet<String> = exchanges.iter().map(|it| it.scope.clone()).collect();
    let teams = questions.len();
    for (number, (note, question)) in NOTES.into_iter().enumerate() {
        for scope in &scopes {
            exchanges.push(Exchange {
                id: format!("note {scope} {number}"),
                scope: scope.clone(),
                thread: Some(format!("{scope}/notes")),
                at: format!("2024-01-05T09:{number:02}:00").parse().unwrap(),
                kind: Some("note".to_owned()),
                seq: i64::MIN + number as i64,
                ..exchange(0, "Sam", note, "")
            });
        }
        let scope = questions[0].scope.clone();
        questions.push(EvaluationQuery {
            id: format!("note {scope} {number}"),
            scope,
            question: question.to_owned(),
            asker: Some("Kim".to_owned()),
            at: Some("2026-06-30T10:00:00".parse().unwrap()),
            thread: None,
        });
    }
    let embedder = LocalEmbedder::shipped().unwrap();
    let calibration = Calibration::shipped().unwrap();
    let answered = evaluate(&exchanges, &questions, &embedder, &calibration, 50).unwrap();
    let notes = |answered: &QuestionResult| {
        let recalled = answered.recalled.iter().map(|(id, _)| id);
        recalled.filter(|id| id.starts_with("note ")).count()
    };
    for (question, answered) in questions.iter().zip(&answered).skip(teams) {
        let is_it = answered.recalled.iter().any(|(id, _)| *id == question.id);
        assert!(is_it, "{}", question.question);
    }
    let crowding: usize = answered.iter().take(teams).map(notes).sum();
    let quoted = answered.iter().take(teams);
    let quoted = quoted.filter(|it| it.quoted.iter().any(|id| id.starts_with("note ")));
    let quoted = quoted.count();
    assert!(
        crowding * 100 <= 215 * teams && quoted * 100 <= teams,
        "{crowding} notes beside {teams} questions, {quoted} quoted"
    );
}

/// 85 of 100 messages are to colleagues, and 35 of the 55 questions with an answer need two or more
/// of them.
#[test]
fn what_people_say_to_one_another_is_recalled_with_what_it_goes_on_with() {
    let EvaluatedConversation {
        exchanges,
        keys,
        answered,
    } = EvaluatedConversation::evaluated("tests/data/talk");
    let size: HashMap<&str, usize> = exchanges
        .iter()
        .map(|it| (it.id.as_str(), (it.input.len() + it.output.len()) / 4 + 16))
        .collect();
    let given = answered.iter().flat_map(|it| &it.recalled);
    let tokens: usize = given.map(|(id, _)| size[id.as_str()]).sum();
    assert!(tokens <= 500 * keys.len(), "{tokens}");
    let both = || keys.iter().zip(&answered);
    let share = |of: &dyn Fn(&Key) -> bool, holds: &dyn Fn(&Key, &QuestionResult) -> bool| {
        percent(&keys, &answered, of, holds)
    };
    let has_evidence = |key: &Key| !key.evidence.is_empty();
    let met = share(&has_evidence, &Key::is_met);
    let current = share(&|key| !key.superseded.is_empty(), &Key::is_current);
    let shown = share(&has_evidence, &Key::is_shown);
    let silent = share(&|key| key.evidence.is_empty(), &|_, it| {
        it.quoted.is_empty()
    });
    assert!(met >= 90 && current >= 86, "{met} {current}");
    assert!(shown >= 55 && silent >= 85, "{shown} {silent}");
    for (key, answered) in both() {
        let leaked = answered
            .recalled
            .iter()
            .any(|(id, _)| key.forbidden.contains(id));
        assert!(!leaked, "{}", key.id);
    }
}

/// Written by four people who did not know how recall works. Before the rule for quoting was fitted
/// with the first two, 50 and 74 of 100 were shown, and for what was never said, 42 and 81 of 100
/// were quoted something. Nothing was fitted with the last two.
#[test]
fn talk_of_other_trades_by_other_hands_is_recalled_and_quoted() {
    for (folder, met, shown, never_said, chat) in [
        ("clinic", 92, 58, 63, 98),
        ("first", 100, 72, 55, 98),
        ("theatre", 94, 63, 52, 70),
        ("sensors", 92, 62, 42, 90),
    ] {
        let EvaluatedConversation { keys, answered, .. } =
            EvaluatedConversation::evaluated(&format!("tests/data/{folder}"));
        let share = |of: &dyn Fn(&Key) -> bool, holds: &dyn Fn(&Key, &QuestionResult) -> bool| {
            percent(&keys, &answered, of, holds)
        };
        let silent = |_: &Key, answered: &QuestionResult| answered.quoted.is_empty();
        let has_evidence = |key: &Key| !key.evidence.is_empty();
        let found = [
            share(&has_evidence, &Key::is_met),
            share(&has_evidence, &Key::is_shown),
            share(&|key| key.kind == "nothing", &silent),
            share(&|key| key.kind == "chat", &silent),
        ];
        let least = [met, shown, never_said, chat];
        let is_enough = found
            .iter()
            .zip(least)
            .all(|(found, least)| *found >= least);
        assert!(is_enough, "{folder}: {found:?}, {least:?}");
        let leaked = keys.iter().zip(&answered).any(|(key, it)| {
            let mut given = it.recalled.iter().map(|(id, _)| id).chain(&it.quoted);
            given.any(|id| key.forbidden.contains(id))
        });
        assert!(!leaked, "{folder}");
    }
}

#[test]
fn a_teams_talk_is_recalled_within_the_budget_and_of_its_own_channel_only() {
    let EvaluatedConversation {
        exchanges,
        keys,
        answered,
    } = EvaluatedConversation::evaluated("tests/data/team");
    let texts: HashMap<&str, &Exchange> = exchanges.iter().map(|it| (it.id.as_str(), it)).collect();
    let share = |of: &dyn Fn(&Key) -> bool, holds: &dyn Fn(&Key, &QuestionResult) -> bool| {
        percent(&keys, &answered, of, holds)
    };

    let mut tokens = 0;
    for (key, answered) in keys.iter().zip(&answered) {
        let given: HashSet<&String> = answered.recalled.iter().map(|(id, _)| id).collect();
        let leaked = key.forbidden.iter().any(|id| given.contains(id));
        assert!(!leaked && given.iter().all(|id| texts[id.as_str()].scope == key.scope));
        assert!(answered.quoted.len() <= 3, "{}", key.id);
        let size = |id: &&String| {
            (texts[id.as_str()].input.len() + texts[id.as_str()].output.len()) / 4 + 16
        };
        tokens += given.iter().map(size).sum::<usize>();
    }
    assert!(tokens <= 500 * keys.len(), "{tokens}");

    let has_evidence = |key: &Key| !key.evidence.is_empty();
    let in_worlds = share(
        &|key| has_evidence(key) && !key.is_first_talk(),
        &Key::is_met,
    );
    let in_first_talks = share(
        &|key| has_evidence(key) && key.is_first_talk(),
        &Key::is_met,
    );
    assert!(
        in_worlds >= 88 && in_first_talks >= 98,
        "{in_worlds} {in_first_talks}"
    );
    for (kind, least) in [
        ("plain", 98),
        ("update", 97),
        ("who", 85),
        ("mine", 75),
        ("time", 80),
        ("several", 70),
        ("other", 75),
        ("words", 50),
    ] {
        let found = share(
            &|key| key.kind == kind && !key.is_first_talk(),
            &Key::is_met,
        );
        assert!(found >= least, "{kind}: {found}");
    }

    let shown = share(
        &|key| has_evidence(key) && !key.is_first_talk(),
        &Key::is_shown,
    );
    let first = share(
        &|key| has_evidence(key) && key.is_first_talk(),
        &Key::is_shown,
    );
    let silent = |_: &Key, answered: &QuestionResult| answered.quoted.is_empty();
    let chat = share(&|key| key.kind == "chat", &silent);
    let never_said = share(&|key| key.kind == "nothing", &silent);
    assert!(shown >= 56 && first >= 73, "{shown} {first}");
    assert!(chat >= 95 && never_said >= 65, "{chat} {never_said}");

    let is_update = |key: &Key| key.kind == "update" && !key.superseded.is_empty();
    let current = share(&is_update, &Key::is_current);
    let wrongly = share(
        &|key| has_evidence(key) && key.kind != "asof",
        &Key::is_marked,
    );
    assert!(current >= 85 && wrongly <= 15, "{current} {wrongly}");
}
