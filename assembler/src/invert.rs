//! Inversion on the tree: the program, or the body, that undoes another. Structure stays structure:
//! a `for` stays a `for`, a comment stays with its statement.
//!
//! Knows nothing of classes, names and code; what only lowering can see, lowering refuses.
//!
//! **Tapes.** The inverse of a program reads what the program wrote. Running main backward turns
//! `write` into `unwrite`, which takes the output tape's last value: as an instruction of the
//! inverse program that is a `read` of its own input, where the last value comes first. So every
//! tape instruction, of procedures and macros too, changes its tape (`read` ↔ `unwrite`, `write` ↔
//! `unread`), and then main is inverted: its `call p` becomes `uncall p`, and p's tape traffic has
//! the right direction. The tapes change places, and their order is the opposite: so the inverse says by
//! `.inverse` that it tells them last value first, and the inverse of an inverse doesn't say so.

mod arrange;
mod body;
mod counterpart;
mod file;
mod program;

pub use self::body::invert_body;
pub use self::file::{Inversion, invert_text};
pub use self::program::invert;
