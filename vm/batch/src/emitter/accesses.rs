//! Accesses to words of a lane's memory: accesses to cells at literal or computed addresses, and accesses to runs of
//! words. This module is independent of other operations.

use std::fmt::Write as _;
use std::ops::Range;

use reviver_compile::op::{Space, SsaOp, SsaValue};
use reviver_compile::passes::range_at_uses;
use reviver_isa::instruction::Class;

use super::Writer;
use crate::cells::literal;
use crate::tables::CellRange;
use crate::words::{WordRun, WordSource};

/// Number of words that one iteration of a loop over memory processes.
const UNROLLED: u32 = 16;

/// The location of a word of the lane's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WordPlace {
    /// The word is in the variable with this number.
    Variable(u32),
    /// The word is in memory, at the index that this expression computes.
    Memory(String),
    /// The word is a start value. The text is the call of a helper function that returns the word.
    Start(String),
}

impl WordPlace {
    /// Returns an expression for the word's content, of type `u64`.
    pub fn held(&self) -> String {
        match self {
            WordPlace::Variable(word) => format!("m{word}"),
            WordPlace::Memory(place) => format!("held({place})"),
            WordPlace::Start(call) => call.clone(),
        }
    }
}

/// Distance of a word from the first word of a run, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordOffset {
    Known(u32),
    /// The loop variable plus this constant.
    InLoop(u32),
}

impl WordOffset {
    pub fn text(self) -> String {
        match self {
            WordOffset::Known(offset) => format!("{offset}u"),
            WordOffset::InLoop(offset) => format!("word + {offset}u"),
        }
    }
}

