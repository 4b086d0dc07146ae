//! Registered commands and autocomplete choices.

use std::collections::HashSet;

use serde_json::Value;

use super::{list, required_text, text};
use crate::error::Wrong;

/// Discord's limits: slash commands and context-menu commands of one kind, options, choices,
/// characters of a name and of a description.
const COMMANDS: usize = 100;
const MENU_COMMANDS: usize = 5;
const OPTIONS: usize = 25;
const CHOICES: usize = 25;
const NAME: usize = 32;
const DESCRIPTION: usize = 100;
const CHOICE: usize = 100;

/// Maximum characters of a command with its options and choices, each text in its longest
/// translation.
const MAX_COMMAND_CHARS: usize = 4_000;
/// Discord's locales.
const LOCALES: [&str; 32] = [
    "id", "da", "de", "en-GB", "en-US", "es-ES", "es-419", "fr", "hr", "it", "lt", "hu", "nl",
    "no", "pl", "pt-BR", "ro", "fi", "sv-SE", "vi", "tr", "cs", "el", "bg", "ru", "uk", "hi", "th",
    "zh-CN", "ja", "zh-TW", "ko",
];

/// Kinds of commands and options, as Discord's numbers.
const CHAT_INPUT: u64 = 1;
const SUBCOMMAND_GROUP: u64 = 2;

/// Returns what is wrong with a set of commands.
pub(crate) fn commands(body: &Value) -> Vec<Wrong> {
    let Some(commands) = body.as_array() else {
        return vec![Wrong::new(
            "",
            "BASE_TYPE_BAD_TYPE",
            "Only lists are supported.",
        )];
    };
    let mut wrongs = Vec::new();
    let mut names = HashSet::new();
    for (number, command) in commands.iter().enumerate() {
        one(&mut wrongs, &number.to_string(), command);
        if !names.insert((kind(command), command["name"].as_str().unwrap_or_default())) {
            let message = "Application command names must be unique";
            wrongs.push(Wrong::new(
                format!("{number}.name"),
                "APPLICATION_COMMANDS_DUPLICATE_NAME",
                message,
            ));
        }
    }
    for (of, most) in [(1, COMMANDS), (2, MENU_COMMANDS), (3, MENU_COMMANDS)] {
        if commands
            .iter()
            .filter(|command| kind(command) == of)
            .count()
            > most
        {
            let message = format!("At most {most} commands of type {of}");
            wrongs.push(Wrong::new("", "BASE_TYPE_MAX_LENGTH", message));
        }
    }
    wrongs
}

fn kind(command: &Value) -> u64 {
    command["type"].as_u64().unwrap_or(CHAT_INPUT)
}

