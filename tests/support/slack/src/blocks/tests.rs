//! Block Kit's rules as a table: what is accepted, and the errors for the rest.

use serde_json::{Value, json};

use super::rules::{BLOCKS, BlockFieldType, ELEMENTS, OBJECTS, Rule};
use super::{of_home, of_message, pings, shown};

fn plain(text: &str) -> Value {
    json!({ "type": "plain_text", "text": text })
}

fn section(text: &str) -> Value {
    json!({ "type": "section", "text": { "type": "mrkdwn", "text": text } })
}

fn button(label: &str) -> Value {
    json!({ "type": "button", "action_id": "why", "text": plain(label), "value": "v" })
}

fn feedback() -> Value {
    json!({ "type": "context_actions", "elements": [{ "type": "feedback_buttons", "action_id": "f",
        "positive_button": { "text": plain("👍"), "value": "good" },
        "negative_button": { "text": plain("👎"), "value": "bad" } }] })
}

#[test]
fn good_blocks_are_taken() {
    let confirm = json!({ "title": plain("Sure?"), "text": plain("All of it."), "confirm": plain("Yes"), "deny": plain("No") });
    let mut danger = button("Forget");
    danger["confirm"] = confirm;
    let blocks = json!([
        section(&"x".repeat(3_000)),
        { "type": "markdown", "text": "x".repeat(12_000) },
        { "type": "divider" },
        { "type": "context", "elements": [{ "type": "mrkdwn", "text": "small" }, plain("too")] },
        { "type": "actions", "elements": [danger, { "type": "button", "action_id": "b", "text": plain("b") }] },
        feedback(),
    ]);
    assert_eq!(of_message(&blocks), [""; 0]);
}

#[test]
fn each_broken_rule_is_told() {
    let long = "x".repeat(3_001);
    let table = [
        (json!({}), "not a list"),
        (
            json!([section(&long)]),
            "section.text.text: 3001 characters, must be 1 to 3000",
        ),
        (json!([section("")]), "section.text.text: 0 characters"),
        (json!([{ "type": "section" }]), "section: text is missing"),
        (json!([{ "type": "sectoin" }]), "sectoin: no such block"),
        (json!([{ "text": "x" }]), "block: no type"),
        (
            json!([{ "type": "divider", "colour": "red" }]),
            "divider: no such field: colour",
        ),
        (
            json!([{ "type": "header", "text": { "type": "mrkdwn", "text": "x" } }]),
            "header.text: must be plain_text",
        ),
        (
            json!([{ "type": "actions", "elements": [] }]),
            "actions.elements: 0 of them, must be 1 to 25",
        ),
        (
            json!([{ "type": "actions", "elements": [button("a"), button("b")] }]),
            "action_id: the same one twice",
        ),
        (
            json!([{ "type": "actions", "elements": [{ "type": "feedback_buttons" }] }]),
            "may not be here",
        ),
        (
            json!([{ "type": "actions", "elements": [button(&"x".repeat(76))] }]),
            "button.text.text: 76 characters",
        ),
        (
            json!([{ "type": "divider", "block_id": "a" }, { "type": "divider", "block_id": "a" }]),
            "block_id: the same one twice",
        ),
        (
            json!([{ "type": "markdown", "text": "x".repeat(7_000) }, { "type": "markdown", "text": "x".repeat(7_000) }]),
            "14000 characters",
        ),
        (
            json!(vec![json!({ "type": "divider" }); 51]),
            "51 of them, at most 50",
        ),
        (
            json!([{ "type": "section", "text": plain("x"), "expand": "yes" }]),
            "section.expand: no boolean",
        ),
    ];
    for (blocks, told) in table {
        let wrong = of_message(&blocks);
        assert!(
            wrong.iter().any(|wrong| wrong.contains(told)),
            "{told}: {wrong:?}"
        );
    }
}

#[test]
fn a_home_tab_has_its_own_rules() {
    let home = |block: Value| json!({ "type": "home", "blocks": [block] });
    assert_eq!(of_home(&home(section("x"))), [""; 0]);
    let table = [
        (home(feedback()), "context_actions: not on this surface"),
        (json!({ "type": "modal" }), "view: type must be home"),
        (
            json!({ "type": "home", "blocks": [], "private_metadata": "x".repeat(3_001) }),
            "home.private_metadata: 3001",
        ),
    ];
    for (view, told) in table {
        let wrong = of_home(&view);
        assert!(
            wrong.iter().any(|wrong| wrong.contains(told)),
            "{told}: {wrong:?}"
        );
    }
}

#[test]
fn a_person_reads_blocks_before_text_and_sees_who_is_pinged() {
    let blocks = json!([section("a &lt; b"), feedback(), { "type": "context", "elements": [{ "type": "mrkdwn", "text": "small" }] }]);
    assert_eq!(shown("other", &blocks), "a < b");
    assert_eq!(shown("only &amp; text", &Value::Null), "only & text");
    let table = [
        ("<@U123> and <!here|here>", vec!["<!here|here>", "<@U123>"]),
        (
            "&lt;!channel&gt; <!date^1^{date}|x> <https://example.org>",
            vec![],
        ),
        ("<!subteam^S1>", vec!["<!subteam^S1>"]),
    ];
    for (text, pinged) in table {
        assert_eq!(pings(text, &Value::Null), pinged);
        assert_eq!(pings("", &json!([section(text)])), pinged);
        // A plain text is shown verbatim.
        let label = json!([{ "type": "header", "text": plain(text) }]);
        assert_eq!(pings("", &label), [""; 0]);
    }
}

#[test]
fn whatever_the_tables_name_is_in_them() {
    let known = |kind: &str, rules: &[Rule]| rules.iter().any(|rule| rule.kind == kind);
    let all = BLOCKS.iter().chain(ELEMENTS).chain(OBJECTS);
    for field in all.flat_map(|rule| rule.fields) {
        match field.shape {
            BlockFieldType::Object(kind) => assert!(known(kind, OBJECTS), "{kind}"),
            BlockFieldType::Elements(kinds, _) => {
                for kind in kinds {
                    assert!(known(kind, ELEMENTS) || known(kind, OBJECTS), "{kind}");
                }
            }
            _ => {}
        }
    }
}
