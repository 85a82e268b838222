//! Programs to call: their input and result cells, and the inputs of lanes. This module calls nothing.

use std::sync::Arc;

use reviver_flow::IndependentCells;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Role, Shape};
use reviver_isa::number::literal_bits;
use reviver_isa::update::Action;
use reviver_vm::values::Value;
use reviver_vm::{CheckLevel, Machine, Program, ShownMark, State, Travel};

use crate::generate::{Profile, program};
use crate::rng::Rng;
use crate::subject::Subject;

/// Maximum number of steps of a call in one direction.
pub const MOST_STEPS: u64 = 20_000;

/// Maximum number of losses in a Jacobian.
const MOST_LOSSES: usize = 3;

/// Kind of call, the same in all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallKind {
    /// Run from inputs to results.
    Forward,
    /// Run from results to inputs.
    Backward,
    /// Computes the first loss, and its derivative with respect to each real input.
    Gradient,
    /// Computes all losses, and the derivative of each loss with respect to each real input.
    Jacobian,
    /// Computes the first loss, its gradient, and its second derivatives with respect to all pairs of real inputs.
    Hessian,
    /// Computes all losses, and their derivatives along [`CallSubject::direction`].
    Tangents,
}

impl CallKind {
    /// Returns true if a call of this kind computes derivatives.
    pub fn is_derivative(self) -> bool {
        !matches!(self, CallKind::Forward | CallKind::Backward)
    }
}

/// Inputs or results of one lane: the bits of each cell, in the order of the cells.
pub type LaneWords = Vec<u64>;

/// Input or result cell of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallCell {
    /// Cell name, such as `x`, `A[3]`, `M[1,2]`.
    pub name: String,
    pub class: Class,
    /// Index among the cells of its class.
    pub address: usize,
}

/// Program to call, with its input cells and result cells.
#[derive(Clone, Debug)]
pub struct CallSubject {
    pub text: String,
    pub program: Arc<Program>,
    pub level: CheckLevel,
    pub inputs: Vec<CallCell>,
    pub results: Vec<CallCell>,
    /// Results that may be differentiated.
    pub losses: Vec<CallCell>,
}

impl CallSubject {
    /// Assembles a program text.
    ///
    /// # Errors
    /// Diagnostics of the assembler.
    pub fn new(text: &str) -> Result<CallSubject, String> {
        let program = Subject::new(text)?.program;
        let results = cells(&program, Role::is_result);
        let losses =
            results.iter().filter(|cell| cell.class == Class::Real).take(MOST_LOSSES).cloned().collect();
        Ok(CallSubject {
            text: text.to_owned(),
            level: CheckLevel::Checked,
            inputs: cells(&program, |role| program.takes(role, Travel::Forward)),
            results,
            losses,
            program,
        })
    }

    /// Returns the same program, prepared for execution without checks.
    pub fn unchecked(&self) -> CallSubject {
        CallSubject { level: CheckLevel::Unchecked, ..self.clone() }
    }

    /// Returns the same program, prepared for derivatives with respect to the given inputs only.
    pub fn with_respect_to(&self, cells: &[&CallCell]) -> CallSubject {
        let ranges = cells.iter().map(|cell| cell.address as u32..cell.address as u32 + 1).collect();
        let independent = IndependentCells { cells: ranges, on_tape: true, ..IndependentCells::default() };
        let program = Arc::new(self.program.differentiated_by(&independent, None));
        CallSubject { program, ..self.clone() }
    }

    /// Returns the cells whose values a call of this kind takes: the results for a backward call, otherwise the inputs.
    pub fn given(&self, kind: CallKind) -> &[CallCell] {
        if kind == CallKind::Backward { &self.results } else { &self.inputs }
    }

    /// Returns the cells that a call of this kind computes: the inputs for a backward call, otherwise the results.
    pub fn found(&self, kind: CallKind) -> &[CallCell] {
        if kind == CallKind::Backward { &self.inputs } else { &self.results }
    }

    /// Returns the losses that a call of this kind differentiates.
    pub fn losses_of(&self, kind: CallKind) -> &[CallCell] {
        match kind {
            CallKind::Gradient | CallKind::Hessian => &self.losses[..self.losses.len().min(1)],
            _ => &self.losses,
        }
    }

    /// Returns the real inputs, with respect to which derivatives are computed.
    pub fn real_inputs(&self) -> impl Iterator<Item = &CallCell> {
        self.inputs.iter().filter(|cell| cell.class == Class::Real)
    }

    /// Returns the direction of tangents: a component for each real input. Every third component is 0.
    pub fn direction(&self) -> Vec<f64> {
        (0..self.real_inputs().count()).map(|n| [1.0, -0.5, 0.0][n % 3]).collect()
    }

