//! The front end, through its public face: diagnostics as people see them, canonical texts, and
//! inverse programs.

#[path = "front/cases.rs"]
mod cases;
#[path = "front/diagnostics.rs"]
mod diagnostics;
