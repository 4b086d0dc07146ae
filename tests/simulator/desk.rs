//! Where people write to the bot, and read what it answers.

mod slack;
mod webhook;

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use serde_json::Value;

use self::slack::SlackDesk;
pub(crate) use self::webhook::SECRET;
use self::webhook::WebhookDesk;
use crate::plan::{AnswersFailure, Platform};

/// Where a process listens.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) address: String,
    /// How far the clock of the process is ahead, in seconds.
    pub(crate) clock_ahead: AtomicI64,
}

/// One message of the bot's, as people see it.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    /// What it answers, by its channel and id.
    pub(crate) channel: String,
    pub(crate) question: String,
    pub(crate) text: String,
}

/// Messages are named as on the webhook, whatever the platform calls them.
#[derive(Debug)]
pub(crate) enum Desk {
    Webhook(WebhookDesk),
    Slack(SlackDesk),
}

impl Desk {
    pub(crate) async fn open(platform: Platform) -> Self {
        match platform {
            Platform::Webhook => Self::Webhook(WebhookDesk::open().await),
            Platform::Slack => Self::Slack(SlackDesk::open().await),
        }
    }

    /// What a process needs to know of it, which listens at an address where it is told something.
    pub(crate) fn settings(&self, address: &str) -> Vec<(&'static str, String)> {
        match self {
            Self::Webhook(desk) => vec![
                ("WEBHOOK_ADDR", address.to_owned()),
                ("WEBHOOK_SECRET", SECRET.to_owned()),
                ("WEBHOOK_ANSWER_URL", desk.address().to_owned()),
            ],
            Self::Slack(desk) => desk.settings(),
        }
    }

    pub(crate) fn fails(&self, failure: Option<AnswersFailure>) {
        match self {
            Self::Webhook(desk) => desk.fails(failure),
            Self::Slack(desk) => desk.fails(failure),
        }
    }

    /// What stands in the channels.
    pub(crate) fn posts(&self) -> Vec<Post> {
        match self {
            Self::Webhook(desk) => desk.posts(),
            Self::Slack(desk) => desk.posts(),
        }
    }

    /// What answers a message.
    pub(crate) fn answer(&self, channel: &str, question: &str) -> Option<String> {
        let mut posts = self.posts().into_iter();
        let answer = posts.find(|post| post.channel == channel && post.question == question);
        answer.map(|post| post.text)
    }

    /// All that ever stood there.
    pub(crate) fn history(&self) -> Vec<Post> {
        match self {
            Self::Webhook(desk) => desk.history(),
            Self::Slack(desk) => desk.history(),
        }
    }

    /// The most questions that were accepted and not answered at one moment, where that is known.
    pub(crate) fn most_unanswered(&self) -> usize {
        match self {
            Self::Webhook(desk) => desk.most_unanswered(),
            Self::Slack(_) => 0,
        }
    }

    /// What the bot did and should not have.
    pub(crate) fn malformed(&self) -> Vec<String> {
        match self {
            Self::Webhook(desk) => desk.malformed(),
            Self::Slack(desk) => desk.malformed(),
        }
    }

    /// Says a message, however long it takes until a process has it.
    ///
    /// # Errors
    /// Says what the bot answered instead, or that it took too long.
    pub(crate) async fn says(
        &self,
        doors: &[Arc<Door>],
        first: usize,
        body: &Value,
    ) -> Result<(), String> {
        match self {
            Self::Webhook(desk) => desk.says(doors, first, body).await,
            Self::Slack(desk) => {
                desk.says(body);
                Ok(())
            }
        }
    }

    /// What was exported of a graph, with the names of the webhook.
    pub(crate) fn translated(&self, exported: String) -> String {
        match self {
            Self::Webhook(_) => exported,
            Self::Slack(desk) => desk.translated(exported),
        }
    }
}
