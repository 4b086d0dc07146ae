use super::super::REPLACED;
use super::*;

#[test]
fn headings_of_rst_are_ranked_by_their_marks() {
    let (about, text) = to_markdown(
        "PEP: 8\nTitle: Style\nAuthor: Guido <g@x>,\n        Barry\nStatus: Active\n\n\
         =====\nIntro\n=====\n\nSee :ref:`the rest <rest>` and ``code``.\n\n.. note::\n   :class: x\n\n   Mind `this <u>`_.\n\n\
         .. _rest:\n\nRest\n====\n\n.. code-block:: python\n\n   # no heading\n   x = 1\n\nDeep\n----\n\n.. toctree::\n   :maxdepth: 2\n\n   a\n   b\n\nEnd.\n",
    );
    assert_eq!(about["title"], json!("Style"));
    assert_eq!(about["author"], json!("Guido <g@x>, Barry"));
    for part in [
        "# Intro\n",
        "See the rest and `code`.",
        "Note:\nMind this.",
        "## Rest\n",
        "```python\n# no heading\nx = 1\n```",
        "### Deep\n",
        "End.",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    for part in ["toctree", "_rest", ":class:", "maxdepth", "PEP:"] {
        assert!(!text.contains(part), "{part:?} in {text}");
    }
}

#[test]
fn fields_below_the_title_are_metadata() {
    for (above, below) in [
        ("Guide\n=====\n", "Text.\n"),
        (
            ".. _guide:\n\n=====\nGuide\n=====\n\nFor all\n-------\n",
            "Text.\n",
        ),
    ] {
        let (about, text) = to_markdown(&format!(
            "{above}\n:Author: Ada Marsh,\n  Bo\n:Status: Draft\n:Date: 2026-01-02\n\n{below}"
        ));
        assert_eq!(about["author"], json!("Ada Marsh, Bo"), "{above}");
        assert_eq!(about["date"], json!("2026-01-02"), "{above}");
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines[0], "# Guide");
        assert!(lines.ends_with(&[":Status: Draft", "Text."]), "{lines:?}");
    }
    for text in [
        "Guide\n=====\n\nText.\n\n:Author: Ada\n",
        "Text\n\n:Author: Ada\n",
    ] {
        let (about, read) = to_markdown(text);
        assert!(about.is_empty() && read.contains("Ada"), "{read}");
    }
}

#[test]
fn a_role_is_no_part_of_the_text() {
    for (rst, expected) in [
        ("See :ref:`the rest <rest>`.", "See the rest.\n"),
        ("(:py:func:`sail`)", "(sail)\n"),
        (
            "Note: run this:`keel stop` now",
            "Note: run this:keel stop now\n",
        ),
        ("At 7:30:`keel`", "At 7:30:keel\n"),
        ("So ::`x`", "So ::x\n"),
        ("`a`, `b`", "a, b\n"),
    ] {
        assert_eq!(to_markdown(rst).1, expected, "{rst}");
    }
}

#[test]
fn only_what_is_for_tools_is_left_out() {
    let (_, text) = to_markdown(
        ".. |maker| replace:: Siemens\n   AG\n\n.. |logo| image:: logo.png\n\n.. A comment: not::this one\n\n\
         Made by |maker| | or not [#limit]_.\n\n\
         .. [#limit] The limit is 900 hours,\n   or ``a|b``.\n\n.. [Knuth] TAOCP\n\n\
         .. glossary::\n   :sorted:\n\n   keel\n      The lowest beam.\n\n\
         .. confval:: html_theme\n\n   The theme.\n\n.. figure:: keel.png\n   :width: 10\n\n   A keel of oak.\n\n\
         .. only:: html\n\n   .. tip:: Oil it.\n\n      .. csv-table::\n         :header: \"Name\", \"Size\"\n\n         \"a, b\", 2\n\n\
         .. py:function:: sail(wind)\n\n.. autoclass:: Boat\n   :members:\n\n.. index:: boats\n\n\
         .. raw:: html\n\n   <b>\n\n.. rubric:: Notes\n\nEnd.\n",
    );
    for part in [
        "Made by Siemens AG | or not",
        "[#limit] The limit is 900 hours,\nor `a|b`.\n",
        "[Knuth] TAOCP\n",
        "keel\n   The lowest beam.\n",
        "html_theme\nThe theme.\n",
        "A keel of oak.",
        "Tip: Oil it.\n",
        "| Name | Size |\n| --- | --- |\n| a, b | 2 |\n",
        "sail(wind)\n",
        "Notes\n",
        "End.",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    for part in [
        "png", "comment", "html\n", "Boat", "boats", "<b>", "..", "replace", "sorted",
    ] {
        assert!(!text.contains(part), "{part:?} in {text}");
    }
}

#[test]
fn literal_blocks_are_code() {
    for (rst, expected) in [
        (
            "So::\n\n   .. rubric:: x\n     |a|\n\n   ```\n\nEnd.\n",
            "So:\n\n````\n.. rubric:: x\n  |a|\n\n```\n````\n\nEnd.\n",
        ),
        ("So ::\n\n  x\n", "So\n\n```\nx\n```\n\n"),
        ("::\n\n  x\n", "\n\n```\nx\n```\n\n"),
        ("* So::\n\n  * No code.\n", "* So::\n\n  * No code.\n"),
        ("1. So::\n\n    x\n", "1. So:\n\n```\nx\n```\n\n"),
        ("So::\nand\n   on.\n", "So::\nand\n   on.\n"),
        ("So::\n\nnothing.\n", "So::\n\nnothing.\n"),
    ] {
        assert_eq!(to_markdown(rst).1, expected, "{rst}");
    }
}

#[test]
fn text_of_a_directive_may_begin_with_a_role() {
    for (rst, expected) in [
        (
            ".. deprecated:: 3.2\n   :func:`sail` is gone; use :func:`row`.\n",
            "Deprecated since version 3.2\nsail is gone; use row.\n\n",
        ),
        (
            ".. note::\n   :ref:`The harbour <h>` closes at seven.\n",
            "Note:\nThe harbour closes at seven.\n\n",
        ),
        (
            ".. note::\n   :class: x\n   :sorted:\n   :ref:`Tides <t>`: at six.\n",
            "Note:\nTides: at six.\n\n",
        ),
    ] {
        assert_eq!(to_markdown(rst).1, expected, "{rst}");
    }
}

#[test]
fn nothing_grows_without_bound() {
    let deep: String = (0..200)
        .map(|at| format!("{}.. note:: x\n", " ".repeat(at)))
        .collect();
    assert!(to_markdown(&deep).1.len() < 2 * deep.len());
    let define = format!(".. |a| replace:: {}\n\n", "word ".repeat(1_000));
    let many = define + &"|a|\n".repeat(1_000);
    assert!(to_markdown(&many).1.len() < REPLACED + many.len());
}
