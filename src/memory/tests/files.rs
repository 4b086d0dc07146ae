//! Exchanges with notes about files, which nobody said.

use super::*;

const NOTE: &str = "[file: budget.xlsx, which was not read: the model sees no images]";

#[test]
fn a_question_with_a_file_that_memory_alone_answered_is_not_recalled() {
    for (input, is_recalled) in [
        ("What does apt-get do?", false),
        ("What does apt-get do?\n[file: stdin]", false),
        ("What is the code?\n[file: a.png]\n[file: b.png]", false),
        ("Forget the code\n[file: a.png]", false),
        ("The code is 4711.\n[file: a.png]", true),
        ("[file: a.png]", true),
    ] {
        let turn = Turn {
            source: Source::Memory,
            ..turn(1, input, "I remember nothing about that.")
        };
        assert_eq!(turn.can_be_recalled(), is_recalled, "{input}");
    }
}

#[test]
fn a_question_with_a_file_is_a_question() {
    let input = format!("What is the code?\n{NOTE}");
    let found = Fixture::new(&[(&input, "I do not know.")]);
    let entry = found.index.entry(0);
    assert!(entry.asks);
    assert_eq!(
        (entry.said(), entry.input()),
        ("What is the code?", &*input)
    );
}

#[test]
fn an_exchange_is_found_by_the_name_of_its_file_and_not_by_the_note() {
    let input = format!("Here it is.\n{NOTE}");
    let found = Fixture::new(&[(&input, "Thanks."), ("I like pears.", "Noted: pears.")]);
    for (question, coverage) in [
        ("Where is the budget?", 1.0),
        ("Which model sees images?", 0.0),
    ] {
        let recalled = found.recall(question, &Fixture::everything());
        let best = recalled.iter().map(|it| it.features.coverage);
        assert_eq!(best.fold(0.0, f32::max), coverage, "{question}");
    }
}

#[test]
fn the_same_words_about_another_file_are_recalled_beside_them() {
    let about = |file: &str| format!("Here is the report of the week.\n[file: {file}]");
    let [one, other] = ["march.pdf", "april.pdf"].map(about);
    let found = Fixture::new(&[(&one, "Noted."), (&other, "Noted.")]);
    let recalled = found.recall("Which report is here?", &Fixture::everything());
    assert_eq!(numbers(&recalled), [1, 2]);
}
