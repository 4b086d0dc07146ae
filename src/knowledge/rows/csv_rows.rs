//! Assembles the rows of CSV from lines.

use serde_json::{Map, Value};

use crate::knowledge::lines::MAX_LINE;
use crate::knowledge::numbered::numbered;

/// What separates fields. Programs in German, French or Spanish write semicolons, as the comma is
/// in their numbers. Of two that are as frequent, the latter counts.
const SEPARATORS: [u8; 3] = [b'\t', b';', b','];

/// Rows of CSV, assembled from lines: a quoted field may contain line ends.
#[derive(Debug, Default)]
pub(super) struct CsvParser {
    /// That of a line `sep=;`, or the most frequent one of the first line until the second row is read.
    separator: Option<u8>,
    columns: Option<Vec<String>>,
    /// The row that names the columns, while its separator is a guess.
    header: Option<Vec<u8>>,
    /// Whether a line `sep=;` tells the separator.
    is_told: bool,
    row: Vec<u8>,
    place: FieldPlace,
    begun: u64,
}

pub(super) type Numbered = (Result<Value, String>, u64);

/// Where in a field the row ends so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FieldPlace {
    #[default]
    Start,
    /// In a field without quotes, or behind the closing one: here a quote is a letter, such as the
    /// sign for inches.
    Plain,
    Quoted,
    /// Behind a quote in a quoted field, which ends the field or is the first of two.
    AfterQuote,
}

impl FieldPlace {
    /// Returns the place behind a byte, by the rules of the `csv` crate.
    fn behind(self, byte: u8, separator: u8) -> Self {
        match (self, byte) {
            (Self::Quoted, b'"') => Self::AfterQuote,
            (Self::Quoted, _) | (Self::Start | Self::AfterQuote, b'"') => Self::Quoted,
            (Self::Start | Self::Plain | Self::AfterQuote, b'\n' | b'\r') => Self::Start,
            (Self::Start | Self::Plain | Self::AfterQuote, byte) if byte == separator => {
                Self::Start
            }
            (Self::Start | Self::Plain | Self::AfterQuote, _) => Self::Plain,
        }
    }
}

impl CsvParser {
    /// Whether no row has named the columns yet.
    pub(super) fn lacks_columns(&self) -> bool {
        self.columns.is_none()
    }

    pub(super) fn line(&mut self, line: &[u8], number: u64) -> Option<Numbered> {
        if self.row.is_empty() {
            if line.iter().all(u8::is_ascii_whitespace) {
                return None;
            }
            if let (None, Some(told)) = (self.separator, told_separator(line)) {
                self.separator = Some(told);
                self.is_told = true;
                return None;
            }
            self.begun = number;
        } else {
            self.row.push(b'\n');
        }
        self.row.extend_from_slice(line);
        let separator = *self.separator.get_or_insert_with(|| separator_of(line));
        let behind = |at: FieldPlace, byte: &u8| at.behind(*byte, separator);
        let place = line.iter().fold(self.place, behind);
        self.place = place;
        if place == FieldPlace::Quoted {
            if self.row.len() <= MAX_LINE {
                return None;
            }
            self.start_anew();
            return Some((Err("a quoted field has no end".to_owned()), self.begun));
        }
        self.finish()
    }

    pub(super) fn end(mut self) -> Option<Numbered> {
        if self.row.is_empty() {
            return None;
        }
        self.start_anew();
        Some((Err("a quoted field has no end".to_owned()), self.begun))
    }

    fn start_anew(&mut self) -> Vec<u8> {
        self.place = FieldPlace::Start;
        std::mem::take(&mut self.row)
    }

    /// Names the columns again if the second row shows that another separator was meant.
    fn read_anew(&mut self, header: &[u8], row: &[u8]) {
        let separator = separator_of_both(header, row);
        let meant = separator.filter(|_| self.separator != separator);
        if let Some(separator) = meant
            && let Ok(columns) = fields(header, separator)
        {
            self.separator = Some(separator);
            self.columns = Some(numbered(columns));
        }
    }

