//! Forgetting of offline turns, and of answers that repeat them.

use std::collections::HashSet;
use std::sync::Arc;

use muninn_platform::ConversationId;

use super::archive::Archive;
use super::messages::MessageError;
use crate::graph::answers::DeliveredAnswer;
use crate::graph::items::ReadTurn;
use crate::graph::{NewTurn, ResponseId, StoreError, Turn, repeats_turn};

impl Archive {
    /// Removes turns of a session from memory, from the journal, and from those set aside. Returns how many were in the journal
    /// or set aside.
    ///
    /// # Errors
    /// Fails when the graph takes no copy of what is under a legal hold; nothing is then forgotten. Fails also when they are
    /// forgotten but still in a file.
    pub async fn forget(
        &self,
        session: &ConversationId,
        gone: impl Fn(&Turn) -> bool + Send + Sync,
    ) -> Result<usize, MessageError> {
        let is_gone = |it: &NewTurn| it.turn.session == session.as_str() && gone(&it.turn);
        self.copy_held_unsaved(is_gone).await?;
        let window = self.windows.get(session).into_iter();
        self.forgotten
            .add(window.filter(|turn| gone(turn)).map(|turn| turn.event));
        self.windows.forget(session);
        let waiting = self.journal.of_session(session.as_str()).into_iter();
        let ids: HashSet<ResponseId> = waiting
            .filter(|waiting| gone(&waiting.turn))
            .map(|waiting| waiting.turn.id)
            .collect();
        if !ids.is_empty() {
            self.empty_repetitions(&ids).await;
        }
        Ok(self.journal.forget(is_gone).await?)
    }

    /// Copies those of some turns that are under a legal hold and are not in the graph: they wait for it, or it refused them
    /// and they were set aside.
    ///
    /// # Errors
    /// Fails when the graph does not take a copy.
    pub(in crate::memory) async fn copy_held_unsaved(
        &self,
        is_meant: impl Fn(&NewTurn) -> bool + Send + Sync,
    ) -> Result<(), StoreError> {
        let aside = self.journal.aside().await.into_iter().map(Arc::new);
        let all = self.journal.all().into_iter().chain(aside);
        let meant: Vec<Arc<NewTurn>> = all.filter(|it| is_meant(it)).collect();
        self.store().copy_held_unsaved(&meant).await
    }

    /// Returns which turns of the journal may be saved. Turns that were forgotten elsewhere since then are dropped, and
    /// answers that were given any of these are emptied. The messages that show either are withdrawn.
    ///
    /// # Errors
    /// Fails when the graph cannot be read, or takes no copy of what is under a legal hold now.
    pub(in crate::memory) async fn without_forgotten(
        &self,
        turns: Vec<Arc<NewTurn>>,
    ) -> Result<Vec<Arc<NewTurn>>, StoreError> {
        let events = self
            .store()
            .forgotten_among(turns.iter().map(AsRef::as_ref));
        let events = events.await?;
        let is_forgotten = |turn: &&Arc<NewTurn>| events.contains(&turn.turn.event);
        self.drop_waiting(turns.iter().filter(is_forgotten).cloned().collect())
            .await?;
        // Read again, as some repeat what was just dropped.
        let left = turns.iter().filter_map(|it| self.journal.turn(it.turn.id));
        let left: Vec<Arc<NewTurn>> = left.collect();
        let mut gone = self.gone_of(&left).await?;
        let mut saved = Vec::new();
        for turn in left {
            let rests_on_it = turn.recalled.iter().any(|(id, _)| gone.contains(id));
            saved.push(if rests_on_it {
                gone.insert(turn.turn.id);
                self.emptied(&turn).await
            } else {
                turn
            });
        }
        Ok(saved)
    }

