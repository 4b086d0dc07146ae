//! Withdraws the bot's messages that show forgotten turns: at once where possible, otherwise later, also after a restart.
//! It stores IDs only, and no text.

mod file;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use dashmap::DashMap;
use muninn_platform::{
    ConversationId, Delivered, EventId, Language, MessageId, NotNow, Withdraw, Withdrawn,
};
use muninn_texts::Value;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use self::file::WithdrawalFile;
use crate::graph::answers::Spoken;
use crate::graph::items::AsRead;
use crate::graph::{GraphStore, ResponseId};
use crate::memory::{Archive, TakesAway};

/// How long the author of a command waits; the rest is done after the reply.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest time for one message, including the wait for the platform's rate limit.
const ATTEMPT: Duration = Duration::from_secs(30);
/// First pause after a failure, doubling up to [`SLOWEST`].
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const SLOWEST: Duration = Duration::from_secs(900);
/// Maximum number of failures, after about three hours.
const TRIES: u32 = 20;
/// Number of messages between two writes of the remaining work.
const WRITE_EVERY: usize = 16;

/// The messages to withdraw on one platform, as they are stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Withdrawal {
    platform: String,
    #[serde(flatten)]
    left: ToWithdraw,
    /// Number of failures.
    tries: u32,
}

#[derive(Debug)]
struct Open {
    number: u64,
    withdrawal: Withdrawal,
    /// Whether a task is working on it.
    is_taken: bool,
    due: Instant,
}

/// What to withdraw of one conversation that is being forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToWithdraw {
    pub conversation: ConversationId,
    messages: Vec<MessageId>,
    /// Questions whose answers have to be searched for, as their message IDs are unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    answers_to: Vec<EventId>,
    /// Messages that show an emptied answer. If it was regenerated since, they stay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    emptied: Vec<(MessageId, ResponseId)>,
    /// Answers that the messages list, of which the graph could not be told yet. The messages stay if all of the
    /// answers exist when it is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    listed: Vec<ResponseId>,
    /// Whether to withdraw the conversation's title too.
    title: bool,
}

impl ToWithdraw {
    /// The messages of one session, and of others that quote it. The title is that of `session`.
    pub fn of(session: &ConversationId, spoken: Vec<Spoken>, title: bool) -> Vec<Self> {
        let mut by_session: BTreeMap<ConversationId, Self> = BTreeMap::new();
        let nothing = |conversation: &ConversationId| Self {
            conversation: conversation.clone(),
            messages: Vec::new(),
            answers_to: Vec::new(),
            emptied: Vec::new(),
            listed: Vec::new(),
            title: title && conversation == session,
        };
        if title {
            by_session.insert(session.clone(), nothing(session));
        }
        for spoken in spoken {
            let known = by_session.entry(spoken.session);
            let all = known.or_insert_with_key(nothing);
            let messages = spoken.messages.0;
            let emptied = |answer| messages.iter().map(move |it| (it.clone(), answer));
            all.emptied
                .extend(spoken.emptied.into_iter().flat_map(emptied));
            all.messages.extend(messages);
            all.answers_to.extend(spoken.unseen);
        }
        let all = by_session.into_values();
        all.filter(|it| !it.is_nothing()).collect()
    }

    fn is_nothing(&self) -> bool {
        self.messages.is_empty() && self.answers_to.is_empty() && !self.title
    }
}

