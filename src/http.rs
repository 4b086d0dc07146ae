//! `/healthz` and `/metrics`, for whoever watches the bot.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use muninn_platform::{HttpLimits, serve_http};
use tokio::net::TcpListener;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::memory::Archive;

/// Upper bounds of the buckets of every duration, in seconds: from our own time per turn to the
/// longest turn.
const SECONDS: [f64; 12] = [
    0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 120.0,
];

/// How often observations are folded into the buckets. Otherwise they are kept one by one, until
/// somebody reads the metrics.
const FOLD: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
struct Watched {
    metrics: PrometheusHandle,
    archive: Arc<Archive>,
}

/// Begins to count. Once a process.
///
/// # Errors
/// When something counts already.
pub fn record() -> anyhow::Result<PrometheusHandle> {
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .install_recorder()?;
    describe();
    begin_at_zero();
    Ok(recorder)
}

/// Keeps what is counted small, until `ended`.
pub async fn keep_small(metrics: PrometheusHandle, ended: CancellationToken) {
    let mut ticks = interval(FOLD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let folding = async {
        loop {
            ticks.tick().await;
            metrics.run_upkeep();
        }
    };
    let _ended: Option<()> = ended.run_until_cancelled(folding).await;
}

/// What alert rules watch is there from the start: Prometheus sees no increase from nothing to the first one.
fn begin_at_zero() {
    use metrics::counter;
    counter!("muninn_failed_turns_total").increment(0);
    counter!("muninn_undelivered_total").increment(0);
    counter!("muninn_refusals_total").increment(0);
    counter!("muninn_cost_microdollars_total").increment(0);
    counter!("muninn_failed_digests_total").increment(0);
    counter!("muninn_failed_summaries_total").increment(0);
    counter!("muninn_ledger_failures_total").increment(0);
    counter!("muninn_lost_turns_total").increment(0);
    counter!("muninn_taken_over_total").increment(0);
    for degradation in ["model", "embeddings", "recall", "store"] {
        counter!("muninn_degradations_total", "degradation" => degradation).increment(0);
    }
    for outcome in ["done", "failed"] {
        counter!("muninn_refreshes_total", "outcome" => outcome).increment(0);
    }
    for outcome in ["done", "refused"] {
        counter!("muninn_reloads_total", "outcome" => outcome).increment(0);
    }
}

/// What is counted, and what it is.
const COUNTERS: &[(&str, &str)] = &[
    ("muninn_turns_total", "Turns answered"),
    (
        "muninn_recalled_total",
        "Earlier turns that answers were given",
    ),
    (
        "muninn_tokens_total",
        "Tokens, as the model service counts them",
    ),
    (
        "muninn_cost_microdollars_total",
        "What models cost, in millionths of a US dollar",
    ),
    (
        "muninn_refusals_total",
        "Messages that did not become turns",
    ),
    (
        "muninn_degradations_total",
        "Turns that did without something",
    ),
    ("muninn_failed_turns_total", "Turns without an answer"),
    ("muninn_failed_summaries_total", "Summaries that failed"),
    (
        "muninn_failed_digests_total",
        "How often a digest could not be made or posted",
    ),
    (
        "muninn_heard_total",
        "Messages between people in remembered channels, by whether they were kept",
    ),
    (
        "muninn_overheard_total",
        "Messages that were not answered because they were not meant for the bot, by reason",
    ),
    (
        "muninn_stayed_silent_total",
        "Messages that the model chose not to answer",
    ),
    (
        "muninn_tool_calls_total",
        "Calls of tools by the model, by outcome",
    ),
    (
        "muninn_taken_over_total",
        "Messages that a process which is gone had accepted",
    ),
    (
        "muninn_ledger_failures_total",
        "Accepted messages that could not be written down",
    ),
    (
        "muninn_lost_turns_total",
        "Answered turns that could be saved neither in the graph nor in the journal",
    ),
    (
        "muninn_trace_exports_total",
        "How often traces were sent to the collector, by outcome",
    ),
    (
        "muninn_refreshes_total",
        "How often sources were read again, or could not be",
    ),
    (
        "muninn_reloads_total",
        "How often prompts and tools were read again, or refused",
    ),
    (
        "muninn_undelivered_total",
        "Deliveries that a platform did not take",
    ),
    (
        "muninn_graph_long_waits_total",
        "Statements that the embedded graph did not answer within GRAPH_TIMEOUT",
    ),
    (
        "muninn_mcp_calls_total",
        "Calls by people's programs, by tool and outcome",
    ),
    (
        "muninn_mcp_ends_total",
        "How often an MCP server ended or did not start, by server",
    ),
];

fn describe() {
    use metrics::{describe_counter, describe_gauge, describe_histogram};
    describe_gauge!(
        "muninn_offline_turns",
        "Turns in the journal, which wait for the graph"
    );
    describe_gauge!(
        "muninn_sources_failing",
        "Sources that could not be read again the last time, by kind"
    );
    describe_histogram!(
        "muninn_turn_seconds",
        "Time of a turn until it was read, answered, kept, delivered"
    );
    describe_histogram!(
        "muninn_model_seconds",
        "Time of a call to the model service"
    );
    describe_histogram!("muninn_graph_seconds", "Time of a call of the graph");
    for (name, what) in COUNTERS {
        describe_counter!(*name, *what);
    }
}

/// Listens on `address` and serves until `shutdown`. Returns once it listens.
///
/// # Errors
/// When the address cannot be listened on.
pub async fn serve(
    address: SocketAddr,
    metrics: PrometheusHandle,
    archive: Arc<Archive>,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| anyhow::anyhow!("cannot listen on {address} (HTTP_ADDR): {error}"))?;
    let address = listener.local_addr()?;
    let routes = Router::new()
        .route("/healthz", get(healthz))
        .route("/metrics", get(render))
        .with_state(Watched { metrics, archive });
    tokio::spawn(
        async move { serve_http(listener, routes, HttpLimits::default(), &shutdown).await },
    );
    tracing::info!(%address, "serving /healthz and /metrics");
    Ok(())
}

/// Well means that turns are answered and reach the graph.
async fn healthz(State(watched): State<Watched>) -> (StatusCode, String) {
    match watched.archive.trouble() {
        Some(trouble) => (StatusCode::SERVICE_UNAVAILABLE, format!("{trouble}\n")),
        None => (StatusCode::OK, "ok\n".to_owned()),
    }
}

async fn render(State(watched): State<Watched>) -> String {
    let waiting = u32::try_from(watched.archive.waiting()).unwrap_or(u32::MAX);
    metrics::gauge!("muninn_offline_turns").set(f64::from(waiting));
    watched.metrics.render()
}
