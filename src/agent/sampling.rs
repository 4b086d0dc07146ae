//! How models choose their words in a channel, by what they are asked for. Pure.

use muninn_platform::{ChannelSettings, SamplingSettings};

use crate::graph::trace::ModelStep;
use crate::llm::Sampling;

/// By kind of call. What is unset is as the service does it, or `MODEL_TEMPERATURE` says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SamplingByKind {
    answer: Sampling,
    cypher: Sampling,
    rephrase: Sampling,
    critique: Sampling,
    summary: Sampling,
}

impl SamplingByKind {
    /// As the settings of a channel say. Statements, rephrased questions and what a critic finds are to be right rather
    /// than well said, so that the likeliest words are taken where nothing is set.
    pub fn of(set: Option<&ChannelSettings>) -> Self {
        let set = set.and_then(|set| set.sampling.clone());
        let SamplingSettings {
            answer,
            cypher,
            rephrase,
            critique,
            summary,
        } = set.unwrap_or_default();
        let likeliest = Sampling::deterministic();
        Self {
            answer: as_set(answer),
            cypher: as_set(cypher).or(&likeliest),
            rephrase: as_set(rephrase).or(&likeliest),
            critique: as_set(critique).or(&likeliest),
            summary: as_set(summary),
        }
    }

    pub fn of_step(&self, step: ModelStep) -> &Sampling {
        match step {
            ModelStep::Route | ModelStep::Answer => &self.answer,
            ModelStep::Cypher => &self.cypher,
            ModelStep::Rephrase => &self.rephrase,
            // Both judge what stands before them.
            ModelStep::Critique | ModelStep::Rerank => &self.critique,
        }
    }

    /// For summaries, which are no step of a turn.
    pub fn into_summary(self) -> Sampling {
        self.summary
    }
}

fn as_set(set: muninn_platform::Sampling) -> Sampling {
    let muninn_platform::Sampling {
        temperature,
        top_p,
        seed,
        stop,
    } = set;
    Sampling {
        temperature,
        top_p,
        seed,
        stop,
    }
}
