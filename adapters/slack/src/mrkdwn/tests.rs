use proptest::prelude::*;

use super::*;

#[test]
fn markdown_becomes_slacks_markup() {
    for (text, expected) in [
        ("plain", "plain"),
        (
            "**bold** and *it* and ~~gone~~",
            "*bold* and _it_ and ~gone~",
        ),
        ("# Title\n\ntext", "*Title*\n\ntext"),
        ("a\n\nb\nc", "a\n\nb\nc"),
        ("`x < y`", "`x &lt; y`"),
        (
            "```rust\nfn f() -> u8 {}\n```",
            "```\nfn f() -&gt; u8 {}\n```",
        ),
        ("- a\n- b\n    - c\n- d", "• a\n• b\n    • c\n• d"),
        ("3. a\n4. b", "3. a\n4. b"),
        ("- [x] a\n- [ ] b", "• ☑ a\n• ☐ b"),
        ("> a\n> b\n\nc", "> a\n> b\n\nc"),
        (
            "[docs](https://a.b/c?d=1&e=2)",
            "<https://a.b/c?d=1&amp;e=2|docs>",
        ),
        ("[a|b](https://a.b/x|y>z)", "<https://a.b/x%7Cy%3Ez|a¦b>"),
        ("[x](javascript:alert)", "x"),
        ("[x](<https://a.b/c d>)", "x"),
        ("<b>", "&lt;b&gt;"),
        ("a & b", "a &amp; b"),
        ("&lt;!here&gt;", "&lt;!here&gt;"),
        ("---", "──────────"),
        (
            "| name | n |\n|---|--:|\n| a | 10 |\n| b<c | 9 |",
            "```\nname   n\n----  --\na     10\nb&lt;c    9\n```",
        ),
    ] {
        assert_eq!(mrkdwn(text), expected, "{text:?}");
    }
}

#[test]
fn control_sequences_are_broken_in_markdown() {
    for (text, expected) in [
        ("<!here>", "&lt;!here>"),
        ("<@U1>", "&lt;@U1>"),
        ("<#C1|x>", "&lt;#C1|x>"),
        ("```\n<!subteam^S1>\n```", "```\n&lt;!subteam^S1>\n```"),
        (
            "<!DOCTYPE html><!-- a --><![CDATA[b]]>",
            "<!DOCTYPE html><!-- a --><![CDATA[b]]>",
        ),
        ("`List<@NonNull T>` @channel", "`List<@NonNull T>` @channel"),
        ("&lt;!here&gt;", "&lt;\u{200b}!here&gt;"),
        ("&lt;#", "&lt;\u{200b}#"),
        ("&#60;@U1>", "&#60;\u{200b}@U1>"),
        ("&#0060;@U1>", "&#0060;\u{200b}@U1>"),
        ("&#x003C;@U1>", "&#x003C;\u{200b}@U1>"),
        ("a < b, #1, c@d.e!", "a < b, #1, c@d.e!"),
        ("| a | b |\n|---|---|", "| a | b |\n|---|---|"),
    ] {
        assert_eq!(markdown(text), expected, "{text:?}");
    }
}

#[test]
fn a_long_text_has_a_short_fallback() {
    let text = SafeText::new(&"The standup moves to ten. ".repeat(400));
    let short = fallback(&text);
    assert!(short.chars().count() < 4_000 && short.ends_with('…'));
    assert_eq!(fallback(&SafeText::new("**a**")), "*a*");
}

/// Generates text of what the rules look at, so that they interact.
fn tricky() -> impl Strategy<Value = String> {
    let pieces = [
        "<",
        ">",
        "&",
        "!",
        "@",
        "#",
        "|",
        "`",
        "```",
        "\n",
        "\n\n",
        "    ",
        "> ",
        "- ",
        "1. ",
        "# ",
        "*",
        "**",
        "_",
        "~~",
        "[",
        "](",
        ")",
        "https://a.b/",
        "here",
        "U1",
        "C1",
        "&lt;",
        "&#60;",
        "\\",
        "| a |\n|---|\n",
        "a",
        " ",
        "<http://x|y>",
        "<b>",
        "é",
        "👩‍🚀",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24)
        .prop_map(|pieces| pieces.concat())
}

/// Returns the texts in angle brackets as Slack parses them; `None` if a bracket is not closed.
fn bracketed(text: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let after = &rest[at + 1..];
        let end = after.find('>')?;
        found.push(&after[..end]);
        rest = &after[end + 1..];
    }
    Some(found)
}

proptest! {
    #[test]
    fn nothing_but_links_is_left_in_brackets(text in prop_oneof![tricky(), any::<String>()]) {
        let markup = mrkdwn(SafeText::new(&text).as_str());
        let bracketed = bracketed(&markup);
        prop_assert!(bracketed.is_some(), "{markup:?}");
        for inner in bracketed.into_iter().flatten() {
            let is_link = ["https://", "http://", "mailto:"].iter().any(|s| inner.starts_with(s));
            prop_assert!(is_link && inner.matches('|').count() == 1, "{inner:?} in {markup:?}");
        }
        for at in markup.match_indices('&').map(|(at, _)| at) {
            let known = ["&amp;", "&lt;", "&gt;"].iter().any(|e| markup[at..].starts_with(e));
            prop_assert!(known, "{markup:?}");
        }
    }

    #[test]
    fn no_control_sequence_is_left_in_markdown(text in prop_oneof![tricky(), any::<String>()]) {
        let safe = markdown(&text);
        for form in ["<!here", "<!channel", "<!everyone", "<@U", "<@W", "<#C"] {
            prop_assert!(!safe.contains(form), "{form} in {safe:?}");
        }
        // Slack shows it as it was written.
        let read = safe.replace("&lt;", "<").replace(ZERO_WIDTH_SPACE, "");
        prop_assert_eq!(read, text.replace("&lt;", "<").replace(ZERO_WIDTH_SPACE, ""));
    }

    #[test]
    fn a_text_that_goes_on_goes_on(text in prop_oneof![tricky(), any::<String>()]) {
        let whole = markdown(SafeText::new(&text).as_str());
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let so_far = markdown(SafeText::streaming(&text[..end]).as_str());
            prop_assert!(whole.starts_with(&so_far), "{so_far:?} {whole:?}");
        }
    }

    #[test]
    fn words_are_not_lost(words in prop::collection::vec("[a-z]{1,8}", 1..30)) {
        let text = words.join(" ");
        prop_assert_eq!(mrkdwn(&text), text);
    }
}
