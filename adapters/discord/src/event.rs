//! Reads gateway events into plain data, only as far as the bot uses them.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use muninn_platform::{Attachment, Attention, Command, Language};
use secrecy::SecretString;
use serenity::model::Permissions;
use serenity::model::application::{
    ActionRow, ActionRowComponent, CommandDataOptionValue, CommandInteraction, CommandType,
    ComponentInteraction, Interaction, ModalInteraction,
};
use serenity::model::channel::{
    ChannelType, GuildChannel, Message, MessageType, PartialChannel, PermissionOverwriteType,
};
use serenity::model::event::{Event, MessageUpdateEvent};
use serenity::model::guild::{Guild as RawGuild, Member, PartialMember};
use serenity::model::id::{ChannelId, GuildId, InteractionId, MessageId, RoleId, UserId};
use serenity::model::user::User;

use crate::directory::{
    Change, Channel, DiscordChannelKind, DiscordLocation, Guild, Holder, Overwrite,
};
use crate::forwarded;

/// An event.
#[derive(Debug)]
pub(crate) enum GatewayEvent {
    /// A shard began a new session: Discord will not deliver what it missed. With the servers that
    /// it describes next.
    Ready(Vec<GuildId>),
    Changed(Change),
    /// A channel or thread was deleted; `None`: the bot was removed from the server.
    Gone(GuildId, Option<ChannelId>),
    Said(DiscordMessage),
    Edited {
        now: DiscordMessage,
        at: DateTime<Utc>,
    },
    Deleted {
        guild: Option<GuildId>,
        channel: ChannelId,
        messages: Vec<MessageId>,
    },
    Asked(Box<UserInteraction>),
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiscordMessage {
    pub(crate) id: MessageId,
    pub(crate) channel: ChannelId,
    pub(crate) guild: Option<GuildId>,
    pub(crate) author: Person,
    /// Written by a person, not a system message.
    pub(crate) is_regular: bool,
    pub(crate) text: String,
    /// The mentioned people, with their names.
    pub(crate) mentions: Vec<(UserId, String)>,
    pub(crate) role_mentions: Vec<RoleId>,
    /// It mentions everybody there, as `@everyone` or `@here`.
    pub(crate) mentions_everyone: bool,
    pub(crate) files: Vec<Attachment>,
    /// It also shows something that is not read, such as a sticker.
    pub(crate) has_more: bool,
    pub(crate) replies_to: Option<Quoted>,
    pub(crate) at: DateTime<Utc>,
}

/// A message that is replied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quoted {
    pub(crate) id: MessageId,
    pub(crate) author: UserId,
    pub(crate) is_bot: bool,
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) files: Vec<Attachment>,
    pub(crate) at: DateTime<Utc>,
}

/// Who said or asked something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) id: UserId,
    pub(crate) name: String,
    /// Also true of webhooks and Discord itself.
    pub(crate) is_bot: bool,
    pub(crate) roles: Vec<RoleId>,
    /// In the channel; only known for interactions.
    pub(crate) permissions: Option<Permissions>,
    /// The language of their Discord; only known for interactions.
    pub(crate) language: Option<Language>,
}

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

