//! Why a course doesn't go on. Knows no course.

use crate::trap::Trap;

/// Why a course doesn't go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CourseHalt {
    /// The state is the one before the instruction that trapped.
    Trap(Trap),
    /// What it has to keep takes more than so many bytes.
    Full { bytes: u64 },
}

impl From<Trap> for CourseHalt {
    fn from(trap: Trap) -> CourseHalt {
        CourseHalt::Trap(trap)
    }
}
