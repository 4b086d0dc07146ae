//! A registry of what single platforms of a process can do.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

/// The platforms of a process with a certain ability, by name. Holds weak references only.
pub struct ByPlatform<T: ?Sized>(Arc<Mutex<HashMap<&'static str, Weak<T>>>>);

impl<T: ?Sized> ByPlatform<T> {
    /// Registers the ability of a platform, for as long as `can` lives.
    pub fn add(&self, platform: &'static str, can: &Arc<T>) {
        self.0.lock().insert(platform, Arc::downgrade(can));
    }

    /// Returns the ability of a platform, if it has it and is connected.
    pub fn named(&self, platform: &str) -> Option<Arc<T>> {
        self.0.lock().get(platform)?.upgrade()
    }

    /// Returns the ability of the platform that an id belongs to: ids begin with the platform's
    /// name.
    pub fn of(&self, id: impl AsRef<str>) -> Option<Arc<T>> {
        self.named(id.as_ref().split('/').next()?)
    }
}

impl<T: ?Sized> Clone for ByPlatform<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> Default for ByPlatform<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: ?Sized> fmt::Debug for ByPlatform<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0.lock();
        f.debug_set().entries(all.keys()).finish()
    }
}
