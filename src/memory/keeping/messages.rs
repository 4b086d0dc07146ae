//! Keeps what people say to one another.
//!
//! A heard message is a turn without an answer ([`Source::Message`](crate::graph::Source)). It is part of its thread's
//! chain, so everything that keeps, finds, exports and forgets turns handles it too.

use std::collections::HashSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use muninn_platform::{Audience, AudienceId, ConversationId, EventId};

use super::archive::Archive;
use super::journal::JournalError;
use super::replay::not_copied_yet;
use crate::graph::answers::DeliveredAnswer;
use crate::graph::{Forgotten, NewTurn, ResponseId, StoreError, Turn};

/// Maximum number of messages per transaction.
const MAX_MESSAGES_PER_TRANSACTION: usize = 400;
/// Maximum number of messages that are compared with earlier ones when they are kept.
const MAX_COMPARED_MESSAGES: usize = 8;

/// An edit of a message by its author.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    /// The event of the edited message.
    pub event: &'a EventId,
    pub audience: &'a Audience,
    /// Stable ID of the person who edited it.
    pub author: &'a str,
    /// The new text, without secrets.
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
    /// Whether a retry may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Graph(error) => error.is_transient(),
            Self::Journal(_) => false,
        }
    }
}

impl Archive {
    /// Keeps messages of any threads and audiences, each event once: in the graph, or in the journal while the graph is
    /// away or earlier messages of their thread wait there. When this returns, they cannot be lost.
    ///
    /// It does not wait for a running turn in the thread. What cannot be embedded now is embedded later.
    ///
    /// # Errors
    /// Fails when the graph did not take some of them and they could not be written to the journal either. The others
    /// are kept; all of them may be passed again.
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
        let are_few = messages.len() <= MAX_COMPARED_MESSAGES;
        if are_few && let Some(recaller) = &self.recaller {
            let audiences: HashSet<&AudienceId> =
                messages.iter().map(|it| &it.audience.id).collect();
            for audience in audiences {
                recaller.follow(self.store(), audience).await;
            }
        }
        for part in messages.chunks(MAX_MESSAGES_PER_TRANSACTION) {
            self.keep_part(part).await?;
            self.note_kept();
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

    /// Keeps a note that corrects something in its audience, in the graph only, as what it corrects is there.
    ///
    /// # Errors
    /// Fails when the graph cannot be used, or earlier turns of the session still wait for it.
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

    /// Links messages to the earlier ones that they replace, if the audience's index is loaded. Large batches are
    /// compared only when they are recalled.
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

    /// Replaces a message's text and vector, in the graph or in the journal. Returns whether the author said it in this
    /// audience and it was not edited later.
    ///
    /// # Errors
    /// Fails when the graph cannot be used or the journal cannot be written.
    pub async fn edit_message(&self, edit: &Edit<'_>) -> Result<bool, MessageError> {
        let event = edit.event.as_str();
        let applies = |turn: &Turn| {
            let is_older = turn.revised_at.is_none_or(|at| at < edit.at);
            !turn.is_answered() && turn.author == edit.author && is_older
        };
        let mut waiting = self.journal.turn_of_event(event);
        if waiting.is_some() && self.store().is_held(&edit.audience.id) {
            // What it said before is copied in the graph.
            self.save_all_waiting().await?;
            waiting = self.journal.turn_of_event(event);
            if waiting.is_some() {
                return Err(not_copied_yet().into());
            }
        }
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
        // It may have been saved in the graph meanwhile.
        if is_waiting && self.journal.revise(message.clone()).await? {
            return Ok(true);
        }
        let edited = self.store().edit_message(&message).await?;
        self.no_longer_known(&edit.audience.id);
        Ok(edited)
    }

    /// Forgets the message of an event, wherever it is kept. Returns whether there was one in this audience.
    ///
    /// # Errors
    /// Fails when the graph cannot be used, or the message is still in a file.
    pub async fn forget_message(
        &self,
        audience: &AudienceId,
        event: &EventId,
    ) -> Result<bool, MessageError> {
        let is_it = |it: &NewTurn| {
            it.turn.event == event.as_str() && !it.turn.is_answered() && it.audience.id == *audience
        };
        self.save_held_first(audience).await?;
        let here = self.forget_waiting(is_it).await?;
        // Answers that repeat it may wait for the graph, which is searched for them.
        self.save_all_waiting().await?;
        let saved = self.store().turn_of_event(event).await?;
        let Some(message) = saved.filter(|it| !it.is_answered()) else {
            return Ok(here > 0);
        };
        let session = ConversationId::new(&message.session);
        if self.store().audience_of(&session).await?.as_ref() != Some(audience) {
            return Ok(here > 0);
        }
        let forgotten = self.store().forget_message(&message).await;
        // Answers in any session may have been emptied, even if it failed.
        self.windows.clear();
        let forgotten = forgotten?;
        self.withdraw(forgotten.emptied).await;
        self.no_longer_known(audience);
        Ok(forgotten.turns > 0)
    }

    /// Forgets what a person said to others in an audience.
    ///
    /// # Errors
    /// Fails when the graph cannot be used, or some of it is still in a file. What was forgotten by then stays
    /// forgotten.
    pub async fn forget_heard_messages(
        &self,
        audience: &AudienceId,
        person: &str,
    ) -> Result<Forgotten, MessageError> {
        let is_theirs = |it: &NewTurn| {
            it.turn.is_message() && it.audience.id == *audience && it.turn.author == person
        };
        self.save_held_first(audience).await?;
        let here = self.forget_waiting(is_theirs).await?;
        let there = self.store().forget_heard_messages(audience, person).await;
        self.windows.clear();
        let there = there?;
        self.no_longer_known(audience);
        let turns = there.turns + here;
        Ok(Forgotten { turns, ..there })
    }

    /// A moment that is not before anything that some accounts said and that is kept, in the graph or still waiting for it.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn until_now(&self, accounts: &[String]) -> Result<DateTime<Utc>, StoreError> {
        // Read first: what is saved in between is then found in the graph.
        let waiting = self.journal.all().into_iter();
        let theirs = waiting.filter(|it| accounts.contains(&it.turn.author));
        let newest = theirs.map(|it| it.turn.created_at).max();
        let until = self.store().until_now(accounts).await?;
        Ok(newest.map_or(until, |newest| until.max(newest)))
    }

