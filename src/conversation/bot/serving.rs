//! Serves accepted messages: decides who answers a message, and how.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use muninn_platform::{
    Addressed, Attention, Body, Command, ConversationId, ForgetWhat, IncomingMessage,
    PrivateFallback, Reply, Withdraw,
};
use tokio::sync::watch;
use tracing::Instrument as _;

use super::fairness::Permit;
use super::overheard::is_only_heard;
use super::turns::TurnEnd;
use super::{Arrived, Bot};
use crate::agent::telemetry;
use crate::conversation::commands::CommandContext;
use crate::conversation::in_flight::Revision;
use crate::conversation::notice::Notice;
use crate::conversation::stream::show_while_writing;
use crate::conversation::turn::{deliver, deliver_privately, tell_asker};
use crate::graph::StoreError;
use crate::graph::answers::DeliveredAnswer;
use crate::graph::claims::Claimed;
use crate::graph::items::ReadTurn;
use crate::graph::session::{SessionGuard, SessionQueuePlace};

/// A message older than this may have been read from the platform's history again.
const MAX_NEW_MESSAGE_AGE: TimeDelta = TimeDelta::seconds(10);

impl Bot {
    pub(super) async fn process_arrived(
        self: Arc<Self>,
        arrived: Arrived,
        line: SessionQueuePlace,
    ) {
        let Arrived {
            message,
            reply,
            ack,
            room,
        } = arrived;
        let was_accepted = self.pending.is_left_over(&message.event);
        self.pending.accept(&message).await;
        ack.ack();
        let message = self.with_current_accounts(message).await;
        let event = message.event.clone();
        let is_done = match message.body {
            Body::Text(_) | Body::Command(_) => {
                let is_done = self.serve(line, message, reply, was_accepted).await;
                drop(room);
                is_done
            }
            Body::Edit { .. } | Body::Deletion { .. } => {
                let _one_at_a_time = line.turn().await;
                let revision = Box::new(Revision { message, reply });
                self.revise(revision, Some(room)).await
            }
        };
        self.pending.end_work(&event, is_done);
    }

    /// The message, with the accounts that its author has now. While the graph is away they are unknown, and nobody waits for
    /// it.
    async fn with_current_accounts(&self, message: IncomingMessage) -> IncomingMessage {
        if self.archive.is_away() {
            return IncomingMessage {
                other_accounts: Vec::new(),
                ..message
            };
        }
        self.commands.people.with_current_accounts(message).await
    }

    /// Answers a message unless another process does. `was_accepted`: an earlier process accepted it already. Returns
    /// whether it needs nothing more.
    pub(super) async fn serve(
        self: &Arc<Self>,
        place: SessionQueuePlace,
        message: IncomingMessage,
        mut reply: Box<dyn Reply>,
        was_accepted: bool,
    ) -> bool {
        let guard = place
            .turn()
            .instrument(telemetry::waiting("conversation"))
            .await;
        // What has an answer that was not delivered yet is wanted, whatever is said there since.
        let unwanted = match self.pending.is_undelivered(&message.event) {
            true => None,
            false => self.handle_unwanted(&message, was_accepted).await,
        };
        if let Some(notice) = unwanted {
            if let Some(notice) =
                notice.filter(|notice| self.admission.claim_refusal_notice(&message, notice))
            {
                let said = notice.in_language(message.languages.person);
                tell_asker(reply.as_mut(), &said).await;
            }
            self.follow_late_revisions(&guard, &message).await;
            return true;
        }
        let (archive, holder) = (&self.archive, self.pending.holder());
        let mut claimed = archive.claim(&message, holder, &self.closing).await;
        if claimed == Claimed::Done
            && (self.was_only_heard(&message).await || self.was_given_up(&message).await)
        {
            claimed = archive.claim_again(&message, holder, &self.closing).await;
        }
        match claimed {
            Claimed::Ours | Claimed::Inherited => {
                if claimed == Claimed::Inherited {
                    reply.expect_earlier_delivery();
                }
                tokio::select! {
                    is_done = self.answer(guard, &message, reply) => is_done,
                    never = self.watch_for_stops(&message) => match never {},
                }
            }
            Claimed::Done => self.deliver_again(&guard, &message, reply.as_mut()).await,
            Claimed::Held => {
                drop(guard);
                self.follow_answered_elsewhere(&message);
                false
            }
        }
    }

