//! Views of a session as plain data, one file per pane. A view has data for the visible part of its pane only, so
//! that the time for a frame doesn't depend on the size of the program or of an array. Views don't depend on a
//! terminal, on colours or on keys.

pub mod card;
pub mod cell_rows;
pub mod cells;
pub mod code;
mod lost;
pub mod motion;
pub mod plot;
pub mod stack;
pub mod status;
pub mod timeline;
