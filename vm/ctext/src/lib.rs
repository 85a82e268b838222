//! C text of programs: C11 without dependencies, made of their SSA forms. There is a function for the way there, one for the way
//! back, and one for the gradient of a loss; all that they change lies in a memory that the caller brings.
//!
//! | module | what it is |
//! |---|---|
//! | [`text`] | a program's text: what is asked for, and the files that it becomes |
//! | [`error`] | why a program has none |
//!
//! Operations become expressions, blocks labels, checks a status. Elementary functions are read from where the
//! interpreter has them, operation by operation, so that the bits are the same; the C library is asked for square roots and
//! whole numbers only, which IEEE 754 defines to the last bit.
//!
//! A gradient is watched and judged as the machine judges its own without a history: the jumps of the way back, what is
//! freed, where it arrives. Where that isn't vouched for there is a status and no number.
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

mod body;
mod calls;
pub mod error;
mod fixed_functions;
mod functions;
mod helpers;
mod identifiers;
mod interface;
mod judge;
mod memory;
mod numbers;
mod place;
mod reading;
mod statements;
pub mod text;
mod wide_reading;
