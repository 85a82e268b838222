//! Commands as text, with gdb's names and abbreviations: parsed from a line and executed on a session.
//! Outcomes are data; [`crate::render`] converts them to text.

mod actions;
pub(crate) mod arguments;
mod code;
pub mod completion;
mod console;
mod execute;
mod explain;
mod foreign;
pub mod names;
mod nesting;
mod over_time;
pub mod picture;
pub mod plot;
pub mod screen;
mod screen_rows;
mod scripts;
pub mod table;
pub mod topics;

pub(crate) use actions::real_results;
pub(crate) use arguments::without_comment;
pub(crate) use code::breakpoints_at;
pub use console::{CommandError, Console, Outcome, Painter};
pub use execute::named;
pub use scripts::{SAVED, SESSION, script};
pub use table::{find, find_topic};
