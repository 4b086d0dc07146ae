use muninn_platform::SafeText;
use proptest::prelude::*;

use super::*;

#[test]
fn lines_become_what_discord_knows() {
    for (text, shown) in [
        ("# One\n## Two ##\n### Three", "# One\n## Two\n### Three"),
        ("#### Four **x**\n###### Six", "**Four x**\n**Six**"),
        ("#no heading\n#", "#no heading\n#"),
        (
            "a\n\n---\n* * *\n___",
            "a\n\n──────────\n──────────\n──────────",
        ),
        ("> a\n>b\n> > c\n>>> d", "> a\n> b\n> c\n> d"),
        ("+ one\n* two\n  - three", "- one\n- two\n  - three"),
        ("- [ ] to do\n- [x] done", "- ☐ to do\n- ☑ done"),
        ("1. one\n2. two", "1. one\n2. two"),
        ("-# small", "\\-# small"),
        ("two  \nlines\\\nmore", "two\nlines\nmore"),
        ("", ""),
    ] {
        assert_eq!(convert(text), shown, "{text:?}");
    }
}

#[test]
fn code_has_three_backticks() {
    for (text, shown) in [
        ("```rust\nfn f() {}\n```", "```rust\nfn f() {}\n```"),
        (
            "~~~ python title=x\na | b\n~~~\nb",
            "```python\na | b\n```\nb",
        ),
        ("````md\n```\na\n```\n````", "```md\n``~`\na\n``~`\n```"),
        ("```c++ {1}\nx", "```c++\nx\n```"),
        (
            "- a\n    ```sh\n    ls\n      -l\n    ```",
            "- a\n```sh\nls\n  -l\n```",
        ),
        ("```{.r}\nx\n```", "```\nx\n```"),
        ("```\n<#1> || &lt; **\n```", "```\n<#1> || &lt; **\n```"),
        ("```a`b", "``~`a`b"),
        ("a ```b``` ``c", "a ``b`` ``c"),
        ("a<br>```b", "a\n``~`b"),
        // Discord would read marks and mentions in it.
        (
            "Run:\n\n    f(**a) <#1> || &lt;\n\n    \tb\n\nthen",
            "Run:\n\n```\nf(**a) <#1> || &lt;\n\n\tb\n```\n\nthen",
        ),
        (
            "see `a\n<#1> ||b||` and ||c||",
            "see `a\n<#1> ||b||` and \\|\\|c\\|\\|",
        ),
        ("- `a\n  &lt;` b\n- c", "- `a\n  &lt;` b\n- c"),
        ("`a\n\n<#1>`", "`a\n\n<~#1>`"),
        ("`a\n- <#1>`", "`a\n- <~#1>`"),
        ("\ta\n    ```\nb", "```\na\n``~`\n```\nb"),
        ("a\n    b", "a\n    b"),
        ("- a\n\n    b **c**", "- a\n\n    b **c**"),
        (
            "1. a\n\n     ```\n     <#1>\n     ```",
            "1. a\n\n```\n<#1>\n```",
        ),
    ] {
        let shown = shown.replace('~', "\u{200B}");
        assert_eq!(convert(text), shown, "{text:?}");
    }
}

#[test]
fn what_discord_would_make_something_of_is_shown_as_it_is() {
    for (text, shown) in [
        (
            "<#123> <:wave:1> <a:wave:1> <t:1700000000:R>",
            "<~#123> <~:wave:1> <~a:wave:1> <~t:1700000000:R>",
        ),
        (
            "</ask:123> <id:guide> <@1> <@&1>",
            "<~/ask:123> <~id:guide> <~@1> <~@&1>",
        ),
        ("`<#123>` ``a ` ||b||``", "`<#123>` ``a ` ||b||``"),
        ("a || b, |x|", "a \\|\\| b, |x|"),
        ("\\|\\| \\*not\\*", "\\|\\| \\*not\\*"),
        ("&lt;#1&gt; &amp;&quot;&#39;", "<~#1> &\"'"),
        ("&gt; no quote", "\\> no quote"),
        ("a < b > c", "a < b > c"),
    ] {
        let shown = shown.replace('~', "\u{200B}");
        assert_eq!(convert(text), shown, "{text:?}");
    }
}

#[test]
fn a_link_shows_where_it_leads() {
    for (text, shown) in [
        (
            "[the bank](https://evil.example/x)",
            "the bank (<https://evil.example/x>)",
        ),
        (
            "[https://bank.example](https://evil.example)",
            "https://bank.example (<https://evil.example>)",
        ),
        ("[https://a.b/c](https://a.b/c)", "<https://a.b/c>"),
        ("[a.b](https://a.b/)", "<https://a.b/>"),
        ("[1](https://a.b)", "[1] <https://a.b>"),
        (
            "[wiki](https://a.b/c_(d) \"title\")",
            "wiki (<https://a.b/c_(d)>)",
        ),
        ("[**bold**](docs/a.md)", "**bold** (docs/a.md)"),
        ("[](https://a.b)", "<https://a.b>"),
        ("[1] [a [b] c](https://a.b)", "[1] a [b] c (<https://a.b>)"),
        ("[no link] (https://a.b)", "[no link] (https://a.b)"),
        ("[cut off](https://a", "[cut off](https://a"),
        ("https://a.b/c_d_e||f", "https://a.b/c_d_e\\|\\|f"),
        (
            "<https://a.b> http://a.b/_x_",
            "<https://a.b> http://a.b/_x_",
        ),
        ("<a href=\"https://a.b\">words</a>", "words (<https://a.b>)"),
    ] {
        assert_eq!(convert(text), shown, "{text:?}");
    }
}

