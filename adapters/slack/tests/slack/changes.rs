//! Edits, deletions, files, and earlier messages.

use std::time::Duration;

use loopback_slack::{ResponseFault, SlackChannel, TEAM};
use muninn_platform::testing::EchoLog;
use muninn_platform::{Body, Command, IncomingMessage};

use crate::support::{Echoes, EventTransport, SlackInstallation, app, run, run_as};

#[test]
fn an_edited_root_is_answered_anew_in_its_thread() {
    run(async |chat| {
        let asked = chat.ask("Berlin");
        let thread = chat.in_thread(&asked);
        let first = thread.hears("echo: Berlin").await;
        chat.rests().await;
        chat.edit_raw(&asked, &format!("<@{}> Oslo", loopback_slack::BOT_USER));
        let second = thread.hears("echo: Oslo").await;
        assert_eq!(first.ts, second.ts);
        assert_eq!(second.buttons(), ["👍", "👎", "Why?"]);
        let log = chat.bot.log();
        assert_eq!(log.messages[0].conversation, log.messages[1].conversation);
        // Slack takes the status away when something is posted, but not at a change.
        let is_over = |thread: &loopback_slack::AssistantThread| {
            let shown = thread.statuses.iter().filter(|status| !status.is_empty());
            let is_removed = thread.statuses.last().is_some_and(String::is_empty);
            shown.count() == 2 && is_removed && thread.status.is_empty()
        };
        thread.sees_thread("no status any more", is_over).await;
    });
}

#[test]
fn a_status_that_slack_shows_only_after_the_answer_goes() {
    run(async |chat| {
        let slow = ResponseFault::Slow(Duration::from_secs(4));
        chat.slack.fail_next("assistant.threads.setStatus", slow);
        let asked = chat.ask("Berlin");
        let thread = chat.in_thread(&asked);
        thread.hears("echo: Berlin").await;
        let is_over = |thread: &loopback_slack::AssistantThread| {
            thread.statuses == ["is thinking…", ""] && thread.status.is_empty()
        };
        thread.sees_thread("no status any more", is_over).await;
    });
}

#[test]
fn an_edit_that_adds_the_mention_is_answered_once() {
    run(async |chat| {
        let name = format!("<@{}>", loopback_slack::BOT_USER);
        let root = chat.say("lunch?");
        let thread = chat.in_thread(&root);
        let reply = thread.say("and where?");
        chat.slack.all_told().await;
        for (place, said, text) in [
            (&chat.general, &root, "lunch?"),
            (&thread, &reply, "and where?"),
        ] {
            let question = format!("{name} {text}");
            place.edit_raw(said, &question);
            let answer = thread.hears(&format!("echo: {text}")).await;
            chat.slack.all_told().await;
            chat.rests().await;
            // Further edits edit the question.
            place.edit_raw(said, &format!("{question} now"));
            let again = thread.hears(&format!("echo: {text} now")).await;
            assert_eq!(again.ts, answer.ts);
            chat.slack.all_told().await;
            chat.rests().await;
        }
        assert_eq!(thread.said().len(), 2);
    });
}

#[test]
fn an_edit_that_leaves_a_command_leaves_nothing_of_the_question_and_one_of_a_note_leaves_the_note()
{
    run(async |chat| {
        let note = "remember that tea is at five";
        for (number, (command, left)) in [("help", ""), ("why", ""), (note, note)]
            .into_iter()
            .enumerate()
        {
            let question = format!("secret {number}");
            let asked = chat.ask(&question);
            let thread = chat.in_thread(&asked);
            thread.hears(&format!("echo: {question}")).await;
            chat.rests().await;
            chat.edit_raw(
                &asked,
                &format!("<@{}> {command}", loopback_slack::BOT_USER),
            );
            let edit = chat.bot.hears_number(2 * number + 2).await;
            let Body::Edit { text, .. } = &edit.body else {
                panic!("{:?}", edit.body);
            };
            assert_eq!(text, left, "{command}");
            chat.rests().await;
        }
        let log = chat.bot.log();
        assert!(log.stops.is_empty(), "{:?}", log.stops);
    });
}

