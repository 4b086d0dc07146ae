mod changing;
mod kinds;
mod withdrawing;

use super::*;
use crate::retrieval::speech::states_something;

/// A Friday.
const DAY: NaiveDate = NaiveDate::from_ymd_opt(2026, 11, 27).unwrap();

fn read(text: &str) -> Statement {
    let states = states_something(text);
    Statement::read(&WordStemmer::default(), (text, ""), states, DAY, |_, _| 4.0)
}

/// Whether the later of two statements replaces the earlier for this question.
fn replaces(earlier: &str, later: &str, asked: &str, same_author: bool) -> bool {
    replaces_wanted(earlier, later, asked, &[], same_author)
}

/// The same for a question that wants these kinds of values.
fn replaces_wanted(
    earlier: &str,
    later: &str,
    asked: &str,
    wanted: &[ValueKind],
    same_author: bool,
) -> bool {
    let words = WordStemmer::default();
    let mut asked_words = Vec::new();
    each_word_with_language(asked, |guess, word| {
        if !guess.is_stop_word(word) {
            let stem = words.stem(guess.language(), word).into_owned();
            asked_words.push((vec![stem], 4.0));
        }
    });
    let question = RevisionQuestion {
        words: &asked_words,
        wanted,
        is_of_yes_or_no: false,
        asks_who: asked.starts_with("who"),
        asks_where: asked.starts_with("where"),
        values: &values(asked),
        day: Some(DAY),
        is_of_self: text_speaks_of_self(asked),
    };
    pair(&read(earlier), &read(later), same_author).replaces(&question)
}

/// Two statements of one conversation that mean about the same.
fn pair<'a>(earlier: &'a Statement, later: &'a Statement, same_author: bool) -> Pair<'a> {
    Pair {
        later,
        earlier,
        cosine: Some(0.9),
        same_author,
        same_talk: true,
        is_linked: false,
    }
}

#[test]
fn the_same_of_something_else_replaces_nothing() {
    for (earlier, later, asked, expected) in [
        (
            "The staging database runs on port 5544.",
            "The production database runs on port 6432.",
            "Which port does the staging database use?",
            false,
        ),
        (
            "Anna's birthday is on 3 May.",
            "Bert's birthday is on 5 June.",
            "When is Anna's birthday?",
            false,
        ),
        (
            "The staging database runs on port 5544.",
            "The staging database runs on port 6000.",
            "Which port does the staging database use?",
            true,
        ),
        // A time of day is the same, however it is written.
        (
            "The alarm is set for 9 am.",
            "The alarm is set for 9 pm.",
            "When is the alarm set?",
            true,
        ),
        (
            "The alarm is set for 7 pm.",
            "The alarm is set for 19:00, remember.",
            "When is the alarm set?",
            false,
        ),
        // A question about several things asks for each of them.
        (
            "Priya is on call from 23 to 29 November.",
            "Tom is on call from 30 November to 6 December.",
            "Who is on call this week?",
            false,
        ),
        (
            "The small plan costs 10 euros a month.",
            "The large plan costs 30 euros a month.",
            "How much do the plans cost?",
            false,
        ),
        (
            "Anna hat vom 1. bis zum 5. Dezember Urlaub.",
            "Bert hat vom 8. bis zum 12. Dezember Urlaub.",
            "Wer hat im Dezember Urlaub?",
            false,
        ),
        (
            "The retro is on 4 December.",
            "The planning is on 11 December.",
            "When are the meetings in December?",
            false,
        ),
        (
            "Priya is on call this week.",
            "Tom is on call now.",
            "Who is on call this week?",
            true,
        ),
        // The question has another word for the same subject.
        (
            "The appointment at the dentist is on 3 May.",
            "The checkup at the dentist is on 5 June.",
            "When is the checkup?",
            true,
        ),
        // The same of something else, and a statement that it is new.
        (
            "the office in Berlin closes at 18:00",
            "the office in Paris closes at 19:00 now",
            "when does the office in Berlin close?",
            false,
        ),
        (
            "the office in Berlin closes at 18:00",
            "the office in Paris closes at 19:00 now",
            "when do the offices in Berlin and Paris close?",
            false,
        ),
        (
            "the flight to Oslo leaves at 7:30",
            "the flight to Rome is now at 9:10",
            "when does the flight to Oslo leave?",
            false,
        ),
        (
            "Anna Schmidt's phone number is 4711",
            "Anna Weber's phone number is now 9922",
            "what is Anna Schmidt's phone number?",
            false,
        ),
        (
            "Anna is in room 12",
            "Ben moved to room 14",
            "which room is Anna in?",
            false,
        ),
        (
            "the staging database runs on port 5544",
            "the production database moved to port 5566",
            "which port does the staging database use?",
            false,
        ),
        (
            "la oficina de Madrid cierra a las 18:00",
            "la oficina de Sevilla cierra ahora a las 19:00",
            "¿cuándo cierra la oficina de Madrid?",
            false,
        ),
        (
            "the contract with Acme ends on 30 June",
            "the contract with Globex was extended to 31 December",
            "when does the contract with Acme end?",
            false,
        ),
        (
            "the contract with Acme ends on 30 June",
            "the contract with Acme was extended to 31 December",
            "when does the contract with Acme end?",
            true,
        ),
        // Another verb is no other thing.
        (
            "the rehearsal starts at 18:00",
            "the rehearsal begins at 19:00 now",
            "when does the rehearsal start?",
            true,
        ),
        // Another word for the same subject, and a statement that it is new.
        (
            "The standup of the platform team is at 9:30.",
            "The platform team meets at 10 from now on.",
            "When is the standup of the platform team?",
            true,
        ),
    ] {
        assert_eq!(replaces(earlier, later, asked, true), expected, "{later}");
    }
}

