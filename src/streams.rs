//! Standard streams. All output of the command passes through this module, which escapes external text.

use std::env;
use std::io::{self, BufWriter, Error, ErrorKind, IsTerminal, StdoutLock, Write};

use reviver_debugger::tui::terminal;
use reviver_escape::{self as escape, JsonWriter, TextWriter};
use reviver_files::reason;
use serde_json::Value as Json;

use crate::failure::{Exit, Failure, Fallible};
use crate::refused::{self, CommandWork};

/// Returns true if standard output has colors: on a terminal, unless `NO_COLOR` is set.
pub fn colors() -> bool {
    io::stdout().is_terminal() && may_be_colored()
}

/// Returns the width of the terminal on standard output; `None` if it isn't a terminal.
pub fn columns() -> Option<usize> {
    if io::stdout().is_terminal() { terminal::columns() } else { None }
}

/// Returns true unless `NO_COLOR` forbids colors.
pub fn may_be_colored() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Prints lines to standard output.
pub fn print(text: &str) -> Fallible {
    print_with(|out| out.write_all(text.as_bytes()))
}

/// Prints lines that may have colors. External parts must be escaped already, see [`escape::styled`].
pub fn print_styled(text: &str) -> Fallible {
    print_exactly(|out| out.write_all(escape::styled(text).as_bytes()))
}

/// Prints a JSON object on one line.
pub fn print_json(object: &Json) -> Fallible {
    print_exactly(|out| {
        let mut out = JsonWriter::new(out);
        writeln!(out, "{object}")?;
        out.flush()
    })
}

/// Prints a document without changes, such as an image or a program; on a terminal it is escaped.
pub fn print_document(bytes: &[u8]) -> Fallible {
    match io::stdout().is_terminal() {
        true => print_with(|out| out.write_all(bytes)),
        false => print_exactly(|out| out.write_all(bytes)),
    }
}

/// Prints the lines that `tell` writes, without collecting all of them in memory.
pub fn print_with(tell: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Fallible {
    print_exactly(|out| {
        let mut out = TextWriter::new(out);
        tell(&mut out)?;
        out.flush()
    })
}

fn print_exactly(tell: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Fallible {
    let _work = refused::during(CommandWork::Printing);
    let mut out = BufWriter::new(NotedStdout(io::stdout().lock()));
    tell(&mut out).and_then(|()| out.flush()).map_err(|error| unprintable(&error))
}

/// Standard output that records when something is written to it, see [`refused::has_printed`].
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

/// Converts an error of printing. If the reader has closed the pipe (`| head`), the command ends silently.
pub fn unprintable(error: &Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::spelled(Exit::Unread, "", ""),
        _ => {
            Failure::load(format_args!("can't write to standard output: {}", reason(error))).caused_by(error)
        }
    }
}

/// Prints lines to standard error. Errors are ignored, because no other stream could report them.
pub fn complain(text: &str) {
    io::stderr().write_all(escape::text(text).as_bytes()).ok();
}

/// Prints lines that may have colors to standard error. External parts must be escaped already, see
/// [`escape::styled`].
pub fn complain_styled(text: &str) {
    io::stderr().write_all(escape::styled(text).as_bytes()).ok();
}

/// Reports a failure on standard error. With `--json`, also prints the failure's object on standard output, unless
/// the object that the command printed already contains the failure.
pub fn tell(failure: &Failure, json: bool) {
    if json && !failure.reported && failure.exit != Exit::Unread {
        // If standard output fails, standard error still gets the original failure.
        print_json(&Json::Object(failure.members())).ok();
    }
    complain_styled(&failure.message);
}
