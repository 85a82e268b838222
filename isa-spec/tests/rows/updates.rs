//! Tests the effects of updates on numbers, and the templates of steps, on an engine with an array of cells.
//! Each step must preserve Σ adjoint·tangent, which defines the propagation of adjoints. The tangents are
//! computed by finite differences.

use reviver_isa::fault::{Eval, Fault};
use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::Class;
use reviver_isa::number::{Arithmetic, F64, Wide, Words};
use reviver_isa::step::{AnyFunction, Engine, Failed, Operation, step};
use reviver_isa::update::{Action, Erasure, Over, Update};

use crate::numbers::Random;

/// The engine's cells: three integers, and three reals with their adjoints, which the operands of a step
/// refer to.
#[derive(Clone, Debug, PartialEq)]
struct Array {
    ints: [i64; 3],
    reals: [f64; 3],
    adjoints: [f64; 3],
}

impl Engine for Array {
    type Numbers = Arithmetic<Wide, F64>;
    type Cell = usize;
    type Bit = bool;
    type Functions = AnyFunction;

    const GRADIENT: bool = true;
    const EXACT: bool = false;
    const IMMEDIATE: bool = true;

    fn numbers(&self) -> Self::Numbers {
        Arithmetic { words: Wide, reals: F64 }
    }
    fn int(&self, cell: usize) -> i64 {
        self.ints[cell]
    }
    fn real(&self, cell: usize) -> f64 {
        self.reals[cell]
    }
    fn adjoint(&self, cell: usize) -> f64 {
        self.adjoints[cell]
    }
    fn set_int(&mut self, cell: usize, value: i64) {
        self.ints[cell] = value;
    }
    fn set_real(&mut self, cell: usize, value: f64) {
        self.reals[cell] = value;
    }
    fn set_adjoint(&mut self, cell: usize, value: f64) {
        self.adjoints[cell] = value;
    }
    fn set_zero(&mut self, class: Class, cell: usize) {
        match class {
            Class::Int => self.ints[cell] = 0,
            Class::Real => self.reals[cell] = 0.0,
        }
    }
    fn admit(&self, value: f64) -> Eval<f64> {
        if value.is_finite() { Ok(value) } else { Err(Fault::NonFinite) }
    }
    fn is_nonzero(&self, adjoint: f64) -> bool {
        adjoint != 0.0
    }
    fn receives(&self, _operand: usize, _cell: usize) -> bool {
        true
    }
    fn is_same(&self, a: usize, b: usize) -> bool {
        a == b
    }
    fn either(&self, a: bool, b: bool) -> bool {
        a || b
    }
    fn choose(&self, bit: bool, yes: f64, no: f64) -> f64 {
        if bit { yes } else { no }
    }
    fn holds(&self, bit: bool) -> bool {
        bit
    }
    fn require_condition(&mut self, holds: i64) -> Result<(), Failed> {
        if holds == 1 { Ok(()) } else { Err(Failed::Denied) }
    }
    fn require_vacant(&mut self, class: Class, cell: usize) -> Result<(), Failed> {
        let is_zero = match class {
            Class::Int => self.ints[cell] == 0,
            Class::Real => self.reals[cell] == 0.0,
        };
        if is_zero { Ok(()) } else { Err(Failed::NotVacant) }
    }
    fn converts(&mut self, _source: usize) {}
    fn erases(&mut self, _class: Class, _cell: usize, _erasure: Erasure) {}
    fn ends_adjoint(&mut self, _cell: usize) {}
    fn frees(&mut self, _cell: usize) {}
    fn drop_adjoint(&mut self, cell: usize) {
        self.adjoints[cell] = 0.0;
    }
}

fn operation(update: Update, function: Function, signature: Signature) -> Operation {
    Operation { update, function, signature, undoes: false }
}

fn some(random: &mut Random) -> Array {
    let mut real = || 0.25 + random.unit() * 0.5;
    let (reals, adjoints) = ([real(), real(), real()], [real(), real(), real()]);
    Array { ints: [5, 3, 2], reals, adjoints }
}

/// Returns the updates that compute, over integers or over reals.
pub fn computing(over: fn(&Over) -> bool) -> impl Iterator<Item = Update> {
    let computes = |update: &Update| {
        matches!(update.action(), Action::Accumulate | Action::Replace | Action::Map | Action::Rotate)
    };
    Update::ALL.iter().copied().filter(computes).filter(move |update| update.over().iter().any(over))
}

