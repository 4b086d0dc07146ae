//! Runs the adapter from its start to its end.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use muninn_platform::{
    Inbox, InboxClosed, KeyedQueue, PlatformError, StartError, connect_at_start, end_tasks,
    misconfigured,
};
use serenity::model::id::{ChannelId, GuildId};
use tokio_util::sync::CancellationToken;

use crate::announce::DiscordAnnouncer;
use crate::api::{self, DiscordApi};
use crate::commands;
use crate::directory::{Change, DiscordChannelKind};
use crate::errors::{Failure, FailureKind, disconnected, logged_out};
use crate::event::GatewayEvent;
use crate::gateway::Gateway;
use crate::history::DiscordHistory;
use crate::hub::DiscordHub;
use crate::inbound::DiscordEventHandler;
use crate::membership::DiscordMembership;
use crate::missed::MissedReader;
use crate::name::NAME;
use crate::objects::{CurrentApplication, GatewayAt};
use crate::options::DiscordOptions;
use crate::outbox::{DiscordOutbox, in_time};
use crate::withdraw::DiscordWithdrawer;

/// Maximum number of events in all queues. The gateway cannot be slowed down, so further ones are
/// lost, and the log says so.
const MOST_WAITING: usize = 16_384;

/// Maximum time after the end for started work: queued events, withdrawals.
const LAST_CHORES: Duration = Duration::from_secs(30);

pub(crate) async fn run(
    options: &DiscordOptions,
    inbox: Inbox,
    shutdown: &CancellationToken,
) -> Result<(), PlatformError> {
    options.allow.warn();
    let introduced = tokio::select! {
        introduced = introduce(options) => introduced?,
        () = shutdown.cancelled() => return Ok(()),
    };
    let StartupFacts { hub, gateway_at } = introduced;
    let hub = Arc::new(hub);
    let http = api::http(options)?;
    let mut gateway = Gateway::start(options, http, gateway_at, hub.me)?;
    let inbound = DiscordEventHandler {
        hub: Arc::clone(&hub),
        inbox,
    };
    let queue = KeyedQueue::new(MOST_WAITING);
    let running = EventLoop {
        missed: MissedReader::new(&inbound, &queue, shutdown),
        inbound,
        queue,
    };
    let history = DiscordHistory::of(&running.inbound);
    options.histories.add(NAME, &history);
    let membership = DiscordMembership::of(&running.inbound.hub);
    options.memberships.add(NAME, &membership);
    let ended = running.take_all(&mut gateway, shutdown).await;
    // What comes from here on is not taken.
    let until = Utc::now();
    gateway.stop().await;
    drop((history, membership));
    running.end(until).await;
    ended
}

/// Facts that are needed before events arrive.
struct StartupFacts {
    hub: DiscordHub,
    gateway_at: GatewayAt,
}

/// Asks who the bot is, waits while Discord cannot be reached, and registers the bot's commands if
/// they have changed.
async fn introduce(options: &DiscordOptions) -> Result<StartupFacts, PlatformError> {
    let api = DiscordApi::new(options)?;
    let (me, gateway_at) = connect_at_start(NAME, || who_am_i(&api)).await?;
    let CurrentApplication { id: me, username } = me;
    let outbox = DiscordOutbox::default();
    let registered = outbox
        .retry(|| commands::register(&api, options.guild))
        .await;
    match registered {
        Ok(true) => tracing::info!("the commands were registered"),
        Ok(false) => tracing::debug!("the commands are registered already"),
        Err(failure) if failure.kind == FailureKind::LoggedOut => return Err(logged_out()),
        // Mentions and messages are answered without commands.
        Err(failure) => {
            tracing::warn!(%failure, "the commands could not be registered; was the bot invited with the scope applications.commands?")
        }
    }
    let shards = options.shards.of(gateway_at.shards);
    tracing::info!(name = %username, %me, %shards, "is let in by Discord");
    Ok(StartupFacts {
        hub: DiscordHub::new(api, me, options.clone(), shards),
        gateway_at,
    })
}

