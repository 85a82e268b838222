//! Promises about memory: no allocation per step, small states, and nothing that grows on the way back.

use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_vm::{Machine, Program, State, Stop, Travel, checkpoint};

fn machine(name: &str, inputs: &[(&str, &str)]) -> Machine {
    let path = format!("{}/programs/{name}.rasm", env!("CARGO_MANIFEST_DIR"));
    let assembly = assemble(&path, std::fs::read(&path).unwrap(), &Disk);
    let program = Arc::new(Program::new(assembly.module.unwrap(), 0).unwrap());
    let mut machine = Machine::at_begin(program.clone());
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
    for (name, inputs) in [("fib", [("n", "200000")].as_slice()), ("leapfrog", &[]), ("matrix_product", &[])]
    {
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
        let saved = checkpoint::encode(machine.program(), state, None);
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
