//! Edits and deletions.

use loopback_discord::{Permissions, Thread};
use muninn_platform::testing::{EchoBot, EchoLog};
use muninn_platform::{Body, Command, IncomingMessage};

use crate::support::run;

#[test]
fn an_edited_question_gets_its_answer_edited() {
    run(async |chat| {
        let question = chat.mention("one");
        let thread = chat.thread_on(question).await;
        let answer = thread.hears("echo: one").await;
        let bot = chat.discord.bot();
        chat.edit(question, &format!("<@{bot}> two"));
        let edited = thread.hears("echo: two").await;
        assert_eq!((edited.id, edited.buttons.len()), (answer.id, 4));
        assert_eq!(thread.said().len(), 1);
    });
}

#[test]
fn an_edited_question_gets_its_answer_edited_in_an_archived_thread() {
    run(async |chat| {
        let question = chat.mention("one");
        let thread = chat.thread_on(question).await;
        let answer = thread.hears("echo: one").await;
        chat.rests().await;
        thread.channel().is_archived();
        chat.edit(question, &format!("<@{}> two", chat.discord.bot()));
        let edited = thread.hears("echo: two").await;
        assert_eq!((edited.id, thread.said().len()), (answer.id, 1));
    });
}

#[test]
fn an_edit_that_adds_the_mention_to_a_file_is_answered_with_the_file() {
    run(async |chat| {
        let said = chat.attach("notes.txt", "text/plain", b"ten o'clock", "when?");
        chat.edit(said, &format!("<@{}> when?", chat.discord.bot()));
        let thread = chat.thread_on(said).await;
        thread
            .hears("file: when?\nnotes.txt (text/plain): 11 bytes, ten o'clock")
            .await;
    });
}

#[test]
fn an_edit_that_adds_the_mention_is_answered_once() {
    run(async |chat| {
        let bot = chat.discord.bot();
        // In a channel where the bot only answers mentions.
        let said = chat.say("what time is it?");
        chat.edit(said, &format!("<@{bot}> what time is it?"));
        let thread = chat.thread_on(said).await;
        thread.hears("echo: what time is it?").await;
        // A further edit edits the question.
        chat.edit(said, &format!("<@{bot}> what day is it?"));
        thread.hears("echo: what day is it?").await;
        assert_eq!(thread.said().len(), 1);
    });
}

#[test]
fn to_whom_a_message_is_said_is_told() {
    run(async |chat| {
        let thread = chat.asks("one").await;
        let answer = thread.hears("echo: one").await;
        let bob = chat.guild.person("bob").at(&thread.channel());
        let said = bob.say(&format!("<@{}> two", chat.ann.id()));
        bob.reply(said, "three");
        bob.reply(answer.id, "four");
        bob.say("@here six");
        bob.say("five");
        thread.hears("echo: five").await;
        let log = chat.bot.log();
        let toward = |text: &str| {
            let is_it = |it: &&IncomingMessage| matches!(&it.body, Body::Text(said) if said.ends_with(text));
            let told = log.messages.iter().find(is_it).unwrap();
            assert_eq!(told.toward.omits_bot, text != "four");
            (told.toward.names_people, told.toward.answers_person)
        };
        assert_eq!(toward("two"), (true, false));
        assert!(toward("three").1);
        assert_eq!(toward("four"), (false, false));
        assert_eq!(toward("five"), (false, false));
        assert_eq!(toward("six"), (true, false));
    });
}

#[test]
fn a_longer_answer_grows_by_messages_and_a_shorter_one_loses_them() {
    run(async |chat| {
        let direct = chat.ann.direct();
        let question = direct.say("one");
        let first = direct.hears("echo: one").await;
        assert!(first.text.len() < 100);
        direct.edit(question, &"two ".repeat(450));
        direct
            .finds("the second", |said| {
                said.text.ends_with("two") && said.id == first.id
            })
            .await;
        // All of its answer is known only after complete delivery.
        chat.rests().await;
        let long: String = format!("{} {}", "x".repeat(1_500), "y".repeat(480));
        direct.edit(question, &long);
        let part = direct
            .finds("a second part", |said| said.id != first.id)
            .await;
        assert!(part.text.starts_with('y'), "{}", part.text);
        chat.rests().await;
        direct.edit(question, "three");
        direct.hears("echo: three").await;
        direct
            .finds("the part gone", |said| {
                said.id == part.id && said.is_deleted
            })
            .await;
        assert_eq!(direct.said().len(), 1);
    });
}

