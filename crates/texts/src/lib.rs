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
pub use self::value::{Text, Value};

/// A [`Text`] of the catalogue: `text!("removed-later", count = 2_usize)`. `text!("said", name)` is short for `name = name`.
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
