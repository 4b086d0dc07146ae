//! What this platform is called in ids, settings and logs.

pub(crate) const NAME: &str = "matrix";
