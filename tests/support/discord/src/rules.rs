//! What Discord accepts in a body: pure functions from a body to what is wrong with it.

mod commands;
mod components;
mod message;

pub(crate) use commands::{autocomplete, commands};
pub(crate) use components::form;
pub(crate) use message::{MessageForm, message, pings, thread_name};

use serde_json::Value;

use crate::error::Wrong;

/// Characters as Discord counts them.
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// A text within bounds at `at`, if it is there.
fn text(wrongs: &mut Vec<Wrong>, at: &str, value: &Value, least: usize, most: usize) {
    if value.is_null() {
        return;
    }
    let Some(text) = value.as_str() else {
        wrongs.push(Wrong::new(
            at,
            "STRING_TYPE_CONVERT",
            "Could not interpret value as string.",
        ));
        return;
    };
    let count = length(text);
    if count > most {
        let message = format!("Must be {most} or fewer in length.");
        wrongs.push(Wrong::new(at, "BASE_TYPE_MAX_LENGTH", message));
    }
    if count < least {
        let message = format!("Must be between {least} and {most} in length.");
        wrongs.push(Wrong::new(at, "BASE_TYPE_BAD_LENGTH", message));
    }
}

/// A text that has to be there.
fn required_text(wrongs: &mut Vec<Wrong>, at: &str, value: &Value, least: usize, most: usize) {
    if value.is_null() {
        wrongs.push(Wrong::new(
            at,
            "BASE_TYPE_REQUIRED",
            "This field is required",
        ));
    }
    text(wrongs, at, value, least, most);
}

/// A list of at most `most`, if it is there.
fn list<'a>(wrongs: &mut Vec<Wrong>, at: &str, value: &'a Value, most: usize) -> &'a [Value] {
    let Some(list) = value.as_array() else {
        if !value.is_null() {
            wrongs.push(Wrong::new(
                at,
                "BASE_TYPE_BAD_TYPE",
                "Only lists are supported.",
            ));
        }
        return &[];
    };
    if list.len() > most {
        let message = format!("Must be {most} or fewer in length.");
        wrongs.push(Wrong::new(at, "BASE_TYPE_MAX_LENGTH", message));
    }
    list
}
