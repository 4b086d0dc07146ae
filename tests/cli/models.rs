//! Several models: the output of `doctor` and `chat`.

use crate::home::Home;
use crate::support::model_server::{KEY, ModelServer, Reply};

/// Creates a home with an unreachable first model, and a second one.
fn home(server: &ModelServer) -> Home {
    let address = server.base_url();
    let host = address
        .trim_start_matches("http://")
        .trim_end_matches("/v1");
    Home::new()
        .with(
            "MODELS",
            format!("big@http://127.0.0.1:1/v1, chat@{address}"),
        )
        .with("MODEL_KEYS", format!("127.0.0.1:1=sk-other, {host}={KEY}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_looks_at_each_model_and_asks_each_service_once_what_it_has() {
    let server = ModelServer::start().await;
    server
        .expects(|_| true)
        .always_replies(Reply::text("Well."));
    let doctor = home(&server).run(&["doctor"], "").await;
    doctor.fails(1, &[]);
    for line in [
        "PROBLEM  model: 1. big: the model service at http://127.0.0.1:1/v1 cannot be reached",
        "ok       model: 2. chat: the service lists chat",
        "ok       model: 2. chat: begins to answer after ",
    ] {
        assert!(doctor.out.contains(line), "{}", doctor.out);
    }
    assert!(!doctor.out.contains(KEY) && !doctor.err.contains(KEY));
    assert_eq!(server.listings(), 1);
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_notes_a_model_that_answers_without_being_listed() {
    let server = ModelServer::start().await;
    server.lists(Some(&["utility"]));
    server
        .expects(|_| true)
        .always_replies(Reply::text("Well."));
    let doctor = Home::new().with_model(&server).run(&["doctor"], "").await;
    let out = doctor.succeeds();
    for line in [
        "note     model: chat answers, but the service does not list it",
        "ok       model: begins to answer after ",
        "ok       utility model: the service lists utility",
    ] {
        assert!(out.contains(line), "{out}");
    }
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_first_model_is_dead_chat_answers_all_the_same() {
    let server = ModelServer::start().await;
    server.expects(|_| true).answers("Good morning!");
    let chat = home(&server).chat(&[], &["Hello", "/why"]).await;
    let out = chat.succeeds();
    assert!(out.contains("Good morning!"), "{out}");
    assert!(out.contains("Written by chat"), "{out}");
    server.finish();
}
