//! Traps in the words of the program: which instruction, which cells, what was expected and what
//! was found, and the other half of paired things. Reads a state; changes nothing.

use reviver_isa::instruction::{Class, Instruction, Link, Operand};
use reviver_isa::module::{Procedure, Shape as Cells, Structure};
use reviver_isa::text::Speller;
use reviver_isa::update::Update;
use reviver_isa::verify::MAX_CELLS;

use crate::flag::Condition;
use crate::lookup::{OpenFrame, cell_of, open_frames};
use crate::no_derivative;
use crate::program::Program;
use crate::room::Room;
use crate::state::{ADJOINT, State};
use crate::trap::{Cause, Trap};
use crate::values::{Value, adjoint_name, element_name};

/// A trap for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// One sentence without a full stop.
    pub message: String,
    /// The instruction that trapped, as source text.
    pub instruction: String,
    pub cause: Cause,
    /// Index of the instruction, its procedure and its source line, if known.
    pub at: u32,
    pub procedure: String,
    pub line: Option<u32>,
    /// The included file that the line is of, as seen from the program's folder; none for the
    /// program's own.
    pub file: Option<String>,
    /// Facts: values of the operands, what was expected, the paired instruction.
    pub notes: Vec<String>,
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

impl<'a> Explainer<'a> {
    fn explain(&self) -> Explanation {
        let at = self.trap.at;
        Explanation {
            message: self.message(),
            cause: self.trap.cause,
            instruction: self.spell(at),
            at,
            procedure: self.procedure(at).name.clone(),
            line: self.structure().line(at),
            file: self.structure().file(at).map(str::to_owned),
            notes: self.notes(),
        }
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

    fn speller(&self, at: u32) -> Speller<'a> {
        Speller { module: self.program.module(), procedure: self.procedure(at) }
    }

