//! Output: files that appear whole or not at all, or standard output.

use std::io::{self, Error, ErrorKind, Write};
use std::path::Path;

use reviver_files::{FileKind, GrowingOutput, Output, Replaces, WriteError, reason};
use reviver_memory::ask;

use crate::cli::Written;
use crate::failure::{Exit, Failure, Fallible};
use crate::refused::{self, CommandWork};
use crate::streams::{print_document, print_with};
use crate::{kinds, read};

/// Where a command's output goes, tried before there is any.
#[derive(Debug)]
pub enum OutputTarget {
    Printed,
    File(Output),
}

impl OutputTarget {
    /// A file that may replace one of its kind only, unless the user insists; `-` is standard output.
    ///
    /// Ask when all inputs have been read: they are never overwritten.
    pub fn new(path: &Path, kind: &'static FileKind, force: bool) -> Fallible<OutputTarget> {
        OutputTarget::unless_forced(path, Replaces::Kind(kind), force)
    }

    /// A file that may replace only one that begins with the same bytes, unless the user insists; `kind` names such files, with the
    /// article.
    pub fn beginning(
        path: &Path,
        (kind, mark): (&'static str, Vec<u8>),
        force: bool,
    ) -> Fallible<OutputTarget> {
        OutputTarget::unless_forced(path, Replaces::Beginning(kind, mark), force)
    }

    fn unless_forced(path: &Path, replaces: Replaces, force: bool) -> Fallible<OutputTarget> {
        let replaces = if force { Replaces::Anything } else { replaces };
        OutputTarget::replacing(path, replaces, "`--force` replaces it")
    }

    /// An input that is written again.
    pub fn in_place(path: &Path) -> Fallible<OutputTarget> {
        OutputTarget::replacing(path, Replaces::Itself, "make it writable first")
    }

    fn replacing(path: &Path, replaces: Replaces, cure: &str) -> Fallible<OutputTarget> {
        if path == Path::new("-") {
            return Ok(OutputTarget::Printed);
        }
        read::files().output(path, replaces).map(OutputTarget::File).map_err(|error| refused(&error, cure))
    }

    /// Begins a file that is written piece by piece; none where it is printed.
    pub fn begin(self) -> Fallible<Option<GrowingOutput>> {
        match self {
            OutputTarget::Printed => Ok(None),
            OutputTarget::File(output) => output.begin().map(Some).map_err(|error| unwritten(&error)),
        }
    }

    /// Writes or prints.
    pub fn write(self, bytes: &[u8]) -> Fallible {
        match self {
            OutputTarget::Printed => print_document(bytes),
            OutputTarget::File(output) => {
                let _work = refused::during(CommandWork::Writing);
                output.commit(bytes).map_err(|error| unwritten(&error))
            }
        }
    }

    /// Writes or prints what may be too long for memory: then a file stays as it was.
    pub fn write_with(self, tell: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Fallible {
        match self {
            OutputTarget::Printed => print_with(tell),
            OutputTarget::File(output) => {
                let _work = refused::during(CommandWork::Writing);
                let mut bytes = GrowingBytes(Vec::new());
                tell(&mut bytes).map_err(|error| {
                    Failure::load(format_args!(
                        "can't write {}: {}",
                        read::shown(output.path()),
                        reason(&error)
                    ))
                    .caused_by(&error)
                })?;
                output.commit(&bytes.0).map_err(|error| unwritten(&error))
            }
        }
    }
}

/// Bytes that may be more than memory holds.
struct GrowingBytes(Vec<u8>);

impl Write for GrowingBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        ask::more(&mut self.0, bytes.len()).map_err(|error| Error::new(ErrorKind::OutOfMemory, error))?;
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why nothing was begun.
fn refused(error: &WriteError, cure: &str) -> Failure {
    let failure =
        Failure::new(if error.is_misuse() { Exit::Usage } else { Exit::Load }, error).caused_by(error);
    match error {
        _ if error.yields_to_force() => failure.help(cure),
        WriteError::Standard { .. } => failure.help("`-` prints to standard output"),
        WriteError::Input { .. } | WriteError::Output { .. } => failure.help("name another file"),
        _ => failure,
    }
}

/// Why a file that could be written before now can't.
fn unwritten(error: &WriteError) -> Failure {
    Failure::load(error).caused_by(error)
}

/// A state is for files.
pub fn check_state_target(path: Option<&Path>) -> Fallible {
    match path {
        Some(path) if path == Path::new("-") => {
            Err(Failure::usage("a state can't be printed").help("name a file after `--save-state`"))
        }
        _ => Ok(()),
    }
}

/// Writes a text to a file, below a line that says so, or prints it where none is named.
pub fn text(written: &Written, text: &str) -> Fallible {
    let path = written.output.as_deref().unwrap_or(Path::new("-"));
    match OutputTarget::new(path, &kinds::TEXT, written.force.force)? {
        target @ OutputTarget::File(_) if !text.starts_with(kinds::WRITTEN) => {
            target.write([kinds::WRITTEN, text].concat().as_bytes())
        }
        target => target.write(text.as_bytes()),
    }
}
