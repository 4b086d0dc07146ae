//! The dates of holidays, by name.

use chrono::{NaiveDate, TimeDelta};

use crate::retrieval::language::WordList;

/// Holidays relative to Easter, with their offsets in days.
const MOVABLE: [(WordList, i64); 6] = [
    (WordList::of("karfreitag"), -2),
    (
        WordList::of(
            "easter ostern osterwochenende pâques pascua páscoa pasqua pasen wielkanoc wielkanocą пасха пасхи пасхой",
        ),
        0,
    ),
    (WordList::of("ostermontag paasmaandag pasquetta"), 1),
    (WordList::of("ascension himmelfahrt hemelvaart"), 39),
    (
        WordList::of("whitsun pentecost pfingsten pentecôte pentecostés pinksteren"),
        49,
    ),
    (WordList::of("fronleichnam"), 60),
];
/// Holidays with a fixed month and day.
const FIXED: [(WordList, u32, u32); 4] = [
    (
        WordList::of(
            "christmas xmas weihnachten noël navidad natal natale kerst kerstmis рождество рождества",
        ),
        12,
        25,
    ),
    (WordList::of("silvester"), 12, 31),
    (WordList::of("halloween"), 10, 31),
    (WordList::of("epiphany epifanía epifania"), 1, 6),
];

/// The date in a year of a holiday that is named by a word, or by it and an adjacent one.
pub(super) fn feast(before: &str, word: &str, after: &str, year: i32) -> Option<NaiveDate> {
    let days = match (before, word, after) {
        ("good", "friday", _) => Some(-2),
        ("easter", "monday", _) | (_, "easter", "monday") => Some(1),
        _ => MOVABLE
            .iter()
            .find(|(names, _)| names.has(word))
            .map(|(_, days)| *days),
    };
    let fixed = FIXED.iter().find(|(names, ..)| names.has(word));
    match (days, fixed) {
        (Some(days), _) => easter(year)?.checked_add_signed(TimeDelta::days(days)),
        (None, Some((_, month, day))) => NaiveDate::from_ymd_opt(year, *month, *day),
        (None, None) => None,
    }
}

/// Easter Sunday of the Gregorian calendar, by Gauss' rule in the form given by Meeus.
fn easter(year: i32) -> Option<NaiveDate> {
    let (golden, century, of_century) = (year % 19, year / 100, year % 100);
    let epact =
        (19 * golden + century - century / 4 - (century - (century + 8) / 25 + 1) / 3 + 15) % 30;
    let weekday = (32 + 2 * (century % 4) + 2 * (of_century / 4) - epact - of_century % 4) % 7;
    let late = (golden + 11 * epact + 22 * weekday) / 451;
    let days = epact + weekday - 7 * late + 114;
    NaiveDate::from_ymd_opt(
        year,
        u32::try_from(days / 31).ok()?,
        u32::try_from(days % 31 + 1).ok()?,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn easter_is_found_for_every_year() {
        for (year, sunday) in [
            (1999, "1999-04-04"),
            (2008, "2008-03-23"),
            (2025, "2025-04-20"),
            (2026, "2026-04-05"),
            (2038, "2038-04-25"),
        ] {
            assert_eq!(easter(year), sunday.parse().ok());
        }
    }
}
