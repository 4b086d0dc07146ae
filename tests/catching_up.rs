//! "Catch me up": the whole bot over real graphs, with a model, without one, and with one that fails.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use chrono::{TimeDelta, Utc};
use muninn::graph::{NewTurn, Turn};
use muninn_platform::Audience;
use muninn_platform::testing::TestConversation;
use serde_json::json;
use support::bot::BotStorage;
use support::chat::{ScriptedChat, run, run_without_model};
use support::model_server::{Gate, ModelServerRequest, Reply};
use support::program::prompt;

support::bot::on_every_graph!(
    without_a_model_what_was_answered_most_is_listed,
    a_model_says_what_came_of_it_and_each_entry_says_where,
    a_model_that_fails_leaves_the_list,
    a_reply_that_was_cut_off_leaves_the_list,
    what_a_model_finds_not_worth_a_line_is_listed,
    only_what_was_said_here_since_then_is_told,
    what_colleagues_say_to_one_another_is_told_too,
    a_digest_is_said_once_at_its_time,
    what_a_lost_digest_would_have_told_is_in_the_next_one,
    a_digest_that_a_shutdown_interrupts_is_said_after_it,
    what_a_digest_quotes_takes_it_along_when_it_is_forgotten,
    what_a_digest_quotes_takes_it_along_when_its_author_opts_out,
    what_somebody_caught_up_with_goes_when_it_is_forgotten,
    what_is_forgotten_while_a_model_writes_is_not_told,
);

/// Ada and Bob talk to the bot, which has no model.
async fn talk(chat: &ScriptedChat) -> TestConversation {
    let room = chat.room("helmets");
    room.say("ada", "We replace the blue helmets with white ones.")
        .await;
    room.say("bob", "Then I order 14 white helmets tomorrow.")
        .await;
    chat.room("kitty")
        .say("ada", "The tea kitty is short again.")
        .await;
    room
}

async fn without_a_model_what_was_answered_most_is_listed(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = talk(chat).await;
        let before = room.shown();
        let said = room.say("cleo", "What did I miss?").await.text();
        assert!(
            said.starts_with("Since ") && said.contains(": 3 messages by 2 people."),
            "{said}"
        );
        for line in [
            ": We replace the blue helmets with white ones. (1 answer)",
            "  - bob: Then I order 14 white helmets tomorrow.",
            "**Also said**\n- [ada, ",
            ": The tea kitty is short again.",
        ] {
            assert!(said.contains(line), "{line:?} is not in {said}");
        }
        // Nobody else sees it, and it is not part of the history.
        assert_eq!(room.shown(), before);
        let history = room.command("cleo", "history").await.text();
        assert!(!history.contains("messages by"), "{history}");
    })
    .await;
}

async fn a_model_says_what_came_of_it_and_each_entry_says_where(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        talk(chat).await;

        chat.restart_with_model().await;
        let room = chat.room("helmets");
        let reply = json!({
            "decided": [{"what": "14 white helmets replace the blue ones.", "messages": [1, 2]}],
            "answered": [],
            "open": [
                {"what": "The tea kitty is short.", "messages": [3]},
                {"what": "Nobody said this.", "messages": [77]},
            ],
        });
        chat.expects(|request| {
            let prompt = prompt(request);
            ["cleo", "1. [", "] bob:", "> The tea kitty is short again."]
                .iter()
                .all(|words| prompt.contains(words))
        })
        .answers(&reply.to_string());
        let said = room.command("cleo", "catch me up").await.text();
        let decided = said.find("**Decided**\n- 14 white helmets replace the blue ones. [bob, ");
        let open = said.find("**Left open**\n- The tea kitty is short. [ada, ");
        assert!(decided.is_some() && open > decided, "{said}");
        assert!(!said.contains("Nobody said this"), "{said}");
    })
    .await;
}