/// Reads an event. `None` if the bot does not use it.
pub(crate) fn read(event: Event) -> Option<GatewayEvent> {
    let change = match event {
        Event::Ready(event) => {
            let guilds = event.ready.guilds.iter().map(|guild| guild.id);
            return Some(GatewayEvent::Ready(guilds.collect()));
        }
        Event::GuildCreate(event) => guild(event.guild),
        // An unavailable guild comes back.
        Event::GuildDelete(event) if event.guild.unavailable => Change::GuildGone(event.guild.id),
        Event::GuildDelete(event) => return Some(GatewayEvent::Gone(event.guild.id, None)),
        Event::GuildUpdate(event) => Change::Owner(event.guild.id, event.guild.owner_id),
        Event::ChannelCreate(event) => Change::Channel(channel(event.channel)),
        Event::ChannelUpdate(event) => Change::Channel(channel(event.channel)),
        Event::ChannelDelete(event) => {
            let (guild, channel) = (event.channel.guild_id, event.channel.id);
            return Some(GatewayEvent::Gone(guild, Some(channel)));
        }
        Event::ThreadCreate(event) => thread(event.thread),
        Event::ThreadUpdate(event) => thread(event.thread),
        Event::ThreadDelete(event) => {
            let (guild, thread) = (event.thread.guild_id, event.thread.id);
            return Some(GatewayEvent::Gone(guild, Some(thread)));
        }
        Event::GuildRoleCreate(event) => {
            Change::Role(event.role.guild_id, event.role.id, event.role.permissions)
        }
        Event::GuildRoleUpdate(event) => {
            Change::Role(event.role.guild_id, event.role.id, event.role.permissions)
        }
        Event::GuildRoleDelete(event) => Change::RoleGone(event.guild_id, event.role_id),
        Event::GuildMemberUpdate(event) => {
            Change::Roles(event.guild_id, event.user.id, event.roles)
        }
        Event::MessageCreate(event) => return Some(GatewayEvent::Said(to_message(event.message))),
        Event::MessageUpdate(event) => return edited(event),
        Event::MessageDelete(event) => {
            return Some(GatewayEvent::Deleted {
                guild: event.guild_id,
                channel: event.channel_id,
                messages: vec![event.message_id],
            });
        }
        Event::MessageDeleteBulk(event) => {
            return Some(GatewayEvent::Deleted {
                guild: event.guild_id,
                channel: event.channel_id,
                messages: event.ids,
            });
        }
        Event::InteractionCreate(event) => {
            return read_interaction(event.interaction)
                .map(|asked| GatewayEvent::Asked(Box::new(asked)));
        }
        // Discord has many more kinds, and new ones with each version.
        _ => return None,
    };
    Some(GatewayEvent::Changed(change))
}

/// Returns a guild's chosen language. `None` for American English, which Discord reports if nobody
/// chose one.
fn chosen(locale: &str) -> Option<Language> {
    Language::of_locale(locale).filter(|_| locale != "en-US")
}

fn guild(raw: RawGuild) -> Change {
    let guild = Guild {
        id: raw.id,
        owner: raw.owner_id,
        my_roles: Vec::new(),
        my_own_role: None,
        language: chosen(&raw.preferred_locale),
        roles: raw
            .roles
            .iter()
            .map(|(id, role)| (*id, role.permissions))
            .collect(),
    };
    // Without the members intent the list contains only the bot itself. A bot's own role names the
    // bot.
    let own = |me: UserId| {
        let mut roles = raw.roles.values();
        roles
            .find(|role| role.tags.bot_id == Some(me))
            .map(|role| role.id)
    };
    let me = raw
        .members
        .values()
        .find(|member| member.user.bot && own(member.user.id).is_some());
    let me = me.or_else(|| raw.members.values().find(|member| member.user.bot));
    let guild = Guild {
        my_roles: me.map(|me| me.roles.clone()).unwrap_or_default(),
        my_own_role: me.and_then(|me| own(me.user.id)),
        ..guild
    };
    let channels = raw.channels.into_values().chain(raw.threads);
    let channels = channels.map(|raw_channel| Channel {
        guild: guild.id,
        ..channel(raw_channel)
    });
    let channels = channels.collect();
    Change::Guild(guild, channels)
}

/// Archived threads are not cached; they are looked up when somebody writes in them again.
fn thread(raw: GuildChannel) -> Change {
    let is_archived = raw.thread_metadata.is_some_and(|data| data.archived);
    if is_archived {
        Change::ChannelGone(raw.guild_id, raw.id)
    } else {
        Change::Channel(channel(raw))
    }
}

pub(crate) fn channel(raw: GuildChannel) -> Channel {
    let overwrites = raw.permission_overwrites.iter().map(|overwrite| Overwrite {
        of: match overwrite.kind {
            PermissionOverwriteType::Member(id) => Holder::Member(id),
            PermissionOverwriteType::Role(id) => Holder::Role(id),
            // An unknown kind: it belongs to nobody.
            _ => Holder::Member(UserId::new(u64::MAX)),
        },
        allow: overwrite.allow,
        deny: overwrite.deny,
    });
    Channel {
        id: raw.id,
        guild: raw.guild_id,
        kind: kind(raw.kind),
        parent: raw.parent_id,
        overwrites: overwrites.collect(),
        last_message: raw.last_message_id,
        name: raw.name.into_boxed_str(),
    }
}

fn kind(raw: ChannelType) -> DiscordChannelKind {
    match raw {
        ChannelType::Text | ChannelType::News => DiscordChannelKind::Text,
        // Media channels are forums too.
        ChannelType::Forum | ChannelType::Unknown(16) => DiscordChannelKind::Forum,
        ChannelType::PublicThread | ChannelType::NewsThread => DiscordChannelKind::PublicThread,
        ChannelType::PrivateThread => DiscordChannelKind::PrivateThread,
        ChannelType::Private | ChannelType::GroupDm => DiscordChannelKind::Direct,
        _ => DiscordChannelKind::Flat,
    }
}

