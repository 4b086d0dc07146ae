//! Unfinished answers: whatever fails, in the end there is exactly one complete answer.

use loopback_slack::{Chat, Message, ResponseFault, SlackApp, StreamState};
use muninn_platform::testing::EchoLog;

use crate::support::{EventTransport, app, run, run_as};

const MANY: usize = 1_000;

fn standing(place: &Chat) -> Vec<Message> {
    let said = place.said().into_iter();
    said.filter(|message| !message.is_deleted).collect()
}

fn app_where(has_streams: bool) -> SlackApp {
    if has_streams {
        app()
    } else {
        app().without_streams()
    }
}

/// Asserts that there is one complete answer, and that nothing is still growing.
fn one_whole(thread: &Chat, text: &str, case: &str) {
    let said = standing(thread);
    let shown: Vec<&str> = said.iter().map(|message| message.shown.as_str()).collect();
    assert_eq!(shown, [text], "{case}");
    assert_ne!(said[0].stream, StreamState::Running, "{case}");
}

#[test]
fn first_words_that_went_out_unheard_are_not_said_again() {
    for fault in [
        ResponseFault::LostAnswer,
        ResponseFault::LostBehind(503),
        ResponseFault::Closed,
        ResponseFault::Status(500),
        ResponseFault::Error("internal_error"),
    ] {
        for (has_streams, method) in [(true, "chat.startStream"), (false, "chat.postMessage")] {
            let case = format!("{method}: {fault:?}");
            run_as(
                EventTransport::Socket,
                app_where(has_streams),
                async |chat| {
                    chat.slack.fail_next(method, fault.clone());
                    let thread = chat.thread("grow it");
                    chat.slack.called(method, 1).await;
                    chat.bot.go_on();
                    thread.hears("echo: it").await;
                    chat.rests().await;
                    one_whole(&thread, "echo: it", &case);
                },
            );
        }
    }
}

#[test]
fn first_words_that_went_out_unheard_are_taken_back_with_the_answer() {
    run(async |chat| {
        chat.slack
            .fail_next("chat.startStream", ResponseFault::LostAnswer);
        let thread = chat.thread("drop it");
        chat.slack.called("chat.startStream", 1).await;
        chat.bot.go_on();
        thread
            .sees("nothing left", |said| {
                said.iter()
                    .filter(|message| message.shown.starts_with("to be dropped"))
                    .all(|message| message.is_deleted)
                    .then_some(())
            })
            .await;
        chat.slack.called("chat.delete", 1).await;
    });
}

#[test]
fn half_an_answer_of_a_killed_process_becomes_the_whole_and_goes_with_its_question() {
    for expires in [false, true] {
        run(async |chat| {
            let asked = chat.ask("grow it");
            let thread = chat.in_thread(&asked);
            thread.streams().await;
            chat.bot.dies();
            // Slack ends idle streams by itself.
            if expires {
                chat.slack.expire_streams();
            }
            thread.say("well?");
            chat.starts_again().await;
            chat.bot.hears().await;
            chat.bot.go_on();
            thread.hears("echo: it").await;
            thread.hears("echo: well?").await;
            chat.rests().await;
            let said = standing(&thread);
            assert_eq!(said.len(), 2, "{said:#?}");
            assert!(said.iter().all(|one| one.stream != StreamState::Running));
            chat.delete(&asked);
            let gone = |said: &[Message]| {
                let mut its = said.iter().filter(|one| one.shown.contains("it"));
                its.all(|one| one.is_deleted).then_some(())
            };
            thread.sees("the answer gone", gone).await;
        });
    }
}

#[test]
fn half_an_answer_goes_with_a_question_that_is_not_answered_yet() {
    run(async |chat| {
        let thread = chat.in_thread(&chat.say("lunch?"));
        let asked = thread.ask("grow it");
        let half = thread.streams().await;
        chat.bot.dies();
        chat.starts_again().await;
        chat.bot.hears().await;
        thread.delete(&asked);
        let gone = |said: &[Message]| {
            let mut its = said.iter().filter(|one| one.ts == half.ts);
            its.all(|one| one.is_deleted).then_some(())
        };
        thread.sees("it gone", gone).await;
        chat.bot.go_on();
        chat.rests().await;
    });
}

#[test]
fn half_an_answer_that_cannot_be_found_now_becomes_the_whole_later() {
    run(async |chat| {
        let asked = chat.ask("grow it");
        let thread = chat.in_thread(&asked);
        thread.streams().await;
        chat.bot.dies();
        // Slack would take another message, but does not tell what stands there: three attempts each time, and whoever reads
        // what was missed may also ask.
        chat.slack.fail(
            "conversations.replies",
            ResponseFault::Error("fatal_error"),
            9,
        );
        let mut failures = 0;
        loop {
            chat.starts_again().await;
            chat.bot.hears().await;
            chat.bot.go_on();
            let over = |log: &EchoLog| {
                let failed = log.errors.len();
                (log.answered + failed > 0).then_some(failed)
            };
            if chat.bot.gets("an outcome", over).await == 0 {
                break;
            }
            failures += 1;
            chat.bot.dies();
        }
        assert!(failures > 0, "what stands there was asked in vain");
        chat.rests().await;
        one_whole(&thread, "echo: it", "found later");
    });
}

