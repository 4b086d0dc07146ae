//! Keeping what people say to one another.
//!
//! A message is a turn that nothing answers ([`Source::Message`](crate::graph::Source)). It stands on the chain of its
//! thread, so whatever keeps, finds, exports and forgets turns does the same with it.

use std::collections::HashSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use muninn_platform::{Audience, AudienceId, ConversationId, EventId};

use super::archive::Archive;
use super::journal::JournalError;
use crate::graph::answers::Spoken;
use crate::graph::{Forgotten, NewTurn, ResponseId, StoreError, Turn};

/// Messages of one transaction at most.
const MOST: usize = 400;
/// Messages that are compared with earlier ones when they are kept, at most.
const FEW: usize = 8;

/// What its author made of a message.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    /// Of the message that is edited.
    pub event: &'a EventId,
    pub audience: &'a Audience,
    /// Stable id of the person who edited it.
    pub author: &'a str,
    /// Without secrets.
    pub text: &'a str,
    /// When it was edited.
    pub at: DateTime<Utc>,
}

/// A message could not be changed or forgotten.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    #[error(transparent)]
    Graph(#[from] StoreError),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl MessageError {
    /// Whether it may go better when it is tried again.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Graph(error) => error.is_transient(),
            Self::Journal(_) => false,
        }
    }
}

impl Archive {
    /// Keeps messages, of any threads and audiences, each event once: in the graph, or in the journal while that is
    /// away or earlier ones of their thread wait there. When this returns, they cannot be lost.
    ///
    /// Nothing waits for a turn that is under way in the thread. What cannot be embedded now is embedded later.
    ///
    /// # Errors
    /// When the graph did not take some of them and they could not be written into the journal either. Those that
    /// were kept are kept; all of them may be handed over again.
    pub async fn keep_messages(&self, messages: Vec<NewTurn>) -> Result<(), JournalError> {
        let mut seen = HashSet::new();
        let mut messages: Vec<NewTurn> = messages
            .into_iter()
            .filter(|it| seen.insert(it.turn.event.clone()))
            .filter(|it| self.journal.turn_of_event(&it.turn.event).is_none())
            .collect();
        if let Some(recaller) = &self.recaller {
            recaller.embed_messages(&mut messages).await;
        }
        let messages: Vec<Arc<NewTurn>> = messages.into_iter().map(Arc::new).collect();
        let are_few = messages.len() <= FEW;
        if are_few && let Some(recaller) = &self.recaller {
            let audiences: HashSet<&AudienceId> =
                messages.iter().map(|it| &it.audience.id).collect();
            for audience in audiences {
                recaller.follow(self.store(), audience).await;
            }
        }
        for part in messages.chunks(MOST) {
            self.keep_part(part).await?;
            for message in part {
                let session = ConversationId::new(&message.turn.session);
                self.windows.hear(&session, &message.turn);
            }
        }
        if are_few {
            self.link(&messages).await;
        }
        Ok(())
    }

    /// Keeps a note that corrects something of its audience, in the graph alone: what it corrects is there.
    ///
    /// # Errors
    /// When the graph cannot be asked, or earlier turns of the session still wait for it.
    pub async fn correct(&self, note: NewTurn, earlier: ResponseId) -> Result<(), StoreError> {
        if self.journal.holds(&note.turn.session) {
            return Err(StoreError::Refused {
                message: "earlier turns of the session wait for it".to_owned(),
                transient: true,
            });
        }
        let mut note = [note];
        if let Some(recaller) = &self.recaller {
            recaller.embed_messages(&mut note).await;
        }
        let [note] = note.map(Arc::new);
        self.store().correct(&note, earlier).await?;
        let session = ConversationId::new(&note.turn.session);
        self.windows.hear(&session, &note.turn);
        self.no_longer_known(&note.audience.id);
        Ok(())
    }

    /// Links messages to the earlier ones that they replace, where what was said there is held. Those of a large batch
    /// are compared when they are recalled.
    async fn link(&self, messages: &[Arc<NewTurn>]) {
        let Some(recaller) = &self.recaller else {
            return;
        };
        for message in messages {
            if !self.journal.holds(&message.turn.session) {
                let audience = &message.audience.id;
                recaller.link(self.store(), audience, &message.turn).await;
            }
        }
    }

    /// Puts another text in the place of a message's, in the graph or in the journal, and gives it another vector. Says
    /// whether its author said it in this audience and it was not edited later.
    ///
    /// # Errors
    /// When the graph cannot be asked or the journal not be written.
    pub async fn edit_message(&self, edit: &Edit<'_>) -> Result<bool, MessageError> {
        let event = edit.event.as_str();
        let applies = |turn: &Turn| {
            let is_older = turn.revised_at.is_none_or(|at| at < edit.at);
            !turn.is_answered() && turn.author == edit.author && is_older
        };
        let mut waiting = self.journal.turn_of_event(event);
        let is_waiting = waiting.is_some();
        if waiting.is_none() {
            let saved = self.store().turn_of_event(edit.event).await?;
            let audience = edit.audience;
            waiting = saved.map(|turn| NewTurn::of(audience.clone(), turn));
        }
        let Some(mut message) =
            waiting.filter(|it| applies(&it.turn) && it.audience.id == edit.audience.id)
        else {
            return Ok(false);
        };
        if message.turn.input == edit.text {
            return Ok(true);
        }
        edit.text.clone_into(&mut message.turn.input);
        message.turn.revised_at = Some(edit.at);
        message.turn.embedding = None;
        if let Some(recaller) = &self.recaller {
            recaller
                .embed_messages(std::slice::from_mut(&mut message))
                .await;
        }
        self.windows
            .forget(&ConversationId::new(&message.turn.session));
        // It may have come into the graph meanwhile.
        if is_waiting && self.journal.revise(message.clone()).await? {
            return Ok(true);
        }
        let edited = self.store().edit_message(&message).await?;
        self.no_longer_known(&edit.audience.id);
        Ok(edited)
    }

