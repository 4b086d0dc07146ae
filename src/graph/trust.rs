//! How far what is remembered is to be trusted.

use serde::{Deserialize, Serialize};

use super::Source;

/// Where something comes from. What is made of several things has the lowest class of them, and what the bot says is never
/// more than [`Trust::Talk`]. The earlier ones are the lower ones.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// A file that came with a message.
    File,
    /// What a tool gave: rows of the team's graph, other people's services.
    Tool,
    /// Documents and records that were ingested.
    Documents,
    /// What the bot said, made of nothing but what people said.
    #[default]
    Talk,
    /// What a person said.
    Person,
}

impl Trust {
    pub const ALL: [Self; 5] = [
        Self::File,
        Self::Tool,
        Self::Documents,
        Self::Talk,
        Self::Person,
    ];

    /// As it is kept.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Tool => "tool",
            Self::Documents => "documents",
            Self::Talk => "talk",
            Self::Person => "person",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The class of what the bot makes of things of these classes.
    pub fn derived(from: impl IntoIterator<Item = Self>) -> Self {
        from.into_iter().fold(Self::Talk, Self::min)
    }

    /// Whether somebody else than the people who talk with the bot may have written what is in it.
    pub fn is_low(self) -> bool {
        match self {
            Self::File | Self::Tool | Self::Documents => true,
            Self::Talk | Self::Person => false,
        }
    }

    /// Of a turn that says nothing of it: one that an earlier version kept.
    pub(super) fn of_old(source: Source) -> Self {
        match source {
            Source::Message | Source::Note => Self::Person,
            Source::Retrieval => Self::Documents,
            Source::Knowledge => Self::Tool,
            Source::Model | Source::Memory => Self::Talk,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_read_again() {
        for trust in Trust::ALL {
            assert_eq!(Trust::parse(trust.name()), Some(trust));
        }
        assert_eq!(Trust::parse("other"), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        /// Things in the order in which they came to be, each with its own class or made of some before it.
        #[test]
        fn in_every_lineage_a_thing_is_as_low_as_the_lowest_it_comes_from(
            things in prop::collection::vec((0..5_usize, prop::collection::vec(any::<prop::sample::Index>(), 0..4)), 1..40)
        ) {
            let mut classes: Vec<Trust> = Vec::new();
            let mut ancestors: Vec<Vec<usize>> = Vec::new();
            for (at, (class, parents)) in things.iter().enumerate() {
                let parents: Vec<usize> = if at == 0 { Vec::new() } else { parents.iter().map(|it| it.index(at)).collect() };
                if parents.is_empty() {
                    classes.push(Trust::ALL[*class]);
                    ancestors.push(vec![at]);
                    continue;
                }
                classes.push(Trust::derived(parents.iter().map(|it| classes[*it])));
                ancestors.push(parents.iter().flat_map(|it| ancestors[*it].clone()).collect());
                let origins = ancestors[at].iter().map(|it| classes[*it]);
                let lowest = origins.min().unwrap_or(Trust::Talk);
                prop_assert_eq!(classes[at], lowest.min(Trust::Talk));
                prop_assert_eq!(classes[at].is_low(), lowest.is_low());
            }
        }
    }
}