async fn a_model_that_fails_leaves_the_list(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        talk(chat).await;

        chat.restart_with_model().await;
        let room = chat.room("helmets");
        chat.expects(|_| true).answers("I would rather not.");
        let said = room.command("cleo", "catch me up").await.text();
        for words in [
            "I could not ask the model (its reply could not be read), \
         so this is a list of what was said:",
            "  - bob: Then I order 14 white helmets tomorrow.",
        ] {
            assert!(said.contains(words), "{words:?} is not in {said}");
        }
    })
    .await;
}

async fn a_reply_that_was_cut_off_leaves_the_list(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        talk(chat).await;

        chat.restart_with_model().await;
        let room = chat.room("helmets");
        let cut = r#"{"decided": [{"what": "14 white helmets.", "messages": [2]}, {"what": "Th"#;
        chat.expects(|_| true)
            .replies(Reply::text(cut).finish("length"));
        let said = room.command("cleo", "catch me up").await.text();
        for words in [
            "I could not ask the model (its reply could not be read)",
            "  - bob: Then I order 14 white helmets tomorrow.",
        ] {
            assert!(said.contains(words), "{words:?} is not in {said}");
        }
    })
    .await;
}

async fn what_a_model_finds_not_worth_a_line_is_listed(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        talk(chat).await;

        chat.restart_with_model().await;
        let room = chat.room("helmets");
        let nothing = json!({"decided": [], "answered": [], "open": []});
        chat.expects(|_| true).answers(&nothing.to_string());
        let said = room.command("cleo", "catch me up").await.text();
        for words in [
            ": 3 messages by 2 people.",
            "  - bob: Then I order 14 white helmets tomorrow.",
        ] {
            assert!(said.contains(words), "{words:?} is not in {said}");
        }
    })
    .await;
}

async fn only_what_was_said_here_since_then_is_told(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = talk(chat).await;
        let elsewhere = chat.room_of("secret", "elsewhere");
        elsewhere.say("ada", "The heron flies at midnight.").await;
        let said = room
            .command("cleo", "catch me up since yesterday")
            .await
            .text();
        assert!(
            said.contains("3 messages") && !said.contains("heron"),
            "{said}"
        );
        let there = elsewhere.command("cleo", "catch me up").await.text();
        assert!(
            there.contains("heron") && !there.contains("helmets"),
            "{there}"
        );
        // Ada was last active at the kitty, and Bob before that.
        let said = room.command("bob", "catch me up").await.text();
        assert!(
            said.contains("kitty") && !said.contains("We replace"),
            "{said}"
        );
        let said = room
            .command("ada", "catch up since the beginning of time")
            .await
            .text();
        assert!(
            said.contains("I do not understand \"the beginning of time\" as a day"),
            "{said}"
        );
        let said = room
            .command("dora", "catch me up since 2999-01-01")
            .await
            .text();
        assert!(said.contains("I do not understand"), "{said}");
        let nothing = chat
            .room_of("empty", "nobody")
            .command("dora", "catch me up")
            .await;
        assert!(
            nothing
                .text()
                .starts_with("Nothing that I know of was said here since "),
            "{}",
            nothing.text()
        );
    })
    .await;
}

/// Returns an overheard message from an hour ago, in a thread of the audience `general`.
fn heard(chat: &ScriptedChat, author: &str, text: &str, reply_to: Option<&NewTurn>) -> NewTurn {
    let audience = chat.audience();
    let session = format!("{audience}/heard");
    let turn = Turn {
        created_at: Utc::now() - TimeDelta::hours(1),
        reply_to: reply_to.map(|to| to.turn.event.clone()),
        link: Some("https://chat.example/7".to_owned()),
        ..Turn::message(&session, author, text)
    };
    let audience = Audience {
        id: audience,
        platform: "test".to_owned(),
        workspace: String::new(),
        name: "general".to_owned(),
        private_to: None,
    };
    NewTurn {
        recalls_also: Vec::new(),
        audience,
        turn,
        context: Vec::new(),
        recalled: Vec::new(),
        trace: Default::default(),
        asked_at: None,
    }
}

