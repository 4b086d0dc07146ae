//! A program that people write to: it posts their messages to the bot, and shows the bot's answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use chrono::Utc;
use muninn_webhook::sign;
use secrecy::SecretString;
use serde_json::Value;
use tokio::task::JoinHandle;

use super::{Post, ProcessAddress};
use crate::plan::AnswersFailure;

pub(crate) const SECRET: &str = "shared by desk and bot, long enough";

/// Maximum time until a message is accepted, whatever is killed meanwhile.
const ACCEPTANCE_TIMEOUT: Duration = Duration::from_secs(100);

#[derive(Debug, Default)]
struct Shown {
    /// The current messages, by id.
    posts: BTreeMap<String, Post>,
    /// All messages that ever existed.
    history: Vec<Post>,
    failure: Option<AnswersFailure>,
    malformed: Vec<String>,
    /// Questions that were accepted and not answered, by channel and id, and their maximum at a
    /// time.
    unanswered: BTreeSet<(String, String)>,
    most_unanswered: usize,
    /// Questions that were deleted: nobody answers them, even if they are sent again.
    deleted: BTreeSet<(String, String)>,
}

#[derive(Debug)]
pub(crate) struct WebhookDesk {
    http: reqwest::Client,
    shown: Arc<Mutex<Shown>>,
    address: String,
    /// Number of requests.
    requests: AtomicU64,
    serving: JoinHandle<()>,
}

impl WebhookDesk {
    pub(crate) async fn open() -> Self {
        let shown: Arc<Mutex<Shown>> = Arc::default();
        let router = Router::new()
            .route("/", post(answered))
            .with_state(Arc::clone(&shown));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let http = reqwest::Client::builder().timeout(Duration::from_secs(15));
        Self {
            http: http.build().unwrap(),
            shown,
            address,
            requests: AtomicU64::new(0),
            serving,
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap()
    }

    pub(crate) fn fails(&self, failure: Option<AnswersFailure>) {
        self.shown().failure = failure;
    }

    /// Returns the current messages in the channels.
    pub(crate) fn posts(&self) -> Vec<Post> {
        self.shown().posts.values().cloned().collect()
    }

    pub(crate) fn history(&self) -> Vec<Post> {
        self.shown().history.clone()
    }

    /// Returns the maximum number of questions that were accepted and unanswered at a time.
    pub(crate) fn most_unanswered(&self) -> usize {
        self.shown().most_unanswered
    }

    /// Returns invalid posts of the bot.
    pub(crate) fn malformed(&self) -> Vec<String> {
        self.shown().malformed.clone()
    }

    /// Posts a message until a process accepts it, trying the processes in turn.
    ///
    /// # Errors
    /// Fails with the bot's response, or after a time limit.
    pub(crate) async fn says(
        &self,
        doors: &[Arc<ProcessAddress>],
        first: usize,
        body: &Value,
    ) -> Result<(), String> {
        let mut doors = doors.iter().cycle().skip(first % doors.len());
        let posting = async {
            for attempt in 1_u32.. {
                let door = doors.next().expect("a process");
                // A signature is accepted once and contains the second, so a repetition needs
                // another text.
                let number = self.requests.fetch_add(1, Ordering::Relaxed);
                let blanks = format!("{number:b}").replace('0', " ").replace('1', "\t");
                let text = format!("{body}{blanks}");
                // A process learns of a clock jump a moment later.
                let ahead = door.clock_ahead.load(Ordering::SeqCst);
                let ahead = if attempt % 3 == 0 { 0 } else { ahead };
                let time = Utc::now().timestamp() + ahead;
                let signature = sign(&SecretString::from(SECRET), time, text.as_bytes());
                let posted = self
                    .http
                    .post(format!("http://{}/messages", door.address))
                    .header("muninn-signature", signature)
                    .body(text)
                    .send();
                match posted.await.map(|response| response.status()) {
                    Ok(StatusCode::ACCEPTED) => {
                        self.shown().accepted(body);
                        return Ok(());
                    }
                    Ok(StatusCode::SERVICE_UNAVAILABLE) | Err(_) => {}
                    // The clock may have jumped after the request was signed.
                    Ok(StatusCode::UNAUTHORIZED)
                        if ahead != 0
                            || attempt % 3 == 0
                            || door.clock_ahead.load(Ordering::SeqCst) != ahead => {}
                    Ok(other) => return Err(format!("{body} was answered with {other}")),
                }
                tokio::time::sleep(Duration::from_millis(25)).await;
            }
            unreachable!("it goes on until it is taken")
        };
        let posted = tokio::time::timeout(ACCEPTANCE_TIMEOUT, posting).await;
        posted.unwrap_or_else(|_| Err(format!("{body} was not accepted in {ACCEPTANCE_TIMEOUT:?}")))
    }
}

impl Shown {
    fn accepted(&mut self, body: &Value) {
        let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        let channel = text("channel");
        match body["type"].as_str() {
            None => {
                let mut history = self.history.iter();
                let id = text("id");
                let is_answered =
                    history.any(|post| post.channel == channel && post.question == id);
                let of = (channel, id);
                if !is_answered && !self.deleted.contains(&of) {
                    self.unanswered.insert(of);
                }
            }
            Some("deletion") => {
                let of = (channel, text("of"));
                self.unanswered.remove(&of);
                self.deleted.insert(of);
            }
            Some(_) => {}
        }
        self.most_unanswered = self.most_unanswered.max(self.unanswered.len());
    }
}

impl Drop for WebhookDesk {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answered(
    State(shown): State<Arc<Mutex<Shown>>>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let failure = shown.lock().unwrap().failure;
    if failure == Some(AnswersFailure::Refused) {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    if let Err(problem) = take(&mut shown.lock().unwrap(), &headers, &body) {
        shown.lock().unwrap().malformed.push(problem);
        return StatusCode::BAD_REQUEST;
    }
    match failure {
        Some(AnswersFailure::AcknowledgementLost) => StatusCode::BAD_GATEWAY,
        Some(AnswersFailure::AcknowledgementLate) => {
            tokio::time::sleep(Duration::from_millis(400)).await;
            StatusCode::NO_CONTENT
        }
        Some(AnswersFailure::Refused) | None => StatusCode::NO_CONTENT,
    }
}

/// Accepts what the bot posted, if it is signed as the guide says.
fn take(shown: &mut Shown, headers: &HeaderMap, body: &[u8]) -> Result<(), String> {
    let signature = headers.get("muninn-signature");
    let signature = signature.and_then(|value| value.to_str().ok());
    let signature = signature.ok_or("an answer is not signed")?;
    let time = signature.strip_prefix("t=");
    let time = time.and_then(|rest| rest.split_once(','));
    let time = time.and_then(|(time, _)| time.parse().ok());
    let signed = time.map(|time| sign(&SecretString::from(SECRET), time, body));
    if signed.as_deref() != Some(signature) {
        return Err(format!("an answer is signed wrongly: {signature}"));
    }
    let said: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let text = |key: &str| said[key].as_str().unwrap_or_default().to_owned();
    match said["action"].as_str() {
        Some("put") => {
            let post = Post {
                channel: text("channel"),
                question: text("question"),
                text: text("text"),
                grows_in: None,
            };
            let of = (post.channel.clone(), post.question.clone());
            shown.unanswered.remove(&of);
            shown.history.push(post.clone());
            shown.posts.insert(text("message"), post);
        }
        Some("delete") => drop(shown.posts.remove(&text("message"))),
        _ => return Err(format!("an answer is none: {said}")),
    }
    Ok(())
}
