//! Who is answered, and where.

use std::sync::Arc;

use loopback_discord::{DiscordChannel, Permissions, Settings};
use muninn_discord::{check, invite};
use muninn_platform::{AudienceId, Channels, CheckStatus, IncomingMessage};

use crate::support::{DiscordInstallation, DiscordTransport, Echoes, run, run_in};

#[test]
fn who_is_not_let_in_is_not_answered() {
    run(async |chat| {
        let allow = format!("user:{}", chat.ann.id());
        chat.restart_with(|options| options.allow = allow.parse().unwrap())
            .await;
        let bob = chat.guild.person("bob");
        let as_bob = bob.at(&chat.general);
        as_bob.mention("let me in");
        bob.direct().say("and here?");
        let refused = as_bob.ask("please?", &[]).is_answered().await;
        assert!(refused.is_ephemeral && refused.text.starts_with("I may not talk to you here."));
        let answer = chat.ask("hello", &[]).hears("echo: hello").await;
        let pressed = as_bob.click(&answer, "Regenerate").is_answered().await;
        assert!(pressed.is_ephemeral);
        assert_eq!(chat.bot.log().messages.len(), 1);
        assert!(bob.direct().said().is_empty());
    });
}

#[test]
fn a_role_lets_in() {
    run(async |chat| {
        let role = chat.guild.role("friends", Permissions::NONE);
        chat.guild.grants(&chat.ann, role);
        chat.restart_with(|options| options.allow = format!("role:{role}").parse().unwrap())
            .await;
        chat.guild.person("bob").at(&chat.general).mention("no");
        chat.asks("yes").await.hears("echo: yes").await;
        assert_eq!(chat.bot.log().messages.len(), 1);
    });
}

#[test]
fn who_moderates_is_known_in_a_server_described_without_optional_fields() {
    let home = DiscordInstallation::with_documented_fields();
    run_in(home, async |chat| {
        let moderator = chat.guild.moderator("mia").at(&chat.general);
        chat.thread_on(moderator.mention("hello")).await;
        assert!(chat.bot.hears().await.author.is_admin);
        chat.rests().await;
    });
}

