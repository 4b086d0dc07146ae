//! What people do after they have said something: edit, take back.

use crate::support::scene;

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
