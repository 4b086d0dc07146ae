//! Slash command, shortcut, buttons, home, assistants and agents.

use loopback_slack::{Answered, ResponseFault, Surface, TEAM};
use muninn_platform::{Body, Command, Feedback, ForgetWhat, Listing, Opinion};
use serde_json::Value;

use crate::support::{Echoes, EventTransport, app, run, run_as, run_set};

fn acknowledged() -> Answered {
    Answered::Acknowledged(Value::Null)
}

#[test]
fn a_slash_command_answers_for_one_and_can_be_shared() {
    for way in [EventTransport::Socket, EventTransport::Http] {
        run_as(way, app(), async |chat| {
            let bob = chat.slack.person("Bob").in_channel(&chat.channel);
            let answered = chat.slash("/muninn", "ask When is it?").await;
            assert_eq!(answered, acknowledged());
            let answer = chat.hears("echo: When is it?").await;
            assert!(answer.is_ephemeral);
            assert_eq!(answer.buttons(), ["👍", "👎", "Share", "Why?"]);
            assert!(bob.said().is_empty());
            let asked = &chat.bot.log().messages[0];
            let channel = format!("slack/{TEAM}/{}", chat.channel.id());
            let private = format!("{channel}/private/{}", chat.ann.id());
            assert_eq!(asked.conversation.as_str(), private);
            assert_eq!(asked.audience.id.as_str(), private);
            assert_eq!(asked.audience.name, "Ann in #general");
            assert_eq!(asked.audience.private_to.as_ref(), Some(&asked.author.id));
            assert!(!asked.is_direct());
            let also = asked.also_recalls.as_ref().map(|also| also.as_str());
            assert_eq!(also, Some(channel.as_str()));
            chat.click(&answer, "Share").await;
            bob.hears("echo: When is it?\n\n— shared by Ann").await;
            let gone = |messages: &[loopback_slack::Message]| {
                let whispers = messages.iter().filter(|message| message.is_ephemeral);
                whispers
                    .into_iter()
                    .all(|message| message.is_deleted)
                    .then_some(())
            };
            chat.sees("the private one gone", gone).await;
        });
    }
}

#[test]
fn slash_commands_are_about_the_channel() {
    run(async |chat| {
        for (text, said) in [
            ("", "command: Help"),
            ("why", "command: Why"),
            ("usage", "command: Usage"),
            ("forget last", "command: Forget(Last)"),
        ] {
            assert_eq!(chat.slash("/muninn", text).await, acknowledged());
            let answer = chat.hears(said).await;
            assert!(answer.is_ephemeral);
            assert!(answer.buttons().is_empty());
        }
        let about = chat.bot.log().messages[1].audience.id.to_string();
        assert_eq!(about, format!("slack/{TEAM}/{}", chat.channel.id()));
    });
}

#[test]
fn commands_name_people_and_channels_as_readers_do() {
    run(async |chat| {
        let bob = chat.slack.person("Bob");
        let (bob, here) = (bob.id(), chat.channel.id());
        let note = |text: &str| Command::Note(text.to_owned());
        let sought = |text: &str| Command::Memory(Listing::Search(text.to_owned()));
        let said = [
            ("remember that <@BOB> has the key", note("@Bob has the key")),
            (
                "remember that tea &amp; cake are in <#HERE|general>",
                note("tea & cake are in #general"),
            ),
            ("memory search <@BOB>", sought("@Bob")),
        ];
        for (number, (text, expected)) in said.into_iter().enumerate() {
            let text = text.replace("BOB", bob).replace("HERE", here);
            chat.say_raw(&format!("<@{}> {text}", loopback_slack::BOT_USER));
            let by_message = chat.bot.hears_number(2 * number + 1).await;
            assert_eq!(by_message.body, Body::Command(expected.clone()), "{text}");
            // Of people, commands tell the short names, too.
            let text = text.replace(&format!("<@{bob}>"), &format!("<@{bob}|bob>"));
            chat.slash("/muninn", &text).await;
            let by_slash = chat.bot.hears_number(2 * number + 2).await;
            assert_eq!(by_slash.body, Body::Command(expected), "{text}");
        }
    });
}

#[test]
fn it_answers_a_command_where_it_is_no_member() {
    run(async |chat| {
        chat.channel.remove_bot();
        chat.slash("/muninn", "ask here?").await;
        let answer = chat.hears("echo: here?").await;
        chat.click(&answer, "Share").await;
        chat.hears("echo: here?\n\n— shared by Ann").await;
    });
}

