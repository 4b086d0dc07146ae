//! How a model chooses its words. Pure.

use serde_json::Value;

use super::capabilities::Capabilities;

/// What is unset is as a more general setting says, and at last as the service does by itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampling {
    /// From 0, always the likeliest word, to 2.
    pub temperature: Option<f64>,
    /// Only the likeliest words are chosen from, which are so likely together: above 0, at most 1.
    pub top_p: Option<f64>,
    /// With the same one a service tries to write the same again.
    pub seed: Option<i64>,
    /// An answer ends before the first of these; services take four at most.
    pub stop: Option<Vec<String>>,
}

impl Sampling {
    /// The likeliest words alone: for what is to be right rather than well said.
    pub fn deterministic() -> Self {
        Self {
            temperature: Some(0.0),
            ..Self::default()
        }
    }

    /// These settings, and where they say nothing, those.
    #[must_use]
    pub fn or(&self, general: &Self) -> Self {
        Self {
            temperature: self.temperature.or(general.temperature),
            top_p: self.top_p.or(general.top_p),
            seed: self.seed.or(general.seed),
            stop: self.stop.clone().or_else(|| general.stop.clone()),
        }
    }

    /// Adds to a request what the model takes of them.
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

    /// Where an answer ends; none where nothing ends it. An empty list is refused by some.
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
