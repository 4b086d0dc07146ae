//! Converts an Excel workbook: one section per sheet, one line per row.

mod formats;

use std::borrow::Cow;
use std::collections::HashMap;

use self::formats::NumberFormat;
use super::office::{Marked, core_properties};
use super::package::{Package, Xml, walk};

/// Maximum cells of a workbook; a larger one is refused.
const MAX_CELLS: usize = 500_000;

/// Maximum bytes of a workbook's text, as of any document; one with more is refused. Cells may refer
/// to the same text, so a small file can have much.
const MAX_TEXT: usize = 32 * 1024 * 1024;

/// Characters kept of a cell.
pub(super) const CELL: usize = 2_000;

/// Converts a workbook. Each row is written with the column names of the first row, so that it can
/// be read alone. Cells are read one by one: a sheet with a single cell far away stays small. Also
/// returns how many cells were cut.
///
/// # Errors
/// Fails with the reason, in words.
pub(super) fn of_xlsx(bytes: Vec<u8>) -> Result<(Marked, usize), String> {
    let mut package = Package::open(bytes)?;
    let workbook = package.needed("xl/workbook.xml")?;
    let relations = package.needed("xl/_rels/workbook.xml.rels")?;
    let strings = package.text("xl/sharedStrings.xml")?.unwrap_or_default();
    let styles = package.text("xl/styles.xml")?.unwrap_or_default();
    let book = Book {
        strings: shared_strings(&strings)?,
        formats: formats::of_styles(&styles)?,
        is_since_1904: is_since_1904(&workbook)?,
    };
    let targets = targets(&relations)?;
    let (mut markdown, mut left, mut cut) = (String::new(), Left::default(), 0_usize);
    for (name, relation) in sheets(&workbook)? {
        let Some(target) = targets.get(&relation) else {
            continue;
        };
        if let Some(xml) = package.text(target)? {
            let sheet = book.sheet(&xml, &mut left)?;
            cut += sheet.cut;
            sheet.finish(&name, &mut markdown, MAX_TEXT)?;
        }
    }
    Ok(((core_properties(&mut package)?, markdown), cut))
}

/// Whether days are counted from 1904, as Excel for Mac did.
fn is_since_1904(workbook: &str) -> Result<bool, String> {
    let mut is_since_1904 = false;
    walk(workbook, &mut |event| {
        if let Xml::Open("workbookPr", of) = event {
            let value = of.get("date1904").unwrap_or_default();
            is_since_1904 = matches!(value.as_str(), "1" | "true" | "on");
        }
    })?;
    Ok(is_since_1904)
}

