//! Who is answered, and where.

use std::sync::Arc;

use loopback_discord::{Discord, MESSAGE_CONTENT, Permissions, Settings};
use muninn_discord::{check, invite};
use muninn_platform::Channels;
use muninn_platform::Verdict;

use crate::support::{Home, Scene, Way, scene};

async fn scene_where(set: impl AsyncFnOnce(&mut Home, &str, &str)) -> Scene {
    let mut home = Home::new().await;
    let general = home.guild.text("general");
    let ann = home.guild.person("ann");
    let (channel, person) = (general.id().to_string(), ann.id().to_string());
    set(&mut home, &channel, &person).await;
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

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_let_in_is_not_answered() {
    let scene = scene_where(async |home, _, ann| {
        home.options.allow = format!("user:{ann}").parse().unwrap();
    })
    .await;
    let bob = scene.home.guild.person("bob");
    let as_bob = bob.at(&scene.general);
    as_bob.mention("let me in");
    bob.direct().say("and here?");
    let refused = as_bob.ask("please?", &[]).is_answered().await;
    assert!(refused.is_ephemeral && refused.text.starts_with("I may not talk to you here."));
    let answer = scene.chat.ask("hello", &[]).hears("echo: hello").await;
    let pressed = as_bob.click(&answer, "Regenerate").is_answered().await;
    assert!(pressed.is_ephemeral);
    assert_eq!(scene.bot.log().messages.len(), 1);
    assert!(bob.direct().said().is_empty());
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_lets_in() {
    let home = Home::new().await;
    let role = home
        .guild
        .role("friends", loopback_discord::Permissions::NONE);
    let general = home.guild.text("general");
    let ann = home.guild.person("ann");
    let bob = home.guild.person("bob");
    home.guild.grants(&ann, role);
    let bot = home
        .start_with(|options| options.allow = format!("role:{role}").parse().unwrap())
        .await;
    bob.at(&general).mention("no");
    let chat = ann.at(&general);
    let question = chat.mention("yes");
    chat.thread_on(question).await.hears("echo: yes").await;
    assert_eq!(bot.log().messages.len(), 1);
    bot.stop().await;
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_can_be_set_to_be_left_alone_or_always_answered() {
    let home = Home::new().await;
    let (quiet, eager, strict) = (
        home.guild.text("quiet"),
        home.guild.text("eager"),
        home.guild.text("strict"),
    );
    let ann = home.guild.person("ann");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("channels.toml");
    let guild = home.guild.id();
    let set = format!(
        "[\"discord/{guild}/{}\"]\nanswer = \"never\"\n[\"discord/{guild}/{}\"]\nanswer = \"always\"\n[\"discord/{guild}/{}\"]\nanswer = \"mentions\"\n",
        quiet.id(),
        eager.id(),
        strict.id()
    );
    std::fs::write(&file, set).unwrap();
    let channels = Arc::new(Channels::load(&file).unwrap());
    let bot = home.start_with(|options| options.channels = channels).await;
    ann.at(&quiet).mention("hello?");
    let refused = ann.at(&quiet).ask("hello?", &[]).is_answered().await;
    assert!(refused.is_ephemeral && refused.text.contains("not to answer"));
    let eager = ann.at(&eager);
    let question = eager.say("to nobody");
    eager
        .thread_on(question)
        .await
        .hears("echo: to nobody")
        .await;
    let strict = ann.at(&strict);
    let question = strict.mention("first");
    let thread = strict.thread_on(question).await;
    thread.hears("echo: first").await;
    thread.say("not meant");
    thread.mention("meant");
    thread.hears("echo: meant").await;
    assert_eq!(bot.log().messages.len(), 3);
    bot.stop().await;
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_message_content_mentions_commands_and_direct_messages_are_answered() {
    let settings = Settings {
        privileged: 0,
        ..Settings::default()
    };
    let mut home = Home::with(Way::Proxy, settings).await;
    home.options.reads_messages = false;
    let general = home.guild.text("general");
    let ann = home.guild.person("ann");
    let bot = home.start().await;
    let chat = ann.at(&general);
    let question = chat.mention("hello");
    let thread = chat.thread_on(question).await;
    thread.hears("echo: hello").await;
    thread.say("unread");
    thread.mention("read");
    thread.hears("echo: read").await;
    chat.ask("asked", &[]).hears("echo: asked").await;
    let direct = ann.direct();
    direct.say("direct");
    direct.hears("echo: direct").await;
    assert_eq!(bot.log().messages.len(), 4);
    bot.stop().await;
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn intents_that_are_not_switched_on_end_it_with_what_to_do() {
    let settings = Settings {
        privileged: 0,
        ..Settings::default()
    };
    let home = Home::with(Way::Proxy, settings).await;
    let said = home.begin().gives_up().await;
    assert!(said.contains("Message Content Intent"), "{said}");
    let findings = check(&home.options).await;
    assert!(
        findings
            .iter()
            .any(|it| it.verdict == Verdict::Error
                && it.text.contains("DISCORD_MESSAGE_CONTENT=false")),
        "{findings:?}"
    );
    let mut options = home.options.clone();
    options.reads_messages = false;
    let findings = check(&options).await;
    assert!(
        findings.iter().all(|it| it.verdict != Verdict::Error),
        "{findings:?}"
    );
    assert!(
        findings.iter().any(|it| it.text.contains("suffices")),
        "{findings:?}"
    );
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_token_ends_it_with_what_to_do() {
    let home = Home::new().await;
    let mut options = home.options.clone();
    options.token = "wrong".into();
    let bot = muninn_platform::testing::EchoBot::start(
        muninn_discord::Discord::new(options.clone()),
        &home.memory,
    );
    let said = bot.gives_up().await;
    assert!(said.contains("DISCORD_TOKEN"), "{said}");
    let findings = check(&options).await;
    assert!(findings[0].text.contains("DISCORD_TOKEN"), "{findings:?}");
    assert!(
        invite(&options)
            .await
            .unwrap_err()
            .to_string()
            .contains("DISCORD_TOKEN")
    );
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_tells_token_intents_guilds_and_commands() {
    let scene = scene().await;
    let findings = check(&scene.home.options).await;
    assert!(
        findings.iter().all(|it| it.verdict == Verdict::Ok),
        "{findings:?}"
    );
    let texts: Vec<&str> = findings.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "the token is that of Muninn",
            "it may read messages, so threads are followed",
            "it is in 1 server: Ravens",
            "its commands are registered everywhere",
        ]
    );
    let address = invite(&scene.home.options).await.unwrap();
    let id = scene.home.discord.bot();
    assert_eq!(
        address,
        format!(
            "https://discord.com/oauth2/authorize?client_id={id}&scope=bot+applications.commands&permissions=377957190656"
        )
    );
    let mut closed = scene.home.options.clone();
    closed.allow = "".parse().unwrap();
    closed.guild = Some(muninn_discord::GuildId::new(
        scene.home.guild.id().to_string().parse().unwrap(),
    ));
    let findings = check(&closed).await;
    assert!(findings[0].verdict == Verdict::Error && findings[0].text.contains("DISCORD_ALLOW"));
    assert!(
        findings
            .last()
            .unwrap()
            .text
            .contains("not registered in server")
    );
    scene.finish().await;
    // A Discord that is not there.
    let gone = Discord::start().await;
    let home = Home::new().await;
    let mut options = home.options.clone();
    options.api = muninn_discord::Api::Proxy("http://127.0.0.1:1".to_owned());
    let findings = check(&options).await;
    assert_eq!(findings[0].verdict, Verdict::Error);
    gone.finish();
    let _ = MESSAGE_CONTENT;
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_names_the_permissions_that_are_missing() {
    let scene = scene().await;
    let missing = Permissions::SEND_MESSAGES_IN_THREADS | Permissions::CREATE_PUBLIC_THREADS;
    scene.home.guild.takes_from_everyone(missing);
    let findings = check(&scene.home.options).await;
    let named = "in Ravens it lacks Create Public Threads, Send Messages in Threads";
    let is_named =
        |it: &muninn_platform::Finding| it.verdict == Verdict::Error && it.text.starts_with(named);
    assert!(findings.iter().any(is_named), "{findings:?}");
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_names_the_channels_that_take_permissions_away() {
    let scene = scene().await;
    let guild = &scene.home.guild;
    let (quiet, rules) = (guild.text("quiet"), guild.text("rules"));
    let posts = guild.forum("posts");
    quiet.denies(Permissions::SEND_MESSAGES | Permissions::CREATE_PUBLIC_THREADS);
    rules.denies(Permissions::SEND_MESSAGES);
    posts.denies(Permissions::READ_MESSAGE_HISTORY | Permissions::SEND_MESSAGES);
    let hidden = guild.text("hidden");
    hidden.denies(Permissions::VIEW_CHANNEL | Permissions::SEND_MESSAGES);
    // A voice channel has no threads and no answers of its own to lose.
    guild.voice("voice").denies(Permissions::SEND_MESSAGES);
    let told = async |options: &muninn_discord::Options| {
        let findings = check(options).await.into_iter();
        let told = findings.filter(|it| it.verdict != Verdict::Ok);
        told.map(|it| {
            format!(
                "{:?}: {}",
                it.verdict,
                it.text.split(';').next().unwrap_or_default()
            )
        })
        .collect::<Vec<String>>()
    };
    assert_eq!(
        told(&scene.home.options).await,
        [
            "Error: in Ravens these channels take Send Messages away from it: #quiet, #rules",
            "Error: in Ravens these channels take Read Message History away from it: #posts",
            "Warning: in Ravens these channels take Create Public Threads away from it: #quiet",
        ]
    );
    // What is hidden is none of its business, unless it is let in there.
    let mut options = scene.home.options.clone();
    options.allow = format!("channel:{} channel:{}", hidden.id(), rules.id())
        .parse()
        .unwrap();
    assert_eq!(
        told(&options).await,
        [
            "Error: in Ravens these channels take View Channel away from it: #hidden",
            "Error: in Ravens these channels take Send Messages away from it: #rules",
        ]
    );
    scene.finish().await;
}
