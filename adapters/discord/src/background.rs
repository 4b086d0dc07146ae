//! What was said before the bot came: the message that the question replies to, and in a thread the
//! messages before it.

use muninn_platform::Overheard;
use serenity::model::id::{ChannelId, MessageId};

use crate::api::Standing;
use crate::event::Quoted;
use crate::hub::Hub;

/// Messages before the question that are read.
const MOST: u8 = 20;

/// Where to look.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) quoted: Option<Quoted>,
    /// None: what else is said in the channel is another conversation.
    pub(crate) in_thread: Option<(ChannelId, MessageId)>,
}

pub(crate) async fn overhear(hub: &Hub, before: Before) -> Vec<Overheard> {
    let said = match before.in_thread {
        Some((channel, question)) => {
            let asked = hub.api.messages_before(channel, question, MOST);
            hub.outbox.try_once(asked).await.unwrap_or_default()
        }
        None => Vec::new(),
    };
    let mut heard: Vec<Overheard> = said.into_iter().rev().filter_map(overheard).collect();
    let quoted = before
        .quoted
        .filter(|quoted| !quoted.is_bot && !quoted.text.is_empty());
    if let Some(quoted) = quoted
        && !heard.iter().any(|heard| heard.at == quoted.at)
    {
        heard.push(Overheard {
            author: quoted.name,
            text: quoted.text,
            at: quoted.at,
        });
    }
    heard
}

/// Without the intent other people's texts are empty; what bots say is no one's word.
fn overheard(message: Standing) -> Option<Overheard> {
    let author = message.author;
    (!author.bot && !message.content.is_empty()).then(|| Overheard {
        author: author.global_name.unwrap_or(author.username),
        text: message.content,
        at: message.timestamp,
    })
}
