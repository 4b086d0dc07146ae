//! The connections that deliver events: serenity's shards, which keep them alive, resume them, and
//! begin new sessions when necessary.
//!
//! serenity hands each event to a task of its own, and tasks may overtake each other. A
//! single-threaded runtime runs them in the order in which they were spawned, so the shards have
//! their own thread. That also keeps their heartbeats independent of the rest of the program.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use muninn_platform::PlatformError;
use parking_lot::Mutex;
use serenity::client::{ClientBuilder, Context, RawEventHandler};
use serenity::gateway::{ConnectionStage, GatewayError, ShardManager};
use serenity::http::Http;
use serenity::model::event::Event;
use serenity::model::gateway::GatewayIntents;
use serenity::model::id::{ShardId, UserId};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::errors::{disconnected, logged_out};
use crate::event::{self, GatewayEvent};
use crate::missing_fields::{UnreadableEvent, read_completed};
use crate::objects::GatewayAt;
use crate::options::DiscordOptions;
use crate::probe::{Probe, disallowed_intents, unknown_intents};

/// Capacity of the channel from the gateway's thread. Events are taken out as fast as they can be
/// sorted, so it only fills up if the whole machine stalls. Then new events are lost, and the log
/// says so.
const EVENT_CAPACITY: usize = 65_536;

/// How often to check whether all shards are connected.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Without another connected shard for this long, Discord is asked why; then after twice as long,
/// up to the maximum below.
const UNCONNECTED_TIMEOUT: Duration = Duration::from_secs(8);
const MAX_UNCONNECTED_TIMEOUT: Duration = Duration::from_secs(600);

/// How often to report that events of the same kind cannot be read.
const UNREADABLE_INTERVAL: Duration = Duration::from_secs(60);

/// Maximum time for the shards to close their connections.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(8);

/// An event, and the shard that delivered it.
pub(crate) type ShardEvent = (u32, GatewayEvent);

/// A running gateway.
pub(crate) struct Gateway {
    pub(crate) events: mpsc::Receiver<ShardEvent>,
    /// Why it ended by itself.
    pub(crate) ended: oneshot::Receiver<PlatformError>,
    stop: CancellationToken,
    thread: std::thread::JoinHandle<()>,
    /// Dropping it ends the gateway at once, without closing the connections.
    _abandon: DropGuard,
}

struct Tap {
    events: mpsc::Sender<ShardEvent>,
    lost: AtomicU64,
    /// The bot's account.
    me: UserId,
    /// When it was last reported that events of a kind cannot be read.
    unreadable: Mutex<HashMap<String, Instant>>,
    resumed: Arc<Resumed>,
}

/// Shards that resumed their session in a form that serenity does not read. For serenity they are
/// resuming until the end of the connection.
type Resumed = Mutex<HashSet<u32>>;

/// Whether Discord resumed a session without the object that serenity requires: the documentation
/// names no field of it.
fn is_bare_resumption(event: &Event) -> bool {
    matches!(event, Event::Unknown(raw) if raw.kind == "RESUMED")
}

impl Tap {
    /// Completes an event that serenity could not read. `None`: the bot does not use it, or it
    /// cannot be read at all.
    fn complete(&self, event: Event) -> Option<Event> {
        let raw = match event {
            Event::Unknown(raw) => raw,
            event => return Some(event),
        };
        match read_completed(raw) {
            Ok(completed) => completed,
            Err(unreadable) => {
                self.report(unreadable);
                None
            }
        }
    }

    fn report(&self, unreadable: UnreadableEvent) {
        let UnreadableEvent { kind, reason } = unreadable;
        let mut reported = self.unreadable.lock();
        let last = reported.get(&kind);
        if last.is_some_and(|last| last.elapsed() < UNREADABLE_INTERVAL) {
            return;
        }
        tracing::warn!(
            %kind,
            %reason,
            "an event of Discord cannot be read, and is lost"
        );
        reported.insert(kind, Instant::now());
    }
}

#[async_trait]
impl RawEventHandler for Tap {
    /// Never waits: the tasks stay in order only as long as none of them does.
    async fn raw_event(&self, context: Context, event: Event) {
        let shard = context.shard_id.get();
        if is_bare_resumption(&event) {
            self.resumed.lock().insert(shard);
        }
        let event = self.complete(event);
        let Some(happening) = event.and_then(|event| event::read(event, self.me)) else {
            return;
        };
        if self.events.try_send((shard, happening)).is_err() {
            let lost = self.lost.fetch_add(1, Ordering::Relaxed) + 1;
            tracing::warn!(
                lost,
                "events are lost, because too many wait or the bot is ending"
            );
        }
    }
}

/// Returns the intents that the bot needs.
fn intents(options: &DiscordOptions) -> GatewayIntents {
    let least =
        GatewayIntents::GUILDS | GatewayIntents::GUILD_MESSAGES | GatewayIntents::DIRECT_MESSAGES;
    if options.reads_messages {
        least | GatewayIntents::MESSAGE_CONTENT
    } else {
        least
    }
}

