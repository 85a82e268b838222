//! Guarantees about memory: no allocation per step, small states, and no growth in backward runs.

use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_lab::pairing::bits;
use reviver_lab::subject::Subject;
use reviver_vm::differentiate::{self, gradient};
use reviver_vm::{Machine, Program, State, Stop, Travel, checkpoint};

fn machine(name: &str, inputs: &[(&str, &str)]) -> Machine {
    let path = format!("{}/programs/{name}.rasm", env!("CARGO_MANIFEST_DIR"));
    let assembly = assemble(&path, std::fs::read(&path).unwrap(), &Disk);
    let program = Arc::new(Program::new(assembly.module.unwrap(), 0).unwrap());
    let mut machine = Machine::at_begin(program.clone()).unwrap();
    for (name, value) in inputs {
        let (global, _) = program.global(name).unwrap();
        program.give(machine.state_mut(), global, &[value]).unwrap();
    }
    machine
}

fn to_the_bound(machine: &mut Machine, travel: Travel) {
    assert_eq!(machine.run(travel, u64::MAX).unwrap(), Stop::Bound);
}

#[test]
fn steps_allocate_nothing() {
    for (name, inputs) in [("fib", [("n", "200000")].as_slice()), ("leapfrog", &[]), ("particles", &[])] {
        let mut machine = machine(name, inputs);
        let counted = allocation_counter::measure(|| {
            to_the_bound(&mut machine, Travel::Forward);
            to_the_bound(&mut machine, Travel::Backward);
        });
        assert_eq!(counted.count_total, 0, "{name} allocated {} bytes while it ran", counted.bytes_total);
    }
}

