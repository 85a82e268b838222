//! Modules of the library, one for each subject. They print nothing; only [`source`] reads files.

pub mod batch;
pub mod cells;
pub mod directions;
pub mod engine;
pub mod error;
pub mod executable;
pub mod gradient;
pub mod hessian;
pub mod loss;
mod numbers;
pub mod places;
mod shared;
pub mod shows;
pub mod source;
mod trip;
mod vectors;
pub mod way_back;
pub mod workspace;
