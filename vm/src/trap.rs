//! Why a run stopped where it can't go on. A trap leaves the state as it was before the
//! instruction; it names cells by offset, and [`crate::explain`] gives them their names.

use reviver_isa::fault::Fault;
use reviver_isa::instruction::Class;
use reviver_isa::step::{Failed, Operation};

use crate::room::Room;

/// A violation, and the instruction at which it was caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trap {
    /// Index of the instruction in the code.
    pub at: u32,
    pub cause: Cause,
}

/// What a task touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskArgument {
    /// Counts the tasks of the `fork` from 0, in the order in which they would run one after the other.
    pub task: u32,
    /// Index of its call in the code.
    pub site: u32,
    /// The argument by which it touches the cells; none where what is called names them, or where they say what is called.
    pub argument: Option<u32>,
}

/// What was violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The function or the update has no result.
    Fault(Fault),
    /// The function has a value, but no derivative by one of its sources (0 or 1) that a cell can hold.
    NoDerivative {
        source: u8,
        fault: Fault,
    },
    /// An adjoint, or the tangent of a lifted number, would leave the number system.
    DerivativeOutOfRange(Fault),
    /// The condition of an `assert` is false.
    AssertFailed,
    /// Falling into a join whose condition says that its partner was taken. `joined` is the branch
    /// half that was fallen into.
    UnexpectedFall,
    /// A branch was taken, and the condition of `partner` says that it wasn't.
    UnexpectedJump {
        partner: u32,
    },
    /// An index is outside of its array: which index (0 or 1), and the length.
    Index {
        operand: u32,
        dimension: u32,
        index: i64,
        length: u32,
    },
    /// The target is one of its own sources, or an index of the instruction.
    Alias {
        operand: u32,
    },
    /// A cell that must be vacant isn't. The address of an adjoint has its highest bit set.
    NotVacant {
        class: Class,
        cell: u32,
    },
    /// A frame's cell isn't vacant at the procedure's end.
    FrameNotVacant {
        class: Class,
        cell: u32,
    },
    /// At the exit, an argument no longer refers to what it did at the entry.
    ReferenceChanged {
        argument: u32,
    },
    /// Two arguments share cells, and not both are `in`.
    ArgumentsOverlap {
        first: u32,
        second: u32,
    },
    /// Two tasks share cells that one of them may change.
    TasksShare {
        first: TaskArgument,
        second: TaskArgument,
    },
    /// The bounds of a slice argument don't lie within its array, in order.
    SliceBounds {
        argument: u32,
        from: i64,
        to: i64,
        length: u32,
    },
    StackEmpty {
        class: Class,
    },
    StackFull {
        limit: u32,
    },
    DepthExceeded {
        limit: u32,
    },
    /// More cells in open frames than a program may have.
    FramesFull,
    /// There is no memory left for this.
    NoMemory(Room),
    TapeEmpty {
        output: bool,
    },
    TapeFull {
        output: bool,
        limit: u32,
    },
    /// The tape holds a value of the other class.
    TapeClass {
        output: bool,
        wanted: Class,
    },
    /// The way back over an irreversible instruction, without a history of it.
    Irreversible,
    /// Gradient mode was to be switched on where it was on, or off where it was off.
    ModeIs {
        on: bool,
    },
}

impl Cause {
    /// Why a step on cells can't be made, whose first operand is at an address.
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

    /// Whether there is a value but no derivative, so that no history can help.
    pub fn is_about_derivatives(self) -> bool {
        matches!(self, Cause::NoDerivative { .. } | Cause::DerivativeOutOfRange(_))
    }
}
