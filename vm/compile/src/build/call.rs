//! Entry and exit of callees, inlined or out of line. The code at entry computes the arguments, checks that they don't
//! alias, and zeroes the frame. The code at exit checks that the frame is vacant. [`super::step`] emits all other
//! steps.

use reviver_flow::{Anchor, CallSite, Passed};
use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;

use super::draft::CellVariable;
use super::frame::{FrameSegment, segments};
use super::inlining::{CallEdge, FunctionCall};
use super::writer::{OperandHome, ReferenceValues, StepWriter};
use crate::function::REFERENCE_WORDS;
use crate::op::{OpKind, Space, SsaValue};

impl StepWriter<'_> {
    /// Emits the step of an inlined call, and zeroes the variables of the callee's frame.
    pub fn open(self, callee: u32) {
        let called = self.inlined_frames.get(callee).and_then(|inlined_frame| inlined_frame.called);
        let Some(called) = called else { return };
        for (n, reference) in (0..).zip(self.pass(called)) {
            self.draft.pass(callee, n, reference);
        }
        StepWriter { inlined_frame: callee, ..self }.begin_frame();
    }

    /// Emits the step of a call: computes the arguments, and checks that they don't alias. Returns the arguments.
    fn pass(self, called: CallEdge) -> Vec<ReferenceValues> {
        let Some(passes) = self.inlined_frames.call(called) else { return Vec::new() };
        let passed: Vec<ReferenceValues> =
            passes.arguments.iter().map(|passed| self.reference(passed)).collect();
        for (first, second) in self.inlined_frames.alias_checks(passes) {
            self.require_distinct(passes, &passed, first, second);
        }
        self.draft.count_call();
        passed
    }

    /// Zeroes the variables of the inlined frame. Cells in memory need no zeroing, because all memory after the open
    /// frames already holds 0.
    pub fn begin_frame(self) {
        for segment in segments(self.inlined_frames, self.storages, self.inlined_frame) {
            for (anchor, class) in self.variables_of(segment) {
                self.begin_with_zero(class, anchor);
            }
        }
    }

    /// Iterates over the SSA variables in a segment of the inlined frame.
    fn variables_of(self, segment: FrameSegment) -> impl Iterator<Item = (Anchor, Class)> {
        let FrameSegment { class, first, count, .. } = segment;
        let anchors = (first..first + count)
            .map(move |offset| self.inlined_frames.frame_cell(self.inlined_frame, class, offset));
        anchors
            .filter(move |&anchor| self.storage().is_variable(class, anchor))
            .map(move |anchor| (anchor, class))
    }

    /// Emits the step that enters an out-of-line callee: appends a call record, and fills it with the arguments.
    /// [`super::exits`] emits the stores of the caller's live variables to memory.
    pub fn enter_function(self, number: usize, FunctionCall { called, callee }: FunctionCall) {
        let draft = self.draft;
        let store = |word: u32, value| {
            draft.op(OpKind::Store(Space::References), [draft.record_word(word.into()), value]);
        };
        store(0, draft.int(number as i64 + 1));
        for (n, reference) in (0..).zip(self.pass(called)) {
            for (word, value) in (1 + n * REFERENCE_WORDS..).zip(reference) {
                store(word, value);
            }
            draft.pass(callee, n, reference);
        }
        for (inlined_frame, place) in self.inlined_frames.kept(FunctionCall { called, callee }) {
            for (word, value) in (place..).zip(self.all_passed(inlined_frame)) {
                store(word, value);
            }
        }
    }

    /// Returns the words of all references passed to an inlined frame.
    pub fn all_passed(self, inlined_frame: u32) -> Vec<SsaValue> {
        (0..self.inlined_frames.arguments(inlined_frame))
            .flat_map(|n| self.passed(inlined_frame, n))
            .collect()
    }

    /// Emits the code after the return of an out-of-line call: a check that the call's arguments still refer to the
    /// same cells.
    pub fn after_call(self, FunctionCall { called, .. }: FunctionCall) {
        let word = |n: u32, word: u32| {
            let address = self.draft.record_word(i64::from(1 + n * REFERENCE_WORDS + word));
            self.draft.op(OpKind::Load(Space::References), [address])
        };
        self.require_same_references(called, |n| [0, 1, 2].map(|part| word(n, part)));
    }

    fn begin_with_zero(self, class: Class, anchor: Anchor) {
        for (space, zero) in self.zeros(class) {
            self.draft.write(CellVariable { space, anchor }, zero);
        }
    }

    /// Emits the return from the inlined frame: checks the arguments again, and frees the frame. `loops` has two blocks
    /// for each loop that frees cells: the repeated block, and the block after the loop.
    pub fn close(self, loops: &[(u32, u32)]) {
        if let Some(called) =
            self.inlined_frames.get(self.inlined_frame).and_then(|inlined_frame| inlined_frame.called)
        {
            let caller = StepWriter { inlined_frame: called.by, ..self };
            caller.require_same_references(called, |n| self.passed(self.inlined_frame, n));
        }
        self.draft.count_call();
        let mut loops = loops.iter();
        for segment in segments(self.inlined_frames, self.storages, self.inlined_frame) {
            match loops.as_slice() {
                &[(repeated, after), ..] if segment.is_loop => {
                    loops.next();
                    self.free_in_loop(segment, repeated, after);
                }
                _ => (0..segment.count).for_each(|n| self.free_named(segment.class, segment.first + n)),
            }
            if self.inlined_frames.is_in_memory(self.inlined_frame) {
                self.variables_of(segment).for_each(|(anchor, class)| self.store_zero(class, anchor));
            }
        }
    }

    /// Zeroes the memory cell of a variable, because memory after the open frames must hold 0, and code may have stored
    /// the variable while its frame was open.
    fn store_zero(self, class: Class, anchor: Anchor) {
        for &(space, zero) in self.zeros(class).iter() {
            self.draft.op(OpKind::Store(space), [self.draft.address(anchor), zero]);
        }
    }

    /// Returns the spaces that contain a cell of this class, each with a literal 0 of the space's class. In gradient
    /// mode, a real also has a cell in [`Space::Adjoints`].
    fn zeros(self, class: Class) -> Vec<(Space, SsaValue)> {
        let real = || self.draft.real(0);
        match (class, self.gradient) {
            (Class::Int, _) => vec![(Space::Ints, self.draft.int(0))],
            (Class::Real, false) => vec![(Space::Reals, real())],
            (Class::Real, true) => vec![(Space::Reals, real()), (Space::Adjoints, real())],
        }
    }

    /// Frees one cell of the frame, given by its offset.
    fn free_named(self, class: Class, offset: u32) {
        let cell = self.inlined_frames.frame_cell(self.inlined_frame, class, offset);
        match class {
            Class::Int => self.free_int(self.own_cell(Space::Ints, cell)),
            Class::Real => {
                self.free(self.own_cell(Space::Reals, cell), self.own_cell(Space::Adjoints, cell));
            }
        }
    }

    /// Frees adjacent memory cells of the frame in a loop.
    fn free_in_loop(self, segment: FrameSegment, repeated: u32, after: u32) {
        let FrameSegment { class, first, count, .. } = segment;
        let first = self.draft.address(self.inlined_frames.frame_cell(self.inlined_frame, class, first));
        let (one, number) = (self.draft.int(1), self.draft.begin_loop(repeated, self.draft.int(0)));
        let cell = OperandHome::Memory(self.draft.place(first, number, one));
        match class {
            Class::Int => self.free_int(cell),
            Class::Real => self.free(cell, cell),
        }
        let next = self.draft.place(number, one, one);
        let continues = self.draft.op(OpKind::IntTest(Order::Lt), [next, self.draft.int(count.into())]);
        self.draft.end_loop(repeated, next, continues);
        self.draft.enter(after);
    }

    /// Frees an integer of a frame. Checked code requires that the integer is 0; unchecked code sets it to 0.
    fn free_int(self, cell: OperandHome) {
        if !self.level.is_checked() {
            return self.set(Space::Ints, &cell, self.draft.int(0));
        }
        let is_zero = [self.value(Space::Ints, &cell), self.draft.int(0)];
        let is_zero = self.draft.op(OpKind::IntTest(Order::Eq), is_zero);
        self.draft.op(OpKind::RequireTrue, [is_zero]);
    }

    /// Frees a real of a frame together with its adjoint: sets both to 0. Checked code first requires that the real is
    /// vacant.
    fn free(self, cell: OperandHome, adjoint_cell: OperandHome) {
        let zero = self.draft.real(0);
        let adjoint = if self.gradient { self.value(Space::Adjoints, &adjoint_cell) } else { zero };
        if self.level.is_checked() {
            let value = self.value(Space::Reals, &cell);
            self.draft.op(OpKind::RequireVacant, [value]);
            if self.is_watched {
                self.draft.op(OpKind::Freed { at: self.at, row: 0 }, [value, adjoint]);
            }
            self.draft.op(OpKind::CountDiscarded, [value]);
        }
        // Memory after the open frames must hold 0.
        self.set(Space::Reals, &cell, zero);
        if self.gradient {
            if self.level.is_checked() {
                self.draft.op(OpKind::CountDropped, [adjoint]);
            }
            self.set(Space::Adjoints, &adjoint_cell, zero);
        }
    }

    /// Computes the reference that a call passes for a parameter.
    fn reference(self, passed: &Passed) -> ReferenceValues {
        let draft = self.draft;
        let one = draft.int(1);
        match *passed {
            Passed::Cell(ref slot) => [self.slot_address(slot), one, one],
            Passed::Whole(array) => self.array(array),
            Passed::Matrix(matrix) => self.matrix(matrix),
            Passed::Flat(matrix) => {
                let [base, rows, columns] = self.matrix(matrix);
                [base, draft.place(draft.int(0), rows, columns), one]
            }
            Passed::Span { array, from, to, .. } => {
                let [base, length, stride] = self.array(array);
                // Each bound of a slice may be equal to the array's length.
                let end = draft.place(length, one, one);
                let [from, to] = [from, to].map(|bound| self.index(bound, end));
                let is_in_order = draft.op(OpKind::IntTest(Order::Le), [from, to]);
                draft.op(OpKind::RequireTrue, [is_in_order]);
                let length = draft.place(to, from, draft.int(-1));
                // An empty slice refers to no cell. Its address is that of the array, so that two evaluations of the
                // slice are equal.
                let is_some = draft.op(OpKind::IntTest(Order::Gt), [length, draft.int(0)]);
                let first = draft.place(base, from, stride);
                [draft.op(OpKind::IntChoose, [is_some, first, base]), length, stride]
            }
            Passed::Row { matrix, row } => {
                let [base, rows, columns] = self.matrix(matrix);
                [draft.place(base, self.index(row, rows), columns), columns, one]
            }
            Passed::Column { matrix, column } => {
                let [base, rows, columns] = self.matrix(matrix);
                [draft.place(base, self.index(column, columns), one), rows, columns]
            }
        }
    }

    /// Emits the check of a call's arguments after the return: code that computes the arguments again, and checks that
    /// they equal the arguments that the callee received.
    fn require_same_references(self, called: CallEdge, was: impl Fn(u32) -> ReferenceValues) {
        let Some(passes) = self.inlined_frames.call(called) else { return };
        for (n, passed) in (0..).zip(&passes.arguments) {
            if self.inlined_frames.reads_cells(passed) {
                for (now, was) in self.reference(passed).into_iter().zip(was(n)) {
                    self.require_equal(now, was);
                }
            }
        }
    }

    fn require_equal(self, a: SsaValue, b: SsaValue) {
        if a != b {
            let is_same = self.draft.op(OpKind::IntTest(Order::Eq), [a, b]);
            self.draft.op(OpKind::RequireTrue, [is_same]);
        }
    }

    /// Emits a check that two arguments don't alias. Unless both are columns of one matrix, the check compares ranges
    /// of addresses. So it may also fail for arguments without a common cell, if their cells are interleaved.
    fn require_distinct(self, passes: &CallSite, passed: &[ReferenceValues], first: usize, second: usize) {
        let draft = self.draft;
        let (Some(&a), Some(&b)) = (passed.get(first), passed.get(second)) else { return };
        if let (Some(Passed::Column { matrix, .. }), Some(Passed::Column { matrix: other, .. })) =
            (passes.arguments.get(first), passes.arguments.get(second))
            && matrix == other
        {
            draft.op(OpKind::RequireApart, [a[0], b[0]]);
            return;
        }
        let ([a, a_end, a_is_none], [b, b_end, b_is_none]) =
            (self.extent(passes, first, a), self.extent(passes, second, b));
        let test = |order, operands| draft.op(OpKind::IntTest(order), operands);
        let or = |a, b| draft.op(OpKind::IntOr, [a, b]);
        let is_apart = or(test(Order::Lt, [a_end, b]), test(Order::Lt, [b_end, a]));
        let is_apart = or(is_apart, or(a_is_none, b_is_none));
        draft.op(OpKind::RequireTrue, [is_apart]);
    }

    /// Returns the first and the last cell of a reference, and a condition that is true if the reference is empty.
    fn extent(self, passes: &CallSite, n: usize, [base, length, stride]: ReferenceValues) -> [SsaValue; 3] {
        let draft = self.draft;
        let (length, stride) = match self.inlined_frames.is_matrix(passes, n) {
            true => (draft.place(draft.int(0), length, stride), draft.int(1)),
            false => (length, stride),
        };
        let frame_offset = draft.place(length, draft.int(-1), draft.int(1));
        let is_none = draft.op(OpKind::IntTest(Order::Le), [length, draft.int(0)]);
        [base, draft.place(base, frame_offset, stride), is_none]
    }
}
