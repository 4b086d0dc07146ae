//! What people do after they have said something: edit, take back, react, stop.

use muninn_matrix::testing::{Person, RoomKind};
use muninn_platform::{Feedback, Opinion};

use crate::support::bot_and_ann;

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_question_gets_its_answer_edited() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        let Some((home, _bot, ann)) = bot_and_ann().await else {
            return;
        };
        let room = ann.room(&home.account.user, kind).await;
        let question = room.ask("one").await;
        let answer = room.hears("echo: one").await;
        room.edit(&question, "two").await;
        let edited = room.hears("echo: two").await;
        assert_eq!((edited.id, edited.edits), (answer.id, 1));
        assert_eq!(room.said().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_by_somebody_else_changes_nothing() {
    let Some((home, bot, ann)) = bot_and_ann().await else {
        return;
    };
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let bob = Person::new(&home.homeserver, "bob").await;
    ann.bring(&room, &bob).await;
    let question = room.ask("one").await;
    room.hears("echo: one").await;
    let as_bob = bob.seen_by(&room);
    as_bob.edit(&question, "two").await;
    as_bob.ask("three").await;
    room.hears("echo: three").await;
    assert_eq!(bot.log().messages.len(), 2);
    assert_eq!(room.said()[0].text, "echo: one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_longer_answer_grows_by_messages_and_a_shorter_one_loses_them() {
    let Some((home, _bot, ann)) = bot_and_ann().await else {
        return;
    };
    let room = ann.room(&home.account.user, RoomKind::DIRECT).await;
    let question = room.say("one").await;
    let first = room.hears("echo: one").await;
    room.edit(&question, &format!("two {}", "x".repeat(15_000)))
        .await;
    room.finds("a second part", |part| {
        part.id != first.id && part.text.ends_with('x')
    })
    .await;
    room.edit(&question, "three").await;
    room.hears("echo: three").await;
    room.finds("the second part redacted", |part| {
        part.id != first.id && part.is_redacted
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redacted_question_takes_its_answer_with_it() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        let Some((home, bot, ann)) = bot_and_ann().await else {
            return;
        };
        let room = ann.room(&home.account.user, kind).await;
        let question = room.ask("secret").await;
        let answer = room.hears("echo: secret").await;
        let other = room.ask("other").await;
        room.hears("echo: other").await;
        room.redact(&question).await;
        room.finds("the answer redacted", |said| {
            said.id == answer.id && said.is_redacted
        })
        .await;
        // Of the two only that one.
        assert!(!room.said()[1].is_redacted, "{other}");
        assert!(
            bot.log()
                .messages
                .iter()
                .any(|message| format!("{:?}", message.body).contains(question.as_str()))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reactions_are_feedback_and_can_be_taken_back() {
    let Some((home, bot, ann)) = bot_and_ann().await else {
        return;
    };
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    room.ask("hello").await;
    let answer = room.hears("echo: hello").await;
    room.react(&answer.id, "🎉").await;
    let reaction = room.react(&answer.id, "👍🏽").await;
    let given = bot
        .gets("the opinion", |log| {
            log.feedback.first().map(|(_, feedback)| feedback.clone())
        })
        .await;
    let id = format!("matrix/{}/{reaction}", room.room.room_id());
    match given {
        Feedback::Given {
            event,
            answer: of,
            person,
            opinion,
        } => {
            assert_eq!(
                (event.as_str(), of.as_str(), opinion),
                (id.as_str(), answer.id.as_str(), Opinion::Good)
            );
            assert_eq!(person, format!("matrix/{}", ann.account.user));
        }
        Feedback::Withdrawn { .. } => panic!("withdrawn before it was given"),
    }
    room.redact(&reaction).await;
    let withdrawn = bot
        .gets("the withdrawal", |log| {
            log.feedback.get(1).map(|(_, feedback)| feedback.clone())
        })
        .await;
    assert!(matches!(withdrawn, Feedback::Withdrawn { event } if event.as_str() == id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_sign_stops_the_turn_it_is_put_on() {
    let Some((home, bot, ann)) = bot_and_ann().await else {
        return;
    };
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    // On the growing answer…
    let first = room.ask("grow one").await;
    let growing = room.hears("so far").await;
    room.react(&growing.id, "🛑").await;
    let stopped = bot.gets("the stop", |log| log.stops.first().cloned()).await;
    assert!(stopped.as_str().ends_with(first.as_str()));
    room.hears("echo: one").await;
    // …on the question, while there is nothing else…
    let question = room.ask("wait two").await;
    bot.gets("the question", |log| log.messages.get(1).cloned())
        .await;
    room.react(question.as_str(), "🛑").await;
    bot.gets("the stop", |log| log.stops.get(1).cloned()).await;
    room.hears("echo: two").await;
    // …and not on what is over.
    room.react(first.as_str(), "🛑").await;
    room.ask("three").await;
    room.hears("echo: three").await;
    assert_eq!(bot.log().stops.len(), 2);
}
