//! How models choose their words in a channel, by what they are asked for.
//!
//! ```toml
//! ["slack/T0001/C0002".sampling]
//! answer = { temperature = 0.2, top_p = 0.9, seed = 7, stop = ["---"] }
//! cypher = { temperature = 0 }
//! ```

use serde::Deserialize;

/// The most words at which an answer ends: services take no more.
const MOST_STOPS: usize = 4;

/// The settings by the kind of call; what is unset is as everywhere.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SamplingSettings {
    /// Answers, and which tools are called for them.
    pub answer: Sampling,
    /// Generated Cypher.
    pub cypher: Sampling,
    /// Questions that are made to stand alone.
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
    /// These settings, and where they say nothing, those.
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

    /// What is wrong with them, if anything is.
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