/// Asks who the bot is, and for its gateway.
async fn who_am_i(api: &DiscordApi) -> Result<(CurrentApplication, GatewayAt), StartError> {
    let me = in_time(api.me()).await.map_err(at_start)?;
    in_time(api.application()).await.map_err(at_start)?;
    let gateway_at = in_time(api.gateway()).await.map_err(at_start)?;
    Ok((me, gateway_at))
}

fn at_start(failure: Failure) -> StartError {
    let reason = failure.request_failure();
    let error = match failure.kind {
        FailureKind::LoggedOut => logged_out(),
        FailureKind::Limited | FailureKind::Away => disconnected(failure),
        FailureKind::Refused(_) => {
            misconfigured(format!("Discord refuses to introduce the bot: {failure}"))
        }
    };
    StartError::new(reason, error)
}

/// The processing of one event.
type EventFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

struct EventLoop {
    inbound: DiscordEventHandler,
    queue: Arc<KeyedQueue<ChannelId>>,
    missed: MissedReader,
}

impl EventLoop {
    async fn take_all(
        &self,
        gateway: &mut Gateway,
        shutdown: &CancellationToken,
    ) -> Result<(), PlatformError> {
        let mut is_first = true;
        loop {
            let happening = tokio::select! {
                biased;
                () = shutdown.cancelled() => return Ok(()),
                happening = gateway.events.recv() => happening,
                Ok(error) = &mut gateway.ended => return Err(error),
            };
            match happening {
                Some((shard, GatewayEvent::Ready(guilds))) if is_first => {
                    is_first = false;
                    self.begin_session(shard, &guilds);
                    self.take_left_over(shutdown);
                    self.tell_connected();
                }
                Some((shard, happening)) => self.take(shard, happening),
                None => {
                    let error = (&mut gateway.ended).await;
                    return Err(error.unwrap_or_else(|_| disconnected("the gateway is gone")));
                }
            }
        }
    }

    fn begin_session(&self, shard: u32, guilds: &[GuildId]) {
        let hub = &self.inbound.hub;
        hub.servers.record(hub.me, guilds.iter().copied());
        self.missed.begin_session(shard, guilds);
    }

    /// Withdraws what an earlier process could not.
    fn tell_connected(&self) {
        let DiscordEventHandler { hub, inbox } = &self.inbound;
        let withdrawer = Arc::new(DiscordWithdrawer(Arc::clone(hub)));
        let announcer = Arc::new(DiscordAnnouncer(Arc::clone(hub)));
        inbox.tell_connected_in(&hub.chores, NAME, withdrawer, announcer);
    }

    /// Forgets what was said there, including the private threads that were deleted with it.
    fn take_gone(&self, shard: u32, guild: GuildId, channel: Option<ChannelId>) {
        let hub = &self.inbound.hub;
        let gone: Vec<Option<ChannelId>> = match channel {
            Some(channel) => {
                let is_meant = DiscordChannelKind::is_thread;
                let threads = hub.directory.threads_of(guild, channel, is_meant);
                threads.into_iter().chain([channel]).map(Some).collect()
            }
            None => vec![None],
        };
        let change = match channel {
            Some(channel) => Change::ChannelGone(guild, channel),
            None => Change::GuildGone(guild),
        };
        hub.directory.apply(change, hub.me);
        hub.record_gone(guild, &gone);
        if channel.is_none() {
            self.missed.gone(shard, guild);
        }
        let inbound = self.inbound.clone();
        hub.chores.spawn(async move {
            for channel in gone {
                note(inbound.deliver_gone(guild, channel).await);
            }
        });
    }

