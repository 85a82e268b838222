//! The line mode: a prompt with completion, hints and a history file. What is typed goes to the
//! [`Console`]; this file knows the terminal only through rustyline.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::{Config, Context, Editor, Helper, Highlighter, Validator};

use crate::command::table::{Argument, COMMANDS, Command};
use crate::command::{Console, find, find_topic};
use crate::render::{render, render_done, render_error};

const PROMPT: &str = "(reviver) ";

/// Reads commands until `quit` or the end of the input, and returns those that were carried out, as a
/// script. `history` is the file that keeps them, if any;
/// one that can't be read or written is no reason to stop.
///
/// # Errors
/// A terminal that can't be read, or output that can't be written.
pub fn run(console: Console, history: Option<&Path>, output: &mut dyn Write) -> io::Result<String> {
    let config = Config::builder().history_ignore_dups(true).map_err(other)?.auto_add_history(true).build();
    let interrupt = console.session.interrupt();
    let console = Rc::new(RefCell::new(console));
    let mut editor: Editor<Completion, FileHistory> = Editor::with_config(config).map_err(other)?;
    // After the editor, which has a handler of its own: Ctrl-C during a run stops the run. Where the
    // process has set one before, stopping runs is its business.
    let _ = ctrlc::set_handler(move || interrupt.store(true, Ordering::Relaxed));
    editor.set_helper(Some(Completion { console: console.clone() }));
    if let Some(path) = history {
        let _ = editor.load_history(path);
    }
    loop {
        match editor.readline(PROMPT) {
            Ok(line) if !execute(&console, &line, output)? => break,
            // Ctrl-C at the prompt drops the line, and never quits.
            Ok(_) | Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(other(error)),
        }
    }
    if let Some(path) = history {
        let _ = editor.save_history(path);
    }
    let transcript = console.borrow().transcript();
    Ok(transcript)
}

/// Carries a line out; false if that was the last.
fn execute(console: &RefCell<Console>, line: &str, output: &mut dyn Write) -> io::Result<bool> {
    let mut console = console.borrow_mut();
    let result = console.execute(line);
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
#[derive(Helper, Highlighter, Validator)]
struct Completion {
    console: Rc<RefCell<Console>>,
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
        Ok(self.console.try_borrow().map_or((position, Vec::new()), |console| candidates(&console, typed)))
    }
}

impl Hinter for Completion {
    type Hint = String;

    /// The arguments of a command whose name has been typed.
    fn hint(&self, line: &str, position: usize, _: &Context<'_>) -> Option<String> {
        let word = line.strip_suffix(' ').filter(|_| position == line.len())?;
        let command = find(word).ok()?;
        command.usage.strip_prefix(command.name).map(|usage| usage.trim_start().to_owned())
    }
}

/// Where the word that is being typed begins, and what it could become.
pub fn candidates(console: &Console, typed: &str) -> (usize, Vec<String>) {
    let (start, mut names) = match typed.split_once(char::is_whitespace) {
        None => (0, COMMANDS.iter().map(|command| command.name.to_owned()).collect()),
        Some((command, rest)) => {
            let separates = |c: char| c.is_whitespace() || "([+-*/=<>&|^~,".contains(c);
            let start = typed.rfind(separates).map_or(0, |at| at + 1);
            (start, find(command).map_or(Vec::new(), |command| arguments(console, row(command, rest))))
        }
    };
    let word = typed.get(start..).unwrap_or_default();
    names.retain(|name| name.starts_with(word));
    names.sort();
    names.dedup();
    (start, names)
}

/// The row whose arguments are being typed: the command's, or that of its topic.
fn row(command: &'static Command, rest: &str) -> &'static Command {
    match rest.trim_start().split_once(char::is_whitespace) {
        Some((topic, _)) if command.argument == Argument::Topic => find_topic(topic).unwrap_or(command),
        _ => command,
    }
}

fn arguments(console: &Console, command: &Command) -> Vec<String> {
    let session = &console.session;
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    match command.argument {
        Argument::None | Argument::Count | Argument::File => Vec::new(),
        Argument::Step => {
            ["start", "end"].into_iter().map(str::to_owned).chain(session.marks().keys().cloned()).collect()
        }
        Argument::Mark => session.marks().keys().cloned().collect(),
        Argument::Place => session.place_names().map(str::to_owned).collect(),
        Argument::Cell => session.memory().names(session.state()).map(str::to_owned).collect(),
        Argument::Expression => {
            let special = ["$step", "$depth", "$position"].into_iter();
            special.chain(session.memory().names(session.state())).map(str::to_owned).collect()
        }
        Argument::Point => session.points().iter().map(|point| point.id.to_string()).collect(),
        Argument::Command => COMMANDS.iter().map(|command| command.name.to_owned()).collect(),
        Argument::Topic => command.topics().iter().map(|topic| topic.name.to_owned()).collect(),
        Argument::OneOf(words) => owned(words),
    }
}
