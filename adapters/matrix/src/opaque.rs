//! Values of the Matrix SDK in structures of our own.

use std::any::Any;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// A shared value of which the compiler need not see what it is made of.
///
/// A client and its rooms are made of hundreds of types. Whatever has one of them as a field, and is used by an asynchronous method
/// of a trait, makes the compiler prove of all of these types that threads may share them, once for each such method: that was
/// most of the time that this crate took to be checked. Here it is proved where the value is put in. For the same reason such methods
/// await nothing of the SDK themselves, but a boxed future.
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
