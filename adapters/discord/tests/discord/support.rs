//! A Discord, a bot that echoes in it, and somebody to talk to it.

use loopback_discord::{Channel, Chat, Discord, Guild, Person, Settings};
use muninn_discord::{Api, Options};
use muninn_platform::testing::{EchoBot, EchoMemory};

/// A Discord with one guild, of which everybody is let in.
pub(crate) struct Home {
    pub(crate) discord: Discord,
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
        let discord = Discord::start_with(settings).await;
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
    pub(crate) bot: EchoBot,
    pub(crate) general: Channel,
    pub(crate) ann: Person,
    pub(crate) chat: Chat,
    pub(crate) home: Home,
}

pub(crate) async fn scene() -> Scene {
    scene_in(Home::new().await).await
}

pub(crate) async fn scene_in(home: Home) -> Scene {
    let general = home.guild.text("general");
    let ann = home.guild.person("ann");
    let chat = ann.at(&general);
    let bot = home.start().await;
    Scene {
        bot,
        general,
        ann,
        chat,
        home,
    }
}

impl Scene {
    /// Ends the bot, and fails if Discord found fault with anything, or an answer was lost.
    pub(crate) async fn finish(self) {
        assert_eq!(self.bot.log().errors, Vec::<String>::new());
        self.bot.stop().await;
        self.home.discord.finish();
    }
}
