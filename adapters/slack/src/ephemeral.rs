//! Answers that only the asker sees: to slash commands, shortcuts and "Why?".
//!
//! Slack gives such a request a response URL, which works without membership in the channel but
//! only for half an hour and five messages; otherwise there is `chat.postEphemeral`. Neither kind
//! can be changed, so nothing is shown before the answer is complete. Neither can be read back, so
//! a message that Slack may have accepted is not repeated: it is sent at most once.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use muninn_platform::{
    AnswerStage, Attachment, Delivered, DownloadError, EventId, HandedOver, Language,
    NotHandedOver, OwnFile, PlatformError, PlatformVocabulary, Reply, SafeText, ShownItem,
    TextLimit, Withdraw,
};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::content::{self, EPHEMERAL_LIMIT, SlackMessageFormat};
use crate::errors::ApiError;
use crate::files::{self, is_slacks};
use crate::handing::{self, LARGEST_FILE};
use crate::hub::SlackHub;
use crate::ids;
use crate::mrkdwn::{fallback, markdown};
use crate::outbox::MethodCall;
use crate::views::{below_answer, below_ephemeral, below_items};
use crate::withdraw::{SlackWithdrawer, VOCABULARY};

/// How long and how often a response URL works.
const ADDRESS_LIFE: Duration = Duration::from_secs(29 * 60);
const ADDRESS_USES: usize = 5;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Who gets an answer, and where.
#[derive(Clone, Debug)]
pub(crate) struct EphemeralTarget {
    pub(crate) channel: String,
    pub(crate) user: String,
    /// The thread of the answer.
    pub(crate) thread: Option<String>,
    /// The response URL.
    pub(crate) response_url: Option<String>,
    pub(crate) question: EventId,
    /// Answers to commands have no buttons.
    pub(crate) is_command: bool,
    /// Answers have a button that shows them to the others in the channel.
    pub(crate) may_be_shared: bool,
}

pub(crate) struct EphemeralReply {
    hub: Arc<SlackHub>,
    whisper: EphemeralTarget,
    asked_at: Instant,
    /// The items that the answer lists.
    items: Vec<ShownItem>,
    /// The language of its buttons.
    language: Language,
}

impl EphemeralReply {
    pub(crate) fn new(hub: Arc<SlackHub>, whisper: EphemeralTarget) -> Self {
        Self {
            hub,
            whisper,
            asked_at: Instant::now(),
            items: Vec::new(),
            language: Language::default(),
        }
    }

    fn content(
        &self,
        part: &SafeText,
        number: usize,
        is_last: bool,
        form: SlackMessageFormat,
    ) -> Value {
        let EphemeralTarget {
            channel, question, ..
        } = &self.whisper;
        if form == SlackMessageFormat::Plain {
            return content::message(part, AnswerStage::Last, form, self.language);
        }
        let mut blocks = vec![json!({ "type": "markdown", "text": markdown(part.as_str()) })];
        if is_last {
            blocks.extend(below_items(&self.items, self.language));
        }
        if !self.whisper.is_command {
            let id = ids::ephemeral(channel, question, number);
            blocks.extend(if self.whisper.may_be_shared {
                below_ephemeral(&id, part, self.language)
            } else {
                below_answer(Some(&id), self.language)
            });
        }
        json!({ "text": fallback(part), "blocks": blocks })
    }

    /// Returns the response URL while it is valid.
    fn address(&self, number: usize) -> Option<Url> {
        let is_good = self.asked_at.elapsed() < ADDRESS_LIFE && number < ADDRESS_USES;
        let url = self.whisper.response_url.as_ref().filter(|_| is_good)?;
        let url = Url::parse(url).ok()?;
        is_slacks(&url, &self.hub.options.api_url).then_some(url)
    }

    /// Sends a part: formatted, or else as plain text; to the response URL, or else to the channel.
    async fn send(&self, part: &SafeText, number: usize, is_last: bool) -> Result<(), ApiError> {
        let content = |form| self.content(part, number, is_last, form);
        let forms = [SlackMessageFormat::Blocks, SlackMessageFormat::Plain].map(content);
        if let Some(url) = self.address(number) {
            for content in &forms {
                match respond(&self.hub, url.clone(), private(content.clone())).await {
                    Responded::Taken => return Ok(()),
                    // Perhaps because of its blocks.
                    Responded::Refused => {}
                    Responded::Unknown => {
                        tracing::warn!(
                            "whether a private answer was taken is not known; it is not said again"
                        );
                        return Ok(());
                    }
                    Responded::Unreached => break,
                }
            }
        }
        let [in_blocks, plain] = &forms;
        match self.post(in_blocks).await {
            Err(error) if error.is_about_content() => {
                tracing::warn!(%error, "Slack refuses the blocks of an answer; it goes out as plain text");
                self.post(plain).await
            }
            other => other,
        }
    }

