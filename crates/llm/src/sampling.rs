//! Sampling: how a model chooses its words. Pure.

use serde_json::Value;

use super::capabilities::Capabilities;

/// Sampling settings. Unset values come from a more general setting, and finally from the service's
/// defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampling {
    /// From 0, always the most likely word, to 2.
    pub temperature: Option<f64>,
    /// Only the most likely words with this total probability are considered: above 0, at most 1.
    pub top_p: Option<f64>,
    /// With the same seed a service tries to repeat its output.
    pub seed: Option<i64>,
    /// Stop words: an answer ends before the first of these. Services accept at most four.
    pub stop: Option<Vec<String>>,
}

impl Sampling {
    /// Only the most likely words, for output that has to be correct rather than well phrased.
    pub fn deterministic() -> Self {
        Self {
            temperature: Some(0.0),
            ..Self::default()
        }
    }

    /// These settings, with unset values taken from `general`.
    #[must_use]
    pub fn or(&self, general: &Self) -> Self {
        Self {
            temperature: self.temperature.or(general.temperature),
            top_p: self.top_p.or(general.top_p),
            seed: self.seed.or(general.seed),
            stop: self.stop.clone().or_else(|| general.stop.clone()),
        }
    }

    /// Adds to a request the settings that the model accepts.
    pub(super) fn put_into(&self, body: &mut Value, can: &Capabilities) {
        if let Some(temperature) = self.temperature.filter(|_| can.temperature) {
            body["temperature"] = temperature.into();
        }
        if let Some(top_p) = self.top_p.filter(|_| can.top_p) {
            body["top_p"] = top_p.into();
        }
        if let Some(seed) = self.seed.filter(|_| can.seed) {
            body["seed"] = seed.into();
        }
        if let Some(stop) = self.stops().filter(|_| can.stop) {
            body["stop"] = stop.into();
        }
    }

    /// The stop words, if there are any. Some services refuse an empty list.
    pub(super) fn stops(&self) -> Option<&[String]> {
        self.stop.as_deref().filter(|stop| !stop.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_more_special_setting_holds() {
        let everywhere = Sampling {
            temperature: Some(0.7),
            seed: Some(1),
            ..Sampling::default()
        };
        let here = Sampling {
            top_p: Some(0.5),
            stop: Some(Vec::new()),
            ..Sampling::deterministic()
        };
        let both = here.or(&everywhere);
        let mut body = json!({});
        both.put_into(&mut body, &Capabilities::default());
        assert_eq!(body, json!({"temperature": 0.0, "top_p": 0.5, "seed": 1}));
        let takes_little = Capabilities {
            temperature: false,
            seed: false,
            ..Capabilities::default()
        };
        let mut body = json!({});
        both.put_into(&mut body, &takes_little);
        assert_eq!(body, json!({"top_p": 0.5}));
    }
}