    fn spell(&self, at: u32) -> String {
        match self.instruction(at).update {
            Update::Enter => format!(".proc {}", self.procedure(at).name),
            Update::Exit => ".end".to_owned(),
            _ => self.speller(at).instruction(self.instruction(at), |other| self.label(other)),
        }
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

    /// "`again: br top, always` (line 12)", or "the beginning of `main`". The line's file is named
    /// where the trap is in another.
    fn place(&self, at: u32) -> String {
        let procedure = &self.procedure(at).name;
        match self.instruction(at).update {
            Update::Enter => return format!("the beginning of `{procedure}`"),
            Update::Exit => return format!("the end of `{procedure}`"),
            _ => {}
        }
        let label = self.known_label(at).map_or(String::new(), |label| format!("{label}: "));
        let spelled = self.spell(at);
        let (here, file) = (self.structure().file(self.trap.at), self.structure().file(at));
        match (self.structure().line(at), file) {
            (None, _) => format!("`{label}{spelled}`"),
            (Some(line), _) if file == here => format!("`{label}{spelled}` (line {line})"),
            (Some(line), Some(file)) => format!("`{label}{spelled}` (line {line} of {file})"),
            (Some(line), None) => format!("`{label}{spelled}` (line {line} of the program's own file)"),
        }
    }

    fn message(&self) -> String {
        let at = self.trap.at;
        let update = self.instruction(at).update;
        match self.trap.cause {
            Cause::Fault(fault) => fault.to_string(),
            Cause::NoDerivative { source, fault } => {
                let operands = &self.instruction(at).operands;
                let values: Vec<_> = operands
                    .iter()
                    .map(|operand| self.resolve(at, operand).map(|(class, cell)| self.value(class, cell)))
                    .collect();
                no_derivative::message(self.instruction(at), &self.speller(at), &values, source.into(), fault)
            }
            Cause::DerivativeOutOfRange(_) => no_derivative::OUT_OF_RANGE.into(),
            Cause::AssertFailed => "the assertion does not hold".into(),
            Cause::UnexpectedFall if update == Update::From => {
                "fell into a `from` whose condition says that its `br` was taken".into()
            }
            Cause::UnexpectedFall => {
                "going backward, came to a `br` whose condition says that it was taken".into()
            }
            Cause::UnexpectedJump { .. } if update == Update::Br => {
                "the `br` is taken, but the condition of its `from` says that it isn't".into()
            }
            Cause::UnexpectedJump { .. } => {
                "going backward, the `from` leads to its `br`, whose condition says that it wasn't taken"
                    .into()
            }
            Cause::Index { dimension, index, length, .. } => {
                let which = ["index", "second index"].get(dimension as usize).copied().unwrap_or("index");
                format!("the {which} is {index}, outside of 0..{length}")
            }
            Cause::Alias { .. } => "a target is also a source or an index of its own instruction".into(),
            Cause::NotVacant { class, cell } => match self.condition() {
                Some(condition) => {
                    let text = condition.text(&self.speller(at));
                    format!("the condition `{text}` is not what the way that led here says")
                }
                None => self.not_vacant(class, cell),
            },
            Cause::FrameNotVacant { class, cell } => {
                format!("{} when its procedure ends", self.not_vacant(class, cell))
            }
            Cause::ReferenceChanged { argument } => {
                format!("argument {} refers to another cell than at the procedure's other end", argument + 1)
            }
            Cause::ArgumentsOverlap { first, second } => {
                format!("arguments {} and {} share cells, and not both are `in`", first + 1, second + 1)
            }
            Cause::SliceBounds { argument, from, to, length } => {
                format!("argument {} takes {from}..{to} of {length} elements", argument + 1)
            }
            Cause::StackEmpty { class } => format!("the {} stack is empty", class_word(class)),
            Cause::StackFull { limit } => format!("the stack is full: it holds at most {limit} values"),
            Cause::DepthExceeded { limit } => format!("more than {limit} calls are open"),
            Cause::FramesFull => {
                format!(
                    "the frames of open calls take more cells than a program may have, {MAX_CELLS} a class"
                )
            }
            Cause::NoMemory(room) => format!("memory ran out: there is none for {}", room_words(room)),
            Cause::TapeFull { output, limit } => {
                format!("the {} tape is full: it holds at most {limit} values", tape_word(output))
            }
            Cause::TapeEmpty { output } => format!("the {} tape is empty", tape_word(output)),
            Cause::TapeClass { output, wanted } => {
                let (tape, wanted) = (tape_word(output), class_word(wanted));
                format!("the next value of the {tape} tape is not {wanted}")
            }
            Cause::Irreversible => {
                "this instruction has thrown information away: there is no way back over it".into()
            }
            Cause::ModeIs { on: true } => "gradient mode is on already".into(),
            Cause::ModeIs { on: false } => "gradient mode is off already".into(),
        }
    }

    /// The condition whose flag the instruction that trapped was to vacate.
    fn condition(&self) -> Option<Condition<'a>> {
        Condition::vacated_at(&self.program.module().code, self.trap.at)
    }

    fn not_vacant(&self, class: Class, cell: u32) -> String {
        let value = self.value(class, cell);
        format!("`{}` must be vacant but is {value}", cell_name(self.program, self.state, class, cell))
    }

    fn value(&self, class: Class, cell: u32) -> String {
        let value = match class {
            Class::Int => self.state.ints.get(cell as usize).map(|&v| Value::Int(v)),
            Class::Real => self.state.real_at(cell).map(Value::Real),
        };
        value.map_or("?".into(), |v| self.program.text(v))
    }

    fn notes(&self) -> Vec<String> {
        let at = self.trap.at;
        let mut notes = match self.condition() {
            Some(condition) => self.values_of(at, condition.operands()),
            None => self.operand_values(at),
        };
        match self.trap.cause {
            Cause::UnexpectedJump { partner } => {
                notes.push(format!("the pair is {} and {}", self.place(at), self.place(partner)));
                notes.extend(self.operand_values(partner));
            }
            Cause::UnexpectedFall => {
                if let Link::Partner(partner) = self.instruction(at).link {
                    notes.push(format!("its partner is {}", self.place(partner)));
                    notes.push(format!("it was reached from {} instead", self.neighbour(at)));
                }
            }
            Cause::Irreversible => {
                notes.push("only a history of what it threw away leads back over it".into());
            }
            Cause::DepthExceeded { .. } => notes.push("`.limit depth` raises the limit".into()),
            Cause::StackFull { .. } => notes.push("`.limit stack` raises the limit".into()),
            Cause::TapeFull { .. } => notes.push("`.limit tape` raises the limit".into()),
            Cause::NoMemory(room) => notes.push(room_cure(room).into()),
            _ => {}
        }
        notes.dedup();
        notes
    }

