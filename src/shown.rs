//! What `show` shows: printed at once, or kept for the object of `--json`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reviver_vm::differentiate::Shows;
use reviver_vm::values::Value;
use reviver_vm::{NotShown, Program, ShowSink, ShownValue};

use crate::failure::Failure;
use crate::output::told::{self, Object, Tellable};
use crate::streams;

/// What `show` shows, as far as it is kept: a program may show without end.
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

    /// Adds the members that tell programs of them; none where nothing was shown.
    pub fn tell<'r>(&'r self, program: &'r Program, object: &mut Object<'r>) {
        if !self.entries.is_empty() {
            let entry = move |n: usize| {
                let (name, value) = self.entries.get(n)?;
                Some(Object::from_iter([(name.clone(), told::value(program, *value))]))
            };
            let told = Tellable::list(self.entries.len(), move |n| entry(n).unwrap_or_default().into());
            object.insert("shown", told);
        }
        if self.left_out > 0 {
            object.insert("shown_left_out", self.left_out);
        }
    }
}

/// The line that tells people of a value.
pub fn line(program: &Program, shown: ShownValue) -> String {
    format!("{} = {}\n", shown.name(program), program.text(shown.value))
}

/// Prints or keeps what the sweeps of a derivative show.
#[derive(Debug)]
pub struct DerivativeShows {
    json: bool,
    taken: Mutex<TakenShows>,
}

#[derive(Debug, Default)]
struct TakenShows {
    kept: ShownValues,
    /// Why a value couldn't be printed.
    failure: Option<Failure>,
}

impl DerivativeShows {
    /// Keeps the values for the one object of `--json`, or else prints them.
    pub fn new(json: bool) -> Arc<DerivativeShows> {
        Arc::new(DerivativeShows { json, taken: Mutex::default() })
    }

    /// Has the sweeps of one subject pass their values on to here.
    pub fn of_subject(self: &Arc<DerivativeShows>) -> Option<Arc<Shows>> {
        Some(Arc::new(Shows::new(Arc::clone(self) as Arc<dyn ShowSink>)))
    }

    fn taken(&self) -> MutexGuard<'_, TakenShows> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The values that were kept.
    pub fn kept(&self) -> ShownValues {
        std::mem::take(&mut self.taken().kept)
    }

    /// The failure of a derivative. A value that couldn't be printed is its cause. With `--json`, prints the object of the failure with what was
    /// shown before.
    pub fn failed(&self, program: &Program, failure: Failure) -> Failure {
        let failure = self.taken().failure.take().unwrap_or(failure);
        let (kept, mut members) = (self.kept(), Object::default());
        kept.tell(program, &mut members);
        if !self.json || members.is_empty() {
            return failure;
        }
        members.extend(failure.members());
        // What can't be printed changes nothing of what went wrong first.
        streams::print_with(|out| members.write(out)).ok();
        failure.told()
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
