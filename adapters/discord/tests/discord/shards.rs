//! Several processes, each with some of the bot's shards: one process receives a server's events,
//! but all can post there.

use std::sync::Arc;

use loopback_discord::{Chat, Discord, Guild, Permissions, Settings};
use muninn_discord::{DiscordOptions, check};
use muninn_platform::testing::{EchoBot, EchoLog, EchoMemory};
use muninn_platform::{
    Announced, AudienceId, CheckStatus, Histories, HistoryError, IncomingMessage, Memberships,
};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{DiscordInstallation, DiscordTransport, Echoes};

/// A Discord with two servers, and the options of two processes that each receive one of them. They
/// share one graph.
struct Two {
    discord: Arc<Discord>,
    options: [DiscordOptions; 2],
    /// In the order of the processes that receive them.
    guilds: [Guild; 2],
    memory: EchoMemory,
    _folder: TempDir,
}

impl Two {
    async fn new(way: DiscordTransport) -> Self {
        let settings = Settings {
            shards: 2,
            ..Settings::default()
        };
        let home = DiscordInstallation::with(way, settings).await;
        let mut guilds = [home.guild.clone(), home.discord.guild("Owls")];
        guilds.sort_by_key(|guild| (guild.id().get() >> 22) % 2);
        let folder = tempfile::tempdir().unwrap();
        let options = ["0/2", "1/2"].map(|shards| {
            let mut options = home.options.clone();
            options.shards = shards.parse().unwrap();
            let name = format!("seen-{}", shards.replace('/', "-of-"));
            options.missed.file = Some(folder.path().join(name));
            options.histories = Histories::default();
            options.memberships = Memberships::default();
            options
        });
        Self {
            discord: home.discord,
            options,
            guilds,
            memory: home.memory,
            _folder: folder,
        }
    }

    fn begin(&self, number: usize) -> EchoBot {
        let platform = muninn_discord::Discord::new(self.options[number].clone());
        EchoBot::start(platform, &self.memory)
    }

    async fn start(&self) -> [EchoBot; 2] {
        let bots = [self.begin(0), self.begin(1)];
        self.discord.connected(2).await;
        bots
    }

    /// Ends both when they have nothing to do.
    async fn end(&self, bots: [EchoBot; 2]) {
        for bot in bots {
            rests(&bot).await;
            bot.stop().await;
        }
        self.discord.connected(0).await;
    }

    /// Returns Ann's chat in the channel of this name, in each server.
    fn anns(&self, channel: &str) -> [Chat; 2] {
        self.guilds
            .each_ref()
            .map(|guild| guild.person("ann").at(&guild.text(channel)))
    }

    fn audience(&self, number: usize, chat: &Chat) -> AudienceId {
        let guild = self.guilds[number].id();
        AudienceId::new(format!("discord/{guild}/{}", chat.id()))
    }
}

/// Waits until it has handled everything it received: what is not finished goes to the next
/// process.
async fn rests(bot: &EchoBot) {
    let all = |log: &EchoLog| (log.answered == log.messages.len()).then_some(());
    bot.gets("rest", all).await;
}

