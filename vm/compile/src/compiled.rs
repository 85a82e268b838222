//! The code of a version, with what it asks of a machine and how that is moved by it. Knows no engine, and neither which version
//! is wanted nor what follows a failure.

use reviver_vm::travel::Leg;
use reviver_vm::{Machine, Program, State};

use crate::backend::{Backend, Code};
use crate::form::{Demands, FormExit, SsaForm};
use crate::frames;
use crate::op::{Input, OpKind, Space};
use crate::run::{CellMemory, CodeOutcome, Job};

/// Code with what is asked before it is run.
#[derive(Debug)]
pub(crate) struct Compiled {
    inputs: Vec<Input>,
    exits: Vec<FormExit>,
    demands: Demands,
    /// Whether it reads or changes adjoints.
    needs_adjoints: bool,
    /// The most steps before it can pause.
    pub first_steps: u64,
    code: Box<dyn Code>,
}

impl Compiled {
    /// The code that a backend makes of a form, if it makes any.
    pub fn of(form: SsaForm, backend: &impl Backend) -> Option<Compiled> {
        let inputs = form.inputs().map(|(_, input)| input).collect();
        let (exits, demands, first_steps) = (form.exits.clone(), form.demands, form.first_steps.into());
        let needs_adjoints = needs_adjoints(&form);
        let code = backend.compile(form)?;
        Some(Compiled { inputs, exits, demands, needs_adjoints, first_steps, code })
    }

    /// Whether a program's limits have room for the calls that it may open.
    pub fn fits(&self, program: &Program, state: &State) -> bool {
        frames::have_room(program, state, self.demands)
    }

    /// Moves a machine that stands where the version begins. How many steps it has made; none where a check has failed,
    /// and the machine's cells hold anything. `references` is memory that it takes meanwhile.
    pub fn run(&self, machine: &mut Machine, leg: Leg, references: &mut Vec<i64>) -> Option<u64> {
        let (state, watcher) = machine.state_and_watcher(leg);
        // Main asks for none, as a rule.
        let inputs = if self.inputs.is_empty() { Vec::new() } else { inputs(&self.inputs, state) };
        if self.needs_adjoints {
            state.make_adjoints().ok()?;
        }
        frames::extend(state, self.demands).ok()?;
        references.try_reserve(self.demands.references as usize).ok()?;
        references.resize(self.demands.references as usize, 0);
        let cells = cells(state, references);
        let outcome = self.code.run(Job { inputs: &inputs, cells, left: leg.budget, watcher });
        let CodeOutcome::Exit { exit, steps, counts } = outcome else { return None };
        frames::leave(state, self.exits.get(exit as usize)?, self.demands, references);
        let sign = leg.travel.sign();
        state.step += sign * steps as i64;
        state.counters.erased_bits += counts.erased_bits;
        state.counters.discarded_bits += counts.discarded_bits;
        state.counters.drops += counts.drops;
        state.counters.calls = state.counters.calls.wrapping_add(sign * counts.calls as i64);
        Some(steps)
    }
}

/// Whether a form reads or changes adjoints: then each real has one while its code is run.
fn needs_adjoints(form: &SsaForm) -> bool {
    let ops = form.blocks.iter().flat_map(|block| &block.ops).filter_map(|&value| form.op(value));
    ops.into_iter()
        .any(|op| matches!(op.kind, OpKind::Load(Space::Adjoints) | OpKind::Store(Space::Adjoints)))
}

/// What a version asks for, as it is in the current call.
fn inputs(wanted: &[Input], state: &State) -> Vec<u32> {
    let own = state.references.get(state.frame.references as usize..).unwrap_or_default();
    let passed = |n: u32| own.get(n as usize);
    let given = |input: &Input| match *input {
        Input::Frame(class) => state.frame.start(class),
        Input::Base(n) => passed(n).map_or(0, |reference| reference.base),
        Input::Length(n) => passed(n).map_or(0, |reference| reference.length),
        Input::Stride(n) => passed(n).map_or(0, |reference| reference.stride),
    };
    wanted.iter().map(given).collect()
}

fn cells<'c>(state: &'c mut State, references: &'c mut [i64]) -> CellMemory<'c> {
    CellMemory {
        references,
        ints: &mut state.ints,
        reals: &mut state.reals,
        adjoints: state.adjoints.as_mut().map_or(&mut [], |adjoints| &mut adjoints.cells),
    }
}
