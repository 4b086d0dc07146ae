use std::collections::HashMap;

use tokio_util::sync::CancellationToken;

use super::*;
use crate::{Arrivals, Platform, Reply, SafeText};

/// Answers `echo: …` to text, names commands, drops what it does not like, stops when told to.
async fn bot(mut inbox: Arrivals) {
    let mut waiting: Option<Box<dyn Reply>> = None;
    let mut delivered: HashMap<EventId, Delivered> = HashMap::new();
    while let Some(arrival) = inbox.recv().await {
        match arrival.accept() {
            Incoming::Feedback { .. }
            | Incoming::Overheard(_)
            | Incoming::GivenUp(_)
            | Incoming::Sessions { .. }
            | Incoming::Connected { .. }
            | Incoming::Conversations { .. }
            | Incoming::Kept { .. } => {}
            Incoming::Stop(_) => {
                if let Some(mut reply) = waiting.take() {
                    let _ = reply.finish(&[SafeText::new("stopped")]).await;
                }
            }
            Incoming::Message { message, mut reply } => match message.body {
                Body::Text(text) if text == "drop" => {}
                Body::Text(text) if text == "wait" => {
                    reply.show_typing().await;
                    reply.update(&SafeText::new("well")).await;
                    waiting = Some(reply);
                }
                Body::Text(text) => {
                    let text = format!("{} {}: {text}", message.event, message.author.name);
                    let parts = SafeText::new(&text).split(reply.limit());
                    if let Ok(ids) = reply.finish(&parts).await {
                        delivered.insert(message.event, ids);
                    }
                }
                Body::Command(command) => {
                    let text = SafeText::new(&format!("{command:?}"));
                    let _ = reply.finish(&[text]).await;
                }
                Body::Edit { of, text } => {
                    reply.replace(delivered.get(&of).cloned().unwrap_or_default());
                    let _ = reply.finish(&[SafeText::new(&text)]).await;
                }
                Body::Deletion { of } => {
                    let earlier = delivered.remove(&of).unwrap_or_default();
                    let withdrawer = reply.withdrawer();
                    for gone in &earlier.0 {
                        withdrawer.withdraw(&message.conversation, gone).await;
                    }
                }
            },
        }
    }
}

fn room() -> TestConversation {
    let (inbox, receiver) = Inbox::new(4);
    tokio::spawn(bot(receiver));
    TestConversation::new(inbox, "test/a/1", "test/a")
}

#[tokio::test]
async fn a_chat_is_told_as_one() {
    let room = room();
    let answer = room.say_as_event("e1", "ann", "hello").await;
    assert_eq!(answer.parts, ["e1 ann: hello"]);
    assert_eq!(room.command("ann", "why").await.text(), "Why");

    let mut pending = room.send("ann", "wait").await;
    assert_eq!(pending.first_update().await, "well");
    room.stop().await;
    let answer = pending.answer().await;
    assert_eq!((answer.workings, answer.text()), (1, "stopped".to_owned()));
}

#[tokio::test]
async fn answers_can_be_changed_and_taken_away() {
    let room = room();
    room.say_as_event("e1", "ann", "hello").await;
    room.say_as_event("e2", "ann", "and").await;
    room.edit("e1", "ann", "changed").await.answer().await;
    assert_eq!(room.shown(), ["changed", "e2 ann: and"]);
    let said = room.delete("e1", "ann").await.outcome().await;
    assert!(matches!(said, MessageOutcome::GivenUp(_)), "{said:?}");
    assert_eq!(room.shown(), ["e2 ann: and"]);
}

#[tokio::test]
async fn what_was_left_over_is_given_once_and_to_its_platform() {
    let (inbox, _arrivals) = Inbox::new(1);
    let message = TestConversation::new(inbox, "test/a/1", "test/a").message(
        "e",
        "ann",
        Body::Text("hi".into()),
    );
    let (inbox, _arrivals) = Inbox::with_left_over(1, vec![message.clone()]);
    assert_eq!(inbox.take_left_over("other"), []);
    assert_eq!(inbox.take_left_over("test"), [message]);
    assert_eq!(inbox.take_left_over("test"), []);
}

#[tokio::test]
async fn limits_hold() {
    let room = room().with_limit(TextLimit::Chars(10));
    let answer = room.say_as_event("e", "ann", "one two three four").await;
    assert!(answer.parts.len() > 1, "{answer:?}");
}

#[tokio::test]
async fn what_goes_wrong_is_told() {
    let room = room();
    let given_up = room.send("ann", "drop").await.outcome().await;
    assert!(
        matches!(given_up, MessageOutcome::GivenUp(_)),
        "{given_up:?}"
    );
    room.lose_next_delivery();
    let lost = room.send("ann", "hello").await.outcome().await;
    assert!(matches!(lost, MessageOutcome::Lost(_)), "{lost:?}");
    room.say("ann", "and again").await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "no answer within")]
async fn silence_ends() {
    room().say("ann", "wait").await;
}

#[tokio::test]
async fn it_is_a_platform() {
    let (platform, mut chat) = TestPlatform::new();
    let (inbox, receiver) = Inbox::new(4);
    tokio::spawn(bot(receiver));
    let running = tokio::spawn(async move { platform.run(inbox, CancellationToken::new()).await });
    let room = chat.room("test/a/1", "test/a").await;
    assert_eq!(room.command("ann", "help").await.text(), "Help");
    chat.close();
    running.await.unwrap().unwrap();
}

#[test]
fn an_address_for_a_program_is_given_once_and_is_none_that_the_system_gives_away() {
    let addresses = [free_address(), free_address(), free_address()];
    for (at, address) in addresses.iter().enumerate() {
        assert!(!addresses[..at].contains(address), "{addresses:?}");
        assert!(address.port() < 32_768, "{address}");
        assert!(std::net::TcpStream::connect(address).is_err(), "{address}");
    }
}

#[test]
fn an_address_that_is_in_use_is_not_given() {
    let taken = std::net::TcpListener::bind(free_address()).unwrap();
    // As many as a process has.
    for _ in 0..addresses::OWN {
        assert_ne!(free_address(), taken.local_addr().unwrap());
    }
}

#[test]
fn no_other_process_takes_the_ports_of_this_one() {
    let port = free_address().port();
    let first = port - (port - addresses::FIRST) % addresses::OWN;
    assert_ne!(first, port);
    // As another process would.
    assert!(std::net::TcpListener::bind(("127.0.0.1", first)).is_err());
}
