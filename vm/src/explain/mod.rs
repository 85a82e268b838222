//! Traps in the words of the program: which statement, which values, what was expected and what was
//! found, and the other half of paired things. Reads a state; changes nothing.
//!
//! | file | subject |
//! |---|---|
//! | `test` | conditions on a state: whether they hold, which part decides, with which values |
//! | `earlier` | what held when a statement was entered: a copy of the state runs back to there |
//! | `junction` | `if` and `from … until` that are left or entered on the wrong side |
//! | `counted` | `for` |
//! | `calls` | the calls that are open, and which task a trap is in |
//! | `chosen` | calls of what a cell chooses |
//! | `vacancy` | `local`, `delocal`, frames, and cells that should be empty |
//! | `flat` | everything else: instructions as they were written |
//! | `value` | what operands and expressions are worth |
//! | `names` | cells by their names |

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
use reviver_isa::text::Speller;
use reviver_isa::update::Update;

use crate::codes::TrapCode;
use crate::program::Program;
use crate::state::State;
use crate::state::values::Value;
use crate::trap::{Cause, Trap};
use crate::travel::Travel;

pub use calls::{OpenCall, OpenTask};
pub use names::cell_name;
pub use value::Valued;

/// A line of the text, as far as the image records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// 0 for the program's own file, else the number of the included one.
    pub number: u32,
    pub line: u32,
    /// The first and the last column, in characters from 1; none where the whole line is meant.
    pub columns: Option<(u32, u32)>,
    /// The included file that the line is of, as seen from the program's folder; none for the program's
    /// own.
    pub file: Option<String>,
}

/// Another place that a trap has to do with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherPlace {
    pub spot: Spot,
    /// What was written there.
    pub words: String,
    /// What is to be said about it.
    pub label: String,
}

/// A trap for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What kind of mistake it is.
    pub code: TrapCode,
    /// One sentence without a full stop.
    pub message: String,
    /// The statement that trapped, as it was written.
    pub instruction: String,
    pub cause: Cause,
    /// How many steps were made before it, signed as those of a state are.
    pub step: i64,
    /// Index of the instruction, its procedure and its place, if known.
    pub at: u32,
    pub procedure: String,
    pub spot: Option<Spot>,
    /// How many calls are open, and the innermost of them, from there outward.
    pub depth: usize,
    pub calls: Vec<OpenCall>,
    /// A few words about the place.
    pub label: String,
    pub others: Vec<OtherPlace>,
    /// What the cells hold that the message is about: (name, value).
    pub values: Vec<(String, String)>,
    /// Further facts.
    pub notes: Vec<String>,
    /// The cure, where one is known.
    pub help: Option<String>,
}

/// Explains a trap in the state that it left.
pub fn explain(program: &Program, state: &State, trap: Trap) -> Explanation {
    Explainer { program, state, trap }.explain()
}

struct Explainer<'a> {
    program: &'a Program,
    state: &'a State,
    trap: Trap,
}

