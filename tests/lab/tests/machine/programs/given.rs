//! What an expectation gives a program: the words before the arrow.

use std::sync::Arc;

use reviver_isa::Module;
use reviver_isa::module::{RealSystem, Word};
use reviver_lab::engine::Engine;
use reviver_vm::given::Tape;
use reviver_vm::state::TapeEntry;
use reviver_vm::{Machine, Program, Travel};

/// `n=10`, `tape=1,2`, `real=f64`, `exact`; and who runs the program.
pub struct Given<'a> {
    pub engine: Engine,
    pub words: Vec<&'a str>,
}

impl Given<'_> {
    pub fn says(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// The program in the numbers asked for, at its start or (`back`) at its end.
    pub fn machine(&self, module: &Module, back: bool) -> Result<Machine, String> {
        let mut module = module.clone();
        for word in &self.words {
            match word.split_once('=') {
                Some(("real", system)) => module.real = real_system(system, module.real)?,
                Some(("word", bits)) => {
                    module.word = bits.parse().ok().and_then(Word::from_bits).ok_or("no such width")?;
                }
                _ => {}
            }
        }
        let program = Program::new(module, 0).map_err(|violations| format!("{violations:?}"))?;
        let program = Arc::new(program);
        let machine = if back {
            Machine::at_end(program.clone()).unwrap()
        } else {
            Machine::at_begin(program.clone()).unwrap()
        };
        let mut machine = self.engine.drive(machine);
        if self.says("exact") {
            machine.keep_residues();
        }
        let travel = if back { Travel::Backward } else { Travel::Forward };
        let mut given = Vec::new();
        for word in &self.words {
            match word.split_once('=') {
                Some(("real" | "word", _)) | None => {}
                Some(("tape", values)) => give_tape(&program, &mut machine, values, travel)?,
                Some((name, values)) => {
                    let (global, _) = program.global(name).ok_or(format!("no cell `{name}`"))?;
                    // `path=` gives an empty stack.
                    let texts: Vec<&str> = values.split(',').filter(|text| !text.is_empty()).collect();
                    program.give(machine.state_mut(), global, &texts).map_err(|error| error.to_string())?;
                    given.push(global);
                }
            }
        }
        complete(&program, &mut machine, &given, travel)?;
        Ok(machine)
    }
}

/// Lets defaults stand for results, as the command line does, and refuses what it refuses.
fn complete(program: &Program, machine: &mut Machine, given: &[usize], travel: Travel) -> Result<(), String> {
    if let Some((_, global)) = program.missing(given, travel).first() {
        return Err(format!("`{}` isn't given", global.name));
    }
    for (n, _) in program.assumed(given, travel) {
        program.give_default(machine.state_mut(), n).unwrap();
    }
    Ok(())
}

fn real_system(text: &str, own: RealSystem) -> Result<RealSystem, String> {
    match (text, own) {
        ("f64", _) => Ok(RealSystem::F64),
        ("f32", _) => Ok(RealSystem::F32),
        ("fixed", RealSystem::Fixed(bits)) => Ok(RealSystem::Fixed(bits)),
        ("fixed", _) => Ok(RealSystem::Fixed(RealSystem::DEFAULT_FRACTION_BITS)),
        _ => Err(format!("no number system `{text}`")),
    }
}

fn give_tape(program: &Program, machine: &mut Machine, values: &str, travel: Travel) -> Result<(), String> {
    let entries: Result<Vec<TapeEntry>, _> =
        values.split(',').map(|text| program.parse_entry(text)).collect();
    let tape = Tape::given(travel);
    let entries = program.told(tape, entries.map_err(|error| error.to_string())?);
    match tape {
        Tape::Input => machine.state_mut().input = entries,
        Tape::Output => machine.state_mut().output = entries,
    }
    Ok(())
}
