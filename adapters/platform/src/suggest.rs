//! Suggests the name that was meant by an unknown one.

/// Minimum similarity of two names for a likely misspelling, where 1 is equal.
const SIMILAR: f64 = 0.8;
/// The same for an open set of names, where equal beginnings count.
const ALIKE: f64 = 0.9;

/// Returns the known names that were probably meant, likeliest first.
fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>, least: f64) -> Vec<&'a str> {
    let mut near: Vec<(f64, &str)> = known
        .map(|known| (likeness(name, known), known))
        .filter(|(likeness, _)| *likeness >= least)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.into_iter().map(|(_, known)| known).collect()
}

/// Similarity of two names. A typing error costs less than a different ending, and that less than a
/// different beginning.
fn likeness(a: &str, b: &str) -> f64 {
    let slips = strsim::normalized_damerau_levenshtein(a, b);
    let slips = if slips >= SIMILAR {
        ALIKE + slips / 10.0
    } else {
        slips
    };
    slips.max(strsim::jaro_winkler(a, b))
}

/// Returns the name that was certainly meant, if there is one.
pub fn surely_meant<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    near(name, known, ALIKE).into_iter().next()
}

/// Returns the name that was probably meant, if it has to be one of these.
pub fn perhaps_meant<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    near(name, known, SIMILAR).into_iter().next()
}

/// Returns the name that was probably meant, from an error by `serde`: ``unknown field `a`,
/// expected one of `b`, `c` ``.
pub(crate) fn meant_in(error: &str) -> Option<&str> {
    let at = error
        .find("unknown field `")
        .or_else(|| error.find("unknown variant `"))?;
    let mut quoted = error[at..].split('`').skip(1).step_by(2);
    let name = quoted.next()?;
    perhaps_meant(name, quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 7] = [
        "SLACK_BOT_TOKEN",
        "SLACK_APP_TOKEN",
        "MODELS",
        "MODEL_KEYS",
        "OPENAI_API_KEY",
        "HTTP_ADDR",
        "LOG",
    ];

    #[test]
    fn a_slip_is_told_from_somebody_elses_name() {
        for (name, meant) in [
            ("SLACK_BOT_TOKNE", Some("SLACK_BOT_TOKEN")),
            ("MODEL_NAMES", Some("MODEL_KEYS")),
            ("MODEL", Some("MODELS")),
            ("OPENAI_APIKEY", Some("OPENAI_API_KEY")),
            ("OPENAI_ORG_ID", None),
            ("SLACK_WEBHOOK_URL", None),
            ("HTTP_PROXY", None),
            ("LOG_LEVEL", None),
            ("PATH", None),
        ] {
            assert_eq!(surely_meant(name, KNOWN.into_iter()), meant, "{name}");
        }
    }

    #[test]
    fn what_serde_says_of_a_name_has_what_was_meant() {
        let said = "unknown field `answr`, expected one of `answer`, `persona`, `model`";
        assert_eq!(meant_in(said), Some("answer"));
        assert_eq!(
            meant_in("unknown field `answr`, expected `answer`"),
            Some("answer")
        );
        assert_eq!(meant_in("unknown field `colour`, expected `answer`"), None);
        assert_eq!(meant_in("missing field `answer`"), None);
    }
}
