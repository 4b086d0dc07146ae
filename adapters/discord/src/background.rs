//! What was said before the bot came: the message that the question replies to, and in a thread the
//! messages before it.

use futures_util::TryFutureExt;
use muninn_platform::PriorMessage;
use serenity::model::Permissions;
use serenity::model::id::{ChannelId, MessageId};

use crate::api::ExistingMessage;
use crate::errors::Refusal;
use crate::event::Quoted;
use crate::hub::Hub;
use crate::ids;
use crate::rights;

/// Messages before the question that are read.
const MOST: u8 = 20;

/// Where to look.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) quoted: Option<Quoted>,
    /// None: what else is said in the channel is another conversation.
    pub(crate) in_thread: Option<(ChannelId, MessageId)>,
}

pub(crate) async fn overhear(hub: &Hub, before: Before) -> Vec<PriorMessage> {
    let mut heard: Vec<PriorMessage> = match before.in_thread {
        Some((channel, question)) => {
            let asked = hub.api.messages_before(channel, question, MOST);
            let asked = asked.inspect_err(|failure| {
                if failure.is(Refusal::MayNot) {
                    let what = "read what was said before";
                    let needed = Permissions::READ_MESSAGE_HISTORY;
                    tracing::warn!(%failure, "{}", rights::cannot(hub, channel, what, needed));
                }
            });
            let said = hub.outbox.try_once(asked).await.unwrap_or_default();
            let heard = said.into_iter().rev();
            heard
                .filter_map(|message| prior(channel, message))
                .collect()
        }
        None => Vec::new(),
    };
    let quoted = before
        .quoted
        .filter(|quoted| !quoted.is_bot && !quoted.text.is_empty());
    if let Some(quoted) = quoted
        && !heard.iter().any(|heard| heard.at == quoted.at)
    {
        heard.push(PriorMessage {
            event: None,
            author: quoted.name,
            text: quoted.text,
            at: quoted.at,
        });
    }
    heard
}

/// Without the intent other people's texts are empty; what bots say is no one's word.
fn prior(channel: ChannelId, message: ExistingMessage) -> Option<PriorMessage> {
    let author = message.author;
    (!author.bot && !message.content.is_empty()).then(|| PriorMessage {
        event: Some(ids::message(channel, message.id)),
        author: author.global_name.unwrap_or(author.username),
        text: message.content,
        at: message.timestamp,
    })
}
