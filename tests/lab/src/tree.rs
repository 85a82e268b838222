//! Where the tree of sources lies: tests read its programs, and cases that are kept as files.

use std::path::{Path, PathBuf};

/// A path that is named from the root of the tree.
pub fn in_tree(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("the crate lies in tests/lab").join(path)
}
