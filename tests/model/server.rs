//! The test server itself: what should fail a test does.

use muninn::llm::ChatMessage;

use crate::{anything, ask, complete, model, start};

#[tokio::test]
#[should_panic(expected = "nobody asked for the reply at tests/model/server.rs")]
async fn an_unused_reply_fails_the_test() {
    let server = start().await;
    server.expects(anything).answers("never");
}

#[tokio::test]
#[should_panic(expected = "nobody expected")]
async fn an_unexpected_request_fails_the_test() {
    let server = start().await;
    let outcome = complete(&model(&server.config()), &ask("Hello")).await;
    assert!(outcome.is_err());
    server.finish();
}

#[tokio::test]
#[should_panic(expected = "a result without a call before it")]
async fn an_invalid_request_fails_the_test() {
    let server = start().await;
    server.expects(anything).answers("fine");
    let mut request = ask("Hello");
    request.messages.push(ChatMessage::Tool {
        call_id: "made_up".to_owned(),
        text: "result".to_owned(),
    });
    complete(&model(&server.config()), &request).await.unwrap();
    server.finish();
}
