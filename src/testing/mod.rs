//! Programs of others under test: which files are meant, how they are read and run, and what was found.

pub mod found;
pub mod tested;