#[test]
fn an_edit_that_leaves_only_the_mention_is_told() {
    run(async |chat| {
        let bot = chat.discord.bot();
        let question = chat.mention("my password is hunter2");
        let thread = chat.thread_on(question).await;
        thread.hears("echo: my password is hunter2").await;
        chat.edit(question, &format!("<@{bot}>"));
        let is_emptied = |log: &EchoLog| {
            let mut all = log.messages.iter();
            all.find(|it| matches!(&it.body, Body::Edit { text, .. } if text.is_empty()))
                .map(|it| it.author.id.clone())
        };
        let author = chat.bot.gets("an edit without words", is_emptied).await;
        assert!(author.ends_with(&chat.ann.id().to_string()), "{author}");
    });
}

#[test]
fn a_bare_mention_that_an_edit_adds_asks_for_help() {
    run(async |chat| {
        let said = chat.say("hm");
        chat.edit(said, &format!("<@{}>", chat.discord.bot()));
        let is_help = |log: &EchoLog| {
            let mut all = log.messages.iter();
            all.any(|it| it.body == Body::Command(Command::Help))
                .then_some(())
        };
        chat.bot.gets("a request for help", is_help).await;
    });
}

#[test]
fn a_deleted_question_takes_its_answer_with_it() {
    run(async |chat| {
        let question = chat.mention("secret");
        let thread = chat.thread_on(question).await;
        let answer = thread.hears("echo: secret").await;
        chat.delete(question);
        thread
            .finds("the answer gone", |said| {
                said.id == answer.id && said.is_deleted
            })
            .await;
    });
}

#[test]
fn what_a_moderator_deletes_in_bulk_is_followed() {
    run(async |chat| {
        let thread = chat.asks("hello").await;
        thread.hears("echo: hello").await;
        let mut questions = Vec::new();
        for text in ["one", "two", "three"] {
            questions.push(thread.say(text));
            thread.hears(&format!("echo: {text}")).await;
        }
        let moderator = chat.guild.moderator("mia").at(&thread.channel());
        moderator.bulk_delete(&questions[..2]);
        thread
            .sees("two answers gone", |all| {
                let gone = |text: &str| all.iter().any(|it| it.text == text && it.is_deleted);
                (gone("echo: one") && gone("echo: two")).then_some(())
            })
            .await;
        let left: Vec<String> = thread.said().into_iter().map(|it| it.text).collect();
        assert_eq!(left, ["echo: hello", "echo: three"]);
    });
}

/// Returns the places that the bot was told are gone.
fn gone(log: &EchoLog) -> Vec<String> {
    let told = log.messages.iter();
    let gone = told.filter(|it| it.body == Body::Command(Command::PlaceGone));
    gone.map(|it| it.conversation.to_string()).collect()
}

async fn is_told(bot: &EchoBot, place: &str) {
    let told = |log: &EchoLog| gone(log).contains(&place.to_owned()).then_some(());
    bot.gets("that a place is gone", told).await;
}

#[test]
fn what_is_deleted_with_its_place_is_told() {
    run(async |chat| {
        let guild = chat.guild.id();
        let thread = chat.asks("hello").await;
        thread.hears("echo: hello").await;
        thread.channel().is_deleted();
        is_told(&chat.bot, &format!("discord/{guild}/{}", thread.id())).await;
        // An outage is not a deletion.
        chat.guild.is_out(true);
        chat.guild.is_out(false);
        chat.general.is_deleted();
        let general = format!("discord/{guild}/{}", chat.general.id());
        is_told(&chat.bot, &general).await;
        chat.guild.removes_bot();
        is_told(&chat.bot, &format!("discord/{guild}")).await;
        assert_eq!(gone(&chat.bot.log()).len(), 3);
    });
}

#[test]
fn what_was_deleted_while_it_was_away_is_told_at_the_start() {
    run(async |chat| {
        let guild = chat.guild.id();
        let thread = chat.asks("hello").await;
        thread.hears("echo: hello").await;
        let other = chat.mention("stays");
        chat.thread_on(other).await.hears("echo: stays").await;
        chat.bot.ends().await;
        thread.channel().is_deleted();
        chat.starts_again().await;
        is_told(&chat.bot, &format!("discord/{guild}/{}", thread.id())).await;
        chat.bot.ends().await;
        assert_eq!(gone(&chat.bot.log()).len(), 1);
    });
}