    /// Returns the start state of a call with the inputs of one lane.
    pub fn start(&self, kind: CallKind, lane: &[u64]) -> State {
        let mut state = self.own_start(kind);
        for (cell, &word) in self.given(kind).iter().zip(lane) {
            match cell.class {
                Class::Int => state.ints[cell.address] = word as i64,
                Class::Real => state.reals[cell.address] = word,
            }
        }
        state
    }

    fn own_start(&self, kind: CallKind) -> State {
        let travel = if kind == CallKind::Backward { Travel::Backward } else { Travel::Forward };
        let machine = match travel {
            Travel::Forward => Machine::at_begin(self.program.clone()),
            Travel::Backward => Machine::at_end(self.program.clone()),
        };
        let mut state = machine.expect("memory for a small program").into_state();
        state.counters.shown = ShownMark::SILENT;
        for (n, _) in self.program.assumed(&[], travel) {
            self.program.give_default(&mut state, n).expect("memory for a default");
        }
        state
    }

    /// Returns true if each step has an exact inverse, and values are only in named cells, not on stacks or tapes.
    pub fn is_exact(&self) -> bool {
        let module = self.program.module();
        let is_apart = |action| matches!(action, Action::Put(_) | Action::Take(_) | Action::Switch(_));
        let is_plain = |update: reviver_isa::Update| update.is_reversible() && !is_apart(update.action());
        module.real.is_exact()
            && module.code.iter().all(|instruction| is_plain(instruction.update))
            && !self.program.names_adjoints()
            && !self.program.reads_mode()
    }

    /// Returns the inputs of lanes for forward calls. Families of eight lanes have equal integers, so that most of them
    /// take the same path. The first lane has the program's own numbers. Other lanes have reals near these numbers.
    /// Only a few lanes have other integers, because most other integers would cause a trap.
    pub fn lanes(&self, count: usize) -> Vec<LaneWords> {
        let (mut rng, start) = (Rng::new(11), self.own_start(CallKind::Forward));
        let (unused, system) = (64 - self.program.module().word.bits(), self.program.module().real);
        let mut lanes: Vec<LaneWords> = Vec::with_capacity(count);
        for lane in 0..count {
            let family = lane - lane % 8;
            let of_family = |n: usize| lanes.get(family).map(|first: &LaneWords| first[n]);
            let word = |(n, cell): (usize, &CallCell)| match (cell.class, of_family(n)) {
                (Class::Int, Some(word)) => word,
                (Class::Int, None) => {
                    let by = if lane < 8 || rng.chance(85) { 0 } else { rng.within(-1..=3) };
                    ((start.ints[cell.address].wrapping_add(by) << unused) >> unused) as u64
                }
                (Class::Real, _) if lane == 0 => start.reals[cell.address],
                (Class::Real, _) => {
                    let near = self.program.approximate(Value::Real(start.reals[cell.address]));
                    literal_bits(system, near + rng.within(-1000..=1000) as f64 / 4096.0)
                }
            };
            let words = self.inputs.iter().enumerate().map(word).collect();
            lanes.push(words);
        }
        lanes
    }
}

/// Returns the cells of the globals whose role satisfies `wanted`, in declaration order.
fn cells(program: &Program, wanted: impl Fn(Role) -> bool) -> Vec<CallCell> {
    let globals = program.module().globals.iter().enumerate();
    let wanted = globals.filter(|(_, global)| wanted(global.role) && global.shape != Shape::Stack);
    let cells = wanted.flat_map(|(n, global)| {
        let named = program.cells(n).enumerate();
        named.map(move |(element, address)| CallCell {
            name: program.cell_name(n, element),
            class: global.class,
            address,
        })
    });
    cells.collect()
}

/// Returns a text in which all globals are inputs and results. In most random programs inputs are left over at the
/// end, so most calls of the original text would have remarks.
pub fn opened(text: &str) -> String {
    let of_line = |line: &str| {
        let role = [".in ", ".out ", ".var ", ".garbage "].into_iter().find(|role| line.starts_with(role));
        role.map_or_else(|| line.to_owned(), |role| format!(".inout {}", &line[role.len()..]))
    };
    text.lines().map(of_line).collect::<Vec<_>>().join("\n") + "\n"
}

/// Returns the random program of a seed. The program is short; every second one has no procedures. One in eight may
/// use stacks, tapes, `show` and gradient mode, which C text and shaders don't support. One in sixteen may have
/// tasks.
pub fn of_seed(seed: u64) -> String {
    let (profile, is_wide) = (Profile::of_seed(seed), seed % 8 == 7);
    let (gradient, tasks) = (profile.gradient && is_wide, profile.tasks && seed.is_multiple_of(16));
    let procedures = if seed.is_multiple_of(2) && !tasks { 0 } else { profile.procedures.min(2) };
    let stores = profile.stores && is_wide;
    opened(&program(
        seed,
        &Profile { gradient, tasks, stores, procedures, steps: 300, statements: 4, ..profile },
    ))
}
