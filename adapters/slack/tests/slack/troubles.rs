//! Failures: limits, outages, restarts, refusals.

use std::time::Duration;

use loopback_slack::{DeliveryTimings, ResponseFault, Slack};
use muninn_platform::testing::EchoLog;

use crate::support::{
    Echoes, EventTransport, SlackInstallation, app, run, run_as, run_badly, run_set,
};

fn first_error(log: &EchoLog) -> Option<String> {
    log.errors.first().cloned()
}

#[test]
fn a_storm_of_limits_is_waited_out() {
    run(async |chat| {
        chat.slack
            .fail("chat.postMessage", ResponseFault::RateLimited(1), 3);
        let begun = tokio::time::Instant::now();
        let threads: Vec<_> = (0..4)
            .map(|number| {
                let asked = chat.ask(&format!("question {number}"));
                (number, chat.in_thread(&asked))
            })
            .collect();
        for (number, thread) in &threads {
            thread.hears(&format!("echo: question {number}")).await;
            assert_eq!(thread.said().len(), 1);
        }
        assert!(begun.elapsed() >= Duration::from_secs(1));
    });
}

#[test]
fn under_slacks_own_limits_everything_is_answered() {
    run_set(
        |options| options.post_every = Duration::from_secs(1),
        async |chat| {
            chat.slack.keep_limits();
            for number in 0..8 {
                chat.ask(&format!("question {number}"));
            }
            for number in 0..8 {
                chat.hears(&format!("echo: question {number}")).await;
            }
            assert_eq!(chat.said().len(), 8);
            let limited = chat.slack.calls_of("chat.postMessage");
            let limited = limited.iter().filter(|call| call.status == 429).count();
            assert!(limited <= 3, "{limited} calls were too many");
        },
    );
}

