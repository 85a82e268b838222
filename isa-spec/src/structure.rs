//! Debug information: labels, lines, statements that became several instructions, and names of variables.
//! Explanations, debugging and readable disassembly need this information; running a program doesn't. The
//! information contains positions (lines and columns) but no source text.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::function::Function;
use crate::instruction::{Base, Instruction, Operand, Place};
use crate::names::deceiving;
use crate::predicate::Predicate;

/// A position in the source text. All numbers except the file's start at 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TextPlace {
    /// The file's number: 0 for the program's own file, n for the n-th path of [`Structure::paths`].
    pub file: u32,
    /// The number of the line; 0 in the default value, which means no position.
    pub line: u32,
    /// The first column, in characters; 0 if only the line is known.
    pub first: u32,
    /// The last column, inclusive; 0 if only the line is known.
    pub last: u32,
}

impl TextPlace {
    /// Returns the position of a whole line.
    pub fn line(file: u32, line: u32) -> TextPlace {
        TextPlace { file, line, first: 0, last: 0 }
    }
}

/// The instructions generated for one of the words that delimit a block, such as `if`, `else` and `fi`. The
/// instructions are the range `start..end` of `Module::code`, which may be empty. The instructions between two
/// seams of a block are one of its bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seam {
    /// The index of the word's first instruction.
    pub start: u32,
    /// The index after the word's last instruction.
    pub end: u32,
    /// The position of the word in the source text.
    pub place: TextPlace,
}

impl Seam {
    /// Returns true if the instruction with index `at` was generated for the word.
    pub fn contains(&self, at: u32) -> bool {
        (self.start..self.end).contains(&at)
    }
}

/// The counter and the bounds of a `for` loop. Counter and bounds describe the loop in the direction in which
/// its instructions run. If the loop's text is undone, this is the opposite of the direction in the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counting {
    /// The frame variable that is the counter.
    pub counter: u32,
    /// The lower bound, which is the least value of the counter: a constant, a cell, or the temporary of an
    /// expression.
    pub from: Operand,
    /// The upper bound, exclusive: a constant, a cell, or the temporary of an expression.
    pub to: Operand,
    /// The distance between two values of the counter, at least 1.
    pub step: u32,
    /// True if the loop counts from the last value down to the first.
    pub reversed: bool,
}

/// The kind of statement that a block was written as. Conditions are named in the order of the instructions.
/// So if the block's text is undone, `entry` is the condition that the text has at the end of the statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum BlockKind {
    /// Two seams, or three with `else`. The first seam tests `entry` by a `br`, and the last seam tests `exit` by a
    /// `from`.
    If {
        /// The condition before the bodies, which selects the one to execute.
        entry: Predicate,
        /// The condition after the bodies; it must have the value that `entry` had before the bodies.
        exit: Predicate,
    },
    /// Two seams, or three with `loop`. The first seam tests `entry` by a `from`, and the second seam tests `exit` by a
    /// `br`.
    Loop {
        /// The condition that must be true when the loop is entered, and false before each later iteration.
        entry: Predicate,
        /// The condition that ends the loop when it becomes true.
        exit: Predicate,
    },
    /// Two seams, before and after the body. The first one ends with the `from` that starts an iteration, the
    /// last one begins with the `br` that jumps back. The update of the counter belongs to a seam, too: in a
    /// reversed loop it follows the `from`, otherwise it precedes the `br`.
    For(Counting),
    /// One seam with the instructions `vacate t` and `add.f t, …`. If the initial value is 0, it is only
    /// `vacate t`.
    Local,
    /// One seam with the instructions `sub.f t, …` and `vacate t`. If the final value is 0, it is only
    /// `vacate t`.
    Delocal,
    /// Four seams without instructions: `compute`, `apply`, `uncompute`, and the end of the statement.
    Compute,
    /// Two seams without instructions: the beginning and the end of a macro's expansion.
    Macro {
        /// The name of the macro.
        name: String,
        /// True for `undo name`, false for `name`.
        undo: bool,
    },
    /// One seam: an `assert` with several comparisons. Its instructions set a flag to the condition's value,
    /// assert the flag, and clear the flag.
    Assert {
        /// The comparisons with their connectives.
        condition: Predicate,
    },
    /// Two seams. The first one computes the temporaries of expressions. The second one uncomputes them in
    /// opposite order. The instructions that use the temporaries are between the seams.
    Temporaries,
}

/// One of the two conditions of an `if` or a loop, named in the order of the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The condition that the first seam tests.
    Entry,
    /// The condition at the end of an `if`, or after the first body of a loop.
    Exit,
}

