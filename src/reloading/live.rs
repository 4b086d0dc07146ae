//! A value that is replaced as a whole while it is used.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Whoever took it keeps what they took; whoever comes later gets the next one.
pub struct Live<T>(RwLock<Arc<T>>);

impl<T> Live<T> {
    pub fn new(value: impl Into<Arc<T>>) -> Self {
        Self(RwLock::new(value.into()))
    }

    /// The value as it is now.
    pub fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn replace(&self, value: impl Into<Arc<T>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = value.into();
    }
}

impl<T: fmt::Debug> fmt::Debug for Live<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Live").field(&self.get()).finish()
    }
}
