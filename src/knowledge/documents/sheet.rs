//! Converts an Excel workbook: one section per sheet, one line per row.

use std::collections::HashMap;

use chrono::{Duration, NaiveDate};

use super::office::{Marked, core_properties};
use super::package::{Package, Xml, walk};

/// Maximum cells of a workbook; a larger one is refused.
const MAX_CELLS: usize = 500_000;

/// Characters kept of a cell.
const CELL: usize = 2_000;

/// Converts a workbook. Each row is written with the column names of the first row, so that it can
/// be read alone. Cells are read one by one: a sheet with a single cell far away stays small.
///
/// # Errors
/// Fails with the reason, in words.
pub(super) fn of_xlsx(bytes: Vec<u8>) -> Result<Marked, String> {
    let mut package = Package::open(bytes)?;
    let workbook = package.needed("xl/workbook.xml")?;
    let relations = package.needed("xl/_rels/workbook.xml.rels")?;
    let strings = package.text("xl/sharedStrings.xml")?.unwrap_or_default();
    let styles = package.text("xl/styles.xml")?.unwrap_or_default();
    let book = Book {
        strings: shared_strings(&strings)?,
        dates: date_styles(&styles)?,
    };
    let targets = targets(&relations)?;
    let (mut markdown, mut left) = (String::new(), MAX_CELLS);
    for (name, relation) in sheets(&workbook)? {
        let Some(target) = targets.get(&relation) else {
            continue;
        };
        if let Some(xml) = package.text(target)? {
            book.sheet(&xml, &mut left)?.finish(&name, &mut markdown);
        }
    }
    Ok((core_properties(&mut package)?, markdown))
}

/// Returns the sheets: name, and the id that finds the file.
fn sheets(workbook: &str) -> Result<Vec<(String, String)>, String> {
    let mut sheets = Vec::new();
    walk(workbook, &mut |event| {
        if let Xml::Open("sheet", of) = event
            && let (Some(name), Some(id)) = (of.get("name"), of.get("id"))
        {
            sheets.push((name, id));
        }
    })?;
    Ok(sheets)
}

fn targets(relations: &str) -> Result<HashMap<String, String>, String> {
    let mut targets = HashMap::new();
    walk(relations, &mut |event| {
        if let Xml::Open("Relationship", of) = event
            && let (Some(id), Some(target)) = (of.get("Id"), of.get("Target"))
        {
            let target = match target.strip_prefix('/') {
                Some(whole) => whole.to_owned(),
                None => format!("xl/{target}"),
            };
            targets.insert(id, target);
        }
    })?;
    Ok(targets)
}

/// Returns the texts that cells refer to by number.
fn shared_strings(xml: &str) -> Result<Vec<String>, String> {
    let mut strings: Vec<String> = Vec::new();
    let (mut is_text, mut is_reading_aid) = (false, false);
    walk(xml, &mut |event| match event {
        Xml::Open("si", _) => strings.push(String::new()),
        Xml::Open("t", _) => is_text = true,
        Xml::Close("t") => is_text = false,
        // Pronunciation help.
        Xml::Open("rPh", _) => is_reading_aid = true,
        Xml::Close("rPh") => is_reading_aid = false,
        Xml::Text(text) if is_text && !is_reading_aid => {
            if let Some(string) = strings.last_mut() {
                string.push_str(text);
            }
        }
        Xml::Open(..) | Xml::Close(_) | Xml::Text(_) => {}
    })?;
    Ok(strings)
}

/// Returns for each cell style whether it shows a number as a date.
fn date_styles(xml: &str) -> Result<Vec<bool>, String> {
    let mut own: HashMap<String, bool> = HashMap::new();
    let (mut dates, mut is_cells) = (Vec::new(), false);
    walk(xml, &mut |event| match event {
        Xml::Open("numFmt", of) => {
            let code = of.get("formatCode").unwrap_or_default();
            own.insert(
                of.get("numFmtId").unwrap_or_default(),
                is_date_format(&code),
            );
        }
        Xml::Open("cellXfs", _) => is_cells = true,
        Xml::Close("cellXfs") => is_cells = false,
        Xml::Open("xf", of) if is_cells => {
            let id = of.get("numFmtId").unwrap_or_default();
            let number: u32 = id.parse().unwrap_or_default();
            let is_built_in = (14..=22).contains(&number) || (45..=47).contains(&number);
            dates.push(own.get(&id).copied().unwrap_or(is_built_in));
        }
        Xml::Open(..) | Xml::Close(_) | Xml::Text(_) => {}
    })?;
    Ok(dates)
}

