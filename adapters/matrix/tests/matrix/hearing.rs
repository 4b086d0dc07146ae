//! Overheard messages, in audiences where they are remembered.

use muninn_matrix::testing::RoomKind;
use muninn_platform::{Addressed, Announced, Body};

use crate::support::run;

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn people_are_heard_where_that_is_wanted() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        run(kind, async |chat| {
            chat.echoes("one").await;
            let audience = chat.bot.log().messages[0].audience.id.clone();
            chat.say("not remembered").await;
            chat.echoes("two").await;
            chat.home.memory.remembers_talk_of(&audience);

            let first = chat.say("Is the mast up?").await;
            chat.reply(first.as_str(), "Yes, since noon.").await;
            chat.echoes("three").await;
            let log = chat.bot.log();
            let [said, answer] = &log.overheard[..] else {
                panic!("{log:#?}");
            };
            assert_eq!(said.body, Body::Text("Is the mast up?".to_owned()));
            assert_eq!(said.addressed, Addressed::Overheard);
            assert_eq!(said.conversation.as_str(), format!("{audience}/main"));
            assert_eq!(answer.conversation, said.conversation);
            assert_eq!(answer.reply_to.as_ref(), Some(&said.event));
            assert!(said.link.is_some());

            let repeated = log.repeated;
            chat.edit(&first, "Is the mast up now?").await;
            chat.bot
                .gets("the edit", |log| (log.repeated > repeated).then_some(()))
                .await;
            chat.edit_to_ask(&first, "Is it?", true).await;
            chat.hears("echo: Is it?").await;
            assert_eq!(chat.bot.log().overheard.len(), 2);

            let said = chat
                .bot
                .announce(&audience, "You are **heard** here.")
                .await;
            assert!(matches!(said, Announced::Said(_)), "{said:?}");
            chat.finds("the notice", |said| said.text.contains("heard"))
                .await;
        });
    }
}
