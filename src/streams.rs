//! The standard streams. Everything that the command prints goes through this file, which escapes text from outside.

use std::env;
use std::io::{self, BufWriter, Error, ErrorKind, IsTerminal, StdoutLock, Write};

use reviver_debugger::tui::terminal;
use reviver_escape::{self as escape, JsonWriter, TextWriter};
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

/// Prints lines to standard output.
pub fn print(text: &str) -> Fallible {
    print_with(|out| out.write_all(text.as_bytes()))
}

/// Prints lines that may have colours. What they hold from outside is escaped already: see [`escape::styled`].
pub fn print_styled(text: &str) -> Fallible {
    print_exactly(|out| out.write_all(escape::styled(text).as_bytes()))
}

/// Prints an object on a line.
pub fn print_json(object: &Json) -> Fallible {
    print_exactly(|out| {
        let mut out = JsonWriter::new(out);
        writeln!(out, "{object}")?;
        out.flush()
    })
}

/// Prints a document byte for byte, such as an image or a program; what a terminal would obey is escaped for it.
pub fn print_document(bytes: &[u8]) -> Fallible {
    match io::stdout().is_terminal() {
        true => print_with(|out| out.write_all(bytes)),
        false => print_exactly(|out| out.write_all(bytes)),
    }
}

/// Prints lines that may be too long for memory.
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
        _ => {
            Failure::load(format_args!("can't write to standard output: {}", reason(error))).caused_by(error)
        }
    }
}

/// Prints lines to standard error. An error of that has no place left to be reported in.
pub fn complain(text: &str) {
    io::stderr().write_all(escape::text(text).as_bytes()).ok();
}

/// Prints lines that may have colours to standard error. What they hold from outside is escaped already: see
/// [`escape::styled`].
pub fn complain_styled(text: &str) {
    io::stderr().write_all(escape::styled(text).as_bytes()).ok();
}

/// Says a failure on stderr; with `--json` also on stdout, unless it has been said there.
pub fn tell(failure: &Failure, json: bool) {
    if json && !failure.told && failure.exit != Exit::Unread {
        // If stdout can't be written, stderr still says what went wrong first.
        print_json(&Json::Object(failure.members())).ok();
    }
    complain_styled(&failure.message);
}
