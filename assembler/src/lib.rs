//! The assembler: `.rasm` text ↔ module ↔ image bytes.
//!
//! It does no I/O of its own (files come through [`files::Files`]), runs nothing, and knows no
//! machine state.

pub mod diagnostic;
pub mod source;
pub mod tree;
