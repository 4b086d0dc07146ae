//! Edits, deletions, files, and what was said before.

use muninn_platform::testing::EchoLog;

use crate::support::{Home, app, scene, scene_of};

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_root_is_answered_anew_in_its_thread() {
    let scene = scene().await;
    let asked = scene.general.ask("Berlin");
    let thread = scene.general.in_thread(&asked);
    let first = thread.hears("echo: Berlin").await;
    scene.rests().await;
    scene
        .general
        .edit_raw(&asked, &format!("<@{}> Oslo", loopback_slack::BOT_USER));
    let second = thread.hears("echo: Oslo").await;
    assert_eq!(first.ts, second.ts);
    assert_eq!(second.buttons(), ["👍", "👎", "Why?"]);
    let log = scene.bot.log();
    assert_eq!(log.messages[0].conversation, log.messages[1].conversation);
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_adds_the_mention_is_answered_once() {
    let scene = scene().await;
    let name = format!("<@{}>", loopback_slack::BOT_USER);
    let root = scene.general.say("lunch?");
    let thread = scene.general.in_thread(&root);
    let reply = thread.say("and where?");
    scene.home.slack.all_told().await;
    for (chat, said, text) in [
        (&scene.general, &root, "lunch?"),
        (&thread, &reply, "and where?"),
    ] {
        let question = format!("{name} {text}");
        chat.edit_raw(said, &question);
        let answer = thread.hears(&format!("echo: {text}")).await;
        scene.home.slack.all_told().await;
        scene.rests().await;
        // Further edits are those of a question.
        chat.edit_raw(said, &format!("{question} now"));
        let again = thread.hears(&format!("echo: {text} now")).await;
        assert_eq!(again.ts, answer.ts);
        scene.home.slack.all_told().await;
        scene.rests().await;
    }
    assert_eq!(thread.said().len(), 2);
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_root_takes_its_answer_along() {
    let scene = scene().await;
    let asked = scene.general.ask("a slip");
    let thread = scene.general.in_thread(&asked);
    thread.hears("echo: a slip").await;
    scene.rests().await;
    scene.general.delete(&asked);
    let gone = |messages: &[loopback_slack::Message]| {
        let mut said = messages.iter().filter(|message| message.is_bots);
        said.all(|message| message.is_deleted).then_some(())
    };
    thread.sees("nothing", gone).await;
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_read_as_far_as_wanted() {
    let scene = scene().await;
    let direct = scene.ann.with_bot();
    direct.attach("notes.txt", "text/plain", b"ten o'clock", "when?");
    direct
        .hears("file: when?\nnotes.txt (text/plain): 11 bytes, ten o'clock")
        .await;
    direct.attach("big.txt", "text/plain", &[b'x'; 1001], "");
    direct
        .hears("file: \nbig.txt (text/plain): it has more than 1000 bytes")
        .await;
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_scope_a_file_is_told_of_as_refused() {
    let scene = scene_of(Home::new(app().without_scope("files:read")).await).await;
    let direct = scene.ann.with_bot();
    direct.attach("notes.txt", "text/plain", b"ten", "when?");
    direct
        .finds("a refusal", |message| {
            message.shown.contains("lacks the scope files:read")
        })
        .await;
    scene.home.slack.forgive("files:read");
    scene.home.slack.forgive("/files-pri/");
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_shared_channel_a_file_is_asked_for() {
    let home = Home::new(app()).await;
    let channel = home.slack.channel("partners");
    channel.share();
    let id = channel.id().to_owned();
    let bot = home
        .start_with(|options| options.allow = id.parse().unwrap())
        .await;
    let ann = home.slack.person("Ann").in_channel(&channel);
    let caption = format!("<@{}> when?", loopback_slack::BOT_USER);
    let asked = ann.attach_raw("notes.txt", "text/plain", b"ten", &caption);
    ann.in_thread(&asked)
        .finds("its content", |message| {
            message.shown.contains("3 bytes, ten")
        })
        .await;
    assert_eq!(bot.log().errors, Vec::<String>::new());
    home.slack.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn coming_to_an_old_thread_it_reads_it_once() {
    let scene = scene().await;
    let bob = scene.home.slack.person("Bob").in_channel(&scene.channel);
    let root = scene.general.say("The standup moves.");
    let (ann, bob) = (scene.general.in_thread(&root), bob.in_thread(&root));
    bob.say("To ten?");
    ann.say("Yes <3");
    ann.ask("background");
    ann.hears("overheard:\nAnn: The standup moves.\nBob: To ten?\nAnn: Yes <3")
        .await;
    let asked = scene.home.slack.calls_of("conversations.replies");
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].arguments["limit"], "15");
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_that_may_ask_once_a_minute_goes_on_without() {
    let scene = scene().await;
    scene.home.slack.unlist();
    for expected in ["overheard:\nAnn: one", "overheard:\n", "overheard:\n"] {
        let thread = scene.general.in_thread(&scene.general.say("one"));
        thread.ask("background");
        thread
            .finds(expected, |message| message.shown.trim() == expected.trim())
            .await;
    }
    // Told to wait once, it does not ask again.
    assert_eq!(scene.home.slack.calls_of("conversations.replies").len(), 2);
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_and_code_stay_what_they_are() {
    let scene = scene().await;
    let thread = scene.general.in_thread(&scene.general.ask("table"));
    let answer = thread
        .finds("the table", |message| message.shown.contains("fn f() {}"))
        .await;
    let block = answer.blocks[0]["text"].as_str().unwrap();
    assert!(
        block.starts_with("| a | b |\n|---|---|\n| 1 | **2** |"),
        "{block}"
    );
    assert!(
        answer.text.contains("```\na  b\n-  -\n1  2\n```"),
        "{}",
        answer.text
    );
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_but_edits_counts_as_an_edit() {
    let scene = scene().await;
    let asked = scene.general.ask("one");
    let thread = scene.general.in_thread(&asked);
    thread.hears("echo: one").await;
    scene.rests().await;
    // Slack unfolds a link of it: a change that changes no word.
    let text = format!("<@{}> one", loopback_slack::BOT_USER);
    scene.general.edit_raw(&asked, &text);
    thread.say("two");
    thread.hears("echo: two").await;
    let edits = |log: &EchoLog| log.messages.len();
    assert_eq!(edits(&scene.bot.log()), 2);
    scene.ends_well().await;
}
