//! Lost derivatives of a gradient, with source place and size, as warnings and JSON.

use std::fmt::Write as _;

use reviver_isa::text::TextRenderer;
use reviver_isa::update::Update;
use reviver_vm::Program;
use reviver_vm::codes::LossCode;
use reviver_vm::reports::{Loss, Reports, Tally};
use serde_json::{Map, Value as Json};

use super::places::place;

/// Source place of an instruction that lost a derivative.
pub struct LossSpot {
    pub instruction: String,
    pub procedure: String,
    pub line: Option<u32>,
    /// Included file that contains the line.
    pub file: Option<String>,
}

impl LossSpot {
    /// Returns the place of the instruction at index `at`; `None` if there is no such instruction.
    pub fn of(program: &Program, at: u32) -> Option<LossSpot> {
        let module = program.module();
        let instruction = module.code.get(at as usize)?;
        let procedure = module.procedures.get(program.procedure_of(at))?;
        let spelled = match instruction.update {
            Update::Enter => format!(".proc {}", procedure.name),
            Update::Exit => ".end".to_owned(),
            _ => TextRenderer { module, procedure }.instruction(instruction, |other| format!("#{other}")),
        };
        Some(LossSpot {
            instruction: spelled,
            procedure: procedure.name.clone(),
            line: module.structure.line(at),
            file: module.structure.file(at).map(str::to_owned),
        })
    }

    /// Formats the place as `file:line`, with the instruction on the next line.
    pub fn text(&self, file: &str) -> String {
        let place = place(file, self.file.as_deref(), self.line);
        format!("  --> {place}, in `{}`\n   | {}\n", self.procedure, self.instruction)
    }

    /// Returns the members `instruction`, `line` and, for an included file, `file`.
    pub fn json(&self) -> Map<String, Json> {
        let mut members = Map::new();
        members.insert("instruction".into(), self.instruction.as_str().into());
        members.insert("line".into(), self.line.into());
        if let Some(file) = &self.file {
            members.insert("file".into(), file.as_str().into());
        }
        members
    }
}

/// Lost derivatives at one instruction. If an instruction of the same line undoes this instruction, the losses of both
/// instructions are reported once.
pub struct ReportedLoss {
    at: u32,
    loss: Loss,
    tally: Tally,
    spot: LossSpot,
}

/// Returns the lost derivatives with their places, in the order of the instructions. If a line is computed and
/// uncomputed, only the larger of the two counts is reported.
pub fn reported(program: &Program, reports: &Reports) -> Vec<ReportedLoss> {
    let mut all: Vec<ReportedLoss> = Vec::new();
    for (at, loss, tally) in reports.iter() {
        let known = all.iter_mut().find(|known| known.loss == loss && takes_back(program, known.at, at));
        match known {
            Some(ReportedLoss { tally: known, .. }) => {
                known.count = known.count.max(tally.count);
                known.largest = known.largest.max(tally.largest);
            }
            None => all.extend(LossSpot::of(program, at).map(|spot| ReportedLoss { at, loss, tally, spot })),
        }
    }
    all
}

/// Returns true if the instruction at `at` undoes the one at `first`, and both belong to the same source line.
fn takes_back(program: &Program, first: u32, at: u32) -> bool {
    let module = program.module();
    let place = |at| module.structure.line(at).map(|line| (module.structure.file(at), line));
    let both = module.code.get(first as usize).zip(module.code.get(at as usize));
    both.is_some_and(|(first, second)| {
        (first.function, &first.operands) == (second.function, &second.operands)
            && first.update.inverse() == second.update
    }) && place(first).is_some_and(|first| place(at) == Some(first))
}

/// Returns the warnings for standard error, one for each place.
pub fn warnings(reported: &[ReportedLoss], file: &str) -> String {
    reported.iter().map(|reported| reported.warning(file)).collect()
}

impl ReportedLoss {
    pub fn json(&self) -> Json {
        let mut members = Map::new();
        let code = LossCode::from(self.loss).entry();
        members.insert("code".into(), code.code.into());
        members.insert("kind".into(), code.words.into());
        members.append(&mut self.spot.json());
        members.insert("count".into(), self.tally.count.into());
        members.insert("largest".into(), self.tally.largest.into());
        Json::Object(members)
    }

    /// Returns the warning for standard error.
    pub fn warning(&self, file: &str) -> String {
        let times = match self.tally.count {
            1 => "once".to_owned(),
            count => format!("{count} times"),
        };
        let mut text = format!("warning[{}]: {}\n", LossCode::from(self.loss).text(), self.loss.describe())
            + &self.spot.text(file);
        let _ = writeln!(text, "   = {times}; {}", self.loss.effect(self.tally.largest));
        text
    }
}