    /// Forgets what was kept of a person until a moment, wherever it is kept, and their votes on answers. What they said up
    /// to `said_until` is not kept again. If it `is_repeated`, what they voted, linked and made since stays.
    ///
    /// # Errors
    /// Fails when the graph cannot be used, or some of it is still in a file. What was forgotten by then stays
    /// forgotten.
    pub async fn forget_person(
        &self,
        accounts: &[String],
        said_until: DateTime<Utc>,
        kept_until: DateTime<Utc>,
        is_repeated: bool,
    ) -> Result<Forgotten, MessageError> {
        let is_theirs =
            |it: &NewTurn| accounts.contains(&it.turn.author) && it.turn.created_at <= kept_until;
        let here = self.forget_waiting(is_theirs).await?;
        let store = self.store();
        let there = if is_repeated {
            let forgetting = store.forget_person_again(accounts, said_until, kept_until);
            forgetting.await
        } else {
            store.forget_person(accounts, said_until, kept_until).await
        };
        self.windows.clear();
        let there = there?;
        let turns = there.turns + here;
        Ok(Forgotten { turns, ..there })
    }

    /// Forgets what was said in an audience before a moment. Returns the number of turns.
    ///
    /// # Errors
    /// As [`Archive::forget_person`].
    pub async fn forget_old(
        &self,
        audience: &AudienceId,
        before: DateTime<Utc>,
    ) -> Result<usize, MessageError> {
        let is_old = |it: &NewTurn| it.audience.id == *audience && it.turn.created_at < before;
        // Answers that repeat it are deleted when their own time comes.
        let here = self.journal.forget(is_old).await?;
        let there = self.store().forget_old(audience, before).await?;
        if here + there.turns > 0 {
            self.windows.clear();
            self.no_longer_known(audience);
        }
        Ok(here + there.turns)
    }

    /// Saves what waits before something of an audience under a legal hold is forgotten: only what is in the graph is copied.
    async fn save_held_first(&self, audience: &AudienceId) -> Result<(), StoreError> {
        match self.store().is_held(audience) {
            true => self.save_all_waiting().await,
            false => Ok(()),
        }
    }

    /// Removes turns from the journal, and empties the answers there that repeat them. Of what is under a legal hold, only the
    /// graph keeps a copy, so that has to be in the graph.
    async fn forget_waiting(
        &self,
        gone: impl Fn(&NewTurn) -> bool + Send + Sync,
    ) -> Result<usize, MessageError> {
        // Its session is in use, or the graph refuses it.
        if self.waits_under_hold(&gone) {
            return Err(not_copied_yet().into());
        }
        self.copy_held_unsaved(&gone).await?;
        let waiting = self.journal.all().into_iter();
        let ids = waiting.filter(|it| gone(it)).map(|it| it.turn.id);
        let ids: HashSet<ResponseId> = ids.collect();
        if !ids.is_empty() {
            self.empty_repetitions(&ids).await;
        }
        Ok(self.journal.forget(gone).await?)
    }

    /// The delivered messages of the turns of some people that wait for the graph and were kept until a moment.
    pub fn offline_deliveries_of(
        &self,
        accounts: &[String],
        kept_until: DateTime<Utc>,
    ) -> Vec<DeliveredAnswer> {
        let sessions = self.journal.sessions().into_iter();
        let waiting = sessions.flat_map(|(session, _)| self.journal.of_session(session.as_str()));
        let theirs = waiting
            .filter(|it| accounts.contains(&it.turn.author) && it.turn.created_at <= kept_until);
        let spoken = theirs.map(|it| {
            let messages = it.turn.delivered.clone().unwrap_or_default();
            DeliveredAnswer::new(ConversationId::new(&it.turn.session), messages)
        });
        spoken.collect()
    }

    /// Drops the cache of an audience in which something was changed or forgotten.
    fn no_longer_known(&self, audience: &AudienceId) {
        if let Some(recaller) = &self.recaller {
            recaller.forget(audience);
        }
    }

    /// Keeps as many messages as fit in one transaction.
    async fn keep_part(&self, part: &[Arc<NewTurn>]) -> Result<(), JournalError> {
        // After the waiting messages of their thread, so that the chain keeps its order.
        let waits = |it: &&Arc<NewTurn>| self.is_away() || self.journal.holds(&it.turn.session);
        let (mut waiting, direct): (Vec<_>, Vec<_>) = part.iter().partition(waits);
        let direct: Vec<Arc<NewTurn>> = direct.into_iter().cloned().collect();
        if !direct.is_empty()
            && let Err(error) = self.store().append_all(&[], &direct).await
        {
            self.not_taken(&error);
            // In order, together with those of threads that waited already.
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
            self.mark_away(error);
        } else {
            let error = error as &dyn std::error::Error;
            tracing::error!(
                error,
                "the graph refused messages; they wait in the journal"
            );
        }
    }
}
