//! Pairing of tangents with adjoints: the sum of their products over all reals of a state. Adjoints propagate by the
//! inverse transpose of tangents, so each step preserves the pairing, in both directions. Hence ⟨Jv, w⟩ = ⟨v, Jᵀw⟩,
//! and a violation shows at which step it occurs.
//!
//! A machine over dual numbers has the tangents, and a machine in gradient mode has the adjoints. The pairing is
//! computed from states alone, without regard to the instructions.

use std::sync::Arc;

use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_vm::differentiate::series_state::series_state;
use reviver_vm::history::Residues;
use reviver_vm::lanes::Lanes;
use reviver_vm::state::TapeEntry;
use reviver_vm::values::Value;
use reviver_vm::{Machine, Program, ShownMark, State, Travel};

use crate::rng::Rng;
use crate::run::{End, LONGEST, travel};

/// Machine over dual numbers: each real has a value and a tangent.
pub type DualMachine = Machine<[u64; 2]>;

/// Pairing ⟨tangents, adjoints⟩ of a state, with sums of magnitudes from which its rounding error is estimated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pairing {
    pub sum: f64,
    /// Sum of the products' magnitudes.
    pub size: f64,
    /// Sum of the tangents' magnitudes.
    pub tangents: f64,
    /// Sum of the adjoints' magnitudes.
    pub adjoints: f64,
}

impl Pairing {
    /// Computes the pairing of one state's tangents with another state's adjoints; both have the same cells.
    pub fn of(program: &Program, dual: &State<[u64; 2]>, state: &State) -> Pairing {
        let mut pairing = Pairing::default();
        let Some(adjoints) = &state.adjoints else { return pairing };
        let number = |bits: u64| program.approximate(Value::Real(bits));
        let tangent = |bits: &[u64; 2]| number(bits[1]);
        let entry = |entry: &TapeEntry<[u64; 2]>| match entry {
            TapeEntry::Int(_) => 0.0,
            TapeEntry::Real(bits) => number(bits[1]),
        };
        let tangents = dual.reals.iter().map(tangent).chain(dual.real_stack.iter().map(tangent));
        let tangents = tangents.chain(dual.input.iter().map(entry)).chain(dual.output.iter().map(entry));
        // Contributions that tasks have deferred count as part of their cells' adjoints.
        let waits = adjoints.deferred.iter().map(|deferred| {
            (dual.reals.get(deferred.cell as usize).map_or(0.0, tangent), number(deferred.adjoint))
        });
        for (tangent, adjoint) in tangents.zip(adjoints.all().map(|&bits| number(bits))).chain(waits) {
            pairing.sum += tangent * adjoint;
            pairing.size += (tangent * adjoint).abs();
            pairing.tangents += tangent.abs();
            pairing.adjoints += adjoint.abs();
        }
        pairing
    }

    /// Returns true if the pairings before and after a step agree, within rounding errors.
    pub fn agrees(&self, other: &Pairing, system: RealSystem) -> bool {
        let size = self.size + other.size;
        let error = match system {
            RealSystem::F64 => 1e-12 * size,
            RealSystem::F32 => 1e-4 * size,
            // In fixed point, every product is rounded to a multiple of the last bit, however small its factors are.
            RealSystem::Fixed(bits) => {
                let (tangents, adjoints) = (self.tangents + other.tangents, self.adjoints + other.adjoints);
                2f64.powi(4 - i32::from(bits)) * (1.0 + tangents) * (1.0 + adjoints)
            }
        };
        (self.sum - other.sum).abs() <= error
    }
}

/// Returns the bits of a number after rounding to the program's number system.
pub fn bits(program: &Program, value: f64) -> u64 {
    match program.parse(Class::Real, &format!("{value:?}")) {
        Ok(Value::Real(bits)) => bits,
        _ => 0,
    }
}

/// Returns a small number; one in eight is 0.
fn small(program: &Program, rng: &mut Rng) -> u64 {
    let value = if rng.chance(12) { 0 } else { rng.within(-64..=64) };
    bits(program, value as f64 / 32.0)
}

/// Switches gradient mode on, and gives every real an adjoint.
pub fn seed_adjoints(program: &Program, state: &mut State, rng: &mut Rng) {
    state.set_mode(true);
    let adjoints = state.adjoints_mut();
    let cells = adjoints.cells.iter_mut().chain(&mut adjoints.stack);
    cells.for_each(|adjoint| *adjoint = small(program, rng));
    let mut adjoints = state.adjoints.take().unwrap_or_default();
    let tapes = [(&state.input, &mut adjoints.input), (&state.output, &mut adjoints.output)];
    for (tape, adjoints) in tapes {
        let reals = tape.iter().zip(adjoints).filter(|(entry, _)| matches!(entry, TapeEntry::Real(_)));
        reals.for_each(|(_, adjoint)| *adjoint = small(program, rng));
    }
    state.adjoints = Some(adjoints);
}

