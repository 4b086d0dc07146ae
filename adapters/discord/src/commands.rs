//! The slash commands, and their registration.

use muninn_texts::{Language, Text, text};
use serde_json::{Map, Value, json};
use serenity::model::id::GuildId;

use crate::api::DiscordApi;
use crate::errors::Failure;

const CHAT_INPUT: u8 = 1;
const MESSAGE: u8 = 3;

const TEXT: u8 = 3;
const NUMBER: u8 = 4;
const YES_OR_NO: u8 = 5;

/// Maximum length of a question typed as an option, in characters; Discord's own limit.
const LONGEST_QUESTION: u16 = 6_000;

/// Returns all commands as they should be registered.
pub(crate) fn all() -> Vec<Value> {
    let conversations = [
        command(
            "ask",
            &text!("slash-ask"),
            vec![
                question("question", &text!("slash-ask-question")),
                option(YES_OR_NO, "private", &text!("slash-ask-private")),
                option(YES_OR_NO, "thread", &text!("slash-ask-thread")),
            ],
        ),
        command("why", &text!("slash-why"), vec![]),
        command(
            "catchup",
            &text!("slash-catchup"),
            vec![since(&text!("slash-catchup-since"))],
        ),
        command(
            "backfill",
            &text!("slash-backfill"),
            vec![since(&text!("slash-backfill-since"))],
        ),
        command(
            "session",
            &text!("slash-session"),
            vec![with(
                option(TEXT, "name", &text!("slash-session-name")),
                "autocomplete",
                json!(true),
            )],
        ),
        command("usage", &text!("slash-usage"), vec![]),
        named(
            json!({ "type": MESSAGE }),
            ABOUT,
            &text!("slash-about-message"),
        ),
    ];
    let mut commands: Vec<Value> = conversations
        .into_iter()
        .chain(about_memory())
        .chain(about_people())
        .chain(attending())
        .collect();
    for command in &mut commands {
        // Available in guilds and in direct messages with the bot, installed to guilds.
        command["contexts"] = json!([0, 1]);
        command["integration_types"] = json!([0]);
    }
    commands
}

/// The commands about kept messages.
fn about_memory() -> [Value; 5] {
    [
        command(
            "forget",
            &text!("slash-forget"),
            vec![
                with_choices(
                    option(TEXT, "what", &text!("slash-forget-what")),
                    &[
                        (text!("slash-forget-last"), "last"),
                        (text!("slash-forget-thread"), "thread"),
                        (text!("slash-forget-channel"), "channel"),
                        (text!("slash-forget-private"), "private"),
                        (text!("slash-forget-me"), "me"),
                        (text!("slash-forget-me-yes"), "me yes"),
                    ],
                ),
                number(&text!("slash-forget-number")),
            ],
        ),
        command(
            "note",
            &text!("slash-note"),
            vec![question("text", &text!("slash-note-text"))],
        ),
        command(
            "memory",
            &text!("slash-memory"),
            vec![
                at_most(option(TEXT, "search", &text!("slash-memory-search")), 200),
                option(YES_OR_NO, "more", &text!("slash-memory-more")),
            ],
        ),
        command(
            "correct",
            &text!("slash-correct"),
            vec![
                required(number(&text!("slash-correct-number"))),
                question("text", &text!("slash-correct-text")),
            ],
        ),
        command(
            "remember",
            &text!("slash-remember"),
            vec![required(with_choices(
                option(TEXT, "what", &text!("slash-remember-what")),
                &[
                    (text!("slash-remember-not-me"), REMEMBER_NOT_ME),
                    (text!("slash-remember-me"), REMEMBER_ME),
                    (text!("slash-remember-channel"), REMEMBER_CHANNEL),
                    (text!("slash-remember-asked"), REMEMBER_ASKED),
                ],
            ))],
        ),
    ]
}

