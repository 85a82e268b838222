//! Saved states: bytes that another run of the same program can go on from.
//!
//! Layout: magic, format version, CRC-32 of all that follows, the program's hash, then state and
//! residues. Whatever the bytes are, the outcome is an error or a state that the machine could have
//! reached by itself as far as memory safety goes: every offset is checked against the program.

use reviver_isa::codec::{self, OutOfMemory};
use reviver_isa::instruction::Class;
use reviver_isa::module::Passing;
use thiserror::Error;

use crate::history::Residues;
use crate::op::Kind;
use crate::program::{FORWARD, Program};
use crate::state::{Frame, MODE, Part, State};

/// The first bytes of every state file.
pub const MAGIC: [u8; 8] = *b"RVRSTATE";
const VERSION: u16 = 4;
/// Where the checksum stands, and where what it covers begins.
const CHECKSUM: usize = MAGIC.len() + 2;
const HEADER: usize = CHECKSUM + 4;

/// Why bytes are not a state to go on from.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
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

/// What is encoded: the program's hash, the state, the residues.
type Saved<Hash, State, Residues> = (Hash, State, Option<Residues>);

/// A state and its residues as bytes.
///
/// # Errors
/// There is no memory for them.
pub fn encode(program: &Program, state: &State, residues: Option<&Residues>) -> Result<Vec<u8>, OutOfMemory> {
    let saved: Saved<[u8; 16], &State, &Residues> = (program.hash().to_le_bytes(), state, residues);
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; HEADER - CHECKSUM]);
    codec::try_encode(&saved, &mut bytes)?;
    let checksum = codec::checksum(bytes.get(HEADER..)).to_le_bytes();
    if let Some(field) = bytes.get_mut(CHECKSUM..HEADER) {
        field.copy_from_slice(&checksum);
    }
    Ok(bytes)
}

/// The inverse of [`encode`].
///
/// # Errors
/// Bytes that aren't a state of this program.
pub fn decode(program: &Program, bytes: &[u8]) -> Result<(State, Option<Residues>), StateError> {
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
    let (hash, state, residues): Saved<[u8; 16], State, Residues> =
        codec::decode(body).map_err(StateError::Malformed)?;
    if u128::from_le_bytes(hash) != program.hash() {
        return Err(StateError::OtherProgram);
    }
    check(program, &state).map_err(StateError::Unfit)?;
    Ok((state, residues))
}

/// Everything that the interpreter takes for granted.
fn check(program: &Program, state: &State) -> Result<(), &'static str> {
    let module = program.module();
    if state.calls.len() > module.limits.depth as usize {
        return Err("too many open calls");
    }
    let (frames, procedure) = walk_calls(program, state)?;
    if (state.ints.len(), state.reals.len()) != frames {
        return Err("the cells don't match its memory layout");
    }
    check_pools(program, state)?;
    check_adjoints(state)?;
    if !state.ints.iter().all(|value| module.word.range().contains(value)) {
        return Err("an integer is wider than its words");
    }
    let bounds = &module.procedures[procedure];
    if !(bounds.entry < state.position && state.position <= bounds.exit) {
        return Err("the position is outside of the procedure");
    }
    Ok(())
}

/// Cells of each class that the open calls account for, and the innermost procedure.
fn walk_calls(program: &Program, state: &State) -> Result<((usize, usize), usize), &'static str> {
    let (mut ints, mut reals) = program.layout.static_cells();
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
            return Err("a call record does not continue the one before");
        }
        let site = &program.calls[op.a as usize];
        procedure = program.executed(record).ok_or("a call record names a rule that isn't there")?;
        frame = Frame { ints: ints as u32, reals: reals as u32, references: references as u32 };
        ints += program.layout.frame_ints[procedure] as usize;
        reals += program.layout.frame_reals[procedure] as usize;
        references += site.arguments.len();
        if site.rule.is_none() && record.part != Part::Whole {
            return Err("a call record names a rule that isn't there");
        }
        inverted ^= (op.kind == Kind::Uncall) ^ (record.part == Part::Rule);
    }
    if state.references.len() != references || state.frame != frame || state.inverted != inverted {
        return Err("the innermost call does not match its records");
    }
    check_references(program, state)?;
    Ok(((ints, reals), procedure))
}

/// References lead to cells that were there before the callee's own frame, so that they outlive it.
fn check_references(program: &Program, state: &State) -> Result<(), &'static str> {
    let mut references = state.references.iter();
    let frames = state.calls.iter().skip(1).map(|record| record.frame).chain([state.frame]);
    for (record, frame) in state.calls.iter().zip(frames) {
        let site = &program.calls[program.code[FORWARD][record.site as usize].a as usize];
        let callee = &program.module().procedures[site.procedure as usize];
        for (parameter, reference) in callee.parameters.iter().zip(references.by_ref()) {
            let cells = frame.start(parameter.class);
            let last = u64::from(reference.base)
                + u64::from(reference.length.saturating_sub(1)) * u64::from(reference.stride);
            let outside = reference.length != 0 && last >= u64::from(cells);
            // What a procedure may change is never the mode bit.
            let switches = parameter.class == Class::Int
                && parameter.passing == Passing::InOut
                && reference.length != 0
                && reference.base as usize <= MODE;
            if switches {
                return Err("a reference leads to the gradient mode bit");
            }
            if outside || reference.stride == 0 || !parameter.slice && reference.length != 1 {
                return Err("a reference leads outside of the cells");
            }
        }
    }
    Ok(())
}

/// One adjoint for each real, and a mode that is on or off.
fn check_adjoints(state: &State) -> Result<(), &'static str> {
    if !matches!(state.ints.get(MODE), Some(0 | 1)) {
        return Err("gradient mode is neither on nor off");
    }
    let Some(adjoints) = &state.adjoints else {
        return if state.mode() { Err("gradient mode is on, and there are no adjoints") } else { Ok(()) };
    };
    let found = [&adjoints.cells, &adjoints.stack, &adjoints.input, &adjoints.output].map(Vec::len);
    let values = [state.reals.len(), state.real_stack.len(), state.input.len(), state.output.len()];
    if found == values { Ok(()) } else { Err("the adjoints don't match the values") }
}

fn check_pools(program: &Program, state: &State) -> Result<(), &'static str> {
    let layout = &program.layout;
    let ints = &state.ints[layout.pool_ints_start as usize..];
    let reals = &state.reals[layout.pool_reals_start as usize..];
    if ints.starts_with(&layout.pool_ints) && reals.starts_with(&layout.pool_reals) {
        Ok(())
    } else {
        Err("the constants are not the program's")
    }
}
