//! Decides what a message means for the bot. Pure: looked-up facts are in the `MessageContext`.

use muninn_platform::{
    Addressed, Addressees, AnswerMode, Command, IgnoreReason, Language, Request,
};
use muninn_texts::text;
use serenity::model::id::{ChannelId, RoleId, UserId};

use crate::directory::{DiscordChannelKind, DiscordLocation};
use crate::ids::DiscordPlace;
use crate::message::{DiscordMessage, Quoted};

/// Facts about the message's surroundings.
#[derive(Clone, Debug)]
pub(crate) struct MessageContext {
    pub(crate) me: UserId,
    /// The role that was created for the bot.
    pub(crate) my_role: Option<RoleId>,
    pub(crate) spot: DiscordLocation,
    /// The allow list admits the author here.
    pub(crate) is_allowed: bool,
    pub(crate) mode: AnswerMode,
    /// Overheard messages are remembered here.
    pub(crate) is_heard: bool,
    /// Discord gives the texts of messages that do not mention the bot.
    pub(crate) reads_messages: bool,
    /// The language for a question that somebody asks without words.
    pub(crate) language: Language,
    /// Channels that the text names.
    pub(crate) channels: Vec<(ChannelId, String)>,
}

/// What a message means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MessageIntent {
    Nothing(IgnoreReason),
    Said {
        addressed: Addressed,
        wants: Request,
        place: DiscordPlace,
        stand: AnswerDestination,
    },
}

/// Where the answer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerDestination {
    /// In a thread that begins at the question.
    NewThread,
    /// Beside the question, as a reply to it.
    Here,
}

/// Decides what a message means.
pub(crate) fn intent(said: &DiscordMessage, facts: &MessageContext) -> MessageIntent {
    if said.author.is_bot || said.author.id == facts.me {
        return MessageIntent::Nothing(IgnoreReason::Bot);
    }
    if !said.is_regular {
        return MessageIntent::Nothing(IgnoreReason::Irrelevant);
    }
    let addressed = match addressed(said, facts) {
        Ok(addressed) => addressed,
        // A message that names the bot where it never answers is not overheard.
        Err(_) if facts.is_heard && !names_bot(said, facts) => Addressed::Overheard,
        Err(silence) => return MessageIntent::Nothing(silence),
    };
    // The operator is told if somebody unlisted addresses the bot; other messages do not matter.
    if !facts.is_allowed {
        return MessageIntent::Nothing(match addressed {
            Addressed::Directly | Addressed::InConversation => IgnoreReason::NotAllowed,
            Addressed::Overheard => IgnoreReason::NotAddressed,
        });
    }
    let Some(wants) = wants(said, facts, addressed) else {
        return MessageIntent::Nothing(IgnoreReason::Irrelevant);
    };
    let (place, stand) = match addressed {
        Addressed::Directly | Addressed::InConversation => place(said, &facts.spot, &wants),
        // A channel's messages are one conversation, as people read them.
        Addressed::Overheard => (
            DiscordPlace::new(said.guild, said.channel),
            AnswerDestination::Here,
        ),
    };
    MessageIntent::Said {
        addressed,
        wants,
        place,
        stand,
    }
}

/// Returns the new text of an edited message, and whether it names the bot. Only the bot knows
/// which earlier messages were meant for it, so every edit is passed on.
pub(crate) fn edited(
    said: &DiscordMessage,
    facts: &MessageContext,
) -> Option<(Addressed, String, DiscordPlace, AnswerDestination)> {
    if said.author.is_bot || !said.is_regular || !facts.is_allowed {
        return None;
    }
    let addressed = addressed(said, facts).unwrap_or(Addressed::InConversation);
    let text = match wants(said, facts, addressed) {
        Some(Request::Text(text)) => text,
        Some(Request::Command(_)) | None => String::new(),
    };
    let (place, stand) = place(said, &facts.spot, &Request::Text(String::new()));
    // An empty text takes the message back, unless Discord only withholds it.
    (!is_withheld(said, facts)).then_some((addressed, text, place, stand))
}

/// Whether a message without content may have some: without the intent Discord only gives that of
/// direct messages and of messages that mention the bot.
fn is_withheld(said: &DiscordMessage, facts: &MessageContext) -> bool {
    let is_given = facts.reads_messages
        || facts.spot.kind == DiscordChannelKind::Direct
        || said.mentions.iter().any(|(id, _)| *id == facts.me);
    said.text.is_empty() && said.files.is_empty() && !is_given
}

