//! Words of a lane's memory: those of cells, at addresses that are known or computed, and runs of them. Knows no operation.

use reviver_compile::op::{Space, SsaOp, SsaValue};
use reviver_compile::passes::range_where_it_counts;
use reviver_isa::instruction::Class;

use super::Writer;
use crate::cells::literal;
use crate::words::{WordRun, WordSource};

/// So many words are gone through in one round of a loop.
const UNROLLED: u32 = 16;

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

    /// The number of a word of the lane's memory.
    pub(super) fn word(&self, word: u32) -> String {
        format!("{}u", self.memory_at() + word)
    }

    /// The number of the word of the cell that an operation loads or stores. Where a check has failed on the way an address is anything; none leads out of the
    /// cells that it was looked up for. None if there are no such cells, so that a check has failed already.
    pub(super) fn accessed(&mut self, value: SsaValue, space: Space, op: &SsaOp) -> Option<String> {
        let form = &self.text.journey.form;
        let known = literal(form, op).and_then(|address| self.text.memory.word((space, address)));
        if let Some(word) = known {
            return Some(self.word(word));
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
        Some(format!("{}u + {name}", self.memory_at() + run.word))
    }

    /// Goes through the words of a run: `each` writes lines for one, with its number, its counterpart, and how far it is from the run's first
    /// word. Lines should be short: the time that a shader's compiler takes grows with the square of what a function computes.
    pub(super) fn through(&mut self, run: &WordRun, mut each: impl FnMut(&mut Self, &str, &str, &str)) {
        let at = self.memory_at() + run.word;
        let whole = if run.count <= UNROLLED { 0 } else { run.count - run.count % UNROLLED };
        let one = |writer: &mut Self, offset: &str, each: &mut dyn FnMut(&mut Self, &str, &str, &str)| {
            let place = format!("{at}u + {offset}");
            let source = match run.source {
                WordSource::Same(0) => "constants[0]".to_owned(),
                WordSource::Same(bits) => format!("{bits}lu"),
                WordSource::Given(first) => format!("told({first}u + {offset})"),
                WordSource::Table(first) => format!("constants[{first}u + {offset}]"),
            };
            each(writer, &place, &source, offset);
        };
        if whole > 0 {
            self.open(format!("for (var word = 0u; word < {whole}u; word += {UNROLLED}u) {{"));
            for n in 0..UNROLLED {
                one(self, &format!("word + {n}u"), &mut each);
            }
            self.close();
        }
        for n in whole..run.count {
            one(self, &format!("{n}u"), &mut each);
        }
    }

    /// The rounds of the loops that go through a run.
    pub(super) fn rounds_through(run: &WordRun) -> u32 {
        if run.count <= UNROLLED { 0 } else { run.count / UNROLLED }
    }
}
