//! Values of expressions while a statement runs. The value of an expression gets a cell, so that it can have an
//! adjoint. The value of an index is just a number. Each expression must have the same value before and after the
//! statement, because a backward run computes it in the state after the statement.

use num_bigint::BigInt;
use reviver_isa::function::Function;
use reviver_isa::update::Update;

use crate::outcome::{Step, Trap, trap};
use crate::plan::{Argument, Computed, Part, Place, Source, Term};
use crate::reach::Frame;
use crate::store::Cell;
use crate::value::Value;
use crate::walk::Walk;

/// Values of a statement's expressions, held until the statement ends.
#[derive(Default)]
pub(crate) struct Prepared {
    values: Vec<HeldValue>,
    indices: Vec<(Source, BigInt)>,
}

struct HeldValue {
    cell: Cell,
    function: Function,
    sources: Vec<Source>,
}

impl Walk<'_> {
    /// Computes the expressions in a source into cells, and returns the source with these cells instead of the
    /// expressions. If an expression occurs twice in a statement, both occurrences share one cell.
    pub(crate) fn held(&mut self, frame: &Frame, source: &Source, all: &mut Prepared) -> Step<Source> {
        let Computed { function, class, sources } = match source {
            Source::Computed(computed) => &**computed,
            Source::Place(place) => return self.found(frame, place, all).map(Source::Place),
            Source::Constant(_) | Source::Mode | Source::Held(_) | Source::Length(_) => {
                return Ok(source.clone());
            }
        };
        let sources = sources.iter().map(|s| self.held(frame, s, all)).collect::<Step<Vec<Source>>>()?;
        // Comparing texts distinguishes 0 from -0, and finds a NaN equal to itself.
        let is_it = |held: &&HeldValue| {
            held.function == *function && format!("{:?}", held.sources) == format!("{sources:?}")
        };
        if let Some(held) = all.values.iter().find(is_it) {
            return Ok(Source::Held(held.cell));
        }
        let cell = self.store.add(Value::zero(*class, self.system()));
        self.put(frame, Update::Add, *function, cell, &sources)?;
        all.values.push(HeldValue { cell, function: *function, sources });
        Ok(Source::Held(cell))
    }

    /// Returns a place in which each index expression is replaced by its value.
    pub(crate) fn found(&mut self, frame: &Frame, place: &Place, all: &mut Prepared) -> Step<Place> {
        let index = place.index.iter().map(|term| self.numbered(frame, term, all)).collect::<Step<_>>()?;
        Ok(Place { index, ..place.clone() })
    }

    fn numbered(&mut self, frame: &Frame, term: &Term, all: &mut Prepared) -> Step<Term> {
        let Some(expression) = &term.expression else { return Ok(term.clone()) };
        let value = self.reach(frame).value(expression)?.int()?.clone();
        all.indices.push(((**expression).clone(), value.clone()));
        Ok(Term { scalar: None, offset: value + &term.offset, expression: None })
    }

    pub(crate) fn passed(
        &mut self,
        frame: &Frame,
        argument: &Argument,
        all: &mut Prepared,
    ) -> Step<Argument> {
        Ok(match argument {
            Argument::One(length @ Source::Length(_)) => {
                Argument::One(Source::Constant(self.reach(frame).value(length)?))
            }
            Argument::One(source) => Argument::One(self.held(frame, source, all)?),
            Argument::Many { array, part } => {
                let part = match part {
                    Part::Whole => Part::Whole,
                    Part::Span { from, to, step } => {
                        let (from, to) = (self.numbered(frame, from, all)?, self.numbered(frame, to, all)?);
                        Part::Span { from, to, step: *step }
                    }
                    Part::Row(row) => Part::Row(self.numbered(frame, row, all)?),
                    Part::Column(column) => Part::Column(self.numbered(frame, column, all)?),
                };
                Argument::Many { array: *array, part }
            }
        })
    }

    /// Ends a statement: the cells of expressions are uncomputed and must be 0, and index expressions must have the
    /// same values as before.
    pub(crate) fn release(&mut self, frame: &Frame, all: &Prepared) -> Step<()> {
        for (expression, value) in &all.indices {
            if self.reach(frame).value(expression)?.int()? != value {
                return trap(Trap::Vacant);
            }
        }
        for HeldValue { cell, function, sources } in all.values.iter().rev() {
            self.put(frame, Update::Sub, *function, *cell, sources)?;
            self.store.vacate(*cell)?;
        }
        Ok(())
    }
}
