//! Slack's own Python library as an independent check: of signatures, and as a bot on this server.
//!
//! `SLACK_SDK_PYTHON` names a Python that has it (`tests/servers/slack/slack-sdk-up` installs one).

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use loopback_slack::{
    APP_TOKEN, BOT_TOKEN, Message, SIGNING_SECRET, Slack, StreamState, TIMEOUT, sign,
};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::lane::lane;

/// Returns a Python with the library.
fn python() -> String {
    lane("SLACK_SDK_PYTHON")
}

fn script(name: &str) -> PathBuf {
    Path::new("../../servers/slack").join(name)
}

/// A script that reads and answers line by line.
struct ScriptProcess {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl ScriptProcess {
    fn start(name: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(python())
            .arg(script(name))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            child,
            input,
            output,
        }
    }

    async fn asks(&mut self, question: &serde_json::Value) {
        let line = format!("{question}\n");
        self.input.write_all(line.as_bytes()).await.unwrap();
    }

    async fn hears(&mut self) -> String {
        let line = tokio::time::timeout(TIMEOUT, self.output.next_line()).await;
        line.unwrap().unwrap().expect("the script answers")
    }

    async fn end(mut self) {
        drop(self.input);
        let ended = tokio::time::timeout(Duration::from_secs(20), self.child.wait()).await;
        assert!(ended.unwrap().unwrap().success());
    }
}

/// Bodies of every signed kind.
const BODIES: [&str; 4] = [
    r#"{"type":"event_callback","event":{"text":"Grüße & <@U1>"}}"#,
    "payload=%7B%22type%22%3A%22block_actions%22%7D",
    "",
    "{\n  \"text\": \"\\u2026\"\n}",
];

#[tokio::test]
#[ignore = "needs Slack's Python library (SLACK_SDK_PYTHON)"]
async fn signatures_are_those_of_slacks_own_library() {
    let mut signer = ScriptProcess::start("sign.py", &[]);
    for (body, timestamp) in BODIES
        .iter()
        .zip(["1531420618", "1700000000", "1", "2000000000"])
    {
        signer.asks(&json!([SIGNING_SECRET, timestamp, body])).await;
        assert_eq!(signer.hears().await, sign(SIGNING_SECRET, timestamp, body));
    }
    signer.end().await;
    let mut verifier = ScriptProcess::start("verify.py", &[]);
    let now = chrono::Utc::now().timestamp();
    for body in BODIES {
        for (timestamp, is_valid) in [(now, "True"), (now - 600, "False")] {
            let timestamp = timestamp.to_string();
            let headers = json!({ "X-Slack-Request-Timestamp": timestamp,
                "X-Slack-Signature": sign(SIGNING_SECRET, &timestamp, body) });
            verifier.asks(&json!([SIGNING_SECRET, headers, body])).await;
            assert_eq!(verifier.hears().await, is_valid, "{body}");
        }
    }
    verifier.end().await;
}

#[tokio::test]
#[ignore = "needs Slack's Python library (SLACK_SDK_PYTHON)"]
async fn a_bot_on_slacks_own_library_answers_here() {
    let slack = Slack::start().await;
    let arguments = [&slack.api_url(), BOT_TOKEN, APP_TOKEN];
    let mut bot = ScriptProcess::start("echo_bot.py", &arguments);
    assert_eq!(bot.hears().await, "ready");
    slack.connected(1).await;
    let general = slack.person("Ann").in_channel(&slack.channel("general"));
    let asked = general.ask("who?");
    let thread = general.in_thread(&asked);
    let answer = thread.hears("Echo: who?").await;
    assert_eq!(answer.texts, ["…", "Echo: who?"]);
    let asked = general.ask("stream it");
    let thread = general.in_thread(&asked);
    let is_whole = |message: &Message| message.stream == StreamState::Stopped;
    let streamed = thread.finds("a finished stream", is_whole).await;
    assert_eq!(streamed.shown, "Streamed");
    slack.called("conversations.replies", 1).await;
    slack.all_told().await;
    bot.end().await;
    slack.finish();
}
