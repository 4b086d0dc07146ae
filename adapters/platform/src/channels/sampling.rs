//! Sampling parameters of models in a channel, per kind of call.
//!
//! ```toml
//! ["slack/T0001/C0002".sampling]
//! answer = { temperature = 0.2, top_p = 0.9, seed = 7, stop = ["---"] }
//! cypher = { temperature = 0 }
//! ```

use serde::Deserialize;

/// Maximum number of stop sequences: services accept no more.
const MOST_STOPS: usize = 4;

/// Sampling parameters per kind of call; an unset field takes the general value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SamplingSettings {
    /// Answers, including the choice of tools.
    pub answer: Sampling,
    /// Generated Cypher.
    pub cypher: Sampling,
    /// Rephrased questions.
    pub rephrase: Sampling,
    /// Whether an answer is complete.
    pub critique: Sampling,
    /// Summaries of conversations, and catching up.
    pub summary: Sampling,
}

/// The settings of one kind of call.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sampling {
    /// From 0 to 2.
    pub temperature: Option<f64>,
    /// Above 0, at most 1.
    pub top_p: Option<f64>,
    pub seed: Option<i64>,
    /// An answer ends before the first of these.
    pub stop: Option<Vec<String>>,
}

impl SamplingSettings {
    /// Merges two settings: a field that is unset here is taken from `general`.
    #[must_use]
    pub fn or(&self, general: &Self) -> Self {
        Self {
            answer: self.answer.or(&general.answer),
            cypher: self.cypher.or(&general.cypher),
            rephrase: self.rephrase.or(&general.rephrase),
            critique: self.critique.or(&general.critique),
            summary: self.summary.or(&general.summary),
        }
    }

    /// Describes the first invalid value, if there is one.
    pub(super) fn problem(&self) -> Option<String> {
        let Self {
            answer,
            cypher,
            rephrase,
            critique,
            summary,
        } = self;
        let kinds = [
            ("answer", answer),
            ("cypher", cypher),
            ("rephrase", rephrase),
            ("critique", critique),
            ("summary", summary),
        ];
        kinds.into_iter().find_map(|(kind, sampling)| {
            let problem = sampling.problem()?;
            Some(format!("sampling.{kind}.{problem}"))
        })
    }
}

impl Sampling {
    fn or(&self, general: &Self) -> Self {
        Self {
            temperature: self.temperature.or(general.temperature),
            top_p: self.top_p.or(general.top_p),
            seed: self.seed.or(general.seed),
            stop: self.stop.clone().or_else(|| general.stop.clone()),
        }
    }

    fn problem(&self) -> Option<String> {
        let Self {
            temperature,
            top_p,
            seed: _,
            stop,
        } = self;
        let temperature = temperature.filter(|it| !(0.0..=2.0).contains(it));
        if let Some(temperature) = temperature {
            return Some(format!(
                "temperature is {temperature}, but must be from 0 to 2"
            ));
        }
        if let Some(top_p) = top_p.filter(|it| !(*it > 0.0 && *it <= 1.0)) {
            return Some(format!(
                "top_p is {top_p}, but must be above 0 and at most 1"
            ));
        }
        let stop = stop.as_deref().unwrap_or_default();
        if stop.len() > MOST_STOPS {
            return Some(format!(
                "stop has {} texts, but services take {MOST_STOPS} at most",
                stop.len()
            ));
        }
        stop.iter()
            .any(String::is_empty)
            .then(|| "stop has an empty text, at which every answer would end".to_owned())
    }
}
