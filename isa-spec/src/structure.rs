//! What people wrote and machines don't need: labels, lines, the statements that became several
//! instructions, and the names of variables. Optional to run; needed to explain, to debug and to
//! disassemble readably. Holds no source text: places in it are lines and columns.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::function::Function;
use crate::instruction::{Base, Instruction, Operand, Place};
use crate::names::deceiving;
use crate::predicate::Predicate;

/// A place in the text that was written. All numbers but the file's count from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TextPlace {
    /// 0 for the program's own file, n for the n-th path of [`Structure::paths`].
    pub file: u32,
    pub line: u32,
    /// The first and the last column, in characters; both 0 where only the line is known.
    pub first: u32,
    pub last: u32,
}

impl TextPlace {
    /// A line as a whole.
    pub fn line(file: u32, line: u32) -> TextPlace {
        TextPlace { file, line, first: 0, last: 0 }
    }
}

/// One of the words that a block consists of (`if`, `else`, `fi`), and the instructions that it became:
/// `start..end` of `Module::code`, perhaps none. The bodies of the block lie between its seams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seam {
    pub start: u32,
    pub end: u32,
    pub place: TextPlace,
}

impl Seam {
    pub fn contains(&self, at: u32) -> bool {
        (self.start..self.end).contains(&at)
    }
}

/// What a `for` counts, in the order in which the instructions run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counting {
    /// The variable of the frame that counts.
    pub counter: u32,
    /// A constant, a cell, or the temporary of an expression.
    pub from: Operand,
    pub to: Operand,
    pub step: u32,
    /// From the last value down to the first.
    pub reversed: bool,
}

/// The statement that a block was written as. Conditions are those of the instructions' order: where
/// the block is a text undone, `entry` is what the text tests at its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum BlockKind {
    /// Two seams, or three with `else`. The first tests `entry` by a `br`, the last `exit` by a `from`.
    If { entry: Predicate, exit: Predicate },
    /// Two seams, or three with `loop`. The first tests `entry` by a `from`, the next `exit` by a `br`.
    Loop { entry: Predicate, exit: Predicate },
    /// Two seams. The first ends at the `from` that rounds come back to (in a reversed loop behind the
    /// counter's move), the last begins with the counter's move, or with the `br` that leads back.
    For(Counting),
    /// One seam: `vacate t`, `add.f t, …`; of one that begins as 0, `vacate t`.
    Local,
    /// One seam: `sub.f t, …`, `vacate t`; of one that ends as 0, `vacate t`.
    Delocal,
    /// Four seams without instructions: `compute`, `apply`, `uncompute`, and behind what that undoes.
    Compute,
    /// Two seams without instructions: where the use of a macro begins and ends. `undo` as written.
    Macro { name: String, undo: bool },
    /// One seam: an `assert` of several comparisons, which asks a flag that they raise and clear.
    Assert { condition: Predicate },
    /// Two seams: temporaries of expressions are computed, and uncomputed in the opposite order. What takes
    /// them stands in between.
    Temporaries,
}

/// One of the two conditions of an `if` or a loop, in the order of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Entry,
    Exit,
}

/// A statement of the text that is no single instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    pub kind: BlockKind,
    /// Whether the instructions run the text from its end to its beginning: in `uncompute`, and in a
    /// macro that is undone.
    pub undone: bool,
    /// In the order of the code.
    pub seams: ArrayVec<Seam, 4>,
}

impl Block {
    /// The first instruction.
    pub fn start(&self) -> u32 {
        self.seams.first().map_or(0, |seam| seam.start)
    }

    /// The instruction behind the last one.
    pub fn end(&self) -> u32 {
        self.seams.last().map_or(0, |seam| seam.end)
    }

    /// The number of the seam that an instruction belongs to; none for those of the bodies.
    pub fn seam_of(&self, at: u32) -> Option<usize> {
        self.seams.iter().position(|seam| seam.contains(at))
    }

