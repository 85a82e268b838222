//! The elementary functions of floats, written once over a trait of few operations ([`FloatOps`]), which an
//! engine implements. The interpreter uses the processor's floats; other engines use values of a compiler, or
//! the text of a shader. IEEE 754 rounds each operation, and no operations are contracted, so all engines
//! compute the same bits.
//!
//! Each file is one family of functions. A family uses operations ([`ops`]), numbers of two floats
//! ([`pair`]), and the constants of a format. `constants/` contains computed tables and polynomials, which
//! `tests/elementary/constants` derives again. This module is independent of rows, number systems and
//! engines.
//!
//! A family file has a module doc that names the algorithm and its source. The functions of a family are
//! generic over `S: FloatOps`, take `&S`, and read constants of `S::Format`. No function has an `if` on a
//! value. Functions use [`FloatOps::select`] where both sides are cheap, and [`FloatOps::pick`] where one side
//! is expensive. Functions return an infinity on overflow and at poles, and NaN outside their domain. For an
//! infinite argument the result is a limit or NaN. f32 functions use nothing wider than f32.

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
