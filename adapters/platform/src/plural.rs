//! Numbers with their nouns.

use std::fmt::Display;

/// Returns a number with its noun, given in the singular, with a regular plural: `1 turn`, `2
/// turns`, `0 replies`.
pub fn count_with_noun<N: Copy + Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    if number == N::from(1) {
        format!("1 {noun}")
    } else {
        format!("{number} {}", plural(noun))
    }
}

fn plural(noun: &str) -> String {
    let vowels = ['a', 'e', 'i', 'o', 'u'];
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(vowels) => format!("{stem}ies"),
        Some(_) | None if noun.ends_with(['s', 'x']) || noun.ends_with("ch") => format!("{noun}es"),
        Some(_) | None => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::count_with_noun;

    #[test]
    fn one_thing_and_several() {
        let said = [
            (0_usize, "turn"),
            (1, "reply"),
            (2, "reply"),
            (3, "day"),
            (4, "batch"),
        ];
        let said = said.map(|(number, noun)| count_with_noun(number, noun));
        assert_eq!(
            said,
            ["0 turns", "1 reply", "2 replies", "3 days", "4 batches"]
        );
    }
}
