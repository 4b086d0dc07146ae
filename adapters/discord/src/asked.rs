//! Passes commands and button presses to the bot, acknowledged within three seconds.

use std::sync::Arc;
use std::time::Duration;

use muninn_platform::{
    Body, Command, Feedback, InboxClosed, Incoming, IncomingMessage, KeyedQueue, Language, Opinion,
};
use muninn_texts::text;
use serde_json::Value;
use serenity::model::Permissions;
use serenity::model::id::{ChannelId, MessageId, UserId};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::answer_thread::AnswerThread;
use crate::buttons::{self, ButtonOwner, Row};
use crate::content;
use crate::directory::{DiscordChannelKind, DiscordLocation};
use crate::errors::{Failure, FailureKind, RefusalReason};
use crate::hub::DiscordHub;
use crate::ids::{self, DiscordPlace};
use crate::inbound::DiscordEventHandler;
use crate::interaction::{InteractionKind, UserInteraction};
use crate::interaction_token::InteractionToken;
use crate::reply::DiscordReplyTarget;
use crate::rights;
use crate::transport::AnswerTransport;
use crate::wanted::{
    FirstResponse, InteractionAction, InteractionContext, InteractionTurn, NewThread, belongs,
    interaction_action,
};

/// Maximum time for a first response: Discord refuses it after three seconds.
const FIRST_ANSWER: Duration = Duration::from_millis(2_900);

impl DiscordEventHandler {
    /// Accepts an interaction: acknowledges it at once, and passes it to the bot after the earlier
    /// events of the same channel. Does not wait.
    pub(crate) fn accept_interaction(
        &self,
        mut asked: UserInteraction,
        queue: &Arc<KeyedQueue<ChannelId>>,
    ) {
        // Discord sends some twice.
        if self.hub.interactions.insert(asked.id, ()).is_some() {
            return;
        }
        self.describe_channel(&mut asked);
        let facts = InteractionContext {
            is_allowed: self.hub.is_allowed(&asked.who, &asked.spot),
            mode: self.hub.mode(&asked.spot),
            language: self.language_for(&asked.who, &asked.spot),
        };
        if !facts.is_allowed {
            let allow = &self.hub.options.allow;
            allow.note_not_answered(asked.spot.channel, asked.who.id);
        }
        let inbound = self.clone();
        match interaction_action(&asked, facts) {
            InteractionAction::Nothing => {}
            InteractionAction::Turn(turn) => self.turn(asked, turn, queue),
            other => {
                let chore = async move { inbound.handle_without_turn(asked, other).await };
                self.hub.chores.spawn(chore);
            }
        }
    }

    /// Sets the place of an interaction, if Discord did not describe its channel, but did before.
    fn describe_channel(&self, asked: &mut UserInteraction) {
        let spot = &asked.spot;
        if let Some(guild) = spot.guild
            && spot.name.is_empty()
            && let Some(known) = self.hub.directory.spot(guild, spot.channel)
        {
            asked.locate(known);
        }
    }

    /// Returns the language of what the person alone is told.
    pub(crate) fn language_of(&self, asked: &UserInteraction) -> Language {
        let (hub, who) = (&self.hub, &asked.who);
        let audience = hub.audience(&asked.spot, None).id;
        let place = || hub.language(&audience, self.workspace_language(asked.spot.guild));
        hub.directory
            .language_of(who.id, who.language)
            .unwrap_or_else(place)
    }