impl Gateway {
    /// Connects in a thread of its own, to the gateway URL that Discord gave.
    pub(crate) fn start(
        options: &DiscordOptions,
        http: Http,
        at: GatewayAt,
        me: UserId,
    ) -> Result<Self, PlatformError> {
        let (sender, events) = mpsc::channel(EVENT_CAPACITY);
        let (tell_end, ended) = oneshot::channel();
        let (stop, abandon) = (CancellationToken::new(), CancellationToken::new());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(disconnected)?;
        let tap = Tap {
            events: sender,
            lost: AtomicU64::new(0),
            me,
            unreadable: Mutex::default(),
            resumed: Arc::default(),
        };
        let probe = probe(options, at);
        let (stopped, abandoned) = (stop.clone(), abandon.clone());
        let thread = std::thread::Builder::new()
            .name("discord-gateway".to_owned())
            .spawn(move || {
                let running = run(http, probe, tap, stopped);
                let running = abandoned.run_until_cancelled(running);
                if let Some(Err(error)) = runtime.block_on(running) {
                    // Nobody listens while the program ends.
                    let _ = tell_end.send(error);
                }
            })
            .map_err(disconnected)?;
        Ok(Self {
            events,
            ended,
            stop,
            thread,
            _abandon: abandon.drop_guard(),
        })
    }

    /// Closes the connections and waits for that.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        let thread = self.thread;
        let joined = tokio::task::spawn_blocking(move || thread.join());
        // The shutdown has a shorter time-out of its own.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT * 2, joined).await;
    }
}

async fn run(
    http: Http,
    probe: Probe,
    tap: Tap,
    stop: CancellationToken,
) -> Result<(), PlatformError> {
    let intents = GatewayIntents::from_bits_truncate(probe.intents);
    let resumed = Arc::clone(&tap.resumed);
    let building = ClientBuilder::new_with_http(http, intents).raw_event_handler(tap);
    let mut client = building.await.map_err(disconnected)?;
    // serenity's fallback URL may differ from the one that Discord gave.
    *client.ws_url.lock().await = probe.url.clone();
    let manager = Arc::clone(&client.shard_manager);
    let shards = probe.shards;
    // Unlike Rust's ranges, serenity's includes the end.
    let running = client.start_shard_range(shards.first()..shards.last(), shards.total());
    tokio::select! {
        ended = running => match ended {
            Ok(()) => Err(disconnected("the gateway's connections were ended")),
            Err(error) => Err(said(error)),
        },
        refusal = wait_for_refusal(&manager, &probe, &resumed) => {
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, manager.shutdown_all()).await;
            Err(refusal)
        }
        () = stop.cancelled() => {
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, manager.shutdown_all()).await;
            Ok(())
        }
    }
}

/// Returns when Discord will never accept a shard that is not connected.
async fn wait_for_refusal(
    manager: &ShardManager,
    probe: &Probe,
    resumed: &Resumed,
) -> PlatformError {
    let mut connected = 0;
    let mut patience = UNCONNECTED_TIMEOUT;
    let mut since = Instant::now();
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let (now, waiting) = {
            let runners = manager.runners.lock().await;
            let is_up = |shard: &u32| {
                let runner = runners.get(&ShardId(*shard));
                runner.is_some_and(|runner| is_connected(runner.stage, *shard, resumed))
            };
            let mut all = probe.shards.numbers();
            let up = all.clone().filter(is_up).count();
            (up, all.find(|shard| !is_up(shard)))
        };
        // Shards start one after the other, so each connection counts as progress.
        if now > connected || waiting.is_none() {
            (since, patience) = (Instant::now(), UNCONNECTED_TIMEOUT);
        }
        connected = now;
        let Some(shard) = waiting.filter(|_| since.elapsed() >= patience) else {
            continue;
        };
        if let Some(refusal) = probe.refusal(shard).await {
            return refusal;
        }
        (since, patience) = (Instant::now(), (patience * 2).min(MAX_UNCONNECTED_TIMEOUT));
    }
}

/// Whether a shard is connected, by its stage for serenity.
fn is_connected(stage: ConnectionStage, shard: u32, resumed: &Resumed) -> bool {
    match stage {
        ConnectionStage::Connected => true,
        ConnectionStage::Resuming => resumed.lock().contains(&shard),
        // A new connection: what was resumed before says nothing about it.
        _ => {
            resumed.lock().remove(&shard);
            false
        }
    }
}

/// Describes how connections identify themselves to the gateway.
pub(crate) fn probe(options: &DiscordOptions, at: GatewayAt) -> Probe {
    Probe {
        url: at.url,
        token: options.token.clone(),
        intents: intents(options).bits(),
        shards: options.shards.of(at.shards),
        recommended: at.shards,
    }
}

fn said(error: serenity::Error) -> PlatformError {
    match error {
        serenity::Error::Gateway(GatewayError::DisallowedGatewayIntents) => disallowed_intents(),
        serenity::Error::Gateway(GatewayError::InvalidGatewayIntents) => unknown_intents(),
        serenity::Error::Gateway(GatewayError::InvalidAuthentication) => logged_out(),
        other => disconnected(crate::errors::Failure::from(other)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    #[test]
    fn a_shard_that_resumed_without_any_field_is_connected_until_its_next_connection() {
        for (told, is_bare) in [(Value::Null, true), (json!({ "_trace": [] }), false)] {
            let event: Event = from_value(json!({ "t": "RESUMED", "d": told })).unwrap();
            assert_eq!(is_bare_resumption(&event), is_bare, "{told}");
        }
        let resumed = Resumed::default();
        let is_up = |stage| is_connected(stage, 3, &resumed);
        assert!(is_up(ConnectionStage::Connected) && !is_up(ConnectionStage::Resuming));
        resumed.lock().insert(3);
        assert!(is_up(ConnectionStage::Resuming));
        assert!(!is_connected(ConnectionStage::Resuming, 4, &resumed));
        assert!(!is_up(ConnectionStage::Connecting) && !is_up(ConnectionStage::Resuming));
    }
}
