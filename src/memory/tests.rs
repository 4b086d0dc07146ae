//! Recall as a whole, on turns made here.

use chrono::{TimeDelta, Utc};
use uuid::Uuid;

use super::*;
use crate::graph::{Embedding, ResponseId, Source, Turn};
use crate::llm::local::LocalEmbedder;

pub(super) fn turn(position: i64, input: &str, output: &str) -> Turn {
    let start: chrono::DateTime<Utc> = "2026-03-02T09:00:00Z".parse().unwrap();
    Turn {
        id: ResponseId(Uuid::from_u128(position as u128)),
        session: "s".into(),
        position,
        created_at: start + TimeDelta::minutes(position),
        source: Source::Model,
        input: input.into(),
        rephrased_question: None,
        output: output.into(),
        cypher: None,
        event: format!("e{position}"),
        author: "u1".into(),
        author_name: "Ada".into(),
        volatile: false,
        embedding: None,
        model: None,
        prompt_tokens: 0,
        completion_tokens: 0,
        duration_ms: 0,
    }
}
