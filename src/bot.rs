//! The bot: takes messages in, gives each its turn, and ends cleanly.

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use muninn_platform::{Arrival, Arrivals, Body, ConversationId, Incoming, IncomingMessage, Reply};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::commands::Commands;
use crate::config::AdmissionConfig;
use crate::limits::Admission;
use crate::notice::Notice;
use crate::session::{Place, SessionGuard, Sessions};
use crate::summarizer::Summarizer;
use crate::turn::{After, Turns, deliver};

/// How often locks and quotas nobody uses are dropped.
const SWEEP: Duration = Duration::from_secs(60);

/// Everything a message meets.
#[derive(Debug)]
pub struct Bot {
    sessions: Arc<Sessions>,
    admission: Admission,
    turns: Turns,
    commands: Commands,
    summarizer: Option<Summarizer>,
    /// Turns under way at once.
    places: Semaphore,
    /// Messages taken in and not yet answered.
    backlog: Arc<Semaphore>,
    running: DashMap<ConversationId, CancellationToken>,
    tasks: TaskTracker,
    /// Nothing is taken in any more: what can be done another time is left.
    closing: CancellationToken,
}

impl Bot {
    pub fn new(
        sessions: Arc<Sessions>,
        turns: Turns,
        commands: Commands,
        summarizer: Option<Summarizer>,
        admission: &AdmissionConfig,
    ) -> Self {
        Self {
            sessions,
            admission: Admission::new(admission),
            turns,
            commands,
            summarizer,
            places: Semaphore::new(admission.turns_in_flight),
            backlog: Arc::new(Semaphore::new(admission.inbox_size)),
            running: DashMap::new(),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
        }
    }

    /// Serves the inbox until it is closed or `shutdown` is cancelled, then finishes the turns that
    /// are under way.
    pub async fn run(self: Arc<Self>, mut inbox: Arrivals, shutdown: CancellationToken) {
        let done = CancellationToken::new();
        let background = [
            tokio::spawn(Arc::clone(&self).sweep(done.clone())),
            tokio::spawn({
                let (bot, done) = (Arc::clone(&self), done.clone());
                async move { bot.turns.archive.watch(done).await }
            }),
        ];
        loop {
            let incoming = tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                incoming = inbox.recv() => incoming,
            };
            match incoming.map(Arrival::accept) {
                Some(Incoming::Feedback { .. }) => {}
                Some(Incoming::Message { message, reply }) => self.take_in(message, reply).await,
                Some(Incoming::Stop(conversation)) => self.stop(&conversation),
                None => break,
            }
        }
        self.closing.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        done.cancel();
        for task in background {
            if let Err(error) = task.await {
                tracing::error!(%error, "a background task failed");
            }
        }
    }

    /// Admits a message and gives it its place in the session's line, without waiting for it.
    async fn take_in(self: &Arc<Self>, message: IncomingMessage, mut reply: Box<dyn Reply>) {
        let line = self.sessions.line(&message.conversation);
        let admitted = self.admission.admit(&message, line);
        let room = Arc::clone(&self.backlog).try_acquire_owned();
        let (admitted, room) = match (admitted, room) {
            (Ok(()), Ok(room)) => (Ok(()), Some(room)),
            (Ok(()), Err(_)) => (Err(Notice::TooManyWaiting), None),
            (Err(notice), _) => (Err(notice), None),
        };
        match admitted {
            Ok(()) => {
                let place = self.sessions.queue(&message.conversation).await;
                let bot = Arc::clone(self);
                self.tasks.spawn(async move {
                    bot.serve(place, &message, reply.as_mut()).await;
                    drop(room);
                });
            }
            Err(notice) => {
                metrics::counter!("muninn_refusals_total").increment(1);
                self.tasks
                    .spawn(async move { deliver(reply.as_mut(), &notice.to_string()).await });
            }
        }
    }

    async fn serve(
        self: &Arc<Self>,
        place: Place,
        message: &IncomingMessage,
        reply: &mut dyn Reply,
    ) {
        let guard = place.turn().await;
        // Closing it is nobody's business, so there is always a permit to come.
        let _place = self.places.acquire().await;
        match &message.body {
            Body::Command(command) => {
                let said = self.commands.run(&guard, message, command).await;
                deliver(reply, &said).await;
            }
            Body::Text(text) => self.take_turn(&guard, message, text, reply).await,
            Body::Edit { .. } | Body::Deletion { .. } => {}
        }
    }

    async fn take_turn(
        self: &Arc<Self>,
        guard: &SessionGuard,
        message: &IncomingMessage,
        text: &str,
        reply: &mut dyn Reply,
    ) {
        let stop = CancellationToken::new();
        self.running
            .insert(message.conversation.clone(), stop.clone());
        let taken = self.turns.take(guard, message, text, reply, &stop).await;
        self.running.remove(&message.conversation);
        match taken {
            Ok(After::Nothing) => {}
            Ok(After::Summarize) => self.summarize(message),
            Err(error) => {
                metrics::counter!("muninn_failed_turns_total").increment(1);
                tracing::error!(error = &error as &dyn std::error::Error, event = %message.event, "a turn failed");
                deliver(reply, &Notice::Failed.to_string()).await;
            }
        }
    }

    /// Carries the summary on after the answer, never in its way.
    fn summarize(self: &Arc<Self>, message: &IncomingMessage) {
        let (bot, message) = (Arc::clone(self), message.clone());
        self.tasks.spawn(async move {
            let Some(summarizer) = &bot.summarizer else {
                return;
            };
            tokio::select! {
                () = bot.closing.cancelled() => {}
                () = summarizer.carry_on(&bot.sessions, &message) => {}
            }
        });
    }

    fn stop(&self, conversation: &ConversationId) {
        if let Some(turn) = self.running.get(conversation) {
            turn.cancel();
        }
    }

    async fn sweep(self: Arc<Self>, done: CancellationToken) {
        loop {
            tokio::select! {
                () = done.cancelled() => return,
                () = tokio::time::sleep(SWEEP) => {
                    self.sessions.sweep();
                    self.admission.sweep();
                }
            }
        }
    }
}
