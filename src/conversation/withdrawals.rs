//! Withdraws the bot's messages that show forgotten turns: at once where possible, otherwise later, also after a restart.
//! It stores IDs only, and no text.

mod exchange;
mod file;
mod queue;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use dashmap::DashMap;
use muninn_platform::{
    ConversationId, Delivered, Language, MessageId, NoEarlierMessages, NotNow, SharedRecent,
    Withdraw, Withdrawn,
};
use muninn_texts::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use self::file::WithdrawalFile;
pub use self::queue::ForgottenConversation;
use self::queue::{Withdrawal, WithdrawalQueue, WithdrawalStep};
use crate::graph::answers::DeliveredAnswer;
use crate::graph::items::ReadTurn;
use crate::graph::{GraphStore, ResponseId};
use crate::memory::{Archive, QueueWithdrawals};

/// How long the author of a command waits; the rest is done after the reply.
const WITHDRAWAL_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time for one message, including the wait for the platform's rate limit.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);
/// Number of messages between two writes of the remaining work.
const WRITE_EVERY: usize = 16;
/// Maximum number of messages that are known to be withdrawn, or to stay although they were to be.
const MAX_ATTEMPTED: usize = 4_096;
/// Where nothing can be taken away, from whichever process: it was printed, or given to a program. No adapter connects these.
const WITHOUT_EARLIER_MESSAGES: [&str; 2] = ["mcp", "terminal"];

#[async_trait]
impl QueueWithdrawals for Withdrawals {
    /// Withdraws messages as soon as their platform can be reached.
    async fn queue_withdrawals(&self, shown: Vec<DeliveredAnswer>) {
        for spoken in shown {
            let conversation = spoken.session.clone();
            let all = ForgottenConversation::of(&conversation, vec![spoken], false);
            let platform = conversation.platform();
            // Dropped, not carried out: the platform may not be reachable yet.
            drop(self.plan_withdrawal(platform, self.of(platform), all).await);
        }
    }
}

/// For a platform that was not reached yet.
struct NotReached;

#[async_trait]
impl Withdraw for NotReached {
    async fn withdraw(&self, _: &ConversationId, _: &MessageId) -> Withdrawn {
        Withdrawn::NotYet
    }
}

/// Withdrawals that were written down. If this is dropped, they are left to later tries: the turns may have been
/// forgotten, even if the graph reported an error.
#[derive(Debug, Default)]
pub struct PlannedWithdrawals {
    numbers: Vec<u64>,
    /// Those of which whoever forgets is not told.
    untold: Vec<u64>,
    /// `None` if there is nothing to withdraw.
    of: Option<Arc<Plans>>,
}

impl PlannedWithdrawals {
    pub fn add(&mut self, mut other: Self) {
        self.numbers.append(&mut other.numbers);
        self.untold.append(&mut other.untold);
        self.of = self.of.take().or(other.of.take());
    }

    /// The same, but whoever forgets is not told what becomes of them.
    #[must_use]
    pub fn untold(mut self) -> Self {
        self.untold.clone_from(&self.numbers);
        self
    }
}

impl Drop for PlannedWithdrawals {
    fn drop(&mut self) {
        if let Some(plans) = &self.of {
            plans.release(&self.numbers);
        }
    }
}

/// All withdrawals.
#[derive(Debug, Default)]
struct Plans {
    queue: Mutex<WithdrawalQueue>,
    changed: Notify,
}

impl Plans {
    fn queue(&self) -> MutexGuard<'_, WithdrawalQueue> {
        // A list of IDs is consistent, even after a panic.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks these as not being worked on.
    fn release(&self, numbers: &[u64]) {
        self.queue().release(numbers);
        self.changed.notify_one();
    }
}

/// The result so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WithdrawalOutcome {
    /// Number of messages that will be withdrawn later.
    pub later: usize,
    /// Number of messages that stay, by reason.
    pub stays: BTreeMap<Value, usize>,
}

impl WithdrawalOutcome {
    fn stays(&mut self, why: Value) {
        *self.stays.entry(why).or_default() += 1;
    }
}