/// Returns a machine over dual numbers in the given state. All real globals, and the reals on the stack and on the
/// input tape, get random tangents.
pub fn moving(program: &Arc<Program>, state: &State, rng: &mut Rng) -> DualMachine {
    let mut dual = series_state::<[u64; 2]>(state).unwrap();
    let globals = program.module().globals.iter().enumerate();
    for (n, _) in globals.filter(|(_, global)| global.class == Class::Real) {
        for cell in program.cells(n) {
            dual.reals[cell] = dual.reals[cell].with_lane(1, small(program, rng));
        }
    }
    for bits in &mut dual.real_stack {
        *bits = bits.with_lane(1, small(program, rng));
    }
    for entry in &mut dual.input {
        if let TapeEntry::Real(bits) = entry {
            *bits = bits.with_lane(1, small(program, rng));
        }
    }
    Machine::resume(Arc::clone(program), dual, Some(Residues::default()))
}

/// Runs at most `budget` steps over dual numbers.
pub fn travel_dual(machine: &mut DualMachine, direction: Travel, budget: u64) -> End {
    machine.state_mut().counters.shown = ShownMark::SILENT;
    match machine.run(direction, budget) {
        Ok(reviver_vm::Stop::Bound) => End::Bound,
        Ok(_) => End::Budget,
        Err(trap) => End::Trap(trap),
    }
}

/// Runs both machines forward as far as dual numbers can run. Then runs both backward, one with tangents and one with
/// adjoints, and checks that each step preserves the pairing. Returns the number of compared steps.
///
/// # Errors
/// A sentence with the step that changes the pairing.
pub fn paired_in_the_reverse_sweep(
    program: &Arc<Program>,
    mut machine: Machine,
    rng: &mut Rng,
) -> Result<u64, String> {
    let mut dual = moving(program, machine.state(), rng);
    travel_dual(&mut dual, Travel::Forward, LONGEST);
    let steps = dual.state().step.unsigned_abs();
    if travel(&mut machine, Travel::Forward, steps) != End::Budget {
        return Err(format!("dual numbers come {steps} steps far, plain ones don't"));
    }
    seed_adjoints(program, machine.state_mut(), rng);
    let mut before = Pairing::of(program, dual.state(), machine.state());
    for step in (0..steps).rev() {
        // If an adjoint overflows, the reverse sweep traps, and the comparison ends.
        if let End::Trap(_) = travel(&mut machine, Travel::Backward, 1) {
            return Ok(steps - step - 1);
        }
        travel_dual(&mut dual, Travel::Backward, 1);
        let pairing = Pairing::of(program, dual.state(), machine.state());
        if !pairing.agrees(&before, program.module().real) {
            let (now, then) = (pairing.sum, before.sum);
            return Err(format!("⟨tangents, adjoints⟩ is {now} at step {step} and {then} one step later"));
        }
        before = pairing;
    }
    Ok(steps)
}

/// Runs both machines forward from the start, one with tangents and one with adjoints, and checks that each step
/// preserves the pairing. Stops where an adjoint is dropped or a value erased. Returns the number of compared steps.
///
/// # Errors
/// A sentence with the step that changes the pairing.
pub fn paired_in_the_forward_sweep(
    program: &Arc<Program>,
    mut machine: Machine,
    rng: &mut Rng,
) -> Result<u64, String> {
    let mut dual = moving(program, machine.state(), rng);
    seed_adjoints(program, machine.state_mut(), rng);
    let mut before = Pairing::of(program, dual.state(), machine.state());
    for step in 0..LONGEST {
        let counted = machine.state().counters;
        let ends = [travel_dual(&mut dual, Travel::Forward, 1), travel(&mut machine, Travel::Forward, 1)];
        let after = machine.state().counters;
        let lost = (counted.drops, counted.erased_bits) != (after.drops, after.erased_bits);
        if ends != [End::Budget; 2] || lost {
            return Ok(step);
        }
        let pairing = Pairing::of(program, dual.state(), machine.state());
        if !pairing.agrees(&before, program.module().real) {
            let (now, then) = (pairing.sum, before.sum);
            return Err(format!("⟨tangents, adjoints⟩ is {then} at step {step} and {now} one step later"));
        }
        before = pairing;
    }
    Ok(LONGEST)
}