/// Keeps an agreement of two people.
async fn agree(chat: &ScriptedChat) {
    agree_as(chat, "bob").await;
}

/// As [`agree`], with somebody else who answers.
async fn agree_as(chat: &ScriptedChat, bob: &str) {
    let question = heard(chat, "ada", "Open day on the 10th or the 17th?", None);
    let answer = heard(chat, bob, "The 17th, 11 to 15 h.", Some(&question));
    chat.archive
        .keep_messages(vec![question, answer])
        .await
        .unwrap();
}

async fn what_colleagues_say_to_one_another_is_told_too(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        agree(chat).await;
        let said = chat.room("x").command("cleo", "catch me up").await.text();
        assert!(said.contains("2 messages by 2 people"), "{said}");
        let opened = "](https://chat.example/7): Open day on the 10th or the 17th? (1 answer)\n  \
                  - bob: The 17th, 11 to 15 h.";
        assert!(said.contains(opened), "{said}");
    })
    .await;
}

/// Writes settings with a daily digest whose last time was a minute ago; returns the option that names them.
fn digest_a_minute_ago(chat: &ScriptedChat) -> String {
    let time = (Utc::now() - TimeDelta::minutes(1)).format("%H:%M");
    let audience = chat.audience();
    let file = chat.place.path().join("channels.toml");
    let set = format!("[\"{audience}\"]\ndigest = \"daily {time} UTC\"\n");
    std::fs::write(&file, set).unwrap();
    format!("--channel-settings={}", file.display())
}

async fn what_a_digest_quotes_takes_it_along_when_it_is_forgotten(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        // A shared graph has what others of a name said.
        let bob = chat.event("bob");
        agree_as(chat, &bob).await;
        let settings = digest_a_minute_ago(chat);
        chat.restart_with(&[&settings]).await;
        let room = chat.room("x");
        room.connect().await;
        room.shows("The 17th, 11 to 15 h.").await;
        let forgotten = room.say(&bob, "forget me yes").await.text();
        assert!(forgotten.starts_with("I forgot everything"), "{forgotten}");
        room.hides("The 17th, 11 to 15 h.").await;
    })
    .await;
}

async fn what_a_digest_quotes_takes_it_along_when_its_author_opts_out(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let bob = chat.event("bob");
        agree_as(chat, &bob).await;
        let settings = digest_a_minute_ago(chat);
        chat.restart_with(&[&settings]).await;
        let room = chat.room("x");
        room.connect().await;
        room.shows("The 17th, 11 to 15 h.").await;
        let said = room.command("cleo", "catch me up").await.text();
        assert!(said.contains("The 17th, 11 to 15 h."), "{said}");
        let said = room.say(&bob, "don't remember me here").await.text();
        assert!(said.contains(": 1 message."), "{said}");
        room.hides("The 17th, 11 to 15 h.").await;
    })
    .await;
}

async fn what_somebody_caught_up_with_goes_when_it_is_forgotten(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let bob = chat.event("bob");
        agree_as(chat, &bob).await;
        let room = chat.room("x");
        room.connect().await;
        let said = room.command("cleo", "catch me up").await.text();
        assert!(said.contains("The 17th, 11 to 15 h."), "{said}");
        let forgotten = room.say(&bob, "forget me yes").await.text();
        assert!(forgotten.starts_with("I forgot everything"), "{forgotten}");
        room.hides("The 17th, 11 to 15 h.").await;
    })
    .await;
}

