//! Forms in which services send an answer, beside the usual stream.

use std::sync::Arc;
use std::time::Duration;

use muninn::llm::{CallProgress, ChatRequest, Limiter, ModelChain, ModelError};
use serde_json::{Value, json};

use crate::support::model_server::{Gate, Reply};
use crate::{anything, ask, complete, model, outcome, start};

/// Returns a body of JSON with status 200, although a stream was requested.
fn whole(body: &Value) -> Reply {
    let body = serde_json::to_string_pretty(body).unwrap();
    Reply::body(200, &body).header("content-type", "application/json; charset=utf-8")
}

fn message(content: &Value) -> Value {
    json!({
        "object": "chat.completion",
        "model": "chat",
        "choices": [{
            "message": { "role": "assistant", "content": content },
            "finish_reason": "stop",
        }],
        "usage": { "prompt_tokens": 7, "completion_tokens": 3 },
    })
}

#[tokio::test]
async fn an_answer_that_comes_as_a_whole_is_read() {
    let parts = json!([
        { "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] },
        { "type": "text", "text": "One\ntwo." },
    ]);
    for content in [json!("One\ntwo."), parts] {
        let answer = outcome(whole(&message(&content))).await.unwrap();
        assert_eq!(answer.text, "One\ntwo.", "{content}");
        assert_eq!(answer.usage.completion, 3, "{content}");
    }
    let broken = outcome(whole(&json!("no answer"))).await;
    assert!(matches!(broken, Err(ModelError::CutOff)), "{broken:?}");
}

#[tokio::test]
async fn a_body_is_read_whatever_its_type_is_called() {
    let events = "data: {\"choices\":[{\"delta\":{\"content\":\"One\\ntwo.\"},\"finish_reason\":\"stop\"}]}\n\n";
    let marked = format!("\u{feff}{events}");
    let json = message(&json!("One\ntwo.")).to_string();
    for (body, kind) in [
        (marked.as_str(), "text/event-stream"),
        (events, "application/json"),
        (&json, "text/plain; charset=utf-8"),
        (&format!("\u{feff}{json}"), "application/json"),
    ] {
        let reply = Reply::body(200, body).header("content-type", kind);
        let answer = outcome(reply).await.unwrap();
        assert_eq!(answer.text, "One\ntwo.", "{kind}: {body}");
    }
    let page = "<!doctype html><html><body>A chat</body></html>";
    let page = Reply::body(200, page).header("content-type", "text/html");
    let error = outcome(page).await.unwrap_err();
    assert!(matches!(error, ModelError::BadAnswer(_)), "{error:?}");
    assert!(error.to_string().contains("OPENAI_BASE_URL"), "{error}");
}

#[tokio::test]
async fn an_end_without_a_reason_is_an_end() {
    let line = "data: {\"choices\":[{\"delta\":{\"content\":\"Hello.\"}}]}\n\n";
    let done = outcome(Reply::events([line, "data: [DONE]\n\n"])).await;
    assert_eq!(done.unwrap().text, "Hello.");
    for reason in [json!(null), json!("")] {
        let mut body = message(&json!("Hello."));
        body["choices"][0]["finish_reason"] = reason;
        let answer = outcome(whole(&body)).await.unwrap();
        assert_eq!(answer.text, "Hello.");
    }
}

#[tokio::test]
async fn an_answer_is_not_waited_for_behind_its_end() {
    let end =
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}\n\n";
    let gate = Gate::closed();
    let silent = Reply::events([end, "data: [DONE]\n\n"]).paused(&gate);
    let alive = std::iter::repeat_n(": keep-alive\n\n", 200);
    let alive = Reply::events(std::iter::once(end).chain(alive));
    let alive = alive.trickling(Duration::from_millis(200));
    let both = async { tokio::join!(outcome(silent), outcome(alive)) };
    let in_time = tokio::time::timeout(Duration::from_secs(30), both).await;
    let (silent, alive) = in_time.unwrap();
    assert_eq!(silent.unwrap().text, "Hello.");
    assert_eq!(alive.unwrap().text, "Hello.");
}

