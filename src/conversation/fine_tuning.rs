//! Conversations in the format for fine-tuning models: one line per conversation, with the messages of both sides. Pure.
//!
//! A turn that is left out ends a line, because later turns may depend on it. Left out are messages of people who opted out
//! there, turns that no model answered, and answers that were true only for a moment.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::graph::{Source, Turn};

/// Maximum number of exchanges per line; a longer conversation continues on the next line.
const MAX_EXCHANGES_PER_LINE: usize = 50;

/// Builds the lines of one conversation's turns.
#[derive(Debug)]
pub struct ChatLines<'a> {
    /// Authors who opted out in its channel.
    opted_out: &'a HashSet<String>,
    messages: Vec<Value>,
    /// Number of turns left out.
    pub left_out: usize,
}

impl<'a> ChatLines<'a> {
    pub fn new(opted_out: &'a HashSet<String>) -> Self {
        Self {
            opted_out,
            messages: Vec::new(),
            left_out: 0,
        }
    }

    /// Adds the next turn. Returns a line when one is complete.
    pub fn push(&mut self, turn: &Turn) -> Option<String> {
        if !self.is_taken(turn) {
            self.left_out += 1;
            return self.end();
        }
        let whole = (self.messages.len() >= 2 * MAX_EXCHANGES_PER_LINE)
            .then(|| self.end())
            .flatten();
        self.messages.extend([
            json!({"role": "user", "content": turn.input}),
            json!({"role": "assistant", "content": turn.output}),
        ]);
        whole
    }

    /// Returns the remaining line, if any.
    pub fn end(&mut self) -> Option<String> {
        let messages = std::mem::take(&mut self.messages);
        (!messages.is_empty()).then(|| json!({"messages": messages}).to_string())
    }

    fn is_taken(&self, turn: &Turn) -> bool {
        let is_answered = match turn.source {
            Source::Model | Source::Knowledge | Source::Retrieval => true,
            Source::Memory | Source::Message | Source::Note => false,
        };
        let is_said = !turn.input.trim().is_empty() && !turn.output.trim().is_empty();
        is_answered && is_said && !turn.volatile && !self.opted_out.contains(&turn.author)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(author: &str, input: &str, output: &str) -> Turn {
        Turn {
            author: author.to_owned(),
            ..Turn::of("s", author, input, output)
        }
    }

    fn lines(turns: &[Turn]) -> (Vec<Value>, usize) {
        let opted_out = HashSet::from(["eve".to_owned()]);
        let mut lines = ChatLines::new(&opted_out);
        let mut made: Vec<String> = turns.iter().filter_map(|turn| lines.push(turn)).collect();
        made.extend(lines.end());
        let made = made.iter().map(|line| serde_json::from_str(line).unwrap());
        (made.collect(), lines.left_out)
    }

    #[test]
    fn what_is_left_out_ends_a_line() {
        let said = |input: &str, output: &str| json!([{"role": "user", "content": input}, {"role": "assistant", "content": output}]);
        let volatile = Turn {
            volatile: true,
            ..turn("ada", "How many?", "40")
        };
        let quoted = Turn {
            source: Source::Memory,
            ..turn("ada", "Who?", "You asked that before.")
        };
        for left_out in [
            turn("eve", "My secret", "I see."),
            volatile,
            quoted,
            turn("ada", "Who?", " "),
            Turn::message("s", "bob", "hello all"),
        ] {
            let turns = [
                turn("ada", "1", "one"),
                left_out.clone(),
                turn("bob", "2", "two"),
            ];
            let (made, count) = lines(&turns);
            assert_eq!(
                made,
                [
                    json!({"messages": said("1", "one")}),
                    json!({"messages": said("2", "two")})
                ],
                "{left_out:?}"
            );
            assert_eq!(count, 1);
        }
        let (made, count) = lines(&[turn("ada", "1", "one"), turn("bob", "2", "two")]);
        assert_eq!((made.len(), count), (1, 0));
        assert_eq!(made[0]["messages"].as_array().unwrap().len(), 4);
        assert_eq!(lines(&[]), (vec![], 0));
    }

    #[test]
    fn a_long_conversation_goes_on_in_the_next_line() {
        let turns: Vec<Turn> = (0..2 * MAX_EXCHANGES_PER_LINE + 1)
            .map(|n| turn("ada", &n.to_string(), "yes"))
            .collect();
        let (made, _) = lines(&turns);
        let lengths = made
            .iter()
            .map(|line| line["messages"].as_array().unwrap().len());
        assert_eq!(
            lengths.collect::<Vec<_>>(),
            [2 * MAX_EXCHANGES_PER_LINE, 2 * MAX_EXCHANGES_PER_LINE, 2]
        );
    }
}
