//! What of a graph no statement reaches.

/// The hidden part of a graph: no statement reaches it, whatever the schema says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guard<'a> {
    pub hidden_labels: &'a [&'a str],
    pub hidden_types: &'a [&'a str],
}
