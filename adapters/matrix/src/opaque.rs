//! Hides SDK types from the compiler's trait solver.

use std::any::Any;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// A shared value whose type is erased from the compiler's checks.
///
/// A client and its rooms consist of hundreds of types. With one of them in a field, every
/// asynchronous trait method that uses it makes the compiler prove again that all of these types
/// are `Send`; that was most of the time for checking this crate. Here it is proved once, where the
/// value is stored. For the same reason such methods do not await the SDK themselves, but a boxed
/// future.
pub(crate) struct Opaque<T>(Arc<dyn Any + Send + Sync>, PhantomData<fn() -> T>);

impl<T: Any + Send + Sync> Opaque<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Arc::new(value), PhantomData)
    }
}

impl<T: Any> Deref for Opaque<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.downcast_ref().expect("what was put in")
    }
}

impl<T> Clone for Opaque<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), PhantomData)
    }
}
