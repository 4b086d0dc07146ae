//! Extracts the visible text while a model writes: without its reasoning, and without tool calls that it writes as
//! text. Pure.

use serde_json::json;

use super::harmony::{self, Harmony, Part};

/// Marks around reasoning: `<think>` of Qwen and related models, and those of Magistral, Kimi and Seed.
const REASONING: [(&str, &str); 8] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<seed:think>", "</seed:think>"),
];

/// Marks after which nothing is visible: see [`super::text_calls`].
pub(super) const CALLS: [&str; 11] = [
    "<tool_call>",
    "<tool_calls>",
    "<|python_tag|>",
    "[tool_calls]",
    "<function=",
    "<function_call>",
    "<｜tool▁calls▁begin｜>",
    "<|tool_calls_section_begin|>",
    "<function_calls>",
    "<｜dsml｜function_calls>",
    "<invoke name=",
];

/// Marks at the end of the model's turn. What follows is a turn that it made up.
const TURN_ENDS: [&str; 3] = ["<|im_end|>", "<|eot_id|>", "<|endoftext|>"];

/// Number of backticks of a fence; a longer run counts as several.
const FENCE: usize = 3;

/// The visible part of an answer while it arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Additional text; may be empty.
    More(String),
    /// Everything visible so far was reasoning; this is the visible text instead.
    Instead(String),
}

impl Piece {
    /// Applies it to the text shown so far.
    pub fn add_to(&self, shown: &mut String) {
        match self {
            Self::More(text) => shown.push_str(text),
            Self::Instead(text) => shown.clone_from(text),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::More(text) => text.is_empty(),
            Self::Instead(_) => false,
        }
    }
}

/// Separates a text that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct Visible {
    /// Text that may be the beginning of a mark or of a call.
    held: String,
    /// Number of open reasoning marks.
    depth: usize,
    /// The answer, including calls as text.
    text: String,
    /// Position in `text` of the first call mark.
    calls_at: Option<usize>,
    /// A call may have begun, so later text is held back.
    in_calls: bool,
    /// Number of backticks that opened the current code, 0 outside of code: within code a mark is only mentioned. Fewer
    /// than three open code that ends with its line.
    code: usize,
    /// A text that begins like JSON may be a call as a whole, so it is held back until the end.
    holds_json: bool,
    has_begun: bool,
    reasoned: bool,
    /// The prompt opened the model's reasoning: nothing is visible until its end is marked.
    awaits_close: bool,
    /// The model's turn ended; the rest is not its answer.
    is_over: bool,
    /// The text is in this format.
    harmony: Option<Harmony>,
}

/// A complete text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CompleteText {
    /// Without reasoning, but with the calls in it.
    pub(super) text: String,
    /// Position in it of the first call mark outside of code.
    pub(super) calls_at: Option<usize>,
    pub(super) reasoned: bool,
    /// The end of the reasoning was not marked.
    pub(super) is_open: bool,
}

impl Visible {
    /// `holds_json`: tools were offered, which some models call with bare JSON. `reasons_at_once`: the prompt opens the
    /// model's reasoning.
    pub(super) fn new(holds_json: bool, reasons_at_once: bool) -> Self {
        Self {
            holds_json,
            awaits_close: reasons_at_once,
            ..Self::default()
        }
    }

    /// Adds a piece, and returns its visible part.
    pub(super) fn filter_piece(&mut self, piece: &str) -> Piece {
        if self.is_over {
            return Piece::More(String::new());
        }
        self.held.push_str(piece);
        let mut shown = String::new();
        let mut instead = false;
        loop {
            if self.depth == 0 && !self.has_begun && !self.begin() {
                break;
            }
            if let Some(harmony) = &mut self.harmony {
                let parts = harmony.read(&std::mem::take(&mut self.held));
                self.take_parts(parts, &mut shown);
                break;
            }
            let Some(next) = self.next_mark() else {
                let keep = unsettled(&self.held);
                let settled = self.held.len() - keep;
                let settled: String = self.held.drain(..settled).collect();
                self.add(&settled, &mut shown);
                break;
            };
            let before: String = self.held.drain(..next.at).collect();
            self.add(&before, &mut shown);
            let mark: String = self.held.drain(..next.length).collect();
            match next.kind {
                MarkKind::Backticks => {
                    self.code = match self.code {
                        0 => mark.len(),
                        open if open == mark.len() => 0,
                        open => open,
                    };
                    self.add(&mark, &mut shown);
                }
                MarkKind::LineEnd => {
                    self.code = 0;
                    self.add(&mark, &mut shown);
                }
                MarkKind::Open => {
                    self.depth += 1;
                    self.reasoned = true;
                }
                MarkKind::Close if self.depth > 0 => self.depth -= 1,
                // The opening mark was in the prompt.
                MarkKind::Close => {
                    self.reasoned = true;
                    self.awaits_close = false;
                    self.code = 0;
                    self.calls_at = None;
                    self.text.clear();
                    shown.clear();
                    self.in_calls = false;
                    self.has_begun = false;
                    instead = true;
                }
                MarkKind::Call => {
                    self.in_calls = true;
                    self.calls_at = Some(self.text.len());
                    self.add(&mark, &mut shown);
                }
                MarkKind::TurnEnd => {
                    self.is_over = true;
                    self.held.clear();
                    break;
                }
            }
        }
        if instead {
            Piece::Instead(shown)
        } else {
            Piece::More(shown)
        }
    }