/// A statement of the text that isn't a single instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The statement, with its conditions or names.
    pub kind: BlockKind,
    /// True if the block's text is undone, in an `uncompute` or in a macro that is undone. The instructions of
    /// such a block run its text from the end to the beginning.
    pub undone: bool,
    /// The seams, in the order of the code.
    pub seams: ArrayVec<Seam, 4>,
}

impl Block {
    /// The first instruction, as an index in `Module::code`.
    pub fn start(&self) -> u32 {
        self.seams.first().map_or(0, |seam| seam.start)
    }

    /// The index after the last instruction.
    pub fn end(&self) -> u32 {
        self.seams.last().map_or(0, |seam| seam.end)
    }

    /// Returns the index of the seam that contains an instruction, or `None` if the instruction belongs to a
    /// body.
    pub fn seam_of(&self, at: u32) -> Option<usize> {
        self.seams.iter().position(|seam| seam.contains(at))
    }

    /// If the block computes temporaries, returns the instruction that uses them: the first one between the two seams.
    /// Returns `None` for other blocks, and if no instruction is between the seams.
    pub fn user_of_temporaries(&self) -> Option<u32> {
        let first = self.seams.first().filter(|_| self.kind == BlockKind::Temporaries)?;
        (first.end < self.seams.last()?.start).then_some(first.end)
    }

    /// Returns the condition at a side of an `if` or a loop, with its position in the text; `None` for other
    /// blocks.
    pub fn guard(&self, side: Side) -> Option<(&Predicate, TextPlace)> {
        let (BlockKind::If { entry, exit } | BlockKind::Loop { entry, exit }) = &self.kind else {
            return None;
        };
        Some(match side {
            Side::Entry => (entry, self.place(0)),
            Side::Exit => (exit, self.place(self.seams.len())),
        })
    }

    /// Returns the position of the seam with this index; that of the last seam if the index is too large.
    pub fn place(&self, seam: usize) -> TextPlace {
        self.seams.get(seam).or(self.seams.last()).map_or(TextPlace::default(), |seam| seam.place)
    }

    /// If the block is a `local` or a `delocal`, returns the variable that it opens or closes, and the
    /// instruction that computes or uncomputes the variable's value. The instruction is `None` if the value is
    /// 0. Returns `None` for other blocks.
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

/// The scope of a name: in the instructions `start..end` of a procedure it denotes a variable of the frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameScope {
    /// The procedure's index in the module.
    pub procedure: u32,
    /// The variable's index in the procedure's frame.
    pub variable: u32,
    /// The name as written. The variable's own name differs if other variables of the procedure have the same
    /// name.
    pub name: String,
    /// The index of the first instruction of the scope.
    pub start: u32,
    /// The index after the last instruction of the scope.
    pub end: u32,
    /// The position of the declaration.
    pub place: TextPlace,
}

/// A frame variable that holds the value of an expression while a statement uses the value, and is 0 at all
/// other times. A temporary never holds the value of another expression, so tools show the expression instead
/// of the variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Temporary {
    /// The procedure's index in the module.
    pub procedure: u32,
    /// The variable's index in the procedure's frame.
    pub variable: u32,
    /// The function that is computed, of one source or two. A source that is itself a temporary has a smaller index
    /// than this temporary.
    pub function: Function,
    /// The sources of the function: constants, cells or other temporaries.
    pub sources: ArrayVec<Operand, 2>,
}

/// Debug information of a module, which a run doesn't need.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Structure {
    /// The labels of branch halves: (index in `Module::code`, label), ascending.
    pub labels: Vec<(u32, String)>,
    /// The source line of each instruction, starting at 1; empty or as long as the code.
    pub lines: Vec<u32>,
    /// The files to which the lines belong: pairs (index in `Module::code`, number of the file) in ascending
    /// order. A pair applies from its instruction up to that of the next pair. Before the first pair, the lines
    /// belong to the program's own file.
    pub files: Vec<(u32, u32)>,
    /// The paths of included files, relative to the program's folder. The program's own file has the number
    /// 0, so the first path has the number 1.
    pub paths: Vec<String>,
    /// The blocks in order of their starts, outer blocks first. Two blocks are disjoint, or one is within a
    /// body of the other.
    pub blocks: Vec<Block>,
    /// The scopes in order of procedure, variable and start. A variable without a name in the text has no
    /// scope.
    pub scopes: Vec<NameScope>,
    /// The temporaries in ascending order of procedure and variable, at most one for each variable.
    pub temporaries: Vec<Temporary>,
}

