//! A scripted HTTP service on loopback: an unexpected request, or an unused reply, fails the test.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use serde_json::Value;

/// The next expected request.
struct Expected {
    line: String,
    headers: Vec<(&'static str, String)>,
    body: Option<Value>,
    reply: HttpReply,
}

/// A scripted response.
#[derive(Clone, Debug)]
pub struct HttpReply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    after: Duration,
}

impl HttpReply {
    pub fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type", kind.to_owned())],
            body: body.into(),
            after: Duration::ZERO,
        }
    }

    pub fn json(body: &Value) -> Self {
        Self::new(200, "application/json", body.to_string())
    }

    pub fn leads_to(address: &str) -> Self {
        let mut reply = Self::new(302, "text/plain", "");
        reply.headers.push(("location", address.to_owned()));
        reply
    }

    pub fn after(mut self, time: Duration) -> Self {
        self.after = time;
        self
    }
}

#[derive(Default)]
struct HttpServerScript {
    expected: VecDeque<Expected>,
    faults: Vec<String>,
}

/// See the module.
pub struct HttpServer {
    address: SocketAddr,
    script: Arc<Mutex<HttpServerScript>>,
    serving: tokio::task::JoinHandle<()>,
}

impl HttpServer {
    pub async fn start() -> Self {
        let script = Arc::new(Mutex::new(HttpServerScript::default()));
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&script));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            address,
            script,
            serving,
        }
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Scripts the next request: `GET /path?query`, its required headers, its body.
    pub fn expects(
        &self,
        line: &str,
        headers: &[(&'static str, &str)],
        body: Option<Value>,
        reply: HttpReply,
    ) {
        let headers = headers
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()));
        self.script.lock().unwrap().expected.push_back(Expected {
            line: line.to_owned(),
            headers: headers.collect(),
            body,
            reply,
        });
    }

    /// Fails the test if anything differed from the script.
    #[track_caller]
    pub fn finish(self) {
        self.serving.abort();
        let script = self.script.lock().unwrap();
        assert!(script.faults.is_empty(), "{}", script.faults.join("\n"));
        let unused: Vec<&str> = script.expected.iter().map(|it| it.line.as_str()).collect();
        assert!(unused.is_empty(), "nobody asked for {unused:?}");
    }
}

/// What the bot must never send to anybody.
const NEVER_SENT: [&str; 4] = [
    "cookie",
    "x-slack-signature",
    "proxy-authorization",
    "referer",
];

async fn answer(
    State(script): State<Arc<Mutex<HttpServerScript>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let line = format!("{method} {uri}");
    let reply = {
        let mut script = script.lock().unwrap();
        let Some(expected) = script.expected.pop_front() else {
            script.faults.push(format!("nobody expected {line}"));
            return Response::builder().status(501).body(Body::empty()).unwrap();
        };
        let said = |name: &str| {
            headers
                .get(name)
                .and_then(|it| it.to_str().ok())
                .map(str::to_owned)
        };
        let mut faults = Vec::new();
        if expected.line != line {
            faults.push(format!("expected {}, but it was {line}", expected.line));
        }
        for (name, value) in &expected.headers {
            if said(name).as_ref() != Some(value) {
                faults.push(format!("{line}: {name} is {:?}, not {value:?}", said(name)));
            }
        }
        let is_expected = |name: &str| expected.headers.iter().any(|(it, _)| *it == name);
        if said("authorization").is_some() && !is_expected("authorization") {
            faults.push(format!("{line}: authorization is sent unasked"));
        }
        let sent = NEVER_SENT.iter().filter(|name| said(name).is_some());
        faults.extend(sent.map(|name| format!("{line}: {name} is sent")));
        if !said("user-agent").is_some_and(|it| it.starts_with("muninn/")) {
            faults.push(format!("{line}: it does not say who asks"));
        }
        let read = serde_json::from_slice::<Value>(&body).ok();
        if read != expected.body {
            faults.push(format!(
                "{line}: the body is {read:?}, not {:?}",
                expected.body
            ));
        }
        script.faults.extend(faults);
        expected.reply
    };
    tokio::time::sleep(reply.after).await;
    let mut response = Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(*name, value);
    }
    response.body(Body::from(reply.body)).unwrap()
}
