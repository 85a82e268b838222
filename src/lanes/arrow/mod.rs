//! Lanes as Arrow files and streams: framing of messages, and validation of all metadata. Another crate converts
//! columns to cells ([`reviver::batch::arrow`]).

mod claims;
mod contents;
mod input;
mod messages;
mod output;

pub use input::ArrowInput;
pub use output::ArrowOutput;
