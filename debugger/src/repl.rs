//! The line mode: a prompt with completion, hints and a history file. Typed lines are passed to the
//! [`Console`]. The terminal is accessed only through rustyline.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, BufRead, IsTerminal as _, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reviver_escape::TextWriter;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hint, Hinter};
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Context, Editor, Helper, Validator};

use crate::command::completion::candidates;
use crate::command::table::Command;
use crate::command::{Console, find, named, script, without_comment};
use crate::prompt_settings;
use crate::render::{render, render_done, render_error};
use crate::session_content::{question, unsaved_content};
use crate::waiting::accompany;

const PROMPT: &str = "(reviver) ";

/// Result of a session in line mode.
#[derive(Debug)]
pub struct ReplEnding {
    /// The executed commands, as a script.
    pub transcript: String,
    /// An error if the terminal can't be read, or output can't be written.
    pub outcome: io::Result<()>,
}

/// Shared state through which another thread observes and ends a session, even while the session waits for input
/// from a terminal.
#[derive(Clone, Debug)]
pub struct Observer {
    /// The lines executed so far.
    lines: Arc<Mutex<Vec<String>>>,
    /// True while the session waits for the next line.
    waits: Arc<AtomicBool>,
    /// True once the session is to end.
    ends: Arc<AtomicBool>,
    interrupt: Arc<AtomicBool>,
}

impl Observer {
    /// Creates an observer of a console. With it, another thread can interrupt the console's session.
    pub fn new(console: &Console) -> Observer {
        let interrupt = console.session.interrupt();
        Observer { lines: Arc::default(), waits: Arc::default(), ends: Arc::default(), interrupt }
    }

    /// Requests the end of the session and interrupts the current command. Returns true if no command is running.
    /// Then the session waits for a line and can't react, so the caller must end the process.
    pub fn end(&self) -> bool {
        self.ends.store(true, Ordering::SeqCst);
        self.interrupt.store(true, Ordering::Relaxed);
        self.waits.load(Ordering::SeqCst)
    }

    /// Returns the lines executed so far, as a script.
    pub fn transcript(&self) -> String {
        script(&self.lines())
    }

    /// Locks the list of lines. If a thread has panicked while it held the lock, the list is still valid, because
    /// each line is added as a whole.
    fn lines(&self) -> MutexGuard<'_, Vec<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies the lines that the console has executed since the last call.
    fn look(&self, console: &Console) {
        let mut lines = self.lines();
        let known = lines.len();
        lines.extend(console.recorded().iter().skip(known).cloned());
    }
}

/// Restores the terminal settings from before the first prompt. The caller must call this function if it ends the
/// process during a prompt, because the prompt can't restore the settings then.
pub fn restore_terminal() {
    prompt_settings::give_back();
}

/// Reads and executes commands until `quit` or the end of the input. `history` is the history file, if any;
/// errors of that file are ignored.
pub fn run(
    console: Console,
    history: Option<&Path>,
    output: &mut dyn Write,
    observer: &Observer,
) -> ReplEnding {
    let console = Rc::new(RefCell::new(console));
    let outcome = prompted(&console, history, &mut TextWriter::new(output), observer);
    let transcript = console.borrow().transcript();
    ReplEnding { transcript, outcome }
}

fn prompted(
    console: &Rc<RefCell<Console>>,
    history: Option<&Path>,
    output: &mut dyn Write,
    observer: &Observer,
) -> io::Result<()> {
    let config = Config::builder()
        .history_ignore_dups(true)
        .map_err(other)?
        .auto_add_history(true)
        .completion_type(CompletionType::List)
        .build();
    let interrupt = console.borrow().session.interrupt();
    // This call must precede the creation of the editor, which changes the terminal settings.
    prompt_settings::keep();
    let mut editor: Editor<Completion, FileHistory> = Editor::with_config(config).map_err(other)?;
    // This call must follow the creation of the editor, which installs its own handler. With the handler installed
    // here, Ctrl-C stops a run. If the process has a handler already, that handler must stop runs.
    let _ = ctrlc::set_handler(move || interrupt.store(true, Ordering::Relaxed));
    let hints = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    editor.set_helper(Some(Completion { console: console.clone(), hints }));
    if let Some(path) = history {
        let _ = editor.load_history(path);
    }
    let mut piped = (!io::stdin().is_terminal()).then(PipedLines::default);
    // Ask for confirmation only at a prompt, because its user may have forgotten unsaved content. A script ends the
    // session on purpose.
    let mut leave = LeaveQuestion { asks: piped.is_none(), was_asked: false };
    while !observer.ends.load(Ordering::SeqCst) {
        observer.waits.store(true, Ordering::SeqCst);
        let read = match &mut piped {
            Some(lines) => lines.next(&mut io::stdin().lock()),
            None => typed(editor.readline(PROMPT)),
        };
        observer.waits.store(false, Ordering::SeqCst);
        match read? {
            ReadLine::Line(line) if leave.asks_about(&line, &console.borrow(), output)? => {}
            ReadLine::Line(line) => {
                let goes_on = execute(console, &line, output);
                observer.look(&console.borrow());
                if !goes_on? {
                    break;
                }
            }
            ReadLine::NoText(place) => {
                write!(output, "error: {place} is no text in UTF-8\n  help: the line was skipped; {CURE}\n")?;
                output.flush()?;
            }
            ReadLine::Dropped => {}
            ReadLine::End if leave.asks("Ctrl-D", &console.borrow(), output)? => {}
            ReadLine::End => break,
        }
    }
    if let Some(path) = history {
        let _ = editor.save_history(path);
    }
    Ok(())
}

