//! Properties of arbitrary bytes. Each function is the body of a fuzz target, and panics on a violation.

use std::sync::{Arc, LazyLock};

use reviver_assembler::disassemble::disassemble;
use reviver_assembler::source::Sources;
use reviver_assembler::{assemble, files, format, image, parser, render};
use reviver_isa::Module;
use reviver_isa::module::{FrameVariable, Global, Shape};
use reviver_isa::verify::verify;
use reviver_vm::digest::state_digest;
use reviver_vm::explain::explain;
use reviver_vm::{Machine, Program, Travel, checkpoint};

use crate::engine::{ALL, Engine};
use crate::run::{End, travel};
use crate::subject::{self, Subject, load};

/// Number of steps for which a random program runs.
const STEPS: u64 = 1000;
/// Maximum number of cells of programs that are run. Without it, a few bytes could declare gigabytes.
const CELLS: u64 = 1 << 14;

/// Parses and formats a text, and checks that formatting is idempotent.
pub fn text(bytes: &[u8]) {
    let mut sources = Sources::new();
    let Ok(file) = sources.add_bytes("fuzz.rasm", bytes.to_vec()) else { return };
    let (_, diagnostics) = parser::parse(&sources, file);
    render::render(&sources, &diagnostics, false);
    let Ok(once) = format::format(&sources, file) else { return };
    let again = sources.add("formatted.rasm", once.clone());
    match format::format(&sources, again) {
        Ok(twice) => assert_eq!(once, twice, "formatting is not idempotent"),
        Err(found) => panic!("formatted text can't be parsed:\n{}", render::render(&sources, &found, false)),
    }
}

/// Assembles a text, and runs it if it is a program.
pub fn program(bytes: &[u8]) {
    let assembly = assemble::assemble("fuzz.rasm", bytes.to_vec(), &files::FilesInMemory::new());
    render::render(&assembly.sources, &assembly.diagnostics, false);
    let sound = !assembly.has_errors();
    assert_eq!(sound, assembly.module.is_some(), "errors and a module, or neither");
    if let Some(module) = assembly.module {
        assembled(module);
    }
}

/// Checks that an assembled module passes verification.
fn assembled(module: Module) {
    let program = load(module).expect("assembled, and yet no program");
    run(&Arc::new(program));
}

/// Decodes an image. If it is a valid program, reassembles and runs the program.
pub fn image(bytes: &[u8]) {
    let Ok(module) = image::decode(bytes) else { return };
    assert!(image::encode(&module).unwrap() == bytes, "a module has one image");
    if !verify(&module).is_empty() {
        return;
    }
    reassemble(&module);
    if let Ok(program) = load(module) {
        run(&Arc::new(program));
    }
}

/// Checks that a program disassembles to a text that assembles to the same image, byte for byte.
pub fn reassemble(module: &Module) {
    let text = disassemble(module);
    let again = subject::module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    if image::encode(&again).unwrap() != image::encode(module).unwrap() {
        let (was, is) = (format!("{module:#?}"), format!("{again:#?}"));
        let differs = was.lines().zip(is.lines()).enumerate().find(|(_, (was, is))| was != is);
        panic!("reassembled it is another program: {differs:?}\n{text}");
    }
}

/// Decodes an image after repairing its checksum, because a fuzzer would never find a valid checksum by itself.
pub fn sealed_image(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    crate::damage::seal_image(&mut bytes);
    image(&bytes);
}

/// Decodes a state of the sample program. If the state is valid, continues from it in both directions.
pub fn state(bytes: &[u8]) {
    state_of(&SAMPLE.program, bytes);
}

/// Decodes a state file after repairing its checksum.
pub fn sealed_state(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    crate::damage::seal_state(&mut bytes);
    state(&bytes);
}

/// Decodes a state of a program. If the state is valid, continues from it in both directions, on every engine.
pub fn state_of(program: &Arc<Program>, bytes: &[u8]) {
    let Ok((state, residues)) = checkpoint::decode(program, bytes) else { return };
    for (engine, direction) in engines() {
        let residues = residues.as_ref().map(|residues| residues.try_clone().unwrap());
        let machine = Machine::resume(program.clone(), state.try_clone().unwrap(), residues);
        let mut machine = engine.drive(machine);
        go(&mut machine, direction);
        go(&mut machine, direction.reversed());
    }
}

/// Program whose states are decoded. Its states contain everything that a state can contain.
pub static SAMPLE: LazyLock<Subject> =
    LazyLock::new(|| Subject::new(include_str!("sample.rasm")).expect("the sample assembles"));

/// Returns the encoded states of a run of the sample program.
pub fn sample_states() -> Vec<Vec<u8>> {
    let mut machine = SAMPLE.machine(true);
    let mut states = Vec::new();
    loop {
        let bytes = checkpoint::encode(&SAMPLE.program, machine.state(), machine.residues());
        states.push(bytes.expect("the state is small"));
        if travel(&mut machine, Travel::Forward, 1) != End::Budget {
            return states;
        }
    }
}

/// Returns all pairs of an engine and a direction.
fn engines() -> impl Iterator<Item = (Engine, Travel)> {
    ALL.iter().flat_map(|&engine| [Travel::Forward, Travel::Backward].map(|travel| (engine, travel)))
}

/// Runs a program from either end and back, on every engine. Checks that the start is restored bit for bit.
fn run(program: &Arc<Program>) {
    if !is_small(program.module()) {
        return;
    }
    for (engine, direction) in engines() {
        let machine = match direction {
            Travel::Forward => Machine::at_begin(program.clone()),
            Travel::Backward => Machine::at_end(program.clone()),
        };
        let mut machine = engine.drive(machine.expect("memory for a small program"));
        machine.keep_residues();
        let start = state_digest(machine.state());
        go(&mut machine, direction);
        let steps = machine.state().step.unsigned_abs();
        let back = travel(&mut machine, direction.reversed(), steps);
        assert_eq!(back, End::Budget, "the way back stopped");
        assert_eq!(state_digest(machine.state()), start, "the way back leads elsewhere");
    }
}

/// Runs for some steps. If the run traps, builds the explanation of the trap, too.
fn go(machine: &mut Machine, direction: Travel) {
    if let End::Trap(trap) = travel(machine, direction, STEPS) {
        explain(machine.program(), machine.state(), trap);
    }
}

/// Returns true if the cells of a program, with frames of some open calls, need little memory.
fn is_small(module: &Module) -> bool {
    let cells = |shape: Shape| shape.cells();
    let globals: u64 =
        module.globals.iter().map(|Global { shape, .. }| cells(*shape)).fold(0, u64::saturating_add);
    let frames = module.procedures.iter().flat_map(|p| &p.frame);
    let frames = frames.map(|FrameVariable { shape, .. }| cells(*shape)).fold(0, u64::saturating_add);
    globals.saturating_add(frames) <= CELLS
}