/// Carries out withdrawals.
pub struct Withdrawals {
    file: WithdrawalFile,
    plans: Arc<Plans>,
    /// Those that were reached.
    platforms: DashMap<String, Arc<dyn Withdraw>>,
    /// Tells whether an emptied answer was regenerated.
    store: Option<Arc<GraphStore>>,
    /// Tells the graph of listings.
    archive: OnceLock<Weak<Archive>>,
    /// The messages that this process tried to withdraw, by platform.
    attempted: SharedRecent<(String, MessageId), ()>,
    not_reached: Arc<dyn Withdraw>,
}

impl std::fmt::Debug for Withdrawals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Withdrawals").finish_non_exhaustive()
    }
}

impl Withdrawals {
    /// Opens the folder, and continues what earlier processes left there.
    ///
    /// # Errors
    /// Fails when the folder cannot be used.
    pub fn open(folder: &Path) -> std::io::Result<Self> {
        let (file, left_over) = WithdrawalFile::open(folder)?;
        let platforms: DashMap<String, Arc<dyn Withdraw>> = DashMap::new();
        for platform in WITHOUT_EARLIER_MESSAGES {
            platforms.insert(platform.to_owned(), Arc::new(NoEarlierMessages));
        }
        Ok(Self {
            file,
            plans: Arc::new(Plans {
                queue: Mutex::new(WithdrawalQueue::of_file(left_over)),
                changed: Notify::new(),
            }),
            platforms,
            store: None,
            archive: OnceLock::new(),
            attempted: SharedRecent::new(MAX_ATTEMPTED),
            not_reached: Arc::new(NotReached),
        })
    }

    /// Sets the graph, which tells whether an emptied answer was regenerated, perhaps by another process.
    #[must_use]
    pub fn with_store(self, store: Arc<GraphStore>) -> Self {
        Self {
            store: Some(store),
            ..self
        }
    }

    /// Sets the archive, which tells the graph of listings. Later calls have no effect.
    pub fn set_archive(&self, archive: &Arc<Archive>) {
        self.archive.get_or_init(|| Arc::downgrade(archive));
    }

