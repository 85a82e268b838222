//! The engine of the interpreter's hot loop: cells are accessed by their offsets, and no history is kept. The engine
//! has so few fields that the compiler keeps them in registers. [`reviver_isa::step`] defines the steps.

use std::marker::PhantomData;
use std::ops::Range;

use reviver_isa::fault::Eval;
use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Arithmetic, Reals, Words};
use reviver_isa::step::{Engine, Failed, Functions};
use reviver_isa::update::Erasure;

use crate::interp::mode::{Mode, is_silent};
use crate::interp::op;

/// Access to the cells of a state, for steps without a loss that must be counted or recorded. If such a step clears a
/// real, the real must be 0 already.
pub(crate) struct Direct<'a, W, R: Reals, M, F> {
    pub numbers: Arithmetic<W, R>,
    /// The range of pooled immediates: constants, which receive no adjoint.
    pub pool: &'a Range<usize>,
    /// The flags of the op, which mark the sources that receive no adjoint.
    pub flags: u8,
    pub ints: &'a mut [i64],
    pub reals: &'a mut [R::Bits],
    /// The adjoints, one for each real, or empty if no step needs adjoints.
    pub adjoints: &'a mut [R::Bits],
    /// The number of dropped adjoints.
    pub drops: u64,
    /// Markers of the gradient mode and of the set of functions for which this copy of the engine is
    /// compiled.
    pub compiled_for: PhantomData<(M, F)>,
}

impl<W: Words, R: Reals, M: Mode, F: Functions> Engine for Direct<'_, W, R, M, F> {
    type Numbers = Arithmetic<W, R>;
    type Cell = usize;
    type Bit = bool;
    type Functions = F;

    const GRADIENT: bool = M::ON;
    const EXACT: bool = R::EXACT;
    const IMMEDIATE: bool = true;

    #[inline(always)]
    fn numbers(&self) -> Arithmetic<W, R> {
        self.numbers
    }
    #[inline(always)]
    fn int(&self, cell: usize) -> i64 {
        self.ints[cell]
    }
    #[inline(always)]
    fn real(&self, cell: usize) -> R::Cell {
        self.numbers.reals.of_bits(self.reals[cell])
    }
    #[inline(always)]
    fn adjoint(&self, cell: usize) -> R::Cell {
        self.numbers.reals.of_bits(self.adjoints[cell])
    }
    #[inline(always)]
    fn set_int(&mut self, cell: usize, value: i64) {
        self.ints[cell] = value;
    }
    #[inline(always)]
    fn set_real(&mut self, cell: usize, value: R::Cell) {
        self.reals[cell] = self.numbers.reals.to_bits(value);
    }
    #[inline(always)]
    fn set_adjoint(&mut self, cell: usize, value: R::Cell) {
        self.adjoints[cell] = self.numbers.reals.to_bits(value);
    }
    #[inline(always)]
    fn set_zero(&mut self, class: Class, cell: usize) {
        match class {
            Class::Int => self.ints[cell] = 0,
            Class::Real => self.reals[cell] = R::Bits::default(),
        }
    }

    #[inline(always)]
    fn admit(&self, value: R::Cell) -> Eval<R::Cell> {
        self.numbers.reals.admit(value)
    }
    #[inline(always)]
    fn is_nonzero(&self, adjoint: R::Cell) -> bool {
        !is_silent(self.numbers.reals, adjoint)
    }
    #[inline(always)]
    fn receives(&self, operand: usize, cell: usize) -> bool {
        self.flags & op::IS_PASSIVE[operand] == 0
            && (!self.pool.contains(&cell) || !keeps(Rule::ConstantsReceiveNothing))
    }
    #[inline(always)]
    fn is_same(&self, a: usize, b: usize) -> bool {
        a == b
    }
    #[inline(always)]
    fn either(&self, a: bool, b: bool) -> bool {
        a || b
    }
    #[inline(always)]
    fn choose(&self, bit: bool, yes: R::Cell, no: R::Cell) -> R::Cell {
        if bit { yes } else { no }
    }
    #[inline(always)]
    fn holds(&self, bit: bool) -> bool {
        bit
    }

    #[inline(always)]
    fn require_condition(&mut self, holds: i64) -> Result<(), Failed> {
        if holds != 0 || !keeps(Rule::AssertionsAreChecked) { Ok(()) } else { Err(Failed::Denied) }
    }
    #[inline(always)]
    fn require_vacant(&mut self, class: Class, cell: usize) -> Result<(), Failed> {
        let is_zero = match class {
            Class::Int => self.ints[cell] == 0,
            Class::Real => self.reals[cell] == R::Bits::default(),
        };
        if is_zero { Ok(()) } else { Err(Failed::NotVacant) }
    }

    #[inline(always)]
    fn converts(&mut self, _source: usize) {}
    #[inline(always)]
    fn erases(&mut self, _class: Class, _cell: usize, _erasure: Erasure) {}
    #[inline(always)]
    fn ends_adjoint(&mut self, _cell: usize) {}
    #[inline(always)]
    fn frees(&mut self, _cell: usize) {}
    #[inline(always)]
    fn drop_adjoint(&mut self, cell: usize) {
        let adjoint = self.adjoint(cell);
        if keeps(Rule::AdjointsAreDropped) {
            self.adjoints[cell] = R::Bits::default();
        }
        self.drops += u64::from(!is_silent(self.numbers.reals, adjoint));
    }
}