#[test]
fn html_becomes_marks_or_goes() {
    for (text, shown) in [
        ("<b>bold</b> <I>it</I> <code>x</code>", "**bold** *it* `x`"),
        ("one<br>two<BR />three", "one\ntwo\nthree"),
        ("<p>words</p><!-- note -->", "words"),
        ("Vec<b> and <b>", "Vec<b> and <b>"),
        ("<b></b>", "<b></b>"),
        ("x<sub>2</sub>", "x2"),
        ("<unknown>", "<unknown>"),
    ] {
        assert_eq!(convert(text), shown, "{text:?}");
    }
}

#[test]
fn tables_are_aligned() {
    let text = "Prices:\n\n| Thing | Price |\n|:---|---:|\n| **tea** | 2 |\n| `a\\|b` | 漢字 |\n| [x](https://a.b) |\n\nend";
    let shown = "Prices:\n\n```\nThing             | Price\n------------------+------\ntea               |     2\na|b               |  漢字\nx (<https://a.b>) |\n```\n\nend";
    assert_eq!(convert(text), shown);
    let code = "| a | b |\n|---|---|\n| `f(**a, x[0](y))` | `&lt; <br>` |\n| a b | `<#1>` |";
    let shown = "```\na               | b\n----------------+----------\nf(**a, x[0](y)) | &lt; <br>\na b             | <#1>\n```";
    assert_eq!(convert(code), shown);
    let bare = "a | b\n--|--\n1 | 2";
    assert_eq!(convert(bare), "```\na | b\n--+--\n1 | 2\n```");
    for none in ["a | b", "a\n-", "a | b\n--", "a | b\nc | d"] {
        assert_eq!(convert(none), none);
    }
}

/// Generates text from the signs that the rules handle, so that they interact.
fn tricky() -> impl Strategy<Value = String> {
    let pieces = [
        "<",
        ">",
        "#",
        "@",
        "|",
        "||",
        "`",
        "``",
        "```",
        "~~~",
        "[",
        "](",
        ")",
        "(",
        "\n",
        " ",
        "\\",
        "*",
        "**",
        "_",
        "- ",
        "> ",
        "-# ",
        "#### ",
        "a",
        "1",
        ":",
        "t:1",
        "/ask:1",
        "&lt;",
        "&gt;",
        "&amp;",
        "<br>",
        "<b>",
        "</b>",
        "<span>",
        "</span>",
        "https://a.b",
        "| a | b |\n|---|---|\n",
        "é",
        "漢",
        "👩‍🚀",
        "\u{200B}",
        "<a href=\"",
        "</a>",
        "<!--",
        "-->",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24).prop_map(|it| it.concat())
}

/// Returns the text outside of code, as Discord sees it.
fn outside_code(text: &str) -> String {
    let without_blocks: Vec<&str> = text.split("```").step_by(2).collect();
    let text = without_blocks.join("\n");
    let mut outside = String::new();
    let lines: Vec<&str> = text.lines().collect();
    let mut left = lines.as_slice();
    while !left.is_empty() {
        let (lines, after) = left.split_at(paragraph::lines_of_spans(left));
        left = after;
        let joined = lines.join("\n");
        let mut rest = joined.as_str();
        while let Some(at) = rest.find('`') {
            outside.push_str(&rest[..at]);
            let run = rest[at..].len() - rest[at..].trim_start_matches('`').len();
            let after = &rest[at + run..];
            let ticks = "`".repeat(run);
            rest = match after.find(&ticks) {
                Some(end) => {
                    // Text before and after code does not form one pattern.
                    outside.push('\n');
                    &after[end + run..]
                }
                None => {
                    outside.push_str(&ticks);
                    after
                }
            };
        }
        outside.push_str(rest);
        outside.push('\n');
    }
    outside
}

/// Whether Discord reads it as a form between angle brackets.
fn means_something(inside: &str) -> bool {
    let is_id = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let begins = ["#", "@", "@!", "@&", "t:"];
    let command = inside.strip_prefix('/').and_then(|it| it.split_once(':'));
    let emoji = inside.strip_prefix(':').and_then(|it| it.split_once(':'));
    begins
        .iter()
        .any(|it| inside.strip_prefix(it).is_some_and(is_id))
        || command.is_some_and(|(_, id)| is_id(id))
        || emoji.is_some_and(|(_, id)| is_id(id))
}

proptest! {
    #[test]
    fn nothing_means_more_than_it_says(text in tricky()) {
        let shown = convert(SafeText::new(&text).as_str());
        let shown = SafeText::new(&shown);
        let outside = outside_code(shown.as_str());
        for inside in outside.split('<').skip(1).filter_map(|form| Some(form.split_once('>')?.0)) {
            prop_assert!(!means_something(inside), "<{inside}> in {shown}");
        }
    }

    #[test]
    fn fences_are_balanced(text in tricky()) {
        let shown = convert(&text);
        let fences = shown.lines().filter(|line| line.starts_with("```") && !line[3..].contains('`'));
        prop_assert_eq!(fences.count() % 2, 0, "{}", shown);
    }

    #[test]
    fn harmless_text_stays(text in "[a-zA-Z0-9 .,;:!?(){}'\"é漢]{0,80}") {
        prop_assume!(!text.starts_with("    "));
        prop_assert_eq!(convert(&text), text.trim_end());
    }

    #[test]
    fn words_are_not_lost(words in prop::collection::vec("[a-z]{1,8}", 1..12), text in tricky()) {
        // Ordinary lines stay unchanged before any text.
        let words = words.join(" ");
        let shown = convert(&format!("{words}\n\n{text}"));
        prop_assert!(shown.starts_with(&words), "{shown}");
    }
}
