use std::path::Path;

use serde_json::json;

use super::{property, *};
use crate::knowledge::record::{LinkEndpoint, Record};

const BOOKS: &str = r#"
root = "/book"

[[record]]
label = "Book"
when = { "/kind" = "book" }
id = "/isbn"
id_prefix = "book-"
title = "/title"
text = ["/title", "/about"]
link = "https://books.example/{/isbn}"
place = true
[record.properties]
tags = "/tags"
authors = "/authors/*/name"
published = { at = "/published", as = "date" }
pages = { at = "/pages", as = "integer" }
[record.above]
ids = "/shelves/*/id"
distances = "/shelves/*/distance"
[[record.relation]]
type = "WROTE"
ids = "/authors/*/id"
id_prefix = "person-"
direction = "in"

[[record]]
label = "Person"
when = { "/kind" = "person" }
id = "/id"
id_prefix = "person-"
title = ["/name", "/alias"]
"#;

fn books() -> Mapping {
    Mapping::parse("books", BOOKS).unwrap()
}

fn book() -> Value {
    json!({"book": {
        "kind": "book", "isbn": 17, "title": "Ravens", "about": ["They fly.", "They talk."],
        "tags": ["birds", "myth"], "published": "1999-05-01", "pages": "321",
        "authors": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}, {"id": 1, "name": "Ada"}],
        "shelves": [{"id": "root", "distance": 2}, {"id": "north", "distance": 1}],
    }})
}

fn read(line: &Value) -> Result<Record, String> {
    let read = books().apply(line, Path::new("books.jsonl"), 4);
    let mut read = read.map_err(|refused| refused.reason)?;
    assert_eq!(read.len(), 1);
    Ok(read.remove(0))
}

#[test]
fn a_record_becomes_a_node_with_its_links() {
    let read = read(&book()).unwrap();
    assert_eq!(read.key, "book-17");
    let chunk = &read.chunks[0];
    assert_eq!(chunk.text, "Ravens\n\nThey fly.\n\nThey talk.");
    assert_eq!(
        Value::Object(chunk.properties.clone()),
        json!({
            "title": "Ravens", "link": "https://books.example/17", "tags": ["birds", "myth"],
            "authors": ["Ada", "Bo", "Ada"], "published": {"$date": "1999-05-01"}, "pages": 321,
            "file_name": "books.jsonl", "line_num": 4,
        })
    );
    let links: Vec<(&str, &LinkEndpoint, &LinkEndpoint)> = read
        .links
        .iter()
        .map(|link| (link.kind.as_str(), &link.from, &link.to))
        .collect();
    let records =
        |keys: &[&str]| LinkEndpoint::Record(keys.iter().map(|key| (*key).to_owned()).collect());
    assert_eq!(
        links,
        [
            (
                "Includes",
                &records(&["north", "root"]),
                &LinkEndpoint::Own(0)
            ),
            ("WROTE", &records(&["person-1"]), &LinkEndpoint::Own(0)),
            ("WROTE", &records(&["person-2"]), &LinkEndpoint::Own(0)),
        ]
    );
}

#[test]
fn bad_records_are_refused_in_words() {
    let with = |name: &str, value: Value| {
        let mut book = book();
        book["book"][name] = value;
        read(&book)
    };
    for (name, value, words) in [
        ("isbn", json!(null), "no id at /isbn"),
        ("isbn", json!({"a": 1}), "no id at /isbn"),
        ("kind", json!("map"), "no record type"),
        ("published", json!("soon"), "\"soon\" is no date"),
        ("pages", json!("many"), "\"many\" is no whole number"),
    ] {
        let refused = with(name, value).unwrap_err();
        assert!(refused.contains(words), "{refused}");
    }
    let person = read(&json!({"kind": "person", "id": "x", "alias": "Al"})).unwrap();
    assert_eq!(
        (person.key.as_str(), person.chunks[0].text.as_str()),
        ("person-x", "Al")
    );
}

#[test]
fn long_ids_are_refused_and_long_titles_are_shortened() {
    let by = "[[record]]\nlabel = \"Thing\"\nid = \"/id\"\ntitle = \"/name\"\ntext = [\"/text\"]\n";
    let by = Mapping::parse("by", by).unwrap();
    let read = |value: Value| by.apply(&value, Path::new("a.jsonl"), 1);
    let refused = read(json!({"id": "x".repeat(9_000), "text": "a"})).unwrap_err();
    assert!(
        refused.reason.contains("its id has 9000 bytes"),
        "{}",
        refused.reason
    );
    let name = "raven ".repeat(20_000);
    let made = read(json!({"id": "1", "name": name, "text": "a"})).unwrap();
    let chunks = &made[0].chunks;
    for chunk in chunks {
        let title = chunk.properties["title"].as_str().unwrap();
        assert!(
            title.chars().count() <= 301 && title.ends_with('…'),
            "{title}"
        );
        assert!(chunk.embedded.len() < 3_000, "{}", chunk.embedded.len());
    }
    let words: usize = chunks
        .iter()
        .map(|chunk| chunk.text.matches("raven").count())
        .sum();
    // Cutting the text into chunks may divide some.
    assert!(words > 19_900, "{words}");
}

