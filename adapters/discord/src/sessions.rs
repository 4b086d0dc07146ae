//! A person's own conversations: offered while typing, and shown with links.

use std::time::Duration;

use muninn_platform::{InboxClosed, Incoming, OwnSession, SafeText, count_with_noun};
use muninn_texts::text;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::buttons::Row;
use crate::content;
use crate::ids::{self, DiscordPlace};
use crate::inbound::DiscordEventHandler;
use crate::interaction::UserInteraction;
use crate::wanted::belongs;

/// Maximum time for choices, which are due within three seconds like every first response.
const CHOICES_TIMEOUT: Duration = Duration::from_millis(2_000);

/// Maximum time for an answer, whose response was deferred.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

impl DiscordEventHandler {
    /// Offers the conversations whose first question contains the typed text.
    pub(crate) async fn choices(
        &self,
        asked: &UserInteraction,
        typed: &str,
    ) -> Result<(), InboxClosed> {
        let found = match timeout(CHOICES_TIMEOUT, self.sessions(asked)).await {
            Ok(found) => found?.unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        let choices: Vec<(String, String)> = found
            .iter()
            .filter(|session| fits(session, typed))
            .map(|session| (label(session), session.conversation.to_string()))
            .collect();
        self.try_send_first_response(asked, &content::choices(&choices))
            .await;
        Ok(())
    }

    /// Shows one conversation, or all whose first question contains the words.
    pub(crate) async fn session(
        &self,
        asked: &UserInteraction,
        chosen: Option<String>,
    ) -> Result<(), InboxClosed> {
        self.try_send_first_response(asked, &content::thinking(true))
            .await;
        let found = match timeout(ANSWER_TIMEOUT, self.sessions(asked)).await {
            Ok(found) => found?,
            Err(_) => None,
        };
        let chosen = chosen.unwrap_or_default();
        let language = self.language_of(asked);
        let said = match found {
            None => text!("sessions-unknown").in_language(language),
            Some(found) => told(&found, &chosen)
                .unwrap_or_else(|| text!("no-such-session").in_language(language)),
        };
        let texts = content::texts(&[SafeText::new(&said)]);
        let text = texts.first().map_or("", String::as_str);
        let body = content::edit(text, Row::None, belongs(asked), language);
        let api = &self.hub.api;
        let shown = self
            .hub
            .outbox
            .retry(|| api.edit_original(&asked.token, &body))
            .await;
        if let Err(failure) = shown {
            tracing::warn!(interaction = %asked.id, %failure, "a conversation could not be shown");
        }
        Ok(())
    }

    /// Returns the person's conversations; `None` if the graph does not answer.
    async fn sessions(
        &self,
        asked: &UserInteraction,
    ) -> Result<Option<Vec<OwnSession>>, InboxClosed> {
        let (found, answer) = oneshot::channel();
        let question = Incoming::Sessions {
            person: ids::author(asked.who.id),
            prefix: ids::prefix(asked.spot.guild),
            found,
        };
        self.inbox.deliver(question).await?;
        Ok(answer.await.ok())
    }
}

fn fits(session: &OwnSession, typed: &str) -> bool {
    let title = session.title.to_lowercase();
    typed
        .to_lowercase()
        .split_whitespace()
        .all(|word| title.contains(word))
}

/// Describes a conversation in one line: date and first question.
fn label(session: &OwnSession) -> String {
    let title: Vec<&str> = session.title.split_whitespace().collect();
    format!(
        "{} · {}",
        session.last_at.format("%Y-%m-%d"),
        title.join(" ")
    )
}

/// Describes the chosen conversation, or those that contain the words. `None`: there is no such
/// conversation.
fn told(found: &[OwnSession], chosen: &str) -> Option<String> {
    let is_chosen = |session: &&OwnSession| session.conversation.as_str() == chosen;
    let these: Vec<&OwnSession> = match found.iter().find(is_chosen) {
        Some(session) => vec![session],
        None => found
            .iter()
            .filter(|session| fits(session, chosen))
            .collect(),
    };
    if these.is_empty() {
        return None;
    }
    let lines = these.iter().map(|session| line(session));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

fn line(session: &OwnSession) -> String {
    const LONGEST_TITLE: usize = 200;
    let title: String = label(session).chars().take(LONGEST_TITLE).collect();
    let questions = count_with_noun(session.turns, "question");
    let link = DiscordPlace::parse(session.conversation.as_str())
        .map(|place| ids::link(place.guild, place.channel, None))
        .unwrap_or_default();
    format!("- {title} ({questions}) {link}")
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use muninn_platform::ConversationId;

    use super::*;

    fn session(id: &str, title: &str) -> OwnSession {
        OwnSession {
            conversation: ConversationId::new(id),
            title: title.to_owned(),
            turns: 2,
            last_at: DateTime::from_timestamp(1_700_000_000, 0).unwrap(),
        }
    }

    #[test]
    fn a_conversation_is_found_by_choice_or_by_words() {
        let found = [
            session("discord/1/2", "When is\nthe standup?"),
            session("discord/1/3/private/4", "Who leads?"),
        ];
        let standup =
            "- 2023-11-14 · When is the standup? (2 questions) https://discord.com/channels/1/2";
        let leads = "- 2023-11-14 · Who leads? (2 questions) https://discord.com/channels/1/3";
        for (chosen, expected) in [
            ("discord/1/2", Some(standup.to_owned())),
            ("STANDUP when", Some(standup.to_owned())),
            ("leads", Some(leads.to_owned())),
            ("", Some(format!("{standup}\n{leads}"))),
            ("discord/1/9", None),
        ] {
            assert_eq!(told(&found, chosen), expected, "{chosen:?}");
        }
        assert_eq!(told(&[], ""), None);
    }
}