#[test]
fn a_long_private_answer_comes_in_parts_that_can_be_shared() {
    run(async |chat| {
        // More parts than a response URL accepts.
        chat.slash("/muninn", "ask long 500").await;
        let last = chat
            .finds("the last part", |message| message.shown.contains("499 "))
            .await;
        assert!(last.is_ephemeral);
        let said = chat.said();
        assert!(said.len() > 5, "{}", said.len());
        assert!(
            said.iter()
                .all(|part| part.buttons().contains(&"Share".to_owned()))
        );
    });
}

#[test]
fn a_shortcut_asks_about_a_message_for_one() {
    run(async |chat| {
        let message = chat.say("The standup moves to <ten>.");
        chat.shortcut("ask_muninn", &message).await;
        let answer = chat
            .finds("an answer", |message| message.is_ephemeral)
            .await;
        assert!(
            answer.shown.contains("> The standup moves to <ten>."),
            "{}",
            answer.shown
        );
    });
}

#[test]
fn opinions_are_kept_and_changed() {
    run(async |chat| {
        let thread = chat.thread("hello");
        let answer = thread.hears("echo: hello").await;
        thread.click(&answer, "👍").await;
        thread.click(&answer, "👎").await;
        let (audience, given) = chat
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
            format!("slack/{TEAM}/{}", chat.channel.id())
        );
        let Feedback::Given {
            answer: of, person, ..
        } = given
        else {
            panic!("it was given");
        };
        assert_eq!(of.as_str(), format!("{}/{}", chat.channel.id(), answer.ts));
        assert_eq!(person, format!("slack/{TEAM}/{}", chat.ann.id()));
        let feedback = chat.bot.log().feedback;
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
    });
}

#[test]
fn why_is_answered_to_who_asks_also_after_a_restart() {
    run(async |chat| {
        let thread = chat.thread("hello");
        let answer = thread.hears("echo: hello").await;
        chat.restart().await;
        thread.click(&answer, "Why?").await;
        let why = thread.finds("why", |message| message.is_ephemeral).await;
        let id = format!("{}/{}", chat.channel.id(), answer.ts);
        assert!(
            why.shown.contains(&format!("WhyOf(MessageId({id:?}))")),
            "{}",
            why.shown
        );
        assert_eq!(why.thread, answer.thread);
        let asked = &chat.bot.log().messages[0];
        assert_eq!(
            asked.audience.id.as_str(),
            format!("slack/{TEAM}/{}", chat.channel.id())
        );
    });
}

#[test]
fn why_of_a_private_answer_is_asked_of_its_own_audience() {
    run(async |chat| {
        chat.slash("/muninn", "ask When is it?").await;
        let answer = chat.hears("echo: When is it?").await;
        chat.click(&answer, "Why?").await;
        let why = |message: &loopback_slack::Message| message.shown.contains("WhyOf");
        chat.finds("why", why).await;
        let log = chat.bot.log();
        assert_eq!(log.messages[0].audience, log.messages[1].audience);
    });
}

#[test]
fn commands_in_threads_are_mentions() {
    run(async |chat| {
        let thread = chat.thread("one");
        thread.hears("echo: one").await;
        thread.ask("forget thread");
        let answer = thread.hears("command: Forget(Session)").await;
        assert!(answer.is_ephemeral);
        let log = chat.bot.log();
        assert_eq!(log.messages[0].conversation, log.messages[1].conversation);
    });
}

#[test]
fn what_is_for_the_asker_alone_is_not_put_into_a_thread_that_is_not_there() {
    run(async |chat| {
        chat.ask("confide it");
        let answer = chat.hears("echo: confide it").await;
        assert_eq!((answer.is_ephemeral, answer.thread), (true, None));
        let thread = chat.thread("one");
        let root = thread.hears("echo: one").await.thread;
        thread.ask("confide two");
        let answer = thread.hears("echo: confide two").await;
        assert_eq!((answer.is_ephemeral, answer.thread), (true, root));
    });
}

#[test]
fn a_command_that_an_earlier_process_left_is_answered_where_its_author_sees_it() {
    run(async |chat| {
        let limited = ResponseFault::RateLimited(600);
        chat.slack.fail_next("chat.postEphemeral", limited);
        chat.ask("help");
        chat.slack.called("chat.postEphemeral", 1).await;
        chat.bot.dies();
        chat.starts_again().await;
        assert!(chat.hears("command: Help").await.is_ephemeral);
    });
}

