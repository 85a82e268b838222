//! Inversion on the tree: the program or the body that undoes another one. The structure is preserved: a
//! `for` stays a `for`, and a comment stays with its statement.
//!
//! Inversion is independent of classes, names and code. Errors that depend on these are reported by lowering.
//!
//! **Tapes.** The inverse of a program reads the values that the program wrote. Running main backward turns
//! `write` into `unwrite`, which removes the last value of the output tape. In the inverse program, this
//! becomes a `read` of the input tape. The input tape of the inverse therefore begins with the value that was
//! written last.
//!
//! So every tape instruction, including those of procedures and macros, is first replaced by the one on the other tape
//! (`read` ↔ `unwrite`, `write` ↔ `unread`). After that, main is inverted. A `call p` in main becomes `uncall p`, so
//! the tape instructions of `p` run in the right direction.
//!
//! The tapes are exchanged, and their order is reversed. The inverse is therefore marked with `.inverse`, so
//! that its tapes are displayed with the last value first. The inverse of an inverse has no such mark.

mod arrange;
pub(crate) mod body;
mod counterpart;
pub(crate) mod file;
pub(crate) mod program;

pub use self::body::invert_body;
pub use self::file::{Inversion, invert_text};
pub use self::program::invert;
