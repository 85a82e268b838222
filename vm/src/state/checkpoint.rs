//! State files: states as bytes, from which another run of the same program can continue.
//!
//! Layout: magic, format version, CRC-32 of the rest, the program's hash, the state, the history, and the
//! progress of an unfinished gradient. For any bytes, decoding gives an error or a state that satisfies all
//! assumptions of the machine:
//!
//! - Offsets, directions and references are consistent with the program.
//! - No reference through which cells may change refers to constants or to the mode bit.
//! - Every number belongs to the program's number system.
//! - Counters are so small that even the longest run can't overflow them.

use std::cmp::Reverse;

use reviver_isa::codec::{self, OutOfMemory};
use reviver_isa::instruction::Class;
use reviver_isa::module::{Limits, Parameter, Passing, Rank, RealSystem};
use reviver_isa::number::{F32, F64, FixedPoint, Reals};
use reviver_isa::verify::MAX_CELLS;
use thiserror::Error;

use super::shown_mark::ShownMark;
use crate::differentiate::suspended::{GradientProgress, SuspendedGradient};
use crate::history::{Cost, Kept, KeptSlot, Residues};
use crate::interp::op::Kind;
use crate::numbers::with_reals;
use crate::program::{FORWARD, Program};
use crate::state::{Counters, DeferredAdjoint, Frame, MODE, Part, Reference, State, TapeEntry};
use crate::strategy::SavedRun;
use crate::travel::Track;

/// The magic bytes at the start of every state file.
pub const MAGIC: [u8; 8] = *b"RVRSTATE";
const VERSION: u16 = 12;
/// The offset of the checksum.
const CHECKSUM: usize = MAGIC.len() + 2;
/// The offset of the data that the checksum covers.
const HEADER: usize = CHECKSUM + 4;

/// The reason why bytes aren't a usable state.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum StateError {
    #[error("this is not a state file")]
    NotAState,
    #[error("the state file has format {found}, and this version reads {VERSION}")]
    Version { found: u16 },
    #[error("the state file is damaged: its checksum does not match")]
    Damaged,
    #[error("the state file is malformed: {0}")]
    Malformed(String),
    #[error("the state file belongs to another program")]
    OtherProgram,
    #[error("the state file does not fit the program: {0}")]
    Unfit(&'static str),
}

/// The encoded data: the program's hash, the state, the history, the progress of a gradient, and the data of
/// its strategy.
type Saved<State, Residues, GradientProgress, CheckpointedRun> =
    ([u8; 16], State, Option<Residues>, Option<GradientProgress>, Option<CheckpointedRun>);

/// Encodes a state and its history.
///
/// # Errors
/// Fails if there is no memory.
pub fn encode(program: &Program, state: &State, residues: Option<&Residues>) -> Result<Vec<u8>, OutOfMemory> {
    encoded(program, (state, residues), None, None)
}

/// Encodes an interrupted gradient: a state file with additional data.
///
/// # Errors
/// Fails if there is no memory.
pub fn encode_suspended(program: &Program, suspended: &SuspendedGradient) -> Result<Vec<u8>, OutOfMemory> {
    let SuspendedGradient { state, residues, progress, saved_run } = suspended;
    encoded(program, (state, residues.as_ref()), progress.as_ref(), saved_run.as_ref())
}

fn encoded(
    program: &Program,
    (state, residues): (&State, Option<&Residues>),
    progress: Option<&GradientProgress>,
    saved_run: Option<&SavedRun>,
) -> Result<Vec<u8>, OutOfMemory> {
    let hash = program.hash().to_le_bytes();
    let saved: Saved<&State, &Residues, &GradientProgress, &SavedRun> =
        (hash, state, residues, progress, saved_run);
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; HEADER - CHECKSUM]);
    codec::encode_into(&saved, &mut bytes)?;
    let checksum = codec::checksum(bytes.get(HEADER..)).to_le_bytes();
    if let Some(field) = bytes.get_mut(CHECKSUM..HEADER) {
        field.copy_from_slice(&checksum);
    }
    Ok(bytes)
}

/// Decodes a state and its history; the inverse of [`encode`].
///
/// # Errors
/// Fails if the bytes aren't a state of this program.
pub fn decode(program: &Program, bytes: &[u8]) -> Result<(State, Option<Residues>), StateError> {
    decode_suspended(program, bytes).map(|suspended| (suspended.state, suspended.residues))
}

