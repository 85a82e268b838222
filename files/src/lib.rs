//! Files: read within bounds, and written so that nothing is lost.
//!
//! A command reads all its files through one [`UsedFiles`], which so knows them, and writes each of its files
//! through an [`Output`] that it asks of the same register. An output that would overwrite an input is refused,
//! under whatever name. Output appears whole or not at all. No other crate of the workspace opens files.
//!
//! What a file means is for others to know. Whether a file that is there may be replaced depends on what it
//! is: a [`FileKind`] is recognized by a function that the caller brings.

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