    fn finish(&mut self) -> Option<Numbered> {
        let row = self.start_anew();
        if let Some(header) = self.header.take() {
            self.read_anew(&header, &row);
        }
        let fields = fields(&row, self.separator.unwrap_or(b','));
        let Some(columns) = &self.columns else {
            return match fields {
                Ok(columns) => {
                    self.columns = Some(numbered(columns));
                    self.header = (!self.is_told).then_some(row);
                    None
                }
                Err(problem) => Some((Err(problem), self.begun)),
            };
        };
        let value = fields.and_then(|fields| {
            if fields.len() != columns.len() {
                return Err(format!(
                    "it has {} fields where the first line names {}",
                    fields.len(),
                    columns.len()
                ));
            }
            let pairs = columns
                .iter()
                .cloned()
                .zip(fields.into_iter().map(Value::from));
            Ok(Value::Object(pairs.collect::<Map<String, Value>>()))
        });
        Some((value, self.begun))
    }
}

/// Returns the separator of Excel's first line, `sep=;`, which names no columns.
fn told_separator(line: &[u8]) -> Option<u8> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.strip_prefix(b"sep=") {
        Some([separator]) if !separator.is_ascii_alphanumeric() && *separator != b'"' => {
            Some(*separator)
        }
        _other => None,
    }
}

/// Returns the separator by which both rows have as many fields, more than one; `None` if that is true of
/// none or of several.
fn separator_of_both(header: &[u8], row: &[u8]) -> Option<u8> {
    let count = |row: &[u8], separator: u8| fields(row, separator).map_or(0, |all| all.len());
    let mut fitting = SEPARATORS.into_iter().filter(|separator| {
        let named = count(header, *separator);
        named > 1 && named == count(row, *separator)
    });
    let first = fitting.next();
    first.filter(|_| fitting.next().is_none())
}

/// Returns the most frequent separator outside quotes.
fn separator_of(line: &[u8]) -> u8 {
    let count = |separator: &u8| {
        let mut place = FieldPlace::Start;
        let ends = line.iter().filter(|byte| {
            let is_end = **byte == *separator && place != FieldPlace::Quoted;
            place = place.behind(**byte, *separator);
            is_end
        });
        ends.count()
    };
    let most = SEPARATORS.into_iter().max_by_key(count);
    most.unwrap_or(b',')
}

