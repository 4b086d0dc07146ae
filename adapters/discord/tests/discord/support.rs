//! A Discord, a bot that echoes in it, and somebody to talk to it.

use std::ops::Deref;
use std::sync::Arc;

use loopback_discord::{Channel, Chat, Discord, Guild, Message, Person, Settings};
use muninn_discord::{Api, Options};
use muninn_platform::testing::{EchoBot, EchoLog, EchoMemory};

/// A Discord with one guild, of which everybody is let in.
pub(crate) struct Home {
    pub(crate) discord: Arc<Discord>,
    pub(crate) guild: Guild,
    pub(crate) options: Options,
    pub(crate) memory: EchoMemory,
}

/// How the bot gets to the Discord on loopback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As through a proxy that keeps the rate limits itself.
    Proxy,
    /// As to the real one, with serenity's own rate limiter and TLS.
    Real,
}

impl Home {
    pub(crate) async fn new() -> Self {
        Self::with(Way::Proxy, Settings::default()).await
    }

    pub(crate) async fn with(way: Way, settings: Settings) -> Self {
        // Two providers end up in the tree.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let discord = Arc::new(Discord::start_with(settings).await);
        let guild = discord.guild("Ravens");
        let mut options = Options::new(discord.token().into());
        options.allow = "*".parse().unwrap();
        options.api = match way {
            Way::Proxy => Api::Proxy(discord.url()),
            Way::Real => Api::Elsewhere {
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

    pub(crate) async fn start_with(&self, set: impl FnOnce(&mut Options)) -> EchoBot {
        let mut options = self.options.clone();
        set(&mut options);
        let bot = EchoBot::start(muninn_discord::Discord::new(options), &self.memory);
        self.discord.connected(1).await;
        bot
    }
}

/// A bot, a channel, and Ann in it.
pub(crate) struct Scene {
    pub(crate) home: Home,
    pub(crate) discord: Arc<Discord>,
    pub(crate) guild: Guild,
    pub(crate) bot: EchoBot,
    pub(crate) general: Channel,
    pub(crate) ann: Person,
    in_general: Chat,
}

/// It is Ann's chat in the channel.
impl Deref for Scene {
    type Target = Chat;

    fn deref(&self) -> &Chat {
        &self.in_general
    }
}

/// Runs a chat; afterwards Discord may find no fault with anything, and no answer may be lost.
pub(crate) fn run(chat: impl AsyncFnOnce(&mut Scene)) {
    run_in(Home::new(), chat);
}

/// As [`run`], and the bot gets to Discord in this way.
pub(crate) fn run_by(way: Way, chat: impl AsyncFnOnce(&mut Scene)) {
    run_in(Home::with(way, Settings::default()), chat);
}

/// As [`run`], in this Discord.
pub(crate) fn run_in(home: impl Future<Output = Home>, chat: impl AsyncFnOnce(&mut Scene)) {
    play(home, async |mut scene| {
        chat(&mut scene).await;
        let log = scene.bot.stop().await;
        assert_eq!(log.errors, Vec::<String>::new());
    });
}

/// Runs a chat in which answers cannot be delivered.
pub(crate) fn run_badly(chat: impl AsyncFnOnce(&mut Scene)) {
    play(Home::new(), async |mut scene| {
        chat(&mut scene).await;
        scene.bot.stop().await;
    });
}

fn play(home: impl Future<Output = Home>, chat: impl AsyncFnOnce(Scene)) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let home = home.await;
        let general = home.guild.text("general");
        let ann = home.guild.person("ann");
        let scene = Scene {
            discord: Arc::clone(&home.discord),
            guild: home.guild.clone(),
            bot: home.start().await,
            in_general: ann.at(&general),
            general,
            ann,
            home,
        };
        // Dropped at last, Discord looks whether it finds fault with anything.
        chat(scene).await;
    });
}

impl Scene {
    /// Asks the bot something in the channel; gives the thread on it.
    pub(crate) async fn asks(&self, question: &str) -> Chat {
        self.thread_on(self.mention(question)).await
    }

    /// Waits until the bot has dealt with everything it got.
    pub(crate) async fn rests(&self) {
        let all = |log: &EchoLog| (log.answered == log.messages.len()).then_some(());
        self.bot.gets("rest", all).await;
    }

    /// Ends the bot as `kill -9` does, and starts it again.
    pub(crate) async fn crashes(&mut self) {
        self.bot.dies();
        self.discord.connected(0).await;
        self.starts_again().await;
    }

    pub(crate) async fn starts_again(&mut self) {
        self.bot = self.home.start().await;
    }

    /// Starts the bot again with something else set.
    pub(crate) async fn restart_with(&mut self, set: impl FnOnce(&mut Options)) {
        self.bot.ends().await;
        self.discord.connected(0).await;
        self.bot = self.home.start_with(set).await;
    }
}

/// Somebody who talks to the bot that echoes.
pub(crate) trait Echoes {
    /// Says something, and hears the echo.
    async fn echoes(&self, text: &str) -> Message;
}

impl Echoes for Chat {
    async fn echoes(&self, text: &str) -> Message {
        self.say(text);
        self.hears(&format!("echo: {text}")).await
    }
}
