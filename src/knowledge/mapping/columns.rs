//! Derives a mapping for records without one, from the names and contents of their fields.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::Value;

use super::latin::latin;
use super::pointer::{Pointer, word};
use super::property::{As, Property};
use super::{Mapping, RESERVED, RecordType};
use crate::graph::MEMORY_LABELS;
use crate::graph::ingest::CHUNK;
use crate::knowledge::numbered::numbered;
use crate::knowledge::plural::is_one_of;
use crate::knowledge::record::{Hash, key_hash};
use crate::retrieval::language::WordList;
use crate::retrieval::speech::is_numbered_record;

/// The mapping's name in the catalog.
pub const NAME: &str = "columns";

/// The field for the line number, if nothing else identifies records.
pub(super) const ROW: &str = "#";
/// Stands before that number in the id, as "order 1042" does not mean line 1042.
const LINE_PREFIX: &str = "line-";

/// Fields that may identify records; the first one with unique values is taken. Without any, it is
/// the first field with unique values that has the name or the values of numbers of orders, articles
/// and the like. The first in alphabetical order: a record has no other.
const IDS: &[&str] = &[
    "id", "key", "uuid", "guid", "code", "slug", "isbn", "number",
];

/// Beside orders and the like, what has a number by which it is looked up.
const NUMBERED: WordList = WordList::of(
    "sku article item product part asset serial reference ref booking reservation room machine account member employee student patient \
     artikel produkt buchung vorgang raum zimmer maschine konto mitglied produit référence réservation salle chambre compte \
     artículo producto referencia reserva sala habitación cuenta artigo produto referência quarto conta \
     注文 請求書 請求 契約 顧客 商品 予約 部屋 会員",
);
/// Words for a number.
const NUMBER: WordList = WordList::of("number nummer numéro numero número 番号");
/// Words that may stand between those: "número de pedido", "n° commande".
const LINKING: WordList = WordList::of("n nº of the de du da do des la le");
/// The ends of words for a number: `Bestellnummer`, `orderNumber`.
const NUMBER_ENDINGS: [&str; 5] = ["nummer", "number", "番号", "code", "nr"];
/// What has numbers that may be unique, and identify no record: a person gets another telephone.
const OTHER_NUMBERS: WordList = WordList::of(
    "phone telephone telefon téléphone telefone telefono teléfono tel tél fax mobile mobil móvil telemóvel handy celular portable ruf \
     zip postal postcode plz postleitzahl cep \
     year jahr baujahr geburtsjahr année annee año ano price preis prix precio preço amount betrag montant \
     電話 携帯 郵便 年",
);

/// Fields that may be the title; the first existing one is taken.
const TITLES: &[&str] = &[
    "title", "name", "label", "subject", "headline", "term", "question", "summary",
];

/// Labels with another meaning.
const TAKEN: &[&str] = &[
    CHUNK,
    "Document",
    "Section",
    "Passage",
    "Conversation",
    "Exemplar",
    "Policy",
];

/// Maximum characters of a value that looks like an identifier.
const MAX_CODE_CHARS: usize = 40;

/// Maximum fields of a file; one with more is not a table.
const MAX_FIELDS: usize = 200;

#[derive(Debug, Default)]
struct Field {
    /// Number of records with a value.
    filled: u64,
    /// Number of records with words.
    worded: u64,
    /// Its name is that of an identifier, so its values may be any.
    is_named_id: bool,
    /// Its name is that of orders, invoices and the like, so its values may be plain numbers.
    is_of_record: bool,
    /// Its name is that of telephones, years and the like, so its values are no ids.
    is_of_other: bool,
    /// Hashes of the values of a field that may identify records, while they are unique.
    different: Option<HashSet<Hash>>,
}

impl Field {
    /// `stem`: the file's name; `is_first`: it is in the first record, so that each record may have a value.
    fn new(name: &str, stem: &str, is_first: bool) -> Self {
        let words = words(name);
        Self {
            is_named_id: first_of(IDS, &[name]).is_some() || is_named_id(name),
            is_of_record: is_of_record(&words) || is_of_rows(&words, stem),
            is_of_other: is_of_other(&words),
            different: is_first.then(HashSet::new),
            ..Self::default()
        }
    }