#[test]
fn what_people_say_of_themselves_replaces_only_their_own_words() {
    for (earlier, later, asked, by_another) in [
        (
            "my locker code is 4711",
            "my locker code is 9922",
            "what is my locker code?",
            false,
        ),
        (
            "my flight lands on 3 May",
            "my flight now lands on 4 May",
            "when does my flight land?",
            false,
        ),
        (
            "I parked my bike on level 2",
            "I parked my bike on level 5",
            "where did I park my bike?",
            false,
        ),
        (
            "I bring 12 bottles",
            "I bring 3 bottles",
            "how many bottles do I bring?",
            false,
        ),
        (
            "mein Spind hat den Code 4711",
            "mein Spind hat den Code 9922",
            "welchen Code hat mein Spind?",
            false,
        ),
        // What somebody asks about themselves is theirs, and not what another person says of no one.
        (
            "my locker code is 4711",
            "the locker code is 9922",
            "what is my locker code?",
            false,
        ),
        (
            "I set the demo to 3 pm",
            "the demo is at 4 pm now",
            "when is the demo?",
            true,
        ),
        (
            "the locker code is 4711",
            "the locker code is 9922",
            "what is the locker code?",
            true,
        ),
    ] {
        assert!(replaces(earlier, later, asked, true), "{later}");
        assert_eq!(
            replaces(earlier, later, asked, false),
            by_another,
            "{later}"
        );
    }
}

#[test]
fn what_is_new_of_something_else_is_not_linked() {
    for (earlier, later, expected) in [
        (
            "the office in Berlin closes at 18:00",
            "the office in Paris closes at 19:00 now",
            false,
        ),
        (
            "the office in Berlin closes at 18:00",
            "the office in Berlin closes at 19:00 now",
            true,
        ),
        (
            "the rehearsal starts at 18:00",
            "the rehearsal begins at 19:00 now",
            true,
        ),
    ] {
        let linked = pair(&read(earlier), &read(later), true).links();
        assert_eq!(linked.is_some(), expected, "{later}");
    }
}

#[test]
fn what_people_say_of_themselves_is_linked_only_to_their_own_words() {
    for (earlier, later, by_another) in [
        (
            "my flight lands at 9:30",
            "my flight now lands at 10:40",
            false,
        ),
        (
            "the flight lands at 9:30",
            "the flight now lands at 10:40",
            true,
        ),
    ] {
        for (same_author, is_linked) in [(true, true), (false, by_another)] {
            let linked = pair(&read(earlier), &read(later), same_author).links();
            assert_eq!(linked.is_some(), is_linked, "{later}");
        }
    }
}
