//! Reads what was said before the bot joined: the message that the question replies to, and the
//! earlier messages of a thread.

use muninn_platform::{
    Bounds, Cut, Page, PageOrder, PriorMessage, PriorMessages, RequestFailure, read_pages,
};
use serenity::model::Permissions;
use serenity::model::id::{ChannelId, MessageId};

use crate::api::PAGE;
use crate::errors::{Failure, RefusalReason};
use crate::hub::DiscordHub;
use crate::ids;
use crate::message::Quoted;
use crate::objects::ExistingMessage;
use crate::rights;

/// Where to look.
#[derive(Clone, Debug)]
pub(crate) struct PriorMessageSource {
    pub(crate) quoted: Option<Quoted>,
    /// `None` outside of threads: other messages of the channel are other conversations.
    pub(crate) in_thread: Option<Thread>,
}

/// A thread, up to the question asked in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) channel: ChannelId,
    /// The thread's parent channel.
    pub(crate) parent: Option<ChannelId>,
    pub(crate) question: MessageId,
}

pub(crate) async fn read_prior_messages(
    hub: &DiscordHub,
    before: PriorMessageSource,
) -> PriorMessages {
    let mut heard = match before.in_thread {
        Some(thread) => in_thread(hub, thread).await,
        None => PriorMessages::default(),
    };
    let quoted = before
        .quoted
        .filter(|quoted| !quoted.is_bot && !quoted.text.is_empty());
    if let Some(quoted) = quoted
        && !heard.said.iter().any(|heard| heard.at == quoted.at)
    {
        heard.said.push(PriorMessage {
            event: None,
            author_id: Some(ids::author(quoted.author)),
            author: quoted.name,
            text: quoted.text,
            at: quoted.at,
        });
    }
    heard
}

async fn in_thread(hub: &DiscordHub, thread: Thread) -> PriorMessages {
    let Thread { channel, .. } = thread;
    let read = read_pages(
        Bounds::THREAD,
        PageOrder::NewestFirst,
        |message: &ExistingMessage| message.content.len(),
        |before: Option<MessageId>| async move {
            let before = before.unwrap_or(thread.question);
            let asked = hub.api.messages_before(channel, before, PAGE).await;
            let items = asked.map_err(|failure| unread(hub, channel, &failure))?;
            let is_full = items.len() == usize::from(PAGE);
            let oldest = items.last().map(|oldest| oldest.id);
            let next = oldest.filter(|_| is_full);
            Ok(Page { items, next })
        },
    )
    .await;
    let mut said = first_page(hub, thread, read.cut).await;
    let newest = read.items.into_iter().rev();
    let newest = newest.filter(|message| said.iter().all(|known| known.id != message.id));
    let newest: Vec<ExistingMessage> = newest.collect();
    said.extend(newest);
    if said.iter().any(ExistingMessage::is_thread_starter) {
        said.splice(0..0, root(hub, thread).await);
    }
    let said = said.into_iter();
    PriorMessages {
        said: said.filter_map(|message| prior(channel, message)).collect(),
        cut: read.cut,
    }
}

/// Reads the first page of a thread that was not read completely (newest first), oldest first.
async fn first_page(hub: &DiscordHub, thread: Thread, cut: Option<Cut>) -> Vec<ExistingMessage> {
    match cut {
        None | Some(Cut::Refused) => Vec::new(),
        Some(Cut::TooMuch | Cut::Limited | Cut::Away) => {
            let began_at = MessageId::new(thread.channel.get());
            let first = hub.api.messages_after(thread.channel, began_at);
            let mut first = hub.outbox.try_once(first).await.unwrap_or_default();
            first.reverse();
            first
        }
    }
}

/// Reads the channel message at which a thread began; it has the thread's id.
async fn root(hub: &DiscordHub, thread: Thread) -> Option<ExistingMessage> {
    let message = MessageId::new(thread.channel.get());
    let asked = hub.api.message(thread.parent?, message);
    hub.outbox.try_once(asked).await
}

fn unread(hub: &DiscordHub, channel: ChannelId, failure: &Failure) -> RequestFailure {
    if failure.is(RefusalReason::MayNot) {
        let what = "read what was said before";
        let needed = Permissions::READ_MESSAGE_HISTORY;
        tracing::warn!(%failure, "{}", rights::describe_inability(hub, channel, what, needed));
    } else {
        tracing::info!(%failure, %channel, "not all that was said before is known");
    }
    failure.request_failure()
}

/// Converts a message. `None` if it is from a bot, or has no text: without the intent the texts of
/// others are empty.
fn prior(channel: ChannelId, message: ExistingMessage) -> Option<PriorMessage> {
    let author = message.author;
    (!author.bot && !message.content.is_empty()).then(|| PriorMessage {
        event: Some(ids::message(channel, message.id)),
        author_id: Some(ids::author(author.id)),
        author: author.global_name.unwrap_or(author.username),
        text: message.content,
        at: message.timestamp,
    })
}
