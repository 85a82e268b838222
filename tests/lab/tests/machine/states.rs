//! State files that were edited and got a correct checksum: decoding refuses every impossible state, with a reason.

use std::collections::BTreeMap;
use std::sync::Arc;

use reviver_isa::codec;
use reviver_isa::instruction::Class;
use reviver_lab::run::travel;
use reviver_lab::subject::Subject;
use reviver_vm::checkpoint::{StateError, decode, decode_suspended, encode, encode_suspended};
use reviver_vm::differentiate::suspended::SuspendedGradient;
use reviver_vm::drift::{restored, same};
use reviver_vm::history::{Cost, Kept, KeptSlot, Residues};
use reviver_vm::reports::{Loss, Tally};
use reviver_vm::state::{CallRecord, Frame, MODE, Part, Reference, TapeEntry};
use reviver_vm::{Program, State, Travel};

/// Program that is stopped inside a call of `work`, where both stacks and both tapes have values, and the history has
/// residues.
const TEXT: &str = "
.word 8
.limit depth 3
.limit stack 2
.limit tape 3
.in n default 3
.inout x: real default 0.5
.inout A[4] = 0 default {1, 2, 3, 4}
.inout v[3]: real default {0.1, 0.2, 0.3}
; tape: 1, 2.5
        add    n, 7
        push   n
        pop    n
        add    x, 1e17
        call   work(x, n, A[1..4], v)
        sub    n, 7
.proc work(inout y: real, inout m, inout B[], in w[]: real)
.ancilla t: real, k
        add    k, 5
        add.mul t, y, 0.1
        push   k
        push   t
        swap   B[0], B[1]
        pop    t
        pop    k
        sub.mul t, y, 0.1
        sub    k, 5
.end
";

/// Program with its state in the middle of `work`, and the residues recorded before.
struct Middle {
    program: Arc<Program>,
    state: State,
    residues: Residues,
}

fn middle() -> Middle {
    let subject = Subject::new(TEXT).unwrap();
    let mut machine = subject.machine(true);
    while machine.state().real_stack.is_empty() {
        travel(&mut machine, Travel::Forward, 1);
    }
    let (program, residues) = (subject.program.clone(), machine.residues().unwrap().try_clone().unwrap());
    Middle { program, residues, state: machine.into_state() }
}

/// Edits the state in the middle of `work`. Returns the reason for which decoding refuses it.
#[track_caller]
fn refusal(change: impl FnOnce(&mut State)) -> &'static str {
    let Middle { program, mut state, residues } = middle();
    change(&mut state);
    refused(&program, &state, Some(&residues))
}

#[track_caller]
fn refused(program: &Program, state: &State, residues: Option<&Residues>) -> &'static str {
    match decode(program, &encode(program, state, residues).unwrap()) {
        Err(StateError::Unfit(why)) => why,
        other => panic!("it is accepted: {other:?}"),
    }
}

#[test]
fn an_unchanged_state_is_accepted() {
    let Middle { program, state, residues } = middle();
    assert!(!residues.is_empty(), "the test needs records");
    let bytes = encode(&program, &state, Some(&residues)).unwrap();
    assert_eq!(decode(&program, &bytes), Ok((state, Some(residues))));
}

#[test]
fn steps_and_counts_are_bounded() {
    let changes: [fn(&mut State); 10] = [
        |s| s.step = i64::MAX,
        |s| s.step = i64::MIN,
        |s| s.rule_steps = i64::MIN,
        |s| s.rule_steps = i64::MAX,
        |s| s.counters.drops = u64::MAX,
        |s| s.counters.erased_bits = u64::MAX,
        |s| s.counters.discarded_bits = u64::MAX,
        |s| s.counters.shown.step = i64::MAX,
        |s| s.counters.shown.rule_step = i64::MIN,
        |s| s.counters.calls = i64::MIN,
    ];
    for change in changes {
        assert_eq!(refusal(change), "a step number or a counter exceeds the longest possible run");
    }
}

