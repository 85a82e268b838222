//! Memory requests that the system may refuse.
//!
//! Rust's collections request memory in two ways. `try_reserve` returns an error if memory is refused;
//! `push`, `format!` and all other calls abort the process. An allocator can't distinguish the two. Therefore
//! code that handles a refusal makes its request through [`ask`], which marks the request as refusable.
//! [`EndingAllocator`] returns a refusal only to marked requests. For any other request it calls a function
//! that ends the process.
//!
//! A test of the sources ensures that no other file of the workspace calls `try_reserve`.

#![deny(missing_docs)]

mod allocator;
pub mod ask;
pub mod refusals;

pub use allocator::EndingAllocator;
pub use ask::OutOfMemory;
