//! The line mode: a prompt with completion, hints and a history file. What is typed goes to the
//! [`Console`]; this file knows the terminal only through rustyline.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, BufRead, IsTerminal as _, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reviver_escape::{TextWriter, line as escaped_line};
use reviver_vm::codes;
use rustyline::completion::{Completer, FilenameCompleter, unescape};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hint, Hinter};
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Context, Editor, Helper, Validator};

use crate::belongings::{question, would_be_gone};
use crate::command::table::{ArgumentKind, COMMANDS, Command, SCREEN_COMMANDS};
use crate::command::{Console, find, find_topic, named, script, without_comment};
use crate::expression::{SPECIALS, WRITTEN};
use crate::points::Trigger;
use crate::prompt_settings;
use crate::render::{render, render_done, render_error};
use crate::waiting::accompany;

const PROMPT: &str = "(reviver) ";

/// What a session in line mode came to.
#[derive(Debug)]
pub struct ReplEnding {
    /// The commands that were carried out, as a script.
    pub transcript: String,
    /// An error where the terminal can't be read, or output can't be written.
    pub outcome: io::Result<()>,
}

/// What another thread may know of a session, and tell it: one that reads from a terminal hears of nothing else.
#[derive(Clone, Debug)]
pub struct Observer {
    /// The lines that were carried out.
    lines: Arc<Mutex<Vec<String>>>,
    /// Whether it waits for the next one.
    waits: Arc<AtomicBool>,
    /// Whether it is to end.
    ends: Arc<AtomicBool>,
    interrupt: Arc<AtomicBool>,
}

impl Observer {
    pub fn new(console: &Console) -> Observer {
        let interrupt = console.session.interrupt();
        Observer { lines: Arc::default(), waits: Arc::default(), ends: Arc::default(), interrupt }
    }

    /// Has the session end: after the command that is carried out, which is stopped. True if it waits for the
    /// next one instead, and won't hear of it.
    pub fn end(&self) -> bool {
        self.ends.store(true, Ordering::SeqCst);
        self.interrupt.store(true, Ordering::Relaxed);
        self.waits.load(Ordering::SeqCst)
    }

    /// What was carried out so far, as a script.
    pub fn transcript(&self) -> String {
        script(&self.lines())
    }

    /// A line is in the list or it isn't, so a thread that panicked has left nothing half done.
    fn lines(&self) -> MutexGuard<'_, Vec<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what was carried out since.
    fn look(&self, console: &Console) {
        let mut lines = self.lines();
        let known = lines.len();
        lines.extend(console.recorded().iter().skip(known).cloned());
    }
}

/// Gives the terminal back as it was before the first prompt: where the process ends while there is one, which won't
/// do it.
pub fn give_terminal_back() {
    prompt_settings::give_back();
}

/// Reads commands until `quit` or the end of the input. `history` is the file that keeps them, if any; one
/// that can't be read or written is no reason to stop.
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
    // Before the editor has made settings of its own.
    prompt_settings::keep();
    let mut editor: Editor<Completion, FileHistory> = Editor::with_config(config).map_err(other)?;
    // After the editor, which has a handler of its own: Ctrl-C during a run stops the run. Where the
    // process has set one before, stopping runs is its business.
    let _ = ctrlc::set_handler(move || interrupt.store(true, Ordering::Relaxed));
    let hints = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    editor.set_helper(Some(Completion { console: console.clone(), hints }));
    if let Some(path) = history {
        let _ = editor.load_history(path);
    }
    let mut piped = (!io::stdin().is_terminal()).then(PipedLines::default);
    // A script means what it says; who types may have forgotten what there is.
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
                write!(output, "error: {place} is no text in UTF-8\n  help: the line is left out; {CURE}\n")?;
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

/// Whether somebody who leaves is to be asked, and was.
struct LeaveQuestion {
    asks: bool,
    was_asked: bool,
}

impl LeaveQuestion {
    /// Asks about a line that ends the session, where something would be gone with it. Whether it did.
    fn asks_about(&mut self, line: &str, console: &Console, output: &mut dyn Write) -> io::Result<bool> {
        match named(without_comment(line).trim()) {
            Ok((row, "")) if row.name == "quit" => self.asks("`quit`", console, output),
            _ => {
                self.was_asked = false;
                Ok(false)
            }
        }
    }

    /// The same about what somebody has done to leave.
    fn asks(&mut self, done: &str, console: &Console, output: &mut dyn Write) -> io::Result<bool> {
        let gone = would_be_gone(&console.session).filter(|_| self.asks && !self.was_asked);
        if let Some(gone) = &gone {
            writeln!(output, "{}", question(&format!("{done} again "), Some(gone)))?;
            output.flush()?;
        }
        self.was_asked = gone.is_some();
        Ok(gone.is_some())
    }
}

