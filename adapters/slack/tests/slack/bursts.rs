//! Many messages at once.

use loopback_slack::{Chat, Slack};
use muninn_platform::testing::EchoBot;

use crate::support::{EventTransport, SlackInstallation, app};

pub(crate) const THREADS: usize = 50;
pub(crate) const EACH: usize = 4;

/// Returns the chats of five people in ten channels, fifty in all.
pub(crate) fn crowd(slack: &Slack) -> Vec<Chat> {
    let people: Vec<_> = ["Ann", "Bob", "Cy", "Di", "Eve"]
        .iter()
        .map(|name| slack.person(name))
        .collect();
    let channels: Vec<_> = (0..10)
        .map(|number| slack.channel(&format!("channel-{number}")))
        .collect();
    (0..THREADS)
        .map(|number| people[number % 5].in_channel(&channels[number % 10]))
        .collect()
}

/// In each chat, begins a thread and asks four questions there, all at once.
pub(crate) fn ask(slack: &Slack, crowd: &[Chat]) -> Vec<Chat> {
    slack.hold_events();
    let begin = |chat: &Chat| chat.in_thread(&chat.ask("0"));
    let threads: Vec<Chat> = crowd.iter().map(begin).collect();
    for question in 1..EACH {
        for thread in &threads {
            thread.ask(&question.to_string());
        }
    }
    slack.let_go();
    threads
}

/// Waits for the answers to the last questions in `asked`, and checks that every thread received
/// everything in order.
pub(crate) async fn answered(asked: &[Chat], threads: &[Chat], bot: &EchoBot) {
    for thread in asked {
        for question in 0..EACH {
            thread.hears(&format!("echo: {question}")).await;
        }
        assert_eq!(thread.said().len(), EACH);
    }
    let log = bot.log();
    assert_eq!(log.messages.len(), threads.len() * EACH);
    assert_eq!(log.errors, Vec::<String>::new());
    for thread in threads {
        let root = thread.thread_ts().unwrap();
        let order = log
            .messages
            .iter()
            .filter(|message| message.conversation.as_str().ends_with(root));
        let order: Vec<_> = order.map(|message| message.sent_at).collect();
        assert!(order.is_sorted(), "{order:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_events_in_fifty_threads_keep_their_order() {
    for way in [EventTransport::Socket, EventTransport::Http] {
        let home = SlackInstallation::by(way, app()).await;
        let bot = home.start().await;
        let threads = ask(&home.slack, &crowd(&home.slack));
        answered(&threads, &threads, &bot).await;
        home.slack.all_told().await;
        bot.stop().await;
    }
}
