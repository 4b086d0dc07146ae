//! Reranking: a model selects which of the recalled memories help.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::llm::structured;

/// The schema of the reply.
pub(super) fn shape() -> (&'static str, Value) {
    let shape = json!({
        "type": "object",
        "properties": {"numbers": {"type": "array", "items": {"type": "integer"}}},
        "required": ["numbers"],
        "additionalProperties": false,
    });
    ("rerank", shape)
}

/// The indices, from 0, that the model selected out of `of`. `None` if the reply cannot be parsed or names no valid one;
/// then all of them stay.
pub(super) fn picked(written: &str, of: usize) -> Option<Vec<usize>> {
    /// The requested form, and one that some models use instead.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum RerankReply {
        AsAsked { numbers: Vec<i64> },
        List(Vec<i64>),
    }

    let (RerankReply::AsAsked { numbers } | RerankReply::List(numbers)) =
        structured::json_in(written)?;
    let place = |number: &i64| usize::try_from(*number).ok()?.checked_sub(1);
    let places = numbers.iter().filter_map(place);
    let there: Vec<usize> = places.filter(|place| *place < of).collect();
    (numbers.is_empty() || !there.is_empty()).then_some(there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_picked_is_read_however_it_is_written() {
        for (written, expected) in [
            (r#"{"numbers": [2, 1]}"#, Some(vec![1, 0])),
            ("Sure! ```json\n[3]\n```", Some(vec![2])),
            (r#"{"numbers": []}"#, Some(vec![])),
            (r#"{"numbers": [0, 4, -1, 3]}"#, Some(vec![2])),
            (r#"{"numbers": [7]}"#, None),
            (r#"{"numbers": ["two"]}"#, None),
            ("the second", None),
            ("", None),
        ] {
            assert_eq!(picked(written, 3), expected, "{written}");
        }
    }
}
