//! Doing on a page what is done in chat: it goes the way of a message to the bot, with all that holds for one.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use muninn_platform::{
    Audience, Author, Body, Command, ConversationId, Delivered, EventId, Inbox, Incoming,
    IncomingMessage, PlatformError, Reply, SafeText, TextLimit, Withdraw,
};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;
use uuid::Uuid;

use super::visitor::Problem;
use crate::conversation::bot::Bot;
use crate::graph::accounts::Account;

/// How long somebody waits for what came of it; it goes on without them.
const PATIENCE: Duration = Duration::from_secs(60);

/// The way to the bot.
#[derive(Debug)]
pub struct ToBot {
    /// None once the bot is ending: it ends when nobody has a way to it.
    inbox: Mutex<Option<Inbox>>,
    bot: Arc<Bot>,
}

impl ToBot {
    pub fn new(inbox: Inbox, bot: Arc<Bot>) -> Self {
        Self {
            inbox: Mutex::new(Some(inbox)),
            bot,
        }
    }

    /// As [`Bot::under_way`].
    pub(super) fn under_way(&self) -> usize {
        self.bot.under_way()
    }

    /// From now on nothing is done.
    pub(super) fn close(&self) {
        self.inbox.lock().take();
    }

    /// Has the bot carry out a command of somebody, said in a conversation; gives what it said.
    pub(super) async fn says(
        &self,
        person: &Account,
        (conversation, audience): (ConversationId, Audience),
        command: Command,
    ) -> Result<String, Problem> {
        let Some(inbox) = self.inbox.lock().clone() else {
            return Err(Problem::Ending);
        };
        let (said, receipt) = oneshot::channel();
        let reply = PageReply {
            said: Some(said),
            withdraw: self.bot.withdrawals().of(&audience.platform),
        };
        let message = message(person, (conversation, audience), command);
        let reply = Box::new(reply);
        let delivering = inbox.deliver(Incoming::Message { message, reply });
        let done = async {
            delivering.await.ok()?;
            receipt.await.ok()
        };
        let done = timeout(PATIENCE, done).await.ok().flatten();
        done.ok_or(Problem::Failed)
    }
}

fn message(
    person: &Account,
    (conversation, audience): (ConversationId, Audience),
    command: Command,
) -> IncomingMessage {
    let event = EventId::new(format!("web/{}", Uuid::now_v7()));
    let author = Author {
        id: person.id.clone(),
        name: person.name.clone(),
        // What others said is theirs, whatever somebody may do with it in chat.
        is_admin: false,
        time_zone: None,
        language: None,
    };
    IncomingMessage::new(
        event,
        conversation,
        audience,
        author,
        Body::Command(command),
    )
}

/// What the bot says, for the page.
struct PageReply {
    said: Option<oneshot::Sender<String>>,
    withdraw: Arc<dyn Withdraw>,
}

#[async_trait]
impl Reply for PageReply {
    fn limit(&self) -> TextLimit {
        TextLimit::Unlimited
    }

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        let parts: Vec<&str> = parts.iter().map(SafeText::as_str).collect();
        if let Some(said) = self.said.take() {
            // Whoever asked may have gone.
            let _ = said.send(parts.join("\n"));
        }
        Ok(Delivered::default())
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::clone(&self.withdraw)
    }
}