/// What to do about a line that is no text.
const CURE: &str = "`iconv -t utf-8` converts files, and terminals have a setting for it";

/// What was read where a line was expected.
enum ReadLine {
    Line(String),
    /// A line with bytes that are no characters, and where they are.
    NoText(String),
    /// Ctrl-C at the prompt drops the line, and never quits.
    Dropped,
    End,
}

/// A line that came from the prompt.
///
/// # Errors
/// The terminal can't be read.
fn typed(line: rustyline::Result<String>) -> io::Result<ReadLine> {
    match line {
        Ok(line) => Ok(ReadLine::Line(line)),
        Err(ReadlineError::Interrupted) => Ok(ReadLine::Dropped),
        Err(ReadlineError::Eof) => Ok(ReadLine::End),
        Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
            Ok(ReadLine::NoText("what was typed".into()))
        }
        Err(error) => Err(other(error)),
    }
}

/// Lines that nobody types; so many were read.
#[derive(Default)]
struct PipedLines(u64);

impl PipedLines {
    /// The next line, without its end.
    ///
    /// # Errors
    /// What can't be read.
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

/// Carries a line out; false if that was the last.
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

/// Completion and hints, from the table of commands and the program's names.
#[derive(Helper, Validator)]
struct Completion {
    console: Rc<RefCell<Console>>,
    /// Whether there are hints. They are dim, which `NO_COLOR` doesn't want, and else would look typed.
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