/// Decodes a state file, with the progress of an unfinished gradient if the file has one.
///
/// # Errors
/// Fails if the bytes aren't a state of this program.
pub fn decode_suspended(program: &Program, bytes: &[u8]) -> Result<SuspendedGradient, StateError> {
    let (magic, rest) = bytes.split_first_chunk::<8>().ok_or(StateError::NotAState)?;
    if *magic != MAGIC {
        return Err(StateError::NotAState);
    }
    let (version, rest) = rest.split_first_chunk::<2>().ok_or(StateError::Damaged)?;
    let found = u16::from_le_bytes(*version);
    if found != VERSION {
        return Err(StateError::Version { found });
    }
    let (checksum, body) = rest.split_first_chunk::<4>().ok_or(StateError::Damaged)?;
    if codec::checksum([body]) != u32::from_le_bytes(*checksum) {
        return Err(StateError::Damaged);
    }
    let (hash, state, residues, progress, saved_run): Saved<State, Residues, GradientProgress, SavedRun> =
        codec::decode(body).map_err(StateError::Malformed)?;
    if u128::from_le_bytes(hash) != program.hash() {
        return Err(StateError::OtherProgram);
    }
    check(program, &state, residues.as_ref()).map_err(StateError::Unfit)?;
    if progress.as_ref().is_some_and(|progress| !progress.is_of(program, &state)) {
        return Err(StateError::Unfit("the data of its unfinished gradient belong to another program"));
    }
    if let Some(saved_run) = &saved_run {
        check_saved_run(program, saved_run, &state, residues.is_some()).map_err(StateError::Unfit)?;
    }
    Ok(SuspendedGradient { state, residues, progress, saved_run })
}

/// Upper bound on step numbers and counters, so that no run can overflow them.
const FURTHEST: u64 = 1 << 61;

type Fitness = Result<(), &'static str>;

/// Returns true if the state's cells, frames, references and position fit the program. Functions that don't check these
/// properties themselves may only be called if this function returns true.
pub fn fits(program: &Program, state: &State) -> bool {
    check_shape(program, state).is_ok()
}

/// Returns true if a run of the program may continue from the state: its shape, counters and numbers are
/// valid.
pub fn is_sound(program: &Program, state: &State) -> bool {
    check(program, state, None).is_ok()
}

/// Fails if an assumption of the interpreter is violated, or if no run can reach the state.
fn check(program: &Program, state: &State, residues: Option<&Residues>) -> Fitness {
    check_counts(state)?;
    check_limits(program, state)?;
    check_shape(program, state)?;
    check_numbers(program, state)?;
    residues.map_or(Ok(()), |residues| check_residues(program, state, residues))
}

/// Checks the snapshots of a strategy in the same way as any other state. Also checks that they belong to the run that
/// led to `state`.
fn check_saved_run(program: &Program, saved_run: &SavedRun, state: &State, has_history: bool) -> Fitness {
    saved_run.states().try_for_each(|kept| check(program, kept, None))?;
    let fits = saved_run.fits(state, has_history);
    if fits {
        Ok(())
    } else {
        Err("the snapshots of its strategy don't belong to the run that led to this state")
    }
}

fn check_shape(program: &Program, state: &State) -> Fitness {
    let (frames, procedure) = walk_calls(program, state)?;
    if (state.ints.len(), state.reals.len()) != frames {
        return Err("the cells don't match the program's memory layout");
    }
    check_pools(program, state)?;
    check_adjoints(state)?;
    let bounds = &program.module().procedures[procedure];
    if !(bounds.entry < state.position && state.position <= bounds.exit) {
        return Err("the position is outside of the procedure");
    }
    Ok(())
}

fn check_counts(state: &State) -> Fitness {
    let Counters { erased_bits, discarded_bits, shown, drops, calls, is_unchecked: _ } = state.counters;
    let ShownMark { step, rule_step } = shown;
    let steps = [state.step, state.rule_steps, step, rule_step, calls].map(i64::unsigned_abs);
    if steps.into_iter().chain([erased_bits, discarded_bits, drops]).any(|count| count > FURTHEST) {
        return Err("a step number or a counter exceeds the longest possible run");
    }
    Ok(())
}

fn check_limits(program: &Program, state: &State) -> Fitness {
    let Limits { depth, stack, tape } = program.module().limits;
    if state.calls.len() > depth as usize {
        return Err("too many open calls");
    }
    if state.int_stack.len().max(state.real_stack.len()) > stack as usize {
        return Err("a stack has more entries than its limit allows");
    }
    if state.input.len().max(state.output.len()) > tape as usize {
        return Err("a tape has more entries than its limit allows");
    }
    if state.ints.len().max(state.reals.len()) as u64 > MAX_CELLS {
        return Err("the state has more cells than a program may have");
    }
    Ok(())
}

