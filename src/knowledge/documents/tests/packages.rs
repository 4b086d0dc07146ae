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
