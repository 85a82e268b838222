//! Output of commands: files that appear complete or not at all, or standard output.

use std::io::{self, Error, ErrorKind, Write};
use std::path::Path;

use reviver_files::{FileKind, GrowingOutput, Output, Replaces, WriteError, reason};
use reviver_memory::ask;

use crate::cli::{Drawn, Written};
use crate::failure::{Exit, Failure, Fallible};
use crate::refused::{self, CommandWork};
use crate::streams::{print_document, print_with};
use crate::{kinds, read};

/// Output of a command. The target is checked before the content is computed.
#[derive(Debug)]
pub enum OutputTarget {
    Printed,
    File(Output),
}

impl OutputTarget {
    /// Returns a target that may replace only a file of its kind, unless `force` is set; `-` is standard output.
    ///
    /// Call after all inputs have been read, because inputs are never overwritten.
    pub fn new(path: &Path, kind: &'static FileKind, force: bool) -> Fallible<OutputTarget> {
        OutputTarget::unless_forced(path, Replaces::Kind(kind), force)
    }

    /// Returns a target that may replace only a file that begins with certain bytes, unless `force` is set. The
    /// pair has a phrase for such files, and the bytes with which they begin.
    pub fn beginning(
        path: &Path,
        (kind, mark): (&'static str, Vec<u8>),
        force: bool,
    ) -> Fallible<OutputTarget> {
        OutputTarget::unless_forced(path, Replaces::Beginning(kind, mark), force)
    }

    fn unless_forced(path: &Path, replaces: Replaces, force: bool) -> Fallible<OutputTarget> {
        let replaces = if force { Replaces::Anything } else { replaces };
        OutputTarget::replacing(path, replaces, "add `--force` to replace the file")
    }

    /// Returns a target that overwrites an input.
    pub fn in_place(path: &Path) -> Fallible<OutputTarget> {
        OutputTarget::replacing(path, Replaces::Itself, "make the file writable first")
    }

    fn replacing(path: &Path, replaces: Replaces, cure: &str) -> Fallible<OutputTarget> {
        if path == Path::new("-") {
            return Ok(OutputTarget::Printed);
        }
        read::files().output(path, replaces).map(OutputTarget::File).map_err(|error| refused(&error, cure))
    }

    /// Begins a file that is written in pieces. Returns `None` for standard output.
    pub fn begin(self) -> Fallible<Option<GrowingOutput>> {
        match self {
            OutputTarget::Printed => Ok(None),
            OutputTarget::File(output) => output.begin().map(Some).map_err(|error| unwritten(&error)),
        }
    }

    /// Writes the file, or prints.
    pub fn write(self, bytes: &[u8]) -> Fallible {
        match self {
            OutputTarget::Printed => print_document(bytes),
            OutputTarget::File(output) => {
                let _work = refused::during(CommandWork::Writing);
                output.commit(bytes).map_err(|error| unwritten(&error))
            }
        }
    }

    /// Writes or prints content that may not fit into memory. If the content doesn't fit, an existing file stays
    /// unchanged.
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

/// Growing buffer that returns an error if memory is exhausted, instead of ending the process.
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

/// Failure for a target that can't be used, with the remedy `cure`.
fn refused(error: &WriteError, cure: &str) -> Failure {
    let failure =
        Failure::new(if error.is_misuse() { Exit::Usage } else { Exit::Load }, error).caused_by(error);
    match error {
        _ if error.yields_to_force() => failure.help(cure),
        WriteError::Standard { .. } => failure.help("use `-` to print to standard output"),
        WriteError::Input { .. } | WriteError::Output { .. } => failure.help("name another file"),
        _ => failure,
    }
}

/// Failure for a file that became unwritable.
fn unwritten(error: &WriteError) -> Failure {
    Failure::load(error).caused_by(error)
}

/// Refuses `-` as the target of a state, which can't be printed.
pub fn check_state_target(path: Option<&Path>) -> Fallible {
    match path {
        Some(path) if path == Path::new("-") => {
            Err(Failure::usage("a state can't be printed").help("name a file after `--save-state`"))
        }
        _ => Ok(()),
    }
}

/// Writes a text to a file, after a first line that marks it as generated. Prints the text if no file is named.
pub fn text(written: &Written, text: &str) -> Fallible {
    text_to(written.output.as_deref().unwrap_or(Path::new("-")), written.force.force, text)
}

/// Writes a text to a file like [`text`]; prints it if the path is `-`.
pub fn text_to(path: &Path, force: bool, text: &str) -> Fallible {
    match OutputTarget::new(path, &kinds::TEXT, force)? {
        target @ OutputTarget::File(_) if !text.starts_with(kinds::WRITTEN) => {
            target.write([kinds::WRITTEN, text].concat().as_bytes())
        }
        target => target.write(text.as_bytes()),
    }
}

/// Returns the target of a picture; `None` if no option names one.
pub fn picture(options: &Drawn) -> Fallible<Option<OutputTarget>> {
    let target = |path: &Path| OutputTarget::new(path, &kinds::PICTURE, options.force.force);
    options.output.as_deref().map(target).transpose()
}
