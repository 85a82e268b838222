//! Tests of the sources and documents as a whole.

mod cycles;
mod documents;
mod generated;
mod json_keys;
mod named;
mod prose;
mod sources;
mod types;
