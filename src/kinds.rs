//! Kinds of output files. A command overwrites a file only if its first bytes show that it is earlier output of the
//! same kind.

use reviver_assembler::image;
use reviver_files::FileKind;
use reviver_vm::checkpoint;

use crate::output::grades;

/// First line of every text file that a command writes. A file that begins with this line may be overwritten. To
/// protect an edited text from overwriting, its author removes the line or renames the file.
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

/// Shared library written by `build --lib`. It is recognized by an exported name, near the start of the file.
/// Libraries that users built from our C text don't export this name.
pub static LIBRARY: FileKind = FileKind {
    name: "a library that `reviver` has built",
    is: |bytes| {
        let mark = reviver_ctext::text::LIBRARY_MARK.as_bytes();
        !bytes.is_ascii() && has(bytes, mark)
    },
};

pub static PROBE: FileKind =
    FileKind { name: "a capability probe of a device", is: |bytes| bytes.starts_with(b"reviver probe ") };

/// Report for build servers from `test`.
pub static TEST_REPORT: FileKind = FileKind {
    name: "a report that `reviver test` has written",
    is: |bytes| bytes.starts_with(b"<?xml") && has(bytes, b"<testsuites name=\"reviver test\""),
};

/// Table written by `course report`, with or without `--moodle`.
pub static GRADES: FileKind = FileKind {
    name: "a table of grades",
    is: |bytes| {
        let heads = [grades::COLUMNS, grades::MOODLE_COLUMNS];
        heads.iter().any(|head| bytes.starts_with(head.as_bytes()))
    },
};

/// File written by `course report --classroom`.
pub static CLASSROOM: FileKind = FileKind {
    name: "tests of a classroom",
    is: |bytes| {
        bytes.starts_with(b"{\n  \"tests\": [")
            && bytes.windows(20).any(|part| part == b"reviver course check")
    },
};

/// Picture drawn by `plot`, `graph` or `circuit`.
pub static PICTURE: FileKind = FileKind {
    name: "a picture that `reviver` has drawn",
    is: |bytes| bytes.starts_with(reviver_pictures::document::WRITTEN.as_bytes()),
};

/// First line of every tape file, a comment for readers.
pub const TAPE_WRITTEN: &str = "# tape written by `reviver`, and overwritten when it is written again\n";

pub static TAPE: FileKind = FileKind {
    name: "a tape that `reviver` has written",
    is: |bytes| bytes.starts_with(TAPE_WRITTEN.as_bytes()),
};

/// Log written by `run --log`.
pub static LOG: FileKind = FileKind {
    name: "a log of cells",
    is: |bytes| bytes.starts_with(b"step,way,") || bytes == b"step,way\n",
};

/// Mark near the start of array archives and record-batch files that `batch` has written.
pub const BATCH_MARK: &str = "written by reviver batch";

/// Archive of arrays; the mark is in an extra field of the first array, which readers skip.
pub static ARRAYS: FileKind = FileKind {
    name: "an archive that `reviver batch` has written",
    is: |bytes| bytes.starts_with(b"PK") && has(bytes, BATCH_MARK.as_bytes()),
};

/// File or stream of record batches; a stream starts with a message. The mark is in the schema's metadata.
pub static RECORD_BATCHES: FileKind = FileKind {
    name: "a file of record batches that `reviver batch` has written",
    is: |bytes| {
        let is_arrow = bytes.starts_with(b"ARROW1") || bytes.starts_with(b"\xff\xff\xff\xff");
        is_arrow && has(bytes, BATCH_MARK.as_bytes())
    },
};

fn has(bytes: &[u8], mark: &[u8]) -> bool {
    bytes.windows(mark.len()).any(|part| part == mark)
}

/// Returns true if a text resembles a number, valid or not, instead of a file name.
pub fn looks_like_number(text: &str) -> bool {
    let unsigned = text.trim().trim_start_matches(['+', '-']);
    unsigned.starts_with(|c: char| c.is_ascii_digit())
        && unsigned.chars().all(|c| c.is_ascii_hexdigit() || "xo._+-E".contains(c))
}
