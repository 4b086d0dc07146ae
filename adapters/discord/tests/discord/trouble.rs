//! What goes wrong on the way out: limits, refusals, channels that are gone.

use std::time::Duration;

use loopback_discord::{Limits, Permissions, Settings};

use crate::support::{Home, Scene, Way, scene, scene_in};

const MESSAGES: &str = "/channels/{channel_id}/messages";
const CALLBACK: &str = "/interactions/{interaction_id}/{interaction_token}/callback";
const ORIGINAL: &str = "/webhooks/{webhook_id}/{webhook_token}/messages/@original";

async fn real() -> Scene {
    scene_in(Home::with(Way::Real, Settings::default()).await).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rest_that_discord_wants_is_taken() {
    let scene = real().await;
    let direct = scene.ann.direct();
    scene
        .home
        .discord
        .next("POST", MESSAGES)
        .is_limited(Duration::from_secs(1));
    direct.say("one");
    direct.hears("echo: one").await;
    scene
        .home
        .discord
        .next("POST", MESSAGES)
        .is_limited_globally(Duration::from_secs(1));
    direct.say("two");
    direct.hears("echo: two").await;
    scene
        .home
        .discord
        .next("PATCH", ORIGINAL)
        .is_limited(Duration::from_secs(1));
    scene.chat.ask("three", &[]).hears("echo: three").await;
    assert_eq!(direct.said().len(), 2);
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rest_that_a_proxy_passes_on_is_taken_too() {
    let scene = scene().await;
    let direct = scene.ann.direct();
    let discord = &scene.home.discord;
    discord
        .next("POST", MESSAGES)
        .is_limited(Duration::from_secs(1));
    direct.say("one");
    direct.hears("echo: one").await;
    assert_eq!(
        discord.invalid_requests(),
        1,
        "no knocking at a closed door"
    );
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn within_discords_own_limits_nothing_is_refused() {
    let settings = Settings {
        limits: Limits::AsDiscord,
        ..Settings::default()
    };
    let scene = scene_in(Home::with(Way::Real, settings).await).await;
    let direct = scene.ann.direct();
    for number in 0..8 {
        direct.say(&format!("say {number}"));
    }
    for number in 0..8 {
        direct.hears(&number.to_string()).await;
    }
    direct.say("stream it");
    direct.hears("echo: it").await;
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_for_a_moment_is_tried_again_and_said_once() {
    let scene = scene().await;
    let direct = scene.ann.direct();
    let discord = &scene.home.discord;
    discord.next("POST", MESSAGES).fails(502);
    direct.say("one");
    direct.hears("echo: one").await;
    discord.next("POST", MESSAGES).is_cut();
    direct.say("two");
    direct.hears("echo: two").await;
    discord.next("POST", MESSAGES).loses_its_answer();
    direct.say("three");
    direct.hears("echo: three").await;
    discord.next("PATCH", ORIGINAL).fails(503);
    scene.chat.ask("four", &[]).hears("echo: four").await;
    direct.say("five");
    direct.hears("echo: five").await;
    assert_eq!(direct.said().len(), 4);
    assert_eq!(scene.chat.said().len(), 1);
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interaction_acknowledged_too_late_is_answered_by_an_ordinary_message() {
    let scene = scene().await;
    let gate = scene.home.discord.next("POST", CALLBACK).is_held();
    scene.home.discord.excuses("nobody acknowledged");
    scene.chat.ask("late?", &[]);
    gate.is_reached().await;
    scene.home.discord.lets_pass(Duration::from_secs(5));
    gate.open();
    let expected = format!("-# For <@{}>\necho: late?", scene.ann.id());
    scene.chat.hears(&expected).await;
    scene.bot.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_to_open_threads_the_answer_stands_in_the_channel() {
    let scene = scene().await;
    scene.general.denies(Permissions::CREATE_PUBLIC_THREADS);
    let question = scene.chat.mention("hello");
    let answer = scene.chat.hears("echo: hello").await;
    assert_eq!(answer.replies_to, Some(question));
    scene.finish().await;
}

/// Waits for an answer that could not be delivered.
async fn given_up(scene: &Scene) -> String {
    scene
        .bot
        .gets("the failure", |log| log.errors.first().cloned())
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_permission_is_named() {
    let scene = scene().await;
    let question = scene.chat.mention("hello");
    let thread = scene.chat.thread_on(question).await;
    thread.hears("echo: hello").await;
    scene.general.denies(Permissions::SEND_MESSAGES_IN_THREADS);
    thread.say("again");
    let error = given_up(&scene).await;
    assert!(
        error.contains("it lacks Send Messages in Threads there"),
        "{error}"
    );
    scene.bot.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archived_thread_is_opened_by_the_answer_and_a_locked_one_is_given_up() {
    let scene = scene().await;
    let question = scene.chat.mention("hello");
    let thread = scene.chat.thread_on(question).await;
    thread.hears("echo: hello").await;
    thread.say("wait one");
    scene
        .bot
        .gets("it", |log| log.messages.get(1).cloned())
        .await;
    thread.channel().is_archived();
    scene.bot.go_on();
    thread.hears("echo: one").await;
    thread.say("wait two");
    scene
        .bot
        .gets("it", |log| log.messages.get(2).cloned())
        .await;
    thread.channel().is_locked();
    scene.bot.go_on();
    let error = given_up(&scene).await;
    assert!(error.contains("is locked"), "{error}");
    scene.bot.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_that_is_deleted_in_mid_turn_is_given_up() {
    let scene = scene().await;
    let question = scene.chat.mention("wait a moment");
    let thread = scene.chat.thread_on(question).await;
    thread.sees_typing(1).await;
    scene.general.is_deleted();
    scene.bot.go_on();
    let error = given_up(&scene).await;
    assert!(error.contains("was deleted before the answer"), "{error}");
    // The rest goes on.
    let direct = scene.ann.direct();
    direct.say("still there?");
    direct.hears("echo: still there?").await;
    scene.bot.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discord_that_is_away_at_the_start_is_waited_for() {
    let home = Home::new().await;
    home.discord.next("GET", "/users/@me").times(2).fails(503);
    let bot = home.start().await;
    let direct = home.guild.person("ann").direct();
    direct.say("hello");
    direct.hears("echo: hello").await;
    bot.stop().await;
    home.discord.finish();
}