/// The commands about a person's accounts, copy, pages and programs.
fn about_people() -> [Value; 5] {
    [
        command(
            "link",
            &text!("slash-link"),
            vec![at_most(option(TEXT, "code", &text!("slash-link-code")), 20)],
        ),
        command("unlink", &text!("slash-unlink"), vec![]),
        command("export", &text!("slash-export"), vec![]),
        command(
            "web",
            &text!("slash-web"),
            vec![option(YES_OR_NO, "sign_out", &text!("slash-web-sign-out"))],
        ),
        command(
            "mcp",
            &text!("slash-mcp"),
            vec![
                with_choices(
                    option(TEXT, "what", &text!("slash-mcp-what")),
                    &[
                        (text!("slash-mcp-here"), "token"),
                        (text!("slash-mcp-everywhere"), "token everywhere"),
                        (text!("slash-mcp-list"), "tokens"),
                        (text!("slash-mcp-revoke"), "revoke"),
                        (text!("slash-mcp-revoke-all"), "revoke all"),
                    ],
                ),
                number(&text!("slash-mcp-number")),
                at_most(option(TEXT, "for", &text!("slash-mcp-for")), 30),
            ],
        ),
    ]
}

/// The commands about which messages are answered, and what is on the record.
fn attending() -> [Value; 5] {
    let texts = [
        ("mute", text!("slash-mute")),
        ("mentions", text!("slash-mentions")),
        ("unmute", text!("slash-unmute")),
        ("off", text!("slash-off")),
        ("on", text!("slash-on")),
    ];
    texts.map(|(name, description)| {
        let place = with_choices(
            option(TEXT, "where", &text!("slash-where")),
            &[
                (text!("slash-where-thread"), "thread"),
                (text!("slash-where-channel"), "channel"),
            ],
        );
        command(name, &description, vec![place])
    })
}

/// What may be remembered, in the words that people use.
const REMEMBER_NOT_ME: &str = "don't remember me here";
const REMEMBER_ME: &str = "remember me here";
const REMEMBER_CHANNEL: &str = "remember channel";
const REMEMBER_ASKED: &str = "remember only what is asked";

/// The command in a message's context menu.
pub(crate) const ABOUT: &str = "Ask Muninn about this message";

fn command(name: &str, description: &Text, options: Vec<Value>) -> Value {
    let command = described(json!({ "type": CHAT_INPUT, "name": name }), description);
    match options.is_empty() {
        true => command,
        false => with(command, "options", options.into()),
    }
}

fn option(kind: u8, name: &str, description: &Text) -> Value {
    described(json!({ "type": kind, "name": name }), description)
}

/// A required text option, as long as a question may be.
fn question(name: &str, description: &Text) -> Value {
    required(at_most(option(TEXT, name, description), LONGEST_QUESTION))
}

fn since(description: &Text) -> Value {
    at_most(option(TEXT, "since", description), 60)
}

/// A number option: an item of a list, counted from 1.
fn number(description: &Text) -> Value {
    with(option(NUMBER, "number", description), "min_value", json!(1))
}

fn required(option: Value) -> Value {
    with(option, "required", json!(true))
}

fn at_most(option: Value, characters: u16) -> Value {
    with(option, "max_length", json!(characters))
}

fn with_choices(option: Value, choices: &[(Text, &str)]) -> Value {
    let choices = choices.iter().map(|(text, value)| {
        named(
            json!({ "value": value }),
            &text.in_language(Language::English),
            text,
        )
    });
    with(option, "choices", choices.collect())
}

fn with(mut thing: Value, field: &str, value: Value) -> Value {
    thing[field] = value;
    thing
}

/// Adds a description in each supported language.
fn described(thing: Value, description: &Text) -> Value {
    let english = json!(description.in_language(Language::English));
    let thing = with(thing, "description", english);
    with(thing, "description_localizations", localized(description))
}

/// Adds a name, and its translation in each supported language.
fn named(thing: Value, name: &str, text: &Text) -> Value {
    let thing = with(thing, "name", json!(name));
    with(thing, "name_localizations", localized(text))
}

/// Returns a text by Discord locale.
fn localized(text: &Text) -> Value {
    let all = Language::ALL.into_iter().flat_map(|language| {
        let said = json!(text.in_language(language));
        locales(language)
            .iter()
            .map(move |locale| ((*locale).to_owned(), said.clone()))
    });
    Value::Object(all.collect())
}

/// Returns the Discord locales of a language; none for the default language.
fn locales(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &[],
        Language::German => &["de"],
        Language::French => &["fr"],
        Language::Spanish => &["es-ES", "es-419"],
        Language::Portuguese => &["pt-BR"],
        Language::Japanese => &["ja"],
    }
}

