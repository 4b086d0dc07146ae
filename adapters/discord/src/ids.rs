//! Maps Discord's ids to the bot's. Pure.
//!
//! | What | Looks like |
//! |---|---|
//! | conversation, audience | `discord/<guild>/<thread or channel>`, `discord/dm/<channel>` |
//! | what only its author sees | the same with `/private/<user>` at its end |
//! | event of a message | `discord/<channel>/<message>`, of an edit with `/<when>`, of a deletion with `/deleted` |
//! | event of an interaction | `discord/interaction/<id>` |
//! | message the bot sent | `<channel>/<message>` |
//! | person | `discord/<user>` |

use chrono::{DateTime, Utc};
use muninn_platform::{AudienceId, ConversationId, EventId};
use serenity::model::id::{ChannelId, GuildId, InteractionId, MessageId, UserId};

/// The start of Discord's ids, in milliseconds since the epoch.
const FIRST_MILLISECOND: i64 = 1_420_070_400_000;

/// A conversation, or the audience that can read one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DiscordPlace {
    /// `None` in direct messages.
    pub(crate) guild: Option<GuildId>,
    /// Thread, channel or direct channel.
    pub(crate) channel: ChannelId,
    /// The only person who sees it.
    pub(crate) private_to: Option<UserId>,
}

impl DiscordPlace {
    pub(crate) fn new(guild: Option<GuildId>, channel: ChannelId) -> Self {
        Self {
            guild,
            channel,
            private_to: None,
        }
    }

    pub(crate) fn private_to(self, person: UserId) -> Self {
        Self {
            private_to: Some(person),
            ..self
        }
    }

    pub(crate) fn conversation(&self) -> ConversationId {
        ConversationId::new(format!("discord/{}", self.tail()))
    }

    pub(crate) fn audience(&self) -> AudienceId {
        AudienceId::new(format!("discord/{}", self.tail()))
    }

    /// Returns the id without the platform: at most 70 characters.
    pub(crate) fn tail(&self) -> String {
        let home = home(self.guild);
        match self.private_to {
            Some(person) => format!("{home}/{}/private/{person}", self.channel),
            None => format!("{home}/{}", self.channel),
        }
    }

    pub(crate) fn parse(id: &str) -> Option<Self> {
        Self::parse_tail(id.strip_prefix("discord/")?)
    }

    pub(crate) fn parse_tail(tail: &str) -> Option<Self> {
        let parts: Vec<&str> = tail.split('/').collect();
        let (home, channel, private_to) = match parts.as_slice() {
            [home, channel] => (*home, *channel, None),
            [home, channel, "private", person] => (*home, *channel, Some(*person)),
            _ => return None,
        };
        Some(Self {
            guild: match home {
                "dm" => None,
                guild => Some(GuildId::new(number(guild)?)),
            },
            channel: ChannelId::new(number(channel)?),
            private_to: match private_to {
                Some(person) => Some(UserId::new(number(person)?)),
                None => None,
            },
        })
    }
}

fn home(guild: Option<GuildId>) -> String {
    guild.map_or_else(|| "dm".to_owned(), |guild| guild.to_string())
}

/// Returns the prefix of all conversation ids of a guild, or of direct messages.
pub(crate) fn prefix(guild: Option<GuildId>) -> String {
    format!("discord/{}/", home(guild))
}

/// An event, parsed from its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiscordEventId {
    /// A message, an edit or a deletion of it.
    Message {
        channel: ChannelId,
        message: MessageId,
        /// The message itself, not an edit or a deletion.
        is_first: bool,
    },
    Interaction(InteractionId),
}

impl DiscordEventId {
    pub(crate) fn parse(id: &EventId) -> Option<Self> {
        let parts: Vec<&str> = id.as_str().split('/').collect();
        match parts.as_slice() {
            ["discord", "interaction", id] => {
                Some(Self::Interaction(InteractionId::new(number(id)?)))
            }
            ["discord", channel, message, rest @ ..] if rest.len() < 2 => Some(Self::Message {
                channel: ChannelId::new(number(channel)?),
                message: MessageId::new(number(message)?),
                is_first: rest.is_empty(),
            }),
            _ => None,
        }
    }
}

pub(crate) fn message(channel: ChannelId, message: MessageId) -> EventId {
    EventId::new(format!("discord/{channel}/{message}"))
}

/// Returns the id of an edit. Discord may deliver an edit several times: again for each preview
/// that it adds.
pub(crate) fn edit(channel: ChannelId, message: MessageId, at: DateTime<Utc>) -> EventId {
    let at = at.timestamp_micros();
    EventId::new(format!("discord/{channel}/{message}/{at}"))
}