/// Returns the sheets: name, and the id that finds the file. Hidden ones are left out, as hidden parts
/// of a web page are: whoever opens the workbook does not see them.
fn sheets(workbook: &str) -> Result<Vec<(String, String)>, String> {
    let mut sheets = Vec::new();
    walk(workbook, &mut |event| {
        if let Xml::Open("sheet", of) = event
            && let (Some(name), Some(id)) = (of.get("name"), of.get("id"))
            && of.get("state").is_none_or(|state| state == "visible")
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

/// What a workbook may still have.
#[derive(Debug)]
struct Left {
    cells: usize,
    text: usize,
}

impl Default for Left {
    fn default() -> Self {
        Self {
            cells: MAX_CELLS,
            text: MAX_TEXT,
        }
    }
}

fn too_much_text() -> String {
    let most = MAX_TEXT >> 20;
    format!("it has more than {most} MB of text; save the sheets as .csv")
}

/// A text as far as a cell keeps it, and one character more if it has more, with single blanks.
#[derive(Debug, Default)]
struct CellText {
    text: String,
    chars: usize,
}

impl CellText {
    fn push(&mut self, text: &str) {
        for c in text.chars() {
            if self.chars > CELL {
                return;
            }
            let is_blank = c.is_whitespace();
            if is_blank && (self.text.is_empty() || self.text.ends_with(' ')) {
                continue;
            }
            self.text.push(if is_blank { ' ' } else { c });
            self.chars += 1;
        }
    }
}

/// Returns the texts that cells refer to by number.
fn shared_strings(xml: &str) -> Result<Vec<String>, String> {
    let mut strings: Vec<CellText> = Vec::new();
    let (mut is_text, mut is_reading_aid) = (false, false);
    walk(xml, &mut |event| match event {
        Xml::Open("si", _) => strings.push(CellText::default()),
        Xml::Open("t", _) => is_text = true,
        Xml::Close("t") => is_text = false,
        // Pronunciation help.
        Xml::Open("rPh", _) => is_reading_aid = true,
        Xml::Close("rPh") => is_reading_aid = false,
        Xml::Text(text) if is_text && !is_reading_aid => {
            if let Some(string) = strings.last_mut() {
                string.push(text);
            }
        }
        Xml::Open(..) | Xml::Close(_) | Xml::Text(_) => {}
    })?;
    Ok(strings.into_iter().map(|string| string.text).collect())
}

/// What is needed to interpret cells.
struct Book {
    strings: Vec<String>,
    /// By style.
    formats: Vec<NumberFormat>,
    is_since_1904: bool,
}

impl Book {
    fn sheet(&self, xml: &str, left: &mut Left) -> Result<Sheet, String> {
        let mut sheet = Sheet::default();
        let mut is_text = false;
        let (mut kind, mut style, mut said) = (String::new(), 0_usize, String::new());
        let (mut row, mut column, mut is_too_much) = (0_u32, 0_u32, false);
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
            Xml::Close("c") if left.cells > 0 && left.text > 0 => {
                left.cells -= 1;
                let added = sheet.add(row, column, &self.shown(&kind, style, &said));
                left.text = left.text.saturating_sub(added);
            }
            Xml::Close("c") => is_too_much = true,
            Xml::Open(..) | Xml::Close(_) | Xml::Text(_) => {}
        })?;
        if is_too_much && left.text == 0 {
            return Err(too_much_text());
        }
        if is_too_much {
            return Err(format!(
                "it has more than {MAX_CELLS} cells; save the sheets as .csv"
            ));
        }
        Ok(sheet)
    }

    fn shown<'a>(&'a self, kind: &str, style: usize, said: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(match kind {
            "s" => {
                let string = said.trim().parse::<usize>().ok();
                string
                    .and_then(|at| self.strings.get(at))
                    .map_or("", |it| it)
            }
            "b" if said.trim() == "1" => "yes",
            "b" => "no",
            "e" => "",
            "str" | "inlineStr" | "d" => said,
            _number => {
                let format = self.formats.get(style).copied().unwrap_or_default();
                let number = said.trim().parse::<f64>().ok();
                let shown = number.and_then(|number| format.shown(number, self.is_since_1904));
                return shown.map_or(Cow::Borrowed(said), Cow::Owned);
            }
        })
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

/// The rows of a sheet, in order.
#[derive(Debug, Default)]
struct Sheet {
    rows: Vec<(u32, Vec<(u32, String)>)>,
    /// The number of cells that were cut.
    cut: usize,
}

impl Sheet {
    /// Adds a cell; returns how many bytes of text it has.
    fn add(&mut self, row: u32, column: u32, text: &str) -> usize {
        let mut cell = CellText::default();
        cell.push(text);
        let mut text = cell.text.trim_end().to_owned();
        if let Some((end, _)) = text.char_indices().nth(CELL) {
            text.truncate(end);
            self.cut += 1;
        }
        let bytes = text.len();
        if text.is_empty() {
            return 0;
        }
        match self.rows.last_mut() {
            Some((at, cells)) if *at == row => cells.push((column, text)),
            Some(_) | None => self.rows.push((row, vec![(column, text)])),
        }
        bytes
    }

    /// Writes the sheet. The first row with at least two cells names the columns; rows above it are
    /// text.
    ///
    /// # Errors
    /// Fails when there are more than `most` bytes with the names of the columns.
    fn finish(self, name: &str, markdown: &mut String, most: usize) -> Result<(), String> {
        if self.rows.is_empty() {
            return Ok(());
        }
        markdown.push_str(&format!("\n## {name}\n\n"));
        let head = self.rows.iter().position(|(_, cells)| cells.len() > 1);
        let mut named: HashMap<u32, &str> = HashMap::new();
        for (column, title) in head.iter().flat_map(|head| &self.rows[*head].1) {
            named.entry(*column).or_insert(title);
        }
        for (at, (_, cells)) in self.rows.iter().enumerate() {
            if Some(at) == head && self.rows.len() > at + 1 {
                continue;
            }
            let is_below = head.is_some_and(|head| at > head);
            for (at, (column, text)) in cells.iter().enumerate() {
                if at > 0 {
                    markdown.push_str("; ");
                }
                if let Some(title) = named.get(column).filter(|_| is_below) {
                    markdown.push_str(title);
                    markdown.push_str(": ");
                }
                markdown.push_str(text);
                if markdown.len() > most {
                    return Err(too_much_text());
                }
            }
            markdown.push_str("\n\n");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a sheet of rows with two cells each, which refer to the first shared string.
    fn rows(count: usize) -> String {
        let row = |row: usize| {
            let cell = |column| format!("<c r=\"{column}{row}\" t=\"s\"><v>0</v></c>");
            format!("<row r=\"{row}\">{}{}</row>", cell("A"), cell("B"))
        };
        let rows = (1..=count).map(row).collect::<String>();
        format!("<sheetData>{rows}</sheetData>")
    }

    #[test]
    fn hidden_sheets_are_left_out() {
        let workbook = "<workbook><sheets><sheet name=\"Dues\" sheetId=\"1\" r:id=\"rId1\"/>\
            <sheet name=\"Pay\" sheetId=\"2\" state=\"hidden\" r:id=\"rId2\"/>\
            <sheet name=\"Lists\" sheetId=\"3\" state=\"veryHidden\" r:id=\"rId3\"/>\
            <sheet name=\"Quays\" sheetId=\"4\" state=\"visible\" r:id=\"rId4\"/></sheets></workbook>";
        let named = |(name, id): (&str, &str)| (name.to_owned(), id.to_owned());
        let seen = [("Dues", "rId1"), ("Quays", "rId4")].map(named);
        assert_eq!(sheets(workbook).unwrap(), seen);
    }

    #[test]
    fn the_first_day_of_a_workbook_is_as_it_says() {
        for (workbook, expected) in [
            (
                "<workbook><workbookPr date1904=\"1\"/></workbook>",
                "2026-01-01",
            ),
            (
                "<workbook><workbookPr date1904='true'/></workbook>",
                "2026-01-01",
            ),
            (
                "<workbook><workbookPr date1904='0'/></workbook>",
                "2021-12-31",
            ),
            ("<workbook/>", "2021-12-31"),
        ] {
            let book = Book {
                strings: Vec::new(),
                formats: vec![NumberFormat::Moment],
                is_since_1904: is_since_1904(workbook).unwrap(),
            };
            assert_eq!(book.shown("", 0, "44561"), expected, "{workbook}");
        }
    }

    #[test]
    fn a_long_text_is_kept_once_and_not_as_a_whole() {
        let long = " word\n ".repeat(100_000);
        let strings = format!("<sst><si><t>{long}</t><t>more</t></si><si><t>a</t></si></sst>");
        let strings = shared_strings(&strings).unwrap();
        assert_eq!(strings[0].chars().count(), CELL + 1);
        assert!(strings[0].starts_with("word word"), "{}", strings[0]);
        assert_eq!(strings[1], "a");
        let book = Book {
            strings,
            formats: Vec::new(),
            is_since_1904: false,
        };
        assert!(matches!(book.shown("s", 0, "0"), Cow::Borrowed(_)));
        let mut sheet = Sheet::default();
        for (text, cut) in [
            (long.as_str(), 1),
            (&*book.shown("s", 0, "0"), 2),
            (&"x".repeat(CELL), 2),
            (&("x".repeat(CELL) + " \n"), 2),
            (&"ü".repeat(CELL + 1), 3),
        ] {
            sheet.add(1, 1, text);
            let (_, cells) = &sheet.rows[0];
            let (_, kept) = cells.last().unwrap();
            assert!(kept.chars().count() <= CELL, "{kept}");
            assert_eq!(sheet.cut, cut, "{kept}");
        }
    }

    #[test]
    fn a_text_that_many_cells_refer_to_is_bounded() {
        let book = Book {
            strings: vec!["x".repeat(100)],
            formats: Vec::new(),
            is_since_1904: false,
        };
        let left = |text| Left { cells: 100, text };
        let few = book.sheet(&rows(5), &mut left(1_000)).unwrap();
        assert_eq!(few.rows.len(), 5);
        let many = book.sheet(&rows(6), &mut left(1_000)).unwrap_err();
        assert!(many.contains("MB of text"), "{many}");
        let many = book.sheet(&rows(51), &mut left(1_000_000)).unwrap_err();
        assert!(many.contains("cells"), "{many}");
        // The names of the columns stand with each cell.
        let mut markdown = String::new();
        assert!(few.finish("S", &mut markdown, 1_500).is_err());
        assert!(markdown.len() < 1_800, "{}", markdown.len());
    }
}
