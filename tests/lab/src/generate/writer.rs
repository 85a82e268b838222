//! The text being written, line by line, and the account of how long it may run. Knows no
//! statements; the other files of this folder add them.

use reviver_isa::instruction::Class;

use super::Profile;
use super::facts::{Fact, Numbers};
use super::procedure::{Macro, Procedure};
use super::scope::{Extent, Scope, Variable};
use crate::rng::Rng;

/// Where statements stand, as far as it decides what may be said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// In main, once, on every run: what is on stacks and tapes is known.
    Trunk,
    /// In main, perhaps several times or never, but never undone by the program itself.
    Branch,
    /// Where the program may run it backward too, or between two halves that must meet.
    Enclosed,
}

/// Writes one program.
pub(super) struct Writer<'p> {
    pub rng: Rng,
    pub profile: &'p Profile,
    pub scope: Scope,
    pub place: Place,
    pub procedures: Vec<Procedure>,
    /// Those that can be tasks.
    pub task_procedures: Vec<Procedure>,
    pub macros: Vec<Macro>,
    /// What the input tape must hold, in the order of reading.
    pub tape: Vec<String>,
    /// How many values of integers and of reals are given on declared stacks and were not taken off yet.
    pub given: [u32; 2],
    /// Declarations of the current procedure's frame.
    pub frame: Vec<String>,
    /// Steps that the code from here to the end of its block may still take.
    pub room: u64,
    /// How often the current statement may run.
    pub times: u64,
    /// Open blocks.
    pub nesting: usize,
    /// Whether gradient mode is certainly off here, and may be switched.
    pub mode_off: bool,
    /// Whether a rule is being written: it may change its own frame and adjoints only.
    pub in_rule: bool,
    /// Indices are cells and constants, as flat branches want them.
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

    /// A name that nothing else has.
    pub fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    /// Whether to do something that may well trap.
    pub fn dares(&mut self) -> bool {
        let risk = self.profile.risk;
        risk > 0 && self.rng.chance(risk)
    }

    pub fn class(&mut self) -> Class {
        let ints = if self.profile.gradient { 45 } else { 60 };
        if self.rng.chance(ints) { Class::Int } else { Class::Real }
    }

    /// Writes a line and accounts for the steps that it takes.
    pub fn line(&mut self, text: impl AsRef<str>) {
        let indent = "    ".repeat(self.nesting);
        let comment = if self.rng.chance(3) { "   ; a remark" } else { "" };
        self.lines.push(format!("{indent}{}{comment}", text.as_ref()));
        self.room = self.room.saturating_sub(2);
    }

    /// Writes a label and what stands behind it.
    pub fn labelled(&mut self, label: &str, text: impl AsRef<str>) {
        self.line(format!("{label}: {}", text.as_ref()));
    }

    /// The lines written since the last time.
    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    /// Puts lines that were taken before those written since.
    pub fn prepend(&mut self, lines: Vec<String>) {
        self.lines.splice(0..0, lines);
    }

    pub fn take_frame(&mut self) -> Vec<String> {
        std::mem::take(&mut self.frame)
    }

    /// A fresh variable of the current frame, as a variable that may be changed.
    pub fn ancilla(&mut self, class: Class, extent: Extent, fact: Fact) -> Variable {
        let name = self.name("t");
        self.frame.push(format!(".ancilla {name}{}{}", shape(extent), class_suffix(class)));
        Variable::new(name, class, extent, fact)
    }

    /// Writes something one block deeper, in a place that encloses it as told.
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

    /// Writes something that runs so many times at most.
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

/// How a shape is declared.
pub(super) fn shape(extent: Extent) -> String {
    match extent {
        Extent::Scalar => String::new(),
        Extent::Vector(n) => format!("[{n}]"),
        Extent::Matrix(rows, columns) => format!("[{rows}, {columns}]"),
    }
}

/// How a class is declared; `int` goes without saying.
pub(super) fn class_suffix(class: Class) -> &'static str {
    match class {
        Class::Int => "",
        Class::Real => ": real",
    }
}
