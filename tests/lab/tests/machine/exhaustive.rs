//! Exhaustive proof: on every state of 8-bit cells, a step of an integer row either traps and changes nothing, or its
//! inverse step restores the state exactly.
//!
//! A program has one instruction for each value of its target (`add.mul y0, a, b` to `add.mul y255, a, b`), so that
//! one run tries all target values for a pair of source values. All updates are tried with all functions. A campaign of
//! at least 1,000 programs tries all values of three cells, 2²⁴ states for each row:
//! `REVIVER_CAMPAIGN=1000 cargo test --workspace --test machine exhaustive::`. Otherwise the tests try all values of the
//! target and of the first source, and of the second source every eighth value, shifted for each value of the first.
//! A slow engine tries fewer source values.

use reviver_isa::Function;
use reviver_isa::function::Signature;
use reviver_isa::update::{OperandShape, Over, Update};
use reviver_lab::campaign::programs;
use reviver_lab::engine::{ALL, Engine, REFERENCE};
use reviver_lab::run::{End, travel};
use reviver_lab::subject::Subject;
use reviver_vm::Travel::{Backward, Forward};
use reviver_vm::{Machine, Stop};

const BYTES: std::ops::RangeInclusive<i64> = -128..=127;

/// Machine over 8-bit cells, whose values a test sets one by one.
struct Cells {
    machine: Machine,
    /// Index of each named cell among the integer cells.
    offsets: Vec<usize>,
}

impl Cells {
    /// Assembles a program, and finds the cells that `names` lists.
    fn new(text: &str, names: &[String]) -> Cells {
        Cells::on(REFERENCE, text, names)
    }

    fn on(engine: Engine, text: &str, names: &[String]) -> Cells {
        let subject = Subject::on(engine, text).unwrap();
        let offset = |name: &String| {
            let (global, _) = subject.program.global(name).unwrap();
            subject.program.cells(global).start
        };
        Cells { machine: subject.machine(false), offsets: names.iter().map(offset).collect() }
    }

    fn set(&mut self, values: &[i64]) {
        let state = self.machine.state_mut();
        self.offsets.iter().zip(values).for_each(|(&offset, &value)| state.ints[offset] = value);
    }

    fn holds(&self, values: &[i64]) -> bool {
        let ints = &self.machine.state().ints;
        self.offsets.iter().zip(values).all(|(&offset, &value)| ints[offset] == value)
    }

    /// Executes one step forward. If the step traps, checks that it changed nothing, and returns false. Otherwise
    /// checks that a step backward restores the state, and returns true.
    fn round_trip(&mut self, values: &[i64]) -> bool {
        self.set(values);
        let before = self.machine.state().try_clone().unwrap();
        let went = match travel(&mut self.machine, Forward, 1) {
            End::Trap(_) => false,
            end => {
                assert_eq!(end, End::Budget);
                assert!(self.machine.state().ints.iter().all(|value| BYTES.contains(value)));
                assert_eq!(travel(&mut self.machine, Backward, 1), End::Budget, "back from {values:?}");
                true
            }
        };
        assert_eq!(self.machine.state(), &before, "at {values:?}");
        went
    }
}

fn targets() -> Vec<String> {
    BYTES.enumerate().map(|(n, _)| format!("y{n}")).collect()
}

/// Returns the rows of an update: one for each function of integers.
fn rows(update: Update) -> impl Iterator<Item = (Update, Function)> {
    let functions =
        Function::ALL.iter().copied().filter(|f| f.signatures().any(|signature| signature == Signature::Int));
    functions.filter(|f| *f != Function::Always).map(move |f| (update, f))
}

/// Returns all updates that change an integer by a function value and have an inverse.
fn accumulations() -> Vec<Update> {
    let all = Update::ALL.iter().copied();
    all.filter(|u| {
        u.shape() == OperandShape::Accumulate && u.is_reversible() && u.over().contains(&Over::Integers)
    })
    .collect()
}

