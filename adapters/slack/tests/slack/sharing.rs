//! Places of which Slack tells the bot nothing: others may read there, also of other organisations.

use std::time::Duration;

use loopback_slack::{ResponseFault, SlackChannel, TEAM};
use muninn_platform::{Body, Command, ForgetWhat, IncomingMessage};

use crate::support::{SlackFixture, run, run_set};

const TOLD: &str = "Not shared: Slack does not tell me whether people of other organisations are here. Invite me to the channel, or copy the text.";

/// A private channel with a person of another organisation; the bot is not in it.
fn partners(chat: &SlackFixture) -> SlackChannel {
    let channel = chat.slack.private_channel("partners", &[&chat.ann]);
    channel.share();
    channel.remove_bot();
    channel
}

#[test]
fn where_slack_does_not_say_who_is_there_nothing_is_shown_to_others() {
    run_set(
        |options| options.allow = TEAM.parse().unwrap(),
        async |chat| {
            let eve = chat.slack.stranger("Eve");
            let channel = chat.slack.private_channel("partners", &[&chat.ann, &eve]);
            let (anns, eves) = (chat.ann.in_channel(&channel), eve.in_channel(&channel));
            anns.slash("/muninn", "ask before?").await;
            let before = anns.hears("echo: before?").await;
            assert!(before.buttons().contains(&"Share".to_owned()));
            chat.rests().await;
            channel.share();
            channel.remove_bot();
            chat.home.options.allow = TEAM.parse().unwrap();
            chat.restart().await;
            // They are answered, alone.
            anns.slash("/muninn", "ask here?").await;
            let answer = anns.hears("echo: here?").await;
            assert!(answer.is_ephemeral);
            assert_eq!(answer.buttons(), ["👍", "👎", "Why?"]);
            anns.click(&before, "Share").await;
            let told = anns.hears(TOLD).await;
            assert!(told.is_ephemeral);
            assert!(eves.said().is_empty());
        },
    );
}

#[test]
fn where_the_channel_is_listed_answers_are_shared() {
    run(async |chat| {
        let channel = partners(chat);
        let allow = channel.id().parse().unwrap();
        chat.bot.ends().await;
        chat.bot = chat.home.start_with(|options| options.allow = allow).await;
        let bobs = chat.slack.person("Bob").in_channel(&channel);
        let anns = chat.ann.in_channel(&channel);
        anns.slash("/muninn", "ask here?").await;
        let answer = anns.hears("echo: here?").await;
        anns.click(&answer, "Share").await;
        bobs.hears("echo: here?\n\n— shared by Ann").await;
    });
}

#[test]
fn a_slow_answer_about_a_channel_is_asked_for_again_once() {
    for (times, buttons) in [
        (1, vec!["👍", "👎", "Share", "Why?"]),
        (2, vec!["👍", "👎", "Why?"]),
    ] {
        run(async |chat| {
            let slow = ResponseFault::Slow(Duration::from_secs(10));
            chat.slack.fail("conversations.info", slow, times);
            chat.slash("/muninn", "ask here?").await;
            let answer = chat.hears("echo: here?").await;
            assert_eq!(answer.buttons(), buttons);
        });
    }
}

#[test]
fn a_direct_message_between_two_people_is_private_to_neither() {
    run(async |chat| {
        let bob = chat.slack.person("Bob");
        let between = chat.slack.direct_between(&[&chat.ann, &bob]);
        let anns = chat.ann.in_channel(&between);
        anns.slash("/muninn", "remember that we meet at ten").await;
        let noted = chat.bot.hears_number(1).await;
        assert!(matches!(noted.body, Body::Command(Command::Note(_))));
        let bobs = bob.in_channel(&between);
        bobs.slash("/muninn", "forget channel").await;
        let forgets = chat.bot.hears_number(2).await;
        let forget = Body::Command(Command::Forget(ForgetWhat::Audience));
        assert_eq!(forgets.body, forget);
        let audience = format!("slack/{TEAM}/{}", between.id());
        let is_of_both = |message: &IncomingMessage| {
            message.audience.id.as_str() == audience
                && message.audience.private_to.is_none()
                && !message.is_direct()
                && !message.may_moderate(&message.audience.id)
        };
        assert!(is_of_both(&noted), "{noted:?}");
        assert!(is_of_both(&forgets), "{forgets:?}");
        // What one asks there is theirs, and cannot be shown to a person of another organisation.
        anns.slash("/muninn", "ask when?").await;
        let answer = anns.hears("echo: when?").await;
        assert_eq!(answer.buttons(), ["👍", "👎", "Why?"]);
        let asked = chat.bot.hears_number(3).await;
        assert_eq!(asked.audience.private_to.as_ref(), Some(&asked.author.id));
        assert!(!asked.is_direct());
        // Alone with the bot they still are, also where the bot learns of it by a command.
        let direct = chat.ann.with_bot();
        direct.slash("/muninn", "forget channel").await;
        let alone = chat.bot.hears_number(4).await;
        assert_eq!(alone.audience.private_to.as_ref(), Some(&alone.author.id));
        assert!(alone.is_direct() && alone.may_moderate(&alone.audience.id));
    });
}
