//! The conformance tests of every adapter, in each kind of place of Discord.

use async_trait::async_trait;
use loopback_discord::{Chat, DiscordChannel, Guild, Id};
use muninn_platform::testing::EchoBot;
use muninn_platform::testing::conformance::{ConformancePlace, every_case};

use crate::support::DiscordInstallation;

/// A person in a place with the bot.
struct There {
    home: DiscordInstallation,
    bot: EchoBot,
    chat: Chat,
    /// Every message mentions the bot.
    mentions: bool,
}

impl There {
    async fn new(place: impl AsyncFnOnce(&DiscordInstallation) -> Chat, mentions: bool) -> Self {
        let home = DiscordInstallation::new().await;
        let chat = place(&home).await;
        let bot = home.start().await;
        Self {
            home,
            bot,
            chat,
            mentions,
        }
    }

    fn words(&self, text: &str) -> String {
        if self.mentions {
            format!("<@{}> {text}", self.home.discord.bot())
        } else {
            text.to_owned()
        }
    }
}

fn id(text: &str) -> Id {
    Id::parse(text).unwrap()
}

#[async_trait]
impl ConformancePlace for There {
    async fn say(&self, text: &str) -> String {
        self.chat.say(&self.words(text)).to_string()
    }

    async fn edit(&self, message: &str, text: &str) -> bool {
        self.chat.edit(id(message), &self.words(text));
        true
    }

    async fn delete(&self, message: &str) -> bool {
        self.chat.delete(id(message));
        true
    }

    async fn said(&self) -> Vec<String> {
        let threads = self.chat.threads().into_iter();
        let chats = threads.map(|thread| self.chat.thread(thread.id));
        let mut said = self.chat.said();
        said.extend(chats.flat_map(|chat| chat.said()));
        said.sort_by_key(|message| message.created);
        said.into_iter().map(|message| message.text).collect()
    }

    fn shows_growing(&self) -> bool {
        true
    }

    async fn pinged(&self) -> Vec<String> {
        let threads = self.chat.threads().into_iter();
        let chats = threads.map(|thread| self.chat.thread(thread.id));
        let said = self
            .chat
            .said()
            .into_iter()
            .chain(chats.flat_map(|chat| chat.said()));
        said.flat_map(|message| {
            let everyone = message.calls_everyone.then(|| "everyone".to_owned());
            let calls: Vec<String> = message.calls.iter().map(ToString::to_string).collect();
            calls.into_iter().chain(everyone)
        })
        .collect()
    }

    async fn own_files(&self) -> Option<Vec<(String, String)>> {
        let given = self.chat.direct().said();
        let files = given.into_iter().flat_map(|message| message.attachments);
        let read = |content: Vec<u8>| String::from_utf8(content).unwrap();
        Some(files.map(|file| (file.name, read(file.content))).collect())
    }

    fn bot(&self) -> &EchoBot {
        &self.bot
    }

    async fn crash(&mut self) {
        self.bot.dies();
        self.home.discord.connected(0).await;
        self.bot = self.home.start().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_where_it_is_mentioned() {
    let channel = async |home: &DiscordInstallation| {
        let general: DiscordChannel = home.guild.text("general");
        home.guild.person("ann").at(&general)
    };
    every_case(async || There::new(channel, true).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_message() {
    let direct = async |home: &DiscordInstallation| home.guild.person("ann").direct();
    every_case(async || There::new(direct, false).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread() {
    let thread = async |home: &DiscordInstallation| {
        let guild: &Guild = &home.guild;
        let general = guild.text("general");
        guild.person("ann").at(&general).open_thread("plans")
    };
    every_case(async || There::new(thread, true).await).await;
}
