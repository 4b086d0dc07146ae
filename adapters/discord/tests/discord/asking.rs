//! Commands, the menu of a message, and the buttons under an answer.

use std::time::Duration;

use loopback_discord::{Permissions, Target};
use muninn_platform::testing::{EchoLog, EchoMemory};
use muninn_platform::{
    Attention, Body, ChannelMemory, Command, Feedback, ForgetWhat, Listing, Opinion, Scope,
    TokenDeed,
};
use serde_json::json;

use crate::support::{
    DiscordFixture, DiscordInstallation, DiscordTransport, Echoes, run, run_by, run_in,
};

#[test]
fn a_question_asked_by_command_is_answered_in_its_place() {
    for way in [DiscordTransport::Proxy, DiscordTransport::Real] {
        run_by(way, async |chat| {
            let asked = chat.ask("who leads?", &[]);
            let answer = asked.hears("echo: who leads?").await;
            assert!(!answer.is_ephemeral && answer.hides_embeds);
            assert!(asked.follow_ups().is_empty());
            let message = chat.bot.hears().await;
            let channel = format!("discord/{}/{}", chat.guild.id(), chat.general.id());
            assert_eq!(message.conversation.as_str(), channel);
            assert_eq!(message.audience.id.as_str(), channel);
            assert_eq!(message.audience.private_to, None);
            assert_eq!(
                (message.audience.name.as_str(), message.also_recalls),
                ("general", None)
            );
        });
    }
}

#[test]
fn a_command_is_answered_that_has_only_the_fields_of_the_documentations_example() {
    let home = DiscordInstallation::with_documented_fields();
    run_in(home, async |chat| {
        let asked = chat.ask("who leads?", &[]);
        let answer = asked.hears("echo: who leads?").await;
        let message = chat.bot.hears().await;
        let channel = format!("discord/{}/{}", chat.guild.id(), chat.general.id());
        assert_eq!(message.conversation.as_str(), channel);
        assert_eq!(message.audience.name, "general");
        assert!(!message.is_direct());
        chat.click(&answer, "Why?").is_answered().await;
        // What is asked in private is answered in private.
        let private = chat.ask("in secret?", &[("private", json!(true))]);
        assert!(private.hears("echo: in secret?").await.is_ephemeral);
        chat.rests().await;
    });
}

#[test]
fn what_is_asked_privately_is_seen_and_remembered_by_nobody_else() {
    run(async |chat| {
        let bob = chat.guild.person("bob").at(&chat.general);
        let asked = chat.ask("long 200", &[("private", json!(true))]);
        let last = asked
            .finds("the last line", |said| said.text.contains("199 *x*"))
            .await;
        assert!(last.is_ephemeral && !asked.follow_ups().is_empty());
        assert!(asked.follow_ups().iter().all(|said| said.is_ephemeral));
        assert!(bob.all().is_empty());
        let message = chat.bot.hears().await;
        let channel = format!("discord/{}/{}", chat.guild.id(), chat.general.id());
        let private = format!("{channel}/private/{}", chat.ann.id());
        assert_eq!(message.audience.id.as_str(), private);
        assert_eq!(message.conversation.as_str(), private);
        assert_eq!(
            message.audience.private_to.as_ref(),
            Some(&message.author.id)
        );
        assert!(!message.is_direct());
        assert_eq!(message.also_recalls.unwrap().as_str(), channel);
        // Its buttons work in the same place.
        let again = chat.ask("short", &[("private", json!(true))]);
        let answer = again.hears("echo: short").await;
        let why = chat.click(&answer, "Why?");
        let explained = why.is_answered().await;
        assert!(explained.is_ephemeral && explained.text.contains("WhyOf"));
        chat.click(&answer, "Regenerate");
        chat.hears("echo: short again").await;
        let last = chat.bot.log().messages.pop().unwrap();
        assert_eq!(last.conversation.as_str(), private);
    });
}

