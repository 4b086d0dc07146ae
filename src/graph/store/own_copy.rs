//! Reads everything that is kept of one person, for their copy. It is read in pages, so that memory use does not grow
//! with the amount.

use chrono::{DateTime, Utc};
use muninn_platform::{Feedback, Opinion};
use muninn_texts::{Language, Value, text};
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc;

use super::GraphStore;
use super::record::{params, text, turn};
use super::statements::items as cypher;
use crate::graph::engine::value::instant;
use crate::graph::engine::{Engine, Row};
use crate::graph::types::source::Source;
use crate::graph::{AttachedText, StoreError};

/// Number of items read per statement.
const PAGE: usize = 500;
/// Greater than every ID.
const BEHIND_ALL: &str = "~";

/// One item that is kept of a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum OwnRecord {
    /// A question of theirs, with its answer.
    Asked {
        #[serde(flatten)]
        said: OwnWords,
        answer: String,
        /// The text of the files that came with it.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files: Vec<AttachedText>,
    },
    /// A message of theirs to others.
    Said(OwnWords),
    /// A note of theirs.
    Noted(OwnWords),
    /// Their vote on an answer of this day.
    Feedback {
        opinion: Opinion,
        /// ID of the answer.
        answer: String,
        answered_at: Option<DateTime<Utc>>,
    },
}

/// A person's text, with place and time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OwnWords {
    pub at: DateTime<Utc>,
    pub platform: String,
    /// Its name for people.
    pub place: String,
    pub conversation: String,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// When somebody corrected it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_at: Option<DateTime<Utc>>,
}

impl OwnRecord {
    /// The item in Markdown, for people who read this language.
    pub fn to_markdown(&self, language: Language) -> String {
        let (said, what) = match self {
            Self::Asked { said, .. } => (said, text!("copy-asked")),
            Self::Said(said) => (said, text!("copy-said")),
            Self::Noted(said) => (said, text!("copy-noted")),
            Self::Feedback {
                opinion,
                answer,
                answered_at,
            } => {
                let answer = match answered_at {
                    Some(at) => text!("copy-answer-of", answer, date = Value::date(at)).into(),
                    None => Value::from(answer),
                };
                let said = match opinion {
                    Opinion::Good => text!("copy-liked", answer),
                    Opinion::Bad => text!("copy-disliked", answer),
                };
                return format!("- {}\n", said.in_language(language));
            }
        };
        let OwnWords {
            at,
            platform,
            place,
            conversation: _,
            text,
            link,
            corrected_at,
        } = said;
        let what = match corrected_at {
            Some(at) => text!("copy-what-corrected", what, date = Value::date(at)),
            None => text!("copy-what", what),
        };
        let heading = text!("copy-where", at = Value::moment(at), place, platform);
        let link = link
            .as_ref()
            .map_or_else(String::new, |link| format!(" <{link}>"));
        let mut lines = vec![
            format!("### {}{link}", heading.in_language(language)),
            String::new(),
            what.in_language(language),
            quoted(text),
        ];
        if let Self::Asked { answer, files, .. } = self {
            for file in files {
                lines.push(text!("copy-file", name = &file.name).in_language(language));
                lines.push(quoted(&file.text));
            }
            lines.push(text!("copy-answer").in_language(language));
            lines.push(quoted(answer));
        }
        lines.push(String::new());
        lines.join("\n")
    }
}

fn quoted(text: &str) -> String {
    let lines = text.lines().map(|line| format!("> {line}\n"));
    format!("\n{}", lines.collect::<String>())
}

impl GraphStore {
    /// Sends what is kept of a person, newest first, and then their votes. Ends early without an error if nobody
    /// receives it any more.
    ///
    /// # Errors
    /// Fails when the graph cannot be read; what was sent by then is incomplete.
    pub async fn own_records(
        &self,
        person: &str,
        to: mpsc::Sender<OwnRecord>,
    ) -> Result<(), StoreError> {
        let bound = json!({"author": person});
        self.pages(cypher::KEPT_OF, bound, &to, |row| words(row).map(Some))
            .await?;
        // As it appears in a line of the feedback.
        let bound = json!({"person": json!(person).to_string()});
        self.pages(cypher::OPINIONS_OF, bound, &to, |row| {
            Ok(opinion(row, person))
        })
        .await
    }

    /// Reads the results of a statement in pages, by descending IDs, and sends them converted.
    async fn pages(
        &self,
        statement: &str,
        bound: serde_json::Value,
        to: &mpsc::Sender<OwnRecord>,
        make: impl Fn(&Row) -> Result<Option<OwnRecord>, StoreError> + Send,
    ) -> Result<(), StoreError> {
        let mut bound = params(bound);
        bound.insert("most".to_owned(), json!(PAGE));
        let mut before = BEHIND_ALL.to_owned();
        loop {
            bound.insert("before".to_owned(), json!(before));
            let rows = self.engine.read(statement, bound.clone()).await?;
            let records: Result<Vec<Option<OwnRecord>>, StoreError> =
                rows.iter().map(&make).collect();
            for record in records?.into_iter().flatten() {
                if to.send(record).await.is_err() {
                    return Ok(());
                }
            }
            match rows.last().and_then(|row| text(row, "id")) {
                Some(last) if rows.len() == PAGE => before = last,
                Some(_) | None => return Ok(()),
            }
        }
    }
}

fn words(row: &Row) -> Result<OwnRecord, StoreError> {
    let turn = turn(row.get("turn").unwrap_or(&serde_json::Value::Null))?;
    let files = turn.files().cloned().collect();
    let said = OwnWords {
        at: turn.created_at,
        platform: text(row, "platform").unwrap_or_default(),
        place: text(row, "place").unwrap_or_default(),
        conversation: turn.session,
        text: turn.input,
        link: turn.link,
        corrected_at: row.get("correctedAt").and_then(instant),
    };
    Ok(match turn.source {
        Source::Message => OwnRecord::Said(said),
        Source::Note => OwnRecord::Noted(said),
        Source::Model | Source::Knowledge | Source::Retrieval | Source::Memory => {
            OwnRecord::Asked {
                said,
                answer: turn.output,
                files,
            }
        }
    })
}

/// A person's last vote on an answer.
fn opinion(row: &Row, person: &str) -> Option<OwnRecord> {
    let kept = text(row, "feedback").unwrap_or_default();
    let mut last = None;
    for line in kept.lines() {
        match serde_json::from_str(line) {
            Ok(Feedback::Given {
                event,
                person: by,
                opinion,
                ..
            }) if by == person => last = Some((event, opinion)),
            Ok(Feedback::Withdrawn { event }) => last = last.filter(|(known, _)| *known != event),
            Ok(Feedback::Given { .. }) | Err(_) => {}
        }
    }
    let (_, opinion) = last?;
    Some(OwnRecord::Feedback {
        opinion,
        answer: text(row, "id").unwrap_or_default(),
        answered_at: row.get("at").and_then(instant),
    })
}
