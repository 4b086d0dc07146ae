//! The handle of the server for a test: starts it, controls it, and checks it at the end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::fault::FaultBuilder;
use crate::gateway::GatewayFrame;
use crate::limits::Limits;
use crate::places::Guild;
use crate::server::{ServerHandle, SharedWorld, listen, router};
use crate::world::{DiscordApplication, Excuse, GatewayCounts, RefusedRequest, User, World};
use crate::{Id, TIMEOUT, TOKEN};

/// The initial settings of the server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The heartbeat interval of clients.
    pub heartbeat: Duration,
    /// The privileged intents that the bot's owner has enabled.
    pub privileged: u64,
    pub limits: Limits,
    /// Maximum time of a client to acknowledge an interaction; Discord gives 3 seconds.
    pub acknowledge_within: Duration,
    /// The recommended number of shards.
    pub shards: u64,
    /// Whether attachments are at Discord's own host (`https://cdn.discordapp.com`), so that a
    /// client has to resolve that name too; otherwise they are at [`Discord::url`].
    pub files_at_discord: bool,
    /// The bot's name.
    pub name: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            // Discord's own value.
            heartbeat: Duration::from_millis(41_250),
            privileged: crate::MESSAGE_CONTENT,
            limits: Limits::Generous,
            acknowledge_within: Duration::from_secs(3),
            shards: 1,
            files_at_discord: false,
            name: "Muninn".to_owned(),
        }
    }
}

/// See the crate.
#[derive(Debug)]
pub struct Discord {
    shared: Arc<SharedWorld>,
    bot: Id,
    plain: ServerHandle,
    secure: ServerHandle,
    authority: String,
    checked: bool,
}

impl Discord {
    /// # Panics
    /// Panics when there is no free port on loopback.
    pub async fn start() -> Self {
        Self::start_with(Settings::default()).await
    }

    /// # Panics
    /// As [`Self::start`].
    pub async fn start_with(settings: Settings) -> Self {
        let bind = || TcpListener::bind("127.0.0.1:0");
        let (plain, secure) = (bind().await.expect("a port"), bind().await.expect("a port"));
        let address = plain.local_addr().expect("a bound socket has an address");
        let files = if settings.files_at_discord {
            "https://cdn.discordapp.com".to_owned()
        } else {
            format!("http://{address}")
        };
        let mut world = World::new(
            &files,
            &format!("ws://{address}/gateway-socket"),
            settings.heartbeat,
        );
        world.buckets.limits = settings.limits;
        world.acknowledge_within = settings.acknowledge_within;
        let bot = world.new_app(&settings.name, TOKEN, settings.privileged, settings.shards);
        let shared = Arc::new(SharedWorld::new(world));
        let authority = crate::tls::authority();
        Self {
            plain: listen(plain, router(Arc::clone(&shared)), None),
            secure: listen(secure, router(Arc::clone(&shared)), Some(authority.config)),
            authority: authority.pem,
            shared,
            bot,
            checked: false,
        }
    }

    /// Returns the URL of the REST API without TLS, as `http://127.0.0.1:port`; paths begin with
    /// `/api/v10`.
    pub fn url(&self) -> String {
        format!("http://{}", self.plain.address)
    }

    /// Returns the address of everything with TLS, under Discord's own names.
    pub fn tls_address(&self) -> SocketAddr {
        self.secure.address
    }

    /// Returns the certificate authority, in PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns the gateway's URL, as clients get it.
    pub fn gateway_url(&self) -> String {
        self.shared.look(|world| world.gateway_url.clone())
    }

    /// Returns the id of the bot's account and application, which is the same.
    pub fn bot(&self) -> Id {
        self.bot
    }

