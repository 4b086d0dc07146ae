//! Converts between Slack's ids and ours.
//!
//! A conversation is `slack/T…/C…/<thread ts>`, `slack/T…/D…/main` for direct messages outside
//! threads, or `slack/T…/C…/private/U…` for what only one person sees. Its audience is the channel;
//! a private conversation is its own audience. The event of a message is `slack/T…/C…/<ts>`,
//! however Slack reports it; other events use the id that Slack gave them.

use muninn_platform::{AudienceId, ConversationId, EventId, MessageId};

use crate::name::NAME;

/// A place within a channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PlaceInChannel {
    /// The thread that begins at this `ts`.
    Thread(String),
    /// Direct messages outside threads.
    Main,
    /// Visible to this user alone.
    Private(String),
}

/// Where something is said.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SlackPlace {
    pub(crate) channel: String,
    pub(crate) within: PlaceInChannel,
}

impl SlackPlace {
    pub(crate) fn new(channel: impl Into<String>, within: PlaceInChannel) -> Self {
        Self {
            channel: channel.into(),
            within,
        }
    }

    pub(crate) fn conversation(&self, team: &str) -> ConversationId {
        let channel = &self.channel;
        ConversationId::new(match &self.within {
            PlaceInChannel::Thread(ts) => format!("{NAME}/{team}/{channel}/{ts}"),
            PlaceInChannel::Main => format!("{NAME}/{team}/{channel}/main"),
            PlaceInChannel::Private(user) => format!("{NAME}/{team}/{channel}/private/{user}"),
        })
    }

    pub(crate) fn audience(&self, team: &str) -> AudienceId {
        match &self.within {
            PlaceInChannel::Thread(_) | PlaceInChannel::Main => audience(team, &self.channel),
            PlaceInChannel::Private(_) => AudienceId::new(self.conversation(team).as_str()),
        }
    }

    /// Parses a conversation id, if it is one of ours.
    pub(crate) fn parse(conversation: &str) -> Option<Self> {
        let mut parts = conversation.split('/');
        let (name, _team, channel) = (parts.next()?, parts.next()?, parts.next()?);
        let within = match (parts.next()?, parts.next(), parts.next()) {
            ("main", None, None) => PlaceInChannel::Main,
            ("private", Some(user), None) => PlaceInChannel::Private(user.to_owned()),
            (ts, None, None) => PlaceInChannel::Thread(ts.to_owned()),
            (_, _, _) => return None,
        };
        (name == NAME).then(|| Self::new(channel, within))
    }

    /// Returns the thread of an answer.
    pub(crate) fn thread(&self) -> Option<&str> {
        match &self.within {
            PlaceInChannel::Thread(ts) => Some(ts),
            PlaceInChannel::Main | PlaceInChannel::Private(_) => None,
        }
    }
}

pub(crate) fn audience(team: &str, channel: &str) -> AudienceId {
    AudienceId::new(format!("{NAME}/{team}/{channel}"))
}

/// Returns the channel of an audience that is a whole channel.
pub(crate) fn channel_of(audience: &AudienceId) -> Option<&str> {
    let mut parts = audience.as_str().split('/');
    let (name, _team, channel) = (parts.next()?, parts.next()?, parts.next()?);
    (name == NAME && parts.next().is_none()).then_some(channel)
}

/// Returns the channel of an audience in this workspace that this user may belong to: everybody in
/// the channel, or the user alone.
pub(crate) fn channel_for<'a>(team: &str, user: &str, audience: &'a AudienceId) -> Option<&'a str> {
    let rest = audience.as_str().strip_prefix(NAME)?.strip_prefix('/')?;
    let place = rest.strip_prefix(team)?.strip_prefix('/')?;
    match place.split_once('/') {
        None => Some(place),
        Some((channel, within)) => {
            (within.strip_prefix("private/") == Some(user)).then_some(channel)
        }
    }
}

/// Returns the event id of a message.
pub(crate) fn message_event(team: &str, channel: &str, ts: &str) -> EventId {
    EventId::new(format!("{NAME}/{team}/{channel}/{ts}"))
}

/// Returns the event id of any other event, from Slack's id.
pub(crate) fn other_event(team: &str, id: &str) -> EventId {
    EventId::new(format!("{NAME}/{team}/{id}"))
}

/// Returns the `ts` of the message of an event, if it has one.
pub(crate) fn ts_of(event: &EventId) -> Option<&str> {
    let mut parts = event.as_str().split('/').skip(3);
    let ts = parts.next()?;
    parts.next().is_none().then_some(ts)
}

pub(crate) fn author(team: &str, user: &str) -> String {
    format!("{NAME}/{team}/{user}")
}

/// Returns Slack's user id of an author id.
pub(crate) fn user_of(author: &str) -> Option<&str> {
    author.split('/').nth(2)
}

pub(crate) fn message(channel: &str, ts: &str) -> MessageId {
    MessageId::new(format!("{channel}/{ts}"))
}

/// Returns the `ts` of a message of ours. `None` for an ephemeral one, which cannot be changed.
pub(crate) fn standing_ts(message: &MessageId) -> Option<&str> {
    let (_, ts) = message.as_str().split_once('/')?;
    (!ts.contains('/')).then_some(ts)
}

/// Returns the mark of an announcement of which Slack did not tell the `ts`: a time in microseconds.
pub(crate) fn announcement_mark(message: &MessageId) -> Option<&str> {
    standing_ts(message).filter(|ts| !ts.contains('.'))
}

/// Returns the id of an ephemeral message. Slack keeps none, so it consists of the question and the
/// part.
pub(crate) fn ephemeral(channel: &str, question: &EventId, part: usize) -> MessageId {
    let id = question.as_str().rsplit('/').next().unwrap_or_default();
    MessageId::new(format!("{channel}/private/{id}/{part}"))
}

/// Whether it is a direct message channel: with the bot, where Slack reports a message in it. A
/// command or a shortcut may also come from one between two people.
pub(crate) fn is_direct(channel: &str) -> bool {
    channel.starts_with('D')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_go_there_and_back() {
        for (channel, within, conversation, audience) in [
            (
                "C1",
                PlaceInChannel::Thread("1.2".into()),
                "slack/T1/C1/1.2",
                "slack/T1/C1",
            ),
            (
                "D1",
                PlaceInChannel::Main,
                "slack/T1/D1/main",
                "slack/T1/D1",
            ),
            (
                "C1",
                PlaceInChannel::Private("U1".into()),
                "slack/T1/C1/private/U1",
                "slack/T1/C1/private/U1",
            ),
        ] {
            let place = SlackPlace::new(channel, within);
            assert_eq!(place.conversation("T1").as_str(), conversation);
            assert_eq!(place.audience("T1").as_str(), audience);
            assert_eq!(SlackPlace::parse(conversation), Some(place));
        }
        for other in ["matrix/a/b/c", "slack/T1/C1", "slack/T1/C1/private/U1/x"] {
            assert_eq!(SlackPlace::parse(other), None, "{other}");
        }
        assert_eq!(ts_of(&message_event("T1", "C1", "1.2")), Some("1.2"));
        assert_eq!(ts_of(&other_event("T1", "Ev1")), None);
        assert_eq!(user_of(&author("T1", "U1")), Some("U1"));
        assert_eq!(standing_ts(&message("C1", "1.2")), Some("1.2"));
        let private = ephemeral("C1", &other_event("T1", "13.4.x"), 0);
        assert_eq!(private.as_str(), "C1/private/13.4.x/0");
        assert_eq!(standing_ts(&private), None);
    }
}
