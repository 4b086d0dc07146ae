//! The rarity of words in English talk, for histories too young to show it themselves.

/// One line per word, sorted: the word and its rarity in tenths. Made by
/// `embedder/training/make_rarity.py`.
const TABLE: &str = include_str!("../embedder/rarity.txt");
/// The rarity of a word that is not in the table: it is in less than one of 10,000 exchanges.
pub const UNKNOWN: f32 = 9.2;

/// Minus the natural logarithm of the share of exchanges that contain the word, as written in lower
/// case.
pub fn rarity(word: &str) -> f32 {
    let (mut low, mut high) = (0, TABLE.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = TABLE.as_bytes()[..middle]
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1);
        let line = TABLE[start..].lines().next().unwrap_or_default();
        let Some((known, tenths)) = line.split_once(' ') else {
            return UNKNOWN;
        };
        match known.cmp(word) {
            std::cmp::Ordering::Equal => {
                return tenths.parse().map_or(UNKNOWN, |tenths: f32| tenths / 10.0);
            }
            std::cmp::Ordering::Less => low = start + line.len() + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    UNKNOWN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_found_and_nothing_else() {
        for line in TABLE.lines() {
            let (word, tenths) = line.split_once(' ').unwrap();
            let expected: f32 = tenths.parse().unwrap();
            assert!((rarity(word) - expected / 10.0).abs() < 1e-4, "{line}");
        }
        for word in ["", " ", "a ", "zzzzzz", "\u{10FFFF}", "gqrxq", "fähre"] {
            assert!((rarity(word) - UNKNOWN).abs() < 1e-4, "{word}");
        }
        assert!(rarity("week") > rarity("is"));
    }
}
