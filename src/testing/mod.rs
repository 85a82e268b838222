//! Tests of user programs: which files to test, how to read and run them, and the results.

pub mod found;
pub mod tested;
