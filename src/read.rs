//! Reads files, and registers them so that no output overwrites an input.

use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::LazyLock;

use reviver_files::{Content, OpenInput, ReadError, UsedFiles, guess_encoding};
use reviver_isa::names::printable;

use crate::failure::{Failure, Fallible};
use crate::refused::{self, CommandWork};

pub use reviver::source::is_image;

/// Returns the process's register of used files, by which every output is checked against every input.
pub fn files() -> &'static UsedFiles {
    static FILES: LazyLock<UsedFiles> = LazyLock::new(UsedFiles::default);
    &FILES
}

/// Reads a binary file; `-` is standard input.
pub fn data(path: &Path) -> Fallible<Vec<u8>> {
    content(path, Content::Data)
}

/// Source that is read in pieces: a pipe or a file.
pub enum ChunkSource {
    /// Sequential source, such as a pipe.
    Stream(Box<dyn Read>),
    /// Seekable file on disk.
    File(OpenInput),
}

impl Read for ChunkSource {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            ChunkSource::Stream(source) => source.read(bytes),
            ChunkSource::File(source) => source.read(bytes),
        }
    }
}

/// Opens a file for reading in pieces, with its length if known; `-` is standard input.
pub fn open(path: &Path) -> Fallible<(ChunkSource, Option<u64>)> {
    if path == Path::new("-") {
        return Ok((ChunkSource::Stream(Box::new(files().open_standard_input())), None));
    }
    let mut file = open_file(path)?;
    let length = file.seek(SeekFrom::End(0)).and_then(|length| file.rewind().map(|()| length));
    Ok(match length.ok().filter(|length| *length > 0) {
        Some(length) => (ChunkSource::File(file), Some(length)),
        None => (ChunkSource::Stream(Box::new(file)), None),
    })
}

/// Opens a file for random access.
pub fn open_file(path: &Path) -> Fallible<OpenInput> {
    files().open(path).map_err(|error| unreadable(path, &error))
}

/// Reads a program, text or image; `-` is standard input.
pub fn source(path: &Path) -> Fallible<Vec<u8>> {
    content(path, if is_image(path, &[]) { Content::Data } else { Content::Text })
}

/// Reads a text other than a program; `-` is standard input.
pub fn text(path: &Path) -> Fallible<String> {
    String::from_utf8(content(path, Content::Text)?).map_err(|error| not_utf8(path, error.as_bytes()))
}

fn not_utf8(path: &Path, bytes: &[u8]) -> Failure {
    let encoding = guess_encoding(bytes);
    Failure::load(format_args!("{}: this text is not UTF-8{}", shown(path), encoding.instead()))
        .help(encoding.help())
}

fn content(path: &Path, content: Content) -> Fallible<Vec<u8>> {
    let _work = refused::during(CommandWork::Reading);
    let read = match path == Path::new("-") {
        true => files().read_standard_input(content),
        false => files().read(path, content),
    };
    read.map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &ReadError) -> Failure {
    let name = shown(path);
    let failure = match error {
        ReadError::NotFound => Failure::load(format_args!("there is no file {name}")),
        _ => Failure::load(format_args!("can't read {name}: {error}")).caused_by(error),
    };
    match error.help() {
        Some(help) => failure.help(help),
        None => failure,
    }
}

/// Returns the name of a file as the user gave it, for messages and for resolving `.include`; `<stdin>` for `-`.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { "<stdin>".into() } else { path.display().to_string() }
}

/// Returns the name by which pictures refer to a file: without folders.
pub fn titled(path: &Path) -> String {
    let last = path.file_name().filter(|_| path != Path::new("-"));
    last.map_or_else(|| shown(path), |last| printable(&last.to_string_lossy()).into_owned())
}

/// Formats a path for a shell, quoted if it has special characters.
pub fn typed(path: &Path) -> String {
    let text = path.display().to_string();
    // A leading dash would start an option.
    let text = if text.starts_with('-') { format!("./{text}") } else { text };
    let is_plain = |c: char| c.is_alphanumeric() || "_-./+=:,@%".contains(c);
    let is_quoted = text.is_empty() || !text.chars().all(is_plain);
    let typed = if is_quoted { format!("'{}'", text.replace('\'', "'\\''")) } else { text };
    printable(&typed).into_owned()
}

/// Returns the name of a file for messages, escaped for terminals.
pub fn shown(path: &Path) -> String {
    printable(&name(path)).into_owned()
}
