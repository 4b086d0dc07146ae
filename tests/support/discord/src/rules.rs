//! What Discord accepts in a body. Pure functions return what is wrong with a body.

mod commands;
mod components;
mod message;

pub(crate) use commands::{autocomplete, commands};
pub(crate) use components::form;
pub(crate) use message::{MessageForm, message, pings, thread_name};

use serde_json::Value;

use crate::error::Wrong;

/// Counts characters as Discord does.
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// Checks the length of an optional text.
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

/// Checks the length of a required text.
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

/// Checks an optional list of at most `most` items.
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
