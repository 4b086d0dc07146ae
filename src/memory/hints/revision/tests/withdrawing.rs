//! What is taken back by a phrase, without another value and without a word of change.

use super::*;

const BOXES: &str = "The blue boxes go to shed 3.";
const KISTEN: &str = "Die blauen Kisten kommen in den Schuppen.";
const RAISED: &str = "The supplier raised the price to 40 euros.";

#[test]
fn what_is_taken_back_by_its_name_does_not_hold() {
    for (earlier, later, asked) in [
        (
            BOXES,
            "Forget what I said about the blue boxes, that was wrong.",
            "where do the blue boxes go?",
        ),
        (
            BOXES,
            "What I said about the blue boxes is no longer true.",
            "where do the blue boxes go?",
        ),
        (
            BOXES,
            "The blue boxes go to shed 3, that's no longer true.",
            "where do the blue boxes go?",
        ),
        (
            KISTEN,
            "Vergiss, was ich über die blauen Kisten gesagt habe.",
            "wohin kommen die blauen Kisten?",
        ),
        (
            KISTEN,
            "Das mit den blauen Kisten stimmt nicht mehr.",
            "wohin kommen die blauen Kisten?",
        ),
        (
            "Les boîtes bleues vont dans la remise.",
            "Oublie ce que j'ai dit sur les boîtes bleues.",
            "où vont les boîtes bleues ?",
        ),
        (
            RAISED,
            "Scrap that, the supplier did not raise the price.",
            "how much is the price of the supplier?",
        ),
    ] {
        assert!(replaces(earlier, later, asked, true), "{later}");
    }
}

#[test]
fn what_was_said_just_before_is_taken_back_without_a_name() {
    for (earlier, later) in [
        (BOXES, "Scrap that."),
        (BOXES, "Not any more."),
        (KISTEN, "Doch nicht"),
        (KISTEN, "das stimmt nicht mehr"),
        ("Les boîtes bleues vont dans la remise.", "Finalement non"),
        ("Las cajas azules van al cobertizo.", "Al final no."),
        ("De blauwe dozen gaan naar de schuur.", "Toch niet."),
    ] {
        let (earlier, asked) = (read(earlier), question());
        let later = read(later).about(&earlier);
        assert!(pair(&earlier, &later, true).replaces(&asked), "{earlier:?}");
        // What it does not go on with still holds.
        let other = read("The red bags go to the attic.");
        assert!(!pair(&other, &later, true).replaces(&asked), "{later:?}");
    }
}

#[test]
fn what_is_not_named_in_full_is_not_taken_back() {
    for (earlier, later, same_author) in [
        // Somebody else said it.
        (BOXES, "Forget what I said about the blue boxes.", false),
        // It is about something else, or about more.
        (
            "The blue bags go to shed 3.",
            "Forget what I said about the blue boxes.",
            true,
        ),
        (
            BOXES,
            "Forget what I said about the blue boxes of Tom.",
            true,
        ),
        (BOXES, "Forget what I said about the boxes.", true),
        (
            BOXES,
            "The blue boxes go to shed 4, that's no longer true.",
            true,
        ),
        // The price that was not raised is what it was.
        (
            "The price of the supplier is 35 euros.",
            "Scrap that, the supplier did not raise the price.",
            true,
        ),
        // Not taken back.
        (
            BOXES,
            "Don't forget what I said about the blue boxes.",
            true,
        ),
        (BOXES, "Forget what Tom said about the blue boxes.", true),
        (
            BOXES,
            "The blue boxes go to shed 3, that was a mistake.",
            true,
        ),
    ] {
        let (earlier, said) = (read(earlier), later);
        let later = read(later);
        let pair = pair(&earlier, &later, same_author);
        assert!(!pair.replaces(&question()), "{said}");
        assert!(pair.links().is_none(), "{said}");
    }
}

#[test]
fn what_names_itself_what_it_takes_back_is_not_about_what_it_goes_on_with() {
    let (earlier, context) = (read(BOXES), read("Lunch is at noon."));
    let later = read("Forget what I said about the blue boxes.").about(&context);
    assert!(pair(&earlier, &later, true).replaces(&question()));
    assert!(pair(&earlier, &later, true).takes_back());
    assert!(!pair(&context, &later, true).replaces(&question()));
}

#[test]
fn what_the_bot_answers_to_a_withdrawal_names_no_more_of_it() {
    let said = "Forget what I said about the blue boxes.";
    let answered = "Noted: I will ignore your earlier information on them.";
    let words = WordStemmer::default();
    let later = Statement::read(&words, (said, answered), true, DAY, |_, _| 4.0);
    assert!(pair(&read(BOXES), &later, true).replaces(&question()));
}

#[test]
fn what_is_taken_back_by_its_name_is_linked() {
    let (earlier, later) = (
        BOXES,
        "Forget what I said about the blue boxes, that was wrong.",
    );
    let linked = pair(&read(earlier), &read(later), true).links();
    assert!(linked.is_some());
    assert!(read(later).says_that_something_changed());
}

/// A question about all that is said here.
fn question() -> RevisionQuestion<'static> {
    RevisionQuestion {
        words: &[],
        wanted: &[],
        is_of_yes_or_no: false,
        asks_who: false,
        asks_where: true,
        values: &[],
        day: Some(DAY),
        is_of_self: false,
    }
}
