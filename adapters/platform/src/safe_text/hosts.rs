//! Limits the hosts that links may lead to.

use std::collections::BTreeSet;

use super::addresses::{host, looks_like_address, plain};

/// The allowed hosts, named by somebody with the right to. A link to any other host becomes text,
/// which no client follows or unfurls: something the model read may have injected it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkHosts(BTreeSet<String>);

impl LinkHosts {
    /// Adds the hosts that a text names, as addresses or on their own.
    pub fn add(&mut self, text: &str) {
        let text = plain(text);
        let words = text.split(|c: char| c.is_whitespace() || "<>()[]{}\"'|,;".contains(c));
        let named = words
            .map(|word| word.trim_end_matches(['.', ':', '!', '?']))
            .filter(|word| looks_like_address(word));
        self.0.extend(named.map(host));
    }

    /// Whether links to this host are allowed.
    pub(super) fn has(&self, host: &str) -> bool {
        self.0.contains(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SafeText;

    fn hosts(text: &str) -> LinkHosts {
        let mut hosts = LinkHosts::default();
        hosts.add(text);
        hosts
    }

    #[test]
    fn links_to_hosts_that_nobody_named_are_text() {
        let known = hosts("see https://wiki.example/page, or www.Docs.example.");
        for (text, limited) in [
            (
                "[here](https://wiki.example/other)",
                "[here](https://wiki.example/other)",
            ),
            (
                "at http://docs.example:8080/x now",
                "at http://docs.example:8080/x now",
            ),
            (
                "[here](https://evil.example/?q=secret)",
                "here (`https://evil.example/?q=secret`)",
            ),
            (
                "go to https://evil.example/a.",
                "go to `https://evil.example/a`.",
            ),
            ("<https://evil.example>", "<`https://evil.example`>"),
            (
                "![logo](https://evil.example/i.png)",
                "logo (`https://evil.example/i.png`)",
            ),
            (
                "<img src=\"https://evil.example/i.png\">",
                "image (`https://evil.example/i.png`)",
            ),
            (
                "https://wiki.example@evil.example/x",
                "`https://evil.example/x`",
            ),
            (
                "https://wiki.example.evil.example/",
                "`https://wiki.example.evil.example/`",
            ),
            (
                "[a][b]\n\n[b]: https://evil.example",
                "[a][b]\n\n[b]: `https://evil.example`",
            ),
            (
                "[mail](mailto:a@evil.example)",
                "mail (`mailto:a@evil.example`)",
            ),
            ("`https://evil.example`", "`https://evil.example`"),
            ("no links, 3.5 of them", "no links, 3.5 of them"),
        ] {
            assert_eq!(known.limit(text), limited, "{text:?}");
        }
    }

    #[test]
    fn what_is_limited_stays_so() {
        let known = hosts("wiki.example");
        for text in [
            "[x](https://evil.example/(a)) and https://evil.example/b",
            "[x](<https://evil.example/a b>)",
            "[`x`](https://evil.example)",
        ] {
            let limited = known.limit(text);
            assert_eq!(known.limit(&limited), limited, "{text:?}");
            let safe = SafeText::new(&limited).to_string();
            assert!(!safe.contains("](http"), "{safe}");
        }
    }

    #[test]
    fn what_grows_never_takes_anything_back() {
        let known = hosts("wiki.example");
        let text = "See [the page](https://wiki.example/a), [this](https://evil.example/b) or \
            https://evil.example/c and ![i](https://evil.example/d), <https://evil.example>.";
        let whole = SafeText::new(&known.limit(text)).to_string();
        for end in 0..text.len() {
            let so_far = SafeText::streaming(&known.limit_streaming(&text[..end]));
            assert!(
                whole.starts_with(so_far.as_str()),
                "{so_far} is not how {whole} begins"
            );
        }
    }
}
