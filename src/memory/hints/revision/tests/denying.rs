//! What is denied in the words in which it was said.

use super::*;

#[test]
fn what_is_denied_in_the_same_words_does_not_hold() {
    let moving = "The office is moving to Leeds.";
    for (earlier, later) in [
        (moving, "No, the office is NOT moving to Leeds."),
        (moving, "no the office isn't moving to Leeds"),
        (moving, "The office is no longer moving to Leeds."),
        (moving, "The office is not moving to Leeds any more."),
        (
            moving,
            "Sorry, the office is not moving to Leeds after all.",
        ),
        (
            moving,
            "No, the office is not moving to Leeds. Tom told me.",
        ),
        (
            "The office is moving to Leeds in June.",
            "The office is not moving to Leeds.",
        ),
        (
            "The supplier raised the price.",
            "The supplier did not raise the price.",
        ),
        (
            "Tom has a key for the office.",
            "Tom does not have a key for the office.",
        ),
        (
            "Das Büro zieht nach Leeds.",
            "Nein, das Büro zieht doch nicht nach Leeds.",
        ),
        (
            "Le bureau déménage à Leeds.",
            "Non, le bureau ne déménage pas à Leeds.",
        ),
        (
            "La oficina se muda a Leeds.",
            "No, la oficina no se muda a Leeds.",
        ),
        (
            "O nosso escritório vai para Leeds.",
            "Não, o nosso escritório não vai para Leeds.",
        ),
        (
            "L'ufficio di Anna si trasferisce a Leeds.",
            "No, l'ufficio di Anna non si trasferisce a Leeds.",
        ),
        (
            "Het kantoor verhuist naar Leeds.",
            "Nee, het kantoor verhuist niet naar Leeds.",
        ),
        (
            "Biuro przenosi się do Leeds.",
            "Nie, biuro nie przenosi się do Leeds.",
        ),
        ("Офис переезжает в Лидс.", "Нет, офис не переезжает в Лидс."),
    ] {
        assert!(
            replaces(earlier, later, "where is the office?", true),
            "{later}"
        );
    }
}

#[test]
fn what_is_denied_in_part_or_of_something_else_still_holds() {
    let moving = "The office is moving to Leeds.";
    for (earlier, later) in [
        // Only a part is denied, or another time.
        (moving, "The office is not moving to Leeds before May."),
        (moving, "The office is not moving to Leeds yet."),
        (moving, "The office is not moving to Leeds in June."),
        (moving, "The office is not only moving to Leeds."),
        (moving, "The office was not moving to Leeds."),
        (
            "The office and the archive are moving to Leeds.",
            "The archive is not moving to Leeds.",
        ),
        (
            "The office is moving to Leeds. Bring boxes.",
            "The office is not moving to Leeds.",
        ),
        // It is supposed, told or asked, or said of something or somebody else.
        (
            moving,
            "If the bank refuses, the office is not moving to Leeds.",
        ),
        (moving, "Tom says the office is not moving to Leeds."),
        (moving, "Is the office not moving to Leeds?"),
        (moving, "The shop is not moving to Leeds."),
        (moving, "The office is not moving to York."),
        ("She is on call at night.", "She is not on call at night."),
        // "No" denies something else.
        (
            "The office was moved to Leeds.",
            "No the office was moved to Leeds.",
        ),
    ] {
        assert!(
            !replaces(earlier, later, "where is the office?", true),
            "{later}"
        );
    }
}

#[test]
fn people_deny_only_what_they_said_of_themselves() {
    let (earlier, later) = (
        "I am on call at Christmas.",
        "I am not on call at Christmas.",
    );
    assert!(replaces(earlier, later, "who is on call?", true));
    assert!(!replaces(earlier, later, "who is on call?", false));
}
