//! A terminal whose bot is in another process: sends what is typed, and shows what comes back.
//!
//! Both ends refer to turns by number; the caller transports the two enums.

use std::collections::HashMap;
use std::path::PathBuf;

use async_trait::async_trait;
use muninn_platform::{
    Arrivals, Body, Delivered, HandedOver, Inbox, Incoming, NotHandedOver, OwnFile, Pace,
    PlatformError, PlatformVocabulary, Reply, SafeText, TextLimit,
};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::Session;
use crate::folder::{self, LARGEST_FILE};
use crate::name::{NAME, VOCABULARY};
use crate::screen::PACE;
use crate::script::DRAIN;

/// Maximum turns in flight per terminal: a person asks one after the other, and may have abandoned
/// a few.
const MOST_TURNS: usize = 16;

/// A message from the terminal to the bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Typed {
    /// A turn, with its number.
    Turn {
        number: u64,
        body: Body,
        /// The folder for handed-over files: both ends run on one machine, under one account.
        folder: Option<PathBuf>,
    },
    /// Ctrl-C: stop the turn in flight.
    Stop,
}

/// A message from the bot to the terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemoteEvent {
    Working {
        number: u64,
    },
    /// The answer so far.
    Update {
        number: u64,
        text: String,
    },
    /// The whole answer.
    Finished {
        number: u64,
        parts: Vec<String>,
    },
    /// There will be no answer.
    GivenUp {
        number: u64,
    },
    /// The bot is ending and accepts nothing more.
    Ending,
}

/// The terminal's end: acts as the bot for the local adapter, until the terminal or the bot ends.
pub async fn ask_remotely(
    mut arrivals: Arrivals,
    typed: mpsc::Sender<Typed>,
    mut told: mpsc::Receiver<RemoteEvent>,
) {
    let mut replies = HashMap::new();
    pass_on(&mut arrivals, &typed, &mut told, &mut replies).await;
    // Closed before the replies are dropped: the terminal tells the bot's end from a turn without
    // an answer by it.
    drop(arrivals);
}

async fn pass_on(
    arrivals: &mut Arrivals,
    typed: &mpsc::Sender<Typed>,
    told: &mut mpsc::Receiver<RemoteEvent>,
    replies: &mut HashMap<u64, Box<dyn Reply>>,
) {
    let mut number = 0;
    loop {
        let typing = tokio::select! {
            arrival = arrivals.recv() => match arrival {
                Some(arrival) => match arrival.accept() {
                    Incoming::Message { message, reply } => {
                        number += 1;
                        replies.insert(number, reply);
                        let folder = folder::current_folder();
                        Typed::Turn { number, body: message.body, folder }
                    }
                    Incoming::Stop(_) => Typed::Stop,
                    // A terminal sends none of these.
                    Incoming::Overheard(_)
                    | Incoming::Connected { .. }
                    | Incoming::GivenUp(_)
                    | Incoming::Feedback { .. }
                    | Incoming::Conversations { .. }
                    | Incoming::Kept { .. }
                    | Incoming::Sessions { .. } => continue,
                },
                None => return,
            },
            said = told.recv() => match said {
                Some(RemoteEvent::Ending) | None => return,
                Some(said) => {
                    show(said, replies).await;
                    continue;
                }
            },
        };
        if typed.send(typing).await.is_err() {
            return;
        }
    }
}

async fn show(said: RemoteEvent, replies: &mut HashMap<u64, Box<dyn Reply>>) {
    match said {
        RemoteEvent::Working { number } => {
            if let Some(reply) = replies.get_mut(&number) {
                reply.show_typing().await;
            }
        }
        RemoteEvent::Update { number, text } => {
            if let Some(reply) = replies.get_mut(&number) {
                reply.update(&SafeText::new(&text)).await;
            }
        }
        RemoteEvent::Finished { number, parts } => {
            if let Some(mut reply) = replies.remove(&number) {
                let parts: Vec<SafeText> = parts.iter().map(|part| SafeText::new(part)).collect();
                if let Err(error) = reply.finish(&parts).await {
                    tracing::warn!(%error, "an answer could not be shown");
                }
            }
        }
        RemoteEvent::GivenUp { number } => drop(replies.remove(&number)),
        RemoteEvent::Ending => {}
    }
}

