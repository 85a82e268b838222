//! Runs the oracle: from a program and its inputs to an outcome, without the machine.

use reviver_assembler::tree::Body;
use reviver_isa::instruction::Class;
use reviver_isa::module::Role;

use crate::Settings;
use crate::outcome::{Halt, Outcome, Snapshot, Step, unsupported};
use crate::plan::{Global, Plan, Shape};
use crate::real::Real;
use crate::resolve::resolve;
use crate::value::Value;
use crate::walk::{Direction, Walk};

/// Stack size in bytes of the thread that executes a program, which recurses for each block and call. Memory is used
/// only as needed.
const STACK: usize = 1 << 29;

/// Program that the oracle can run.
pub struct Oracle {
    plan: Plan,
}

/// Inputs of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs<'a> {
    /// Names of globals with the texts of their values, one for each cell.
    pub values: &'a [(String, Vec<String>)],
    /// Tape that the run gets: for a forward run, the input tape in reading order; for a backward run, the output tape
    /// in writing order. Texts of reals have a point or an exponent, others are integers.
    pub tape: &'a [String],
    /// True to start in gradient mode. Then every real global and every real on the tape has the adjoint that
    /// [`seed`] returns.
    pub gradient: bool,
}

/// Returns the initial adjoint of cell `n` of a global. For entry `n` of the tape, `name` is empty.
pub fn seed(name: &str, n: usize) -> f64 {
    let name: usize = name.bytes().map(usize::from).sum();
    (((name + n) * 7 % 11) as f64 - 5.0) / 4.0
}

/// Outcomes of a run to the other end of the program, and of the run back.
#[derive(Clone, Debug)]
pub struct RoundTrip {
    pub there: Outcome,
    /// Outcome of the run back; `None` if the first run didn't complete.
    pub back: Option<Outcome>,
}

impl Oracle {
    /// Resolves a program. Its tree must have its includes expanded.
    ///
    /// # Errors
    /// The feature that the oracle doesn't support.
    pub fn new(body: &Body, settings: Settings) -> Result<Oracle, String> {
        match resolve(body, settings) {
            Ok(plan) => Ok(Oracle { plan }),
            Err(halt) => Err(reason(halt)),
        }
    }

    /// Runs the program from one end to the other and, if that completes, back. `fuel` is the maximum number of
    /// statements in each direction.
    ///
    /// # Errors
    /// Inputs that don't fit the program.
    pub fn trip(&self, direction: Direction, inputs: &Inputs<'_>, fuel: u64) -> Result<RoundTrip, String> {
        std::thread::scope(|scope| {
            let walking = std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, || self.walk(direction, inputs, fuel))
                .map_err(|error| error.to_string())?;
            walking.join().unwrap_or_else(|_| Err("the oracle panicked".into()))
        })
    }

    fn walk(&self, direction: Direction, inputs: &Inputs<'_>, fuel: u64) -> Result<RoundTrip, String> {
        let mut walk = Walk::new(&self.plan);
        self.give(&mut walk, direction, inputs).map_err(reason)?;
        let there = self.leg(&mut walk, direction, fuel);
        let arrived = matches!(there, Outcome::Finished(_));
        let back = arrived.then(|| self.leg(&mut walk, direction.opposite(), fuel));
        Ok(RoundTrip { there, back })
    }

    fn leg(&self, walk: &mut Walk<'_>, direction: Direction, fuel: u64) -> Outcome {
        // The assembler replaces the gradient mode of a program that keeps what it discards. Such a program doesn't test
        // in which mode it was started.
        if walk.store.mode && self.plan.switches && self.plan.keeps() {
            return Outcome::Unsupported("gradient mode around that of a program".into());
        }
        walk.fuel = fuel;
        let end = walk.main(direction);
        if !walk.history.is_empty() {
            return Outcome::Unsupported("a history that isn't empty".into());
        }
        match end {
            Ok(()) => Outcome::Finished(self.arrived(walk, direction)),
            Err(Halt::Trap(trap)) => Outcome::Trapped(trap, walk.store.snapshot(&self.plan)),
            Err(Halt::TooLong) => Outcome::TooLong,
            Err(Halt::Unsupported(what)) => Outcome::Unsupported(what),
        }
    }

    fn give(&self, walk: &mut Walk<'_>, direction: Direction, inputs: &Inputs<'_>) -> Step<()> {
        let numbers = self.plan.numbers;
        for (n, global) in self.plan.globals.iter().enumerate() {
            if let (Some(default), Direction::Forward) = (&global.default, direction) {
                walk.give(n, default);
            }
            let Some((_, texts)) = inputs.values.iter().find(|(name, _)| *name == global.name) else {
                continue;
            };
            let values: Option<Vec<Value>> =
                texts.iter().map(|text| Value::parse(text, global.class, numbers)).collect();
            // A single value is given to every cell of the global.
            let values = values.map(|values| match &values[..] {
                [value] if global.shape != Shape::Stack => vec![value.clone(); global.shape.cells()],
                _ => values,
            });
            match values {
                Some(values) if global.shape == Shape::Stack => walk.give(n, &values),
                Some(values) if values.len() == global.shape.cells() => walk.give(n, &values),
                _ => return unsupported(format!("the values given for `{}`", global.name)),
            }
        }
        let looks_real = |text: &str| text.contains(['.', 'e', 'E']);
        let mut tape = Vec::new();
        for text in inputs.tape {
            let class = if looks_real(text) { Class::Real } else { Class::Int };
            match Value::parse(text, class, numbers) {
                Some(value) => tape.push(walk.store.entry(value)),
                None => return unsupported(format!("the tape entry `{text}`")),
            }
        }
        if inputs.gradient {
            walk.store.mode = true;
            let adjoint = |name: &str, n| Real::literal(seed(name, n), numbers.system).map(Value::Real);
            walk.seed(adjoint)?;
            for (n, entry) in tape.iter_mut().enumerate().filter(|(_, e)| e.value.class() == Class::Real) {
                entry.adjoint = adjoint("", n)?;
            }
        }
        match direction {
            Direction::Forward => walk.store.input = tape.into_iter().rev().collect(),
            Direction::Backward => walk.store.output = tape,
        }
        Ok(())
    }

    fn arrived(&self, walk: &Walk<'_>, direction: Direction) -> Snapshot {
        let mut snapshot = walk.store.snapshot(&self.plan);
        for (n, global) in self.plan.globals.iter().enumerate() {
            let free = match direction {
                Direction::Forward => matches!(global.role, Role::Out | Role::InOut | Role::Garbage),
                Direction::Backward => matches!(global.role, Role::In | Role::InOut),
            };
            if !free && self.differs(walk, n, global) {
                snapshot.garbage.push(global.name.clone());
            }
        }
        snapshot.garbage.extend(walk.left_in_frame().into_iter().map(str::to_owned));
        if self.plan.switches {
            snapshot.garbage.extend(walk.left_in_gradient_mode());
        }
        snapshot.garbage.sort();
        snapshot.garbage.dedup();
        snapshot
    }

    fn differs(&self, walk: &Walk<'_>, n: usize, global: &Global) -> bool {
        if global.shape == Shape::Stack {
            return !walk.store.stack(global.class).is_empty();
        }
        let tolerance = self.plan.numbers.tolerance;
        walk.values(n).iter().zip(&global.initial).any(|(found, initial)| !found.is_close(initial, tolerance))
    }
}

fn reason(halt: Halt) -> String {
    match halt {
        Halt::Trap(trap) => format!("a trap before the run: {trap:?}"),
        Halt::TooLong => "too long".into(),
        Halt::Unsupported(what) => what,
    }
}