fn fields(row: &[u8], separator: u8) -> Result<Vec<String>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(row);
    let mut records = reader.records();
    match (records.next(), records.next()) {
        (Some(Ok(record)), None) => Ok(record.iter().map(str::to_owned).collect()),
        (Some(Ok(_)), Some(_)) => Err("it is no CSV: a row ends within its line".to_owned()),
        (Some(Err(error)), _) => Err(format!("it is no CSV: {error}")),
        (None, _) => Err("it is no CSV".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Vec<Numbered> {
        let mut table = CsvParser::default();
        let mut rows = Vec::new();
        for (at, line) in text.lines().enumerate() {
            rows.extend(table.line(line.as_bytes(), at as u64 + 1));
        }
        rows.extend(table.end());
        rows
    }

    #[test]
    fn rows_may_hold_line_ends_and_bad_ones_are_told() {
        let rows = table("id,text\n1,\"a\nb \"\"c\"\"\"\n\n2\n3,x\n4,\"open\n");
        assert_eq!(
            rows[0].0,
            Ok(serde_json::json!({"id": "1", "text": "a\nb \"c\""}))
        );
        assert_eq!(rows[0].1, 2);
        assert!(
            rows[1].0.as_ref().unwrap_err().contains("1 fields where"),
            "{rows:?}"
        );
        assert_eq!(rows[2].1, 6);
        assert!(
            rows[3].0.as_ref().unwrap_err().contains("no end"),
            "{rows:?}"
        );
    }
    #[test]
    fn a_quote_within_a_field_is_a_letter() {
        let pipes = "id,text\n1,5\" pipe\n2,plain\n3,7\" pipe\n4,x\n";
        let expected = [
            ("1", "5\" pipe"),
            ("2", "plain"),
            ("3", "7\" pipe"),
            ("4", "x"),
        ];
        let rows = table(pipes);
        let taken: Vec<Value> = rows.into_iter().map(|(row, _)| row.unwrap()).collect();
        let expected = expected.map(|(id, text)| serde_json::json!({"id": id, "text": text}));
        assert_eq!(taken, expected);
    }

    #[test]
    fn the_first_line_tells_what_separates_fields() {
        for (header, separator) in [
            ("id,name", b','),
            ("id;name;about", b';'),
            ("id\tname", b'\t'),
            ("id;name;price, net", b';'),
            ("id,name;alias", b','),
            ("\"a;b;c\",name", b','),
            ("name", b','),
            ("", b','),
        ] {
            assert_eq!(separator_of(header.as_bytes()), separator, "{header}");
        }
        for separator in [";", "\t"] {
            let text = "id;name;about\n1;Ann;Runs the harbour, every day\n2;\"B;\nC\";5,20\n";
            let rows = table(&text.replace(';', separator));
            let rows: Vec<Value> = rows.into_iter().map(|(row, _)| row.unwrap()).collect();
            let of = |id: &str, name: &str, about: &str| serde_json::json!({"id": id, "name": name, "about": about});
            let second = format!("B{separator}\nC");
            let expected = [
                of("1", "Ann", "Runs the harbour, every day"),
                of("2", &second, "5,20"),
            ];
            assert_eq!(rows, expected);
        }
    }

    #[test]
    fn the_second_row_tells_what_separates_fields_where_the_first_line_is_unclear() {
        for (text, expected) in [
            (
                "id,name (a;b;c;d),about\n1,Ann,Runs the harbour\n2,Bo;x;y,\"Sails;\nrows\"\n",
                &[
                    serde_json::json!({"id": "1", "name (a;b;c;d)": "Ann", "about": "Runs the harbour"}),
                    serde_json::json!({"id": "2", "name (a;b;c;d)": "Bo;x;y", "about": "Sails;\nrows"}),
                ][..],
            ),
            (
                "name;about, in short, and, more\nAnn;Runs the harbour\n",
                &[
                    serde_json::json!({"name": "Ann", "about, in short, and, more": "Runs the harbour"}),
                ],
            ),
            // Both have as many fields by commas and by semicolons.
            (
                "id;name;price, net\n1;Ann;5,20\n",
                &[serde_json::json!({"id": "1", "name": "Ann", "price, net": "5,20"})],
            ),
            (
                "sep=;\nid;a,b,c,d\n1;2\n",
                &[serde_json::json!({"id": "1", "a,b,c,d": "2"})],
            ),
            (
                "sep=|\nid|name\n1|Ann\n",
                &[serde_json::json!({"id": "1", "name": "Ann"})],
            ),
        ] {
            let rows: Vec<Value> = table(text)
                .into_iter()
                .map(|(row, _)| row.unwrap())
                .collect();
            assert_eq!(rows, expected, "{text}");
        }
    }

    #[test]
    fn columns_of_one_name_are_numbered() {
        for (header, expected) in [
            ("id,note,note,note", ["id", "note", "note_2", "note_3"]),
            ("note,note,note_2,id", ["note", "note_3", "note_2", "id"]),
            ("id,note,,", ["id", "note", "", "_2"]),
        ] {
            let columns = header.split(',').map(str::to_owned).collect();
            assert_eq!(numbered(columns), expected, "{header}");
        }
        let rows = table("id,note,note\n1,first,second\n");
        let expected = serde_json::json!({"id": "1", "note": "first", "note_2": "second"});
        assert_eq!(rows[0].0, Ok(expected));
    }

    #[test]
    fn a_line_with_two_rows_is_refused() {
        let rows = table("id,text\n1,a\r2,b\n3,c\n");
        assert!(rows[0].0.as_ref().unwrap_err().contains("within its line"));
        assert_eq!(rows[1].0, Ok(serde_json::json!({"id": "3", "text": "c"})));
    }

    proptest::proptest! {
        /// A row is complete exactly where the reader takes the next line as another row.
        #[test]
        fn rows_end_where_the_reader_ends_them(
            text in "[a\",\n]{0,30}",
            // A line of tabs alone counts as blank.
            separator in proptest::sample::select(&[b',', b';'][..]),
        ) {
            let text = text.replace(',', &char::from(separator).to_string());
            let mut reader = csv::ReaderBuilder::new()
                .delimiter(separator)
                .has_headers(false)
                .flexible(true)
                .from_reader(text.as_bytes());
            let read: Vec<Vec<String>> = reader
                .records()
                .map(|row| numbered(row.unwrap().iter().map(str::to_owned).collect()))
                .collect();
            let mut parser = CsvParser {
                separator: Some(separator),
                ..CsvParser::default()
            };
            let mut own: Vec<Vec<String>> = Vec::new();
            for line in text.lines() {
                let _row = parser.line(line.as_bytes(), 1);
                own.extend(parser.columns.take());
            }
            // The last row may be open, which only the reader closes.
            proptest::prop_assert!(read.starts_with(&own), "{own:?} {read:?}");
            proptest::prop_assert!(read.len() <= own.len() + 1, "{own:?} {read:?}");
        }
    }
}
