//! A person's own data: files of it, and buttons below lists of it.

use muninn_platform::{Body, Command, ItemDeed};
use serde_json::json;

use crate::support::{DiscordTransport, run, run_by};

/// Returns the number of the item and what to do with it, as the bot was told.
fn deed(body: &Body) -> Option<(u32, ItemDeed)> {
    match body {
        Body::Command(Command::Shown(item, deed)) => Some((item.number, deed.clone())),
        _ => None,
    }
}

#[test]
fn each_thing_of_a_list_has_a_button_to_forget_it_and_a_form_to_correct_it() {
    run(async |chat| {
        let asked = chat.ask("items", &[]);
        let list = asked.hears("1. the kettle\n2. the ladder").await;
        let labels: Vec<&str> = list.buttons.iter().map(|it| it.label.as_str()).collect();
        assert_eq!(labels, ["Forget 1", "Correct 1", "Forget 2", "Correct 2"]);
        // Anybody may press it; the command comes from whoever pressed.
        let bob = chat.guild.person("bob");
        let said = bob.at(&chat.general).click(&list, "Forget 2");
        let said = said.is_answered().await;
        assert!(said.is_ephemeral);
        let forget = chat.bot.hears_number(2).await;
        assert_eq!(deed(&forget.body), Some((2, ItemDeed::Forget)));
        assert!(!forget.author.is_admin);
        let channel = format!("discord/{}/{}", chat.guild.id(), chat.general.id());
        assert_eq!(forget.also_recalls.unwrap().as_str(), channel);

        let form = chat.click(&list, "Correct 1");
        let sent = chat.fills_in(&form, " the kettle is red ").await;
        assert!(sent.is_answered().await.is_ephemeral);
        let correct = chat.bot.hears_number(3).await;
        let right = ItemDeed::Correct("the kettle is red".to_owned());
        assert_eq!(deed(&correct.body), Some((1, right)));
    });
}

#[test]
fn what_is_asked_about_has_a_button_to_do_it_and_one_to_leave_it() {
    run(async |chat| {
        let asked = chat.ask("propose", &[]);
        let question = asked.hears("Shall I do this?").await;
        let labels: Vec<&str> = question
            .buttons
            .iter()
            .map(|it| it.label.as_str())
            .collect();
        assert_eq!(labels, ["Do it", "Leave it"]);
        for (number, label, expected) in [
            (2, "Do it", ItemDeed::Approve),
            (3, "Leave it", ItemDeed::Decline),
        ] {
            // The bot decides whether they may.
            let said = chat.click(&question, label).is_answered().await;
            assert!(said.is_ephemeral);
            let pressed = chat.bot.hears_number(number).await;
            assert_eq!(deed(&pressed.body), Some((0, expected)));
        }
    });
}

#[test]
fn files_go_to_the_direct_messages_of_who_asks() {
    for way in [DiscordTransport::Proxy, DiscordTransport::Real] {
        run_by(way, async |chat| {
            let export = chat.command("export", &[]);
            export.is_answered().await;
            let told = chat.bot.hears().await;
            assert_eq!(told.body, Body::Command(Command::ExportMine));

            let privately = [("private", json!(true))];
            let asked = chat.ask("hand over all of mine", &privately);
            asked.hears("handed over: Directly").await;
            let given = chat.ann.direct().said();
            let files: Vec<_> = given.iter().flat_map(|it| &it.attachments).collect();
            let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
            assert_eq!(names, ["mine.json", "mine.md"]);
            assert_eq!(files[0].content, b"all of mine");
            assert!(chat.said().iter().all(|it| it.attachments.is_empty()));
        });
    }
}

#[test]
fn who_takes_no_direct_messages_has_the_files_below_their_command() {
    run(async |chat| {
        chat.ann.closes_direct_messages(true);
        let privately = [("private", json!(true))];
        let asked = chat.ask("hand over all of mine", &privately);
        let said = asked.hears("handed over: Here").await;
        let mut given = vec![said];
        given.extend(asked.follow_ups());
        assert!(given.iter().all(|it| it.is_ephemeral));
        let files: Vec<_> = given.iter().flat_map(|it| &it.attachments).collect();
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["mine.json", "mine.md"]);

        // If everybody can see the answer, there is no private place for files.
        let why = chat.ask("hand over all of mine", &[]);
        let told = why
            .finds("why", |it| it.text.starts_with("not handed over: "))
            .await;
        assert!(told.text.contains("`/export`"), "{}", told.text);
    });
}