#[test]
fn stacks_tapes_and_calls_are_within_the_limits() {
    let (stack, tape) =
        ("a stack has more entries than its limit allows", "a tape has more entries than its limit allows");
    assert_eq!(refusal(|s| s.int_stack = vec![0; 3]), stack);
    assert_eq!(refusal(|s| s.real_stack = vec![0; 3]), stack);
    assert_eq!(refusal(|s| s.input = vec![TapeEntry::Int(0); 4]), tape);
    assert_eq!(refusal(|s| s.output = vec![TapeEntry::Int(0); 4]), tape);
    assert_eq!(refusal(|s| s.calls = vec![s.calls[0]; 4]), "too many open calls");
}

#[test]
fn all_integers_fit_the_word() {
    let wide = "an integer doesn't fit into the program's words";
    assert_eq!(refusal(|s| s.ints[MODE + 1] = 128), wide);
    assert_eq!(refusal(|s| s.int_stack[0] = -129), wide);
    assert_eq!(refusal(|s| s.input.push(TapeEntry::Int(128))), wide);
    assert_eq!(refusal(|s| s.output.push(TapeEntry::Int(1 << 40))), wide);
}

#[test]
fn all_reals_are_finite() {
    let no_number = "a real isn't a number of the program's number system";
    let (nan, infinite) = (f64::NAN.to_bits(), f64::INFINITY.to_bits());
    assert_eq!(refusal(|s| s.reals[0] = nan), no_number);
    assert_eq!(refusal(|s| s.real_stack[0] = infinite), no_number);
    assert_eq!(refusal(|s| s.input.push(TapeEntry::Real(nan))), no_number);
    assert_eq!(refusal(|s| s.output.push(TapeEntry::Real(infinite))), no_number);
    assert_eq!(refusal(|s| s.adjoints_mut().cells[1] = nan), no_number);
}

/// In f32, the upper half of the 64 bits must be 0.
#[test]
fn reals_have_the_bits_of_their_system() {
    let subject = Subject::new(".real f32\n.inout x: real default 0.5\n        add x, 1\n").unwrap();
    let mut state = subject.machine(false).into_state();
    state.reals[0] |= 1 << 40;
    let why = refused(&subject.program, &state, None);
    assert_eq!(why, "a real isn't a number of the program's number system");
}

#[test]
fn constants_and_the_mode_match_the_program() {
    let Middle { program, .. } = middle();
    let (int, real) = (program.constants(Class::Int).start, program.constants(Class::Real).start);
    assert_eq!(refusal(|s| s.ints[int] ^= 1), "the constants differ from those of the program");
    assert_eq!(refusal(|s| s.reals[real] ^= 1), "the constants differ from those of the program");
    assert_eq!(refusal(|s| s.ints[MODE] = 2), "gradient mode is neither on nor off");
    assert_eq!(refusal(|s| s.ints[MODE] = 1), "gradient mode is on, and there are no adjoints");
    assert_eq!(
        refusal(|s| s.adjoints_mut().stack.clear()),
        "the number of adjoints differs from the number of values"
    );
}

#[test]
fn references_point_to_cells_of_the_state() {
    let Middle { program, .. } = middle();
    let pool = program.constants(Class::Int);
    let outside = "a reference refers to cells that the call can't pass";
    // The references are in parameter order: a real, an integer, a slice to change, a slice to read.
    assert_eq!(refusal(|s| s.references[0].base = 1 << 20), outside);
    assert_eq!(refusal(|s| s.references[1].length = 2), outside);
    assert_eq!(refusal(|s| s.references[2].stride = 0), outside);
    assert_eq!(refusal(|s| s.references[2].stride = u32::MAX), outside);
    assert_eq!(refusal(|s| s.references[3].length = u32::MAX), outside);
    assert_eq!(
        refusal(|s| s.references[1].base = MODE as u32),
        "a reference refers to the gradient mode bit"
    );
    for base in [pool.start as u32, pool.end as u32 - 1] {
        assert_eq!(refusal(|s| s.references[1].base = base), "a reference refers to the constants");
    }
    assert_eq!(
        refusal(|s| s.references[2].base = pool.start as u32 - 1),
        "a reference refers to the constants"
    );
    // This cell could be passed by another call, but isn't what this call passes.
    assert_eq!(refusal(|s| s.references[1].base += 1), "a reference isn't the argument that its call passes");
}