#[test]
fn a_thread_can_be_asked_for() {
    run(async |chat| {
        chat.ask("where to?", &[("thread", json!(true))]);
        let question = chat.hears("**ann:** where to?").await;
        let thread = chat.thread_on(question.id).await;
        thread.hears("echo: where to?").await;
        thread.echoes("and then?").await;
        assert_eq!(chat.said().len(), 1);
        // A private thread is only for the asker, and is its own audience.
        let asked = chat.ask(
            "in secret?",
            &[("thread", json!(true)), ("private", json!(true))],
        );
        let thread = chat.finds_thread("a private one", |it| it.is_private).await;
        asked
            .finds("where", |said| said.text.contains(&thread.id().to_string()))
            .await;
        thread.hears("echo: in secret?").await;
        let message = chat.bot.log().messages.pop().unwrap();
        let own = format!("discord/{}/{}", chat.guild.id(), thread.id());
        assert_eq!(message.audience.id.as_str(), own);
        assert_eq!(message.conversation.as_str(), own);
    });
}

#[test]
fn what_is_for_the_asker_alone_is_in_no_public_message_of_a_command() {
    for way in [DiscordTransport::Proxy, DiscordTransport::Real] {
        run_by(way, async |chat| {
            let bob = chat.guild.person("bob").at(&chat.general);
            let asked = chat.ask("confide my token", &[]);
            let answer = asked.hears("echo: confide my token").await;
            assert!(answer.is_ephemeral);
            chat.finds("nothing else left", |said| {
                !said.is_ephemeral && said.is_deleted
            })
            .await;
            let seen = bob.all();
            let is_told = |text: &String| text.contains("my token");
            assert!(!seen.iter().any(|it| it.texts.iter().any(is_told)));
            assert!(bob.said().is_empty(), "{seen:#?}");
        });
    }
}

#[test]
fn what_holds_the_place_of_a_private_answer_goes_although_discord_fails_at_first() {
    run(async |chat| {
        let original = "/webhooks/{webhook_id}/{webhook_token}/messages/@original";
        chat.discord.next("DELETE", original).fails(502);
        let asked = chat.ask("confide my token", &[]);
        asked.hears("echo: confide my token").await;
        chat.finds("nothing else left", |said| {
            !said.is_ephemeral && said.is_deleted
        })
        .await;
    });
}

#[test]
fn what_is_for_the_asker_alone_is_a_direct_message_where_the_command_cannot_show_it() {
    run(async |chat| {
        // Somebody took "thinking…" away.
        let original = "/webhooks/{webhook_id}/{webhook_token}/messages/@original";
        let gate = chat.discord.next("PATCH", original).is_held();
        chat.ask("confide my token", &[]);
        gate.is_reached().await;
        let thinking = chat.said().pop().unwrap();
        let moderator = chat.guild.moderator("mia").at(&chat.general);
        moderator.delete(thinking.id);
        gate.open();
        let expected = format!("-# For <@{}>\necho: confide my token", chat.ann.id());
        chat.ann.direct().hears(&expected).await;
        assert!(chat.said().is_empty());
    });
}

#[test]
fn a_private_question_whose_thread_cannot_be_opened_stays_private() {
    run(async |chat| {
        chat.general.denies(Permissions::CREATE_PRIVATE_THREADS);
        let bob = chat.guild.person("bob").at(&chat.general);
        let both = [("private", json!(true)), ("thread", json!(true))];
        let asked = chat.ask("in secret?", &both);
        let answer = asked.hears("echo: in secret?").await;
        assert!(answer.is_ephemeral && bob.all().is_empty());
        let message = chat.bot.hears().await;
        let channel = format!("discord/{}/{}", chat.guild.id(), chat.general.id());
        let private = format!("{channel}/private/{}", chat.ann.id());
        assert_eq!(message.audience.id.as_str(), private);
        assert_eq!(message.conversation.as_str(), private);
        assert_eq!(message.also_recalls.unwrap().as_str(), channel);
    });
}

#[test]
fn an_answer_later_than_fifteen_minutes_is_an_ordinary_message() {
    run(async |chat| {
        let asked = chat.ask("wait for it", &[]);
        asked.is_acknowledged().await;
        chat.bot.hears().await;
        chat.discord.lets_pass(Duration::from_secs(16 * 60));
        chat.bot.go_on();
        let answer = chat
            .hears(&format!("-# For <@{}>\necho: for it", chat.ann.id()))
            .await;
        assert!(answer.calls.is_empty());
        assert_eq!(answer.buttons.len(), 4);
    });
}

