//! Explanations of traps in terms of the source text: the statement, the values, what was expected and found, and the
//! other half of a paired statement. Explanations read a state and never change it.
//!
//! | file | subject |
//! |---|---|
//! | `test` | conditions evaluated in a state: the value, the deciding comparisons, their operands |
//! | `earlier` | values at the entry of a statement: a copy of the state runs back to it |
//! | `junction` | `if` and `from … until` that are left or entered on the wrong side |
//! | `counted` | `for` loops |
//! | `calls` | the backtrace of open calls, and the task of a trap |
//! | `chosen` | calls of the procedure that a cell selects |
//! | `vacancy` | `local`, `delocal`, frames, and cells that should be 0 |
//! | `flat` | all other traps: plain instructions |
//! | `value` | values of operands and expressions |
//! | `names` | names of cells |

mod calls;
mod chosen;
mod counted;
mod earlier;
mod flat;
mod junction;
mod names;
mod tasks;
mod test;
mod vacancy;
mod value;

use reviver_isa::instruction::{Base, Class, Instruction, Operand};
use reviver_isa::module::{Procedure, Structure};
use reviver_isa::structure::{Block, BlockKind, TextPlace};
use reviver_isa::text::TextRenderer;

use crate::codes::TrapCode;
use crate::program::Program;
use crate::state::State;
use crate::state::values::Value;
use crate::trap::{Cause, Trap};
use crate::travel::Travel;

pub use calls::{OpenCall, OpenTask};
pub use names::cell_name;
pub use value::Valued;

/// A position in the text, as far as the image records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The number of the included file, or 0 for the program's own file.
    pub number: u32,
    /// The number of the line in its file, from 1.
    pub line: u32,
    /// The first and the last column, in characters from 1; `None` if the position is the whole line.
    pub columns: Option<(u32, u32)>,
    /// The path of the included file, relative to the program's folder; `None` for the program's own file.
    pub file: Option<String>,
}

/// Another place in the text that is related to a trap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherPlace {
    /// The position of the place in the text.
    pub spot: Spot,
    /// The text at this place, such as a statement or a name.
    pub words: String,
    /// A short comment on how the place relates to the trap.
    pub label: String,
}

/// A trap explained for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The code of the kind of mistake, such as `T20`.
    pub code: TrapCode,
    /// The message: one sentence without a full stop.
    pub message: String,
    /// The statement that trapped, as in the text.
    pub instruction: String,
    /// The cause of the trap, which is more specific than the code.
    pub cause: Cause,
    /// The number of steps before the trap, signed as in [`State`].
    pub step: i64,
    /// The index of the instruction that trapped.
    pub at: u32,
    /// The name of the procedure that contains the instruction.
    pub procedure: String,
    /// The position of the statement in the text; `None` if the image doesn't record it.
    pub spot: Option<Spot>,
    /// The number of open calls.
    pub depth: usize,
    /// The innermost open calls, from the innermost outward; [`Explanation::depth`] counts all open calls.
    pub calls: Vec<OpenCall>,
    /// A short label for the position.
    pub label: String,
    /// Other places in the text that help to understand the trap.
    pub others: Vec<OtherPlace>,
    /// The cells that the message mentions, as (name, value).
    pub values: Vec<(String, String)>,
    /// Further facts about the trap, each a clause without a full stop.
    pub notes: Vec<String>,
    /// Advice on how to fix the mistake, if known.
    pub help: Option<String>,
}

/// Explains a trap, given the state in which the machine stopped.
pub fn explain(program: &Program, state: &State, trap: Trap) -> Explanation {
    Explainer { program, state, trap }.explain()
}

struct Explainer<'a> {
    program: &'a Program,
    state: &'a State,
    trap: Trap,
}

/// The text of an explanation, and the places it refers to.
#[derive(Default)]
struct ExplanationText {
    /// The trap code, if the statement determines it. Otherwise the trap's cause determines the code.
    code: Option<TrapCode>,
    message: String,
    /// The failed part of the text and its place, if they differ from the text and the place of the instruction.
    words: Option<String>,
    place: Option<TextPlace>,
    label: String,
    others: Vec<OtherPlace>,
    values: Vec<(String, String)>,
    notes: Vec<String>,
    help: Option<String>,
}

impl<'a> Explainer<'a> {
    fn explain(&self) -> Explanation {
        let at = self.trap.at;
        let mut reported = self.reported();
        let spot = reported.place.or_else(|| self.place(at)).map(|place| self.spot(place));
        reported.others.extend(self.use_of_macro(spot.as_ref()));
        Explanation {
            code: reported.code.unwrap_or_else(|| self.trap.cause.into()),
            message: reported.message,
            cause: self.trap.cause,
            step: self.state.step,
            instruction: reported.words.unwrap_or_else(|| self.program.statement(at)),
            at,
            procedure: self.procedure(at).name.clone(),
            depth: self.state.calls.len(),
            calls: self.open_calls(),
            spot,
            label: reported.label,
            others: reported.others,
            values: reported.values,
            notes: reported.notes,
            help: reported.help,
        }
    }

    fn reported(&self) -> ExplanationText {
        let seam = self.program.seam(self.trap.at);
        let reported = seam.and_then(|(block, seam)| match block.kind {
            BlockKind::If { .. } | BlockKind::Loop { .. } => self.junction(block),
            BlockKind::For(ref counting) => self.counted(block, counting, seam),
            BlockKind::Local | BlockKind::Delocal => self.opened(block),
            BlockKind::Assert { ref condition } => self.assertion_of(condition),
            BlockKind::Temporaries => self.changed_value(),
            BlockKind::Compute | BlockKind::Macro { .. } => None,
        });
        let reported = self.choice().or(reported);
        reported.or_else(|| self.vacancy()).unwrap_or_else(|| self.flat())
    }

