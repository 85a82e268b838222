//! Collects the warnings and errors that mdBook logs, because mdBook builds a book despite warnings. This module
//! doesn't depend on the book's content.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Collected warnings and errors, in the order in which they were logged. Clones share one list.
#[derive(Clone, Debug, Default)]
pub struct Complaints {
    reported: Arc<Mutex<Vec<String>>>,
}

/// Message text of a log event.
struct Words(String);

impl Complaints {
    /// Runs a function on this thread. Returns its result, and the warnings and errors that it logged.
    pub fn of<T>(act: impl FnOnce() -> T) -> (T, Vec<String>) {
        let complaints = Complaints::default();
        let done = tracing::subscriber::with_default(complaints.clone(), act);
        let reported = std::mem::take(&mut *complaints.lock());
        (done, reported)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber for Complaints {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        let mut words = Words(String::new());
        event.record(&mut words);
        self.lock().push(words.0);
    }

    // The collector ignores spans, so all of them can have the same identifier.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a `String` can't fail.
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_warnings_and_errors_are_complaints() {
        let (seven, reported) = Complaints::of(|| {
            tracing::info!("news");
            tracing::warn!("a {}", "warning");
            tracing::error!("an error");
            7
        });
        assert_eq!((seven, reported), (7, vec!["a warning".to_owned(), "an error".to_owned()]));
    }
}
