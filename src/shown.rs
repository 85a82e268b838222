//! Values of `show`, printed at once or kept for the object of `--json`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reviver_vm::differentiate::Shows;
use reviver_vm::values::Value;
use reviver_vm::{NotShown, Program, ShowSink, ShownValue};

use crate::failure::Failure;
use crate::output::json_values::{self, JsonValue, Object};
use crate::streams;

/// Kept values of `show`, up to a limit, because a program may show endlessly.
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

/// Formats the line of a shown value.
pub fn line(program: &Program, shown: ShownValue) -> String {
    format!("{} = {}\n", shown.name(program), program.text(shown.value))
}

/// Printer or collector of the values that sweeps of a derivative show.
#[derive(Debug)]
pub struct DerivativeShows {
    json: bool,
    taken: Mutex<TakenShows>,
}

#[derive(Debug, Default)]
struct TakenShows {
    kept: ShownValues,
    /// Failure of printing a value.
    failure: Option<Failure>,
}

impl DerivativeShows {
    /// Creates a collector for `--json`, otherwise a printer.
    pub fn new(json: bool) -> Arc<DerivativeShows> {
        Arc::new(DerivativeShows { json, taken: Mutex::default() })
    }

    /// Returns the sink for the sweeps of one subject.
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

    /// Returns the failure of a derivative; a failed print takes precedence as its cause. With `--json`, prints the
    /// failure's object with the values shown before.
    pub fn failed(&self, program: &Program, failure: Failure) -> Failure {
        let failure = self.taken().failure.take().unwrap_or(failure);
        let (kept, mut members) = (self.kept(), Object::default());
        kept.tell(program, &mut members);
        if !self.json || members.is_empty() {
            return failure;
        }
        members.extend(failure.members());
        // A failed print doesn't change the original failure.
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
