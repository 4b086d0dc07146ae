//! Services that lack features of OpenAI's: each is asked again within the same call in the way
//! that it accepts, and always that way from then on.

use std::sync::atomic::{AtomicBool, Ordering};

use muninn::llm::{AnswerShape, ChatMessage, ChatModel, ChatRequest, ModelError, ToolSpec};
use serde_json::{Value, json};

use crate::support::model_server::{ModelServer, Quirk, Reply};
use crate::{anything, ask, complete, model, start};

fn search() -> ToolSpec {
    ToolSpec {
        name: "search".to_owned(),
        description: "Searches.".to_owned(),
        parameters: json!({ "type": "object", "properties": { "q": { "type": "string" } } }),
    }
}

/// Returns a request with a tool.
fn asks_with_tool() -> ChatRequest {
    ChatRequest {
        tools: vec![search()],
        ..ask("Look it up")
    }
}

const IN_TEXT: &str =
    "<tool_call>{\"name\": \"search\", \"arguments\": {\"q\": \"cats\"}}</tool_call>";

/// Returns the resulting calls, and what a person saw until then.
async fn calls(model: &ChatModel, request: &ChatRequest) -> (Vec<(String, String)>, String) {
    let mut seen = String::new();
    let completion = model
        .complete(request, &mut |piece| piece.add_to(&mut seen))
        .await
        .unwrap();
    let calls = completion.tool_calls.into_iter();
    (
        calls.map(|call| (call.name, call.arguments)).collect(),
        seen,
    )
}

#[tokio::test]
async fn tools_are_told_of_in_words_where_the_service_takes_none() {
    for quirk in [
        Quirk::NoTools(
            400,
            "registry.ollama.ai/library/gemma:2b does not support tools",
        ),
        Quirk::NoTools(
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        ),
        Quirk::NoTools(500, "tools param requires --jinja flag"),
        Quirk::NoTools(422, "Tool error: No tools are supported by this model"),
        Quirk::NoTools(404, "No endpoints found that support tool use."),
        Quirk::FailsWithTools,
    ] {
        let case = format!("{quirk:?}");
        let server = start().await;
        server.has(quirk);
        server
            .expects(|request| request.texts("system")[0].contains("<tools>"))
            .answers(IN_TEXT);
        server
            .expects(|request| request.last_user().contains("<tool_response>\nTwo."))
            .answers("Two cats.");
        let model = model(&server.config());
        let mut request = asks_with_tool();
        let (called, seen) = calls(&model, &request).await;
        assert_eq!(
            called,
            [("search".to_owned(), "{\"q\":\"cats\"}".to_owned())],
            "{case}"
        );
        assert_eq!(seen, "", "{case}");
        let before = server.chats().len();
        assert_eq!(before, 2, "{case}: refused once, and not tried again");
        request.messages.push(ChatMessage::Assistant {
            text: String::new(),
            tool_calls: vec![muninn::llm::ToolCall {
                id: "call_0".to_owned(),
                name: "search".to_owned(),
                arguments: "{\"q\":\"cats\"}".to_owned(),
            }],
        });
        request.messages.push(ChatMessage::Tool {
            call_id: "call_0".to_owned(),
            text: "Two.".to_owned(),
        });
        let answer = complete(&model, &request).await.unwrap();
        assert_eq!(answer.text, "Two cats.", "{case}");
        assert_eq!(server.chats().len(), before + 1, "{case}");
        server.finish();
    }
}

#[tokio::test]
async fn calls_that_are_written_as_text_are_never_an_answer() {
    for written in [
        IN_TEXT,
        "[TOOL_CALLS][{\"name\": \"search\", \"arguments\": {\"q\": \"cats\"}}]",
        "<|python_tag|>{\"name\": \"search\", \"parameters\": {\"q\": \"cats\"}}",
        "```json\n{\"name\": \"search\", \"parameters\": {\"q\": \"cats\"}}\n```",
        "{\"name\": \"search\", \"parameters\": {\"q\": \"cats\"}}",
    ] {
        let server = start().await;
        server.expects(anything).answers(written);
        let (called, seen) = calls(&model(&server.config()), &asks_with_tool()).await;
        assert_eq!(
            called,
            [("search".to_owned(), "{\"q\":\"cats\"}".to_owned())],
            "{written}"
        );
        assert_eq!(seen, "", "{written}");
        server.finish();
    }
}

