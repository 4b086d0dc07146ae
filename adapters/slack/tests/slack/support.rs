//! A workspace with the echoing bot in it.

use std::net::SocketAddr;
use std::time::Duration;

use loopback_slack::{
    APP_TOKEN, Addresses, App, BOT_TOKEN, Channel, Chat, Person, SIGNING_SECRET, Slack,
};
use muninn_platform::testing::{EchoBot, EchoLog, EchoMemory};
use muninn_slack::{Entrance, Mode, Options, manifest};

/// How events come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Socket,
    Http,
}

/// A workspace, and the bot that is installed in it. It can be run any number of times.
pub(crate) struct Home {
    pub(crate) slack: Slack,
    pub(crate) options: Options,
    pub(crate) memory: EchoMemory,
}

/// The app as our own manifest describes it.
pub(crate) fn app() -> App {
    App::from_manifest(&manifest(&Mode::Socket, "Muninn", "/muninn"))
}

impl Home {
    pub(crate) async fn new(app: App) -> Self {
        Self::by(Way::Socket, app).await
    }

    pub(crate) async fn by(way: Way, mut app: App) -> Self {
        // As `main` does.
        let _ = rustls::crypto::ring::default_provider().install_default();
        app.socket_mode = way == Way::Socket;
        let slack = Slack::with(app).await;
        let entrance = match way {
            Way::Socket => Entrance::Socket {
                app_token: APP_TOKEN.into(),
            },
            Way::Http => {
                let address = free_address();
                let at = |path: &str| format!("http://{address}/slack/{path}");
                slack.tell_over_http(Addresses {
                    events: at("events"),
                    interactions: at("interactions"),
                    commands: at("commands"),
                });
                Entrance::Http {
                    signing_secret: SIGNING_SECRET.into(),
                    address,
                }
            }
        };
        let mut options = Options::new(BOT_TOKEN.into(), entrance);
        options.allow = "*".parse().unwrap();
        options.api_url = slack.api_url();
        options.post_every = Duration::from_millis(1);
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

    /// Starts it with something to set first.
    pub(crate) async fn start_with(&self, set: impl FnOnce(&mut Options)) -> EchoBot {
        let times = self.slack.calls_of("apps.connections.open").len();
        let bot = self.begin_with(set);
        match self.options.entrance {
            Entrance::Socket { .. } => self.slack.connected(times + 1).await,
            Entrance::Http { address, .. } => listens(address).await,
        }
        bot
    }

    pub(crate) fn begin_with(&self, set: impl FnOnce(&mut Options)) -> EchoBot {
        let mut options = self.options.clone();
        set(&mut options);
        EchoBot::start(muninn_slack::Slack::new(options), &self.memory)
    }
}

/// An address that nobody listens at now.
fn free_address() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

pub(crate) async fn listens(address: SocketAddr) {
    let looked = async {
        while tokio::net::TcpStream::connect(address).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let in_time = tokio::time::timeout(loopback_slack::PATIENCE, looked).await;
    assert!(in_time.is_ok(), "nobody listens at {address}");
}

/// A workspace with a bot that listens, a channel, and a person in it.
pub(crate) struct Scene {
    pub(crate) home: Home,
    pub(crate) bot: EchoBot,
    pub(crate) channel: Channel,
    pub(crate) ann: Person,
    pub(crate) general: Chat,
}

pub(crate) async fn scene() -> Scene {
    scene_of(Home::new(app()).await).await
}

pub(crate) async fn scene_of(home: Home) -> Scene {
    let bot = home.start().await;
    let channel = home.slack.channel("general");
    let ann = home.slack.person("Ann");
    let general = ann.in_channel(&channel);
    Scene {
        home,
        bot,
        channel,
        ann,
        general,
    }
}

impl Scene {
    /// Waits until the bot has dealt with everything it got.
    pub(crate) async fn rests(&self) {
        let all = |log: &EchoLog| (log.answered == log.messages.len()).then_some(());
        self.bot.gets("rest", all).await;
    }

    /// Everything was well: no broken rule, no answer that could not be delivered.
    pub(crate) async fn ends_well(self) {
        assert_eq!(self.bot.log().errors, Vec::<String>::new());
        self.home.slack.all_told().await;
        self.bot.stop().await;
        self.home.slack.finish();
    }
}