fn conversations(bot: &EchoBot) -> Vec<String> {
    let log = bot.log();
    let all = log.messages.iter();
    all.map(|message: &IncomingMessage| message.conversation.to_string())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_process_answers_in_its_own_servers_and_the_first_in_direct_messages() {
    for way in [DiscordTransport::Proxy, DiscordTransport::Real] {
        let two = Two::new(way).await;
        let bots = two.start().await;
        let mut seen = two.discord.shards();
        seen.sort_unstable();
        assert_eq!(seen, [(0, 2), (1, 2)]);
        for (number, chat) in two.anns("general").iter().enumerate() {
            let question = chat.mention("who hears?");
            let thread = chat.thread_on(question).await;
            thread.hears("echo: who hears?").await;
            thread.echoes("and now?").await;
            chat.ask("and this?", &[]).hears("echo: and this?").await;
            let heard = conversations(&bots[number]);
            let prefix = format!("discord/{}/", two.guilds[number].id());
            assert_eq!(heard.len(), 3, "{heard:?}");
            assert!(heard.iter().all(|it| it.starts_with(&prefix)), "{heard:?}");
        }
        for guild in &two.guilds {
            guild.person("bob").direct().echoes("between us").await;
        }
        let direct = |bot: &EchoBot| {
            let all = conversations(bot).into_iter();
            all.filter(|it| it.starts_with("discord/dm/")).count()
        };
        assert_eq!((direct(&bots[0]), direct(&bots[1])), (2, 0));
        assert_eq!(two.discord.counts().identified, 2);
        for bot in bots {
            let log = bot.stop().await;
            assert_eq!((log.repeated, log.errors), (0, Vec::<String>::new()));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_had_accepted_when_it_was_killed_another_answers() {
    let two = Two::new(DiscordTransport::Proxy).await;
    let [mut first, second] = two.start().await;
    let [chat, _] = two.anns("general");
    let asked = chat.mention("wait for it");
    let public = chat.ask("wait for that", &[]);
    let private = chat.ask("wait in private", &[("private", json!(true))]);
    for asked in [&public, &private] {
        asked.is_acknowledged().await;
    }
    first.hears_number(3).await;
    first.dies();
    second.stop().await;
    two.discord.connected(0).await;

    // It only receives the other server, but is given what is left over.
    let other = two.begin(1);
    two.discord.connected(1).await;
    other.hears_number(3).await;
    other.go_on();
    let thread = chat.thread_on(asked).await;
    thread.hears("echo: for it").await;
    let addressed = |chat: &Chat| {
        let said = chat.said().into_iter();
        said.filter(|it| it.text.starts_with("-# For <@")).count()
    };
    chat.finds("what was asked by command", |said| {
        said.text.ends_with("\necho: for that")
    })
    .await;
    // The private answer goes to its asker alone.
    assert_eq!(addressed(&chat), 1);
    rests(&other).await;

    // The killed process returns, and answers nothing again.
    first = two.begin(0);
    two.discord.connected(2).await;
    thread.echoes("well?").await;
    assert_eq!(conversations(&first).len(), 1);
    assert_eq!((thread.said().len(), addressed(&chat)), (2, 1));
    first.stop().await;
    let log = other.stop().await;
    assert_eq!(log.errors, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_reads_what_it_missed_and_nothing_of_others() {
    let two = Two::new(DiscordTransport::Proxy).await;
    let bots = two.start().await;
    let anns = two.anns("general");
    let direct = two.guilds[0].person("ann").direct();
    direct.echoes("before").await;
    for chat in &anns {
        chat.ask("before", &[]).hears("echo: before").await;
    }
    two.end(bots).await;
    let asked = anns.each_ref().map(|chat| chat.mention("meanwhile"));
    direct.say("meanwhile");

    let second = two.begin(1);
    anns[1]
        .thread_on(asked[1])
        .await
        .hears("echo: meanwhile")
        .await;
    anns[1].ask("after", &[]).hears("echo: after").await;
    assert_eq!(conversations(&second).len(), 2);
    assert_eq!((anns[0].threads().len(), direct.said().len()), (0, 1));
    rests(&second).await;

    let first = two.begin(0);
    anns[0]
        .thread_on(asked[0])
        .await
        .hears("echo: meanwhile")
        .await;
    direct.hears("echo: meanwhile").await;
    assert_eq!(conversations(&second).len(), 2);
    assert_eq!(conversations(&first).len(), 2);
    for bot in [first, second] {
        bot.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_with_both_reads_what_each_of_its_shards_missed() {
    let mut two = Two::new(DiscordTransport::Proxy).await;
    two.options[0].shards = "0-1/2".parse().unwrap();
    let bot = two.begin(0);
    two.discord.connected(2).await;
    let anns = two.anns("general");
    for chat in &anns {
        chat.ask("before", &[]).hears("echo: before").await;
    }
    rests(&bot).await;
    bot.stop().await;
    two.discord.connected(0).await;
    let asked = anns.each_ref().map(|chat| chat.mention("meanwhile"));
    let bot = two.begin(0);
    for (chat, asked) in anns.iter().zip(asked) {
        chat.thread_on(asked).await.hears("echo: meanwhile").await;
    }
    assert_eq!(bot.stop().await.messages.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_is_gone_is_forgotten_by_the_process_whose_server_it_is_in() {
    let two = Two::new(DiscordTransport::Proxy).await;
    let bots = two.start().await;
    let anns = two.anns("general");
    for chat in &anns {
        chat.ask("remember", &[]).hears("echo: remember").await;
    }
    two.end(bots).await;
    two.guilds[0].removes_bot();
    let second = two.begin(1);
    two.discord.connected(1).await;
    anns[1].ask("well?", &[]).hears("echo: well?").await;
    rests(&second).await;
    let first = two.begin(0);
    let gone = first.hears().await;
    assert_eq!(
        gone.conversation.as_str(),
        format!("discord/{}", two.guilds[0].id())
    );
    assert_eq!(conversations(&second).len(), 1);
    for bot in [first, second] {
        bot.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_process_says_something_unasked_in_any_server() {
    let two = Two::new(DiscordTransport::Proxy).await;
    let bots = two.start().await;
    for (owner, chat) in two.anns("general").iter().enumerate() {
        let here = two.audience(owner, chat);
        for (number, bot) in bots.iter().enumerate() {
            let is_connected = |log: &EchoLog| (log.connected > 0).then_some(());
            bot.gets("its connection", is_connected).await;
            let text = format!("digest of {number}");
            let said = bot.announce(&here, &text).await;
            assert!(matches!(said, Announced::Said(_)), "{said:?}");
            chat.hears(&text).await;
        }
    }
    for bot in bots {
        assert_eq!(bot.stop().await.messages.len(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_process_tells_who_may_read_what_in_any_server() {
    let two = Two::new(DiscordTransport::Proxy).await;
    let guild = &two.guilds[0];
    let (ann, bob, carol) = (
        guild.person("ann"),
        guild.person("bob"),
        guild.person("carol"),
    );
    let left = guild.person("dora");
    guild.takes_from_everyone(Permissions::VIEW_CHANNEL);
    let team = guild.role("team", Permissions::VIEW_CHANNEL);
    for member in [&ann, &bob, &left] {
        guild.grants(member, team);
    }
    let channel = guild.text("general");
    channel.allows(Permissions::VIEW_CHANNEL);
    let general = ann.at(&channel);
    let (open, private) = (
        general.open_thread("open"),
        general.open_private_thread("private"),
    );
    private.brings(two.discord.bot());
    let gone = ann.at(&guild.text("gone"));
    gone.channel().is_deleted();
    guild.loses(&left);
    let places = [&general, &open, &private, &gone].map(|chat| two.audience(0, chat));

    let bots = two.start().await;
    // Whoever receives this has received its server.
    ann.direct().echoes("well?").await;
    let aside = two.guilds[1]
        .person("erin")
        .at(&two.guilds[1].text("aside"));
    aside.ask("well?", &[]).hears("echo: well?").await;
    for (who, expected) in [(&ann, 3), (&bob, 2), (&carol, 0), (&left, 0)] {
        let account = format!("discord/{}", who.id());
        for options in &two.options {
            let membership = options.memberships.named("discord").unwrap();
            let readable = membership.readable(&account, places.to_vec()).await;
            let name = who.name();
            assert_eq!(readable.unwrap(), places[..expected], "{name}");
        }
    }
    for bot in bots {
        bot.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_is_read_by_the_process_that_hears_the_server() {
    let two = Two::new(DiscordTransport::Proxy).await;
    let bots = two.start().await;
    let [chat, _] = two.anns("general");
    let here = two.audience(0, &chat);
    let read = async |number: usize| {
        let history = two.options[number].histories.of(&here).unwrap();
        let since = chrono::DateTime::UNIX_EPOCH;
        history.read_page(&here, since, None).await
    };
    assert!(read(0).await.is_ok());
    let Err(HistoryError::Refused(why)) = read(1).await else {
        panic!("it is read");
    };
    let why = why.to_string();
    assert!(
        why.contains("on shard 0/2 of Discord, and this process runs 1/2"),
        "{why}"
    );
    for bot in bots {
        bot.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_says_which_servers_are_whose() {
    let mut two = Two::new(DiscordTransport::Proxy).await;
    let says = async |options: &DiscordOptions| {
        let findings = check(options).await;
        let all = findings.into_iter().map(|it| (it.verdict, it.text));
        all.collect::<Vec<_>>()
    };
    for (number, expected) in [
        "this process runs shard 0 of 2, with 1 of 2 servers; direct messages come to this process",
        "this process runs shard 1 of 2, with 1 of 2 servers; direct messages come to the process with shard 0",
    ]
    .iter()
    .enumerate()
    {
        let said = says(&two.options[number]).await;
        let is_said = |(verdict, text): &(CheckStatus, String)| {
            *verdict == CheckStatus::Ok && text.starts_with(expected)
        };
        assert!(said.iter().any(is_said), "{said:?}");
    }
    two.options[0].shards = "0/1".parse().unwrap();
    let said = says(&two.options[0]).await;
    let is_too_few = |(verdict, text): &(CheckStatus, String)| {
        *verdict == CheckStatus::Warning
            && text.contains("DISCORD_SHARDS is 1, but Discord recommends 2")
    };
    assert!(said.iter().any(is_too_few), "{said:?}");
}
