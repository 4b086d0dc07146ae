//! The platform on which people write to the bot and read its answers.

mod discord;
mod slack;
mod webhook;

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use serde_json::Value;

use self::discord::DiscordDesk;
use self::slack::SlackDesk;
pub(crate) use self::webhook::SECRET;
use self::webhook::WebhookDesk;
use crate::plan::{AnswersFailure, Platform};

/// The address of a process.
#[derive(Debug)]
pub(crate) struct ProcessAddress {
    pub(crate) address: String,
    /// How far the clock of the process is ahead, in seconds.
    pub(crate) clock_ahead: AtomicI64,
}

/// One message of the bot, as people see it.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    /// The message that it answers, by channel and id.
    pub(crate) channel: String,
    pub(crate) question: String,
    pub(crate) text: String,
    /// The message in which a growing answer is posted: after a kill, another one may continue
    /// there.
    pub(crate) grows_in: Option<String>,
}

/// A message of the bot with a growing answer.
#[derive(Clone, Debug)]
struct GrowingPost {
    /// Its content now, or before it was removed.
    post: Post,
    is_deleted: bool,
    /// Every text that it had.
    texts: Vec<String>,
}

impl GrowingPost {
    fn standing(self) -> Option<Post> {
        (!self.is_deleted).then_some(self.post)
    }

    fn history(self) -> impl Iterator<Item = Post> {
        let Self { post, texts, .. } = self;
        texts.into_iter().map(move |text| Post {
            text,
            ..post.clone()
        })
    }
}

/// Message ids are those of the webhook, whatever the platform's own ids.
#[derive(Debug)]
pub(crate) enum PlatformDesk {
    Webhook(WebhookDesk),
    Slack(SlackDesk),
    Discord(DiscordDesk),
}

impl PlatformDesk {
    pub(crate) async fn open(platform: Platform) -> Self {
        match platform {
            Platform::Webhook => Self::Webhook(WebhookDesk::open().await),
            Platform::Slack => Self::Slack(SlackDesk::open().await),
            Platform::Discord => Self::Discord(DiscordDesk::open().await),
        }
    }

    /// Returns the settings for a process, which listens at an address if the platform calls it.
    pub(crate) fn settings(&self, address: &str) -> Vec<(&'static str, String)> {
        match self {
            Self::Webhook(desk) => vec![
                ("WEBHOOK_ADDR", address.to_owned()),
                ("WEBHOOK_SECRET", SECRET.to_owned()),
                ("WEBHOOK_ANSWER_URL", desk.address().to_owned()),
            ],
            Self::Slack(desk) => desk.settings(),
            Self::Discord(desk) => desk.settings(),
        }
    }

    pub(crate) fn fails(&self, failure: Option<AnswersFailure>) {
        match self {
            Self::Webhook(desk) => desk.fails(failure),
            Self::Slack(desk) => desk.fails(failure),
            Self::Discord(desk) => desk.fails(failure),
        }
    }

    /// Returns the current messages in the channels.
    pub(crate) fn posts(&self) -> Vec<Post> {
        match self {
            Self::Webhook(desk) => desk.posts(),
            Self::Slack(desk) => standing(desk.answers()),
            Self::Discord(desk) => standing(desk.answers()),
        }
    }

    /// Returns the answer to a message.
    pub(crate) fn answer(&self, channel: &str, question: &str) -> Option<String> {
        let mut posts = self.posts().into_iter();
        let answer = posts.find(|post| post.channel == channel && post.question == question);
        answer.map(|post| post.text)
    }

    /// Returns the answers to a command, in the channel or to its person alone.
    pub(crate) fn told(&self, channel: &str, command: &str) -> Vec<String> {
        let all = match self {
            Self::Webhook(_) | Self::Discord(_) => self.posts(),
            Self::Slack(desk) => desk.whispers(),
        };
        let told = all.into_iter();
        let told = told.filter(|post| post.channel == channel && post.question == command);
        told.map(|post| post.text).collect()
    }

    /// Whether private answers may be lost: Slack does not confirm them.
    pub(crate) fn may_lose_told(&self) -> bool {
        match self {
            Self::Webhook(_) | Self::Discord(_) => false,
            Self::Slack(_) => true,
        }
    }

    /// Returns all messages that ever existed.
    pub(crate) fn history(&self) -> Vec<Post> {
        match self {
            Self::Webhook(desk) => desk.history(),
            Self::Slack(desk) => {
                let answers = desk.answers().into_iter();
                let answers = answers.flat_map(GrowingPost::history);
                answers.chain(desk.whispers()).collect()
            }
            Self::Discord(desk) => {
                let answers = desk.answers().into_iter();
                answers.flat_map(GrowingPost::history).collect()
            }
        }
    }

    /// Returns the maximum number of questions that were accepted and unanswered at a time, if
    /// known.
    pub(crate) fn most_unanswered(&self) -> usize {
        match self {
            Self::Webhook(desk) => desk.most_unanswered(),
            Self::Slack(_) | Self::Discord(_) => 0,
        }
    }

    /// Returns invalid actions of the bot.
    pub(crate) fn malformed(&self) -> Vec<String> {
        match self {
            Self::Webhook(desk) => desk.malformed(),
            Self::Slack(desk) => desk.malformed(),
            Self::Discord(desk) => desk.malformed(),
        }
    }

    /// Says a message, and waits until a process has it.
    ///
    /// # Errors
    /// Fails with the bot's response, or after a time limit.
    pub(crate) async fn says(
        &self,
        doors: &[Arc<ProcessAddress>],
        first: usize,
        body: &Value,
    ) -> Result<(), String> {
        match self {
            Self::Webhook(desk) => desk.says(doors, first, body).await,
            Self::Slack(desk) => {
                desk.says(body);
                Ok(())
            }
            Self::Discord(desk) => {
                desk.says(body).await;
                Ok(())
            }
        }
    }

    /// Waits until a process has everything that people did.
    pub(crate) async fn all_told(&self) {
        match self {
            Self::Slack(desk) => desk.all_told().await,
            // Those deliver at once, or the process reads it later.
            Self::Webhook(_) | Self::Discord(_) => {}
        }
    }

    /// Replaces names in an exported graph by those of the webhook.
    pub(crate) fn translated(&self, exported: String) -> String {
        match self {
            Self::Webhook(_) => exported,
            Self::Slack(desk) => desk.translated(exported),
            Self::Discord(desk) => desk.translated(exported),
        }
    }
}

fn standing(answers: Vec<GrowingPost>) -> Vec<Post> {
    let answers = answers.into_iter();
    answers.filter_map(GrowingPost::standing).collect()
}
