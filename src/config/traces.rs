//! The settings of traces.

use clap::Args;
use muninn_platform::non_empty;

/// Whether a variable is a standard one of OpenTelemetry, which its exporter reads itself.
pub(super) fn is_standard(name: &str) -> bool {
    name.starts_with("OTEL_")
}

/// Settings of traces, by the names that OpenTelemetry gives them.
#[derive(Args, Clone, Debug, Default)]
pub struct TraceOptions {
    /// Address of an OpenTelemetry collector that takes traces by OTLP over HTTP, such as `http://127.0.0.1:4318`; unset for no traces
    #[arg(long, env, global = true, default_value = "")]
    pub otel_exporter_otlp_endpoint: String,
    /// Whether prompts, answers and arguments of tools are part of traces
    #[arg(long, env, global = true, value_parser = clap::value_parser!(bool), action = clap::ArgAction::Set, default_value_t = false)]
    pub otel_instrumentation_genai_capture_message_content: bool,
}

impl TraceOptions {
    /// The address for traces; `None` if they are disabled.
    pub fn address(&self) -> Option<String> {
        let base = non_empty(&self.otel_exporter_otlp_endpoint)?;
        Some(format!("{}/v1/traces", base.trim_end_matches('/')))
    }
}
