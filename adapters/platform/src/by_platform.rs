//! What single platforms of a process can do, found by the platform.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

/// Those platforms of a process that can do something, by name. Does not keep them.
pub struct ByPlatform<T: ?Sized>(Arc<Mutex<HashMap<&'static str, Weak<T>>>>);

impl<T: ?Sized> ByPlatform<T> {
    /// A platform can, as long as this lives.
    pub fn add(&self, platform: &'static str, can: &Arc<T>) {
        self.0.lock().insert(platform, Arc::downgrade(can));
    }

    /// That of a platform, if it can and is connected.
    pub fn named(&self, platform: &str) -> Option<Arc<T>> {
        self.0.lock().get(platform)?.upgrade()
    }

    /// That of the platform that something is of: ids begin with its name.
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