fn is_integer(over: &Over) -> bool {
    *over == Over::Integers
}

fn is_real(over: &Over) -> bool {
    matches!(over, Over::AdditiveReals | Over::MultiplicativeReals)
}

/// Returns the new integer target according to the manual.
fn expected_int(update: Update, y: i64, f: i64) -> i64 {
    match update {
        Update::Add => y.wrapping_add(f),
        Update::Sub => y.wrapping_sub(f),
        Update::Xor => y ^ f,
        Update::Rol => y.rotate_left(f.rem_euclid(64) as u32),
        Update::Ror => y.rotate_right(f.rem_euclid(64) as u32),
        Update::Neg => y.wrapping_neg(),
        Update::Not => !y,
        Update::Overwrite => f,
        other => panic!("{other:?} has no test of its value over integers"),
    }
}

/// Returns the new real target according to the manual; for a point, its first coordinate.
fn expected_real(update: Update, y: f64, x: f64, f: f64) -> f64 {
    match update {
        Update::Add => y + f,
        Update::Sub => y - f,
        Update::Mul => y * f,
        Update::Div => y / f,
        Update::Neg => -y,
        Update::Overwrite => f,
        Update::Rot => y.mul_add(f.cos(), -x * f.sin()),
        Update::Irot => y.mul_add(f.cos(), x * f.sin()),
        other => panic!("{other:?} has no test of its value over reals"),
    }
}

pub fn check_update(update: Update) {
    let numbers = Arithmetic { words: Wide, reals: F64 };
    if computing(is_integer).any(|other| other == update) {
        for y in [0, 1, -1, 5, i64::MIN, i64::MAX] {
            for f in [0, 1, -1, 3, 64, 65, i64::MIN] {
                assert_eq!(update.int(&numbers, y, f), Ok(expected_int(update, y, f)), "{update:?} {y} {f}");
            }
        }
    }
    if computing(is_real).any(|other| other == update) {
        for (y, x, f) in [(0.5, 2.0, 0.25), (-3.0, 1.0, 2.0), (1.0, 0.0, 0.5)] {
            let found = match update.action() {
                Action::Rotate => update.turn(&numbers, (y, x), f).map(|point| point.0),
                _ => update.real(&numbers, y, f),
            };
            let expected = expected_real(update, y, x, f);
            assert!(
                found.is_ok_and(|found| (found - expected).abs() < 1e-12),
                "{update:?} {y} {f}: {found:?}"
            );
        }
    }
}

#[test]
fn updates_match_the_manual() {
    Update::ALL.iter().for_each(|&update| check_update(update));
    let narrow = reviver_isa::number::Narrow(reviver_isa::module::Word::W8);
    let words = Arithmetic { words: narrow, reals: F64 };
    assert_eq!(Update::Rol.int(&words, -127, 1), Ok(3));
    assert_eq!(Update::Neg.int(&words, -128, 0), Ok(-128));
    assert_eq!(Update::Add.int(&words, 127, 1), Ok(narrow.wrap(128)));
}

/// Returns the steps that apply a function of reals, rotate, or exchange cells. Functions that round to whole
/// numbers are omitted: for sources below 1 such a step changes nothing or divides by 0.
fn steps_over_reals() -> Vec<Operation> {
    let is_smooth = |f: &&Function| !matches!(f, Function::Floor | Function::Round);
    let of_reals = |f: &&Function| f.signatures().any(|signature| signature == Signature::Real);
    let functions = move || Function::ALL.iter().filter(of_reals).filter(is_smooth);
    let apply = |update| functions().map(move |&function| operation(update, function, Signature::Real));
    let updates = computing(is_real).filter(|update| update.is_reversible());
    updates
        .flat_map(|update| match update.takes_function() {
            true => apply(update).collect(),
            false => vec![operation(update, Function::Copy, Signature::Real)],
        })
        .chain([operation(Update::Swap, Function::Copy, Signature::Real)])
        .collect()
}

fn inverse(operation: Operation) -> Operation {
    Operation { update: operation.update.inverse(), ..operation }
}

fn close(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9)
}

