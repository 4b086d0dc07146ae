//! Who said what is recalled, and of whom they speak.

use super::*;

/// A fixture in which each input is said by an account under a name.
fn said(talk: &[(&str, &str, &str)]) -> Fixture {
    let mut fixture = Fixture::new(&[]);
    for ((account, name, input), position) in talk.iter().zip(1..) {
        fixture.index.push(&Turn {
            author: (*account).to_owned(),
            author_name: (*name).to_owned(),
            ..embedded(position, input, "", &fixture.embedder)
        });
    }
    fixture
}

#[test]
fn what_two_people_say_of_themselves_is_not_the_same() {
    for (first, second, question, expected) in [
        (
            ("u1", "Ada", "I am allergic to nuts"),
            ("u2", "Eve", "I am allergic to nuts!"),
            "who is allergic to nuts?",
            vec![1, 2],
        ),
        (
            ("u1", "Ada", "I am allergic to nuts"),
            ("u1", "Ada", "I am allergic to nuts!"),
            "who is allergic to nuts?",
            vec![2],
        ),
        (
            ("u1", "Ada", "The cellar is locked at night"),
            ("u2", "Eve", "The cellar is locked at night!"),
            "when is the cellar locked?",
            vec![2],
        ),
        (
            ("u1", "Ada", "Tom owes Ann 50 euros"),
            ("u1", "Ada", "Ann owes Tom 50 euros"),
            "what does Tom owe Ann?",
            vec![1, 2],
        ),
    ] {
        let fixture = said(&[first, second]);
        let recalled = fixture.recall(question, &Fixture::everything());
        assert_eq!(numbers(&recalled), expected, "{first:?} {second:?}");
    }
}

#[test]
fn who_is_named_by_a_handle_or_a_nickname_said_it() {
    let mut index = AudienceIndex::new(None, 0);
    let talk = [
        (
            "@mkowalski:example.org",
            "Maria Kowalska",
            "I promise the seating plan by Monday.",
        ),
        (
            "@tw:example.org",
            "Thomas Weber",
            "I promise the guest list by Tuesday.",
        ),
        (
            "@ann:example.org",
            "Ann",
            "I promise the flowers by Wednesday.",
        ),
        (
            "@ann:example.org",
            "Ann Miller",
            "I promise the cake by Thursday.",
        ),
    ];
    for (position, (author, name, input)) in (1..).zip(talk) {
        index.push(&Turn {
            author: author.to_owned(),
            author_name: name.to_owned(),
            ..turn(position, input, "")
        });
    }
    let calibration = Calibration::shipped().unwrap();
    let spoken = |text: &str, asker: &[&str]| -> Vec<u128> {
        let asker: Vec<String> = asker.iter().map(|id| (*id).to_owned()).collect();
        let query = IndexQuery {
            text,
            asker: &asker,
            ..IndexQuery::default()
        };
        let found = candidates(&index, &calibration, &query, &Fixture::everything(), 9);
        let hinted = found.iter().filter(|one| {
            let hints = one.exchange.features.hints;
            hints.speaker > 0.0 || hints.mine > 0.0
        });
        let mut numbers: Vec<u128> = hinted.map(|one| one.exchange.id.0.as_u128()).collect();
        numbers.sort_unstable();
        numbers
    };
    for (question, expected) in [
        ("what did maria promise?", vec![1]),
        ("what did @mkowalski promise?", vec![1]),
        ("what did mia promise?", vec![1]),
        ("what did tom promise?", vec![2]),
        ("what did miller promise?", vec![3, 4]),
        ("what did we plan?", vec![]),
    ] {
        assert_eq!(spoken(question, &[]), expected, "{question}");
    }
    // Messages under a former name count as theirs, and so do those of a linked account. Their present name may be new.
    let ann = "@ann:example.org";
    assert_eq!(spoken("what did i promise?", &[ann]), [3, 4]);
    assert_eq!(spoken("what did i promise?", &["slack/T/U", ann]), [3, 4]);
    assert_eq!(spoken("what did i promise?", &["slack/T/U"]), [0; 0]);
}

#[test]
fn people_with_one_name_are_not_one_person() {
    let fixture = said(&[
        ("u1", "Alex", "my locker code is 4711"),
        ("u2", "Alex", "my locker code is 9922"),
        ("u1", "Alex", "my desk is number 12"),
        ("u1", "Lex", "my desk is number 31"),
    ]);
    for (name, accounts) in [
        ("Alex", &["u1", "u2"][..]),
        ("Lex", &["u1"]),
        ("u2", &["u2"]),
        ("Ada", &[]),
    ] {
        let named = fixture.index.accounts_named(name).into_iter();
        assert_eq!(named.collect::<Vec<_>>(), accounts, "{name}");
    }
    for (question, asker, best) in [
        ("what is my locker code?", "u1", 1),
        ("what is my locker code?", "u2", 2),
    ] {
        let vector = fixture.embedder.embed(question);
        let asker = [asker.to_owned()];
        let query = IndexQuery {
            text: question,
            vector: vector.as_deref(),
            asker: &asker,
            ..IndexQuery::default()
        };
        let settings = Fixture::everything();
        let recalled = recall(&fixture.index, &fixture.calibration, &query, &settings);
        let first = recalled
            .iter()
            .max_by(|a, b| a.score.total_cmp(&b.score).then(a.at.cmp(&b.at)))
            .unwrap();
        assert_eq!(first.id.0.as_u128(), best, "{question} of {asker:?}");
        let marked: Vec<u128> = recalled
            .iter()
            .filter(|one| one.superseded.is_some())
            .map(|one| one.id.0.as_u128())
            .collect();
        // Only what was said under another name of the same account.
        assert_eq!(marked, [3], "{question} of {asker:?}");
    }
}
