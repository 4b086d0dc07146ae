//! Deletions in a graph that counts.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::*;
use crate::graph::engine::TransactionStep;
use crate::graph::testing::{FakeGraph, fake_store};

/// The heard messages of one session, and how many of them each transaction deleted.
#[derive(Clone, Debug, Default)]
struct Counting {
    turns: Arc<Mutex<Vec<String>>>,
    deleted: Arc<Mutex<Vec<usize>>>,
}

impl Counting {
    fn row(id: &str) -> Row {
        params(json!({
            "id": id, "session": "test/a", "audience": "test", "event": format!("event/{id}"),
            "source": "message",
        }))
    }
}

#[async_trait]
impl FakeGraph for Counting {
    async fn read(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
        let is_meant = |id: &&String| match statement {
            cypher::TURNS_OF => true,
            cypher::AMONG => params["ids"]
                .as_array()
                .is_some_and(|ids| ids.iter().any(|it| *it == json!(id))),
            _ => false,
        };
        let turns = self.turns.lock();
        Ok(turns
            .iter()
            .filter(is_meant)
            .map(|id| Self::row(id))
            .collect())
    }

    async fn write(&self, statement: &str, _: Params) -> Result<Vec<Row>, StoreError> {
        if statement == statements::FORGET_SESSION {
            let gone = std::mem::take(&mut *self.turns.lock()).len();
            self.deleted.lock().push(gone);
        }
        Ok(Vec::new())
    }

    async fn transact(
        &self,
        mut steps: mpsc::Receiver<TransactionStep>,
        _: Duration,
    ) -> Result<Vec<i64>, StoreError> {
        let before = self.turns.lock().len();
        while let Some(TransactionStep::Run(_, params)) = steps.recv().await {
            let id = params.get("id").and_then(Value::as_str).unwrap_or_default();
            self.turns.lock().retain(|it| it != id);
        }
        let gone = before - self.turns.lock().len();
        self.deleted.lock().push(gone);
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn no_transaction_deletes_more_turns_of_a_session_than_fit_into_one() {
    let engine = Counting::default();
    for _ in 0..250 {
        let id = ResponseId::fresh().to_string();
        engine.turns.lock().push(id);
    }
    let store = fake_store(engine.clone());
    let said_until = Utc::now();
    let session = ConversationId::new("test/a");
    let forgetting = store.forget_in(&session, Forget::Session { said_until });
    assert_eq!(forgetting.await.unwrap().turns, 250);
    assert_eq!(*engine.deleted.lock(), [100, 100, 50]);
    assert!(engine.turns.lock().is_empty());
}

/// The embedded engine would follow the relationships of the whole graph for each deleted turn.
#[test]
fn no_deletion_follows_a_relationship_of_an_answer_that_may_not_exist() {
    for statement in [
        statements::FORGET_TURN,
        statements::TAKE_OUT,
        statements::FORGET_SESSION,
        statements::answers::REPLACE,
        messages::FORGET,
        cypher::FORGET_UNCHAINED,
    ] {
        assert!(statement.contains("(q:Response)"), "{statement}");
        for begin in ["(q)-", "(q)<"] {
            assert!(!statement.contains(begin), "{statement}");
        }
    }
}