async fn what_is_forgotten_while_a_model_writes_is_not_told(place: BotStorage) {
    run(place, async |chat| {
        let bob = chat.event("bob");
        agree_as(chat, &bob).await;
        let room = chat.room("x");
        room.connect().await;
        let found = |what: &str| {
            let entry = json!({"what": what, "messages": [1]});
            json!({"decided": [], "answered": [], "open": [entry]}).to_string()
        };
        let gate = Gate::closed();
        let first = found("The open day is on the 17th.");
        chat.expects(|request| prompt(request).contains("The 17th, 11 to 15 h."))
            .replies(Reply::chunks([&*first]).paused(&gate));
        chat.expects(|request| !prompt(request).contains("11 to 15 h."))
            .answers(&found("The date of the open day is not settled."));
        let asked = room.send_command("cleo", "catch me up").await;
        chat.model.arrived(1).await;
        let forgotten = room.say(&bob, "forget me yes").await.text();
        assert!(forgotten.starts_with("I forgot everything"), "{forgotten}");
        gate.open();
        let said = asked.answer().await.text();
        assert!(
            said.contains("is not settled") && !said.contains("is on the 17th"),
            "{said}"
        );
    })
    .await;
}

async fn a_digest_is_said_once_at_its_time(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        agree(chat).await;

        let settings = digest_a_minute_ago(chat);
        for expected in [1, 0] {
            chat.restart_with(&[&settings]).await;
            let room = chat.room("x");
            room.connect().await;
            // The second process finds that the first posted it; after answering a question it has
            // checked.
            if expected == 1 {
                room.shows("The 17th, 11 to 15 h.").await;
            }
            room.say("ada", "Thank you.").await;
            let digests = room
                .shown()
                .iter()
                .filter(|text| text.starts_with("Since "))
                .count();
            assert_eq!(digests, expected);
        }
    })
    .await;
}

async fn what_a_lost_digest_would_have_told_is_in_the_next_one(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let mut missed = heard(chat, "ada", "The mast is climbed on Friday.", None);
        missed.turn.created_at = Utc::now() - TimeDelta::hours(30);
        chat.archive.keep_messages(vec![missed]).await.unwrap();
        agree(chat).await;
        // A process that was killed before it posted yesterday's digest.
        let (day, audience) = (TimeDelta::days(1), chat.audience());
        let yesterday = Utc::now() - day;
        let claimed = chat
            .store
            .claim_digest(
                &audience,
                yesterday - day,
                yesterday - TimeDelta::minutes(2),
            )
            .await;
        assert!(claimed.unwrap().is_some());

        let settings = digest_a_minute_ago(chat);
        chat.restart_with(&[&settings]).await;
        let room = chat.room("x");
        room.connect().await;
        room.shows("The mast is climbed on Friday.").await;
        room.shows("The 17th, 11 to 15 h.").await;
    })
    .await;
}

async fn a_digest_that_a_shutdown_interrupts_is_said_after_it(place: BotStorage) {
    let time = (Utc::now() - TimeDelta::minutes(1)).format("%H:%M");
    run(place, async |chat| {
        let audience = chat.audience();
        agree(chat).await;
        let file = chat.place.path().join("channels.toml");
        std::fs::write(
            &file,
            format!("[\"{audience}\"]\ndigest = \"daily {time} UTC\"\n"),
        )
        .unwrap();
        let settings = format!("--channel-settings={}", file.display());
        chat.restart_with(&[&settings]).await;
        let asks = |request: &ModelServerRequest| prompt(request).contains("> The 17th");
        let gate = Gate::closed();
        chat.expects(asks)
            .replies(Reply::chunks(["{", "}"]).paused(&gate));
        let room = chat.room("x");
        room.connect().await;
        chat.model.arrived(1).await;
        chat.end().await;
        gate.open();
        assert_eq!(room.shown(), [""; 0]);

        chat.restart().await;
        let reply = json!({
            "decided": [{"what": "Open day is on the 17th.", "messages": [1, 2]}],
            "answered": [], "open": [],
        });
        chat.expects(asks).answers(&reply.to_string());
        let room = chat.room("x");
        room.connect().await;
        room.shows("Open day is on the 17th.").await;
    })
    .await;
}
