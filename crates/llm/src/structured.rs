//! Parses structured data from a model's text: it may be in a code fence or between prose.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The shape that an answer should have. Services that cannot enforce it are called without.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerShape {
    /// Letters, digits and underscores.
    pub name: &'static str,
    /// JSON schema: an object whose properties are all required, with `additionalProperties` false.
    pub schema: Value,
}

/// Maximum number of positions in a text that are tried as the beginning of JSON.
const MOST_BEGINNINGS: usize = 32;

/// The first JSON value in the text that parses as a `T`.
pub fn json_in<T: DeserializeOwned>(text: &str) -> Option<T> {
    text.match_indices(['{', '['])
        .take(MOST_BEGINNINGS)
        .find_map(|(start, _)| {
            let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<T>();
            values.next()?.ok()
        })
}

/// The content of the first code fence, or else the whole text.
pub fn code_in(text: &str) -> &str {
    let Some((_, fenced)) = text.split_once("```") else {
        return text.trim();
    };
    let code = fenced.split_once("```").map_or(fenced, |(code, _)| code);
    let is_language = |line: &str| {
        !line.contains(' ')
            && line
                .chars()
                .all(|c| c.is_alphanumeric() || "-_+".contains(c))
    };
    match code.split_once('\n') {
        Some((first, rest)) if is_language(first.trim()) => rest.trim(),
        Some(_) | None => code.trim(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Questions {
        questions: Vec<String>,
    }

    #[test]
    fn json_is_found_wherever_it_stands() {
        let whole = r#"{"questions": ["Who?"]}"#;
        let table = [
            whole.to_owned(),
            format!("```json\n{whole}\n```"),
            format!("Sure! Here it is: {whole} Anything else?"),
            format!("{{not json}} [1, 2] {whole}"),
        ];
        for text in table {
            let found: Option<Questions> = json_in(&text);
            let expected = vec!["Who?".to_owned()];
            assert_eq!(found.map(|it| it.questions), Some(expected), "{text}");
        }
        assert_eq!(json_in::<Questions>("None, it is all there."), None);
    }

    #[test]
    fn code_is_found_wherever_it_stands() {
        let table = [
            ("RETURN 1", "RETURN 1"),
            ("```cypher\nRETURN 1\n```", "RETURN 1"),
            ("```\nRETURN 1\n```", "RETURN 1"),
            ("Here:\n```cypher\nRETURN 1\n```\nIt counts.", "RETURN 1"),
            ("```RETURN 1```", "RETURN 1"),
            ("```cypher\nRETURN 1", "RETURN 1"),
            ("```MATCH (n)\nRETURN n```", "MATCH (n)\nRETURN n"),
        ];
        for (text, code) in table {
            assert_eq!(code_in(text), code, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_written_panics(text in r#"[\[\]{}",:`a\n]{0,200}"#) {
            let _ = json_in::<Questions>(&text);
            let _ = code_in(&text);
        }
    }
}
