//! A working directory, and the processes that run in it.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::support::graph::TestGraph;
use crate::support::model_server::{KEY, ModelServer};

/// Maximum wait: longer than anything takes, however busy the machine is.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// The answer to a statement, without a model.
pub(crate) const NOTED: &str = "I will remember that.";

/// A folder in which `muninn` is run, with an environment of its own.
pub(crate) struct Home {
    folder: TempDir,
    environment: BTreeMap<&'static str, String>,
}

/// The result of a process.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            environment: BTreeMap::new(),
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.set(name, value);
        self
    }

    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.environment.insert(name, value.into());
    }

    pub(crate) fn unset(&mut self, name: &'static str) {
        self.environment.remove(name);
    }

    pub(crate) fn with_model(self, server: &ModelServer) -> Self {
        self.with("OPENAI_BASE_URL", server.base_url())
            .with("OPENAI_API_KEY", KEY)
            .with("CHAT_MODEL", "chat")
            .with("UTILITY_MODEL", "utility")
    }

    /// With the Neo4j of the test run, at the address in `through` if given.
    pub(crate) fn with_neo4j(self, through: Option<&str>) -> Self {
        let server = TestGraph::of_environment();
        self.with("GRAPH_URL", through.unwrap_or(&server.url))
            .with("GRAPH_USER", server.user)
            .with("GRAPH_PASSWORD", server.password)
            .with("GRAPH_TIMEOUT", TIMEOUT.as_secs().to_string())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs it to its end.
    pub(crate) async fn run(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Done {
        let mut running = self.start(arguments);
        // It may end without reading all of it.
        let _ = running.stdin().write_all(input.as_ref()).await;
        running.end().await
    }

    /// Chats line by line, with the arguments of `chat`.
    pub(crate) async fn chat(&self, arguments: &[&str], lines: &[&str]) -> Done {
        let arguments = [&["chat"], arguments].concat();
        self.run(&arguments, lines.join("\n")).await
    }

    /// Returns what `export` writes.
    pub(crate) async fn export(&self) -> Exported {
        let done = self.run(&["export", "export.jsonl"], "").await;
        done.succeeds();
        Exported::read(&self.path("export.jsonl"))
    }

    /// Runs it to its end without a reader of its output, as after `head`.
    pub(crate) async fn run_unread(&self, arguments: &[&str]) -> Done {
        let errors = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = self.command(arguments, &errors);
        let mut child = command.stdin(Stdio::null()).stdout(writer).spawn().unwrap();
        let status = tokio::time::timeout(TIMEOUT, child.wait()).await;
        Done {
            status: status.expect("its end in time").unwrap(),
            out: String::new(),
            err: std::fs::read_to_string(&errors).unwrap(),
        }
    }

    fn command(&self, arguments: &[&str], errors: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_muninn"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("USER", "ada")
            .env("DATA_DIR", "./muninn-data")
            .envs(&self.environment)
            .stderr(File::create(errors).unwrap())
            .kill_on_drop(true);
        command
    }

    /// Starts it; it is killed when the test ends.
    pub(crate) fn start(&self, arguments: &[&str]) -> CliProcess {
        let errors = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let mut child = self
            .command(arguments, &errors)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        CliProcess {
            stdin: child.stdin.take(),
            child,
            lines,
            errors,
        }
    }
}

/// A running process.
pub(crate) struct CliProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    errors: tempfile::TempPath,
}

impl CliProcess {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    pub(crate) fn stdin(&mut self) -> &mut ChildStdin {
        self.stdin.as_mut().unwrap()
    }

    pub(crate) fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().unwrap()
    }

    pub(crate) async fn say(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.stdin().write_all(line.as_bytes()).await.unwrap();
    }

    /// Returns the next line of the output; `None` at its end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        let line = tokio::time::timeout(TIMEOUT, self.lines.next_line()).await;
        line.expect("a line of the output in time").unwrap()
    }

    /// Returns the error output so far.
    pub(crate) fn errors(&self) -> String {
        std::fs::read_to_string(&self.errors).unwrap()
    }

    /// Sends a signal, as `kill` does.
    pub(crate) async fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.pid().to_string()])
            .status()
            .await;
        assert!(sent.unwrap().success());
    }

    /// Kills it, and waits until it is gone.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    /// Closes its input and waits for its end.
    pub(crate) async fn end(mut self) -> Done {
        drop(self.stdin.take());
        let mut out = String::new();
        while let Some(line) = self.line().await {
            out += &line;
            out.push('\n');
        }
        let status = tokio::time::timeout(TIMEOUT, self.child.wait()).await;
        Done {
            status: status.expect("its end in time").unwrap(),
            out,
            err: self.errors(),
        }
    }
}