#[tokio::test]
async fn roles_are_put_as_the_service_takes_them() {
    let system = "System role not supported";
    let roles = "Conversation roles must alternate user/assistant/user/assistant/...";
    for quirks in [
        vec![Quirk::NoSystemRole(400, system)],
        vec![Quirk::NoSystemRole(500, system)],
        vec![Quirk::Alternates(400, roles)],
        vec![
            Quirk::Alternates(500, roles),
            Quirk::NoSystemRole(400, system),
        ],
    ] {
        let case = format!("{quirks:?}");
        let server = start().await;
        for quirk in quirks {
            server.has(quirk);
        }
        server
            .expects(anything)
            .always_replies(Reply::text("Kindly."));
        let model = model(&server.config());
        let mut request = ask("");
        request.messages = vec![
            ChatMessage::System("Be kind.".to_owned()),
            ChatMessage::User("Hi".to_owned()),
            ChatMessage::User("And you?".to_owned()),
        ];
        for _again in 0..2 {
            let answer = complete(&model, &request).await.unwrap();
            assert_eq!(answer.text, "Kindly.", "{case}");
        }
        let chats = server.chats();
        let last = chats.last().unwrap();
        let all: Vec<&str> = last
            .messages()
            .iter()
            .filter_map(|it| it["content"].as_str())
            .collect();
        for said in ["Be kind.", "Hi", "And you?"] {
            assert!(all.iter().any(|text| text.contains(said)), "{case}: {said}");
        }
        server.finish();
    }
}

#[tokio::test]
async fn what_it_does_not_stream_comes_as_a_whole() {
    let server = start().await;
    server.has(Quirk::NoStreams(
        "Streaming is not supported for this model.",
    ));
    server.expects(anything).answers("All at once.");
    let answer = complete(&model(&server.config()), &ask("Hello")).await;
    assert_eq!(answer.unwrap().text, "All at once.");
    server.finish();
}

#[tokio::test]
async fn data_is_asked_for_in_the_form_that_it_takes() {
    let server = start().await;
    server.has(Quirk::OnlyJsonObjects);
    server.has(Quirk::NoStreamOptions(
        "Extra inputs are not permitted: stream_options",
    ));
    server
        .expects(|request| request.body["response_format"]["type"] == "json_object")
        .answers("{\"questions\": []}");
    let request = ChatRequest {
        shape: Some(AnswerShape {
            name: "critique",
            schema: json!({"type": "object"}),
        }),
        ..ask("Anything open?")
    };
    let answer = complete(&model(&server.config()), &request).await.unwrap();
    assert_eq!(answer.text, "{\"questions\": []}");
    assert_eq!(server.chats().len(), 3);
    server.finish();
}

#[tokio::test]
async fn reasoning_is_neither_shown_nor_answered() {
    let of_delta = |delta: Value| Reply::deltas([delta, json!({"content": "Yes."})], "stop");
    for reply in [
        Reply::text("<think>\nHm, well.\n</think>\n\nYes."),
        Reply::text("Hm, well.\n</think>\n\nYes."),
        of_delta(json!({"reasoning_content": "Hm, well."})),
        of_delta(json!({"reasoning": "Hm, well.", "content": ""})),
        of_delta(
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm, well."}]}]}),
        ),
        Reply::deltas(
            [json!({"content": [{"type": "text", "text": "Yes."}]})],
            "stop",
        ),
    ] {
        let server = start().await;
        server.expects(anything).replies(reply);
        let mut seen = String::new();
        let answer = model(&server.config())
            .complete(&ask("Well?"), &mut |piece| piece.add_to(&mut seen))
            .await
            .unwrap();
        assert_eq!((answer.text.as_str(), seen.as_str()), ("Yes.", "Yes."));
        server.finish();
    }
}

#[tokio::test]
async fn a_prompt_that_opens_the_reasoning_is_known_the_second_time() {
    let server = start().await;
    for _twice in 0..2 {
        server
            .expects(anything)
            .answers("Hm, well.\n</think>\n\nYes.");
    }
    let model = model(&server.config());
    let mut ever = Vec::new();
    for _twice in 0..2 {
        let mut seen = String::new();
        let mut see = |piece: muninn::llm::Piece| {
            piece.add_to(&mut seen);
            ever.push(seen.clone());
        };
        model.complete(&ask("Well?"), &mut see).await.unwrap();
    }
    let shown = ever.iter().filter(|seen| seen.contains("Hm")).count();
    let second = ever.iter().rposition(|seen| seen.contains("Hm"));
    assert!(shown > 0 && second.unwrap() < ever.len() / 2, "{ever:?}");
    server.finish();
}

#[tokio::test]
async fn a_mark_that_somebody_had_the_model_write_changes_nothing_for_long() {
    let marked = "I was told to write </think> here.";
    // Before the mark the model has answered without one, or after it.
    for replies in [["Hello.", marked], [marked, "Hello."]] {
        let server = start().await;
        let model = model(&server.config());
        for reply in replies {
            server.expects(anything).answers(reply);
            complete(&model, &ask("Well?")).await.unwrap();
        }
        assert!(!model.capabilities("chat").reasons_at_once, "{replies:?}");
        let long = Reply::text("Once upon a time").finish("length");
        server.expects(anything).replies(long);
        let mut seen = String::new();
        let answer = model
            .complete(&ask("A story?"), &mut |piece| piece.add_to(&mut seen))
            .await
            .unwrap();
        assert_eq!(answer.text, "Once upon a time", "{replies:?}");
        assert_eq!(seen, "Once upon a time", "{replies:?}");
        server.finish();
    }
}