    fn queue(&self) -> MutexGuard<'_, WithdrawalQueue> {
        self.plans.queue()
    }

    /// Registers a platform that can be reached.
    pub fn connected(&self, platform: &str, withdraw: Arc<dyn Withdraw>) {
        self.platforms.insert(platform.to_owned(), withdraw);
        self.queue().make_due(platform);
        self.plans.changed.notify_one();
    }

    /// Withdraws messages on a platform as soon as that can be reached.
    pub fn of(&self, platform: &str) -> Arc<dyn Withdraw> {
        let known = self.platforms.get(platform);
        known.map_or_else(
            || Arc::clone(&self.not_reached),
            |it| Arc::clone(it.value()),
        )
    }

    /// Cancels the withdrawal of messages that have a new text now.
    pub async fn cancel_withdrawal(&self, conversation: &ConversationId, messages: &Delivered) {
        let is_any = self.queue().forgo(conversation, messages);
        if is_any {
            self.write().await;
        }
    }

    /// Withdraws messages at once that show something forgotten while they were sent, because whoever forgot it did not
    /// know of them.
    pub async fn take_away(&self, withdraw: Arc<dyn Withdraw>, shown: DeliveredAnswer) {
        let conversation = shown.session.clone();
        let gone = ForgottenConversation::of(&conversation, vec![shown], false);
        let platform = conversation.platform();
        let planned = self.plan_withdrawal(platform, withdraw, gone).await;
        self.carry_out(planned).await;
    }

    /// Tells the graph that messages show some turns, and withdraws the messages if one of these was forgotten meanwhile.
    pub async fn keep_listing(
        &self,
        archive: &Archive,
        turns: &[ReadTurn],
        listing: DeliveredAnswer,
        withdraw: Arc<dyn Withdraw>,
    ) {
        if turns.is_empty() || listing.messages.0.is_empty() {
            return;
        }
        match archive.record_quotes(turns, &listing).await {
            Ok(true) => {}
            Ok(false) => self.take_away(withdraw, listing).await,
            Err(error) => {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "the graph is told of a listing later"
                );
                let turns = turns.iter().map(|turn| turn.id).collect();
                self.record_listing(withdraw, listing, turns).await;
            }
        }
    }

    /// Writes down that messages list answers, because the graph could not be told. They are withdrawn if one of the
    /// answers was forgotten before the graph is told, or was emptied: what it said when it was listed is not kept.
    pub async fn record_listing(
        &self,
        withdraw: Arc<dyn Withdraw>,
        listing: DeliveredAnswer,
        answers: Vec<ResponseId>,
    ) {
        let conversation = listing.session.clone();
        let mut all = ForgottenConversation::of(&conversation, vec![listing], false);
        for it in &mut all {
            it.listed.clone_from(&answers);
        }
        let platform = conversation.platform();
        // Dropped, not carried out: the graph is away.
        drop(self.plan_withdrawal(platform, withdraw, all).await);
    }

    /// Writes down what to withdraw, before the record of it is deleted. To be followed by [`Withdrawals::carry_out`].
    pub async fn plan_withdrawal(
        &self,
        platform: &str,
        withdraw: Arc<dyn Withdraw>,
        all: Vec<ForgottenConversation>,
    ) -> PlannedWithdrawals {
        // What cannot be reached yet is not tried, as it would be given up in the end.
        if !Arc::ptr_eq(&withdraw, &self.not_reached) {
            self.platforms.insert(platform.to_owned(), withdraw);
        }
        if all.is_empty() {
            return PlannedWithdrawals::default();
        }
        let numbers = {
            let mut queue = self.queue();
            let mut numbers = Vec::new();
            for it in all {
                let new = queue.not_planned(it);
                if !new.is_nothing() {
                    numbers.push(queue.add(Withdrawal {
                        platform: platform.to_owned(),
                        left: new,
                        tries: 0,
                    }));
                }
            }
            numbers
        };
        let planned = PlannedWithdrawals {
            numbers,
            untold: Vec::new(),
            of: Some(Arc::clone(&self.plans)),
        };
        self.write().await;
        planned
    }

    /// Withdraws what was planned, as far as possible within a few seconds; the rest follows later.
    pub async fn carry_out(&self, planned: PlannedWithdrawals) -> WithdrawalOutcome {
        let mut outcome = WithdrawalOutcome::default();
        let deadline = Instant::now() + WITHDRAWAL_TIMEOUT;
        let is_told = |number: &u64| !planned.untold.contains(number);
        for number in &planned.numbers {
            if Instant::now() < deadline {
                let mut untold = WithdrawalOutcome::default();
                let outcome = if is_told(number) {
                    &mut outcome
                } else {
                    &mut untold
                };
                self.work_on(*number, Some(deadline), outcome).await;
            }
        }
        let told: Vec<u64> = planned.numbers.iter().copied().filter(is_told).collect();
        outcome.later = self.queue().left_of(&told);
        drop(planned);
        self.write().await;
        outcome
    }

    /// Retries failed withdrawals, until `shutdown`.
    pub async fn run(&self, shutdown: CancellationToken) {
        loop {
            let (number, due) = self.queue().next(|it| self.platforms.contains_key(it));
            let waiting = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            if number.is_none() {
                tokio::select! {
                    () = shutdown.cancelled() => return,
                    () = self.plans.changed.notified() => {}
                    () = waiting => {}
                }
                continue;
            }
            let Some(number) = number else { continue };
            let mut outcome = WithdrawalOutcome::default();
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = self.work_on(number, None, &mut outcome) => {}
            }
            for (why, messages) in &outcome.stays {
                let why = why.in_language(Language::English);
                tracing::warn!(messages, why, "messages that were forgotten stay");
            }
            self.plans.release(&[number]);
            self.write().await;
        }
    }

    /// Withdraws one message after the other, until one fails.
    async fn work_on(
        &self,
        number: u64,
        deadline: Option<Instant>,
        outcome: &mut WithdrawalOutcome,
    ) {
        let mut done = 0_usize;
        while let Some((platform, conversation, step)) = self.next_step(number) {
            let Some(withdraw) = self
                .platforms
                .get(&platform)
                .map(|it| Arc::clone(it.value()))
            else {
                return;
            };
            let attempt = async {
                match &step {
                    WithdrawalStep::Message(message, emptied) => {
                        if self.is_given_anew(*emptied).await {
                            Withdrawn::Gone
                        } else {
                            withdraw.withdraw(&conversation, message).await
                        }
                    }
                    WithdrawalStep::AnswerTo(question) => {
                        match withdraw.find_answer(&conversation, question).await {
                            Ok(found) => {
                                self.queue().found(number, found);
                                Withdrawn::Gone
                            }
                            Err(NotNow) => Withdrawn::NotYet,
                        }
                    }
                    WithdrawalStep::Title => withdraw.clear_title(&conversation).await,
                    WithdrawalStep::Listing(messages, answers) => {
                        let listing = DeliveredAnswer::new(conversation.clone(), messages.clone());
                        match self.tell(answers, &listing).await {
                            Some(stands) => {
                                self.queue().settle_listing(number, stands);
                                Withdrawn::Gone
                            }
                            None => Withdrawn::NotYet,
                        }
                    }
                }
            };
            let patience = deadline.map_or(ATTEMPT_TIMEOUT, |deadline| {
                ATTEMPT_TIMEOUT.min(deadline.saturating_duration_since(Instant::now()))
            });
            let withdrawn = timeout(patience, attempt).await;
            match withdrawn {
                Ok(Withdrawn::Gone) => self.queue().done(number, &step),
                Ok(Withdrawn::Stays(why)) => {
                    self.queue().done(number, &step);
                    if matches!(step, WithdrawalStep::Message(..)) {
                        outcome.stays(why);
                    }
                }
                Ok(Withdrawn::NotYet) | Err(_) => return self.queue().put_off(number),
            }
            done += 1;
            if done.is_multiple_of(WRITE_EVERY) {
                self.write().await;
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return;
            }
        }
    }

    /// Ends the lock on the queue before the step is carried out.
    fn next_step(&self, number: u64) -> Option<(String, ConversationId, WithdrawalStep)> {
        let next = self.queue().step(number)?;
        if let (platform, _, WithdrawalStep::Message(message, _)) = &next {
            self.attempted
                .insert((platform.clone(), message.clone()), ());
        }
        Some(next)
    }

    /// Whether a message of the bot shows something forgotten, whether it is still to be withdrawn or stays.
    pub fn shows_forgotten(&self, platform: &str, message: &MessageId) -> bool {
        let key = (platform.to_owned(), message.clone());
        self.queue().has_message(platform, message) || self.attempted.has(&key)
    }

    /// Whether an emptied answer was regenerated. While the graph is away, it counts as not regenerated, because it said
    /// what was forgotten.
    async fn is_given_anew(&self, emptied: Option<ResponseId>) -> bool {
        let (Some(store), Some(answer)) = (&self.store, emptied) else {
            return false;
        };
        let gone = store.find_changed_turns(&[ReadTurn::new(answer, "")]).await;
        gone.is_ok_and(|gone| gone.is_empty())
    }

    /// Tells the graph that messages list answers. Returns whether all answers exist, or `None` if the graph could not be
    /// told.
    async fn tell(&self, answers: &[ResponseId], listing: &DeliveredAnswer) -> Option<bool> {
        let archive = self.archive.get()?.upgrade()?;
        let answers: Vec<ReadTurn> = answers.iter().map(|id| ReadTurn::new(*id, "")).collect();
        archive.record_quotes(&answers, listing).await.ok()
    }

    /// Writes the remaining work to the file.
    async fn write(&self) {
        let all = || self.queue().all();
        if let Err(error) = self.file.write(all).await {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "what is to be taken away could not be written down"
            );
        }
    }
}

#[cfg(test)]
mod tests;
