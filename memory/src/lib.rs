//! Memory that the system may refuse.
//!
//! Rust's collections ask for memory in two ways. `try_reserve` returns an error where memory is refused; `push`,
//! `format!` and all the others abort the process. An allocator can't see in which of the two ways it was asked.
//! So each request that the caller can go on without is made through [`ask`], which marks it. [`EndingAllocator`]
//! returns a refusal to marked requests only; at any other it calls a function that ends the process.
//!
//! A test of the sources holds all crates to this: no other file calls `try_reserve`.

mod allocator;
pub mod ask;
pub mod refusals;

pub use allocator::EndingAllocator;
pub use ask::OutOfMemory;
