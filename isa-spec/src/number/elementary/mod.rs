//! The elementary functions of the floats, written once, as rows are: over a trait of few operations
//! ([`FloatOps`]), which an engine lends them. The interpreter lends the processor's; other engines
//! may lend values of a compiler, or the text of a shader. IEEE 754 rounds each operation, and nothing is
//! contracted: so all engines find the same bits.
//!
//! One file is one family of functions; it knows operations ([`ops`]), numbers of two words ([`pair`]), and
//! the constants of a format. `constants/` holds what was computed for it: tables, and polynomials,
//! which `tests/elementary/constants` derives anew. Nothing here knows a row, a number system or an engine.
//!
//! A family file looks like this: a module doc that names the algorithm and its source, functions that are
//! generic over `S: FloatOps`, take `&S`, and read `S::Format`'s constants; no `if` on a value, but
//! [`FloatOps::select`] where both sides cost little, and [`FloatOps::pick`] where one costs much.
//! Functions give an infinity where they overflow or have a pole, and NaN outside of their domain; an argument
//! that isn't finite gives a limit or NaN. In f32 nothing wider than f32 is used.

mod constants;
pub mod exp;
mod format;
pub mod inverse_trig;
pub mod log;
mod native;
pub mod ops;
pub mod pair;
pub mod power;
pub mod roots;
pub mod special;
pub mod trig;

pub use format::Format;
pub use native::{NativeDouble, NativeSingle};
pub use ops::FloatOps;
