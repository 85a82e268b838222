//! Independent oracle: computes the effects of a `.rasm` program differently than the machine.
//!
//! It executes the structured syntax tree with big integers, and was written from the description of the language. It
//! shares the parser and the names of instructions with the machine, but no semantics: no rows, lowering, verifier,
//! inversion, or positions. It reports unsupported features, such as elementary functions of fixed point, and
//! branches between lists of statements.
//!
//! | file | subject |
//! |---|---|
//! | `declared`, `scope`, `expression`, `resolve` | name resolution: from the tree to the `plan` |
//! | `constant`, `signature` | constants; classes of sources and values |
//! | `integer`, `float`, `fixed`, `real`, `order`, `value` | arithmetic |
//! | `partial`, `transport` | derivatives; what gradient mode does to adjoints |
//! | `store`, `reach`, `walk`, `prepare` | cells, references, statements, their expressions |
//! | `history` | what procedures with a strategy keep |
//! | `tasks` | tasks, of which none touches a cell that another one changes |
//! | `tree`, `run`, `outcome` | input texts, runs, and their outcomes |
//! | `compare` | comparison of the machine with the oracle |

pub mod compare;
mod constant;
mod declared;
mod expression;
mod fixed;
mod float;
mod history;
mod integer;
mod order;
pub mod outcome;
mod partial;
mod plan;
mod prepare;
mod reach;
mod real;
mod resolve;
pub mod run;
mod scope;
mod signature;
mod store;
mod tasks;
mod transport;
pub mod tree;
mod value;
mod walk;

use reviver_isa::module::{RealSystem, Word};

pub use compare::{Agreement, Case, Ending, ExpectedCase, Round};
pub use outcome::{Outcome, Snapshot, Trap};
pub use run::{Inputs, Oracle};
pub use walk::Direction;

/// Number formats of a run that replace the declared ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    pub word: Option<Word>,
    pub real: Option<RealSystem>,
}
