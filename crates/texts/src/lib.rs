//! What the bot itself says, in each of its languages. Knows nothing of who is told.
//!
//! A [`Text`] is one of the catalogue with its arguments, in no language yet; [`text!`] makes one, and the compiler proves
//! that there is such a text and that it takes just these arguments.

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
    /// [`text!`] does, with the proof that there is such a text.
    #[doc(hidden)]
    pub fn new(_: Proof, key: &'static str, arguments: Vec<(&'static str, Value)>) -> Self {
        Self { key, arguments }
    }

    /// As somebody reads it.
    pub fn in_language(&self, language: Language) -> String {
        catalogue::render(language, self.key, &self.arguments)
    }
}

/// In English, for whoever reads logs.
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
