//! The bot: receives messages, gives each its turn, and shuts down cleanly.

mod again;
mod approving;
mod backfilling;
mod fairness;
mod inviting;
mod overheard;
mod owning;
mod revising;
mod revision_retries;
mod serving;
mod telling;
mod turns;

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use chrono::{DateTime, Utc};
use muninn_platform::{
    Ack, Addressed, Arrival, Arrivals, AudienceId, Body, Feedback, Incoming, IncomingMessage,
    LeftOver, Reply,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::agent::prompts::Prompts;
use crate::agent::telemetry;
use crate::agent::tools::Toolbox;
use crate::config::AdmissionConfig;
use crate::conversation::admission::Admission;
use crate::conversation::backfill::Backfills;
use crate::conversation::commands::{Commands, Exports};
use crate::conversation::deliveries::Deliveries;
use crate::conversation::digest::Digests;
use crate::conversation::in_flight::InFlight;
use crate::conversation::intake::Intake;
use crate::conversation::notice::Notice;
use crate::conversation::pages::Invites;
use crate::conversation::pending::PendingMessages;
use crate::conversation::readable::ProgramAccess;
use crate::conversation::retention::Retention;
use crate::conversation::summarizer::Summarizer;
use crate::conversation::turn::{TurnRunner, tell_asker};
use crate::conversation::withdrawals::Withdrawals;
use crate::graph::session::Sessions;
use crate::memory::{Archive, QueueWithdrawals as _};

use self::fairness::FairSemaphore;

/// How often unused locks and full quotas are dropped.
const SWEEP: Duration = Duration::from_secs(60);

/// How long it is known that a message was deleted: it may arrive late, or from a process that was away.
const DELETION_MARK_RETENTION: Duration = Duration::from_hours(30 * 24);

/// What the bot does without being asked.
#[derive(Debug)]
pub struct Maintenance {
    pub summarizer: Option<Summarizer>,
    pub digests: Digests,
    pub retention: Retention,
}

/// Everything that handles messages.
#[derive(Debug)]
pub struct Bot {
    sessions: Arc<Sessions>,
    admission: Admission,
    archive: Arc<Archive>,
    /// Uses the current prompts and tools. A running turn keeps those that it began with.
    turns: ArcSwap<TurnRunner>,
    commands: Commands,
    maintenance: Maintenance,
    started_at: DateTime<Utc>,
    /// Unset where no platform offers its history.
    backfills: OnceLock<Arc<Backfills>>,
    /// Unset where no pages are served.
    pages: OnceLock<Weak<dyn Invites>>,
    /// The address at which programs ask; unset where they cannot.
    programs: OnceLock<ProgramAccess>,
    pending: PendingMessages,
    intake: Intake,
    /// Permits for concurrent turns.
    places: Arc<FairSemaphore>,
    /// Permits for messages that were received and not answered yet.
    backlog: Arc<Semaphore>,
    /// The same, for revisions of overheard messages.
    heard_backlog: Arc<Semaphore>,
    /// Maximum number of messages that wait for a permit of `backlog`.
    most_waiting: usize,
    in_flight: InFlight,
    /// Serialises the revisions of each message.
    revisions: Sessions,
    deliveries: Deliveries,
    tasks: TaskTracker,
    /// Set when nothing more is accepted; work that can be done later is skipped.
    closing: CancellationToken,
    /// Set when time is up; unfinished work is left to the next start.
    halt: CancellationToken,
}

/// An admitted message that waits for a permit.
struct Admitted {
    message: IncomingMessage,
    reply: Box<dyn Reply>,
    ack: Ack,
}

/// A message that was accepted, with everything that is released when it is finished.
struct Arrived {
    message: IncomingMessage,
    reply: Box<dyn Reply>,
    ack: Ack,
    room: OwnedSemaphorePermit,
}

impl Bot {
    pub fn new(
        sessions: Arc<Sessions>,
        turns: TurnRunner,
        commands: Commands,
        maintenance: Maintenance,
        admission: &AdmissionConfig,
        pending: PendingMessages,
    ) -> Self {
        let intake = Intake {
            archive: Arc::clone(&turns.archive),
            rules: Arc::clone(&commands.hearing),
            message_chars: admission.message_chars,
        };
        Self {
            sessions,
            admission: Admission::new(admission),
            archive: Arc::clone(&turns.archive),
            turns: ArcSwap::from_pointee(turns),
            intake,
            commands,
            maintenance,
            started_at: Utc::now(),
            backfills: OnceLock::new(),
            pages: OnceLock::new(),
            programs: OnceLock::new(),
            pending,
            places: FairSemaphore::new(admission.turns_in_flight),
            backlog: Arc::new(Semaphore::new(admission.inbox_size)),
            heard_backlog: Arc::new(Semaphore::new(admission.inbox_size)),
            most_waiting: admission.inbox_size,
            in_flight: InFlight::default(),
            revisions: Sessions::default(),
            deliveries: Deliveries::default(),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            halt: CancellationToken::new(),
        }
    }

    /// Handles messages from the inbox until it is closed or `shutdown` is cancelled, then finishes
    /// the running turns.
    pub async fn run(self: Arc<Self>, inbox: Arrivals, shutdown: CancellationToken) {
        let done = CancellationToken::new();
        let emptied = self.archive.store().take_emptied();
        self.commands.withdrawals.queue_withdrawals(emptied).await;
        let background = [
            tokio::spawn(Arc::clone(&self).sweep(done.clone())),
            tokio::spawn({
                let (bot, done) = (Arc::clone(&self), done.clone());
                async move { bot.archive.watch(done).await }
            }),
            tokio::spawn({
                let (bot, done) = (Arc::clone(&self), done.clone());
                async move { bot.pending.keep_reporting_finished(done).await }
            }),
            tokio::spawn({
                let (bot, done) = (Arc::clone(&self), done.clone());
                async move { bot.commands.withdrawals.run(done).await }
            }),
            tokio::spawn({
                let (bot, done) = (Arc::clone(&self), done.clone());
                async move { bot.commands.withdrawals.exchange(done).await }
            }),
            tokio::spawn({
                let (bot, done) = (Arc::clone(&self), done.clone());
                async move { bot.commands.hearing.follow(bot.archive.store(), done).await }
            }),
            tokio::spawn({
                let (bot, done) = (Arc::clone(&self), done.clone());
                async move {
                    bot.commands
                        .people
                        .follow(&bot.commands.hearing, done)
                        .await
                }
            }),
            tokio::spawn({
                let (bot, done) = (Arc::clone(&self), done.clone());
                async move {
                    bot.maintenance
                        .digests
                        .run(&bot.commands.catch_up, done)
                        .await
                }
            }),
            tokio::spawn({
                let (bot, done) = (Arc::clone(&self), done.clone());
                async move { bot.maintenance.retention.run(done).await }
            }),
        ];
        self.commands.hearing.load(self.archive.store()).await;
        self.commands.people.load().await;
        let (mut messages, overheard) = inbox.split();
        let stop = shutdown.child_token();
        let listens = tokio::spawn({
            let (bot, stop) = (Arc::clone(&self), stop.clone());
            async move { bot.process_overheard(overheard, stop).await }
        });
        self.serve_all(&mut messages, &shutdown).await;
        if self.halt.is_cancelled() {
            stop.cancel();
        }
        self.closing.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        done.cancel();
        for task in background.into_iter().chain([listens]) {
            if let Err(error) = task.await {
                tracing::error!(%error, "a background task failed");
            }
        }
    }

    async fn serve_all(
        self: &Arc<Self>,
        inbox: &mut mpsc::Receiver<Arrival>,
        shutdown: &CancellationToken,
    ) {
        let mut waiting = VecDeque::new();
        let mut is_open = true;
        while is_open || !waiting.is_empty() {
            let has_room = waiting.len() < self.most_waiting;
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                () = self.halt.cancelled() => return,
                Ok(room) = Arc::clone(&self.backlog).acquire_owned(), if !waiting.is_empty() => {
                    if let Some(admitted) = waiting.pop_front() {
                        self.enqueue_message(admitted, room).await;
                    }
                }
                arrival = inbox.recv(), if is_open && has_room => match arrival {
                    Some(arrival) => waiting.extend(self.handle_arrival(arrival)),
                    None => is_open = false,
                },
            }
        }
    }

    /// Handles an arrival. Returns the message if it is to be answered.
    fn handle_arrival(self: &Arc<Self>, arrival: Arrival) -> Option<Admitted> {
        let (incoming, ack) = arrival.into_parts();
        match incoming {
            Incoming::Message { message, reply } => {
                return self.admit_or_refuse(message, reply, ack);
            }
            // Overheard messages have an inbox of their own.
            Incoming::Overheard(_) => drop(ack),
            Incoming::Connected {
                platform,
                withdraw,
                announce,
            } => {
                self.commands.hearing.register_announcer(platform, announce);
                self.maintenance.digests.notify_connected();
                self.commands.withdrawals.connected(platform, withdraw);
                ack.ack();
            }
            Incoming::Stop(conversation) => {
                self.stop(conversation);
                ack.ack();
            }
            Incoming::GivenUp(event) => {
                self.in_flight.give_up(&event);
                ack.ack();
            }
            Incoming::Feedback { audience, feedback } => {
                self.take_feedback(audience, feedback);
                ack.ack();
            }
            Incoming::Conversations {
                prefix,
                most,
                found,
            } => {
                self.tell_conversations(prefix, most, found);
                ack.ack();
            }
            Incoming::Kept {
                audience,
                since,
                most,
                found,
            } => {
                self.tell_kept(audience, since, most, found);
                ack.ack();
            }
            Incoming::Sessions {
                person,
                prefix,
                found,
            } => {
                self.tell_sessions(person, prefix, found);
                ack.ack();
            }
        }
        None
    }

    /// Admits or refuses a message.
    fn admit_or_refuse(
        self: &Arc<Self>,
        message: IncomingMessage,
        mut reply: Box<dyn Reply>,
        ack: Ack,
    ) -> Option<Admitted> {
        let mut message = Self::as_command(message);
        message.other_accounts = self.commands.people.linked_accounts(&message.author.id);
        message.languages = self.commands.channels.languages(&message);
        reply.set_label_language(message.language());
        match self.admit(&message) {
            Ok(()) => Some(Admitted {
                message,
                reply,
                ack,
            }),
            Err(notice) => {
                ack.ack();
                self.refuse(&message, reply, &notice);
                None
            }
        }
    }

    /// Uses these prompts and tools for later turns.
    pub fn use_files(&self, prompts: &Arc<Prompts>, toolbox: Arc<Toolbox>) {
        let turns = TurnRunner {
            prompts: Arc::clone(prompts),
            toolbox,
            ..TurnRunner::clone(&self.turns.load())
        };
        self.turns.store(Arc::new(turns));
        if let Some(summarizer) = &self.maintenance.summarizer {
            summarizer.use_prompts(Arc::clone(prompts));
        }
        self.commands.catch_up.use_prompts(Arc::clone(prompts));
    }

    /// Number of running tasks: answers, and the work after them.
    pub fn running_tasks(&self) -> usize {
        self.tasks.len()
    }

    /// The copies that are being made for people.
    pub fn exports(&self) -> Exports {
        self.commands.exports.clone()
    }

    /// The part that deletes the bot's messages.
    pub fn withdrawals(&self) -> Arc<Withdrawals> {
        Arc::clone(&self.commands.withdrawals)
    }

    /// Stops at once and leaves unfinished work to the next start.
    pub fn halt(&self) {
        self.halt.cancel();
    }

    /// Registers this process for these platforms, and takes over their messages that an earlier
    /// process left.
    pub async fn register_process(&self, platforms: &[String], left_over: &LeftOver) {
        // Adapters ask for hearing rules from the first message on.
        self.commands.hearing.load(self.archive.store()).await;
        self.pending.register_process(platforms, left_over).await;
    }

    /// Renews the leases of this process, and takes over the messages of processes that have died, until `done`.
    pub async fn keep_leases(
        &self,
        platforms: &[String],
        left_over: &LeftOver,
        done: CancellationToken,
    ) {
        self.pending.keep_leases(platforms, left_over, done).await;
    }

    /// Spawns a task that ends when its work is done or time is up.
    fn spawn(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) {
        let halt = self.halt.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                biased;
                () = halt.cancelled() => {}
                () = work => {}
            }
        });
    }

    /// Gives a message its place in a queue without waiting for its turn.
    async fn enqueue_message(self: &Arc<Self>, admitted: Admitted, room: OwnedSemaphorePermit) {
        let Admitted {
            message,
            reply,
            ack,
        } = admitted;
        if matches!(message.body, Body::Text(_)) {
            self.in_flight.add_message(&message);
        }
        // Taken here and not in the task, so that the order of arrival holds.
        let line = match &message.body {
            Body::Edit { of, .. } | Body::Deletion { of } => {
                self.revisions.queue(&Self::revision_queue_id(of)).await
            }
            Body::Text(_) | Body::Command(_) => self.sessions.queue(&message.conversation).await,
        };
        let bot = Arc::clone(self);
        let arrived = Arrived {
            message,
            reply,
            ack,
            room,
        };
        let span = telemetry::message(&arrived.message);
        self.spawn(async move { bot.process_arrived(arrived, line).await }.instrument(span));
    }

    /// Whether a message becomes a turn. One that may not be addressed to the bot is checked later.
    fn admit(&self, message: &IncomingMessage) -> Result<(), Notice> {
        match (&message.body, message.addressed) {
            (Body::Deletion { .. }, _) | (_, Addressed::InConversation | Addressed::Overheard) => {
                Ok(())
            }
            // It takes its words back, as a deletion does.
            (Body::Edit { .. }, Addressed::Directly) if Self::is_emptying(message) => Ok(()),
            // It was admitted before the restart, with others that now arrive at once.
            (Body::Text(_) | Body::Command(_) | Body::Edit { .. }, Addressed::Directly)
                if self.pending.is_left_over(&message.event) =>
            {
                self.admission.within_length(message)
            }
            (Body::Text(_) | Body::Command(_) | Body::Edit { .. }, Addressed::Directly) => {
                let line = self.sessions.line(&message.conversation);
                self.admission.admit(message, line)
            }
        }
    }

    fn refuse(self: &Arc<Self>, message: &IncomingMessage, reply: Box<dyn Reply>, notice: &Notice) {
        metrics::counter!("muninn_refusals_total").increment(1);
        // A length limit may have been lowered since it was accepted.
        if self.pending.is_left_over(&message.event) {
            self.pending.mark_done(&message.event);
        }
        if !self.admission.claim_refusal_notice(message, notice) {
            return;
        }
        let mut reply = reply;
        let said = notice.in_language(message.languages.person);
        self.spawn(async move { tell_asker(reply.as_mut(), &said).await });
    }

    fn take_feedback(self: &Arc<Self>, audience: AudienceId, feedback: Feedback) {
        let bot = Arc::clone(self);
        self.spawn(async move {
            let kept = bot.archive.keep_feedback(&audience, &feedback).await;
            match kept {
                Ok(Some(response)) => tracing::debug!(%response, "feedback"),
                Ok(None) => {}
                Err(error) => tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "feedback could not be kept"
                ),
            }
        });
    }

    async fn sweep(self: Arc<Self>, done: CancellationToken) {
        loop {
            tokio::select! {
                () = done.cancelled() => return,
                () = tokio::time::sleep(SWEEP) => {
                    self.sessions.sweep();
                    self.revisions.sweep();
                    self.admission.sweep();
                    self.commands.listening.sweep();
                    self.archive.sweep_claims().await;
                    self.pending.sweep().await;
                    let kept = DELETION_MARK_RETENTION.max(self.commands.missed_age);
                    self.archive.sweep_deletions(kept).await;
                }
            }
        }
    }
}
