//! How large a value may be.

/// An estimate of a value: the number of elements, and the size of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) length: u64,
    pub(super) item: u64,
    /// For a number that counts something: what was added to it, so that it may be the end of a `range`.
    pub(super) count: Option<u64>,
}

impl Size {
    pub(super) const ONE: Self = Self {
        length: 1,
        item: 1,
        count: None,
    };

    /// A list from the graph.
    pub(super) const LIST: Self = Self {
        length: LIST,
        ..Self::ONE
    };

    pub(super) const COUNT: Self = Self {
        count: Some(0),
        ..Self::ONE
    };

    pub(super) const PROPERTY: Self = Self {
        item: PROPERTY,
        ..Self::ONE
    };

    pub(super) fn total(self) -> u64 {
        self.length.saturating_mul(self.item)
    }

    pub(super) fn element(self) -> Self {
        Self {
            length: 1,
            item: self.item,
            count: None,
        }
    }

    pub(super) fn list(length: u64, item: u64) -> Self {
        Self {
            length,
            item: item.max(1),
            count: None,
        }
    }

    pub(super) fn larger(self, other: Self) -> Self {
        if other.total() > self.total() {
            other
        } else {
            self
        }
    }

    /// A value that contains both.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            length: self.length.saturating_add(other.length),
            item: self.item.max(other.item),
            count: both(self.count, other.count),
        }
    }
}

/// Assumed size of a property, which may be a longer text.
pub(super) const PROPERTY: u64 = 20;

/// Assumed size of a list whose length only the graph knows, and of one that `collect` returns.
pub(super) const LIST: u64 = 100;

/// The sum of what was added to two counts.
pub(super) fn both(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.saturating_add(other?)).filter(|added| *added <= MAX_RANGE)
}

/// Maximum numbers of a `range`.
pub(super) const MAX_RANGE: u64 = 10_000;
