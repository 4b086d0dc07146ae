//! What a turn is answered from: the window, recalled turns, and the messages from before the bot joined.

use chrono::{DateTime, Utc};
use muninn_platform::{EventId, IncomingMessage, PriorMessages, Reply};

use super::TurnRunner;
use crate::conversation::attachments::{Files, KEPT_CHARS, PROMPT_CHARS};
use crate::graph::session::SessionGuard;
use crate::graph::{ResponseId, StoreError, Turn, TurnContext, TurnRead};
use crate::memory::{Begun, RecallQuery, Recalled, summary};

/// What a turn knows before it answers.
pub(super) struct Read {
    pub(super) context: TurnContext,
    pub(super) store_away: bool,
    /// The message as a recall query.
    pub(super) sought: RecallQuery,
    pub(super) recalled: Vec<Recalled>,
    /// Earlier turns could not be read, and so could not be recalled.
    pub(super) recall_failed: bool,
    /// Turns that must not be recalled: the one that is regenerated and those after it, and those that were just forgotten.
    pub(super) hidden: Vec<ResponseId>,
}

impl Read {
    /// Turns that recall must leave out: the model sees them anyway, or must not see them.
    pub(super) fn shown(&self) -> Vec<ResponseId> {
        let window = self.context.window.iter().map(|turn| turn.id);
        let recalled = self.recalled.iter().map(|memory| memory.id);
        let hidden = self.hidden.iter().copied();
        window.chain(recalled).chain(hidden).collect()
    }
}

#[cfg(test)]
impl Read {
    /// A window, and nothing else.
    pub(super) fn of_window(window: Vec<Turn>) -> Self {
        Self {
            context: TurnContext {
                window,
                ..TurnContext::default()
            },
            store_away: false,
            sought: RecallQuery::default(),
            recalled: Vec::new(),
            recall_failed: false,
            hidden: Vec::new(),
        }
    }
}

impl TurnRunner {
    /// Step 4: reads the window from the graph, or else from memory.
    pub(super) async fn begin(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
    ) -> Result<Begun, StoreError> {
        let audience = &message.audience.id;
        if !self.archive.is_away() {
            self.recaller.load(self.archive.store(), audience).await;
        }
        self.archive
            .begin(
                guard,
                &TurnRead {
                    session: &message.conversation,
                    audience,
                    event: &message.event,
                    window: summary::read(self.config.window_turns),
                    seen: self.recaller.known_position(audience),
                },
            )
            .await
    }

    /// Step 6: recalls earlier turns.
    pub(super) async fn recall(
        &self,
        message: &IncomingMessage,
        begun: Begun,
        sought: RecallQuery,
        mut hidden: Vec<ResponseId>,
    ) -> Read {
        hidden.extend(self.archive.turns_being_forgotten());
        let audience = &message.audience.id;
        let store = &**self.archive.store();
        if !begun.store_away {
            // After a start, the index was loaded while the embedding service was first asked, so it may have no vectors.
            self.recaller.load(store, audience).await;
            // Without the graph there are none.
            let news = &begun.context.news;
            self.recaller.apply_news(store, audience, news).await;
        }
        // If the graph is away, a notice says so.
        let mut recall_failed = !begun.store_away && !self.recaller.is_ready(audience);
        if !begun.store_away {
            for other in message.recalled_audiences().into_iter().skip(1) {
                recall_failed |= !self.recaller.catch_up(store, other).await;
            }
        }
        let mut read = Read {
            recall_failed,
            context: begun.context,
            store_away: begun.store_away,
            sought,
            recalled: Vec::new(),
            hidden,
        };
        // Answers that only quote recall later, together with the window.
        if self.model.is_some() {
            let shown = read.shown();
            read.recalled = self.recaller.recall(
                &message.recalled_audiences(),
                &read.sought,
                &read.context.window,
                &shown,
            );
        }
        read
    }

    /// Whether the bot has not answered in the conversation yet, whatever it heard there.
    async fn is_yet_to_answer(&self, message: &IncomingMessage, window: &[Turn]) -> bool {
        if window.is_empty() {
            return true;
        }
        let is_all_heard = !window.iter().any(Turn::is_answered);
        is_all_heard && !self.archive.takes_part(&message.conversation).await
    }

    /// Adds the messages from before the bot joined to the first answer of a conversation, and to later ones as long as that
    /// is in the window. They are read from the platform each time and never kept, so that what people deleted, had forgotten
    /// or do not want to be remembered is not used any more. `again` is the turn that is answered again.
    pub(super) async fn add_prior_messages(
        &self,
        files: &mut Files,
        (message, text): (&IncomingMessage, &str),
        read: &Read,
        again: Option<&Turn>,
        reply: &mut dyn Reply,
    ) {
        let window = &read.context.window;
        let mut known = window.iter().chain(again);
        let first = known.find(|turn| turn.was_given_prior_messages());
        let is_later = first.is_some_and(|first| again.is_none_or(|again| again.id != first.id));
        let is_none =
            first.is_none() && (again.is_some() || !self.is_yet_to_answer(message, window).await);
        if is_none {
            return;
        }
        let mut prior = self.prior_messages(message, read, reply).await;
        prior.said.retain(|said| {
            let is_before = first.is_none_or(|first| said.at < first.created_at);
            let event = said.event.as_ref().map(EventId::as_str);
            is_before && again.is_none_or(|again| event != Some(&*again.event))
        });
        let zone = self.recaller.time_zone_of(message);
        if is_later {
            // The first answer said that it was a part; that nothing can be read now has to be said again.
            files.cut = prior.cut.filter(|_| prior.said.is_empty());
            files.add_prior_messages(&prior, text, KEPT_CHARS, zone);
        } else {
            files.cut = prior.cut;
            files.follows_prior_messages |= !prior.said.is_empty();
            files.add_prior_messages(&prior, text, PROMPT_CHARS, zone);
        }
    }

    /// The messages from before the bot joined, without those that were forgotten since, and those of which nothing is to be
    /// remembered. While the graph is away it is unknown which those are.
    async fn prior_messages(
        &self,
        message: &IncomingMessage,
        read: &Read,
        reply: &mut dyn Reply,
    ) -> PriorMessages {
        if read.store_away {
            return PriorMessages::default();
        }
        let mut prior = reply.prior_messages().await;
        // Heard messages are in the window already.
        let heard = |event: &EventId| {
            let mut window = read.context.window.iter();
            window.any(|turn| turn.event == event.as_str())
        };
        prior
            .said
            .retain(|it| !it.event.as_ref().is_some_and(heard));
        prior.said.retain(|said| {
            let author = said.author_id.as_deref();
            let (place, thread) = (message.channel(), &message.conversation);
            let what = (said.text.as_str(), said.at);
            !self.hearing.leaves_out(place, thread, author, what)
        });
        if prior.said.is_empty() {
            return prior;
        }
        let authors = prior.said.iter().filter_map(|said| said.author_id.clone());
        let authors = authors.collect();
        let forgotten = tokio::try_join!(
            self.archive
                .marks(&message.conversation, &message.audience.id),
            self.archive.store().forgotten_people(&authors)
        );
        match forgotten {
            Ok((marks, people)) => prior.said.retain(|said| {
                let is_of = |(person, until): &(String, DateTime<Utc>)| {
                    said.author_id.as_ref() == Some(person) && said.at <= *until
                };
                !marks.covers_message(said) && !people.iter().any(is_of)
            }),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(
                    error,
                    "what was forgotten cannot be known, so nothing is read"
                );
                return PriorMessages::default();
            }
        }
        prior
    }
}
