//! Parses settings that people write in TOML.

use serde::de::DeserializeOwned;

/// Parses a file.
///
/// # Errors
/// Fails with the line and its problem. The line may hold a secret, so it is named and not shown.
pub(crate) fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let problem = without_value(error.message()).replace('\n', " ");
        match error.span() {
            Some(place) => format!("line {}: {problem}", line_at(text, place.start)),
            None => problem,
        }
    })
}

fn line_at(text: &str, place: usize) -> usize {
    let before = &text.as_bytes()[..place.min(text.len())];
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Removes the value from "invalid type: string "…", expected a map".
fn without_value(message: &str) -> String {
    const WORD: &str = "string ";
    let begins = message.find(&format!("{WORD}\""));
    let ends = message.rfind("\", expected");
    match (begins, ends) {
        (Some(begins), Some(ends)) => {
            let kept = &message[..begins + WORD.len()];
            format!("{}{}", kept.trim_end(), &message[ends + 1..])
        }
        (_, _) => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Entry {
        #[allow(dead_code, reason = "only its type matters")]
        private: Option<bool>,
    }

    #[test]
    fn what_is_wrong_is_told_without_the_line() {
        for (text, expected) in [
            ("[a]\ngti = \"SECRET\"\n", "line 2: unknown field `gti`"),
            (
                "[a]\n\nprivate = \"SECRET\\\", expected\"\n",
                "line 3: invalid type: string, expected a boolean",
            ),
            ("[a]\nprivate = \"SECRET\n", "line 2: "),
            ("a = \"SECRET\"\n", "line 1: invalid type: string"),
            ("[a]\nprivate = SECRET\n", "line 2: "),
        ] {
            let problem = parsed::<BTreeMap<String, Entry>>(text).unwrap_err();
            assert!(problem.starts_with(expected), "{text}: {problem}");
            assert!(!problem.contains("SECRET"), "{problem}");
        }
    }
}