#[test]
fn what_nobody_heard_of_goes_with_its_question() {
    run(async |chat| {
        let asked = chat.ask("grow it");
        let thread = chat.in_thread(&asked);
        thread.streams().await;
        chat.bot.dies();
        // The answering process cannot read the existing messages.
        chat.slack.fail_next(
            "conversations.replies",
            ResponseFault::Error("missing_scope"),
        );
        chat.starts_again().await;
        chat.bot.hears().await;
        chat.bot.go_on();
        thread.hears("echo: it").await;
        chat.rests().await;
        chat.delete(&asked);
        let gone = |said: &[Message]| {
            let mut its = said.iter().filter(|one| one.is_bots);
            its.all(|one| one.is_deleted).then_some(())
        };
        thread.sees("all of it gone", gone).await;
    });
}

#[test]
fn a_stream_that_takes_no_more_is_finished_otherwise() {
    for fault in [
        ResponseFault::Status(500),
        ResponseFault::Closed,
        ResponseFault::LostAnswer,
        ResponseFault::LostBehind(502),
        ResponseFault::Error("internal_error"),
        ResponseFault::Error("message_not_in_streaming_state"),
        ResponseFault::Error("msg_too_long"),
    ] {
        for times in [1, MANY] {
            let case = format!("{times} times {fault:?}");
            run(async |chat| {
                chat.slack.fail("chat.appendStream", fault.clone(), times);
                let thread = chat.thread("stream it");
                thread.hears("echo: it").await;
                chat.rests().await;
                one_whole(&thread, "echo: it", &case);
            });
        }
    }
}

#[test]
fn a_stream_that_does_not_end_well_is_finished_otherwise() {
    for fault in [
        ResponseFault::Error("message_not_in_streaming_state"),
        ResponseFault::Error("invalid_blocks"),
        ResponseFault::LostAnswer,
        ResponseFault::Status(500),
    ] {
        run(async |chat| {
            chat.slack.fail_next("chat.stopStream", fault.clone());
            let thread = chat.thread("grow it");
            thread.streams().await;
            chat.bot.go_on();
            thread.hears("echo: it").await;
            chat.rests().await;
            one_whole(&thread, "echo: it", &format!("{fault:?}"));
        });
    }
}

#[test]
fn refused_blocks_are_said_in_plain_words() {
    for code in ["invalid_blocks", "msg_blocks_too_long", "something_new"] {
        for has_streams in [true, false] {
            for question in ["it", "grow it"] {
                let case = format!("{code}, streams: {has_streams}, {question}");
                run_as(
                    EventTransport::Socket,
                    app_where(has_streams),
                    async |chat| {
                        chat.slack.fail("", ResponseFault::Blocks(code), MANY);
                        let thread = chat.thread(question);
                        chat.bot.hears().await;
                        chat.bot.go_on();
                        thread.hears("echo: it").await;
                        chat.rests().await;
                        one_whole(&thread, "echo: it", &case);
                    },
                );
            }
        }
    }
}

#[test]
fn a_long_answer_in_plain_words_is_whole() {
    run(async |chat| {
        chat.slack
            .fail("", ResponseFault::Blocks("msg_blocks_too_long"), MANY);
        let thread = chat.thread("long 500");
        thread
            .finds("its last line", |message| message.shown.contains("499 "))
            .await;
        chat.rests().await;
        let said: String = standing(&thread)
            .iter()
            .map(|part| format!("{}\n", part.shown))
            .collect();
        for line in 0..500 {
            assert!(said.contains(&format!("{line} ")), "{line} is missing");
        }
    });
}

#[test]
fn an_answer_that_was_edited_into_refused_blocks_is_whole() {
    run(async |chat| {
        let asked = chat.ask("one");
        let thread = chat.in_thread(&asked);
        thread.hears("echo: one").await;
        chat.rests().await;
        chat.slack
            .fail("chat.update", ResponseFault::Blocks("invalid_blocks"), MANY);
        chat.edit(&asked, "<@bot> two");
        thread
            .finds("it", |message| message.shown.ends_with("two"))
            .await;
        chat.rests().await;
        assert_eq!(standing(&thread).len(), 1);
    });
}

/// A workspace that keeps messages for compliance.
const KEEPS_MESSAGES: ResponseFault = ResponseFault::Error("compliance_exports_prevent_deletion");

#[test]
fn where_nothing_may_be_deleted_half_an_answer_is_emptied() {
    for has_streams in [true, false] {
        run_as(
            EventTransport::Socket,
            app_where(has_streams),
            async |chat| {
                chat.slack.fail("chat.delete", KEEPS_MESSAGES, MANY);
                let thread = chat.thread("drop it");
                thread
                    .finds("its beginning", |message| {
                        message.shown.starts_with("to be dropped")
                    })
                    .await;
                chat.bot.go_on();
                thread.hears("(forgotten)").await;
                one_whole(&thread, "(forgotten)", &format!("streams: {has_streams}"));
            },
        );
    }
}

