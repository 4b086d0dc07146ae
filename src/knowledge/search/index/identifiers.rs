//! Dates and identifiers in texts.

use chrono::NaiveDate;

/// Returns a record's identifiers: its key and the key's last part, if they contain a digit.
pub(super) fn identifiers(record: &str) -> Vec<String> {
    let key = record.to_lowercase();
    let mut all = vec![key.clone()];
    if let Some((_, last)) = key.rsplit_once(['/', ':']) {
        all.push(last.to_owned());
    }
    all.retain(|identifier| has_digit(identifier));
    all
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
