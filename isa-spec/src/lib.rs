//! The instruction set of Reviver: one row per function and per update, and everything that can be
//! said about instructions without running them.
//!
//! This crate does no I/O, contains no unsafe code and knows neither source text nor machine state.

pub mod arith;
pub mod card;
pub mod codec;
pub mod fault;
pub mod formula;
pub mod function;
pub mod instruction;
pub mod language;
pub mod manual;
pub mod module;
pub mod mutants;
pub mod names;
pub mod number;
pub mod predicate;
pub mod step;
pub mod structure;
pub mod text;
pub mod update;
pub mod verify;

pub use function::Function;
pub use module::Module;
pub use update::Update;