    /// Forgets the message of an event, wherever it is kept. Says whether there was one in this audience.
    ///
    /// # Errors
    /// When the graph cannot be asked, or the message is still in a file.
    pub async fn forget_message(
        &self,
        audience: &AudienceId,
        event: &EventId,
    ) -> Result<bool, MessageError> {
        let is_it = |it: &NewTurn| {
            it.turn.event == event.as_str() && !it.turn.is_answered() && it.audience.id == *audience
        };
        let here = self.journal.forget(is_it).await?;
        let saved = self.store().turn_of_event(event).await?;
        let Some(message) = saved.filter(|it| !it.is_answered()) else {
            return Ok(here > 0);
        };
        let session = ConversationId::new(&message.session);
        if self.store().audience_of(&session).await?.as_ref() != Some(audience) {
            return Ok(here > 0);
        }
        self.windows.forget(&session);
        let forgotten = self.store().forget_message(&message).await?;
        self.no_longer_known(audience);
        Ok(forgotten.turns > 0)
    }

    /// Forgets what a person said to others in an audience.
    ///
    /// # Errors
    /// When the graph cannot be asked, or some of it is still in a file. What was forgotten by then stays forgotten.
    pub async fn forget_said(
        &self,
        audience: &AudienceId,
        person: &str,
    ) -> Result<Forgotten, MessageError> {
        let is_theirs = |it: &NewTurn| {
            it.turn.is_message() && it.audience.id == *audience && it.turn.author == person
        };
        let here = self.journal.forget(is_theirs).await?;
        self.windows.clear();
        let there = self.store().forget_said(audience, person).await?;
        self.no_longer_known(audience);
        let turns = there.turns + here;
        Ok(Forgotten { turns, ..there })
    }

    /// Forgets everything of a person, wherever it is kept, and what they thought of answers. What they said up to
    /// `said_until` is not kept again.
    ///
    /// # Errors
    /// When the graph cannot be asked, or some of it is still in a file. What was forgotten by then stays forgotten.
    pub async fn forget_person(
        &self,
        accounts: &[String],
        said_until: DateTime<Utc>,
    ) -> Result<Forgotten, MessageError> {
        let here = self.journal.forget(|it| accounts.contains(&it.turn.author));
        let here = here.await?;
        self.windows.clear();
        let there = self.store().forget_person(accounts, said_until).await?;
        let turns = there.turns + here;
        Ok(Forgotten { turns, ..there })
    }

    /// Forgets what was said in an audience before a moment. Says how many turns there were.
    ///
    /// # Errors
    /// As [`Archive::forget_person`].
    pub async fn forget_old(
        &self,
        audience: &AudienceId,
        before: DateTime<Utc>,
    ) -> Result<usize, MessageError> {
        let is_old = |it: &NewTurn| it.audience.id == *audience && it.turn.created_at < before;
        let here = self.journal.forget(is_old).await?;
        let there = self.store().forget_old(audience, before).await?;
        if here + there.turns > 0 {
            self.windows.clear();
            self.no_longer_known(audience);
        }
        Ok(here + there.turns)
    }

    /// What went out of turns of some people that wait for the graph.
    pub fn spoken_waiting_of(&self, accounts: &[String]) -> Vec<Spoken> {
        let sessions = self.journal.sessions().into_iter();
        let waiting = sessions.flat_map(|(session, _)| self.journal.of_session(session.as_str()));
        let theirs = waiting.filter(|it| accounts.contains(&it.turn.author));
        let spoken = theirs.map(|it| {
            let messages = it.turn.delivered.clone().unwrap_or_default();
            Spoken::new(ConversationId::new(&it.turn.session), messages)
        });
        spoken.collect()
    }

    /// Something in an audience was changed or forgotten: what is held of it is loaded again.
    fn no_longer_known(&self, audience: &AudienceId) {
        if let Some(recaller) = &self.recaller {
            recaller.forget(audience);
        }
    }

    /// Keeps as many messages as one transaction takes.
    async fn keep_part(&self, part: &[Arc<NewTurn>]) -> Result<(), JournalError> {
        // Behind those of their thread that wait already: the chain has one order.
        let waits = |it: &&Arc<NewTurn>| self.is_away() || self.journal.holds(&it.turn.session);
        let (mut waiting, direct): (Vec<_>, Vec<_>) = part.iter().partition(waits);
        let direct: Vec<Arc<NewTurn>> = direct.into_iter().cloned().collect();
        if !direct.is_empty()
            && let Err(error) = self.store().append_all(&[], &direct).await
        {
            self.not_taken(&error);
            // In their order, also of threads that waited already.
            waiting = part.iter().collect();
        }
        if waiting.is_empty() {
            return Ok(());
        }
        let waiting = waiting.into_iter().map(|it| NewTurn::clone(it)).collect();
        self.journal.keep_all(waiting).await
    }

    fn not_taken(&self, error: &StoreError) {
        if error.is_outage() {
            self.went_away(error);
        } else {
            let error = error as &dyn std::error::Error;
            tracing::error!(
                error,
                "the graph refused messages; they wait in the journal"
            );
        }
    }
}
