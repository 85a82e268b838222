//! SSA function under construction. Callers append operations to blocks, and read and write the current values of
//! variables. This module is independent of machine steps.
//!
//! M. Braun et al., "Simple and efficient construction of static single assignment form" (2013). A block with several
//! incoming edges gets a parameter (φ) for each variable that is read in the block before it is written. When all
//! blocks are written, the draft finds the arguments of the parameters.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use reviver_flow::Anchor;
use reviver_isa::instruction::Class;

use crate::error::BuildError;
use crate::function::{
    Definition, Demands, FixedCells, NumberKinds, REFERENCE_WORDS, Specialization, SsaBlock, SsaEnd,
    SsaFunction, StepOrigin, StepPart,
};
use crate::op::{Input, OpKind, Space, SsaOp, SsaValue};

/// Cell that is an SSA variable. Only steps with a static address access the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CellVariable {
    pub space: Space,
    pub anchor: Anchor,
}

/// Cells that hold 0 at entry, as address ranges of each space.
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
            Space::References | Space::StartInts | Space::StartReals | Space::Results => false,
        }
    }
}

/// Known state at entry.
#[derive(Clone, Debug)]
pub(super) struct EntryState {
    /// Cells that hold 0.
    pub zeros: ZeroCells,
    /// Operation whose result is the end of the call records at entry.
    pub records: OpKind,
    /// Number of words of a call record.
    pub record: u32,
}

/// Source variable of SSA construction: it has one value at each point of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum DraftName {
    /// Cell of a procedure body: the number of the body, and the cell's name in this body.
    Cell(u32, CellVariable),
    /// Word of the reference passed for a parameter: the numbers of the inlined frame, of the parameter and of the
    /// word.
    Passed(u32, u32, u32),
    /// Start of the current frame's cells of a class.
    Frame(Class),
    /// End of the records of open calls.
    Records,
}

/// Block that is planned but not yet written.
#[derive(Clone, Debug)]
pub(super) struct PlannedBlock {
    pub end: SsaEnd,
    /// Number of the procedure body that contains the block: the specialization's own, or an out-of-line callee.
    pub function: u32,
    /// True if all cells are in memory at the start of the block, and no variable has a value: at the entry of an
    /// out-of-line callee, and after a return from an out-of-line callee.
    pub reloads_cells: bool,
    /// Inlined frames whose arguments are in call records at the start of the block. Each item has the number of the
    /// inlined frame, and the offset of its arguments from the end of the call records, in words.
    pub reloads_passed: Vec<(u32, i64)>,
}

/// Number of the entry block, which contains literals, inputs, and the initial values of variables.
const ENTRY: u32 = 0;

/// SSA function under construction. Its methods take `&self`, and each borrows the inner state only while the method
/// runs.
pub(super) struct Draft {
    numbers: NumberKinds,
    inner: RefCell<Inner>,
}

struct Inner {
    definitions: Vec<Definition>,
    origins: Vec<Option<StepOrigin>>,
    blocks: Vec<SsaBlock>,
    predecessors: Vec<Vec<u32>>,
    /// Number of the procedure body of each block.
    functions: Vec<u32>,
    reloads_cells: Vec<bool>,
    reloads_passed: Vec<Vec<(u32, i64)>>,
    beginning: EntryState,
    /// Block to which operations are appended.
    current: u32,
    /// Step to which appended operations belong, if any.
    origin: Option<StepOrigin>,
    /// Guard of appended operations that may fail ([`SsaOp::guard`]).
    guard: Option<SsaValue>,
    /// Value of each literal and input that code uses, so that each is defined only once.
    known: HashMap<OpKind, SsaValue>,
    /// Frame addresses that are already computed. The key is the block, the class, and the offset in cells.
    of_frame: HashMap<(u32, Class, u32), SsaValue>,
    /// Numbers of the source variables.
    names: HashMap<DraftName, u32>,
    all_names: Vec<DraftName>,
    is_written: Vec<bool>,
    /// Cells of each procedure body with the numbers of their variables, in the order of first use.
    cells: HashMap<u32, Vec<(u32, CellVariable)>>,
    /// Value of each variable at the end of each block, or at the end of the block's part that is written so far. Has
    /// no entry if no value is known yet.
    held: HashMap<(u32, u32), SsaValue>,
    /// Number of SSA values, plus number of entries in `held`. Its upper bound is `most_work`.
    work: usize,
    most_work: usize,
    /// Block parameters that have no arguments yet: the block, and the parameter's variable.
    open: Vec<(u32, u32)>,
}

