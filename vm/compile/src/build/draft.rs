//! A form while it is written: operations are put behind each other, and what cells that are variables hold is found
//! wherever it is read. Knows no step.
//!
//! M. Braun et al., "Simple and efficient construction of static single assignment form" (2013): where ways meet, a
//! block gets a parameter for each variable that is read; what is passed for it is found once all blocks are written.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use reviver_flow::Anchor;
use reviver_isa::instruction::Class;

use crate::error::Outside;
use crate::form::{Definition, Demands, NumberKinds, SsaBlock, SsaEnd, SsaForm, Version};
use crate::op::{Input, OpKind, Space, SsaOp, SsaValue};

/// A cell that only steps which name it reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CellVariable {
    pub space: Space,
    pub anchor: Anchor,
}

/// The cells that hold 0 where a form begins: among all integers, reals and adjoints.
#[derive(Clone, Debug, Default)]
pub(super) struct ZeroCells {
    pub ints: Range<u32>,
    pub reals: Range<u32>,
    pub adjoints: Range<u32>,
}

impl ZeroCells {
    fn have(&self, CellVariable { space, anchor }: CellVariable) -> bool {
        let Anchor::Fixed(cell) = anchor else { return false };
        match space {
            Space::Ints => self.ints.contains(&cell),
            Space::Reals => self.reals.contains(&cell),
            Space::Adjoints => self.adjoints.contains(&cell),
            Space::References => false,
        }
    }
}

/// A form that takes more of them isn't made: its memory isn't asked for.
const MOST_WORK: usize = 1 << 22;

/// The block that everything begins with: literals, inputs, and what variables hold at first.
const ENTRY: u32 = 0;

/// A form while it is written. Its parts are borrowed for as long as one operation takes.
pub(super) struct Draft {
    numbers: NumberKinds,
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    definitions: Vec<Definition>,
    blocks: Vec<SsaBlock>,
    predecessors: Vec<Vec<u32>>,
    zeros: ZeroCells,
    /// Where operations are put.
    current: u32,
    /// Where this is 0, operations don't fail.
    guard: Option<SsaValue>,
    /// Literals and inputs, once each.
    known: HashMap<OpKind, SsaValue>,
    /// Addresses in the frame.
    of_frame: HashMap<(Class, u32), SsaValue>,
    /// The numbers of variables.
    variables: HashMap<CellVariable, u32>,
    all_variables: Vec<CellVariable>,
    is_written: Vec<bool>,
    /// What a variable holds at the end of a block, as far as it is written.
    held: HashMap<(u32, u32), SsaValue>,
    /// How many values, and notes of what is held, there are.
    work: usize,
    /// Parameters of blocks, for variables: what is passed for them is still to be found.
    open: Vec<(u32, u32)>,
}

impl Draft {
    /// Blocks that lead to each other by the numbers of their ends. Of what holds 0 at first it says so.
    pub fn new(numbers: NumberKinds, ends: Vec<SsaEnd>, zeros: ZeroCells) -> Draft {
        let mut inner = Inner { predecessors: vec![Vec::new(); ends.len()], zeros, ..Inner::default() };
        for (number, end) in (0..).zip(&ends) {
            for jump in end.jumps() {
                if let Some(known) = inner.predecessors.get_mut(jump.to as usize)
                    && !known.contains(&number)
                {
                    known.push(number);
                }
            }
        }
        let block = |end| SsaBlock { parameters: Vec::new(), ops: Vec::new(), steps: 0, calls: 0, end };
        inner.blocks = ends.into_iter().map(block).collect();
        Draft { numbers, inner: RefCell::new(inner) }
    }

    pub fn numbers(&self) -> NumberKinds {
        self.numbers
    }

    /// Goes on with a block.
    pub fn enter(&self, block: u32) {
        self.inner.borrow_mut().current = block;
    }

    /// Whether it isn't going to be made.
    pub fn is_too_large(&self) -> bool {
        self.inner.borrow().work > MOST_WORK
    }

    /// Counts steps that the current block makes.
    pub fn count_steps(&self, steps: u32) {
        let inner = &mut *self.inner.borrow_mut();
        if let Some(block) = inner.blocks.get_mut(inner.current as usize) {
            block.steps += steps;
        }
    }

    /// Goes on with a block that is repeated, and has led nowhere else so far: the number of the repetition, from `first` on.
    pub fn begin_loop(&self, block: u32, first: SsaValue) -> SsaValue {
        let inner = &mut *self.inner.borrow_mut();
        inner.current = block;
        let number = SsaValue(inner.definitions.len() as u32);
        inner.definitions.push(Definition::Parameter(Class::Int));
        inner.blocks[block as usize].parameters.push(number);
        for predecessor in inner.predecessors[block as usize].clone() {
            if predecessor != block {
                inner.hand_over(predecessor, block, first);
            }
        }
        number
    }

