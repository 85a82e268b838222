//! Bounded reading of files, and writing that loses no data.
//!
//! A command reads all its files through one [`UsedFiles`] register, and requests from it an [`Output`] for
//! each file to be written. The register refuses an output that would overwrite an input, even if their paths
//! are spelled differently. An output is written completely or not at all. No other crate of the workspace
//! opens files.
//!
//! This crate doesn't interpret contents. If an output may replace only files of one kind, the caller
//! supplies a [`FileKind`] with a function that recognizes the kind.

#![deny(missing_docs)]

mod destination;
mod encoding;
mod folder;
mod growing;
mod identity;
mod output;
mod read;
mod register;
mod rests;
mod scratch;
mod unfinished;
mod used;
mod write;

pub use encoding::{Encoding, guess_encoding};
pub use folder::folder;
pub use growing::GrowingOutput;
pub use output::{FileKind, Output, Replaces, WriteError, reason};
pub use read::{Content, ReadError};
pub use scratch::Scratch;
pub use unfinished::remove_unfinished;
pub use used::{OpenInput, UsedFiles};
