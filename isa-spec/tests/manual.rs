//! Tests that the committed manual equals the generated one.

use std::path::Path;

use reviver_isa::manual;

#[test]
fn the_committed_manual_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/isa.md");
    let current = manual::document();
    if std::env::var_os("UPDATE_MANUAL").is_some() {
        std::fs::write(&path, &current).expect("the manual can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == current,
        "docs/isa.md is not what the rows say; to write it anew, run\n\
         UPDATE_MANUAL=1 cargo test -p reviver-isa --test manual"
    );
}