#[test]
fn calls_allocate_only_when_the_depth_grows() {
    let mut machine = machine("fib_recursive", &[("n", "12")]);
    to_the_bound(&mut machine, Travel::Forward);
    let counted = allocation_counter::measure(|| {
        to_the_bound(&mut machine, Travel::Backward);
        to_the_bound(&mut machine, Travel::Forward);
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn the_state_of_a_program_without_arrays_is_small() {
    for name in ["fib", "gcd", "isqrt", "leapfrog"] {
        let machine = machine(name, &[]);
        let state = machine.state();
        let bytes = size_of::<State>() + 8 * (state.ints.len() + state.reals.len());
        assert!(bytes < 4096, "the state of {name} takes {bytes} bytes");
        let saved = checkpoint::encode(machine.program(), state, None).unwrap();
        assert!(saved.len() < 4096, "saved, it takes {} bytes", saved.len());
    }
}

#[test]
fn memory_does_not_grow_with_the_steps() {
    let size = |n: &str| {
        let mut machine = machine("fib", &[("n", n)]);
        let counted = allocation_counter::measure(|| {
            to_the_bound(&mut machine, Travel::Forward);
            to_the_bound(&mut machine, Travel::Backward);
        });
        (counted.bytes_max, machine.history_bytes())
    };
    assert_eq!(size("10"), size("1000000"));
    assert_eq!(size("10"), (0, 0));
}

/// Program that sums y = Σ sin(x) / (k + 1) for k < n in a loop, with calls, ancillas and a stack. The rotations and
/// the stack steps cancel each other.
const SERIES: &str = "
.in n
.inout x: real default 0.9
.out y: real
        for k in 0..n
            call   term(y, x, k)
        rof
.proc term(inout y: real, in x: real, in k)
.ancilla s: real
        compute
            add.toreal s, k
            add    s, 1.0
            local  t = sin(x)
        apply
            add.div y, t, s
            rot    y, t, 0.001
            push   y
            pop    y
            irot   y, t, 0.001
        uncompute
.end
";

/// Returns the steps of a gradient pass over `rounds` iterations, its peak memory and number of allocations, and its
/// reported memory of state and history.
fn gradient_pass(rounds: u64) -> (u64, (u64, u64, usize)) {
    let subject = Subject::new(SERIES).unwrap();
    let mut start = subject.machine(false);
    let program = subject.program.clone();
    let (n, _) = program.global("n").unwrap();
    program.give(start.state_mut(), n, &[&rounds.to_string()]).unwrap();
    let subject = differentiate::Subject::new(program.clone(), start.into_state(), false, u64::MAX).unwrap();
    let loss = subject.variables(program.global("y").unwrap().0).unwrap().remove(0);
    let mut pass = None;
    let counted = allocation_counter::measure(|| pass = Some(gradient(&subject, &loss).unwrap()));
    let pass = pass.unwrap();
    assert_eq!(pass.history_bytes, 0);
    (pass.steps, (counted.bytes_max, counted.count_total, pass.memory_bytes))
}

/// Program with a counter that misses 0 in the reverse sweep, so that the sweep is recomputed. Each iteration loses
/// bits that a history keeps.
const MISSES: &str = "
.inout x: real default 0.1
.out loss: real, i: real
        from i == 0.0
            add loss, x
            add loss, 1e7 * i
            sub loss, 1e7 * i
            add i, 0.1
        until i >= 400.0
";

/// A recomputed sweep keeps a history as long as the history fits into the memory limit, and otherwise snapshots. The
/// gradient is the same in both cases.
#[test]
fn a_repeated_sweep_stays_within_its_memory() {
    let subject = Subject::new(MISSES).unwrap();
    let start = subject.machine(false).into_state();
    let program = subject.program.clone();
    let usual = differentiate::Subject::new(program.clone(), start, false, u64::MAX).unwrap();
    let loss = usual.variables(program.global("loss").unwrap().0).unwrap().remove(0);
    let bounded = differentiate::Subject { recompute_memory: 16 << 10, ..usual.clone() };
    let [whole, parts] = [&usual, &bounded].map(|subject| gradient(subject, &loss).unwrap());
    assert!(
        whole.verification_report.recomputed.is_some() && parts.verification_report.recomputed.is_some(),
        "{:?}",
        whole.verification_report
    );
    assert!(whole.history_bytes > 32 << 10, "{} bytes", whole.history_bytes);
    assert!((1..=16 << 10).contains(&parts.history_bytes), "{} bytes", parts.history_bytes);
    assert_eq!((whole.values, whole.adjoints.cells), (parts.values, parts.adjoints.cells));
}

/// A gradient pass needs no tape: its memory and allocations for a million steps are the same as for a thousand.
#[test]
fn memory_of_a_gradient_does_not_grow_with_the_steps() {
    let passes = [70, 700, 7_000, 70_000].map(gradient_pass);
    assert!(passes[0].0 >= 1_000 && passes[3].0 >= 1_000_000, "{passes:?}");
    assert!(passes.iter().all(|pass| pass.1 == passes[0].1), "{passes:?}");
    assert!(passes[0].1.0 < 16 << 10, "{passes:?}");
}

/// `cargo test --release --test memory -- --ignored --nocapture`
#[test]
#[ignore = "takes ten seconds"]
fn memory_of_a_gradient_of_a_hundred_million_steps() {
    let (short, long) = (gradient_pass(70), gradient_pass(7_200_000));
    println!("{} steps: {} bytes at most in {} allocations", long.0, long.1.0, long.1.1);
    assert!(long.0 >= 100_000_000, "{long:?}");
    assert_eq!(short.1, long.1);
}

#[test]
fn steps_in_gradient_mode_allocate_nothing() {
    for name in ["leapfrog", "particles"] {
        let mut machine = machine(name, &[]);
        to_the_bound(&mut machine, Travel::Forward);
        machine.state_mut().set_mode(true);
        let one = bits(&machine.program().clone(), 1.0);
        machine.state_mut().adjoints_mut().cells.fill(one);
        let counted = allocation_counter::measure(|| to_the_bound(&mut machine, Travel::Backward));
        assert_eq!(counted.count_total, 0, "{name} allocated {} bytes while it ran", counted.bytes_total);
    }
}