    /// Posts in the channel at most once: it is not repeated if Slack may have accepted it.
    async fn post(&self, content: &Value) -> Result<(), ApiError> {
        let EphemeralTarget {
            channel,
            user,
            thread,
            ..
        } = &self.whisper;
        let mut arguments = content.clone();
        arguments["channel"] = json!(channel);
        arguments["user"] = json!(user);
        if let Some(thread) = thread {
            arguments["thread_ts"] = json!(thread);
        }
        let hub = &self.hub;
        let call = MethodCall {
            method: "chat.postEphemeral",
            channel,
        };
        let arguments = &arguments;
        let post = |_| async move {
            match hub.api.post(call.method, arguments).await {
                Err(error) if error.may_be_done() => {
                    tracing::warn!(%error, "whether a private answer was taken is not known; it is not said again");
                    Ok(())
                }
                other => other.map(drop),
            }
        };
        hub.outbox.send(call, post).await
    }
}

fn private(mut content: Value) -> Value {
    content["response_type"] = json!("ephemeral");
    content["replace_original"] = json!(false);
    content
}

/// The result of a message to a response URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Responded {
    Taken,
    /// Slack does not accept it there, or not any more.
    Refused,
    /// No response: Slack may have accepted it.
    Unknown,
    /// There was no connection.
    Unreached,
}

/// Sends a message to a response URL.
pub(crate) async fn respond(hub: &SlackHub, url: Url, content: Value) -> Responded {
    let request = hub
        .api
        .http
        .post(url)
        .timeout(REQUEST_TIMEOUT)
        .header("content-type", "application/json")
        .body(content.to_string());
    // Logged without the URL: whoever has it can post as the bot.
    let said = async { request.send().await?.error_for_status()?.text().await };
    let responded = match said.await.map_err(reqwest::Error::without_url) {
        Ok(body) => told_by(&body),
        Err(error) => {
            tracing::debug!(%error, "not taken at its address");
            match error.status() {
                Some(status) if status.is_client_error() => Responded::Refused,
                None if error.is_connect() => Responded::Unreached,
                Some(_) | None => Responded::Unknown,
            }
        }
    };
    tracing::debug!(?responded, "said at an address");
    responded
}

/// Reads what is answered with status 200: by Slack "ok", or an error like that of a method; by a proxy, a page of its own.
fn told_by(body: &str) -> Responded {
    match serde_json::from_str::<Value>(body) {
        Ok(told) if told["ok"] == false => Responded::Refused,
        Err(_) if body.trim_start().starts_with('<') => Responded::Unknown,
        Ok(_) | Err(_) => Responded::Taken,
    }
}

#[async_trait]
impl Reply for EphemeralReply {
    fn limit(&self) -> TextLimit {
        EPHEMERAL_LIMIT
    }

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        let EphemeralTarget {
            channel, question, ..
        } = &self.whisper;
        let mut delivered = Vec::with_capacity(parts.len());
        for (number, part) in parts.iter().enumerate() {
            let is_last = number + 1 == parts.len();
            let sent = self.send(part, number, is_last).await;
            sent.map_err(|error| error.sentence(channel))?;
            delivered.push(ids::ephemeral(channel, question, number));
        }
        if self.whisper.is_command {
            // Slack lets nobody remove them, and whoever forgets what they show may not even see them.
            delivered.clear();
        }
        Ok(Delivered(delivered))
    }

    fn set_label_language(&mut self, language: Language) {
        self.language = language;
    }

    fn offer_items(&mut self, items: &[ShownItem]) {
        self.items = items.to_vec();
    }

    async fn largest_file(&mut self) -> Result<u64, NotHandedOver> {
        Ok(LARGEST_FILE)
    }

    async fn hand_over(&mut self, files: &[OwnFile]) -> Result<HandedOver, NotHandedOver> {
        let EphemeralTarget { channel, user, .. } = &self.whisper;
        handing::hand_over(&self.hub, user, channel, files).await
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::new(SlackWithdrawer(Arc::clone(&self.hub)))
    }

    fn vocabulary(&self) -> &'static PlatformVocabulary {
        &VOCABULARY
    }

    async fn download(
        &mut self,
        attachment: &Attachment,
        most: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        files::download(&self.hub, attachment, most).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_proxy_does_not_say_that_a_message_was_taken() {
        for (body, expected) in [
            ("ok", Responded::Taken),
            (r#"{"ok":true}"#, Responded::Taken),
            (r#"{"ok":false,"error":"used_url"}"#, Responded::Refused),
            ("<!DOCTYPE html><html>Sign in</html>", Responded::Unknown),
            ("\n<html></html>", Responded::Unknown),
        ] {
            assert_eq!(told_by(body), expected, "{body}");
        }
    }
}
