//! Text that pings nobody and is harmless to its reader.
//!
//! Four passes run in sequence, each over the result of the previous one: [`controls`], [`images`],
//! [`links`], [`mentions`]. All but the first leave [`code`] unchanged. A pass reads from left to
//! right and decides within a bounded distance, so it can run over an answer that is still being
//! written: it stops where it would need more text.
//!
//! Adapters still escape their own markup, and tell the platform not to resolve mentions or unfurl
//! links. This type protects if one of them forgets.

mod addresses;
mod code;
mod controls;
mod hosts;
mod images;
mod links;
mod mentions;
mod undecided;
mod unescaped;
mod zero_width;

use std::fmt;
use undecided::TextCompleteness;

pub use self::hosts::LinkHosts;

pub(crate) use self::zero_width::ZERO_WIDTH_SPACE;

/// The only text that can be sent.
///
/// Matrix ids (`@user:server`) stay unchanged: clients notify by `m.mentions`, which the adapter
/// always sends; older push rules look for the bare local part, which no invisible character hides;
/// and an id with one in it cannot be copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SafeText(String);

/// Removes only the control characters of a whole text, for the operator who reads what others
/// wrote.
pub fn without_controls(text: &str) -> String {
    controls::remove(text, TextCompleteness::Final)
}

impl SafeText {
    /// The safe form of a whole text.
    pub fn new(text: &str) -> Self {
        Self::through_passes(text, TextCompleteness::Final)
    }

    /// Returns the safe form of the beginning of a text that is still being written.
    ///
    /// [`SafeText::new`] of the complete text begins with this, whatever follows: undecided text is
    /// held back.
    pub fn streaming(so_far: &str) -> Self {
        Self::through_passes(so_far, TextCompleteness::Open)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Unicode scalar values, as Slack and Discord count.
    pub fn len_chars(&self) -> usize {
        self.0.chars().count()
    }

    /// Wraps text that was cut out of safe text or is known to be safe.
    pub(crate) fn trusted(text: String) -> Self {
        Self(text)
    }

    fn through_passes(text: &str, end: TextCompleteness) -> Self {
        let text = controls::remove(text, end);
        let text = images::unload(&text, end);
        let text = links::show_targets(&text, end, None);
        Self(mentions::defuse(&text, end))
    }
}

impl LinkHosts {
    /// Returns a whole text in which links to other hosts are text.
    pub fn limit(&self, text: &str) -> String {
        self.through_passes(text, TextCompleteness::Final)
    }

    /// The same for the beginning of a text that is still being written: [`LinkHosts::limit`] of
    /// the complete text begins with this.
    pub fn limit_streaming(&self, so_far: &str) -> String {
        self.through_passes(so_far, TextCompleteness::Open)
    }