/// State of the confirmation question before the session ends.
struct LeaveQuestion {
    asks: bool,
    was_asked: bool,
}

impl LeaveQuestion {
    /// Writes the confirmation question if a line is `quit` and content would be lost. Returns true if the
    /// question was written; then the line isn't executed.
    fn asks_about(&mut self, line: &str, console: &Console, output: &mut dyn Write) -> io::Result<bool> {
        match named(without_comment(line).trim()) {
            Ok((row, "")) if row.name == "quit" => self.asks("`quit`", console, output),
            _ => {
                self.was_asked = false;
                Ok(false)
            }
        }
    }

    /// Writes the confirmation question if content would be lost, unless the last output was this question. `done`
    /// is the user's action, such as `quit`. Returns true if the question was written.
    fn asks(&mut self, done: &str, console: &Console, output: &mut dyn Write) -> io::Result<bool> {
        let gone = unsaved_content(&console.session).filter(|_| self.asks && !self.was_asked);
        if let Some(gone) = &gone {
            writeln!(output, "{}", question(&format!("{done} again "), Some(gone)))?;
            output.flush()?;
        }
        self.was_asked = gone.is_some();
        Ok(gone.is_some())
    }
}

/// Advice for a line that isn't valid UTF-8.
const CURE: &str = "convert a file with `iconv -t utf-8`, or set the terminal to UTF-8";

/// Result of reading a line.
enum ReadLine {
    Line(String),
    /// A line that isn't valid UTF-8, with the position of the invalid byte.
    NoText(String),
    /// Ctrl-C at the prompt: the line is dropped, and the session continues.
    Dropped,
    End,
}

/// Converts the result of reading a line at the prompt.
///
/// # Errors
/// The terminal can't be read.
fn typed(line: rustyline::Result<String>) -> io::Result<ReadLine> {
    match line {
        Ok(line) => Ok(ReadLine::Line(line)),
        Err(ReadlineError::Interrupted) => Ok(ReadLine::Dropped),
        Err(ReadlineError::Eof) => Ok(ReadLine::End),
        Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
            Ok(ReadLine::NoText("the typed line".into()))
        }
        Err(error) => Err(other(error)),
    }
}

/// Reader of lines from a pipe. The field counts the lines read so far.
#[derive(Default)]
struct PipedLines(u64);

impl PipedLines {
    /// Reads the next line, without its line ending.
    ///
    /// # Errors
    /// The input can't be read.
    fn next(&mut self, input: &mut dyn BufRead) -> io::Result<ReadLine> {
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(ReadLine::End);
        }
        self.0 += 1;
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(match std::str::from_utf8(line) {
            Ok(text) => ReadLine::Line(text.to_owned()),
            Err(error) => {
                let (before, behind) = line.split_at(error.valid_up_to());
                let column = String::from_utf8_lossy(before).chars().count() + 1;
                let byte = behind.first().copied().unwrap_or_default();
                ReadLine::NoText(format!("line {}, column {column}: the byte 0x{byte:02x}", self.0))
            }
        })
    }
}

/// Executes a line. Returns false if the session ends.
fn execute(console: &RefCell<Console>, line: &str, output: &mut dyn Write) -> io::Result<bool> {
    let mut console = console.borrow_mut();
    let (progress, span) = (console.session.progress(), console.session.timeline().span());
    let result = accompany(&progress, span, || console.execute(line));
    let text = match &result {
        Ok(outcome) => render(&console.session, outcome),
        Err(error) => render_done(&console.session, error) + &render_error(error),
    };
    output.write_all(text.as_bytes())?;
    output.flush()?;
    Ok(!result.is_ok_and(|outcome| outcome.quits()))
}

