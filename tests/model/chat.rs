//! Answers and tool calls.

use muninn::llm::{
    ChatMessage, ChatRequest, Completion, Purpose, Sampling, ToolCall, ToolSpec, Usage,
};
use serde_json::{Value, json};

use crate::support::model_server::{Gate, Reply};
use crate::{anything, ask, complete, model, outcome, start};

fn search() -> ToolSpec {
    ToolSpec {
        name: "search".to_owned(),
        description: "Searches.".to_owned(),
        parameters: json!({ "type": "object", "properties": { "q": { "type": "string" } } }),
    }
}

#[tokio::test]
async fn streams_in_pieces_with_usage() {
    let server = start().await;
    server
        .expects(|request| request.last_user() == "Hello" && request.model() == "chat")
        .answers("Hi there, friend");
    let mut pieces = Vec::new();
    let answer = model(&server.config())
        .complete(&ask("Hello"), &mut |piece| {
            let mut text = String::new();
            piece.add_to(&mut text);
            pieces.push(text);
        })
        .await
        .unwrap();
    assert_eq!(pieces, ["Hi ", "there, ", "friend"]);
    let expected = Completion {
        text: "Hi there, friend".to_owned(),
        tool_calls: Vec::new(),
        model: "chat".to_owned(),
        configured: "chat".to_owned(),
        usage: Usage {
            prompt: 100,
            completion: 10,
            cached: 0,
        },
        failed: Vec::new(),
        truncated: false,
        withheld: false,
    };
    assert_eq!(answer, expected);
    server.finish();
}

#[tokio::test]
async fn text_is_handed_on_before_the_stream_ends() {
    let server = start().await;
    let gate = Gate::closed();
    server
        .expects(anything)
        .replies(Reply::text("one two").paused(&gate));
    let mut pieces = 0;
    let answer = model(&server.config())
        .complete(&ask("Count"), &mut |_| {
            pieces += 1;
            // Without this piece the gate would stay closed forever.
            gate.pass_one();
            if pieces == 2 {
                gate.open();
            }
        })
        .await;
    assert_eq!(answer.unwrap().text, "one two");
    server.finish();
}

#[tokio::test]
async fn the_utility_model_is_asked_by_its_name() {
    let server = start().await;
    server
        .expects(|request| request.model() == "utility")
        .answers("short");
    let request = ChatRequest {
        purpose: Purpose::Utility,
        ..ask("Summarise")
    };
    complete(&model(&server.config()), &request).await.unwrap();
    server.finish();
}

#[tokio::test]
async fn calls_tools_in_two_rounds() {
    let server = start().await;
    let first = [
        ("search", json!({"q": "a"})),
        ("search", json!({"q": "\u{1f426} \"b\""})),
    ];
    server
        .expects(|request| request.tools() == ["search"] && request.tool_results().is_empty())
        .calls(&first);
    server
        .expects(|request| request.tool_results() == ["one", "two"])
        .calls(&[("search", json!({"q": "c"}))]);
    server
        .expects(|request| request.tool_results() == ["one", "two", "three"])
        .answers("All three.");
    let model = model(&server.config());
    let mut request = ask("Look it up");
    request.tools = vec![search()];
    for results in [&["one", "two"][..], &["three"]] {
        let answer = complete(&model, &request).await.unwrap();
        assert_eq!(answer.tool_calls.len(), results.len());
        let results = results.iter().zip(&answer.tool_calls).map(|(text, call)| {
            assert!(serde_json::from_str::<Value>(&call.arguments).unwrap()["q"].is_string());
            ChatMessage::Tool {
                call_id: call.id.clone(),
                text: (*text).to_owned(),
            }
        });
        let results: Vec<_> = results.collect();
        request.messages.push(ChatMessage::Assistant {
            text: answer.text,
            tool_calls: answer.tool_calls,
        });
        request.messages.extend(results);
    }
    assert_eq!(complete(&model, &request).await.unwrap().text, "All three.");
    server.finish();
}

