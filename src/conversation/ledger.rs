//! Keeps accepted messages that are not answered yet, so that a bot that was killed can continue.
//!
//! It is a file of lines, written by one thread that syncs once for everything that arrived while it
//! wrote. As soon as nobody waits for an answer any more, the line is overwritten with blanks, so
//! that nothing stays readable here. Whatever is left when the file is opened goes back to its
//! platform, which delivers it again. Secrets are removed before a line is written.

mod book;
mod entry;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;

use muninn_platform::{AudienceId, ConversationId, EventId, IncomingMessage, KeptMessage};
use tokio::sync::oneshot;
use uuid::Uuid;

use private_files::folder_name;
use private_files::line_log::Slots;

use self::book::Book;
pub(crate) use self::entry::message_without_secrets;
use self::entry::{LedgerEntry, Order};

/// Base name of the files.
const NAME: &str = "accepted";

/// The ledger could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the ledger of accepted messages in {} cannot be used", path.display())]
pub struct LedgerError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// Keeps accepted messages until they are answered.
#[derive(Debug)]
pub struct Ledger {
    /// `None` if this bot keeps nothing, because whoever asks is there to ask again.
    writer: Option<LedgerWriter>,
    /// The messages that earlier processes left.
    left_over: Vec<IncomingMessage>,
    /// Those of them that were not delivered to this process again yet.
    untold: Mutex<HashMap<EventId, (AudienceId, ConversationId)>>,
    /// The same after a restart, and different from that of every other living process.
    holder: String,
}

/// The handle of the thread that writes.
#[derive(Debug)]
struct LedgerWriter {
    orders: Option<mpsc::Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl LedgerWriter {
    fn send(&self, order: Order) -> bool {
        self.orders
            .as_ref()
            .is_some_and(|orders| orders.send(order).is_ok())
    }
}

impl Drop for LedgerWriter {
    /// Waits until all orders are written, at most one write, so that a clean shutdown leaves nothing
    /// over.
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // The thread ends by itself only.
            let _ = thread.join();
        }
    }
}

impl Ledger {
    /// A ledger that keeps nothing.
    pub fn disabled() -> Self {
        Self {
            writer: None,
            left_over: Vec::new(),
            untold: Mutex::default(),
            holder: Uuid::new_v4().to_string(),
        }
    }

    /// Opens a ledger in the folder that no other process uses, and takes over what is left in all
    /// unused ones. What was accepted again by `MOST_TAKES` processes is given up.
    ///
    /// # Errors
    /// Fails when a file cannot be read or written.
    pub fn open(folder: &Path) -> Result<Self, LedgerError> {
        let unusable = |source| LedgerError {
            path: folder.to_owned(),
            source,
        };
        let slots = Slots::take(folder, NAME).map_err(unusable)?;
        let name = folder_name(folder).map_err(unusable)?;
        let holder = format!("{name}/{}", slots.own.number);
        let (sender, orders) = mpsc::channel();
        let (mut book, left_over) = Book::open(slots).map_err(unusable)?;
        let thread = std::thread::Builder::new()
            .name("ledger".to_owned())
            .spawn(move || book.keep(&orders))
            .map_err(unusable)?;
        Ok(Self {
            writer: Some(LedgerWriter {
                orders: Some(sender),
                thread: Some(thread),
            }),
            untold: Mutex::new(left_over.iter().map(placed).collect()),
            left_over,
            holder,
        })
    }

    /// The name under which this process claims events. The next process with this ledger may
    /// continue what it claimed, since this process is gone then.
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// Whether it keeps anything.
    pub fn is_enabled(&self) -> bool {
        self.writer.is_some()
    }

    /// The messages that earlier processes accepted and did not answer, in order. They are returned
    /// once.
    pub fn take_left_over(&mut self) -> Vec<IncomingMessage> {
        std::mem::take(&mut self.left_over)
    }

    /// Whether an earlier process accepted the message, and it was not delivered to this one yet.
    pub fn is_left_over(&self, event: &EventId) -> bool {
        self.untold().contains_key(event)
    }

    /// Registers messages that a dead process accepted.
    pub fn add_left_over(&self, messages: &[IncomingMessage]) {
        self.untold().extend(messages.iter().map(placed));
    }

    /// The left-over messages of an audience.
    pub fn left_over_in(&self, audience: &AudienceId) -> Vec<KeptMessage> {
        let untold = self.untold();
        let here = untold.iter().filter(|(_, (of, _))| of == audience);
        let kept = here.map(|(event, (_, conversation))| KeptMessage {
            event: event.clone(),
            conversation: conversation.clone(),
        });
        kept.collect()
    }

    fn untold(&self) -> MutexGuard<'_, HashMap<EventId, (AudienceId, ConversationId)>> {
        self.untold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when the message would survive the process. If the ledger cannot be written, that is
    /// logged, and the message is answered all the same.
    pub async fn accept(&self, message: &IncomingMessage) {
        self.untold().remove(&message.event);
        let Some(writer) = &self.writer else { return };
        let (written, is_written) = oneshot::channel();
        let order = Order {
            line: LedgerEntry::Accepted(Box::new(message_without_secrets(message).into())),
            written: Some(written),
        };
        if writer.send(order) {
            // Whether it was written is logged elsewhere.
            let _ = is_written.await;
        }
    }

    /// Erases the message of an event that needs nothing more. Does not wait for it: a message that
    /// is answered again after a crash is recognised by its event.
    pub fn mark_done(&self, event: &EventId) {
        self.untold().remove(event);
        let Some(writer) = &self.writer else { return };
        writer.send(Order {
            line: LedgerEntry::Done(event.clone()),
            written: None,
        });
    }
}

