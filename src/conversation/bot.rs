//! The bot: takes messages in, gives each its turn, and ends cleanly.

mod approving;
mod backfilling;
mod fairness;
mod inviting;
mod overheard;
mod owning;
mod revising;
mod telling;

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{
    Ack, Addressed, Arrival, Arrivals, Attention, AudienceId, Body, Command, ConversationId,
    EventId, Feedback, ForgetWhat, Incoming, IncomingMessage, LeftOver, Reply,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::agent::prompts::Prompts;
use crate::agent::telemetry;
use crate::agent::tools::Toolbox;
use crate::config::AdmissionConfig;
use crate::conversation::admission::Admission;
use crate::conversation::backfill::Backfills;
use crate::conversation::commands::{CommandContext, Commands};
use crate::conversation::deliveries::Deliveries;
use crate::conversation::digest::Digests;
use crate::conversation::in_flight::{Begin, InFlight, Revision};
use crate::conversation::intake::Intake;
use crate::conversation::notice::Notice;
use crate::conversation::pages::Invites;
use crate::conversation::pending::PendingMessages;
use crate::conversation::retention::Retention;
use crate::conversation::stream::show;
use crate::conversation::summarizer::Summarizer;
use crate::conversation::turn::{
    After, MOST_AGAIN, TurnRunner, deliver, tell_asker, tell_privately,
};
use crate::conversation::withdrawals::Withdrawals;
use crate::graph::StoreError;
use crate::graph::answers::Spoken;
use crate::graph::claims::Claimed;
use crate::graph::session::{Place, SessionGuard, Sessions};
use crate::memory::Archive;
use crate::reloading::Live;

use self::fairness::FairSemaphore;

/// A message that was sent longer ago may be one that was read again.
const LIVE: TimeDelta = TimeDelta::seconds(10);
/// How often locks and quotas nobody uses are dropped.
const SWEEP: Duration = Duration::from_secs(60);

/// What the bot does unasked.
#[derive(Debug)]
pub struct Upkeep {
    pub summarizer: Option<Summarizer>,
    pub digests: Digests,
    pub retention: Retention,
}

/// Everything a message meets.
#[derive(Debug)]
pub struct Bot {
    sessions: Arc<Sessions>,
    admission: Admission,
    archive: Arc<Archive>,
    /// As prompts and tools are now; a turn keeps what it begins with.
    turns: Live<TurnRunner>,
    commands: Commands,
    upkeep: Upkeep,
    started_at: DateTime<Utc>,
    /// None where no platform gives its history.
    backfills: OnceLock<Arc<Backfills>>,
    /// None where no pages are served.
    pages: OnceLock<Weak<dyn Invites>>,
    /// Where programs ask for people; none where they cannot.
    mcp: OnceLock<String>,
    pending: PendingMessages,
    intake: Intake,
    /// Turns under way at once.
    places: Arc<FairSemaphore>,
    /// Messages taken in and not yet answered.
    backlog: Arc<Semaphore>,
    /// The same of what was told beside them.
    heard_backlog: Arc<Semaphore>,
    /// Messages that wait for a place among those.
    most_waiting: usize,
    in_flight: InFlight,
    /// One revision of a message at a time, in their order.
    revisions: Sessions,
    deliveries: Deliveries,
    tasks: TaskTracker,
    /// Nothing is taken in any more: what can be done another time is left.
    closing: CancellationToken,
    /// Time is up: what is under way is left to the next start.
    halt: CancellationToken,
}

/// A message that was admitted, and waits until there is room for it.
struct Admitted {
    message: IncomingMessage,
    reply: Box<dyn Reply>,
    ack: Ack,
}

/// A message that came in, and all that waits for what becomes of it.
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
        upkeep: Upkeep,
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
            turns: Live::new(turns),
            intake,
            commands,
            upkeep,
            started_at: Utc::now(),
            backfills: OnceLock::new(),
            pages: OnceLock::new(),
            mcp: OnceLock::new(),
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

    /// Serves the inbox until it is closed or `shutdown` is cancelled, then finishes the turns that
    /// are under way.
    pub async fn run(self: Arc<Self>, inbox: Arrivals, shutdown: CancellationToken) {
        let done = CancellationToken::new();
        let background = [
            tokio::spawn(Arc::clone(&self).sweep(done.clone())),
            tokio::spawn({
                let (bot, done) = (Arc::clone(&self), done.clone());
                async move { bot.archive.watch(done).await }
            }),
            tokio::spawn({
                let (bot, done) = (Arc::clone(&self), done.clone());
                async move { bot.pending.tidy(done).await }
            }),
            tokio::spawn({
                let (bot, done) = (Arc::clone(&self), done.clone());
                async move { bot.commands.withdrawals.run(done).await }
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
                async move { bot.upkeep.digests.run(&bot.commands.catch_up, done).await }
            }),
            tokio::spawn({
                let (bot, done) = (Arc::clone(&self), done.clone());
                async move { bot.upkeep.retention.run(done).await }
            }),
        ];
        self.commands.hearing.load(self.archive.store()).await;
        self.commands.people.load().await;
        let (mut messages, overheard) = inbox.split();
        let stop = shutdown.child_token();
        let listens = tokio::spawn({
            let (bot, stop) = (Arc::clone(&self), stop.clone());
            async move { bot.hear_all(overheard, stop).await }
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
                        self.take_in(admitted, room).await;
                    }
                }
                arrival = inbox.recv(), if is_open && has_room => match arrival {
                    Some(arrival) => waiting.extend(self.arrived(arrival)),
                    None => is_open = false,
                },
            }
        }
    }

    /// Sees to what came in; gives what is to be answered.
    fn arrived(self: &Arc<Self>, arrival: Arrival) -> Option<Admitted> {
        let (incoming, ack) = arrival.into_parts();
        match incoming {
            Incoming::Message { message, mut reply } => {
                let mut message = Self::as_command(message);
                message.other_accounts = self.commands.people.others(&message.author.id);
                message.languages = self.commands.channels.languages(&message);
                reply.speak(message.language());
                match self.admit(&message) {
                    Ok(()) => {
                        return Some(Admitted {
                            message,
                            reply,
                            ack,
                        });
                    }
                    Err(notice) => {
                        ack.ack();
                        self.refuse(&message, reply, &notice);
                    }
                }
            }
            // It comes the other way.
            Incoming::Overheard(_) => drop(ack),
            Incoming::Connected {
                platform,
                withdraw,
                announce,
            } => {
                self.commands.hearing.connected(platform, announce);
                self.upkeep.digests.connected();
                self.commands.withdrawals.connected(platform, withdraw);
                ack.ack();
            }
            Incoming::Stop(conversation) => {
                self.stop(conversation);
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

    /// Makes later turns with these prompts and tools.
    pub fn use_files(&self, prompts: &Arc<Prompts>, toolbox: Arc<Toolbox>) {
        let turns = TurnRunner {
            prompts: Arc::clone(prompts),
            toolbox,
            ..(*self.turns.get()).clone()
        };
        self.turns.replace(turns);
        if let Some(summarizer) = &self.upkeep.summarizer {
            summarizer.use_prompts(Arc::clone(prompts));
        }
        self.commands.catch_up.use_prompts(Arc::clone(prompts));
    }

    /// How much is under way: answers, and what follows them.
    pub fn under_way(&self) -> usize {
        self.tasks.len()
    }

    /// What takes away what the bot said.
    pub fn withdrawals(&self) -> Arc<Withdrawals> {
        Arc::clone(&self.commands.withdrawals)
    }

    /// Leaves what is under way to the next start, at once.
    pub fn halt(&self) {
        self.halt.cancel();
    }

    /// Says that this bot serves these platforms, and takes what an earlier process left of theirs.
    pub async fn sign_in(&self, platforms: &[String], left_over: &LeftOver) {
        // Adapters ask from the first message on.
        self.commands.hearing.load(self.archive.store()).await;
        self.pending.sign_in(platforms, left_over).await;
    }

    /// Takes over what other processes leave when they die, until `done`.
    pub async fn look_after(
        &self,
        platforms: &[String],
        left_over: &LeftOver,
        done: CancellationToken,
    ) {
        self.pending.look_after(platforms, left_over, done).await;
    }

    /// Does something until it is done, or until time is up.
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

    /// Gives a message its place in a line, without waiting for it.
    async fn take_in(self: &Arc<Self>, admitted: Admitted, room: OwnedSemaphorePermit) {
        let Admitted {
            message,
            reply,
            ack,
        } = admitted;
        if matches!(message.body, Body::Text(_)) {
            self.in_flight.take(&message);
        }
        // Whoever came first is first, so the place is taken here and not in the task.
        let line = match &message.body {
            Body::Edit { of, .. } | Body::Deletion { of } => {
                self.revisions.queue(&Self::line_of(of)).await
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
        self.spawn(async move { bot.work_on(arrived, line).await }.instrument(span));
    }

    /// Whether a message becomes a turn. What only may be meant for the bot is looked at later.
    fn admit(&self, message: &IncomingMessage) -> Result<(), Notice> {
        match (&message.body, message.addressed) {
            (Body::Deletion { .. }, _) | (_, Addressed::InConversation | Addressed::Overheard) => {
                Ok(())
            }
            (Body::Text(_) | Body::Command(_) | Body::Edit { .. }, Addressed::Directly) => {
                let line = self.sessions.line(&message.conversation);
                self.admission.admit(message, line)
            }
        }
    }

    fn refuse(self: &Arc<Self>, message: &IncomingMessage, reply: Box<dyn Reply>, notice: &Notice) {
        metrics::counter!("muninn_refusals_total").increment(1);
        if !self.admission.may_be_told(message, notice) {
            return;
        }
        let mut reply = reply;
        let said = notice.in_language(message.languages.person);
        self.spawn(async move { tell_asker(reply.as_mut(), &said).await });
    }

    async fn work_on(self: Arc<Self>, arrived: Arrived, line: Place) {
        let Arrived {
            message,
            reply,
            ack,
            room,
        } = arrived;
        self.pending.accept(&message).await;
        ack.ack();
        let event = message.event.clone();
        let is_done = match message.body {
            Body::Text(_) | Body::Command(_) => self.serve(line, message, reply).await,
            Body::Edit { .. } | Body::Deletion { .. } => {
                let _one_at_a_time = line.turn().await;
                self.revise(Box::new(Revision { message, reply })).await
            }
        };
        self.pending.ended(&event, is_done);
        drop(room);
    }

    /// Answers a message, if no other process does; says whether it needs nothing more.
    async fn serve(
        self: &Arc<Self>,
        place: Place,
        message: IncomingMessage,
        mut reply: Box<dyn Reply>,
    ) -> bool {
        let guard = place
            .turn()
            .instrument(telemetry::waiting("conversation"))
            .await;
        if let Some(notice) = self.unwanted(&message).await {
            if let Some(notice) =
                notice.filter(|notice| self.admission.may_be_told(&message, notice))
            {
                let said = notice.in_language(message.languages.person);
                tell_asker(reply.as_mut(), &said).await;
            }
            self.let_go(&guard, &message).await;
            return true;
        }
        let (archive, holder) = (&self.archive, self.pending.holder());
        let claimed = archive.claim(&message, holder, &self.closing).await;
        match claimed {
            Claimed::Ours | Claimed::Inherited => {
                if claimed == Claimed::Inherited {
                    reply.may_repeat();
                }
                tokio::select! {
                    () = self.answer(guard, &message, reply) => {}
                    never = self.hear_stops(&message) => match never {},
                }
                true
            }
            Claimed::Done => {
                self.turns
                    .get()
                    .deliver_again(&guard, &message, reply.as_mut())
                    .await;
                self.let_go(&guard, &message).await;
                true
            }
            Claimed::Held => {
                drop(guard);
                self.pass_on(&message);
                false
            }
        }
    }

    async fn answer(
        self: &Arc<Self>,
        guard: SessionGuard,
        message: &IncomingMessage,
        mut reply: Box<dyn Reply>,
    ) {
        let place = self.places.acquire(&message.author.id);
        let _place = place.instrument(telemetry::waiting("place")).await;
        match &message.body {
            // These lock other sessions, and two at once never.
            Body::Command(Command::Forget(ForgetWhat::Audience)) => {
                drop(guard);
                let _alone = self.deliveries.alone(&message.event).await;
                let context = CommandContext::of(reply.as_ref());
                let said = self
                    .commands
                    .forget_audience(&self.sessions, message, &context);
                deliver(reply.as_mut(), &said.await).await;
            }
            Body::Command(Command::PlaceGone) => {
                drop(guard);
                let context = CommandContext::of(reply.as_ref());
                self.commands
                    .place_gone(&self.sessions, message, &context)
                    .await;
            }
            Body::Command(Command::Forget(ForgetWhat::Last)) => {
                drop(guard);
                let _alone = self.deliveries.alone(&message.event).await;
                let context = CommandContext::of(reply.as_ref());
                let said = self.commands.forget_last(&self.sessions, message, &context);
                deliver(reply.as_mut(), &said.await).await;
            }
            Body::Command(Command::OptOut) => {
                drop(guard);
                let _alone = self.deliveries.alone(&message.event).await;
                let context = CommandContext::of(reply.as_ref());
                let said = self.commands.opt_out(message, &context);
                deliver(reply.as_mut(), &said.await).await;
            }
            Body::Command(
                command @ (Command::Note(_)
                | Command::Memory(_)
                | Command::Correct { .. }
                | Command::Shown(..)
                | Command::Forget(ForgetWhat::Item(_) | ForgetWhat::Me { .. })),
            ) => {
                drop(guard);
                let _alone = self.deliveries.alone(&message.event).await;
                self.see_to_items(message, command, reply.as_mut()).await;
            }
            Body::Command(Command::ExportMine) => {
                drop(guard);
                self.export_mine(message, reply.as_mut()).await;
            }
            Body::Command(command @ (Command::Web | Command::WebSignOut)) => {
                drop(guard);
                self.see_to_pages(message, command, reply.as_mut()).await;
            }
            Body::Command(Command::Token(deed)) => {
                drop(guard);
                self.see_to_tokens(message, deed, reply.as_mut()).await;
            }
            Body::Command(Command::CatchUp(since)) => {
                drop(guard);
                self.catch_up(message, since.as_deref(), reply.as_mut())
                    .await;
            }
            Body::Command(Command::Backfill(since)) => {
                drop(guard);
                self.backfill(message, since.as_deref(), reply).await;
            }
            Body::Command(Command::Again(answer)) => {
                drop(guard);
                self.answer_again(message, answer, reply.as_mut()).await;
            }
            Body::Command(command) => {
                let context = CommandContext::of(reply.as_ref());
                let said = self.commands.run(&guard, message, command, &context).await;
                reply.offer_items(&said.items);
                let delivered = deliver(reply.as_mut(), &said.text).await;
                if let Some(messages) = delivered {
                    let session = message.conversation.clone();
                    let listing = Spoken::new(session, messages);
                    if !self.archive.quoted_in(&said.shows, &listing).await {
                        let withdrawals = &self.commands.withdrawals;
                        withdrawals.take_away(reply.withdrawer(), listing).await;
                    }
                }
            }
            Body::Text(text) => {
                // A program agrees to nothing for its person.
                if message.through.is_none()
                    && let Some(agreed) = self.commands.agreed(message, text).await
                {
                    self.let_go(&guard, message).await;
                    drop(guard);
                    return self.see_to_agreed(message, agreed, reply.as_mut()).await;
                }
                self.take_turn(&guard, message, text, reply).await;
                self.let_go(&guard, message).await;
            }
            Body::Edit { .. } | Body::Deletion { .. } => {}
        }
    }

    /// Tells whoever asked what was said while they were not here.
    async fn catch_up(
        &self,
        message: &IncomingMessage,
        since: Option<&str>,
        reply: &mut dyn Reply,
    ) {
        reply.working().await;
        let said = self.commands.catch_up(message, since);
        // Nothing of it is shown before it is whole.
        let growing = watch::channel(String::new()).1;
        let said = show(reply, growing, said).await;
        tell_privately(reply, &said).await;
    }

    /// Says that a message is still worked on, and stops its turn whenever another process was told
    /// to.
    async fn hear_stops(&self, message: &IncomingMessage) -> Infallible {
        let (archive, holder) = (&self.archive, self.pending.holder());
        loop {
            archive.renew_until_stopped(&message.event, holder).await;
            self.in_flight.stop(&message.conversation);
        }
    }

    /// Stops what is answered in a conversation, here or in another process.
    fn stop(self: &Arc<Self>, conversation: ConversationId) {
        if !self.in_flight.stop(&conversation) {
            let bot = Arc::clone(self);
            self.spawn(async move { bot.archive.stop_elsewhere(&conversation).await });
        }
    }

    /// What may be meant for the bot is, where it takes part; then the person's limits hold.
    async fn unwanted(self: &Arc<Self>, message: &IncomingMessage) -> Option<Option<Notice>> {
        match (&message.body, message.addressed) {
            (Body::Command(_) | Body::Edit { .. } | Body::Deletion { .. }, _) => None,
            (Body::Text(_), _) if self.was_forgotten(message).await => {
                metrics::counter!("muninn_overheard_total", "why" => "forgotten").increment(1);
                Some(None)
            }
            (Body::Text(text), addressed) => {
                let ignored = self.ignored(message, text, addressed).await;
                if let Some(why) = ignored {
                    metrics::counter!("muninn_overheard_total", "why" => why).increment(1);
                    self.hear_unanswered(message).await;
                    return Some(None);
                }
                if addressed == Addressed::Directly {
                    return None;
                }
                let line = self.sessions.line(&message.conversation);
                self.admission.admit(message, line).err().map(Some)
            }
        }
    }

    /// Whether a message is read again that was forgotten. What was missed while nobody listened is read from the platform,
    /// which has it still.
    async fn was_forgotten(&self, message: &IncomingMessage) -> bool {
        let is_new = message.sent_at > self.started_at && Utc::now() - message.sent_at < LIVE;
        // While the graph is away, it cannot say, and nobody is to wait for it.
        if is_new || self.archive.is_away() {
            return false;
        }
        let covered = async {
            let author = BTreeSet::from([message.author.id.clone()]);
            let people = self.archive.store().forgotten_people(&author).await?;
            if people.iter().any(|(_, until)| message.sent_at <= *until) {
                return Ok(true);
            }
            let marks = self.archive.marks(&message.conversation).await?;
            Ok::<bool, StoreError>(marks.cover_event(Some(&message.event), message.sent_at))
        };
        match covered.await {
            Ok(is_covered) => is_covered,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, event = %message.event, "whether a message was forgotten cannot be known");
                false
            }
        }
    }

    /// Why a message is not answered; none where it is. Costs no call of a model.
    async fn ignored(
        &self,
        message: &IncomingMessage,
        text: &str,
        addressed: Addressed,
    ) -> Option<&'static str> {
        let (archive, listening) = (&self.archive, &self.commands.listening);
        let (session, audience) = (&message.conversation, message.channel());
        let attention = listening.attention(archive.store(), session, audience);
        match (attention.await, addressed) {
            (Attention::Muted, _) => Some("muted"),
            (Attention::Mentioned, Addressed::InConversation) => Some("not_mentioned"),
            (Attention::Mentioned, Addressed::Directly) if message.toward.omits_bot => {
                Some("not_mentioned")
            }
            (Attention::Open | Attention::Mentioned, Addressed::Directly) => None,
            // Adapters tell of it otherwise; it is nobody's question.
            (Attention::Open | Attention::Mentioned, Addressed::Overheard) => Some("overheard"),
            (Attention::Open, Addressed::InConversation) => {
                if !archive.takes_part(session).await {
                    return Some("elsewhere");
                }
                let hearing = listening.hear(archive, message, text).await;
                tracing::debug!(event = %message.event, heard = hearing.name(), "heard");
                if hearing.is_for_bot() {
                    return None;
                }
                listening.hold(message, text);
                Some(hearing.name())
            }
        }
    }

    /// Answers a message, again from the start whenever it is edited meanwhile.
    async fn take_turn(
        self: &Arc<Self>,
        guard: &SessionGuard,
        message: &IncomingMessage,
        text: &str,
        reply: Box<dyn Reply>,
    ) {
        let mut followed = Vec::new();
        self.take_turn_as_revised(guard, message, text, reply, &mut followed)
            .await;
        // Not before the answer is kept: after a crash, the message says again what it said first.
        for revision in &followed {
            self.pending.done(revision);
        }
    }

    async fn take_turn_as_revised(
        self: &Arc<Self>,
        guard: &SessionGuard,
        message: &IncomingMessage,
        text: &str,
        mut reply: Box<dyn Reply>,
        followed: &mut Vec<EventId>,
    ) {
        let mut text = text.to_owned();
        let mut again = 0;
        let mut newest = None;
        loop {
            let Begin {
                interrupt,
                revision,
                is_taken_back,
                is_stopped,
            } = self.in_flight.begin(&message.event);
            if let Some(revision) = revision {
                followed.push(revision.message.event.clone());
                if let Body::Edit { text: newer, .. } = &revision.message.body {
                    text.clone_from(newer);
                }
                newest = Some(revision);
            }
            if is_taken_back {
                if !self.take_back(guard, message, newest).await {
                    followed.pop();
                }
                return;
            }
            if is_stopped && newest.is_none() {
                return;
            }
            let turns = self.turns.get();
            let revised_at = newest.as_ref().map(|it| it.message.sent_at);
            let taken = turns
                .take(
                    guard,
                    message,
                    &text,
                    revised_at,
                    reply.as_mut(),
                    &interrupt,
                )
                .instrument(telemetry::turn(&turns.config.bot_name, message))
                .await;
            match taken {
                Ok(After::Superseded) => {}
                Ok(After::Outdated) if again < MOST_AGAIN => again += 1,
                Ok(After::Outdated) => {
                    tracing::error!(event = %message.event, "what an answer is made from changes again and again");
                    deliver(
                        reply.as_mut(),
                        &Notice::Failed.in_language(message.language()),
                    )
                    .await;
                    return;
                }
                Ok(After::Nothing) => return,
                Ok(After::Stopped) => return self.in_flight.stopped(&message.event),
                Ok(After::Earlier) => {
                    // That is the answer to what it said before.
                    if let Some(revision) = newest
                        && let Err(revision) = self.revise_within(guard, revision).await
                    {
                        followed.pop();
                        self.revise_later(revision);
                    }
                    return;
                }
                Ok(After::Elsewhere) => {
                    // Whoever answered it need not know of what was revised here.
                    if let Some(revision) = newest {
                        followed.pop();
                        self.revise_later(revision);
                    }
                    return;
                }
                Ok(After::Silent) => {
                    self.commands.listening.hold(message, &text);
                    return self.hear_unanswered(message).await;
                }
                Ok(After::Summarize) => return self.summarize(message),
                Err(error) => {
                    metrics::counter!("muninn_failed_turns_total").increment(1);
                    tracing::error!(error = &error as &dyn std::error::Error, event = %message.event, "a turn failed");
                    deliver(
                        reply.as_mut(),
                        &Notice::Failed.in_language(message.language()),
                    )
                    .await;
                    return;
                }
            }
        }
    }

    /// Sees to it that a message is not answered, nor was when it was delivered before; says whether that is done.
    async fn take_back(
        self: &Arc<Self>,
        guard: &SessionGuard,
        message: &IncomingMessage,
        revision: Option<Box<Revision>>,
    ) -> bool {
        if let Some(deletion) = revision.filter(|it| it.is_deletion()) {
            return match self.revise_within(guard, deletion).await {
                Ok(()) => true,
                Err(deletion) => {
                    self.revise_later(deletion);
                    false
                }
            };
        }
        let (session, event) = (&message.conversation, &message.event);
        if let Err(error) = self.archive.mark_forgotten(session, event).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, %event, "that a message was taken back could not be kept");
        }
        true
    }

    /// Follows what was revised when its answer was there already.
    async fn let_go(self: &Arc<Self>, guard: &SessionGuard, message: &IncomingMessage) {
        let mut later = Vec::new();
        while let Some(revision) = self.in_flight.let_go(&message.event) {
            let event = revision.message.event.clone();
            match self.revise_within(guard, revision).await {
                Ok(()) => self.pending.done(&event),
                Err(revision) => later.push(revision),
            }
        }
        // Only now: until its message is let go of, each would be left with it once more.
        later.into_iter().for_each(|it| self.revise_later(it));
    }

    /// Follows what was revised of a message that another process answers: when that has its answer.
    fn pass_on(self: &Arc<Self>, message: &IncomingMessage) {
        let mut left = Vec::new();
        while let Some(revision) = self.in_flight.let_go(&message.event) {
            left.push(revision);
        }
        left.into_iter().for_each(|it| self.revise_later(it));
    }

    /// Carries the summary on after the answer, never in its way.
    fn summarize(self: &Arc<Self>, message: &IncomingMessage) {
        let (bot, message) = (Arc::clone(self), message.clone());
        self.spawn(async move {
            let Some(summarizer) = &bot.upkeep.summarizer else {
                return;
            };
            tokio::select! {
                () = bot.closing.cancelled() => {}
                () = summarizer.carry_on(&bot.sessions, &message) => {}
            }
        });
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
                }
            }
        }
    }
}
