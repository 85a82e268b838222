//! Text of the program that is being generated, and its step budget. The other modules of this folder write
//! statements.

use reviver_isa::instruction::Class;

use super::Profile;
use super::facts::{Fact, Numbers};
use super::procedure::{Macro, Procedure};
use super::scope::{Extent, Scope, Variable};
use crate::rng::Rng;

/// Kind of place in the program. It restricts the kinds of statements that the generator may write at the place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// In main, executed exactly once in every run, so the contents of stacks and tapes are known.
    Trunk,
    /// In main, executed several times or never. The program itself never undoes it.
    Branch,
    /// Between statements that must agree, or in code that the program may run backward.
    Enclosed,
}

/// Writer of one program.
pub(super) struct Writer<'p> {
    pub rng: Rng,
    pub profile: &'p Profile,
    pub scope: Scope,
    pub place: Place,
    pub procedures: Vec<Procedure>,
    /// Procedures that can run as tasks.
    pub task_procedures: Vec<Procedure>,
    pub macros: Vec<Macro>,
    /// Values that the input tape must have, in reading order.
    pub tape: Vec<String>,
    /// Numbers of integers and of reals that are initially on the declared stacks and haven't been popped.
    pub given: [u32; 2],
    /// Declarations of the current procedure's frame.
    pub frame: Vec<String>,
    /// Number of steps that the rest of the current block may take.
    pub room: u64,
    /// Maximum number of times that the current statement is executed.
    pub times: u64,
    /// Number of open blocks.
    pub nesting: usize,
    /// True if gradient mode is certainly off here, so that a statement may switch it on.
    pub mode_off: bool,
    /// True while a derivative rule is written, which may change only its own frame and adjoints.
    pub in_rule: bool,
    /// True if indices must be cells or constants, because branches between labels allow no expressions.
    pub plain_indices: bool,
    lines: Vec<String>,
    fresh: usize,
}

impl<'p> Writer<'p> {
    pub fn new(seed: u64, profile: &'p Profile) -> Writer<'p> {
        Writer {
            rng: Rng::new(seed),
            profile,
            scope: Scope::default(),
            place: Place::Trunk,
            procedures: Vec::new(),
            task_procedures: Vec::new(),
            macros: Vec::new(),
            tape: Vec::new(),
            given: [0; 2],
            frame: Vec::new(),
            room: profile.steps,
            times: 1,
            nesting: 0,
            mode_off: false,
            in_rule: false,
            plain_indices: false,
            lines: Vec::new(),
            fresh: 0,
        }
    }

    pub fn numbers(&self) -> Numbers {
        Numbers { word: self.profile.word, real: self.profile.real }
    }

    /// Returns a new unique name.
    pub fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    /// Decides at random if the next statement may trap, with the probability of the profile.
    pub fn dares(&mut self) -> bool {
        let risk = self.profile.risk;
        risk > 0 && self.rng.chance(risk)
    }

    pub fn class(&mut self) -> Class {
        let ints = if self.profile.gradient { 45 } else { 60 };
        if self.rng.chance(ints) { Class::Int } else { Class::Real }
    }

    /// Writes a line, and deducts its steps from the budget.
    pub fn line(&mut self, text: impl AsRef<str>) {
        let indent = "    ".repeat(self.nesting);
        let comment = if self.rng.chance(3) { "   ; a remark" } else { "" };
        self.lines.push(format!("{indent}{}{comment}", text.as_ref()));
        self.room = self.room.saturating_sub(2);
    }

    /// Writes a label and the text after it.
    pub fn labelled(&mut self, label: &str, text: impl AsRef<str>) {
        self.line(format!("{label}: {}", text.as_ref()));
    }

    /// Takes the lines written since the last call.
    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    /// Inserts the given lines, which were taken earlier, in front of the lines that were written since.
    pub fn prepend(&mut self, lines: Vec<String>) {
        self.lines.splice(0..0, lines);
    }

    pub fn take_frame(&mut self) -> Vec<String> {
        std::mem::take(&mut self.frame)
    }

    /// Declares a variable in the current frame, and returns it as changeable.
    pub fn ancilla(&mut self, class: Class, extent: Extent, fact: Fact) -> Variable {
        let name = self.name("t");
        self.frame.push(format!(".ancilla {name}{}{}", shape(extent), class_suffix(class)));
        Variable::new(name, class, extent, fact)
    }

    /// Writes a block with one more level of indentation, at the place `place`. Inside of [`Place::Enclosed`],
    /// everything counts as enclosed.
    pub fn nested(&mut self, place: Place, write: impl FnOnce(&mut Self)) {
        let before = self.place;
        if before != Place::Enclosed {
            self.place = place;
        }
        self.nesting += 1;
        write(self);
        self.nesting -= 1;
        self.place = before;
    }

    /// Writes code that runs at most `times` times.
    pub fn repeated(&mut self, times: u64, write: impl FnOnce(&mut Self)) {
        let (room, all) = (self.room, self.times);
        let share = room / (times + 1);
        self.room = share;
        self.times = all.saturating_mul(times.max(1));
        write(self);
        let spent = share - self.room;
        self.room = room.saturating_sub(spent.saturating_mul(times) + 3 * times);
        self.times = all;
    }
}

/// Formats the shape of a declaration.
pub(super) fn shape(extent: Extent) -> String {
    match extent {
        Extent::Scalar => String::new(),
        Extent::Vector(n) => format!("[{n}]"),
        Extent::Matrix(rows, columns) => format!("[{rows}, {columns}]"),
    }
}

/// Formats the class of a declaration; `int` is the default.
pub(super) fn class_suffix(class: Class) -> &'static str {
    match class {
        Class::Int => "",
        Class::Real => ": real",
    }
}