impl Done {
    /// Asserts exit code 0; returns the output.
    #[track_caller]
    pub(crate) fn succeeds(&self) -> &str {
        assert_eq!(self.status.code(), Some(0), "{self:?}");
        &self.out
    }

    /// Asserts this exit code, and that the error output consists of sentences with these words.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, words: &[&str]) -> &Self {
        assert_eq!(self.status.code(), Some(code), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "no {word:?} in {self:?}");
        }
        assert!(!self.err.contains("panicked"), "{self:?}");
        self
    }

    pub(crate) fn lines(&self) -> Vec<&str> {
        self.out.lines().collect()
    }
}

/// An exported graph, with the exporter's node numbers replaced by what the nodes are.
#[derive(Debug, PartialEq)]
pub(crate) struct Exported {
    /// By label and the id property, also that of a chunk.
    pub(crate) nodes: BTreeMap<String, Value>,
    /// Type, from, to, properties; sorted.
    pub(crate) relationships: Vec<(String, String, String, String)>,
}

impl Exported {
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let mut names = BTreeMap::new();
        let mut nodes = BTreeMap::new();
        for node in lines.iter().filter_map(|line| line.get("node")) {
            let properties = &node["properties"];
            let id = properties.get("id").or_else(|| properties.get("chunkId"));
            let name = format!("{}/{}", node["labels"], id.unwrap_or(&Value::Null));
            names.insert(node["id"].as_str().unwrap().to_owned(), name.clone());
            assert!(nodes.insert(name, node["properties"].clone()).is_none());
        }
        let mut relationships: Vec<(String, String, String, String)> = lines
            .iter()
            .filter_map(|line| line.get("relationship"))
            .map(|one| {
                let end = |name: &str| names[one[name].as_str().unwrap()].clone();
                let kind = one["type"].as_str().unwrap().to_owned();
                (kind, end("from"), end("to"), one["properties"].to_string())
            })
            .collect();
        relationships.sort();
        Self {
            nodes,
            relationships,
        }
    }

    /// Returns from and to of each relationship of a type.
    pub(crate) fn ends(&self, kind: &str) -> Vec<(&str, &str)> {
        self.relationships
            .iter()
            .filter(|(found, ..)| found == kind)
            .map(|(_, from, to, _)| (from.as_str(), to.as_str()))
            .collect()
    }

    /// Returns what was said in the only conversation, in chain order. Fails if the chain is not
    /// whole: one last response, each but the first after exactly one other.
    #[track_caller]
    pub(crate) fn chain(&self) -> Vec<&str> {
        let last = self.ends("LAST_RESPONSE");
        assert_eq!(last.len(), 1, "{last:?}");
        let next = self.ends("NEXT");
        let before: BTreeMap<&str, &str> = next.iter().map(|(from, to)| (*to, *from)).collect();
        assert_eq!(before.len(), next.len(), "two before one");
        let mut chain = Vec::new();
        let mut at = Some(last[0].1);
        while let Some(name) = at {
            chain.push(self.nodes[name]["input"].as_str().unwrap());
            at = before.get(name).copied();
        }
        chain.reverse();
        let is_response = |name: &&String| name.starts_with("[\"Response\"]");
        let responses = self.nodes.keys().filter(is_response).count();
        assert_eq!(chain.len(), responses, "the chain reaches every response");
        assert_eq!(next.len(), responses - 1);
        assert_eq!(self.ends("HAS_RESPONSE").len(), responses);
        chain
    }
}

/// Polls until something is there, for a bounded time.
pub(crate) async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let found = tokio::time::timeout(TIMEOUT, looking).await;
    found.unwrap_or_else(|_| panic!("{what}: not within {TIMEOUT:?}"))
}
