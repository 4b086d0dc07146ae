//! The counted figures: shares, each with the number of cases behind it.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// A share: a count out of a total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub part: u64,
    pub whole: u64,
}

impl Share {
    pub fn of(part: usize, whole: usize) -> Self {
        Self {
            part: part as u64,
            whole: whole as u64,
        }
    }

    /// A share of one case, which counts if `is` is true.
    pub(super) fn one(is: bool) -> Self {
        Self::of(usize::from(is), 1)
    }

    /// `None` if there are no cases.
    pub fn value(self) -> Option<f64> {
        (self.whole > 0).then(|| self.part as f64 / self.whole as f64)
    }
}

impl AddAssign for Share {
    fn add_assign(&mut self, other: Self) {
        self.part += other.part;
        self.whole += other.whole;
    }
}

/// What is counted in a history. `docs/eval.md` explains what each figure means, and what it does
/// not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    RatedGood,
    AskedAgain,
    Corrected,
    Silent,
    SilentAndAskedAgain,
    Given,
    Used,
    Outdated,
    KnowledgeChanged,
    Duplicate,
}

/// Whether a higher or a lower figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    Up,
    Down,
    /// It describes the history, not its quality.
    Neither,
}

impl Figure {
    pub const ALL: [Self; 10] = [
        Self::RatedGood,
        Self::AskedAgain,
        Self::Corrected,
        Self::Silent,
        Self::SilentAndAskedAgain,
        Self::Given,
        Self::Used,
        Self::Outdated,
        Self::KnowledgeChanged,
        Self::Duplicate,
    ];

    /// The name in tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::RatedGood => "votes that are good",
            Self::AskedAgain => "questions that were asked again after their answer",
            Self::Corrected => "answers that somebody corrected",
            Self::Silent => "questions for which nothing was found",
            Self::SilentAndAskedAgain => "of these, asked again or corrected",
            Self::Given => "answers that were given memories",
            Self::Used => "memories that their answer shows a trace of",
            Self::Outdated => "answers given an outdated memory alone",
            Self::KnowledgeChanged => "answers whose knowledge has changed since",
            Self::Duplicate => "exchanges that say the same as an earlier one",
        }
    }

    pub fn better(self) -> Better {
        match self {
            Self::RatedGood | Self::Used => Better::Up,
            Self::AskedAgain
            | Self::Corrected
            | Self::Silent
            | Self::SilentAndAskedAgain
            | Self::Outdated
            | Self::Duplicate => Better::Down,
            Self::Given | Self::KnowledgeChanged => Better::Neither,
        }
    }
}

/// The figures of a history, or of a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Figures(BTreeMap<Figure, Share>);

impl Figures {
    pub fn get(&self, figure: Figure) -> Share {
        self.0.get(&figure).copied().unwrap_or_default()
    }

    /// Number of answers counted.
    pub fn answers(&self) -> u64 {
        self.get(Figure::Given).whole
    }

    pub(super) fn count(&mut self, figure: Figure, share: Share) {
        *self.0.entry(figure).or_default() += share;
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (figure, share) in &other.0 {
            self.count(*figure, *share);
        }
    }
}
