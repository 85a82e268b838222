//! One file per subcommand.

pub mod asm;
pub mod batch;
pub mod bench;
pub mod bennett;
pub mod build;
pub mod check;
pub mod completions;
pub mod course;
pub mod debug;
pub mod devices;
pub mod disasm;
pub mod expand;
pub mod fmt;
pub mod grad;
pub mod hessian;
pub mod invert;
pub mod isa;
pub mod jacobian;
pub mod plan;
pub mod repl;
pub mod run;
pub mod taylor;
pub mod test;
pub mod tradeoff;