pub(crate) fn to_message(mut raw: Message) -> DiscordMessage {
    let said = forwarded::said(&mut raw);
    DiscordMessage {
        id: raw.id,
        channel: raw.channel_id,
        guild: raw.guild_id,
        author: writer(&raw.author, raw.member.as_deref(), raw.webhook_id.is_some()),
        is_regular: is_regular(raw.kind),
        mentions: names(&raw.mentions),
        role_mentions: raw.mention_roles,
        mentions_everyone: raw.mention_everyone,
        files: said.files.into_iter().map(file).collect(),
        has_more: said.has_more,
        replies_to: raw.referenced_message.map(|message| quoted(*message)),
        at: *raw.timestamp,
        text: said.text,
    }
}

/// Whether a person wrote it; false for system messages.
fn is_regular(kind: MessageType) -> bool {
    matches!(kind, MessageType::Regular | MessageType::InlineReply)
}

fn names(users: &[User]) -> Vec<(UserId, String)> {
    users.iter().map(|user| (user.id, name(user))).collect()
}

/// Returns a message's author; in a guild, as its member.
fn writer(user: &User, member: Option<&PartialMember>, is_webhook: bool) -> Person {
    let nick = member.and_then(|member| member.nick.clone());
    let roles = member.map(|member| member.roles.clone());
    let mut writer = person(user, nick, roles.unwrap_or_default(), None);
    writer.is_bot |= is_webhook;
    writer
}

fn quoted(mut raw: Message) -> Quoted {
    let said = forwarded::said(&mut raw);
    Quoted {
        id: raw.id,
        author: raw.author.id,
        is_bot: raw.author.bot || raw.webhook_id.is_some(),
        name: name(&raw.author),
        files: said.files.into_iter().map(file).collect(),
        at: *raw.timestamp,
        text: said.text,
    }
}

/// Reads an update. It is an edit only if it has a time of editing; Discord also sends updates for
/// previews, pins and threads.
fn edited(raw: MessageUpdateEvent) -> Option<GatewayEvent> {
    let at = *raw.edited_timestamp?;
    let member = raw.member.flatten();
    let replies_to = raw.referenced_message.flatten();
    let files = raw.attachments.unwrap_or_default();
    let now = DiscordMessage {
        id: raw.id,
        channel: raw.channel_id,
        guild: raw.guild_id,
        author: writer(
            &raw.author?,
            member.as_deref(),
            raw.webhook_id.flatten().is_some(),
        ),
        is_regular: raw.kind.is_none_or(is_regular),
        text: raw.content?,
        mentions: names(&raw.mentions.unwrap_or_default()),
        role_mentions: raw.mention_roles.unwrap_or_default(),
        mentions_everyone: raw.mention_everyone.unwrap_or_default(),
        files: files.into_iter().map(file).collect(),
        has_more: raw.sticker_items.is_some_and(|it| !it.is_empty()),
        replies_to: replies_to.map(|message| quoted(*message)),
        at: raw.timestamp.map_or(at, |timestamp| *timestamp),
    };
    Some(GatewayEvent::Edited { now, at })
}

fn file(raw: serenity::model::channel::Attachment) -> Attachment {
    Attachment {
        id: raw.url,
        name: raw.filename,
        media_type: raw.content_type.unwrap_or_default(),
        size: Some(u64::from(raw.size)),
    }
}

fn name(user: &User) -> String {
    user.global_name
        .clone()
        .unwrap_or_else(|| user.name.clone())
}

fn person(
    user: &User,
    nick: Option<String>,
    roles: Vec<RoleId>,
    permissions: Option<Permissions>,
) -> Person {
    Person {
        id: user.id,
        name: nick.unwrap_or_else(|| name(user)),
        is_bot: user.bot || user.system,
        roles,
        permissions,
        language: None,
    }
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
        kind: kind(channel.kind),
        // For a channel that is not a thread, the parent is its category.
        parent: channel.parent_id,
        name: channel.name.clone().unwrap_or_default(),
    }
}

fn read_interaction(raw: Interaction) -> Option<UserInteraction> {
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
        // Not used: pings arrive over HTTP only.
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
