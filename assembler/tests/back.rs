//! Tests of the back end through texts: lowering, errors, and lossless images and disassembly.

mod support;

#[path = "back/diagnostics.rs"]
mod diagnostics;
#[path = "back/images.rs"]
mod images;
#[path = "back/lowering.rs"]
mod lowering;
#[path = "back/machine.rs"]
mod machine;
#[path = "back/round_trip.rs"]
mod round_trip;
#[path = "back/rules.rs"]
mod rules;
#[path = "back/size.rs"]
mod size;
#[path = "back/structure.rs"]
mod structure;
