//! An independent oracle: what a `.rasm` program must do, computed another way than the machine
//! computes it.
//!
//! It walks the structured syntax tree with big integers and was written from the description of
//! the language. It shares the parser and the names of things with the rest, and no semantics: it
//! calls no row, no lowering, no verifier and no inversion, and knows no positions. What it doesn't
//! know (elementary functions of fixed point, branches from one list of statements
//! into another) it says.
//!
//! | file | subject |
//! |---|---|
//! | `declared`, `scope`, `expression`, `resolve` | names: from the tree to the `plan` |
//! | `constant`, `signature` | constants; classes of sources and values |
//! | `integer`, `float`, `fixed`, `real`, `order`, `value` | arithmetic |
//! | `partial`, `transport` | derivatives; what gradient mode does to adjoints |
//! | `store`, `reach`, `walk`, `prepare` | cells, references, statements, the expressions that these take |
//! | `tasks` | calls that touch nothing that another one changes |
//! | `tree`, `run`, `outcome` | texts in, what a run came to out |
//! | `compare` | the machine beside the oracle |

pub mod compare;
mod constant;
mod declared;
mod expression;
mod fixed;
mod float;
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

pub use compare::{Agreement, Case, Ending, Round};
pub use outcome::{Outcome, Snapshot, Trap};
pub use run::{Inputs, Oracle};
pub use walk::Direction;

/// Numbers that a program computes with in place of those that it declares.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    pub word: Option<Word>,
    pub real: Option<RealSystem>,
}