    async fn drop_waiting(&self, forgotten: Vec<Arc<NewTurn>>) -> Result<(), StoreError> {
        if forgotten.is_empty() {
            return Ok(());
        }
        match self.store().copy_held_unsaved(&forgotten).await {
            // Or no other turn would be saved any more.
            Err(error) if error.is_refusal() => not_copied(&error),
            copied => copied?,
        }
        // First, because the message IDs are lost afterwards.
        self.take_away(&forgotten).await;
        let ids: HashSet<ResponseId> = forgotten.iter().map(|it| it.turn.id).collect();
        self.empty_repetitions(&ids).await;
        if let Err(error) = self.journal.forget(|it| ids.contains(&it.turn.id)).await {
            let error = &error as &dyn std::error::Error;
            tracing::error!(
                error,
                "what was forgotten is still in a file of the journal"
            );
        }
        for turn in &forgotten {
            self.windows
                .forget(&ConversationId::new(&turn.turn.session));
        }
        let turns = forgotten.len();
        tracing::info!(turns, "what waited for the graph was forgotten elsewhere");
        Ok(())
    }

    /// Empties the answers in the journal that were given some of these turns, or that came after them in their
    /// conversation and repeat them.
    pub(in crate::memory) async fn empty_repetitions(&self, forgotten: &HashSet<ResponseId>) {
        let mut gone = forgotten.clone();
        let mut said: Vec<Arc<NewTurn>> = Vec::new();
        for turn in self.journal.all() {
            if forgotten.contains(&turn.turn.id) {
                said.push(turn);
                continue;
            }
            let was_given = turn.recalled.iter().any(|(id, _)| gone.contains(id));
            let mut of_session = said
                .iter()
                .filter(|it| it.turn.session == turn.turn.session);
            if was_given || of_session.any(|it| repeats_turn(&turn.turn, &it.turn)) {
                gone.insert(turn.turn.id);
                self.emptied(&turn).await;
            }
        }
    }

    /// The inputs of some answers that were forgotten or emptied since.
    async fn gone_of(&self, answers: &[Arc<NewTurn>]) -> Result<HashSet<ResponseId>, StoreError> {
        let given = answers
            .iter()
            .flat_map(|it| &it.recalled)
            .map(|(id, _)| *id);
        let given: HashSet<ResponseId> = given.collect();
        let given: Vec<ReadTurn> = given.into_iter().map(|id| ReadTurn::new(id, "")).collect();
        let gone = self.find_changed_turns(&given).await?;
        Ok(gone.forgotten.into_iter().chain(gone.emptied).collect())
    }

    async fn emptied(&self, turn: &Arc<NewTurn>) -> Arc<NewTurn> {
        self.take_away(std::slice::from_ref(turn)).await;
        // What it repeats goes in any case.
        if let Err(error) = self.store().copy_held_unsaved_answer(turn).await {
            not_copied(&error);
        }
        let emptied = turn.emptied();
        if let Err(error) = self.journal.revise(emptied.clone()).await {
            let error = &error as &dyn std::error::Error;
            tracing::error!(
                error,
                "what was forgotten is still in a file of the journal"
            );
        }
        self.windows
            .forget(&ConversationId::new(&turn.turn.session));
        Arc::new(emptied)
    }

    async fn take_away(&self, turns: &[Arc<NewTurn>]) {
        let shown: Vec<DeliveredAnswer> = turns
            .iter()
            .filter_map(|it| DeliveredAnswer::of(&it.turn))
            .collect();
        self.withdraw(shown).await;
    }

    /// Withdraws messages of forgotten turns and emptied answers, in the background.
    pub(in crate::memory) async fn withdraw(&self, shown: Vec<DeliveredAnswer>) {
        if let Some(withdrawals) = &self.withdrawals
            && !shown.is_empty()
        {
            withdrawals.queue_withdrawals(shown).await;
        }
    }
}

fn not_copied(error: &StoreError) {
    let error = error as &dyn std::error::Error;
    tracing::error!(
        error,
        "what is under a legal hold was dropped without a copy"
    );
}
