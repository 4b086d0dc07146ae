//! The conformance tests of every adapter.

use async_trait::async_trait;
use loopback_slack::{Chat, SlackApp, Surface};
use muninn_platform::testing::EchoBot;
use muninn_platform::testing::conformance::{ConformancePlace, every_case};

use crate::support::{EventTransport, SlackInstallation, app};

/// Where people talk to the bot.
#[derive(Clone, Copy, Debug)]
enum Where {
    Thread,
    Direct,
}

struct SlackConformancePlace {
    home: SlackInstallation,
    /// The person's direct messages with the bot.
    direct: Chat,
    chat: Chat,
    bot: EchoBot,
}

async fn spot(way: EventTransport, app: SlackApp, place: Where) -> SlackConformancePlace {
    let home = SlackInstallation::by(way, app).await;
    let bot = home.start().await;
    let ann = home.slack.person("Ann");
    let chat = match place {
        Where::Direct => ann.with_bot(),
        Where::Thread => {
            let general = ann.in_channel(&home.slack.channel("general"));
            let root = general.say("Look at this.");
            general.in_thread(&root)
        }
    };
    SlackConformancePlace {
        home,
        direct: ann.with_bot(),
        chat,
        bot,
    }
}

#[async_trait]
impl ConformancePlace for SlackConformancePlace {
    async fn say(&self, text: &str) -> String {
        self.chat.ask(text)
    }

    async fn edit(&self, message: &str, text: &str) -> bool {
        self.chat.edit(message, text);
        true
    }

    async fn delete(&self, message: &str) -> bool {
        self.chat.delete(message);
        true
    }

    async fn said(&self) -> Vec<String> {
        let mut said = self.chat.said();
        said.retain(|message| !message.is_deleted);
        said.iter().map(|message| message.shown.clone()).collect()
    }

    fn shows_growing(&self) -> bool {
        true
    }

    async fn pinged(&self) -> Vec<String> {
        let said = self.chat.said();
        said.into_iter().flat_map(|message| message.pings).collect()
    }

    async fn own_files(&self) -> Option<Vec<(String, String)>> {
        let files = self.direct.said().into_iter().flat_map(|it| it.files);
        let read = |content: Vec<u8>| String::from_utf8(content).unwrap();
        Some(files.map(|(name, content)| (name, read(content))).collect())
    }

    fn bot(&self) -> &EchoBot {
        &self.bot
    }

    async fn crash(&mut self) {
        self.bot.dies();
        self.bot = self.home.start().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_threads_with_streams() {
    every_case(async || spot(EventTransport::Socket, app(), Where::Thread).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_threads_without_streams() {
    let app = app().without_streams().with_surface(Surface::Messages);
    every_case(async || spot(EventTransport::Socket, app.clone(), Where::Thread).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_direct_messages() {
    every_case(async || spot(EventTransport::Socket, app(), Where::Direct).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http() {
    every_case(async || spot(EventTransport::Http, app(), Where::Thread).await).await;
}
