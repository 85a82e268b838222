//! Calls of procedures with a strategy. They keep the values that their statements discard, so that the same statements
//! can be undone. A statement that discards is executed as an exchange with a new cell, whose content is kept.
//!
//! The machine keeps these values on the program's stacks, with marks. The oracle has a separate list without marks, so it
//! can't compare states while a history exists.

use reviver_assembler::tree::KeptStrategy;
use reviver_isa::function::Function;
use reviver_isa::update::Update;

use crate::outcome::{Step, unsupported};
use crate::plan::Procedure;
use crate::store::Cell;
use crate::transport;
use crate::value::Value;
use crate::walk::Walk;

impl Walk<'_> {
    /// Counts the entry into a procedure among the open calls that keep what they discard. Returns true if it is one.
    ///
    /// # Errors
    /// The strategy isn't supported for floats, because it also keeps other values.
    pub(crate) fn keep_from(&mut self, procedure: &Procedure) -> Step<bool> {
        let Some(strategy) = procedure.strategy else { return Ok(false) };
        if strategy != KeptStrategy::Reverse && !self.system().is_exact() {
            return unsupported("floats that are kept");
        }
        self.keeping += 1;
        Ok(true)
    }

    /// Executes a statement that discards the target's value, or undoes it. The statement assigns a function value, or 0
    /// if `function` is `None`.
    pub(crate) fn discard(
        &mut self,
        function: Option<(Function, &[transport::Source])>,
        target: Cell,
        backward: bool,
    ) -> Step<()> {
        let count = self.store.count();
        let zero = Value::zero(self.store.get(target)?.class(), self.system());
        let other = self.store.add(zero);
        if backward {
            let Some(entry) = self.history.pop() else { return unsupported("an empty history") };
            if entry.value.class() != self.store.get(target)?.class() {
                return unsupported("a history of other cells");
            }
            self.store.restore(other, entry);
            self.store.swap(target, other)?;
        }
        if let Some((function, sources)) = function {
            // The target may be a source, and then its old value counts.
            let sources = sources.iter().map(|source| {
                let value = source.cell.map_or_else(|| Ok(&source.value), |cell| self.store.get(cell))?;
                Ok(transport::Source { cell: source.cell, value: value.clone() })
            });
            let sources = sources.collect::<Step<Vec<_>>>()?;
            let update = if backward { Update::Sub } else { Update::Add };
            self.update(update, function, other, &sources)?;
        }
        if backward {
            self.store.vacate(other)?;
        } else {
            self.store.swap(target, other)?;
            let entry = self.store.take(other)?;
            self.history.push(entry);
        }
        self.store.truncate(count);
        Ok(())
    }
}