/// Whether it mentions the bot, or replies to it.
fn names_bot(said: &DiscordMessage, facts: &MessageContext) -> bool {
    let is_named = said.mentions.iter().any(|(id, _)| *id == facts.me) || names_role(said, facts);
    let is_answer = said
        .replies_to
        .as_ref()
        .is_some_and(|to| to.author == facts.me);
    is_named || is_answer
}

/// Whether it mentions the role that was created for the bot, which people do by mistake.
fn names_role(said: &DiscordMessage, facts: &MessageContext) -> bool {
    facts
        .my_role
        .is_some_and(|role| said.role_mentions.contains(&role))
}

/// Returns what somebody said to others before the bot listened, as it would have been overheard.
pub(crate) fn overheard(said: &DiscordMessage, facts: &MessageContext) -> Option<String> {
    if !facts.is_heard || !facts.is_allowed || facts.spot.kind == DiscordChannelKind::Direct {
        return None;
    }
    match wants(said, facts, Addressed::Overheard)? {
        Request::Text(text) => Some(text),
        Request::Command(_) => None,
    }
}

fn addressed(said: &DiscordMessage, facts: &MessageContext) -> Result<Addressed, IgnoreReason> {
    if facts.spot.kind == DiscordChannelKind::Direct {
        return Ok(Addressed::Directly);
    }
    let addressed = facts
        .mode
        .addressed(names_bot(said, facts), facts.spot.kind.is_thread());
    addressed.ok_or(match facts.mode {
        AnswerMode::Never => IgnoreReason::Never,
        AnswerMode::Always | AnswerMode::Mentions | AnswerMode::Threads => {
            IgnoreReason::NotAddressed
        }
    })
}

/// Returns to whom a message is said, as far as Discord shows it. A reply also mentions its author,
/// unless that was turned off.
pub(crate) fn toward(said: &DiscordMessage, facts: &MessageContext) -> Addressees {
    let others = said.mentions.iter().any(|(id, _)| *id != facts.me);
    let roles = said.role_mentions.iter();
    let others = others || roles.into_iter().any(|role| Some(*role) != facts.my_role);
    Addressees {
        names_people: others || said.mentions_everyone,
        answers_person: said
            .replies_to
            .as_ref()
            .is_some_and(|to| to.author != facts.me),
        omits_bot: !names_bot(said, facts) && facts.spot.kind != DiscordChannelKind::Direct,
    }
}

fn wants(said: &DiscordMessage, facts: &MessageContext, addressed: Addressed) -> Option<Request> {
    let text = plain(&said.text, said, facts);
    if !text.is_empty() || !said.files.is_empty() {
        return Some(Request::Text(text));
    }
    // Without the intent other messages arrive without text.
    if addressed != Addressed::Directly || facts.mode == AnswerMode::Always {
        return None;
    }
    let quoted = said.replies_to.as_ref();
    match quoted.filter(|to| to.author != facts.me && !to.text.is_empty()) {
        // Only a mention, in a reply: the replied-to message is what it is about.
        Some(quoted) => Some(Request::Text(about(quoted, facts.language))),
        // It says something that is not read.
        None if said.has_more || (is_withheld(said, facts) && !names_role(said, facts)) => None,
        None => Some(Request::Command(Command::Help)),
    }
}

/// Builds a question about somebody else's message, marked as a quotation.
pub(crate) fn about(quoted: &Quoted, language: Language) -> String {
    let lines: Vec<String> = quoted
        .text
        .lines()
        .map(|line| format!("> {line}"))
        .collect();
    let question = text!("ask-about-message-of", name = &quoted.name);
    format!("{}\n{}", question.in_language(language), lines.join("\n"))
}

