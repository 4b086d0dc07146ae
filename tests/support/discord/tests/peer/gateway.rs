//! Sessions, disconnects, shards and intents, with serenity as the client.

use std::time::Duration;

use loopback_discord::{Discord, Settings, TOKEN};
use serenity::all::{ClientBuilder, GatewayError, GatewayIntents};

use crate::support::{Peer, PeerTransport, all_intents, http, with_peer};

#[tokio::test(flavor = "multi_thread")]
async fn what_was_missed_is_told_when_it_comes_back() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let ann = discord.guild("Ravens").person("ann");
    let chat = ann.direct();
    chat.say("before");
    chat.hears("echo: before").await;
    discord.gateway_is_down(true);
    discord.drops_connections();
    chat.say("meanwhile");
    discord.connected(0).await;
    discord.gateway_is_down(false);
    chat.hears("echo: meanwhile").await;
    let counts = discord.counts();
    assert_eq!((counts.identified, counts.resumed), (1, 1));
    assert_eq!(chat.said().len(), 2);
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_comes_back_when_it_is_asked_to() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let chat = discord.guild("Ravens").person("ann").direct();
    assert_eq!(discord.intents(), [all_intents().bits()]);
    discord.asks_for_heartbeat();
    discord.asks_to_reconnect();
    discord
        .counted("a resumed session", |counts| counts.resumed == 1)
        .await;
    chat.say("one");
    chat.hears("echo: one").await;
    discord.invalidates_sessions(true);
    discord
        .counted("another resumed session", |counts| counts.resumed == 2)
        .await;
    chat.say("two");
    chat.hears("echo: two").await;
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_gone_is_begun_anew() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let chat = discord.guild("Ravens").person("ann").direct();
    discord.invalidates_sessions(false);
    discord
        .counted("a second session", |counts| counts.identified == 2)
        .await;
    chat.say("one");
    chat.hears("echo: one").await;
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_may_come_several_times() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let chat = discord.guild("Ravens").person("ann").direct();
    discord.repeats_events(2);
    chat.say("thrice");
    let all = chat.sees("three answers", |all| {
        let answered = all
            .iter()
            .filter(|said| said.text == "echo: thrice")
            .count();
        (answered == 3).then_some(())
    });
    all.await;
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signs_of_life_are_expected_and_given() {
    // serenity checks twice a second whether a heartbeat is due.
    let settings = Settings {
        heartbeat: Duration::from_millis(700),
        ..Settings::default()
    };
    let discord = Discord::start_with(settings).await;
    let peer = Peer::start(&discord, PeerTransport::Proxy, all_intents()).await;
    discord
        .counted("heartbeats", |counts| counts.beats >= 3)
        .await;
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_token_and_intents_that_are_switched_off_are_refused() {
    let discord = Discord::start_with(Settings {
        privileged: 0,
        ..Settings::default()
    })
    .await;
    let wrong = [
        (
            TOKEN,
            GatewayIntents::MESSAGE_CONTENT,
            "DisallowedGatewayIntents",
        ),
        ("another", GatewayIntents::GUILDS, "InvalidAuthentication"),
    ];
    for (token, intents, expected) in wrong {
        let builder =
            ClientBuilder::new_with_http(http(&discord, PeerTransport::Proxy, token), intents);
        let mut client = builder.await.unwrap();
        let error = client.start_shards(1).await.unwrap_err();
        let serenity::Error::Gateway(error) = error else {
            panic!("{error:?}")
        };
        let matches = match error {
            GatewayError::DisallowedGatewayIntents => "DisallowedGatewayIntents",
            GatewayError::InvalidAuthentication => "InvalidAuthentication",
            _ => "another",
        };
        assert_eq!(matches, expected);
    }
    let me = http(&discord, PeerTransport::Proxy, "another")
        .get_current_user()
        .await;
    assert!(me.unwrap_err().to_string().contains("401"));
    assert_eq!(discord.invalid_requests(), 1);
    discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn each_shard_hears_of_its_own_servers() {
    let discord = Discord::start_with(Settings {
        shards: 2,
        ..Settings::default()
    })
    .await;
    let guilds = [
        discord.guild("one"),
        discord.guild("two"),
        discord.guild("three"),
    ];
    let people = guilds
        .each_ref()
        .map(|guild| (guild.person("ann"), guild.text("general")));
    let peer = Peer::start_shards(&discord, PeerTransport::Proxy, all_intents(), 2).await;
    assert_eq!(discord.shards(), [(0, 2), (1, 2)]);
    for (ann, general) in &people {
        let chat = ann.at(general);
        let question = chat.mention("where am I?");
        chat.thread_on(question)
            .await
            .hears("echo: where am I?")
            .await;
        assert_eq!(chat.threads().len(), 1);
    }
    let direct = people[2].0.direct();
    direct.say("to the first shard");
    direct.hears("echo: to the first shard").await;
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_intent_only_what_is_meant_for_it_has_content() {
    let discord = Discord::start_with(Settings {
        privileged: 0,
        ..Settings::default()
    })
    .await;
    let guild = discord.guild("Ravens");
    let chat = guild.person("ann").at(&guild.text("general"));
    let peer = Peer::start(
        &discord,
        PeerTransport::Proxy,
        GatewayIntents::non_privileged(),
    )
    .await;
    let question = chat.mention("hello");
    let thread = chat.thread_on(question).await;
    thread.hears("echo: hello").await;
    thread.say("a secret of people");
    thread.hears("echo:").await;
    thread.mention("and now?");
    thread.hears("echo: and now?").await;
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_come_and_go() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let guild = discord.guild("Ravens");
    guild.text("general");
    guild.role("keeper", loopback_discord::Permissions::NONE);
    guild.is_out(true);
    guild.is_out(false);
    guild.removes_bot();
    let another = discord.guild_without_bot("Crows");
    another.text("general");
    another.invite_bot();
    for event in [
        "GUILD_CREATE",
        "GUILD_DELETE",
        "CHANNEL_CREATE",
        "GUILD_ROLE_CREATE",
    ] {
        peer.hears_of(event).await;
    }
    let name = another.id();
    let cached = || peer.cache.guild(name.get()).map(|guild| guild.name.clone());
    while cached().as_deref() != Some("Crows") {
        tokio::task::yield_now().await;
    }
    peer.finish(discord).await;
}
