//! The flow: what a verified program does, before any engine. Names have become slots, whose addresses are known
//! as far as they can be before a run; instructions have become steps, with what must be told apart when they are
//! made; and steps lie in blocks, whose graph can be gone through in either direction. An interpreter, a
//! compiler and whoever explains a run read the same flow. This crate knows no state, no engine and no text.
//!
//! | module | what it is |
//! |---|---|
//! | [`slot`], [`layout`] | operands, and where what they name lies |
//! | [`step`], [`call`], [`alias`] | instructions on slots; what calls pass; which slots may be one cell |
//! | [`graph`], [`tree`] | the blocks that steps lie in, and the statements that they were written as |
//! | [`access`], [`effects`] | who reads and who writes: a step, and whatever a call leads to |
//! | [`activity`] | which sources carry derivatives |
//! | `rounding` | which jumps may be others on the way back |
//!
//! ```
//! use reviver_assembler::{assemble::assemble, files::FilesInMemory};
//! use reviver_flow::graph::{BlockEnd, Way};
//! use reviver_flow::{Access, Flow};
//!
//! let text = ".inout n\n.inout s\nif n > 0\n    add s, n\nfi n > 0\n";
//! let module = assemble("sum.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
//! let flow = Flow::of(&module);
//!
//! // The branch leads past the sum, or to it; backward from its other side.
//! assert!(matches!(flow.end(0, Way::Along), Some(BlockEnd::Branch { at: 1, .. })));
//! assert!(matches!(flow.end(2, Way::Against), Some(BlockEnd::Branch { at: 3, .. })));
//!
//! let mut written = Vec::new();
//! flow.visit_accesses(2, |access, slot| {
//!     if access == Access::Write {
//!         written.push(slot.address());
//!     }
//! });
//! assert_eq!(written, [Some(flow.layout().globals[1])]);
//! ```

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
