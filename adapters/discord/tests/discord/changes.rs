//! What people do after they have said something: edit, take back.

use loopback_discord::{Permissions, Thread};
use muninn_platform::testing::{EchoBot, EchoLog};
use muninn_platform::{Body, Command};

use crate::support::{Scene, scene};

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_question_gets_its_answer_edited() {
    let scene = scene().await;
    let question = scene.chat.mention("one");
    let thread = scene.chat.thread_on(question).await;
    let answer = thread.hears("echo: one").await;
    let bot = scene.home.discord.bot();
    scene.chat.edit(question, &format!("<@{bot}> two"));
    let edited = thread.hears("echo: two").await;
    assert_eq!((edited.id, edited.buttons.len()), (answer.id, 4));
    assert_eq!(thread.said().len(), 1);
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_longer_answer_grows_by_messages_and_a_shorter_one_loses_them() {
    let scene = scene().await;
    let chat = scene.ann.direct();
    let question = chat.say("one");
    let first = chat.hears("echo: one").await;
    assert!(first.text.len() < 100);
    chat.edit(question, &"two ".repeat(450));
    chat.finds("the second", |said| {
        said.text.ends_with("two") && said.id == first.id
    })
    .await;
    let long: String = format!("{} {}", "x".repeat(1_500), "y".repeat(480));
    chat.edit(question, &long);
    let part = chat
        .finds("a second part", |said| said.id != first.id)
        .await;
    assert!(part.text.starts_with('y'), "{}", part.text);
    chat.edit(question, "three");
    chat.hears("echo: three").await;
    chat.finds("the part gone", |said| {
        said.id == part.id && said.is_deleted
    })
    .await;
    assert_eq!(chat.said().len(), 1);
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_question_takes_its_answer_with_it() {
    let scene = scene().await;
    let question = scene.chat.mention("secret");
    let thread = scene.chat.thread_on(question).await;
    let answer = thread.hears("echo: secret").await;
    scene.chat.delete(question);
    thread
        .finds("the answer gone", |said| {
            said.id == answer.id && said.is_deleted
        })
        .await;
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_moderator_deletes_in_bulk_is_followed() {
    let scene = scene().await;
    let question = scene.chat.mention("hello");
    let thread = scene.chat.thread_on(question).await;
    thread.hears("echo: hello").await;
    let mut questions = Vec::new();
    for text in ["one", "two", "three"] {
        questions.push(thread.say(text));
        thread.hears(&format!("echo: {text}")).await;
    }
    let moderator = scene.home.guild.moderator("mia").at(&thread.channel());
    moderator.bulk_delete(&questions[..2]);
    thread
        .sees("two answers gone", |all| {
            let gone = |text: &str| all.iter().any(|it| it.text == text && it.is_deleted);
            (gone("echo: one") && gone("echo: two")).then_some(())
        })
        .await;
    let left: Vec<String> = thread.said().into_iter().map(|it| it.text).collect();
    assert_eq!(left, ["echo: hello", "echo: three"]);
    scene.finish().await;
}

/// The places that the bot was told are gone.
fn gone(log: &EchoLog) -> Vec<String> {
    let told = log.messages.iter();
    let gone = told.filter(|it| it.body == Body::Command(Command::PlaceGone));
    gone.map(|it| it.conversation.to_string()).collect()
}

async fn is_told(bot: &EchoBot, place: &str) {
    let told = |log: &EchoLog| gone(log).contains(&place.to_owned()).then_some(());
    bot.gets("that a place is gone", told).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_with_its_place_is_told() {
    let scene = scene().await;
    let guild = scene.home.guild.id();
    let question = scene.chat.mention("hello");
    let thread = scene.chat.thread_on(question).await;
    thread.hears("echo: hello").await;
    thread.channel().is_deleted();
    is_told(&scene.bot, &format!("discord/{guild}/{}", thread.id())).await;
    // An outage deletes nothing.
    scene.home.guild.is_out(true);
    scene.home.guild.is_out(false);
    scene.general.is_deleted();
    let general = format!("discord/{guild}/{}", scene.general.id());
    is_told(&scene.bot, &general).await;
    scene.home.guild.removes_bot();
    is_told(&scene.bot, &format!("discord/{guild}")).await;
    assert_eq!(gone(&scene.bot.log()).len(), 3);
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_deleted_while_it_was_away_is_told_at_the_start() {
    let scene = scene().await;
    let guild = scene.home.guild.id();
    let question = scene.chat.mention("hello");
    let thread = scene.chat.thread_on(question).await;
    thread.hears("echo: hello").await;
    let other = scene.chat.mention("stays");
    scene.chat.thread_on(other).await.hears("echo: stays").await;
    let Scene { bot, home, .. } = scene;
    bot.stop().await;
    thread.channel().is_deleted();
    let bot = home.start().await;
    is_told(&bot, &format!("discord/{guild}/{}", thread.id())).await;
    assert_eq!(gone(&bot.log()).len(), 1);
    bot.stop().await;
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_is_still_to_be_opened_is_not_gone() {
    let scene = scene().await;
    let guild = scene.home.guild.id();
    let question = scene.chat.mention("deleted");
    let deleted = scene.chat.thread_on(question).await;
    deleted.hears("echo: deleted").await;
    let Scene {
        bot, home, chat, ..
    } = scene;
    // Of the process that was asked, and of the one that goes on with it.
    let opening = home
        .discord
        .next(
            "POST",
            "/channels/{channel_id}/messages/{message_id}/threads",
        )
        .times(3)
        .is_held();
    let question = chat.mention("hello");
    opening.is_reached().await;
    bot.crash();
    deleted.channel().is_deleted();
    let bot = home.start().await;
    is_told(&bot, &format!("discord/{guild}/{}", deleted.id())).await;
    // Nor is that of a question that came since.
    let other = chat.mention("and that?");
    bot.gets("it", |log| log.messages.get(2).cloned()).await;
    opening.open();
    for (question, answer) in [(question, "echo: hello"), (other, "echo: and that?")] {
        chat.thread_on(question).await.hears(answer).await;
    }
    assert_eq!(gone(&bot.stop().await).len(), 1);
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_without_a_thread_of_its_own_is_not_gone_at_the_next_start() {
    let scene = scene().await;
    scene.general.denies(Permissions::CREATE_PUBLIC_THREADS);
    scene.chat.mention("hello");
    scene.chat.hears("echo: hello").await;
    let guild = scene.home.guild.id();
    let marker = scene.home.guild.text("other");
    let other = scene.ann.at(&marker);
    let question = other.mention("deleted");
    let deleted = other.thread_on(question).await;
    deleted.hears("echo: deleted").await;
    let Scene { bot, home, .. } = scene;
    bot.stop().await;
    deleted.channel().is_deleted();
    let bot = home.start().await;
    is_told(&bot, &format!("discord/{guild}/{}", deleted.id())).await;
    assert_eq!(gone(&bot.stop().await).len(), 1);
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_threads_name_follows_its_question() {
    let scene = scene().await;
    let question = scene.chat.mention("what is in Berlin?");
    let thread = scene.chat.thread_on(question).await;
    thread.hears("echo: what is in Berlin?").await;
    let bot = scene.home.discord.bot();
    scene
        .chat
        .edit(question, &format!("<@{bot}> what is in Oslo?"));
    thread.hears("echo: what is in Oslo?").await;
    let named = |name: &'static str| move |thread: &Thread| thread.name == name;
    scene
        .chat
        .finds_thread("its new name", named("what is in Oslo?"))
        .await;
    scene.chat.delete(question);
    scene
        .chat
        .finds_thread("its neutral name", named("Question"))
        .await;
    scene.finish().await;
}
