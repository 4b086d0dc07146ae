//! The findings about the models of a service, and how fast these are. They are stored in a file, by address and model, and
//! expire after a month, as services are updated.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use super::capabilities::{Capabilities, Uses};
use super::speed::{CallTiming, Patience, Speed, Timings};
use crate::timeouts::Timeouts;

/// Days after which capabilities are determined again.
const BELIEVED_DAYS: i64 = 30;

/// The findings, with their date.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ModelProfile {
    #[serde(flatten)]
    pub(super) capabilities: Capabilities,
    since: NaiveDate,
    /// Features with which the model has succeeded: an unspecific refusal is not about those.
    #[serde(default)]
    done: BTreeSet<Uses>,
    #[serde(default)]
    timings: Timings,
    /// The speed stored in the file.
    #[serde(skip)]
    kept: Option<Speed>,
}

impl ModelProfile {
    fn of_today() -> Self {
        Self {
            since: Utc::now().date_naive(),
            ..Self::default()
        }
    }
}

/// By address, then by model.
type Stored = BTreeMap<String, BTreeMap<String, ModelProfile>>;

/// The known capabilities of a service's models.
#[derive(Debug)]
pub(super) struct CapabilityStore {
    address: String,
    file: Option<PathBuf>,
    models: Mutex<HashMap<String, ModelProfile>>,
}

impl CapabilityStore {
    /// Loads the entries of this address; empty if the file cannot be read.
    pub(super) fn open(address: &str, file: Option<PathBuf>) -> Self {
        let mut stored = file.as_deref().map(read).unwrap_or_default();
        let today = Utc::now().date_naive();
        let mut models = stored.remove(address).unwrap_or_default();
        models.retain(|_, known| (today - known.since).num_days() <= BELIEVED_DAYS);
        for known in models.values_mut() {
            known.kept = known.timings.speed();
        }
        Self {
            address: address.to_owned(),
            file,
            models: Mutex::new(models.into_iter().collect()),
        }
    }

    fn models(&self) -> MutexGuard<'_, HashMap<String, ModelProfile>> {
        self.models.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn known(&self, model: &str) -> Option<ModelProfile> {
        self.models().get(model).cloned()
    }

    pub(super) fn of(&self, model: &str) -> Capabilities {
        self.known(model)
            .map(|known| known.capabilities)
            .unwrap_or_default()
    }

    /// Changes the capabilities of a model, and stores them.
    pub(super) fn update_capabilities(&self, model: &str, change: impl FnOnce(&mut Capabilities)) {
        let mut models = self.models();
        let known = models.entry(model.to_owned()).or_default();
        let before = known.clone();
        change(&mut known.capabilities);
        known.since = Utc::now().date_naive();
        if *known == before {
            return;
        }
        tracing::debug!(model, capabilities = ?known.capabilities, "what the model service can do is known better");
        self.keep(&models);
    }

    /// Whether a model has succeeded with these features.
    pub(super) fn has_done(&self, model: &str, uses: Uses) -> bool {
        let models = self.models();
        models
            .get(model)
            .is_some_and(|known| known.done.contains(&uses))
    }

    /// Remembers that a model has succeeded with these features.
    pub(super) fn mark_done(&self, model: &str, uses: Uses) {
        let mut models = self.models();
        let known = models
            .entry(model.to_owned())
            .or_insert_with(ModelProfile::of_today);
        if known.done.insert(uses) {
            self.keep(&models);
        }
    }

    /// The measured speed of a model.
    pub(super) fn speed(&self, model: &str) -> Option<Speed> {
        self.models().get(model)?.timings.speed()
    }

    /// The time limits of a call to a model.
    pub(super) fn patience(
        &self,
        model: &str,
        set: &Timeouts,
        prompt: u32,
        answer: u32,
    ) -> Patience {
        let timings = self.models().get(model).map(|known| known.timings.clone());
        timings.unwrap_or_default().patience(set, prompt, answer)
    }

    /// Records a finished call. The file is written only if the model was clearly faster or slower than stored.
    pub(super) fn timed(&self, model: &str, call: CallTiming) {
        let today = Utc::now().date_naive();
        let mut models = self.models();
        let known = models
            .entry(model.to_owned())
            .or_insert_with(ModelProfile::of_today);
        known.timings.add(call, today);
        let speed = known.timings.speed();
        let is_known = match (&known.kept, &speed) {
            (Some(kept), Some(speed)) => kept.is_about(speed),
            (None, _) | (_, None) => false,
        };
        if !is_known {
            known.kept = speed;
            self.keep(&models);
        }
    }

    /// Writes the file. If that fails, the capabilities are determined again later.
    fn keep(&self, models: &HashMap<String, ModelProfile>) {
        let Some(file) = &self.file else { return };
        // Another store may write findings on other models to the same file.
        static KEEPING: Mutex<()> = Mutex::new(());
        let _one_at_a_time = KEEPING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stored = read(file);
        let own = models.iter();
        let own = own.map(|(model, known)| (model.clone(), known.clone()));
        stored.entry(self.address.clone()).or_default().extend(own);
        if let Err(error) = private_files::replace_lines(file, [&stored]) {
            tracing::warn!(%error, file = %file.display(), "what the model service can do cannot be kept");
        }
    }
}

fn read(file: &std::path::Path) -> Stored {
    let text = std::fs::read(file).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::capabilities::ToolForm;
    use super::*;

    #[test]
    fn what_was_found_is_there_after_a_restart_until_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("models.json");
        let open = |address: &str| CapabilityStore::open(address, Some(file.clone()));
        open("http://a/v1").update_capabilities("small", |it| it.tools = ToolForm::Text);
        open("http://b/v1").update_capabilities("big", |it| it.context = Some(4_096));
        assert_eq!(open("http://a/v1").of("small").tools, ToolForm::Text);
        assert_eq!(open("http://a/v1").of("big"), Capabilities::default());
        assert_eq!(open("http://b/v1").of("big").context, Some(4_096));
        let with_tools = Uses {
            tools: true,
            ..Uses::default()
        };
        open("http://a/v1").mark_done("small", with_tools);
        assert!(open("http://a/v1").has_done("small", with_tools));
        assert!(!open("http://a/v1").has_done("small", Uses::default()));
        let old = std::fs::read_to_string(&file).unwrap();
        let today = Utc::now().date_naive();
        let old = old.replace(&today.to_string(), "2026-01-01");
        std::fs::write(&file, old).unwrap();
        assert_eq!(open("http://a/v1").known("small"), None);
        let call = CallTiming {
            prompt: 100,
            first_ms: 2_000,
            written: 10,
            ms: 3_000,
        };
        open("http://a/v1").timed("slow", call);
        let speed = open("http://a/v1").speed("slow").unwrap();
        assert_eq!(
            (speed.first.as_secs(), speed.small_step().as_secs()),
            (2, 12)
        );
        std::fs::write(&file, "no JSON").unwrap();
        assert_eq!(open("http://a/v1").known("small"), None);
    }
}