#[test]
fn a_private_answer_later_than_fifteen_minutes_is_a_direct_message() {
    run(async |chat| {
        let asked = chat.ask("wait for it", &[("private", json!(true))]);
        asked.is_acknowledged().await;
        chat.bot.hears().await;
        chat.discord.lets_pass(Duration::from_secs(16 * 60));
        chat.bot.go_on();
        let direct = chat.ann.direct();
        let answer = direct
            .hears(&format!("-# For <@{}>\necho: for it", chat.ann.id()))
            .await;
        assert!(chat.said().iter().all(|said| said.is_thinking));
        // Its buttons are about the channel all the same.
        direct.click(&answer, "Why?").is_answered().await;
        let why = chat.bot.hears_number(2).await;
        let channel = format!("discord/{}/{}", chat.guild.id(), chat.general.id());
        let private = format!("{channel}/private/{}", chat.ann.id());
        assert_eq!(why.audience.id.as_str(), private);
        assert_eq!(why.conversation.as_str(), private);
        assert_eq!(why.also_recalls.unwrap().as_str(), channel);
        direct.click(&answer, "👍").is_answered().await;
        assert_eq!(rated_in(chat).await, private);
        direct.click(&answer, "Regenerate");
        direct.hears("echo: for it again").await;
    });
}

#[test]
fn a_growing_answer_goes_on_in_its_message_when_the_time_is_over() {
    run(async |chat| {
        let asked = chat.ask("grow on", &[]);
        let growing = asked
            .finds("so far", |said| said.text.starts_with("so far"))
            .await;
        chat.discord.lets_pass(Duration::from_secs(16 * 60));
        chat.bot.go_on();
        let answer = chat.hears("echo: on").await;
        assert_eq!(answer.id, growing.id);
        assert_eq!(chat.said().len(), 1);
    });
}

#[test]
fn a_message_can_be_asked_about() {
    run(async |chat| {
        let bob = chat.guild.person("bob").at(&chat.general);
        let said = bob.say("Ship it.\nNow.");
        let asked = chat.menu("Ask Muninn about this message", Target::Message(said));
        asked
            .hears("echo: What do you think of this message from bob?\n> Ship it.\n> Now.")
            .await;
    });
}

#[test]
fn commands_are_answered_for_the_one_who_gave_them() {
    run(async |chat| {
        for (command, options, expected) in [
            ("why", vec![], Command::Why),
            ("usage", vec![], Command::Usage),
            (
                "mute",
                vec![],
                Command::Attend(Attention::Muted, Scope::Audience),
            ),
            (
                "unmute",
                vec![("where", json!("thread"))],
                Command::Attend(Attention::Open, Scope::Conversation),
            ),
            (
                "mentions",
                vec![("where", json!("channel"))],
                Command::Attend(Attention::Mentioned, Scope::Audience),
            ),
            ("off", vec![], Command::OffTheRecord(Scope::Audience)),
            (
                "on",
                vec![("where", json!("thread"))],
                Command::OnTheRecord(Scope::Conversation),
            ),
            (
                "remember",
                vec![("what", json!("don't remember me here"))],
                Command::OptOut,
            ),
            (
                "remember",
                vec![("what", json!("remember channel"))],
                Command::Remember(ChannelMemory::Channel),
            ),
            (
                "forget",
                vec![("what", json!("last"))],
                Command::Forget(ForgetWhat::Last),
            ),
            (
                "forget",
                vec![("number", json!(2))],
                Command::Forget(ForgetWhat::Item(2)),
            ),
            ("web", vec![], Command::Web),
            ("web", vec![("sign_out", json!(true))], Command::WebSignOut),
            ("mcp", vec![], Command::Token(TokenDeed::List)),
            (
                "mcp",
                vec![
                    ("what", json!("token everywhere")),
                    ("for", json!("30 days")),
                ],
                Command::Token(TokenDeed::Make {
                    everywhere: true,
                    life: Some("30 days".to_owned()),
                }),
            ),
            (
                "mcp",
                vec![("what", json!("revoke")), ("number", json!(2))],
                Command::Token(TokenDeed::Revoke(Some(2))),
            ),
            ("memory", vec![], Command::Memory(Listing::Newest)),
            (
                "memory",
                vec![("search", json!("Boiler"))],
                Command::Memory(Listing::Search("Boiler".to_owned())),
            ),
            (
                "memory",
                vec![("more", json!(true))],
                Command::Memory(Listing::More),
            ),
            (
                "correct",
                vec![("number", json!(1)), ("text", json!("Friday"))],
                Command::Correct {
                    number: 1,
                    text: "Friday".to_owned(),
                },
            ),
        ] {
            let asked = chat.command(command, &options);
            let answer = asked.hears(&format!("command: {expected:?}")).await;
            assert!(answer.is_ephemeral && answer.buttons.is_empty());
        }
        // A note is visible to everybody here.
        let asked = chat.command("note", &[("text", json!("Tea is at 4"))]);
        let answer = asked.hears("command: Note(\"Tea is at 4\")").await;
        assert!(!answer.is_ephemeral);
        let asked = chat.command("forget", &[]);
        let what = asked.is_answered().await;
        assert!(what.text.starts_with("Say what to forget"), "{}", what.text);
        // Forgetting what cannot be restored needs a confirmation.
        for (what, text) in [("thread", "Session"), ("channel", "Audience")] {
            let asked = chat.command("forget", &[("what", json!(what))]);
            let question = asked.is_answered().await;
            chat.click(&question, "Keep");
            asked.hears("Nothing was forgotten.").await;
            let asked = chat.command("forget", &[("what", json!(what))]);
            let question = asked.is_answered().await;
            chat.click(&question, "Forget");
            let done = asked.hears(&format!("command: Forget({text})")).await;
            assert!(done.is_ephemeral && done.buttons.is_empty());
        }
        let told: Vec<Body> = chat
            .bot
            .log()
            .messages
            .into_iter()
            .map(|it| it.body)
            .collect();
        assert_eq!(told.len(), 23, "{told:?}");
    });
}

