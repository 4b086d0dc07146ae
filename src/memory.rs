//! What is remembered of a conversation: its window, its summary, and what is recalled of older
//! turns.

mod archive;
mod recaller;
mod stub;
pub mod summary;
mod window;

pub use archive::{Archive, Begun, Kept};
pub use recaller::{Recaller, Sought, is_question};
pub use stub::*;