impl Structure {
    /// The maximum length of an included file's path, in bytes, as on Linux.
    pub const LONGEST_PATH: usize = 4096;

    /// Returns the source line of an instruction, if it is recorded.
    pub fn line(&self, at: u32) -> Option<u32> {
        self.lines.get(at as usize).copied()
    }

    /// Returns the number of the file that contains an instruction's line.
    pub fn file_number(&self, at: u32) -> u32 {
        let until = self.files.partition_point(|(start, _)| *start <= at);
        until.checked_sub(1).and_then(|n| self.files.get(n)).map_or(0, |(_, file)| *file)
    }

    /// Returns the included file that contains an instruction's line, or `None` for the program's own file.
    pub fn file(&self, at: u32) -> Option<&str> {
        self.path(self.file_number(at))
    }

    /// Returns the path of a file by its number, or `None` for the program's own file.
    pub fn path(&self, file: u32) -> Option<&str> {
        self.paths.get((file as usize).checked_sub(1)?).map(String::as_str)
    }

    /// Returns the label of an instruction, if it has one.
    pub fn label(&self, at: u32) -> Option<&str> {
        let found = self.labels.binary_search_by_key(&at, |(index, _)| *index).ok()?;
        self.labels.get(found).map(|(_, label)| label.as_str())
    }

    /// Returns the line of an instruction as a position.
    pub fn place(&self, at: u32) -> Option<TextPlace> {
        self.line(at).map(|line| TextPlace::line(self.file_number(at), line))
    }

    /// Returns true if a path can be recorded: it is short enough, and contains no characters that text can't
    /// quote or that a screen doesn't show.
    pub fn is_path(path: &str) -> bool {
        let unfit = |c: char| matches!(c, '"' | '\n' | '\t') || deceiving(c).is_some();
        path.len() <= Structure::LONGEST_PATH && !path.chars().any(unfit)
    }

    /// Returns the scopes of a procedure, given its index.
    pub fn scopes_of(&self, procedure: u32) -> &[NameScope] {
        let first = self.scopes.partition_point(|scope| scope.procedure < procedure);
        let last = self.scopes.partition_point(|scope| scope.procedure <= procedure);
        self.scopes.get(first..last).unwrap_or_default()
    }

    /// Returns the scopes of a frame variable, in ascending order of their starts. All of them have the same
    /// name.
    pub fn scopes_of_variable(&self, procedure: u32, variable: u32) -> &[NameScope] {
        let scopes = self.scopes_of(procedure);
        let first = scopes.partition_point(|scope| scope.variable < variable);
        let last = scopes.partition_point(|scope| scope.variable <= variable);
        scopes.get(first..last).unwrap_or_default()
    }

    /// Returns the name of a variable in the source text, or `None` for a variable that lowering added.
    pub fn source_name(&self, procedure: u32, variable: u32) -> Option<&str> {
        self.scopes_of_variable(procedure, variable).first().map(|scope| scope.name.as_str())
    }

    /// Returns the variable that a name denotes at an instruction of a procedure. If several scopes of the
    /// name contain the instruction, it is that of the innermost one.
    pub fn variable(&self, procedure: u32, name: &str, at: u32) -> Option<u32> {
        let named = self.scopes_of(procedure).iter().filter(|scope| scope.name == name);
        let open = named.filter(|scope| (scope.start..scope.end).contains(&at));
        open.max_by_key(|scope| scope.start).map(|scope| scope.variable)
    }

    /// Returns the expression that a frame variable holds, if it is a temporary.
    pub fn temporary(&self, procedure: u32, variable: u32) -> Option<&Temporary> {
        let key = |temporary: &Temporary| (temporary.procedure, temporary.variable);
        let found = self.temporaries.binary_search_by_key(&(procedure, variable), key).ok()?;
        self.temporaries.get(found)
    }

    /// Returns the temporaries of a procedure, given its index.
    pub fn temporaries_of(&self, procedure: u32) -> &[Temporary] {
        let first = self.temporaries.partition_point(|temporary| temporary.procedure < procedure);
        let last = self.temporaries.partition_point(|temporary| temporary.procedure <= procedure);
        self.temporaries.get(first..last).unwrap_or_default()
    }

    /// Replaces the recorded lines, files and paths by those of another text. The positions of blocks and
    /// names become the lines of their instructions in that text.
    pub fn set_text(&mut self, lines: Vec<u32>, files: Vec<(u32, u32)>, paths: Vec<String>) {
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