    /// The complete text.
    pub(super) fn finish(mut self) -> CompleteText {
        let mut rest = std::mem::take(&mut self.held);
        if let Some(mut harmony) = self.harmony.take() {
            self.take_parts(harmony.finish(), &mut String::new());
        } else if self.code == 0
            && let Some(end) = turn_end(&rest.to_ascii_lowercase())
        {
            rest.truncate(end.at);
        }
        self.add(&rest, &mut String::new());
        CompleteText {
            text: self.text,
            calls_at: self.calls_at,
            reasoned: self.reasoned,
            is_open: self.depth > 0 || self.awaits_close,
        }
    }

    fn add(&mut self, text: &str, shown: &mut String) {
        if self.depth > 0 {
            return;
        }
        self.text.push_str(text);
        if !self.in_calls && !self.awaits_close {
            shown.push_str(text);
        }
    }

    /// Adds parts of a text in the format of gpt-oss; calls in a form of their own, which is read with the others.
    fn take_parts(&mut self, parts: Vec<Part>, shown: &mut String) {
        for part in parts {
            match part {
                Part::Text(text) => self.add(&text, shown),
                Part::Reasoning => self.reasoned = true,
                Part::Call { name, arguments } => {
                    self.calls_at.get_or_insert(self.text.len());
                    let call = json!({"name": name, "arguments": arguments});
                    self.text
                        .push_str(&format!("<tool_call>{call}</tool_call>"));
                }
            }
        }
    }

    /// Examines the beginning of the text. Returns whether it is decided yet.
    fn begin(&mut self) -> bool {
        let beginning = self.held.trim_start();
        if beginning.is_empty() || unsettled(beginning) == beginning.len() {
            return false;
        }
        let lower = beginning.to_ascii_lowercase();
        let begins_with = |mark: &str| lower.starts_with(mark);
        if harmony::BEGINNINGS
            .iter()
            .any(|mark| beginning.starts_with(mark))
        {
            self.harmony = Some(Harmony::default());
            self.awaits_close = false;
            self.has_begun = true;
            return true;
        }
        if REASONING
            .iter()
            .any(|(open, close)| begins_with(open) || begins_with(close))
        {
            self.held = beginning.to_owned();
            return true;
        }
        if self.holds_json && !CALLS.iter().any(|mark| begins_with(mark)) {
            match begins_as_json(beginning) {
                Some(is_json) => self.in_calls = is_json,
                None => return false,
            }
        }
        // Empty lines after reasoning are not part of the answer.
        if self.reasoned {
            self.held = beginning.to_owned();
        }
        self.has_begun = true;
        true
    }