impl Draft {
    /// Creates a draft with planned blocks. The terminators of the blocks refer to blocks by number. `most_work` is the
    /// upper bound on the number of values plus recorded variable definitions.
    pub fn new(
        numbers: NumberKinds,
        planned: Vec<PlannedBlock>,
        beginning: EntryState,
        most_work: usize,
    ) -> Draft {
        let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); planned.len()];
        for (number, block) in (0..).zip(&planned) {
            for jump in block.end.jumps() {
                if let Some(known) = predecessors.get_mut(jump.to as usize)
                    && !known.contains(&number)
                {
                    known.push(number);
                }
            }
        }
        let mut inner = Inner {
            definitions: Vec::new(),
            origins: Vec::new(),
            blocks: Vec::with_capacity(planned.len()),
            predecessors,
            functions: planned.iter().map(|block| block.function).collect(),
            reloads_cells: planned.iter().map(|block| block.reloads_cells).collect(),
            reloads_passed: Vec::with_capacity(planned.len()),
            beginning,
            current: ENTRY,
            origin: None,
            guard: None,
            known: HashMap::new(),
            of_frame: HashMap::new(),
            names: HashMap::new(),
            all_names: Vec::new(),
            is_written: Vec::new(),
            cells: HashMap::new(),
            held: HashMap::new(),
            work: 0,
            most_work,
            open: Vec::new(),
        };
        for PlannedBlock { end, reloads_passed, .. } in planned {
            inner.blocks.push(SsaBlock { parameters: Vec::new(), ops: Vec::new(), steps: 0, calls: 0, end });
            inner.reloads_passed.push(reloads_passed);
        }
        Draft { numbers, inner: RefCell::new(inner) }
    }

    pub fn numbers(&self) -> NumberKinds {
        self.numbers
    }

    /// Makes a block the current one, to which operations are appended.
    pub fn enter(&self, block: u32) {
        self.inner.borrow_mut().current = block;
    }

    /// Sets the instruction to which the next operations of the current block belong.
    pub fn set_instruction(&self, at: Option<u32>) {
        self.inner.borrow_mut().origin = at.map(|at| StepOrigin { at, part: StepPart::Other });
    }

    /// Appends the operations of a part of the current step.
    pub fn in_part<R>(&self, part: StepPart, append: impl FnOnce() -> R) -> R {
        let of_part = |origin: StepOrigin| StepOrigin { part, ..origin };
        let outer = {
            let inner = &mut *self.inner.borrow_mut();
            let origin = inner.origin.map(of_part);
            std::mem::replace(&mut inner.origin, origin)
        };
        let appended = append();
        self.inner.borrow_mut().origin = outer;
        appended
    }

    /// Records that the operation of the value `new` computes the new value of a target.
    pub fn mark_update(&self, new: SsaValue) {
        if let Some(Some(origin)) = self.inner.borrow_mut().origins.get_mut(new.0 as usize)
            && origin.part == StepPart::Other
        {
            origin.part = StepPart::Update;
        }
    }

    /// Returns true if the bound on values and recorded variable definitions is exceeded.
    pub fn is_too_large(&self) -> bool {
        let inner = self.inner.borrow();
        inner.work > inner.most_work
    }

    /// Adds to the number of machine steps of the current block.
    pub fn count_steps(&self, steps: u32) {
        let inner = &mut *self.inner.borrow_mut();
        if let Some(block) = inner.blocks.get_mut(inner.current as usize) {
            block.steps += steps;
        }
    }

    /// Ends the current block with a jump to `block`, the only block of a generated loop, and makes `block` current.
    /// Returns the loop's counter, which begins with `first`.
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

    /// Ends an iteration of a generated loop: repeats the block with counter `next` if `continues` isn't 0.
    pub fn end_loop(&self, block: u32, next: SsaValue, continues: SsaValue) {
        self.set_condition(continues);
        self.inner.borrow_mut().hand_over(block, block, next);
    }

    /// Adds 1 to the number of the current block's steps that enter or leave a call.
    pub fn count_call(&self) {
        let inner = &mut *self.inner.borrow_mut();
        if let Some(block) = inner.blocks.get_mut(inner.current as usize) {
            block.calls += 1;
        }
    }

    /// Sets the condition of the branch at the end of the current block.
    pub fn set_condition(&self, value: SsaValue) {
        let inner = &mut *self.inner.borrow_mut();
        if let Some(SsaBlock { end: SsaEnd::Branch { condition, .. }, .. }) =
            inner.blocks.get_mut(inner.current as usize)
        {
            *condition = value;
        }
    }

    /// Sets the number of steps that the safepoint at the end of the current block skips.
    pub fn set_skipped(&self, value: SsaValue) {
        let inner = &mut *self.inner.borrow_mut();
        if let Some(SsaBlock { end: SsaEnd::Safepoint { skipped, .. }, .. }) =
            inner.blocks.get_mut(inner.current as usize)
        {
            *skipped = Some(value);
        }
    }

    /// Appends an operation to the current block.
    pub fn op<const N: usize>(&self, kind: OpKind, operands: [SsaValue; N]) -> SsaValue {
        let inner = &mut *self.inner.borrow_mut();
        let guard = inner.guard.filter(|_| kind.may_fail(self.numbers.system));
        inner.put(inner.current, kind, operands, guard)
    }

    /// Returns the value of a literal integer.
    pub fn int(&self, value: i64) -> SsaValue {
        self.inner.borrow_mut().known(OpKind::Int(value))
    }

    /// Returns the value of a literal real.
    pub fn real(&self, bits: u64) -> SsaValue {
        self.inner.borrow_mut().known(OpKind::Real(bits))
    }

    /// Returns the end of the space for call records: no record may begin at or after this address.
    pub fn records_end(&self) -> SsaValue {
        self.inner.borrow_mut().known(OpKind::Input(Input::RecordsEnd))
    }

    /// Returns the address base + index·stride, folded if possible.
    pub fn place(&self, base: SsaValue, index: SsaValue, stride: SsaValue) -> SsaValue {
        match [base, index, stride].map(|value| self.inner.borrow().literal(value)) {
            [Some(base), Some(index), Some(stride)] => self.int(base + index * stride),
            [_, Some(0), _] => base,
            [Some(0), _, Some(1)] => index,
            _ => self.op(OpKind::Place, [base, index, stride]),
        }
    }

    /// Returns the address of the cell at an anchor. The anchor refers to the current block's procedure body.
    pub fn address(&self, anchor: Anchor) -> SsaValue {
        let inner = &mut *self.inner.borrow_mut();
        inner.address(inner.current, anchor)
    }

    /// Returns the address of a word of the call records. `word` is the offset from the end of the call records.
    pub fn record_word(&self, word: i64) -> SsaValue {
        let (records, one) = (self.records(), self.int(1));
        self.place(records, self.int(word), one)
    }

    /// Returns the address of the end of the call records.
    pub fn records(&self) -> SsaValue {
        self.named(DraftName::Records)
    }

    /// Returns a word of the reference passed to an inlined frame for a parameter.
    pub fn passed(&self, inlined_frame: u32, n: u32, word: u32) -> SsaValue {
        self.named(DraftName::Passed(inlined_frame, n, word))
    }

    /// Sets the reference passed to an inlined frame for a parameter.
    pub fn pass(&self, inlined_frame: u32, n: u32, reference: [SsaValue; 3]) {
        for (word, value) in (0..).zip(reference) {
            self.inner.borrow_mut().set(DraftName::Passed(inlined_frame, n, word), value);
        }
    }

    /// Enters an out-of-line callee: sets the start of its frame, and adds a call record.
    pub fn enter_function(&self, frame: [SsaValue; 2]) {
        let record = self.inner.borrow().beginning.record;
        let records = self.record_word(record.into());
        let inner = &mut *self.inner.borrow_mut();
        inner.set(DraftName::Records, records);
        for (class, start) in [Class::Int, Class::Real].into_iter().zip(frame) {
            inner.set(DraftName::Frame(class), start);
        }
    }

    /// Makes the current block the entry of an out-of-line callee. The start of the frame and the end of the call
    /// records depend on the caller, so they become block parameters.
    pub fn begin_function(&self) {
        let inner = &mut *self.inner.borrow_mut();
        for name in [DraftName::Records, DraftName::Frame(Class::Int), DraftName::Frame(Class::Real)] {
            let number = inner.number(name);
            let given = inner.parameter(inner.current, number);
            inner.held.insert((inner.current, number), given);
        }
    }

    /// Makes the current block the return point of an out-of-line call: removes the call record, and moves the start of
    /// the frame back by `frame_offset` (integer and real cells).
    pub fn leave_function(&self, frame_offset: [u32; 2]) {
        let record = self.inner.borrow().beginning.record;
        let names = [DraftName::Records, DraftName::Frame(Class::Int), DraftName::Frame(Class::Real)];
        for (name, back) in names.into_iter().zip([record, frame_offset[0], frame_offset[1]]) {
            let (number, given) = {
                let inner = &mut *self.inner.borrow_mut();
                let number = inner.number(name);
                (number, inner.parameter(inner.current, number))
            };
            let own = self.place(given, self.int(-i64::from(back)), self.int(1));
            let inner = &mut *self.inner.borrow_mut();
            inner.held.insert((inner.current, number), own);
        }
    }

    fn named(&self, name: DraftName) -> SsaValue {
        let inner = &mut *self.inner.borrow_mut();
        let number = inner.number(name);
        inner.held_at_end(inner.current, number)
    }

    /// Runs `write` with an additional guard `by`, and returns the result of `write`. If `by` is 0 at run time,
    /// operations that `write` appends don't fail.
    pub fn guarded<T>(&self, by: SsaValue, write: impl FnOnce() -> T) -> T {
        let outer = self.inner.borrow().guard;
        let both = outer.map_or(by, |outer| self.op(OpKind::IntAnd, [outer, by]));
        self.inner.borrow_mut().guard = Some(both);
        let made = write();
        self.inner.borrow_mut().guard = outer;
        made
    }

    /// Returns the current value of a variable.
    pub fn read(&self, variable: CellVariable) -> SsaValue {
        self.named(DraftName::Cell(self.function(), variable))
    }

    /// Sets the value of a variable for later code of the current block, and for the blocks after it.
    pub fn write(&self, variable: CellVariable, value: SsaValue) {
        let name = DraftName::Cell(self.function(), variable);
        self.inner.borrow_mut().set(name, value);
    }

    /// Returns the number of the procedure body that contains the current block.
    fn function(&self) -> u32 {
        let inner = self.inner.borrow();
        inner.functions.get(inner.current as usize).copied().unwrap_or(0)
    }

    /// Appends a store for each variable that some block of the procedure body writes and for which `is_alive` is true.
    pub fn store_variables(&self, is_alive: impl Fn(CellVariable) -> bool) {
        let function = self.function();
        let written: Vec<CellVariable> = {
            let inner = self.inner.borrow();
            let own = inner.cells.get(&function).into_iter().flatten();
            let written = own.filter(|(name, _)| inner.is_written.get(*name as usize) == Some(&true));
            written.map(|(_, variable)| *variable).filter(|variable| is_alive(*variable)).collect()
        };
        for variable in written.into_iter().take_while(|_| !self.is_too_large()) {
            let (address, value) = (self.address(variable.anchor), self.read(variable));
            self.op(OpKind::Store(variable.space), [address, value]);
        }
    }

    /// Completes block arguments and returns the SSA function.
    pub fn finish(self, specialization: Specialization) -> Result<SsaFunction, BuildError> {
        let mut inner = self.inner.into_inner();
        let mut next = 0;
        while let Some(&(block, name)) = inner.open.get(next).filter(|_| inner.work <= inner.most_work) {
            inner.pass(block, name);
            next += 1;
        }
        if inner.work > inner.most_work {
            return Err(BuildError::TooLarge);
        }
        let Inner { definitions, origins, blocks, .. } = inner;
        Ok(SsaFunction {
            specialization,
            numbers: self.numbers,
            cells: FixedCells::default(),
            reached: None,
            definitions,
            origins,
            blocks,
            ranges: BTreeMap::new(),
            exits: Vec::new(),
            calls: Vec::new(),
            demands: Demands::default(),
            first_steps: 0,
        })
    }
}