    fn instruction(&self, at: u32) -> &'a Instruction {
        &self.program.module().code[at as usize]
    }

    fn procedure(&self, at: u32) -> &'a Procedure {
        &self.program.module().procedures[self.program.procedure_of(at)]
    }

    fn structure(&self) -> &'a Structure {
        &self.program.module().structure
    }

    fn renderer(&self) -> TextRenderer<'a> {
        TextRenderer { module: self.program.module(), procedure: self.procedure(self.trap.at) }
    }

    /// Returns true if the trapped instruction was being undone: then the machine's position is after it.
    fn is_backward(&self) -> bool {
        self.state.position != self.trap.at
    }

    /// Returns the user's direction of travel at the trap.
    fn travel(&self) -> Travel {
        if self.is_backward() == self.state.inverted { Travel::Forward } else { Travel::Backward }
    }

    /// Returns true if the text of a block was being executed from its end to its start.
    fn undoes(&self, block: &Block) -> bool {
        self.is_backward() != block.undone
    }

    fn known_label(&self, at: u32) -> Option<&'a str> {
        self.structure().label(at)
    }

    /// Returns the place of an instruction in the text: the keyword of its statement, or its line.
    fn place(&self, at: u32) -> Option<TextPlace> {
        let of_seam = self.program.seam(at).map(|(block, seam)| block.place(seam));
        of_seam.filter(|place| place.line > 0).or_else(|| self.structure().place(at))
    }

    fn spot(&self, place: TextPlace) -> Spot {
        Spot {
            number: place.file,
            line: place.line,
            columns: (place.first > 0).then_some((place.first, place.last)),
            file: self.structure().path(place.file).map(str::to_owned),
        }
    }

    fn other(
        &self,
        place: TextPlace,
        words: impl Into<String>,
        label: impl Into<String>,
    ) -> Option<OtherPlace> {
        (place.line > 0).then(|| OtherPlace {
            spot: self.spot(place),
            words: words.into(),
            label: label.into(),
        })
    }

    /// Formats a line, for example "line 28", with its file if `here` is in another file.
    fn line(&self, place: TextPlace, here: TextPlace) -> String {
        match self.structure().path(place.file) {
            _ if place.line == 0 => "in the text".to_owned(),
            _ if place.file == here.file => format!("line {}", place.line),
            Some(path) => format!("line {} of {path}", place.line),
            None => format!("line {} of the program's own file", place.line),
        }
    }

    /// Returns the outermost macro use whose expansion contains the trapped text, unless `spot` is on the line of that
    /// use.
    fn use_of_macro(&self, spot: Option<&Spot>) -> Option<OtherPlace> {
        let is_use = |block: &&Block| matches!(block.kind, BlockKind::Macro { .. });
        let outermost = self.program.blocks_around(self.trap.at).filter(is_use).last()?;
        let words = self.renderer().words(outermost, 0);
        let other = self.other(outermost.place(0), words, "in this use of a macro")?;
        let same = |spot: &Spot| spot.line == other.spot.line && spot.file == other.spot.file;
        (!spot.is_some_and(same)).then_some(other)
    }

    /// Formats the value of a cell.
    fn value(&self, class: Class, cell: u32) -> String {
        let value = match class {
            Class::Int => self.state.ints.get(cell as usize).map(|&v| Value::Int(v)),
            Class::Real => self.state.real_at(cell).map(Value::Real),
        };
        value.map_or("?".into(), |v| self.program.text(v))
    }

    /// Returns the name and the value of an operand's cell. For `A[i]` the name has the index's value, such
    /// as `A[3]`.
    fn named_value(&self, operand: &Operand) -> Option<(String, String)> {
        let (class, cell) = self.resolve(operand)?;
        let Operand::Place(place) = operand else { return None };
        let is_parameter = matches!(place.base, Base::Parameter(_));
        let name = if place.index.is_none() || is_parameter {
            self.renderer().operand(operand)
        } else {
            cell_name(self.program, self.state, class, cell)
        };
        Some((name, self.value(class, cell)))
    }

    /// Returns the names and values of several operands, each name once. An expression contributes its parts.
    fn named_values<'o>(&self, operands: impl IntoIterator<Item = &'o Operand>) -> Vec<(String, String)> {
        let mut values: Vec<(String, String)> = Vec::new();
        let parts = operands.into_iter().flat_map(|operand| self.valued().parts(operand));
        for value in parts.filter_map(|operand| self.named_value(&operand)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// Returns the class and the address of an operand's cell in the current state.
    fn resolve(&self, operand: &Operand) -> Option<(Class, u32)> {
        self.valued().cell(operand)
    }

    fn valued(&self) -> Valued<'a> {
        Valued { program: self.program, state: self.state, at: self.trap.at }
    }
}

/// Formats values, for example "n is 4, x is 3".
fn listed(values: &[(String, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name} is {value}")).collect::<Vec<_>>().join(", ")
}

/// Formats values after a colon; empty if there are none.
fn because(values: &[(String, String)]) -> String {
    if values.is_empty() { String::new() } else { format!(": {}", listed(values)) }
}
