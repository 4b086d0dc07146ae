//! How far remembered content can be trusted.

use serde::{Deserialize, Serialize};

use super::source::Source;

/// The origin of a content, as a trust class. What is made from several contents has the lowest class of them, and what
/// the bot says is never above [`Trust::Talk`]. The variants are in ascending order.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// A file that came with a message.
    File,
    /// The result of a tool: rows of the team's graph, or other people's services.
    Tool,
    /// Ingested documents and records.
    Documents,
    /// Said by the bot, from nothing but what people said.
    #[default]
    Talk,
    /// Said by a person.
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

    /// The stored name.
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

    /// The class of what the bot makes from content of these classes.
    pub fn derived(from: impl IntoIterator<Item = Self>) -> Self {
        from.into_iter().fold(Self::Talk, Self::min)
    }

    /// Whether somebody other than the people who talk with the bot may have written part of it.
    pub fn is_low(self) -> bool {
        match self {
            Self::File | Self::Tool | Self::Documents => true,
            Self::Talk | Self::Person => false,
        }
    }

    /// The class of a turn without one, kept by an earlier version.
    pub(in crate::graph) fn of_old(source: Source) -> Self {
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

        /// Contents in order of creation, each with its own class or derived from some earlier ones.
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
