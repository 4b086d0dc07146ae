//! Decides when the rolling summary is updated, and over which turns.
//!
//! The summary covers what is before the window. It is updated in batches, so that most turns need
//! no extra model call. Until then the window also includes the turns that are not covered yet, so
//! that nothing is lost between the two.

use crate::graph::{ResponseId, Summary, Turn};
use crate::llm::tokens::estimate;

/// Number of turns that must have left the window before the summary is updated.
pub const BATCH: usize = 6;

/// Maximum number of turns that one call covers; a longer backlog takes several turns to catch up.
pub const MAX_TURNS_PER_CALL: usize = 24;

/// Maximum number of words of a summary.
pub const WORDS: usize = 250;

/// Number of turns that a turn reads, for a window of `turns`.
pub fn read(turns: usize) -> usize {
    turns + BATCH
}

/// The part of the read turns that the prompt shows: at least the last `turns`, and those that no
/// summary covers yet. Heard messages before the first of these are left out.
pub fn uncovered<'a>(read: &'a [Turn], summary: Option<&Summary>, turns: usize) -> &'a [Turn] {
    let window = start_of_last(read, turns);
    match covered_place(read, summary) {
        Some(place) => &read[window.min(place + 1)..],
        None if summary.is_some() => &read[window..],
        None => read,
    }
}

/// The start of the last `turns` answers; the beginning if there are fewer.
fn start_of_last(read: &[Turn], turns: usize) -> usize {
    let Some(before) = turns.checked_sub(1) else {
        return read.len();
    };
    let answers = read
        .iter()
        .enumerate()
        .filter(|(_, turn)| turn.is_answered());
    answers.rev().nth(before).map_or(0, |(place, _)| place)
}

fn covered_place(read: &[Turn], summary: Option<&Summary>) -> Option<usize> {
    let through: ResponseId = summary?.through;
    read.iter().position(|turn| turn.id == through)
}

/// Whether a summary is due, after one more turn than was read.
pub fn is_due(read: &[Turn], summary: Option<&Summary>, turns: usize) -> bool {
    // Heard messages are not summarised.
    let with_new = answers(read) + 1;
    let covered = covered(read, summary).unwrap_or(0);
    with_new.saturating_sub(turns + covered) >= BATCH
}

/// The turns to cover now, of those that follow the summary: never one of the last `turns`, and none before a batch is
/// complete, as another summary may have been written since it was due.
pub fn to_cover(following: &[Turn], turns: usize) -> &[Turn] {
    match following.len().saturating_sub(turns) {
        ..BATCH => &[],
        left => &following[..left.min(MAX_TURNS_PER_CALL)],
    }
}

/// What is kept of a summary that was cut off: its whole sentences and lines, if they have most of the length, and of that of
/// the `previous` summary, which it replaces. A model that never keeps to the length would never write a whole one.
pub fn whole_part<'a>(text: &'a str, previous: &str) -> Option<&'a str> {
    let ends = text.char_indices().zip(text.chars().skip(1));
    let ends = ends.filter(|((_, end), next)| match end {
        '\n' | '。' | '！' | '？' => true,
        '.' | '!' | '?' => next.is_whitespace(),
        _ => false,
    });
    let ((at, end), _next) = ends.last()?;
    let whole = text[..at + end.len_utf8()].trim_end();
    // In tokens, of which a word has at least one, as some languages have no spaces.
    let length = estimate(whole);
    let is_long = length >= WORDS as u32;
    // One of which a model wrote only the beginning tells of nothing that is new.
    let replaces = u64::from(length) * 4 >= u64::from(estimate(previous)) * 3;
    (is_long && replaces).then_some(whole)
}

/// Number of turns that the summary covers; `None` if its end is not among them.
fn covered(read: &[Turn], summary: Option<&Summary>) -> Option<usize> {
    covered_place(read, summary).map(|place| answers(&read[..=place]))
}

fn answers(turns: &[Turn]) -> usize {
    turns.iter().filter(|turn| turn.is_answered()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Trust;
    use crate::testing::turn;

    fn turns(n: usize) -> Vec<Turn> {
        (0..n).map(|n| turn("ada", &n.to_string(), "ok")).collect()
    }

    fn through(turns: &[Turn], n: usize) -> Option<Summary> {
        Some(Summary {
            text: "They counted.".to_owned(),
            through: turns[n - 1].id,
            trust: Trust::Talk,
        })
    }

    /// Simulates a conversation with summaries when they are due, and checks after every turn that
    /// summary and window leave no gap and that the model always sees the last turns.
    #[test]
    fn nothing_falls_between_summary_and_window() {
        const TURNS: usize = 4;
        let all = turns(60);
        let (mut summary, mut covered, mut summaries) = (None, 0, 0);
        for n in 0..all.len() {
            let from = n.saturating_sub(read(TURNS));
            let seen = &all[from..n];
            let shown = uncovered(seen, summary.as_ref(), TURNS);
            assert!(shown.len() >= TURNS.min(n));
            assert!(
                from + (seen.len() - shown.len()) <= covered.max(from),
                "gap at {n}"
            );
            assert!(covered + read(TURNS) >= n, "the summary fell behind at {n}");
            if is_due(seen, summary.as_ref(), TURNS) {
                let batch = to_cover(&all[covered..=n], TURNS);
                covered += batch.len();
                summary = through(&all, covered);
                summaries += 1;
            }
        }
        assert!(
            (60 / BATCH - 2..=60 / BATCH).contains(&summaries),
            "{summaries}"
        );
    }

    #[test]
    fn a_summary_that_was_cut_off_ends_with_its_last_whole_sentence() {
        for sentence in [
            "They collect 2.5 facts about harbours, and ask who pays for them. ",
            "- They collect facts about harbours\n",
            "港について話しています。",
        ] {
            let whole = sentence.repeat(40);
            let cut = format!("{whole}Then v2.");
            assert_eq!(whole_part(&cut, ""), Some(whole.trim_end()));
            // As long as the one that it replaces, and only its beginning.
            assert_eq!(whole_part(&cut, &whole), Some(whole.trim_end()));
            assert_eq!(whole_part(&cut, &whole.repeat(2)), None, "{sentence}");
            let beginning = format!("{}Then v2.", sentence.repeat(8));
            assert_eq!(whole_part(&beginning, ""), None, "{sentence}");
        }
        let endless = "port ".repeat(1_000);
        for none in ["", "They", "They collect facts. Th", &*endless] {
            assert_eq!(whole_part(none, ""), None, "{none}");
        }
    }

    #[test]
    fn a_backlog_is_caught_up_with_a_bounded_number_at_a_time() {
        assert_eq!(to_cover(&turns(500), 12).len(), MAX_TURNS_PER_CALL);
        assert_eq!(to_cover(&turns(12 + BATCH), 12).len(), BATCH);
    }

    #[test]
    fn nothing_is_covered_once_more_where_another_summary_was_written_since_it_was_due() {
        for following in [0, 11, 12, 13, 12 + BATCH - 1] {
            let following = turns(following);
            assert!(to_cover(&following, 12).is_empty(), "{}", following.len());
        }
    }
}