#[test]
fn a_deleted_root_takes_its_answer_along() {
    run(async |chat| {
        let asked = chat.ask("a slip");
        let thread = chat.in_thread(&asked);
        thread.hears("echo: a slip").await;
        chat.rests().await;
        chat.delete(&asked);
        let gone = |messages: &[loopback_slack::Message]| {
            let mut said = messages.iter().filter(|message| message.is_bots);
            said.all(|message| message.is_deleted).then_some(())
        };
        thread.sees("nothing", gone).await;
    });
}

/// Returns the places that the bot was told are gone.
fn gone(log: &EchoLog) -> Vec<String> {
    let told = log.messages.iter();
    let gone = told.filter(|it| it.body == Body::Command(Command::PlaceGone));
    gone.map(|it| it.conversation.to_string()).collect()
}

#[test]
fn a_deleted_channel_is_told_and_nobody_is_answered() {
    run(async |chat| {
        chat.thread("hello").hears("echo: hello").await;
        let private = chat.slack.private_channel("secret", &[&chat.ann]);
        // Nothing was ever said in it, and the bot is not told of one that it is not in.
        let unheard = chat.slack.private_channel("unheard", &[]);
        unheard.remove_bot();
        let place = |channel: &SlackChannel| format!("slack/{TEAM}/{}", channel.id());
        let mut expected = [place(&chat.channel), place(&private)];
        expected.sort_unstable();
        for channel in [&unheard, &chat.channel, &private] {
            channel.delete();
        }
        let both = |log: &EchoLog| Some(gone(log)).filter(|gone| gone.len() == 2);
        let mut told = chat.bot.gets("both places", both).await;
        told.sort_unstable();
        assert_eq!(told, expected);
        chat.rests().await;
        chat.still_answers().await;
    });
}

#[test]
fn files_are_read_as_far_as_wanted() {
    run(async |chat| {
        let direct = chat.ann.with_bot();
        direct.attach("notes.txt", "text/plain", b"ten o'clock", "when?");
        direct
            .hears("file: when?\nnotes.txt (text/plain): 11 bytes, ten o'clock")
            .await;
        direct.attach("big.txt", "text/plain", &[b'x'; 1001], "");
        direct
            .hears("file: \nbig.txt (text/plain): it has more than 1000 bytes")
            .await;
        let log = chat.bot.log();
        assert!(log.messages.iter().all(IncomingMessage::is_direct));
    });
}

#[test]
fn a_file_is_read_also_if_its_message_comes_after_the_mention() {
    run(async |chat| {
        chat.slack.mention_first();
        let caption = format!("<@{}> when?", loopback_slack::BOT_USER);
        let asked = chat.attach_raw("notes.txt", "text/plain", b"ten", &caption);
        let thread = chat.in_thread(&asked);
        thread
            .hears("file: when?\nnotes.txt (text/plain): 3 bytes, ten")
            .await;
        chat.slack.all_told().await;
        chat.rests().await;
        let log = chat.bot.log();
        assert_eq!((log.messages.len(), log.repeated), (1, 0));
    });
}

#[test]
fn without_the_scope_a_file_is_told_of_as_refused() {
    run_as(
        EventTransport::Socket,
        app().without_scope("files:read"),
        async |chat| {
            let direct = chat.ann.with_bot();
            direct.attach("notes.txt", "text/plain", b"ten", "when?");
            direct
                .finds("a refusal", |message| {
                    message.shown.contains("lacks the scope files:read")
                })
                .await;
            chat.slack.forgive("files:read");
            chat.slack.forgive("/files-pri/");
        },
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_shared_channel_a_file_is_asked_for() {
    let home = SlackInstallation::new(app()).await;
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
}

#[test]
fn tables_and_code_stay_what_they_are() {
    run(async |chat| {
        let thread = chat.thread("table");
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
    });
}

#[test]
fn nothing_but_edits_counts_as_an_edit() {
    run(async |chat| {
        let asked = chat.ask("one");
        let thread = chat.in_thread(&asked);
        thread.hears("echo: one").await;
        chat.rests().await;
        // Slack unfurls a link in it: a change that changes no word.
        let text = format!("<@{}> one", loopback_slack::BOT_USER);
        chat.edit_raw(&asked, &text);
        thread.echoes("two").await;
        let edits = |log: &EchoLog| log.messages.len();
        assert_eq!(edits(&chat.bot.log()), 2);
    });
}
