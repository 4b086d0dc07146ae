//! Traces as a collector receives them, parsed by the official schema.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Said;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::json;

use crate::home::Home;
use crate::programs::{stops, with_program};
use crate::support::mcp::answer;
use crate::support::model_server::{ModelServer, ModelServerRequest, Reply};

/// A trace collector.
struct Collector {
    address: String,
    requests: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
}

impl Collector {
    async fn start(answers: StatusCode) -> Self {
        let requests: Arc<Mutex<Vec<ExportTraceServiceRequest>>> = Arc::default();
        let take = async move |State(requests): State<Arc<Mutex<Vec<_>>>>, body: Bytes| {
            let request = ExportTraceServiceRequest::decode(body).unwrap();
            requests.lock().unwrap().push(request);
            answers
        };
        let router = Router::new()
            .route("/v1/traces", post(take))
            .with_state(Arc::clone(&requests));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, requests }
    }

    fn spans(&self) -> Vec<Span> {
        let requests = self.requests.lock().unwrap();
        let resources = requests.iter().flat_map(|it| &it.resource_spans);
        let scopes = resources.flat_map(|it| &it.scope_spans);
        scopes.flat_map(|it| it.spans.clone()).collect()
    }

    /// Returns the attributes of the service that sent them.
    fn service(&self) -> BTreeMap<String, String> {
        let requests = self.requests.lock().unwrap();
        let resource = requests[0].resource_spans[0].resource.clone().unwrap();
        let told = resource.attributes.into_iter();
        told.map(|it| (it.key, words(it.value.and_then(|it| it.value))))
            .collect()
    }
}

fn words(said: Option<Said>) -> String {
    match said {
        Some(Said::StringValue(said)) => said,
        Some(Said::IntValue(said)) => said.to_string(),
        Some(Said::BoolValue(said)) => said.to_string(),
        said => format!("{said:?}"),
    }
}

/// Returns the attributes of a span.
fn told(span: &Span) -> BTreeMap<&str, String> {
    let told = span.attributes.iter();
    told.map(|it| {
        (
            it.key.as_str(),
            words(it.value.clone().and_then(|it| it.value)),
        )
    })
    .collect()
}

fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let names: Vec<&str> = spans.iter().map(|it| it.name.as_str()).collect();
    let found = spans.iter().find(|it| it.name == name);
    found.unwrap_or_else(|| panic!("no {name:?} in {names:?}"))
}

/// Returns the names from a span up to the root.
fn way(spans: &[Span], span: &Span) -> Vec<String> {
    let mut way = vec![span.name.clone()];
    let mut at = span;
    while let Some(above) = spans.iter().find(|it| it.span_id == at.parent_span_id) {
        way.push(above.name.clone());
        at = above;
    }
    way
}

