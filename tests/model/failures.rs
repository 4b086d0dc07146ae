//! Errors, retries, limits, time-outs.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use muninn::llm::{ChatModel, ChatRequest, Limiter, ModelConfig, ModelError, RateLimits};
use muninn_platform::testing::free_address;
use secrecy::SecretString;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::model_server::{Gate, ModelServerRequest, Reply};
use crate::{anything, ask, complete, model, outcome, start};

#[tokio::test]
async fn half_an_answer_is_an_error() {
    let cut = outcome(Reply::text("one two three").cut_after(2)).await;
    assert!(matches!(cut, Err(ModelError::CutOff)), "{cut:?}");
    let line = "data: {\"choices\":[{\"delta\":{\"content\":\"Half\"}}]}\n\n";
    let unfinished = outcome(Reply::events([line])).await;
    assert!(
        matches!(unfinished, Err(ModelError::CutOff)),
        "{unfinished:?}"
    );
    // The connection is cut between the last word and the usage: nothing of the answer is missing.
    let whole = outcome(Reply::text("one two").usage(1, 1).cut_after(3)).await;
    assert_eq!(whole.unwrap().text, "one two");
}

#[tokio::test]
async fn an_error_within_the_stream_is_an_error() {
    let lines = [
        "data: {\"choices\":[{\"delta\":{\"content\":\"Half\"}}]}\n\n",
        "data: {\"error\":{\"message\":\"overloaded\",\"code\":502}}\n\n",
    ];
    let outcome = outcome(Reply::events(lines)).await;
    assert!(matches!(outcome, Err(ModelError::Failed(_))), "{outcome:?}");
}

#[tokio::test]
async fn nonsense_is_an_error_without_its_words() {
    let broken = outcome(Reply::events(["data: {\"secret\n\n"]))
        .await
        .unwrap_err();
    assert!(matches!(broken, ModelError::BadAnswer(_)), "{broken:?}");
    assert!(!broken.to_string().contains("secret"));
    let empty = outcome(Reply::chunks([])).await;
    assert!(matches!(empty, Err(ModelError::BadAnswer(_))), "{empty:?}");
}

#[tokio::test]
async fn refusals_have_their_names() {
    let table = [
        (
            Reply::refusal(401, "invalid_api_key", "Incorrect API key"),
            "Unauthorized",
        ),
        (Reply::body(403, "<html>no</html>"), "Unauthorized"),
        (
            Reply::refusal(404, "model_not_found", "The model `x` does not exist"),
            "UnknownModel",
        ),
        (
            Reply::body(
                404,
                r#"{"error":"model 'x' not found, try pulling it first"}"#,
            ),
            "UnknownModel",
        ),
        (Reply::body(404, "404 page not found"), "Refused"),
        (
            Reply::refusal(429, "insufficient_quota", "You exceeded your current quota"),
            "QuotaExhausted",
        ),
        (
            Reply::refusal(429, "rate_limit_exceeded", "Limit: tokens per min"),
            "RateLimited",
        ),
        (Reply::body(429, "Too Many Requests"), "RateLimited"),
        (
            Reply::refusal(400, "context_length_exceeded", "too long"),
            "ContextTooLong",
        ),
        (
            Reply::body(
                400,
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","code":400}"#,
            ),
            "ContextTooLong",
        ),
        (
            Reply::body(
                500,
                r#"{"error":{"message":"input length exceeds the context length"}}"#,
            ),
            "ContextTooLong",
        ),
        (
            Reply::refusal(400, "invalid_request_error", "bad"),
            "Refused",
        ),
        (Reply::body(503, "upstream\nis down"), "Failed"),
    ];
    for (reply, name) in table {
        let error = outcome(reply.clone()).await.unwrap_err();
        assert!(
            format!("{error:?}").starts_with(name),
            "{reply:?} gave {error:?}"
        );
    }
}

#[tokio::test]
async fn retries_what_may_pass() {
    let server = start().await;
    server
        .expects(anything)
        .replies(Reply::refusal(503, "server_error", "boom"));
    server
        .expects(anything)
        .replies(Reply::body(429, "not JSON").header("retry-after", "0"));
    server.expects(anything).answers("At last");
    let mut pieces = String::new();
    let answer = model(&server.config())
        .complete(&ask("Hello"), &mut |piece| piece.add_to(&mut pieces))
        .await
        .unwrap();
    assert_eq!(
        (answer.text, pieces.as_str()),
        ("At last".to_owned(), "At last")
    );
    server.finish();
}

