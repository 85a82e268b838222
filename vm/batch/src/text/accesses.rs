//! Words of a lane's own: those of cells, at addresses that are known or computed, and runs of them. Knows no operation.

use reviver_compile::op::{Space, SsaOp, SsaValue};
use reviver_compile::passes::range_where_it_counts;
use reviver_isa::instruction::Class;

use super::Writer;
use crate::cells::literal;
use crate::words::{WordRun, WordSource};

/// So many words are gone through in one round of a loop.
const UNROLLED: u32 = 16;

/// Where a word of a lane's own is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WordPlace {
    /// In a variable.
    Variable(u32),
    /// In memory, at a place that this is the text of.
    Memory(String),
}

impl WordPlace {
    /// The word, as a `u64`.
    pub fn held(&self) -> String {
        match self {
            WordPlace::Variable(word) => format!("m{word}"),
            WordPlace::Memory(place) => format!("held({place})"),
        }
    }
}

/// How far a word is from the first one of those that are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordOffset {
    Known(u32),
    /// Beyond what the variable of a loop says.
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
    /// A value of a class as a word; words have no class.
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

    /// A value as a word.
    pub(super) fn word_of(&self, value: SsaValue) -> String {
        match self.steps.contains(&value) {
            true => format!("u64({})", self.value(value)),
            false => self.to_word(self.text.journey.form.class(value), &self.value(value)),
        }
    }

    /// A word as what a value is.
    pub(super) fn of_word_for(&self, value: SsaValue, word: &str) -> String {
        match self.steps.contains(&value) {
            true => format!("i64({word})"),
            false => self.of_word(self.text.journey.form.class(value), word),
        }
    }

    /// Where a word is.
    pub(super) fn place(&self, word: u32) -> WordPlace {
        match self.text.memory.variables.contains(&word) {
            true => WordPlace::Variable(word),
            false => WordPlace::Memory(format!("{}u", self.memory_at() + word)),
        }
    }

    /// Where a word is of those that are gone through. None of a loop's is a variable.
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
        });
    }

    /// Where the cell is that an operation loads or stores. Where a check has failed on the way an address is anything; none leads out of the
    /// cells that it was looked up for. None if there are no such cells, so that a check has failed already.
    pub(super) fn accessed(&mut self, value: SsaValue, space: Space, op: &SsaOp) -> Option<WordPlace> {
        let form = &self.text.journey.form;
        let known = literal(form, op).and_then(|address| self.text.memory.word((space, address)));
        if let Some(word) = known {
            return Some(self.place(word));
        }
        let address = op.operands.first().copied().unwrap_or(value);
        let range = range_where_it_counts(form, self.plan.resolved(address));
        let run = self.text.memory.within(space, range)?;
        let (name, address) = (format!("at{}", value.0), self.value(address));
        let from = match run.first {
            0 => address,
            first => format!("({address} - {})", self.operations.integers().literal(first.into())),
        };
        let of = self.operations.integers();
        let (unsigned, cells) = (of.unsigned(), of.unsigned_literal(run.cells().into()));
        self.line(format!("let {name} = select(0u, u32({from}), bitcast<{unsigned}>({from}) < {cells});"));
        Some(WordPlace::Memory(format!("{}u + {name}", self.memory_at() + run.word)))
    }

    /// Goes through the words of a run, and at the same time through as many from each of some `others` on: `each` writes lines for one, with its counterpart, and how far it
    /// is from the run's first word. Lines should be short: the time that a shader's compiler takes grows with the square of what a function computes.
    pub(super) fn through(
        &mut self,
        run: &WordRun,
        others: &[u32],
        mut each: impl FnMut(&mut Self, &str, WordOffset),
    ) {
        let source = |offset: WordOffset| match run.source {
            WordSource::Same(0) => "constants[0]".to_owned(),
            WordSource::Same(bits) => format!("{bits}lu"),
            WordSource::Given(first) => format!("told({first}u + {})", offset.text()),
            WordSource::Table(first) => format!("constants[{first}u + {}]", offset.text()),
        };
        let variables = &self.text.memory.variables;
        let is_variable =
            |n: &u32| others.iter().chain([&run.word]).any(|first| variables.contains(&(first + n)));
        let mut begin = 0;
        while begin < run.count {
            let end = (begin..run.count).find(is_variable).unwrap_or(run.count);
            let whole = if end - begin <= UNROLLED { 0 } else { (end - begin) / UNROLLED * UNROLLED };
            if whole > 0 {
                let last = begin + whole;
                self.open(format!("for (var word = {begin}u; word < {last}u; word += {UNROLLED}u) {{"));
                for n in 0..UNROLLED {
                    each(self, &source(WordOffset::InLoop(n)), WordOffset::InLoop(n));
                }
                self.close();
            }
            // The variable, too.
            let behind = (end + 1).min(run.count);
            for n in begin + whole..behind {
                each(self, &source(WordOffset::Known(n)), WordOffset::Known(n));
            }
            begin = behind;
        }
    }

    /// At least the rounds of the loops that go through a run.
    pub(super) fn rounds_through(run: &WordRun) -> u32 {
        if run.count <= UNROLLED { 0 } else { run.count / UNROLLED }
    }
}
