//! Growing and finished answers.

use muninn_platform::{Body, IncomingMessage};

use crate::support::{DiscordTransport, Echoes, run, run_by};

#[test]
fn a_mention_opens_a_thread_and_is_answered_there() {
    for way in [DiscordTransport::Proxy, DiscordTransport::Real] {
        run_by(way, async |chat| {
            let thread = chat.asks("Where is the key?").await;
            let answer = thread.hears("echo: Where is the key?").await;
            assert_eq!(chat.threads()[0].name, "Where is the key?");
            assert!(answer.hides_embeds);
            let labels: Vec<&str> = answer.buttons.iter().map(|it| it.label.as_str()).collect();
            assert_eq!(labels, ["Why?", "👍", "👎", "Regenerate"]);
            thread.echoes("And of the door?").await;
            assert_eq!(chat.said().len(), 0, "nothing beside the thread");
        });
    }
}

#[test]
fn it_types_while_it_works() {
    run(async |chat| {
        let thread = chat.asks("wait a moment").await;
        // The typing indicator is renewed before it expires.
        thread.sees_typing(2).await;
        let at = thread.typed();
        let apart = at[1] - at[0];
        assert!((7..=12).contains(&apart.as_secs()), "{apart:?}");
        chat.bot.go_on();
        thread.hears("echo: a moment").await;
    });
}

#[test]
fn an_answer_grows_in_one_message_at_a_gentle_pace() {
    for way in [DiscordTransport::Proxy, DiscordTransport::Real] {
        run_by(way, async |chat| {
            let direct = chat.ann.direct();
            direct.say("stream it");
            let answer = direct.hears("echo: it").await;
            assert_eq!(answer.texts, ["step 1", "step 2", "step 3", "echo: it"]);
            assert_eq!(direct.said().len(), 1);
            let took = answer.changed - answer.created;
            assert!(took.as_millis() >= 3 * 1_200, "{took:?}");
        });
    }
}

#[test]
fn what_was_shown_and_given_up_is_taken_away() {
    run(async |chat| {
        let direct = chat.ann.direct();
        direct.say("drop it");
        let shown = direct
            .finds("to be dropped", |said| said.text.starts_with("to be"))
            .await;
        assert_eq!(shown.button("Stop").label, "Stop");
        chat.bot.go_on();
        direct.finds("it gone", |said| said.is_deleted).await;
        let asked = chat.ask("drop it", &[]);
        asked
            .finds("to be dropped", |said| said.text.starts_with("to be"))
            .await;
        chat.bot.go_on();
        chat.finds("it gone", |said| said.is_deleted).await;
        assert!(chat.said().is_empty());
    });
}

#[test]
fn what_the_bot_takes_away_itself_was_deleted_by_nobody() {
    run(async |chat| {
        let direct = chat.ann.direct();
        direct.say("drop it");
        direct
            .finds("to be dropped", |said| said.text.starts_with("to be"))
            .await;
        chat.bot.go_on();
        direct.finds("it gone", |said| said.is_deleted).await;
        // Discord delivers it before the next message.
        direct.echoes("next").await;
        let log = chat.bot.log();
        let of_people = |said: &IncomingMessage| matches!(said.body, Body::Text(_));
        assert!(log.messages.iter().all(of_people), "{:?}", log.messages);
    });
}

#[test]
fn a_long_answer_is_split_and_the_last_part_has_the_buttons() {
    run(async |chat| {
        let direct = chat.ann.direct();
        let question = direct.say("long 400");
        let last = direct
            .finds("the last line", |said| said.text.contains("399 *x*"))
            .await;
        let said = direct.said();
        assert!(said.len() > 3, "{}", said.len());
        assert!(said.iter().all(|part| part.text.chars().count() <= 2_000));
        assert_eq!(said[0].replies_to, Some(question));
        assert!(said[0].buttons.is_empty());
        assert_eq!(said.last().unwrap().id, last.id);
        assert_eq!(last.buttons.len(), 4);
        let asked = chat.ask("long 400", &[]);
        asked
            .finds("the last line", |said| said.text.contains("399 *x*"))
            .await;
        assert_eq!(asked.follow_ups().len(), said.len() - 1);
    });
}

#[test]
fn tables_are_aligned_and_code_stays_whole() {
    run(async |chat| {
        let direct = chat.ann.direct();
        direct.say("table");
        let shown = "```\na | b\n--+--\n1 | 2\n```\n\n```rust\nfn f() {}\n```";
        direct.hears(shown).await;
    });
}

#[test]
fn nothing_it_says_pings_anybody() {
    run(async |chat| {
        let bob = chat.guild.person("bob");
        let direct = chat.ann.direct();
        direct.say(&format!(
            "say @everyone @here <@{0}> <#{1}> <@&1>",
            bob.id(),
            chat.general.id()
        ));
        let answer = direct
            .finds("an answer", |said| !said.text.is_empty())
            .await;
        assert!(
            answer.calls.is_empty() && !answer.calls_everyone,
            "{answer:#?}"
        );
        assert!(!answer.text.contains("<#1"), "{}", answer.text);
    });
}

#[test]
fn files_are_read_up_to_a_size() {
    run(async |chat| {
        let direct = chat.ann.direct();
        direct.attach("note.txt", "text/plain", b"the code is 4711", "what is it?");
        direct
            .finds("what is in it", |said| {
                said.text.contains("file: what is it?")
                    && said.text.contains("16 bytes, the code is 4711")
            })
            .await;
        direct.attach("big.txt", "text/plain", &[b'x'; 2_000], "and this?");
        direct
            .finds("that it is too large", |said| {
                said.text.contains("it has more than 1000 bytes")
            })
            .await;
        direct.attach_claiming("liar.txt", "text/plain", &[b'x'; 2_000], 10, "and that?");
        direct
            .finds("that it is larger than it says", |said| {
                said.text.contains("and that?") && said.text.contains("it has more than 1000 bytes")
            })
            .await;
    });
}

#[test]
fn who_is_asked_in_the_middle_of_a_thread_hears_what_was_said_before() {
    run(async |chat| {
        let bob = chat.guild.person("bob");
        let thread = chat.open_thread("plans");
        let as_bob = bob.at(&thread.channel());
        as_bob.say("We leave at nine.");
        let hint = as_bob.say("Take the bridge.");
        thread.mention("background");
        thread
            .hears("overheard:\nbob: We leave at nine.\nbob: Take the bridge.")
            .await;
        let in_channel = bob.at(&chat.general).say("The bridge is closed.");
        let question = chat.reply(in_channel, &format!("<@{}> background", chat.discord.bot()));
        let thread = chat.thread_on(question).await;
        thread.hears("overheard:\nbob: The bridge is closed.").await;
        assert!(chat.said().is_empty(), "{hint:?}");
    });
}