impl Inner {
    /// Returns the number of a value that is a literal integer; otherwise returns `None`.
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
        if let Some(origin) = self.origin.filter(|_| block == self.current) {
            self.origins.resize(value.0 as usize, None);
            self.origins.push(Some(origin));
        }
        self.blocks[block as usize].ops.push(value);
        value
    }

    /// Returns the value of an operation without operands. The operation is defined only once, in the entry block.
    fn known(&mut self, kind: OpKind) -> SsaValue {
        if let Some(&value) = self.known.get(&kind) {
            return value;
        }
        let value = self.put(ENTRY, kind, [], None);
        self.known.insert(kind, value);
        value
    }

    fn address(&mut self, block: u32, anchor: Anchor) -> SsaValue {
        let (class, offset) = match anchor {
            Anchor::Constant(cell) | Anchor::Fixed(cell) => return self.known(OpKind::Int(cell.into())),
            Anchor::Parameter(n) => {
                let number = self.number(DraftName::Passed(self.functions[block as usize], n, 0));
                return self.held_at_end(block, number);
            }
            Anchor::Frame(class, offset) => (class, offset),
        };
        if let Some(&value) = self.of_frame.get(&(block, class, offset)) {
            return value;
        }
        let number = self.number(DraftName::Frame(class));
        let start = self.held_at_end(block, number);
        let value = self.frame_offset(block, start, offset.into());
        self.of_frame.insert((block, class, offset), value);
        value
    }

    /// Returns the address that is `cells` cells after `start`.
    fn frame_offset(&mut self, block: u32, start: SsaValue, cells: i64) -> SsaValue {
        let literal = self.literal(start);
        match literal {
            _ if cells == 0 => start,
            Some(literal) => self.known(OpKind::Int(literal + cells)),
            None => {
                let operands = [OpKind::Int(cells), OpKind::Int(1)].map(|kind| self.known(kind));
                self.put(block, OpKind::Place, [start, operands[0], operands[1]], None)
            }
        }
    }

    fn number(&mut self, name: DraftName) -> u32 {
        let (all, is_written, cells) = (&mut self.all_names, &mut self.is_written, &mut self.cells);
        *self.names.entry(name).or_insert_with(|| {
            let number = all.len() as u32;
            all.push(name);
            is_written.push(false);
            if let DraftName::Cell(function, variable) = name {
                cells.entry(function).or_default().push((number, variable));
            }
            number
        })
    }

    fn set(&mut self, name: DraftName, value: SsaValue) {
        let number = self.number(name);
        self.is_written[number as usize] = true;
        self.held.insert((self.current, number), value);
    }

    /// Returns the value of a variable at the end of a block, or at the end of the block's part that is written so far.
    /// If the block has several predecessors, the value may be a new block parameter. At the entry, and in a block that
    /// reloads cells, the value is a load.
    fn held_at_end(&mut self, block: u32, name: u32) -> SsaValue {
        let (mut at, mut direction) = (block, Vec::new());
        let value = loop {
            if let Some(&value) = self.held.get(&(at, name)) {
                break value;
            }
            direction.push(at);
            match self.predecessors[at as usize].as_slice() {
                [] => break self.loaded(at, name),
                _ if self.is_reloaded(at, name) => break self.loaded(at, name),
                &[only] => at = only,
                _ => break self.parameter(at, name),
            }
        };
        self.work += direction.len();
        for block in direction {
            self.held.insert((block, name), value);
        }
        value
    }

    fn is_reloaded(&self, block: u32, name: u32) -> bool {
        match self.all_names[name as usize] {
            DraftName::Cell(..) => self.reloads_cells[block as usize],
            DraftName::Passed(inlined_frame, ..) => self.record_place(block, inlined_frame).is_some(),
            DraftName::Frame(_) | DraftName::Records => false,
        }
    }

    /// Returns the offset of an inlined frame's arguments from the end of the call records, in words. Returns `None` if
    /// the arguments aren't in a record.
    fn record_place(&self, block: u32, inlined_frame: u32) -> Option<i64> {
        let known = self.reloads_passed[block as usize].iter();
        known.filter(|(own, _)| *own == inlined_frame).map(|(_, place)| *place).next()
    }

    fn loaded(&mut self, block: u32, name: u32) -> SsaValue {
        match self.all_names[name as usize] {
            DraftName::Frame(class) => self.known(OpKind::Input(Input::Frame(class))),
            DraftName::Records => self.known(self.beginning.records),
            DraftName::Passed(inlined_frame, n, word) => {
                let own = i64::from(n * REFERENCE_WORDS + word);
                let place = self.record_place(block, inlined_frame).unwrap_or(0) + own;
                let records = self.number(DraftName::Records);
                let records = self.held_at_end(block, records);
                let address = self.frame_offset(block, records, place);
                self.put(block, OpKind::Load(Space::References), [address], None)
            }
            DraftName::Cell(_, held) => self.loaded_cell(block, held),
        }
    }

    fn loaded_cell(&mut self, block: u32, held: CellVariable) -> SsaValue {
        let CellVariable { space, anchor } = held;
        if block == ENTRY && self.beginning.zeros.have(held) {
            return self.known(match space.class() {
                Class::Int => OpKind::Int(0),
                Class::Real => OpKind::Real(0),
            });
        }
        let address = self.address(block, anchor);
        self.put(block, OpKind::Load(space), [address], None)
    }

    /// Adds a parameter for a variable to a block with several incoming edges.
    fn parameter(&mut self, block: u32, name: u32) -> SsaValue {
        let class = match self.all_names[name as usize] {
            DraftName::Cell(_, CellVariable { space, .. }) => space.class(),
            DraftName::Passed(..) | DraftName::Frame(_) | DraftName::Records => Class::Int,
        };
        let value = SsaValue(self.definitions.len() as u32);
        self.definitions.push(Definition::Parameter(class));
        self.blocks[block as usize].parameters.push(value);
        self.open.push((block, name));
        value
    }

    /// Finds the arguments of a block parameter, and appends them to all edges that lead to the block.
    fn pass(&mut self, block: u32, name: u32) {
        for predecessor in self.predecessors[block as usize].clone() {
            let value = self.held_at_end(predecessor, name);
            self.hand_over(predecessor, block, value);
        }
    }

    /// Appends an argument to the edges between two blocks.
    fn hand_over(&mut self, from: u32, to: u32, value: SsaValue) {
        for jump in self.blocks[from as usize].end.jumps_mut().filter(|jump| jump.to == to) {
            jump.arguments.push(value);
            self.work += 1;
        }
    }
}
