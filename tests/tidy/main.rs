//! What holds for the sources and the documents as a whole.

mod circles;
mod documents;
mod generated;
mod json_keys;
mod named;
mod sources;
mod types;
