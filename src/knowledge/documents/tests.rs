#[cfg(feature = "formats")]
mod packages;

use super::*;

fn of_markdown(text: &str) -> Record {
    let outline = outline(text.as_bytes().to_vec(), Format::Markdown).unwrap();
    record(
        outline,
        "a/b.md",
        Path::new("a/b.md"),
        Format::Markdown,
        MarkupKind::Markdown,
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
            (LinkEndpoint::Own(from), LinkEndpoint::Own(to)) => Some((*from, *to)),
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
        ("Document", "", "Tags: x\n\nTwo of them."),
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
fn what_every_chunk_has_a_copy_of_is_short() {
    let long = "raven ".repeat(20_000);
    let body = "A sentence about ravens and what they see. ".repeat(2_000);
    let tags: Vec<String> = (0..1_000)
        .map(|number| format!("{number}{}", "t".repeat(400)))
        .collect();
    let text = format!(
        "---\ntags: [{}]\n---\n# {long}\n{body}\n## {long}\n{body}",
        tags.join(", ")
    );
    let read = of_markdown(&text);
    let size: usize = read
        .chunks
        .iter()
        .map(|chunk| chunk.embedded.len() + json!(chunk.properties).to_string().len())
        .sum();
    assert!(size < 10 * text.len(), "{size} of {}", text.len());
    for chunk in &read.chunks {
        assert!(chunk.embedded.len() < 3_000, "{}", chunk.embedded.len());
    }
    // All words are still there to be found.
    let words: usize = read
        .chunks
        .iter()
        .map(|chunk| chunk.text.matches("raven ").count())
        .sum();
    assert!(words > 39_000, "{words}");
}

#[test]
fn files_within_a_text_are_no_text() {
    let image = "iVBORw0KGgo".repeat(3_000);
    let read = of_markdown(&format!(
        "# Winch\n\nThe winch is blue.\n\n![x](data:image/png;base64,{image})\n\nTurn it right.\n"
    ));
    let expected = "The winch is blue.\n\n![x](data:)\n\nTurn it right.";
    assert_eq!(
        shown(&read),
        [("Document".to_owned(), String::new(), expected.to_owned())]
    );
    let notebook = json!({"cells": [{"cell_type": "markdown", "source": [
        format!("![x](data:image/png;base64,{image})\n"), "Turn it right."
    ]}]});
    let outline = outline(notebook.to_string().into_bytes(), Format::Notebook).unwrap();
    assert_eq!(outline.opening, "![x](data:)\nTurn it right.\n\n");
}

#[test]
fn headings_in_other_forms() {
    for (text, level, heading) in [
        ("Big\n===\nx", 1, "Big"),
        ("Small\n---\nx", 2, "Small"),
        ("### C ###\nx", 3, "C"),
        ("# Coding in C#\nx", 1, "Coding in C#"),
        ("## C# ##\nx", 2, "C#"),
        ("## F#\t#  \nx", 2, "F#"),
        ("## Anchored { #anchored .wide }\nx", 2, "Anchored"),
        ("## A set {1, 2}\nx", 2, "A set {1, 2}"),
    ] {
        let read = markdown::outline(&format!("Opening.\n\n{text}"));
        let section = &read.sections[0];
        assert_eq!((section.level, section.heading.as_str()), (level, heading));
    }
    for text in [
        "#hash\n",
        "a\n- -\n",
        "####### seven\n",
        "## ##\n",
        "| a |\n|---|\n",
    ] {
        assert!(markdown::outline(text).sections.is_empty(), "{text}");
    }
}

#[test]
fn code_in_html_is_no_heading_and_a_link_has_no_brackets() {
    let html = "<body><h1><a href='#setup'>Setup</a></h1><p>See <a href='x'>the <b>list</b></a>.</p>\
        <pre><code class='language-toml'><span>[depot]</span>\n# Where crates wait\nplace = \"north\"<br>\n\
        url = '<a href='y'>https://y</a>'\n</code></pre><h2>After</h2><p>More.</p></body>";
    let read = outline(html.as_bytes().to_vec(), Format::Html).unwrap();
    insta::assert_snapshot!("code.html", told(&read));
}

#[test]
fn html_that_is_nested_too_deeply_is_refused() {
    let html = format!("{}<a href='x'>Tides</a>", "<div>".repeat(50_000));
    let links = links_of_html(&html);
    assert_eq!(links, text::PageLinks::default());
    let Err(refused) = outline(html.into_bytes(), Format::Html) else {
        panic!("it is read");
    };
    assert!(
        refused.reason.contains("nested deeper"),
        "{}",
        refused.reason
    );
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
        let refused = extract::pdf::pages(bytes).unwrap_err().to_string();
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
            MarkupKind::Markdown
        )
        .is_none()
    );
}

