//! Values of `show`, printed at once or kept for the object of `--json`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reviver_vm::differentiate::Shows;
use reviver_vm::values::Value;
use reviver_vm::{NotShown, Program, ShowSink, ShownValue};

use crate::failure::Failure;
use crate::output::json_values::{self, JsonValue, Object};
use crate::streams;

/// Values of `show` that are kept for JSON. Their number is limited, because a program may show endlessly.
#[derive(Debug, Default)]
pub struct ShownValues {
    entries: Vec<(String, Value)>,
    left_out: u64,
}

impl ShownValues {
    const MOST: usize = 1 << 20;

    pub fn add(&mut self, program: &Program, shown: ShownValue) {
        match self.entries.len() < ShownValues::MOST {
            true => self.entries.push((shown.name(program), shown.value)),
            false => self.left_out += 1,
        }
    }

    /// Adds the members with the shown values; none if nothing was shown.
    pub fn tell<'r>(&'r self, program: &'r Program, object: &mut Object<'r>) {
        if !self.entries.is_empty() {
            let entry = move |n: usize| {
                let (name, value) = self.entries.get(n)?;
                Some(Object::from_iter([(name.clone(), json_values::value(program, *value))]))
            };
            let reported = JsonValue::list(self.entries.len(), move |n| entry(n).unwrap_or_default().into());
            object.insert("shown", reported);
        }
        if self.left_out > 0 {
            object.insert("shown_left_out", self.left_out);
        }
    }
}

/// Formats a shown value as a line `name = value`.
pub fn line(program: &Program, shown: ShownValue) -> String {
    format!("{} = {}\n", shown.name(program), program.text(shown.value))
}

/// Receiver of the values of `show` in the sweeps of a derivative. Prints them, or collects them for `--json`.
#[derive(Debug)]
pub struct DerivativeShows {
    json: bool,
    taken: Mutex<TakenShows>,
}

#[derive(Debug, Default)]
struct TakenShows {
    kept: ShownValues,
    /// First failure that occurred while a value was printed.
    failure: Option<Failure>,
}

impl DerivativeShows {
    /// Creates a receiver that collects values if `json` is true, and prints them otherwise.
    pub fn new(json: bool) -> Arc<DerivativeShows> {
        Arc::new(DerivativeShows { json, taken: Mutex::default() })
    }

    /// Returns a sink that passes values to this receiver, for the sweeps of one subject.
    pub fn of_subject(self: &Arc<DerivativeShows>) -> Option<Arc<Shows>> {
        Some(Arc::new(Shows::new(Arc::clone(self) as Arc<dyn ShowSink>)))
    }

    fn taken(&self) -> MutexGuard<'_, TakenShows> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the values that were kept.
    pub fn kept(&self) -> ShownValues {
        std::mem::take(&mut self.taken().kept)
    }

    /// Returns the failure to report for a derivative that failed. If printing a value failed, this was the cause, so
    /// the failure of the printing is returned. With `--json`, prints the object of the failure, together with the
    /// values shown before the failure.
    pub fn failed(&self, program: &Program, failure: Failure) -> Failure {
        let failure = self.taken().failure.take().unwrap_or(failure);
        let (kept, mut members) = (self.kept(), Object::default());
        kept.tell(program, &mut members);
        if !self.json || members.is_empty() {
            return failure;
        }
        members.extend(failure.members());
        // If this print fails too, the original failure is still reported.
        streams::print_with(|out| members.write(out)).ok();
        failure.reported()
    }
}

impl ShowSink for DerivativeShows {
    fn show(&self, program: &Program, shown: ShownValue) -> Result<(), NotShown> {
        let mut taken = self.taken();
        if self.json {
            taken.kept.add(program, shown);
            return Ok(());
        }
        streams::print(&line(program, shown)).map_err(|failure| {
            taken.failure = Some(failure);
            NotShown
        })
    }
}