#[test]
fn an_outage_is_waited_out_and_nothing_is_doubled() {
    for fault in [
        ResponseFault::Status(503),
        // The pages of a proxy that wants a login.
        ResponseFault::Status(200),
        ResponseFault::Status(302),
        ResponseFault::Error("internal_error"),
        ResponseFault::Closed,
        ResponseFault::LostAnswer,
        ResponseFault::LostBehind(200),
        ResponseFault::Garbage,
    ] {
        run(async |chat| {
            chat.slack.fail("chat.postMessage", fault.clone(), 2);
            let thread = chat.thread("hello");
            thread.hears("echo: hello").await;
            chat.rests().await;
            thread.echoes("again").await;
            assert_eq!(thread.said().len(), 2, "{fault:?}");
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slack_that_is_away_at_the_start_is_waited_for() {
    let home = SlackInstallation::new(app()).await;
    for fault in [
        ResponseFault::Closed,
        ResponseFault::RateLimited(1),
        ResponseFault::Status(503),
    ] {
        home.slack.fail_next("auth.test", fault);
    }
    let bot = home.start().await;
    assert_eq!(home.slack.calls_of("auth.test").len(), 4);
    home.slack.person("Ann").with_bot().echoes("hello").await;
    bot.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_slack_can_be_ended() {
    let home = SlackInstallation::new(app()).await;
    let hour = ResponseFault::RateLimited(3600);
    home.slack.fail_next("auth.test", hour);
    let bot = home.begin_with(|_| {});
    home.slack.called("auth.test", 1).await;
    bot.stop().await;
}

#[test]
fn the_same_event_is_answered_once() {
    for way in [EventTransport::Socket, EventTransport::Http] {
        run_as(way, app(), async |chat| {
            chat.slack.repeat_events(2);
            let thread = chat.thread("hello");
            thread.hears("echo: hello").await;
            chat.slack.all_told().await;
            assert_eq!(thread.said().len(), 1, "{way:?}");
            let log = chat.bot.log();
            assert_eq!((log.messages.len(), log.repeated), (1, 0));
        });
    }
}

#[test]
fn a_process_that_is_killed_in_mid_stream_leaves_one_answer() {
    run(async |chat| {
        let thread = chat.thread("grow it");
        thread.streams().await;
        chat.bot.dies();
        chat.starts_again().await;
        chat.bot.hears().await;
        chat.bot.go_on();
        thread.hears("echo: it").await;
        assert_eq!(thread.said().len(), 1);
    });
}

#[test]
fn an_answer_that_went_out_unnoticed_is_not_said_again() {
    run(async |chat| {
        // It is posted, but the process is killed before the response arrives.
        chat.slack
            .fail_next("chat.postMessage", ResponseFault::LostAnswer);
        let thread = chat.thread("hello");
        thread.hears("echo: hello").await;
        chat.bot.dies();
        chat.starts_again().await;
        thread.echoes("well").await;
        assert_eq!(thread.said().len(), 2);
    });
}

#[test]
fn it_is_found_behind_many_later_messages() {
    run(async |chat| {
        chat.slack
            .fail_next("chat.postMessage", ResponseFault::LostAnswer);
        // Outside of threads, where Slack returns the newest messages first.
        let direct = chat.ann.with_bot();
        direct.echoes("hello").await;
        chat.bot.dies();
        let later: Vec<String> = (0..20).map(|number| format!("later {number}")).collect();
        for text in &later {
            direct.say(text);
        }
        chat.starts_again().await;
        for text in &later {
            direct.hears(&format!("echo: {text}")).await;
        }
        chat.rests().await;
        assert_eq!(direct.said().len(), later.len() + 1);
        // Others may be searched for too, if Slack had to deliver them twice.
        let mut looked = chat.slack.calls_of("conversations.history");
        let since = looked[0].arguments["oldest"].clone();
        looked.retain(|call| call.arguments["oldest"] == since);
        assert!((2..=4).contains(&looked.len()), "{looked:#?}");
    });
}

#[test]
fn a_socket_that_is_cut_in_mid_turn_loses_nothing() {
    run(async |chat| {
        chat.slack.set_waits(DeliveryTimings::default().faster(60));
        let direct = chat.ann.with_bot();
        direct.say("wait a moment");
        chat.bot.hears().await;
        let cuts = [Slack::cut_sockets, Slack::close_sockets];
        for (number, cut) in cuts.into_iter().enumerate() {
            cut(&chat.slack);
            direct.say(&format!("meanwhile {number}"));
            chat.slack.connected(number + 2).await;
            direct.hears(&format!("echo: meanwhile {number}")).await;
        }
        chat.bot.go_on();
        direct.hears("echo: a moment").await;
        assert_eq!(direct.said().len(), 3);
    });
}

#[test]
fn a_socket_that_is_renewed_never_leaves_a_gap() {
    run(async |chat| {
        chat.slack.set_waits(DeliveryTimings::default().faster(10));
        let direct = chat.ann.with_bot();
        for (number, reason) in ["warning", "refresh_requested"].into_iter().enumerate() {
            chat.slack.disconnect_sockets(reason);
            for question in 0..5 {
                direct.say(&format!("{reason} {question}"));
            }
            for question in 0..5 {
                direct.hears(&format!("echo: {reason} {question}")).await;
            }
            chat.slack.connected(number + 2).await;
        }
        assert_eq!(direct.said().len(), 10);
        let deliveries = chat.slack.deliveries();
        assert!(deliveries.iter().all(|told| told.attempts.len() == 1));
    });
}

#[test]
fn slow_names_do_not_hold_the_acknowledgement_up() {
    run(async |chat| {
        let slow = ResponseFault::Slow(Duration::from_secs(10));
        chat.slack.fail("users.info", slow, 1);
        chat.still_answers().await;
        let message = &chat.bot.log().messages[0];
        assert_eq!(message.author.name, chat.ann.id());
        chat.slack.all_told().await;
        let told = chat.slack.deliveries();
        let waited = told[0].acknowledged_after().unwrap();
        assert!(waited < Duration::from_secs(8), "{waited:?}");
    });
}

#[test]
fn other_bots_and_strangers_are_not_answered() {
    run(async |chat| {
        let shared = chat.slack.channel("partners");
        shared.share();
        let raven = chat.slack.other_bot("Raven").in_channel(&chat.channel);
        raven.ask("hello");
        chat.slack.stranger("Eve").in_channel(&shared).ask("hello");
        // Even for somebody who is allowed elsewhere.
        chat.ann.in_channel(&shared).ask("hello");
        chat.still_answers().await;
        chat.slack.all_told().await;
        assert_eq!(chat.bot.log().messages.len(), 1);
    });
}

#[test]
fn nobody_is_answered_where_nobody_is_allowed() {
    run_set(
        |options| options.allow = "".parse().unwrap(),
        async |chat| {
            chat.ask("hello");
            chat.slash("/muninn", "ask hello").await;
            chat.slack.all_told().await;
            assert!(chat.bot.log().messages.is_empty());
        },
    );
}

#[test]
fn a_place_it_cannot_write_to_is_told_of() {
    for (set, expected) in [
        ("archive", "is archived"),
        ("remove", "is not in the channel"),
    ] {
        run_badly(app(), async |chat| {
            chat.ask("wait a moment");
            chat.bot.hears().await;
            match set {
                "archive" => chat.channel.archive(),
                _ => chat.channel.remove_bot(),
            }
            chat.bot.go_on();
            let error = chat.bot.gets("an error", first_error).await;
            assert!(error.contains(expected), "{error}");
            chat.still_answers().await;
            let _ = chat.slack.take_violations();
        });
    }
}

#[test]
fn a_missing_scope_is_named() {
    run_badly(app().without_scope("chat:write"), async |chat| {
        chat.ask("hello");
        let error = chat.bot.gets("an error", first_error).await;
        assert!(error.contains("lacks the scope chat:write"), "{error}");
        let _ = chat.slack.take_violations();
    });
}

#[test]
fn without_names_it_answers_all_the_same() {
    let app = app()
        .without_scope("users:read")
        .without_scope("channels:read");
    run_as(EventTransport::Socket, app, async |chat| {
        let thread = chat.thread("hello");
        thread.hears("echo: hello").await;
        let _ = chat.slack.take_violations();
    });
}

#[test]
fn a_revoked_token_is_told_of() {
    run_badly(app(), async |chat| {
        chat.slack.revoke_tokens();
        chat.slack.cut_sockets();
        let error = chat.bot.gives_up().await;
        assert!(error.contains("SLACK_APP_TOKEN"), "{error}");
        let error = chat.home.begin_with(|_| {}).gives_up().await;
        assert!(error.contains("SLACK_BOT_TOKEN"), "{error}");
        let _ = chat.slack.take_violations();
    });
}

#[test]
fn what_is_not_known_is_passed_over() {
    run(async |chat| {
        for event in [
            serde_json::json!({ "type": "brand_new_event", "x": [1, null] }),
            serde_json::json!({ "type": "message", "subtype": "brand_new", "channel": 7 }),
            serde_json::json!({ "type": "app_mention" }),
        ] {
            chat.slack.tell_event(event);
        }
        chat.slack.send_text("no JSON");
        chat.slack.send_text("{\"type\":\"brand_new\"}");
        chat.slack.all_told().await;
        chat.still_answers().await;
    });
}

#[test]
fn an_event_that_comes_again_after_a_restart_is_not_answered_again() {
    run(async |chat| {
        let thread = chat.thread("hello");
        thread.hears("echo: hello").await;
        chat.rests().await;
        chat.restart().await;
        let told = chat.slack.deliveries();
        let mut again = told
            .iter()
            .filter(|told| told.payload["event"]["user"] == chat.ann.id());
        chat.slack
            .tell_payload(again.next().unwrap().payload.clone());
        // The bot recognises it by its graph.
        let repeated = |log: &EchoLog| (log.repeated == 1).then_some(());
        chat.bot.gets("it again", repeated).await;
        assert_eq!(thread.said().len(), 1);
    });
}

#[test]
fn a_socket_that_says_nothing_any_more_is_left() {
    run(async |chat| {
        chat.slack.freeze_sockets();
        chat.slack.connected(2).await;
        chat.still_answers().await;
    });
}
