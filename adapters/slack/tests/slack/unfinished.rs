//! Answers that were begun: however that goes wrong, there is one in the end, and it is whole.

use loopback_slack::{Chat, Fault, Message, StreamState};
use muninn_platform::testing::EchoLog;

use crate::support::{Home, Scene, app, scene, scene_of};

const MANY: usize = 1_000;

fn standing(chat: &Chat) -> Vec<Message> {
    let said = chat.said().into_iter();
    said.filter(|message| !message.is_deleted).collect()
}

async fn without_streams() -> Scene {
    scene_of(Home::new(app().without_streams()).await).await
}

async fn scene_where(has_streams: bool) -> Scene {
    if has_streams {
        scene().await
    } else {
        without_streams().await
    }
}

/// One answer, whole, and nothing that still grows.
fn one_whole(thread: &Chat, text: &str, case: &str) {
    let said = standing(thread);
    let shown: Vec<&str> = said.iter().map(|message| message.shown.as_str()).collect();
    assert_eq!(shown, [text], "{case}");
    assert_ne!(said[0].stream, StreamState::Running, "{case}");
}

#[tokio::test(flavor = "multi_thread")]
async fn first_words_that_went_out_unheard_are_not_said_again() {
    for fault in [
        Fault::LostAnswer,
        Fault::LostBehind(503),
        Fault::Closed,
        Fault::Status(500),
        Fault::Error("internal_error"),
    ] {
        for (has_streams, method) in [(true, "chat.startStream"), (false, "chat.postMessage")] {
            let case = format!("{method}: {fault:?}");
            let scene = scene_where(has_streams).await;
            scene.home.slack.fail_next(method, fault.clone());
            let thread = scene.general.in_thread(&scene.general.ask("grow it"));
            scene.home.slack.called(method, 1).await;
            scene.bot.go_on();
            thread.hears("echo: it").await;
            scene.rests().await;
            one_whole(&thread, "echo: it", &case);
            scene.ends_well().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn first_words_that_went_out_unheard_are_taken_back_with_the_answer() {
    let scene = scene().await;
    scene
        .home
        .slack
        .fail_next("chat.startStream", Fault::LostAnswer);
    let thread = scene.general.in_thread(&scene.general.ask("drop it"));
    scene.home.slack.called("chat.startStream", 1).await;
    scene.bot.go_on();
    thread
        .sees("nothing left", |said| {
            said.iter()
                .filter(|message| message.shown.starts_with("to be dropped"))
                .all(|message| message.is_deleted)
                .then_some(())
        })
        .await;
    scene.home.slack.called("chat.delete", 1).await;
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn half_an_answer_of_a_killed_process_becomes_the_whole_and_goes_with_its_question() {
    for expires in [false, true] {
        let mut scene = scene().await;
        let asked = scene.general.ask("grow it");
        let thread = scene.general.in_thread(&asked);
        thread
            .finds("a stream", |message| message.stream == StreamState::Running)
            .await;
        scene.bot.crash();
        // Slack ends what nobody writes by itself.
        if expires {
            scene.home.slack.expire_streams();
        }
        thread.say("well?");
        scene.bot = scene.home.start().await;
        scene.bot.hears().await;
        scene.bot.go_on();
        thread.hears("echo: it").await;
        thread.hears("echo: well?").await;
        scene.rests().await;
        let said = standing(&thread);
        assert_eq!(said.len(), 2, "{said:#?}");
        assert!(said.iter().all(|one| one.stream != StreamState::Running));
        scene.general.delete(&asked);
        let gone = |said: &[Message]| {
            let mut its = said.iter().filter(|one| one.shown.contains("it"));
            its.all(|one| one.is_deleted).then_some(())
        };
        thread.sees("the answer gone", gone).await;
        scene.ends_well().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn half_an_answer_goes_with_a_question_that_is_not_answered_yet() {
    let mut scene = scene().await;
    let thread = scene.general.in_thread(&scene.general.say("lunch?"));
    let asked = thread.ask("grow it");
    let half = thread
        .finds("a stream", |message| message.stream == StreamState::Running)
        .await;
    scene.bot.crash();
    scene.bot = scene.home.start().await;
    scene.bot.hears().await;
    thread.delete(&asked);
    let gone = |said: &[Message]| {
        let mut its = said.iter().filter(|one| one.ts == half.ts);
        its.all(|one| one.is_deleted).then_some(())
    };
    thread.sees("it gone", gone).await;
    scene.bot.go_on();
    scene.rests().await;
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_heard_of_goes_with_its_question() {
    let mut scene = scene().await;
    let asked = scene.general.ask("grow it");
    let thread = scene.general.in_thread(&asked);
    thread
        .finds("a stream", |message| message.stream == StreamState::Running)
        .await;
    scene.bot.crash();
    // It is answered by a process that Slack does not tell what stands there.
    scene
        .home
        .slack
        .fail("conversations.replies", Fault::Error("fatal_error"), 3);
    scene.bot = scene.home.start().await;
    scene.bot.hears().await;
    scene.bot.go_on();
    thread.hears("echo: it").await;
    scene.rests().await;
    scene.general.delete(&asked);
    let gone = |said: &[Message]| {
        let mut its = said.iter().filter(|one| one.is_bots);
        its.all(|one| one.is_deleted).then_some(())
    };
    thread.sees("all of it gone", gone).await;
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_takes_no_more_is_finished_otherwise() {
    for fault in [
        Fault::Status(500),
        Fault::Closed,
        Fault::LostAnswer,
        Fault::LostBehind(502),
        Fault::Error("internal_error"),
        Fault::Error("message_not_in_streaming_state"),
        Fault::Error("msg_too_long"),
    ] {
        for times in [1, MANY] {
            let case = format!("{times} times {fault:?}");
            let scene = scene().await;
            scene
                .home
                .slack
                .fail("chat.appendStream", fault.clone(), times);
            let thread = scene.general.in_thread(&scene.general.ask("stream it"));
            thread.hears("echo: it").await;
            scene.rests().await;
            one_whole(&thread, "echo: it", &case);
            scene.ends_well().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_does_not_end_well_is_finished_otherwise() {
    for fault in [
        Fault::Error("message_not_in_streaming_state"),
        Fault::Error("invalid_blocks"),
        Fault::LostAnswer,
        Fault::Status(500),
    ] {
        let scene = scene().await;
        scene.home.slack.fail_next("chat.stopStream", fault.clone());
        let thread = scene.general.in_thread(&scene.general.ask("grow it"));
        thread
            .finds("a stream", |message| message.stream == StreamState::Running)
            .await;
        scene.bot.go_on();
        thread.hears("echo: it").await;
        scene.rests().await;
        one_whole(&thread, "echo: it", &format!("{fault:?}"));
        scene.ends_well().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_blocks_are_said_in_plain_words() {
    for code in ["invalid_blocks", "msg_blocks_too_long", "something_new"] {
        for has_streams in [true, false] {
            for question in ["it", "grow it"] {
                let case = format!("{code}, streams: {has_streams}, {question}");
                let scene = scene_where(has_streams).await;
                scene.home.slack.fail("", Fault::Blocks(code), MANY);
                let thread = scene.general.in_thread(&scene.general.ask(question));
                scene.bot.hears().await;
                scene.bot.go_on();
                thread.hears("echo: it").await;
                scene.rests().await;
                one_whole(&thread, "echo: it", &case);
                scene.ends_well().await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_in_plain_words_is_whole() {
    let scene = scene().await;
    scene
        .home
        .slack
        .fail("", Fault::Blocks("msg_blocks_too_long"), MANY);
    let thread = scene.general.in_thread(&scene.general.ask("long 500"));
    thread
        .finds("its last line", |message| message.shown.contains("499 "))
        .await;
    scene.rests().await;
    let said: String = standing(&thread)
        .iter()
        .map(|part| format!("{}\n", part.shown))
        .collect();
    for line in 0..500 {
        assert!(said.contains(&format!("{line} ")), "{line} is missing");
    }
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_edited_into_refused_blocks_is_whole() {
    let scene = scene().await;
    let asked = scene.general.ask("one");
    let thread = scene.general.in_thread(&asked);
    thread.hears("echo: one").await;
    scene.rests().await;
    scene
        .home
        .slack
        .fail("chat.update", Fault::Blocks("invalid_blocks"), MANY);
    scene.general.edit(&asked, "<@bot> two");
    thread
        .finds("it", |message| message.shown.ends_with("two"))
        .await;
    scene.rests().await;
    assert_eq!(standing(&thread).len(), 1);
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_changed_is_said_anew_and_taken_away() {
    for code in ["cant_update_message", "edit_window_closed", "update_failed"] {
        let scene = without_streams().await;
        let thread = scene.general.in_thread(&scene.general.ask("grow it"));
        thread
            .finds("its beginning", |message| {
                message.shown.starts_with("so far")
            })
            .await;
        scene
            .home
            .slack
            .fail("chat.update", Fault::Error(code), MANY);
        scene.bot.go_on();
        thread.hears("echo: it").await;
        scene.rests().await;
        one_whole(&thread, "echo: it", code);
        scene.ends_well().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn private_answers_are_said_in_plain_words_too() {
    for method in ["response_url", ""] {
        let scene = scene().await;
        scene
            .home
            .slack
            .fail(method, Fault::Blocks("invalid_blocks"), MANY);
        scene.general.slash("/muninn", "ask here?").await;
        let answer = scene.general.hears("echo: here?").await;
        assert!(answer.is_ephemeral);
        scene.rests().await;
        assert_eq!(standing(&scene.general).len(), 1);
        scene.ends_well().await;
    }
    // Also where there is no address: in a thread.
    let scene = scene().await;
    let thread = scene.general.in_thread(&scene.general.ask("one"));
    thread.hears("echo: one").await;
    scene
        .home
        .slack
        .fail("chat.postEphemeral", Fault::Blocks("invalid_blocks"), MANY);
    thread.ask("why");
    let answered = |log: &EchoLog| (log.answered == 2).then_some(());
    scene.bot.gets("the command", answered).await;
    assert!(thread.hears("command: Why").await.is_ephemeral);
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_answer_that_went_out_unheard_is_not_said_again() {
    for fault in [Fault::LostAnswer, Fault::LostBehind(503)] {
        let scene = scene().await;
        scene.home.slack.fail_next("response_url", fault.clone());
        scene.general.slash("/muninn", "ask here?").await;
        assert!(scene.general.hears("echo: here?").await.is_ephemeral);
        // In a thread there is no address.
        let thread = scene.general.in_thread(&scene.general.ask("one"));
        thread.hears("echo: one").await;
        scene
            .home
            .slack
            .fail_next("chat.postEphemeral", fault.clone());
        thread.ask("why");
        assert!(thread.hears("command: Why").await.is_ephemeral);
        scene.rests().await;
        for (chat, text) in [(&scene.general, "echo: here?"), (&thread, "command: Why")] {
            let said = standing(chat).into_iter();
            let times = said.filter(|message| message.shown == text).count();
            assert_eq!(times, 1, "{text:?} with {fault:?}");
        }
        scene.ends_well().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_answer_that_slack_did_not_take_is_said_again() {
    let scene = scene().await;
    scene
        .home
        .slack
        .fail_next("response_url", Fault::RateLimited(1));
    scene
        .home
        .slack
        .fail_next("chat.postEphemeral", Fault::RateLimited(1));
    scene.general.slash("/muninn", "ask here?").await;
    assert!(scene.general.hears("echo: here?").await.is_ephemeral);
    scene.rests().await;
    assert_eq!(standing(&scene.general).len(), 1);
    scene.ends_well().await;
}
