//! The person who talks, and the conversation.

use muninn_platform::{
    Audience, AudienceId, Author, Body, ConversationId, EventId, IncomingMessage, Language,
    PlatformError,
};
use uuid::Uuid;

use crate::name::NAME;

const LONGEST_NAME: usize = 100;

/// A named conversation of one person.
///
/// All sessions are one audience, also of several people on one graph: whoever can open a terminal
/// on it has its credentials, and could read all of it anyway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    conversation: ConversationId,
    person: String,
}

impl Session {
    /// Returns the session `name` of `person`, whose conversation is `terminal/<name>`; that is a
    /// name of it, too.
    ///
    /// # Errors
    /// Fails when the name is empty, too long, or holds a slash or a control character.
    pub fn new(name: &str, person: &str) -> Result<Self, PlatformError> {
        let its_name = name.strip_prefix(NAME).and_then(|it| it.strip_prefix('/'));
        let name = its_name.unwrap_or(name);
        let is_usable = !name.trim().is_empty()
            && name.chars().count() <= LONGEST_NAME
            && !name.chars().any(|c| c == '/' || c.is_control());
        if !is_usable {
            return Err(PlatformError::Misconfigured(format!(
                "the session name {name:?} cannot be used: give it 1 to {LONGEST_NAME} characters \
                 without a slash or a control character"
            )));
        }
        Ok(Self {
            conversation: ConversationId::new(format!("{NAME}/{}", name.trim())),
            person: person.to_owned(),
        })
    }

    pub fn conversation(&self) -> &ConversationId {
        &self.conversation
    }

    /// Returns `body` as a message sent now; its event id is unique across restarts and processes.
    pub fn message(&self, body: Body) -> IncomingMessage {
        let event = EventId::new(format!("{NAME}/{}", Uuid::now_v7()));
        let audience = Audience {
            id: AudienceId::new(NAME),
            platform: NAME.to_owned(),
            workspace: String::new(),
            name: NAME.to_owned(),
            private_to: None,
        };
        let author = author(&self.person);
        IncomingMessage {
            // Other readers sit at the same machine.
            workspace_language: author.language,
            ..IncomingMessage::new(event, self.conversation.clone(), audience, author, body)
        }
    }
}

/// Returns the author at a terminal.
pub fn author(person: &str) -> Author {
    Author {
        id: format!("{NAME}/{person}"),
        name: person.to_owned(),
        is_admin: true,
        time_zone: None,
        language: own_language(),
    }
}

/// Returns the language of this terminal by POSIX: `LC_ALL` precedes `LC_MESSAGES`, which precedes
/// `LANG`.
pub(crate) fn own_language() -> Option<Language> {
    let set = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .filter_map(|variable| std::env::var(variable).ok())
        .find(|locale| !locale.trim().is_empty())?;
    Language::of_locale(&set)
}

/// Returns the user name on this machine, from the environment.
pub fn os_user() -> String {
    ["USER", "LOGNAME", "USERNAME"]
        .into_iter()
        .filter_map(|variable| std::env::var(variable).ok())
        .find(|name| !name.trim().is_empty())
        .unwrap_or_else(|| "somebody".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for (name, usable) in [
            ("default", true),
            ("Überraschung 2", true),
            ("", false),
            ("  ", false),
            ("a/b", false),
            ("terminal/work", true),
            ("terminal/", false),
            ("terminal/a/b", false),
            ("terminal/terminal/a", false),
            ("a\nb", false),
        ] {
            assert_eq!(Session::new(name, "ann").is_ok(), usable, "{name:?}");
        }
        assert!(Session::new(&"x".repeat(101), "ann").is_err());
    }

    #[test]
    fn every_message_is_its_own_event() {
        let session = Session::new("work", "ann").unwrap();
        assert_eq!(session, Session::new("terminal/work", "ann").unwrap());
        let [one, two] = ["a", "b"].map(|text| session.message(Body::Text(text.to_owned())));
        assert_ne!(one.event, two.event);
        assert_eq!(one.conversation.as_str(), "terminal/work");
        assert_eq!(one.audience.id.as_str(), "terminal");
    }
}
