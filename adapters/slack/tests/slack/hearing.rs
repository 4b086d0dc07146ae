//! Overheard messages, in audiences where they are remembered.

use muninn_platform::{Addressed, Announced, AnswerMode};

use crate::support::run_set;

#[test]
fn people_are_heard_where_that_is_wanted() {
    run_set(
        |options| options.answer = AnswerMode::Mentions,
        async |chat| {
            let asked = chat.ask("one");
            chat.in_thread(&asked).hears("echo: one").await;
            chat.say("not remembered");
            chat.slack.all_told().await;
            let audience = chat.bot.log().messages[0].audience.id.clone();
            chat.home.memory.remembers_talk_of(&audience);

            let bob = chat.slack.person("Bob").in_channel(&chat.channel);
            let robot = chat.slack.other_bot("Robot").in_channel(&chat.channel);
            let root = chat.say("Is the mast up?");
            chat.slack.all_told().await;
            let reply = bob.in_thread(&root).say("Yes, *since noon*.");
            robot.say("Build 7 is green.");
            chat.ask("two");
            chat.hears("echo: two").await;
            chat.ann.with_bot().say("a direct message");
            chat.slack.all_told().await;

            let log = chat.bot.log();
            assert_eq!(
                log.overheard_texts(),
                ["Is the mast up?", "Yes, *since noon*."]
            );
            let [first, second] = &log.overheard[..] else {
                panic!("{log:#?}");
            };
            assert_eq!(first.addressed, Addressed::Overheard);
            assert_eq!(first.conversation.as_str(), format!("{audience}/{root}"));
            assert_eq!(second.conversation, first.conversation);
            assert_eq!(second.event.as_str(), format!("{audience}/{reply}"));
            assert_eq!((&*first.author.name, &*second.author.name), ("Ann", "Bob"));
            let link = second.link.clone().unwrap();
            assert!(link.contains(&format!("thread_ts={root}")), "{link}");

            // Its edits are delivered too, and answered once one is for the bot.
            let repeated = log.repeated;
            chat.edit_raw(&root, "Is the mast up now?");
            chat.slack.all_told().await;
            chat.bot
                .gets("the edit", |log| (log.repeated > repeated).then_some(()))
                .await;
            chat.edit_raw(&root, &format!("<@{}> Is it?", loopback_slack::BOT_USER));
            let thread = chat.in_thread(&root);
            thread.hears("echo: Is it?").await;
            chat.slack.all_told().await;
            assert_eq!(chat.bot.log().overheard.len(), 2);

            let said = chat
                .bot
                .announce(&audience, "You are **heard** here.")
                .await;
            assert!(matches!(said, Announced::Said(_)), "{said:?}");
            let notice = chat.hears("You are **heard** here.").await;
            assert_eq!(notice.thread, None);
        },
    );
}

#[test]
fn a_flood_is_told_whole_and_a_question_in_it_is_answered() {
    run_set(
        |_| {},
        async |chat| {
            let asked = chat.ask("one");
            chat.in_thread(&asked).hears("echo: one").await;
            let audience = chat.bot.log().messages[0].audience.id.clone();
            chat.home.memory.remembers_talk_of(&audience);
            for n in 0..300 {
                chat.say(&format!("message {n}"));
            }
            let asked = chat.ask("is anybody there?");
            chat.in_thread(&asked)
                .hears("echo: is anybody there?")
                .await;
            chat.slack.all_told().await;
            assert_eq!(chat.bot.log().overheard.len(), 300);
        },
    );
}
