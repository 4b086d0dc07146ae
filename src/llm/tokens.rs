//! How many tokens a text is, without a tokenizer: guessed, and on the high side.
//!
//! Services tokenize differently and most do not say how, so a character costs what it costs at worst in the families
//! in use.

use std::borrow::Cow;

use super::{ChatMessage, ChatRequest, ToolSpec};

/// Stands where the middle of a text was left out.
const GAP: &str = "\n[…]\n";
/// What a message costs besides its text: role and separators.
const PER_MESSAGE: u32 = 6;
/// What a tool costs besides its words.
const PER_TOOL: u32 = 16;

/// Which part of a text stays when it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Head,
    Tail,
    /// With a mark where the middle was.
    BothEnds,
}

/// Tokens of a text, more often too many than too few. Adding text never makes it less.
pub fn estimate(text: &str) -> u32 {
    whole(text.chars().map(cost).sum())
}

/// Tokens of everything a request sends, without its answer.
pub fn estimate_request(request: &ChatRequest) -> u32 {
    let messages = request.messages.iter().map(estimate_message);
    let tools = request.tools.iter().map(estimate_tool);
    messages.chain(tools).fold(0, u32::saturating_add)
}

/// Tokens of one message, role included.
pub fn estimate_message(message: &ChatMessage) -> u32 {
    let words = match message {
        ChatMessage::System(text) | ChatMessage::User(text) => estimate(text),
        ChatMessage::Assistant { text, tool_calls } => tool_calls
            .iter()
            .map(|call| estimate(&call.name) + estimate(&call.arguments) + PER_MESSAGE)
            .fold(estimate(text), u32::saturating_add),
        ChatMessage::Tool { call_id: _, text } => estimate(text),
    };
    words.saturating_add(PER_MESSAGE)
}

fn estimate_tool(tool: &ToolSpec) -> u32 {
    [&tool.name, &tool.description, &tool.parameters.to_string()]
        .into_iter()
        .map(|words| estimate(words))
        .fold(PER_TOOL, u32::saturating_add)
}

/// The text cut to at most `budget` tokens by [`estimate`], between two characters.
pub fn cut(text: &str, budget: u32, keep: Keep) -> Cow<'_, str> {
    if estimate(text) <= budget {
        return Cow::Borrowed(text);
    }
    let budget = u64::from(budget) * UNIT;
    match keep {
        Keep::Head => Cow::Borrowed(head(text, budget)),
        Keep::Tail => Cow::Borrowed(tail(text, budget)),
        Keep::BothEnds => {
            let gap: u64 = GAP.chars().map(cost).sum();
            let Some(rest) = budget.checked_sub(gap) else {
                return Cow::Borrowed(head(text, budget));
            };
            Cow::Owned([head(text, rest / 2), GAP, tail(text, rest / 2)].concat())
        }
    }
}

/// Costs are counted in hundredths of a token.
const UNIT: u64 = 100;

fn whole(cost: u64) -> u32 {
    u32::try_from(cost.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

fn head(text: &str, budget: u64) -> &str {
    let mut spent = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        spent += cost(c);
        (spent > budget).then_some(at)
    });
    end.map_or(text, |end| &text[..end])
}

fn tail(text: &str, budget: u64) -> &str {
    let mut spent = 0;
    let start = text.char_indices().rev().find_map(|(at, c)| {
        spent += cost(c);
        (spent > budget).then_some(at + c.len_utf8())
    });
    start.map_or(text, |start| &text[start..])
}

/// Hundredths of a token a character costs at worst.
fn cost(c: char) -> u64 {
    match c {
        'a'..='z' => 30,
        'A'..='Z' => 50,
        ' ' => 20,
        '0'..='9' => 100,
        '\0'..='\x7f' => 100,
        '\u{80}'..='\u{7ff}' => 80,
        '\u{3000}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{ffef}' => 150,
        _ => 100 * c.len_utf8() as u64,
    }
}
