use super::*;

fn of_markdown(text: &str) -> Record {
    let outline = markdown::outline(text);
    record(
        outline,
        "a/b.md",
        Path::new("a/b.md"),
        Format::Markdown,
        Form::Markdown,
    )
    .unwrap()
}

fn shown(record: &Record) -> Vec<(String, String, String)> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("").to_owned();
    let chunks = record.chunks.iter();
    chunks
        .map(|chunk| {
            let heading = text(chunk.properties.get("heading"));
            (chunk.label.clone(), heading, chunk.text.clone())
        })
        .collect()
}

fn ends(record: &Record, kind: &str) -> Vec<(usize, usize)> {
    let of_kind = record.links.iter().filter(|link| link.kind == kind);
    of_kind
        .filter_map(|link| match (&link.from, &link.to) {
            (End::Own(from), End::Own(to)) => Some((*from, *to)),
            (_, _) => None,
        })
        .collect()
}

#[test]
fn headings_make_the_tree() {
    let read = of_markdown(
        "---\ntags: x\n---\n# Ravens\nTwo of them.\n## Huginn\nThought.\n### Young\nSmall.\n\
         ## Muninn\n```\n# no heading\n```\n",
    );
    let expected = [
        ("Document", "", "Two of them."),
        ("Section", "Huginn", "Thought."),
        ("Section", "Young", "Small."),
        ("Section", "Muninn", "```\n# no heading\n```"),
    ];
    let expected = expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
    assert_eq!(shown(&read), expected);
    assert_eq!(read.chunks[2].embedded, "Ravens > Huginn > Young\nSmall.");
    assert_eq!(ends(&read, INCLUDES), [(0, 1), (1, 2), (0, 3)]);
    assert_eq!(ends(&read, NEXT), [(0, 1), (1, 2), (2, 3)]);
}

#[test]
fn a_long_section_goes_on_in_passages() {
    let body = "A sentence about ravens and what they see. ".repeat(60);
    let read = of_markdown(&format!("# T\n\n## S\n{body}"));
    let labels: Vec<&str> = read
        .chunks
        .iter()
        .map(|chunk| chunk.label.as_str())
        .collect();
    assert_eq!(labels, ["Document", "Section", "Passage", "Passage"]);
    assert_eq!(
        read.chunks[0].text, "T",
        "a document without an opening says its title"
    );
    assert_eq!(ends(&read, INCLUDES), [(1, 2), (1, 3), (0, 1)]);
}

#[test]
fn headings_in_other_forms() {
    for (text, level, heading) in [
        ("Big\n===\nx", 1, "Big"),
        ("Small\n---\nx", 2, "Small"),
        ("### C ###\nx", 3, "C"),
    ] {
        let read = markdown::outline(&format!("Opening.\n\n{text}"));
        let section = &read.sections[0];
        assert_eq!((section.level, section.heading.as_str()), (level, heading));
    }
    for text in ["#hash\n", "a\n- -\n", "####### seven\n", "| a |\n|---|\n"] {
        assert!(markdown::outline(text).sections.is_empty(), "{text}");
    }
}

#[test]
fn html_is_read_like_markdown() {
    let html = "<html><head><title>The  nest</title><style>p{}</style></head><body>\
        <h1>Nest</h1><p>Twigs.</p><h2>Eggs</h2><p>Four <a href='x'>eggs</a>.</p>\
        <script>alert(1)</script></body></html>";
    let read = outline(html.as_bytes().to_vec(), Format::Html).unwrap();
    assert_eq!(read.title.as_deref(), Some("The nest"));
    let headings: Vec<&str> = read.sections.iter().map(|s| s.heading.as_str()).collect();
    assert_eq!(headings, ["Eggs"]);
    assert!(read.opening.contains("Twigs."), "{read:?}");
    assert!(!format!("{read:?}").contains("alert"), "{read:?}");
}

#[test]
fn encodings_are_guessed_and_binaries_refused() {
    let (latin, _, _) = encoding_rs::WINDOWS_1252.encode("Käse und Brötchen, schön süß");
    assert_eq!(
        extract::text::decoded(&latin).unwrap(),
        "Käse und Brötchen, schön süß"
    );
    assert_eq!(extract::text::decoded(b"\xef\xbb\xbfa").unwrap(), "a");
    assert_eq!(extract::text::decoded(b"\xff\xfea\0b\0").unwrap(), "ab");
    assert!(extract::text::decoded(&[0, 1, 2, 3]).is_err());
}

#[test]
fn a_broken_pdf_is_refused_in_words() {
    for bytes in [b"%PDF-1.4 nonsense".to_vec(), Vec::new()] {
        let refused = pdf::pages(bytes).unwrap_err();
        assert!(refused.contains("no PDF"), "{refused}");
    }
}

#[test]
fn nothing_but_blanks_is_no_document() {
    let empty = markdown::outline(" \n\n");
    assert!(
        record(
            empty,
            "k",
            Path::new("k.md"),
            Format::Markdown,
            Form::Markdown
        )
        .is_none()
    );
}
