//! Programs that ask for somebody by the Model Context Protocol: over HTTP, and as `muninn mcp` on
//! stdin and stdout.

use std::net::TcpListener;
use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::admin::serving;
use crate::home::{CliProcess, Home, eventually};
use crate::support::mcp::{McpClient, answer};
use crate::support::model_server::{Gate, ModelServer, Reply};
use crate::support::program::free_address;

const CODE: &str = "The code of the coffee machine is 4711.";
const QUESTION: &str = "What is the code of the coffee machine?";
const TOOLS: [&str; 5] = [
    "search_memory",
    "search_knowledge",
    "ask",
    "list_sources",
    "remember",
];

pub(crate) async fn stops(serving: CliProcess) {
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

/// Returns how many answers and notes are kept.
async fn kept(home: &Home) -> usize {
    let all = home.export().await;
    let is_response = |name: &&String| name.starts_with("[\"Response\"]");
    all.nodes.keys().filter(is_response).count()
}

/// The account at the terminal of a [`Home`].
const ADA: &str = "terminal/ada";

/// Starts a bot that serves programs, and one of them with a token of Ada's.
pub(crate) async fn with_program(home: Home) -> (Home, CliProcess, McpClient) {
    let address = free_address();
    let home = home
        .with("TERMINAL_SOCKET", "socket")
        .with("USER", "ada")
        .with("MCP_ADDR", &address);
    let serving = serving(&home).await;
    let token = token(&home, &[]).await;
    let program = McpClient::new(&address, &token);
    (home, serving, program)
}

async fn token(home: &Home, more: &[&str]) -> String {
    let create = [&["mcp", "token", "create", ADA], more].concat();
    let made = home.run(&create, "").await;
    let token = made.succeeds().trim().to_owned();
    assert!(token.starts_with("muninn-mcp-"), "{token}");
    token
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_says_where_programs_ask() {
    let address = free_address();
    let mut home = Home::new().with("TERMINAL_SOCKET", "socket");
    let found = async |home: &Home, line: String| {
        let doctor = home.run(&["doctor"], "").await;
        assert!(doctor.out.contains(&line), "{line}: {doctor:?}");
    };
    // The running process does not have the setting yet.
    let running = serving(&home).await;
    home.set("MCP_ADDR", &address);
    found(
        &home,
        format!("PROBLEM  programs: nobody listens on {address}: the process that runs"),
    )
    .await;
    stops(running).await;
    found(
        &home,
        format!("programs: `muninn serve` will serve them at http://{address}"),
    )
    .await;
    let other = TcpListener::bind(&address).unwrap();
    found(
        &home,
        format!("PROBLEM  programs: cannot listen on {address} (MCP_ADDR)"),
    )
    .await;
    drop(other);
    let running = serving(&home).await;
    found(&home, format!("programs: at http://{address}")).await;
    stops(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_says_which_addresses_cannot_be_listened_on() {
    let (shared, taken) = (free_address(), free_address());
    let mut home = Home::new()
        .with("TERMINAL_SOCKET", "socket")
        .with("MCP_ADDR", &shared)
        .with("HTTP_ADDR", &shared)
        .with("WEBHOOK_ADDR", &taken)
        .with("WEBHOOK_SECRET", "a secret of thirty-two characters")
        .with("WEBHOOK_ANSWER_URL", "http://127.0.0.1:9/");
    let other = TcpListener::bind(&taken).unwrap();
    let doctor = home.run(&["doctor"], "").await;
    for problem in [
        format!("PROBLEM  metrics: cannot listen on {shared} (HTTP_ADDR)"),
        format!("PROBLEM  webhook: cannot listen on {taken} (WEBHOOK_ADDR)"),
    ] {
        assert!(doctor.out.contains(&problem), "{problem}: {doctor:?}");
    }
    drop(other);
    home.set("HTTP_ADDR", free_address());
    let doctor = home.run(&["doctor"], "").await;
    assert!(!doctor.out.contains("cannot listen"), "{doctor:?}");
    let will = format!("webhook: `muninn serve` will listen on {taken}");
    assert!(doctor.out.contains(&will), "{doctor:?}");
}

/// Where nobody can be asked who may read what, a token would read nothing.
#[cfg(feature = "webhook")]
#[tokio::test(flavor = "multi_thread")]
async fn who_asks_over_the_webhook_gets_no_token() {
    let secret = "a secret of thirty-two characters";
    let (told, mut tells) = tokio::sync::mpsc::unbounded_channel();
    let router = axum::Router::new().route(
        "/",
        axum::routing::post(async move |body: String| told.send(body).unwrap()),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let answers = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let address = free_address();
    let home = Home::new()
        .with("MCP_ADDR", free_address())
        .with("WEBHOOK_ADDR", &address)
        .with("WEBHOOK_SECRET", secret)
        .with("WEBHOOK_ANSWER_URL", answers);
    let serving = serving(&home).await;
    let message = json!({
        "id": "1", "channel": "support", "author": {"id": "ada"}, "text": "/mcp token",
    });
    let message = message.to_string();
    eventually("the webhook", async || {
        let now = chrono::Utc::now().timestamp();
        let signature = muninn_webhook::sign(&secret.into(), now, message.as_bytes());
        let posted = reqwest::Client::new()
            .post(format!("http://{address}/messages"))
            .header("Muninn-Signature", signature)
            .body(message.clone())
            .send()
            .await;
        (posted.ok()?.status() == StatusCode::ACCEPTED).then_some(())
    })
    .await;
    let answer = loop {
        let body: Value = serde_json::from_str(&tells.recv().await.unwrap()).unwrap();
        if let Some(text) = body["text"].as_str() {
            break text.to_owned();
        }
    };
    assert!(
        answer.starts_with("I cannot give you a token here"),
        "{answer}"
    );
    stops(serving).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_searches_asks_and_notes_over_http() {
    let home = Home::new();
    home.chat(&[], &[CODE]).await.succeeds();
    let (home, serving, program) = with_program(home.with("USER", "ada")).await;

    let listed = answer(&program.lists().await.text().await.unwrap());
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, TOOLS);

    let sources = program.calls("list_sources", json!({})).await;
    assert_eq!(
        sources.structured["places"][0]["id"], "terminal",
        "{sources:?}"
    );
    let found = program
        .calls("search_memory", json!({"query": QUESTION}))
        .await;
    assert!(found.text.contains("4711"), "{found:?}");
    assert_eq!(found.structured["results"][0]["said"], CODE);

    // Without a model it quotes, and returns what the answer was made from.
    let asked = program.calls("ask", json!({"question": QUESTION})).await;
    assert!(asked.text.contains("4711") && !asked.is_error, "{asked:?}");
    assert_eq!(asked.structured["recalled"][0]["said"], CODE);
    let on =
        json!({"question": "What was that?", "conversation": asked.structured["conversation"]});
    let goes_on = program.calls("ask", on).await;
    assert_eq!(
        goes_on.structured["conversation"],
        asked.structured["conversation"]
    );

    let noted = program
        .calls(
            "remember",
            json!({"text": "The boiler is serviced on Thursday."}),
        )
        .await;
    assert!(noted.text.starts_with("Noted"), "{noted:?}");
    // It has no channel, and gives no commands.
    assert!(!noted.text.contains("forget last"), "{noted:?}");
    let found = program
        .calls(
            "search_memory",
            json!({"query": "When is the boiler serviced?"}),
        )
        .await;
    assert!(found.text.contains("Thursday"), "{found:?}");

    // Its questions are not commands, whatever they say.
    let asked = program
        .calls("ask", json!({"question": "forget me yes"}))
        .await;
    assert!(!asked.text.contains("Forgotten"), "{asked:?}");
    let found = program
        .calls("search_memory", json!({"query": QUESTION}))
        .await;
    assert!(found.text.contains("4711"), "{found:?}");

    for (tool, arguments, why) in [
        ("ask", json!({"question": " "}), "question is empty"),
        ("ask", json!({"query": "x"}), "unknown field"),
        (
            "ask",
            json!({"question": "x", "call_id": "a b"}),
            "call_id must be",
        ),
        (
            "search_memory",
            json!({"query": "x", "place": "cellar"}),
            "no place",
        ),
        ("delete", json!({}), "there is no tool"),
    ] {
        let refused = program.calls(tool, arguments).await;
        assert!(
            refused.is_error && refused.text.contains(why),
            "{refused:?}"
        );
    }
    stops(serving).await;
    drop(home);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_comes_in_without_a_token_that_holds_or_from_another_place() {
    let (home, serving, program) = with_program(Home::new()).await;
    let list = || program.posts("tools/list", &json!({}));
    let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status();

    assert_eq!(program.lists().await.status(), StatusCode::OK);
    for (header, value) in [
        (HOST, "evil.example"),
        (ORIGIN, "https://evil.example"),
        (ORIGIN, "null"),
    ] {
        let refused = status(list().header(header, value)).await;
        assert_eq!(refused, StatusCode::FORBIDDEN, "{value}");
    }
    let port = program.url.rsplit(':').next().unwrap();
    let own = format!("http://127.0.0.1:{}", port.trim_end_matches("/mcp"));
    assert_eq!(status(list().header(ORIGIN, own)).await, StatusCode::OK);

    let none = program.posts("tools/list", &json!({})).build().unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for said in [
        None,
        Some("Bearer x"),
        Some("Basic x"),
        Some("Bearer muninn-mcp-0123"),
    ] {
        let mut request = none.try_clone().unwrap();
        request.headers_mut().remove(AUTHORIZATION);
        if let Some(said) = said {
            request
                .headers_mut()
                .insert(AUTHORIZATION, said.parse().unwrap());
        }
        let refused = client.execute(request).await.unwrap();
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{said:?}");
        let challenge = refused.headers()[WWW_AUTHENTICATE].to_str().unwrap();
        assert!(
            challenge.starts_with("Bearer realm=\"muninn\""),
            "{challenge}"
        );
        assert!(
            !refused
                .headers()
                .contains_key("access-control-allow-origin")
        );
    }
    // There are no sessions.
    let got = client
        .get(&program.url)
        .bearer_auth(&program.token)
        .send()
        .await
        .unwrap();
    assert_eq!(got.status(), StatusCode::METHOD_NOT_ALLOWED);
    let large = list().body("x".repeat(300 * 1024)).send().await.unwrap();
    assert_eq!(large.status(), StatusCode::PAYLOAD_TOO_LARGE);

    // Expired tokens, tokens of another place, and revoked ones.
    let short = program.with_token(token(&home, &["--expires", "1s"]).await);
    eventually("the token's end", async || {
        (short.lists().await.status() == StatusCode::UNAUTHORIZED).then_some(())
    })
    .await;
    let elsewhere = token(&home, &["--place", "slack/T1/C1"]).await;
    let elsewhere = program.with_token(elsewhere);
    let nothing = elsewhere
        .calls("search_memory", json!({"query": QUESTION}))
        .await;
    assert!(
        nothing.structured["results"].as_array().unwrap().is_empty(),
        "{nothing:?}"
    );
    let refused = elsewhere.calls("ask", json!({"question": QUESTION})).await;
    assert!(refused.is_error, "{refused:?}");

    let listed = home.run(&["mcp", "token", "list", "--json"], "").await;
    let listed: Value = serde_json::from_str(listed.succeeds()).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    assert!(
        !listed
            .to_string()
            .contains(&program.token["muninn-mcp-".len()..])
    );
    let id = listed[0]["id"].as_str().unwrap();
    home.run(&["mcp", "token", "revoke", id], "")
        .await
        .succeeds();
    assert_eq!(program.lists().await.status(), StatusCode::UNAUTHORIZED);
    home.run(&["mcp", "token", "revoke", "nobody"], "")
        .await
        .fails(1, &["no token"]);
    let audit = home.run(&["audit"], "").await;
    let audit = audit.succeeds();
    assert!(
        audit.contains("made a token") && audit.contains("revoked a token"),
        "{audit}"
    );

    // Exports of the graph do not contain them.
    home.run(&["export", "all.jsonl"], "").await.succeeds();
    let exported = std::fs::read_to_string(home.path("all.jsonl")).unwrap();
    assert!(!exported.contains("MuninnToken"), "{exported}");
    stops(serving).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_token_asks_so_often_and_no_more() {
    let (_home, serving, program) = with_program(Home::new()).await;
    let mut answered = 0;
    let limited = loop {
        let response = program.lists().await;
        match response.status() {
            StatusCode::OK => answered += 1,
            _ => break response,
        }
        assert!(answered < 200, "no limit");
    };
    assert_eq!(limited.status(), StatusCode::TOO_MANY_REQUESTS);
    assert!(limited.headers().contains_key("retry-after"));
    assert!(answered >= 30, "{answered}");
    stops(serving).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn made_up_tokens_keep_no_program_out() {
    let (_home, serving, program) = with_program(Home::new()).await;
    assert_eq!(program.lists().await.status(), StatusCode::OK);
    for number in 0..300 {
        let made_up = program.with_token(format!("muninn-mcp-{number:064}"));
        let refused = made_up.lists().await.status();
        let is_refused = [StatusCode::UNAUTHORIZED, StatusCode::TOO_MANY_REQUESTS];
        assert!(is_refused.contains(&refused), "{refused}");
    }
    assert_eq!(program.lists().await.status(), StatusCode::OK);
    stops(serving).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_made_again_is_answered_once() {
    let server = ModelServer::start().await;
    let (home, serving, program) = with_program(Home::new().with_model(&server)).await;
    server.expects(|_| true).answers("At four.");
    let call = json!({"question": "When is tea?", "call_id": "tea-1"});
    let (one, other) = tokio::join!(
        program.calls("ask", call.clone()),
        program.calls("ask", call.clone())
    );
    let again = program.calls("ask", call).await;
    for called in [&one, &other, &again] {
        assert_eq!(
            (called.text.as_str(), called.is_error),
            ("At four.", false),
            "{called:?}"
        );
        assert_eq!(called.structured["id"], one.structured["id"]);
    }
    let note = json!({"text": "Tea is at four.", "call_id": "note-1"});
    for _ in 0..2 {
        assert!(!program.calls("remember", note.clone()).await.is_error);
    }
    // A note and a question may have the same ID, whichever is first.
    let green = json!({"text": "The tea is green.", "call_id": "tea-1"});
    let noted = program.calls("remember", green).await;
    assert!(!noted.is_error, "{noted:?}");
    server.expects(|_| true).answers("It is green.");
    let which = json!({"question": "Which tea is it?", "call_id": "note-1"});
    let asked = program.calls("ask", which).await;
    assert_eq!(asked.text, "It is green.", "{asked:?}");
    stops(serving).await;
    assert_eq!(kept(&home).await, 4, "two answers and two notes");
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_revoked_while_it_asks_gets_no_answer() {
    let server = ModelServer::start().await;
    let (home, serving, program) = with_program(Home::new().with_model(&server)).await;
    let gate = Gate::closed();
    let answer = Reply::chunks(["At ", "four."]).paused(&gate);
    server.expects(|_| true).replies(answer);
    let asking = program.clone();
    let asked = tokio::spawn(async move {
        let question = json!({"question": "When is tea?"});
        asking.calls("ask", question).await
    });
    server.arrived(1).await;
    home.run(&["mcp", "token", "revoke", ADA], "")
        .await
        .succeeds();
    gate.open();
    let called = asked.await.unwrap();
    assert!(called.is_error, "{called:?}");
    assert!(called.text.contains("is not valid"), "{called:?}");
    stops(serving).await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_given_up_is_answered_whole_when_it_is_made_again() {
    let server = ModelServer::start().await;
    let (_home, serving, program) = with_program(Home::new().with_model(&server)).await;
    let stuck = Reply::chunks(["At ", "four."]).paused(&Gate::closed());
    server.expects(|_| true).replies(stuck);
    let call = json!({"question": "When is tea?", "call_id": "tea-1"});
    let params = json!({"name": "ask", "arguments": call});
    let asked = tokio::spawn(program.posts("tools/call", &params).send());
    server.arrived(1).await;
    asked.abort();
    // With the response, if it has begun.
    drop(asked.await);
    server.abandoned(1).await;
    server.expects(|_| true).answers("At four.");
    let again = program.calls("ask", call).await;
    assert_eq!(
        (again.text.as_str(), again.is_error),
        ("At four.", false),
        "{again:?}"
    );
    stops(serving).await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_before_a_kill_is_answered_once() {
    let server = ModelServer::start().await;
    let (home, mut serving, program) = with_program(Home::new().with_model(&server)).await;
    server.expects(|_| true).replies(Reply::hang());
    let call = json!({"question": "When is tea?", "call_id": "tea-1"});
    let (asking, params) = (program.clone(), json!({"name": "ask", "arguments": call}));
    let asked = tokio::spawn(async move {
        let sent = asking.posts("tools/call", &params).send().await;
        match sent {
            Ok(response) => response.text().await.map(drop).is_ok(),
            Err(_) => false,
        }
    });
    server.arrived(1).await;
    serving.kill().await;
    let _cut_off = asked.await.unwrap();

    server.expects(|_| true).answers("At four.");
    let serving = crate::admin::serving(&home).await;
    let again = program.calls("ask", call).await;
    assert_eq!(again.text, "At four.", "{again:?}");
    stops(serving).await;
    assert_eq!(kept(&home).await, 1);
    server.finish();
}

/// Returns a line of the protocol.
fn line(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

async fn talks(program: &mut CliProcess) {
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    program.say(&line(0, "initialize", &hello)).await;
    let said: Value = serde_json::from_str(&program.line().await.unwrap()).unwrap();
    assert_eq!(said["result"]["serverInfo"]["name"], "muninn");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    program.say(&ready.to_string()).await;
}

async fn calls(program: &mut CliProcess, id: u64, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    program.say(&line(id, "tools/call", &params)).await;
    let said: Value = serde_json::from_str(&program.line().await.unwrap()).unwrap();
    assert_eq!(said["id"], id, "{said}");
    said["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_on_this_machine_asks_as_the_terminal_does_with_or_without_a_bot_that_runs() {
    let home = Home::new()
        .with("USER", "ada")
        .with("TERMINAL_SOCKET", "socket");
    let mut program = home.start(&["mcp"]);
    talks(&mut program).await;
    // This is the first message ever, and there is no other process.
    let noted = calls(&mut program, 1, "remember", json!({"text": CODE})).await;
    assert_eq!(noted["isError"], false, "{noted}");
    let asked = calls(&mut program, 2, "ask", json!({"question": QUESTION})).await;
    assert!(
        asked["structuredContent"]["answer"]
            .to_string()
            .contains("4711"),
        "{asked}"
    );
    drop(program.take_stdin());
    let ended = program.end().await;
    assert!(ended.status.success(), "{}", ended.err);

    // Another process has the graph, and it is restarted in between.
    let serving = serving(&home).await;
    let mut program = home.start(&["mcp"]);
    talks(&mut program).await;
    let found = calls(&mut program, 1, "search_memory", json!({"query": QUESTION})).await;
    assert!(found.to_string().contains("4711"), "{found}");
    stops(serving).await;
    let serving = crate::admin::serving(&home).await;
    let found = calls(&mut program, 2, "search_memory", json!({"query": QUESTION})).await;
    assert!(found.to_string().contains("4711"), "{found}");
    drop(program.take_stdin());
    assert!(program.end().await.status.success());
    stops(serving).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_on_this_machine_asks_for_whoever_its_token_is_of() {
    let (mut home, serving, program) = with_program(Home::new()).await;
    home.set("MUNINN_MCP_TOKEN", &program.token);
    let mut stdio = home.start(&["mcp"]);
    talks(&mut stdio).await;
    let listed = calls(&mut stdio, 1, "list_sources", json!({})).await;
    assert_eq!(listed["isError"], false, "{listed}");
    home.run(&["mcp", "token", "revoke", ADA], "")
        .await
        .succeeds();
    let refused = calls(&mut stdio, 2, "list_sources", json!({})).await;
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(refused.to_string().contains("not valid"), "{refused}");
    drop(stdio.take_stdin());
    stdio.end().await;
    stops(serving).await;
}

/// Returns the output of the official client.
async fn official(home: &Home, arguments: &[&str]) -> Value {
    let clients = std::env::var("MUNINN_MCP_CLIENT").expect("MUNINN_MCP_CLIENT");
    let script = format!("{clients}/client.mjs");
    run(home, &clients, &[&[script.as_str()], arguments].concat()).await
}

async fn run(home: &Home, clients: &str, arguments: &[&str]) -> Value {
    let node = format!("{clients}/node_modules/node/bin/node");
    let mut command = Command::new(node);
    command.args(arguments).current_dir(home.path(""));
    command
        .env("USER", "ada")
        .env("DATA_DIR", "./muninn-data")
        .kill_on_drop(true);
    let output = tokio::time::timeout(Duration::from_secs(120), command.output()).await;
    let output = output.expect("it ends").unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{failed}");
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}\n{failed}"))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the official client and inspector (MUNINN_MCP_CLIENT)"]
async fn the_official_client_and_inspector_ask_by_both_ways() {
    let (home, serving, program) = with_program(Home::new()).await;
    let (note, question) = (json!({"text": CODE}), json!({"question": QUESTION}));
    let query = json!({"query": QUESTION});
    let calls = [note.to_string(), question.to_string(), query.to_string()];
    let calls = [
        "remember",
        &calls[0],
        "ask",
        &calls[1],
        "search_memory",
        &calls[2],
    ];
    let binary = env!("CARGO_BIN_EXE_muninn");
    for way in [
        &["http", program.url.as_str(), program.token.as_str()][..],
        &["stdio", binary],
    ] {
        let outcome = official(&home, &[way, &calls].concat()).await;
        assert_eq!(outcome["server"]["name"], "muninn", "{outcome}");
        assert_eq!(outcome["tools"].as_array().unwrap().len(), TOOLS.len());
        let results = outcome["results"].as_array().unwrap();
        assert!(results.iter().all(|it| it["isError"] != true), "{outcome}");
        for result in &results[1..] {
            assert!(
                result["content"][0]["text"].to_string().contains("4711"),
                "{result}"
            );
            assert!(
                result["structuredContent"].to_string().contains("4711"),
                "{result}"
            );
        }
    }
    let clients = std::env::var("MUNINN_MCP_CLIENT").unwrap();
    let inspector = format!("{clients}/node_modules/.bin/mcp-inspector");
    let authorization = format!("Authorization: Bearer {}", program.token);
    let listing = ["--method", "tools/list"];
    let http = [
        inspector.as_str(),
        "--cli",
        &program.url,
        "--transport",
        "http",
        "--header",
        &authorization,
    ];
    let listed = run(&home, &clients, &[&http[..], &listing].concat()).await;
    assert_eq!(
        listed["tools"].as_array().unwrap().len(),
        TOOLS.len(),
        "{listed}"
    );
    let stdio = [inspector.as_str(), "--cli", binary, "mcp"];
    let asking = [
        "--method",
        "tools/call",
        "--tool-name",
        "search_memory",
        "--tool-arg",
    ];
    let argument = format!("query={QUESTION}");
    let found = run(
        &home,
        &clients,
        &[&stdio[..], &asking, &[&argument]].concat(),
    )
    .await;
    assert!(found.to_string().contains("4711"), "{found}");
    stops(serving).await;
}
