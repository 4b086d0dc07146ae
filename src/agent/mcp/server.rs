//! One MCP server: starts it, lists its tools, and restarts it with increasing pauses when it has ended.

use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use muninn_platform::{AudienceId, in_one_line, one_line};
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, PaginatedRequestParams, ProtocolVersion, Tool,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, NotificationContext, Peer, RoleClient,
    RunningService,
};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use secrecy::ExposeSecret as _;
use tokio::process::{ChildStderr, Command};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::connection::Connection;
use super::settings::{McpSettings, McpTransport};
use super::state::ServerState;
use super::tool::{McpTool, made};
use crate::agent::tools::OutsideTool;

/// Longest time to start a server: it may have to be downloaded.
const START: Duration = Duration::from_secs(60);
/// Longest time to list its tools.
const LIST: Duration = Duration::from_secs(20);
/// Maximum number of pages of the list.
const PAGES: usize = 16;
/// How often the list is read again for servers that do not announce changes, and the minimum interval between
/// two reads.
const RELIST: Duration = Duration::from_secs(600);
const LEAST_RELIST: Duration = Duration::from_secs(1);
/// The first pause before a restart, and the longest.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// A server that ran this long does not count as unable to start.
const MIN_STABLE_TIME: Duration = Duration::from_secs(60);
/// How long to wait for the last output of a process that has ended.
const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum bytes of one message over HTTP.
const MESSAGE: usize = 4 << 20;
/// Maximum bytes of a line on a process's standard error, and maximum characters of it that are shown.
const LINE: usize = 8 << 10;
const MAX_SHOWN_CHARS: usize = 200;

/// A server that is kept running until this is dropped.
#[derive(Debug)]
pub(super) struct McpServer {
    pub(super) settings: Arc<McpSettings>,
    known: watch::Receiver<McpServerStatus>,
    _stop: DropGuard,
}

/// What is known of a server.
#[derive(Clone, Debug)]
struct McpServerStatus {
    state: ServerState,
    /// The tools that it listed last; calls fail while it is not running.
    tools: Vec<Arc<McpTool>>,
}

impl McpServer {
    pub(super) fn start(settings: McpSettings) -> Self {
        let settings = Arc::new(settings);
        let (sender, known) = watch::channel(McpServerStatus {
            state: ServerState::Starting,
            tools: Vec::new(),
        });
        let stop = CancellationToken::new();
        let keeper = ServerSupervisor {
            settings: Arc::clone(&settings),
            connection: Arc::default(),
            known: sender,
            last_line: Arc::default(),
            errors: Mutex::default(),
        };
        let until = stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = until.cancelled() => {}
                () = keeper.keep() => {}
            }
        });
        Self {
            settings,
            known,
            _stop: stop.drop_guard(),
        }
    }

    pub(super) fn state(&self) -> ServerState {
        self.known.borrow().state.clone()
    }

    /// Returns when the first start was tried.
    pub(super) async fn tried(&self) {
        let mut known = self.known.clone();
        let is_tried = |known: &McpServerStatus| !matches!(known.state, ServerState::Starting);
        // The task that keeps it may have ended.
        drop(known.wait_for(is_tried).await);
    }

    /// Its tools that may be offered in a channel.
    pub(super) fn offered_in(&self, channel: &AudienceId) -> Vec<Arc<dyn OutsideTool>> {
        if !self.settings.is_for(channel) {
            return Vec::new();
        }
        let known = self.known.borrow();
        let all = known.tools.iter();
        all.map(|tool| Arc::clone(tool) as Arc<dyn OutsideTool>)
            .collect()
    }
}

/// Keeps a server running.
struct ServerSupervisor {
    settings: Arc<McpSettings>,
    connection: Arc<Connection>,
    known: watch::Sender<McpServerStatus>,
    /// The last line that its process wrote to standard error.
    last_line: Arc<Mutex<String>>,
    /// The task that reads standard error.
    errors: Mutex<Option<JoinHandle<()>>>,
}

