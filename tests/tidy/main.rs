//! What holds for the sources and the documents as a whole.

mod circles;
mod documents;
mod named;
mod sources;
mod types;