#[test]
fn lists_stay_lists_and_are_of_one_type() {
    let of = |split: Option<&str>, value: Value| {
        let property = Property {
            name: "p".to_owned(),
            at: Pointer::parse("/p").unwrap(),
            kind: property::As::Given,
            split: split.map(str::to_owned),
        };
        values::of(&property, &json!({"p": value})).unwrap()
    };
    assert_eq!(of(None, json!(["a"])), Some(json!(["a"])));
    assert_eq!(
        of(None, json!([1, "a", 2.5])),
        Some(json!(["1", "a", "2.5"]))
    );
    assert_eq!(of(None, json!([])), None);
    assert_eq!(of(None, json!("  ")), None);
    assert_eq!(of(None, json!({"a": 1})), Some(json!("{\"a\":1}")));
    assert_eq!(of(Some(";"), json!("a; b;")), Some(json!(["a", "b"])));
    assert_eq!(of(None, json!(u64::MAX)), Some(json!(u64::MAX.to_string())));
}

#[test]
fn what_is_wrong_with_a_mapping_is_named_all_at_once() {
    let wrong = r#"
        [[record]]
        label = "Session"
        id = "isbn"
        link = "x{/a"
        [record.properties]
        text = "/a"
        "we ird" = "/b"
        [[record.relation]]
        type = "NEXT"
        ids = "/c"
    "#;
    let error = Mapping::parse("m", wrong).unwrap_err().to_string();
    for words in [
        "Session is taken",
        "\"isbn\" is no JSON pointer",
        "{ without its }",
        "the name text is taken",
        "\"we ird\" is no name",
        "NEXT is taken",
    ] {
        assert!(error.contains(words), "no {words:?} in {error}");
    }
    let unknown = Mapping::parse("m", "[[record]]\nlabel = 'A'\nid = '/a'\nlabels = 1\n");
    assert!(unknown.unwrap_err().to_string().contains("labels"));
    assert!(
        Mapping::parse("m", "")
            .unwrap_err()
            .to_string()
            .contains("no [[record]]")
    );
}

#[test]
fn fields_that_no_record_has_are_named() {
    let mut line = book();
    line["book"]["tags"] = json!(null);
    let mut presence = Presence::default();
    books().look(&line, &mut presence);
    let error = books().check(&presence).unwrap_err().to_string();
    let words = "Book: property tags /tags is in none of 1 records;";
    assert!(error.contains(words), "{error}");
    books().look(&book(), &mut presence);
    assert_eq!(books().check(&presence), Ok(()));
    let none = books().check(&Presence::default()).unwrap_err().to_string();
    assert!(
        none.contains("a record that is one of Book, Person"),
        "{none}"
    );
}

#[test]
fn the_archives_are_all_there() {
    let archives = Mapping::built_in("archives").unwrap().unwrap();
    let labels: Vec<&str> = archives
        .types
        .iter()
        .map(|kind| kind.label.as_str())
        .collect();
    assert_eq!(
        labels,
        [
            "item",
            "fileUnit",
            "series",
            "recordGroup",
            "collection",
            "geographicPlaceName",
            "organization",
            "person",
            "specificRecordsTypes",
            "topicalSubject",
        ]
    );
    let kinds: BTreeSet<&str> = archives
        .types
        .iter()
        .flat_map(|kind| kind.relations.iter().map(|relation| relation.kind.as_str()))
        .collect();
    let expected = [
        "broaderTerm",
        "contributor",
        "creator",
        "donor",
        "jurisdiction",
        "narrowerTerm",
        "organizationName",
        "organizationalReference",
        "personalReference",
        "relatedTerm",
        "subject",
    ];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn properties_keep_the_order_of_the_file() {
    let text = r#"
        [[record]]
        label = "ship"
        id = "/id"
        [record.properties]
        tonnage = "/tonnage"
        built = { at = "/built", as = "date" }
        captain = "/captain"

        [[record]]
        label = "ship"
        when = { "/kind" = "wreck" }
        id = "/id"
        [record.properties]
        sunk = "/sunk"
        built = "/built"
    "#;
    let order = Mapping::parse("ships", text).unwrap().property_order();
    assert_eq!(order["ship"], ["tonnage", "built", "captain", "sunk"]);
    let archives = Mapping::built_in("archives").unwrap().unwrap();
    assert_eq!(archives.property_order()["topicalSubject"][0], "naId");
    assert_eq!(
        archives.property_order()["person"][0],
        "logicalDate_birthDate"
    );
}

#[test]
fn a_row_makes_what_it_shares_with_others_as_well() {
    let mapping = Mapping::built_in("contracts").unwrap().unwrap();
    let row = json!({
        "contract": "K-1", "subject": "Ice", "supplier": "Nordlys", "supplier_city": "Tromsø", "vendor": "",
        "start": "2024-03-01", "end": "2099-02-28", "value": "18400",
    });
    let read = |row: &Value| mapping.apply(row, Path::new("c.csv"), 2);
    let made = read(&row).unwrap();
    let told: Vec<(&str, &str, bool)> = made
        .iter()
        .map(|it| (it.key.as_str(), it.chunks[0].label.as_str(), it.is_shared))
        .collect();
    assert_eq!(
        told,
        [
            ("K-1", "Contract", false),
            ("supplier/Nordlys", "Supplier", true)
        ]
    );
    assert_eq!(made[0].links.len(), 1, "a vendor that is not named is none");
    assert_eq!(made[0].links[0].kind, "SUPPLIED_BY");
    assert_eq!(made[1].chunks[0].properties["city"], json!("Tromsø"));

    // A row is accepted or refused as a whole.
    let mut wrong = row;
    wrong["start"] = json!("soon");
    assert!(read(&wrong).unwrap_err().reason.contains("soon"));

    let text =
        "[[record]]\nlabel = \"A\"\nid = \"/a\"\nshared = true\n[record.above]\nids = \"/b\"\n";
    let problem = Mapping::parse("m", text).unwrap_err().to_string();
    assert!(
        problem.contains("it is shared by several lines"),
        "{problem}"
    );
}
