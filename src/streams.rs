//! The standard streams: what is printed, what is complained about, and how a failure is told.

use std::env;
use std::io::{self, BufWriter, Error, ErrorKind, IsTerminal, StdoutLock, Write};

use reviver_debugger::tui::terminal;
use reviver_files::reason;
use serde_json::Value as Json;

use crate::failure::{Exit, Failure, Fallible};
use crate::refused::{self, CommandWork};

/// Whether what is printed is coloured: on a terminal, unless `NO_COLOR` is set.
pub fn colors() -> bool {
    io::stdout().is_terminal() && may_be_colored()
}

/// The columns of the terminal that is printed to; none where it goes elsewhere.
pub fn columns() -> Option<usize> {
    if io::stdout().is_terminal() { terminal::columns() } else { None }
}

/// Whether nobody has asked for no colours.
pub fn may_be_colored() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Prints to standard output.
pub fn print(text: &str) -> Fallible {
    print_bytes(text.as_bytes())
}

/// Prints bytes, of an image say.
pub fn print_bytes(bytes: &[u8]) -> Fallible {
    print_with(|out| out.write_all(bytes))
}

/// Prints to standard output what may be too long for memory.
pub fn print_with(tell: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Fallible {
    let _work = refused::during(CommandWork::Printing);
    let mut out = BufWriter::new(NotedStdout(io::stdout().lock()));
    tell(&mut out).and_then(|()| out.flush()).map_err(|error| unprintable(&error))
}

/// Standard output, of which it is noted that something was printed.
struct NotedStdout(StdoutLock<'static>);

impl Write for NotedStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        refused::has_printed();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// What printing failed with. A reader that has gone away (`| head`) ends the command without a word.
pub fn unprintable(error: &Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::spelled(Exit::Unread, "", ""),
        _ => Failure::load(format_args!("can't write to standard output: {}", reason(error))),
    }
}

/// Prints to standard error. If that can't be written, there is nobody left to tell.
pub fn complain(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).ok();
}

/// Says a failure on stderr; with `--json` also on stdout, unless it has been said there.
pub fn tell(failure: &Failure, json: bool) {
    if json && !failure.told && failure.exit != Exit::Unread {
        // If stdout can't be written, stderr still says what went wrong first.
        print(&format!("{}\n", Json::Object(failure.members()))).ok();
    }
    complain(&failure.message);
}
