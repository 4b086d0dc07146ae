use proptest::prelude::*;

use super::*;

/// Each text with its result; the snapshot is the table.
#[test]
fn markdown_becomes_matrix_html() {
    let table = [
        ("paragraphs and breaks", "one\ntwo\n\nthree"),
        ("emphasis", "*a* **b** ~~c~~ `d < e`"),
        ("headings", "# One\n###### Six"),
        ("a list", "- a\n- b\n  1. c\n  2. d\n"),
        ("a list that begins later", "7. seven\n8. eight"),
        ("tasks", "- [x] done\n- [ ] not yet"),
        ("a quote", "> said\n> so"),
        (
            "code with a language",
            "```rust\nlet a = \"<b>\";\n\nfn f() {}\n```",
        ),
        ("code with an odd language", "```a\"b onload=x\ncode\n```"),
        ("code that never ends", "```py\nprint(1)"),
        (
            "a table",
            "| a | b |\n|---|:-:|\n| 1 | `x|y` |\n| 2 | *z* |",
        ),
        ("a table with a row too long", "| a |\n|---|\n| 1 | 2 | 3 |"),
        ("a table without rows", "| a |\n|---|"),
        (
            "links",
            "[a](https://a.b/c?d=\"e\"&f) <https://g.h> <i@j.k> [l](mailto:m@n.o \"title\")",
        ),
        (
            "links that are none",
            "[x](javascript:alert(1)) [y](data:text/html,z) [z](matrix:r/a:b) [w]()",
        ),
        (
            "a link to a person",
            "[Ann](https://matrix.to/#/@ann:example.org)",
        ),
        ("an image", "![alt *text*](https://a.b/c.png)"),
        (
            "raw HTML",
            "a <b onclick=x>bold</b> <script>alert(1)</script>\n\n<div>\nblock\n</div>",
        ),
        ("a definition that is used", "[see][1]\n\n[1]: https://a.b"),
        (
            "a definition that is not",
            "before\n\n[note]: remember-this",
        ),
        ("escapes and entities", "\\*not\\* &amp; &lt;b&gt; a & b"),
        ("a rule", "a\n\n---\n\nb"),
    ];
    let shown: String = table
        .iter()
        .map(|(name, text)| format!("## {name}\n{text}\n--\n{}\n\n", html(text)))
        .collect();
    insta::assert_snapshot!(shown);
}

#[test]
fn deep_nesting_ends() {
    let html = html(&format!("{} deep", ">".repeat(500)));
    assert_eq!(html.matches("<blockquote>").count(), DEEPEST);
    assert!(html.contains("deep"));
}

const ALLOWED: &[&str] = &[
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "pre",
    "code",
    "ul",
    "ol",
    "li",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "em",
    "strong",
    "del",
    "a",
    "br",
    "hr",
    "sup",
    "sub",
];

/// Returns the tags in order, with their content.
fn tags(html: &str) -> Vec<&str> {
    html.split('<')
        .skip(1)
        .map(|tag| tag.split('>').next().unwrap())
        .collect()
}

fn is_allowed(tag: &str) -> bool {
    let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
    let attribute = attributes.split('=').next().unwrap();
    let fits = match name {
        "a" => attribute == "href",
        "ol" => matches!(attribute, "" | "start"),
        "code" => matches!(attribute, "" | "class"),
        _ => attribute.is_empty(),
    };
    fits && ALLOWED.contains(&name.trim_start_matches('/'))
}

fn tricky() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "*",
        "**",
        "_",
        "`",
        "```",
        "```js\n",
        "~~",
        "# ",
        "- ",
        "1. ",
        "> ",
        "| a | b |\n|--|--|\n",
        "| alpha | beta | alpha |\n",
        "|",
        "[",
        "](",
        ")",
        "](javascript:x)",
        "](https://a.b)",
        "<b>",
        "</b>",
        "<script>",
        "<!--",
        "-->",
        "<a href=\"x\">",
        "&lt;",
        "&",
        "\"",
        "!",
        "\\",
        "\n",
        "\n\n",
        "    ",
        " ",
        "[x]: y\n",
        "alpha",
        "beta",
        "é漢👩‍🚀",
        "<https://q.r>",
        "---\n",
        "[ ] ",
        "==",
        "[^1]: ",
        "$$",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

#[test]
fn a_definition_that_is_repeated_is_shown() {
    assert_eq!(
        html("[x]: y\n[x]: alpha"),
        "<p>[x]: y</p>\n<p>[x]: alpha</p>"
    );
    assert_eq!(
        html("[a][x]\n\n[x]: https://y.z\n[x]: alpha\n\nbeta"),
        "<p><a href=\"https://y.z\">a</a></p>\n<p>beta</p>\n<p>[x]: alpha</p>"
    );
}

proptest! {
    #[test]
    fn only_allowed_tags_come_out_and_each_is_closed(text in prop_oneof![tricky(), any::<String>()]) {
        let html = html(&text);
        let mut open = Vec::new();
        for tag in tags(&html) {
            prop_assert!(is_allowed(tag), "{tag} in {html}");
            if let Some(name) = tag.strip_prefix('/') {
                prop_assert_eq!(open.pop(), Some(name), "{}", html);
            } else if !matches!(tag, "br" | "hr") {
                open.push(tag.split(' ').next().unwrap());
            }
        }
        prop_assert!(open.is_empty(), "{open:?} in {html}");
    }

    /// No word is lost, wherever it is.
    #[test]
    fn every_word_is_shown(text in tricky()) {
        let html = html(&text);
        for word in ["alpha", "beta", "é漢👩‍🚀"] {
            let (said, shown) = (text.matches(word).count(), html.matches(word).count());
            // The language of a code block and a link's target are in attributes.
            prop_assert!(said <= shown, "{word} {said} times in {text:?}, {shown} in {html}");
        }
    }
}
