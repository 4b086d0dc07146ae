//! The commands, and their registration.

use serde_json::{Map, Value, json};
use serenity::model::id::GuildId;

use crate::api::Api;
use crate::errors::Failure;

const CHAT_INPUT: u8 = 1;
const MESSAGE: u8 = 3;

const TEXT: u8 = 3;
const NUMBER: u8 = 4;
const YES_OR_NO: u8 = 5;

/// The longest question that can be typed as an option; Discord's own limit.
const LONGEST_QUESTION: u16 = 6_000;

/// All commands as they should be registered.
pub(crate) fn all() -> Vec<Value> {
    let mut commands = vec![
        chat_input(
            "ask",
            "Ask Muninn something",
            json!([
                { "type": TEXT, "name": "question", "description": "What you want to know",
                  "required": true, "max_length": LONGEST_QUESTION },
                { "type": YES_OR_NO, "name": "private",
                  "description": "Only you see the question and the answer" },
                { "type": YES_OR_NO, "name": "thread",
                  "description": "Answer in a thread of its own" },
            ]),
        ),
        chat_input("why", "What the last answer here was made from", json!([])),
        chat_input(
            "forget",
            "Let Muninn forget something",
            json!([{ "type": TEXT, "name": "what", "description": "What to forget",
                "choices": [
                    { "name": "my last question here, with its answer", "value": "last" },
                    { "name": "this thread", "value": "thread" },
                    { "name": "this channel, with all of its threads", "value": "channel" },
                    { "name": "what I asked privately here", "value": "private" },
                    { "name": "everything of mine, everywhere", "value": "me" },
                    { "name": "everything of mine, everywhere: yes, for good", "value": "me yes" },
                ] },
                { "type": NUMBER, "name": "number", "min_value": 1,
                  "description": "Or one thing, as the last list that you saw here numbers it" }]),
        ),
        chat_input(
            "note",
            "Have Muninn keep something in mind here, for all who are here",
            json!([{ "type": TEXT, "name": "text", "description": "What to keep in mind",
                "required": true, "max_length": LONGEST_QUESTION }]),
        ),
        chat_input(
            "memory",
            "List what Muninn keeps of what you said here",
            json!([
                { "type": TEXT, "name": "search", "max_length": 200,
                  "description": "Only what has these words" },
                { "type": YES_OR_NO, "name": "more", "description": "What follows the last list" },
            ]),
        ),
        chat_input(
            "correct",
            "Say anew what a list of Muninn's shows",
            json!([
                { "type": NUMBER, "name": "number", "required": true, "min_value": 1,
                  "description": "Its number in the last list that you saw here" },
                { "type": TEXT, "name": "text", "required": true, "max_length": LONGEST_QUESTION,
                  "description": "What is right" },
            ]),
        ),
        attend("mute", "Have Muninn say nothing here until it is unmuted"),
        attend(
            "mentions",
            "Have Muninn answer here only when it is mentioned",
        ),
        attend("unmute", "Have Muninn answer here again"),
        attend(
            "off",
            "What people say to each other here from now on is off the record",
        ),
        attend(
            "on",
            "What people say to each other here may be remembered again",
        ),
        chat_input(
            "remember",
            "What Muninn may remember of this channel, and of you",
            json!([{ "type": TEXT, "name": "what", "description": "What to remember",
                "required": true, "choices": [
                    { "name": "nothing of mine that I do not say to Muninn", "value": REMEMBER_NOT_ME },
                    { "name": "also what I say to others", "value": REMEMBER_ME },
                    { "name": "what people say to each other in this channel", "value": REMEMBER_CHANNEL },
                    { "name": "only what Muninn is asked in this channel", "value": REMEMBER_ASKED },
                ] }]),
        ),
        chat_input(
            "catchup",
            "What was decided, answered and left open here while you were away",
            json!([{ "type": TEXT, "name": "since", "max_length": 60,
                "description": "A day, such as Monday or 2026-04-13; since you last wrote here, if you leave it out" }]),
        ),
        chat_input(
            "backfill",
            "Read what people said to one another in this channel before, where it is remembered",
            json!([{ "type": TEXT, "name": "since", "max_length": 60,
                "description": "The first day, such as 2026-01-31; leave it out to see how far it is" }]),
        ),
        chat_input(
            "link",
            "Let your account here and on another platform be one for Muninn",
            json!([{ "type": TEXT, "name": "code", "max_length": 20,
                "description": "The code that Muninn gave you there; leave it out to get one" }]),
        ),
        chat_input("unlink", "Undo /link for your account here", json!([])),
        chat_input("usage", "What was spent, by you and here", json!([])),
        chat_input(
            "export",
            "Get all that Muninn keeps of you, in all places, as files for you alone",
            json!([]),
        ),
        chat_input(
            "web",
            "Get a link to pages that show your conversations, for you alone",
            json!([{ "type": YES_OR_NO, "name": "sign_out",
                "description": "Sign out wherever you opened one" }]),
        ),
        chat_input(
            "mcp",
            "Let a program, such as an editor, ask Muninn for you",
            json!([
                { "type": TEXT, "name": "what", "description": "What to do; a list of your tokens, if you leave it out",
                  "choices": [
                    { "name": "a token that reads what you may read in this place", "value": "token" },
                    { "name": "a token that reads what you may read anywhere", "value": "token everywhere" },
                    { "name": "a list of your tokens", "value": "tokens" },
                    { "name": "revoke the token with this number", "value": "revoke" },
                    { "name": "revoke all of your tokens", "value": "revoke all" },
                  ] },
                { "type": NUMBER, "name": "number", "min_value": 1, "description": "Its number in the list" },
                { "type": TEXT, "name": "for", "max_length": 30,
                  "description": "How long the token holds, such as 30 days; until you revoke it, if you leave it out" },
            ]),
        ),
        chat_input(
            "session",
            "Find a conversation you had with Muninn",
            json!([{ "type": TEXT, "name": "name", "description": "Words of its first question",
                "autocomplete": true }]),
        ),
    ];
    commands.push(json!({ "type": MESSAGE, "name": ABOUT }));
    for command in &mut commands {
        // In guilds and in direct messages with the bot, for those who can use it there.
        command["contexts"] = json!([0, 1]);
        command["integration_types"] = json!([0]);
    }
    commands
}

