//! The conformance tests of every adapter.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use muninn_platform::testing::EchoBot;
use muninn_platform::testing::conformance::{ConformancePlace, every_case};
use serde_json::json;

use crate::support::{Program, message};

struct There {
    bot: Option<EchoBot>,
    program: Program,
    sent: AtomicUsize,
}

impl There {
    async fn new() -> Self {
        let program = Program::new().await;
        Self {
            bot: Some(program.start()),
            program,
            sent: AtomicUsize::new(0),
        }
    }

    fn next_id(&self) -> String {
        self.sent.fetch_add(1, Ordering::Relaxed).to_string()
    }

    async fn change(&self, kind: &str, of: &str, text: &str) {
        let mut content = message(&self.next_id(), text);
        content["type"] = json!(kind);
        content["of"] = json!(of);
        assert_eq!(self.program.send(&content).await.status(), 202);
    }
}

#[async_trait]
impl ConformancePlace for There {
    async fn say(&self, text: &str) -> String {
        let id = self.next_id();
        self.program.say(&id, text).await;
        id
    }

    async fn edit(&self, message: &str, text: &str) -> bool {
        self.change("edit", message, text).await;
        true
    }

    async fn delete(&self, message: &str) -> bool {
        self.change("deletion", message, "").await;
        true
    }

    async fn said(&self) -> Vec<String> {
        self.program.texts()
    }

    fn shows_growing(&self) -> bool {
        false
    }

    /// A program receives texts, which ping nobody by themselves.
    async fn pinged(&self) -> Vec<String> {
        Vec::new()
    }

    /// A program receives texts only.
    async fn own_files(&self) -> Option<Vec<(String, String)>> {
        None
    }

    fn bot(&self) -> &EchoBot {
        self.bot.as_ref().unwrap()
    }

    async fn crash(&mut self) {
        self.bot.take().unwrap().crash();
        self.bot = Some(self.program.start());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program() {
    every_case(There::new).await;
}