    fn look(&mut self, value: &Value) {
        let text = shown(value);
        if text.trim().is_empty() {
            return;
        }
        self.filled += 1;
        let is_worded = !value.is_boolean() && text.chars().any(char::is_alphabetic);
        self.worded += u64::from(is_worded);
        // Other values are not remembered: there may be millions.
        let text = text.trim();
        let is_of_record = self.is_of_record && is_running_number(text);
        let is_like_id = !self.is_of_other && (is_of_record || is_code(text));
        let may_identify = self.is_named_id || is_like_id;
        let is_new = |known: &mut HashSet<Hash>| {
            may_identify && word(value).is_some_and(|id| known.insert(key_hash(&id)))
        };
        if !self.different.as_mut().is_some_and(is_new) {
            self.different = None;
        }
    }
}

/// The contents of records by field.
#[derive(Debug, Default)]
pub struct Columns {
    /// The name of their file.
    stem: String,
    records: u64,
    fields: IndexMap<String, Field>,
}

impl Columns {
    /// Of a file; `stem` is its name.
    pub fn of(stem: &str) -> Self {
        Self {
            stem: stem.to_owned(),
            ..Self::default()
        }
    }

    /// Examines a record.
    pub fn look(&mut self, record: &Value) {
        let Some(record) = record.as_object() else {
            return;
        };
        self.records += 1;
        for (name, value) in record.iter().filter(|(_, value)| is_plain(value)) {
            if !self.fields.contains_key(name) {
                if self.fields.len() >= MAX_FIELDS {
                    continue;
                }
                let field = Field::new(name, &self.stem, self.records == 1);
                self.fields.insert(name.clone(), field);
            }
            if let Some(field) = self.fields.get_mut(name) {
                field.look(value);
            }
        }
    }

    /// Returns the mapping. `None` if no field contains words.
    pub fn mapping(&self) -> Option<Mapping> {
        let is_worded = |field: &Field| field.worded > 0 && field.worded * 2 >= field.filled;
        let worded: Vec<&str> = self.named(is_worded);
        if worded.is_empty() {
            return None;
        }
        let records = self.records;
        let telling = |field: &Field| field.filled == records && field.different.is_some();
        let telling = self.named(telling);
        let id = first_of(IDS, &telling).or(telling.first().copied());
        let title = first_of(TITLES, &worded).or(worded.first().copied());
        let others = worded.iter().filter(|name| Some(**name) != title);
        // So that words find a number with the name of its field: "room 214".
        let number = id.filter(|id| first_of(IDS, &[*id]).is_none() && !worded.contains(id));
        let texts = title.iter().chain(&number).chain(others);
        let texts = texts.filter_map(|name| at(name));
        let record = RecordType {
            label: label(&self.stem),
            when: Vec::new(),
            id: at(id.unwrap_or(ROW))?,
            id_prefix: id.map_or(LINE_PREFIX, |_| "").to_owned(),
            title: title.and_then(at).into_iter().collect(),
            text: texts.collect(),
            names_texts: true,
            link: None,
            properties: self.properties(),
            above: None,
            relations: Vec::new(),
            place: false,
            is_shared: false,
        };
        Some(Mapping {
            name: NAME.to_owned(),
            root: None,
            optional: true,
            is_numbered: id.is_none(),
            types: vec![record],
        })
    }

    fn named(&self, is_meant: impl Fn(&Field) -> bool) -> Vec<&str> {
        let meant = self.fields.iter().filter(|(_, field)| is_meant(field));
        meant.map(|(name, _)| name.as_str()).collect()
    }

    fn properties(&self) -> Vec<Property> {
        let filled = self.named(|field| field.filled > 0);
        let names = numbered(filled.iter().map(|field| property(field)).collect());
        let properties = filled.into_iter().zip(names).filter_map(|(field, name)| {
            Some(Property {
                at: at(field)?,
                name,
                kind: As::default(),
                split: None,
            })
        });
        properties.collect()
    }
}

