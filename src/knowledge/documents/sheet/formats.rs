//! Shows numbers as a workbook formats them: dates, times and hours.

use std::collections::HashMap;

use chrono::{Duration, NaiveDate};

use super::super::package::{Xml, walk};

/// The day after the last one that a workbook can have, in days since the end of 1899.
const END: f64 = 2_958_466.0;

/// Days from the end of 1899 to the beginning of 1904.
const TO_1904: f64 = 1_462.0;

/// What a cell shows a number as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NumberFormat {
    #[default]
    Number,
    Moment,
    /// Hours, which may be more than a day has: `[h]:mm`.
    Hours,
}

impl NumberFormat {
    /// Returns the text of a number of days; `None` for one that is shown as it is.
    pub(super) fn shown(self, days: f64, is_since_1904: bool) -> Option<String> {
        match self {
            Self::Number => None,
            // Below one it is a time alone.
            Self::Moment if is_since_1904 && days >= 1.0 => moment_of(days + TO_1904),
            Self::Moment => moment_of(days),
            Self::Hours => hours_of(days),
        }
    }

    /// `yyyy-mm-dd` is a moment, `[Red]0.00" days"` and `0\\h` are not.
    fn of(code: &str) -> Self {
        let mut format = Self::Number;
        let mut chars = code.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => {
                    chars.find(|c| *c == '"');
                }
                // The next character is shown as it is, as wide as it is, or repeated.
                '\\' | '_' | '*' => {
                    chars.next();
                }
                '[' => {
                    let inside: String = chars.by_ref().take_while(|c| *c != ']').collect();
                    let inside = inside.to_ascii_lowercase();
                    let is_of = |unit| !inside.is_empty() && inside.chars().all(|c| c == unit);
                    if ['h', 'm', 's'].into_iter().any(is_of) {
                        return Self::Hours;
                    }
                }
                'y' | 'Y' | 'd' | 'D' | 'h' | 'H' => format = Self::Moment,
                _other => {}
            }
        }
        format
    }

    /// The formats that every workbook has.
    fn built_in(number: u32) -> Self {
        match number {
            14..=22 => Self::Moment,
            // `mm:ss`, `[h]:mm:ss` and `mmss.0`
            45..=47 => Self::Hours,
            _other => Self::Number,
        }
    }
}

/// Returns the number format of each cell style.
pub(super) fn of_styles(xml: &str) -> Result<Vec<NumberFormat>, String> {
    let mut own: HashMap<String, NumberFormat> = HashMap::new();
    let (mut formats, mut is_cells) = (Vec::new(), false);
    walk(xml, &mut |event| match event {
        Xml::Open("numFmt", of) => {
            let code = of.get("formatCode").unwrap_or_default();
            let id = of.get("numFmtId").unwrap_or_default();
            own.insert(id, NumberFormat::of(&code));
        }
        Xml::Open("cellXfs", _) => is_cells = true,
        Xml::Close("cellXfs") => is_cells = false,
        Xml::Open("xf", of) if is_cells => {
            let id = of.get("numFmtId").unwrap_or_default();
            let built_in = NumberFormat::built_in(id.parse().unwrap_or_default());
            formats.push(own.get(&id).copied().unwrap_or(built_in));
        }
        Xml::Open(..) | Xml::Close(_) | Xml::Text(_) => {}
    })?;
    Ok(formats)
}

/// Converts days since the end of 1899 to text.
fn moment_of(days: f64) -> Option<String> {
    if !(0.0..END).contains(&days) {
        return None;
    }
    let minutes = (days * 1_440.0).round() as i64;
    let first = NaiveDate::from_ymd_opt(1899, 12, 30)?.and_hms_opt(0, 0, 0)?;
    let moment = first.checked_add_signed(Duration::minutes(minutes))?;
    let form = if days < 1.0 {
        "%H:%M"
    } else if minutes % 1_440 == 0 {
        "%Y-%m-%d"
    } else {
        "%Y-%m-%d %H:%M"
    };
    Some(moment.format(form).to_string())
}

/// Converts days to hours and minutes, with seconds if there are any.
fn hours_of(days: f64) -> Option<String> {
    if !(-END..END).contains(&days) {
        return None;
    }
    let seconds = (days * 86_400.0).round() as i64;
    let sign = if seconds < 0 { "-" } else { "" };
    let seconds = seconds.abs();
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    Some(match seconds {
        0 => format!("{sign}{hours}:{minutes:02}"),
        seconds => format!("{sign}{hours}:{minutes:02}:{seconds:02}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_by_their_format() {
        use NumberFormat::{Hours, Moment, Number};
        for (code, expected) in [
            ("yyyy-mm-dd", Moment),
            ("[$-407]d. mmm yyyy;@", Moment),
            ("hh:mm", Moment),
            ("[h]:mm", Hours),
            ("[HH]:mm:ss", Hours),
            ("[mm]:ss", Hours),
            ("[Red]0.00\" days\"", Number),
            ("0.0\\h", Number),
            ("0_d*y", Number),
            ("0\"h", Number),
            ("[", Number),
            ("[]0", Number),
            ("General", Number),
        ] {
            assert_eq!(NumberFormat::of(code), expected, "{code}");
        }
        for (format, days, expected) in [
            (Moment, 44_561.0, Some("2021-12-31")),
            (Moment, 44_561.5, Some("2021-12-31 12:00")),
            (Moment, 0.5, Some("12:00")),
            (Moment, -1.0, None),
            (Hours, 1.5625, Some("37:30")),
            (Hours, 0.0, Some("0:00")),
            (Hours, -0.0625, Some("-1:30")),
            (Hours, 90.0 / 86_400.0, Some("0:01:30")),
            (Hours, f64::INFINITY, None),
            (Hours, f64::NAN, None),
            (Number, 7.5, None),
        ] {
            assert_eq!(format.shown(days, false).as_deref(), expected, "{days}");
        }
        assert_eq!(Moment.shown(0.5, true).as_deref(), Some("12:00"));
        let styles = "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='0.0\\h'/></numFmts>\
            <cellXfs><xf numFmtId='46'/><xf numFmtId='164'/><xf numFmtId='14'/></cellXfs></styleSheet>";
        assert_eq!(of_styles(styles).unwrap(), [Hours, Number, Moment]);
    }
}