/// The bot's end: delivers the terminal's input to the bot, until the terminal or the bot ends.
pub async fn serve_remote(
    session: &Session,
    inbox: &Inbox,
    mut typed: mpsc::Receiver<Typed>,
    told: mpsc::Sender<RemoteEvent>,
    shutdown: &CancellationToken,
) {
    let mut turns = JoinSet::new();
    loop {
        let typing = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            typing = typed.recv() => typing,
            Some(_) = turns.join_next() => continue,
        };
        let Some(typing) = typing else {
            // Nobody reads the answer in flight.
            let stop = Incoming::Stop(session.conversation().clone());
            if !turns.is_empty() {
                // A bot that is ending stops by itself.
                let _ = inbox.deliver(stop).await;
            }
            return;
        };
        match typing {
            Typed::Turn { number, .. } if turns.len() >= MOST_TURNS => {
                // A terminal that is gone does not need it.
                let _ = told.send(RemoteEvent::GivenUp { number }).await;
            }
            Typed::Turn {
                number,
                body,
                folder,
            } => {
                let (done, ended) = oneshot::channel();
                let reply = RemoteReply {
                    number,
                    folder,
                    told: told.clone(),
                    done: Some(done),
                };
                let incoming = Incoming::Message {
                    message: session.message(body),
                    reply: Box::new(reply),
                };
                if inbox.deliver(incoming).await.is_err() {
                    break;
                }
                turns.spawn(async move {
                    // The reply is dropped at the latest when the bot gives the turn up.
                    let _ = ended.await;
                });
            }
            Typed::Stop => {
                let stop = Incoming::Stop(session.conversation().clone());
                // A bot that is ending stops by itself.
                let _ = inbox.deliver(stop).await;
            }
        }
    }
    let drained = async { while turns.join_next().await.is_some() {} };
    // Turns in flight are completed, within a time limit.
    let _ = tokio::time::timeout(DRAIN, drained).await;
    let _ = told.send(RemoteEvent::Ending).await;
}

/// A reply that is shown in another process.
struct RemoteReply {
    number: u64,
    folder: Option<PathBuf>,
    told: mpsc::Sender<RemoteEvent>,
    /// Used or dropped when the answer is out.
    done: Option<oneshot::Sender<()>>,
}

#[async_trait]
impl Reply for RemoteReply {
    fn limit(&self) -> TextLimit {
        TextLimit::Unlimited
    }

    fn pace(&self) -> Pace {
        PACE
    }

    async fn show_typing(&mut self) {
        let number = self.number;
        // A busy terminal sees the next one.
        let _ = self.told.try_send(RemoteEvent::Working { number });
    }

    async fn update(&mut self, so_far: &SafeText) {
        let (number, text) = (self.number, so_far.as_str().to_owned());
        // As above; `finish` sends all of it.
        let _ = self.told.try_send(RemoteEvent::Update { number, text });
    }

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        let number = self.number;
        let parts = parts.iter().map(|part| part.as_str().to_owned()).collect();
        let sent = self
            .told
            .send(RemoteEvent::Finished { number, parts })
            .await;
        if let Some(done) = self.done.take() {
            // The terminal may have gone meanwhile.
            let _ = done.send(());
        }
        let gone = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        sent.map_err(|_| PlatformError::disconnected(NAME, gone()))?;
        Ok(Delivered::default())
    }

    async fn largest_file(&mut self) -> Result<u64, NotHandedOver> {
        Ok(LARGEST_FILE)
    }

    async fn hand_over(&mut self, files: &[OwnFile]) -> Result<HandedOver, NotHandedOver> {
        folder::put(self.folder.as_deref(), files).await
    }

    fn vocabulary(&self) -> &'static PlatformVocabulary {
        &VOCABULARY
    }
}

impl Drop for RemoteReply {
    fn drop(&mut self) {
        if self.done.is_some() {
            let number = self.number;
            // A terminal that does not read does not wait either.
            let _ = self.told.try_send(RemoteEvent::GivenUp { number });
        }
    }
}
