//! How scores are shown to people: those of memories and of passages alike.

/// A score with this many decimals, one at least. A score that they would show as zero is shown as less than the smallest
/// number that they can show, since a zero would say that it cannot have helped.
pub fn shown_score(score: f64, decimals: usize) -> String {
    let shown = format!("{score:.decimals$}");
    if !shown.trim_start_matches(['-', '0', '.']).is_empty() {
        return shown;
    }
    let zeros = "0".repeat(decimals.saturating_sub(1));
    format!("< 0.{zeros}1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_that_is_not_zero_is_not_shown_as_zero() {
        for (score, decimals, expected) in [
            (0.514, 2, "0.51"),
            (1.0, 2, "1.00"),
            (0.006, 2, "0.01"),
            (0.004, 2, "< 0.01"),
            (0.0, 2, "< 0.01"),
            (-0.001, 2, "< 0.01"),
            (-0.2, 2, "-0.20"),
            (0.004, 4, "0.0040"),
            (0.000_04, 4, "< 0.0001"),
        ] {
            assert_eq!(shown_score(score, decimals), expected, "{score}");
        }
    }
}