#[test]
fn steps_over_reals_are_undone_with_their_adjoints() {
    let mut random = Random::new();
    for operation in steps_over_reals() {
        let start = some(&mut random);
        let mut array = start.clone();
        step(&mut array, operation, [0, 1, 2]).unwrap();
        assert_ne!(array, start, "{operation:?} does nothing");
        step(&mut array, inverse(operation), [0, 1, 2]).unwrap();
        assert!(close(array.reals, start.reals) && close(array.adjoints, start.adjoints), "{operation:?}");
    }
}

/// Tests that Σ adjoint·tangent is the same before and after a step, for any tangents.
#[test]
fn steps_over_reals_preserve_the_pairing_of_adjoints_and_tangents() {
    const SMALL: f64 = 1e-6;
    let mut random = Random::new();
    let cells: [[usize; 3]; 2] = [[0, 1, 2], [0, 1, 1]];
    for operation in steps_over_reals() {
        // Steps with two targets need distinct operands. For other steps equal sources are tested, too,
        // unless the step fails, as a division by a - a does.
        let equal_sources = operation.update.shape().targets() == 1
            && step(&mut some(&mut Random::new()), operation, cells[1]).is_ok();
        for cells in cells.into_iter().take(1 + usize::from(equal_sources)) {
            let start = some(&mut random);
            let tangents = [random.unit(), random.unit(), random.unit()];
            let after = |sign: f64| {
                let mut moved = start.clone();
                (0..3).for_each(|n| moved.reals[n] += sign * SMALL * tangents[n]);
                step(&mut moved, operation, cells).unwrap();
                moved
            };
            let (up, down) = (after(1.0), after(-1.0));
            let mut end = start.clone();
            step(&mut end, operation, cells).unwrap();
            let pairing = |array: &Array, tangent: &dyn Fn(usize) -> f64| -> f64 {
                (0..3).map(|n| array.adjoints[n] * tangent(n)).sum()
            };
            let before = pairing(&start, &|n| tangents[n]);
            let behind = pairing(&end, &|n| (up.reals[n] - down.reals[n]) / (2.0 * SMALL));
            assert!((before - behind).abs() < 1e-6, "{operation:?} of {cells:?}: {before}, {behind}");
        }
    }
}

/// Tests that each update of cells, for each class, changes some state or fails for some state. An update
/// whose row has no meaning would do neither.
#[test]
fn every_update_of_cells_has_an_effect() {
    let cell_actions = [
        Action::Accumulate,
        Action::Replace,
        Action::Erase(Erasure::Cell),
        Action::Erase(Erasure::Bit),
        Action::Map,
        Action::Exchange,
        Action::Rotate,
        Action::Clear,
    ];
    let of_cells = |update: &&Update| cell_actions.contains(&update.action());
    for &update in Update::ALL.iter().filter(of_cells) {
        for (over, signature) in
            [(is_integer as fn(&Over) -> bool, Signature::Int), (is_real, Signature::Real)]
        {
            if !update.over().iter().any(over) {
                continue;
            }
            let start = some(&mut Random::new());
            let mut array = start.clone();
            let made = step(&mut array, operation(update, Function::Copy, signature), [0, 1, 2]);
            assert!(made.is_err() || array != start, "{update:?} does nothing to {signature:?}");
        }
    }
}

#[test]
fn a_step_that_fails_changes_nothing() {
    let start = Array { ints: [1, 2, 0], reals: [1.0, 0.0, 0.0], adjoints: [1.0, 1.0, 1.0] };
    let fails = |update, function, signature, failed| {
        let mut array = start.clone();
        assert_eq!(step(&mut array, operation(update, function, signature), [0, 1, 2]), Err(failed));
        assert_eq!(array, start);
    };
    fails(Update::Add, Function::Div, Signature::Int, Failed::Value(Fault::DivisionByZero));
    fails(Update::Add, Function::Div, Signature::Real, Failed::Value(Fault::NonFinite));
    let no_slope = Failed::Partial { source: 0, fault: Fault::NonFinite };
    fails(Update::Add, Function::Sqrt, Signature::Real, no_slope);
    fails(Update::Vacate, Function::Copy, Signature::Real, Failed::NotVacant);
    fails(Update::Assert, Function::Eq, Signature::Int, Failed::Denied);
    let back = Operation { undoes: true, ..operation(Update::Erase, Function::Copy, Signature::Int) };
    assert_eq!(step(&mut start.clone(), back, [0, 1, 2]), Err(Failed::Irreversible));
}