    /// Whether a message that addresses the bot was kept as one that does not: an edit may have added the mention.
    async fn was_only_heard(&self, message: &IncomingMessage) -> bool {
        if message.addressed != Addressed::Directly {
            return false;
        }
        is_only_heard(self.archive.turn_of_event(&message.event).await)
    }

    /// Whether a program asks again what has no answer, because nobody waited for it before.
    async fn was_given_up(&self, message: &IncomingMessage) -> bool {
        message.through.is_some()
            && matches!(message.body, Body::Text(_))
            && matches!(self.archive.turn_of_event(&message.event).await, Ok(None))
    }

    /// Answers a message. Returns whether it needs nothing more.
    pub(super) async fn answer(
        self: &Arc<Self>,
        guard: SessionGuard,
        message: &IncomingMessage,
        mut reply: Box<dyn Reply>,
    ) -> bool {
        match &message.body {
            Body::Command(command) => return self.command(guard, message, command, reply).await,
            // It needs no permit: nothing is asked, and many of these may wait for a platform that is away.
            Body::Text(_) if self.pending.is_undelivered(&message.event) => {
                return self.deliver_again(&guard, message, reply.as_mut()).await;
            }
            Body::Text(text) => {
                // Shown before there is a permit, as many people may ask at once.
                reply.show_typing().await;
                // A program cannot decide anything for its person.
                if message.through.is_none()
                    && let Some(decision) = self.commands.find_decision(message, text).await
                    // It may have been edited or taken back while it waited for its turn.
                    && self.in_flight.remove_as_sent(&message.event)
                {
                    drop(guard);
                    self.carry_out_decision(message, decision, reply.as_mut())
                        .await;
                    return true;
                }
                let _place = self.acquire_turn_permit(message).await;
                let end = self.take_turn(&guard, message, text, reply).await;
                if end == TurnEnd::Unknown {
                    drop(guard);
                    self.follow_answered_elsewhere(message);
                    return false;
                }
                self.follow_late_revisions(&guard, message).await;
                return end == TurnEnd::Over || !self.postpone(message).await;
            }
            Body::Edit { .. } | Body::Deletion { .. } => {}
        }
        true
    }

    /// Delivers the existing answer of a message. Returns whether it needs nothing more.
    async fn deliver_again(
        self: &Arc<Self>,
        guard: &SessionGuard,
        message: &IncomingMessage,
        reply: &mut dyn Reply,
    ) -> bool {
        let turns = self.turns.load_full();
        let is_delivered = turns.deliver_again(guard, message, reply).await;
        self.follow_late_revisions(guard, message).await;
        is_delivered || !self.postpone(message).await
    }

    /// Keeps a message of which the answer could not be delivered now, unless it was taken back meanwhile. Returns whether it
    /// is kept.
    async fn postpone(&self, message: &IncomingMessage) -> bool {
        let turn = self.archive.turn_of_event(&message.event).await;
        !matches!(turn, Ok(None)) && self.pending.postpone(message)
    }

    /// Waits for a permit among the concurrent turns. Whoever holds a permit waits for no session, because the holders of
    /// sessions wait for permits.
    pub(super) async fn acquire_turn_permit(&self, message: &IncomingMessage) -> Permit {
        let place = self.places.acquire(&message.author.id);
        place.instrument(telemetry::waiting("place")).await
    }

