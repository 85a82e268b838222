//! Reviver as a library: a program is assembled once, compiled once, and called many times, forward, back, and for its
//! derivatives, from several threads.
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
//! | [`assemble()`], [`open`], [`Assembled`] | from a text or a file to a program |
//! | [`Executable`], [`CompileOptions`], [`EngineChoice`], [`CheckLevel`] | a program that is ready to be called, by an engine, checked or not |
//! | [`IntCells`], [`RealCells`], [`LossCell`] | names, looked up |
//! | [`Workspace`] | calls: [`Workspace::run`], [`Workspace::run_back`], [`Workspace::gradient`], [`Workspace::hessian`] |
//! | [`Executable::seeded`], [`Workspace::jacobian_times`], [`Workspace::hessian_times`], [`Workspace::taylor`] | with seeds, and along a direction |
//! | [`Batch`], [`LaneInputs`], [`LaneResults`], [`Device`] | the same program at very many inputs, on all cores |
//! | [`Derivative`], [`SecondDerivatives`], [`DirectionalDerivatives`], [`HessianProduct`], [`TaylorSeries`], [`Trust`] | what calls find, and how far it can be trusted |
//! | [`Error`] | what went wrong, where, and what helps |
//!
//! Integers are `i64`, whatever the program's words are: one that doesn't fit is refused. Reals are `f64`. In a program of
//! `f32` they are rounded to the nearest one on the way in, and exact on the way out; in fixed point to the nearest multiple of its
//! last bit on the way in, and to the nearest `f64` on the way out. What the number system can't hold, infinities and NaN
//! among it, is refused. Bits go in and out as they are ([`Workspace::give_real_bits`]).
//!
//! What programs have beside named cells isn't given by name: tapes and stacks begin empty, unless a state is given that has some
//! ([`Workspace::begin_with`]). What `show` shows is passed to a function of the caller
//! ([`Workspace::on_show`]), or to nobody.

mod api;

pub use api::batch::choice::Device;
pub use api::batch::device::{LaneFailure, NotedLanes};
pub use api::batch::lanes::{LaneInputs, LaneResults};
pub use api::batch::no_device::NoDevice;
pub use api::batch::prepared::SumOverLanes;
pub use api::batch::{self, Batch, BatchOptions};
pub use api::cells::{IntCells, RealCells};
pub use api::directions::{DirectionalDerivatives, HessianProduct, TaylorSeries};
pub use api::engine::{self, CompileOptions, EngineChoice};
pub use api::error::{Error, IndexErrorText};
pub use api::executable::Executable;
pub use api::gradient::Derivative;
pub use api::hessian::SecondDerivatives;
pub use api::loss::LossCell;
pub use api::places;
pub use api::shows::{Shown, ShownNumber};
pub use api::source::{self, Assembled, assemble, assemble_with, open};
pub use api::way_back::WayBack;
pub use api::workspace::Workspace;
pub use reviver_assembler::constants::GivenConstant;
pub use reviver_assembler::files::{Disk, Files, FilesInMemory};
pub use reviver_vm::codes::TrapCode;
pub use reviver_vm::differentiate::{Astray, DifferentiateError, Trust};
pub use reviver_vm::explain::Explanation;
pub use reviver_vm::garbage::Garbage;
pub use reviver_vm::{CheckLevel, Machine, Program, State, Travel};

/// The examples of the page are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/embedding.md")]
mod embedding {}

/// And those of the page of batches.
#[cfg(doctest)]
#[doc = include_str!("../docs/batch.md")]
mod many_lanes {}
