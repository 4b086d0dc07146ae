//! The tools for a person's notes and favourites.
//!
//! A model cannot keep anything by itself. It proposes a note, which is kept if the person agrees in their next
//! message (`crate::conversation::commands`), and is then a note like those of `remember that …`.

use muninn_platform::{count_with_noun, one_line};
use serde::Deserialize;
use serde_json::json;

use super::names::{LIST_NOTES, SAVE_NOTE};
use super::of_turn::Tools;
use super::result::{ToolResult, takes_text, wrong_call};
use crate::agent::findings;
use crate::agent::prompts::{Finding, date};
use crate::graph::GraphStore;
use crate::graph::items::{ListedItem, OwnItems};
use crate::graph::trace::ToolUse;
use crate::llm::{ToolSpec, structured};

/// Maximum number of notes listed: the newest.
const MOST_LISTED: usize = 30;
/// Maximum characters of a proposed note: it is shown completely before it is kept.
const MAX_NOTE_CHARS: usize = 500;

/// Arguments of `save_note`.
#[derive(Debug, Deserialize)]
struct SaveNote {
    text: String,
}

/// The note that the person is asked to keep: the last proposal among the tool calls.
pub fn proposed(tools: &[ToolUse]) -> Option<String> {
    let is_proposal = |used: &&ToolUse| used.name == SAVE_NOTE && used.error.is_none();
    let used = tools.iter().rfind(is_proposal)?;
    proposal(&used.arguments).ok()
}

/// The proposed note, on one line.
fn proposal(arguments: &str) -> Result<String, String> {
    let SaveNote { text } = structured::json_in(arguments).ok_or("it takes a text")?;
    let text = one_line(&text);
    match text.chars().count() {
        0 => Err("the text is empty".to_owned()),
        1..=MAX_NOTE_CHARS => Ok(text),
        _ => Err(format!(
            "the text is longer than {MAX_NOTE_CHARS} characters"
        )),
    }
}

pub(super) fn save_note(arguments: &str) -> ToolResult {
    let text = match proposal(arguments) {
        Ok(text) => text,
        Err(why) => return wrong_call(SAVE_NOTE, &why),
    };
    ToolResult {
        finding: Finding {
            heading: format!(
                "{SAVE_NOTE}({text:?}): not kept yet. Below your answer they are asked, and it is kept when they say yes. \
                 Do not say that it is kept"
            ),
            lines: Vec::new(),
        },
        used: ToolUse {
            found: Some(1),
            // What the model wrote may have another name for the text, or none.
            arguments: json!({ "text": text }).to_string(),
            ..ToolUse::default()
        },
        is_volatile: true,
        ..ToolResult::default()
    }
}

impl Tools<'_> {
    pub(super) async fn list_notes(&self, store: &GraphStore) -> ToolResult {
        let own = OwnItems {
            accounts: &self.message.accounts(),
            audiences: &self.message.recalled_audiences(),
            words: &[],
            until: None,
            listed: &[],
            only_notes: true,
            most: MOST_LISTED,
        };
        let mut notes = match store.own_items(&own).await {
            Ok(notes) => notes,
            Err(error) => {
                let mut result = ToolResult {
                    finding: findings::without(LIST_NOTES, &format!("failed: {error}")),
                    ..ToolResult::default()
                };
                result.used.error = Some(error.to_string());
                return result;
            }
        };
        notes.retain(|note| note.corrected_at.is_none());
        let zone = self.time_zone();
        let line = |note: &ListedItem| {
            let day = date(note.turn.created_at, zone);
            format!("[{day}] {}", one_line(&note.turn.input))
        };
        ToolResult {
            finding: Finding {
                heading: match notes.len() {
                    0 => format!("{LIST_NOTES}: they have had nothing kept here"),
                    some => format!(
                        "{LIST_NOTES}: {}, the newest first",
                        count_with_noun(some, "note")
                    ),
                },
                lines: notes.iter().map(line).collect(),
            },
            listed: notes.iter().map(|note| note.turn.id).collect(),
            used: ToolUse {
                found: Some(notes.len()),
                ..ToolUse::default()
            },
            is_volatile: true,
            ..ToolResult::default()
        }
    }
}

pub(super) fn specs() -> [ToolSpec; 2] {
    let save = ToolSpec {
        name: SAVE_NOTE.to_owned(),
        description: "Proposes to keep something for the person you answer: a favourite, a bookmark, a note of their own. \
                      Call it only where they ask to have something saved. It is kept when they then say yes."
            .to_owned(),
        parameters: takes_text(
            "text",
            "What is kept, in one sentence that can be understood alone.",
        ),
    };
    let list = ToolSpec {
        name: LIST_NOTES.to_owned(),
        description: "Lists what the person you answer has had kept here: their favourites, bookmarks and notes."
            .to_owned(),
        parameters: json!({"type": "object", "properties": {}, "additionalProperties": false}),
    };
    [save, list]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(name: &str, arguments: &str, error: Option<&str>) -> ToolUse {
        ToolUse {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            error: error.map(str::to_owned),
            ..ToolUse::default()
        }
    }

    #[test]
    fn the_last_proposal_is_the_one_that_is_asked_for() {
        let first = used(SAVE_NOTE, r#"{"text": "Talk 3\nis  good"}"#, None);
        let other = used("search_memory", r#"{"query": "x"}"#, None);
        let failed = used(SAVE_NOTE, r#"{"text": "Talk 5"}"#, Some("no"));
        let second = used(SAVE_NOTE, r#"{"text": "Talk 4"}"#, None);
        for (tools, expected) in [
            (vec![], None),
            (vec![other.clone()], None),
            (
                vec![first.clone(), other.clone(), failed],
                Some("Talk 3 is good"),
            ),
            (vec![first, second, other], Some("Talk 4")),
        ] {
            assert_eq!(proposed(&tools).as_deref(), expected, "{tools:?}");
        }
    }

    #[test]
    fn what_was_proposed_is_kept_with_its_call() {
        let ToolResult { used: call, .. } = save_note(r#"{"text": "tea\nat  four"}"#);
        assert_eq!(call.arguments, r#"{"text":"tea at four"}"#);
        let call = used(SAVE_NOTE, &call.arguments, None);
        assert_eq!(proposed(&[call]).as_deref(), Some("tea at four"));
    }

    #[test]
    fn what_is_no_note_is_a_wrong_call() {
        let long = json!({"text": "x".repeat(MAX_NOTE_CHARS + 1)}).to_string();
        for arguments in ["", "{}", r#"{"text": " "}"#, &long] {
            assert!(save_note(arguments).is_wrong_call, "{arguments}");
        }
        let kept = save_note(r#"{"text": "tea at four"}"#);
        assert!(!kept.is_wrong_call && kept.finding.heading.contains("not kept yet"));
    }
}
