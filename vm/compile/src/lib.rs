//! Compiles verified programs to SSA functions, for engines such as the JIT, the C emitter and the shader emitter.
//!
//! An SSA function (`SsaFunction`) is built for a specialization (`Specialization`): the code from a position to the
//! next operation that isn't compiled, in one direction, with or without adjoints. Construction executes the rows and
//! templates of the instruction table on SSA values instead of numbers. So nothing in this crate defines the effect of
//! an instruction. This crate emits no machine code.
//!
//! | module | subject |
//! |---|---|
//! | [`function`], [`op`] | SSA functions, and the table of operations |
//! | [`build()`] | construction of an SSA function from the flow |
//! | [`bounded`], [`foreign`] | for engines without an interpreter: bounded call depth; uncompiled operations |
//! | [`passes`] | optimization passes |
//! | [`range`] | intervals of integers |
//! | [`check`], [`order`] | well-formedness check; block orders, dominators, loops |
//! | [`backend`] | the interface of an engine that compiles |
//! | [`tiered`], [`run`] | the tiered runtime, and the requests and results of compiled code |
//! | `code_cache` | the code cache of the runtime, which decides when code is compiled, and how much |
//! | `compiled`, `frames` | execution of compiled code on a machine; frames of the calls that the code opens |
//! | [`compiled_run`], [`start`] | whole runs for callers that can start again, plans of sweeps, and start states |
//! | [`call`], [`rows`] | a gradient call as one SSA function, which needs no machine; several losses at once |
//! | `lift` | functions on dual numbers and Taylor series |
//! | [`group`] | gradient calls of several lanes side by side (SIMD groups) |
//! | [`emit_plan`] | common part of the emitters: which blocks and values they write, and in which order |
//! | [`evaluate`], `text` | evaluator of SSA functions, the reference for all engines; SSA functions as text |
//!
//! Cells that only steps with a static address reach are SSA values. They are loaded at entry and stored at exits. All
//! other cells stay in memory. A call that isn't inlined is lowered to stores, loads and branches, so a recursion
//! becomes a loop over call records ([`function::OutOfLineCall`]). After a failed check, the tiered runtime returns to
//! a copy of the machine, and the interpreter finds the exact trap, its place and its step. So a check may fail
//! although the interpreter wouldn't trap. But if the interpreter would trap, a check must fail.
//!
//! Compiled runs give the same results as interpreted runs:
//!
//! ```
//! use std::sync::Arc;
//! use reviver_assembler::{assemble::assemble, files::FilesInMemory};
//! use reviver_compile::tiered::TieredRuntime;
//! use reviver_compile::evaluate::Evaluator;
//! use reviver_vm::{Machine, Program, Stop, Travel};
//!
//! let text = ".in n default 100\n.out sum\nfor i in 0..n\n    add sum, i\nrof\n";
//! let module = assemble("sum.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
//! let program = Arc::new(Program::new(module, 0).unwrap());
//! let mut plain = Machine::at_begin(program.clone()).unwrap();
//! let mut driven = Machine::at_begin(program.clone()).unwrap();
//! driven.run_by(Arc::new(TieredRuntime::new(&program, Evaluator)));
//! assert_eq!(plain.run(Travel::Forward, 10_000), Ok(Stop::Bound));
//! assert_eq!(driven.run(Travel::Forward, 10_000), Ok(Stop::Bound));
//! assert!(plain.state() == driven.state());
//! ```

#![deny(missing_docs)]

pub mod backend;
pub mod bounded;
mod build;
pub mod call;
pub mod check;
mod code_cache;
mod compiled;
pub mod compiled_run;
pub mod emit_plan;
pub mod error;
pub mod evaluate;
pub mod foreign;
mod frames;
pub mod function;
pub mod group;
mod lift;
pub mod op;
pub mod order;
pub mod passes;
pub mod range;
pub mod rows;
pub mod run;
pub mod start;
mod text;
pub mod tiered;

pub use build::build;
pub use code_cache::CompileTiming;
pub use error::BuildError;