#[test]
fn what_was_said_to_another_bot_is_not_gone_with_its_servers() {
    run(async |chat| {
        let folder = tempfile::tempdir().unwrap();
        chat.home.options.missed.file = Some(folder.path().join("discord-seen"));
        let (bot, token) = chat.discord.another_bot("Huginn");
        let other = chat.discord.guild("Owls");
        other.invite(bot);
        let there = other.person("bob").at(&other.text("general"));
        chat.restart_with(|_| {}).await;
        let thread = chat.asks("hello").await;
        thread.hears("echo: hello").await;
        let mut deleted = Vec::new();
        for text in ["one", "two"] {
            let question = there.mention(text);
            let thread = there.thread_on(question).await;
            thread.hears(&format!("echo: {text}")).await;
            deleted.push(thread);
        }
        chat.rests().await;
        let (own, guild) = (chat.home.options.token.clone(), chat.guild.id());
        chat.home.options.token = token.into();
        for thread in &deleted {
            chat.bot.ends().await;
            chat.discord.connected(0).await;
            thread.channel().is_deleted();
            chat.starts_again().await;
            let place = format!("discord/{}/{}", other.id(), thread.id());
            is_told(&chat.bot, &place).await;
            chat.bot.ends().await;
            let server = format!("discord/{guild}");
            assert!(!gone(&chat.bot.log()).contains(&server));
        }
        // The bot that was in it is told.
        chat.home.options.token = own;
        chat.discord.connected(0).await;
        chat.guild.removes_bot();
        chat.starts_again().await;
        is_told(&chat.bot, &format!("discord/{guild}")).await;
    });
}

#[test]
fn a_thread_that_is_still_to_be_opened_is_not_gone() {
    run(async |chat| {
        let guild = chat.guild.id();
        let question = chat.mention("deleted");
        let deleted = chat.thread_on(question).await;
        deleted.hears("echo: deleted").await;
        chat.rests().await;
        // Requests of the first process, and of the one that takes over.
        let opening = chat
            .discord
            .next(
                "POST",
                "/channels/{channel_id}/messages/{message_id}/threads",
            )
            .times(3)
            .is_held();
        let question = chat.mention("hello");
        opening.is_reached().await;
        chat.bot.dies();
        deleted.channel().is_deleted();
        chat.starts_again().await;
        is_told(&chat.bot, &format!("discord/{guild}/{}", deleted.id())).await;
        // The thread of a newer question is not gone either.
        let other = chat.mention("and that?");
        chat.bot.hears_number(3).await;
        opening.open();
        for (question, answer) in [(question, "echo: hello"), (other, "echo: and that?")] {
            chat.thread_on(question).await.hears(answer).await;
        }
        chat.bot.ends().await;
        assert_eq!(gone(&chat.bot.log()).len(), 1);
    });
}

#[test]
fn a_conversation_without_a_thread_of_its_own_is_not_gone_at_the_next_start() {
    run(async |chat| {
        chat.general.denies(Permissions::CREATE_PUBLIC_THREADS);
        chat.mention("hello");
        chat.hears("echo: hello").await;
        let guild = chat.guild.id();
        let marker = chat.guild.text("other");
        let other = chat.ann.at(&marker);
        let question = other.mention("deleted");
        let deleted = other.thread_on(question).await;
        deleted.hears("echo: deleted").await;
        chat.bot.ends().await;
        deleted.channel().is_deleted();
        chat.starts_again().await;
        is_told(&chat.bot, &format!("discord/{guild}/{}", deleted.id())).await;
        chat.bot.ends().await;
        assert_eq!(gone(&chat.bot.log()).len(), 1);
    });
}

#[test]
fn a_threads_name_follows_its_question() {
    run(async |chat| {
        let question = chat.mention("what is in Berlin?");
        let thread = chat.thread_on(question).await;
        thread.hears("echo: what is in Berlin?").await;
        let bot = chat.discord.bot();
        chat.edit(question, &format!("<@{bot}> what is in Oslo?"));
        thread.hears("echo: what is in Oslo?").await;
        let named = |name: &'static str| move |thread: &Thread| thread.name == name;
        chat.finds_thread("its new name", named("what is in Oslo?"))
            .await;
        chat.delete(question);
        chat.finds_thread("its neutral name", named("Question"))
            .await;
    });
}