    fn take_left_over(&self, shutdown: &CancellationToken) {
        let (inbound, shutdown) = (self.inbound.clone(), shutdown.clone());
        self.inbound.hub.chores.spawn(async move {
            let inbox = &inbound.inbox;
            note(inbox.deliver_left_over(NAME, &inbound).await);
            let looked = inbound.look_for_gone();
            let followed = inbox.follow_left_over(NAME, &inbound);
            let followed = shutdown.run_until_cancelled(followed);
            let (looked, followed) = tokio::join!(looked, followed);
            note(looked);
            if let Some(closed) = followed {
                note(Err(closed));
            }
        });
    }

    fn take_change(&self, shard: u32, change: Change) {
        let hub = &self.inbound.hub;
        let told = match &change {
            Change::Guild(guild, channels) => {
                hub.record_return(guild.id);
                hub.servers.record(hub.me, [guild.id]);
                for channel in channels {
                    hub.unopened.remove(channel.id);
                }
                Some((guild.id, channels.clone()))
            }
            // People may open a thread where the bot could not.
            Change::Channel(channel) => {
                hub.unopened.remove(channel.id);
                None
            }
            Change::GuildGone(_)
            | Change::Owner(..)
            | Change::ChannelGone(..)
            | Change::Role(..)
            | Change::RoleGone(..)
            | Change::Roles(..) => None,
        };
        hub.directory.apply(change, hub.me);
        // Missed messages are read after the channels are known.
        if let Some((guild, channels)) = told {
            self.missed.read_missed_in_guild(shard, guild, &channels);
        }
    }

    /// Sorts an event into the queues; never waits.
    fn take(&self, shard: u32, happening: GatewayEvent) {
        match &happening {
            // There may be a gap between the events of the last session and of this one.
            GatewayEvent::Ready(_) => {}
            GatewayEvent::Said(said) => {
                self.missed.record_message_time(said.id);
                self.missed.record_event(shard);
            }
            GatewayEvent::Changed(_)
            | GatewayEvent::Gone(..)
            | GatewayEvent::Edited { .. }
            | GatewayEvent::Deleted { .. }
            | GatewayEvent::Asked(_) => self.missed.record_event(shard),
        }
        let (inbound, hub) = (self.inbound.clone(), &self.inbound.hub);
        let queued =
            |channel, job: EventFuture| (channel, self.queue.spawn(channel, &hub.chores, job));
        let (channel, queued) = match happening {
            GatewayEvent::Ready(guilds) => return self.begin_session(shard, &guilds),
            GatewayEvent::Changed(change) => return self.take_change(shard, change),
            GatewayEvent::Gone(guild, channel) => return self.take_gone(shard, guild, channel),
            GatewayEvent::Asked(asked) => return inbound.accept_interaction(*asked, &self.queue),
            // Most messages of bots are the bot's own.
            GatewayEvent::Said(said) if said.author.is_bot => return,
            GatewayEvent::Said(said) => queued(
                said.channel,
                Box::pin(async move { note(inbound.deliver_message(said).await) }),
            ),
            GatewayEvent::Edited { now, at } => queued(
                now.channel,
                Box::pin(async move { note(inbound.deliver_edit(now, at).await) }),
            ),
            GatewayEvent::Deleted {
                guild,
                channel,
                messages,
            } => {
                let deleted =
                    async move { inbound.deliver_deletions(guild, channel, messages).await };
                queued(channel, Box::pin(async move { note(deleted.await) }))
            }
        };
        if queued.is_none() {
            tracing::warn!(%channel, "too much waits: something that was said is lost");
        }
    }

    /// Waits for what was begun. `until`: when the last event was taken.
    async fn end(&self, until: DateTime<Utc>) {
        if end_tasks(&self.inbound.hub.chores, LAST_CHORES).await {
            self.missed.record_shutdown(until);
        } else {
            tracing::warn!("not everything that was begun could be finished");
        }
    }
}

fn note(taken: Result<(), InboxClosed>) {
    if let Err(error) = taken {
        tracing::debug!(%error, "something came too late");
    }
}