/// Whether a number format is a date: `yyyy-mm-dd` is one, `[Red]0.00" days"` is not.
fn is_date_format(code: &str) -> bool {
    let (mut is_quoted, mut is_bracketed) = (false, false);
    code.chars().any(|c| {
        match c {
            '"' => is_quoted = !is_quoted,
            '[' => is_bracketed = true,
            ']' => is_bracketed = false,
            _other => {}
        }
        !is_quoted && !is_bracketed && matches!(c.to_ascii_lowercase(), 'y' | 'd' | 'h')
    })
}

/// What is needed to interpret cells.
struct Book {
    strings: Vec<String>,
    dates: Vec<bool>,
}

impl Book {
    fn sheet(&self, xml: &str, left: &mut usize) -> Result<Sheet, String> {
        let mut sheet = Sheet::default();
        let mut is_text = false;
        let (mut kind, mut style, mut said) = (String::new(), 0_usize, String::new());
        let (mut row, mut column, mut too_many) = (0_u32, 0_u32, false);
        walk(xml, &mut |event| match event {
            Xml::Open("row", of) => {
                row = of
                    .get("r")
                    .and_then(|it| it.parse().ok())
                    .unwrap_or(row + 1);
                column = 0;
            }
            Xml::Open("c", of) => {
                column = of
                    .get("r")
                    .and_then(|it| column_of(&it))
                    .unwrap_or(column + 1);
                kind = of.get("t").unwrap_or_default();
                style = of
                    .get("s")
                    .and_then(|it| it.parse().ok())
                    .unwrap_or_default();
                said.clear();
            }
            Xml::Open("v" | "t", _) => is_text = true,
            Xml::Close("v" | "t") => is_text = false,
            Xml::Text(text) if is_text => said.push_str(text),
            Xml::Close("c") if *left > 0 => {
                *left -= 1;
                sheet.add(row, column, &self.shown(&kind, style, &said));
            }
            Xml::Close("c") => too_many = true,
            Xml::Open(..) | Xml::Close(_) | Xml::Text(_) => {}
        })?;
        if too_many {
            return Err(format!(
                "it has more than {MAX_CELLS} cells; save the sheets as .csv"
            ));
        }
        Ok(sheet)
    }

    fn shown(&self, kind: &str, style: usize, said: &str) -> String {
        match kind {
            "s" => {
                let string = said.trim().parse::<usize>().ok();
                string
                    .and_then(|at| self.strings.get(at))
                    .cloned()
                    .unwrap_or_default()
            }
            "b" => if said.trim() == "1" { "yes" } else { "no" }.to_owned(),
            "e" => String::new(),
            "str" | "inlineStr" | "d" => said.to_owned(),
            _number => {
                let is_date = self.dates.get(style).copied().unwrap_or(false);
                let moment = said.trim().parse::<f64>().ok().filter(|_| is_date);
                moment
                    .and_then(moment_of)
                    .unwrap_or_else(|| said.to_owned())
            }
        }
    }
}

/// Returns the column of a cell: `BC12` is in column 55.
fn column_of(place: &str) -> Option<u32> {
    let letters = place.bytes().take_while(u8::is_ascii_alphabetic);
    let number =
        |column: u32, letter: u8| column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1;
    let column = letters.take(4).fold(0, number);
    (column > 0).then_some(column)
}

/// Converts days since the end of 1899 to text.
fn moment_of(days: f64) -> Option<String> {
    if !(0.0..2_958_466.0).contains(&days) {
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

/// The rows of a sheet, in order.
#[derive(Debug, Default)]
struct Sheet {
    rows: Vec<(u32, Vec<(u32, String)>)>,
}

impl Sheet {
    fn add(&mut self, row: u32, column: u32, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return;
        }
        let text: String = text.chars().take(CELL).collect();
        match self.rows.last_mut() {
            Some((at, cells)) if *at == row => cells.push((column, text)),
            Some(_) | None => self.rows.push((row, vec![(column, text)])),
        }
    }

    /// Writes the sheet. The first row with at least two cells names the columns; rows above it are
    /// text.
    fn finish(self, name: &str, markdown: &mut String) {
        if self.rows.is_empty() {
            return;
        }
        markdown.push_str(&format!("\n## {name}\n\n"));
        let head = self.rows.iter().position(|(_, cells)| cells.len() > 1);
        let named = head
            .map(|head| self.rows[head].1.clone())
            .unwrap_or_default();
        for (at, (_, cells)) in self.rows.iter().enumerate() {
            if Some(at) == head && self.rows.len() > at + 1 {
                continue;
            }
            let is_below = head.is_some_and(|head| at > head);
            let cell = |(column, text): &(u32, String)| {
                let title = named
                    .iter()
                    .find(|(own, _)| own == column)
                    .filter(|_| is_below);
                title.map_or_else(|| text.clone(), |(_, title)| format!("{title}: {text}"))
            };
            let cells: Vec<String> = cells.iter().map(cell).collect();
            markdown.push_str(&format!("{}\n\n", cells.join("; ")));
        }
    }
}
