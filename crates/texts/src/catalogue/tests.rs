//! Checks the catalogue: every text exists in every language with the same arguments, and every text is used.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chrono::NaiveDate;
use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use proptest::prelude::*;

use super::*;
use crate::Value;
use crate::value::{Text, fluent_args};

mod hard_coded;

/// The references of the texts of a file, by key.
fn references(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let read =
        fluent_syntax::parser::parse(text).unwrap_or_else(|(_, errors)| panic!("{errors:?}"));
    let mut texts = BTreeMap::new();
    for entry in read.body {
        if let Entry::Message(message) = entry {
            let mut found = BTreeSet::new();
            pattern(message.value.as_ref().unwrap(), &mut found);
            let earlier = texts.insert(message.id.name.to_owned(), found);
            assert!(earlier.is_none(), "{} is there twice", message.id.name);
        }
    }
    texts
}

fn pattern(of: &Pattern<&str>, found: &mut BTreeSet<String>) {
    for element in &of.elements {
        if let PatternElement::Placeable { expression: it } = element {
            expression(it, found);
        }
    }
}

fn expression(of: &Expression<&str>, found: &mut BTreeSet<String>) {
    let referred = match of {
        Expression::Inline(inline) => inline,
        Expression::Select { selector, variants } => {
            variants.iter().for_each(|it| pattern(&it.value, found));
            selector
        }
    };
    match referred {
        InlineExpression::VariableReference { id } => {
            found.insert(format!("${}", id.name));
        }
        InlineExpression::MessageReference { id, .. } => {
            found.insert(id.name.to_owned());
        }
        InlineExpression::StringLiteral { .. } => {}
        other => panic!("texts do without {other:?}"),
    }
}

/// All texts of a language, by key.
fn texts_of(language: Language) -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    for (_, file, text) in FILES.iter().filter(|(code, ..)| *code == language.code()) {
        for (key, refers) in references(text) {
            let earlier = all.insert(key.clone(), refers);
            assert!(
                earlier.is_none(),
                "{language}/{file}.ftl: {key} is there twice"
            );
        }
    }
    all
}

/// The arguments of a text, including those of the texts that it refers to.
fn takes(all: &BTreeMap<String, BTreeSet<String>>, key: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for referred in &all[key] {
        match referred.strip_prefix('$') {
            Some(name) => {
                found.insert(name.to_owned());
            }
            None => found.extend(takes(all, referred)),
        }
    }
    found
}

#[test]
fn every_language_has_every_text_with_the_same_arguments() {
    let english = texts_of(Language::English);
    for language in Language::ALL {
        let texts = texts_of(language);
        let missing: Vec<&String> = english
            .keys()
            .filter(|it| !texts.contains_key(*it))
            .collect();
        assert!(missing.is_empty(), "{language} lacks {missing:?}");
        for key in texts.keys() {
            assert!(
                english.contains_key(key) || is_referred(&texts, key),
                "{language}: nobody says {key}"
            );
            if let Some(text) = TEXTS.iter().find(|it| it.key == key) {
                let own = takes(&texts, key);
                // A language may omit an argument, but no text can use one that is never given.
                let more: Vec<&String> = own
                    .iter()
                    .filter(|it| !text.takes.contains(&it.as_str()))
                    .collect();
                assert!(more.is_empty(), "{language}: {key} has {more:?}");
                let less: Vec<_> = text
                    .takes
                    .iter()
                    .filter(|it| !own.contains(**it) && !CHOOSE.contains(it))
                    .collect();
                assert!(less.is_empty(), "{language}: {key} lacks {less:?}");
            }
        }
    }
}

/// Arguments that select words; a language with one word for all cases does not need them.
const CHOOSE: [&str; 3] = ["channel", "conversation", "moderator"];

fn is_referred(texts: &BTreeMap<String, BTreeSet<String>>, key: &str) -> bool {
    texts.values().any(|refers| refers.contains(key))
}

/// The program's code and templates, without tests.
fn code(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("tests") && !path.ends_with("target") {
                code(&path, all);
            }
        } else if path
            .extension()
            .is_some_and(|it| it == "rs" || it == "html")
        {
            all.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn the_program_says_every_text() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = String::new();
    for folder in ["src", "adapters", "web", "crates/texts/src"] {
        code(&root.join(folder), &mut all);
    }
    let english = texts_of(Language::English);
    let is_said = |key: &str| all.contains(&format!("\"{key}\""));
    let unsaid: Vec<&String> = english
        .keys()
        // Templates refer to the pages' texts in another way, which a separate test checks.
        .filter(|key| !key.starts_with("page-"))
        .filter(|key| !is_said(key) && !is_referred(&english, key))
        .collect();
    assert!(unsaid.is_empty(), "nothing says {unsaid:?}");
}

fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<u64>().prop_map(Value::from),
        Just(Value::from(0_u64)),
        Just(Value::from(1_u64)),
        any::<String>().prop_map(Value::from),
        Just(Value::from("@everyone <!channel> <@U1> { $x } # [a](b) **")),
        Just(Value::from("\u{202e}שלום\u{2066}\u{0}\r\n- x\n\n= y")),
        Just(Value::from("x".repeat(4_000))),
        Just(Value::from(NaiveDate::MAX)),
        Just(Value::Day(NaiveDate::MIN.and_hms_opt(23, 59, 59).unwrap())),
        Just(Value::list(["a", "{", ""])),
        Just(Value::list([""; 0])),
        Just(Value::from("channel")),
        Just(Value::from("room")),
        any::<f64>().prop_map(|it| Value::decimal(it, 2)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn every_text_is_said_whatever_it_is_about(values in prop::collection::vec(odd(), 1..8)) {
        for text in TEXTS {
            let given = text.takes.iter().copied().zip(values.iter().cycle().cloned());
            let given: Vec<_> = given.collect();
            for language in Language::ALL {
                let said = CATALOGUE.rendered(language, text.key, &|it| fluent_args(it, &given));
                prop_assert!(said.is_some(), "{} in {language}", text.key);
            }
        }
    }
}

#[test]
fn what_a_language_lacks_is_said_in_english() {
    let files = [
        (
            "en",
            "words",
            "thanks = Thank you.\nkept = { $count ->\n    [one] Kept: one, of { $place }\n   *[other] Kept: { $count }, of { $place }\n}\nlost = Lost.",
        ),
        (
            "de",
            "words",
            "thanks = Danke.\nlost = { $unknown } verloren.",
        ),
        ("fr", "words", "kept = { $count } gardés, de { $place }"),
    ];
    let catalogue = Catalogue::of(&files);
    let said = |language, key, arguments: &[(&'static str, Value)]| {
        catalogue.render(language, key, &|it| fluent_args(it, arguments))
    };
    let german = |key, arguments: &[_]| said(Language::German, key, arguments);
    assert_eq!(german("thanks", &[]), "Danke.");
    // With its number as English writes it, which is not how German does.
    let kept = [("count", 12_345_u64.into()), ("place", "general".into())];
    assert_eq!(german("kept", &kept), "Kept: 12345, of general");
    let french = said(Language::French, "kept", &kept);
    assert_eq!(french, "12\u{202f}345 gardés, de general");
    // It has one, but with what nobody gives.
    assert_eq!(german("lost", &[]), "Lost.");
    for language in Language::ALL {
        let nowhere = said(language, "no-such-text", &[]);
        assert_eq!(nowhere, "no-such-text");
        assert_eq!(
            said(language, "thanks", &[]) == "Thank you.",
            language != Language::German,
            "{language}"
        );
    }
}

#[test]
fn each_text_that_a_language_loses_is_said_in_english() {
    for language in Language::ALL {
        let others: Vec<_> = FILES
            .iter()
            .copied()
            .filter(|(code, ..)| *code == Language::English.code() || *code != language.code())
            .collect();
        let catalogue = Catalogue::of(&others);
        for text in TEXTS.iter().filter(|it| it.takes.is_empty()) {
            let said = catalogue.render(language, text.key, &none);
            assert_eq!(said, render(Language::English, text.key, &none));
        }
    }
}

#[test]
fn dates_and_lists_are_said_as_each_language_says_them() {
    let moment = NaiveDate::from_ymd_opt(2026, 4, 13)
        .unwrap()
        .and_hms_opt(18, 5, 0)
        .unwrap();
    for (language, day, date, list) in [
        (
            Language::English,
            "Mon 13 Apr 18:05",
            "2026-04-13",
            "a, b and c",
        ),
        (
            Language::German,
            "Mo., 13. Apr., 18:05",
            "13.04.2026",
            "a, b und c",
        ),
        (
            Language::French,
            "lun. 13 avr. 18:05",
            "13/04/2026",
            "a, b et c",
        ),
        (
            Language::Spanish,
            "lun 13 abr 18:05",
            "13/04/2026",
            "a, b y c",
        ),
        (
            Language::Portuguese,
            "seg., 13 de abr. 18:05",
            "13/04/2026",
            "a, b e c",
        ),
        (
            Language::Japanese,
            "4月13日(月) 18:05",
            "2026/04/13",
            "a、b、c",
        ),
    ] {
        assert_eq!(Value::Day(moment).in_language(language), day);
        assert_eq!(Value::Date(moment.date()).in_language(language), date);
        assert_eq!(Value::list(["a", "b", "c"]).in_language(language), list);
    }
    assert_eq!(
        Value::list(["a", "b"]).in_language(Language::German),
        "a und b"
    );
    assert_eq!(
        Value::list([Text::new(
            prove("list-ends", &["first", "next"]),
            "list-ends",
            vec![("first", "x".into()), ("next", 1_000_u64.into())]
        )])
        .in_language(Language::German),
        "x und 1.000"
    );
}