/// Returns a program that applies a row to all targets, one after the other.
fn program(update: Update, function: Function) -> String {
    let mut text = String::from(".word 8\n.inout a, b\n");
    targets().iter().for_each(|y| text += &format!(".inout {y}\n"));
    let sources = ["", ", a", ", a, b"][function.arity()];
    targets().iter().for_each(|y| text += &format!("{}.{} {y}{sources}\n", update.name(), function.name()));
    text
}

/// Returns the values of the second source to try with the value `a` of the first source.
fn seconds(function: Function, a: i64) -> impl Iterator<Item = i64> {
    let every = if programs(0) >= 1000 { 1 } else { 8 };
    let values = if function.arity() == 2 { BYTES } else { 0..=0 };
    values.filter(move |b| function.arity() < 2 || (a + b) % every == 0)
}

/// Tries a row with all values of its target, and the values of its sources that [`seconds`] selects.
fn try_row(engine: Engine, update: Update, function: Function) {
    let names: Vec<String> = targets().into_iter().chain(["a".into(), "b".into()]).collect();
    let mut cells = Cells::on(engine, &program(update, function), &names);
    let values: Vec<i64> = BYTES.collect();
    for a in engine.share(BYTES) {
        for b in engine.share(seconds(function, a)) {
            let start: Vec<i64> = values.iter().copied().chain([a, b]).collect();
            try_targets(&mut cells, &start, (engine.name, update, function));
        }
    }
}

/// Runs all instructions forward and backward, which must restore the state. If the first instruction traps, checks
/// that each of them traps.
fn try_targets(cells: &mut Cells, start: &[i64], row: (&str, Update, Function)) {
    let count = BYTES.count() as u64;
    let sources = &start[count as usize..];
    cells.set(start);
    match cells.machine.run(Forward, count) {
        Ok(stop) => {
            assert_eq!(stop, Stop::Budget);
            let ints = &cells.machine.state().ints;
            assert!(cells.offsets.iter().all(|&offset| BYTES.contains(&ints[offset])), "{row:?} {sources:?}");
            let back = cells.machine.run(Backward, count);
            assert_eq!(back, Ok(Stop::Budget), "{row:?} back from {sources:?}");
        }
        Err(first) => try_traps(cells, start, first.at),
    }
    assert!(cells.holds(start), "{row:?} with sources {sources:?} is not undone");
}

/// Checks that each instruction traps and changes nothing. The trap depends only on the sources, for which the
/// function has no value.
fn try_traps(cells: &mut Cells, start: &[i64], first: u32) {
    for at in first..first + BYTES.count() as u32 {
        cells.machine.state_mut().position = at;
        let trap = cells.machine.run(Forward, 1).unwrap_err();
        assert_eq!(trap.at, at);
        assert_eq!(cells.machine.state().position, at);
    }
    cells.machine.state_mut().position = first;
    assert!(cells.holds(start), "a trap changed a cell");
}

fn try_update(update: Update) {
    for &engine in ALL {
        rows(update).for_each(|(update, function)| try_row(engine, update, function));
    }
}

/// Defines a test for each of the given updates, so that the tests run in parallel.
macro_rules! updates {
    ($($test:ident $Update:ident)+) => {
        $(
            #[test]
            fn $test() {
                try_update(Update::$Update);
            }
        )+

        /// Tries the updates without a separate test above, such as new ones.
        #[test]
        fn other_updates_on_every_state() {
            let others = accumulations().into_iter().filter(|update| ![$(Update::$Update),+].contains(update));
            // Each update gets a thread, because a single test runs on one core.
            std::thread::scope(|scope| others.for_each(|update| drop(scope.spawn(move || try_update(update)))));
        }
    };
}

updates! {
    add_on_every_state Add
    sub_on_every_state Sub
    xor_on_every_state Xor
    rol_on_every_state Rol
    ror_on_every_state Ror
}

#[test]
fn updates_of_one_cell_on_every_state() {
    for update in ["neg", "not", "push", "write", "unread", "vacate"] {
        let mut cells = Cells::new(&format!(".word 8\n.inout y\n{update} y\n"), &["y".into()]);
        let went = BYTES.filter(|&y| cells.round_trip(&[y])).count();
        assert_eq!(went, if update == "vacate" { 1 } else { 256 }, "{update}");
    }
}