    /// Handles what needs no turn.
    async fn handle_without_turn(&self, asked: UserInteraction, wanted: InteractionAction) {
        let done = match wanted {
            InteractionAction::Say { text, row } => {
                let language = self.language_of(&asked);
                let text = text.in_language(language);
                let said = content::say(&text, row, belongs(&asked), language);
                self.try_send_first_response(&asked, &said).await;
                Ok(())
            }
            InteractionAction::Instead(text) => {
                let text = text.in_language(self.language_of(&asked));
                self.try_send_first_response(&asked, &content::replacement_response(&text))
                    .await;
                Ok(())
            }
            InteractionAction::Stop(place) => {
                // It stops whether acknowledged or not.
                let stop = Incoming::Stop(place.conversation());
                let stopped = self.inbox.deliver(stop).await;
                self.try_send_first_response(&asked, &content::silent_response())
                    .await;
                stopped
            }
            InteractionAction::Opinion {
                answer,
                place,
                opinion,
            } => self.opinion(&asked, answer, place, opinion).await,
            InteractionAction::Form(item) => {
                let form = content::correction_form(&item, self.language_of(&asked));
                self.try_send_first_response(&asked, &form).await;
                Ok(())
            }
            InteractionAction::Session(chosen) => self.session(&asked, chosen).await,
            InteractionAction::Choices(typed) => self.choices(&asked, &typed).await,
            InteractionAction::Turn(_) | InteractionAction::Nothing => Ok(()),
        };
        if done.is_err() {
            tracing::debug!(interaction = %asked.id, "the bot is ending");
        }
    }

    pub(crate) async fn try_send_first_response(&self, asked: &UserInteraction, answer: &Value) {
        if let Err(failure) = send_first_response(&self.hub, asked, answer).await {
            tracing::warn!(interaction = %asked.id, %failure, "an interaction could not be answered");
        }
    }

    /// Thanks for a rating and delivers it; a new one replaces the earlier one of the same answer.
    async fn opinion(
        &self,
        asked: &UserInteraction,
        answer: MessageId,
        place: DiscordPlace,
        opinion: Opinion,
    ) -> Result<(), InboxClosed> {
        let language = self.language_of(asked);
        let thanks = text!("thanks").in_language(language);
        let thanks = content::say(&thanks, Row::None, belongs(asked), language);
        self.try_send_first_response(asked, &thanks).await;
        let channel = asked.spot.channel;
        let spot = self.location_of(asked, place).await;
        let audience = self.hub.audience(&spot, place.private_to).id;
        let event = ids::opinion(channel, answer, asked.who.id);
        let given = Feedback::Given {
            event: event.clone(),
            answer: ids::sent(channel, answer),
            person: ids::author(asked.who.id),
            opinion,
        };
        self.inbox.deliver_opinion(audience, given, event).await
    }

    fn turn(
        &self,
        asked: UserInteraction,
        turn: InteractionTurn,
        queue: &Arc<KeyedQueue<ChannelId>>,
    ) {
        let asked = Arc::new(asked);
        let shown = match turn.shows {
            FirstResponse::Thinking => content::thinking(turn.is_private),
            FirstResponse::Nothing => content::silent_response(),
        };
        // Acknowledged regardless of what is queued before it.
        let (hub, of) = (Arc::clone(&self.hub), Arc::clone(&asked));
        let first: JoinHandle<Result<(), Failure>> =
            tokio::spawn(async move { send_first_response(&hub, &of, &shown).await });
        let inbound = self.clone();
        let (id, channel) = (asked.id, asked.spot.channel);
        let queued = queue.spawn(channel, &self.hub.chores, async move {
            if let Err(error) = inbound.run_interaction_turn(&asked, turn, first).await {
                tracing::debug!(%error, "an interaction came too late");
            }
        });
        if queued.is_none() {
            tracing::warn!(interaction = %id, "too much waits: an interaction is not answered");
        }
    }

    async fn run_interaction_turn(
        &self,
        asked: &UserInteraction,
        turn: InteractionTurn,
        first: JoinHandle<Result<(), Failure>>,
    ) -> Result<(), InboxClosed> {
        let token = InteractionToken::new(asked.id, asked.token.clone());
        match first.await {
            Ok(Ok(())) => {}
            // Delivered twice: whoever was first answers.
            Ok(Err(failure)) if failure.is(RefusalReason::AcknowledgedAlready) => return Ok(()),
            Ok(Err(failure)) => {
                tracing::warn!(interaction = %asked.id, %failure, "an interaction may not have been acknowledged in time");
                // If that is uncertain, the answer tries the token first.
                if failure.is(RefusalReason::InteractionOver) {
                    token.end();
                }
            }
            Err(_) => token.end(),
        }
        let stage = self.open_requested_thread(asked, &turn, &token).await;
        let (place, spot) = match &stage {
            Some((place, spot)) => (*place, spot.clone()),
            None => (turn.place, self.location_of(asked, turn.place).await),
        };
        let message = self.interaction(asked, &turn, place, &spot);
        let target = match stage {
            Some((place, _)) => self.on_stage(asked, &turn, place),
            None => self.to_interaction(asked, &turn, token),
        };
        self.deliver(message, target).await
    }

