//! Reviver as a library. Programs are assembled once, compiled once, and called many times: forward, backward, and
//! for derivatives, from several threads.
//!
//! ```
//! use reviver::{EngineChoice, assemble};
//!
//! # fn main() -> Result<(), reviver::Error> {
//! let text = ".in x[2]: real\n.out y: real\nadd.square y, x[0]\nadd.mul y, x[0], x[1]\n";
//! let program = assemble("parabola.rasm", text)?.compile(EngineChoice::Auto)?;
//! // Names are looked up once.
//! let (x, y) = (program.reals("x")?, program.reals("y")?);
//! let loss = program.loss("y")?;
//! // A workspace is what one thread calls the program in.
//! let mut call = program.workspace()?;
//! call.give_reals(x, &[3.0, 2.0])?;
//! call.run()?;
//! assert_eq!(call.real(y)?, 15.0);
//! let found = call.gradient(&loss)?;
//! let mut slope = [0.0; 2];
//! call.adjoints(x, &mut slope)?;
//! assert_eq!((found.value, slope), (15.0, [8.0, 3.0]));
//! # Ok(())
//! # }
//! ```
//!
//! | | |
//! |---|---|
//! | [`assemble()`], [`open`], [`Assembled`] | load a program from a text or a file |
//! | [`Executable`], [`CompileOptions`], [`EngineChoice`], [`CheckLevel`] | compile it for an engine, checked or unchecked |
//! | [`IntCells`], [`RealCells`], [`LossCell`] | handles of named cells |
//! | [`Workspace`] | calls: [`Workspace::run`], [`Workspace::run_back`], [`Workspace::gradient`], [`Workspace::hessian`] |
//! | [`Executable::seeded`], [`Workspace::jacobian_times`], [`Workspace::hessian_times`], [`Workspace::taylor`] | seeds and directions |
//! | [`Batch`], [`LaneInputs`], [`LaneResults`], [`Device`] | the same program for many inputs, on all cores or a GPU |
//! | [`Derivative`], [`SecondDerivatives`] | derivatives of calls |
//! | [`DirectionalDerivatives`], [`HessianProduct`], [`TaylorSeries`] | derivatives along a direction |
//! | [`VerificationReport`] | verification report of derivatives |
//! | [`LossCell::used_values`] | the reals that native code uses in a reverse sweep |
//! | [`Selection`] | the reals that a name selects, as variables of a derivative |
//! | [`Error`] | errors, with their places, causes and cures |
//!
//! Integers are `i64`; a value that doesn't fit into the program's word is rejected. Reals are `f64`. For programs of
//! `f32`, inputs are rounded to the nearest `f32`, and results are exact. For fixed point, inputs are rounded to the
//! nearest multiple of the last bit, and results to the nearest `f64`. Values that the number system can't represent
//! are refused, infinities and NaN included. [`Workspace::give_real_bits`] passes bits without conversion.
//!
//! Callers can't set tapes and stacks by name. Tapes and stacks begin empty, unless [`Workspace::begin_with`] sets a
//! state with values on them. Values of `show` are passed to the function set by [`Workspace::on_show`]; without one
//! they are dropped.

#![deny(missing_docs)]

mod backward_run;
pub mod batch;
mod cells;
mod directions;
mod end_to_end;
pub mod engine;
mod error;
mod executable;
mod gradient;
mod gradients;
mod hessian;
mod loss;
mod numbers;
pub mod places;
mod real_choice;
pub mod selection;
mod shared;
mod shows;
pub mod source;
pub mod trap_report;
pub mod value_sources;
mod vectors;
mod workspace;

pub use backward_run::BackwardRun;
pub use batch::choice::Device;
pub use batch::device::{LaneFailure, NotedLanes};
pub use batch::lanes::{LaneInputs, LaneNumbers, LaneResults};
pub use batch::no_device::NoDevice;
pub use batch::sum::SumOverLanes;
pub use batch::{Batch, BatchOptions};
pub use cells::{IntCells, RealCells};
pub use directions::{DirectionalDerivatives, HessianProduct, TaylorSeries};
pub use engine::{CompileOptions, EngineChoice};
pub use error::{Error, IndexErrorText};
pub use executable::Executable;
pub use gradient::Derivative;
pub use gradients::Gradients;
pub use hessian::SecondDerivatives;
pub use loss::LossCell;
pub use real_choice::{NoRealSystem, RealChoice};
pub use selection::Selection;
pub use shows::{Shown, ShownNumber};
pub use source::{Assembled, assemble, assemble_with, open};
pub use workspace::Workspace;

pub use reviver_assembler::constants::GivenConstant;
pub use reviver_assembler::files::{Disk, Files, FilesInMemory};
pub use reviver_vm::codes::TrapCode;
pub use reviver_vm::differentiate::{DifferentiateError, Divergence, VerificationReport};
pub use reviver_vm::explain::Explanation;
pub use reviver_vm::garbage::Garbage;
pub use reviver_vm::{CheckLevel, Machine, Program, State, Travel};

/// Compiles and runs the examples of the embedding page.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
mod embedding {}

/// Compiles and runs the examples of the batch page.
#[cfg(doctest)]
#[doc = include_str!("../../docs/batch.md")]
mod many_lanes {}