    /// What the block tests at its beginning or at its end, and where those words stand. A loop with two
    /// bodies tests its exit between them.
    pub fn guard(&self, side: Side) -> Option<(&Predicate, TextPlace)> {
        let (BlockKind::If { entry, exit } | BlockKind::Loop { entry, exit }) = &self.kind else {
            return None;
        };
        Some(match side {
            Side::Entry => (entry, self.place(0)),
            Side::Exit => (exit, self.place(self.seams.len())),
        })
    }

    /// The place of a seam; of the last where there are fewer.
    pub fn place(&self, seam: usize) -> TextPlace {
        self.seams.get(seam).or(self.seams.last()).map_or(TextPlace::default(), |seam| seam.place)
    }

    /// The variable that a `local` or a `delocal` opens or closes, and the instruction of the module's code
    /// that gives it its value, or takes it; none where the value is 0.
    pub fn opened<'c>(&self, code: &'c [Instruction]) -> Option<(u32, Option<&'c Instruction>)> {
        let seam = self.seams.first()?;
        let has_value = seam.start.checked_add(1) != Some(seam.end);
        let (vacate, update) = match self.kind {
            BlockKind::Local | BlockKind::Delocal if !has_value => (seam.start, None),
            BlockKind::Local => (seam.start, Some(seam.start.checked_add(1)?)),
            BlockKind::Delocal => (seam.start.checked_add(1)?, Some(seam.start)),
            _ => return None,
        };
        let vacated = code.get(vacate as usize)?.operands.first()?;
        let Operand::Place(Place { base: Base::Frame(variable), .. }) = vacated else { return None };
        let update = match update {
            Some(update) => Some(code.get(update as usize)?),
            None => None,
        };
        Some((*variable, update))
    }
}

/// What a name of the text means in a part of a procedure: a variable of its frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameScope {
    /// Counts the procedures of the module from 0.
    pub procedure: u32,
    /// Number in the procedure's frame.
    pub variable: u32,
    /// As written. The variable's own name differs where others of the procedure have the same.
    pub name: String,
    /// The name is open in the instructions `start..end`.
    pub start: u32,
    pub end: u32,
    /// Where it is declared.
    pub place: TextPlace,
}

/// A variable of a frame that holds the value of an expression while a statement takes it, and is 0 at other
/// times. It holds that expression's value and no other's, so that the variable can be told as the expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Temporary {
    /// Counts the procedures of the module from 0.
    pub procedure: u32,
    /// Number in the procedure's frame.
    pub variable: u32,
    /// What is computed, of one source or two. A temporary among them is of a smaller number.
    pub function: Function,
    pub sources: ArrayVec<Operand, 2>,
}

/// What people need and machines don't: optional to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Structure {
    /// Names of branch halves: (index in `Module::code`, label), ascending.
    pub labels: Vec<(u32, String)>,
    /// The source line of each instruction, counted from 1; empty or as long as the code.
    pub lines: Vec<u32>,
    /// Which files the lines are of, where it isn't the program's own: (index in `Module::code`,
    /// number of the file), ascending. An entry counts up to the next one.
    pub files: Vec<(u32, u32)>,
    /// The files besides the program's own, which has the number 0; the first of these has the number
    /// 1. Relative to the program's folder.
    pub paths: Vec<String>,
    /// In order of their starts, outer blocks first. One lies within a body of another, or apart.
    pub blocks: Vec<Block>,
    /// In order of their procedures, variables and starts. Variables that no text names are in none.
    pub scopes: Vec<NameScope>,
    /// In order of their procedures and variables, at most one of a variable.
    pub temporaries: Vec<Temporary>,
}

impl Structure {
    /// Bytes that the path of an included file may have, as on Linux.
    pub const LONGEST_PATH: usize = 4096;

    /// The source line of an instruction, if it is recorded.
    pub fn line(&self, at: u32) -> Option<u32> {
        self.lines.get(at as usize).copied()
    }

    /// The number of the file that the line of an instruction is of.
    pub fn file_number(&self, at: u32) -> u32 {
        let until = self.files.partition_point(|(start, _)| *start <= at);
        until.checked_sub(1).and_then(|n| self.files.get(n)).map_or(0, |(_, file)| *file)
    }