#[test]
fn the_home_tells_what_it_is_and_forgets() {
    run(async |chat| {
        chat.ann.open_home();
        let about = |home: &loopback_slack::HomeTab| home.shown().contains("command: About");
        let home = chat.ann.sees_home("what it is", about).await;
        assert_eq!(home.buttons(), ["Forget our direct messages"]);
        chat.ann
            .click_at_home(&home, "Forget our direct messages")
            .await;
        let forgot = |home: &loopback_slack::HomeTab| home.shown().contains("Forget(Audience)");
        chat.ann.sees_home("that it forgot", forgot).await;
        let log = chat.bot.log();
        let direct = chat.ann.with_bot();
        for message in &log.messages {
            let audience = format!("slack/{TEAM}/{}", direct.channel_id());
            assert_eq!(message.audience.id.as_str(), audience);
            // Nobody else is there.
            assert!(message.may_moderate(&message.audience.id));
        }
        let forget = Body::Command(Command::Forget(ForgetWhat::Audience));
        assert_eq!(log.messages[1].body, forget);
    });
}

#[test]
fn only_ones_own_direct_messages_are_forgotten() {
    run(async |chat| {
        let bob = chat.slack.person("Bob");
        let bobs = bob.with_bot().channel_id().to_owned();
        chat.ann.open_home();
        let about = |home: &loopback_slack::HomeTab| home.shown().contains("command: About");
        let mut home = chat.ann.sees_home("what it is", about).await;
        chat.rests().await;
        // The home is of an earlier process, so only Slack knows whose it is.
        chat.restart().await;
        let forged = |home: &loopback_slack::HomeTab, channel: &str| {
            let own = chat.ann.with_bot().channel_id().to_owned();
            let text = serde_json::to_string(&home.0)
                .unwrap()
                .replace(&own, channel);
            loopback_slack::HomeTab(serde_json::from_str(&text).unwrap())
        };
        let other = forged(&home, &bobs);
        chat.ann
            .click_at_home(&other, "Forget our direct messages")
            .await;
        chat.slack.called("conversations.info", 1).await;
        home = forged(&home, chat.ann.with_bot().channel_id());
        chat.ann
            .click_at_home(&home, "Forget our direct messages")
            .await;
        let forgot = |home: &loopback_slack::HomeTab| home.shown().contains("Forget(Audience)");
        chat.ann.sees_home("that it forgot", forgot).await;
        let log = chat.bot.log();
        assert_eq!(log.messages.len(), 1);
        let audience = log.messages[0].audience.id.as_str();
        assert!(!audience.contains(&bobs), "{audience}");
    });
}

#[test]
fn a_private_answer_is_shared_by_those_who_are_served() {
    run(async |chat| {
        let bob = chat.slack.person("Bob").in_channel(&chat.channel);
        chat.slash("/muninn", "ask here?").await;
        let answer = chat.hears("echo: here?").await;
        chat.bot.ends().await;
        chat.bot = chat
            .home
            .start_with(|options| options.allow = "".parse().unwrap())
            .await;
        chat.click(&answer, "Share").await;
        chat.slack.all_told().await;
        chat.rests().await;
        assert!(bob.said().is_empty());
    });
}

#[test]
fn a_private_answer_is_shared_once_however_often_the_button_is_pressed() {
    run(async |chat| {
        let bob = chat.slack.person("Bob").in_channel(&chat.channel);
        chat.slash("/muninn", "ask here?").await;
        let answer = chat.hears("echo: here?").await;
        tokio::join!(chat.click(&answer, "Share"), chat.click(&answer, "Share"));
        let gone = |messages: &[loopback_slack::Message]| {
            let mut whispers = messages.iter().filter(|message| message.is_ephemeral);
            whispers.all(|message| message.is_deleted).then_some(())
        };
        chat.sees("the private one gone", gone).await;
        assert_eq!(bob.said().len(), 1);
    });
}

