//! Builds messages as JSON, within Slack's size limits for any text. Pure.

use muninn_platform::{AnswerStage, Language, SafeText, TextLimit};
use serde_json::{Value, json};

use crate::mrkdwn::{EDITED_TEXT, escape, fallback, markdown, mrkdwn};
use crate::views;

/// Maximum characters of all `markdown` blocks of a message, or of a whole stream.
const BLOCKS: usize = 12_000;

/// Maximum characters of a part. It always fits: in the worst case, code full of `<@U`, each three
/// characters become six.
const TEXT: usize = BLOCKS / 2;

pub(crate) const LIMIT: TextLimit = TextLimit::Chars(TEXT);

/// Limit of an ephemeral answer: its share button contains all of it.
pub(crate) const EPHEMERAL_LIMIT: TextLimit = TextLimit::Chars(views::LONGEST_VALUE - 100);

/// The metadata type that marks answers: with the question's event and the part's number.
pub(crate) const METADATA: &str = "muninn_answer";

/// The metadata type that marks announcements.
const ANNOUNCED: &str = "muninn_announced";

/// How a message is formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlackMessageFormat {
    Blocks,
    /// Text in Slack's own markup without buttons, after Slack refused the blocks.
    Plain,
}

/// Maximum bytes of Markdown for a plain message, whose `text` may have 4,000 bytes when edited;
/// also if its markup takes more space than the Markdown.
const PLAIN: usize = 3_000;
const PLAIN_AND_ESCAPED: usize = EDITED_TEXT / 5 - 20;

/// Splits an answer into parts that fit into plain messages.
pub(crate) fn plain_parts(parts: &[SafeText]) -> Vec<SafeText> {
    let pieces = parts
        .iter()
        .flat_map(|part| part.split(TextLimit::Bytes(PLAIN)));
    let fitting = pieces.flat_map(|piece| {
        if mrkdwn(piece.as_str()).len() <= EDITED_TEXT {
            vec![piece]
        } else {
            piece.split(TextLimit::Bytes(PLAIN_AND_ESCAPED))
        }
    });
    fitting.collect()
}

/// Converts a part to Slack's own markup; unchanged if the result would be too long.
fn plain(part: &SafeText) -> String {
    let markup = mrkdwn(part.as_str());
    if markup.len() <= EDITED_TEXT && !markup.is_empty() {
        markup
    } else {
        escape(part.as_str())
    }
}

/// Builds the content of a message: its text and blocks.
pub(crate) fn message(
    text: &SafeText,
    stage: AnswerStage,
    form: SlackMessageFormat,
    language: Language,
) -> Value {
    match form {
        SlackMessageFormat::Blocks => in_blocks(text, stage, language),
        // No blocks, also if there were some before.
        SlackMessageFormat::Plain => json!({ "text": plain(text), "blocks": [] }),
    }
}

fn in_blocks(text: &SafeText, stage: AnswerStage, language: Language) -> Value {
    let mut blocks = vec![json!({ "type": "markdown", "text": markdown(text.as_str()) })];
    blocks.extend(below(stage, language));
    json!({ "text": fallback(text), "blocks": blocks })
}

/// The buttons below an answer.
pub(crate) fn below(stage: AnswerStage, language: Language) -> Vec<Value> {
    match stage {
        AnswerStage::Growing => views::below_growing(language),
        AnswerStage::Whole => Vec::new(),
        AnswerStage::Last => views::below_answer(None, language),
    }
}

/// Marks a message as this part of this answer.
pub(crate) fn metadata(question: &str, part: usize) -> Value {
    json!({ "event_type": METADATA, "event_payload": { "question": question, "part": part } })
}

/// Marks an answer that one person shared with a channel.
pub(crate) fn shared() -> Value {
    json!({ "event_type": "muninn_shared", "event_payload": {} })
}