/// Whether it is a text, a number, or a list of such.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::Array(items) => items
            .iter()
            .all(|item| !item.is_array() && !item.is_object()),
        Value::Object(_) => false,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn at(field: &str) -> Option<Pointer> {
    let field = field.replace('~', "~0").replace('/', "~1");
    Pointer::parse(&format!("/{field}")).ok()
}

/// Returns the first of the names that exists, in any spelling.
fn first_of<'a>(names: &[&str], there: &[&'a str]) -> Option<&'a str> {
    names.iter().find_map(|name| {
        let mut there = there.iter();
        there
            .find(|it| it.trim().eq_ignore_ascii_case(name))
            .copied()
    })
}

/// Returns the words of a name in lower case.
fn words(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Whether a name ends as those of identifiers do: `order_id`, `orderId`, `Order No.`, `Bestellnr`.
fn is_named_id(name: &str) -> bool {
    let words = words(name);
    let is_number = |last: &String| last == "no" || last.ends_with("nr");
    words.last().is_some_and(|last| last == "id")
        || name.trim().ends_with("Id")
        || words.last().is_some_and(is_number) && !is_of_other(&words)
}

/// Whether a word is that of numbered records: `Order`, `Bestellnummer`.
fn is_numbered(word: &str) -> bool {
    let is_compound = || NUMBER_ENDINGS.iter().any(|it| word.ends_with(*it));
    is_numbered_record(word) || NUMBERED.has(word) || is_compound()
}

/// Whether a name is that of numbered records: `Order`, `invoice number`, `Bestellnummer`,
/// `número de pedido`.
fn is_of_record(words: &[String]) -> bool {
    let named = words.iter().map(String::as_str);
    let named = named.filter(|word| !NUMBER.has(word) && !LINKING.has(word));
    match named.collect::<Vec<_>>().as_slice() {
        [] => words.iter().any(|word| NUMBER.has(word)),
        [name] => is_numbered(name),
        [..] => false,
    }
}

/// Whether a name is that of one row: `room` in `rooms.csv`.
fn is_of_rows(words: &[String], stem: &str) -> bool {
    let lists = self::words(stem);
    let is_one = |name: &String| {
        let mut lists = lists.iter().filter(|list| *list != name);
        lists.any(|list| is_one_of(name, list))
    };
    words.len() == 1 && words.iter().all(is_one)
}

/// Whether a name is that of numbers that identify no record: `Telefonnummer`, `zip code`, `year`.
fn is_of_other(words: &[String]) -> bool {
    words.iter().any(|word| {
        let mut endings = NUMBER_ENDINGS.iter();
        let thing = endings.find_map(|it| word.strip_suffix(*it));
        OTHER_NUMBERS.has(word) || thing.is_some_and(|thing| OTHER_NUMBERS.has(thing))
    })
}

/// Whether a text is a number that may be an order's. Among the positions in a list there are
/// shorter ones, and many telephone numbers begin with 0.
fn is_running_number(text: &str) -> bool {
    text.len() >= 3 && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text looks like the number of an order or an article: `B-1042`, `2026-00017`. Dates,
/// times, amounts and spans of years do not.
fn is_code(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let has_digit = text.contains(|c: char| c.is_ascii_digit());
    if !has_digit || !text.chars().all(is_part) || text.chars().count() > MAX_CODE_CHARS {
        return false;
    }
    if text.starts_with(char::is_alphabetic) {
        return true;
    }
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let parts = text.split_once(['-', '/']);
    parts.is_some_and(|(year, number)| {
        let is_running = number.len() >= 5 || number.starts_with('0') && number.len() >= 3;
        is_number(year) && is_number(number) && is_running
    })
}

/// `port-dues` becomes `PortDues`.
fn label(stem: &str) -> String {
    let stem = latin(stem);
    let words = stem.split(|c: char| !c.is_ascii_alphanumeric());
    let label: String = words
        .filter_map(|word| {
            let mut letters = word.chars();
            let first = letters.next()?.to_ascii_uppercase();
            Some(format!("{first}{}", letters.as_str()))
        })
        .collect();
    let is_name = label.starts_with(|c: char| c.is_ascii_alphabetic());
    if !is_name || MEMORY_LABELS.contains(&label.as_str()) || TAKEN.contains(&label.as_str()) {
        return format!("Row{label}");
    }
    label
}

/// `Order date` becomes `Order_date`.
fn property(field: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut name: String = latin(field.trim()).chars().map(fits).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert_str(0, "field_");
    }
    if RESERVED.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;

    fn of(records: &[Value]) -> Option<Mapping> {
        let mut columns = Columns::of("port-dues");
        records.iter().for_each(|record| columns.look(record));
        columns.mapping()
    }

    #[test]
    fn fields_tell_id_title_text_and_properties() {
        let rows = [
            json!({"Code": "N1", "Name": "North quay", "type": "quay", "Order date": "2026", "m": 4, "at": {"x": 1}}),
            json!({"Code": "S1", "Name": "South quay", "type": "quay", "Order date": "", "m": 5}),
        ];
        let made = of(&rows)
            .unwrap()
            .apply(&rows[0], Path::new("f"), 2)
            .unwrap()
            .remove(0);
        assert_eq!(made.key, "N1");
        let chunk = &made.chunks[0];
        assert_eq!(
            (chunk.label.as_str(), chunk.text.as_str()),
            ("PortDues", "North quay\n\nCode: N1; type: quay")
        );
        assert_eq!(
            Value::Object(chunk.properties.clone()),
            json!({"title": "North quay", "Code": "N1", "Name": "North quay", "type_": "quay", "Order_date": "2026", "m": 4})
        );
    }

    #[test]
    fn short_texts_are_written_with_the_names_of_their_fields() {
        let long = "Closed in storms. ".repeat(8).trim().to_owned();
        let row = json!({"name": "North quay", "Status": "open", "text": "For ferries.", "Rules": long, "~/": "mud"});
        let made = of(std::slice::from_ref(&row)).unwrap();
        let made = made.apply(&row, Path::new("f"), 2).unwrap().remove(0);
        assert_eq!(
            made.chunks[0].text,
            format!("North quay\n\nStatus: open; ~/: mud\n\n{long}\n\nFor ferries.")
        );
    }

    #[test]
    fn rows_alike_are_told_apart_by_their_lines() {
        for ids in [["same", "same"], ["same", " same"], ["1", ""]] {
            let rows = ids.map(|id| json!({"id": id, "about": "Two of them"}));
            let mapping = of(&rows).unwrap();
            let keys = [2, 3].map(|line| {
                let made = mapping.apply(&rows[0], Path::new("f"), line).unwrap();
                made[0].key.clone()
            });
            assert_eq!(keys, ["line-2", "line-3"]);
        }
        assert!(of(&[json!({"a": 1})]).is_none(), "no words at all");
        assert!(of(&[]).is_none());
    }

    #[test]
    fn a_number_of_an_order_identifies_rows_whatever_its_column_is_called() {
        for (field, ids) in [
            ("Maschine", ["M-1042", "M-1043"]),
            ("Vorgang", ["1042", "1043"]),
            ("orderNumber", ["1042", "1043"]),
            ("Numéro de commande", ["1042", "1043"]),
            ("número do pedido", ["1042", "1043"]),
            ("注文番号", ["1042", "1043"]),
            ("Bestellung", ["B-1042", "B-1043"]),
            ("SKU", ["KA20871", "KA20872"]),
            ("invoice", ["2026-00017", "2026-00018"]),
            ("Rechnungsnr.", ["17", "18"]),
            ("order_id", ["17", "18"]),
            ("Order", ["1042", "1043"]),
            ("Ticket", ["512", "513"]),
            ("due", ["512", "513"]),
            ("invoice_number", ["1042", "1043"]),
            ("Bestellnummer", ["1042", "1043"]),
        ] {
            let rows =
                ids.map(|id| json!({"Kunde": "Jensen", "Menge": "4", field: id, "Rest": id.len()}));
            let made = of(&rows).unwrap().apply(&rows[1], Path::new("f"), 3);
            assert_eq!(made.unwrap()[0].key, ids[1], "{field}");
        }
    }

    #[test]
    fn the_number_of_a_row_is_in_its_text_with_the_name_of_its_field() {
        for (field, text) in [
            ("Ticket", "Jensen\n\nTicket: 512; Status: open"),
            ("id", "Jensen\n\nStatus: open"),
        ] {
            let row = json!({"Kunde": "Jensen", "Status": "open", field: 512});
            let made = of(std::slice::from_ref(&row)).unwrap();
            let made = made.apply(&row, Path::new("f"), 2).unwrap().remove(0);
            assert_eq!(made.key, "512", "{field}");
            assert_eq!(made.chunks[0].text, text);
        }
    }

    #[test]
    fn dates_amounts_and_what_is_there_twice_identify_no_rows() {
        for values in [
            ["2026-05-08", "2026-05-09"],
            ["08.05.2026", "09.05.2026"],
            ["2024/2025", "2025/2026"],
            ["0.14", "0.15"],
            ["12:30", "13:30"],
            ["3 days", "4 days"],
            ["B-1042", "B-1042"],
            ["B-1042", ""],
            ["B-1042", "none"],
        ] {
            let rows = values.map(|value| json!({"Kunde": "Jensen", "it": value}));
            let made = of(&rows).unwrap().apply(&rows[1], Path::new("f"), 3);
            assert_eq!(made.unwrap()[0].key, "line-3", "{values:?}");
        }
    }

    #[test]
    fn positions_years_amounts_and_telephones_identify_no_rows() {
        for (field, values) in [
            ("order", ["1", "2"]),
            ("order year", ["2025", "2026"]),
            ("price per order", ["1200", "1300"]),
            ("Menge", ["1200", "1300"]),
            ("Telefonnummer", ["1704412345", "1704412346"]),
            ("Telefonnr.", ["4412345", "4412346"]),
            ("phone no", ["4412345", "4412346"]),
            ("phone", ["555-12345", "555-12346"]),
            ("PLZ", ["D-10115", "D-10117"]),
            ("zip code", ["90210", "90211"]),
            ("code postal", ["75001", "75002"]),
            ("Año", ["2025", "2026"]),
            ("電話番号", ["4412345", "4412346"]),
        ] {
            let rows = values.map(|value| json!({"Kunde": "Jensen", field: value}));
            let made = of(&rows).unwrap().apply(&rows[1], Path::new("f"), 3);
            assert_eq!(made.unwrap()[0].key, "line-3", "{field}");
        }
    }

    #[test]
    fn no_value_of_a_field_is_lost() {
        let row = json!({
            "id": 1, "name": "Rope", "Price $": 14, "Price €": 12, "Price___2": 5, "вес": 77, "год": 1999, "flag": true, "off": false,
        });
        let mapping = of(std::slice::from_ref(&row)).unwrap();
        let made = mapping.apply(&row, Path::new("f"), 2);
        let chunk = &made.unwrap()[0].chunks[0];
        assert_eq!(chunk.text, "Rope");
        assert_eq!(
            Value::Object(chunk.properties.clone()),
            json!({
                "title": "Rope", "id_": 1, "name": "Rope", "Price__": 14, "Price___3": 12, "Price___2": 5,
                "ves": 77, "god": 1999, "flag": true, "off": false,
            })
        );
    }

    #[test]
    fn labels_and_properties_can_be_written_in_cypher() {
        for (stem, expected) in [
            ("port-dues", "PortDues"),
            ("2026", "Row2026"),
            ("document", "RowDocument"),
            ("Session", "RowSession"),
            ("Aufträge", "Auftraege"),
            ("товары", "Tovary"),
            ("日本", "Row"),
        ] {
            assert_eq!(label(stem), expected);
        }
        for (field, expected) in [
            ("a b", "a_b"),
            ("1st", "field_1st"),
            ("text", "text_"),
            ("übel", "uebel"),
            ("Größe", "Groesse"),
            ("Цена", "Tsena"),
            ("価格", "field___"),
        ] {
            assert_eq!(property(field), expected);
        }
    }
}
