//! What is no change of what is asked for.

use super::*;

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