/// A matrix reference whose last row begins inside of the cells and ends outside is refused.
#[test]
fn the_rows_of_a_matrix_that_is_passed_are_cells() {
    let text = ".inout M[2, 3]\n        call p(M)\n.proc p(inout A[,])\n        add A[1, 2], 1\n.end\n";
    let subject = Subject::new(text).unwrap();
    let mut machine = subject.machine(false);
    travel(&mut machine, Travel::Forward, 1);
    let mut state = machine.into_state();
    let Reference { base, length, stride } = state.references[0];
    assert_eq!((length, stride), (2, 3));
    state.references[0].stride = (state.frame.ints - base) / 2 + 1;
    assert!(base + state.references[0].stride < state.frame.ints);
    assert_eq!(
        refused(&subject.program, &state, None),
        "a reference refers to cells that the call can't pass"
    );
}

#[test]
fn call_records_are_consecutive() {
    let innermost = "the innermost call does not match its records";
    assert_eq!(refusal(|s| s.inverted = true), innermost);
    assert_eq!(refusal(|s| s.frame.reals += 1), innermost);
    assert_eq!(refusal(|s| s.references.clear()), innermost);
    let record = "a call record does not continue the previous record";
    assert_eq!(refusal(|s| s.calls[0].inverted = true), record);
    assert_eq!(refusal(|s| s.calls[0].frame.ints = 1), record);
    assert_eq!(refusal(|s| s.calls[0].site = 1), "a call record names no call of its procedure");
    assert_eq!(refusal(|s| s.calls[0].site = u32::MAX), "a call record names no instruction");
    assert_eq!(refusal(|s| s.position = 1), "the position is outside of the procedure");
    assert_eq!(refusal(|s| s.position = u32::MAX), "the position is outside of the procedure");
    assert_eq!(refusal(|s| s.ints.push(0)), "the cells don't match the program's memory layout");
}

/// Only the call of a procedure with a derivative rule has two parts. While one of them runs, gradient mode is off.
#[test]
fn only_calls_with_a_rule_have_parts() {
    let no_rule = "a call record names a rule that doesn't exist";
    assert_eq!(refusal(|s| s.calls[0].part = Part::Body), no_rule);
    assert_eq!(refusal(|s| s.calls[0].part = Part::Rule), no_rule);
    let text = ".inout x: real default 2\n        call p(x)\n.proc p(inout v: real) rule q\n        add v, 1\n.end\n\
                .proc q(inout v: real)\n        add v', 1\n.end\n";
    let subject = Subject::new(text).unwrap();
    let mut machine = subject.machine(false);
    machine.state_mut().set_mode(true);
    travel(&mut machine, Travel::Forward, 1);
    let mut state = machine.into_state();
    assert_eq!((state.calls[0].part, state.mode()), (Part::Rule, false));
    assert!(decode(&subject.program, &encode(&subject.program, &state, None).unwrap()).is_ok());
    state.ints[MODE] = 1;
    let why = refused(&subject.program, &state, None);
    assert_eq!(why, "two calls with a rule are open, or such a call is open in gradient mode");
}

/// The cells that call records claim are counted before memory is allocated for them.
#[test]
fn frames_of_open_calls_are_within_the_limit_of_cells() {
    let text = ".inout n\n        call p()\n.proc p()\n.ancilla A[100000000]\n        call p()\n.end\n";
    let subject = Subject::new(text).unwrap();
    let (program, module) = (&subject.program, subject.program.module());
    let mut state = State { position: module.procedures[1].entry + 1, ..subject.machine(false).into_state() };
    let (ints, reals) = (state.ints.len() as u32, state.reals.len() as u32);
    for n in 0..3 {
        let site = if n == 0 { 1 } else { module.procedures[1].entry + 1 };
        state.calls.push(CallRecord { site, inverted: false, frame: state.frame, part: Part::Whole });
        state.frame = Frame { ints: ints + n * 100_000_000, reals, references: 0 };
    }
    assert_eq!(refused(program, &state, None), "the state has more cells than a program may have");
    state.calls.pop();
    state.frame.ints -= 100_000_000;
    assert_eq!(refused(program, &state, None), "the cells don't match the program's memory layout");
}

