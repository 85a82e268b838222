//! Paths in the source tree, from which tests read programs and case files.

use std::path::{Path, PathBuf};

/// Returns a path relative to the root of the tree.
pub fn in_tree(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("the crate lies in tests/lab").join(path)
}
