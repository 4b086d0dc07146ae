//! Reads JSON lines, and CSV rows that may span lines, as JSON values.

mod csv_rows;
mod text_lines;

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use serde_json::Value;

use self::csv_rows::CsvParser;
use self::text_lines::TextLines;
use super::lines::{Line, too_long};
use super::record::{Rejection, SourceLocation};
use crate::extract::text::decoded;

pub(super) type Each<'a> = &'a mut dyn FnMut(Result<Value, Rejection>, u64) -> ControlFlow<()>;
pub(super) type Told<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// Maximum bytes of a JSON list, which is read into memory.
const MAX_LIST: u64 = 64 * 1024 * 1024;

/// Reads the values of a file of JSON lines, CSV or a JSON list, with the line at which each
/// begins; in a list, with its index.
pub(super) fn values(path: &Path, each: Each<'_>, told: Told<'_>) -> io::Result<ControlFlow<()>> {
    if has_extension(path, "json") && !is_json_lines(path)? {
        return list(path, each, told);
    }
    let mut lines = TextLines::open(path)?;
    let mut table = is_table(path).then(CsvParser::default);
    let mut bytes = 0;
    while let Some(line) = lines.next()? {
        let number = lines.number();
        let value = match (line, &mut table) {
            (Line::TooLong, _) => Some((Err(too_long()), number)),
            (Line::Text(line), None) => json_of(&line).map(|value| (value, number)),
            (Line::Text(line), Some(table)) => table.line(&line, number),
        };
        if let Some((value, number)) = value {
            let lacks_columns = table.as_ref().is_some_and(CsvParser::lacks_columns);
            let is_useless = value.is_err() && lacks_columns;
            let value = value.map_err(|reason| refused(path, number, reason, is_useless));
            if each(value, number).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            // Otherwise a row of values would name the columns.
            if is_useless {
                break;
            }
        }
        let read = lines.bytes() - bytes;
        bytes = lines.bytes();
        if told(read).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    if let Some((value, number)) = table.and_then(CsvParser::end) {
        let value = value.map_err(|reason| refused(path, number, reason, false));
        if each(value, number).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    // UTF-16 becomes shorter when it is decoded.
    Ok(told(lines.size.saturating_sub(bytes)))
}

fn refused(path: &Path, line: u64, mut reason: String, names_columns: bool) -> Rejection {
    if names_columns {
        reason.push_str("; it names the columns, so nothing of the file is read");
    }
    SourceLocation::line(path, line).refuse(reason)
}

/// Whether the first line is a complete record. A `.json` file is usually a single value.
fn is_json_lines(path: &Path) -> io::Result<bool> {
    let mut lines = TextLines::open(path)?;
    while let Some(line) = lines.next()? {
        if let Line::Text(line) = line
            && !line.iter().all(u8::is_ascii_whitespace)
        {
            let is_record = matches!(json_of(&line), Some(Ok(_)));
            // A single record is a settings file or the like, not a list.
            return Ok(is_record && lines.next()?.is_some());
        }
    }
    Ok(false)
}

/// Reads the records of a JSON list; nothing for other JSON.
fn list(path: &Path, each: Each<'_>, told: Told<'_>) -> io::Result<ControlFlow<()>> {
    let size = path.metadata()?.len();
    let refuse = |reason: String| Err(SourceLocation::file(path).refuse(reason));
    if size > MAX_LIST {
        let most = MAX_LIST >> 20;
        let reason =
            format!("a list in JSON of more than {most} MB; write a record a line, as .jsonl");
        return Ok(each(refuse(reason), 1));
    }
    let text = match decoded(&std::fs::read(path)?) {
        Ok(text) => text,
        Err(reason) => return Ok(each(refuse(reason), 1)),
    };
    let values = match serde_json::from_str::<Value>(&text) {
        Ok(Value::Array(values)) => values,
        Ok(_other) => return Ok(told(size)),
        Err(error) => return Ok(each(refuse(format!("it is no JSON: {error}")), 1)),
    };
    for (at, value) in values.into_iter().enumerate() {
        let place = at as u64 + 1;
        let value = match value {
            Value::Object(_) => Ok(value),
            _other => Err(SourceLocation::line(path, place).refuse("it is no JSON object")),
        };
        if each(value, place).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(told(size))
}

/// Parses a line; `None` for a blank one.
fn json_of(line: &[u8]) -> Option<Result<Value, String>> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    Some(match serde_json::from_slice::<Value>(line) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_other) => Err("it is no JSON object".to_owned()),
        Err(error) => Err(format!("it is no JSON: {error}")),
    })
}

pub(super) fn is_table(path: &Path) -> bool {
    has_extension(path, "csv")
}

