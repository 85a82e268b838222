//! The instruction set of Reviver: one table row per function and per update, and every static fact about
//! instructions.
//!
//! This crate does no I/O, contains no unsafe code, and is independent of source text and machine state.
//!
//! | module | content |
//! |---|---|
//! | [`function`], [`update`] | the rows: values, derivatives, effects |
//! | [`arith`], [`number`], [`fault`] | the arithmetic that rows are written in, and the number systems |
//! | [`step`] | execution of the rows of each action, generic over the engine |
//! | [`operator`] | the operators that denote function rows in expressions |
//! | [`formula`], [`card`], [`manual`], [`language`] | rows and keywords as text |
//! | [`class`], [`instruction`], [`module`], [`structure`], [`predicate`] | a program as data, and debug information about its text |
//! | [`verify`], [`names`], [`text`] | the rules of valid programs; their spelling |
//! | [`codec`] | serialization of everything that is stored |
//! | [`mutants`] | deliberate faults in rows and rules, which the tests must detect |
//!
//! A row is a pure function, generic over the arithmetic:
//!
//! ```
//! use reviver_isa::number::{Arithmetic, F64, Wide};
//! use reviver_isa::{Function, Update};
//!
//! let numbers = Arithmetic { words: Wide, reals: F64 };
//! let product = Function::Mul.real(&numbers, 3.0, 4.0)?;
//! assert_eq!(Update::Add.real(&numbers, 1.0, product)?, 13.0);
//! assert_eq!(Update::Add.inverse().real(&numbers, 13.0, product)?, 1.0);
//! assert_eq!(Function::Mul.d_a(&numbers, 3.0, 4.0)?, 4.0);
//! # Ok::<(), reviver_isa::fault::Fault>(())
//! ```
//!
//! The same rows as text:
//!
//! ```
//! use reviver_isa::card::{CardTerm, describe};
//! use reviver_isa::instruction::Class;
//! use reviver_isa::{Function, Update};
//!
//! let operands = ["y", "a", "b"].map(|name| CardTerm::cell(name, Class::Real));
//! let card = describe(Update::Add, Function::Mul, &operands);
//! assert_eq!(card.does.equation.formula, "y ← y + a·b");
//! assert_eq!(card.does.adjoint[0].formula, "a' ← a' - y'·b");
//! ```
//!
//! The manual page of a word of the language:
//!
//! ```
//! let page = reviver_isa::manual::page("swap").unwrap();
//! assert!(page.contains("x, y ← y, x"));
//! ```

#![deny(missing_docs)]

pub mod arith;
mod asked;
pub mod card;
pub mod class;
pub mod codec;
pub mod codes;
pub mod effects;
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
pub mod operator;
pub mod predicate;
pub mod step;
pub mod structure;
pub mod tasks;
pub mod text;
mod ties;
pub mod update;
pub mod verify;

pub use function::Function;
pub use module::Module;
pub use update::Update;
