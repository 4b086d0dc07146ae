//! The embedded text of a turn.

use crate::graph::Turn;
use crate::memory::embedded_text_of;

/// The embedded text of a turn, as it is kept.
pub(super) fn text_of(turn: &Turn) -> String {
    embedded_text_of(turn.source, turn.understood(), &turn.output)
}
