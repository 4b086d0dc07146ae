//! Reads transcripts: tables with one utterance per row, as published for conversations between
//! several people.
//!
//! Columns are recognised by their names, as in `AnnoMI` and others: the transcript of a row, the
//! speaker, and the text. Rows of several annotators of one utterance are merged. Consecutive
//! utterances of a speaker form one turn, and an exchange is a turn with its answer.

use std::collections::HashSet;
use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::chunking::{MarkupKind, pieces};
use super::conversations::{CONVERSATION, EXEMPLAR};
use super::documents::in_order;
use super::record::{
    Chunk, LinkEndpoint, Record, RecordLink, Rejection, SourceLocation, short_title, usable_key,
    usable_link,
};
use crate::graph::ingest::INCLUDES;

const TRANSCRIPT: &[&str] = &[
    "transcript_id",
    "conversation_id",
    "dialogue_id",
    "dialog_id",
    "session_id",
];
const SPEAKER: &[&str] = &["interlocutor", "speaker", "speaker_role", "role"];
const TEXT: &[&str] = &["utterance_text", "utterance", "text", "content"];
const NUMBER: &[&str] = &["utterance_id", "turn_id", "utterance_number"];
/// Metadata of a transcript, with the names of its columns.
const ABOUT: [(&str, &[&str]); 4] = [
    ("title", &["title", "video_title"]),
    ("topic", &["topic"]),
    ("quality", &["mi_quality", "quality"]),
    ("link", &["url", "video_url", "link"]),
];
/// Characters of the first utterance that make a title.
const TITLE_CHARS: usize = 80;
/// Maximum bytes of a table of transcripts: a transcript's rows may be anywhere in it, so it is
/// held in memory.
pub(super) const MAX_TABLE: u64 = 256 * 1024 * 1024;

/// Whether a row is an utterance of a transcript.
pub(super) fn is_utterance(row: &Value) -> bool {
    [TRANSCRIPT, SPEAKER, TEXT]
        .iter()
        .all(|names| column(row, names).is_some())
}

/// The transcripts of one table.
#[derive(Debug, Default)]
pub(super) struct Transcripts(IndexMap<String, Transcript>);

#[derive(Debug)]
struct Transcript {
    /// Its first row.
    at: SourceLocation,
    about: Map<String, Value>,
    said: Vec<Utterance>,
    /// The numbers of the utterances already added.
    numbers: HashSet<String>,
}

#[derive(Debug)]
struct Utterance {
    number: Option<f64>,
    speaker: String,
    text: String,
}

impl Transcripts {
    /// Adds a row.
    ///
    /// # Errors
    /// Fails with the reason of the refusal.
    pub(super) fn push(&mut self, row: &Value, file: &Path, line: u64) -> Result<(), Rejection> {
        let place = SourceLocation::line(file, line);
        let refuse = |reason: &str| SourceLocation::line(file, line).refuse(reason.to_owned());
        let of = |names: &[&str]| column(row, names).unwrap_or_default();
        let (id, speaker, text) = (of(TRANSCRIPT), of(SPEAKER), of(TEXT));
        if id.is_empty() {
            return Err(refuse("it does not say which transcript it is of"));
        }
        if speaker.is_empty() {
            return Err(refuse("it does not say who says it"));
        }
        let transcript = self.0.entry(id).or_insert_with(|| Transcript {
            at: place,
            about: about(row),
            said: Vec::new(),
            numbers: HashSet::new(),
        });
        let number = of(NUMBER);
        let is_known = !number.is_empty() && !transcript.numbers.insert(number.clone());
        // Nothing was intelligible, or another annotator's row was added.
        if !text.is_empty() && !is_known {
            transcript.said.push(Utterance {
                number: number.parse().ok(),
                speaker,
                text,
            });
        }
        Ok(())
    }

    /// Returns the transcripts, in the order of their first rows.
    pub(super) fn into_records(self) -> impl Iterator<Item = Result<Record, Rejection>> {
        self.0
            .into_iter()
            .map(|(id, transcript)| transcript.record(id))
    }
}

impl Transcript {
    fn record(mut self, id: String) -> Result<Record, Rejection> {
        if self.said.iter().all(|said| said.number.is_some()) {
            let number = |said: &Utterance| said.number.unwrap_or_default();
            self.said
                .sort_by(|one, other| number(one).total_cmp(&number(other)));
        }
        let turns = turns(self.said);
        let Some(first) = turns.first() else {
            return Err(self.at.refuse("nothing is said in it".to_owned()));
        };
        let id = usable_key(id).map_err(|reason| self.at.clone().refuse(reason))?;
        let mut properties = self.about;
        properties.retain(|name, value| {
            let Value::String(text) = value else {
                return true;
            };
            if name == "link" {
                return usable_link(text.clone()).is_some();
            }
            *text = short_title(text);
            true
        });
        let title = properties.get("title").and_then(Value::as_str);
        let title = title.map(str::to_owned);
        let title = title.unwrap_or_else(|| first.1.chars().take(TITLE_CHARS).collect());
        properties.insert("title".to_owned(), json!(title));
        let chunk = |label: &str, text: String| Chunk {
            label: label.to_owned(),
            embedded: text.clone(),
            text,
            properties: properties.clone(),
        };
        let mut chunks = vec![chunk(CONVERSATION, title)];
        for exchange in exchanges(&turns) {
            let parts = pieces(&exchange, MarkupKind::Plain).into_iter();
            chunks.extend(parts.map(|text| chunk(EXEMPLAR, text)));
        }
        let parts = (1..chunks.len()).map(|at| RecordLink {
            kind: INCLUDES.to_owned(),
            from: LinkEndpoint::Own(0),
            to: LinkEndpoint::Own(at),
        });
        Ok(Record {
            key: id,
            at: self.at,
            links: parts.chain(in_order(chunks.len())).collect(),
            chunks,
            is_shared: false,
        })
    }
}

