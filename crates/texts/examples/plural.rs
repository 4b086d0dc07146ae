//! Says one text in two languages: each has its own plurals, dates and thousands.
//!
//! `cargo run -p muninn-texts --example plural`

#![allow(clippy::print_stdout, reason = "an example says what it found")]

use chrono::NaiveDate;
use muninn_texts::{Language, Text, text};

/// What happened since a day. The compiler proves that each text exists and takes just these arguments.
fn caught_up(since: NaiveDate, messages: u32, people: u32) -> Text {
    text!(
        "caught-up",
        since,
        messages = text!("count-messages", count = messages),
        people = text!("count-people", count = people),
    )
}

fn main() {
    let day = NaiveDate::from_ymd_opt(2026, 7, 14).expect("the day exists");
    let (one, many) = (caught_up(day, 1, 1), caught_up(day, 12_345, 3));
    let said = [&one, &many].map(|text| {
        [Language::English, Language::German].map(|language| text.in_language(language))
    });
    for line in said.as_flattened() {
        println!("{line}");
    }
    assert_eq!(
        said.as_flattened(),
        [
            "Since 2026-07-14: 1 message by 1 person.",
            "Seit 14.07.2026: 1 Nachricht von 1 Person.",
            "Since 2026-07-14: 12345 messages by 3 people.",
            "Seit 14.07.2026: 12.345 Nachrichten von 3 Personen.",
        ]
    );
}
