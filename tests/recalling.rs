//! What a turn recalls: by a rephrased question, in both forms; and the reranking of what was
//! found.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use muninn_platform::TimeZone;
use support::bot::BotStorage;
use support::chat::{run, run_with};
use support::model_server::{ModelServerRequest, Reply};
use support::program::{asks, prompt};

support::bot::on_every_graph!(
    a_question_that_leans_on_the_last_is_kept_and_found_as_it_was_understood,
    what_is_forgotten_is_gone_from_the_questions_after_it,
    a_second_look_leaves_what_helps,
    dates_are_those_of_whoever_reads_them,
);

/// Whether it is a request to rephrase a question with this text.
fn rephrases(text: &'static str) -> impl Fn(&ModelServerRequest) -> bool {
    move |request| {
        let question = request.to_rephrase();
        request.model() == "utility" && question.is_some_and(|question| question == text)
    }
}

async fn a_question_that_leans_on_the_last_is_kept_and_found_as_it_was_understood(
    place: BotStorage,
) {
    // What the message alone makes unlikely stays out.
    run_with(place, &["--recall-threshold=0.02"], async |chat| {
        chat.model.scripts_rephrasing();
        chat.expects(asks("opens with 4711.")).answers("Noted.");
        chat.room("a")
            .say("ada", "The gate of the boathouse opens with 4711.")
            .await;
        let told = "> The gate of the boathouse opens with 4711.";
        let last_read = || chat.model.chats().last().unwrap().last_user().to_owned();
        chat.expects(asks("And how do I get in there?"))
            .answers("Where?");
        chat.room("c")
            .say("ada", "And how do I get in there?")
            .await;
        assert!(!last_read().contains(told), "{}", last_read());

        let room = chat.room("b");
        chat.expects(asks("to the lake."))
            .answers("A fine day for it!");
        room.say("ada", "I am going to the lake.").await;
        chat.expects(rephrases("And how do I get in there?"))
            .answers("Which code opens the gate of the boathouse?");
        chat.expects(|request| {
            request
                .last_user()
                .contains("(Understood as: Which code opens the gate")
        })
        .answers("It is 4711.");
        let answer = room.say("ada", "And how do I get in there?").await;
        assert_eq!(answer.text(), "It is 4711.");
        assert!(last_read().contains(told), "{}", last_read());
        let why = room.command("ada", "why").await.text();
        assert!(
            why.contains("Understood as: Which code opens the gate of the boathouse?"),
            "{why}"
        );

        // Mere politeness is not rephrased.
        chat.expects(asks("Thanks!")).answers("You are welcome.");
        room.say("ada", "Thanks!").await;

        // The question shares no word with the recalled message itself, only with its rephrased
        // form.
        chat.expects(|request| prompt(request).contains("> And how do I get in there?"))
            .answers("By its code.");
        chat.room("d")
            .say("bob", "Does a gate of that boathouse have codes?")
            .await;
    })
    .await;
}

async fn what_is_forgotten_is_gone_from_the_questions_after_it(place: BotStorage) {
    run(place, async |chat| {
        chat.model.scripts_rephrasing();
        let understood = || asks("(Understood as: Who is the best vet for a quokka?)");
        let answers = [
            Reply::text("Somebody in town."),
            // Then only memory answers.
            Reply::refusal(400, "invalid", "no"),
        ];
        for (thread, answer) in ["a", "b"].into_iter().zip(answers) {
            let room = chat.room(thread);
            chat.expects(asks("My quokka is ill.")).answers("How nice.");
            room.say("ada", "My quokka is ill.").await;
            chat.expects(rephrases("Who is the best vet for it?"))
                .answers("Who is the best vet for a quokka?");
            chat.expects(understood()).replies(answer);
            room.say("ada", "Who is the best vet for it?").await;
            let listed = room.say("ada", "memory").await.text();
            assert!(
                listed.contains("2. [") && listed.contains("My quokka is ill."),
                "{listed}"
            );
            room.say("ada", "forget 2").await;
            for shown in ["why", "history", "memory"] {
                let text = room.command("ada", shown).await.text();
                assert!(!text.contains("quokka"), "{shown} in {thread}: {text}");
            }
        }
    })
    .await;
}

