//! Rows of buttons.

use std::collections::HashSet;

use serde_json::Value;

use super::{list, required_text, text};
use crate::error::Wrong;

/// Discord's limits: rows of a message, buttons of a row, characters of a custom id and of a label.
const ROWS: usize = 5;
const BUTTONS: usize = 5;
const CUSTOM_ID: usize = 100;
const LABEL: usize = 80;

/// Kinds of components and of buttons, as Discord's numbers.
const ROW: u64 = 1;
const BUTTON: u64 = 2;
const LINK: u64 = 5;

pub(super) fn rows(wrongs: &mut Vec<Wrong>, at: &str, rows: &Value) {
    let mut ids = HashSet::new();
    for (number, row) in list(wrongs, at, rows, ROWS).iter().enumerate() {
        let at = format!("{at}.{number}");
        if row["type"].as_u64() != Some(ROW) {
            wrongs.push(Wrong::new(
                format!("{at}.type"),
                "UNION_TYPE_CHOICES",
                "A message holds rows (type 1).",
            ));
            continue;
        }
        let at = format!("{at}.components");
        let inner = list(wrongs, &at, &row["components"], BUTTONS);
        if inner.is_empty() {
            wrongs.push(Wrong::new(
                &at,
                "BASE_TYPE_BAD_LENGTH",
                "Must be between 1 and 5 in length.",
            ));
        }
        for (number, component) in inner.iter().enumerate() {
            one(wrongs, &format!("{at}.{number}"), component, &mut ids);
        }
    }
}

fn one<'a>(wrongs: &mut Vec<Wrong>, at: &str, component: &'a Value, ids: &mut HashSet<&'a str>) {
    let kind = component["type"].as_u64().unwrap_or_default();
    if kind != BUTTON {
        wrongs.push(Wrong::new(
            format!("{at}.type"),
            "UNION_TYPE_CHOICES",
            "A row holds buttons (type 2).",
        ));
        return;
    }
    identity(wrongs, at, component, ids);
    button(wrongs, at, component);
}

/// Checks a button's custom id, or the URL that it opens.
fn identity<'a>(
    wrongs: &mut Vec<Wrong>,
    at: &str,
    component: &'a Value,
    ids: &mut HashSet<&'a str>,
) {
    let custom_id = &component["custom_id"];
    if component["style"].as_u64() == Some(LINK) {
        required_text(wrongs, &format!("{at}.url"), &component["url"], 1, 512);
        if !custom_id.is_null() {
            let code = "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE";
            wrongs.push(Wrong::new(
                at,
                code,
                "A custom id and url cannot both be specified",
            ));
        }
    } else {
        required_text(wrongs, &format!("{at}.custom_id"), custom_id, 1, CUSTOM_ID);
    }
    if custom_id.as_str().is_some_and(|id| !ids.insert(id)) {
        let at = format!("{at}.custom_id");
        let message = "Component custom id cannot be duplicated";
        wrongs.push(Wrong::new(at, "COMPONENT_CUSTOM_ID_DUPLICATED", message));
    }
}

fn button(wrongs: &mut Vec<Wrong>, at: &str, button: &Value) {
    if !(1..=6).contains(&button["style"].as_u64().unwrap_or_default()) {
        wrongs.push(Wrong::new(
            format!("{at}.style"),
            "BASE_TYPE_CHOICES",
            "Value must be one of {1, 2, 3, 4, 5, 6}.",
        ));
    }
    text(wrongs, &format!("{at}.label"), &button["label"], 0, LABEL);
    let is_blank = button["label"].as_str().is_none_or(str::is_empty);
    if is_blank && button["emoji"].is_null() {
        wrongs.push(Wrong::new(
            at,
            "BUTTON_COMPONENT_LABEL_EMOJI_REQUIRED",
            "A button needs a label or an emoji",
        ));
    }
}