/// Returns the number of cells of each class that the open calls need, and the innermost procedure.
fn walk_calls(program: &Program, state: &State) -> Result<((usize, usize), usize), &'static str> {
    let (mut ints, mut reals) = program.layout().static_cells();
    let (mut references, mut procedure, mut inverted) = (0usize, 0usize, false);
    let mut frame = Frame::default();
    for record in &state.calls {
        let op =
            program.code[FORWARD].get(record.site as usize).ok_or("a call record names no instruction")?;
        let is_call = matches!(op.kind, Kind::Call | Kind::Uncall);
        if !is_call || program.procedure_of(record.site) != procedure {
            return Err("a call record names no call of its procedure");
        }
        if record.frame != frame || record.inverted != inverted {
            return Err("a call record does not continue the previous record");
        }
        let (site, call) = program.call(op.a);
        procedure = program.executed(record).ok_or("a call record names a rule that doesn't exist")?;
        frame = Frame { ints: ints as u32, reals: reals as u32, references: references as u32 };
        ints += program.layout().frame_ints[procedure] as usize;
        reals += program.layout().frame_reals[procedure] as usize;
        references += site.arguments.len();
        if ints.max(reals) as u64 > MAX_CELLS {
            return Err("the state has more cells than a program may have");
        }
        if call.rule.is_none() && record.part != Part::Whole {
            return Err("a call record names a rule that doesn't exist");
        }
        inverted ^= (op.kind == Kind::Uncall) ^ (record.part == Part::Rule);
    }
    check_parts(state)?;
    if state.references.len() != references || state.frame != frame || state.inverted != inverted {
        return Err("the innermost call does not match its records");
    }
    check_references(program, state)?;
    Ok(((ints, reals), procedure))
}

/// Fails if more than one call with a derivative rule is open, or if the mode is on while one is open. A call with a
/// derivative rule is entered with the mode on, but its parts are executed with the mode off.
fn check_parts(state: &State) -> Fitness {
    match state.calls.iter().filter(|record| record.part != Part::Whole).count() {
        0 => Ok(()),
        1 if !state.mode() => Ok(()),
        _ => Err("two calls with a rule are open, or such a call is open in gradient mode"),
    }
}

/// Fails if a reference is wrong. A reference that is known before the run must equal the reference that the call site
/// determines. Every reference must refer to cells with lower offsets than the callee's own frame, so that these cells
/// outlive the frame.
fn check_references(program: &Program, state: &State) -> Fitness {
    let mut references = state.references.iter();
    let frames = state.calls.iter().skip(1).map(|record| record.frame).chain([state.frame]);
    for (record, frame) in state.calls.iter().zip(frames) {
        let (site, call) = program.call(program.code[FORWARD][record.site as usize].a);
        let callee = &program.module().procedures[site.procedure as usize];
        for ((parameter, known), reference) in
            callee.parameters.iter().zip(&call.known).zip(references.by_ref())
        {
            check_reference(program, parameter, *reference, frame.start(parameter.class))?;
            let passed = known.map(|known| known.of(record.frame, &state.references));
            if passed.is_some_and(|passed| passed != Some(*reference)) {
                return Err("a reference isn't the argument that its call passes");
            }
        }
    }
    Ok(())
}

fn check_reference(program: &Program, parameter: &Parameter, reference: Reference, cells: u32) -> Fitness {
    let Reference { base, length, stride } = reference;
    if stride == 0 || parameter.rank == Rank::Scalar && length != 1 {
        return Err("a reference refers to cells that the call can't pass");
    }
    if length == 0 {
        return Ok(());
    }
    // The last row of a matrix has `stride` cells.
    let within = if parameter.rank == Rank::Matrix { u64::from(stride) - 1 } else { 0 };
    let last = u64::from(base) + u64::from(length - 1) * u64::from(stride) + within;
    if last >= u64::from(cells) {
        return Err("a reference refers to cells that the call can't pass");
    }
    // A procedure can't change the mode bit or a constant through a parameter.
    if parameter.passing == Passing::In {
        return Ok(());
    }
    let constants = program.constants(parameter.class);
    if parameter.class == Class::Int && base as usize <= MODE {
        return Err("a reference refers to the gradient mode bit");
    }
    if (base as usize) < constants.end && last >= constants.start as u64 {
        return Err("a reference refers to the constants");
    }
    Ok(())
}

/// Fails unless there is one adjoint for each real, and the mode is on or off.
fn check_adjoints(state: &State) -> Fitness {
    if !matches!(state.ints.get(MODE), Some(0 | 1)) {
        return Err("gradient mode is neither on nor off");
    }
    let Some(adjoints) = &state.adjoints else {
        return if state.mode() { Err("gradient mode is on, and there are no adjoints") } else { Ok(()) };
    };
    let found = [&adjoints.cells, &adjoints.stack, &adjoints.input, &adjoints.output].map(Vec::len);
    let values = [state.reals.len(), state.real_stack.len(), state.input.len(), state.output.len()];
    if found != values {
        return Err("the number of adjoints differs from the number of values");
    }
    // A deferred adjoint must belong to an open call and an existing cell.
    let fits = |deferred: &DeferredAdjoint| {
        (deferred.depth as usize) < state.calls.len() && (deferred.cell as usize) < state.reals.len()
    };
    let is_sound =
        adjoints.deferred.iter().all(fits) && adjoints.deferred.is_sorted_by_key(|deferred| deferred.depth);
    if is_sound { Ok(()) } else { Err("deferred adjoints belong to tasks that don't exist") }
}