    fn through_passes(&self, text: &str, end: TextCompleteness) -> String {
        let text = controls::remove(text, end);
        let text = images::unload(&text, end);
        links::show_targets(&text, end, Some(self))
    }
}

impl fmt::Display for SafeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl AsRef<str> for SafeText {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates text of what the rules look at, so that they interact.
    fn tricky() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("@"),
            Just("<"),
            Just("!"),
            Just("["),
            Just("]("),
            Just(">"),
            Just("\n"),
            Just("```"),
            Just("~~~"),
            Just("`"),
            Just("everyone"),
            Just("here"),
            Just("Channel"),
            Just("room"),
            Just("rooms"),
            Just("subteam^S1"),
            Just("img"),
            Just(" src=\"https://a.b/c\""),
            Just(" alt='@here'"),
            Just("\u{1b}"),
            Just("]"),
            Just("[31m"),
            Just("\u{7}"),
            Just("\u{9b}"),
            Just("\u{202e}"),
            Just("\r\n"),
            Just("\r"),
            Just(" "),
            Just("a"),
            Just("&"),
            Just("U1"),
            Just("\\"),
            Just("\u{200b}"),
            Just("é"),
            Just("👩‍🚀"),
            Just("שלום"),
            Just("\0"),
            Just("    "),
        ];
        prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
    }

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![tricky(), any::<String>()]
    }

    proptest! {
        #[test]
        fn longer_text_extends_what_was_shown(text in any_text()) {
            let whole = SafeText::new(&text);
            let mut shown = SafeText::default();
            for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                let now = SafeText::streaming(&text[..end]);
                prop_assert!(now.as_str().starts_with(shown.as_str()), "{shown:?} {now:?}");
                prop_assert!(SafeText::new(&text[..end]).as_str().starts_with(now.as_str()));
                shown = now;
            }
            prop_assert!(whole.as_str().starts_with(shown.as_str()), "{shown:?} {whole:?}");
        }

        #[test]
        fn safe_text_is_safe_already(text in any_text()) {
            let once = SafeText::new(&text);
            prop_assert_eq!(SafeText::new(once.as_str()), once);
        }

        #[test]
        fn no_forbidden_form_survives(text in any_text()) {
            let safe = SafeText::new(&text);
            let lower = safe.as_str().to_lowercase();
            // In code, each adapter's own escaping protects.
            let has_code = text.contains(['`', '~', '\t']) || text.contains("    ");
            for form in ["<!channel", "<!here", "<!subteam", "<@u", "<@&"].iter().filter(|_| !has_code) {
                prop_assert!(!lower.contains(*form), "{form} in {safe:?}");
            }
            for form in ["@everyone", "@here"].iter().filter(|_| !has_code) {
                prop_assert!(!safe.as_str().contains(*form), "{form} in {safe:?}");
            }
            for c in safe.as_str().chars() {
                prop_assert!(!c.is_control() || matches!(c, '\n' | '\t'), "{c:?} in {safe:?}");
                prop_assert!(!('\u{202a}'..='\u{202e}').contains(&c), "{c:?} in {safe:?}");
                prop_assert!(!('\u{2066}'..='\u{2069}').contains(&c), "{c:?} in {safe:?}");
            }
            if !has_code {
                prop_assert!(!lower.contains("!["), "{safe:?}");
                prop_assert!(!lower.contains("<img "), "{safe:?}");
            }
        }

        /// Text copied out of code is unchanged, except for control characters.
        #[test]
        fn code_stays(code in "[ -_a-~é漢\n]{0,80}", word in "[a-z@<]{0,8}") {
            let fenced = format!("{word}\n\n```html\n{code}\n```\n{word}");
            let safe = SafeText::new(&fenced);
            prop_assert!(safe.as_str().contains(&format!("```html\n{code}\n```")), "{safe:?}");
            let line = code.replace('\n', " ");
            let safe = SafeText::new(&format!("see `{line}` and {word}"));
            prop_assert!(safe.as_str().contains(&format!("`{line}`")), "{safe:?}");
        }

        #[test]
        fn harmless_text_stays(text in "[a-z .,(){}:;é漢\n]*") {
            let safe = SafeText::new(&text);
            prop_assert_eq!(safe.as_str(), text.as_str());
        }
    }

    #[test]
    fn what_is_undecided_waits() {
        for (so_far, shown) in [
            ("hello @", "hello "),
            ("hello @eve", "hello "),
            ("hello @eva", "hello @eva"),
            ("@room", ""),
            ("@rooms", "@rooms"),
            ("wow!", "wow"),
            ("wow! ", "wow! "),
            ("a <im", "a "),
            ("a < b", "a < b"),
            ("a \u{1b}[3", "a "),
            ("plain", "plain"),
            ("a `b", "a "),
            ("a `@here` ", "a `@here` "),
            ("```\n<!ch", "```\n"),
            // The next character decides whether it is a link.
            ("see [`https://a.b/`]", "see "),
            ("see [`a` b", "see "),
        ] {
            assert_eq!(SafeText::streaming(so_far).as_str(), shown, "{so_far:?}");
        }
    }

    #[test]
    fn a_bracket_that_another_one_left_open_refers_to_nothing() {
        let text = "[a[b \"https://a.b/c\"]";
        let once = SafeText::new(text);
        assert_eq!(once.as_str(), "\\[a\\[b \"https://a.b/c\"]");
        assert_eq!(SafeText::new(once.as_str()), once);
    }

    #[test]
    fn it_counts_and_shows_itself() {
        let text = SafeText::new("añ👍");
        assert_eq!((text.len_chars(), text.is_empty()), (3, false));
        assert_eq!(format!("{text}|{text:>5}"), "añ👍|  añ👍");
        assert!(SafeText::new("\u{1b}").is_empty());
    }
}