    /// Repeats a block with another number, if something holds.
    pub fn end_loop(&self, block: u32, next: SsaValue, goes_on: SsaValue) {
        self.set_condition(goes_on);
        self.inner.borrow_mut().hand_over(block, block, next);
    }

    /// The last of them enters a call or leaves one.
    pub fn count_call(&self) {
        let inner = &mut *self.inner.borrow_mut();
        if let Some(block) = inner.blocks.get_mut(inner.current as usize) {
            block.calls += 1;
        }
    }

    /// What the branch at the end of the current block looks at.
    pub fn set_condition(&self, value: SsaValue) {
        let inner = &mut *self.inner.borrow_mut();
        if let Some(SsaBlock { end: SsaEnd::Branch { condition, .. }, .. }) =
            inner.blocks.get_mut(inner.current as usize)
        {
            *condition = value;
        }
    }

    /// How many steps the end of the current block skips.
    pub fn set_skipped(&self, value: SsaValue) {
        let inner = &mut *self.inner.borrow_mut();
        if let Some(SsaBlock { end: SsaEnd::Pause { skipped, .. }, .. }) =
            inner.blocks.get_mut(inner.current as usize)
        {
            *skipped = Some(value);
        }
    }

    /// An operation behind those of the current block.
    pub fn op<const N: usize>(&self, kind: OpKind, operands: [SsaValue; N]) -> SsaValue {
        let inner = &mut *self.inner.borrow_mut();
        let guard = inner.guard.filter(|_| kind.may_fail(self.numbers.system));
        inner.put(inner.current, kind, operands, guard)
    }

    /// A literal integer.
    pub fn int(&self, value: i64) -> SsaValue {
        self.inner.borrow_mut().known(OpKind::Int(value))
    }

    /// The literal real of these bits.
    pub fn real(&self, bits: u64) -> SsaValue {
        self.inner.borrow_mut().known(OpKind::Real(bits))
    }

    pub fn input(&self, input: Input) -> SsaValue {
        self.inner.borrow_mut().known(OpKind::Input(input))
    }

    /// The address base + index·stride.
    pub fn place(&self, base: SsaValue, index: SsaValue, stride: SsaValue) -> SsaValue {
        match [base, index, stride].map(|value| self.inner.borrow().literal(value)) {
            [Some(base), Some(index), Some(stride)] => self.int(base + index * stride),
            [_, Some(0), _] => base,
            [Some(0), _, Some(1)] => index,
            _ => self.op(OpKind::Place, [base, index, stride]),
        }
    }

    /// The address of an anchor's cell.
    pub fn address(&self, anchor: Anchor) -> SsaValue {
        self.inner.borrow_mut().address(anchor)
    }

    /// Writes operations that don't fail where a value is 0. What `write` makes is given back.
    pub fn guarded<T>(&self, by: SsaValue, write: impl FnOnce() -> T) -> T {
        let outer = self.inner.borrow().guard;
        let both = outer.map_or(by, |outer| self.op(OpKind::IntAnd, [outer, by]));
        self.inner.borrow_mut().guard = Some(both);
        let made = write();
        self.inner.borrow_mut().guard = outer;
        made
    }

    /// What a variable holds here.
    pub fn read(&self, variable: CellVariable) -> SsaValue {
        let inner = &mut *self.inner.borrow_mut();
        let number = inner.number(variable);
        inner.held_at_end(inner.current, number)
    }

    /// Has a variable hold another value from here on.
    pub fn write(&self, variable: CellVariable, value: SsaValue) {
        let inner = &mut *self.inner.borrow_mut();
        let number = inner.number(variable);
        inner.is_written[number as usize] = true;
        inner.held.insert((inner.current, number), value);
    }

    /// Stores every variable that is written anywhere and still alive, at the end of the current block.
    pub fn store_variables(&self, is_alive: impl Fn(CellVariable) -> bool) {
        let written: Vec<CellVariable> = {
            let inner = self.inner.borrow();
            let all = inner.all_variables.iter().zip(&inner.is_written);
            let written = all.filter(|(_, is_written)| **is_written).map(|(variable, _)| *variable);
            written.filter(|variable| is_alive(*variable)).collect()
        };
        for variable in written.into_iter().take_while(|_| !self.is_too_large()) {
            let (address, value) = (self.address(variable.anchor), self.read(variable));
            self.op(OpKind::Store(variable.space), [address, value]);
        }
    }