impl ServerSupervisor {
    async fn keep(&self) {
        if !self.settings.missing.is_empty() {
            let why = format!("{} is not set", self.settings.missing.join(", "));
            self.know(ServerState::Down {
                why,
                again_in: None,
            });
            return std::future::pending().await;
        }
        let mut wait = FIRST_WAIT;
        loop {
            let began = Instant::now();
            let why = self.run().await;
            self.connection.set(None);
            if began.elapsed() >= MIN_STABLE_TIME {
                wait = FIRST_WAIT;
            }
            metrics::counter!("muninn_mcp_ends_total", "server" => self.settings.name.clone())
                .increment(1);
            let server = &self.settings.name;
            tracing::warn!(
                server,
                why,
                seconds = wait.as_secs(),
                "an MCP server is not there; it is tried again"
            );
            self.know(ServerState::Down {
                why,
                again_in: Some(wait),
            });
            sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    fn know(&self, state: ServerState) {
        self.known.send_modify(|known| known.state = state);
    }

    /// Runs the server until it ends, and returns why it did.
    async fn run(&self) -> String {
        let changed = Arc::new(Notify::new());
        let listening = Listening(Arc::clone(&changed));
        let running = match timeout(START, self.connect(listening)).await {
            Ok(Ok(running)) => running,
            Ok(Err(why)) => return self.with_last_line(why).await,
            Err(_) => {
                let why = format!("it did not start within {} s", START.as_secs());
                return self.with_last_line(why).await;
            }
        };
        let peer = running.peer().clone();
        let stop = running.cancellation_token();
        let mut ended = std::pin::pin!(running.waiting());
        loop {
            let listed = tokio::select! {
                _ = &mut ended => return self.with_last_line("it ended".to_owned()).await,
                listed = list(&peer) => listed,
            };
            match listed {
                Ok(listed) => self.has(listed, &peer),
                Err(why) => {
                    stop.cancel();
                    drop(timeout(LIST, ended).await);
                    return self.with_last_line(why).await;
                }
            }
            tokio::select! {
                _ = &mut ended => return self.with_last_line("it ended".to_owned()).await,
                () = changed.notified() => sleep(LEAST_RELIST).await,
                () = sleep(RELIST) => {}
            }
        }
    }

    fn has(&self, listed: Vec<Tool>, peer: &Peer<RoleClient>) {
        let (tools, left_out) = made(listed, &self.settings, &self.connection);
        self.connection.set(Some(peer.clone()));
        let asking = tools.iter().filter(|tool| tool.asks_first).count();
        let server = &self.settings.name;
        tracing::info!(server, tools = tools.len(), "an MCP server is there");
        self.known.send_replace(McpServerStatus {
            state: ServerState::Ready {
                tools: tools.len(),
                asking,
                left_out,
            },
            tools,
        });
    }

    /// Adds the last line of standard error, which may still be on its way.
    async fn with_last_line(&self, why: String) -> String {
        let errors = self
            .errors
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(errors) = errors {
            drop(timeout(LAST_OUTPUT_TIMEOUT, errors).await);
        }
        let mut line = self
            .last_line
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match std::mem::take(&mut *line) {
            none if none.is_empty() => why,
            mut said => {
                self.settings.secrets.remove_from(&mut said);
                format!("{why}; it said: {said}")
            }
        }
    }

    async fn connect(
        &self,
        listening: Listening,
    ) -> Result<RunningService<RoleClient, Listening>, String> {
        let connected = match &self.settings.link {
            McpTransport::Process {
                command,
                args,
                env,
                folder,
            } => {
                let mut process = Command::new(command);
                process.args(args).current_dir(folder).kill_on_drop(true);
                // Nothing of our own environment, as it contains tokens.
                process.env_clear();
                for name in ["PATH", "HOME"] {
                    if let Some(value) = std::env::var_os(name) {
                        process.env(name, value);
                    }
                }
                process.envs(
                    env.iter()
                        .map(|(name, value)| (name, value.expose_secret())),
                );
                let started = TokioChildProcess::builder(process)
                    .stderr(Stdio::piped())
                    .spawn();
                let (process, errors) =
                    started.map_err(|error| format!("{command:?} cannot be started: {error}"))?;
                if let Some(errors) = errors {
                    let reading = tokio::spawn(keep_last(errors, Arc::clone(&self.last_line)));
                    *self.errors.lock().unwrap_or_else(PoisonError::into_inner) = Some(reading);
                }
                listening.serve_with_lifecycle(process, lifecycle()).await
            }
            McpTransport::Address {
                url,
                headers,
                reach,
            } => {
                // The client checks again when it connects; this check gives the reason.
                let host = url.host_str().unwrap_or_default();
                let port = url.port_or_known_default().unwrap_or(443);
                let found = guarded_http::resolve(host, port, *reach).await;
                found.map_err(|error| in_one_line(&error))?;
                let client = guarded_http::client_builder(*reach)
                    .user_agent(concat!("muninn/", env!("CARGO_PKG_VERSION")))
                    .connect_timeout(LIST)
                    .default_headers(headers.clone())
                    .build()
                    .map_err(|error| in_one_line(&error))?;
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .max_json_response_size(MESSAGE)
                    .max_sse_event_size(MESSAGE);
                let transport = StreamableHttpClientTransport::with_client(client, config);
                listening.serve_with_lifecycle(transport, lifecycle()).await
            }
        };
        connected.map_err(|error| in_short(&in_one_line(&error)))
    }
}

/// An error of the client without the type names before it.
fn in_short(line: &str) -> String {
    let told = line.rsplit_once("] error: ").map_or(line, |(_, told)| told);
    told.chars().take(MAX_SHOWN_CHARS).collect()
}

/// Uses the newest protocol version that the server supports, or else the one before.
fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, String> {
    let all = async {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let page = peer.list_tools(Some(params)).await;
            let page = page.map_err(|error| in_one_line(&error))?;
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(tools)
    };
    timeout(LIST, all).await.unwrap_or_else(|_| {
        Err(format!(
            "it did not list its tools within {} s",
            LIST.as_secs()
        ))
    })
}

/// Keeps the last line of a process's standard error, as the reason if it ends.
async fn keep_last(errors: ChildStderr, last: Arc<Mutex<String>>) {
    let mut lines = FramedRead::new(errors, LinesCodec::new_with_max_length(LINE));
    loop {
        let line = match lines.next().await {
            Some(Ok(line)) => line,
            // The rest of a line that is too long is skipped. The stream reports its end, and continues.
            Some(Err(LinesCodecError::MaxLineLengthExceeded)) => {
                let _ = lines.next().await;
                continue;
            }
            Some(Err(LinesCodecError::Io(_))) | None => return,
        };
        let line: String = one_line(&line).chars().take(MAX_SHOWN_CHARS).collect();
        if !line.is_empty() {
            *last.lock().unwrap_or_else(PoisonError::into_inner) = line;
        }
    }
}

/// Our identity for a server, which is given no data, no model and no person to ask.
#[derive(Clone, Debug)]
struct Listening(Arc<Notify>);

impl ClientHandler for Listening {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("muninn", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.notify_one();
    }
}