/// What there is to say about a trap, and where.
#[derive(Default)]
struct Told {
    /// The kind of mistake, where it is the statement's and not the instruction's.
    code: Option<TrapCode>,
    message: String,
    /// The words that failed and their place, where they aren't the instruction's own.
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
        let mut told = self.told();
        let spot = told.place.or_else(|| self.place(at)).map(|place| self.spot(place));
        told.others.extend(self.use_of_macro(spot.as_ref()));
        Explanation {
            code: told.code.unwrap_or_else(|| self.trap.cause.into()),
            message: told.message,
            cause: self.trap.cause,
            step: self.state.step,
            instruction: told.words.unwrap_or_else(|| self.words(at)),
            at,
            procedure: self.procedure(at).name.clone(),
            depth: self.state.calls.len(),
            calls: self.open_calls(),
            spot,
            label: told.label,
            others: told.others,
            values: told.values,
            notes: told.notes,
            help: told.help,
        }
    }

    fn told(&self) -> Told {
        let seam = self.program.seam(self.trap.at);
        let told = seam.and_then(|(block, seam)| match block.kind {
            BlockKind::If { .. } | BlockKind::Loop { .. } => self.junction(block),
            BlockKind::For(ref counting) => self.counted(block, counting, seam),
            BlockKind::Local | BlockKind::Delocal => self.opened(block),
            BlockKind::Assert { ref condition } => self.assertion_of(condition),
            BlockKind::Temporaries => self.changed_value(),
            BlockKind::Compute | BlockKind::Macro { .. } => None,
        });
        let told = self.choice().or(told);
        told.or_else(|| self.vacancy()).unwrap_or_else(|| self.flat())
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

    fn speller(&self) -> Speller<'a> {
        Speller { module: self.program.module(), procedure: self.procedure(self.trap.at) }
    }

    /// Whether the trap came while instructions were undone: the machine stands behind the one that
    /// trapped.
    fn is_backward(&self) -> bool {
        self.state.position != self.trap.at
    }

    /// The direction in which the user travelled into the trap.
    fn travel(&self) -> Travel {
        if self.is_backward() == self.state.inverted { Travel::Forward } else { Travel::Backward }
    }

    /// Whether a block's text was run from its end to its beginning.
    fn undoes(&self, block: &Block) -> bool {
        self.is_backward() != block.undone
    }

    /// A statement as it was written, or as it would be.
    fn words(&self, at: u32) -> String {
        match (self.instruction(at).update, self.program.seam(at)) {
            (Update::Enter, _) => format!(".proc {}", self.procedure(at).name),
            (Update::Exit, _) => ".end".to_owned(),
            (_, Some((block, seam))) => self.speller().words_at(block, seam, self.instruction(at)),
            _ => self.with_expressions(at).unwrap_or_else(|| {
                self.speller().instruction(self.instruction(at), |other| self.label(other))
            }),
        }
    }

    /// An instruction whose expressions are computed around it: then it was written with them.
    fn with_expressions(&self, at: u32) -> Option<String> {
        let innermost = self.program.blocks_around(at).next()?;
        let takes = innermost.kind == BlockKind::Temporaries;
        takes.then(|| self.speller().with_expressions(self.instruction(at)))?
    }

    /// The label of an instruction, or its number.
    fn label(&self, at: u32) -> String {
        self.known_label(at).map_or_else(|| format!("#{at}"), str::to_owned)
    }

    fn known_label(&self, at: u32) -> Option<&'a str> {
        let labels = &self.structure().labels;
        let found = labels.binary_search_by_key(&at, |(index, _)| *index).ok()?;
        labels.get(found).map(|(_, label)| label.as_str())
    }

    /// Where an instruction stands: the words of its statement, or its line.
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

    /// "line 28", with its file where `here` is in another one.
    fn line(&self, place: TextPlace, here: TextPlace) -> String {
        match self.structure().path(place.file) {
            _ if place.line == 0 => "in the text".to_owned(),
            _ if place.file == here.file => format!("line {}", place.line),
            Some(path) => format!("line {} of {path}", place.line),
            None => format!("line {} of the program's own file", place.line),
        }
    }

    /// Where the macro is used whose text is at fault.
    fn use_of_macro(&self, spot: Option<&Spot>) -> Option<OtherPlace> {
        let is_use = |block: &&Block| matches!(block.kind, BlockKind::Macro { .. });
        let outermost = self.program.blocks_around(self.trap.at).filter(is_use).last()?;
        let words = self.speller().words(outermost, 0);
        let other = self.other(outermost.place(0), words, "in this use of a macro")?;
        let same = |spot: &Spot| spot.line == other.spot.line && spot.file == other.spot.file;
        (!spot.is_some_and(same)).then_some(other)
    }

    /// What a cell holds, as text.
    fn value(&self, class: Class, cell: u32) -> String {
        let value = match class {
            Class::Int => self.state.ints.get(cell as usize).map(|&v| Value::Int(v)),
            Class::Real => self.state.real_at(cell).map(Value::Real),
        };
        value.map_or("?".into(), |v| self.program.text(v))
    }

    /// The name and the value of the cell that an operand of the trap's procedure names: of `A[i]` the
    /// element that it is.
    fn named_value(&self, operand: &Operand) -> Option<(String, String)> {
        let (class, cell) = self.resolve(operand)?;
        let Operand::Place(place) = operand else { return None };
        let is_parameter = matches!(place.base, Base::Parameter(_));
        let name = if place.index.is_none() || is_parameter {
            self.speller().operand(operand)
        } else {
            cell_name(self.program, self.state, class, cell)
        };
        Some((name, self.value(class, cell)))
    }

    /// The same for several, each name once; of an expression those of its parts.
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

    /// The cell of an operand in the current state.
    fn resolve(&self, operand: &Operand) -> Option<(Class, u32)> {
        self.valued().cell(operand)
    }

    fn valued(&self) -> Valued<'a> {
        Valued { program: self.program, state: self.state, at: self.trap.at }
    }
}

/// "n is 4, x is 3".
fn listed(values: &[(String, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name} is {value}")).collect::<Vec<_>>().join(", ")
}

/// The same behind a colon; nothing where there are none.
fn because(values: &[(String, String)]) -> String {
    if values.is_empty() { String::new() } else { format!(": {}", listed(values)) }
}
