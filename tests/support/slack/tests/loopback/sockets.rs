//! Socket Mode, with the client crate's own listener.

use loopback_slack::{Answered, DeliveryStatus, DeliveryTimings, ResponseFault, Slack};

use crate::client::EchoBot;

#[tokio::test]
async fn a_mention_is_answered_in_its_thread() {
    let slack = Slack::start().await;
    let bot = EchoBot::start(&slack).await;
    let ann = slack.person("Ann");
    let general = ann.in_channel(&slack.channel("general"));
    let asked = general.ask("a < b & c?");
    let thread = general.in_thread(&asked);
    // The bot echoes the escapes that it received, and a person reads their meaning.
    let answer = thread.hears("Echo: a < b & c?").await;
    assert_eq!(answer.thread.as_deref(), Some(asked.as_str()));
    assert!(answer.pings.is_empty());
    slack.all_told().await;
    let told = slack.deliveries();
    assert!(
        told.iter()
            .all(|told| told.outcome == DeliveryStatus::Acknowledged)
    );
    // The question arrives as a message and as a mention, with one ts and two event ids; then the
    // answer.
    assert_eq!(told.len(), 3);
    assert_eq!(
        told[0].payload["event"]["ts"],
        told[1].payload["event"]["ts"]
    );
    assert_ne!(told[0].event_id(), told[1].event_id());
    bot.stop().await;
    slack.finish();
}

#[tokio::test]
async fn what_was_not_acknowledged_is_told_again_after_the_connection_is_lost() {
    let slack = Slack::start().await;
    let bot = EchoBot::start(&slack).await;
    let general = slack.person("Ann").in_channel(&slack.channel("general"));
    slack.cut_sockets();
    let asked = general.ask("Still there?");
    general.in_thread(&asked).hears("Echo: Still there?").await;
    slack.connected(2).await;
    slack.set_waits(DeliveryTimings::default().faster(100));
    slack.disconnect_sockets("refresh_requested");
    slack.connected(3).await;
    let asked = general.ask("And now?");
    general.in_thread(&asked).hears("Echo: And now?").await;
    slack.all_told().await;
    bot.stop().await;
    slack.finish();
}

#[tokio::test]
async fn commands_clicks_and_shortcuts_are_answered() {
    let slack = Slack::start().await;
    let bot = EchoBot::start(&slack).await;
    let ann = slack.person("Ann");
    let channel = slack.channel("general");
    let general = ann.in_channel(&channel);
    let answered = general.slash("/muninn", "help").await;
    assert!(matches!(answered, Answered::Acknowledged(_)));
    let seen = general.hears("Command: help").await;
    assert!(seen.is_ephemeral);
    let said = general.say("Huginn is a raven");
    general.shortcut("ask_muninn", &said).await;
    general.hears("Asked about: Huginn is a raven").await;
    // Somebody else sees none of it.
    assert!(slack.person("Bob").in_channel(&channel).said().is_empty());
    slack.fail_next("response_url", ResponseFault::Status(500));
    bot.stop().await;
    slack.finish();
}
