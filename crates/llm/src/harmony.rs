//! The format of gpt-oss, "harmony", where a service passes it on as it is: messages with a header, such as
//! `<|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…`. Pure.

const MARKS: [&str; 7] = [
    "<|start|>",
    "<|channel|>",
    "<|constrain|>",
    "<|message|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
];

/// The marks with which a text in this format begins.
pub(super) const BEGINNINGS: [&str; 2] = ["<|channel|>", "<|start|>assistant"];

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Reasoning,
    /// A call of a tool; its arguments as the model wrote them.
    Call {
        name: String,
        arguments: String,
    },
}

/// Reads a text in this format that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct Harmony {
    /// Text that may be the beginning of a mark.
    held: String,
    place: Place,
    /// There was visible text, which the next message is parted from.
    has_text: bool,
}

/// What the text at hand belongs to.
#[derive(Debug, Default)]
enum Place {
    /// Nothing, or a message of somebody else, which the model made up.
    #[default]
    Nowhere,
    Header(String),
    Text,
    Reasoning,
    Call {
        name: String,
        arguments: String,
    },
}

impl Harmony {
    pub(super) fn read(&mut self, piece: &str) -> Vec<Part> {
        self.held.push_str(piece);
        let mut parts = Vec::new();
        while let Some((at, mark)) = first_mark(&self.held) {
            let before: String = self.held.drain(..at).collect();
            self.add(&before, &mut parts);
            self.held.drain(..mark.len());
            self.pass(mark, &mut parts);
        }
        let settled = self.held.len() - unsettled(&self.held);
        let settled: String = self.held.drain(..settled).collect();
        self.add(&settled, &mut parts);
        parts
    }

    /// The rest; the service may have cut the last mark off.
    pub(super) fn finish(&mut self) -> Vec<Part> {
        let mut parts = Vec::new();
        let rest = std::mem::take(&mut self.held);
        self.add(&rest, &mut parts);
        self.leave(&mut parts);
        parts
    }

    fn add(&mut self, text: &str, parts: &mut Vec<Part>) {
        if text.is_empty() {
            return;
        }
        match &mut self.place {
            Place::Nowhere | Place::Reasoning => {}
            Place::Header(header) => header.push_str(text),
            Place::Call { arguments, .. } => arguments.push_str(text),
            Place::Text => {
                self.has_text = true;
                parts.push(Part::Text(text.to_owned()));
            }
        }
    }

    fn pass(&mut self, mark: &str, parts: &mut Vec<Part>) {
        match (mark, &mut self.place) {
            ("<|start|>", _) => {
                self.leave(parts);
                self.place = Place::Header(String::new());
            }
            ("<|channel|>" | "<|constrain|>", Place::Header(header)) => header.push(' '),
            ("<|channel|>", _) => {
                self.leave(parts);
                // The prompt ended with the role.
                self.place = Place::Header("assistant ".to_owned());
            }
            ("<|message|>", Place::Header(header)) => {
                let place = place_of(header);
                match &place {
                    Place::Reasoning => parts.push(Part::Reasoning),
                    Place::Text if self.has_text => parts.push(Part::Text("\n\n".to_owned())),
                    Place::Text | Place::Nowhere | Place::Header(_) | Place::Call { .. } => {}
                }
                self.place = place;
            }
            ("<|constrain|>" | "<|message|>", _) => {}
            (_end, _) => self.leave(parts),
        }
    }

    fn leave(&mut self, parts: &mut Vec<Part>) {
        if let Place::Call { name, arguments } = std::mem::take(&mut self.place) {
            parts.push(Part::Call { name, arguments });
        }
    }
}

/// What follows a header: `assistant analysis`, `assistant commentary to=functions.f json`.
fn place_of(header: &str) -> Place {
    let mut words = header.split_whitespace();
    if words.next() != Some("assistant") {
        return Place::Nowhere;
    }
    let mut place = Place::Text;
    for word in words {
        if let Some(name) = word.strip_prefix("to=") {
            return Place::Call {
                name: name.strip_prefix("functions.").unwrap_or(name).to_owned(),
                arguments: String::new(),
            };
        }
        if word == "analysis" {
            place = Place::Reasoning;
        }
    }
    place
}

fn first_mark(text: &str) -> Option<(usize, &'static str)> {
    let found = MARKS
        .iter()
        .filter_map(|mark| Some((text.find(mark)?, *mark)));
    found.min_by_key(|(at, _)| *at)
}

/// Number of bytes at the end that may be the beginning of a mark.
fn unsettled(text: &str) -> usize {
    let Some(at) = text.rfind('<') else { return 0 };
    let end = &text[at..];
    if MARKS.iter().any(|mark| mark.starts_with(end)) {
        end.len()
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&str]) -> (String, bool, Vec<(String, String)>) {
        let mut harmony = Harmony::default();
        let mut parts: Vec<Part> = pieces.iter().flat_map(|it| harmony.read(it)).collect();
        parts.extend(harmony.finish());
        let (mut text, mut reasoned, mut calls) = (String::new(), false, Vec::new());
        for part in parts {
            match part {
                Part::Text(more) => text += &more,
                Part::Reasoning => reasoned = true,
                Part::Call { name, arguments } => calls.push((name, arguments)),
            }
        }
        (text, reasoned, calls)
    }

    #[test]
    fn each_message_is_read_by_its_header() {
        let call = vec![("f".to_owned(), "{\"q\":1}".to_owned())];
        for (written, text, reasoned, calls) in [
            (
                "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>",
                "Yes.",
                true,
                Vec::new(),
            ),
            (
                "<|start|>assistant<|channel|>final<|message|>Yes < no.",
                "Yes < no.",
                false,
                Vec::new(),
            ),
            (
                "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"q\":1}<|call|>",
                "I look.",
                false,
                call.clone(),
            ),
            (
                "<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{\"q\":1}",
                "",
                false,
                call,
            ),
            (
                "<|channel|>final<|message|>Yes.<|end|><|start|>user<|message|>And now?<|end|>",
                "Yes.",
                false,
                Vec::new(),
            ),
            ("<|channel|>analysis<|message|>Hm", "", true, Vec::new()),
        ] {
            let expected = (text.to_owned(), reasoned, calls);
            let letters: Vec<String> = written.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            assert_eq!(read(&[written]), expected, "{written}");
            assert_eq!(read(&letters), expected, "{written}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(
            parts in prop::collection::vec(
                prop_oneof![
                    prop::sample::select(MARKS.to_vec()),
                    Just("assistant"), Just("to=f"), Just("<|"), Just("\u{1f426}"), Just(" ")
                ],
                0..12,
            ),
        ) {
            prop_assert_eq!(read(&parts), read(&[parts.concat().as_str()]));
        }
    }
}