/// Whether the registered commands are the wanted ones.
pub(crate) fn are_registered(registered: &[Value]) -> bool {
    let wanted = all();
    let is_there = |wanted: &Value| {
        let mut registered = registered.iter();
        registered.any(|registered| normal(registered, wanted) == normal(wanted, wanted))
    };
    registered.len() == wanted.len() && wanted.iter().all(is_there)
}

/// Removes what Discord adds to a command (ids, versions) and empty values (false, null, empty);
/// keeps `contexts` only where wanted.
fn normal(value: &Value, wanted: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter_map(|(name, field)| {
                let wanted = wanted.get(name)?;
                let field = normal(field, wanted);
                (!says_nothing(&field)).then(|| (name.clone(), field))
            });
            Value::Object(kept.collect::<Map<String, Value>>())
        }
        Value::Array(items) => {
            let wanted = wanted.as_array().map(Vec::as_slice).unwrap_or_default();
            let items = items.iter().enumerate();
            let items = items.map(|(at, item)| match wanted.get(at) {
                Some(wanted) => normal(item, wanted),
                None => item.clone(),
            });
            Value::Array(items.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is) => !is,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(_) | Value::Number(_) => false,
    }
}

/// Registers the commands if they differ; Discord allows few registrations per day. Returns whether
/// something had changed.
pub(crate) async fn register(api: &DiscordApi, guild: Option<GuildId>) -> Result<bool, Failure> {
    let registered = api.commands(guild).await?;
    if are_registered(&registered) {
        return Ok(false);
    }
    api.set_commands(guild, &all()).await?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands as Discord returns them.
    fn registered() -> Vec<Value> {
        let mut commands = all();
        for (number, command) in commands.iter_mut().enumerate() {
            command["id"] = json!(number.to_string());
            command["version"] = json!("7");
            command["nsfw"] = json!(false);
            command["default_member_permissions"] = Value::Null;
            if command.get("description").is_none() {
                command["description"] = json!("");
            }
            for option in command["options"].as_array_mut().into_iter().flatten() {
                option["name_localizations"] = Value::Null;
                option["required"] = json!(option["required"] == json!(true));
            }
        }
        commands.reverse();
        commands
    }

    #[test]
    fn what_discord_adds_is_no_change() {
        assert!(are_registered(&registered()));
    }

    fn ask(commands: &mut [Value]) -> &mut Value {
        let mut commands = commands.iter_mut();
        let ask = commands.find(|command| command["name"] == "ask");
        ask.unwrap()
    }

    #[test]
    fn a_change_is_seen() {
        assert!(!are_registered(&[]));
        assert!(!are_registered(&registered()[1..]));
        let changes: [fn(&mut Vec<Value>); 5] = [
            |them| them.push(json!({ "type": 1, "name": "old", "description": "gone" })),
            |them| ask(them)["description"] = json!("other"),
            |them| ask(them)["description_localizations"]["de"] = json!("other"),
            |them| ask(them)["options"][0]["required"] = json!(false),
            |them| ask(them)["options"].as_array_mut().unwrap().truncate(1),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut them = registered();
            change(&mut them);
            assert!(!are_registered(&them), "change {number}");
        }
    }

    /// Returns all texts of a kind, with their translations.
    fn texts(thing: &Value, name: &str) -> Vec<String> {
        let localized = thing[format!("{name}_localizations")].as_object();
        let all = thing[name].as_str().into_iter();
        let all = all.chain(
            localized
                .into_iter()
                .flat_map(|it| it.values().filter_map(Value::as_str)),
        );
        all.map(str::to_owned).collect()
    }

    fn listed<'a>(thing: &'a Value, name: &str) -> &'a [Value] {
        thing[name].as_array().map_or(&[], Vec::as_slice)
    }

    #[test]
    fn texts_are_within_the_limits_in_every_language() {
        let fit = |texts: Vec<String>, most: usize| {
            for text in texts {
                assert!(text.chars().count() <= most, "{text}");
            }
        };
        for command in all() {
            fit(texts(&command, "name"), 32);
            fit(texts(&command, "description"), 100);
            for option in listed(&command, "options") {
                assert_eq!(texts(option, "description").len(), 7, "{option}");
                fit(texts(option, "description"), 100);
                let choices = listed(option, "choices");
                assert!(choices.len() <= 25);
                choices.iter().for_each(|it| fit(texts(it, "name"), 100));
            }
        }
    }
}
