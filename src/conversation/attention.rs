//! Which messages of a conversation are for the bot: what people set there, and what the rules hear.
//!
//! The rules themselves are [`muninn_platform::hear`]; this gives them what was said before. The bot's turns are read from
//! the graph, so they hold after a restart; what people said to each other is held in memory only, for a few hours.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use dashmap::DashMap;
use muninn_platform::{
    Attention, AudienceId, ConversationId, EventId, Hearing, IncomingMessage, Speaker, Toward,
    Utterance, hear,
};
use tokio::time::Instant;

use crate::graph::attention::KeptAttention;
use crate::graph::{GraphStore, Turn};
use crate::memory::Archive;

/// Utterances of people that are held of a conversation.
const MOST_HELD: usize = 12;
/// After so long they are dropped.
const HELD_FOR: TimeDelta = TimeDelta::hours(6);
/// Conversations of which any are held.
const MOST_CONVERSATIONS: usize = 10_000;
/// Turns of the bot that the rules look at.
const TURNS: usize = 8;
/// How long what people set is believed where other processes may change it.
const BELIEVED_FOR: Duration = Duration::from_secs(5);

/// What the bot hears in its conversations.
#[derive(Debug)]
pub struct Listening {
    /// By which names it is called.
    names: Vec<String>,
    overheard: DashMap<ConversationId, Vec<Overheard>>,
    set: DashMap<(ConversationId, AudienceId), (Instant, KeptAttention)>,
    /// How often somebody set anything.
    changes: AtomicU64,
}

/// What somebody said that was not answered.
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

    /// Which messages are answered, as people set it there. Where the graph does not say, what it said last.
    pub async fn attention(
        &self,
        store: &GraphStore,
        session: &ConversationId,
        audience: &AudienceId,
    ) -> Attention {
        let key = (session.clone(), audience.clone());
        let known = self.set.get(&key).map(|it| *it.value());
        if let Some((at, kept)) = known
            && (!store.is_shared() || at.elapsed() < BELIEVED_FOR)
        {
            return kept.attention();
        }
        let changes = self.changes.load(Ordering::SeqCst);
        match store.attention(session, audience).await {
            Ok(kept) => {
                self.set.insert(key.clone(), (Instant::now(), kept));
                // What was set while it was read may not be in it.
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

    /// Reads what people set anew the next time.
    pub fn outdate(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.set.clear();
    }

    /// Says to whom a message is said that does not mention the bot.
    pub async fn hear(&self, archive: &Archive, message: &IncomingMessage, text: &str) -> Hearing {
        let said = utterance(message, text);
        let turns = archive.window(message, TURNS).await;
        let turns = turns.unwrap_or_else(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "what was answered before cannot be read");
            archive.remembered_window(&message.conversation)
        });
        let held = self.overheard.get(&message.conversation);
        let held: Vec<Overheard> = held.map_or_else(Vec::new, |held| held.clone());
        // Of what is held and kept, what is held says more.
        let is_held = |turn: &&Turn| held.iter().any(|it| it.event.as_str() == turn.event);
        let turns = turns.iter().filter(|turn| !is_held(turn));
        let mut before: Vec<Utterance> = turns.flat_map(of_turn).collect();
        before.extend(held.iter().map(|it| it.utterance.clone()));
        // Of the same moment, a question stands before its answer.
        before.sort_by_key(|it| it.at);
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        hear(&said, &before, &names)
    }

    /// Holds what was not answered, for what is said next.
    pub fn hold(&self, message: &IncomingMessage, text: &str) {
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

    /// Lets go of what was taken back.
    pub fn let_go(&self, event: &EventId) {
        for mut held in self.overheard.iter_mut() {
            held.retain(|it| it.event != *event);
        }
    }

    /// Lets go of all that somebody said.
    pub fn forget_person(&self, author: &str) {
        let is_theirs =
            |it: &Overheard| matches!(&it.utterance.by, Speaker::Person { id, .. } if id == author);
        for mut held in self.overheard.iter_mut() {
            held.retain(|it| !is_theirs(it));
        }
    }

    /// Lets go of all that was said in a conversation.
    pub fn forget(&self, session: &ConversationId) {
        self.overheard.remove(session);
    }

    /// Drops what is old.
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

/// What was asked and what was answered, or what was said to others.
fn of_turn(turn: &Turn) -> Vec<Utterance> {
    let said = |by, text: &str, at: DateTime<Utc>| Utterance {
        by,
        text: text.to_owned(),
        toward: Toward::default(),
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