#[test]
fn where_nothing_may_be_deleted_an_answer_that_became_shorter_keeps_its_looks() {
    run(async |chat| {
        chat.slack.fail("chat.delete", KEEPS_MESSAGES, MANY);
        let asked = chat.ask("long 500");
        let thread = chat.in_thread(&asked);
        thread
            .finds("its last line", |message| message.shown.contains("499 "))
            .await;
        chat.rests().await;
        chat.edit_raw(&asked, &format!("<@{}> two", loopback_slack::BOT_USER));
        let answer = thread.hears("echo: two").await;
        assert_eq!(answer.buttons(), ["👍", "👎", "Why?"]);
        chat.bot.hears_number(2).await;
        chat.rests().await;
        let said = standing(&thread);
        let (first, rest) = said.split_first().unwrap();
        assert_eq!(first.shown, "echo: two");
        assert_eq!(first.buttons(), answer.buttons());
        assert!(!rest.is_empty());
        assert!(rest.iter().all(|it| it.shown == "(forgotten)"), "{rest:#?}");
    });
}

#[test]
fn what_cannot_be_changed_is_said_anew_and_taken_away() {
    for code in ["cant_update_message", "edit_window_closed", "update_failed"] {
        run_as(
            EventTransport::Socket,
            app().without_streams(),
            async |chat| {
                let thread = chat.thread("grow it");
                thread
                    .finds("its beginning", |message| {
                        message.shown.starts_with("so far")
                    })
                    .await;
                chat.slack
                    .fail("chat.update", ResponseFault::Error(code), MANY);
                chat.bot.go_on();
                thread.hears("echo: it").await;
                chat.rests().await;
                one_whole(&thread, "echo: it", code);
            },
        );
    }
}

#[test]
fn what_is_said_anew_is_whole_although_slack_does_not_confirm_it() {
    for fault in [
        ResponseFault::Status(503),
        ResponseFault::Error("internal_error"),
        ResponseFault::LostAnswer,
    ] {
        run_as(
            EventTransport::Socket,
            app().without_streams(),
            async |chat| {
                let direct = chat.ann.with_bot();
                direct.say("grow it");
                direct
                    .finds("its beginning", |message| {
                        message.shown.starts_with("so far")
                    })
                    .await;
                let stuck = ResponseFault::Error("edit_window_closed");
                chat.slack.fail_next("chat.update", stuck);
                chat.slack.fail_next("chat.postMessage", fault.clone());
                chat.bot.go_on();
                direct.hears("echo: it").await;
                chat.rests().await;
                one_whole(&direct, "echo: it", &format!("{fault:?}"));
            },
        );
    }
}

#[test]
fn private_answers_are_said_in_plain_words_too() {
    for method in ["response_url", ""] {
        run(async |chat| {
            chat.slack
                .fail(method, ResponseFault::Blocks("invalid_blocks"), MANY);
            chat.slash("/muninn", "ask here?").await;
            let answer = chat.hears("echo: here?").await;
            assert!(answer.is_ephemeral);
            chat.rests().await;
            assert_eq!(standing(&chat.general).len(), 1);
        });
    }
    // Also without a response URL: in a thread.
    run(async |chat| {
        let thread = chat.thread("one");
        thread.hears("echo: one").await;
        chat.slack.fail(
            "chat.postEphemeral",
            ResponseFault::Blocks("invalid_blocks"),
            MANY,
        );
        thread.ask("why");
        let answered = |log: &EchoLog| (log.answered == 2).then_some(());
        chat.bot.gets("the command", answered).await;
        assert!(thread.hears("command: Why").await.is_ephemeral);
    });
}

#[test]
fn a_private_answer_that_went_out_unheard_is_not_said_again() {
    for fault in [ResponseFault::LostAnswer, ResponseFault::LostBehind(503)] {
        run(async |chat| {
            chat.slack.fail_next("response_url", fault.clone());
            chat.slash("/muninn", "ask here?").await;
            assert!(chat.hears("echo: here?").await.is_ephemeral);
            // In a thread there is no response URL.
            let thread = chat.thread("one");
            thread.hears("echo: one").await;
            chat.slack.fail_next("chat.postEphemeral", fault.clone());
            thread.ask("why");
            assert!(thread.hears("command: Why").await.is_ephemeral);
            chat.rests().await;
            for (place, text) in [(&chat.general, "echo: here?"), (&thread, "command: Why")] {
                let said = standing(place).into_iter();
                let times = said.filter(|message| message.shown == text).count();
                assert_eq!(times, 1, "{text:?} with {fault:?}");
            }
        });
    }
}

#[test]
fn a_private_answer_that_slack_did_not_take_is_said_again() {
    run(async |chat| {
        chat.slack
            .fail_next("response_url", ResponseFault::RateLimited(1));
        chat.slack
            .fail_next("chat.postEphemeral", ResponseFault::RateLimited(1));
        chat.slash("/muninn", "ask here?").await;
        assert!(chat.hears("echo: here?").await.is_ephemeral);
        chat.rests().await;
        assert_eq!(standing(&chat.general).len(), 1);
    });
}