fn place(
    said: &DiscordMessage,
    spot: &DiscordLocation,
    wants: &Request,
) -> (DiscordPlace, AnswerDestination) {
    let here = DiscordPlace::new(said.guild, said.channel);
    match (spot.kind, wants) {
        // A thread that begins at a message has the message's id.
        (DiscordChannelKind::Text, Request::Text(_)) => {
            let thread = ChannelId::new(said.id.get());
            (
                DiscordPlace::new(said.guild, thread),
                AnswerDestination::NewThread,
            )
        }
        // Answers to commands are no conversations.
        (DiscordChannelKind::Text, Request::Command(_))
        | (
            DiscordChannelKind::Forum
            | DiscordChannelKind::PublicThread
            | DiscordChannelKind::PrivateThread
            | DiscordChannelKind::Flat
            | DiscordChannelKind::Direct,
            Request::Text(_) | Request::Command(_),
        ) => (here, AnswerDestination::Here),
    }
}

/// Returns the text as people read it: without the mention of the bot, with names instead of ids.
fn plain(text: &str, said: &DiscordMessage, facts: &MessageContext) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        let form = &rest[at..];
        let end = form.find('>').map(|end| end + 1);
        let named = end.and_then(|end| named(&form[1..end - 1], said, facts));
        match (named, end) {
            (Some(name), Some(end)) => {
                plain.push_str(&name);
                rest = &form[end..];
                // Removing the bot's name leaves no gap, and no comma at the beginning.
                if name.is_empty() && plain.trim().is_empty() {
                    rest = rest.trim_start_matches([' ', ',', ':']);
                } else if name.is_empty() && plain.ends_with(' ') {
                    rest = rest.trim_start_matches(' ');
                }
            }
            _ => {
                plain.push('<');
                rest = &form[1..];
            }
        }
    }
    plain.push_str(rest);
    plain.trim().to_owned()
}

/// Resolves a mention, a channel or an emoji: `@123`, `@!123`, `@&123`, `#123`, `:name:123`.
fn named(form: &str, said: &DiscordMessage, facts: &MessageContext) -> Option<String> {
    if let Some(role) = form.strip_prefix("@&") {
        let role = RoleId::new(crate::ids::number(role)?);
        return (Some(role) == facts.my_role).then(String::new);
    }
    if let Some(user) = form.strip_prefix('@') {
        let user = user.strip_prefix('!').unwrap_or(user);
        let user = UserId::new(crate::ids::number(user)?);
        if user == facts.me {
            return Some(String::new());
        }
        let mut mentions = said.mentions.iter();
        let (_, name) = mentions.find(|(id, _)| *id == user)?;
        return Some(format!("@{name}"));
    }
    if let Some(channel) = form.strip_prefix('#') {
        let channel = ChannelId::new(crate::ids::number(channel)?);
        let mut channels = facts.channels.iter();
        let (_, name) = channels.find(|(id, _)| *id == channel)?;
        return Some(format!("#{name}"));
    }
    let mut parts = form.strip_prefix('a').unwrap_or(form).split(':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(""), Some(name), Some(id), None) if !name.is_empty() => {
            crate::ids::number(id).map(|_| format!(":{name}:"))
        }
        _ => None,
    }
}

/// Returns the ids of the channels that a text names.
pub(crate) fn channels_named(text: &str) -> impl Iterator<Item = ChannelId> {
    let forms = text.split("<#").skip(1);
    forms.filter_map(|form| {
        let (id, _) = form.split_once('>')?;
        crate::ids::number(id).map(ChannelId::new)
    })
}

/// Maximum characters of a thread's name in Discord.
const LONGEST_NAME: usize = 100;

/// Returns the name of a thread whose question has no words, or is forgotten: everybody there reads
/// it.
pub(crate) fn neutral_name(language: Language) -> String {
    text!("thread-name").in_language(language)
}

/// Builds a thread's name: the question in one line.
pub(crate) fn thread_name(question: &str, language: Language) -> String {
    let words: Vec<&str> = question.split_whitespace().collect();
    let line: String = words
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .collect();
    if line.is_empty() {
        return neutral_name(language);
    }
    if line.chars().count() <= LONGEST_NAME {
        return line;
    }
    let cut: String = line.chars().take(LONGEST_NAME - 1).collect();
    // Cut at a word, if one ends in the second half.
    let at = cut.rfind(' ').filter(|at| *at > cut.len() / 2);
    format!("{}…", cut[..at.unwrap_or(cut.len())].trim_end())
}

/// Whether somebody may forget others' messages: with the permission to manage messages.
pub(crate) fn is_admin(permissions: Option<serenity::model::Permissions>) -> bool {
    permissions.is_some_and(|it| it.manage_messages() || it.administrator())
}

#[cfg(test)]
mod tests;
