//! A Discord server, an echo bot in it, and a person who talks to it.

use std::ops::Deref;
use std::sync::Arc;

use loopback_discord::{Chat, Discord, DiscordChannel, DiscordPerson, Guild, Message, Settings};
use muninn_discord::{ApiEndpoint, DiscordOptions};
use muninn_platform::testing::{EchoBot, EchoLog, EchoMemory};

/// A Discord with one guild; everybody is allowed.
pub(crate) struct DiscordInstallation {
    pub(crate) discord: Arc<Discord>,
    pub(crate) guild: Guild,
    pub(crate) options: DiscordOptions,
    pub(crate) memory: EchoMemory,
}

/// How the bot connects to the Discord on loopback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiscordTransport {
    /// As through a proxy that handles the rate limits itself.
    Proxy,
    /// As to the real Discord, with serenity's own rate limiter and TLS.
    Real,
}

impl DiscordInstallation {
    pub(crate) async fn new() -> Self {
        Self::with(DiscordTransport::Proxy, Settings::default()).await
    }

    pub(crate) async fn with(way: DiscordTransport, settings: Settings) -> Self {
        // The dependency tree contains two providers.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let discord = Arc::new(Discord::start_with(settings).await);
        let guild = discord.guild("Ravens");
        let mut options = DiscordOptions::new(discord.token().into());
        options.allow = "*".parse().unwrap();
        options.api = match way {
            DiscordTransport::Proxy => ApiEndpoint::Proxy(discord.url()),
            DiscordTransport::Real => ApiEndpoint::Elsewhere {
                address: discord.tls_address(),
                authority: discord.authority().as_bytes().to_vec(),
            },
        };
        options.file_host = Some(discord.url().replace("http://", ""));
        Self {
            discord,
            guild,
            options,
            memory: EchoMemory::default(),
        }
    }

    /// Creates one whose events have only the fields that Discord's own examples have.
    pub(crate) async fn with_documented_fields() -> Self {
        let home = Self::new().await;
        home.discord.leaves_fields_out();
        home
    }

    /// Starts the bot and waits until it is connected.
    pub(crate) async fn start(&self) -> EchoBot {
        let bot = self.begin();
        self.discord.connected(1).await;
        bot
    }

    /// Starts the bot.
    pub(crate) fn begin(&self) -> EchoBot {
        EchoBot::start(
            muninn_discord::Discord::new(self.options.clone()),
            &self.memory,
        )
    }

    pub(crate) async fn start_with(&self, set: impl FnOnce(&mut DiscordOptions)) -> EchoBot {
        let mut options = self.options.clone();
        set(&mut options);
        let bot = EchoBot::start(muninn_discord::Discord::new(options), &self.memory);
        self.discord.connected(1).await;
        bot
    }
}

/// A bot, a channel, and Ann in it.
pub(crate) struct DiscordFixture {
    pub(crate) home: DiscordInstallation,
    pub(crate) discord: Arc<Discord>,
    pub(crate) guild: Guild,
    pub(crate) bot: EchoBot,
    pub(crate) general: DiscordChannel,
    pub(crate) ann: DiscordPerson,
    in_general: Chat,
}

/// Dereferences to Ann's chat in the channel.
impl Deref for DiscordFixture {
    type Target = Chat;

    fn deref(&self) -> &Chat {
        &self.in_general
    }
}

/// Runs a chat; fails if Discord recorded a violation, or an answer was lost.
pub(crate) fn run(chat: impl AsyncFnOnce(&mut DiscordFixture)) {
    run_in(DiscordInstallation::new(), chat);
}

/// Like [`run`], with this kind of connection to Discord.
pub(crate) fn run_by(way: DiscordTransport, chat: impl AsyncFnOnce(&mut DiscordFixture)) {
    run_in(DiscordInstallation::with(way, Settings::default()), chat);
}

/// Like [`run`], in this Discord.
pub(crate) fn run_in(
    home: impl Future<Output = DiscordInstallation>,
    chat: impl AsyncFnOnce(&mut DiscordFixture),
) {
    play(home, async |mut scene| {
        chat(&mut scene).await;
        let log = scene.bot.stop().await;
        assert_eq!(log.errors, Vec::<String>::new());
    });
}

/// Runs a chat in which answers cannot be delivered.
pub(crate) fn run_badly(chat: impl AsyncFnOnce(&mut DiscordFixture)) {
    play(DiscordInstallation::new(), async |mut scene| {
        chat(&mut scene).await;
        scene.bot.stop().await;
    });
}

fn play(home: impl Future<Output = DiscordInstallation>, chat: impl AsyncFnOnce(DiscordFixture)) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let home = home.await;
        let general = home.guild.text("general");
        let ann = home.guild.person("ann");
        let scene = DiscordFixture {
            discord: Arc::clone(&home.discord),
            guild: home.guild.clone(),
            bot: home.start().await,
            in_general: ann.at(&general),
            general,
            ann,
            home,
        };
        // When it is finally dropped, Discord checks for violations.
        chat(scene).await;
    });
}

impl DiscordFixture {
    /// Asks the bot something in the channel; returns the question's thread.
    pub(crate) async fn asks(&self, question: &str) -> Chat {
        self.thread_on(self.mention(question)).await
    }

    /// Waits until the bot has handled everything it received.
    pub(crate) async fn rests(&self) {
        let all = |log: &EchoLog| (log.answered == log.messages.len()).then_some(());
        self.bot.gets("rest", all).await;
    }

    /// Kills the bot as with `kill -9`, and starts it again.
    pub(crate) async fn crashes(&mut self) {
        self.bot.dies();
        self.discord.connected(0).await;
        self.starts_again().await;
    }

    pub(crate) async fn starts_again(&mut self) {
        self.bot = self.home.start().await;
    }

    /// Restarts the bot with changed options.
    pub(crate) async fn restart_with(&mut self, set: impl FnOnce(&mut DiscordOptions)) {
        self.bot.ends().await;
        self.discord.connected(0).await;
        self.bot = self.home.start_with(set).await;
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
