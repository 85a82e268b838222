//! Traps: the reasons why a run can't continue. A trap leaves the state as it was before the instruction. A trap
//! identifies cells by their offsets; [`crate::explain`] finds their names.

use reviver_isa::fault::Fault;
use reviver_isa::instruction::Class;
use reviver_isa::step::{Failed, Operation};

use crate::allocation::AllocationPurpose;

/// A runtime error, and the instruction that caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The index of the instruction in the code.
    pub at: u32,
    /// The reason, with the cells or numbers involved.
    pub cause: Cause,
}

/// An access of a task, for reports of conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskArgument {
    /// The number of the task within the `fork`, counted from 0 in the order of sequential execution.
    pub task: u32,
    /// The index of the task's call in the code.
    pub site: u32,
    /// The argument that refers to the cells; `None` if the callee names the cells, or if the cells determine which
    /// tasks are called.
    pub argument: Option<u32>,
}

/// The cause of a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The function or the update has no result.
    Fault(Fault),
    /// The function has a value, but no representable derivative with respect to one of its sources (0 or 1).
    NoDerivative {
        /// The number of the source without a derivative: 0 or 1.
        source: u8,
        /// The reason why the derivative has no value.
        fault: Fault,
    },
    /// An adjoint, or a tangent of a dual number, exceeds the range of the number system.
    DerivativeOutOfRange(Fault),
    /// The condition of an `assert` is false.
    AssertFailed,
    /// A join was reached by fall-through, although the join's condition says that control jumped from its partner.
    UnexpectedFall,
    /// A branch was taken, although the condition of its partner says that the branch wasn't taken.
    UnexpectedJump {
        /// The index of the partner instruction.
        partner: u32,
    },
    /// An index is out of bounds.
    Index {
        /// The number of the operand, or of the argument if the instruction is a call, from 0.
        operand: u32,
        /// The number of the dimension, 0 or 1.
        dimension: u32,
        /// The value of the index, which may be negative.
        index: i64,
        /// The array's length in this dimension.
        length: u32,
    },
    /// The target of the instruction is also a source or an index.
    Alias {
        /// The number of the operand, from 0, that is the same cell as the target or has this cell as an index.
        operand: u32,
    },
    /// A cell that must be vacant isn't. The address of an adjoint has its highest bit set.
    NotVacant {
        /// The class that the cell belongs to.
        class: Class,
        /// The offset of the cell in its class.
        cell: u32,
    },
    /// A cell of a frame isn't vacant at the procedure's end.
    FrameNotVacant {
        /// The class that the cell belongs to.
        class: Class,
        /// The offset of the cell in its class.
        cell: u32,
    },
    /// At the end of a call, an argument refers to other cells than at its start.
    ReferenceChanged {
        /// The number of the argument, from 0.
        argument: u32,
    },
    /// Two arguments share cells, and not both are `in`.
    ArgumentsOverlap {
        /// The number of one argument, from 0.
        first: u32,
        /// The number of the other argument, from 0.
        second: u32,
    },
    /// Two tasks share cells that one of them may change.
    TasksShare {
        /// The access of one of the two tasks.
        first: TaskArgument,
        /// The access of the other task.
        second: TaskArgument,
    },
    /// The bounds of a slice argument are outside of its array, or in the wrong order.
    SliceBounds {
        /// The number of the argument, from 0.
        argument: u32,
        /// The lower bound of the slice, inclusive.
        from: i64,
        /// The upper bound of the slice, exclusive.
        to: i64,
        /// The number of elements of the array.
        length: u32,
    },
    /// A value was to be taken from an empty stack.
    StackEmpty {
        /// The class of the stack's values.
        class: Class,
    },
    /// The stack already holds as many values as the program's limit allows.
    StackFull {
        /// The limit in values, set by `.limit stack`.
        limit: u32,
    },
    /// A call would exceed the limit on open calls.
    DepthExceeded {
        /// The limit in open calls, set by `.limit depth`.
        limit: u32,
    },
    /// The cells of all globals and open frames exceed the maximum of a program.
    FramesFull,
    /// There is no memory left for this purpose.
    NoMemory(AllocationPurpose),
    /// A value was to be taken from an empty tape.
    TapeEmpty {
        /// True for the output tape, false for the input tape.
        output: bool,
    },
    /// The tape already holds as many values as the program's limit allows.
    TapeFull {
        /// True for the output tape, false for the input tape.
        output: bool,
        /// The limit in values, set by `.limit tape`.
        limit: u32,
    },
    /// The tape holds a value of the other class.
    TapeClass {
        /// True for the output tape, false for the input tape.
        output: bool,
        /// The class of the cell that the value was to move to.
        wanted: Class,
    },
    /// An irreversible instruction was to be undone, but no history has a record of its loss.
    Irreversible,
    /// Gradient mode was to be switched to the state that it already has.
    ModeIs {
        /// The state of the mode: true if it is on.
        on: bool,
    },
}

impl Cause {
    /// Returns the cause for a failed step on cells; `address` is that of the first operand.
    pub(crate) fn of(failed: Failed, operation: Operation, address: usize) -> Cause {
        match failed {
            Failed::Value(fault) => Cause::Fault(fault),
            Failed::Partial { source, fault } => Cause::NoDerivative { source, fault },
            Failed::Carried(fault) => Cause::DerivativeOutOfRange(fault),
            Failed::Denied => Cause::AssertFailed,
            Failed::NotVacant => Cause::NotVacant { class: operation.class(), cell: address as u32 },
            Failed::Irreversible => Cause::Irreversible,
        }
    }

    /// Returns true if a value exists but no derivative. A history can't help in this case.
    pub fn is_about_derivatives(self) -> bool {
        matches!(self, Cause::NoDerivative { .. } | Cause::DerivativeOutOfRange(_))
    }
}
