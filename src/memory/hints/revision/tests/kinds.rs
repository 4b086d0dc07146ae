//! What changes another property, is about another of several numbered things, or tells of another time.

use super::*;

const TIME: &[ValueKind] = &[ValueKind::Date, ValueKind::TimeOfDay];
const NUMBER: &[ValueKind] = &[ValueKind::Amount, ValueKind::TimeOfDay];

#[test]
fn a_change_of_another_property_replaces_nothing() {
    let seminar = "The seminar is on 4 March in hall B, Kim gives it.";
    for (earlier, later, asked, wanted, expected) in [
        (
            seminar,
            "The seminar is moved to 11 March.",
            "where is the seminar?",
            &[][..],
            false,
        ),
        (
            seminar,
            "The seminar is moved to 11 March.",
            "who gives the seminar?",
            &[],
            false,
        ),
        (
            seminar,
            "The seminar is moved to 11 March.",
            "when is the seminar?",
            TIME,
            true,
        ),
        (
            seminar,
            "The seminar is moved to hall C.",
            "when is the seminar?",
            TIME,
            false,
        ),
        (
            seminar,
            "The seminar is moved to hall C.",
            "where is the seminar?",
            &[],
            true,
        ),
        (
            seminar,
            "The seminar is moved to next week.",
            "when is the seminar?",
            TIME,
            true,
        ),
        (
            seminar,
            "The seminar is cancelled.",
            "when is the seminar?",
            TIME,
            true,
        ),
        (
            "The site manager is Bastien.",
            "The site is postponed to 10 March.",
            "who is the site manager?",
            &[],
            false,
        ),
        (
            "The wedding is on 18 July, 85 guests.",
            "The wedding now has 110 guests.",
            "when is the wedding?",
            TIME,
            false,
        ),
        (
            "The wedding is on 18 July, 85 guests.",
            "The wedding now has 110 guests.",
            "how many guests are at the wedding?",
            NUMBER,
            true,
        ),
        (
            "The hearing is in room 204.",
            "The hearing was moved to room 112.",
            "where is the hearing?",
            &[],
            true,
        ),
    ] {
        assert_eq!(
            replaces_wanted(earlier, later, asked, wanted, true),
            expected,
            "{later} {asked}"
        );
    }
}

#[test]
fn another_of_several_numbered_things_replaces_nothing() {
    for (earlier, later, asked, wanted, expected) in [
        (
            "Ward 3 has 24 beds.",
            "Ward 5 now has 30 beds.",
            "how many beds does ward 3 have?",
            NUMBER,
            false,
        ),
        (
            "Ward 3 has 24 beds.",
            "Ward 3 now has 30 beds.",
            "how many beds does ward 3 have?",
            NUMBER,
            true,
        ),
        (
            "The anchor is in shed 7.",
            "Shed 9 is the new canteen.",
            "where is the anchor?",
            &[][..],
            false,
        ),
        (
            "The anchor is in shed 7.",
            "The anchor moved to shed 9.",
            "where is the anchor?",
            &[],
            true,
        ),
        (
            "Locker 5 belongs to Ana.",
            "Locker 8 is broken now.",
            "whose locker is 5?",
            &[],
            false,
        ),
        (
            "Scene 12 is shot at the cannery.",
            "Scene 14 moved to the farmhouse.",
            "where is scene 12 shot?",
            &[],
            false,
        ),
        (
            "La sala 2 es del doctor Ruiz.",
            "La sala 5 ahora es de la doctora Paz.",
            "¿de quién es la sala 2?",
            &[],
            false,
        ),
        (
            "Bus 12 goes to the clinic.",
            "Bus 14 now goes to the clinic.",
            "which bus goes to the clinic?",
            &[],
            true,
        ),
    ] {
        assert_eq!(
            replaces_wanted(earlier, later, asked, wanted, true),
            expected,
            "{later} {asked}"
        );
    }
    let linked = |earlier, later| pair(&read(earlier), &read(later), true).links().is_some();
    assert!(!linked("Ward 3 has 24 beds.", "Ward 5 now has 30 beds."));
    assert!(linked("Ward 3 has 24 beds.", "Ward 3 now has 30 beds."));
}

#[test]
fn what_was_before_or_comes_later_replaces_nothing() {
    let fair = "The fair is on 10 May.";
    for (earlier, later, asked, wanted, expected) in [
        (
            fair,
            "Last year the fair was on 3 May.",
            "when is the fair?",
            TIME,
            false,
        ),
        (
            fair,
            "The fair was originally planned for 3 May.",
            "when is the fair?",
            TIME,
            false,
        ),
        (
            fair,
            "The fair was moved to 17 May.",
            "when is the fair?",
            TIME,
            true,
        ),
        (
            fair,
            "Sorry, the fair was on 3 May, not on 10 May.",
            "when is the fair?",
            TIME,
            true,
        ),
        (
            "Das Fest ist am 10. Mai.",
            "Letztes Jahr war das Fest am 3. Mai.",
            "wann ist das Fest?",
            TIME,
            false,
        ),
        (
            "La fête est le 10 mai.",
            "L'an dernier la fête était le 3 mai.",
            "quand est la fête ?",
            TIME,
            false,
        ),
        (
            "La fiesta es el 10 de mayo.",
            "El año pasado la fiesta fue el 3 de mayo.",
            "¿cuándo es la fiesta?",
            TIME,
            false,
        ),
        (
            "We have 34 sheep.",
            "We used to have 50 sheep.",
            "how many sheep do we have?",
            NUMBER,
            false,
        ),
        (
            "We have 34 sheep.",
            "We have 50 sheep.",
            "how many sheep do we have?",
            NUMBER,
            true,
        ),
        (
            "Diesel costs 1.90 euros.",
            "In 2020 diesel cost 1.10 euros.",
            "what does diesel cost?",
            NUMBER,
            false,
        ),
        (
            "Parking costs 25 euros.",
            "From January parking costs 30 euros.",
            "what does parking cost?",
            NUMBER,
            false,
        ),
        (
            "Parking costs 25 euros.",
            "From today on parking costs 30 euros.",
            "what does parking cost?",
            NUMBER,
            true,
        ),
    ] {
        assert_eq!(
            replaces_wanted(earlier, later, asked, wanted, true),
            expected,
            "{later}"
        );
    }
}

#[test]
fn that_something_takes_place_is_no_change() {
    let meeting = "Die Versammlung ist am 9. Mai um 18 Uhr.";
    for (earlier, said) in [
        (meeting, "Die Versammlung findet in der Aula statt."),
        (
            "The meeting is on 9 May.",
            "The meeting takes place in the town hall.",
        ),
        ("La réunion est le 9 mai.", "La réunion a lieu à la mairie."),
        (
            "La reunión es el 9 de mayo.",
            "La reunión es una vez al mes.",
        ),
        (
            "De vergadering is op 9 mei.",
            "De vergadering vindt plaats in het stadhuis.",
        ),
        (
            "The stall is at the arcade.",
            "The stall stays open over Christmas.",
        ),
    ] {
        let later = read(said);
        assert!(!later.says_that_something_changed(), "{said}");
        assert!(
            pair(&read(earlier), &later, true).links().is_none(),
            "{said}"
        );
    }
    for over in [
        "The trial is over.",
        "Statt Montag ist es Dienstag.",
        "Mardi au lieu de lundi.",
    ] {
        assert!(read(over).says_that_something_changed(), "{over}");
    }
}
