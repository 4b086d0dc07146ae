//! Staying silent: the whole bot in threads of several people, over real graphs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use muninn_platform::Addressees;
use muninn_platform::testing::TestConversation;
use serde_json::json;
use support::bot::{BotStorage, nothing_said};
use support::chat::{ScriptedChat, run};
use support::program::asks;

support::bot::on_every_graph!(
    people_who_talk_to_each_other_are_left_alone,
    a_muted_thread_and_channel_stay_so_after_a_restart,
    only_when_mentioned_leaves_out_what_merely_follows,
    the_model_may_say_nothing_and_that_is_shown,
);

/// Returns a thread in which Ada asked something.
async fn thread(chat: &ScriptedChat) -> TestConversation {
    chat.expects(asks("When is it?")).answers("At nine.");
    chat.room("a").say("ada", "When is it?").await;
    chat.room("a").unaddressed()
}

async fn people_who_talk_to_each_other_are_left_alone(place: BotStorage) {
    run(place, async |chat| {
        let room = thread(chat).await;
        for (author, text) in [
            ("bob", "nine is too early"),
            ("ada", "it is not"),
            ("bob", "is it dark then?"),
            ("ada", "bob, can you bring a lamp?"),
            ("bob", "😂😂"),
        ] {
            nothing_said(room.send(author, text).await).await;
        }
        chat.expects(asks("where?")).answers("In the yard.");
        assert_eq!(
            room.say("bob", "Muninn, where?").await.text(),
            "In the yard."
        );
        // The platform's mentions decide, whatever the words are.
        let mention = Addressees {
            names_people: true,
            ..Addressees::default()
        };
        nothing_said(room.clone().toward(mention).send("bob", "and when?").await).await;
        let reply = Addressees {
            answers_person: true,
            ..Addressees::default()
        };
        nothing_said(room.clone().toward(reply).send("bob", "and when?").await).await;

        // After a restart the bot still knows its own turns, and so who takes part.
        chat.restart().await;
        let room = chat.room("a").unaddressed();
        nothing_said(room.send("ada", "I will be there").await).await;
        chat.expects(asks("until when?")).answers("Until noon.");
        assert_eq!(
            room.say("ada", "and until when?").await.text(),
            "Until noon."
        );
    })
    .await;
}

