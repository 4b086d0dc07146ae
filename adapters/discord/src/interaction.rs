//! Reads interactions into plain data: commands, buttons, forms, and what is typed.

use std::fmt::Write as _;

use muninn_platform::{Attention, Command, Language};
use secrecy::SecretString;
use serenity::model::application::{
    ActionRow, ActionRowComponent, CommandDataOptionValue, CommandInteraction, CommandType,
    ComponentInteraction, Interaction, ModalInteraction,
};
use serenity::model::channel::PartialChannel;
use serenity::model::guild::Member;
use serenity::model::id::{ChannelId, GuildId, InteractionId, MessageId};
use serenity::model::user::User;

use crate::directory::DiscordLocation;
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

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InteractionKind {
    Ask {
        question: String,
        private: bool,
        thread: bool,
    },
    /// A command that means the same everywhere.
    Given(Command),
    /// A digest since a day, as typed.
    CatchUp(Option<String>),
    /// Reading the history from a day on, as typed; `None` asks for the progress.
    Backfill(Option<String>),
    /// Which messages are answered, and the chosen place.
    Attend(Attention, Option<String>),
    /// Whether overheard messages are kept, and the chosen place.
    Record(bool, Option<String>),
    /// What may be remembered, in words.
    Remember(String),
    /// What to forget, as chosen, or an item's number in the last listing.
    Forget(String, Option<i64>),
    /// A note to keep.
    Note(String),
    /// A listing of kept items: those with these words, or the next page of the last listing.
    Memory(Option<String>, bool),
    /// Corrects the item with this number in the last listing.
    Correct(i64, String),
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

fn spot(
    guild: Option<GuildId>,
    id: ChannelId,
    channel: Option<&PartialChannel>,
) -> DiscordLocation {
    let Some(channel) = channel.filter(|_| guild.is_some()) else {
        return DiscordLocation::direct(id);
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
            let what = command(&raw);
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
fn about_tokens(what: Option<String>, number: Option<i64>, life: Option<String>) -> Command {
    let mut words = format!("mcp {}", what.unwrap_or_else(|| "tokens".to_owned()));
    // Writing to a string cannot fail.
    let _ = match (words.as_str(), number, life) {
        ("mcp revoke", Some(number), _) => write!(words, " {number}"),
        ("mcp token" | "mcp token everywhere", _, Some(life)) => write!(words, " for {life}"),
        _ => Ok(()),
    };
    Command::parse(&words)
}

fn command(raw: &CommandInteraction) -> InteractionKind {
    let flag = |name: &str| {
        let mut options = raw.data.options.iter();
        let found = options.find(|option| option.name == name);
        matches!(
            found.map(|option| &option.value),
            Some(CommandDataOptionValue::Boolean(true))
        )
    };
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
            private: flag("private"),
            thread: flag("thread"),
        },
        (_, "why") => InteractionKind::Given(Command::Why),
        (_, "usage") => InteractionKind::Given(Command::Usage),
        (_, "link") => InteractionKind::Given(Command::Link(typed(raw, "code"))),
        (_, "unlink") => InteractionKind::Given(Command::Unlink),
        (_, "export") => InteractionKind::Given(Command::ExportMine),
        (_, "web") if flag("sign_out") => InteractionKind::Given(Command::WebSignOut),
        (_, "web") => InteractionKind::Given(Command::Web),
        (_, "mcp") => InteractionKind::Given(about_tokens(
            typed(raw, "what"),
            number(raw, "number"),
            typed(raw, "for"),
        )),
        (_, "backfill") => InteractionKind::Backfill(typed(raw, "since")),
        (_, "catchup") => InteractionKind::CatchUp(typed(raw, "since")),
        (_, "mute") => InteractionKind::Attend(Attention::Muted, typed(raw, "where")),
        (_, "mentions") => InteractionKind::Attend(Attention::Mentioned, typed(raw, "where")),
        (_, "unmute") => InteractionKind::Attend(Attention::Open, typed(raw, "where")),
        (_, "off") => InteractionKind::Record(false, typed(raw, "where")),
        (_, "on") => InteractionKind::Record(true, typed(raw, "where")),
        (_, "remember") => InteractionKind::Remember(typed(raw, "what").unwrap_or_default()),
        (_, "forget") => InteractionKind::Forget(
            typed(raw, "what").unwrap_or_default(),
            number(raw, "number"),
        ),
        (_, "note") => InteractionKind::Note(typed(raw, "text").unwrap_or_default()),
        (_, "memory") => InteractionKind::Memory(typed(raw, "search"), flag("more")),
        (_, "correct") => InteractionKind::Correct(
            number(raw, "number").unwrap_or_default(),
            typed(raw, "text").unwrap_or_default(),
        ),
        (_, "session") => InteractionKind::Session(typed(raw, "name")),
        (_, _) => InteractionKind::Unknown,
    }
}

fn number(raw: &CommandInteraction, name: &str) -> Option<i64> {
    let option = raw.data.options.iter().find(|option| option.name == name)?;
    match option.value {
        CommandDataOptionValue::Integer(number) => Some(number),
        _ => None,
    }
}

fn typed(raw: &CommandInteraction, name: &str) -> Option<String> {
    let option = raw.data.options.iter().find(|option| option.name == name)?;
    match &option.value {
        CommandDataOptionValue::String(text)
        | CommandDataOptionValue::Autocomplete { value: text, .. } => Some(text.clone()),
        _ => None,
    }
}