/// The event and the place of a message, to find what is left over.
fn placed(message: &IncomingMessage) -> (EventId, (AudienceId, ConversationId)) {
    let place = (message.audience.id.clone(), message.conversation.clone());
    (message.event.clone(), place)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use chrono::{TimeDelta, Utc};
    use muninn_platform::{Body, Command};

    use crate::graph::pending::MOST_TAKES;

    use super::book::{REWRITE_THRESHOLD_BYTES, UNCLAIMED_RETENTION};
    use super::*;
    use crate::testing::message;

    #[tokio::test]
    async fn what_was_not_answered_is_left_over_in_its_order() {
        let folder = tempfile::tempdir().unwrap();
        let messages: Vec<IncomingMessage> = (0..4).map(|n| message(&format!("e{n}"))).collect();
        let mut ledger = Ledger::open(folder.path()).unwrap();
        assert_eq!(ledger.take_left_over(), []);
        for message in &messages {
            ledger.accept(message).await;
        }
        ledger.mark_done(&messages[1].event);
        // Accepting waits for earlier writes.
        ledger.accept(&messages[3]).await;
        // The messages that another living process works on are not left over.
        let mut beside = Ledger::open(folder.path()).unwrap();
        assert_ne!(ledger.holder(), beside.holder());
        let holder = ledger.holder().to_owned();
        assert_eq!(beside.take_left_over(), []);
        let aside = message("aside");
        beside.accept(&aside).await;
        drop((ledger, beside));
        let mut later = Ledger::open(folder.path()).unwrap();
        assert_eq!(later.holder(), holder);
        let left: Vec<EventId> = later
            .take_left_over()
            .into_iter()
            .map(|it| it.event)
            .collect();
        assert_eq!(left, ["e0", "e2", "e3", "aside"].map(EventId::new));
        assert_eq!(later.take_left_over(), []);
        // They are not lost with the process that took them over either.
        drop(later);
        assert_eq!(
            Ledger::open(folder.path()).unwrap().take_left_over().len(),
            4
        );
    }

    #[tokio::test]
    async fn a_message_that_kills_every_process_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let deadly = message("deadly");
        Ledger::open(folder.path()).unwrap().accept(&deadly).await;
        assert!(!file(folder.path()).contains("takes"));
        for take in 1..=MOST_TAKES {
            let mut ledger = Ledger::open(folder.path()).unwrap();
            assert_eq!(ledger.take_left_over().len(), 1, "{take}");
            // Its platform delivers it again, twice, and the turn ends the process.
            ledger.accept(&deadly).await;
            ledger.accept(&deadly).await;
            assert!(file(folder.path()).contains(&format!("\"takes\":{take}")));
        }
        assert_eq!(Ledger::open(folder.path()).unwrap().take_left_over(), []);
        assert_eq!(file(folder.path()), "");
    }

    #[tokio::test]
    async fn starts_that_end_before_anything_is_accepted_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let waiting = message("waiting");
        Ledger::open(folder.path()).unwrap().accept(&waiting).await;
        for start in 0..=2 * MOST_TAKES {
            let mut ledger = Ledger::open(folder.path()).unwrap();
            assert_eq!(ledger.take_left_over().len(), 1, "{start}");
        }
        assert!(!file(folder.path()).contains("takes"));
    }

    fn file(folder: &Path) -> String {
        std::fs::read_to_string(folder.join("accepted-0.jsonl")).unwrap()
    }

    #[tokio::test]
    async fn what_is_done_is_erased_and_the_file_stays_short() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(folder.path()).unwrap();
        ledger.accept(&message("kept")).await;
        let mut long = message("long");
        long.body = Body::Text("What nobody waits for. ".repeat(10_000));
        for _ in 0..8 {
            ledger.accept(&long).await;
            ledger.mark_done(&long.event);
            // Accepting waits for earlier orders.
            ledger.accept(&message("kept")).await;
            assert!(!file(folder.path()).contains("nobody"));
        }
        assert!(file(folder.path()).len() < 2 * usize::try_from(REWRITE_THRESHOLD_BYTES).unwrap());
        drop(ledger);
        let mut ledger = Ledger::open(folder.path()).unwrap();
        let left = ledger.take_left_over();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].event, EventId::new("kept"));
        ledger.mark_done(&EventId::new("kept"));
        drop(ledger);
        assert_eq!(file(folder.path()), "");
    }

    #[tokio::test]
    async fn secrets_are_never_written() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(folder.path()).unwrap();
        let secret = "glpat-abcdefghij0123456789";
        let said = |event: &str, body| IncomingMessage {
            body,
            ..message(event)
        };
        let text = format!("my token is {secret} ok");
        let of = EventId::new("text");
        ledger.accept(&said("text", Body::Text(text.clone()))).await;
        ledger
            .accept(&said(
                "edit",
                Body::Edit {
                    of,
                    text: text.clone(),
                },
            ))
            .await;
        let command = Body::Command(Command::Unknown(text));
        ledger.accept(&said("command", command)).await;
        let written = file(folder.path());
        assert!(!written.contains(secret), "{written}");
        assert_eq!(written.matches("my token is").count(), 3, "{written}");
    }

    #[tokio::test]
    async fn what_is_too_old_or_unreadable_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(folder.path()).unwrap();
        let mut old = message("old");
        old.sent_at = Utc::now() - UNCLAIMED_RETENTION - TimeDelta::minutes(1);
        ledger.accept(&old).await;
        ledger.accept(&message("new")).await;
        drop(ledger);
        let path = folder.path().join("accepted-0.jsonl");
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap();
        file.write_all(b"{\"Accepted\":").unwrap();
        let left = Ledger::open(folder.path()).unwrap().take_left_over();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].event, EventId::new("new"));
    }
}