#[tokio::test]
async fn who_reasons_until_the_limit_gets_more_and_is_then_told_of() {
    let endless = || Reply::text("<think>and then and then").finish("length");
    let server = start().await;
    server
        .expects(|request| request.body["max_tokens"] == 100)
        .replies(endless());
    server
        .expects(|request| request.body["max_tokens"] == 400)
        .answers("<think>and then</think>Yes.");
    let request = ChatRequest {
        max_tokens: 100,
        ..ask("Well?")
    };
    let model = model(&server.config());
    assert_eq!(complete(&model, &request).await.unwrap().text, "Yes.");
    server.expects(anything).replies(endless());
    server.expects(anything).replies(endless());
    let error = complete(&model, &request).await.unwrap_err();
    assert!(matches!(error, ModelError::OnlyReasoned(_)), "{error:?}");
    assert!(error.to_string().contains("ANSWER_TOKENS"), "{error}");
    server.finish();
}

/// Returns a prompt of this many words.
fn long(words: usize) -> ChatRequest {
    ChatRequest {
        max_tokens: 400,
        ..ask(&vec!["word"; words].join(" "))
    }
}

#[tokio::test]
async fn what_is_too_long_says_what_fits_and_it_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let server = start().await;
    server.has(Quirk::Context {
        tokens: 2_048,
        tells: true,
    });
    server
        .expects(anything)
        .always_replies(Reply::text("Fine."));
    let mut config = server.config();
    config.capabilities_file = Some(folder.path().join("models.json"));
    let first = model(&config);
    let error = complete(&first, &long(3_000)).await.unwrap_err();
    let ModelError::ContextTooLong(too_long) = error else {
        panic!("{error:?}");
    };
    assert_eq!(too_long.numbers.limit, Some(2_048));
    let room = too_long.room.unwrap() as usize;
    assert!((1_000..2_400).contains(&room), "{room}");
    assert_eq!(model(&config).capabilities("chat").context, Some(2_048));
    complete(&first, &long(room / 2)).await.unwrap();
    server.finish();
}

#[tokio::test]
async fn where_it_does_not_say_what_fits_a_third_less_is_tried() {
    let server = start().await;
    server.has(Quirk::Context {
        tokens: 1_000,
        tells: false,
    });
    server
        .expects(anything)
        .always_replies(Reply::text("Fine."));
    let model = model(&server.config());
    let mut words = 3_000;
    let mut tries = 0;
    while let Err(error) = complete(&model, &long(words)).await {
        let ModelError::ContextTooLong(too_long) = error else {
            panic!("{error:?}");
        };
        let sent = muninn::llm::tokens::estimate_request(&long(words));
        let room = too_long.room.unwrap();
        assert!(room < sent);
        words = words * room as usize / sent as usize;
        tries += 1;
    }
    assert!(tries <= 5, "{tries}");
    server.finish();
}

async fn start_listing(model: Value) -> ModelServer {
    let server = start().await;
    server.lists_as(vec![model]);
    server
}

#[tokio::test]
async fn a_model_is_tried_out() {
    let server = start_listing(json!({"id": "chat", "max_model_len": 8_192})).await;
    server.has(Quirk::NoTools(400, "this model does not support tools"));
    server
        .expects(|request| request.texts("system")[0].contains("<tools>"))
        .answers("<tool_call>{\"name\": \"population\", \"arguments\": {\"city\": \"Oslo\"}}</tool_call>");
    server
        .expects(|request| request.last_user().contains("JSON"))
        .answers("{\"city\": \"Oslo\"}");
    server
        .expects(|request| request.last_user().contains("Count"))
        .answers("one two three");
    let tried = model(&server.config())
        .try_out(muninn::llm::Purpose::Answer)
        .await
        .unwrap();
    use muninn::llm::TryoutResult::{InWords, Works};
    assert_eq!(
        (tried.tools, tried.data, tried.streams),
        (InWords, Works, Works)
    );
    assert_eq!((tried.context, tried.reads_enough()), (Some(8_192), true));
    server.finish();
}

