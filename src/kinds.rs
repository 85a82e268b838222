//! What kinds of files the command writes, and how they are told from files that somebody else needs: by
//! their first bytes.

use reviver_assembler::image;
use reviver_files::FileKind;
use reviver_vm::checkpoint;

use crate::output::grades;

/// The first line of every text that is written to a file: who works on such a text by hand gives it another
/// name, or takes the line out.
pub const WRITTEN: &str = "; written by `reviver`, and overwritten when it is written again\n";

pub static IMAGE: FileKind = FileKind { name: "an image", is: |bytes| bytes.starts_with(&image::MAGIC) };

pub static STATE: FileKind =
    FileKind { name: "a state file", is: |bytes| bytes.starts_with(&checkpoint::MAGIC) };

pub static TEXT: FileKind =
    FileKind { name: "a text that `reviver` has written", is: |bytes| bytes.starts_with(WRITTEN.as_bytes()) };

pub static C_TEXT: FileKind = FileKind {
    name: "a C text that `reviver` has written",
    is: |bytes| bytes.starts_with(reviver_ctext::text::WRITTEN.as_bytes()),
};

pub static C_HEADER: FileKind = FileKind {
    name: "a header that `reviver` has written",
    is: |bytes| bytes.starts_with(reviver_ctext::text::WRITTEN_HEADER.as_bytes()),
};

/// The names of what a library exports stand at its beginning. What others make of C text exports no such name.
pub static LIBRARY: FileKind = FileKind {
    name: "a library that `reviver` has built",
    is: |bytes| {
        let mark = reviver_ctext::text::LIBRARY_MARK.as_bytes();
        !bytes.is_ascii() && bytes.windows(mark.len()).any(|part| part == mark)
    },
};

pub static PROBE: FileKind =
    FileKind { name: "what a device was found to do", is: |bytes| bytes.starts_with(b"reviver probe ") };

/// What `test` has written for build servers.
pub static TEST_REPORT: FileKind = FileKind {
    name: "a report of tests",
    is: |bytes| bytes.starts_with(b"<?xml") && bytes.windows(11).any(|part| part == b"<testsuites"),
};

/// A table that `course report` has written, with or without `--moodle`.
pub static GRADES: FileKind = FileKind {
    name: "a table of grades",
    is: |bytes| {
        let heads = [grades::COLUMNS, grades::MOODLE_COLUMNS];
        heads.iter().any(|head| bytes.starts_with(head.as_bytes()))
    },
};

/// A file that `course report --classroom` has written.
pub static CLASSROOM: FileKind = FileKind {
    name: "tests of a classroom",
    is: |bytes| {
        bytes.starts_with(b"{\n  \"tests\": [")
            && bytes.windows(20).any(|part| part == b"reviver course check")
    },
};

/// What `plot`, `graph` and `circuit` have drawn.
pub static PICTURE: FileKind = FileKind {
    name: "a picture that `reviver` has drawn",
    is: |bytes| bytes.starts_with(reviver_pictures::document::WRITTEN.as_bytes()),
};

pub static TAPE: FileKind = FileKind { name: "a tape of values", is: is_tape };

/// What `run --log` has written.
pub static LOG: FileKind = FileKind {
    name: "a log of cells",
    is: |bytes| bytes.starts_with(b"step,way,") || bytes == b"step,way\n",
};

pub static TABLE: FileKind = FileKind { name: "a table of numbers", is: is_table };

/// The names of arrays stand in front of each.
pub static ARRAYS: FileKind = FileKind {
    name: "an archive of arrays",
    is: |bytes| bytes.starts_with(b"PK") && bytes.windows(4).any(|part| part == b".npy"),
};

/// A file of them, or a stream, which begins as its first message does.
pub static RECORD_BATCHES: FileKind = FileKind {
    name: "a file of record batches",
    is: |bytes| bytes.starts_with(b"ARROW1") || bytes.starts_with(b"\xff\xff\xff\xff"),
};

/// Whether there is a line of names, which have no blanks, and below it a line that begins with a number, or with an empty field, if any.
fn is_table(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes.get(..bytes.len() - bytes.len().min(4)).unwrap_or_default())
    else {
        return false;
    };
    let mut lines = text.lines();
    let is_of_names = |line: &str| !line.is_empty() && !line.contains(' ') && !looks_like_number(line);
    let is_row = |line: &str| {
        let (first, has_more) =
            line.split_once([',', '\t', ';']).map_or((line, false), |(first, _)| (first, true));
        first == "ok" || looks_like_number(first) || first.is_empty() && has_more
    };
    lines.next().is_some_and(is_of_names) && lines.next().is_none_or(is_row)
}

/// Whether there are only numbers. The last of a longer file may be cut.
fn is_tape(bytes: &[u8]) -> bool {
    let separates = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
    let parts = bytes.split(separates).filter(|part| !part.is_empty());
    parts.map(std::str::from_utf8).all(|part| part.is_ok_and(looks_like_number))
}

/// Whether a text is rather a number, right or wrong, than the name of a file.
pub fn looks_like_number(text: &str) -> bool {
    let unsigned = text.trim().trim_start_matches(['+', '-']);
    unsigned.starts_with(|c: char| c.is_ascii_digit())
        && unsigned.chars().all(|c| c.is_ascii_hexdigit() || "xo._+-E".contains(c))
}
