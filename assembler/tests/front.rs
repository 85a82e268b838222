//! Tests of the front end through its public interface: diagnostics as printed, canonical texts, and inverse
//! programs.

#[path = "front/cases.rs"]
mod cases;
#[path = "front/diagnostics.rs"]
mod diagnostics;
#[path = "front/files.rs"]
mod files;
#[path = "front/inversion.rs"]
mod inversion;
#[path = "front/layout.rs"]
mod layout;
#[path = "front/properties.rs"]
mod properties;
#[path = "front/size.rs"]
mod size;