#[test]
fn a_channel_can_be_set_to_be_left_alone_or_always_answered() {
    run(async |chat| {
        let (quiet, eager, strict) = (
            chat.guild.text("quiet"),
            chat.guild.text("eager"),
            chat.guild.text("strict"),
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("channels.toml");
        let guild = chat.guild.id();
        let set = format!(
            "[\"discord/{guild}/{}\"]\nanswer = \"never\"\n[\"discord/{guild}/{}\"]\nanswer = \"always\"\n[\"discord/{guild}/{}\"]\nanswer = \"mentions\"\n",
            quiet.id(),
            eager.id(),
            strict.id()
        );
        std::fs::write(&file, set).unwrap();
        let channels = Arc::new(Channels::load(&file).unwrap());
        chat.restart_with(|options| options.channels = channels)
            .await;
        chat.ann.at(&quiet).mention("hello?");
        let refused = chat.ann.at(&quiet).ask("hello?", &[]).is_answered().await;
        assert!(refused.is_ephemeral && refused.text.contains("not to answer"));
        let eager = chat.ann.at(&eager);
        let question = eager.say("to nobody");
        eager
            .thread_on(question)
            .await
            .hears("echo: to nobody")
            .await;
        let strict = chat.ann.at(&strict);
        let question = strict.mention("first");
        let thread = strict.thread_on(question).await;
        thread.hears("echo: first").await;
        thread.say("not meant");
        thread.mention("meant");
        thread.hears("echo: meant").await;
        assert_eq!(chat.bot.log().messages.len(), 3);
    });
}

/// A server that withholds the content of messages.
async fn without_message_content() -> DiscordInstallation {
    let settings = Settings {
        privileged: 0,
        ..Settings::default()
    };
    let mut home = DiscordInstallation::with(DiscordTransport::Proxy, settings).await;
    home.options.reads_messages = false;
    home
}

#[test]
fn without_the_message_content_mentions_commands_and_direct_messages_are_answered() {
    run_in(without_message_content(), async |chat| {
        let thread = chat.asks("hello").await;
        thread.hears("echo: hello").await;
        thread.say("unread");
        thread.mention("read");
        thread.hears("echo: read").await;
        chat.ask("asked", &[]).hears("echo: asked").await;
        let direct = chat.ann.direct();
        direct.echoes("direct").await;
        let heard = &chat.bot.log().messages;
        let direct: Vec<bool> = heard.iter().map(IncomingMessage::is_direct).collect();
        assert_eq!(direct, [false, false, false, true]);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn intents_that_are_not_switched_on_end_it_with_what_to_do() {
    let settings = Settings {
        privileged: 0,
        ..Settings::default()
    };
    let home = DiscordInstallation::with(DiscordTransport::Proxy, settings).await;
    let said = home.begin().gives_up().await;
    assert!(said.contains("Message Content Intent"), "{said}");
    let findings = check(&home.options).await;
    assert!(
        findings.iter().any(|it| it.verdict == CheckStatus::Error
            && it.text.contains("DISCORD_MESSAGE_CONTENT=false")),
        "{findings:?}"
    );
    let mut options = home.options.clone();
    options.reads_messages = false;
    let findings = check(&options).await;
    assert!(
        findings.iter().all(|it| it.verdict != CheckStatus::Error),
        "{findings:?}"
    );
    assert!(
        findings.iter().any(|it| it.text.contains("suffices")),
        "{findings:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_token_ends_it_with_what_to_do() {
    let home = DiscordInstallation::new().await;
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
}

#[test]
fn what_discord_withholds_from_somebody_is_not_theirs_to_read() {
    run(async |chat| {
        let guild = &chat.guild;
        let (quiet, voice, closed) = (
            guild.text("quiet"),
            guild.voice("voice"),
            guild.voice("closed"),
        );
        quiet.denies_to(chat.ann.id(), Permissions::READ_MESSAGE_HISTORY);
        closed.denies_to(chat.ann.id(), Permissions::CONNECT);
        // What comes later has been heard with the channels.
        chat.asks("hello").await.hears("echo: hello").await;
        let place = |channel: &DiscordChannel| {
            AudienceId::new(format!("discord/{}/{}", guild.id(), channel.id()))
        };
        let places = [&chat.general, &voice, &quiet, &closed].map(place);
        let membership = chat.home.options.memberships.named("discord").unwrap();
        let account = format!("discord/{}", chat.ann.id());
        let readable = membership.readable(&account, places.to_vec()).await;
        assert_eq!(readable.unwrap(), places[..2]);
    });
}

#[test]
fn without_the_message_content_a_quiet_reply_to_it_is_left_alone() {
    run_in(without_message_content(), async |chat| {
        let thread = chat.asks("hello").await;
        let answer = thread.hears("echo: hello").await;
        thread.reply_quietly(answer.id, "thanks, everybody");
        thread.mention("still there?");
        thread.hears("echo: still there?").await;
        let heard = &chat.bot.log().messages;
        assert_eq!(heard.len(), 2, "{heard:#?}");
    });
}

#[test]
fn the_doctor_tells_token_intents_guilds_and_commands() {
    run(async |chat| {
        let findings = check(&chat.home.options).await;
        assert!(
            findings.iter().all(|it| it.verdict == CheckStatus::Ok),
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
        let address = invite(&chat.home.options).await.unwrap();
        let id = chat.discord.bot();
        assert_eq!(
            address,
            format!(
                "https://discord.com/oauth2/authorize?client_id={id}&scope=bot+applications.commands&permissions=377957190656"
            )
        );
        let mut closed = chat.home.options.clone();
        closed.allow = "".parse().unwrap();
        closed.guild = Some(muninn_discord::GuildId::new(
            chat.guild.id().to_string().parse().unwrap(),
        ));
        let findings = check(&closed).await;
        assert!(
            findings[0].verdict == CheckStatus::Error && findings[0].text.contains("DISCORD_ALLOW")
        );
        assert!(
            findings
                .last()
                .unwrap()
                .text
                .contains("not registered in server")
        );
        // Discord cannot be reached.
        let mut options = chat.home.options.clone();
        options.api = muninn_discord::ApiEndpoint::Proxy("http://127.0.0.1:1".to_owned());
        let findings = check(&options).await;
        assert_eq!(findings[0].verdict, CheckStatus::Error);
    });
}

#[test]
fn the_doctor_names_the_permissions_that_are_missing() {
    run(async |chat| {
        let missing = Permissions::SEND_MESSAGES_IN_THREADS | Permissions::CREATE_PUBLIC_THREADS;
        chat.guild.takes_from_everyone(missing);
        let findings = check(&chat.home.options).await;
        let named = "in Ravens it lacks Create Public Threads, Send Messages in Threads";
        let is_named = |it: &muninn_platform::SelfCheckFinding| {
            it.verdict == CheckStatus::Error && it.text.starts_with(named)
        };
        assert!(findings.iter().any(is_named), "{findings:?}");
    });
}

#[test]
fn the_doctor_names_the_channels_that_take_permissions_away() {
    run(async |chat| {
        let guild = &chat.guild;
        let (quiet, rules) = (guild.text("quiet"), guild.text("rules"));
        let posts = guild.forum("posts");
        quiet.denies(Permissions::SEND_MESSAGES | Permissions::CREATE_PUBLIC_THREADS);
        rules.denies(Permissions::SEND_MESSAGES);
        posts.denies(Permissions::READ_MESSAGE_HISTORY | Permissions::SEND_MESSAGES);
        let hidden = guild.text("hidden");
        hidden.denies(Permissions::VIEW_CHANNEL | Permissions::SEND_MESSAGES);
        // A voice channel has no threads, and the bot does not answer there.
        guild.voice("voice").denies(Permissions::SEND_MESSAGES);
        let told = async |options: &muninn_discord::DiscordOptions| {
            let findings = check(options).await.into_iter();
            let told = findings.filter(|it| it.verdict != CheckStatus::Ok);
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
            told(&chat.home.options).await,
            [
                "Error: in Ravens these channels take Send Messages away from it: #quiet, #rules",
                "Error: in Ravens these channels take Read Message History away from it: #posts",
                "Warning: in Ravens these channels take Create Public Threads away from it: #quiet",
            ]
        );
        // Hidden channels are not reported, unless the allow list names them.
        let mut options = chat.home.options.clone();
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
    });
}