    pub fn token(&self) -> &'static str {
        TOKEN
    }

    /// Creates another application, which is in no server, and returns its id and token.
    pub fn another_bot(&self, name: &str) -> (Id, String) {
        let token = format!("{TOKEN}-of-{name}");
        let privileged = crate::MESSAGE_CONTENT;
        let id = self
            .shared
            .with(|world| world.new_app(name, &token, privileged, 1));
        (id, token)
    }

    /// Creates a server with the bot in it.
    pub fn guild(&self, name: &str) -> Guild {
        Guild::new(&self.shared, self.bot, name)
    }

    /// Creates a server that the bot is not in yet.
    pub fn guild_without_bot(&self, name: &str) -> Guild {
        Guild::without_bot(&self.shared, self.bot, name)
    }

    /// Creates many servers with many channels each, all with the bot.
    pub fn many_guilds(&self, guilds: usize, channels: usize) -> Vec<Guild> {
        let made = (0..guilds).map(|number| self.guild(&format!("guild {number}")));
        made.inspect(|guild| guild.many_channels(channels))
            .collect()
    }

    /// Advances the server's clock: interactions age, rate limits end.
    pub fn lets_pass(&self, time: Duration) {
        self.shared.with(|world| world.clock.put_forward(time));
    }

    /// Delivers every message and interaction this many additional times from now on.
    pub fn repeats_events(&self, times: usize) {
        self.shared.with(|world| world.repeats = times);
    }

    /// Leaves out of all further events what Discord documents as optional, added lately, or does
    /// not print in its own examples.
    pub fn leaves_fields_out(&self) {
        self.shared.with(|world| world.leaves_fields_out = true);
    }

    /// Sets what happens to the next request with this method (`*` for any) and route, such as
    /// `/channels/{channel_id}/messages`; `*` for any, `/attachments` for files.
    #[track_caller]
    pub fn next(&self, method: &str, route: &str) -> FaultBuilder<'_> {
        FaultBuilder {
            shared: &self.shared,
            method: method.to_owned(),
            route: route.to_owned(),
            place: std::panic::Location::caller().to_string(),
            times: 1,
        }
    }

    /// Cuts every gateway connection.
    pub fn drops_connections(&self) {
        self.to_all(|| GatewayFrame::Cut);
    }

    /// Refuses new gateway connections, or accepts them again.
    pub fn gateway_is_down(&self, is_down: bool) {
        self.shared.with(|world| world.gateway_is_down = is_down);
    }

    /// Refuses every identify and resume: the connection is closed with this code.
    pub fn refuses_sessions(&self, code: u16) {
        self.shared.with(|world| world.refuses_with = Some(code));
    }

    /// Asks every client to connect anew (opcode 7).
    pub fn asks_to_reconnect(&self) {
        self.to_all(|| {
            GatewayFrame::payload(&serde_json::json!({ "op": 7, "t": null, "s": null, "d": null }))
        });
    }

    /// Tells every client that its session is no longer valid (opcode 9), for good or not.
    pub fn invalidates_sessions(&self, resumable: bool) {
        self.to_all(|| {
            GatewayFrame::payload(
                &serde_json::json!({ "op": 9, "t": null, "s": null, "d": resumable }),
            )
        });
        if !resumable {
            self.forgets_sessions();
        }
    }

    /// Makes earlier sessions unresumable.
    pub fn forgets_sessions(&self) {
        self.shared.with(|world| world.sessions.clear());
    }

    /// Asks every client for a heartbeat (opcode 1).
    pub fn asks_for_heartbeat(&self) {
        self.to_all(|| {
            GatewayFrame::payload(&serde_json::json!({ "op": 1, "t": null, "s": null, "d": null }))
        });
    }

    fn to_all(&self, frame: impl Fn() -> GatewayFrame) {
        self.shared.with(|world| {
            for session in &world.sessions {
                session.send(frame());
            }
        });
    }

    /// Waits until a command of this name is registered, globally or in a server.
    ///
    /// # Panics
    /// Panics when it is not in time.
    pub async fn registered(&self, name: &str) {
        let is_there = |world: &World| {
            let mut all = world.commands.values().flatten();
            all.any(|command| command["name"] == name).then_some(())
        };
        self.until(&format!("the command {name}"), is_there).await;
    }

    /// Returns the registered commands as Discord does: global ones, or a server's.
    pub fn commands(&self, guild: Option<Id>) -> Vec<serde_json::Value> {
        self.shared.look(|world| {
            world
                .commands
                .get(&(self.bot, guild))
                .cloned()
                .unwrap_or_default()
        })
    }

    pub fn counts(&self) -> GatewayCounts {
        self.shared.look(|world| world.counts)
    }

    /// Waits until the gateway's counts are as wanted.
    ///
    /// # Panics
    /// Panics when they are not in time.
    pub async fn counted(
        &self,
        what: &str,
        fits: impl Fn(&GatewayCounts) -> bool,
    ) -> GatewayCounts {
        self.until(what, |world| fits(&world.counts).then_some(world.counts))
            .await
    }

    /// Waits until this many sessions are connected.
    ///
    /// # Panics
    /// Panics when they are not in time.
    pub async fn connected(&self, sessions: usize) {
        let connected = |world: &World| {
            let linked = world
                .sessions
                .iter()
                .filter(|session| session.link.is_some())
                .count();
            (linked == sessions).then_some(())
        };
        self.until(&format!("{sessions} connected sessions"), connected)
            .await;
    }

    /// Returns the shard of each session: its number, and the total.
    pub fn shards(&self) -> Vec<(u64, u64)> {
        self.shared
            .look(|world| world.sessions.iter().map(|session| session.shard).collect())
    }

    /// Returns the intents of each session, as Discord's bits.
    pub fn intents(&self) -> Vec<u64> {
        let intents = |world: &World| {
            world
                .sessions
                .iter()
                .map(|session| session.intents)
                .collect()
        };
        self.shared.look(intents)
    }

    /// Returns every request so far: method and route.
    pub fn requests(&self) -> Vec<(String, &'static str)> {
        self.shared.look(|world| world.requests.clone())
    }

    /// Returns every refusal so far.
    pub fn refusals(&self) -> Vec<RefusedRequest> {
        self.shared.look(|world| world.refusals.clone())
    }

    /// Returns the number of 401, 403 and 429 responses; Discord blocks an address after 10,000 in
    /// ten minutes.
    pub fn invalid_requests(&self) -> usize {
        self.shared.look(|world| world.buckets.invalid)
    }

    /// Returns the time until acknowledgement of each acknowledged interaction.
    pub fn acknowledged_after(&self) -> Vec<Duration> {
        self.shared.look(|world| {
            let all = world.interactions.values();
            all.filter_map(|known| Some(known.acknowledged? - known.born))
                .collect()
        })
    }

    /// Returns the violations so far that were not excused.
    pub fn violations(&self) -> Vec<String> {
        self.shared.look(|world| {
            let mut violations = world.violations.clone();
            violations.extend(world.unacknowledged());
            violations
        })
    }

    /// Returns and forgives the violations. Requested failures that did not happen are forgiven
    /// too.
    pub fn take_violations(&self) -> Vec<String> {
        self.shared.with(|world| {
            world.faults.clear();
            let mut violations = std::mem::take(&mut world.violations);
            violations.extend(world.unacknowledged());
            violations
        })
    }

    /// Excuses a violation that contains `part`. It has to occur.
    pub fn excuses(&self, part: &str) {
        let excuse = Excuse {
            part: part.to_owned(),
            used: false,
        };
        self.shared.with(|world| world.excuses.push(excuse));
    }

    /// Waits for something in the server's state.
    async fn until<T>(&self, what: &str, find: impl Fn(&World) -> Option<T>) -> T {
        crate::view::until(&self.shared, TIMEOUT, find)
            .await
            .unwrap_or_else(|| panic!("{what} did not come about"))
    }

    /// Fails the test if a rule was broken or an expected event did not occur.
    ///
    /// # Panics
    /// Panics with everything that was wrong.
    #[track_caller]
    pub fn finish(mut self) {
        self.check();
    }

    #[track_caller]
    fn check(&mut self) {
        self.checked = true;
        let faults = self.shared.with(|world| {
            for late in world.unacknowledged() {
                world.blame(late);
            }
            let mut faults = world.violations.clone();
            let unused = world.faults.iter().filter(|fault| fault.left > 0);
            faults.extend(unused.map(|fault| {
                format!(
                    "nothing asked for {} {} as expected at {}",
                    fault.method, fault.route, fault.place
                )
            }));
            let unused = world.excuses.iter().filter(|excuse| !excuse.used);
            faults.extend(
                unused.map(|excuse| format!("nothing had to be excused for {:?}", excuse.part)),
            );
            faults
        });
        assert!(faults.is_empty(), "Discord:\n{}", faults.join("\n"));
    }
}

impl Drop for Discord {
    fn drop(&mut self) {
        if !self.checked && !std::thread::panicking() {
            self.check();
        }
    }
}

impl World {
    fn new_app(&mut self, name: &str, token: &str, privileged: u64, shards: u64) -> Id {
        let owner = self.new_user("owner", false);
        let id = self.new_user(name, true);
        let app = DiscordApplication {
            id,
            token: token.to_owned(),
            privileged,
            owner,
            shards,
        };
        self.apps.insert(id, app);
        id
    }

    pub(crate) fn new_user(&mut self, name: &str, is_bot: bool) -> Id {
        let id = self.new_id();
        let user = User {
            id,
            name: name.to_owned(),
            is_bot,
            is_closed: false,
            locale: "en-US".to_owned(),
        };
        self.users.insert(id, user);
        id
    }
}