async fn a_muted_thread_and_channel_stay_so_after_a_restart(place: BotStorage) {
    run(place, async |chat| {
        thread(chat).await;
        let room = chat.room("a").with_admin("mod");
        // Outside of its threads there is nothing to mute.
        let none = chat.room("none").command("bob", "mute").await.text();
        assert!(
            none.contains("I take no part in this conversation"),
            "{none}"
        );
        let said = room.command("bob", "mute").await.text();
        assert!(
            said.contains("I say nothing in this conversation"),
            "{said}"
        );
        nothing_said(room.send("ada", "Muninn, when?").await).await;
        let history = room.command("ada", "history").await.text();
        assert!(history.contains("At nine."), "{history}");

        chat.restart().await;
        let room = chat.room("a").with_admin("mod");
        nothing_said(room.send("ada", "Muninn, when?").await).await;
        chat.expects(asks("elsewhere?")).answers("Here.");
        assert_eq!(
            chat.room("b").say("ada", "elsewhere?").await.text(),
            "Here."
        );
        let refused = room.command("bob", "mute room").await.text();
        assert!(refused.contains("Only an administrator"), "{refused}");
        room.command("mod", "mute room").await;
        nothing_said(chat.room("b").send("ada", "elsewhere?").await).await;
        nothing_said(chat.room("c").send("ada", "a new one?").await).await;
        let still = room.command("bob", "unmute").await.text();
        assert!(
            still.contains("room (`unmute room`) is muted still"),
            "{still}"
        );

        chat.restart().await;
        let room = chat.room("a").with_admin("mod");
        nothing_said(chat.room("c").send("ada", "a new one?").await).await;
        room.command("mod", "unmute room").await;
        chat.expects(asks("and now?")).answers("Now I talk.");
        assert_eq!(room.say("ada", "and now?").await.text(), "Now I talk.");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_edited_in_a_muted_thread_is_not_answered_again() {
    run(BotStorage::embedded(), async |chat| {
        let (room, event) = (chat.room("a"), chat.event("1"));
        chat.expects(asks("Where is it?")).answers("Here.");
        room.say_as_event(&event, "ada", "Where is it?").await;
        room.command("ada", "mute").await;
        nothing_said(room.edit(&event, "ada", "When is it?").await).await;
        room.command("ada", "unmute").await;
        chat.expects(asks("When is it?")).answers("Now.");
        room.edit(&event, "ada", "When is it?").await.answer().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_edit_empties_in_a_muted_thread_is_forgotten() {
    run(BotStorage::embedded(), async |chat| {
        let (room, event) = (chat.room("a"), chat.event("1"));
        let (with_file, report) = (room.clone(), chat.event("2"));
        let with_file = with_file.with_file("report.txt", "text/plain", b"The roof leaks.");
        chat.expects(asks("Read it.\n[file: report.txt]"))
            .answers("A report.");
        with_file.say_as_event(&report, "ada", "Read it.").await;
        chat.expects(asks("The code is 4711.")).answers("Noted.");
        room.say_as_event(&event, "ada", "The code is 4711.").await;
        room.command("ada", "mute").await;
        nothing_said(room.edit(&event, "ada", "").await).await;
        // Where files are left, it would have to answer again.
        nothing_said(room.edit(&report, "ada", "").await).await;
        let shown = room.shown();
        assert!(!shown.contains(&"Noted.".to_owned()), "{shown:?}");
        assert!(shown.contains(&"A report.".to_owned()), "{shown:?}");
        let history = room.command("ada", "history").await.text();
        assert!(!history.contains("4711"), "{history}");
    })
    .await;
}

async fn only_when_mentioned_leaves_out_what_merely_follows(place: BotStorage) {
    run(place, async |chat| {
        let room = thread(chat).await;
        let said = room.command("ada", "only when mentioned").await.text();
        assert!(said.contains("only when I am mentioned"), "{said}");
        nothing_said(room.send("ada", "and where?").await).await;
        chat.expects(asks("and where?")).answers("In the yard.");
        let answer = chat.room("a").say("ada", "and where?").await;
        assert_eq!(answer.text(), "In the yard.");
        // Also where the settings have everything answered.
        let toward = Addressees {
            omits_bot: true,
            ..Addressees::default()
        };
        let always = chat.room("a").toward(toward);
        nothing_said(always.send("ada", "and how?").await).await;
        room.command("ada", "unmute").await;
        chat.expects(asks("and until when?")).answers("Until noon.");
        let answer = room.say("ada", "and until when?").await;
        assert_eq!(answer.text(), "Until noon.");
    })
    .await;
}

async fn the_model_may_say_nothing_and_that_is_shown(place: BotStorage) {
    run(place, async |chat| {
        chat.expects(|request| {
            let body = request.body.to_string();
            asks("When is it?")(request) && !body.contains("stay_silent")
        })
        .answers("At nine.");
        chat.room("a").say("ada", "When is it?").await;
        let room = chat.room("a").unaddressed();
        chat.expects(asks("and when do we leave?"))
            .calls(&[("stay_silent", json!({}))]);
        nothing_said(room.send("bob", "and when do we leave?").await).await;
        for command in ["why", "history"] {
            let said = room.command("ada", command).await.text();
            assert!(
                said.contains("I chose to say nothing to 1 message here"),
                "{said}"
            );
        }
        // The unanswered message was still said: this answers it.
        nothing_said(room.send("ada", "at ten, I think").await).await;
    })
    .await;
}