#[async_trait]
impl TakesAway for Withdrawals {
    /// Withdraws messages as soon as their platform can be reached.
    async fn take_over(&self, shown: Vec<Spoken>) {
        for spoken in shown {
            let conversation = spoken.session.clone();
            let all = ToWithdraw::of(&conversation, vec![spoken], false);
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
    /// `None` if there is nothing to withdraw.
    of: Option<Arc<Plans>>,
}

impl PlannedWithdrawals {
    pub fn add(&mut self, mut other: Self) {
        self.numbers.append(&mut other.numbers);
        self.of = self.of.take().or(other.of.take());
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
    state: Mutex<WithdrawalQueue>,
    changed: Notify,
}

impl Plans {
    fn state(&self) -> MutexGuard<'_, WithdrawalQueue> {
        // A list of IDs is consistent, even after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks these as not being worked on.
    fn release(&self, numbers: &[u64]) {
        let mut state = self.state();
        let released = state.all.iter_mut();
        for open in released.filter(|open| numbers.contains(&open.number)) {
            open.is_taken = false;
        }
        drop(state);
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
    platforms: DashMap<String, Arc<dyn Withdraw>>,
    /// Tells whether an emptied answer was regenerated.
    store: Option<Arc<GraphStore>>,
    /// Tells the graph of listings.
    archive: OnceLock<Weak<Archive>>,
}

#[derive(Debug, Default)]
struct WithdrawalQueue {
    next: u64,
    all: Vec<Open>,
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
        let mut state = WithdrawalQueue::default();
        for withdrawal in left_over {
            state.add(withdrawal);
        }
        for open in &mut state.all {
            open.is_taken = false;
        }
        Ok(Self {
            file,
            plans: Arc::new(Plans {
                state: Mutex::new(state),
                changed: Notify::new(),
            }),
            platforms: DashMap::new(),
            store: None,
            archive: OnceLock::new(),
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
    pub fn with_archive(&self, archive: &Arc<Archive>) {
        self.archive.get_or_init(|| Arc::downgrade(archive));
    }

    fn state(&self) -> MutexGuard<'_, WithdrawalQueue> {
        self.plans.state()
    }

    /// Registers a platform that can be reached.
    pub fn connected(&self, platform: &str, withdraw: Arc<dyn Withdraw>) {
        self.platforms.insert(platform.to_owned(), withdraw);
        let now = Instant::now();
        for open in &mut self.state().all {
            if open.withdrawal.platform == platform {
                open.due = now;
            }
        }
        self.plans.changed.notify_one();
    }

    /// Withdraws messages on a platform as soon as that can be reached.
    pub fn of(&self, platform: &str) -> Arc<dyn Withdraw> {
        let known = self.platforms.get(platform);
        known.map_or_else(
            || Arc::new(NotReached) as Arc<dyn Withdraw>,
            |it| Arc::clone(it.value()),
        )
    }

    /// Cancels the withdrawal of messages that have a new text now.
    pub async fn forgo(&self, conversation: &ConversationId, messages: &Delivered) {
        let is_any = self.state().forgo(conversation, messages);
        if is_any {
            self.write().await;
        }
    }

    /// Withdraws messages at once that show something forgotten while they were sent, because whoever forgot it did not
    /// know of them.
    pub async fn take_away(&self, withdraw: Arc<dyn Withdraw>, shown: Spoken) {
        let conversation = shown.session.clone();
        let gone = ToWithdraw::of(&conversation, vec![shown], false);
        let platform = conversation.platform();
        let planned = self.plan_withdrawal(platform, withdraw, gone).await;
        self.carry_out(planned).await;
    }

    /// Writes down that messages list answers, because the graph could not be told. They are withdrawn if one of the
    /// answers was forgotten before the graph is told.
    pub async fn tell_later(
        &self,
        withdraw: Arc<dyn Withdraw>,
        listing: Spoken,
        answers: Vec<ResponseId>,
    ) {
        let conversation = listing.session.clone();
        let mut all = ToWithdraw::of(&conversation, vec![listing], false);
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
        all: Vec<ToWithdraw>,
    ) -> PlannedWithdrawals {
        self.platforms.insert(platform.to_owned(), withdraw);
        if all.is_empty() {
            return PlannedWithdrawals::default();
        }
        let numbers = {
            let mut state = self.state();
            let mut numbers = Vec::new();
            for it in all {
                let new = state.not_planned(it);
                if !new.is_nothing() {
                    numbers.push(state.add(Withdrawal {
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
            of: Some(Arc::clone(&self.plans)),
        };
        self.write().await;
        planned
    }

    /// Withdraws what was planned, as far as possible within a few seconds; the rest follows later.
    pub async fn carry_out(&self, planned: PlannedWithdrawals) -> WithdrawalOutcome {
        let mut outcome = WithdrawalOutcome::default();
        let deadline = Instant::now() + PATIENCE;
        for number in &planned.numbers {
            if Instant::now() < deadline {
                self.work_on(*number, Some(deadline), &mut outcome).await;
            }
        }
        {
            let state = self.state();
            let left = state.all.iter();
            for open in left.filter(|open| planned.numbers.contains(&open.number)) {
                let left = &open.withdrawal.left;
                outcome.later += left.messages.len() + left.answers_to.len();
            }
        }
        drop(planned);
        self.write().await;
        outcome
    }

    /// Retries failed withdrawals, until `shutdown`.
    pub async fn run(&self, shutdown: CancellationToken) {
        loop {
            let (number, due) = self.next();
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

    /// Takes the next withdrawal that is due, or returns when one will be.
    fn next(&self) -> (Option<u64>, Option<Instant>) {
        let mut state = self.state();
        let now = Instant::now();
        let mut soonest = None;
        for open in &mut state.all {
            if open.is_taken || !self.platforms.contains_key(&open.withdrawal.platform) {
                continue;
            }
            if open.due <= now {
                open.is_taken = true;
                return (Some(open.number), None);
            }
            soonest = Some(soonest.map_or(open.due, |soonest: Instant| soonest.min(open.due)));
        }
        (None, soonest)
    }

    /// Withdraws one message after the other, until one fails.
    async fn work_on(
        &self,
        number: u64,
        deadline: Option<Instant>,
        outcome: &mut WithdrawalOutcome,
    ) {
        let mut done = 0_usize;
        while let Some((platform, conversation, step)) = self.step(number) {
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
                                self.found(number, found);
                                Withdrawn::Gone
                            }
                            Err(NotNow) => Withdrawn::NotYet,
                        }
                    }
                    WithdrawalStep::Title => withdraw.clear_title(&conversation).await,
                    WithdrawalStep::Listing(messages, answers) => {
                        let listing = Spoken::new(conversation.clone(), messages.clone());
                        match self.tell(answers, &listing).await {
                            Some(stands) => {
                                self.told(number, stands);
                                Withdrawn::Gone
                            }
                            None => Withdrawn::NotYet,
                        }
                    }
                }
            };
            let patience = deadline.map_or(ATTEMPT, |deadline| {
                ATTEMPT.min(deadline.saturating_duration_since(Instant::now()))
            });
            let withdrawn = timeout(patience, attempt).await;
            match withdrawn {
                Ok(Withdrawn::Gone) => self.done(number, &step),
                Ok(Withdrawn::Stays(why)) => {
                    self.done(number, &step);
                    if matches!(step, WithdrawalStep::Message(..)) {
                        outcome.stays(why);
                    }
                }
                Ok(Withdrawn::NotYet) | Err(_) => return self.put_off(number),
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

    /// Whether an emptied answer was regenerated. While the graph is away, it counts as not regenerated, because it said
    /// what was forgotten.
    async fn is_given_anew(&self, emptied: Option<ResponseId>) -> bool {
        let (Some(store), Some(answer)) = (&self.store, emptied) else {
            return false;
        };
        let gone = store.gone(&[AsRead::new(answer, "")]).await;
        gone.is_ok_and(|gone| gone.is_empty())
    }

    /// Tells the graph that messages list answers. Returns whether all answers exist, or `None` if the graph could not be
    /// told.
    async fn tell(&self, answers: &[ResponseId], listing: &Spoken) -> Option<bool> {
        let archive = self.archive.get()?.upgrade()?;
        archive.quoted_in(answers, listing).await.ok()
    }

    /// The graph knows of a listing: it stays, or it is withdrawn.
    fn told(&self, number: u64, stands: bool) {
        let mut state = self.state();
        if let Some(open) = state.get(number) {
            let left = &mut open.withdrawal.left;
            left.listed.clear();
            if stands {
                left.messages.clear();
            }
        }
    }

    fn step(&self, number: u64) -> Option<(String, ConversationId, WithdrawalStep)> {
        let mut state = self.state();
        let Withdrawal { platform, left, .. } = &state.get(number)?.withdrawal;
        let ToWithdraw {
            conversation,
            messages,
            answers_to,
            emptied,
            listed,
            title,
        } = left;
        if !listed.is_empty() {
            let step = WithdrawalStep::Listing(Delivered(messages.clone()), listed.clone());
            return Some((platform.clone(), conversation.clone(), step));
        }
        let step = match (messages.first(), answers_to.first()) {
            (Some(message), _) => {
                let mut emptied = emptied.iter();
                let shows = emptied.find(|(shown, _)| shown == message);
                WithdrawalStep::Message(message.clone(), shows.map(|(_, answer)| *answer))
            }
            (None, Some(question)) => WithdrawalStep::AnswerTo(question.clone()),
            (None, None) if *title => WithdrawalStep::Title,
            (None, None) => return None,
        };
        Some((platform.clone(), conversation.clone(), step))
    }

    /// Adds the messages of an answer that was searched for.
    fn found(&self, number: u64, messages: Vec<MessageId>) {
        let mut state = self.state();
        if let Some(open) = state.get(number) {
            open.withdrawal.left.messages.extend(messages);
        }
    }

    fn done(&self, number: u64, step: &WithdrawalStep) {
        let mut state = self.state();
        if let Some(open) = state.get(number) {
            let withdrawal = &mut open.withdrawal;
            let left = &mut withdrawal.left;
            match step {
                WithdrawalStep::Message(gone, _) => {
                    left.messages.retain(|message| message != gone);
                    left.emptied.retain(|(message, _)| message != gone);
                }
                WithdrawalStep::AnswerTo(found) => {
                    left.answers_to.retain(|question| question != found)
                }
                WithdrawalStep::Title => left.title = false,
                WithdrawalStep::Listing(..) => {}
            }
            withdrawal.tries = 0;
        }
        state.all.retain(|it| !it.withdrawal.left.is_nothing());
    }

    fn put_off(&self, number: u64) {
        let mut state = self.state();
        let Some(open) = state.get(number) else {
            return;
        };
        open.withdrawal.tries += 1;
        let tries = open.withdrawal.tries;
        open.due = Instant::now() + pause(tries);
        if tries < TRIES {
            return;
        }
        if !open.withdrawal.left.listed.is_empty() {
            tracing::warn!(conversation = %open.withdrawal.left.conversation, "whether what a listing shows still exists could not be found out; it is taken away");
            open.withdrawal.left.listed.clear();
            open.withdrawal.tries = 0;
        } else {
            let ToWithdraw {
                conversation,
                messages,
                ..
            } = &open.withdrawal.left;
            tracing::error!(%conversation, messages = messages.len(), "messages that were forgotten could not be taken away; remove them by hand");
            state.all.retain(|it| it.number != number);
        }
    }

    /// Writes the remaining work to the file.
    async fn write(&self) {
        let all = || {
            let state = self.state();
            state.all.iter().map(|it| it.withdrawal.clone()).collect()
        };
        if let Err(error) = self.file.write(all).await {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "what is to be taken away could not be written down"
            );
        }
    }
}

#[derive(Debug)]
enum WithdrawalStep {
    /// A message, with the emptied answer that it shows, if any.
    Message(MessageId, Option<ResponseId>),
    AnswerTo(EventId),
    Title,
    /// Messages that list answers.
    Listing(Delivered, Vec<ResponseId>),
}

impl WithdrawalQueue {
    fn add(&mut self, withdrawal: Withdrawal) -> u64 {
        let number = self.next;
        self.next += 1;
        self.all.push(Open {
            number,
            withdrawal,
            is_taken: true,
            due: Instant::now(),
        });
        number
    }

    /// Removes what is written down already. What is written down may turn out now to show an emptied answer.
    fn not_planned(&mut self, mut new: ToWithdraw) -> ToWithdraw {
        let planned = self.all.iter_mut().map(|it| &mut it.withdrawal.left);
        for its in planned.filter(|it| it.conversation == new.conversation) {
            let known = new.emptied.iter().filter(|it| !its.emptied.contains(it));
            let known = known.filter(|(message, _)| its.messages.contains(message));
            let known: Vec<_> = known.cloned().collect();
            its.emptied.extend(known);
            new.messages
                .retain(|message| !its.messages.contains(message));
            new.answers_to
                .retain(|question| !its.answers_to.contains(question));
        }
        new
    }

    /// Removes messages. Returns whether any of them was written down.
    fn forgo(&mut self, conversation: &ConversationId, messages: &Delivered) -> bool {
        let mut is_any = false;
        let all = self.all.iter_mut().map(|it| &mut it.withdrawal.left);
        for its in all.filter(|it| it.conversation == *conversation) {
            let planned = its.messages.len();
            its.messages.retain(|it| !messages.0.contains(it));
            is_any |= its.messages.len() < planned;
        }
        self.all.retain(|it| !it.withdrawal.left.is_nothing());
        is_any
    }

    fn get(&mut self, number: u64) -> Option<&mut Open> {
        self.all.iter_mut().find(|it| it.number == number)
    }
}

fn pause(tries: u32) -> Duration {
    (FIRST_PAUSE * 2_u32.saturating_pow(tries.saturating_sub(1).min(16))).min(SLOWEST)
}

#[cfg(test)]
mod tests;
