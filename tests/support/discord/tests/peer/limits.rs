//! Limits and failures, with serenity's own rate limiter and without it.

use std::time::{Duration, Instant};

use loopback_discord::{Discord, Limits, Settings};

use crate::support::{Peer, PeerTransport, all_intents, with_peer};

const POST: &str = "/channels/{channel_id}/messages";

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_listens_waits_as_long_as_it_is_told() {
    let (discord, peer) = with_peer(PeerTransport::Tls).await;
    let chat = discord.guild("Ravens").person("ann").direct();
    let begun = Instant::now();
    discord
        .next("POST", POST)
        .is_limited(Duration::from_millis(400));
    chat.say("one");
    chat.hears("echo: one").await;
    assert!(begun.elapsed() >= Duration::from_millis(400));
    discord
        .next("POST", POST)
        .is_limited_globally(Duration::from_millis(600));
    chat.say("two");
    chat.hears("echo: two").await;
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(
        (discord.refusals().len(), discord.invalid_requests()),
        (2, 2)
    );
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_headers_keep_a_client_from_ever_being_refused() {
    let settings = Settings {
        limits: Limits::AsDiscord,
        ..Settings::default()
    };
    let discord = Discord::start_with(settings).await;
    let peer = Peer::start(&discord, PeerTransport::Tls, all_intents()).await;
    let chat = discord.guild("Ravens").person("ann").direct();
    for number in 0..7 {
        chat.say(&format!("{number}"));
        chat.hears(&format!("echo: {number}")).await;
    }
    assert_eq!(discord.refusals().len(), 0);
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_limiter_a_refusal_is_an_error() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let chat = discord.guild("Ravens").person("ann").direct();
    discord
        .next("POST", POST)
        .is_limited(Duration::from_millis(1));
    chat.say("one");
    assert!(peer.complains().await.contains("429"));
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_break_and_lines_are_cut() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let chat = discord.guild("Ravens").person("ann").direct();
    discord.next("POST", POST).fails(502);
    chat.say("one");
    assert!(peer.complains().await.contains("502"));
    discord.next("POST", POST).is_cut();
    chat.say("two");
    peer.complains().await;
    assert_eq!(chat.said().len(), 0);
    discord.next("POST", POST).loses_its_answer();
    chat.say("three");
    peer.complains().await;
    assert_eq!(chat.said().len(), 1);
    discord
        .next("POST", POST)
        .is_slow(Duration::from_millis(50));
    chat.say("four");
    chat.hears("echo: four").await;
    let gate = discord.next("POST", POST).is_held();
    chat.say("five");
    gate.is_reached().await;
    gate.open();
    chat.hears("echo: five").await;
    peer.finish(discord).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interaction_lives_for_fifteen_minutes() {
    let (discord, peer) = with_peer(PeerTransport::Proxy).await;
    let guild = discord.guild("Ravens");
    let chat = guild.person("ann").at(&guild.text("general"));
    let held = discord
        .next(
            "PATCH",
            "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
        )
        .is_held();
    let asked = chat.ask("in time?", &[]);
    asked.is_acknowledged().await;
    held.is_reached().await;
    discord.lets_pass(Duration::from_mins(16));
    held.open();
    assert!(peer.complains().await.contains("50027"));
    assert!(asked.answer().is_some_and(|answer| answer.is_thinking));

    let late = discord
        .next(
            "POST",
            "/interactions/{interaction_id}/{interaction_token}/callback",
        )
        .is_held();
    discord.excuses("nobody acknowledged the interaction");
    chat.ask("too late?", &[]);
    late.is_reached().await;
    discord.lets_pass(Duration::from_secs(4));
    late.open();
    assert!(peer.complains().await.contains("10062"));
    peer.finish(discord).await;
}