#[tokio::test]
async fn takes_what_lenient_services_send() {
    let lines = [
        ": a comment that keeps the connection\n\n",
        "data: {\"choices\":[]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"reasoning_content\":\"hm\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":null,\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"search\",\"arguments\":{\"q\":1}}}]}}],\"new\":{}}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"Looking\"},\"finish_reason\":\"quite_done\"}]}\n\n",
        "data: [DONE]\n\n",
    ];
    let answer = outcome(Reply::events(lines)).await.unwrap();
    assert_eq!(answer.text, "Looking");
    let call = ToolCall {
        id: "call_0_".to_owned(),
        name: "search".to_owned(),
        arguments: "{\"q\":1}".to_owned(),
    };
    assert_eq!(answer.tool_calls, [call]);
    assert!(
        answer.usage.prompt > 0 && answer.usage.completion > 0,
        "estimated"
    );
    assert_eq!(answer.model, "chat");
}

#[tokio::test]
async fn odd_text_goes_both_ways_unchanged() {
    let odd = "quote \" back\\slash \u{1f9d1}\u{200d}\u{1f4bb} \u{5e9}\u{5dc} \0 \u{202e}x\r\n\ndata: [DONE]";
    let server = start().await;
    server
        .expects(move |request| request.last_user() == odd)
        .replies(Reply::chunks([odd, odd]));
    let answer = complete(&model(&server.config()), &ask(odd)).await.unwrap();
    assert_eq!(answer.text, [odd, odd].concat());
    server.finish();
}

#[tokio::test]
async fn the_limit_of_tokens_makes_a_truncated_answer() {
    let answer = outcome(Reply::text("and then").finish("length"))
        .await
        .unwrap();
    assert!(answer.truncated);
}

#[tokio::test]
async fn a_temperature_is_sent_only_where_one_is_set_and_left_out_where_it_is_refused() {
    let server = start().await;
    server
        .expects(|request| request.body.get("temperature").is_none())
        .answers("as you like");
    complete(&model(&server.config()), &ask("one"))
        .await
        .unwrap();

    let mut config = server.config();
    config.sampling.temperature = Some(0.25);
    let model = model(&config);
    server
        .expects(|request| request.body["temperature"] == 0.25)
        .replies(Reply::refusal(
            400,
            "unsupported_value",
            "'temperature' does not support 0.25",
        ));
    server
        .expects(|request| request.body.get("temperature").is_none())
        .answers("by myself");
    let answer = complete(&model, &ask("two")).await.unwrap();
    assert_eq!(answer.text, "by myself");
    server.finish();
}

#[tokio::test]
async fn each_setting_of_sampling_that_a_model_refuses_is_left_out_alone() {
    let server = start().await;
    let mut config = server.config();
    config.sampling.temperature = Some(0.7);
    let model = model(&config);
    let request = ChatRequest {
        sampling: Sampling {
            temperature: Some(0.0),
            top_p: Some(0.9),
            seed: Some(7),
            stop: Some(vec!["---".to_owned()]),
        },
        ..ask("one")
    };
    let sent = |request: &crate::support::model_server::ModelServerRequest| {
        ["temperature", "top_p", "seed", "stop"].map(|key| request.body.get(key).cloned())
    };
    let all = [json!(0.0), json!(0.9), json!(7), json!(["---"])].map(Some);
    let mut expected = all.clone();
    let refusals = [
        (
            1,
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        ),
        (
            3,
            "Unsupported parameter: 'stop' is not supported with this model.",
        ),
        (2, "Unknown name \"seed\": Cannot find field."),
        (
            0,
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        ),
    ];
    for (left_out, refusal) in refusals {
        let now = expected.clone();
        server
            .expects(move |request| sent(request) == now)
            .replies(Reply::refusal(400, "unsupported_parameter", refusal));
        expected[left_out] = None;
    }
    for _again in 0..2 {
        server
            .expects(move |request| sent(request) == [None, None, None, None])
            .answers("by myself");
        assert_eq!(complete(&model, &request).await.unwrap().text, "by myself");
    }
    server.finish();
}
