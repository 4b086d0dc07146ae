//! Commands, the menu of a message, and the buttons under an answer.

use std::time::Duration;

use loopback_discord::Target;
use muninn_platform::{Body, Command, Feedback, ForgetWhat, Opinion};
use serde_json::json;

use crate::support::{Home, Way, scene, scene_in};

#[tokio::test(flavor = "multi_thread")]
async fn a_question_asked_by_command_is_answered_in_its_place() {
    for way in [Way::Proxy, Way::Real] {
        let scene = scene_in(Home::with(way, Default::default()).await).await;
        let asked = scene.chat.ask("who leads?", &[]);
        let answer = asked.hears("echo: who leads?").await;
        assert!(!answer.is_ephemeral && answer.hides_embeds);
        assert!(asked.follow_ups().is_empty());
        let message = scene
            .bot
            .gets("it", |log| log.messages.first().cloned())
            .await;
        let channel = format!("discord/{}/{}", scene.home.guild.id(), scene.general.id());
        assert_eq!(message.conversation.as_str(), channel);
        assert_eq!(message.audience.id.as_str(), channel);
        assert_eq!(
            (message.audience.name.as_str(), message.also_recalls),
            ("general", None)
        );
        scene.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_privately_is_seen_and_remembered_by_nobody_else() {
    let scene = scene().await;
    let bob = scene.home.guild.person("bob").at(&scene.general);
    let asked = scene.chat.ask("long 200", &[("private", json!(true))]);
    let last = asked
        .finds("the last line", |said| said.text.contains("199 *x*"))
        .await;
    assert!(last.is_ephemeral && !asked.follow_ups().is_empty());
    assert!(asked.follow_ups().iter().all(|said| said.is_ephemeral));
    assert!(bob.all().is_empty());
    let message = scene
        .bot
        .gets("it", |log| log.messages.first().cloned())
        .await;
    let channel = format!("discord/{}/{}", scene.home.guild.id(), scene.general.id());
    let private = format!("{channel}/private/{}", scene.ann.id());
    assert_eq!(message.audience.id.as_str(), private);
    assert_eq!(message.conversation.as_str(), private);
    assert_eq!(message.also_recalls.unwrap().as_str(), channel);
    // Its buttons work in the same place.
    let again = scene.chat.ask("short", &[("private", json!(true))]);
    let answer = again.hears("echo: short").await;
    let why = scene.chat.click(&answer, "Why?");
    let explained = why.is_answered().await;
    assert!(explained.is_ephemeral && explained.text.contains("WhyOf"));
    scene.chat.click(&answer, "Regenerate");
    scene.chat.hears("echo: short again").await;
    let last = scene.bot.log().messages.pop().unwrap();
    assert_eq!(last.conversation.as_str(), private);
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_can_be_asked_for() {
    let scene = scene().await;
    scene.chat.ask("where to?", &[("thread", json!(true))]);
    let question = scene.chat.hears("**ann:** where to?").await;
    let thread = scene.chat.thread_on(question.id).await;
    thread.hears("echo: where to?").await;
    thread.say("and then?");
    thread.hears("echo: and then?").await;
    assert_eq!(scene.chat.said().len(), 1);
    // A private one is for the one who asked, and an audience of its own.
    let asked = scene.chat.ask(
        "in secret?",
        &[("thread", json!(true)), ("private", json!(true))],
    );
    let thread = scene
        .chat
        .finds_thread("a private one", |it| it.is_private)
        .await;
    asked
        .finds("where", |said| said.text.contains(&thread.id().to_string()))
        .await;
    thread.hears("echo: in secret?").await;
    let message = scene.bot.log().messages.pop().unwrap();
    let own = format!("discord/{}/{}", scene.home.guild.id(), thread.id());
    assert_eq!(message.audience.id.as_str(), own);
    assert_eq!(message.conversation.as_str(), own);
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_later_than_fifteen_minutes_is_an_ordinary_message() {
    let scene = scene().await;
    let asked = scene.chat.ask("wait for it", &[]);
    asked.is_acknowledged().await;
    scene
        .bot
        .gets("the question", |log| log.messages.first().cloned())
        .await;
    scene.home.discord.lets_pass(Duration::from_secs(16 * 60));
    scene.bot.go_on();
    let answer = scene
        .chat
        .hears(&format!("-# For <@{}>\necho: for it", scene.ann.id()))
        .await;
    assert!(answer.calls.is_empty());
    assert_eq!(answer.buttons.len(), 4);
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_answer_later_than_fifteen_minutes_is_a_direct_message() {
    let scene = scene().await;
    let asked = scene.chat.ask("wait for it", &[("private", json!(true))]);
    asked.is_acknowledged().await;
    scene
        .bot
        .gets("the question", |log| log.messages.first().cloned())
        .await;
    scene.home.discord.lets_pass(Duration::from_secs(16 * 60));
    scene.bot.go_on();
    let direct = scene.ann.direct();
    direct
        .hears(&format!("-# For <@{}>\necho: for it", scene.ann.id()))
        .await;
    assert!(scene.chat.said().iter().all(|said| said.is_thinking));
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_growing_answer_goes_on_in_its_message_when_the_time_is_over() {
    let scene = scene().await;
    let asked = scene.chat.ask("grow on", &[]);
    let growing = asked
        .finds("so far", |said| said.text.starts_with("so far"))
        .await;
    scene.home.discord.lets_pass(Duration::from_secs(16 * 60));
    scene.bot.go_on();
    let answer = scene.chat.hears("echo: on").await;
    assert_eq!(answer.id, growing.id);
    assert_eq!(scene.chat.said().len(), 1);
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_can_be_asked_about() {
    let scene = scene().await;
    let bob = scene.home.guild.person("bob").at(&scene.general);
    let said = bob.say("Ship it.\nNow.");
    let asked = scene
        .chat
        .menu("Ask Muninn about this message", Target::Message(said));
    asked
        .hears("echo: What do you think of this message from bob?\n> Ship it.\n> Now.")
        .await;
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_answered_for_the_one_who_gave_them() {
    let scene = scene().await;
    for (command, options, expected) in [
        ("why", vec![], Command::Why),
        ("usage", vec![], Command::Usage),
        (
            "forget",
            vec![("what", json!("last"))],
            Command::Forget(ForgetWhat::Last),
        ),
    ] {
        let asked = scene.chat.command(command, &options);
        let answer = asked.hears(&format!("command: {expected:?}")).await;
        assert!(answer.is_ephemeral && answer.buttons.is_empty());
    }
    // What cannot be brought back is confirmed first.
    for (what, text) in [("thread", "Session"), ("channel", "Audience")] {
        let asked = scene.chat.command("forget", &[("what", json!(what))]);
        let question = asked.is_answered().await;
        scene.chat.click(&question, "Keep");
        asked.hears("Nothing was forgotten.").await;
        let asked = scene.chat.command("forget", &[("what", json!(what))]);
        let question = asked.is_answered().await;
        scene.chat.click(&question, "Forget");
        let done = asked.hears(&format!("command: Forget({text})")).await;
        assert!(done.is_ephemeral && done.buttons.is_empty());
    }
    let told: Vec<Body> = scene
        .bot
        .log()
        .messages
        .into_iter()
        .map(|it| it.body)
        .collect();
    assert_eq!(told.len(), 5, "{told:?}");
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ones_own_conversations_are_offered_and_nobody_elses() {
    let scene = scene().await;
    let bob = scene.home.guild.person("bob").at(&scene.general);
    scene
        .chat
        .ask("when is the standup?", &[])
        .hears("echo: when is the standup?")
        .await;
    let question = scene.chat.mention("who leads?");
    let thread = scene.chat.thread_on(question).await;
    thread.hears("echo: who leads?").await;
    bob.ask("my secret", &[]).hears("echo: my secret").await;
    let offered = scene.chat.completes("session", "name", "").await;
    assert_eq!(offered.len(), 2, "{offered:?}");
    assert!(offered[0].0.ends_with("· who leads?"), "{offered:?}");
    let offered = scene.chat.completes("session", "name", "STANDUP").await;
    assert_eq!(offered.len(), 1);
    assert!(bob.completes("session", "name", "leads").await.is_empty());
    let thread_id = format!("discord/{}/{}", scene.home.guild.id(), thread.id());
    let shown = scene.chat.command("session", &[("name", json!(thread_id))]);
    let shown = shown.is_answered().await;
    assert!(shown.is_ephemeral && shown.text.contains("who leads?"));
    let link = format!(
        "https://discord.com/channels/{}/{}",
        scene.home.guild.id(),
        thread.id()
    );
    assert!(shown.text.contains(&link), "{}", shown.text);
    // An id of somebody else's conversation opens nothing.
    let other = bob.command("session", &[("name", json!(thread_id))]);
    other
        .hears("I know of no such conversation of yours here.")
        .await;
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn opinions_are_kept_once_for_each_person() {
    let scene = scene().await;
    let answer = scene.chat.ask("hello", &[]).hears("echo: hello").await;
    scene.chat.click(&answer, "👍").is_answered().await;
    scene.chat.click(&answer, "👎").is_answered().await;
    let feedback = scene
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
    assert_eq!(person, format!("discord/{}", scene.ann.id()));
    // The second takes the place of the first.
    assert_eq!(first, second);
    assert_eq!(feedback[2].1, Feedback::Withdrawn { event: first });
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_asked_or_moderates_stops_and_regenerates() {
    let scene = scene().await;
    let bob = scene.home.guild.person("bob").at(&scene.general);
    let moderator = scene.home.guild.moderator("mia").at(&scene.general);
    for who in [&scene.chat, &moderator] {
        let asked = scene.chat.ask("grow on", &[]);
        let growing = asked
            .finds("so far", |said| said.text.starts_with("so far"))
            .await;
        let before = scene.bot.log().stops.len();
        let refused = bob.click(&growing, "Stop").is_answered().await;
        assert!(refused.is_ephemeral && refused.text.starts_with("Only the one who asked"));
        assert_eq!(scene.bot.log().stops.len(), before);
        who.click(&growing, "Stop");
        let stopped = scene
            .bot
            .gets("a stop", |log| log.stops.get(before).cloned())
            .await;
        let message = scene.bot.log().messages.pop().unwrap();
        assert_eq!(stopped, message.conversation);
        let answer = asked.hears("echo: on").await;
        // The bot knows who asked.
        bob.click(&answer, "Regenerate")
            .hears("somebody else asked")
            .await;
        who.click(&answer, "Regenerate");
        let again = asked.hears("echo: on again").await;
        assert_eq!((again.id, again.buttons.len()), (answer.id, 4));
        // Whoever had it answered again, it is still Ann's.
        scene.chat.click(&again, "Regenerate");
        let once_more = asked.hears("echo: on again again").await;
        assert_eq!(once_more.id, answer.id);
    }
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_asked_again_is_told_to_the_one_who_wanted_it() {
    let home = Home::new().await;
    let scene = scene_in(home).await;
    let answer = scene.chat.ask("hello", &[]).hears("echo: hello").await;
    scene.bot.stop().await;
    let forgetful = Home {
        memory: Default::default(),
        ..scene.home
    };
    let bot = forgetful.start().await;
    let told = scene
        .chat
        .click(&answer, "Regenerate")
        .hears("no such answer")
        .await;
    assert!(told.is_ephemeral && told.buttons.is_empty());
    assert_eq!(answer.text, "echo: hello");
    bot.stop().await;
    forgetful.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_registered_only_when_they_changed() {
    let home = Home::new().await;
    let puts = |home: &Home| {
        let requests = home.discord.requests();
        requests
            .iter()
            .filter(|(method, _)| method == "PUT")
            .count()
    };
    home.start().await.stop().await;
    assert_eq!((home.discord.commands(None).len(), puts(&home)), (6, 1));
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
        (6, 2)
    );
    home.discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_twice_is_answered_once() {
    let scene = scene().await;
    scene.home.discord.repeats_events(1);
    scene.chat.ask("twice", &[]).hears("echo: twice").await;
    let chat = scene.ann.direct();
    chat.say("also twice");
    chat.hears("echo: also twice").await;
    scene
        .bot
        .gets("it again", |log| (log.repeated > 0).then_some(()))
        .await;
    assert_eq!((scene.chat.said().len(), chat.said().len()), (1, 1));
    scene.finish().await;
}
