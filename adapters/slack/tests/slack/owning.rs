//! A person's own data: files of it, and buttons below lists of it.

use loopback_slack::{ResponseFault, TEAM};
use muninn_platform::{Body, Command, ItemDeed};

use crate::support::{EventTransport, app, run, run_as, run_badly};

/// Returns the number of the item and what to do with it, as the bot was told.
fn deed(body: &Body) -> Option<(u32, ItemDeed)> {
    match body {
        Body::Command(Command::Shown(item, deed)) => Some((item.number, deed.clone())),
        _ => None,
    }
}

#[test]
fn each_thing_of_a_list_has_a_button_to_forget_it_and_a_form_to_correct_it() {
    for way in [EventTransport::Socket, EventTransport::Http] {
        run_as(way, app(), async |chat| {
            let thread = chat.thread("items");
            let list = thread
                .finds("the list", |it| it.shown.contains("the ladder"))
                .await;
            let all = ["Forget 1", "Correct 1", "Forget 2", "Correct 2"];
            assert!(list.buttons().starts_with(&all.map(str::to_owned)));
            // Anybody may press it; the command comes from whoever pressed.
            let bob = chat.slack.person("Bob");
            let bobs = bob.in_channel(&chat.channel).in_thread(&list.ts);
            bobs.click(&list, "Forget 2").await;
            let forget = chat.bot.hears_number(2).await;
            assert_eq!(deed(&forget.body), Some((2, ItemDeed::Forget)));
            assert!(!forget.author.is_admin && forget.author.id.ends_with(bob.id()));
            let channel = format!("slack/{TEAM}/{}", chat.channel.id());
            let also = forget.also_recalls.as_ref().map(|it| it.as_str());
            assert_eq!(also, Some(channel.as_str()));

            thread.click(&list, "Correct 1").await;
            let form = chat.ann.sees_form().await;
            assert_eq!(form.title(), "Correct number 1");
            chat.ann.submits(&form, " a < b & c ").await;
            let correct = chat.bot.hears_number(3).await;
            let right = ItemDeed::Correct("a < b & c".to_owned());
            assert_eq!(deed(&correct.body), Some((1, right)));
            let said = thread
                .finds("what came of it", |it| it.shown.contains("a < b & c"))
                .await;
            assert!(said.is_ephemeral);
        });
    }
}

#[test]
fn what_is_asked_about_has_a_button_to_do_it_and_one_to_leave_it() {
    run(async |chat| {
        let thread = chat.thread("propose");
        let question = thread
            .finds("the question", |it| it.shown.contains("Shall I do this?"))
            .await;
        let both = ["Do it", "Leave it"].map(str::to_owned);
        assert!(
            question.buttons().starts_with(&both),
            "{:?}",
            question.buttons()
        );
        for (number, label, expected) in [
            (2, "Do it", ItemDeed::Approve),
            (3, "Leave it", ItemDeed::Decline),
        ] {
            thread.click(&question, label).await;
            let pressed = chat.bot.hears_number(number).await;
            assert_eq!(deed(&pressed.body), Some((0, expected)));
        }
    });
}

#[test]
fn a_form_that_does_not_open_is_told_of() {
    run(async |chat| {
        chat.slash("/muninn", "ask items").await;
        let list = chat.finds("the list", |it| it.is_ephemeral).await;
        chat.slack
            .fail_next("views.open", ResponseFault::Error("expired_trigger_id"));
        chat.click(&list, "Correct 2").await;
        let told = |it: &loopback_slack::Message| it.shown.contains("`correct 2: …`");
        chat.finds("what to do instead", told).await;
        // Where the bot is no member, it answers at the response URL.
        chat.channel.remove_bot();
        chat.click(&list, "Correct 2").await;
        let form = chat.ann.sees_form().await;
        chat.ann.submits(&form, "the ladder is red").await;
        let said = |it: &loopback_slack::Message| it.shown.contains("the ladder is red");
        chat.finds("what came of it", said).await;
    });
}

#[test]
fn files_go_to_the_direct_messages_of_who_asks_whatever_fails_at_first() {
    run(async |chat| {
        chat.slack.fail_next("upload", ResponseFault::Status(503));
        chat.slack.fail_next(
            "files.completeUploadExternal",
            ResponseFault::RateLimited(0),
        );
        chat.slash("/muninn", "ask hand over all of mine").await;
        chat.hears("handed over: Directly").await;
        let given = chat.ann.with_bot().said();
        let names: Vec<&str> = given[0].files.iter().map(|it| it.0.as_str()).collect();
        assert_eq!((given.len(), names), (1, vec!["mine.json", "mine.md"]));
        assert_eq!(given[0].files[0].1, b"all of mine");
        assert!(chat.said().iter().all(|it| it.files.is_empty()));

        let direct = chat.ann.with_bot();
        direct.say("hand over it here");
        direct.hears("handed over: Here").await;
    });
}

#[test]
fn an_app_without_the_scope_says_which_it_needs() {
    run_badly(app().without_scope("files:write"), async |chat| {
        chat.slash("/muninn", "ask hand over all of mine").await;
        let why = |it: &loopback_slack::Message| {
            it.shown.starts_with("not handed over: ") && it.shown.contains("scope files:write")
        };
        chat.finds("why", why).await;
    });
}