fn check_pools(program: &Program, state: &State) -> Fitness {
    let layout = program.layout();
    let ints = &state.ints[layout.pool_ints_start as usize..];
    let reals = &state.reals[layout.pool_reals_start as usize..];
    // An empty slice is skipped, because its dangling address makes the comparison slow on some processors.
    let ints = layout.pool_ints.is_empty() || ints.starts_with(&layout.pool_ints);
    let reals = layout.pool_reals.is_empty() || reals.starts_with(&layout.pool_reals);
    if ints && reals { Ok(()) } else { Err("the constants differ from those of the program") }
}

/// Fails unless integers fit the word, and reals belong to the program's number system. The machine creates no others.
fn check_numbers(program: &Program, state: &State) -> Fitness {
    let word = program.module().word.range();
    let tapes = || state.input.iter().chain(&state.output);
    let entries = tapes().filter_map(|entry| if let TapeEntry::Int(v) = entry { Some(v) } else { None });
    if !state.ints.iter().chain(&state.int_stack).chain(entries).all(|value| word.contains(value)) {
        return Err("an integer doesn't fit into the program's words");
    }
    let entries = tapes().filter_map(|entry| if let TapeEntry::Real(v) = entry { Some(v) } else { None });
    let adjoints = state.adjoints.iter().flat_map(|adjoints| adjoints.all());
    let reals = state.reals.iter().chain(&state.real_stack).chain(entries).chain(adjoints);
    check_reals(program, reals)
}

fn check_reals<'a>(program: &Program, bits: impl IntoIterator<Item = &'a u64>) -> Fitness {
    let sound = with_reals!(program.module().real, |reals| {
        bits.into_iter().all(|&bits| {
            let real = reals.of_bits(bits);
            reals.to_bits(real) == bits && reals.admit(real).is_ok()
        })
    });
    if sound { Ok(()) } else { Err("a real isn't a number of the program's number system") }
}

/// Fails unless the history's records belong to steps between the start and the current position.
fn check_residues(program: &Program, state: &State, residues: &Residues) -> Fitness {
    for track in [Track::Program, Track::Rules] {
        let (records, here) = (residues.records(track), state.on_track(track));
        let ahead = records.iter().all(|(number, _)| (0..here).contains(number))
            && records.is_sorted_by_key(|(number, _)| *number);
        let behind = records.iter().all(|(number, _)| (here..0).contains(number))
            && records.is_sorted_by_key(|(number, _)| Reverse(*number));
        if !ahead && !behind {
            return Err("a record of the history belongs to no executed step");
        }
        for (_, kept) in records {
            check_kept(program, kept)?;
        }
    }
    Ok(())
}

fn check_kept(program: &Program, kept: &Kept) -> Fitness {
    let Kept { slot, cell, bits, cost, .. } = *kept;
    let class = if slot == KeptSlot::Int { Class::Int } else { Class::Real };
    let is_constant = || program.constants(class).contains(&(cell as usize));
    let is_fixed = match slot {
        KeptSlot::Int => cell as usize == MODE || is_constant(),
        KeptSlot::Real => is_constant(),
        // A step may change the adjoint of a parameter, and the argument for the parameter may be a constant.
        KeptSlot::Adjoint | KeptSlot::Deferred => is_constant() && !program.names_adjoints(),
        KeptSlot::Entry => false,
    };
    // Cells of closed frames can't be distinguished from cells that never existed.
    if u64::from(cell) >= MAX_CELLS || is_fixed {
        return Err("a record of the history belongs to a cell that no step changes");
    }
    let Cost { erased, discarded, drops } = cost;
    if erased.unsigned_abs().max(discarded.unsigned_abs()) > 64 || drops.unsigned_abs() > 1 {
        return Err("a record of the history counts more lost bits than a cell has");
    }
    match slot {
        KeptSlot::Int if !program.module().word.range().contains(&(bits as i64)) => {
            Err("an integer doesn't fit into the program's words")
        }
        KeptSlot::Int => Ok(()),
        KeptSlot::Real | KeptSlot::Adjoint | KeptSlot::Deferred | KeptSlot::Entry => {
            check_reals(program, [&bits])
        }
    }
}
