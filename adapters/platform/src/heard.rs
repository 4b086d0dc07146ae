//! Which audiences the bot hears, known to the bot and to the adapters alike.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::channel_memory::ChannelMemory;
use crate::{AudienceId, Channels};

/// Tells which audiences are heard, at once and without waiting, so that adapters drop unwanted
/// messages as soon as they arrive. Clones share their state.
#[derive(Clone, Debug, Default)]
pub struct HeardAudiences(Arc<ChannelMemorySettings>);

#[derive(Debug, Default)]
struct ChannelMemorySettings {
    settings: Arc<Channels>,
    /// What people set there with a command; it takes precedence over the settings.
    said: RwLock<HashMap<AudienceId, ChannelMemory>>,
}

impl HeardAudiences {
    /// Starts with the settings, until commands are loaded.
    pub fn new(settings: Arc<Channels>) -> Self {
        Self(Arc::new(ChannelMemorySettings {
            settings,
            said: RwLock::default(),
        }))
    }

    /// Whether messages between people are remembered there.
    pub fn hears(&self, audience: &AudienceId) -> bool {
        self.memory(audience) == ChannelMemory::Channel
    }

    /// What is remembered there: as the last command said, or else as the settings say.
    pub fn memory(&self, audience: &AudienceId) -> ChannelMemory {
        let said = self.0.said.read().get(audience).copied();
        said.or_else(|| self.0.settings.memory(audience))
            .unwrap_or_default()
    }

    /// Records that somebody set what is remembered there.
    pub fn set(&self, audience: &AudienceId, memory: ChannelMemory) {
        self.0.said.write().insert(audience.clone(), memory);
    }

    /// Replaces all that was set by commands, in all audiences.
    pub fn set_all(&self, said: HashMap<AudienceId, ChannelMemory>) {
        *self.0.said.write() = said;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_there_holds_over_the_settings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("channels.toml");
        std::fs::write(&path, "['slack/T/C']\nmemory = 'channel'\n['slack/T/D']\n").unwrap();
        let heard = HeardAudiences::new(Arc::new(Channels::load(&path).unwrap()));
        let [c, d, e] = ["slack/T/C", "slack/T/D", "slack/T/E"].map(AudienceId::new);
        assert!(heard.hears(&c) && !heard.hears(&d) && !heard.hears(&e));
        let shared = heard.clone();
        heard.set(&c, ChannelMemory::Asked);
        heard.set(&e, ChannelMemory::Channel);
        assert!(!shared.hears(&c) && !shared.hears(&d) && shared.hears(&e));
        heard.set_all(HashMap::new());
        assert!(shared.hears(&c) && !shared.hears(&e));
    }
}
