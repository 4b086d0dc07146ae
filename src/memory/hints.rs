//! What the words of a question or a statement say beside their subject: people, times, and values.

pub(in crate::memory) mod asked;
pub(in crate::memory) mod contents;
pub(in crate::memory) mod first_person;
mod parts;
pub(in crate::memory) mod people;
pub(in crate::memory) mod revision;
pub(in crate::memory) mod speaker;
pub(in crate::memory) mod values;
pub(in crate::memory) mod when;