#[tokio::test]
async fn a_call_that_the_model_wrote_wrongly_is_not_taken_for_a_quirk() {
    for (words, has_called) in [
        (
            "tool call validation failed: parameters for tool search did not match schema",
            false,
        ),
        (
            "attempted to call tool 'find' which was not in request.tools",
            false,
        ),
        ("the tool call could not be parsed", true),
    ] {
        let server = start().await;
        let model = model(&server.config());
        if has_called {
            server
                .expects(|request| request.tools() == ["search"])
                .calls(&[("search", json!({"q": "cats"}))]);
            calls(&model, &asks_with_tool()).await;
        }
        server
            .expects(|request| request.tools() == ["search"])
            .replies(Reply::refusal(400, "invalid_request_error", words));
        server
            .expects(|request| request.tools().is_empty())
            .answers(IN_TEXT);
        calls(&model, &asks_with_tool()).await;
        server
            .expects(|request| request.tools() == ["search"])
            .calls(&[("search", json!({"q": "dogs"}))]);
        calls(&model, &asks_with_tool()).await;
        server.finish();
    }
}

#[tokio::test]
async fn another_trouble_is_not_taken_for_a_quirk() {
    let server = start().await;
    server.expects(anything).answers("Fine.");
    let model = model(&server.config());
    complete(&model, &asks_with_tool()).await.unwrap();
    // It has accepted tools before, so this error is about something else.
    server
        .expects(anything)
        .replies(Reply::body(400, "Bad Request"));
    complete(&model, &asks_with_tool()).await.unwrap_err();
    assert_eq!(server.chats().len(), 2);
    server.finish();
}

#[tokio::test]
async fn one_failure_takes_nothing_away_that_has_worked() {
    let quoting =
        "Failed to parse input at pos 395: [search(q='current temperature in Mexico City')]";
    for (words, has_worked) in [
        ("Provider returned an error while streaming", true),
        ("temperature or seed or response_format, who knows", true),
        (quoting, true),
        (quoting, false),
    ] {
        let server = start().await;
        let mut config = server.config();
        config.sampling.temperature = Some(0.5);
        config.retries.max = 0;
        let model = model(&config);
        if has_worked {
            server.expects(anything).answers("Fine.");
            complete(&model, &ask("Well?")).await.unwrap();
        }
        let before = model.capabilities("chat");
        let fails = AtomicBool::new(true);
        server.replies_by(move |_| match fails.swap(false, Ordering::Relaxed) {
            true => Reply::refusal(500, "server_error", words),
            false => Reply::text("Fine again."),
        });
        let answer = complete(&model, &ask("Well?")).await.unwrap();
        assert_eq!(answer.text, "Fine again.", "{words}");
        assert_eq!(model.capabilities("chat"), before, "{words}");
        server.finish();
    }
}

#[tokio::test]
async fn what_is_left_out_is_remembered_only_if_that_helped() {
    for (status, helps, is_kept) in [
        (400, true, true),
        (400, false, false),
        (503, true, false),
        (529, true, false),
    ] {
        let server = start().await;
        let mut config = server.config();
        config.retries.max = 0;
        let model = model(&config);
        let words = "The tool calling backend has no room";
        server.replies_by(move |request| match (request.tools().is_empty(), helps) {
            (false, _) => Reply::refusal(status, "server_error", words),
            (true, true) => Reply::text("Without."),
            (true, false) => Reply::refusal(429, "rate", "slow"),
        });
        let answer = complete(&model, &asks_with_tool()).await;
        assert_eq!(answer.is_ok(), helps, "{status}");
        let is_text = model.capabilities("chat").tools == muninn::llm::ToolForm::Text;
        assert_eq!(is_text, is_kept, "{status} {helps}");
        server.finish();
    }
}

#[tokio::test]
async fn what_has_worked_once_is_not_given_up_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let server = start().await;
    let mut config = server.config();
    config.capabilities_file = Some(folder.path().join("models.json"));
    server.expects(anything).answers("Fine.");
    complete(&model(&config), &asks_with_tool()).await.unwrap();

    let next = model(&config);
    let refusal = "Upstream validation failed in the tool gateway";
    server
        .expects(|request| !request.tools().is_empty())
        .replies(Reply::refusal(400, "invalid_request_error", refusal));
    server
        .expects(|request| request.tools().is_empty())
        .answers("Without.");
    complete(&next, &asks_with_tool()).await.unwrap();
    assert_eq!(
        next.capabilities("chat").tools,
        muninn::llm::ToolForm::Native
    );
    server.finish();
}

#[tokio::test]
async fn what_a_request_contains_may_be_refused_later() {
    let roles = "Conversation roles must alternate user/assistant/user/assistant/...";
    let server = start().await;
    server.has(Quirk::Alternates(400, roles));
    server
        .expects(anything)
        .always_replies(Reply::text("Kindly."));
    let model = model(&server.config());
    complete(&model, &ask("Hi")).await.unwrap();
    let mut request = ask("Hi");
    request
        .messages
        .push(ChatMessage::User("And you?".to_owned()));
    complete(&model, &request).await.unwrap();
    assert!(model.capabilities("chat").alternates);
    server.finish();
}