    /// Runs a command. Returns whether it needs nothing more.
    async fn command(
        self: &Arc<Self>,
        guard: SessionGuard,
        message: &IncomingMessage,
        command: &Command,
        mut reply: Box<dyn Reply>,
    ) -> bool {
        match command {
            // These lock other sessions, and never two at once.
            Command::Forget(ForgetWhat::Audience) => {
                drop(guard);
                let context = CommandContext::of(reply.as_ref());
                let answering = (&*self.sessions, &self.in_flight);
                let said = self.commands.forget_audience(answering, message, &context);
                self.reply_exclusively(message, said, reply.as_mut()).await;
            }
            Command::PlaceGone => {
                drop(guard);
                let context = CommandContext::of(reply.as_ref());
                let answering = (&*self.sessions, &self.in_flight);
                let forgetting = self
                    .commands
                    .forget_deleted_place(answering, message, &context);
                return forgetting.await;
            }
            Command::Forget(ForgetWhat::Last) => {
                drop(guard);
                let context = CommandContext::of(reply.as_ref());
                let said = self.commands.forget_last(&self.sessions, message, &context);
                self.reply_exclusively(message, said, reply.as_mut()).await;
            }
            Command::OptOut => {
                drop(guard);
                let context = CommandContext::of(reply.as_ref());
                let said = self.commands.opt_out(message, &context);
                self.reply_exclusively(message, said, reply.as_mut()).await;
            }
            Command::Note(_)
            | Command::Memory(_)
            | Command::Correct { .. }
            | Command::Shown(..)
            | Command::Decide { .. }
            | Command::Forget(ForgetWhat::Item(_) | ForgetWhat::Me { .. }) => {
                drop(guard);
                let _alone = self.deliveries.lock_event(&message.event).await;
                self.handle_item_command(message, command, reply.as_mut())
                    .await;
            }
            Command::ExportMine => {
                drop(guard);
                self.export_mine(message, reply.as_mut()).await;
            }
            Command::Web | Command::WebSignOut => {
                drop(guard);
                self.handle_pages_command(message, command, reply.as_mut())
                    .await;
            }
            Command::Token(deed) => {
                drop(guard);
                self.handle_token_command(message, deed, reply.as_mut())
                    .await;
            }
            Command::CatchUp(since) => {
                drop(guard);
                self.catch_up(message, since.as_deref(), reply.as_mut())
                    .await;
            }
            Command::Backfill(since) => {
                drop(guard);
                self.backfill(message, since.as_deref(), reply).await;
            }
            Command::Again(answer) => {
                drop(guard);
                return self.answer_again(message, answer, reply.as_mut()).await;
            }
            Command::Help
            | Command::Unknown(_)
            | Command::History
            | Command::Why
            | Command::WhyOf(_)
            | Command::About
            | Command::Attend(..)
            | Command::Remember(_)
            | Command::OffTheRecord(_)
            | Command::OnTheRecord(_)
            | Command::OptIn
            | Command::Link(_)
            | Command::Unlink
            | Command::Usage
            | Command::Forget(ForgetWhat::Session) => {
                self.command_here(&guard, message, command, reply.as_mut())
                    .await;
            }
        }
        true
    }

    /// Runs a command and replies with its outcome, while no other delivery of its event does.
    async fn reply_exclusively(
        &self,
        message: &IncomingMessage,
        said: impl Future<Output = String>,
        reply: &mut dyn Reply,
    ) {
        let _alone = self.deliveries.lock_event(&message.event).await;
        deliver(reply, &said.await).await;
    }

    /// Runs a command about its own session.
    async fn command_here(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        command: &Command,
        reply: &mut dyn Reply,
    ) {
        let _place = self.acquire_turn_permit(message).await;
        let context = CommandContext::of(reply);
        let said = self.commands.run(guard, message, command, &context).await;
        reply.offer_items(&said.items);
        if let Some(messages) = deliver(reply, &said.text).await {
            let listing = DeliveredAnswer::new(message.conversation.clone(), messages);
            self.keep_listing(guard, &said.shows, listing, reply.withdrawer())
                .await;
        }
    }

    /// Tells the graph that messages list some turns, and withdraws the messages if one of these was forgotten meanwhile.
    async fn keep_listing(
        &self,
        guard: &SessionGuard,
        turns: &[ReadTurn],
        listing: DeliveredAnswer,
        withdraw: Arc<dyn Withdraw>,
    ) {
        if turns.is_empty() || listing.messages.0.is_empty() {
            return;
        }
        let withdrawals = &self.commands.withdrawals;
        self.archive.save_waiting(guard).await;
        let keeping = withdrawals.keep_listing(&self.archive, turns, listing, withdraw);
        keeping.await;
    }

    /// Tells the author what was said while they were away.
    pub(super) async fn catch_up(
        &self,
        message: &IncomingMessage,
        since: Option<&str>,
        reply: &mut dyn Reply,
    ) {
        reply.show_typing().await;
        let _place = self.acquire_turn_permit(message).await;
        let said = self.commands.catch_up(message, since);
        // Nothing is shown before it is complete.
        let growing = watch::channel(String::new()).1;
        let said = show_while_writing(reply, growing, said).await;
        // Everybody there could read all of it anyway.
        let delivered = deliver_privately(reply, &said.text, PrivateFallback::Here).await;
        if let Some(messages) = delivered {
            let listing = DeliveredAnswer::new(message.conversation.clone(), messages);
            let withdrawals = &self.commands.withdrawals;
            let withdraw = reply.withdrawer();
            let keeping = withdrawals.keep_listing(&self.archive, &said.shows, listing, withdraw);
            keeping.await;
        }
    }

