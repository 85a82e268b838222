//! The number systems that evaluate rows. Each file defines one system or one trait.

pub mod arithmetic;
mod decimal;
pub mod elementary;
mod evaluate;
pub mod fixed;
pub mod fixed_point;
pub mod float;
mod for_readers;
pub mod literal;
pub mod reals;
pub mod taylor;
pub mod words;

pub use arithmetic::Arithmetic;
pub use evaluate::{PlainValue, evaluate, literal_of_bits};
pub use fixed_point::FixedPoint;
pub use float::{F32, F64, whole};
pub use for_readers::{FixedForReaders, fixed_for_readers};
pub use literal::{literal_bits, try_literal_bits};
pub use reals::Reals;
pub use taylor::TaylorReals;
pub use words::{Narrow, Wide, Words};
