use super::*;

fn shown(text: &str) -> Vec<String> {
    let show = |value: StatedValue| {
        let unit = match value.unit {
            None => String::new(),
            Some(Unit { name, of: None }) => name,
            Some(Unit { name, of: Some(of) }) => format!("{name} of {of}"),
        };
        format!("{:?} {} {unit}", value.kind, value.text)
            .trim_end()
            .to_owned()
    };
    values(text).into_iter().map(show).collect()
}

#[test]
fn amounts_of_different_things_do_not_stand_for_one_another() {
    for (one, other, may) in [
        ("300 litres of beer", "400 litres of milk", false),
        ("300 litres of beer", "400 litres of the beer", true),
        ("300 litres of beer", "400 litres", true),
        ("300 litres of beer", "400 kilos", false),
    ] {
        let (one, other) = (&values(one)[0], &values(other)[0]);
        assert_eq!(one.is_like(other), may, "{one:?} {other:?}");
    }
}

#[test]
fn values_are_read_with_what_they_measure() {
    for (text, expected) in [
        ("we take 45 minutes", vec!["Amount 45 minut"]),
        (
            "we lost 300 litres of the beer",
            vec!["Amount 300 litr of beer"],
        ),
        (
            "moved to 11 June, 9:00",
            vec!["Date 11 6", "TimeOfDay 9:00"],
        ),
        ("on June 16th at 9 am", vec!["Date 16 6", "TimeOfDay 9:00"]),
        (
            "am 16. Juni um 14 Uhr",
            vec!["Date 16 6", "TimeOfDay 14:00"],
        ),
        (
            "9 am, 9 pm, 7:30pm, 12 am, 12 pm, 00:30, 09:00",
            vec![
                "TimeOfDay 9:00",
                "TimeOfDay 21:00",
                "TimeOfDay 19:30",
                "TimeOfDay 0:00",
                "TimeOfDay 12:00",
                "TimeOfDay 0:30",
                "TimeOfDay 9:00",
            ],
        ),
        (
            "9 a.m., 9 p.m., 7:30 P.M., 9a.m., 12 a. m., 5 o'clock, 6 o’clock",
            vec![
                "TimeOfDay 9:00",
                "TimeOfDay 21:00",
                "TimeOfDay 19:30",
                "TimeOfDay 9:00",
                "TimeOfDay 0:00",
                "TimeOfDay 5:00",
                "TimeOfDay 6:00",
            ],
        ),
        (
            "10.0.0.1, 192.168.0.10:8080, v1.2.3 and 1.2.30, 1.250.000 euro, 1.250.000,50 euro",
            vec![
                "Code 10.0.0.1",
                "Code 192.168.0.10:8080",
                "Code v1.2.3",
                "Code 1.2.30",
                "Amount 1250000 money",
                "Amount 1250000.5 money",
            ],
        ),
        (
            "01.11.2027 or 31.11.27",
            vec!["Date 1 11 of 2027", "Code 31.11.27"],
        ),
        (
            "1.9, then 1.90, and 1,90 or 1.90 m",
            vec!["Amount 1.9", "Amount 1.90", "Amount 1.9", "Amount 1.9"],
        ),
        (
            "um 10.30 Uhr und um 12 am Montag",
            vec!["TimeOfDay 10:30", "TimeOfDay 12:00"],
        ),
        ("a finish in 1:10:25", vec!["TimeOfDay 1:10:25"]),
        ("la marca 3 de la lista", vec!["Label 3 marca"]),
        ("do 3 marca", vec!["Date 3 3"]),
        ("the 18th", vec!["Date 18"]),
        (
            "£7.50 or 7 euro",
            vec!["Amount 7.5 money", "Amount 7 money"],
        ),
        ("from 1,9 % to 2.1%", vec!["Amount 1.9 %", "Amount 2.1 %"]),
        (
            "72,000 seats, 84k",
            vec!["Amount 72000 seat", "Amount 84000"],
        ),
        ("colour #0B2A3C in v2", vec!["Code #0b2a3c", "Code v2"]),
        ("seven plants", vec!["Amount 7 plant"]),
        ("nothing here", vec![]),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn values_that_differ_in_a_sign_or_a_zero_are_told_apart() {
    for (one, other, is_like, is_same) in [
        ("9 a.m.", "9 p.m.", true, false),
        ("5 o'clock", "6 pm", true, false),
        ("7 p.m.", "19:00", true, true),
        ("10.0.0.1", "10.0.0.10", true, false),
        ("1.9", "1.90", true, false),
        ("£1.9", "£1.90", true, true),
        ("1.9 m wide", "1.90 m", true, true),
        ("1.11.2027", "11.1.2027", true, false),
        ("1.11.2027", "1.11.2028", true, false),
        ("1.11.2027", "1 November", true, true),
        ("1.11.2027", "1 November 2027", true, true),
    ] {
        let (one, other) = (&values(one)[0], &values(other)[0]);
        assert_eq!(one.is_like(other), is_like, "{one:?} {other:?}");
        assert_eq!(one.is(other), is_same, "{one:?} {other:?}");
    }
}

#[test]
fn the_number_of_a_thing_is_told_from_an_amount() {
    let labels = |text: &str| -> Vec<(String, bool)> {
        let labels = values(text).into_iter();
        let labels = labels.filter(|value| value.kind == ValueKind::Label);
        labels
            .map(|label| {
                let thing = label.unit.map_or_else(String::new, |unit| unit.name);
                (format!("{thing} {}", label.text), label.leads)
            })
            .collect()
    };
    for (text, expected) in [
        ("Ward 3 has 24 beds", &[("ward 3", true)][..]),
        ("Dry dock 2 is booked until 14 August", &[("dock 2", true)]),
        ("the anchor is in shed 7", &[("shed 7", false)]),
        (
            "Hearing Harding moved to 21 January, room 112.",
            &[("room 112", false)],
        ),
        ("Die Station 5 hat jetzt 30 Betten", &[("station 5", true)]),
        (
            "Lyon 60, Osaka 20",
            &[("lyon 60", false), ("osaka 20", false)],
        ),
        ("the code is 471, pager 2211", &[]),
        ("rent 640, max 18 persons", &[]),
        ("Bring 3 bottles", &[]),
        ("they say 340 for the brakes", &[]),
        ("flour 5 kg, interval 20 s, growth 3 %", &[]),
        ("diesel costs 12", &[]),
        ("χταπόδι 14 ευρώ", &[]),
        ("Monday 12", &[]),
    ] {
        let found = labels(text);
        let found: Vec<(&str, bool)> = found.iter().map(|(it, leads)| (&**it, *leads)).collect();
        assert_eq!(found, expected, "{text}");
    }
}
