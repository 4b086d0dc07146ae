//! Discord's ids, which grow with time.

use std::fmt;

use chrono::{DateTime, Utc};
use serde_json::Value;

/// Discord's epoch, the start of 2015, in milliseconds since 1970.
const EPOCH: i64 = 1_420_070_400_000;

/// A snowflake: a number that grows with time, written as text in every payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(u64);

impl Id {
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    pub const fn get(self) -> u64 {
        self.0
    }

    /// Parses an id from a payload or a path.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    pub(crate) fn of(value: &Value) -> Option<Self> {
        value.as_str().and_then(Self::parse)
    }

    /// Returns when it was assigned, to the millisecond.
    pub fn at(self) -> DateTime<Utc> {
        let since = i64::try_from(self.0 >> 22).expect("42 bits fit");
        DateTime::from_timestamp_millis(EPOCH + since).unwrap_or_default()
    }

    /// Returns the first id of a moment.
    pub(crate) fn first_of(at: DateTime<Utc>) -> Self {
        let since = u64::try_from(at.timestamp_millis() - EPOCH).unwrap_or_default();
        Self(since << 22)
    }

    pub(crate) fn json(self) -> Value {
        Value::String(self.0.to_string())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq<str> for Id {
    fn eq(&self, other: &str) -> bool {
        Self::parse(other) == Some(*self)
    }
}

/// Formats a time as in payloads.
pub(crate) fn stamp(at: DateTime<Utc>) -> Value {
    Value::String(at.format("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string())
}