/// Creates residues from their stored form, which may be impossible.
fn records(program: Vec<(i64, Kept)>, rules: Vec<(i64, Kept)>) -> Residues {
    codec::decode(&codec::encode(&(program, rules)).unwrap()).unwrap()
}

#[track_caller]
fn refused_records(program: Vec<(i64, Kept)>, rules: Vec<(i64, Kept)>) -> &'static str {
    let Middle { program: of, state, .. } = middle();
    refused(&of, &state, Some(&records(program, rules)))
}

const KEPT: Kept = Kept { slot: KeptSlot::Real, cell: 0, bits: 0, gradient: false, cost: NO_COST };
const NO_COST: Cost = Cost { erased: 0, discarded: 0, drops: 0 };

#[test]
fn records_belong_to_executed_steps() {
    let Middle { state, .. } = middle();
    let none = "a record of the history belongs to no executed step";
    let here = state.step;
    assert_eq!(refused_records(vec![(here, KEPT)], Vec::new()), none);
    assert_eq!(refused_records(vec![(-1, KEPT)], Vec::new()), none);
    assert_eq!(refused_records(vec![(2, KEPT), (1, KEPT)], Vec::new()), none);
    assert_eq!(refused_records(Vec::new(), vec![(0, KEPT)]), none);
    // In a run before the start, step numbers are negative, so the latest residue has the smallest one.
    let Middle { program, state, .. } = middle();
    let before = State { step: -9, ..state };
    let stored = |numbers: [i64; 2]| {
        let residues = records(numbers.map(|number| (number, KEPT)).into(), Vec::new());
        decode(&program, &encode(&program, &before, Some(&residues)).unwrap())
    };
    assert!(stored([-1, -2]).is_ok());
    assert_eq!(stored([-2, -1]), Err(StateError::Unfit(none)));
}

#[test]
fn records_belong_to_cells_that_steps_change() {
    let Middle { program, .. } = middle();
    let at = |class| program.constants(class).start as u32;
    let cells = [
        Kept { slot: KeptSlot::Int, cell: at(Class::Int), ..KEPT },
        Kept { slot: KeptSlot::Real, cell: at(Class::Real), ..KEPT },
        Kept { slot: KeptSlot::Adjoint, cell: at(Class::Real), ..KEPT },
        Kept { slot: KeptSlot::Int, cell: MODE as u32, ..KEPT },
        Kept { cell: u32::MAX, ..KEPT },
    ];
    for kept in cells {
        let why = refused_records(vec![(0, kept)], Vec::new());
        assert_eq!(why, "a record of the history belongs to a cell that no step changes", "{kept:?}");
    }
}

#[test]
fn records_have_valid_numbers_and_costs() {
    let int = Kept { slot: KeptSlot::Int, cell: MODE as u32 + 1, bits: 1 << 20, ..KEPT };
    assert_eq!(
        refused_records(vec![(0, int)], Vec::new()),
        "an integer doesn't fit into the program's words"
    );
    let real = Kept { bits: f64::NAN.to_bits(), ..KEPT };
    let no_number = "a real isn't a number of the program's number system";
    assert_eq!(refused_records(vec![(0, real)], Vec::new()), no_number);
    for cost in [
        Cost { erased: i32::MAX, ..NO_COST },
        Cost { discarded: i32::MIN, ..NO_COST },
        Cost { drops: 2, ..NO_COST },
    ] {
        let why = refused_records(vec![(0, Kept { cost, ..KEPT })], Vec::new());
        assert_eq!(why, "a record of the history counts more lost bits than a cell has");
    }
}