#[tokio::test]
async fn a_reason_for_the_end_on_each_chunk_ends_no_answer() {
    let chunk = |delta: &Value| {
        let choice = json!({ "delta": delta, "finish_reason": "stop" });
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    let call = |name: &str, arguments: &str| {
        let function = json!({ "name": name, "arguments": arguments });
        chunk(&json!({ "tool_calls": [{ "index": 0, "function": function }] }))
    };
    let begun = chunk(&json!({ "role": "assistant", "content": "" }));
    let text = chunk(&json!({ "content": "Hello." }));
    let late = Reply::events([begun.as_str(), text.as_str()]);
    let late = late.trickling(Duration::from_secs(4));
    let parts = [call("look", "{\"a\""), call("", ": 1"), call("", "}")];
    let slow = Reply::events(parts.iter().map(String::as_str));
    let slow = slow.trickling(Duration::from_secs(2));
    let (late, slow) = tokio::join!(outcome(late), outcome(slow));
    assert_eq!(late.unwrap().text, "Hello.");
    let calls = slow.unwrap().tool_calls;
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!(calls[0].arguments, "{\"a\": 1}");
}

#[tokio::test]
async fn data_that_only_keeps_the_connection_open_ends_no_answer() {
    let first = "data: {\"choices\":[{\"delta\":{\"content\":\"It is \"}}]}\n\n";
    let rest =
        "data: {\"choices\":[{\"delta\":{\"content\":\"four.\"},\"finish_reason\":\"stop\"}]}\n\n";
    for alive in [
        "data:\n\n",
        "data: Ping\n\n",
        "data: : OPENROUTER PROCESSING\n\n",
    ] {
        let answer = outcome(Reply::events([first, alive, rest])).await;
        assert_eq!(answer.unwrap().text, "It is four.", "{alive:?}");
    }
}

#[tokio::test]
async fn an_error_in_a_field_of_its_own_is_an_error() {
    let error =
        "error: {\"code\":400,\"message\":\"the request exceeds the available context size\"}\n\n";
    let outcome = outcome(Reply::events([error, "data: [DONE]\n\n"])).await;
    assert!(
        matches!(outcome, Err(ModelError::ContextTooLong(_))),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn an_error_that_comes_with_status_200_has_its_name() {
    for (error, name) in [
        (
            json!({ "message": "Insufficient Balance", "code": 402 }),
            "QuotaExhausted",
        ),
        (json!({ "message": "boom" }), "Failed"),
        (json!("boom"), "Failed"),
    ] {
        let outcome = outcome(whole(&json!({ "error": error }))).await;
        let got = format!("{:?}", outcome.unwrap_err());
        assert!(got.starts_with(name), "{error}: {got}");
    }
}

#[tokio::test]
async fn who_does_not_show_the_reasoning_gets_more_and_is_then_told_of() {
    let server = start().await;
    let silent = || Reply::chunks([]).finish("length").usage(10, 100);
    server
        .expects(|request| request.body["max_tokens"] == 100)
        .replies(silent());
    server
        .expects(|request| request.body["max_tokens"] == 400)
        .replies(Reply::text("Yes.").usage(10, 300));
    let request = ChatRequest {
        max_tokens: 100,
        ..ask("Well?")
    };
    let model = model(&server.config());
    let answer = complete(&model, &request).await.unwrap();
    assert_eq!(answer.text, "Yes.");
    assert_eq!((answer.usage.prompt, answer.usage.completion), (20, 400));
    for _both in 0..2 {
        server.expects(anything).replies(silent());
    }
    let error = complete(&model, &request).await.unwrap_err();
    let ModelError::OnlyReasoned(usage) = error else {
        panic!("{error:?}");
    };
    assert_eq!((usage.prompt, usage.completion), (20, 200));
    server.finish();
}

#[tokio::test]
async fn reasoning_is_paid_for_when_the_second_attempt_fails_of_something_else() {
    let overloaded = ["data: {\"error\":{\"message\":\"overloaded\",\"code\":502}}\n\n"];
    for (second, name) in [
        (Reply::events(overloaded), "Failed"),
        (Reply::body(429, "Too Many Requests"), "RateLimited"),
        (
            Reply::refusal(400, "context_length_exceeded", "too long"),
            "ContextTooLong",
        ),
    ] {
        let server = start().await;
        server
            .expects(|request| request.body["max_tokens"] == 100)
            .replies(Reply::chunks([]).finish("length").usage(10, 100));
        server
            .expects(|request| request.body["max_tokens"] == 400)
            .replies(second);
        let request = ChatRequest {
            max_tokens: 100,
            ..ask("Well?")
        };
        let mut config = server.config();
        config.retries.max = 0;
        let limiter = Arc::new(Limiter::new(&config.limits));
        let chain = ModelChain::new(&config, &[], &limiter).unwrap();
        let mut progress = CallProgress::default();
        let outcome = chain
            .complete_observed(&request, &mut |_| {}, &mut progress)
            .await;
        let error = format!("{:?}", outcome.unwrap_err());
        assert!(error.starts_with(name), "{name}: {error}");
        let [billed] = &progress.failed[..] else {
            panic!("{progress:?}");
        };
        let usage = billed.usage;
        assert_eq!((usage.prompt, usage.completion), (10, 100), "{name}");
        server.finish();
    }
}

#[tokio::test]
async fn who_reasons_until_the_limit_is_not_asked_again_without_more_room() {
    let server = start().await;
    let large = "max_tokens is too large: 100. This model supports at most 50 completion tokens";
    server
        .expects(|request| request.body["max_tokens"] == 100)
        .replies(Reply::refusal(400, "invalid_request_error", large));
    server
        .expects(|request| request.body["max_tokens"] == 50)
        .replies(Reply::chunks([]).finish("length").usage(10, 50));
    let request = ChatRequest {
        max_tokens: 100,
        ..ask("Well?")
    };
    let error = complete(&model(&server.config()), &request)
        .await
        .unwrap_err();
    assert!(matches!(error, ModelError::OnlyReasoned(_)), "{error:?}");
    assert_eq!(server.chats().len(), 2);
    server.finish();
}