#[test]
fn ones_own_conversations_are_offered_and_nobody_elses() {
    run(async |chat| {
        let bob = chat.guild.person("bob").at(&chat.general);
        chat.ask("when is the standup?", &[])
            .hears("echo: when is the standup?")
            .await;
        let thread = chat.asks("who leads?").await;
        thread.hears("echo: who leads?").await;
        bob.ask("my secret", &[]).hears("echo: my secret").await;
        let offered = chat.completes("session", "name", "").await;
        assert_eq!(offered.len(), 2, "{offered:?}");
        assert!(offered[0].0.ends_with("· who leads?"), "{offered:?}");
        let offered = chat.completes("session", "name", "STANDUP").await;
        assert_eq!(offered.len(), 1);
        assert!(bob.completes("session", "name", "leads").await.is_empty());
        let thread_id = format!("discord/{}/{}", chat.guild.id(), thread.id());
        let shown = chat.command("session", &[("name", json!(thread_id))]);
        let shown = shown.is_answered().await;
        assert!(shown.is_ephemeral && shown.text.contains("who leads?"));
        let link = format!(
            "https://discord.com/channels/{}/{}",
            chat.guild.id(),
            thread.id()
        );
        assert!(shown.text.contains(&link), "{}", shown.text);
        // An id of somebody else's conversation opens nothing.
        let other = bob.command("session", &[("name", json!(thread_id))]);
        other
            .hears("I know of no such conversation of yours here.")
            .await;
    });
}

/// Waits for a rating; returns the audience in which the bot was told of it.
async fn rated_in(chat: &DiscordFixture) -> String {
    let rated = |log: &EchoLog| {
        let mut told = log.feedback.iter();
        let rated = told.find(|(_, it)| matches!(it, Feedback::Given { .. }))?;
        Some(rated.0.to_string())
    };
    chat.bot.gets("a rating", rated).await
}

#[test]
fn an_opinion_of_a_private_answer_belongs_to_its_private_place() {
    run(async |chat| {
        let asked = chat.ask("hello", &[("private", json!(true))]);
        let answer = asked.hears("echo: hello").await;
        chat.click(&answer, "👍").is_answered().await;
        let channel = format!("discord/{}/{}", chat.guild.id(), chat.general.id());
        let private = format!("{channel}/private/{}", chat.ann.id());
        assert_eq!(rated_in(chat).await, private);
    });
}

