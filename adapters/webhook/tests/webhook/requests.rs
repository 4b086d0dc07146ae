//! Requests that are accepted, refused, or sent again.

use chrono::Utc;
use muninn_platform::CheckStatus;
use muninn_platform::testing::EchoLog;
use muninn_webhook::{check, sign};
use serde_json::json;

use crate::support::{Program, SECRET, message};

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_says_what_it_answers() {
    let program = Program::new().await;
    let bot = program.start();
    program.say("42", "hello").await;
    program.gets(&["echo: hello"]).await;
    assert_eq!(
        program.posted(),
        [
            json!({ "action": "put", "channel": "support", "conversation": "ticket-7",
            "message": "webhook/support/42/answer/0", "question": "42", "part": 0,
            "text": "echo: hello" })
        ]
    );
    bot.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_brings_the_trace_that_it_is_part_of() {
    let program = Program::new().await;
    let bot = program.start();
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    program.say_in_trace("1", "hello", traceparent).await;
    program.gets(&["echo: hello"]).await;
    program.say("2", "again").await;
    program.gets(&["echo: hello", "echo: again"]).await;
    let told = bot.log().messages.into_iter();
    let traces: Vec<Option<String>> = told.map(|it| it.traceparent).collect();
    assert_eq!(traces, [Some(traceparent.to_owned()), None]);
    bot.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_signed_now_is_taken_and_only_once() {
    let program = Program::new().await;
    let bot = program.start();
    let body = message("1", "hello").to_string();
    let now = Utc::now().timestamp();
    let signed_at = |time: i64| sign(&SECRET.into(), time, body.as_bytes());
    let other_secret = sign(&"another secret, as long".into(), now, body.as_bytes());
    for (header, said) in [
        ("t=1,v1=", "the signature is wrong"),
        (other_secret.as_str(), "the signature is wrong"),
        ("", "missing"),
        (signed_at(now - 400).as_str(), "more than five minutes"),
        (signed_at(now + 400).as_str(), "more than five minutes"),
    ] {
        let refused = program.post(&body, header).await;
        assert_eq!(refused.status(), 401, "{header}");
        let why = refused.text().await.unwrap();
        assert!(why.contains(said), "{why}");
    }
    assert_eq!(program.post(&body, &signed_at(now)).await.status(), 202);
    program.gets(&["echo: hello"]).await;
    let again = program.post(&body, &signed_at(now)).await;
    assert_eq!(again.status(), 401);
    assert!(again.text().await.unwrap().contains("came already"));
    // With a new signature it is still the same message.
    assert_eq!(program.post(&body, &signed_at(now - 1)).await.status(), 202);
    program.say("2", "next").await;
    program.gets(&["echo: hello", "echo: next"]).await;
    bot.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_refused_with_the_reason() {
    let program = Program::new().await;
    let bot = program.start();
    let mut content = message("a/b", "hello");
    let refused = program.send(&content).await;
    assert_eq!(refused.status(), 400);
    let why = refused.text().await.unwrap();
    assert!(why.contains("must be 1 to 200 letters"), "{why}");
    content["id"] = json!("x".repeat(2 * 1024 * 1024));
    assert_eq!(program.send(&content).await.status(), 413);
    bot.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_away_gets_the_answer_later() {
    let program = Program::new().await;
    let bot = program.start();
    program.answer_with(&[503, 500]);
    program.say("1", "hello").await;
    program.gets(&["echo: hello"]).await;
    assert_eq!(program.posted().len(), 3);
    bot.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_refuses_is_not_posted_again() {
    let program = Program::new().await;
    let bot = program.start();
    program.answer_with(&[403]);
    program.say("1", "hello").await;
    // Two concurrent posts arrive in any order.
    let error = |log: &EchoLog| log.errors.first().cloned();
    let error = bot.gets("the refusal", error).await;
    assert!(error.contains("WEBHOOK_ANSWER_URL does not take answers"));
    assert!(error.contains("status 403"), "{error}");
    program.say("2", "next").await;
    program.gets(&["echo: next"]).await;
    assert_eq!(bot.stop().await.errors, [error]);
    assert_eq!(program.posted().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_tries_the_address() {
    let program = Program::new().await;
    let verdicts = async || {
        let findings = check(&program.options).await.into_iter();
        findings.map(|finding| finding.verdict).collect::<Vec<_>>()
    };
    assert_eq!(verdicts().await, [CheckStatus::Warning, CheckStatus::Ok]);
    program.answer_with(&[401]);
    assert_eq!(verdicts().await, [CheckStatus::Warning, CheckStatus::Error]);
    assert_eq!(program.posted()[0], json!({ "action": "ping" }));
}
