use proptest::prelude::*;

use super::*;

fn parts(text: &str, limit: TextLimit) -> Vec<String> {
    let parts = SafeText::trusted(text.to_owned()).split(limit);
    parts.iter().map(ToString::to_string).collect()
}

#[test]
fn cuts_fall_where_readers_pause() {
    for (text, limit, expected) in [
        ("", 10, &[][..]),
        (" \n ", 10, &[][..]),
        ("fits", 4, &["fits"][..]),
        ("one\n\ntwo\n\nthree", 10, &["one\n\ntwo", "three"][..]),
        ("line one\nline two", 12, &["line one", "line two"][..]),
        ("One two. Three four.", 14, &["One two.", "Three four."][..]),
        ("alpha beta gamma", 11, &["alpha beta", "gamma"][..]),
        ("abcdefgh", 3, &["abc", "def", "gh"][..]),
        (
            "e\u{301}e\u{301}e\u{301}",
            5,
            &["e\u{301}e\u{301}", "e\u{301}"][..],
        ),
        ("a\u{301}\u{301}", 2, &["a\u{301}", "\u{301}"][..]),
        (
            "| a | b |\n| c | d |\n| e | f |",
            20,
            &["| a | b |\n| c | d |", "| e | f |"][..],
        ),
    ] {
        assert_eq!(parts(text, TextLimit::Chars(limit)), expected, "{text:?}");
    }
    assert_eq!(parts("ééé", TextLimit::Bytes(4)), ["éé", "é"]);
    assert_eq!(parts("a\n\nb", TextLimit::Unlimited), ["a\n\nb"]);
}

#[test]
fn code_stays_whole_where_it_fits() {
    let text = "Here is some code for you:\n\n```rust\nlet a = 1;\nlet b = 2;\n```\nDone.";
    assert_eq!(
        parts(text, TextLimit::Chars(40)),
        [
            "Here is some code for you:",
            "```rust\nlet a = 1;\nlet b = 2;\n```\nDone."
        ],
    );
}

#[test]
fn long_code_is_closed_and_opened_again() {
    for (open, close) in [
        ("```rust", "```"),
        ("````md", "````"),
        ("~~~", "~~~"),
        ("  ```py", "  ```"),
    ] {
        let lines: String = (10..20).map(|n| format!("print({n})\n")).collect();
        let text = format!("{open}\n{lines}{close}\nend");
        let parts = parts(&text, TextLimit::Chars(40));
        assert!(parts.len() > 3, "{parts:?}");
        for part in &parts {
            assert!(part.starts_with(open), "{part:?}");
            assert!(part.contains(&format!("\n{close}")), "{part:?}");
        }
        assert!(parts.last().unwrap().ends_with("end"), "{parts:?}");
    }
}

#[test]
fn what_is_open_is_closed() {
    assert_eq!(parts("```\nx", TextLimit::Unlimited), ["```\nx\n```"]);
}

fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("```"),
        Just("````rust"),
        Just("~~~"),
        Just("\n"),
        Just("\n"),
        Just("\n\n"),
        Just(" "),
        Just("    "),
        Just("`"),
        Just("word"),
        Just("a sentence. "),
        Just("| a | b |\n"),
        Just("longlonglonglonglonglonglonglong"),
        Just("é"),
        Just("👩‍🚀"),
        Just("e\u{301}"),
    ];
    let tricky = prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat());
    prop_oneof![tricky, any::<String>()].prop_map(|text| SafeText::new(&text).to_string())
}

fn any_limit() -> impl Strategy<Value = TextLimit> {
    prop_oneof![
        (32..90usize).prop_map(TextLimit::Chars),
        (32..90usize).prop_map(TextLimit::Bytes),
        Just(TextLimit::Unlimited),
    ]
}

/// Removes what splitting may add or remove.
fn essence(text: &str) -> String {
    let lines = text.lines().filter(|line| {
        !line.trim_start().starts_with("```") && !line.trim_start().starts_with("~~~")
    });
    lines
        .flat_map(str::chars)
        .filter(|c| !c.is_whitespace() && !matches!(*c, ZERO_WIDTH_SPACE | '`' | '~'))
        .collect()
}

proptest! {
    #[test]
    fn parts_are_within_the_limit_and_balanced(text in any_text(), limit in any_limit()) {
        for part in parts(&text, limit) {
            prop_assert!(limit.measure(&part) <= limit.most(), "{part:?}");
            let end = part.split_inclusive('\n').fold(Fences::Outside, Fences::after);
            prop_assert_eq!(end, Fences::Outside, "{:?}", part);
            prop_assert!(!part.trim().is_empty());
        }
    }

    #[test]
    fn nothing_is_lost(text in "[a-z .\n|é`]{0,300}", limit in any_limit()) {
        // Without fences, so that no info string is added; joined by lines, since two parts that
        // end and begin with backticks would be read as a fence.
        let text = text.replace("```", "");
        prop_assert_eq!(essence(&parts(&text, limit).join("\n")), essence(&text));
    }

    #[test]
    fn no_code_is_lost(
        before in "[a-z .\n]{0,80}", code in "[a-z ();\n]{0,300}", after in "[a-z .\n]{0,80}",
        limit in any_limit(),
    ) {
        let text = format!("{before}\n```rust\n{code}\n```\n{after}");
        let joined = parts(&text, limit).join("\n");
        prop_assert_eq!(essence(&joined), essence(&text));
    }

    #[test]
    fn tiny_limits_hold(text in any_text(), limit in 4..32usize) {
        for part in parts(&text, TextLimit::Bytes(limit)) {
            prop_assert!(part.len() <= limit, "{part:?}");
        }
    }

    #[test]
    fn parts_are_safe(text in any_text(), limit in any_limit()) {
        for part in SafeText::new(&text).split(limit) {
            prop_assert_eq!(SafeText::new(part.as_str()), part);
        }
    }
}
