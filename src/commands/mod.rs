//! One file per subcommand.

pub mod asm;
pub mod check;
pub mod completions;
pub mod disasm;
pub mod fmt;
pub mod invert;
pub mod isa;
pub mod run;
