//! Lanes as files and streams of Arrow's record batches: what is in front of the batches and behind them, and bytes that nobody has to
//! believe. What the columns are in cells is the library's to know ([`reviver::batch::arrow`]).

mod claims;
mod contents;
mod input;
mod messages;
mod output;

pub use input::ArrowInput;
pub use output::ArrowOutput;
