//! Reads messages and their authors into plain data.

use chrono::{DateTime, Utc};
use muninn_platform::{Attachment, Language};
use serenity::model::Permissions;
use serenity::model::channel::{Message, MessageType};
use serenity::model::event::MessageUpdateEvent;
use serenity::model::guild::PartialMember;
use serenity::model::id::{ChannelId, GuildId, MessageId, RoleId, UserId};
use serenity::model::user::User;

use crate::forwarded;

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

pub(crate) fn quoted(mut raw: Message) -> Quoted {
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

/// Returns the message as it is after an update, and when it was edited. It is an edit only if it has
/// a time of editing; Discord also sends updates for previews, pins and threads.
pub(crate) fn edited(raw: MessageUpdateEvent) -> Option<(DiscordMessage, DateTime<Utc>)> {
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
    Some((now, at))
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

pub(crate) fn person(
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
