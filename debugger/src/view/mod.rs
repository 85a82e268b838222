//! What there is to see, as plain data: one file a pane. A pane computes what fits into it and nothing
//! else, so that the size of a program or an array doesn't show in the time that a frame takes. Knows
//! no terminal, no colours and no keys.

pub mod card;
pub mod cell_rows;
pub mod cells;
pub mod code;
mod lost;
pub mod plot;
pub mod stack;
pub mod status;
pub mod timeline;
pub mod told;
