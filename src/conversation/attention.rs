//! Decides which messages of a conversation are for the bot, from what people set there and from the hearing rules.
//!
//! The rules themselves are in [`muninn_platform::classify_hearing`]; this module supplies the earlier messages that they look at. The
//! bot's turns are read from the graph, so they survive a restart. What people said to one another is held in memory only,
//! for a few hours.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use dashmap::DashMap;
use muninn_platform::{
    Addressees, Attention, AudienceId, ConversationId, EventId, Hearing, IncomingMessage, Speaker,
    Utterance, classify_hearing,
};
use tokio::time::Instant;

use crate::graph::attention::KeptAttention;
use crate::graph::{GraphStore, Turn};
use crate::memory::Archive;

/// Maximum number of overheard messages held per conversation.
const MOST_HELD: usize = 12;
/// Overheard messages are dropped after this time.
const HELD_FOR: TimeDelta = TimeDelta::hours(6);
/// Maximum number of conversations with overheard messages.
const MOST_CONVERSATIONS: usize = 10_000;
/// Number of the bot's turns that the rules look at.
const TURNS: usize = 8;
/// How long a setting is cached where other processes may change it.
const SETTING_CACHE_LIFETIME: Duration = Duration::from_secs(5);

/// What the bot overhears in its conversations, and the attention that people set there.
#[derive(Debug)]
pub struct Listening {
    /// The names by which people address the bot.
    names: Vec<String>,
    overheard: DashMap<ConversationId, Vec<Overheard>>,
    set: DashMap<(ConversationId, AudienceId), (Instant, KeptAttention)>,
    /// Number of changes so far. A read that overlaps with a change is not cached.
    changes: AtomicU64,
}

/// A message that was not answered.
#[derive(Clone, Debug)]
struct Overheard {
    event: EventId,
    utterance: Utterance,
}

impl Listening {
    pub fn new(name: &str) -> Self {
        Self {
            names: vec![name.to_owned()],
            overheard: DashMap::new(),
            set: DashMap::new(),
            changes: AtomicU64::new(0),
        }
    }

    /// Which messages are answered here, as people set it. Returns the last known setting when the graph cannot be read.
    pub async fn attention(
        &self,
        store: &GraphStore,
        session: &ConversationId,
        audience: &AudienceId,
    ) -> Attention {
        let key = (session.clone(), audience.clone());
        let known = self.set.get(&key).map(|it| *it.value());
        if let Some((at, kept)) = known
            && (!store.is_shared() || at.elapsed() < SETTING_CACHE_LIFETIME)
        {
            return kept.attention();
        }
        let changes = self.changes.load(Ordering::SeqCst);
        match store.attention(session, audience).await {
            Ok(kept) => {
                self.set.insert(key.clone(), (Instant::now(), kept));
                // A change during the read may be missing from its result.
                if self.changes.load(Ordering::SeqCst) != changes {
                    self.set.remove(&key);
                }
                kept.attention()
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(error, %session, "what is answered there cannot be read");
                known.map_or_else(Attention::default, |(_, kept)| kept.attention())
            }
        }
    }

    /// Drops the cached settings, so that they are read again.
    pub fn invalidate_cache(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.set.clear();
    }

    /// Decides to whom a message that does not mention the bot is addressed.
    pub async fn decide_hearing(
        &self,
        archive: &Archive,
        message: &IncomingMessage,
        text: &str,
    ) -> Hearing {
        let said = utterance(message, text);
        let turns = archive.window(message, TURNS).await;
        let turns = turns.unwrap_or_else(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "what was answered before cannot be read");
            archive.remembered_window(&message.conversation)
        });
        let held = self.overheard.get(&message.conversation);
        let held: Vec<Overheard> = held.map_or_else(Vec::new, |held| held.clone());
        // An utterance that is both held and kept is taken from those held, which have more detail.
        let is_held = |turn: &&Turn| held.iter().any(|it| it.event.as_str() == turn.event);
        let turns = turns.iter().filter(|turn| !is_held(turn));
        let mut before: Vec<Utterance> = turns.flat_map(of_turn).collect();
        before.extend(held.iter().map(|it| it.utterance.clone()));
        // The sort is stable: a question stays before its answer of the same moment.
        before.sort_by_key(|it| it.at);
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        classify_hearing(&said, &before, &names)
    }

    /// Holds a message that was not answered, as context for the messages after it.
    pub fn hold_as_context(&self, message: &IncomingMessage, text: &str) {
        if self.overheard.len() >= MOST_CONVERSATIONS
            && !self.overheard.contains_key(&message.conversation)
        {
            return;
        }
        let mut held = self
            .overheard
            .entry(message.conversation.clone())
            .or_default();
        held.retain(|it| it.event != message.event);
        held.push(Overheard {
            event: message.event.clone(),
            utterance: utterance(message, text),
        });
        let surplus = held.len().saturating_sub(MOST_HELD);
        held.drain(..surplus);
    }

    /// Drops a held message that was deleted.
    pub fn drop_held(&self, event: &EventId) {
        for mut held in self.overheard.iter_mut() {
            held.retain(|it| it.event != *event);
        }
    }

    /// Drops everything held of one author.
    pub fn forget_person(&self, author: &str) {
        let is_theirs =
            |it: &Overheard| matches!(&it.utterance.by, Speaker::Person { id, .. } if id == author);
        for mut held in self.overheard.iter_mut() {
            held.retain(|it| !is_theirs(it));
        }
    }

    /// Drops everything held of a conversation.
    pub fn forget(&self, session: &ConversationId) {
        self.overheard.remove(session);
    }

    /// Drops what has expired.
    pub fn sweep(&self) {
        let now = Utc::now();
        self.overheard.retain(|_, held| {
            held.retain(|it| now - it.utterance.at < HELD_FOR);
            !held.is_empty()
        });
        self.set
            .retain(|_, (at, _)| at.elapsed() < Duration::from_secs(3600));
    }
}

fn utterance(message: &IncomingMessage, text: &str) -> Utterance {
    Utterance {
        by: Speaker::Person {
            id: message.author.id.clone(),
            name: message.author.name.clone(),
        },
        text: text.to_owned(),
        toward: message.toward,
        at: message.sent_at,
    }
}

/// The question and the answer of a turn, or a heard message alone.
fn of_turn(turn: &Turn) -> Vec<Utterance> {
    let said = |by, text: &str, at: DateTime<Utc>| Utterance {
        by,
        text: text.to_owned(),
        toward: Addressees::default(),
        at,
    };
    let asker = Speaker::Person {
        id: turn.author.clone(),
        name: turn.author_name.clone(),
    };
    let mut all = vec![said(asker, &turn.input, turn.created_at)];
    if turn.is_answered() {
        all.push(said(Speaker::Bot, &turn.output, turn.created_at));
    }
    all
}
