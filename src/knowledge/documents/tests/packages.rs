use super::*;

/// Packs a book of these chapters.
fn book(chapters: &[&str]) -> Vec<u8> {
    let name = |at: usize| format!("{at}.xhtml");
    let items = (0..chapters.len()).map(|at| format!("<item id='c{at}' href='{}'/>", name(at)));
    let order = (0..chapters.len()).map(|at| format!("<itemref idref='c{at}'/>"));
    let content = format!(
        "<package><manifest>{}</manifest><spine>{}</spine></package>",
        items.collect::<String>(),
        order.collect::<String>(),
    );
    let names: Vec<String> = (0..chapters.len()).map(name).collect();
    let container =
        b"<container><rootfiles><rootfile full-path='content.opf'/></rootfiles></container>";
    let mut files: Vec<(&str, &[u8])> = vec![
        ("META-INF/container.xml", container),
        ("content.opf", content.as_bytes()),
    ];
    let texts = chapters.iter().map(|text| text.as_bytes());
    files.extend(names.iter().map(String::as_str).zip(texts));
    packaged(&files)
}

#[test]
fn a_chapter_ends_with_its_file() {
    let read = outline(
        book(&[
            "<html><head><title/></head><body><section><header><h1>The tide</h1></header>\
             <p>It turns.<a id='p2'/></p><article><p>A box.</p></article>\
             <aside class='sidebar' role='complementary'>A note.</aside></section></body></html>",
            "<html><head><script src=\"quiz.js\"/></head><body><h1>The quay</h1><p>It stays.</p>\
             <footer>From a log.</footer></body></html>",
        ]),
        Format::Packed(Packed::Epub),
    )
    .unwrap();
    let told = told(&read);
    assert_eq!(
        told.lines().collect::<Vec<_>>(),
        [
            "None {}",
            "[1] The tide",
            "It turns.",
            "A box.",
            "A note.",
            "[1] The quay",
            "It stays.",
            "From a log.",
        ],
    );
}

/// A mail with these parts, given with their types.
fn mail(parts: &[(&str, &str)]) -> String {
    let part = |(kind, text): &(&str, &str)| format!("--b\nContent-Type: {kind}\n\n{text}\n");
    format!(
        "From: Ada <ada@x>\nSubject: Tides\nMIME-Version: 1.0\n\
         Content-Type: multipart/mixed; boundary=b\n\n{}--b--\n",
        parts.iter().map(part).collect::<String>()
    )
}

fn read_mail(mail: &str) -> Outline {
    outline(mail.as_bytes().to_vec(), Format::Packed(Packed::Mail)).unwrap()
}

#[test]
fn every_part_of_a_body_is_read_as_its_own_kind() {
    let page = "<p>High <b>tide</b></p><table><tr><td>Quay</td><td>North</td></tr></table>";
    let image = ("image/png; name=\"sea.png\"", "x");
    let table = "High **tide**\n| Quay | North |\n| --- | --- |\n";
    for (parts, expected) in [
        (
            vec![("text/plain", "One."), image, ("text/plain", "Two.")],
            "One.\nTwo.\nAttached: sea.png",
        ),
        (
            vec![
                ("text/html", page),
                ("application/pdf", "x"),
                ("text/html", "<p>End</p>"),
            ],
            &format!("{table}End"),
        ),
        (
            vec![("text/html", page), ("text/plain", "# The list")],
            &format!("{table} # The list"),
        ),
    ] {
        let read = read_mail(&mail(&parts));
        let told = told(&read);
        let (_, text) = told.split_once('\n').unwrap();
        assert_eq!(text, expected, "{parts:?}");
        assert_eq!(read.problem, None);
    }
}

#[test]
fn attached_messages_are_sections() {
    let inner = "From: Bo <bo@x>\nTo: ada@x\nSubject: Dues\nDate: Fri, 02 Jan 2026 03:04:05 +0000\n\
         Content-Type: text/plain\n\nFour a day.";
    let read = read_mail(&mail(&[
        ("text/plain", "See below."),
        ("message/rfc822", inner),
    ]));
    assert_eq!(read.title.as_deref(), Some("Tides"));
    assert_eq!(read.opening.trim(), "See below.");
    let [section] = read.sections.as_slice() else {
        panic!("{read:?}");
    };
    assert_eq!((section.level, section.heading.as_str()), (1, "Dues"));
    let lines: Vec<&str> = section
        .body
        .split_terminator("\n\n")
        .map(str::trim)
        .collect();
    let expected = ["From: Bo", "Date: 2026-01-02", "To: ada@x", "Four a day."];
    assert_eq!(lines, expected);

    let mut deep = "Subject: Last\n\nZebrafish.".to_owned();
    for _ in 0..8 {
        deep = format!("Subject: On\nContent-Type: message/rfc822\n\n{deep}");
    }
    let read = read_mail(&deep);
    assert!(!format!("{:?}", read.sections).contains("Zebrafish"));
    let problem = read.problem.unwrap();
    assert!(problem.contains("1 attached message "), "{problem}");
}

