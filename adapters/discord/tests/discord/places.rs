//! Places where people talk: channels, threads, forums, direct messages; and messages that are not
//! answered.

use std::time::Duration;

use muninn_platform::testing::EchoBot;

use crate::support::{DiscordTransport, Echoes, run, run_by};

async fn audience_of(bot: &EchoBot, text: &str) -> (String, String) {
    let found = bot
        .gets(text, |log| {
            let mut messages = log.messages.iter();
            let found = messages.find(|message| format!("{:?}", message.body).contains(text));
            found.cloned()
        })
        .await;
    (
        found.conversation.to_string(),
        found.audience.id.to_string(),
    )
}

#[test]
fn each_place_is_its_own_audience() {
    run(async |chat| {
        let guild = chat.guild.id();
        let general = format!("discord/{guild}/{}", chat.general.id());
        // A public thread belongs to its channel.
        let question = chat.mention("one");
        chat.thread_on(question).await.hears("echo: one").await;
        let of = audience_of(&chat.bot, "one").await;
        assert_eq!(of, (format!("discord/{guild}/{question}"), general.clone()));
        // Another channel is another audience.
        let random = chat.guild.text("random");
        let question = chat.ann.at(&random).mention("two");
        let of = audience_of(&chat.bot, "two").await;
        let random = format!("discord/{guild}/{}", random.id());
        assert_eq!(of, (format!("discord/{guild}/{question}"), random));
        // A private thread is its own audience, and so are direct messages.
        let private = chat.open_private_thread("secret");
        private.brings(chat.discord.bot());
        private.mention("three");
        private.hears("echo: three").await;
        let own = format!("discord/{guild}/{}", private.id());
        assert_eq!(audience_of(&chat.bot, "three").await, (own.clone(), own));
        let direct = chat.ann.direct();
        direct.echoes("four").await;
        let own = format!("discord/dm/{}", direct.id());
        assert_eq!(audience_of(&chat.bot, "four").await, (own.clone(), own));
    });
}

#[test]
fn a_forum_post_is_answered_in_itself() {
    run(async |chat| {
        let forum = chat.guild.forum("questions");
        let bot = chat.discord.bot();
        let ignored = chat.ann.at(&forum).open_post("Hello", "to everybody else");
        let post = chat
            .ann
            .at(&forum)
            .open_post("Keys", &format!("<@{bot}> where are they?"));
        post.hears("echo: where are they?").await;
        post.echoes("and the door?").await;
        let of = audience_of(&chat.bot, "the door").await;
        let guild = chat.guild.id();
        let forum = format!("discord/{guild}/{}", forum.id());
        assert_eq!(of, (format!("discord/{guild}/{}", post.id()), forum));
        assert!(ignored.said().is_empty());
    });
}

#[test]
fn it_speaks_only_when_it_is_meant() {
    run(async |chat| {
        chat.say("hello everybody");
        let thread = chat.open_thread("among ourselves");
        thread.say("Muninn is not asked");
        // Other bots and webhooks are not answered, whatever they say.
        let bot = chat.discord.bot();
        let other = chat.guild.other_bot("Huginn").at(&chat.general);
        other.say(&format!("<@{bot}> hello brother"));
        chat.general
            .webhook("hook")
            .says(&format!("<@{bot}> deployed"));
        let question = chat.mention("now you");
        chat.thread_on(question).await.hears("echo: now you").await;
        let log = chat.bot.log();
        assert_eq!(log.messages.len(), 1, "{log:#?}");
        assert!(chat.said().is_empty() && thread.said().is_empty());
        // A reply to its answer is meant for it, even one that does not ping.
        let answered = chat.ask("hi", &[]).hears("echo: hi").await;
        let reply = chat.reply_quietly(answered.id, "really?");
        chat.thread_on(reply).await.hears("echo: really?").await;
    });
}

#[test]
fn a_forwarded_message_is_read_as_a_quotation() {
    run(async |chat| {
        let said = chat.say("The mast is up.");
        let file = chat.attach("plan.txt", "text/plain", b"at noon", "");
        let direct = chat.ann.direct();
        direct.forward(chat, said);
        direct.hears("echo: > The mast is up.").await;
        direct.forward(chat, file);
        let read = "file:\nplan.txt (text/plain): 7 bytes, at noon";
        direct.hears(read).await;
        // One of which nothing can be read asks for nothing.
        let other = chat.say("At noon.");
        let forwarded = direct.forward(chat, other);
        direct.hears("echo: > At noon.").await;
        direct.forward(&direct, forwarded);
        direct.echoes("well?").await;
        assert_eq!(direct.said().len(), 4, "{:?}", direct.said());
    });
}

#[test]
fn a_voice_channels_chat_is_answered_beside_the_question() {
    run(async |chat| {
        let voice = chat.ann.at(&chat.guild.voice("lounge"));
        let question = voice.mention("can you hear me?");
        let answer = voice.hears("echo: can you hear me?").await;
        assert_eq!(answer.replies_to, Some(question));
    });
}

/// Discord ends an interaction that is not acknowledged within 3 s; the server here reports it as a
/// violation.
#[test]
fn two_hundred_commands_at_once_are_acknowledged_in_time_by_a_slow_discord() {
    run_by(DiscordTransport::Real, async |chat| {
        let first = "/interactions/{interaction_id}/{interaction_token}/callback";
        let late = Duration::from_millis(400);
        chat.discord.next("POST", first).times(200).is_slow(late);
        let threads: Vec<_> = (0..50)
            .map(|number| chat.open_thread(&format!("thread {number}")))
            .collect();
        let asked: Vec<_> = (0..200)
            .map(|number| threads[number % threads.len()].ask("hello", &[]))
            .collect();
        for interaction in &asked {
            interaction.hears("echo: hello").await;
        }
    });
}

#[test]
fn in_a_burst_over_many_threads_each_keeps_its_order() {
    run(async |chat| {
        let mut threads = Vec::new();
        for number in 0..50 {
            let question = chat.mention(&format!("thread {number}"));
            threads.push(chat.thread_on(question).await);
        }
        for (number, thread) in threads.iter().enumerate() {
            thread.hears(&format!("echo: thread {number}")).await;
        }
        for round in 0..4 {
            for thread in &threads {
                thread.say(&format!("say round {round}"));
            }
        }
        for thread in &threads {
            for round in 0..4 {
                thread.hears(&format!("round {round}")).await;
            }
        }
        let log = chat.bot.log();
        assert_eq!(log.messages.len(), 50 + 200);
        for thread in &threads {
            let id = format!("/{}", thread.id());
            let here = log
                .messages
                .iter()
                .filter(|it| it.conversation.as_str().ends_with(&id));
            let said: Vec<String> = here.skip(1).map(|it| format!("{:?}", it.body)).collect();
            let expected: Vec<String> = (0..4)
                .map(|round| format!("Text(\"say round {round}\")"))
                .collect();
            assert_eq!(said, expected);
        }
    });
}
