//! The assembler: `.rasm` text ↔ module ↔ image bytes.
//!
//! It does no I/O of its own (files come through [`files::Files`]), runs nothing, and knows no
//! machine state.

pub mod assemble;
pub mod certain;
pub mod diagnostic;
pub mod disassemble;
pub mod files;
pub mod format;
pub mod image;
mod include;
pub mod invert;
pub mod lexer;
mod lint;
mod lower;
pub mod parser;
mod places;
pub mod render;
pub mod source;
pub mod suggest;
pub mod tree;
