//! Sampling settings in a channel, by kind of model call. Pure.

use muninn_platform::{ChannelSettings, SamplingSettings};

use crate::graph::trace::ModelStep;
use crate::llm::Sampling;

/// By kind of call. Unset values are the service's defaults, or those of `MODEL_TEMPERATURE`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SamplingByKind {
    answer: Sampling,
    cypher: Sampling,
    rephrase: Sampling,
    critique: Sampling,
    summary: Sampling,
}

impl SamplingByKind {
    /// From the settings of a channel. Statements, rephrased questions and the critic's findings have to be correct
    /// rather than well phrased, so the most likely words are used unless something is set.
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
            // Both judge existing text.
            ModelStep::Critique | ModelStep::Rerank => &self.critique,
        }
    }

    /// For summaries, which are not a step of a turn.
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
