//! Translates the SSA functions of programs to C11 text without dependencies. The text has a C function for the forward
//! direction, one for the backward direction, and one for a gradient. The C functions change only memory that the
//! caller supplies.
//!
//! | module | contents |
//! |---|---|
//! | [`text`] | a program's text: options, and the files that are written |
//! | [`error`] | reasons why a program has no text |
//!
//! Operations become expressions, blocks become labels, failed checks return a status. Elementary functions are
//! generated from the interpreter's source by symbolic evaluation, so that results have the same bits. The C library is
//! used only for square roots and rounding to integers, which IEEE 754 defines to the last bit.
//!
//! A gradient is verified by the rules that the machine applies to gradients without a history. These rules check the
//! jumps of the reverse sweep, freed values, and the final state. If the verification fails, the C function returns a
//! status and no numbers.
//!
//! ```
//! use reviver_assembler::{assemble::assemble, files::FilesInMemory};
//! use reviver_ctext::text::CText;
//! use reviver_vm::{CheckLevel, Program};
//!
//! let text = ".in n default 100\n.out sum\nfor i in 0..n\n    add sum, i\nrof\n";
//! let module = assemble("sum.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
//! let text = CText::of(&Program::new(module, 0).unwrap(), "sum", None, CheckLevel::Checked).unwrap();
//! assert!(text.header().contains("int sum_forward(struct sum_memory *memory, const int64_t *n_, int64_t *sum_);"));
//! ```

#![deny(missing_docs)]

mod body;
mod calls;
pub mod error;
mod fixed_functions;
mod float_evaluation;
mod functions;
mod gradient;
mod helpers;
mod identifiers;
mod interface;
mod memory;
mod numbers;
mod place;
mod seeded;
mod statements;
mod sweeps;
pub mod text;
mod verdict;
mod wide_evaluation;
