//! What is refused, and how it is said: the message, [the place], related places, the cure.

use reviver_assembler::diagnostic::Severity;
use reviver_assembler::files::Memory;

use crate::support::{assembly, refusal, refusal_of, shown};