    /// The included file that the line of an instruction is of; none for the program's own.
    pub fn file(&self, at: u32) -> Option<&str> {
        self.path(self.file_number(at))
    }

    /// The path of a file by its number; none for the program's own.
    pub fn path(&self, file: u32) -> Option<&str> {
        self.paths.get((file as usize).checked_sub(1)?).map(String::as_str)
    }

    /// The line on which an instruction acts, as a place.
    pub fn place(&self, at: u32) -> Option<TextPlace> {
        self.line(at).map(|line| TextPlace::line(self.file_number(at), line))
    }

    /// Whether a path can be recorded: short enough, and free of what a text can't quote and of what a
    /// screen doesn't show as it is.
    pub fn is_path(path: &str) -> bool {
        let unfit = |c: char| matches!(c, '"' | '\n' | '\t') || deceiving(c).is_some();
        path.len() <= Structure::LONGEST_PATH && !path.chars().any(unfit)
    }

    /// The scopes of a procedure by its number.
    pub fn scopes_of(&self, procedure: u32) -> &[NameScope] {
        let first = self.scopes.partition_point(|scope| scope.procedure < procedure);
        let last = self.scopes.partition_point(|scope| scope.procedure <= procedure);
        self.scopes.get(first..last).unwrap_or_default()
    }

    /// The scopes of a variable of a procedure's frame, by their starts. All have one name.
    pub fn scopes_of_variable(&self, procedure: u32, variable: u32) -> &[NameScope] {
        let scopes = self.scopes_of(procedure);
        let first = scopes.partition_point(|scope| scope.variable < variable);
        let last = scopes.partition_point(|scope| scope.variable <= variable);
        scopes.get(first..last).unwrap_or_default()
    }

    /// The name that the text has for a variable; none for one that only lowering knows.
    pub fn source_name(&self, procedure: u32, variable: u32) -> Option<&str> {
        self.scopes_of_variable(procedure, variable).first().map(|scope| scope.name.as_str())
    }

    /// The variable that a name means at an instruction of a procedure: of those open there the one
    /// that was opened last.
    pub fn variable(&self, procedure: u32, name: &str, at: u32) -> Option<u32> {
        let named = self.scopes_of(procedure).iter().filter(|scope| scope.name == name);
        let open = named.filter(|scope| (scope.start..scope.end).contains(&at));
        open.max_by_key(|scope| scope.start).map(|scope| scope.variable)
    }

    /// The expression that a variable of a procedure's frame stands for, if it is such a one.
    pub fn temporary(&self, procedure: u32, variable: u32) -> Option<&Temporary> {
        let key = |temporary: &Temporary| (temporary.procedure, temporary.variable);
        let found = self.temporaries.binary_search_by_key(&(procedure, variable), key).ok()?;
        self.temporaries.get(found)
    }

    /// The temporaries of a procedure by its number.
    pub fn temporaries_of(&self, procedure: u32) -> &[Temporary] {
        let first = self.temporaries.partition_point(|temporary| temporary.procedure < procedure);
        let last = self.temporaries.partition_point(|temporary| temporary.procedure <= procedure);
        self.temporaries.get(first..last).unwrap_or_default()
    }

    /// Speaks of another text from here on, of which the lines of the instructions are known.
    pub fn retell(&mut self, lines: Vec<u32>, files: Vec<(u32, u32)>, paths: Vec<String>) {
        (self.lines, self.files, self.paths) = (lines, files, paths);
        let mut blocks = std::mem::take(&mut self.blocks);
        for seam in blocks.iter_mut().flat_map(|block| &mut block.seams) {
            seam.place = self.place(seam.start).unwrap_or_default();
        }
        let mut scopes = std::mem::take(&mut self.scopes);
        for scope in &mut scopes {
            scope.place = self.place(scope.start).unwrap_or_default();
        }
        (self.blocks, self.scopes) = (blocks, scopes);
    }
}