    /// The instruction from which a fall reached this one.
    fn neighbour(&self, at: u32) -> String {
        let before = if self.instruction(at).update == Update::From { at.saturating_sub(1) } else { at + 1 };
        self.place(before)
    }

    /// "`a` is 3" for every cell that an instruction names directly.
    fn operand_values(&self, at: u32) -> Vec<String> {
        self.values_of(at, self.instruction(at).operands.iter())
    }

    /// The same for other operands in the procedure of an instruction.
    fn values_of<'o>(&self, at: u32, operands: impl IntoIterator<Item = &'o Operand>) -> Vec<String> {
        let speller = self.speller(at);
        let places = operands.into_iter().filter(|o| matches!(o, Operand::Place(_)));
        places
            .filter_map(|operand| {
                let (class, cell) = self.resolve(at, operand)?;
                Some(format!("{} is {}", speller.operand(operand), self.value(class, cell)))
            })
            .collect()
    }

    /// The cell of an operand in the current state.
    fn resolve(&self, at: u32, operand: &Operand) -> Option<(Class, u32)> {
        cell_of(self.program, self.state, at, operand)
    }
}

/// What there was no memory for.
fn room_words(room: Room) -> &'static str {
    match room {
        Room::Frame => "the frame of this call",
        Room::Stack => "another value on the stack",
        Room::Tape => "another value on the tape",
        Room::History => "what the way back needs of this step",
        Room::Adjoints => "an adjoint for each real",
    }
}

/// What one can do about it.
fn room_cure(room: Room) -> &'static str {
    match room {
        Room::Frame => "a smaller `.limit depth` stops a recursion before",
        Room::Stack => "a smaller `.limit stack` stops the program before",
        Room::Tape => "a smaller `.limit tape` stops the program before",
        Room::History => "without `--exact` nothing is kept; `--max-steps` ends a run earlier",
        Room::Adjoints => "gradient mode takes as much memory again as the reals do",
    }
}

fn class_word(class: Class) -> &'static str {
    match class {
        Class::Int => "integer",
        Class::Real => "real",
    }
}

fn tape_word(output: bool) -> &'static str {
    if output { "output" } else { "input" }
}

/// The name of a cell: of a global, of a frame variable (with its procedure where it isn't main's),
/// or the value of an immediate.
/// The address of an adjoint is named as the adjoint.
pub fn cell_name(program: &Program, state: &State, class: Class, cell: u32) -> String {
    if class == Class::Real && cell & ADJOINT != 0 {
        return adjoint_name(&cell_name(program, state, class, cell & !ADJOINT));
    }
    let module = program.module();
    let within = |start: u32, shape: Cells| {
        (start..start.saturating_add(shape.cells() as u32)).contains(&cell).then(|| (cell - start) as usize)
    };
    for (global, &start) in module.globals.iter().zip(&program.layout.globals) {
        if global.class == class
            && let Some(n) = within(start, global.shape)
        {
            return element_name(&global.name, global.shape, n);
        }
    }
    for OpenFrame { procedure, frame } in open_frames(program, state) {
        let owner = &module.procedures[procedure];
        for (variable, &offset) in owner.frame.iter().zip(&program.layout.frames[procedure]) {
            if variable.class == class
                && let Some(n) = within(frame.start(class) + offset, variable.shape)
            {
                return element_name(&variable.name, variable.shape, n);
            }
        }
    }
    "a constant".into()
}
