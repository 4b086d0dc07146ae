//! A second look at what was recalled: which of it a model finds to help.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::llm::structured;

/// What the model is asked for.
pub(super) fn shape() -> (&'static str, Value) {
    let shape = json!({
        "type": "object",
        "properties": {"numbers": {"type": "array", "items": {"type": "integer"}}},
        "required": ["numbers"],
        "additionalProperties": false,
    });
    ("rerank", shape)
}

/// The places, from 0, of those that the model picked of so many. None where it cannot be read, or names none that there
/// are: then all of them stay.
pub(super) fn picked(written: &str, of: usize) -> Option<Vec<usize>> {
    /// As asked for, and as some models write it all the same.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        AsAsked { numbers: Vec<i64> },
        List(Vec<i64>),
    }

    let (Written::AsAsked { numbers } | Written::List(numbers)) = structured::json_in(written)?;
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