/// It is never the same day in both zones.
async fn dates_are_those_of_whoever_reads_them(place: BotStorage) {
    run(place, async |chat| {
        chat.expects(asks("is 4711.")).answers("Noted.");
        chat.room("a")
            .say("ada", "The code of the coffee machine is 4711.")
            .await;
        let said = chat.store.last_turns(&chat.audience(), 1).await.unwrap();
        for zone in ["Pacific/Kiritimati", "Etc/GMT+12"] {
            chat.restart_with(&[&format!("--time-zone={zone}")]).await;
            let zone: TimeZone = zone.parse().unwrap();
            let at = said[0].created_at.with_timezone(&zone);
            let day = at.format("%Y-%m-%d").to_string();

            let quoted = format!("[{day}, ada]");
            chat.expects(move |request| request.last_user().contains(&quoted))
                .answers("4711");
            let asked = chat.room(&format!("b {zone:?}"));
            asked
                .say("bob", "What is the code of the coffee machine?")
                .await;
            // Without the model, memory is quoted.
            chat.expects(asks("Which code has the coffee machine?"))
                .replies(Reply::refusal(400, "invalid", "no"));
            let quoting = chat.room(&format!("c {zone:?}"));
            let answer = quoting.say("bob", "Which code has the coffee machine?");
            let answer = answer.await.text();
            assert!(answer.contains(&day), "{zone}: {answer}");

            let minute = at.format("[%Y-%m-%d %H:%M] ada: ").to_string();
            let room = chat.room("a");
            for (room, command, expected) in [
                (&asked, "why", format!("[{day}, ada]")),
                (&room, "history", minute),
                (&room, "memory", format!("1. [{day}] you said to me")),
                (&room, "about", format!("since {day}")),
            ] {
                let text = room.command("ada", command).await.text();
                assert!(text.contains(&expected), "{zone}: {command}: {text}");
            }
        }
    })
    .await;
}

async fn a_second_look_leaves_what_helps(place: BotStorage) {
    run_with(place, &["--recall-rerank=true"], async |chat| {
        for said in [
            "remember that the gate of the boathouse opens with 4711",
            "remember that the gate of the boathouse was painted green",
        ] {
            chat.room("a").say("ada", said).await;
        }
        let looks = |request: &ModelServerRequest| {
            request.model() == "utility"
                && request
                    .last_user()
                    .starts_with("Pick the earlier exchanges")
                && request.last_user().contains("1. [")
                && request
                    .last_user()
                    .contains("> the gate of the boathouse was painted green")
        };
        let question = "With which code does the gate of the boathouse open?";
        // An unreadable response removes nothing.
        for (written, is_set_aside) in [(r#"{"numbers": [1]}"#, true), ("The first.", false)] {
            chat.expects(looks).answers(written);
            chat.expects(move |request| {
                let read = request.last_user();
                read.ends_with(question)
                    && read.contains("opens with 4711")
                    && read.contains("painted green") != is_set_aside
            })
            .answers("With 4711.");
            let room = chat.room(&format!("asked {is_set_aside}"));
            room.say("bob", question).await;
            let why = room.command("bob", "why").await.text();
            assert!(why.contains("opens with 4711"), "{why}");
            assert_eq!(!why.contains("painted green"), is_set_aside, "{why}");
            assert!(why.contains("rerank"), "{why}");
        }

        // Nothing was recalled, so there is nothing to rerank.
        chat.expects(|request| request.last_user().ends_with("Thanks!"))
            .answers("You are welcome.");
        chat.room("thanks").say("bob", "Thanks!").await;
    })
    .await;
}