    /// What the first word goes on with, or the arguments of a command whose name has been typed.
    fn hint(&self, line: &str, position: usize, _: &Context<'_>) -> Option<CommandHint> {
        if !self.hints || position != line.len() {
            return None;
        }
        hint(line)
    }
}

/// What a line could go on with.
#[derive(Debug, PartialEq, Eq)]
struct CommandHint {
    text: String,
    /// How many bytes of it the right arrow key types; the rest only tells.
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

/// What follows a command's name in its usage, with a blank before it.
fn usage(command: &Command) -> Option<&'static str> {
    command.usage.strip_prefix(command.name).filter(|usage| !usage.is_empty())
}

/// The rest of the only command that a word can mean, and its arguments. Another name of a command is
/// not completed; its arguments are told.
fn rest_of_command(word: &str) -> Option<CommandHint> {
    let command = find(word).ok().filter(|command| !word.is_empty() && !command.is_of_screen())?;
    let rest = command.name.strip_prefix(word).filter(|_| !command.aliases.contains(&word)).unwrap_or("");
    let text = format!("{rest}{}", usage(command).unwrap_or(""));
    Some(CommandHint { text, typed: rest.len() }).filter(|hint| !hint.text.is_empty())
}

impl Highlighter for Completion {
    /// Dim, so that it doesn't look typed.
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[2m{hint}\x1b[m"))
    }
}

/// Where the word that is being typed begins, and what it could become. `panes` are those of the screen, which
/// has commands of its own; none where there is no screen.
pub fn candidates(console: &Console, panes: Option<&[&'static str]>, typed: &str) -> (usize, Vec<String>) {
    let (start, mut names) = match typed.split_once(char::is_whitespace) {
        None => (0, names_of_commands(panes.is_some())),
        Some((command, _)) if find(command).is_ok_and(|command| command.argument == ArgumentKind::File) => {
            return files(typed);
        }
        Some((command, rest)) => {
            let separates = |c: char| c.is_whitespace() || "([{+-*/=<>&|^~,".contains(c);
            let start = typed.rfind(separates).map_or(0, |at| at + 1);
            let names = match find(command).ok() {
                Some(command) if is_in_condition(command, rest) => names_at_points(console, command, rest),
                Some(command) => arguments(console, panes, row(command, rest)),
                None => Vec::new(),
            };
            (start, names)
        }
    };
    let word = typed.get(start..).unwrap_or_default();
    names.retain(|name| name.starts_with(word));
    names.sort();
    names.dedup();
    (start, names)
}

/// The commands that can be given, on a screen or without one.
fn names_of_commands(has_screen: bool) -> Vec<String> {
    let screen = SCREEN_COMMANDS.iter().filter(|_| has_screen);
    COMMANDS.iter().chain(screen).map(|command| command.name.to_owned()).collect()
}

/// Whether what is typed behind a command is in a point's condition or its message.
fn is_in_condition(command: &Command, rest: &str) -> bool {
    let is_conditional = command.usage.contains("if CONDITION");
    let mut before: Vec<&str> = rest.split_whitespace().collect();
    if !rest.ends_with(char::is_whitespace) {
        before.pop();
    }
    match command.name {
        "condition" => !before.is_empty(),
        _ => is_conditional && before.iter().any(|word| matches!(*word, "if" | "log")),
    }
}

/// What can stand there.
fn names_at_points(console: &Console, command: &Command, rest: &str) -> Vec<String> {
    let has_write = match command.argument {
        ArgumentKind::Point => {
            let id = rest.split_whitespace().next().and_then(|id| id.parse().ok());
            let point = console.session.points().iter().find(|point| Some(point.id) == id);
            point.is_some_and(|point| matches!(point.trigger, Trigger::Watch { .. }))
        }
        argument => argument == ArgumentKind::Cell,
    };
    let written = WRITTEN.into_iter().filter(|_| has_write);
    SPECIALS.into_iter().chain(written).chain(console.session.names()).map(str::to_owned).collect()
}

/// The row whose arguments are being typed: the command's, or that of its topic.
fn row(command: &'static Command, rest: &str) -> &'static Command {
    match rest.trim_start().split_once(char::is_whitespace) {
        Some((topic, _)) if command.argument == ArgumentKind::Topic => find_topic(topic).unwrap_or(command),
        _ => command,
    }
}

/// The files that the last word could become. A folder that can't be read has none.
fn files(typed: &str) -> (usize, Vec<String>) {
    let found = FilenameCompleter::new().complete_path(typed, typed.len());
    let (start, pairs) = found.unwrap_or((typed.len(), Vec::new()));
    let names = pairs.iter().map(|pair| unescape(&pair.replacement, Some('\\')).into_owned());
    // The editor prints candidates as they are. A name that needs escapes can't be typed anyway.
    (start, names.filter(|name| escaped_line(name) == *name).collect())
}

fn arguments(console: &Console, panes: Option<&[&'static str]>, command: &Command) -> Vec<String> {
    let session = &console.session;
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    match command.argument {
        ArgumentKind::None | ArgumentKind::Count | ArgumentKind::File => Vec::new(),
        ArgumentKind::Step => {
            ["start", "end"].into_iter().map(str::to_owned).chain(session.marks().keys().cloned()).collect()
        }
        ArgumentKind::Code => {
            codes::all().flat_map(|entry| [entry.code, entry.words]).map(str::to_owned).collect()
        }
        ArgumentKind::Mark => session.marks().keys().cloned().collect(),
        ArgumentKind::Place => session.place_names().map(str::to_owned).collect(),
        ArgumentKind::Procedure => {
            session.program().module().procedures.iter().map(|procedure| procedure.name.clone()).collect()
        }
        ArgumentKind::Cell => session.names().map(str::to_owned).collect(),
        ArgumentKind::Expression => SPECIALS.into_iter().chain(session.names()).map(str::to_owned).collect(),
        ArgumentKind::Point => session.points().iter().map(|point| point.id.to_string()).collect(),
        ArgumentKind::Command | ArgumentKind::Line => names_of_commands(panes.is_some()),
        ArgumentKind::Pane => owned(&[panes.unwrap_or_default(), &["next", "previous"]].concat()),
        ArgumentKind::Topic => command.topics().iter().map(|topic| topic.name.to_owned()).collect(),
        ArgumentKind::OneOf(words) => owned(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_tell_how_a_command_goes_on() {
        let told = |line: &str| {
            let hint = hint(line)?;
            Some((hint.completion().unwrap_or_default().to_owned(), hint.text))
        };
        let some = |typed: &str, text: &str| Some((typed.to_owned(), text.to_owned()));
        assert_eq!(told("conti"), some("nue", "nue"));
        assert_eq!(told("cond"), some("", " N [CONDITION]"));
        assert_eq!(told("goto "), some("", "STEP | N% | start | end | MARK"));
        assert_eq!(told("disa"), None);
        assert_eq!(told("s"), some("", " [N]"));
        assert_eq!(told("watc"), some("h", "h CELLS | EXPRESSION [any] [if CONDITION] [log MESSAGE]"));
        assert_eq!(told(""), None);
        assert_eq!(told("continue "), None);
        assert_eq!(told("goto 5"), None);
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

    #[test]
    fn files_are_completed() {
        let folder = env!("CARGO_MANIFEST_DIR");
        let (start, names) = files(&format!("source {folder}/src/rep"));
        assert_eq!((start, names), (7, vec![format!("{folder}/src/repl.rs")]));
        assert_eq!(files("save nowhere/x").1, [""; 0]);
    }
}
