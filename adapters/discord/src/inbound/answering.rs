//! Finds where an answer goes, now and after a restart.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use muninn_platform::{Body, IncomingMessage};
use serenity::model::Permissions;
use serenity::model::id::{ChannelId, InteractionId, MessageId, UserId};

use crate::answer_thread::{AnswerThread, PendingThread};
use crate::background::{PriorMessageSource, Thread};
use crate::buttons::ButtonOwner;
use crate::earlier;
use crate::hub::DiscordHub;
use crate::ids::{self, DiscordPlace};
use crate::intent::{AnswerDestination, MessageContext};
use crate::message::DiscordMessage;
use crate::reply::DiscordReplyTarget;
use crate::rights;
use crate::transport::AnswerTransport;

/// Builds the target of a message again, after a restart; `thread_name` names the thread of a text in a place.
pub(super) fn target_again(
    hub: &Arc<DiscordHub>,
    message: &IncomingMessage,
    thread_name: impl FnOnce(&str, DiscordPlace) -> String,
) -> Option<DiscordReplyTarget> {
    let place = DiscordPlace::parse(message.conversation.as_str())?;
    let asker = ids::person(&message.author.id).unwrap_or(hub.me);
    let (has_buttons, text) = match &message.body {
        Body::Text(text) | Body::Edit { text, .. } => (true, text.as_str()),
        Body::Command(_) | Body::Deletion { .. } => (false, ""),
    };
    let event = ids::DiscordEventId::parse(&message.event)?;
    let sought = earlier::answer_search_criteria(&place, &event);
    let target = match event {
        ids::DiscordEventId::Message {
            channel,
            message: question,
            ..
        } => {
            let is_new_thread = place.channel.get() == question.get();
            let stand = if is_new_thread && place.channel != channel {
                AnswerDestination::NewThread
            } else {
                AnswerDestination::Here
            };
            target(
                hub,
                Answering {
                    place,
                    asker,
                    stand,
                    channel,
                    question,
                    name: thread_name(text, DiscordPlace::new(place.guild, channel)),
                    has_buttons,
                    nonce: question.to_string(),
                },
            )
        }
        ids::DiscordEventId::Interaction(id) => {
            interaction_again(hub, id, place, asker, has_buttons)
        }
    };
    Some(DiscordReplyTarget { sought, ..target })
}

/// Builds the target of an interaction again. Its token was lost with the earlier process.
fn interaction_again(
    hub: &Arc<DiscordHub>,
    id: InteractionId,
    place: DiscordPlace,
    asker: UserId,
    has_buttons: bool,
) -> DiscordReplyTarget {
    let answer_thread = AnswerThread::new(Arc::clone(hub), place.channel, None);
    let is_private = place.private_to.is_some();
    let belongs = ButtonOwner { asker, place };
    let transport = AnswerTransport {
        is_private,
        names_asker: true,
        ..AnswerTransport::new(answer_thread, belongs, id.to_string())
    };
    DiscordReplyTarget::new(transport, has_buttons)
}

/// Moves the answer beside the question if no thread may be opened for it. Conversations are
/// named after existing places, since what was said in a missing one is forgotten.
pub(super) fn where_it_may(
    hub: &DiscordHub,
    said: &DiscordMessage,
    facts: &MessageContext,
    place: DiscordPlace,
    stand: AnswerDestination,
) -> (DiscordPlace, AnswerDestination) {
    const NEEDED: Permissions =
        Permissions::CREATE_PUBLIC_THREADS.union(Permissions::SEND_MESSAGES_IN_THREADS);
    let may = hub.directory.my_permissions(&facts.spot, hub.me);
    if stand == AnswerDestination::Here || may.is_none_or(|may| may.contains(NEEDED)) {
        return (place, stand);
    }
    let why = rights::describe_unopened_thread(hub, said.channel, Some(NEEDED));
    tracing::warn!("{why}");
    (
        DiscordPlace::new(said.guild, said.channel),
        AnswerDestination::Here,
    )
}

pub(super) fn target(hub: &Arc<DiscordHub>, answering: Answering) -> DiscordReplyTarget {
    let Answering {
        place,
        asker,
        stand,
        channel,
        question,
        name,
        has_buttons,
        nonce,
    } = answering;
    let (stands_in, reply_to, opening) = match stand {
        AnswerDestination::NewThread => {
            let opening = PendingThread {
                channel,
                message: question,
                name,
            };
            (place.channel, None, Some(opening))
        }
        AnswerDestination::Here => (channel, Some(question), None),
    };
    let answer_thread = AnswerThread::new(Arc::clone(hub), stands_in, opening);
    let belongs = ButtonOwner { asker, place };
    let transport = AnswerTransport {
        reply_to,
        ..AnswerTransport::new(answer_thread, belongs, nonce)
    };
    DiscordReplyTarget::new(transport, has_buttons)
}

/// What an answer to a message needs.
pub(super) struct Answering {
    pub(super) place: DiscordPlace,
    pub(super) asker: UserId,
    pub(super) stand: AnswerDestination,
    /// The channel of the question.
    pub(super) channel: ChannelId,
    pub(super) question: MessageId,
    /// The name of a new thread.
    pub(super) name: String,
    pub(super) has_buttons: bool,
    pub(super) nonce: String,
}

/// Returns where to read what was said before a question.
pub(super) fn prior_messages_of(
    said: &DiscordMessage,
    facts: &MessageContext,
) -> PriorMessageSource {
    PriorMessageSource {
        in_thread: facts.spot.kind.is_thread().then_some(Thread {
            channel: said.channel,
            parent: facts.spot.parent,
            question: said.id,
        }),
        quoted: said.replies_to.clone(),
    }
}

/// Returns the nonce for an edit, at most 22 characters: Discord allows 25.
pub(super) fn edit_nonce(message: MessageId, at: DateTime<Utc>) -> String {
    // It only has to differ from the question and other edits for some minutes.
    format!("{:x}e{:x}", message.get(), at.timestamp() & 0xf_ffff)
}