/// Data of a suspended gradient, as a file may contain them: counts of lost derivatives, data for verification, and the
/// turning point.
type ExplanationText = (BTreeMap<(u32, Loss), Tally>, Option<Watched>, Option<Turned>);
type Watched = (u64, Option<(u32, f64)>, Option<(u32, f64)>, f64);
/// Data of a turning point: step, position and largest number; seeded cells; values of these cells.
type Turned = ((i64, u32, f64), Vec<(usize, u64)>, Vec<u64>);

/// Encodes a suspended gradient with these data, and decodes it. The error is the reason for which it is refused.
fn reported((tallies, watch, turn): ExplanationText) -> Result<(), &'static str> {
    let Middle { program, state, residues } = middle();
    let progress = codec::encode(&([0_u8; 16], (tallies, watch), false, turn)).unwrap();
    let progress = Some(codec::decode(&progress).unwrap());
    let suspended = SuspendedGradient { state, residues: Some(residues), progress, saved_run: None };
    match decode_suspended(&program, &encode_suspended(&program, &suspended).unwrap()) {
        Err(StateError::Unfit(why)) => Err(why),
        other => other.map(drop).map_err(|error| panic!("{error}")),
    }
}

#[test]
fn a_saved_gradient_belongs_to_its_program() {
    let Middle { program, state, .. } = middle();
    let (at, cell) = (program.module().code.len() as u32, state.reals.len());
    let seen = |at| BTreeMap::from([((at, Loss::Converted), Tally::default())]);
    let freed = |at| Some((at, 1.0));
    let turned = |position, cell| Some(((0, position, 0.0), vec![(cell, 0)], vec![0]));
    assert_eq!(reported((seen(at - 1), Some((0, freed(at - 1), freed(at - 1), 0.0)), None)), Ok(()));
    let any = Some(((i64::MIN, 1, f64::NAN), vec![(cell - 1, u64::MAX)], vec![u64::MAX]));
    assert_eq!(reported((BTreeMap::new(), None, any)), Ok(()));
    for wrong in [
        (seen(at), None, None),
        (BTreeMap::new(), Some((0, freed(at), None, 0.0)), None),
        (BTreeMap::new(), Some((0, None, freed(at), 0.0)), None),
        (BTreeMap::new(), None, turned(1, cell)),
        (BTreeMap::new(), None, turned(at + 1, 0)),
        (BTreeMap::new(), None, Some(((0, 1, 0.0), vec![(0, 0)], Vec::new()))),
    ] {
        assert_eq!(reported(wrong), Err("the data of its unfinished gradient belong to another program"));
    }
}

/// A wrong length in a file doesn't cause a large allocation.
#[test]
fn decoding_is_limited_by_the_size_of_the_file() {
    let Middle { program, state, .. } = middle();
    let mut bytes = encode(&program, &state, None).unwrap();
    // The number of integer cells follows the checksum and the hash of the program.
    bytes.splice(30..31, [&[0xfd][..], &(1u64 << 60).to_le_bytes()].concat());
    reviver_lab::damage::seal_state(&mut bytes);
    assert!(matches!(decode(&program, &bytes), Err(StateError::Malformed(_))));
}

/// Comparison that `--check` makes: any part of a state that differs counts, except floats within the tolerance.
#[test]
fn a_state_is_restored_if_every_part_of_it_is() {
    let Middle { program, state, .. } = middle();
    let changes: [fn(&mut State); 11] = [
        |s| s.ints[MODE + 1] ^= 1,
        |s| s.reals[0] = 2.5f64.to_bits(),
        |s| s.int_stack[0] ^= 1,
        |s| s.real_stack[0] = 2.5f64.to_bits(),
        |s| s.input.push(TapeEntry::Int(0)),
        |s| s.output.push(TapeEntry::Int(0)),
        |s| s.calls[0].site += 1,
        |s| s.references[0].base += 1,
        |s| s.frame.ints += 1,
        |s| s.inverted = true,
        |s| s.position += 1,
    ];
    assert!(same(&state, &state) && restored(&program, &state, &state));
    for (n, change) in changes.into_iter().enumerate() {
        let mut changed = state.try_clone().unwrap();
        change(&mut changed);
        assert!(!same(&state, &changed), "change {n}");
        assert!(!restored(&program, &state, &changed), "change {n}");
    }
}
