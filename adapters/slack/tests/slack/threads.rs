//! Conversations: mentions, threads, direct messages.

use muninn_platform::Addressed;

use crate::support::{Home, Way, app, scene, scene_of};

#[tokio::test(flavor = "multi_thread")]
async fn a_mention_is_answered_in_its_thread() {
    for way in [Way::Socket, Way::Http] {
        let scene = scene_of(Home::by(way, app()).await).await;
        let asked = scene.general.ask("Who are Odin's ravens?");
        let thread = scene.general.in_thread(&asked);
        let answer = thread.hears("echo: Who are Odin's ravens?").await;
        assert_eq!(answer.thread.as_deref(), Some(asked.as_str()), "{way:?}");
        assert_eq!(answer.unfurls, (false, false));
        assert_eq!(answer.buttons(), ["👍", "👎", "Why?"]);
        let log = scene.bot.log();
        let message = &log.messages[0];
        let team = loopback_slack::TEAM;
        let channel = scene.channel.id();
        assert_eq!(
            message.conversation.as_str(),
            format!("slack/{team}/{channel}/{asked}")
        );
        assert_eq!(
            message.audience.id.as_str(),
            format!("slack/{team}/{channel}")
        );
        assert_eq!(message.audience.name, "#general");
        assert_eq!(message.author.name, "Ann");
        // The message and the mention are one event.
        assert_eq!(log.messages.len(), 1);
        scene.ends_well().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follow_up_needs_no_mention() {
    let scene = scene().await;
    let thread = scene.general.in_thread(&scene.general.ask("one"));
    thread.hears("echo: one").await;
    scene.rests().await;
    thread.say("two");
    thread.hears("echo: two").await;
    let second = &scene.bot.log().messages[1];
    assert_eq!(second.addressed, Addressed::InConversation);
    // A thread it has nothing to do with.
    let other = scene.general.say("lunch?");
    let other = scene.general.in_thread(&other);
    other.say("yes");
    other.ask("and now?");
    other.hears("echo: and now?").await;
    assert_eq!(other.said().len(), 1);
    scene.ends_well().await;
}
