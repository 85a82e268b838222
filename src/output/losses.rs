//! What a gradient pass lost on the way: with its place and size, as warnings and as JSON.

use std::fmt::Write as _;

use reviver_isa::text::Speller;
use reviver_isa::update::Update;
use reviver_vm::Program;
use reviver_vm::reports::{Loss, Reports, Tally};
use serde_json::{Value as Json, json};

/// Something that was lost at one instruction.
pub struct Reported {
    loss: Loss,
    tally: Tally,
    instruction: String,
    procedure: String,
    line: Option<u32>,
}

/// Reports in the words of the program, in the order of its instructions.
pub fn reported(program: &Program, reports: &Reports) -> Vec<Reported> {
    reports.iter().filter_map(|(at, loss, tally)| described(program, at, loss, tally)).collect()
}

fn described(program: &Program, at: u32, loss: Loss, tally: Tally) -> Option<Reported> {
    let module = program.module();
    let instruction = module.code.get(at as usize)?;
    let procedure = module.procedures.get(program.procedure_of(at))?;
    let spelled = match instruction.update {
        Update::Enter => format!(".proc {}", procedure.name),
        Update::Exit => ".end".to_owned(),
        _ => Speller { module, procedure }.instruction(instruction, |other| format!("#{other}")),
    };
    let line = module.structure.lines.get(at as usize).copied();
    Some(Reported { loss, tally, instruction: spelled, procedure: procedure.name.clone(), line })
}

/// Warnings for stderr.
pub fn warnings(program: &Program, reports: &Reports, file: &str) -> String {
    reported(program, reports).iter().map(|reported| reported.warning(file)).collect()
}

/// A list for `"reported"`.
pub fn json(program: &Program, reports: &Reports) -> Json {
    reported(program, reports).iter().map(Reported::json).collect()
}

impl Reported {
    pub fn json(&self) -> Json {
        json!({
            "kind": self.loss.name(),
            "instruction": self.instruction,
            "line": self.line,
            "count": self.tally.count,
            "largest": self.tally.largest,
        })
    }

    /// For stderr.
    pub fn warning(&self, file: &str) -> String {
        let place = self.line.map_or(file.to_owned(), |line| format!("{file}:{line}"));
        let times = match self.tally.count {
            1 => "once".to_owned(),
            count => format!("{count} times"),
        };
        let mut text = format!("warning: {}\n", self.loss.describe());
        let _ = writeln!(text, "  --> {place}, in `{}`", self.procedure);
        let _ = writeln!(text, "   | {}", self.instruction);
        let _ = writeln!(text, "   = {times}; what was lost is at most {:e}", self.tally.largest);
        text
    }
}