#[test]
fn a_mail_of_thousands_of_messages_within_one_another_is_refused() {
    let deep = "Content-Type: message/rfc822\n\n".repeat(30_000);
    let mail = format!("Subject: On\n{deep}").into_bytes();
    let refused = outline(mail, Format::Packed(Packed::Mail));
    let why = format!("{:?}", refused.unwrap_err());
    assert!(why.contains("more than 500 messages"), "{why}");
}

#[test]
fn words_of_word_are_read_once_with_notes_below_their_paragraph() {
    let text = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let paragraph = |content: &str| format!("<w:p>{content}</w:p>");
    let note = |kind: &str, id: u8| format!("<w:r><w:{kind}Reference w:id=\"{id}\"/></w:r>");
    let boxed = paragraph(&text("In a box."));
    let document = [
        paragraph(&format!(
            "<w:pPr><w:pStyle w:val=\"h\"/></w:pPr>{}{}",
            text("The lease"),
            note("footnote", 1)
        )),
        paragraph(&format!(
            "{}{}{}{}{}",
            text("It ends"),
            note("endnote", 1),
            text(" in May"),
            note("footnote", 1),
            text(".")
        )),
        paragraph(&format!(
            "<w:moveFrom>{}</w:moveFrom><w:r>{}</w:r>{}",
            text("Moved."),
            format_args!(
                "<mc:AlternateContent><mc:Choice><w:txbxContent>{boxed}</w:txbxContent></mc:Choice>\
                 <mc:Fallback><w:txbxContent>{boxed}</w:txbxContent></mc:Fallback></mc:AlternateContent>"
            ),
            text("Around it.")
        )),
        paragraph(&format!("<w:moveTo>{}</w:moveTo>", text("Moved."))),
    ];
    let document = format!("<w:document>{}</w:document>", document.concat());
    let notes = |kind: &str, own: &str| {
        format!(
            "<w:{kind}s><w:{kind} w:type=\"separator\" w:id=\"0\">{}</w:{kind}>\
             <w:{kind} w:id=\"1\">{}{}</w:{kind}></w:{kind}s>",
            paragraph(&text("Line")),
            paragraph(&text(own)),
            paragraph(&text("Really."))
        )
    };
    let styles =
        "<w:styles><w:style w:styleId=\"h\"><w:name w:val=\"heading 1\"/></w:style></w:styles>";
    let file = packaged(&[
        ("word/document.xml", document.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
        (
            "word/footnotes.xml",
            notes("footnote", "Of 2026.").as_bytes(),
        ),
        ("word/endnotes.xml", notes("endnote", "If paid.").as_bytes()),
    ]);
    let read = outline(file, Format::Packed(Packed::Docx)).unwrap();
    assert_eq!(
        told(&read).lines().collect::<Vec<_>>(),
        [
            "Some(\"The lease\") {}",
            "Note: Of 2026. Really.",
            "It ends in May.",
            "Note: If paid. Really.",
            "In a box.",
            "Around it.",
            "Moved.",
        ],
    );
}

#[test]
fn notes_of_opendocument_split_no_sentence_and_no_heading() {
    let note = |text: &str| {
        format!(
            "<text:note><text:note-citation>1</text:note-citation><text:note-body>\
             <text:p>{text}</text:p><text:p>Really.</text:p></text:note-body></text:note>"
        )
    };
    let table = format!(
        "<table:table><table:table-row><table:table-cell><text:p>Quay{}</text:p></table:table-cell>\
         </table:table-row></table:table>",
        note("North.")
    );
    let content = format!(
        "<office:text><text:h text:outline-level=\"1\">The{} tide</text:h>\
         <text:p>It<office:annotation><text:p>Hidden.</text:p></office:annotation> turns{} at six.</text:p>\
         {table}<text:p>Around<draw:text-box><text:p>In a box.</text:p></draw:text-box> it.</text:p>\
         </office:text>",
        note("Low."),
        note("Slowly.")
    );
    let file = packaged(&[("content.xml", content.as_bytes())]);
    let read = outline(file, Format::Packed(Packed::Odt)).unwrap();
    assert_eq!(
        told(&read).lines().collect::<Vec<_>>(),
        [
            "Some(\"The tide\") {}",
            "Note: Low. Really.",
            "It turns at six.",
            "Note: Slowly. Really.",
            "| Quay |",
            "| --- |",
            "Note: North. Really.",
            "In a box.",
            "Around it.",
        ],
    );
}

#[test]
fn long_cells_are_warned_of() {
    let long = "x".repeat(sheet::CELL + 1);
    let rows =
        format!("<sheetData><row><c t='str'><v>{long}</v></c><c><v>1</v></c></row></sheetData>");
    let relations =
        "<Relationships><Relationship Id='r' Target='worksheets/s.xml'/></Relationships>";
    let file = packaged(&[
        (
            "xl/workbook.xml",
            b"<workbook><sheets><sheet name='S' r:id='r'/></sheets></workbook>",
        ),
        ("xl/_rels/workbook.xml.rels", relations.as_bytes()),
        ("xl/worksheets/s.xml", rows.as_bytes()),
    ]);
    let read = outline(file, Format::Packed(Packed::Xlsx)).unwrap();
    assert_eq!(
        read.problem.as_deref(),
        Some("of 1 cell only the first 2000 characters were read, the rest was left out")
    );
    assert!(!format!("{read:?}").contains(&long));
}
