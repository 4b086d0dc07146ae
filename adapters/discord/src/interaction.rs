//! Reads interactions into plain data: commands, buttons, forms, and what is typed.

use std::fmt::Write as _;

use muninn_platform::{Attention, Command, ForgetWhat, Language, Listing, Scope};
use secrecy::SecretString;
use serenity::model::application::{
    ActionRow, ActionRowComponent, CommandDataOptionValue, CommandInteraction, CommandType,
    ComponentInteraction, Interaction, ModalInteraction,
};
use serenity::model::channel::PartialChannel;
use serenity::model::guild::Member;
use serenity::model::id::{ChannelId, GuildId, InteractionId, MessageId};
use serenity::model::user::User;

use crate::directory::{DiscordChannelKind, DiscordLocation};
use crate::message::{Person, Quoted, person, quoted};

/// An interaction: somebody used a command or a button, or is typing a command.
#[derive(Debug)]
pub(crate) struct UserInteraction {
    pub(crate) id: InteractionId,
    /// Anybody who has it can answer the interaction for fifteen minutes.
    pub(crate) token: SecretString,
    pub(crate) who: Person,
    pub(crate) spot: DiscordLocation,
    pub(crate) what: InteractionKind,
}

impl UserInteraction {
    /// Sets the place, which Discord did not describe, as it is known from before.
    pub(crate) fn locate(&mut self, known: DiscordLocation) {
        if let InteractionKind::Unplaced {
            in_thread,
            in_channel,
        } = &self.what
        {
            let command = if is_one_conversation(&known) {
                in_thread
            } else {
                in_channel
            };
            self.what = InteractionKind::Given(command.clone());
        }
        self.spot = known;
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InteractionKind {
    Ask {
        question: String,
        private: bool,
        thread: bool,
    },
    /// A command that means the same everywhere.
    Given(Command),
    /// A command about a place that nobody chose, given where Discord does not say whether it is a
    /// thread: what it means in either.
    Unplaced {
        in_thread: Command,
        in_channel: Command,
    },
    /// What to forget, as chosen.
    Forget(String),
    /// A conversation's id, or what somebody typed instead.
    Session(Option<String>),
    /// The text typed so far.
    TypingSession(String),
    /// Asks about a message.
    About(Quoted),
    Pressed {
        button: String,
        on: MessageId,
        /// The message is visible only to whoever pressed.
        is_private: bool,
    },
    /// A submitted form: its id, and the text.
    Submitted(String, String),
    /// From another version of this program, or not ours.
    Unknown,
}

fn asker(user: &User, member: Option<&Member>, locale: &str) -> Person {
    let asker = match member {
        Some(member) => person(
            &member.user,
            member.nick.clone(),
            member.roles.clone(),
            member.permissions,
        ),
        None => person(user, None, Vec::new(), None),
    };
    Person {
        language: Language::of_locale(locale),
        ..asker
    }
}

/// Discord may leave out the description of the channel. The place is in the server nevertheless,
/// without a name, and no thread is opened there.
fn spot(
    guild: Option<GuildId>,
    id: ChannelId,
    channel: Option<&PartialChannel>,
) -> DiscordLocation {
    if guild.is_none() {
        return DiscordLocation::direct(id);
    }
    let Some(channel) = channel else {
        return DiscordLocation {
            guild,
            channel: id,
            kind: DiscordChannelKind::Flat,
            parent: None,
            name: String::new(),
        };
    };
    DiscordLocation {
        guild,
        channel: id,
        kind: channel.kind.into(),
        // For a channel that is not a thread, the parent is its category.
        parent: channel.parent_id,
        name: channel.name.clone().unwrap_or_default(),
    }
}

/// Reads an interaction. `None` for a ping, which arrives over HTTP only.
pub(crate) fn read_interaction(raw: Interaction) -> Option<UserInteraction> {
    match raw {
        Interaction::Command(raw) => {
            let spot = spot(raw.guild_id, raw.channel_id, raw.channel.as_ref());
            let what = command(&raw, &spot);
            Some(of_command(raw, what))
        }
        Interaction::Autocomplete(raw) => {
            let typed = typed(&raw, "name").unwrap_or_default();
            Some(of_command(raw, InteractionKind::TypingSession(typed)))
        }
        Interaction::Component(raw) => Some(of_component(raw)),
        Interaction::Modal(raw) => Some(of_form(raw)),
        _ => None,
    }
}

fn of_command(raw: CommandInteraction, what: InteractionKind) -> UserInteraction {
    UserInteraction {
        id: raw.id,
        who: asker(&raw.user, raw.member.as_deref(), &raw.locale),
        spot: spot(raw.guild_id, raw.channel_id, raw.channel.as_ref()),
        what,
        token: raw.token.into(),
    }
}

fn of_component(raw: ComponentInteraction) -> UserInteraction {
    let flags = raw.message.flags.unwrap_or_default();
    UserInteraction {
        id: raw.id,
        who: asker(&raw.user, raw.member.as_ref(), &raw.locale),
        spot: spot(raw.guild_id, raw.channel_id, raw.channel.as_ref()),
        what: InteractionKind::Pressed {
            button: raw.data.custom_id,
            on: raw.message.id,
            is_private: flags.contains(serenity::model::channel::MessageFlags::EPHEMERAL),
        },
        token: raw.token.into(),
    }
}

fn of_form(raw: ModalInteraction) -> UserInteraction {
    UserInteraction {
        id: raw.id,
        who: asker(&raw.user, raw.member.as_ref(), &raw.locale),
        spot: spot(raw.guild_id, raw.channel_id, raw.channel.as_ref()),
        what: InteractionKind::Submitted(raw.data.custom_id, written(&raw.data.components)),
        token: raw.token.into(),
    }
}

/// Returns the text of a form's only field.
fn written(rows: &[ActionRow]) -> String {
    let mut fields = rows.iter().flat_map(|row| &row.components);
    let text = fields.find_map(|field| match field {
        ActionRowComponent::InputText(input) => input.value.clone(),
        // Discord has many more kinds.
        _ => None,
    });
    text.unwrap_or_default()
}

/// Builds the command in the words that people type.
fn about_tokens(what: Option<String>, number: Option<u32>, life: Option<String>) -> Command {
    let mut words = format!("mcp {}", what.unwrap_or_else(|| "tokens".to_owned()));
    // Writing to a string cannot fail.
    let _ = match (words.as_str(), number, life) {
        ("mcp revoke", Some(number), _) => write!(words, " {number}"),
        ("mcp token" | "mcp token everywhere", _, Some(life)) => write!(words, " for {life}"),
        _ => Ok(()),
    };
    Command::parse(&words)
}

fn command(raw: &CommandInteraction, spot: &DiscordLocation) -> InteractionKind {
    match (raw.data.kind, raw.data.name.as_str()) {
        (CommandType::Message, _) => {
            let target = raw.data.target_id.map(|id| id.to_message_id());
            let message = target.and_then(|id| raw.data.resolved.messages.get(&id));
            message.map_or(InteractionKind::Unknown, |message| {
                InteractionKind::About(quoted(message.clone()))
            })
        }
        (_, "ask") => InteractionKind::Ask {
            question: typed(raw, "question").unwrap_or_default(),
            private: flag(raw, "private"),
            thread: flag(raw, "thread"),
        },
        (_, "session") => InteractionKind::Session(typed(raw, "name")),
        (_, "forget") => match item(raw) {
            Some(number) => InteractionKind::Given(Command::Forget(ForgetWhat::Item(number))),
            None => InteractionKind::Forget(typed(raw, "what").unwrap_or_default()),
        },
        (_, _) => in_place(raw, spot),
    }
}

/// Returns a command about the chosen place; by default about the one in which it was used.
fn in_place(raw: &CommandInteraction, spot: &DiscordLocation) -> InteractionKind {
    let scopes = [Scope::Conversation, Scope::Audience];
    let [Some(in_thread), Some(in_channel)] = scopes.map(|scope| given(raw, scope)) else {
        return InteractionKind::Unknown;
    };
    let is_described = raw.channel.is_some() || spot.guild.is_none();
    match typed(raw, "where").as_deref() {
        _ if in_thread == in_channel => InteractionKind::Given(in_channel),
        Some("thread") => InteractionKind::Given(in_thread),
        Some("channel") => InteractionKind::Given(in_channel),
        // A command for a thread is not to change the whole channel.
        Some(_) | None if !is_described => InteractionKind::Unplaced {
            in_thread,
            in_channel,
        },
        Some(_) | None if is_one_conversation(spot) => InteractionKind::Given(in_thread),
        Some(_) | None => InteractionKind::Given(in_channel),
    }
}

/// Returns a command, which is about this scope if it is about a place.
fn given(raw: &CommandInteraction, scope: Scope) -> Option<Command> {
    Some(match raw.data.name.as_str() {
        "why" => Command::Why,
        "usage" => Command::Usage,
        "link" => Command::Link(typed(raw, "code")),
        "unlink" => Command::Unlink,
        "export" => Command::ExportMine,
        "web" if flag(raw, "sign_out") => Command::WebSignOut,
        "web" => Command::Web,
        "mcp" => about_tokens(typed(raw, "what"), item(raw), typed(raw, "for")),
        "backfill" => Command::Backfill(day(raw)),
        "catchup" => Command::CatchUp(day(raw)),
        "mute" => Command::Attend(Attention::Muted, scope),
        "mentions" => Command::Attend(Attention::Mentioned, scope),
        "unmute" => Command::Attend(Attention::Open, scope),
        "off" => Command::OffTheRecord(scope),
        "on" => Command::OnTheRecord(scope),
        "remember" => Command::parse(&typed(raw, "what").unwrap_or_default()),
        "note" => Command::Note(trimmed(raw, "text")),
        "memory" => Command::Memory(match typed(raw, "search") {
            Some(sought) => Listing::Search(sought),
            None if flag(raw, "more") => Listing::More,
            None => Listing::Newest,
        }),
        "correct" => Command::Correct {
            number: item(raw).unwrap_or_default(),
            text: trimmed(raw, "text"),
        },
        _ => return None,
    })
}

/// Whether all that is said there is one conversation.
fn is_one_conversation(spot: &DiscordLocation) -> bool {
    spot.kind.is_thread() || spot.kind == DiscordChannelKind::Direct
}

/// Returns the day from which on something is read, as somebody typed it.
fn day(raw: &CommandInteraction) -> Option<String> {
    Some(trimmed(raw, "since")).filter(|day| !day.is_empty())
}

fn flag(raw: &CommandInteraction, name: &str) -> bool {
    let option = raw.data.options.iter().find(|option| option.name == name);
    matches!(
        option.map(|option| &option.value),
        Some(CommandDataOptionValue::Boolean(true))
    )
}

/// Returns an item's number in a list; an invalid one becomes 0, which no list uses.
fn item(raw: &CommandInteraction) -> Option<u32> {
    let mut options = raw.data.options.iter();
    let option = options.find(|option| option.name == "number")?;
    match option.value {
        CommandDataOptionValue::Integer(number) => Some(u32::try_from(number).unwrap_or_default()),
        _ => None,
    }
}

fn trimmed(raw: &CommandInteraction, name: &str) -> String {
    typed(raw, name).unwrap_or_default().trim().to_owned()
}

fn typed(raw: &CommandInteraction, name: &str) -> Option<String> {
    let option = raw.data.options.iter().find(|option| option.name == name)?;
    match &option.value {
        CommandDataOptionValue::String(text)
        | CommandDataOptionValue::Autocomplete { value: text, .. } => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A slash command with these options, used in a server's text channel.
    fn told(name: &str, options: &Value) -> Value {
        let typed = options.as_object().unwrap().iter();
        let options: Vec<Value> = typed
            .map(|(name, value)| {
                let kind = match value {
                    Value::Bool(_) => 5,
                    Value::Number(_) => 4,
                    _ => 3,
                };
                json!({ "name": name, "type": kind, "value": value })
            })
            .collect();
        let user = json!({ "id": "4", "username": "ann", "discriminator": "0" });
        let member = json!({ "user": user, "roles": [], "deaf": false, "mute": false, "flags": 0,
            "joined_at": "2026-01-01T00:00:00Z", "permissions": "0" });
        json!({ "id": "9", "application_id": "3", "type": 2, "token": "t", "version": 1,
            "data": { "id": "8", "name": name, "type": 1, "options": options },
            "guild_id": "1", "channel_id": "2", "channel": { "id": "2", "type": 0, "name": "general" },
            "member": member, "app_permissions": "0", "locale": "en-US", "entitlements": [],
            "authorizing_integration_owners": {}, "attachment_size_limit": 10_485_760 })
    }

    fn read(name: &str, options: &Value) -> InteractionKind {
        let raw: Interaction = serde_json::from_value(told(name, options)).unwrap();
        read_interaction(raw).unwrap().what
    }

    #[test]
    fn a_command_without_a_description_of_its_channel_is_no_direct_message() {
        let mut told = told("why", &json!({}));
        told.as_object_mut().unwrap().remove("channel");
        let raw: Interaction = serde_json::from_value(told).unwrap();
        let spot = read_interaction(raw).unwrap().spot;
        assert_eq!(
            (spot.guild, spot.channel),
            (Some(GuildId::new(1)), ChannelId::new(2))
        );
        assert_eq!(spot.kind, DiscordChannelKind::Flat);
    }

    #[test]
    fn a_command_about_a_place_means_the_thread_also_if_its_channel_is_not_described() {
        let muted = |scope| Command::Attend(Attention::Muted, scope);
        let undescribed = |name: &str, options: Value| {
            let mut told = told(name, &options);
            told.as_object_mut().unwrap().remove("channel");
            let raw: Interaction = serde_json::from_value(told).unwrap();
            read_interaction(raw).unwrap()
        };
        for (kind, scope) in [
            (DiscordChannelKind::PublicThread, Scope::Conversation),
            (DiscordChannelKind::PrivateThread, Scope::Conversation),
            (DiscordChannelKind::Text, Scope::Audience),
        ] {
            let mut asked = undescribed("mute", json!({}));
            let unplaced = InteractionKind::Unplaced {
                in_thread: muted(Scope::Conversation),
                in_channel: muted(Scope::Audience),
            };
            assert_eq!(asked.what, unplaced);
            let known = DiscordLocation {
                kind,
                ..asked.spot.clone()
            };
            asked.locate(known.clone());
            let expected = (InteractionKind::Given(muted(scope)), known);
            assert_eq!((asked.what, asked.spot), expected);
        }
        // What is chosen, or means the same everywhere, needs no description.
        for (name, options, expected) in [
            (
                "mute",
                json!({ "where": "channel" }),
                muted(Scope::Audience),
            ),
            (
                "mute",
                json!({ "where": "thread" }),
                muted(Scope::Conversation),
            ),
            ("why", json!({}), Command::Why),
        ] {
            let given = InteractionKind::Given(expected);
            assert_eq!(undescribed(name, options).what, given, "/{name}");
        }
    }

    #[test]
    fn a_slash_command_is_the_command_that_people_write() {
        let day = || Some("2026-01-31".to_owned());
        let tokens = Command::parse("mcp token for a week");
        for (name, options, expected) in [
            ("why", json!({}), Command::Why),
            ("web", json!({ "sign_out": true }), Command::WebSignOut),
            ("mcp", json!({ "what": "token", "for": "a week" }), tokens),
            (
                "mcp",
                json!({ "what": "revoke", "number": 2 }),
                Command::parse("mcp revoke 2"),
            ),
            (
                "backfill",
                json!({ "since": " 2026-01-31 " }),
                Command::Backfill(day()),
            ),
            ("catchup", json!({ "since": " " }), Command::CatchUp(None)),
            (
                "mute",
                json!({}),
                Command::Attend(Attention::Muted, Scope::Audience),
            ),
            (
                "mentions",
                json!({}),
                Command::Attend(Attention::Mentioned, Scope::Audience),
            ),
            (
                "unmute",
                json!({ "where": "thread" }),
                Command::Attend(Attention::Open, Scope::Conversation),
            ),
            ("off", json!({}), Command::OffTheRecord(Scope::Audience)),
            (
                "on",
                json!({ "where": "thread" }),
                Command::OnTheRecord(Scope::Conversation),
            ),
            (
                "note",
                json!({ "text": " tea at four " }),
                Command::Note("tea at four".to_owned()),
            ),
            (
                "memory",
                json!({ "search": "tea", "more": true }),
                Command::Memory(Listing::Search("tea".to_owned())),
            ),
            (
                "memory",
                json!({ "more": true }),
                Command::Memory(Listing::More),
            ),
            ("memory", json!({}), Command::Memory(Listing::Newest)),
            (
                "correct",
                json!({ "number": 3, "text": " five " }),
                Command::Correct {
                    number: 3,
                    text: "five".to_owned(),
                },
            ),
            (
                "forget",
                json!({ "number": 3 }),
                Command::Forget(ForgetWhat::Item(3)),
            ),
            // No list has this number.
            (
                "forget",
                json!({ "number": -1 }),
                Command::Forget(ForgetWhat::Item(0)),
            ),
        ] {
            let given = InteractionKind::Given(expected);
            assert_eq!(read(name, &options), given, "/{name} {options}");
        }
        let forgetting = InteractionKind::Forget("thread".to_owned());
        assert_eq!(read("forget", &json!({ "what": "thread" })), forgetting);
        assert_eq!(read("nonsense", &json!({})), InteractionKind::Unknown);
    }
}
