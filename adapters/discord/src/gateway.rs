//! The connection that events come by: serenity's shards, which keep it alive, resume it, and begin
//! a new session where they have to.
//!
//! serenity hands each event to a task of its own, and tasks may overtake each other. On a runtime
//! with one thread they run in the order in which they were begun, so the shards have a thread of
//! their own; that also keeps their heartbeats free of whatever else the program does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use muninn_platform::PlatformError;
use serenity::client::{ClientBuilder, Context, RawEventHandler};
use serenity::gateway::{ConnectionStage, GatewayError, ShardManager};
use serenity::http::Http;
use serenity::model::event::Event;
use serenity::model::gateway::GatewayIntents;
use serenity::model::id::ShardId;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::api::GatewayAt;
use crate::errors::{disconnected, logged_out};
use crate::event::{self, GatewayEvent};
use crate::options::Options;
use crate::probe::{Probe, disallowed_intents, unknown_intents};

/// Events on their way out of the gateway's thread. They are taken out as fast as they can be
/// sorted, so this is full only if the whole machine stands still; then what comes is lost, and the
/// log says so.
const WAITING: usize = 65_536;

/// How often it is looked whether all shards are connected.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// After so long without one more shard Discord is asked why, then after twice as long.
const UNCONNECTED: Duration = Duration::from_secs(8);
const LONGEST_PATIENCE: Duration = Duration::from_secs(600);

/// For the shards to say goodbye.
const GOODBYE: Duration = Duration::from_secs(8);

/// Something that happened, and the shard that told it.
pub(crate) type ShardEvent = (u32, GatewayEvent);

/// A gateway that runs.
pub(crate) struct Gateway {
    pub(crate) events: mpsc::Receiver<ShardEvent>,
    /// Why it ended by itself.
    pub(crate) ended: oneshot::Receiver<PlatformError>,
    stop: CancellationToken,
    thread: std::thread::JoinHandle<()>,
    /// Whoever drops it wants nothing of it any more, not even a goodbye.
    _abandon: DropGuard,
}

struct Tap {
    events: mpsc::Sender<ShardEvent>,
    lost: AtomicU64,
}

#[async_trait]
impl RawEventHandler for Tap {
    /// Never waits: the order is that of the tasks only as long as none of them does.
    async fn raw_event(&self, context: Context, event: Event) {
        let Some(happening) = event::read(event) else {
            return;
        };
        let shard = context.shard_id.get();
        if self.events.try_send((shard, happening)).is_err() {
            let lost = self.lost.fetch_add(1, Ordering::Relaxed) + 1;
            tracing::warn!(
                lost,
                "events are lost, because too many wait or the bot is ending"
            );
        }
    }
}

/// What the bot wants to be told, and no more.
fn intents(options: &Options) -> GatewayIntents {
    let least =
        GatewayIntents::GUILDS | GatewayIntents::GUILD_MESSAGES | GatewayIntents::DIRECT_MESSAGES;
    if options.reads_messages {
        least | GatewayIntents::MESSAGE_CONTENT
    } else {
        least
    }
}

impl Gateway {
    /// Connects in a thread of its own, to where Discord said that the gateway is.
    pub(crate) fn start(
        options: &Options,
        http: Http,
        at: GatewayAt,
    ) -> Result<Self, PlatformError> {
        let (sender, events) = mpsc::channel(WAITING);
        let (tell_end, ended) = oneshot::channel();
        let (stop, abandon) = (CancellationToken::new(), CancellationToken::new());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(disconnected)?;
        let tap = Tap {
            events: sender,
            lost: AtomicU64::new(0),
        };
        let probe = probe(options, at);
        let (stopped, abandoned) = (stop.clone(), abandon.clone());
        let thread = std::thread::Builder::new()
            .name("discord-gateway".to_owned())
            .spawn(move || {
                let running = run(http, probe, tap, stopped);
                let running = abandoned.run_until_cancelled(running);
                if let Some(Err(error)) = runtime.block_on(running) {
                    // Nobody wants to know while the program ends.
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

    /// Says goodbye and waits for it.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        let thread = self.thread;
        let joined = tokio::task::spawn_blocking(move || thread.join());
        // Its own time-out is shorter.
        let _ = tokio::time::timeout(GOODBYE * 2, joined).await;
    }
}

async fn run(
    http: Http,
    probe: Probe,
    tap: Tap,
    stop: CancellationToken,
) -> Result<(), PlatformError> {
    let intents = GatewayIntents::from_bits_truncate(probe.intents);
    let building = ClientBuilder::new_with_http(http, intents).raw_event_handler(tap);
    let mut client = building.await.map_err(disconnected)?;
    // What serenity falls back to where it could not ask is not what was answered before.
    *client.ws_url.lock().await = probe.url.clone();
    let manager = Arc::clone(&client.shard_manager);
    let shards = probe.shards;
    // serenity takes the end of the range for the last shard, unlike what a range says elsewhere.
    let running = client.start_shard_range(shards.first()..shards.last(), shards.total());
    tokio::select! {
        ended = running => match ended {
            Ok(()) => Err(disconnected("the gateway's connections were ended")),
            Err(error) => Err(said(error)),
        },
        refusal = is_refused(&manager, &probe) => {
            let _ = tokio::time::timeout(GOODBYE, manager.shutdown_all()).await;
            Err(refusal)
        }
        () = stop.cancelled() => {
            let _ = tokio::time::timeout(GOODBYE, manager.shutdown_all()).await;
            Ok(())
        }
    }
}

/// Returns when Discord will never let a shard in that is not connected.
async fn is_refused(manager: &ShardManager, probe: &Probe) -> PlatformError {
    let mut connected = 0;
    let mut patience = UNCONNECTED;
    let mut since = Instant::now();
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let (now, waiting) = {
            let runners = manager.runners.lock().await;
            let is_up = |shard: &u32| {
                let runner = runners.get(&ShardId(*shard));
                runner.is_some_and(|runner| runner.stage == ConnectionStage::Connected)
            };
            let mut all = probe.shards.numbers();
            let up = all.clone().filter(is_up).count();
            (up, all.find(|shard| !is_up(shard)))
        };
        // Shards are begun one after the other, so each that comes up is good news.
        if now > connected || waiting.is_none() {
            (since, patience) = (Instant::now(), UNCONNECTED);
        }
        connected = now;
        let Some(shard) = waiting.filter(|_| since.elapsed() >= patience) else {
            continue;
        };
        if let Some(refusal) = probe.refusal(shard).await {
            return refusal;
        }
        (since, patience) = (Instant::now(), (patience * 2).min(LONGEST_PATIENCE));
    }
}

/// How connections introduce themselves to the gateway.
pub(crate) fn probe(options: &Options, at: GatewayAt) -> Probe {
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
