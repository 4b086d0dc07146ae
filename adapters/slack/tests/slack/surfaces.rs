//! Slash command, shortcut, buttons, home, assistants and agents.

use loopback_slack::{Answered, StreamState, Surface, TEAM};
use muninn_platform::{Body, Command, Feedback, ForgetWhat, Opinion};
use serde_json::Value;

use crate::support::{Home, Way, app, scene, scene_of};

fn acknowledged() -> Answered {
    Answered::Acknowledged(Value::Null)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slash_command_answers_for_one_and_can_be_shared() {
    for way in [Way::Socket, Way::Http] {
        let scene = scene_of(Home::by(way, app()).await).await;
        let bob = scene.home.slack.person("Bob").in_channel(&scene.channel);
        let answered = scene.general.slash("/muninn", "ask When is it?").await;
        assert_eq!(answered, acknowledged());
        let answer = scene.general.hears("echo: When is it?").await;
        assert!(answer.is_ephemeral);
        assert_eq!(answer.buttons(), ["👍", "👎", "Share", "Why?"]);
        assert!(bob.said().is_empty());
        let asked = &scene.bot.log().messages[0];
        let channel = format!("slack/{TEAM}/{}", scene.channel.id());
        let private = format!("{channel}/private/{}", scene.ann.id());
        assert_eq!(asked.conversation.as_str(), private);
        assert_eq!(asked.audience.id.as_str(), private);
        assert_eq!(asked.audience.name, "Ann in #general");
        let also = asked.also_recalls.as_ref().map(|also| also.as_str());
        assert_eq!(also, Some(channel.as_str()));
        scene.general.click(&answer, "Share").await;
        bob.hears("echo: When is it?\n\n— shared by Ann").await;
        let gone = |messages: &[loopback_slack::Message]| {
            let whispers = messages.iter().filter(|message| message.is_ephemeral);
            whispers
                .into_iter()
                .all(|message| message.is_deleted)
                .then_some(())
        };
        scene.general.sees("the private one gone", gone).await;
        scene.ends_well().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slash_commands_are_about_the_channel() {
    let scene = scene().await;
    for (text, said) in [
        ("", "command: Help"),
        ("why", "command: Why"),
        ("usage", "command: Usage"),
        ("forget last", "command: Forget(Last)"),
    ] {
        assert_eq!(scene.general.slash("/muninn", text).await, acknowledged());
        let answer = scene.general.hears(said).await;
        assert!(answer.is_ephemeral);
        assert!(answer.buttons().is_empty());
    }
    let about = scene.bot.log().messages[1].audience.id.to_string();
    assert_eq!(about, format!("slack/{TEAM}/{}", scene.channel.id()));
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_answers_a_command_where_it_is_no_member() {
    let scene = scene().await;
    scene.channel.remove_bot();
    scene.general.slash("/muninn", "ask here?").await;
    let answer = scene.general.hears("echo: here?").await;
    scene.general.click(&answer, "Share").await;
    scene.general.hears("echo: here?\n\n— shared by Ann").await;
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_private_answer_comes_in_parts_that_can_be_shared() {
    let scene = scene().await;
    // More parts than an address takes.
    scene.general.slash("/muninn", "ask long 500").await;
    let last = scene
        .general
        .finds("the last part", |message| message.shown.contains("499 "))
        .await;
    assert!(last.is_ephemeral);
    let said = scene.general.said();
    assert!(said.len() > 5, "{}", said.len());
    assert!(
        said.iter()
            .all(|part| part.buttons().contains(&"Share".to_owned()))
    );
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shortcut_asks_about_a_message_for_one() {
    let scene = scene().await;
    let message = scene.general.say("The standup moves to <ten>.");
    scene.general.shortcut("ask_muninn", &message).await;
    let answer = scene
        .general
        .finds("an answer", |message| message.is_ephemeral)
        .await;
    assert!(
        answer.shown.contains("> The standup moves to <ten>."),
        "{}",
        answer.shown
    );
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn opinions_are_kept_and_changed() {
    let scene = scene().await;
    let thread = scene.general.in_thread(&scene.general.ask("hello"));
    let answer = thread.hears("echo: hello").await;
    thread.click(&answer, "👍").await;
    thread.click(&answer, "👎").await;
    let (audience, given) = scene
        .bot
        .gets("the other opinion", |log| {
            let given = log.feedback.iter().find(|(_, feedback)| {
                matches!(
                    feedback,
                    Feedback::Given {
                        opinion: Opinion::Bad,
                        ..
                    }
                )
            });
            given.cloned()
        })
        .await;
    assert_eq!(
        audience.as_str(),
        format!("slack/{TEAM}/{}", scene.channel.id())
    );
    let Feedback::Given {
        answer: of, person, ..
    } = given
    else {
        panic!("it was given");
    };
    assert_eq!(of.as_str(), format!("{}/{}", scene.channel.id(), answer.ts));
    assert_eq!(person, format!("slack/{TEAM}/{}", scene.ann.id()));
    let feedback = scene.bot.log().feedback;
    let good = feedback.iter().find_map(|(_, feedback)| match feedback {
        Feedback::Given {
            event,
            opinion: Opinion::Good,
            ..
        } => Some(event.clone()),
        Feedback::Given { .. } | Feedback::Withdrawn { .. } => None,
    });
    let withdrawn = Feedback::Withdrawn {
        event: good.unwrap(),
    };
    assert!(
        feedback
            .iter()
            .rev()
            .any(|(_, feedback)| *feedback == withdrawn)
    );
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn why_is_answered_to_who_asks_also_after_a_restart() {
    let mut scene = scene().await;
    let thread = scene.general.in_thread(&scene.general.ask("hello"));
    let answer = thread.hears("echo: hello").await;
    scene.bot.stop().await;
    scene.bot = scene.home.start().await;
    thread.click(&answer, "Why?").await;
    let why = thread.finds("why", |message| message.is_ephemeral).await;
    let id = format!("{}/{}", scene.channel.id(), answer.ts);
    assert!(
        why.shown.contains(&format!("WhyOf(MessageId({id:?}))")),
        "{}",
        why.shown
    );
    assert_eq!(why.thread, answer.thread);
    let asked = &scene.bot.log().messages[0];
    assert_eq!(
        asked.audience.id.as_str(),
        format!("slack/{TEAM}/{}", scene.channel.id())
    );
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn why_of_a_private_answer_is_asked_of_its_own_audience() {
    let scene = scene().await;
    scene.general.slash("/muninn", "ask When is it?").await;
    let answer = scene.general.hears("echo: When is it?").await;
    scene.general.click(&answer, "Why?").await;
    let why = |message: &loopback_slack::Message| message.shown.contains("WhyOf");
    scene.general.finds("why", why).await;
    let log = scene.bot.log();
    assert_eq!(log.messages[0].audience, log.messages[1].audience);
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_in_threads_are_mentions() {
    let scene = scene().await;
    let thread = scene.general.in_thread(&scene.general.ask("one"));
    thread.hears("echo: one").await;
    thread.ask("forget thread");
    let answer = thread.hears("command: Forget(Session)").await;
    assert!(answer.is_ephemeral);
    let log = scene.bot.log();
    assert_eq!(log.messages[0].conversation, log.messages[1].conversation);
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_home_tells_what_it_is_and_forgets() {
    let scene = scene().await;
    scene.ann.open_home();
    let about = |home: &loopback_slack::Home| home.shown().contains("command: About");
    let home = scene.ann.sees_home("what it is", about).await;
    assert_eq!(home.buttons(), ["Forget our direct messages"]);
    scene
        .ann
        .click_at_home(&home, "Forget our direct messages")
        .await;
    let forgot = |home: &loopback_slack::Home| home.shown().contains("Forget(Audience)");
    scene.ann.sees_home("that it forgot", forgot).await;
    let log = scene.bot.log();
    let direct = scene.ann.with_bot();
    for message in &log.messages {
        let audience = format!("slack/{TEAM}/{}", direct.channel_id());
        assert_eq!(message.audience.id.as_str(), audience);
        // Nobody else is there.
        assert!(message.author.is_admin);
    }
    let forget = Body::Command(Command::Forget(ForgetWhat::Audience));
    assert_eq!(log.messages[1].body, forget);
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_ones_own_direct_messages_are_forgotten() {
    let mut scene = scene().await;
    let bob = scene.home.slack.person("Bob");
    let bobs = bob.with_bot().channel_id().to_owned();
    scene.ann.open_home();
    let about = |home: &loopback_slack::Home| home.shown().contains("command: About");
    let mut home = scene.ann.sees_home("what it is", about).await;
    scene.rests().await;
    // Of an earlier process, so only Slack knows whose they are.
    scene.bot.stop().await;
    scene.bot = scene.home.start().await;
    let forged = |home: &loopback_slack::Home, channel: &str| {
        let own = scene.ann.with_bot().channel_id().to_owned();
        let text = serde_json::to_string(&home.0)
            .unwrap()
            .replace(&own, channel);
        loopback_slack::Home(serde_json::from_str(&text).unwrap())
    };
    let other = forged(&home, &bobs);
    scene
        .ann
        .click_at_home(&other, "Forget our direct messages")
        .await;
    scene.home.slack.called("conversations.info", 1).await;
    home = forged(&home, scene.ann.with_bot().channel_id());
    scene
        .ann
        .click_at_home(&home, "Forget our direct messages")
        .await;
    let forgot = |home: &loopback_slack::Home| home.shown().contains("Forget(Audience)");
    scene.ann.sees_home("that it forgot", forgot).await;
    let log = scene.bot.log();
    assert_eq!(log.messages.len(), 1);
    let audience = log.messages[0].audience.id.as_str();
    assert!(!audience.contains(&bobs), "{audience}");
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_answer_is_shared_by_those_who_are_served() {
    let mut scene = scene().await;
    let bob = scene.home.slack.person("Bob").in_channel(&scene.channel);
    scene.general.slash("/muninn", "ask here?").await;
    let answer = scene.general.hears("echo: here?").await;
    scene.bot.stop().await;
    scene.bot = scene
        .home
        .start_with(|options| options.allow = "".parse().unwrap())
        .await;
    scene.general.click(&answer, "Share").await;
    scene.home.slack.all_told().await;
    scene.rests().await;
    assert!(bob.said().is_empty());
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_assistants_thread_has_prompts_title_and_status() {
    let mut app = app().with_surface(Surface::Assistant);
    app.events.push("assistant_thread_started".to_owned());
    app.events
        .push("assistant_thread_context_changed".to_owned());
    let scene = scene_of(Home::new(app).await).await;
    let thread = scene.ann.open_assistant_thread(Some(&scene.channel));
    let has_prompts = |thread: &loopback_slack::Thread| thread.prompts.len() == 3;
    thread.sees_thread("prompts", has_prompts).await;
    thread.say("grow it");
    let has_title = |thread: &loopback_slack::Thread| thread.title == "Conversation with Muninn";
    thread.sees_thread("a title", has_title).await;
    let works =
        |thread: &loopback_slack::Thread| thread.statuses.contains(&"is thinking…".to_owned());
    thread.sees_thread("a status", works).await;
    thread
        .finds("a stream", |message| message.stream == StreamState::Running)
        .await;
    scene.bot.go_on();
    thread.hears("echo: it").await;
    // Who asks looks at a channel, whose memory they may have.
    let also = |at: usize| scene.bot.log().messages[at].also_recalls.clone();
    let general = format!("slack/{TEAM}/{}", scene.channel.id());
    assert_eq!(also(0).unwrap().as_str(), general);
    let other = scene.home.slack.channel("other");
    scene.ann.change_context(&thread, &other);
    scene.home.slack.all_told().await;
    thread.say("and here?");
    thread.hears("echo: and here?").await;
    assert_eq!(
        also(1).unwrap().as_str(),
        format!("slack/{TEAM}/{}", other.id())
    );
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_session_can_be_stopped_in_mid_stream() {
    let scene = scene().await;
    let thread = scene.general.in_thread(&scene.general.ask("grow it"));
    thread
        .finds("a stream", |message| message.shown.starts_with("so far"))
        .await;
    thread.stop().await;
    let stop = |log: &muninn_platform::testing::EchoLog| log.stops.first().cloned();
    let stopped = scene.bot.gets("the stop", stop).await;
    assert_eq!(stopped, scene.bot.log().messages[0].conversation);
    thread.hears("echo: it").await;
    assert_eq!(thread.said().len(), 1);
    let is_over = |thread: &loopback_slack::Thread| thread.lifecycle == "active";
    thread.sees_thread("its end", is_over).await;
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_session_is_not_called_after_its_question() {
    let scene = scene().await;
    let thread = scene.general.in_thread(&scene.general.ask("wait a moment"));
    let works = |thread: &loopback_slack::Thread| {
        let title = "Conversation with Muninn";
        (thread.lifecycle.as_str(), thread.title.as_str()) == ("processing", title)
    };
    thread.sees_thread("a session", works).await;
    thread.stop().await;
    thread.hears("echo: a moment").await;
    scene.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_messages_begin_threads_where_that_is_set() {
    let home = Home::new(app()).await;
    let bot = home
        .start_with(|options| options.direct_threads = true)
        .await;
    let ann = home.slack.person("Ann");
    let direct = ann.open_messages(None);
    let has_prompts = |thread: &loopback_slack::Thread| thread.prompts.len() == 3;
    direct.sees_thread("prompts", has_prompts).await;
    let asked = direct.say("stream it");
    let thread = direct.in_thread(&asked);
    thread
        .finds("a stream", |message| message.stream == StreamState::Running)
        .await;
    let answer = thread.hears("echo: it").await;
    assert_eq!(answer.thread, Some(asked));
    assert_eq!(bot.log().errors, Vec::<String>::new());
    home.slack.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_growing_message_has_a_stop_button() {
    let scene = scene_of(Home::new(app().without_streams()).await).await;
    let thread = scene.general.in_thread(&scene.general.ask("grow it"));
    let growing = thread
        .finds("its beginning", |message| {
            message.shown.starts_with("so far")
        })
        .await;
    assert_eq!(growing.buttons(), ["Stop"]);
    thread.click(&growing, "Stop").await;
    let answer = thread.hears("echo: it").await;
    assert_eq!(answer.buttons(), ["👍", "👎", "Why?"]);
    let stops = scene.bot.log().stops;
    assert_eq!(stops, [scene.bot.log().messages[0].conversation.clone()]);
    // Learned once.
    scene.rests().await;
    thread.say("more");
    thread.hears("echo: more").await;
    assert_eq!(scene.home.slack.calls_of("chat.startStream").len(), 1);
    scene.ends_well().await;
}
