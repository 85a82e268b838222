//! Programs made ready to run, and run to their end. Knows no program by name, and no clock.

use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_vm::{Machine, Program, Stop, Travel};

/// The program in a file of the repository, ready at its beginning.
pub fn machine(path: &str) -> Machine {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    machine_of(&path, std::fs::read(&path).expect("the benchmark's program is there"))
}

/// The program of a text, ready at its beginning. `name` is its file's name.
pub fn machine_of(name: &str, text: Vec<u8>) -> Machine {
    let assembly = assemble(name, text, &Disk);
    let module = assembly.module.expect("the benchmark's program assembles");
    Machine::at_begin(Arc::new(Program::new(module, 0).expect("the benchmark's program is sound")))
        .expect("memory for a small program")
}

/// Runs to the end, or to the beginning.
pub fn to_the_end(machine: &mut Machine, travel: Travel) {
    let stop = machine.run(travel, u64::MAX).expect("the benchmark doesn't trap");
    assert_eq!(stop, Stop::Bound);
}