/// Merges consecutive utterances of a speaker into turns.
fn turns(said: Vec<Utterance>) -> Vec<(String, String)> {
    let mut turns: Vec<(String, String)> = Vec::new();
    for Utterance { speaker, text, .. } in said {
        match turns.last_mut() {
            Some((last, together)) if *last == speaker => {
                together.push(' ');
                together.push_str(&text);
            }
            Some(_) | None => turns.push((speaker, text)),
        }
    }
    turns
}

/// Pairs turns with their answers, with the speakers. Of three remaining turns the last one is
/// alone.
fn exchanges(turns: &[(String, String)]) -> Vec<String> {
    let line = |(speaker, text): &(String, String)| format!("{}: {text}", named(speaker));
    let both = |pair: &[(String, String)]| pair.iter().map(line).collect::<Vec<_>>().join("\n\n");
    // The helper often speaks first and is then answered.
    turns.chunks(2).map(both).collect()
}

/// Capitalises: `therapist` is `Therapist`.
fn named(speaker: &str) -> String {
    let mut letters = speaker.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

fn about(row: &Value) -> Map<String, Value> {
    let told = ABOUT.iter().filter_map(|(name, columns)| {
        let value = column(row, columns).filter(|value| !value.is_empty())?;
        Some(((*name).to_owned(), json!(value)))
    });
    told.collect()
}

/// Returns the value of the first of these columns that exists, in any case.
fn column(row: &Value, names: &[&str]) -> Option<String> {
    let fields = row.as_object()?;
    let named = |name: &&str| {
        fields
            .iter()
            .find(|(own, _)| own.trim().eq_ignore_ascii_case(name))
    };
    let (_, value) = names.iter().find_map(named)?;
    Some(match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(transcript: &str, number: &str, speaker: &str, text: &str) -> Value {
        json!({
            "mi_quality": "high", "transcript_id": transcript, "video_title": "On smoking", "video_url": "https://v.test/1",
            "topic": "smoking cessation", "utterance_id": number, "interlocutor": speaker, "timestamp": "00:00:13",
            "utterance_text": text, "annotator_id": "3",
        })
    }

    fn records(rows: &[Value]) -> Vec<Result<Record, String>> {
        let mut all = Transcripts::default();
        for (line, row) in (2..).zip(rows) {
            all.push(row, Path::new("t.csv"), line).unwrap();
        }
        let records = all.into_records();
        records
            .map(|it| it.map_err(|refused| refused.reason))
            .collect()
    }

    #[test]
    fn rows_become_transcripts_with_their_exchanges() {
        let made = records(&[
            row("0", "0", "therapist", "What brings you here?"),
            row("1", "0", "client", "I came by bus."),
            row("0", "2", "therapist", "How long?"),
            row("0", "1", "client", "I want to stop."),
            // Another annotator's row.
            row("0", "1", "client", "I want to stop."),
            row("0", "3", "client", "Ten years."),
            row("0", "4", "client", "Or eleven."),
            row("0", "5", "therapist", ""),
        ]);
        let first = made[0].as_ref().unwrap();
        let texts: Vec<&str> = first
            .chunks
            .iter()
            .map(|chunk| chunk.text.as_str())
            .collect();
        assert_eq!(
            texts,
            [
                "On smoking",
                "Therapist: What brings you here?\n\nClient: I want to stop.",
                "Therapist: How long?\n\nClient: Ten years. Or eleven.",
            ]
        );
        assert_eq!(first.key, "0");
        let properties = Value::Object(first.chunks[1].properties.clone());
        assert_eq!(
            properties,
            json!({"title": "On smoking", "topic": "smoking cessation", "quality": "high", "link": "https://v.test/1"})
        );
        assert_eq!(
            made[1].as_ref().unwrap().chunks[1].text,
            "Client: I came by bus."
        );
        assert_eq!(made.len(), 2);
    }

    #[test]
    fn a_table_of_transcripts_is_known_by_its_columns() {
        assert!(is_utterance(&row("0", "0", "client", "Hello.")));
        assert!(is_utterance(
            &json!({"Conversation_ID": 1, "Speaker": "Ada", "Text": "Hello."})
        ));
        for other in [
            json!({"id": 1, "text": "Hello."}),
            json!({"speaker": "Ada", "text": "Hello."}),
            json!(["x"]),
        ] {
            assert!(!is_utterance(&other), "{other}");
        }
    }

    #[test]
    fn a_row_without_a_speaker_and_a_transcript_without_a_word_are_refused() {
        let mut all = Transcripts::default();
        let file = Path::new("t.csv");
        for (row, why) in [
            (row("0", "0", "", "Hello."), "who says it"),
            (row("", "0", "client", "Hello."), "which transcript"),
        ] {
            let refused = all.push(&row, file, 2).unwrap_err();
            assert!(refused.reason.contains(why), "{}", refused.reason);
        }
        let made = records(&[row("0", "0", "client", " ")]);
        assert!(made[0].as_ref().unwrap_err().contains("nothing is said"));
    }
}
