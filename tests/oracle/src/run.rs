//! Runs of the oracle: a program and its inputs in, an outcome out. Knows no other machine.

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

/// The stack of the thread that walks, which recurses once a block and once a call. It is memory
/// only as far as it is used.
const STACK: usize = 1 << 29;

/// A program that the oracle can run.
pub struct Oracle {
    plan: Plan,
}

/// What the user gives at the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs<'a> {
    /// Globals with the texts of their values, one a cell.
    pub values: &'a [(String, Vec<String>)],
    /// The tape that goes in: forward the input tape in the order of reading, backward the output
    /// tape in the order of writing. Integers, or reals if they are written as such.
    pub tape: &'a [String],
    /// Gradient mode is on, and every real global and every real of the tape has an adjoint: [`seed`].
    pub gradient: bool,
}

/// The adjoint that cell n of a global is given; on the tape, which has no name, entry n.
pub fn seed(name: &str, n: usize) -> f64 {
    let name: usize = name.bytes().map(usize::from).sum();
    (((name + n) * 7 % 11) as f64 - 5.0) / 4.0
}

/// A run to the other end, and from there back.
#[derive(Clone, Debug)]
pub struct Trip {
    pub there: Outcome,
    /// None if the first run didn't arrive.
    pub back: Option<Outcome>,
}

impl Oracle {
    /// Resolves a program, given as its tree with all includes in place.
    ///
    /// # Errors
    /// What the oracle doesn't know.
    pub fn new(body: &Body, settings: Settings) -> Result<Oracle, String> {
        match resolve(body, settings) {
            Ok(plan) => Ok(Oracle { plan }),
            Err(halt) => Err(reason(halt)),
        }
    }

    /// Runs the program from one end to the other and, if it arrives, back again from there. Each
    /// way may take as many statements as `fuel` says.
    ///
    /// # Errors
    /// Inputs that don't fit the program.
    pub fn trip(&self, direction: Direction, inputs: &Inputs<'_>, fuel: u64) -> Result<Trip, String> {
        std::thread::scope(|scope| {
            let walking = std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, || self.walk(direction, inputs, fuel))
                .map_err(|error| error.to_string())?;
            walking.join().unwrap_or_else(|_| Err("the oracle panicked".into()))
        })
    }

    fn walk(&self, direction: Direction, inputs: &Inputs<'_>, fuel: u64) -> Result<Trip, String> {
        let mut walk = Walk::new(&self.plan);
        self.give(&mut walk, direction, inputs).map_err(reason)?;
        let there = self.leg(&mut walk, direction, fuel);
        let arrived = matches!(there, Outcome::Finished(_));
        let back = arrived.then(|| self.leg(&mut walk, direction.opposite(), fuel));
        Ok(Trip { there, back })
    }

    fn leg(&self, walk: &mut Walk<'_>, direction: Direction, fuel: u64) -> Outcome {
        walk.fuel = fuel;
        match walk.main(direction) {
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
            // One value stands for every cell.
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