    /// Returns the location of a place that an interaction is about. A button below a direct message
    /// may be about a channel: a private answer is sent there if the interaction is over.
    async fn location_of(&self, asked: &UserInteraction, place: DiscordPlace) -> DiscordLocation {
        if place.guild == asked.spot.guild {
            return asked.spot.clone();
        }
        let found = self.hub.spot(place.guild, place.channel).await;
        found.unwrap_or_else(|| DiscordLocation {
            guild: place.guild,
            ..DiscordLocation::direct(place.channel)
        })
    }

    /// Builds the target of an answer in the thread that was opened for it.
    fn on_stage(
        &self,
        asked: &UserInteraction,
        turn: &InteractionTurn,
        place: DiscordPlace,
    ) -> DiscordReplyTarget {
        let answer_thread = AnswerThread::new(Arc::clone(&self.hub), place.channel, None);
        let asker = asked.who.id;
        let belongs = ButtonOwner { asker, place };
        let transport = AnswerTransport::new(answer_thread, belongs, asked.id.to_string());
        DiscordReplyTarget::new(transport, turn.has_buttons)
    }

    /// Builds the target of an answer that replaces "thinking…", or the message of the pressed
    /// button.
    fn to_interaction(
        &self,
        asked: &UserInteraction,
        turn: &InteractionTurn,
        token: InteractionToken,
    ) -> DiscordReplyTarget {
        let channel = asked.spot.channel;
        let answer_thread = AnswerThread::new(Arc::clone(&self.hub), channel, None);
        let (asker, place) = (asked.who.id, turn.place);
        let belongs = ButtonOwner { asker, place };
        let transport = AnswerTransport {
            owner: owner(asked),
            token: Some(Arc::new(token)),
            is_private: turn.is_private,
            names_asker: true,
            ..AnswerTransport::new(answer_thread, belongs, asked.id.to_string())
        };
        let is_again = matches!(turn.body, Body::Command(Command::Again(_)));
        DiscordReplyTarget {
            is_thinking: !is_again,
            pressed_on: match (&asked.what, turn.shows) {
                (InteractionKind::Pressed { on, .. }, FirstResponse::Nothing) => {
                    Some((channel, *on))
                }
                (_, FirstResponse::Thinking | FirstResponse::Nothing) => None,
            },
            is_again,
            ..DiscordReplyTarget::new(transport, turn.has_buttons)
        }
    }

    fn interaction(
        &self,
        asked: &UserInteraction,
        turn: &InteractionTurn,
        place: DiscordPlace,
        spot: &DiscordLocation,
    ) -> IncomingMessage {
        let attachments = if let InteractionKind::About(quoted) = &asked.what {
            quoted.files.clone()
        } else {
            Vec::new()
        };
        let channels = self.hub.audience(spot, None).id;
        let message = IncomingMessage {
            also_recalls: place.private_to.map(|_| channels),
            attachments,
            link: Some(ids::link(place.guild, spot.channel, None)),
            workspace_language: self.workspace_language(place.guild),
            ..IncomingMessage::new(
                ids::interaction(asked.id),
                place.conversation(),
                self.hub.audience(spot, place.private_to),
                self.author(&asked.who, &asked.spot),
                turn.body.clone(),
            )
        };
        match place.guild {
            Some(_) => message,
            None => message.said_alone(),
        }
    }

