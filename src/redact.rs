//! Secrets in what people write: taken out before it is embedded, kept, logged or sent to a model.
//!
//! Only what is a secret by its form: keys whose makers gave them a mark, private keys, tokens, and
//! passwords in addresses. A word after `password:` may be anything, and often is none.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What stands in the place of a secret.
const MARK: &str = "[secret removed]";

/// Each with the part to keep before the secret, if any, as the group `keep`.
const SECRETS: &[&str] = &[
    // Whole private keys in PEM, also cut short.
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    // OpenAI, Anthropic and services that took their form.
    r"\bsk-(?:[A-Za-z]+-)*[A-Za-z0-9_-]{20,}",
    // GitHub and GitLab.
    r"\bgh[pousr]_[A-Za-z0-9]{36,}",
    r"\bgithub_pat_[A-Za-z0-9_]{50,}",
    r"\bglpat-[A-Za-z0-9_-]{20,}",
    // Slack.
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"\bxapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-f0-9]{32,}",
    r"\bhooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{16,}",
    // AWS, Google, Stripe.
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bAIza[A-Za-z0-9_-]{35}",
    r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    // Matrix and Discord.
    r"\bsyt_[A-Za-z0-9]+_[A-Za-z]{20}_[A-Za-z0-9]{6}\b",
    r"\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}\b",
    // JSON Web Tokens.
    r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    // Passwords in addresses.
    r"(?P<keep>\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,64}:)[^\s/@]{1,256}(?P<after>@)",
    // What follows these headers.
    r"(?P<keep>(?i:\bauthorization:\s*(?:bearer|basic)\s+))[A-Za-z0-9._~+/=-]{8,}",
];

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let compiled = SECRETS.iter().map(|secret| Regex::new(secret));
    compiled.filter_map(Result::ok).collect()
});

/// The text with a mark in the place of each secret.
pub fn without_secrets(text: &str) -> String {
    let mut text = Cow::Borrowed(text);
    for pattern in PATTERNS.iter() {
        if let Cow::Owned(replaced) = pattern.replace_all(&text, marked) {
            text = Cow::Owned(replaced);
        }
    }
    text.into_owned()
}

fn marked(found: &Captures<'_>) -> String {
    let part = |name| found.name(name).map_or("", |part| part.as_str());
    format!("{}{MARK}{}", part("keep"), part("after"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_pattern_is_one() {
        assert_eq!(PATTERNS.len(), SECRETS.len());
    }

    /// Put together here, so that no scanner of repositories takes them for real ones.
    #[test]
    fn secrets_go_and_the_rest_stays() {
        let many = |part: &str, count| part.repeat(count);
        for (before, secret, after) in [
            ("use ", format!("sk-{}", many("aB3", 16)), " please"),
            ("", format!("sk-proj-{}", many("a_3-", 16)), ""),
            ("", format!("sk-ant-api03-{}", many("a_3-", 16)), "\n"),
            ("token=", format!("ghp_{}", many("a1B2", 9)), ";"),
            ("", format!("github_pat_{}", many("a1_B2", 12)), ""),
            ("", format!("xoxb-{}", many("123-abc", 4)), "."),
            ("key ", format!("AKIA{}", many("ABCD", 4)), "!"),
            ("", format!("AIza{}", many("a1_-B", 7)), ""),
            ("", format!("eyJ{0}.eyJ{0}.{0}", many("abcd", 4)), " ok"),
            (
                "",
                format!(
                    "-----BEGIN RSA {0}-----\nMII\n-----END RSA {0}-----",
                    "PRIVATE KEY"
                ),
                "\nbye",
            ),
            ("", format!("-----BEGIN {}-----\nMIIcut", "PRIVATE KEY"), ""),
            ("postgres://ada:", "s3cr3t!".to_owned(), "@db.example/x"),
            ("Authorization: Bearer ", many("abc.", 5), ""),
        ] {
            let said = without_secrets(&format!("{before}{secret}{after}"));
            assert_eq!(said, format!("{before}{MARK}{after}"), "{secret}");
            assert_eq!(without_secrets(&said), said);
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "The password is on the board.",
            "see https://example.org/a:b/c and mailto:ada@example.org",
            "sk-learn and task-force-one-two-three",
            "AKIA is a prefix",
            "commit 0123456789abcdef0123456789abcdef01234567",
            "http://localhost:8080/@ada",
        ] {
            assert_eq!(without_secrets(text), text);
        }
    }

    proptest! {
        #[test]
        fn ordinary_words_stay(text in "[a-zA-Z ,.!?]{0,200}") {
            prop_assert_eq!(without_secrets(&text), text);
        }
    }
}
