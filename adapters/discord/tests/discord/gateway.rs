//! Failures of the gateway: serenity recovers, and nothing is lost or duplicated.

use loopback_discord::Settings;
use muninn_discord::{Shards, check};
use muninn_platform::CheckStatus;

use crate::support::{DiscordFixture, DiscordInstallation, DiscordTransport, Echoes, run};

/// Runs a turn during which something happens to the gateway, and one after it.
fn goes_on_after(happen: impl AsyncFnOnce(&DiscordFixture)) {
    run(async |chat| {
        let question = chat.mention("wait for it");
        chat.bot.hears().await;
        happen(chat).await;
        chat.bot.go_on();
        let thread = chat.thread_on(question).await;
        thread.hears("echo: for it").await;
        thread.echoes("and now?").await;
        assert_eq!(thread.said().len(), 2);
    });
}

#[test]
fn a_dropped_connection_is_resumed_and_what_was_missed_comes() {
    goes_on_after(async |chat| {
        let before = chat.discord.counts();
        chat.discord.drops_connections();
        // Sent while the bot is not connected.
        let direct = chat.ann.direct();
        direct.say("are you there?");
        chat.discord
            .counted("a resumption", |counts| counts.resumed > before.resumed)
            .await;
        direct.hears("echo: are you there?").await;
        assert_eq!(chat.discord.counts().identified, before.identified);
    });
}

#[test]
fn a_request_to_reconnect_is_followed() {
    goes_on_after(async |chat| {
        chat.discord.asks_to_reconnect();
        chat.discord
            .counted("a resumption", |counts| counts.resumed == 1)
            .await;
    });
}

#[test]
fn an_invalid_session_is_begun_anew() {
    goes_on_after(async |chat| {
        chat.discord.invalidates_sessions(false);
        chat.discord
            .counted("a new session", |counts| counts.identified == 2)
            .await;
        chat.discord.connected(1).await;
    });
}

#[test]
fn a_session_that_can_be_resumed_is_and_a_sign_of_life_is_given() {
    goes_on_after(async |chat| {
        let before = chat.discord.counts();
        chat.discord.asks_for_heartbeat();
        chat.discord
            .counted("a heartbeat", |counts| counts.beats > before.beats)
            .await;
        chat.discord.invalidates_sessions(true);
        chat.discord
            .counted("a resumption", |counts| counts.resumed > before.resumed)
            .await;
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn several_shards_are_one_bot() {
    for (shards, set) in [(Shards::Auto, 2), (Shards::Number(2), 1)] {
        let settings = Settings {
            shards: set,
            ..Settings::default()
        };
        let mut home = DiscordInstallation::with(DiscordTransport::Proxy, settings).await;
        home.options.shards = shards;
        let bot = home.begin();
        home.discord.connected(2).await;
        let mut seen = home.discord.shards();
        seen.sort_unstable();
        assert_eq!(seen, [(0, 2), (1, 2)]);
        for name in ["general", "random"] {
            let channel = home.guild.text(name);
            let chat = home.guild.person("ann").at(&channel);
            let question = chat.mention(name);
            chat.thread_on(question)
                .await
                .hears(&format!("echo: {name}"))
                .await;
        }
        bot.stop().await;
    }
}

async fn gives_up_after(code: u16, says: &str) {
    let home = DiscordInstallation::new().await;
    home.discord.refuses_sessions(code);
    let said = home.begin().gives_up().await;
    assert!(said.contains(says), "{code}: {said}");
    // Discord resets a token after a thousand attempts per day.
    let refused = home.discord.counts().refused;
    assert!(refused <= 5, "{code}: {refused} tries");
    let findings = check(&home.options).await;
    let is_said = |it: &muninn_platform::SelfCheckFinding| {
        it.verdict == CheckStatus::Error && it.text.contains(says)
    };
    assert!(findings.iter().any(is_said), "{code}: {findings:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_discord_closes_for_good_ends_it_with_what_to_do() {
    tokio::join!(
        gives_up_after(4004, "DISCORD_TOKEN"),
        gives_up_after(4010, "DISCORD_SHARDS"),
        gives_up_after(4011, "DISCORD_SHARDS=auto"),
        gives_up_after(4012, "update Muninn"),
        gives_up_after(4013, "update Muninn"),
        gives_up_after(4014, "Message Content Intent"),
    );
}
