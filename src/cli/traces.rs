//! Traces for OpenTelemetry, by OTLP over HTTP in protobuf. Off, unless
//! `OTEL_EXPORTER_OTLP_ENDPOINT` is set.
//!
//! A dedicated thread sends them. What it cannot send, or cannot send fast enough, is lost; no turn
//! waits for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use muninn::agent::telemetry;
use muninn::config::TraceOptions;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{
    OTEL_EXPORTER_OTLP_TIMEOUT, OTEL_EXPORTER_OTLP_TIMEOUT_DEFAULT,
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Runtime;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

/// Maximum time for the last ones when the process ends.
const LAST: Duration = Duration::from_secs(2);
/// Maximum time for the check of `doctor`.
const CHECK: Duration = Duration::from_secs(5);

/// The exporter of this process's spans.
#[derive(Debug)]
pub(super) struct Traces(SdkTracerProvider);

impl Traces {
    /// Sends spans to the configured endpoint; `None` without one.
    ///
    /// # Errors
    /// Fails when the settings are invalid.
    pub(super) fn new(options: &TraceOptions) -> anyhow::Result<Option<Self>> {
        let Some(address) = options.address() else {
            return Ok(None);
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Client::new(time_limit(|name| std::env::var(name).ok()))?)
            .with_endpoint(address)
            .build()
            .context("traces cannot be sent: OTEL_EXPORTER_OTLP_ENDPOINT is to be an address such as http://127.0.0.1:4318")?;
        let mut resource = Resource::builder();
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("muninn");
        }
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.with_attribute(version).build())
            .build();
        if options.otel_instrumentation_genai_capture_message_content {
            telemetry::capture_content();
        }
        Ok(Some(Self(provider)))
    }

    /// Returns the layer that records spans.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer("muninn"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(Targets::new().with_target(telemetry::SPAN_TARGET, tracing::Level::INFO))
    }

    /// Sends the remaining spans.
    pub(super) fn end(self) {
        // Does not wait for a collector that does not answer.
        drop(self.0.shutdown_with_timeout(LAST));
    }
}

/// The maximum time of a request, as OpenTelemetry's variables say in milliseconds.
fn time_limit(set: impl Fn(&str) -> Option<String>) -> Duration {
    let limit = |name| {
        let milliseconds = set(name)?.trim().parse().ok()?;
        Some(Duration::from_millis(milliseconds)).filter(|limit| !limit.is_zero())
    };
    limit(OTEL_EXPORTER_OTLP_TRACES_TIMEOUT)
        .or_else(|| limit(OTEL_EXPORTER_OTLP_TIMEOUT))
        .unwrap_or(OTEL_EXPORTER_OTLP_TIMEOUT_DEFAULT)
}

/// Posts for the exporter, on a runtime of its own: the exporter's thread has none.
#[derive(Debug)]
struct Client {
    http: reqwest::Client,
    runtime: Runtime,
    has_failed: AtomicBool,
}

impl Client {
    /// `limit`: the maximum time of a request. A collector that does not answer holds the exporter's thread so long.
    fn new(limit: Duration) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(Self {
            http: reqwest::Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .timeout(limit)
                .build()?,
            runtime,
            has_failed: AtomicBool::new(false),
        })
    }

    async fn post(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        let answer = self.http.execute(request).await?;
        let mut response = Response::builder().status(answer.status());
        if let Some(headers) = response.headers_mut() {
            headers.extend(answer.headers().clone());
        }
        Ok(response.body(answer.bytes().await?)?)
    }

    /// Logs when the collector stops taking traces, and when it takes them again.
    fn tell(&self, failure: Option<&str>) {
        let outcome = if failure.is_some() { "failed" } else { "done" };
        metrics::counter!("muninn_trace_exports_total", "outcome" => outcome).increment(1);
        let had_failed = self.has_failed.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(why) if !had_failed => {
                tracing::warn!(why, "traces are lost: the collector does not take them");
            }
            None if had_failed => tracing::info!("the collector takes traces again"),
            Some(_) | None => {}
        }
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answered = self.runtime.block_on(self.post(request));
        match &answered {
            Ok(answer) if answer.status().is_success() => self.tell(None),
            Ok(answer) => self.tell(Some(answer.status().as_str())),
            // The error's text may contain the URL, and with it a password.
            Err(_) => self.tell(Some("no answer")),
        }
        answered
    }
}

/// Checks whether the collector accepts traces, with an empty request.
pub(super) async fn check(options: &TraceOptions) -> Option<Result<String, String>> {
    let address = options.address()?;
    let asked = reqwest::Client::new()
        .post(&address)
        .header("content-type", "application/x-protobuf")
        .timeout(CHECK)
        .send()
        .await;
    let lost = "turns go on, and their traces are lost";
    Some(match asked.map(|answer| answer.status()) {
        Ok(status) if status.is_success() => Ok("the collector takes them".to_owned()),
        // It may require what OTEL_EXPORTER_OTLP_HEADERS contains, which the exporter sends.
        Ok(status) if matches!(status.as_u16(), 401 | 403) => {
            Ok("the collector is there, and wants to know who sends them".to_owned())
        }
        Ok(status) => Err(format!("the collector answers {status}; {lost}")),
        Err(_) => Err(format!("the collector does not answer; {lost}")),
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn the_time_limit_is_what_opentelemetry_calls_it() {
        let (own, general) = (
            OTEL_EXPORTER_OTLP_TRACES_TIMEOUT,
            OTEL_EXPORTER_OTLP_TIMEOUT,
        );
        for (set, limit) in [
            (&[(own, "3000"), (general, "2000")][..], 3_000),
            (&[(general, "2000")], 2_000),
            (&[(own, "soon"), (general, "2000")], 2_000),
            (&[(own, "0")], 10_000),
            (&[], 10_000),
        ] {
            let value = |name: &str| {
                let mut set = set.iter();
                set.find(|it| it.0 == name).map(|it| it.1.to_owned())
            };
            assert_eq!(time_limit(value), Duration::from_millis(limit), "{set:?}");
        }
    }

    #[test]
    fn a_silent_collector_fails_and_the_next_request_has_a_connection_of_its_own() {
        // Another test may have installed it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let client = Client::new(Duration::from_millis(200)).unwrap();
        let send = || {
            let request = Request::post(&address).body(Bytes::from_static(b"spans"));
            let sent = client.send_bytes(request.unwrap());
            // It blocks this thread, as the exporter's.
            sent.now_or_never().unwrap()
        };
        send().unwrap_err();
        let (silent, _) = listener.accept().unwrap();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut request = Vec::new();
                while !request.ends_with(b"spans") {
                    let mut some = [0; 1024];
                    match stream.read(&mut some) {
                        Ok(read) if read > 0 => request.extend_from_slice(&some[..read]),
                        Ok(_) | Err(_) => break,
                    }
                }
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                // It may have given up on a busy machine.
                let _ = stream.write_all(answer);
            }
        });
        let answered = (0..100).find_map(|_| send().ok());
        assert!(answered.unwrap().status().is_success());
        drop(silent);
    }
}
