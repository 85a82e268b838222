//! Machines of programs, and complete runs. This module depends on neither particular programs nor clocks.

use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_vm::{Machine, Program, Stop, Travel};

/// Returns a machine at the start of a program from a file of the repository.
pub fn machine(path: &str) -> Machine {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    machine_of(&path, std::fs::read(&path).expect("the benchmark's program is there"))
}

/// Returns a machine at the start of a program text. `name` is the text's file name.
pub fn machine_of(name: &str, text: Vec<u8>) -> Machine {
    let assembly = assemble(name, text, &Disk);
    let module = assembly.module.expect("the benchmark's program assembles");
    Machine::at_begin(Arc::new(Program::new(module, 0).expect("the benchmark's program is sound")))
        .expect("memory for a small program")
}

/// Runs to the end, or backward to the start.
pub fn to_the_end(machine: &mut Machine, travel: Travel) {
    let stop = machine.run(travel, u64::MAX).expect("the benchmark doesn't trap");
    assert_eq!(stop, Stop::Bound);
}