/// Reads a document from the folder of files made by other programs.
fn made(name: &str) -> Outline {
    let path = Path::new("tests/data/documents").join(name);
    let format = Format::of(&path).unwrap();
    outline(std::fs::read(path).unwrap(), format).unwrap()
}

/// Prints everything in an outline as lines.
fn told(outline: &Outline) -> String {
    let mut told = format!(
        "{:?} {}\n{}",
        outline.title,
        json!(outline.about),
        outline.opening
    );
    for section in &outline.sections {
        told.push_str(&format!(
            "\n[{}] {}\n{}",
            section.level, section.heading, section.body
        ));
    }
    let lines = told.lines().filter(|line| !line.trim().is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(feature = "formats")]
#[test]
fn office_and_its_likes_are_read_with_headings_and_tables() {
    insta::assert_snapshot!("lease.docx", told(&made("lease.docx")));
    insta::assert_snapshot!("ferries.pptx", told(&made("ferries.pptx")));
    insta::assert_snapshot!("dues.xlsx", told(&made("dues.xlsx")));
    insta::assert_snapshot!("tides.odt", told(&made("tides.odt")));
    insta::assert_snapshot!("lighthouse.epub", told(&made("lighthouse.epub")));
    insta::assert_snapshot!("ferry.eml", told(&made("ferry.eml")));
}

#[test]
fn a_notebook_is_text_and_code() {
    insta::assert_snapshot!("waves.ipynb", told(&made("waves.ipynb")));
}

#[cfg(feature = "formats")]
fn packaged(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = rawzip::ZipArchiveWriter::new(Vec::new());
    for (name, text) in files {
        let new = zip.new_file(name);
        let new = new.compression_method(rawzip::CompressionMethod::DEFLATE);
        let (mut entry, config) = new.start().unwrap();
        let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::fast());
        let mut writer = config.wrap(encoder);
        std::io::Write::write_all(&mut writer, text).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    zip.finish().unwrap()
}

#[cfg(feature = "formats")]
#[test]
fn chapters_of_a_book_are_found_by_their_addresses_and_missing_ones_warned_of() {
    let book = |last: &str| {
        let item = |id, href| format!("<item id='{id}' href='{href}'/>");
        let content = format!(
            "<package><manifest>{}{}{}<item id='n' href='nav.xhtml' properties='nav'/></manifest>\
             <spine><itemref idref='n'/><itemref idref='a'/><itemref idref='b'/>\
             <itemref idref='c'/></spine></package>",
            item("a", "Chapter%201.xhtml"),
            item("b", "../Text/two.xhtml#start"),
            item("c", last),
        );
        let container = "<container><rootfiles><rootfile full-path='OPS/content.opf'/>\
            </rootfiles></container>";
        let chapter = |text: &str| format!("<html><body><p>{text}</p></body></html>");
        let (one, two, three) = (chapter("One."), chapter("Two."), chapter("Three."));
        packaged(&[
            ("META-INF/container.xml", container.as_bytes()),
            ("OPS/content.opf", content.as_bytes()),
            (
                "OPS/nav.xhtml",
                b"<html><body><p>Contents.</p></body></html>",
            ),
            ("OPS/Chapter 1.xhtml", one.as_bytes()),
            ("Text/two.xhtml", two.as_bytes()),
            ("OPS/three.xhtml", three.as_bytes()),
        ])
    };
    let read = |last| outline(book(last), Format::Packed(Packed::Epub)).unwrap();
    let whole = read("three.xhtml");
    let paragraphs: Vec<&str> = whole.opening.split_whitespace().collect();
    assert_eq!(paragraphs, ["One.", "Two.", "Three."]);
    assert_eq!(whole.problem, None);
    let torn = read("four.xhtml");
    assert!(torn.opening.contains("Two."), "{torn:?}");
    assert_eq!(
        torn.problem.as_deref(),
        Some("1 chapter of the book cannot be found in it")
    );
}

#[cfg(feature = "formats")]
#[test]
fn what_cannot_be_unpacked_is_refused_in_words() {
    let package = |name: &str, text: &[u8]| packaged(&[(name, text)]);
    let bomb = package("word/document.xml", &vec![b' '; 65 << 20]);
    assert!(bomb.len() < 1 << 20);
    let lost = package("other.xml", b"<x/>");
    let torn = package("word/document.xml", b"<a><b></a>");
    let laughs = package(
        "word/document.xml",
        b"<!DOCTYPE a [<!ENTITY x \"ha\"><!ENTITY y \"&x;&x;\">]><a><p><t>&y;</t></p></a>",
    );
    let whole = std::fs::read("tests/data/documents/lease.docx").unwrap();
    for (bytes, words) in [
        (bomb, "unpacks to more than 64 MB"),
        (lost, "it has no word/document.xml"),
        (torn, "damaged"),
        (whole[..whole.len() / 2].to_vec(), "damaged"),
        (b"\xd0\xcf\x11\xe0 old".to_vec(), "password"),
        (Vec::new(), "damaged"),
    ] {
        let refused = outline(bytes, Format::Packed(Packed::Docx)).unwrap_err();
        assert!(refused.reason.contains(words), "{refused:?}");
    }
    assert_eq!(
        outline(laughs, Format::Packed(Packed::Docx))
            .unwrap()
            .opening
            .trim(),
        ""
    );
    for packed in [
        Packed::Odt,
        Packed::Pptx,
        Packed::Xlsx,
        Packed::Epub,
        Packed::Mail,
    ] {
        for cut in [0, 10, 1000, whole.len() / 2] {
            assert!(
                outline(whole[..cut].to_vec(), Format::Packed(packed)).is_err(),
                "{packed:?}"
            );
        }
    }
}

#[test]
fn a_page_is_read_without_what_stands_on_every_page() {
    let html = r##"<html><head><title>Tides</title><meta name="author" content="Ada Marsh">
        <meta name="keywords" content="sea, moon"></head><body>
        <header class="banner">The harbour site</header><nav><a href="x">Home</a></nav>
        <div role="navigation">Menu</div><div class="cookie-banner">We use cookies</div>
        <main><header><h1>Tides</h1></header><p>Twice a day.</p><aside>Mind the wind.</aside>
        <table><tr><th>Moon</th><th>Height</th></tr><tr><td>full</td><td>4 m</td></tr></table>
        <pre>a │ b</pre><h2>Spring<a class="headerlink" href="#s">¶</a></h2><p>Higher.</p></main>
        <aside>Related pages</aside><footer>© the harbour</footer></body></html>"##;
    let read = outline(html.as_bytes().to_vec(), Format::Html).unwrap();
    insta::assert_snapshot!("page.html", told(&read));
    // Without a main element everything except navigation is kept; an empty one has no text.
    for html in [
        "<nav>Menu</nav><p>Text.</p>",
        "<main></main><p>Text.</p>",
        "<form id=aspnetForm><p>Text.</p><select><option>One</select><textarea>Two</textarea></form>",
    ] {
        let read = outline(html.as_bytes().to_vec(), Format::Html).unwrap();
        assert_eq!(read.opening.trim(), "Text.");
    }
    let deep = "<div>".repeat(500) + "<p>Deep.</p>";
    assert!(outline(deep.into_bytes(), Format::Html).is_ok());
}

#[test]
fn an_empty_element_of_xhtml_does_not_hold_the_rest_of_the_page() {
    let page = "<html><head><script src='a.js'/><title/></head><body><h1>Tides</h1>\
        <p><a href='moon'/>Twice a day.</p></body></html>";
    let declared = format!("<?xml version=\"1.0\"?>\n{page}");
    let file = |name: &str| Format::of(Path::new(name)).unwrap();
    for (format, page) in [
        (file("a.xhtml"), page),
        (file("a.xhtml"), &declared),
        (file("a.html"), &declared),
    ] {
        let read = outline(page.as_bytes().to_vec(), format).unwrap();
        assert_eq!(read.title.as_deref(), Some("Tides"), "{page}");
        assert_eq!(read.opening.trim(), "Twice a day.", "{page}");
        assert_eq!(format.name(), "html");
    }
    assert_eq!(links_of_html(&declared).links, ["moon"]);
}

#[test]
fn code_in_code_has_no_headings() {
    let text = "# T\n````md\n```\n# no heading\n```\n# nor this\n````\n## Real\n~~~\n```\n# no\n~~~\n## Also\n";
    let read = markdown::outline(text);
    let headings: Vec<&str> = read.sections.iter().map(|s| s.heading.as_str()).collect();
    assert_eq!(headings, ["Real", "Also"]);
}

#[test]
fn what_a_document_says_of_itself_is_kept_and_found() {
    let read = of_markdown(
        "---\ntitle: Ravens\nauthor: Ada\ndate: 2026-01-02\ntags: [birds]\naliases: Corvids\n---\n# Intro\nTwo.\n## More\nThree.\n",
    );
    let properties = Value::Object(read.chunks[0].properties.clone());
    assert_eq!(properties["author"], json!("Ada"));
    assert_eq!(properties["aliases"], json!(["Corvids"]));
    assert_eq!(
        read.chunks[0].text,
        "Author: Ada\nDate: 2026-01-02\nTags: birds\nAlso called: Corvids"
    );
    let section = &read.chunks[1].properties;
    assert_eq!(
        (&section["title"], &section["date"]),
        (&json!("Ravens"), &json!("2026-01-02"))
    );
    assert!(!section.contains_key("author"));
    assert_eq!(read.chunks[1].embedded, "Ravens > Intro\nTwo.");
    assert_eq!(read.chunks[2].embedded, "Ravens > Intro > More\nThree.");
}

#[test]
fn a_title_of_its_own_leaves_the_only_heading_to_be_found() {
    let all = |outline: Outline| {
        let path = Path::new("a.md");
        let record = record(
            outline,
            "a.md",
            path,
            Format::Markdown,
            MarkupKind::Markdown,
        )
        .unwrap();
        let embedded = record.chunks.into_iter().map(|chunk| chunk.embedded);
        embedded.collect::<Vec<_>>()
    };
    let expected = [
        "Nightly backup\nNightly backup",
        "Nightly backup > Zanzibar procedure\nCall Ada.",
        "Nightly backup > Zanzibar procedure > Steps\nOne.",
    ];
    for (text, format) in [
        (
            "---\ntitle: Nightly backup\n---\n# Zanzibar procedure\nCall Ada.\n## Steps\nOne.\n",
            Format::Markdown,
        ),
        (
            "+++\ntitle = \"Nightly backup\"\n+++\n## Zanzibar procedure\nCall Ada.\n### Steps\nOne.\n",
            Format::Markdown,
        ),
        (
            "#+TITLE: Nightly backup\n* Zanzibar procedure\nCall Ada.\n** Steps\nOne.\n",
            Format::Org,
        ),
        (
            "<title>Nightly backup</title><h1>Zanzibar procedure</h1><p>Call Ada.<h2>Steps</h2><p>One.",
            Format::Html,
        ),
    ] {
        let read = all(outline(text.into(), format).unwrap());
        let read: Vec<String> = read.iter().map(|it| it.replace("\n\n", "\n")).collect();
        assert_eq!(read, expected, "{text}");
    }
    // A heading that the title contains already is not repeated.
    let text = "---\ntitle: The nightly backup\n---\n# Nightly backup\nCall Ada.\n";
    let read = all(outline(text.into(), Format::Markdown).unwrap());
    assert_eq!(read, ["The nightly backup\nCall Ada."]);
}
