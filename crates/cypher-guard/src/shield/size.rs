//! How large a value may be.

/// An estimate of a value: the number of elements, and the size of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) length: u64,
    pub(super) item: u64,
    /// The size of all elements together, if it is known to be less than all of them could have.
    pub(super) bound: u64,
    /// The longest list inside of it.
    pub(super) inside: u64,
    /// Where a list begins whose length only the graph knows.
    pub(super) unknown: Option<Unknown>,
    /// For a number that counts something: what was added to it, so that it may be the end of a `range`.
    pub(super) count: Option<u64>,
    /// How many lists and maps may be inside of each other.
    pub(super) depth: u64,
    /// The part that the statement makes in each row: what it writes and counts off. The graph limits the rest.
    pub(super) made: u64,
    /// What was collected of many rows: the values of `groups` rows contain so much together.
    pub(super) gathered: u64,
    pub(super) groups: u64,
}

/// A list whose length only the graph knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unknown {
    /// In how many lists and maps of known length it stands.
    pub(super) level: u64,
    /// How often a loop over it is assumed to run at least.
    pub(super) loops: u64,
}

impl Unknown {
    pub(super) const fn of(loops: u64) -> Option<Self> {
        Some(Self { level: 0, loops })
    }

    /// What is known of a value that contains both.
    pub(super) fn either(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (Some(a), Some(b)) = (one, other) else {
            return one.or(other);
        };
        Some(Self {
            level: a.level.min(b.level),
            loops: a.loops.max(b.loops),
        })
    }

    fn outside(self) -> Self {
        Self {
            level: self.level.saturating_add(1),
            ..self
        }
    }

    fn inside(self) -> Self {
        Self {
            level: self.level.saturating_sub(1),
            ..self
        }
    }
}

impl Size {
    pub(super) const ONE: Self = Self {
        length: 1,
        item: 1,
        bound: u64::MAX,
        inside: 0,
        unknown: None,
        count: None,
        depth: 0,
        made: 0,
        gathered: 0,
        groups: u64::MAX,
    };

    /// A number or truth value that the statement writes.
    pub(super) const LITERAL: Self = Self {
        made: 1,
        ..Self::ONE
    };

    /// A node or relationship, which is copied with its properties.
    pub(super) const NODE: Self = Self {
        item: 4,
        unknown: Unknown::of(LOOPS),
        ..Self::ONE
    };

    /// A list from the graph that is short: of labels, or of names of properties.
    pub(super) const NAMES: Self = Self {
        length: LIST,
        depth: 1,
        ..Self::ONE
    };

    /// A list from the graph.
    pub(super) const LIST: Self = Self {
        unknown: Unknown::of(LOOPS),
        ..Self::NAMES
    };

    pub(super) const COUNT: Self = Self {
        count: Some(0),
        ..Self::ONE
    };

    /// It may be a list.
    pub(super) const PROPERTY: Self = Self {
        item: PROPERTY,
        depth: 1,
        unknown: Unknown::of(LOOPS),
        ..Self::ONE
    };

    pub(super) fn total(self) -> u64 {
        self.length.saturating_mul(self.item).min(self.bound)
    }

    /// How often a loop over it may run.
    pub(super) fn loops(self) -> u64 {
        match self.unknown {
            Some(Unknown { level: 0, loops }) => self.length.max(loops),
            Some(_) | None => self.length,
        }
    }

    /// The longest list that it is or contains.
    pub(super) fn longest(self) -> u64 {
        if self.depth > 0 {
            self.length.max(self.inside)
        } else {
            self.inside
        }
    }

    /// What copying it costs, in numbers copied: a text costs like a few numbers, as its characters are
    /// copied at once.
    pub(super) fn copying(self) -> u64 {
        let elements = self.length.saturating_mul(self.item.min(4));
        elements.min(self.total()).saturating_add(self.total() / 16)
    }

    /// What is taken out of it. It may be as large as the largest element, and as long as the longest list inside.
    pub(super) fn element(self) -> Self {
        let made = self.made.saturating_add(self.gathered);
        Self {
            length: self.inside.max(1),
            item: self.item,
            bound: self.item,
            inside: self.inside,
            unknown: self.unknown.map(Unknown::inside),
            depth: self.depth.saturating_sub(1),
            made: made.div_ceil(self.length.max(1)),
            ..Self::ONE
        }
    }

    /// What this many rows hold of it together, without what the graph limits. `most` is how many of them there may be if a
    /// pattern gives more than was guessed: what the statement makes can be of any size.
    pub(super) fn held_by(self, rows: u64, most: u64) -> u64 {
        let gathered = self
            .gathered
            .saturating_mul(rows.div_ceil(self.groups.max(1)));
        self.made.saturating_mul(most).saturating_add(gathered)
    }

