//! Runs with any step budget reach the same state as the interpreter, also in gradient mode, and also in programs that
//! aren't compiled.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::FilesInMemory;
use reviver_compile::tiered::TieredRuntime;
use reviver_jit::Jit;
use reviver_vm::state::Reference;
use reviver_vm::{Machine, Program, Stop, Travel};

use crate::machines::{Machines, at_both_ends};
use crate::texts::TRIED;

#[test]
fn every_budget_ends_in_the_state_of_the_interpreter() {
    for tried in TRIED {
        let [begin, far] = at_both_ends(tried);
        for budget in 0..tried.1 {
            begin.copy().run(Travel::Forward, budget);
            far.copy().run(Travel::Backward, budget);
        }
    }
}

#[test]
fn adjoints_of_calls_equal_those_of_the_interpreter() {
    for tried in [TRIED[1], TRIED[4]] {
        let [_, mut far] = at_both_ends(tried);
        for machine in far.each() {
            let state = machine.state_mut();
            state.set_mode(true);
            state.adjoints_mut().cells.fill(0.7_f64.to_bits());
            machine.watch();
        }
        for budget in 0..tried.1 {
            far.copy().run(Travel::Backward, budget);
        }
    }
}

/// Program in which the factor of an adjoint may be 0, and a sum may be -0. The adjoints occur in variables and in
/// memory, negated, subtracted, through a temporary, and with a factor that overflows.
const SMALL_ADJOINTS: &str = "\
.in n default 3
.inout a: real default 2, b: real default 0, c: real default -1.5
.inout A[3]: real default {1, 0, -2}
.out y: real, z: real
.ancilla t: real
for i in 0..n
    add y, a * (b - A[i])
    sub z, square(c - a)
    sub.mul A[i], b, c
    compute
        add t, a * 1e200
        add t, c
    apply
        add z, t * 1e-250
    uncompute
    neg A[i]
    neg c
rof
";

#[test]
fn adjoints_that_are_zero_keep_their_sign() {
    let values = [0.0_f64, -0.0, 1.0, -3.0, 1e200];
    let mut ended = Machines::of(SMALL_ADJOINTS);
    ended.run(Travel::Forward, 1 << 60);
    let reals = ended.plain.state().reals.len();
    for first in 0..values.len().pow(3) {
        let mut machines = ended.copy();
        for machine in machines.each() {
            let state = machine.state_mut();
            state.set_mode(true);
            let adjoints = (0..reals).map(|n| values[first / values.len().pow(n as u32 % 3) % values.len()]);
            state.adjoints_mut().cells = adjoints.map(f64::to_bits).collect();
        }
        machines.run(Travel::Backward, 1 << 60);
    }
}

/// Code with many live values over a long block is compiled fast, by the single-pass register allocator.
#[test]
fn long_programs_are_compiled_quickly() {
    let variables = 40;
    let names: Vec<String> = (0..variables).map(|n| format!("v{n}: real default 0.{}", n + 1)).collect();
    let mut text = format!(".inout {}\n", names.join(", "));
    for n in 0..10_000 {
        let (target, source) = (n % variables, (n * 7 + 1) % variables);
        let source = if source == target { (source + 1) % variables } else { source };
        text.push_str(&format!("add.mul v{target}, v{source}, 0.001\n"));
    }
    let module = assemble("long.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
    let program = Arc::new(Program::new(module, 0).unwrap());
    let mut plain = Machine::at_begin(program.clone()).unwrap();
    let mut driven = plain.try_clone().unwrap();
    driven.run_by(Arc::new(TieredRuntime::new(&program, Jit::new().unwrap())));
    let started = Instant::now();
    for machine in [&mut plain, &mut driven] {
        assert_eq!(machine.run(Travel::Forward, 1 << 60), Ok(Stop::Bound));
        machine.state_mut().set_mode(true);
        machine.state_mut().adjoints_mut().cells[3] = 1.0_f64.to_bits();
        assert_eq!(machine.run(Travel::Backward, 1 << 60), Ok(Stop::Bound));
    }
    assert!(plain.state() == driven.state());
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[test]
fn watch_reports_equal_those_of_the_interpreter() {
    // The verification doesn't watch a step that frees an adjoint by name. It watches a step that frees a value.
    let mut machines = Machines::of(
        ".inout x: real default 1\n.out y: real\n.ancilla t: real\nadd.square y, x\nadd x', 1e-12\nvacate x'\n\
         add t, 1e-13\nvacate t\n",
    );
    machines.each().for_each(Machine::watch);
    machines.run(Travel::Forward, 1000);
    assert!(machines.plain.reports().watch().is_some_and(|watch| watch != &Default::default()));
    // A constant may have an adjoint, which is lost in a conversion.
    let mut machines = Machines::of(
        ".inout n, y: real\ngrad.on\ncall p(y, 2.5)\nadd.toint n, 2.5\ngrad.off\n\
         .proc p(inout a: real, in b: real)\nadd b', 1.0\n.end\n",
    );
    machines.run(Travel::Forward, 1000);
    assert!(!machines.plain.reports().is_empty());
}

#[test]
fn machines_of_other_programs_and_invalid_states_are_interpreted() {
    let text = |cells| format!(".in n default 40\n.out A[{cells}]\nfor i in 0..n\n add A[i], i\nrof\n");
    let (small, mut large) = (Machines::of(&text(40)), Machines::of(&text(5000)));
    large.run_as(small.plain.program());
    large.run(Travel::Forward, 1 << 30);
    let mut broken = small.copy();
    for machine in broken.each() {
        machine.state_mut().references.push(Reference { base: 9, length: 9, stride: 9 });
    }
    broken.run(Travel::Forward, 1 << 30);
}

#[test]
fn code_too_large_to_compile_is_interpreted() {
    let names: Vec<String> = (0..1500).map(|n| format!("v{n}")).collect();
    let branches = names.iter().map(|v| format!(" if n > 0\n add {v}, i\n fi n > 0\n")).collect::<String>();
    let text = format!(".in n default 20\n.out {}\nfor i in 0..n\n{branches}rof\n", names.join(", "));
    let mut machines = Machines::of(&text);
    machines.run(Travel::Forward, 1 << 30);
    machines.run(Travel::Backward, 1 << 30);
}