    /// Keeps the claim on a message alive, and stops its turn when another process was told to.
    pub(super) async fn watch_for_stops(&self, message: &IncomingMessage) -> Infallible {
        let (archive, holder) = (&self.archive, self.pending.holder());
        loop {
            archive.renew_until_stopped(&message.event, holder).await;
            self.in_flight.stop(&message.conversation);
        }
    }

    /// Stops the answers of a conversation, here or in another process.
    pub(super) fn stop(self: &Arc<Self>, conversation: ConversationId) {
        if !self.in_flight.stop(&conversation) {
            let bot = Arc::clone(self);
            self.spawn(async move { bot.archive.stop_elsewhere(&conversation).await });
        }
    }

    /// Deals with a message that is not to be answered: keeps it where people are heard, and returns what its author is
    /// told about it. `None`: it is to be answered. A message that may be for the bot is, where the bot takes part; the
    /// person's limits then apply, unless an earlier process accepted it already.
    pub(super) async fn handle_unwanted(
        self: &Arc<Self>,
        message: &IncomingMessage,
        was_accepted: bool,
    ) -> Option<Option<Notice>> {
        match (&message.body, message.addressed) {
            (Body::Command(_) | Body::Edit { .. } | Body::Deletion { .. }, _) => None,
            (Body::Text(_), _) if self.was_forgotten(message).await => {
                metrics::counter!("muninn_overheard_total", "why" => "forgotten").increment(1);
                Some(None)
            }
            (Body::Text(text), addressed) => {
                let ignored = self.ignore_reason(message, text, addressed).await;
                if let Some(why) = ignored {
                    metrics::counter!("muninn_overheard_total", "why" => why).increment(1);
                    self.keep_unanswered(message, None).await;
                    return Some(None);
                }
                if addressed == Addressed::Directly {
                    return None;
                }
                let admitted = if was_accepted {
                    self.admission.within_length(message)
                } else {
                    let line = self.sessions.line(&message.conversation);
                    self.admission.admit(message, line)
                };
                admitted.err().map(Some)
            }
        }
    }

    /// Whether this is a repeated read of a forgotten message. Messages missed while nobody listened are read from the
    /// platform, which still has them.
    pub(super) async fn was_forgotten(&self, message: &IncomingMessage) -> bool {
        let age = Utc::now() - message.sent_at;
        let is_new = message.sent_at > self.started_at && age.abs() < MAX_NEW_MESSAGE_AGE;
        // While the graph is away it cannot say, and nobody should wait for it.
        if is_new || self.archive.is_away() {
            return false;
        }
        let covered = async {
            let author = BTreeSet::from([message.author.id.clone()]);
            let people = self.archive.store().forgotten_people(&author).await?;
            if people.iter().any(|(_, until)| message.sent_at <= *until) {
                return Ok(true);
            }
            let (session, audience) = (&message.conversation, &message.audience.id);
            let marks = self.archive.marks(session, audience).await?;
            Ok::<bool, StoreError>(marks.covers_event(Some(&message.event), message.sent_at))
        };
        match covered.await {
            Ok(is_covered) => is_covered,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, event = %message.event, "whether a message was forgotten cannot be known");
                false
            }
        }
    }

    /// Why a message is not answered; `None` where it is. Never calls a model.
    pub(super) async fn ignore_reason(
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
            // Adapters report these separately; they are nobody's question.
            (Attention::Open | Attention::Mentioned, Addressed::Overheard) => Some("overheard"),
            (Attention::Open, Addressed::InConversation) => {
                if !archive.takes_part(session).await {
                    return Some("elsewhere");
                }
                let hearing = listening.decide_hearing(archive, message, text).await;
                tracing::debug!(event = %message.event, heard = hearing.name(), "heard");
                if hearing.is_for_bot() {
                    return None;
                }
                listening.hold_as_context(message, text);
                Some(hearing.name())
            }
        }
    }
}