pub(crate) fn deletion(channel: ChannelId, message: MessageId) -> EventId {
    EventId::new(format!("discord/{channel}/{message}/deleted"))
}

/// The author of a deletion: Discord does not say who it was.
pub(crate) const SOMEBODY: &str = "discord/somebody";

pub(crate) fn interaction(id: InteractionId) -> EventId {
    EventId::new(format!("discord/interaction/{id}"))
}

/// Returns one id per person and answer, so that a new rating replaces the old one.
pub(crate) fn opinion(channel: ChannelId, answer: MessageId, person: UserId) -> EventId {
    EventId::new(format!("discord/opinion/{channel}/{answer}/{person}"))
}

pub(crate) fn author(person: UserId) -> String {
    format!("discord/{person}")
}

/// Returns the person of an author's id.
pub(crate) fn person(author: &str) -> Option<UserId> {
    number(author.strip_prefix("discord/")?).map(UserId::new)
}

/// Returns the id of a message that the bot sent.
pub(crate) fn sent(channel: ChannelId, message: MessageId) -> muninn_platform::MessageId {
    muninn_platform::MessageId::new(format!("{channel}/{message}"))
}

pub(crate) fn parse_sent(id: &muninn_platform::MessageId) -> Option<(ChannelId, MessageId)> {
    let (channel, message) = id.as_str().split_once('/')?;
    Some((
        ChannelId::new(number(channel)?),
        MessageId::new(number(message)?),
    ))
}

/// Returns the URL of a message or a channel.
pub(crate) fn link(guild: Option<GuildId>, channel: ChannelId, at: Option<MessageId>) -> String {
    let home = guild.map_or_else(|| "@me".to_owned(), |guild| guild.to_string());
    match at {
        Some(message) => format!("https://discord.com/channels/{home}/{channel}/{message}"),
        None => format!("https://discord.com/channels/{home}/{channel}"),
    }
}

/// Parses an id: a positive number.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number > 0)
}

/// Returns the lowest id that a message of this time can have.
pub(crate) fn id_at(time: DateTime<Utc>) -> MessageId {
    let since = (time.timestamp_millis() - FIRST_MILLISECOND).max(1);
    MessageId::new(u64::try_from(since).unwrap_or(1) << 22)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        for id in [
            "discord/1/2",
            "discord/dm/2",
            "discord/1/2/private/3",
            "discord/dm/2/private/3",
        ] {
            let place = DiscordPlace::parse(id).unwrap();
            assert_eq!(place.conversation().as_str(), id);
            assert_eq!(place.audience().as_str(), id);
        }
        for id in [
            "",
            "discord/",
            "discord/1",
            "discord/0/2",
            "discord/1/x",
            "discord/1/2/private",
            "discord/1/2/3/4",
            "slack/1/2",
        ] {
            assert_eq!(DiscordPlace::parse(id), None, "{id}");
        }
    }

    #[test]
    fn the_longest_place_is_known() {
        let most = u64::MAX;
        let place = DiscordPlace::new(Some(GuildId::new(most)), ChannelId::new(most));
        assert_eq!(place.private_to(UserId::new(most)).tail().len(), 70);
    }

    #[test]
    fn events_are_read_as_they_are_written() {
        let (channel, id) = (ChannelId::new(1), MessageId::new(2));
        let at = DateTime::from_timestamp_millis(1_700_000_000_123).unwrap();
        let of = |event| DiscordEventId::parse(&event);
        let read = |is_first| {
            Some(DiscordEventId::Message {
                channel,
                message: id,
                is_first,
            })
        };
        assert_eq!(of(message(channel, id)), read(true));
        assert_eq!(of(edit(channel, id, at)), read(false));
        assert_eq!(of(deletion(channel, id)), read(false));
        let pressed = InteractionId::new(7);
        assert_eq!(
            of(interaction(pressed)),
            Some(DiscordEventId::Interaction(pressed))
        );
        for none in [
            "",
            "discord/1",
            "discord/a/b",
            "matrix/1/2",
            "discord/1/2/3/4",
        ] {
            assert_eq!(of(EventId::new(none)), None, "{none}");
        }
    }

    #[test]
    fn what_was_sent_and_who_asked_is_found_again() {
        let (channel, id) = (ChannelId::new(1), MessageId::new(2));
        assert_eq!(parse_sent(&sent(channel, id)), Some((channel, id)));
        assert_eq!(person(&author(UserId::new(3))), Some(UserId::new(3)));
        assert_eq!(person("matrix/@a:b"), None);
    }
}
