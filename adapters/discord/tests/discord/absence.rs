//! The bot ends and begins again.

use serde_json::json;

use crate::support::{Home, Scene, scene, scene_in};

impl Scene {
    /// Ends the bot as `kill -9` does, and starts it again.
    async fn crash(self) -> Self {
        let Self {
            bot,
            general,
            ann,
            chat,
            home,
        } = self;
        bot.crash();
        home.discord.connected(0).await;
        let bot = home.start().await;
        Self {
            bot,
            general,
            ann,
            chat,
            home,
        }
    }

    async fn waits(&self) {
        let asked = |log: &muninn_platform::testing::EchoLog| log.messages.first().cloned();
        self.bot.gets("the question", asked).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_accepted_is_answered_after_a_crash() {
    let scene = scene().await;
    let question = scene.chat.mention("wait a moment");
    scene.waits().await;
    let scene = scene.crash().await;
    scene.waits().await;
    scene.bot.go_on();
    let thread = scene.chat.thread_on(question).await;
    thread.hears("echo: a moment").await;
    scene.bot.stop().await;
    scene.home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_while_an_answer_grows_goes_on_with_the_same_message() {
    let scene = scene().await;
    let question = scene.chat.mention("grow on");
    let thread = scene.chat.thread_on(question).await;
    let growing = thread
        .finds("so far", |said| said.text.starts_with("so far"))
        .await;
    let scene = scene.crash().await;
    scene.waits().await;
    scene.bot.go_on();
    let answer = thread.hears("echo: on").await;
    assert_eq!(answer.id, growing.id, "no second message");
    // In a thread with other answers too.
    thread.say("hello");
    thread.hears("echo: hello").await;
    thread.say("grow further");
    let growing = thread
        .finds("so far", |said| {
            said.text.starts_with("so far") && said.id != answer.id
        })
        .await;
    let scene = scene.crash().await;
    scene.waits().await;
    scene.bot.go_on();
    let answer = thread.hears("echo: further").await;
    assert_eq!(answer.id, growing.id);
    assert_eq!(thread.said().len(), 3);
    scene.bot.stop().await;
    scene.home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_an_interaction_is_answered_by_an_ordinary_message() {
    let scene = scene().await;
    let asked = scene.chat.ask("wait for it", &[]);
    asked.is_acknowledged().await;
    scene.waits().await;
    let scene = scene.crash().await;
    scene.waits().await;
    scene.bot.go_on();
    let expected = format!("-# For <@{}>\necho: for it", scene.ann.id());
    scene.chat.hears(&expected).await;
    let private = scene
        .chat
        .ask("wait in private", &[("private", json!(true))]);
    private.is_acknowledged().await;
    scene
        .bot
        .gets("the second", |log| log.messages.get(1).cloned())
        .await;
    let scene = scene.crash().await;
    scene.waits().await;
    scene.bot.go_on();
    let expected = format!("-# For <@{}>\necho: in private", scene.ann.id());
    scene.ann.direct().hears(&expected).await;
    scene.bot.stop().await;
    scene.home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_out_is_not_said_again() {
    // The answer of Discord to the message is lost, and then the bot.
    for by_command in [false, true] {
        let scene = scene().await;
        let chat = scene.ann.direct();
        let original = "/webhooks/{webhook_id}/{webhook_token}/messages/@original";
        let gate = if by_command {
            scene
                .chat
                .ask("grow it", &[])
                .finds("so far", |it| it.text.starts_with("so"))
                .await;
            scene
                .home
                .discord
                .next("PATCH", original)
                .loses_its_answer();
            scene.home.discord.next("PATCH", original).is_held()
        } else {
            let channel = "/channels/{channel_id}/messages";
            scene.home.discord.next("POST", channel).loses_its_answer();
            let gate = scene.home.discord.next("POST", channel).is_held();
            chat.say("hello");
            gate
        };
        scene.bot.go_on();
        gate.is_reached().await;
        let Scene {
            bot,
            general,
            ann,
            chat: in_channel,
            home,
        } = scene;
        bot.crash();
        home.discord.connected(0).await;
        gate.open();
        let bot = home.start().await;
        let scene = Scene {
            bot,
            general,
            ann,
            chat: in_channel,
            home,
        };
        scene.waits().await;
        scene.bot.go_on();
        let (place, text) = if by_command {
            (&scene.chat, "echo: it")
        } else {
            (&chat, "echo: hello")
        };
        place.hears(text).await;
        chat.say("next");
        chat.hears("echo: next").await;
        let texts: Vec<String> = place.said().into_iter().map(|it| it.text).collect();
        assert_eq!(
            texts.iter().filter(|it| *it == text).count(),
            1,
            "{texts:?}"
        );
        scene.bot.stop().await;
        scene.home.discord.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn buttons_work_after_a_restart() {
    let scene = scene_in(Home::new().await).await;
    let question = scene.chat.mention("hello");
    let thread = scene.chat.thread_on(question).await;
    let answer = thread.hears("echo: hello").await;
    let scene = scene.crash().await;
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
    scene.finish().await;
}
