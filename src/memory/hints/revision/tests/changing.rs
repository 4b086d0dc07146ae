//! What is no change of what is asked for.

use super::*;

#[test]
fn what_is_only_asked_replaces_nothing() {
    let earlier = read("the budget for the boat trip is 500 euros");
    let question = RevisionQuestion {
        words: &[],
        wanted: &[ValueKind::Amount],
        is_of_yes_or_no: false,
        asks_who: false,
        asks_where: false,
        values: &[],
        day: None,
        is_of_self: false,
    };
    for (asks, answer, expected) in [
        (
            "can we raise the budget for the boat trip to 800 euros?",
            "",
            false,
        ),
        (
            "we raise the budget for the boat trip to 800 euros, ok?",
            "",
            true,
        ),
        (
            "what is the budget for the boat trip?",
            "The budget for the boat trip is 800 euros now.",
            true,
        ),
    ] {
        let states = states_something(asks);
        let words = WordStemmer::default();
        let later = Statement::read(&words, (asks, answer), states, DAY, |_, _| 4.0);
        let pair = Pair {
            same_talk: false,
            ..pair(&earlier, &later, true)
        };
        assert_eq!(pair.replaces(&question), expected, "{asks}");
    }
}

#[test]
fn a_change_of_something_else_of_the_same_subject_replaces_nothing() {
    for (earlier, later, asked, expected) in [
        (
            "the build server has 64 GB of memory",
            "the build server is back online",
            "how much memory does the build server have?",
            false,
        ),
        (
            "the customer Acme pays 4,000 euros a month",
            "the customer Acme has a new contact, Jim",
            "how much does Acme pay?",
            false,
        ),
        (
            "Maria is allergic to nuts",
            "Maria has a new phone now",
            "what is Maria allergic to?",
            false,
        ),
        (
            "Maria is allergic to nuts",
            "Maria is off on Friday",
            "what is Maria allergic to?",
            false,
        ),
        (
            "der Kaffee kostet 2 Euro",
            "der Kaffee ist nicht bio",
            "was kostet der Kaffee?",
            false,
        ),
        // A person, a weekday and a number that may be a time are new, though they are no values.
        (
            "Marta owns the billing service",
            "Kofi is the new owner of the billing service",
            "who owns the billing service?",
            true,
        ),
        (
            "the cargo bike gets a new hub and is back on Wednesday",
            "no cargo bike before Monday",
            "when does the cargo bike get back?",
            true,
        ),
        // All of it is withdrawn.
        (
            "the party starts on Saturday at 8 pm",
            "the party is cancelled",
            "when does the party start?",
            true,
        ),
        (
            "the party starts on Saturday at 8 pm",
            "the cake for the party is cancelled",
            "when does the party start?",
            false,
        ),
    ] {
        assert_eq!(replaces(earlier, later, asked, true), expected, "{later}");
    }
}

#[test]
fn what_is_denied_or_supposed_replaces_nothing() {
    for (earlier, later, asked, expected) in [
        (
            "the release is on 5 March",
            "the release is not cancelled",
            "when is the release?",
            false,
        ),
        (
            "the release is on 5 March",
            "the release was not moved to 12 March",
            "when is the release?",
            false,
        ),
        (
            "the release is on 5 March",
            "if QA fails, the release is moved to 12 March",
            "when is the release?",
            false,
        ),
        (
            "das Release ist am 5. März",
            "das Release ist nicht verschoben",
            "wann ist das Release?",
            false,
        ),
        (
            "la livraison est le 5 mars",
            "la livraison n'est pas annulée",
            "quand est la livraison ?",
            false,
        ),
        (
            "la entrega es el 5 de marzo",
            "la entrega no se ha cancelado",
            "¿cuándo es la entrega?",
            false,
        ),
        (
            "the plan costs 30 euros a month",
            "Anna suggested to raise the price of the plan to 40 euros",
            "how much does the plan cost?",
            false,
        ),
        (
            "the budget is 30,000 euros",
            "Bob claimed \"the budget is now 50,000 euros\" but that is wrong",
            "how much is the budget?",
            false,
        ),
        (
            "the release is on 5 March",
            "the release is not on 5 March any more, it was moved to 12 March",
            "when is the release?",
            true,
        ),
        (
            "das Release ist am 5. März",
            "das Release ist nicht mehr am 5. März, sondern am 12. März",
            "wann ist das Release?",
            true,
        ),
    ] {
        assert_eq!(replaces(earlier, later, asked, true), expected, "{later}");
    }
}

#[test]
fn what_holds_on_one_day_is_an_exception_to_a_rule() {
    for (earlier, later, expected) in [
        (
            "the standup is at 9:30",
            "today the standup is at 11:00",
            true,
        ),
        (
            "the standup is at 9:30",
            "tomorrow the standup is at 11:00",
            true,
        ),
        (
            "the standup is at 9:30",
            "the standup is cancelled today",
            true,
        ),
        ("the standup is at 9:30", "no standup on Friday", true),
        (
            "das Standup ist um 9:30",
            "das Standup ist am Freitag ausnahmsweise um 11:00",
            true,
        ),
        (
            "das Standup ist um 9:30",
            "heute ist das Standup um 11:00",
            true,
        ),
        (
            "la reunión es a las 9:30",
            "hoy la reunión es a las 11:00",
            true,
        ),
        // What was done on a day, or begins then, lasts.
        (
            "the standup is at 9:30",
            "we moved the standup to 11:00 today",
            false,
        ),
        (
            "the standup is at 9:30",
            "the contract was cancelled today",
            false,
        ),
        (
            "the standup is at 9:30",
            "from tomorrow the standup is at 11:00",
            false,
        ),
        (
            "das Standup ist um 9:30",
            "ab heute ist das Standup um 11:00",
            false,
        ),
        (
            "la réunion est à 9h30",
            "à partir de demain la réunion est à 11h",
            false,
        ),
        (
            "the plan costs 30 euros",
            "the price of the plan goes up to 40 euros tomorrow",
            false,
        ),
        (
            "the standup is on Friday",
            "no more standups on Friday",
            false,
        ),
        ("the standup is at 9:30", "the standup is at 11:00", false),
        // The earlier one is of one day, too.
        (
            "the demo is on 20 November at 9:30",
            "the demo is at 11:00 today",
            false,
        ),
        (
            "the demo is at 9:30 today",
            "the demo is at 11:00 today",
            false,
        ),
    ] {
        let later_one = read(later);
        assert_eq!(
            later_one.is_exception_to(&read(earlier)),
            expected,
            "{later}"
        );
        let linked = pair(&read(earlier), &later_one, true).links();
        assert!(!expected || linked.is_none(), "{later}");
    }
}
