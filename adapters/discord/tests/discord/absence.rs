//! Restarts and crashes of the bot.

use loopback_discord::Permissions;
use muninn_platform::testing::EchoLog;
use muninn_platform::{Announced, AudienceId};
use serde_json::json;

use crate::support::{Echoes, run};

#[test]
fn what_was_accepted_is_answered_after_a_crash() {
    run(async |chat| {
        let question = chat.mention("wait a moment");
        chat.bot.hears().await;
        chat.crashes().await;
        chat.bot.hears().await;
        chat.bot.go_on();
        let thread = chat.thread_on(question).await;
        thread.hears("echo: a moment").await;
    });
}

#[test]
fn a_crash_while_an_answer_grows_goes_on_with_the_same_message() {
    run(async |chat| {
        let thread = chat.asks("grow on").await;
        let growing = thread
            .finds("so far", |said| said.text.starts_with("so far"))
            .await;
        chat.crashes().await;
        chat.bot.hears().await;
        chat.bot.go_on();
        let answer = thread.hears("echo: on").await;
        assert_eq!(answer.id, growing.id, "no second message");
        // In a thread with other answers too.
        thread.echoes("hello").await;
        chat.rests().await;
        thread.say("grow further");
        let growing = thread
            .finds("so far", |said| {
                said.text.starts_with("so far") && said.id != answer.id
            })
            .await;
        chat.crashes().await;
        chat.bot.hears().await;
        chat.bot.go_on();
        let answer = thread.hears("echo: further").await;
        assert_eq!(answer.id, growing.id);
        assert_eq!(thread.said().len(), 3);
    });
}

#[test]
fn after_a_crash_an_interaction_is_answered_by_an_ordinary_message() {
    run(async |chat| {
        let asked = chat.ask("wait for it", &[]);
        asked.is_acknowledged().await;
        chat.bot.hears().await;
        chat.crashes().await;
        chat.bot.hears().await;
        chat.bot.go_on();
        let expected = format!("-# For <@{}>\necho: for it", chat.ann.id());
        chat.hears(&expected).await;
        chat.rests().await;
        let private = chat.ask("wait in private", &[("private", json!(true))]);
        private.is_acknowledged().await;
        chat.bot.hears_number(2).await;
        chat.crashes().await;
        chat.bot.hears().await;
        chat.bot.go_on();
        let expected = format!("-# For <@{}>\necho: in private", chat.ann.id());
        chat.ann.direct().hears(&expected).await;
    });
}

#[test]
fn an_answer_that_is_out_is_not_said_again() {
    // Discord's response to the message is lost, and then the bot is killed.
    for by_command in [false, true] {
        run(async |chat| {
            let direct = chat.ann.direct();
            let original = "/webhooks/{webhook_id}/{webhook_token}/messages/@original";
            let gate = if by_command {
                chat.ask("grow it", &[])
                    .finds("so far", |it| it.text.starts_with("so"))
                    .await;
                chat.discord.next("PATCH", original).loses_its_answer();
                chat.discord.next("PATCH", original).is_held()
            } else {
                let channel = "/channels/{channel_id}/messages";
                chat.discord.next("POST", channel).loses_its_answer();
                let gate = chat.discord.next("POST", channel).is_held();
                direct.say("hello");
                gate
            };
            chat.bot.go_on();
            gate.is_reached().await;
            chat.bot.dies();
            chat.discord.connected(0).await;
            gate.open();
            chat.starts_again().await;
            chat.bot.hears().await;
            chat.bot.go_on();
            let (place, text) = if by_command {
                (&**chat, "echo: it")
            } else {
                (&direct, "echo: hello")
            };
            place.hears(text).await;
            direct.echoes("next").await;
            let texts: Vec<String> = place.said().into_iter().map(|it| it.text).collect();
            assert_eq!(
                texts.iter().filter(|it| *it == text).count(),
                1,
                "{texts:?}"
            );
        });
    }
}

#[test]
fn an_announcement_after_an_answer_stays_when_the_answer_is_searched() {
    run(async |chat| {
        let is_connected = |log: &EchoLog| (log.connected > 0).then_some(());
        chat.bot.gets("its connection", is_connected).await;
        chat.general.denies(Permissions::CREATE_PUBLIC_THREADS);
        let audience =
            AudienceId::new(format!("discord/{}/{}", chat.guild.id(), chat.general.id()));
        let channel = "/channels/{channel_id}/messages";
        chat.discord.next("POST", channel).loses_its_answer();
        let gate = chat.discord.next("POST", channel).is_held();
        chat.mention("hello");
        gate.is_reached().await;
        let said = chat.bot.announce(&audience, "A digest.").await;
        assert!(matches!(said, Announced::Said(_)), "{said:?}");
        chat.bot.dies();
        chat.discord.connected(0).await;
        gate.open();
        chat.starts_again().await;
        chat.bot.hears().await;
        chat.rests().await;
        let texts: Vec<String> = chat.said().into_iter().map(|it| it.text).collect();
        assert_eq!(texts, ["echo: hello", "A digest."]);
    });
}

#[test]
fn buttons_work_after_a_restart() {
    run(async |chat| {
        let thread = chat.asks("hello").await;
        let answer = thread.hears("echo: hello").await;
        // An unfinished answer is completed after a crash.
        chat.rests().await;
        chat.crashes().await;
        let why = thread.click(&answer, "Why?").is_answered().await;
        assert!(
            why.text
                .contains(&format!("{}/{}", answer.channel, answer.id)),
            "{}",
            why.text
        );
        thread.click(&answer, "👍").is_answered().await;
        thread.click(&answer, "Regenerate");
        let again = thread.hears("echo: hello again").await;
        assert_eq!(again.id, answer.id);
    });
}
