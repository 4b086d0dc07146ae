//! Reads JSON lines, and CSV rows that may span lines, as JSON values.

use std::fs::File;
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

use serde_json::{Map, Value};

use super::lines::{Line, Lines, MAX_LINE, too_long};
use super::record::{Rejection, SourceLocation};

/// Buffer size in bytes.
const BUFFER: usize = 256 * 1024;

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
    let mut lines = Lines::new(
        BufReader::with_capacity(BUFFER, File::open(path)?),
        MAX_LINE,
    );
    let mut table = is_table(path).then(CsvParser::default);
    let mut bytes = 0;
    while let Some(line) = lines.next()? {
        let number = lines.number;
        let value = match (line, &mut table) {
            (Line::TooLong, _) => Some((Err(too_long()), number)),
            (Line::Text(line), None) => json_of(&line).map(|value| (value, number)),
            (Line::Text(line), Some(table)) => table.line(&line, number),
        };
        if let Some((value, number)) = value {
            let value = value.map_err(|reason| SourceLocation::line(path, number).refuse(reason));
            if each(value, number).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let read = lines.bytes - bytes;
        bytes = lines.bytes;
        if told(read).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    if let Some((value, number)) = table.and_then(CsvParser::end) {
        let value = value.map_err(|reason| SourceLocation::line(path, number).refuse(reason));
        return Ok(each(value, number));
    }
    Ok(ControlFlow::Continue(()))
}

/// Whether the first line is a complete record. A `.json` file is usually a single value.
fn is_json_lines(path: &Path) -> io::Result<bool> {
    let mut lines = Lines::new(BufReader::new(File::open(path)?), MAX_LINE);
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
    let read = serde_json::from_slice::<Value>(&std::fs::read(path)?);
    let values = match read {
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

/// Rows of CSV, assembled from lines: a quoted field may contain line ends.
#[derive(Debug, Default)]
struct CsvParser {
    columns: Option<Vec<String>>,
    row: Vec<u8>,
    quotes: usize,
    begun: u64,
}

type Numbered = (Result<Value, String>, u64);

impl CsvParser {
    fn line(&mut self, line: &[u8], number: u64) -> Option<Numbered> {
        if self.row.is_empty() {
            if line.iter().all(u8::is_ascii_whitespace) {
                return None;
            }
            self.begun = number;
        } else {
            self.row.push(b'\n');
        }
        self.row.extend_from_slice(line);
        self.quotes += line.iter().filter(|byte| **byte == b'"').count();
        if self.quotes % 2 == 1 {
            if self.row.len() <= MAX_LINE {
                return None;
            }
            self.start_anew();
            return Some((Err("a quoted field has no end".to_owned()), self.begun));
        }
        self.finish()
    }

    fn end(mut self) -> Option<Numbered> {
        if self.row.is_empty() {
            return None;
        }
        self.start_anew();
        Some((Err("a quoted field has no end".to_owned()), self.begun))
    }

    fn start_anew(&mut self) -> Vec<u8> {
        self.quotes = 0;
        std::mem::take(&mut self.row)
    }

    fn finish(&mut self) -> Option<Numbered> {
        let row = self.start_anew();
        let fields = fields(&row);
        let Some(columns) = &self.columns else {
            return match fields {
                Ok(columns) => {
                    self.columns = Some(columns);
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

fn fields(row: &[u8]) -> Result<Vec<String>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(row);
    let mut records = reader.records();
    match records.next() {
        Some(Ok(record)) => Ok(record.iter().map(str::to_owned).collect()),
        Some(Err(error)) => Err(format!("it is no CSV: {error}")),
        None => Err("it is no CSV".to_owned()),
    }
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
}