fn traced(model: &ModelServer, collector: &Collector) -> Home {
    Home::new()
        .with_model(model)
        .with("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.address)
        .with(
            "OTEL_RESOURCE_ATTRIBUTES",
            "deployment.environment.name=test",
        )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_one_tree_without_a_word_of_what_was_said() {
    let (model, collector) = (
        ModelServer::start().await,
        Collector::start(StatusCode::OK).await,
    );
    model
        .expects(|request| request.body.get("tools").is_some())
        .calls(&[("search_knowledge", json!({"query": "the zebra's name"}))]);
    let is_given = |request: &ModelServerRequest| request.last_user().contains("the zebra's name");
    model.expects(is_given).answers("Nothing more is needed.");
    model
        .expects(is_given)
        .answers("The zebra is called Zed [1].");
    let home = traced(&model, &collector);
    std::fs::write(home.path("zoo.md"), "# Zoo\n\nThe zebra is called Zed.\n").unwrap();
    home.run(&["ingest", "zoo.md", "--yes"], "").await;
    let said = home
        .chat(&[], &["What is the zebra called?"])
        .await
        .succeeds()
        .to_owned();
    model.finish();
    assert!(said.contains("called Zed"), "{said}");

    let spans = collector.spans();
    let service = collector.service();
    assert_eq!(service["service.name"], "muninn");
    assert_eq!(service["deployment.environment.name"], "test");
    let root = named(&spans, "message terminal");
    assert!(root.parent_span_id.is_empty());
    assert!(spans.iter().all(|it| it.trace_id == root.trace_id));
    let turn = ["invoke_agent Muninn", "message terminal"];
    for (name, above) in [
        ("queue conversation", &turn[1..]),
        ("queue place", &turn[1..]),
        ("invoke_agent Muninn", &turn[1..]),
        ("read", &turn[..]),
        ("search_memory", &turn[..]),
        ("chat chat", &turn[..]),
        ("execute_tool search_knowledge", &turn[..]),
        ("create_memory", &turn[..]),
        ("deliver", &turn[..]),
    ] {
        assert_eq!(way(&spans, named(&spans, name))[1..], *above, "{name}");
    }
    let asked: Vec<_> = spans.iter().filter(|it| it.name == "chat chat").collect();
    assert_eq!(asked.len(), 2);
    let usage = told(asked[1]);
    assert_eq!(usage["gen_ai.operation.name"], "chat");
    assert_eq!(usage["gen_ai.request.model"], "chat");
    assert_eq!(usage["gen_ai.usage.input_tokens"], "100");
    assert_eq!(usage["gen_ai.usage.output_tokens"], "10");
    // The graph is only asked within the turn.
    let graph = spans.iter().filter(|it| it.name.starts_with("graph "));
    let kept: Vec<_> = graph
        .filter(|it| way(&spans, it)[1] == "create_memory")
        .collect();
    assert!(!kept.is_empty());

    let all = format!("{:?}", collector.requests.lock().unwrap());
    for word in ["zebra", "called", "Zed"] {
        assert!(!all.contains(word), "{word} in {all}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_are_told_where_that_is_asked_for() {
    let (model, collector) = (
        ModelServer::start().await,
        Collector::start(StatusCode::OK).await,
    );
    model.expects(|_| true).answers("It has 73 stripes.");
    let home = traced(&model, &collector)
        .with("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
    home.chat(&[], &["How many stripes has the zebra?"])
        .await
        .succeeds();
    let spans = collector.spans();
    let told = told(named(&spans, "chat chat"));
    assert!(told["gen_ai.input.messages"].contains("How many stripes has the zebra?"));
    assert!(told["gen_ai.output.messages"].contains("It has 73 stripes."));
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_is_seen_and_a_collector_that_fails_stops_nothing() {
    let (model, collector) = (
        ModelServer::start().await,
        Collector::start(StatusCode::SERVICE_UNAVAILABLE).await,
    );
    model
        .expects(|_| true)
        .always_replies(Reply::refusal(400, "invalid_request_error", "no"));
    let home = traced(&model, &collector);
    let done = home.chat(&[], &["Good morning."]).await;
    done.succeeds();
    let spans = collector.spans();
    let failed = named(&spans, "chat chat");
    assert_eq!(told(failed)["error.type"], "refused");
    let without_model = Home::new().with("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.address);
    let doctor = without_model.run(&["doctor"], "").await;
    let line = "PROBLEM  traces: the collector answers 503 Service Unavailable; turns go on, and their traces are lost";
    assert!(doctor.out.contains(line), "{}", doctor.out);
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_asks_goes_on_with_its_trace() {
    let (model, collector) = (
        ModelServer::start().await,
        Collector::start(StatusCode::OK).await,
    );
    model.expects(|_| true).answers("Good morning.");
    model.expects(|_| true).answers("Good evening.");
    let (_home, serving, program) = with_program(traced(&model, &collector)).await;
    let of = |trace: &str| format!("00-{trace}-00f067aa0ba902b7-01");
    let (header, call) = (
        "4bf92f3577b34da6a3ce929d0e0e4736",
        "0af7651916cd43dd8448eb211c80319c",
    );
    // A call's own trace context wins over that of the request.
    for meta in [json!({}), json!({ "traceparent": of(call) })] {
        let params = json!({
            "name": "ask", "arguments": { "question": "How are you today?" }, "_meta": meta,
        });
        let asked = program.posts("tools/call", &params);
        let asked = asked.header("traceparent", of(header)).send().await;
        let said = answer(&asked.unwrap().text().await.unwrap());
        assert_ne!(said["result"]["isError"], true, "{said}");
    }
    stops(serving).await;
    model.finish();
    let spans = collector.spans();
    let roots = spans
        .iter()
        .filter(|it| it.name.starts_with("message "))
        .filter(|it| hex(&it.parent_span_id) == "00f067aa0ba902b7");
    let traces: Vec<String> = roots.map(|it| hex(&it.trace_id)).collect();
    assert_eq!(traces, [header, call]);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_told_anything_by_itself() {
    let model = ModelServer::start().await;
    model.expects(|_| true).answers("Good morning.");
    let doctor = Home::new().run(&["doctor"], "").await;
    assert!(!doctor.out.contains("traces"), "{}", doctor.out);
    let home = Home::new().with_model(&model);
    home.chat(&[], &["Good morning."]).await.succeeds();
    model.finish();
}
