//! Resetting of a state to a copy of another one, reusing its memory, for programs that run many times. If the other
//! state has no adjoints, existing ones are kept and set to 0, because they will probably be needed again. The module
//! doesn't depend on the program.

use crate::allocation::{self, OutOfMemory};
use crate::state::{Adjoints, State};

impl State {
    /// Makes the state a copy of another one. Memory is allocated only if the existing capacity is too small.
    ///
    /// # Errors
    /// Fails if there is no memory. The state is then inconsistent.
    pub fn renew(&mut self, from: &State) -> Result<(), OutOfMemory> {
        copy(&mut self.ints, &from.ints)?;
        copy(&mut self.reals, &from.reals)?;
        copy(&mut self.int_stack, &from.int_stack)?;
        copy(&mut self.real_stack, &from.real_stack)?;
        copy(&mut self.input, &from.input)?;
        copy(&mut self.output, &from.output)?;
        copy(&mut self.calls, &from.calls)?;
        copy(&mut self.references, &from.references)?;
        match (&mut self.adjoints, &from.adjoints) {
            (None, None) => {}
            (Some(own), None) => {
                own.renew_as_zeros([
                    from.reals.len(),
                    from.real_stack.len(),
                    from.input.len(),
                    from.output.len(),
                ])?;
            }
            (own, Some(adjoints)) => own.get_or_insert_default().renew(adjoints)?,
        }
        self.frame = from.frame;
        self.inverted = from.inverted;
        self.position = from.position;
        self.step = from.step;
        self.rule_steps = from.rule_steps;
        self.counters = from.counters;
        Ok(())
    }
}

impl Adjoints {
    fn renew(&mut self, from: &Adjoints) -> Result<(), OutOfMemory> {
        copy(&mut self.cells, &from.cells)?;
        copy(&mut self.stack, &from.stack)?;
        copy(&mut self.input, &from.input)?;
        copy(&mut self.output, &from.output)?;
        copy(&mut self.deferred, &from.deferred)
    }

    fn renew_as_zeros(&mut self, wanted: [usize; 4]) -> Result<(), OutOfMemory> {
        let Adjoints { cells, stack, input, output, deferred } = self;
        deferred.clear();
        for (list, wanted) in [cells, stack, input, output].into_iter().zip(wanted) {
            if list.len() != wanted {
                list.clear();
                allocation::more(list, wanted)?;
                list.resize(wanted, 0);
            }
            allocation::zero(list);
        }
        Ok(())
    }
}

fn copy<T: Copy>(list: &mut Vec<T>, from: &[T]) -> Result<(), OutOfMemory> {
    if list.len() == from.len() {
        allocation::copy(list, from);
        return Ok(());
    }
    list.clear();
    allocation::more(list, from.len())?;
    list.extend_from_slice(from);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Counters, DeferredAdjoint, Frame, TapeEntry};

    fn state(cells: usize, adjoints: Option<Adjoints>) -> State {
        State {
            ints: vec![7; cells],
            reals: vec![3; cells],
            adjoints,
            int_stack: vec![1],
            real_stack: vec![2; cells],
            input: vec![TapeEntry::Int(4)],
            output: Vec::new(),
            calls: Vec::new(),
            references: Vec::new(),
            frame: Frame { ints: 1, reals: 2, references: 0 },
            inverted: true,
            position: 5,
            step: -3,
            rule_steps: 1,
            counters: Counters { erased_bits: 9, ..Counters::default() },
        }
    }

    fn adjoints(cells: usize) -> Option<Adjoints> {
        Some(Adjoints {
            cells: vec![8; cells],
            stack: vec![8; cells],
            input: vec![8],
            output: Vec::new(),
            deferred: vec![DeferredAdjoint { depth: 0, cell: 1, adjoint: 8 }; cells],
        })
    }

    #[test]
    fn a_renewed_state_equals_its_source() {
        for (own, from) in [(2, 2), (2, 5), (5, 2)] {
            for (has, wants) in [(None, None), (None, adjoints(from)), (adjoints(own), adjoints(from))] {
                let from = state(from, wants);
                let mut renewed = State { step: 100, position: 1, inverted: false, ..state(own, has) };
                renewed.renew(&from).unwrap();
                assert_eq!(renewed, from);
            }
        }
    }

    #[test]
    fn adjoints_stay_and_are_zero() {
        let mut renewed = state(2, adjoints(2));
        renewed.renew(&state(3, None)).unwrap();
        let zeros = Adjoints {
            cells: vec![0; 3],
            stack: vec![0; 3],
            input: vec![0],
            output: Vec::new(),
            deferred: Vec::new(),
        };
        assert_eq!(renewed, state(3, Some(zeros)));
    }
}