    /// Opens the requested thread, and replaces "thinking…" by a link to it. `None`: none was
    /// requested, or it could not be opened, so the answer is posted where the question was asked.
    async fn open_requested_thread(
        &self,
        asked: &UserInteraction,
        turn: &InteractionTurn,
        token: &InteractionToken,
    ) -> Option<(DiscordPlace, DiscordLocation)> {
        let Body::Text(question) = &turn.body else {
            return None;
        };
        let opened = match turn.thread {
            NewThread::No => return None,
            NewThread::Public => self.public_stage(asked, question, token).await,
            NewThread::Private => self.private_stage(asked, question, token).await,
        };
        match opened {
            Ok(stage) => Some(stage),
            Err(failure) => {
                let needed = match turn.thread {
                    NewThread::Private => Permissions::CREATE_PRIVATE_THREADS,
                    NewThread::Public | NewThread::No => Permissions::CREATE_PUBLIC_THREADS,
                };
                let needed = needed | Permissions::SEND_MESSAGES_IN_THREADS;
                let missing = failure.is(RefusalReason::MayNot).then_some(needed);
                let channel = asked.spot.channel;
                let why = rights::describe_unopened_thread(&self.hub, channel, missing);
                tracing::warn!(%failure, "{why}");
                None
            }
        }
    }

    async fn public_stage(
        &self,
        asked: &UserInteraction,
        question: &str,
        token: &InteractionToken,
    ) -> Result<(DiscordPlace, DiscordLocation), Failure> {
        let api = &self.hub.api;
        let channel = asked.spot.channel;
        let here = DiscordPlace::new(asked.spot.guild, channel);
        let said = self
            .inbox
            .sanitize_for_quoting(&format!("**{}:** {question}", asked.who.name));
        let said = content::texts(&[said])
            .into_iter()
            .next()
            .unwrap_or_default();
        let language = self.language_of(asked);
        let body = content::edit(&said, Row::None, belongs(asked), language);
        let sent = api.edit_original(token.secret_or_over()?, &body).await?;
        api.open_thread(channel, sent.id, &self.thread_name(question, here))
            .await?;
        // A thread that begins at a message has the message's id.
        let thread = serenity::model::id::ChannelId::new(sent.id.get());
        let spot = DiscordLocation {
            channel: thread,
            kind: DiscordChannelKind::PublicThread,
            parent: Some(channel),
            ..asked.spot.clone()
        };
        Ok((DiscordPlace::new(spot.guild, thread), spot))
    }

    async fn private_stage(
        &self,
        asked: &UserInteraction,
        question: &str,
        token: &InteractionToken,
    ) -> Result<(DiscordPlace, DiscordLocation), Failure> {
        let api = &self.hub.api;
        let channel = asked.spot.channel;
        let here = DiscordPlace::new(asked.spot.guild, channel);
        let name = self.thread_name(question, here);
        let thread = api
            .open_private_thread(channel, &name, asked.who.id)
            .await?;
        let where_to = text!("answers-in", thread = format!("<#{thread}>"));
        let language = self.language_of(asked);
        let where_to = where_to.in_language(language);
        let body = content::edit(&where_to, Row::None, belongs(asked), language);
        if let Ok(token) = token.secret_or_over() {
            let shown = api.edit_original(token, &body);
            let _ = self.hub.outbox.try_once(shown).await;
        }
        let spot = DiscordLocation {
            channel: thread,
            kind: DiscordChannelKind::PrivateThread,
            parent: Some(channel),
            name,
            ..asked.spot.clone()
        };
        Ok((DiscordPlace::new(spot.guild, thread), spot))
    }
}

/// Returns whose answer the pressed button belongs to, as far as the button says.
fn owner(asked: &UserInteraction) -> Option<UserId> {
    let InteractionKind::Pressed { button, .. } = &asked.what else {
        return None;
    };
    buttons::parse(button).map(|it| it.belongs.asker)
}

/// Sends the first response to an interaction; retries once if Discord is unavailable.
async fn send_first_response(
    hub: &DiscordHub,
    asked: &UserInteraction,
    answer: &Value,
) -> Result<(), Failure> {
    let answering = async {
        match hub.api.answer(asked.id, &asked.token, answer).await {
            Err(failure) if failure.kind == FailureKind::Away => {
                hub.api.answer(asked.id, &asked.token, answer).await
            }
            other => other,
        }
    };
    timeout(FIRST_ANSWER, answering)
        .await
        .unwrap_or_else(|_| Err(Failure::timed_out()))
}
