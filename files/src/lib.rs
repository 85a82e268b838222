//! Bounded reading of files, and writing that loses no data.
//!
//! A command reads all its files through one [`UsedFiles`] register, and requests an [`Output`] from the same
//! register for each file that it writes. An output that would overwrite an input is refused, even if its
//! path is spelled differently. An output appears whole or not at all. No other crate of the workspace opens
//! files.
//!
//! This crate doesn't interpret contents. An existing file may be replaced if it is of the expected kind: the
//! caller supplies a [`FileKind`] with a function that recognizes it.

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