fn other(error: ReadlineError) -> io::Error {
    io::Error::other(error)
}

/// Completion and hints at the prompt, from the table of commands and the program's names.
#[derive(Helper, Validator)]
struct Completion {
    console: Rc<RefCell<Console>>,
    /// True if hints are shown. Hints are dim, so that they differ from typed text. Without attributes they would
    /// look like typed text, so `NO_COLOR` switches hints off.
    hints: bool,
}

impl Completer for Completion {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..position).unwrap_or(line);
        Ok(self
            .console
            .try_borrow()
            .map_or((position, Vec::new()), |console| candidates(&console, None, typed)))
    }
}

impl Hinter for Completion {
    type Hint = CommandHint;

    /// Returns the rest of the command name that is being typed. After a complete name, returns its
    /// arguments.
    fn hint(&self, line: &str, position: usize, _: &Context<'_>) -> Option<CommandHint> {
        if !self.hints || position != line.len() {
            return None;
        }
        hint(line)
    }
}

/// A hint for the rest of a line.
#[derive(Debug, PartialEq, Eq)]
struct CommandHint {
    text: String,
    /// Number of bytes at the beginning of the hint that the right arrow key inserts into the line. The rest of the
    /// hint is only shown.
    typed: usize,
}

impl Hint for CommandHint {
    fn display(&self) -> &str {
        &self.text
    }

    fn completion(&self) -> Option<&str> {
        self.text.get(..self.typed).filter(|text| !text.is_empty())
    }
}

fn hint(line: &str) -> Option<CommandHint> {
    match line.strip_suffix(' ') {
        Some(word) => {
            let text = usage(find(word).ok()?)?.trim_start().to_owned();
            Some(CommandHint { text, typed: 0 })
        }
        None => rest_of_command(line),
    }
}

/// Returns the usage of a command after its name, with a leading blank.
fn usage(command: &Command) -> Option<&'static str> {
    command.usage.strip_prefix(command.name).filter(|usage| !usage.is_empty())
}

/// Returns the rest of a command's name and its arguments, if a word can mean only one command. For an alias,
/// only the arguments are returned.
fn rest_of_command(word: &str) -> Option<CommandHint> {
    let command = find(word).ok().filter(|command| !word.is_empty() && !command.is_of_screen())?;
    let rest = command.name.strip_prefix(word).filter(|_| !command.aliases.contains(&word)).unwrap_or("");
    let text = format!("{rest}{}", usage(command).unwrap_or(""));
    Some(CommandHint { text, typed: rest.len() }).filter(|hint| !hint.text.is_empty())
}

impl Highlighter for Completion {
    /// Dims the hint, so that it differs from typed text.
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[2m{hint}\x1b[m"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_complete_a_command() {
        let reported = |line: &str| {
            let hint = hint(line)?;
            Some((hint.completion().unwrap_or_default().to_owned(), hint.text))
        };
        let some = |typed: &str, text: &str| Some((typed.to_owned(), text.to_owned()));
        assert_eq!(reported("conti"), some("nue", "nue"));
        assert_eq!(reported("cond"), some("", " N [CONDITION]"));
        assert_eq!(reported("goto "), some("", "STEP | N% | start | end | MARK"));
        assert_eq!(reported("disa"), None);
        assert_eq!(reported("s"), some("", " [N]"));
        assert_eq!(reported("watc"), some("h", "h CELLS | EXPRESSION [any] [if CONDITION] [log MESSAGE]"));
        assert_eq!(reported(""), None);
        assert_eq!(reported("continue "), None);
        assert_eq!(reported("goto 5"), None);
    }

    #[test]
    fn piped_lines_are_text_or_have_a_place() {
        let mut input = &b"s\r\n\n\xc3\xa4\xffx\n\xe2\x82"[..];
        let mut lines = PipedLines::default();
        let mut read = || match lines.next(&mut input).unwrap() {
            ReadLine::Line(line) => line,
            ReadLine::NoText(place) => format!("<{place}>"),
            ReadLine::Dropped | ReadLine::End => "<end>".into(),
        };
        let found = [(); 5].map(|()| read());
        let places = ["<line 3, column 2: the byte 0xff>", "<line 4, column 1: the byte 0xe2>"];
        assert_eq!(found, ["s", "", places[0], places[1], "<end>"]);
    }
}