#[test]
fn opinions_are_kept_once_for_each_person() {
    run(async |chat| {
        let answer = chat.ask("hello", &[]).hears("echo: hello").await;
        chat.click(&answer, "👍").is_answered().await;
        chat.click(&answer, "👎").is_answered().await;
        let feedback = chat
            .bot
            .gets("both", |log| {
                (log.feedback.len() == 4).then(|| log.feedback.clone())
            })
            .await;
        let given = |at: usize| match &feedback[at].1 {
            Feedback::Given {
                event,
                answer,
                person,
                opinion,
            } => (event.clone(), answer.clone(), person.clone(), *opinion),
            Feedback::Withdrawn { .. } => panic!("{feedback:?}"),
        };
        let (first, of, person, good) = given(1);
        let (second, _, _, bad) = given(3);
        assert_eq!((good, bad), (Opinion::Good, Opinion::Bad));
        assert_eq!(of.as_str(), format!("{}/{}", answer.channel, answer.id));
        assert_eq!(person, format!("discord/{}", chat.ann.id()));
        // The second replaces the first.
        assert_eq!(first, second);
        assert_eq!(feedback[2].1, Feedback::Withdrawn { event: first });
    });
}

#[test]
fn only_who_asked_or_moderates_stops_and_regenerates() {
    run(async |chat| {
        let bob = chat.guild.person("bob").at(&chat.general);
        let moderator = chat.guild.moderator("mia").at(&chat.general);
        for who in [&**chat, &moderator] {
            let asked = chat.ask("grow on", &[]);
            let growing = asked
                .finds("so far", |said| said.text.starts_with("so far"))
                .await;
            let before = chat.bot.log().stops.len();
            let refused = bob.click(&growing, "Stop").is_answered().await;
            assert!(refused.is_ephemeral && refused.text.starts_with("Only the one who asked"));
            assert_eq!(chat.bot.log().stops.len(), before);
            who.click(&growing, "Stop");
            let stopped = chat
                .bot
                .gets("a stop", |log| log.stops.get(before).cloned())
                .await;
            let message = chat.bot.log().messages.pop().unwrap();
            assert_eq!(stopped, message.conversation);
            let answer = asked.hears("echo: on").await;
            // The bot knows the asker.
            bob.click(&answer, "Regenerate")
                .hears("somebody else asked")
                .await;
            who.click(&answer, "Regenerate");
            let again = asked.hears("echo: on again").await;
            assert_eq!((again.id, again.buttons.len()), (answer.id, 4));
            // Whoever regenerates it, it stays Ann's.
            chat.click(&again, "Regenerate");
            let once_more = asked.hears("echo: on again again").await;
            assert_eq!(once_more.id, answer.id);
        }
    });
}

#[test]
fn what_cannot_be_asked_again_is_told_to_the_one_who_wanted_it() {
    run(async |chat| {
        let answer = chat.ask("hello", &[]).hears("echo: hello").await;
        chat.bot.ends().await;
        chat.home.memory = EchoMemory::default();
        chat.starts_again().await;
        let told = chat
            .click(&answer, "Regenerate")
            .hears("no such answer")
            .await;
        assert!(told.is_ephemeral && told.buttons.is_empty());
        assert_eq!(answer.text, "echo: hello");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_registered_only_when_they_changed() {
    let home = DiscordInstallation::new().await;
    let puts = |home: &DiscordInstallation| {
        let requests = home.discord.requests();
        requests
            .iter()
            .filter(|(method, _)| method == "PUT")
            .count()
    };
    home.start().await.stop().await;
    assert_eq!((home.discord.commands(None).len(), puts(&home)), (22, 1));
    home.start().await.stop().await;
    assert_eq!(puts(&home), 1);
    let guild = home.guild.id();
    let id = muninn_discord::GuildId::new(guild.to_string().parse().unwrap());
    home.start_with(|options| options.guild = Some(id))
        .await
        .stop()
        .await;
    assert_eq!(
        (home.discord.commands(Some(guild)).len(), puts(&home)),
        (22, 2)
    );
}

#[test]
fn what_is_told_twice_is_answered_once() {
    run(async |chat| {
        chat.discord.repeats_events(1);
        chat.ask("twice", &[]).hears("echo: twice").await;
        let direct = chat.ann.direct();
        direct.echoes("also twice").await;
        chat.bot
            .gets("it again", |log| (log.repeated > 0).then_some(()))
            .await;
        assert_eq!((chat.said().len(), direct.said().len()), (1, 1));
    });
}
