//! The bot's own texts in each of its languages. The crate knows nothing of recipients.
//!
//! A [`Text`] is an entry of the catalogue with its arguments, in no language yet. [`text!`] creates one, and the compiler
//! checks that the text exists and takes exactly these arguments.

mod catalogue;
mod language;
mod numerals;
mod value;

pub use self::catalogue::{Proof, plain_texts, prove};
pub use self::language::{Language, Languages, NoLanguage};
pub use self::value::Value;

/// A text of the catalogue, in no language yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text {
    key: &'static str,
    arguments: Vec<(&'static str, Value)>,
}

impl Text {
    /// Called by [`text!`], with the proof that the text exists.
    #[doc(hidden)]
    pub fn new(_: Proof, key: &'static str, arguments: Vec<(&'static str, Value)>) -> Self {
        Self { key, arguments }
    }

    /// The text in one language.
    pub fn in_language(&self, language: Language) -> String {
        catalogue::render(language, self.key, &self.arguments)
    }
}

/// In English, for logs.
impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.in_language(Language::English))
    }
}

/// A [`Text`] of the catalogue: `text!("forgot-turn", quotes = 2_usize)`. `text!("said", name)` is short for `name = name`.
#[macro_export]
macro_rules! text {
    ($key:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {{
        const PROOF: $crate::Proof = $crate::prove($key, &[$(stringify!($name)),*]);
        $crate::Text::new(PROOF, $key, vec![$((stringify!($name), $crate::argument!($name $(, $value)?))),*])
    }};
}

/// An argument of [`text!`].
#[doc(hidden)]
#[macro_export]
macro_rules! argument {
    ($name:ident, $value:expr) => {
        $crate::Value::from($value)
    };
    ($name:ident) => {
        $crate::Value::from($name)
    };
}