    /// The same if one of so many rows may contain nearly all that was gathered.
    pub(super) fn spread_over(self, rows: u64) -> Self {
        Self {
            groups: self.groups.min(rows.max(1)),
            ..self
        }
    }

    /// The same on average if only some of so many rows hold it: together they hold no more than those.
    pub(super) fn shared(self, some: u64, all: u64) -> Self {
        if some >= all {
            return self;
        }
        Self {
            made: self.made.saturating_mul(some).div_ceil(all),
            gathered: (self.gathered).saturating_mul(some.div_ceil(self.groups.max(1))),
            groups: all,
            ..self
        }
    }

    /// A text that the statement writes.
    pub(super) fn text(units: u64) -> Self {
        Self {
            length: units,
            made: units,
            ..Self::ONE
        }
    }

    /// A list of this many such elements, whose number the graph limits.
    pub(super) fn list(length: u64, item: Self) -> Self {
        Self {
            length,
            item: item.total().max(1),
            bound: u64::MAX,
            inside: item.longest(),
            unknown: item.unknown.map(Unknown::outside),
            count: None,
            depth: item.depth.saturating_add(1),
            made: length.saturating_mul(item.made),
            gathered: length.saturating_mul(item.gathered),
            groups: item.groups,
        }
    }

    /// A list of values that are as large as this together, or a map of them.
    pub(super) fn holding(length: u64, largest: Self, all: Self) -> Self {
        Self {
            depth: all.depth.saturating_add(1),
            made: all.made,
            gathered: all.gathered,
            groups: all.groups,
            ..Self::list(length, largest)
        }
    }

    /// A list with such an element for each of `self`.
    pub(super) fn mapped(self, item: Self) -> Self {
        let list = Self::list(self.loops(), item);
        if self.made > 0 {
            Self {
                made: list.total(),
                gathered: 0,
                ..list
            }
        } else if self.gathered > 0 {
            Self {
                gathered: list.total(),
                groups: self.groups.min(item.groups),
                made: 0,
                ..list
            }
        } else {
            list
        }
    }

    /// The first elements, at most this many.
    pub(super) fn first(self, most: u64) -> Self {
        let (length, unknown) = match self.unknown {
            Some(list) if list.level == 0 && most <= list.loops => (most, Some(list.outside())),
            unknown => (self.length.min(most), unknown),
        };
        Self {
            length,
            unknown,
            made: self
                .made
                .div_ceil(self.length.max(1))
                .saturating_mul(length),
            gathered: (self.gathered)
                .min(self.groups.saturating_mul(length).saturating_mul(self.item)),
            ..self
        }
    }

    /// Either of them.
    pub(super) fn larger(self, other: Self) -> Self {
        let larger = if other.total() > self.total() {
            other
        } else {
            self
        };
        Self {
            length: self.length.max(other.length),
            item: self.item.max(other.item),
            bound: larger.total(),
            inside: self.inside.max(other.inside),
            unknown: Unknown::either(self.unknown, other.unknown),
            count: larger.count,
            depth: self.depth.max(other.depth),
            made: self.made.max(other.made),
            gathered: self.gathered.max(other.gathered),
            groups: self.groups.min(other.groups),
        }
    }

    /// A value that contains both.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            length: self.length.saturating_add(other.length),
            item: self.item.max(other.item),
            bound: self.total().saturating_add(other.total()),
            inside: self.inside.max(other.inside),
            unknown: Unknown::either(self.unknown, other.unknown),
            count: both(self.count, other.count),
            depth: self.depth.max(other.depth),
            made: self.made.saturating_add(other.made),
            gathered: self.gathered.saturating_add(other.gathered),
            groups: self.groups.min(other.groups),
        }
    }
}

/// Characters per unit of size.
pub(super) const CHARACTERS: u64 = 10;

/// Assumed size of a property, which may be a longer text.
pub(super) const PROPERTY: u64 = 20;

/// Assumed size of a list whose length only the graph knows, and of one that `collect` returns.
pub(super) const LIST: u64 = 100;

/// How often a loop over a list is assumed to run whose length only the graph knows.
pub(super) const LOOPS: u64 = 1_000;

/// The same for the characters of a text, and for the parts of a text between separators.
pub(super) const CHARACTER_LOOPS: u64 = 10_000;
pub(super) const PART_LOOPS: u64 = 2_000;

/// The sum of what was added to two counts.
pub(super) fn both(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.saturating_add(other?)).filter(|added| *added <= MAX_RANGE)
}

/// Maximum numbers of a `range`.
pub(super) const MAX_RANGE: u64 = 10_000;