    /// The form, once all blocks are written.
    pub fn finish(self, version: Version) -> Result<SsaForm, Outside> {
        let mut inner = self.inner.into_inner();
        let mut next = 0;
        while let Some(&(block, variable)) = inner.open.get(next).filter(|_| inner.work <= MOST_WORK) {
            inner.pass(block, variable);
            next += 1;
        }
        if inner.work > MOST_WORK {
            return Err(Outside::TooLarge);
        }
        let Inner { definitions, blocks, .. } = inner;
        let (exits, demands) = (Vec::new(), Demands::default());
        Ok(SsaForm { version, numbers: self.numbers, definitions, blocks, exits, demands, first_steps: 0 })
    }
}

impl Inner {
    /// The literal integer that a value is, if it is one.
    fn literal(&self, value: SsaValue) -> Option<i64> {
        match self.definitions.get(value.0 as usize)? {
            Definition::Op(SsaOp { kind: OpKind::Int(literal), .. }) => Some(*literal),
            Definition::Op(_) | Definition::Parameter(_) => None,
        }
    }

    fn put<const N: usize>(
        &mut self,
        block: u32,
        kind: OpKind,
        operands: [SsaValue; N],
        guard: Option<SsaValue>,
    ) -> SsaValue {
        self.work += 1;
        let value = SsaValue(self.definitions.len() as u32);
        let op = SsaOp { kind, operands: operands.into_iter().collect(), guard };
        self.definitions.push(Definition::Op(op));
        self.blocks[block as usize].ops.push(value);
        value
    }

    /// What needs no operands, and is the same everywhere.
    fn known(&mut self, kind: OpKind) -> SsaValue {
        if let Some(&value) = self.known.get(&kind) {
            return value;
        }
        let value = self.put(ENTRY, kind, [], None);
        self.known.insert(kind, value);
        value
    }

    fn address(&mut self, anchor: Anchor) -> SsaValue {
        let (class, offset) = match anchor {
            Anchor::Constant(cell) | Anchor::Fixed(cell) => return self.known(OpKind::Int(cell.into())),
            Anchor::Parameter(n) => return self.known(OpKind::Input(Input::Base(n))),
            Anchor::Frame(class, offset) => (class, offset),
        };
        if let Some(&value) = self.of_frame.get(&(class, offset)) {
            return value;
        }
        let operands = [OpKind::Input(Input::Frame(class)), OpKind::Int(offset.into()), OpKind::Int(1)];
        let operands = operands.map(|kind| self.known(kind));
        let value = self.put(ENTRY, OpKind::Place, operands, None);
        self.of_frame.insert((class, offset), value);
        value
    }

    fn number(&mut self, variable: CellVariable) -> u32 {
        let (all, is_written) = (&mut self.all_variables, &mut self.is_written);
        *self.variables.entry(variable).or_insert_with(|| {
            all.push(variable);
            is_written.push(false);
            all.len() as u32 - 1
        })
    }

    /// What a variable holds at the end of a block, as far as that is written: a parameter of it, or of one before, where
    /// ways meet before it is written; at the beginning what it is loaded with.
    fn held_at_end(&mut self, block: u32, variable: u32) -> SsaValue {
        let (mut at, mut way) = (block, Vec::new());
        let value = loop {
            if let Some(&value) = self.held.get(&(at, variable)) {
                break value;
            }
            way.push(at);
            match self.predecessors[at as usize].as_slice() {
                [] => break self.loaded(variable),
                &[only] => at = only,
                _ => break self.parameter(at, variable),
            }
        };
        self.work += way.len();
        for block in way {
            self.held.insert((block, variable), value);
        }
        value
    }

    fn loaded(&mut self, variable: u32) -> SsaValue {
        let held = self.all_variables[variable as usize];
        let CellVariable { space, anchor } = held;
        if self.zeros.have(held) {
            return self.known(match space.class() {
                Class::Int => OpKind::Int(0),
                Class::Real => OpKind::Real(0),
            });
        }
        let address = self.address(anchor);
        self.put(ENTRY, OpKind::Load(space), [address], None)
    }

    /// A parameter of a block where ways meet.
    fn parameter(&mut self, block: u32, variable: u32) -> SsaValue {
        let class = self.all_variables[variable as usize].space.class();
        let value = SsaValue(self.definitions.len() as u32);
        self.definitions.push(Definition::Parameter(class));
        self.blocks[block as usize].parameters.push(value);
        self.open.push((block, variable));
        value
    }

    /// Finds what is passed to a block for a variable.
    fn pass(&mut self, block: u32, variable: u32) {
        for predecessor in self.predecessors[block as usize].clone() {
            let value = self.held_at_end(predecessor, variable);
            self.hand_over(predecessor, block, value);
        }
    }

    /// Passes a value from a block to one that it leads to, behind those that it passes already.
    fn hand_over(&mut self, from: u32, to: u32, value: SsaValue) {
        for jump in self.blocks[from as usize].end.jumps_mut().filter(|jump| jump.to == to) {
            jump.arguments.push(value);
            self.work += 1;
        }
    }
}
