//! The weights of the parts of a search score, from a file that a team can replace.

use std::path::Path;

use serde::Deserialize;

/// The built-in weights.
const SHIPPED: &str = include_str!("../../../knowledge/weights.toml");
/// The file that replaces them, in the team's folder.
const FILE: &str = "weights.toml";

/// The weights of the search; `knowledge/weights.toml` explains each.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    pub fusion: Fusion,
    pub graph: Graph,
    pub history: HistoryWeights,
    pub choice: Choice,
    #[serde(default)]
    pub policies: Policies,
}

/// The weights of the parts of a score.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fusion {
    pub graph: f32,
    pub cosine: f32,
    pub bm25: f32,
    /// Zero in files from before it existed.
    #[serde(default)]
    pub coverage: f32,
    /// The same.
    #[serde(default)]
    pub proximity: f32,
    pub recency: f32,
    pub policy: f32,
}

impl Fusion {
    /// Returns the maximum score of a chunk.
    pub(super) fn all(&self) -> f32 {
        self.of_content() + self.recency + self.policy
    }

    /// Returns the maximum score from its text and name.
    pub(super) fn of_content(&self) -> f32 {
        self.graph + self.cosine + self.bm25 + self.coverage + self.proximity
    }
}

/// How far names reach in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    pub least_name: f32,
    pub part: f32,
    pub related: f32,
    pub depth: u32,
}

/// The weights of earlier questions.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryWeights {
    pub question: f32,
    pub earlier: f32,
    pub fading: f32,
}

/// Limits for choosing from the ranking.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub limit: usize,
    pub tokens: u32,
    pub per_record: usize,
    pub same_cosine: f32,
    pub least_cosine: f32,
    pub least_coverage: f32,
    #[serde(default = "least_answerability")]
    pub least_answerability: f32,
    #[serde(default = "quoted")]
    pub quoted: usize,
    #[serde(default = "least_share")]
    pub least_share: f32,
}

fn least_answerability() -> f32 {
    0.6
}

fn quoted() -> usize {
    3
}

fn least_share() -> f32 {
    0.5
}

/// When a policy is triggered by meaning.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policies {
    /// Minimum similarity of a message to a trigger, beyond chance.
    pub likeness: f32,
}

impl Default for Policies {
    fn default() -> Self {
        Self { likeness: 0.5 }
    }
}

/// The file is invalid.
#[derive(Debug, thiserror::Error)]
#[error("the weights of the search in {file} are not right: {problem}")]
pub struct WeightsError {
    file: String,
    problem: String,
}

impl Weights {
    /// Loads the weights from the folder, or else the built-in ones.
    ///
    /// # Errors
    /// Fails with the problem of the folder's file.
    pub fn load(folder: Option<&Path>) -> Result<Self, WeightsError> {
        let own = folder.map(|folder| folder.join(FILE));
        let (file, text) = match own.filter(|path| path.exists()) {
            Some(path) => {
                let file = path.display().to_string();
                let text = std::fs::read_to_string(&path).map_err(|error| WeightsError {
                    file: file.clone(),
                    problem: error.to_string(),
                })?;
                (file, text)
            }
            None => (FILE.to_owned(), SHIPPED.to_owned()),
        };
        Self::parse(&text).map_err(|problem| WeightsError { file, problem })
    }

    /// Limits the number of hits, if given; then the token budget, which is for prompts, does not
    /// apply.
    #[must_use]
    pub(super) fn limited_to(&self, hits: Option<usize>) -> Self {
        let mut weights = self.clone();
        if let Some(hits) = hits {
            weights.choice.limit = hits;
            weights.choice.tokens = u32::MAX;
        }
        weights
    }

    fn parse(text: &str) -> Result<Self, String> {
        let weights: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        let Fusion {
            graph,
            cosine,
            bm25,
            coverage,
            proximity,
            recency,
            policy,
        } = weights.fusion;
        let parts = [graph, cosine, bm25, coverage, proximity, recency, policy];
        let Graph { part, related, .. } = weights.graph;
        let HistoryWeights {
            question,
            earlier,
            fading,
        } = weights.history;
        let likeness = weights.policies.likeness;
        let least_share = weights.choice.least_share;
        let shares = [
            part,
            related,
            question,
            earlier,
            fading,
            likeness,
            least_share,
        ];
        if parts.iter().any(|weight| !(0.0..=100.0).contains(weight)) {
            return Err("a weight of [fusion] is between 0 and 100".to_owned());
        }
        if weights.fusion.all() <= 0.0 {
            return Err("one weight of [fusion] at least is above 0".to_owned());
        }
        if shares.iter().any(|share| !(0.0..=1.0).contains(share)) {
            return Err(
                "what [graph], [history] and [policies] hold is between 0 and 1, and so is least_share"
                    .to_owned(),
            );
        }
        Ok(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_from_before_closeness_was_weighed_is_read() {
        let is_newer = |line: &&str| {
            let newer = [
                "coverage",
                "proximity",
                "least_answerability",
                "quoted",
                "least_share",
            ];
            newer.iter().any(|name| line.starts_with(name))
        };
        let older: Vec<&str> = SHIPPED.lines().filter(|line| !is_newer(line)).collect();
        let read = Weights::parse(&older.join("\n")).unwrap();
        assert!(
            read.fusion.coverage.abs() < f32::EPSILON && read.fusion.proximity.abs() < f32::EPSILON
        );
        assert_eq!(read.choice, Weights::load(None).unwrap().choice);
    }

    #[test]
    fn what_ships_is_right_and_what_does_not_fit_is_named() {
        Weights::load(None).unwrap();
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            Weights::load(Some(folder.path())).unwrap(),
            Weights::load(None).unwrap()
        );
        for (from, to, told) in [
            ("bm25 = 0.32", "bm25 = -1.0", "[fusion]"),
            ("part = 0.7", "part = 7.0", "[graph]"),
            ("least_share = 0.5", "least_share = 5", "least_share"),
            ("depth = 2", "deep = 2", "deep"),
        ] {
            std::fs::write(folder.path().join(FILE), SHIPPED.replace(from, to)).unwrap();
            let error = Weights::load(Some(folder.path())).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