impl Writer<'_> {
    /// Converts a value of class `class` to a word. If `class` is `None`, the value already is a word.
    pub(super) fn to_word(&self, class: Option<Class>, value: &str) -> String {
        match class {
            Some(class) => self.operations.to_word(class, value),
            None => value.to_owned(),
        }
    }

    pub(super) fn of_word(&self, class: Option<Class>, word: &str) -> String {
        match class {
            Some(class) => self.operations.of_word(class, word),
            None => word.to_owned(),
        }
    }

    /// Returns the expression of a value, converted to a word.
    pub(super) fn word_of(&self, value: SsaValue) -> String {
        match self.steps.contains(&value) {
            true => format!("u64({})", self.value(value)),
            false => self.to_word(self.text.lane_run.function.class(value), &self.value(value)),
        }
    }

    /// Returns an expression that converts a word to the type of a value.
    pub(super) fn of_word_for(&self, value: SsaValue, word: &str) -> String {
        match self.steps.contains(&value) {
            true => format!("i64({word})"),
            false => self.of_word(self.text.lane_run.function.class(value), word),
        }
    }

    /// Returns the location of a word.
    pub(super) fn place(&self, word: u32) -> WordPlace {
        match self.text.memory.variables.contains(&word) {
            true => WordPlace::Variable(word),
            false => WordPlace::Memory(format!("{}u", self.memory_at() + word)),
        }
    }

    /// Returns the location of the word at `offset` in a run whose first word is `first`. Words that a loop processes
    /// are never in variables.
    pub(super) fn place_of(&self, first: u32, offset: WordOffset) -> WordPlace {
        match offset {
            WordOffset::Known(offset) => self.place(first + offset),
            WordOffset::InLoop(_) => {
                WordPlace::Memory(format!("{}u + {}", self.memory_at() + first, offset.text()))
            }
        }
    }

    pub(super) fn hold(&mut self, place: &WordPlace, bits: &str) {
        self.line(match place {
            WordPlace::Variable(word) => format!("m{word} = {bits};"),
            WordPlace::Memory(place) => format!("hold({place}, {bits});"),
            // Start values are never stored to, so this code isn't emitted.
            WordPlace::Start(_) => "failed = true;".to_owned(),
        });
    }

    /// Returns the location of the cell that an operation loads or stores. Returns `None` if no address in the
    /// operation's range has a cell; a check has then failed earlier. After a failed check, an address may be
    /// arbitrary, so the emitted code replaces an address outside of its derived range.
    pub(super) fn accessed(&mut self, value: SsaValue, space: Space, op: &SsaOp) -> Option<WordPlace> {
        let function = &self.text.lane_run.function;
        let known = literal(function, op).and_then(|address| self.text.memory.word((space, address)));
        if let Some(word) = known {
            return Some(self.place(word));
        }
        let address = op.operands.first().copied().unwrap_or(value);
        if matches!(space, Space::StartInts | Space::StartReals) {
            let range = self.text.tables.range(function, space, address)?;
            let at = self.offset(value, address, range.1..range.2);
            return Some(WordPlace::Start(format!("{}({at})", start_function(range))));
        }
        let range = range_at_uses(function, self.plan.resolved(address));
        let run = self.text.memory.within(space, range)?;
        let at = self.offset(value, address, run.first..run.end);
        Some(WordPlace::Memory(format!("{}u + {at}", self.memory_at() + run.word)))
    }

    /// Emits the distance of an address from the first of the cells `cells`, and returns the distance's name. The
    /// emitted code replaces an address outside of these cells by the address of the first cell.
    fn offset(&mut self, value: SsaValue, address: SsaValue, cells: Range<u32>) -> String {
        let (name, address) = (format!("at{}", value.0), self.value(address));
        let from = match cells.start {
            0 => address,
            first => format!("({address} - {})", self.operations.integers().literal(first.into())),
        };
        let of = self.operations.integers();
        let (unsigned, cells) = (of.unsigned(), of.unsigned_literal((cells.end - cells.start).into()));
        self.line(format!("let {name} = select(0u, u32({from}), bitcast<{unsigned}>({from}) < {cells});"));
        name
    }

    /// Returns the helper functions that read start values.
    pub(super) fn start_functions(&self) -> String {
        let mut text = String::new();
        for (&range, runs) in &self.text.tables.ranges {
            let mut lines = Vec::new();
            choose_run(runs, 1, &mut lines);
            let _ = write!(text, "fn {}(at: u32) -> u64 {{\n{}}}\n\n", start_function(range), lines.concat());
        }
        text
    }

    /// Emits code that processes `count` words of a source one after another. Each word is processed together with the
    /// words of memory at the same offset from each start in `places`. The function `each` emits the lines for one
    /// word; its arguments are the source word and the offset. These lines should be short, because the compile time of
    /// a shader grows with the square of the size of a function.
    pub(super) fn through(
        &mut self,
        (source, count): (WordSource, u32),
        places: &[u32],
        mut each: impl FnMut(&mut Self, &str, WordOffset),
    ) {
        let source = |offset: WordOffset| match source {
            WordSource::Same(0) => "constants[0]".to_owned(),
            WordSource::Same(bits) => format!("{bits}lu"),
            WordSource::Input(first) => format!("input_word({first}u + {})", offset.text()),
            WordSource::Table(first) => format!("constants[{first}u + {}]", offset.text()),
        };
        let variables = &self.text.memory.variables;
        let is_variable = |n: &u32| places.iter().any(|first| variables.contains(&(first + n)));
        let mut begin = 0;
        while begin < count {
            let end = (begin..count).find(is_variable).unwrap_or(count);
            let whole = if end - begin <= UNROLLED { 0 } else { (end - begin) / UNROLLED * UNROLLED };
            if whole > 0 {
                let last = begin + whole;
                self.open(format!("for (var word = {begin}u; word < {last}u; word += {UNROLLED}u) {{"));
                for n in 0..UNROLLED {
                    each(self, &source(WordOffset::InLoop(n)), WordOffset::InLoop(n));
                }
                self.close();
            }
            // The word at `end`, if there is one, is in a variable. The code after the loop processes this word.
            let behind = (end + 1).min(count);
            for n in begin + whole..behind {
                each(self, &source(WordOffset::Known(n)), WordOffset::Known(n));
            }
            begin = behind;
        }
    }

    /// Returns the number of loop iterations that [`Writer::through`] emits for `count` words, or an upper bound.
    pub(super) fn iterations_over(count: u32) -> u32 {
        if count <= UNROLLED { 0 } else { count / UNROLLED }
    }
}

/// Returns the name of the helper function that reads the start values of a range of cells.
fn start_function((space, first, end): CellRange) -> String {
    let class = if space == Space::StartInts { "ints" } else { "reals" };
    format!("start_{class}_{first}_{end}")
}

/// Emits a function body that returns word number `at` of some runs. A balanced tree of comparisons finds the run of
/// the word.
fn choose_run(runs: &[WordRun], depth: usize, lines: &mut Vec<String>) {
    let indent = "    ".repeat(depth);
    match runs {
        [] => lines.push(format!("{indent}return constants[0];\n")),
        [run] => {
            let word = match run.source {
                WordSource::Same(0) => "constants[0]".to_owned(),
                WordSource::Same(bits) => format!("{bits}lu"),
                WordSource::Input(first) => format!("input_word({first}u + (at - {}u))", run.word),
                WordSource::Table(first) => format!("constants[{first}u + (at - {}u)]", run.word),
            };
            lines.push(format!("{indent}return {word};\n"));
        }
        _ => {
            let (before, after) = runs.split_at(runs.len() / 2);
            let first = after.first().map_or(0, |run| run.word);
            lines.push(format!("{indent}if (at < {first}u) {{\n"));
            choose_run(before, depth + 1, lines);
            lines.push(format!("{indent}}}\n"));
            choose_run(after, depth, lines);
        }
    }
}
