//! What goes wrong: limits, outages, restarts, refusals.

use std::time::Duration;

use loopback_slack::{Fault, Slack, StreamState, Waits};
use muninn_platform::testing::EchoLog;

use crate::support::{Home, Way, app, scene, scene_of};

fn first_error(log: &EchoLog) -> Option<String> {
    log.errors.first().cloned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_limits_is_waited_out() {
    let scene = scene().await;
    scene
        .home
        .slack
        .fail("chat.postMessage", Fault::RateLimited(1), 3);
    let begun = tokio::time::Instant::now();
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let asked = scene.general.ask(&format!("question {number}"));
            (number, scene.general.in_thread(&asked))
        })
        .collect();
    for (number, thread) in &threads {
        thread.hears(&format!("echo: question {number}")).await;
        assert_eq!(thread.said().len(), 1);
    }
    assert!(begun.elapsed() >= Duration::from_secs(1));
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn under_slacks_own_limits_everything_is_answered() {
    let home = Home::new(app()).await;
    home.slack.keep_limits();
    let bot = home
        .start_with(|options| options.post_every = Duration::from_secs(1))
        .await;
    let general = home
        .slack
        .person("Ann")
        .in_channel(&home.slack.channel("general"));
    for number in 0..8 {
        general.ask(&format!("question {number}"));
    }
    for number in 0..8 {
        general.hears(&format!("echo: question {number}")).await;
    }
    assert_eq!(general.said().len(), 8);
    assert_eq!(bot.log().errors, Vec::<String>::new());
    let limited = home.slack.calls_of("chat.postMessage");
    let limited = limited.iter().filter(|call| call.status == 429).count();
    assert!(limited <= 3, "{limited} calls were too many");
    home.slack.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_is_waited_out_and_nothing_is_doubled() {
    for fault in [
        Fault::Status(503),
        Fault::Error("internal_error"),
        Fault::Closed,
        Fault::LostAnswer,
        Fault::Garbage,
    ] {
        let scene = scene().await;
        scene.home.slack.fail("chat.postMessage", fault.clone(), 2);
        let thread = scene.general.in_thread(&scene.general.ask("hello"));
        thread.hears("echo: hello").await;
        scene.rests().await;
        thread.say("again");
        thread.hears("echo: again").await;
        assert_eq!(thread.said().len(), 2, "{fault:?}");
        scene.ends_well().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_event_is_answered_once() {
    for way in [Way::Socket, Way::Http] {
        let scene = scene_of(Home::by(way, app()).await).await;
        scene.home.slack.repeat_events(2);
        let thread = scene.general.in_thread(&scene.general.ask("hello"));
        thread.hears("echo: hello").await;
        scene.home.slack.all_told().await;
        assert_eq!(thread.said().len(), 1, "{way:?}");
        let log = scene.bot.log();
        assert_eq!((log.messages.len(), log.repeated), (1, 0));
        scene.ends_well().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_in_mid_stream_leaves_one_answer() {
    let mut scene = scene().await;
    let thread = scene.general.in_thread(&scene.general.ask("grow it"));
    thread
        .finds("a stream", |message| message.stream == StreamState::Running)
        .await;
    scene.bot.crash();
    scene.bot = scene.home.start().await;
    scene.bot.hears().await;
    scene.bot.go_on();
    thread.hears("echo: it").await;
    assert_eq!(thread.said().len(), 1);
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_went_out_unnoticed_is_not_said_again() {
    let mut scene = scene().await;
    // Posted, but the process is killed before it hears of it.
    scene
        .home
        .slack
        .fail_next("chat.postMessage", Fault::LostAnswer);
    let thread = scene.general.in_thread(&scene.general.ask("hello"));
    thread.hears("echo: hello").await;
    scene.bot.crash();
    scene.bot = scene.home.start().await;
    thread.say("well");
    thread.hears("echo: well").await;
    assert_eq!(thread.said().len(), 2);
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_found_behind_many_later_messages() {
    let mut scene = scene().await;
    scene
        .home
        .slack
        .fail_next("chat.postMessage", Fault::LostAnswer);
    // Beside threads, where Slack tells the newest messages first.
    let direct = scene.ann.with_bot();
    direct.say("hello");
    direct.hears("echo: hello").await;
    scene.bot.crash();
    let later: Vec<String> = (0..20).map(|number| format!("later {number}")).collect();
    for text in &later {
        direct.say(text);
    }
    scene.bot = scene.home.start().await;
    for text in &later {
        direct.hears(&format!("echo: {text}")).await;
    }
    scene.rests().await;
    assert_eq!(direct.said().len(), later.len() + 1);
    // Others may be looked for as well, where Slack had to tell them twice.
    let mut looked = scene.home.slack.calls_of("conversations.history");
    let since = looked[0].arguments["oldest"].clone();
    looked.retain(|call| call.arguments["oldest"] == since);
    assert!((2..=4).contains(&looked.len()), "{looked:#?}");
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_that_is_cut_in_mid_turn_loses_nothing() {
    let scene = scene().await;
    scene.home.slack.set_waits(Waits::default().faster(60));
    let direct = scene.ann.with_bot();
    direct.say("wait a moment");
    scene.bot.hears().await;
    let cuts = [Slack::cut_sockets, Slack::close_sockets];
    for (number, cut) in cuts.into_iter().enumerate() {
        cut(&scene.home.slack);
        direct.say(&format!("meanwhile {number}"));
        scene.home.slack.connected(number + 2).await;
        direct.hears(&format!("echo: meanwhile {number}")).await;
    }
    scene.bot.go_on();
    direct.hears("echo: a moment").await;
    assert_eq!(direct.said().len(), 3);
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_that_is_renewed_never_leaves_a_gap() {
    let scene = scene().await;
    scene.home.slack.set_waits(Waits::default().faster(10));
    let direct = scene.ann.with_bot();
    for (number, reason) in ["warning", "refresh_requested"].into_iter().enumerate() {
        scene.home.slack.disconnect_sockets(reason);
        for question in 0..5 {
            direct.say(&format!("{reason} {question}"));
        }
        for question in 0..5 {
            direct.hears(&format!("echo: {reason} {question}")).await;
        }
        scene.home.slack.connected(number + 2).await;
    }
    assert_eq!(direct.said().len(), 10);
    let deliveries = scene.home.slack.deliveries();
    assert!(deliveries.iter().all(|told| told.attempts.len() == 1));
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_names_do_not_hold_the_acknowledgement_up() {
    let scene = scene().await;
    let slow = Fault::Slow(Duration::from_secs(10));
    scene.home.slack.fail("users.info", slow, 1);
    let direct = scene.ann.with_bot();
    direct.say("hello");
    direct.hears("echo: hello").await;
    let message = &scene.bot.log().messages[0];
    assert_eq!(message.author.name, scene.ann.id());
    scene.home.slack.all_told().await;
    let told = scene.home.slack.deliveries();
    let waited = told[0].acknowledged_after().unwrap();
    assert!(waited < Duration::from_secs(2), "{waited:?}");
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_bots_and_strangers_are_not_answered() {
    let home = Home::new(app()).await;
    let bot = home.start().await;
    let (open, shared) = (home.slack.channel("open"), home.slack.channel("partners"));
    shared.share();
    let raven = home.slack.other_bot("Raven").in_channel(&open);
    raven.ask("hello");
    home.slack.stranger("Eve").in_channel(&shared).ask("hello");
    let ann = home.slack.person("Ann");
    // Also not to who is let in elsewhere.
    ann.in_channel(&shared).ask("hello");
    let direct = ann.with_bot();
    direct.say("well");
    direct.hears("echo: well").await;
    home.slack.all_told().await;
    assert_eq!(bot.log().messages.len(), 1);
    home.slack.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_answered_where_nobody_is_allowed() {
    let home = Home::new(app()).await;
    let bot = home
        .start_with(|options| options.allow = "".parse().unwrap())
        .await;
    let general = home
        .slack
        .person("Ann")
        .in_channel(&home.slack.channel("general"));
    general.ask("hello");
    general.slash("/muninn", "ask hello").await;
    home.slack.all_told().await;
    assert!(bot.log().messages.is_empty());
    home.slack.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_it_cannot_write_to_is_told_of() {
    for (set, expected) in [
        ("archive", "is archived"),
        ("remove", "is not in the channel"),
    ] {
        let scene = scene().await;
        scene.general.ask("wait a moment");
        scene.bot.hears().await;
        match set {
            "archive" => scene.channel.archive(),
            _ => scene.channel.remove_bot(),
        }
        scene.bot.go_on();
        let error = scene.bot.gets("an error", first_error).await;
        assert!(error.contains(expected), "{error}");
        let direct = scene.ann.with_bot();
        direct.say("hello");
        direct.hears("echo: hello").await;
        let _ = scene.home.slack.take_violations();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_scope_is_named() {
    let scene = scene_of(Home::new(app().without_scope("chat:write")).await).await;
    scene.general.ask("hello");
    let error = scene.bot.gets("an error", first_error).await;
    assert!(error.contains("lacks the scope chat:write"), "{error}");
    let _ = scene.home.slack.take_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_names_it_answers_all_the_same() {
    let app = app()
        .without_scope("users:read")
        .without_scope("channels:read");
    let scene = scene_of(Home::new(app).await).await;
    let thread = scene.general.in_thread(&scene.general.ask("hello"));
    thread.hears("echo: hello").await;
    let _ = scene.home.slack.take_violations();
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_is_told_of() {
    let scene = scene().await;
    scene.home.slack.revoke_tokens();
    scene.home.slack.cut_sockets();
    let error = scene.bot.gives_up().await;
    assert!(error.contains("SLACK_APP_TOKEN"), "{error}");
    let error = scene.home.begin_with(|_| {}).gives_up().await;
    assert!(error.contains("SLACK_BOT_TOKEN"), "{error}");
    let _ = scene.home.slack.take_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_known_is_passed_over() {
    let scene = scene().await;
    for event in [
        serde_json::json!({ "type": "brand_new_event", "x": [1, null] }),
        serde_json::json!({ "type": "message", "subtype": "brand_new", "channel": 7 }),
        serde_json::json!({ "type": "app_mention" }),
    ] {
        scene.home.slack.tell_event(event);
    }
    scene.home.slack.send_text("no JSON");
    scene.home.slack.send_text("{\"type\":\"brand_new\"}");
    scene.home.slack.all_told().await;
    let direct = scene.ann.with_bot();
    direct.say("well");
    direct.hears("echo: well").await;
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_comes_again_after_a_restart_is_not_answered_again() {
    let mut scene = scene().await;
    let thread = scene.general.in_thread(&scene.general.ask("hello"));
    thread.hears("echo: hello").await;
    scene.rests().await;
    scene.bot.stop().await;
    scene.bot = scene.home.start().await;
    let told = scene.home.slack.deliveries();
    let mut again = told
        .iter()
        .filter(|told| told.payload["event"]["user"] == scene.ann.id());
    scene
        .home
        .slack
        .tell_payload(again.next().unwrap().payload.clone());
    // The bot knows it by its graph.
    let repeated = |log: &EchoLog| (log.repeated == 1).then_some(());
    scene.bot.gets("it again", repeated).await;
    assert_eq!(thread.said().len(), 1);
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_that_says_nothing_any_more_is_left() {
    let scene = scene().await;
    scene.home.slack.freeze_sockets();
    scene.home.slack.connected(2).await;
    let direct = scene.ann.with_bot();
    direct.say("hello");
    direct.hears("echo: hello").await;
    scene.ends_well().await;
}