fn one(wrongs: &mut Vec<Wrong>, at: &str, command: &Value) {
    let name_at = format!("{at}.name");
    localized(wrongs, at, command, "name", NAME);
    localized(wrongs, at, command, "description", DESCRIPTION);
    if whole(command) > MAX_COMMAND_CHARS {
        let message = format!("Command exceeds maximum size ({MAX_COMMAND_CHARS})");
        wrongs.push(Wrong::new(at, "APPLICATION_COMMAND_TOO_LARGE", message));
    }
    if kind(command) == CHAT_INPUT {
        name(wrongs, &name_at, &command["name"]);
        required_text(
            wrongs,
            &format!("{at}.description"),
            &command["description"],
            1,
            DESCRIPTION,
        );
        options(wrongs, &format!("{at}.options"), &command["options"]);
    } else {
        required_text(wrongs, &name_at, &command["name"], 1, NAME);
        if command["description"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
        {
            let message = "Context menu commands cannot have description";
            wrongs.push(Wrong::new(
                format!("{at}.description"),
                "APPLICATION_COMMAND_DESCRIPTION_NOT_ALLOWED",
                message,
            ));
        }
        if command["options"]
            .as_array()
            .is_some_and(|options| !options.is_empty())
        {
            let message = "Context menu commands cannot have options";
            wrongs.push(Wrong::new(
                format!("{at}.options"),
                "APPLICATION_COMMAND_OPTIONS_NOT_ALLOWED",
                message,
            ));
        }
    }
}

/// Checks a name: `^[-_'\p{L}\p{N}]{1,32}$`, in lower case.
fn name(wrongs: &mut Vec<Wrong>, at: &str, value: &Value) {
    required_text(wrongs, at, value, 1, NAME);
    let fits =
        |c: char| matches!(c, '-' | '_' | '\'') || (c.is_alphanumeric() && !c.is_uppercase());
    if value.as_str().is_some_and(|text| !text.chars().all(fits)) {
        let message = "Command name is invalid";
        wrongs.push(Wrong::new(at, "APPLICATION_COMMAND_INVALID_NAME", message));
    }
}

fn options(wrongs: &mut Vec<Wrong>, at: &str, value: &Value) {
    let mut optional = false;
    let mut names = HashSet::new();
    for (number, option) in list(wrongs, at, value, OPTIONS).iter().enumerate() {
        let at = format!("{at}.{number}");
        named(wrongs, &at, option);
        if !names.insert(option["name"].as_str()) {
            let code = "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS";
            wrongs.push(Wrong::new(
                format!("{at}.name"),
                code,
                "Option names must be unique",
            ));
        }
        let kind = option["type"].as_u64().unwrap_or_default();
        if !(1..=11).contains(&kind) {
            let message = "No such type of option.";
            wrongs.push(Wrong::new(
                format!("{at}.type"),
                "BASE_TYPE_CHOICES",
                message,
            ));
        }
        if kind <= SUBCOMMAND_GROUP {
            options(wrongs, &format!("{at}.options"), &option["options"]);
            continue;
        }
        let required = option["required"] == true;
        if required && optional {
            let code = "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID";
            let message = "Required options must be placed before non-required options";
            wrongs.push(Wrong::new(&at, code, message));
        }
        optional |= !required;
        offered(wrongs, &at, option);
    }
}

/// Counts the characters of a command, an option or a choice, with everything in it.
fn whole(thing: &Value) -> usize {
    let longest = |name: &str| {
        let translations = thing[format!("{name}_localizations")].as_object();
        let texts = translations.into_iter().flat_map(|it| it.values());
        let texts = texts.chain([&thing[name]]).filter_map(Value::as_str);
        texts.map(|it| it.chars().count()).max().unwrap_or_default()
    };
    let value = thing["value"].as_str().map_or(0, |it| it.chars().count());
    let within = ["options", "choices"].map(|name| {
        let inner = thing[name].as_array().into_iter().flatten();
        inner.map(whole).sum::<usize>()
    });
    longest("name") + longest("description") + value + within.iter().sum::<usize>()
}

/// Checks the translations of a name or a description.
fn localized(wrongs: &mut Vec<Wrong>, at: &str, thing: &Value, name: &str, most: usize) {
    let field = format!("{name}_localizations");
    for (locale, value) in thing[&field].as_object().into_iter().flatten() {
        let at = format!("{at}.{field}.{locale}");
        if !LOCALES.contains(&locale.as_str()) {
            let message = format!("Locale {locale} is not supported");
            wrongs.push(Wrong::new(&at, "BASE_TYPE_CHOICES", message));
        }
        required_text(wrongs, &at, value, 1, most);
    }
}

fn named(wrongs: &mut Vec<Wrong>, at: &str, option: &Value) {
    localized(wrongs, at, option, "name", NAME);
    localized(wrongs, at, option, "description", DESCRIPTION);
    name(wrongs, &format!("{at}.name"), &option["name"]);
    let at = format!("{at}.description");
    required_text(wrongs, &at, &option["description"], 1, DESCRIPTION);
}

/// Checks an option, which may have choices or autocompletion, but not both.
fn offered(wrongs: &mut Vec<Wrong>, at: &str, option: &Value) {
    choices(wrongs, &format!("{at}.choices"), &option["choices"]);
    let offered = option["choices"].as_array();
    let has_choices = offered.is_some_and(|choices| !choices.is_empty());
    if has_choices && option["autocomplete"] == true {
        let code = "APPLICATION_COMMAND_AUTOCOMPLETE_WITH_CHOICES";
        wrongs.push(Wrong::new(
            at,
            code,
            "Options cannot have choices and autocomplete",
        ));
    }
}

fn choices(wrongs: &mut Vec<Wrong>, at: &str, value: &Value) {
    for (number, choice) in list(wrongs, at, value, CHOICES).iter().enumerate() {
        localized(wrongs, &format!("{at}.{number}"), choice, "name", CHOICE);
        required_text(
            wrongs,
            &format!("{at}.{number}.name"),
            &choice["name"],
            1,
            CHOICE,
        );
        if choice["value"].is_null() {
            wrongs.push(Wrong::new(
                format!("{at}.{number}.value"),
                "BASE_TYPE_REQUIRED",
                "This field is required",
            ));
        }
        if choice["value"].is_string() {
            text(
                wrongs,
                &format!("{at}.{number}.value"),
                &choice["value"],
                0,
                CHOICE,
            );
        }
    }
}

/// Returns what is wrong with an autocomplete response.
pub(crate) fn autocomplete(data: &Value) -> Vec<Wrong> {
    let mut wrongs = Vec::new();
    if !data["choices"].is_array() {
        wrongs.push(Wrong::new(
            "data.choices",
            "BASE_TYPE_REQUIRED",
            "This field is required",
        ));
    }
    choices(&mut wrongs, "data.choices", &data["choices"]);
    wrongs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codes(wrongs: Vec<Wrong>) -> Vec<String> {
        wrongs
            .into_iter()
            .map(|wrong| format!("{} {}", wrong.at, wrong.code))
            .collect()
    }

    #[test]
    fn commands_are_named_by_the_pattern() {
        let slash = |name: &str| json!([{ "name": name, "description": "d" }]);
        for name in ["ask", "why-not", "frag_was", "質問"] {
            assert_eq!(codes(commands(&slash(name))), Vec::<String>::new());
        }
        for name in ["Ask", "ask me", "", &"x".repeat(33)] {
            assert_ne!(
                codes(commands(&slash(name))),
                Vec::<String>::new(),
                "{name}"
            );
        }
        let menu = json!([{ "type": 3, "name": "Ask Muninn about this message" }]);
        assert_eq!(codes(commands(&menu)), Vec::<String>::new());
    }

    #[test]
    fn options_and_choices_have_their_limits() {
        let option = json!({ "type": 3, "name": "q", "description": "d" });
        let required = json!({ "type": 3, "name": "r", "description": "d", "required": true });
        let of =
            |options: Value| json!([{ "name": "ask", "description": "d", "options": options }]);
        assert_eq!(
            codes(commands(&of(json!([required, option])))),
            Vec::<String>::new()
        );
        assert_eq!(
            codes(commands(&of(json!([option, required])))),
            ["0.options.1 APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID"]
        );
        let choice = json!({ "name": "a", "value": "a" });
        assert_eq!(
            codes(autocomplete(
                &json!({ "choices": vec![choice.clone(); 25] })
            )),
            Vec::<String>::new()
        );
        assert_eq!(
            codes(autocomplete(&json!({ "choices": vec![choice; 26] }))),
            ["data.choices BASE_TYPE_MAX_LENGTH"]
        );
    }
}