    fn next_mark(&self) -> Option<FoundMark> {
        let lower = self.held.to_ascii_lowercase();
        let mut first: Option<FoundMark> = None;
        let mut consider = |at: Option<usize>, length: usize, kind: MarkKind| {
            if let Some(at) = at
                && first.as_ref().is_none_or(|other| at < other.at)
            {
                first = Some(FoundMark { at, length, kind });
            }
        };
        if self.depth == 0 {
            let at = lower.find('`');
            let run = at.map_or(0, |at| backticks(&lower[at..]).min(FENCE));
            consider(at, run, MarkKind::Backticks);
            if matches!(self.code, 1 | 2) {
                consider(lower.find('\n'), 1, MarkKind::LineEnd);
            }
        }
        if self.code == 0 || self.depth > 0 || self.awaits_close {
            for (open, close) in REASONING {
                consider(lower.find(open), open.len(), MarkKind::Open);
                consider(lower.find(close), close.len(), MarkKind::Close);
            }
            if self.depth == 0 && !self.in_calls {
                for mark in CALLS {
                    consider(lower.find(mark), mark.len(), MarkKind::Call);
                }
            }
            if self.depth == 0
                && let Some(TurnEnd { at, is_certain }) = turn_end(&lower)
                && is_certain
            {
                consider(Some(at), lower.len() - at, MarkKind::TurnEnd);
            }
        }
        // A shorter run may still grow.
        first.filter(|mark| {
            mark.kind != MarkKind::Backticks
                || mark.length == FENCE
                || mark.at + mark.length < lower.len()
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkKind {
    Backticks,
    /// The end of a line, which ends inline code.
    LineEnd,
    Open,
    Close,
    Call,
    /// The rest of the text, from such a mark on.
    TurnEnd,
}

struct FoundMark {
    at: usize,
    length: usize,
    kind: MarkKind,
}

struct TurnEnd {
    at: usize,
    /// More text cannot turn out to be the rest of a sentence about the mark.
    is_certain: bool,
}

/// The end of the model's turn: a mark with nothing behind it, or with another mark.
fn turn_end(lower: &str) -> Option<TurnEnd> {
    let marks = TURN_ENDS.iter().flat_map(|mark| lower.match_indices(mark));
    let ends = marks.filter_map(|(at, mark)| {
        let is_certain = match lower[at + mark.len()..].trim_start() {
            "" | "<" => false,
            behind if behind.starts_with("<|") => true,
            _ => return None,
        };
        Some(TurnEnd { at, is_certain })
    });
    ends.min_by_key(|end| end.at)
}

/// Whether a text begins like calls in bare JSON, with or without a fence; `None` if undecided.
fn begins_as_json(text: &str) -> Option<bool> {
    let Some(fenced) = text.strip_prefix("```") else {
        return begins_as_objects(text);
    };
    let Some((language, code)) = fenced.split_once('\n') else {
        let is_short = fenced.len() < "tool_code".len();
        return if is_short { None } else { Some(false) };
    };
    if !["", "json", "tool_call", "tool_code"].contains(&language.trim()) {
        return Some(false);
    }
    begins_as_objects(code)
}

/// Whether a text begins with a JSON object or a list of them; `None` if undecided. An answer that begins with "[This
/// is" or "{x | x > 0}" is shown while it arrives.
pub(super) fn begins_as_objects(text: &str) -> Option<bool> {
    let mut text = text.trim_start();
    while let Some(inner) = text.strip_prefix('[') {
        text = inner.trim_start();
    }
    let mut signs = text.chars().filter(|c| !c.is_whitespace());
    match signs.next()? {
        '{' => Some(matches!(signs.next()?, '"' | '}')),
        _ => Some(false),
    }
}

/// Number of bytes at the end that may be the beginning of a mark.
fn unsettled(held: &str) -> usize {
    let lower = held.to_ascii_lowercase();
    let marks = REASONING
        .iter()
        .flat_map(|(open, close)| [*open, *close])
        .chain(CALLS)
        .chain(TURN_ENDS)
        .chain(harmony::BEGINNINGS);
    let end = turn_end(&lower).filter(|end| !end.is_certain);
    let end = end.map_or(0, |end| held.len() - end.at);
    let mut most = end.max(held.len() - held.trim_end_matches('`').len());
    for mark in marks {
        let ends = mark.char_indices().map(|(at, _)| at).skip(1);
        for end in ends {
            if end > most && lower.ends_with(&mark[..end]) {
                most = end;
            }
        }
    }
    most
}

fn backticks(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a person finally sees, what the text is, and whether there was reasoning.
    fn read(pieces: &[&str], holds_json: bool) -> (String, String, bool) {
        let mut visible = Visible::new(holds_json, false);
        let mut seen = String::new();
        for piece in pieces {
            visible.filter_piece(piece).add_to(&mut seen);
        }
        let whole = visible.finish();
        (seen, whole.text, whole.reasoned)
    }

    #[test]
    fn reasoning_is_no_part_of_the_text() {
        for (written, text) in [
            ("<think>Hm.</think>\n\nYes.", "Yes."),
            ("\n<THINK>Hm.</Think>Yes.", "Yes."),
            ("<think>a<think>b</think>c</think>Yes.", "Yes."),
            ("<think>It never ends", ""),
            ("The prompt opened it.</think>\nYes.", "Yes."),
            ("[THINK]Hm.[/THINK]Yes.", "Yes."),
            ("Well. <reasoning>Hm.</reasoning>Yes.", "Well. Yes."),
            ("<think></think>\n\nYes.", "Yes."),
            ("<think>\u{1f426}</think>\u{1f426}", "\u{1f426}"),
            ("<seed:think>Hm.</seed:think>Yes.", "Yes."),
            (
                "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
                "Yes.",
            ),
        ] {
            let letters: Vec<String> = written.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            for pieces in [&[written][..], &letters] {
                let (seen, whole, reasoned) = read(pieces, true);
                assert_eq!((whole.as_str(), reasoned), (text, true), "{written}");
                assert_eq!(seen, text, "{written}");
            }
        }
    }

    #[test]
    fn what_is_only_talked_about_stays() {
        for written in [
            "Models write `<th` and a < b.",
            "```html\n<think>x</think>\n```",
            " two spaces before",
            "[1] is a footnote",
            "An arrow: <- and a list: [x]",
            "Put it into `<think>` and `</think>`, then answer.",
            "``a ` <think>`` is code",
            "A turn ends with <|im_end|> and a new line.",
            "It is `<|im_end|>`",
            "Then <|channel|>final<|message|> follows.",
        ] {
            let (_, whole, reasoned) = read(&[written], false);
            assert_eq!((whole.as_str(), reasoned), (written, false));
        }
    }

    #[test]
    fn calls_are_held_back() {
        for (written, seen) in [
            ("<tool_call>{\"name\": \"f\"}</tool_call>", ""),
            ("I look it up.\n<tool_call>{}", "I look it up.\n"),
            ("[TOOL_CALLS][{}]", ""),
            ("{\"name\": \"f\"}", ""),
            ("[ {\"name\": \"f\"}]", ""),
            ("```json\n{}\n```", ""),
            ("[This is a story", "[This is a story"),
            ("[1] says so.", "[1] says so."),
            ("{x | x > 0}", "{x | x > 0}"),
            ("[[Page]] has", "[[Page]] has"),
            ("```rust\nfn\n```", "```rust\nfn\n```"),
            (
                "It writes `<tool_call>` first.",
                "It writes `<tool_call>` first.",
            ),
        ] {
            assert_eq!(read(&[written], true).0, seen, "{written}");
            assert_eq!(read(&[written], true).1, written);
        }
        assert_eq!(read(&["{\"a\": 1}"], false).0, "{\"a\": 1}");
    }

    #[test]
    fn a_turn_that_the_model_made_up_is_left_out() {
        for (written, text) in [
            ("Port 3.<|im_end|>", "Port 3."),
            ("Port 3.<|im_end|>\n", "Port 3."),
            (
                "Port 3.<|im_end|>\n<|im_start|>user\nAnd <think> else?<|im_end|>\n<|im_start|>assistant\nNo.",
                "Port 3.",
            ),
            (
                "Port 3.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n<tool_call>{}",
                "Port 3.",
            ),
        ] {
            let letters: Vec<String> = written.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            for pieces in [&[written][..], &letters] {
                let (seen, whole, _) = read(pieces, true);
                assert_eq!((seen.as_str(), whole.as_str()), (text, text), "{written}");
            }
        }
    }

    #[test]
    fn a_model_that_reasons_at_once_is_not_seen_to_do_so() {
        let mut visible = Visible::new(false, true);
        assert_eq!(visible.filter_piece("Hm. So."), Piece::More(String::new()));
        assert_eq!(
            visible.filter_piece("</think>\nYes."),
            Piece::Instead("Yes.".to_owned())
        );
        let mut silent = Visible::new(false, true);
        silent.filter_piece("It did not reason.");
        let whole = silent.finish();
        assert_eq!(
            (whole.text.as_str(), whole.is_open),
            ("It did not reason.", true)
        );
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            parts in prop::collection::vec(prop_oneof![
                Just("<think>"), Just("</think>"), Just("<tool_call>"), Just("```"), Just("`"), Just("<"), Just(" "),
                Just("[THINK]"), Just("a"), Just("\u{1f426}"), Just("{"), Just("["), Just("\""), Just("\n"), Just("json"),
                Just("<|im_end|>"), Just("<|im_start|>"), Just("<|channel|>"), Just("<|message|>")
            ], 0..12),
            holds_json: bool,
        ) {
            let whole: String = parts.concat();
            let at_once = read(&[whole.as_str()], holds_json);
            let in_parts = read(&parts, holds_json);
            prop_assert_eq!(&at_once.1, &in_parts.1);
            prop_assert_eq!(at_once.2, in_parts.2);
        }
    }
}
