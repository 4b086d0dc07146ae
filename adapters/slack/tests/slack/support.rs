//! A workspace with the echo bot in it.

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use loopback_slack::{
    APP_TOKEN, Addresses, BOT_TOKEN, Chat, Message, SIGNING_SECRET, Slack, SlackApp, SlackChannel,
    SlackPerson,
};
use muninn_platform::testing::{EchoBot, EchoLog, EchoMemory, free_address};
use muninn_slack::{EventDelivery, Mode, SlackOptions, manifest};

/// How events arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventTransport {
    Socket,
    Http,
}

/// A workspace, and the bot that is installed in it, which can run any number of times.
pub(crate) struct SlackInstallation {
    pub(crate) slack: Arc<Slack>,
    pub(crate) options: SlackOptions,
    pub(crate) memory: EchoMemory,
}

/// Returns the app as our own manifest describes it.
pub(crate) fn app() -> SlackApp {
    SlackApp::from_manifest(&manifest(&Mode::Socket, "Muninn", "/muninn"))
}

impl SlackInstallation {
    pub(crate) async fn new(app: SlackApp) -> Self {
        Self::by(EventTransport::Socket, app).await
    }

    pub(crate) async fn by(way: EventTransport, mut app: SlackApp) -> Self {
        // As in `main`.
        let _ = rustls::crypto::ring::default_provider().install_default();
        app.socket_mode = way == EventTransport::Socket;
        let slack = Arc::new(Slack::with(app).await);
        let entrance = match way {
            EventTransport::Socket => EventDelivery::Socket {
                app_token: APP_TOKEN.into(),
            },
            EventTransport::Http => {
                let address = free_address();
                let at = |path: &str| format!("http://{address}/slack/{path}");
                slack.tell_over_http(Addresses {
                    events: at("events"),
                    interactions: at("interactions"),
                    commands: at("commands"),
                });
                EventDelivery::Http {
                    signing_secret: SIGNING_SECRET.into(),
                    address,
                }
            }
        };
        let mut options = SlackOptions::new(BOT_TOKEN.into(), entrance);
        options.allow = "*".parse().unwrap();
        options.api_url = slack.api_url();
        options.post_every = Duration::from_millis(1);
        options.read_every = Duration::from_millis(1);
        Self {
            slack,
            options,
            memory: EchoMemory::default(),
        }
    }

    /// Starts the bot, and waits until it listens.
    pub(crate) async fn start(&self) -> EchoBot {
        self.start_with(|_| {}).await
    }

    /// Starts it with changed options.
    pub(crate) async fn start_with(&self, set: impl FnOnce(&mut SlackOptions)) -> EchoBot {
        let times = self.slack.calls_of("apps.connections.open").len();
        let bot = self.begin_with(set);
        match self.options.entrance {
            EventDelivery::Socket { .. } => self.slack.connected(times + 1).await,
            EventDelivery::Http { address, .. } => listens(address).await,
        }
        bot
    }

    pub(crate) fn begin_with(&self, set: impl FnOnce(&mut SlackOptions)) -> EchoBot {
        let mut options = self.options.clone();
        set(&mut options);
        EchoBot::start(muninn_slack::Slack::new(options), &self.memory)
    }
}

pub(crate) async fn listens(address: SocketAddr) {
    let looked = async {
        while tokio::net::TcpStream::connect(address).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let in_time = tokio::time::timeout(loopback_slack::TIMEOUT, looked).await;
    assert!(in_time.is_ok(), "nobody listens at {address}");
}

/// A workspace with a listening bot, a channel, and a person in it.
pub(crate) struct SlackFixture {
    pub(crate) home: SlackInstallation,
    pub(crate) slack: Arc<Slack>,
    pub(crate) bot: EchoBot,
    pub(crate) channel: SlackChannel,
    pub(crate) ann: SlackPerson,
    pub(crate) general: Chat,
}

/// Dereferences to the person's chat in the channel.
impl Deref for SlackFixture {
    type Target = Chat;

    fn deref(&self) -> &Chat {
        &self.general
    }
}

/// Runs a chat; fails if a rule of Slack's was broken, or an answer was lost.
pub(crate) fn run(chat: impl AsyncFnOnce(&mut SlackFixture)) {
    run_as(EventTransport::Socket, app(), chat);
}

/// Like [`run`], with this app.
pub(crate) fn run_as(
    way: EventTransport,
    app: SlackApp,
    chat: impl AsyncFnOnce(&mut SlackFixture),
) {
    play(
        way,
        app,
        |_| {},
        async |mut scene| {
            chat(&mut scene).await;
            scene.ends_well().await;
        },
    );
}

/// Like [`run`], with changed options.
pub(crate) fn run_set(
    set: impl FnOnce(&mut SlackOptions),
    chat: impl AsyncFnOnce(&mut SlackFixture),
) {
    play(EventTransport::Socket, app(), set, async |mut scene| {
        chat(&mut scene).await;
        scene.ends_well().await;
    });
}

/// Runs a chat in which rules are broken, or answers cannot be delivered.
pub(crate) fn run_badly(app: SlackApp, chat: impl AsyncFnOnce(SlackFixture)) {
    play(EventTransport::Socket, app, |_| {}, chat);
}

fn play(
    way: EventTransport,
    app: SlackApp,
    set: impl FnOnce(&mut SlackOptions),
    chat: impl AsyncFnOnce(SlackFixture),
) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let home = SlackInstallation::by(way, app).await;
        let bot = home.start_with(set).await;
        let channel = home.slack.channel("general");
        let ann = home.slack.person("Ann");
        let general = ann.in_channel(&channel);
        chat(SlackFixture {
            slack: Arc::clone(&home.slack),
            home,
            bot,
            channel,
            ann,
            general,
        })
        .await;
    });
}

impl SlackFixture {
    /// Asks something in the channel; returns the thread.
    pub(crate) fn thread(&self, question: &str) -> Chat {
        self.in_thread(&self.ask(question))
    }

    /// Checks that the bot answers, in direct messages.
    pub(crate) async fn still_answers(&self) {
        let direct = self.ann.with_bot();
        direct.echoes("well").await;
    }

    /// Stops the bot as a signal does, and starts it again.
    pub(crate) async fn restart(&mut self) {
        self.bot.ends().await;
        self.starts_again().await;
    }

    pub(crate) async fn starts_again(&mut self) {
        self.bot = self.home.start().await;
    }

    /// Waits until the bot has handled everything it received.
    pub(crate) async fn rests(&self) {
        let all = |log: &EchoLog| (log.answered == log.messages.len()).then_some(());
        self.bot.gets("rest", all).await;
    }

    async fn ends_well(self) {
        assert_eq!(self.bot.log().errors, Vec::<String>::new());
        self.slack.all_told().await;
        // When it is finally dropped, the workspace checks for violations.
        self.bot.stop().await;
    }
}

/// Talks to the echo bot.
pub(crate) trait Echoes {
    /// Sends a message, and waits for the echo.
    async fn echoes(&self, text: &str) -> Message;
}

impl Echoes for Chat {
    async fn echoes(&self, text: &str) -> Message {
        self.say(text);
        self.hears(&format!("echo: {text}")).await
    }
}