/// What may be remembered, in the words that people say it with.
const REMEMBER_NOT_ME: &str = "don't remember me here";
const REMEMBER_ME: &str = "remember me here";
const REMEMBER_CHANNEL: &str = "remember channel";
const REMEMBER_ASKED: &str = "remember only what is asked";

/// The command in a message's menu.
pub(crate) const ABOUT: &str = "Ask Muninn about this message";

/// A command about which messages are answered.
fn attend(name: &str, description: &str) -> Value {
    let place = json!([{ "type": TEXT, "name": "where", "description": "Where; here, if you leave it out",
        "choices": [
            { "name": "in this thread", "value": "thread" },
            { "name": "in this channel, with all of its threads", "value": "channel" },
        ] }]);
    chat_input(name, description, place)
}

fn chat_input(name: &str, description: &str, options: Value) -> Value {
    let mut command = json!({ "type": CHAT_INPUT, "name": name, "description": description });
    if options
        .as_array()
        .is_some_and(|options| !options.is_empty())
    {
        command["options"] = options;
    }
    command
}

/// Whether what is registered is what should be.
pub(crate) fn are_registered(registered: &[Value]) -> bool {
    let wanted = all();
    let is_there = |wanted: &Value| {
        let mut registered = registered.iter();
        registered.any(|registered| normal(registered, wanted) == normal(wanted, wanted))
    };
    registered.len() == wanted.len() && wanted.iter().all(is_there)
}

/// A command without what Discord adds to it (ids, versions, translations) and without what says
/// nothing (false, null, empty); `contexts` only where they are asked for.
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

/// Registers the commands where they are not registered as they should be; Discord allows few
/// registrations a day. True: something had changed.
pub(crate) async fn register(api: &Api, guild: Option<GuildId>) -> Result<bool, Failure> {
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

    /// As Discord gives them back.
    fn registered() -> Vec<Value> {
        let mut commands = all();
        for (number, command) in commands.iter_mut().enumerate() {
            command["id"] = json!(number.to_string());
            command["version"] = json!("7");
            command["nsfw"] = json!(false);
            command["default_member_permissions"] = Value::Null;
            command["name_localizations"] = Value::Null;
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
        let changes: [fn(&mut Vec<Value>); 4] = [
            |them| them.push(json!({ "type": 1, "name": "old", "description": "gone" })),
            |them| ask(them)["description"] = json!("other"),
            |them| ask(them)["options"][0]["required"] = json!(false),
            |them| ask(them)["options"].as_array_mut().unwrap().truncate(1),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut them = registered();
            change(&mut them);
            assert!(!are_registered(&them), "change {number}");
        }
    }

    #[test]
    fn names_are_within_the_limits() {
        for command in all() {
            let name = command["name"].as_str().unwrap();
            assert!(name.len() <= 32, "{name}");
            let choices = command["options"][0]["choices"].as_array();
            assert!(choices.is_none_or(|choices| choices.len() <= 25));
        }
    }
}