/// Tries updates that move a value from a stack or a tape to a cell, which must be vacant.
#[test]
fn fetching_updates_on_every_state() {
    for (away, back) in [("push", "pop"), ("write", "unwrite"), ("unread", "read")] {
        let text = format!(".word 8\n.inout x, y\n{away} x\n{back} y\n");
        let mut cells = Cells::new(&text, &["x".into(), "y".into()]);
        for (x, y) in BYTES.flat_map(|x| BYTES.map(move |y| (x, y))) {
            cells.set(&[x, y]);
            assert_eq!(travel(&mut cells.machine, Forward, 1), End::Budget);
            assert_eq!(cells.round_trip(&[0, y]), y == 0, "{back} into {y}");
            cells.set(&[0, y]);
            assert_eq!(travel(&mut cells.machine, Backward, 1), End::Budget);
            assert!(cells.holds(&[x, y]));
        }
    }
}

#[test]
fn swap_on_every_state() {
    let mut cells = Cells::new(".word 8\n.inout x, y\nswap x, y\n", &["x".into(), "y".into()]);
    for (x, y) in BYTES.flat_map(|x| BYTES.map(move |y| (x, y))) {
        assert!(cells.round_trip(&[x, y]));
    }
}

fn comparisons() -> Vec<&'static str> {
    let conditions = Function::ALL.iter().filter(|f| f.is_condition() && f.arity() == 2);
    conditions.map(|f| f.order().unwrap().symbol()).collect()
}

#[test]
fn assert_on_every_state() {
    for comparison in comparisons() {
        let text = format!(".word 8\n.inout a, b\nassert a {comparison} b\n");
        let mut cells = Cells::new(&text, &["a".into(), "b".into()]);
        let all = BYTES.flat_map(|a| BYTES.map(move |b| (a, b)));
        let held = all.filter(|&(a, b)| cells.round_trip(&[a, b])).count();
        assert!((256..65536).contains(&held), "`{comparison}` holds for {held} pairs");
    }
}

/// Tries every pair of a `br` condition and a `from` condition. In either direction, a step over a branch can be
/// undone, or traps and changes nothing.
#[test]
fn branch_pairs_on_every_state() {
    for (entry, exit) in
        comparisons().into_iter().flat_map(|a| comparisons().into_iter().map(move |b| (a, b)))
    {
        let text = format!(".word 8\n.inout a, b\nx: br y, a {entry} b\nneg a\ny: from x, a {exit} b\n");
        let mut cells = Cells::new(&text, &["a".into(), "b".into()]);
        let begin = cells.machine.state().position;
        for (a, b) in BYTES.flat_map(|a| BYTES.map(move |b| (a, b))) {
            for position in [begin, begin + 2] {
                cells.machine.state_mut().position = position;
                cells.round_trip(&[a, b]);
            }
        }
    }
}

/// Tries rows with an integer target and real sources, on a sample of reals. The exhaustive tests above have integer
/// sources only.
#[test]
fn rows_from_reals_on_every_target() {
    let samples = ["-130.0", "-128.9", "-1.5", "-0.0", "0.0", "0.99", "1.0", "127.5", "128.0", "1e300"];
    let functions =
        Function::ALL.iter().filter(|f| f.signatures().any(|signature| signature == Signature::RealsToInt));
    for (function, update) in functions.flat_map(|f| accumulations().into_iter().map(move |u| (f, u))) {
        for (a, b) in samples.iter().flat_map(|a| samples.iter().map(move |b| (a, b))) {
            let sources = [String::new(), format!(", {a}"), format!(", {a}, {b}")][function.arity()].clone();
            let text = format!(".word 8\n.inout y\n{}.{} y{sources}\n", update.name(), function.name());
            let mut cells = Cells::new(&text, &["y".into()]);
            let went: Vec<bool> = BYTES.map(|y| cells.round_trip(&[y])).collect();
            assert!(went.iter().all(|w| w == &went[0]), "{text}");
        }
    }
}
