//! Overheard messages, in audiences where they are remembered.

use loopback_slack::{ResponseFault, TEAM};
use muninn_platform::{Addressed, Announced, AnswerMode, AudienceId};

use crate::support::{run, run_set};

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

#[test]
fn an_announcement_that_went_out_unheard_stands_once() {
    run(async |chat| {
        let audience = AudienceId::new(format!("slack/{TEAM}/{}", chat.channel.id()));
        let cases = [
            // It is found.
            (vec![("chat.postMessage", ResponseFault::LostAnswer)], true),
            (
                vec![("chat.postMessage", ResponseFault::LostBehind(503))],
                true,
            ),
            // It is not there.
            (vec![("chat.postMessage", ResponseFault::Status(503))], true),
            // It cannot be searched.
            (
                vec![
                    ("chat.postMessage", ResponseFault::LostAnswer),
                    (
                        "conversations.history",
                        ResponseFault::Error("not_in_channel"),
                    ),
                ],
                true,
            ),
            // Nothing was posted for certain, and nothing is.
            (
                vec![("chat.postMessage", ResponseFault::Error("token_revoked"))],
                false,
            ),
        ];
        for (number, (faults, is_said)) in cases.into_iter().enumerate() {
            for (method, fault) in &faults {
                chat.slack.fail_next(method, fault.clone());
            }
            let text = format!("Digest {number}.");
            let said = chat.bot.announce(&audience, &text).await;
            let standing = chat.said().into_iter().filter(|it| it.shown == text);
            let expected = usize::from(is_said);
            assert_eq!(standing.count(), expected, "{faults:?}");
            assert_eq!(matches!(said, Announced::Said(_)), is_said, "{said:?}");
            assert_eq!(said == Announced::NotYet, !is_said, "{said:?}");
        }
    });
}