#[tokio::test]
async fn retries_are_bounded() {
    let server = start().await;
    for _ in 0..3 {
        server
            .expects(anything)
            .replies(Reply::refusal(500, "server_error", "boom"));
    }
    let error = complete(&model(&server.config()), &ask("Hello"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model service failed: HTTP 500: boom"
    );
    assert!(error.is_transient());
    server.finish();
}

#[tokio::test]
async fn nothing_is_retried_once_text_has_come() {
    let server = start().await;
    server
        .expects(anything)
        .replies(Reply::text("one two").cut_after(1));
    let outcome = complete(&model(&server.config()), &ask("Hello")).await;
    assert!(matches!(outcome, Err(ModelError::CutOff)), "{outcome:?}");
    assert_eq!(server.chats().len(), 1);
    server.finish();
}

#[tokio::test]
async fn no_other_wording_is_tried_once_text_has_come() {
    let lines = [
        "data: {\"choices\":[{\"delta\":{\"content\":\"Half\"}}]}\n\n",
        "data: {\"error\":{\"message\":\"no stream_options\",\"code\":400}}\n\n",
    ];
    let outcome = outcome(Reply::events(lines)).await;
    assert!(
        matches!(outcome, Err(ModelError::Refused(_))),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn waits_as_long_as_it_is_told() {
    let server = start().await;
    server
        .expects(anything)
        .replies(Reply::refusal(429, "rate", "slow").header("retry-after", "1"));
    // The date has whole seconds, so it is between one and two seconds away.
    let date =
        (chrono::Utc::now() + chrono::Duration::seconds(3)).format("%a, %d %b %Y %H:%M:%S GMT");
    server
        .expects(anything)
        .replies(Reply::body(503, "").header("retry-after", &date.to_string()));
    server.expects(anything).answers("Now");
    let start = Instant::now();
    complete(&model(&server.config()), &ask("Hello"))
        .await
        .unwrap();
    assert!(
        start.elapsed() >= Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    server.finish();
}

#[tokio::test]
async fn gives_up_at_once_when_told_to_wait_for_long() {
    for pause in ["3600", "Fri, 31 Dec 2999 23:59:59 GMT"] {
        let server = start().await;
        server
            .expects(anything)
            .replies(Reply::refusal(429, "rate", "slow").header("retry-after", pause));
        let outcome = complete(&model(&server.config()), &ask("Hello")).await;
        assert!(
            matches!(outcome, Err(ModelError::RateLimited)),
            "{outcome:?}"
        );
        server.finish();
    }
}

#[tokio::test]
async fn every_attempt_takes_a_permit() {
    let server = start().await;
    server
        .expects(anything)
        .replies(Reply::refusal(500, "server_error", "boom"));
    server
        .expects(anything)
        .replies(Reply::refusal(500, "server_error", "boom"));
    let mut config = server.config();
    config.retries.max = 5;
    config.limits.requests_per_minute = NonZeroU32::new(2);
    config.limits.longest_wait = Duration::ZERO;
    let outcome = complete(&model(&config), &ask("Hello")).await;
    assert!(matches!(outcome, Err(ModelError::Busy)), "{outcome:?}");
    assert_eq!(server.chats().len(), 2);
    server.finish();
}

#[tokio::test]
async fn a_slot_is_held_until_the_stream_ends() {
    let server = start().await;
    let gate = Gate::closed();
    server
        .expects(|request| request.last_user() == "slow")
        .replies(Reply::text("a b").paused(&gate));
    server
        .expects(|request| request.last_user() == "next")
        .answers("c");
    let mut config = server.config();
    config.limits.in_flight = 1;
    config.limits.longest_wait = Duration::from_millis(50);
    let model = Arc::new(model(&config));
    let slow = tokio::spawn({
        let model = Arc::clone(&model);
        async move { complete(&model, &ask("slow")).await }
    });
    server.arrived(1).await;
    let refused = complete(&model, &ask("next")).await;
    assert!(matches!(refused, Err(ModelError::Busy)), "{refused:?}");
    gate.open();
    slow.await.unwrap().unwrap();
    complete(&model, &ask("next")).await.unwrap();
    server.finish();
}

#[tokio::test]
async fn one_person_does_not_use_up_anothers_share() {
    let server = start().await;
    let mut config = server.config();
    config.limits.person_requests_per_minute = NonZeroU32::new(1);
    config.limits.longest_wait = Duration::ZERO;
    let model = model(&config);
    for person in ["alice", "bob", ""] {
        server.expects(anything).answers("yes");
        let request = ChatRequest {
            person: person.to_owned(),
            ..ask("May I?")
        };
        complete(&model, &request).await.unwrap();
    }
    let again = complete(&model, &ask("May I?")).await;
    assert!(matches!(again, Err(ModelError::Busy)), "{again:?}");
    server.finish();
}

#[tokio::test]
async fn time_outs_end_a_call_that_hangs() {
    let silent = || Reply::text("one two").paused(&Gate::closed());
    for (reply, total) in [
        (Reply::hang(), false),
        (silent(), false),
        (Reply::hang(), true),
    ] {
        let server = start().await;
        server.expects(anything).replies(reply);
        let mut config = server.config();
        let timeout = if total {
            &mut config.timeouts.total
        } else {
            &mut config.timeouts.read
        };
        *timeout = Duration::from_millis(400);
        let outcome = complete(&model(&config), &ask("Hello")).await;
        assert!(
            matches!(outcome, Err(ModelError::TimedOut(_))),
            "{outcome:?}"
        );
        server.abandoned(1).await;
        server.finish();
    }
}

#[tokio::test]
async fn dropping_the_call_ends_the_request() {
    for reply in [
        Reply::hang(),
        Reply::text("one two").paused(&Gate::closed()),
    ] {
        let server = start().await;
        server.expects(anything).replies(reply);
        let model = model(&server.config());
        let request = ask("Hello");
        let mut nothing = |_: muninn::llm::Piece| {};
        tokio::select! {
            outcome = model.complete(&request, &mut nothing) => panic!("{outcome:?}"),
            () = server.arrived(1) => {}
        }
        server.abandoned(1).await;
        server.finish();
    }
}

#[tokio::test]
async fn nobody_there() {
    let url = format!("http://user:password@{}/v1", free_address());
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut config = ModelConfig::new(url, "chat");
    config.retries.max = 1;
    let error = complete(&model(&config), &ask("Hello")).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("password"));
}

#[tokio::test]
async fn a_connection_that_is_closed_before_an_answer_is_made_anew() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        for answers in [false, true] {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"}") {
                assert_ne!(connection.read_buf(&mut request).await.unwrap(), 0);
            }
            if answers {
                let answer = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
                    data: {\"choices\":[{\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
                connection.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    });
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut config = ModelConfig::new(url, "chat");
    config.retries.max = 0;
    let answer = complete(&model(&config), &ask("Hello")).await.unwrap();
    assert_eq!(answer.text, "Hello.");
    serving.await.unwrap();
}

#[tokio::test]
async fn learns_what_a_service_does_not_take() {
    let server = start().await;
    let without_options =
        |request: &ModelServerRequest| request.body.get("stream_options").is_none();
    server
        .expects(|request| request.body.get("stream_options").is_some())
        .replies(Reply::body(
            422,
            r#"{"detail":[{"loc":["body","stream_options"],"msg":"extra"}]}"#,
        ));
    server.expects(without_options).replies(Reply::refusal(
        400,
        "unsupported_parameter",
        "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ));
    let completion_tokens =
        |request: &ModelServerRequest| request.body["max_completion_tokens"] == 50;
    server.expects(completion_tokens).answers("Fine");
    server
        .expects(move |request| completion_tokens(request) && without_options(request))
        .answers("Fine");
    let model = model(&server.config());
    for _ in 0..2 {
        complete(&model, &ask("Hello")).await.unwrap();
    }
    server.finish();
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let server = start().await;
    server
        .expects(|request| request.authorization.is_none())
        .answers("Hi");
    let mut config = server.config();
    config.api_key = None;
    complete(&model(&config), &ask("Hello")).await.unwrap();
    let faults = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.finish()));
    assert!(faults.is_err(), "the server insists on a key");
}

#[tokio::test]
async fn configuration_that_cannot_work_is_refused() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let limiter = || Arc::new(Limiter::new(&RateLimits::default()));
    for url in ["", "localhost:11434", "ftp://x/"] {
        let config = ModelConfig::new(url, "chat");
        assert!(ChatModel::new(&config, limiter()).is_err(), "{url}");
    }
    let mut config = ModelConfig::new("http://127.0.0.1:1/v1", "chat");
    config.api_key = Some(SecretString::from("two\nlines"));
    assert!(matches!(
        ChatModel::new(&config, limiter()),
        Err(ModelError::Unauthorized)
    ));
}
