//! What answers look like on their way and in the end.

use loopback_discord::Settings;

use crate::support::{Home, Way, scene, scene_in};

#[tokio::test(flavor = "multi_thread")]
async fn a_mention_opens_a_thread_and_is_answered_there() {
    for way in [Way::Proxy, Way::Real] {
        let scene = scene_in(Home::with(way, Settings::default()).await).await;
        let question = scene.chat.mention("Where is the key?");
        let thread = scene.chat.thread_on(question).await;
        let answer = thread.hears("echo: Where is the key?").await;
        assert_eq!(scene.chat.threads()[0].name, "Where is the key?");
        assert!(answer.hides_embeds);
        let labels: Vec<&str> = answer.buttons.iter().map(|it| it.label.as_str()).collect();
        assert_eq!(labels, ["Why?", "👍", "👎", "Regenerate"]);
        thread.say("And of the door?");
        thread.hears("echo: And of the door?").await;
        assert_eq!(scene.chat.said().len(), 0, "nothing beside the thread");
        scene.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_types_while_it_works() {
    let scene = scene().await;
    let question = scene.chat.mention("wait a moment");
    let thread = scene.chat.thread_on(question).await;
    // The sign is renewed before Discord takes it away.
    thread.sees_typing(2).await;
    let at = thread.typed();
    let apart = at[1] - at[0];
    assert!((7..=9).contains(&apart.as_secs()), "{apart:?}");
    scene.bot.go_on();
    thread.hears("echo: a moment").await;
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_grows_in_one_message_at_a_gentle_pace() {
    for way in [Way::Proxy, Way::Real] {
        let scene = scene_in(Home::with(way, Settings::default()).await).await;
        let chat = scene.ann.direct();
        chat.say("stream it");
        let answer = chat.hears("echo: it").await;
        assert_eq!(answer.texts, ["step 1", "step 2", "step 3", "echo: it"]);
        assert_eq!(chat.said().len(), 1);
        let took = answer.changed - answer.created;
        assert!(took.as_millis() >= 3 * 1_200, "{took:?}");
        scene.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_shown_and_given_up_is_taken_away() {
    let scene = scene().await;
    let chat = scene.ann.direct();
    chat.say("drop it");
    let shown = chat
        .finds("to be dropped", |said| said.text.starts_with("to be"))
        .await;
    assert_eq!(shown.button("Stop").label, "Stop");
    scene.bot.go_on();
    chat.finds("it gone", |said| said.is_deleted).await;
    let asked = scene.chat.ask("drop it", &[]);
    asked
        .finds("to be dropped", |said| said.text.starts_with("to be"))
        .await;
    scene.bot.go_on();
    scene.chat.finds("it gone", |said| said.is_deleted).await;
    assert!(scene.chat.said().is_empty());
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_is_split_and_the_last_part_has_the_buttons() {
    let scene = scene().await;
    let chat = scene.ann.direct();
    let question = chat.say("long 400");
    let last = chat
        .finds("the last line", |said| said.text.contains("399 *x*"))
        .await;
    let said = chat.said();
    assert!(said.len() > 3, "{}", said.len());
    assert!(said.iter().all(|part| part.text.chars().count() <= 2_000));
    assert_eq!(said[0].replies_to, Some(question));
    assert!(said[0].buttons.is_empty());
    assert_eq!(said.last().unwrap().id, last.id);
    assert_eq!(last.buttons.len(), 4);
    let asked = scene.chat.ask("long 400", &[]);
    asked
        .finds("the last line", |said| said.text.contains("399 *x*"))
        .await;
    assert_eq!(asked.follow_ups().len(), said.len() - 1);
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_aligned_and_code_stays_whole() {
    let scene = scene().await;
    let chat = scene.ann.direct();
    chat.say("table");
    let shown = "```\na | b\n--+--\n1 | 2\n```\n\n```rust\nfn f() {}\n```";
    chat.hears(shown).await;
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_it_says_pings_anybody() {
    let scene = scene().await;
    let bob = scene.home.guild.person("bob");
    let chat = scene.ann.direct();
    chat.say(&format!(
        "say @everyone @here <@{0}> <#{1}> <@&1>",
        bob.id(),
        scene.general.id()
    ));
    let answer = chat.finds("an answer", |said| !said.text.is_empty()).await;
    assert!(
        answer.calls.is_empty() && !answer.calls_everyone,
        "{answer:#?}"
    );
    assert!(!answer.text.contains("<#1"), "{}", answer.text);
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_read_up_to_a_size() {
    let scene = scene().await;
    let chat = scene.ann.direct();
    chat.attach("note.txt", "text/plain", b"the code is 4711", "what is it?");
    chat.finds("what is in it", |said| {
        said.text.contains("file: what is it?") && said.text.contains("16 bytes, the code is 4711")
    })
    .await;
    chat.attach("big.txt", "text/plain", &[b'x'; 2_000], "and this?");
    chat.finds("that it is too large", |said| {
        said.text.contains("it has more than 1000 bytes")
    })
    .await;
    chat.attach_claiming("liar.txt", "text/plain", &[b'x'; 2_000], 10, "and that?");
    chat.finds("that it is larger than it says", |said| {
        said.text.contains("and that?") && said.text.contains("it has more than 1000 bytes")
    })
    .await;
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_asked_in_the_middle_of_a_thread_hears_what_was_said_before() {
    let scene = scene().await;
    let bob = scene.home.guild.person("bob");
    let thread = scene.chat.open_thread("plans");
    let as_bob = bob.at(&thread.channel());
    as_bob.say("We leave at nine.");
    let hint = as_bob.say("Take the bridge.");
    thread.mention("background");
    thread
        .hears("overheard:\nbob: We leave at nine.\nbob: Take the bridge.")
        .await;
    let in_channel = bob.at(&scene.general).say("The bridge is closed.");
    let question = scene.chat.reply(
        in_channel,
        &format!("<@{}> background", scene.home.discord.bot()),
    );
    let thread = scene.chat.thread_on(question).await;
    thread.hears("overheard:\nbob: The bridge is closed.").await;
    assert!(scene.chat.said().is_empty(), "{hint:?}");
    scene.finish().await;
}
