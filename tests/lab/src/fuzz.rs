//! What must hold for any bytes at all: the bodies of the fuzz targets, as plain functions that
//! return if all is well and panic if not.

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

/// Steps that a program found by chance is run for.
const STEPS: u64 = 1000;
/// Programs with more cells are not run: a few bytes can declare gigabytes.
const CELLS: u64 = 1 << 14;

/// Parses a text and formats it. What is formatted is formatted.
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

/// Assembles a text and, if it is a program, runs it.
pub fn program(bytes: &[u8]) {
    let assembly = assemble::assemble("fuzz.rasm", bytes.to_vec(), &files::FilesInMemory::new());
    render::render(&assembly.sources, &assembly.diagnostics, false);
    let sound = !assembly.has_errors();
    assert_eq!(sound, assembly.module.is_some(), "errors and a module, or neither");
    if let Some(module) = assembly.module {
        assembled(module);
    }
}

/// What the assembler lets pass is a program.
fn assembled(module: Module) {
    let program = load(module).expect("assembled, and yet no program");
    run(&Arc::new(program));
}

/// Decodes an image and, if it is a program, reassembles and runs it.
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

/// A program, wherever it comes from, disassembles to a text that assembles to the same image, byte for
/// byte.
pub fn reassemble(module: &Module) {
    let text = disassemble(module);
    let again = subject::module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    if image::encode(&again).unwrap() != image::encode(module).unwrap() {
        let (was, is) = (format!("{module:#?}"), format!("{again:#?}"));
        let differs = was.lines().zip(is.lines()).enumerate().find(|(_, (was, is))| was != is);
        panic!("reassembled it is another program: {differs:?}\n{text}");
    }
}

/// The same behind the checksum, which a fuzzer never finds by itself.
pub fn sealed_image(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    crate::damage::seal_image(&mut bytes);
    image(&bytes);
}

/// Decodes a state of the sample program and, if it is one, goes on from it in both directions.
pub fn state(bytes: &[u8]) {
    state_of(&SAMPLE.program, bytes);
}

/// The same behind the checksum.
pub fn sealed_state(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    crate::damage::seal_state(&mut bytes);
    state(&bytes);
}

/// Decodes a state of a program and, if it is one, goes on from it in both directions on every engine.
pub fn state_of(program: &Arc<Program>, bytes: &[u8]) {
    let Ok((state, residues)) = checkpoint::decode(program, bytes) else { return };
    for (engine, direction) in ways() {
        let residues = residues.as_ref().map(|residues| residues.try_clone().unwrap());
        let machine = Machine::resume(program.clone(), state.try_clone().unwrap(), residues);
        let mut machine = engine.drive(machine);
        go(&mut machine, direction);
        go(&mut machine, direction.reversed());
    }
}

/// The program whose states are decoded: one with everything that a state can hold.
pub static SAMPLE: LazyLock<Subject> =
    LazyLock::new(|| Subject::new(include_str!("sample.rasm")).expect("the sample assembles"));

/// The states of a run of the sample program, as bytes.
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

/// Each engine in each direction.
fn ways() -> impl Iterator<Item = (Engine, Travel)> {
    ALL.iter().flat_map(|&engine| [Travel::Forward, Travel::Backward].map(|travel| (engine, travel)))
}

/// Runs a program from both ends, and back, on every engine: the way back restores the start bit for bit.
fn run(program: &Arc<Program>) {
    if !is_small(program.module()) {
        return;
    }
    for (engine, direction) in ways() {
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

/// Travels for a while, and explains the trap, if there is one.
fn go(machine: &mut Machine, direction: Travel) {
    if let End::Trap(trap) = travel(machine, direction, STEPS) {
        explain(machine.program(), machine.state(), trap);
    }
}

/// Whether the cells of a program, with frames of some open calls, take little memory.
fn is_small(module: &Module) -> bool {
    let cells = |shape: Shape| shape.cells();
    let globals: u64 =
        module.globals.iter().map(|Global { shape, .. }| cells(*shape)).fold(0, u64::saturating_add);
    let frames = module.procedures.iter().flat_map(|p| &p.frame);
    let frames = frames.map(|FrameVariable { shape, .. }| cells(*shape)).fold(0, u64::saturating_add);
    globals.saturating_add(frames) <= CELLS
}