fn has_extension(path: &Path, sought: &str) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case(sought))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the values of a file, and the reasons for refusing others.
    fn read(name: &str, bytes: &[u8]) -> (Vec<Value>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let (mut taken, mut refused, mut read) = (Vec::new(), Vec::new(), 0);
        let each = &mut |value: Result<Value, Rejection>, _number| {
            match value {
                Ok(value) => taken.push(value),
                Err(rejection) => refused.push(rejection.reason),
            }
            ControlFlow::Continue(())
        };
        let told = &mut |bytes| {
            read += bytes;
            ControlFlow::Continue(())
        };
        let flow = values(&path, each, told).unwrap();
        assert!(flow.is_continue());
        assert!(read >= bytes.len() as u64, "{read} of {}", bytes.len());
        (taken, refused)
    }

    #[test]
    fn text_is_read_in_any_encoding() {
        let rows = "id,größe,wer\n1,5 m,Ada\n2,groß,Jürgen Müßig\n";
        let expected = [
            json!({"id": "1", "größe": "5 m", "wer": "Ada"}),
            json!({"id": "2", "größe": "groß", "wer": "Jürgen Müßig"}),
        ];
        let lines = "{\"a\": \"Grüße\"}\n{\"a\": \"schön\"}\n";
        let list = "[{\"a\": \"Grüße\"}, {\"a\": \"schön\"}]";
        let expected_lines = [json!({"a": "Grüße"}), json!({"a": "schön"})];
        let (latin, _, _) = encoding_rs::WINDOWS_1252.encode(rows);
        let (latin_lines, _, _) = encoding_rs::WINDOWS_1252.encode(lines);
        let (latin_list, _, _) = encoding_rs::WINDOWS_1252.encode(list);
        let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            units.flat_map(bytes).collect()
        };
        for (name, bytes, expected) in [
            ("a.csv", rows.as_bytes().to_vec(), &expected),
            (
                "a.csv",
                [b"\xef\xbb\xbf", rows.as_bytes()].concat(),
                &expected,
            ),
            ("a.csv", latin.to_vec(), &expected),
            ("a.csv", utf16(rows, u16::to_le_bytes), &expected),
            ("a.csv", utf16(rows, u16::to_be_bytes), &expected),
            ("a.jsonl", latin_lines.to_vec(), &expected_lines),
            ("a.jsonl", utf16(lines, u16::to_le_bytes), &expected_lines),
            ("a.json", latin_list.to_vec(), &expected_lines),
            ("a.json", utf16(list, u16::to_le_bytes), &expected_lines),
        ] {
            let (taken, refused) = read(name, &bytes);
            assert_eq!(taken, expected, "{name} {bytes:?}");
            assert_eq!(refused, [""; 0], "{name}");
        }
    }

    #[test]
    fn the_encoding_may_show_late_and_a_broken_line_changes_it_for_none() {
        let plain = "7,x\n".repeat(text_lines::BUFFER / 4);
        let late = [b"id,name\n", plain.as_bytes(), b"8,K\xf6ln und D\xfcren\n"].concat();
        let (taken, refused) = read("a.csv", &late);
        assert_eq!(taken.last().unwrap()["name"], "Köln und Düren");
        assert_eq!(refused, [""; 0]);
        let broken = [
            "id,name\n1,Köln\n".as_bytes(),
            b"2,D\xfcren\n",
            "3,Düren\n4,Jülich\n".as_bytes(),
        ];
        let (taken, refused) = read("a.csv", &broken.concat());
        assert_eq!(taken.len(), 3);
        assert_eq!(taken[0]["name"], "Köln");
        assert!(refused[0].contains("no CSV"), "{refused:?}");
    }

    #[test]
    fn a_long_first_line_and_a_broken_one_do_not_change_the_encoding() {
        let long = "日本の港。 ".repeat(20_000);
        let lines = format!("{{\"a\": {long:?}}}\n{{\"a\": \"Köln und 東京\"}}\n");
        let (taken, refused) = read("a.jsonl", lines.as_bytes());
        assert_eq!(taken, [json!({"a": long}), json!({"a": "Köln und 東京"})]);
        assert_eq!(refused, [""; 0]);
        let one_of_two = ["id,name\n1,Köln\n".as_bytes(), b"2,D\xfcren\n"];
        let (taken, refused) = read("a.csv", &one_of_two.concat());
        assert_eq!(taken[0]["name"], "Köln");
        assert!(refused[0].contains("no CSV"), "{refused:?}");
    }

    #[test]
    fn no_row_of_values_names_the_columns() {
        let (taken, refused) = read("a.csv", b"id,na\rme\n1,x\n2,y\n");
        assert!(taken.is_empty(), "{taken:?}");
        assert!(
            refused.len() == 1 && refused[0].contains("it names the columns"),
            "{refused:?}"
        );
    }
}
