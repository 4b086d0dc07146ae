//! Overheard messages, in audiences where they are remembered.

use muninn_platform::testing::EchoLog;
use muninn_platform::{Addressed, Announced, AudienceId, Body, Delivered};

use crate::support::run;

#[test]
fn people_are_heard_where_that_is_wanted() {
    run(async |chat| {
        chat.say("not remembered");
        let asked = chat.mention("one");
        chat.thread_on(asked).await.hears("echo: one").await;
        let audience = chat.bot.log().messages[0].audience.id.clone();
        chat.home.memory.remembers_talk_of(&audience);

        let bob = chat.guild.person("bob").at(&chat.general);
        let first = chat.say("Is the mast up?");
        chat.bot
            .gets("the first", |log| (log.overheard.len() == 1).then_some(()))
            .await;
        bob.reply(first, "Yes, since noon.");
        let asked = chat.mention("two");
        chat.thread_on(asked).await.hears("echo: two").await;
        chat.ann.direct().say("a direct message");
        chat.bot
            .gets("both", |log| (log.overheard.len() == 2).then_some(()))
            .await;

        let log = chat.bot.log();
        let [said, answer] = &log.overheard[..] else {
            panic!("{log:#?}");
        };
        assert_eq!(said.body, Body::Text("Is the mast up?".to_owned()));
        assert_eq!(said.addressed, Addressed::Overheard);
        assert_eq!(said.conversation.as_str(), audience.as_str());
        assert_eq!(answer.conversation, said.conversation);
        assert_eq!(answer.reply_to.as_ref(), Some(&said.event));
        assert_eq!((&*said.author.name, &*answer.author.name), ("ann", "bob"));
        let link = said.link.clone().unwrap();
        assert!(link.ends_with(&first.to_string()), "{link}");

        let repeated = log.repeated;
        chat.edit(first, "Is the mast up now?");
        chat.bot
            .gets("the edit", |log| (log.repeated > repeated).then_some(()))
            .await;
        chat.edit(first, &format!("<@{}> Is it?", chat.discord.bot()));
        chat.thread_on(first).await.hears("echo: Is it?").await;
        assert_eq!(chat.bot.log().overheard.len(), 2);

        let said = chat
            .bot
            .announce(&audience, "You are **heard** here.")
            .await;
        assert!(matches!(said, Announced::Said(_)), "{said:?}");
        chat.hears("You are **heard** here.").await;
    });
}

#[test]
fn an_announcement_whose_confirmation_is_lost_stands_once() {
    run(async |chat| {
        let audience =
            AudienceId::new(format!("discord/{}/{}", chat.guild.id(), chat.general.id()));
        let is_connected = |log: &EchoLog| (log.connected > 0).then_some(());
        chat.bot.gets("its connection", is_connected).await;
        let route = "/channels/{channel_id}/messages";
        for number in 1..=2 {
            chat.discord.next("POST", route).loses_its_answer();
            let said = chat.bot.announce(&audience, "the same").await;
            assert!(matches!(said, Announced::Said(_)), "{said:?}");
            assert_eq!(chat.said().len(), number);
        }
    });
}

#[test]
fn in_a_forum_it_is_announced_in_a_post() {
    run(async |chat| {
        let is_connected = |log: &EchoLog| (log.connected > 0).then_some(());
        chat.bot.gets("its connection", is_connected).await;
        let forum = chat.guild.forum("questions");
        let audience = AudienceId::new(format!("discord/{}/{}", chat.guild.id(), forum.id()));
        let long = format!("You are **heard** here.\n\n{}", "word ".repeat(500));
        let said = chat.bot.announce(&audience, &long).await;
        let Announced::Said(said) = said else {
            panic!("{said:?}");
        };
        let in_forum = chat.ann.at(&forum);
        let posts = in_forum.threads();
        let [post] = &posts[..] else {
            panic!("{posts:?}");
        };
        assert!(post.name.starts_with("You are heard here. word"));
        let texts: Vec<String> = in_forum
            .thread(post.id)
            .said()
            .into_iter()
            .map(|it| it.text)
            .collect();
        assert_eq!(texts.len(), said.0.len());
        assert!(texts[0].starts_with("You are **heard** here."), "{texts:?}");
        assert!(texts.len() > 1, "{texts:?}");
        // Whether this one was opened is not known: it is not opened again.
        let route = "/channels/{channel_id}/threads";
        chat.discord.next("POST", route).loses_its_answer();
        let said = chat.bot.announce(&audience, "the same").await;
        assert_eq!(said, Announced::Said(Delivered::default()));
        assert_eq!(in_forum.threads().len(), 2);
    });
}