#[test]
fn an_assistants_thread_has_prompts_title_and_status() {
    let mut app = app().with_surface(Surface::Assistant);
    app.events.push("assistant_thread_started".to_owned());
    app.events
        .push("assistant_thread_context_changed".to_owned());
    run_as(EventTransport::Socket, app, async |chat| {
        let thread = chat.ann.open_assistant_thread(Some(&chat.channel));
        let has_prompts = |thread: &loopback_slack::AssistantThread| thread.prompts.len() == 3;
        thread.sees_thread("prompts", has_prompts).await;
        thread.say("grow it");
        let has_title =
            |thread: &loopback_slack::AssistantThread| thread.title == "Conversation with Muninn";
        thread.sees_thread("a title", has_title).await;
        let works = |thread: &loopback_slack::AssistantThread| {
            thread.statuses.contains(&"is thinking…".to_owned())
        };
        thread.sees_thread("a status", works).await;
        thread.streams().await;
        chat.bot.go_on();
        thread.hears("echo: it").await;
        // Somebody who uses Slack in another language is greeted in it.
        let otto = chat.slack.reader("Otto", "de-DE");
        let ottos = otto.open_assistant_thread(None);
        let is_german = |thread: &loopback_slack::AssistantThread| {
            thread
                .prompts
                .first()
                .is_some_and(|it| it.0 == "Was kannst du?")
        };
        ottos.sees_thread("prompts in German", is_german).await;
        // The asker looks at a channel whose memory they may use.
        let also = |at: usize| chat.bot.log().messages[at].also_recalls.clone();
        let general = format!("slack/{TEAM}/{}", chat.channel.id());
        assert_eq!(also(0).unwrap().as_str(), general);
        let other = chat.slack.channel("other");
        chat.ann.in_channel(&other);
        chat.ann.change_context(&thread, &other);
        chat.slack.all_told().await;
        thread.echoes("and here?").await;
        assert_eq!(
            also(1).unwrap().as_str(),
            format!("slack/{TEAM}/{}", other.id())
        );
        // After their removal Slack does not say any more that they look at it.
        other.remove(&chat.ann);
        thread.echoes("and now?").await;
        assert_eq!(also(2), None);
    });
}

#[test]
fn who_asks_privately_in_a_channel_moderates_what_is_private_and_not_the_channel() {
    run(async |chat| {
        let bob = chat.slack.person("Bob").in_channel(&chat.channel);
        bob.slash("/muninn", "ask remember channel").await;
        let asked = chat.bot.hears_number(1).await;
        assert_ne!(&asked.audience.id, asked.channel());
        assert!(asked.may_moderate(&asked.audience.id));
        assert!(!asked.may_moderate(asked.channel()));
    });
}

#[test]
fn an_agents_session_can_be_stopped_in_mid_stream() {
    run(async |chat| {
        let thread = chat.thread("grow it");
        thread
            .finds("a stream", |message| message.shown.starts_with("so far"))
            .await;
        thread.stop().await;
        let stop = |log: &muninn_platform::testing::EchoLog| log.stops.first().cloned();
        let stopped = chat.bot.gets("the stop", stop).await;
        assert_eq!(stopped, chat.bot.log().messages[0].conversation);
        thread.hears("echo: it").await;
        assert_eq!(thread.said().len(), 1);
        let is_over = |thread: &loopback_slack::AssistantThread| thread.lifecycle == "active";
        thread.sees_thread("its end", is_over).await;
    });
}

#[test]
fn an_agents_session_is_not_called_after_its_question() {
    run(async |chat| {
        let thread = chat.thread("wait a moment");
        let works = |thread: &loopback_slack::AssistantThread| {
            let title = "Conversation with Muninn";
            (thread.lifecycle.as_str(), thread.title.as_str()) == ("processing", title)
        };
        thread.sees_thread("a session", works).await;
        thread.stop().await;
        thread.hears("echo: a moment").await;
    });
}

#[test]
fn an_agents_messages_begin_threads_where_that_is_set() {
    run_set(
        |options| options.direct_threads = true,
        async |chat| {
            let direct = chat.ann.open_messages(None);
            let has_prompts = |thread: &loopback_slack::AssistantThread| thread.prompts.len() == 3;
            direct.sees_thread("prompts", has_prompts).await;
            let asked = direct.say("stream it");
            let thread = direct.in_thread(&asked);
            thread.streams().await;
            let answer = thread.hears("echo: it").await;
            assert_eq!(answer.thread, Some(asked));
        },
    );
}

#[test]
fn a_growing_message_has_a_stop_button() {
    run_as(
        EventTransport::Socket,
        app().without_streams(),
        async |chat| {
            let thread = chat.thread("grow it");
            let growing = thread
                .finds("its beginning", |message| {
                    message.shown.starts_with("so far")
                })
                .await;
            assert_eq!(growing.buttons(), ["Stop"]);
            thread.click(&growing, "Stop").await;
            let answer = thread.hears("echo: it").await;
            assert_eq!(answer.buttons(), ["👍", "👎", "Why?"]);
            let stops = chat.bot.log().stops;
            assert_eq!(stops, [chat.bot.log().messages[0].conversation.clone()]);
            // The bot asks only once.
            chat.rests().await;
            thread.echoes("more").await;
            assert_eq!(chat.slack.calls_of("chat.startStream").len(), 1);
        },
    );
}
