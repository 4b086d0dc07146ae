//! Dates and identifiers in texts.

use chrono::NaiveDate;

/// Returns a record's identifiers, if they contain a digit: its key, the key's last part, that
/// part without the ending of a file, and its title if that is one word. Versions (`2.39.2`) are
/// identified by their release as well (`2.39`).
pub(super) fn identifiers(record: &str, title: Option<&str>) -> Vec<String> {
    let key = record.to_lowercase();
    let last = key.rsplit(['/', ':']).next().unwrap_or_default();
    let title = title.map(|title| title.trim().to_lowercase());
    let title = title.filter(|title| !title.contains(char::is_whitespace));
    let names = [stem(last).to_owned(), title.unwrap_or_default()];
    let releases = names.iter().filter_map(|name| release(name));
    let mut all: Vec<String> = releases.collect();
    all.push(last.to_owned());
    all.extend(names);
    all.push(key);
    all.retain(|identifier| has_digit(identifier));
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the name of a file without its ending, which is no number: `2.39` has none.
fn stem(name: &str) -> &str {
    let parts = name.rsplit_once('.');
    let parts = parts.filter(|(_, ending)| !ending.is_empty() && !has_digit(ending));
    parts.map_or(name, |(stem, _)| stem)
}

/// Returns the release of a version of three numbers or more.
fn release(name: &str) -> Option<String> {
    let numbers: Vec<&str> = name.split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let is_version = numbers.len() >= 3 && numbers.iter().all(is_number);
    is_version.then(|| numbers[..2].join("."))
}

pub(super) fn has_digit(text: &str) -> bool {
    text.chars().any(|it| it.is_ascii_digit())
}

/// Returns the day at the beginning of a date in any format; for a year, its first day.
pub(super) fn day(text: &str) -> Option<NaiveDate> {
    let mut parts = text.trim().splitn(3, '-');
    let number = |part: Option<&str>, digits: usize| {
        let part = part.map(|part| part.get(..digits.min(part.len())).unwrap_or_default());
        part.map_or(Some(1), |part| part.parse::<u32>().ok())
    };
    let year = number(parts.next(), 4)?;
    let (month, day) = (number(parts.next(), 2)?, number(parts.next(), 2)?);
    NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_identified_by_its_key_its_file_and_its_title() {
        for (record, title, expected) in [
            (
                "orders.csv/B-1042",
                None,
                &["b-1042", "orders.csv/b-1042"][..],
            ),
            (
                "git/2.39.2.txt",
                Some("2.39.2"),
                &["2.39", "2.39.2", "2.39.2.txt", "git/2.39.2.txt"],
            ),
            ("wiki/a.md", Some("KA-20871"), &["ka-20871"]),
            ("wiki/a.md", Some("Order 12 of 2026"), &[]),
            ("12", Some("Rope"), &["12"]),
            // A number alone, as in "order 1042", is that of no line.
            (
                "orders.csv/line-1042",
                Some("Rope"),
                &["line-1042", "orders.csv/line-1042"],
            ),
        ] {
            assert_eq!(identifiers(record, title), expected, "{record}");
        }
    }

    #[test]
    fn a_day_is_read_of_any_date() {
        let of = |year, month, day| NaiveDate::from_ymd_opt(year, month, day);
        for (text, expected) in [
            ("2026-01-02", of(2026, 1, 2)),
            ("2026-01-02T03:04:05Z", of(2026, 1, 2)),
            ("1950", of(1950, 1, 1)),
            ("1950-06", of(1950, 6, 1)),
            ("spring", None),
            ("2026-99-99", None),
            ("", None),
        ] {
            assert_eq!(day(text), expected, "{text}");
        }
    }
}