/// Marks an announcement with its id.
pub(crate) fn announced(id: &str) -> Value {
    json!({ "event_type": ANNOUNCED, "event_payload": { "id": id } })
}

/// Whether a message is the announcement with this id.
pub(crate) fn is_announced(message: &Value, id: &str) -> bool {
    let metadata = &message["metadata"];
    metadata["event_type"] == ANNOUNCED && metadata["event_payload"]["id"] == id
}

/// Whether a message has our metadata. A stream gets it when it ends: one without it is half an
/// answer.
pub(crate) fn is_marked(message: &Value) -> bool {
    message["metadata"]["event_type"]
        .as_str()
        .is_some_and(|kind| kind.starts_with("muninn_"))
}

/// Returns the part number of an answer to `question`, if the message is one.
pub(crate) fn part_of(message: &Value, question: &str) -> Option<usize> {
    let metadata = &message["metadata"];
    let payload = &metadata["event_payload"];
    let is_ours = metadata["event_type"] == METADATA && payload["question"] == question;
    let part = payload["part"].as_u64().filter(|_| is_ours)?;
    usize::try_from(part).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_worst_texts_fit() {
        for piece in [
            "<@",
            "<!",
            "<@U",
            "<#C",
            "<!here",
            "&lt;@",
            "&lt;@U",
            "&",
            "漢",
            "— ",
            "[a](https://b.c/d) ",
            "👩‍🚀",
            "|\n|-|\n",
            "a ",
            "`",
            "\n",
        ] {
            let pieces = piece.repeat(TEXT);
            for text in [format!("x{pieces}"), format!("```\n{pieces}\n```")] {
                assert_eq!(too_long(&text), None, "{piece:?}");
            }
        }
    }

    /// Returns what exceeds Slack's limits, after splitting and escaping.
    fn too_long(text: &str) -> Option<String> {
        let parts = SafeText::new(text).split(LIMIT);
        for part in &parts {
            let content = message(
                part,
                AnswerStage::Last,
                SlackMessageFormat::Blocks,
                Language::English,
            );
            let block = content["blocks"][0]["text"].as_str().unwrap();
            if block.chars().count() > BLOCKS {
                return Some(format!("a block of {}", block.chars().count()));
            }
            let text = content["text"].as_str().unwrap();
            if text.len() > EDITED_TEXT {
                return Some(format!("a text of {}", text.len()));
            }
        }
        for part in plain_parts(&parts) {
            let content = message(
                &part,
                AnswerStage::Last,
                SlackMessageFormat::Plain,
                Language::English,
            );
            let text = content["text"].as_str().unwrap();
            if text.len() > EDITED_TEXT {
                return Some(format!("a plain text of {}", text.len()));
            }
        }
        None
    }

    #[test]
    fn a_part_is_known_again() {
        let message = json!({ "metadata": metadata("slack/T1/C1/1.2", 3) });
        assert_eq!(part_of(&message, "slack/T1/C1/1.2"), Some(3));
        assert_eq!(part_of(&message, "slack/T1/C1/1.3"), None);
        assert_eq!(part_of(&json!({}), "slack/T1/C1/1.2"), None);
        let message = json!({ "metadata": announced("7") });
        assert!(is_announced(&message, "7") && !is_announced(&message, "8"));
        assert!(is_marked(&message));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn any_part_fits(text in "\\PC{0,40}", times in 1..400usize) {
            prop_assert_eq!(too_long(&text.repeat(times)), None);
        }

        #[test]
        fn any_part_of_code_fits_that_slack_could_read_as_its_own(
            pieces in prop::collection::vec("<@U1?|<#[CG]|<!here|<!subteam|&amp;|&lt;@U|&lt;|[&<>`\n]|[a-z ]{1,3}", 1..40),
            fence in "(```\n|`|    )?",
            times in 1..900usize,
        ) {
            let text = format!("{fence}{}", pieces.concat().repeat(times));
            prop_assert_eq!(too_long(&text), None);
        }
    }
}
