//! The flow of a verified program, which all engines share. Names become slots, whose addresses are resolved as far as
//! that is possible before a run. Instructions become steps, with guards for slots that must not alias. Steps form
//! basic blocks. The graph of blocks can be traversed in either direction. Interpreter, compiler, debugger and
//! diagnostics all read the same flow. The flow depends on no state, no engine and no source text.
//!
//! | module | contents |
//! |---|---|
//! | [`slot`], [`layout`] | operands, and the addresses of their cells |
//! | [`step`], [`call`], [`alias`] | instructions on slots; arguments of calls; which slots may alias |
//! | [`graph`], [`tree`] | the graph of basic blocks, and the tree of statements in the source text |
//! | [`access`] | cells that a step reads and writes; for calls, see [`reviver_isa::effects`] |
//! | [`activity`] | sources that carry derivatives |
//! | `rounding` | branches that may diverge in the reverse sweep |
//!
//! ```
//! use reviver_assembler::{assemble::assemble, files::FilesInMemory};
//! use reviver_flow::graph::{BlockEnd, CodeDirection};
//! use reviver_flow::{Access, Flow};
//!
//! let text = ".inout n\n.inout s\nif n > 0\n    add s, n\nfi n > 0\n";
//! let module = assemble("sum.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
//! let flow = Flow::of(&module);
//!
//! // Block 0 ends with the branch at step 1. Backward, block 2 ends with the branch's partner at step 3.
//! assert!(matches!(flow.end(0, CodeDirection::Forward), Some(BlockEnd::Branch { at: 1, .. })));
//! assert!(matches!(flow.end(2, CodeDirection::Backward), Some(BlockEnd::Branch { at: 3, .. })));
//!
//! let mut written = Vec::new();
//! flow.visit_accesses(2, |access, slot| {
//!     if access == Access::Write {
//!         written.push(slot.address());
//!     }
//! });
//! assert_eq!(written, [Some(flow.layout().globals[1])]);
//! ```

#![deny(missing_docs)]

pub mod access;
pub mod activity;
pub mod alias;
mod build;
pub mod call;
mod flow;
pub mod graph;
pub mod layout;
mod rounding;
pub mod slot;
pub mod step;
mod tasks;
pub mod tree;

pub use access::Access;
pub use activity::{Activity, IndependentCells, StepActivity};
pub use call::{CallSite, Passed};
pub use flow::Flow;
pub use layout::Layout;
pub use slot::{Anchor, ArrayElement, ArrayIndex, Location, Locus, Matrix, Region, Slot};
pub use step::{Guards, Step, StepLink};
pub use tasks::{GlobalCells, TaskFork};
