//! What a gradient pass lost on the way: with its place and size, as warnings and as JSON.

use std::fmt::Write as _;

use reviver_isa::text::Speller;
use reviver_isa::update::Update;
use reviver_vm::Program;
use reviver_vm::reports::{Loss, Reports, Tally};
use serde_json::{Value as Json, json};

use super::place;

/// Something that was lost at one instruction.
pub struct Reported {
    loss: Loss,
    tally: Tally,
    instruction: String,
    procedure: String,
    line: Option<u32>,
    /// The included file that the line is of.
    file: Option<String>,
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
    Some(Reported {
        loss,
        tally,
        instruction: spelled,
        procedure: procedure.name.clone(),
        line: module.structure.line(at),
        file: module.structure.file(at).map(str::to_owned),
    })
}

/// Warnings for stderr: one for each place; but, unless every place is asked for, one for all cells that
/// were 0 only up to the tolerance, because in floats most programs have such.
pub fn warnings(reported: &[Reported], file: &str, every_place: bool) -> String {
    let (nearly, others): (Vec<&Reported>, Vec<&Reported>) =
        reported.iter().partition(|reported| !every_place && reported.loss == Loss::FreedWithinTolerance);
    let mut text: String = others.iter().map(|reported| reported.warning(file)).collect();
    if let [one] = nearly[..] {
        text.push_str(&one.warning(file));
    } else if !nearly.is_empty() {
        text.push_str(&summary(&nearly));
    }
    text
}

fn summary(reported: &[&Reported]) -> String {
    let count: u64 = reported.iter().map(|reported| reported.tally.count).sum();
    let largest = reported.iter().map(|reported| reported.tally.largest).fold(0.0, f64::max);
    format!(
        "warning: cells with an adjoint were freed that were 0 only up to the tolerance: {count} times at {} \
         instructions\n  = the largest adjoint that was dropped so is {largest:e}\n  = help: `--exact` keeps what \
         floats lose; `--strict` and `--json` list the places\n",
        reported.len()
    )
}

/// A list for `"reported"`.
pub fn json(program: &Program, reports: &Reports) -> Json {
    reported(program, reports).iter().map(Reported::json).collect()
}

impl Reported {
    pub fn json(&self) -> Json {
        let mut object = json!({
            "kind": self.loss.name(),
            "instruction": self.instruction,
            "line": self.line,
            "count": self.tally.count,
            "largest": self.tally.largest,
        });
        if let Some(file) = &self.file {
            object["file"] = file.as_str().into();
        }
        object
    }

    /// For stderr.
    pub fn warning(&self, file: &str) -> String {
        let place = place(file, self.file.as_deref(), self.line);
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