/// Returns what is wrong with a form: up to five rows, each with one field.
pub(crate) fn form(data: &Value) -> Vec<Wrong> {
    const FIELD: u64 = 4;
    let mut wrongs = Vec::new();
    required_text(
        &mut wrongs,
        "data.custom_id",
        &data["custom_id"],
        1,
        CUSTOM_ID,
    );
    required_text(&mut wrongs, "data.title", &data["title"], 1, 45);
    let rows = list(&mut wrongs, "data.components", &data["components"], ROWS);
    for (number, row) in rows.iter().enumerate() {
        let at = format!("data.components.{number}");
        let field = &row["components"][0];
        let is_field = row["type"].as_u64() == Some(ROW) && field["type"].as_u64() == Some(FIELD);
        if !is_field || row["components"].as_array().map(Vec::len) != Some(1) {
            let message = "A form holds rows with one field each.";
            wrongs.push(Wrong::new(&at, "UNION_TYPE_CHOICES", message));
        }
        required_text(&mut wrongs, &format!("{at}.label"), &field["label"], 1, 45);
        required_text(
            &mut wrongs,
            &format!("{at}.custom_id"),
            &field["custom_id"],
            1,
            CUSTOM_ID,
        );
        let (least, most) = (&field["min_length"], &field["max_length"]);
        let is_length = |value: &Value| value.as_u64().is_none_or(|length| length <= 4_000);
        if !matches!(field["style"].as_u64(), Some(1 | 2)) || !is_length(least) || !is_length(most)
        {
            wrongs.push(Wrong::new(
                &at,
                "BASE_TYPE_CHOICES",
                "No such style or length.",
            ));
        }
    }
    if rows.is_empty() {
        wrongs.push(Wrong::new(
            "data.components",
            "BASE_TYPE_REQUIRED",
            "This field is required",
        ));
    }
    wrongs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codes(value: &Value) -> Vec<String> {
        let mut wrongs = Vec::new();
        rows(&mut wrongs, "components", value);
        wrongs
            .into_iter()
            .map(|wrong| format!("{} {}", wrong.at, wrong.code))
            .collect()
    }

    fn row(buttons: usize) -> Value {
        let button = |number| json!({ "type": 2, "style": 2, "label": "a", "custom_id": format!("{buttons}-{number}") });
        json!({ "type": 1, "components": (0..buttons).map(button).collect::<Vec<_>>() })
    }

    #[test]
    fn five_buttons_make_a_row_and_five_rows_a_message() {
        assert_eq!(codes(&json!([row(5)])), Vec::<String>::new());
        assert_eq!(
            codes(&json!([row(6)])),
            ["components.0.components BASE_TYPE_MAX_LENGTH"]
        );
        let rows: Vec<Value> = (1..=5).map(row).chain([json!({ "type": 1, "components": [{ "type": 2, "style": 5, "label": "a", "url": "https://x" }] })]).collect();
        assert_eq!(codes(&json!(rows)), ["components BASE_TYPE_MAX_LENGTH"]);
        assert_eq!(
            codes(&json!([row(0)])),
            ["components.0.components BASE_TYPE_BAD_LENGTH"]
        );
    }

    #[test]
    fn a_button_needs_a_short_id_of_its_own_and_something_to_show() {
        let table = [
            (
                json!({ "type": 2, "style": 2, "label": "a", "custom_id": "x".repeat(101) }),
                "custom_id BASE_TYPE_MAX_LENGTH",
            ),
            (
                json!({ "type": 2, "style": 2, "label": "a" }),
                "custom_id BASE_TYPE_REQUIRED",
            ),
            (
                json!({ "type": 2, "style": 9, "label": "a", "custom_id": "a" }),
                "style BASE_TYPE_CHOICES",
            ),
            (
                json!({ "type": 2, "style": 2, "label": "x".repeat(81), "custom_id": "a" }),
                "label BASE_TYPE_MAX_LENGTH",
            ),
        ];
        for (button, expected) in table {
            let found = codes(&json!([{ "type": 1, "components": [button] }]));
            assert_eq!(found, [format!("components.0.components.0.{expected}")]);
        }
        let twice = json!({ "type": 2, "style": 2, "label": "a", "custom_id": "a" });
        let found = codes(&json!([{ "type": 1, "components": [twice, twice] }]));
        assert_eq!(
            found,
            ["components.0.components.1.custom_id COMPONENT_CUSTOM_ID_DUPLICATED"]
        );
    }
}
