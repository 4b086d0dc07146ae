//! Recent errors from the log, for the operator.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Maximum number of errors kept: the newest.
const MAX_ERRORS: usize = 200;
/// Maximum characters of an error.
const MAX_ERROR_CHARS: usize = 1_000;

/// Crates whose errors quote what people and models wrote, or repeat what is logged here.
const NOT_KEPT: [&str; 2] = ["async_openai", "neo4rs"];

/// An error or warning from the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedError {
    pub at: DateTime<Utc>,
    /// The module of the program.
    pub part: String,
    pub text: String,
}

/// A log layer that keeps the errors and warnings of this process.
#[derive(Clone, Debug, Default)]
pub struct RecentErrors(Arc<Mutex<VecDeque<LoggedError>>>);

impl RecentErrors {
    /// Newest first.
    pub fn of_last_day(&self, now: DateTime<Utc>) -> Vec<LoggedError> {
        let since = now - TimeDelta::days(1);
        let all = self.0.lock();
        all.iter()
            .rev()
            .filter(|it| it.at > since)
            .cloned()
            .collect()
    }

    fn keep(&self, error: LoggedError) {
        let mut all = self.0.lock();
        if all.len() >= MAX_ERRORS {
            all.pop_front();
        }
        all.push_back(error);
    }
}

impl<S: Subscriber> Layer<S> for RecentErrors {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let part = event.metadata().target();
        let of_crate = part.split("::").next().unwrap_or_default();
        if *event.metadata().level() > Level::WARN || NOT_KEPT.contains(&of_crate) {
            return;
        }
        let mut said = FieldVisitor::default();
        event.record(&mut said);
        let text = format!("{}{}", said.message, said.fields);
        self.keep(LoggedError {
            at: Utc::now(),
            part: part.to_owned(),
            text: text.chars().take(MAX_ERROR_CHARS).collect(),
        });
    }
}

/// Collects the fields of an event as one line.
#[derive(Default)]
struct FieldVisitor {
    message: String,
    fields: String,
}

impl Visit for FieldVisitor {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[test]
    fn errors_are_kept_and_nothing_else_is() {
        let errors = RecentErrors::default();
        let log = tracing_subscriber::registry().with(errors.clone());
        tracing::subscriber::with_default(log, || {
            tracing::info!("all is well");
            for number in 0..MAX_ERRORS {
                tracing::warn!(number, "slow");
            }
            tracing::error!(error = "no disk", "not kept");
            tracing::error!(target: "async_openai::error", "failed deserialization of: a secret");
            tracing::warn!(target: "neo4rs", "no connection");
        });
        let kept = errors.of_last_day(Utc::now());
        assert_eq!(kept.len(), MAX_ERRORS);
        assert_eq!(kept[0].text, "not kept error=\"no disk\"");
        assert_eq!(kept[MAX_ERRORS - 1].text, "slow number=1");
        let tomorrow = Utc::now() + TimeDelta::hours(25);
        assert!(errors.of_last_day(tomorrow).is_empty());
    }
}
