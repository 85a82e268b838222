//! Commands as text: gdb's names and abbreviations, read from a line and carried out on a session.
//! What a command came to is data; [`crate::render`] puts it into words.

mod actions;
mod arguments;
pub mod plot;
pub mod table;

use reviver_assembler::suggest::nearest;
use thiserror::Error;

use crate::expression::{ExpressionError, Hint};
use crate::memory::Target;
use crate::outcome::{Check, History, Motion, Origin, Reason};
use crate::points::Point;
use crate::session::{Session, SessionError};
use crate::timeline::{Fork, LineNumber, Moment};
use crate::view::card::CardView;
use crate::view::cells::{ArrayView, CellsPane};
use crate::view::code::CodePane;
use crate::view::plot::Plot;
use crate::view::stack::{FrameView, Row};
use crate::view::status::Status;
use crate::view::timeline::Events;
use table::Command;

/// What a command came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Motion(Motion),
    /// Expressions and their values, or why they have none.
    Values(Vec<(String, Result<String, String>)>),
    Array(ArrayView),
    PointSet(Point),
    Points(Vec<Point>),
    Deleted(usize),
    Origins(Vec<Origin>),
    History(History),
    /// A cell, what it held, what it holds, and the line of history that this began.
    Edited {
        cell: String,
        before: String,
        after: String,
        line: LineNumber,
    },
    /// The adjoint of a loss, what it holds, and the line of history in which it is carried back.
    Seeded {
        adjoint: String,
        value: String,
        line: LineNumber,
    },
    Check(Check),
    Code(CodePane),
    /// Instructions: index, text, whether it is the next one.
    Instructions(Vec<(u32, String, bool)>),
    /// The frame that is selected.
    Frame(FrameView),
    Frames(Vec<FrameView>),
    Cells(CellsPane),
    Rows(Vec<Row>),
    Card(CardView),
    Status(Box<Status>),
    Marks(Vec<(String, Moment)>),
    Marked {
        name: String,
        at: Moment,
    },
    Events(Events),
    Fences(Vec<i64>),
    Fence {
        at: Moment,
        is_set: bool,
    },
    Forks(Vec<Fork>),
    Inverse(Vec<String>),
    Plot(Plot),
    /// The cells that are still plotted.
    Unplotted(Vec<String>),
    Help(Vec<&'static Command>),
    /// Several, one after the other.
    All(Vec<(String, Outcome)>),
    /// A file was written.
    Saved(String),
    Quit,
    Nothing,
}

impl Outcome {
    /// Whether the session's step limit stopped this.
    pub fn is_limited(&self) -> bool {
        match self {
            Outcome::Motion(Motion { reason, .. }) | Outcome::Check(Check { stop: reason, .. }) => {
                *reason == Reason::StepLimit
            }
            Outcome::All(outcomes) => outcomes.iter().any(|(_, outcome)| outcome.is_limited()),
            _ => false,
        }
    }
}

/// Why a line is no command, or a command failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    #[error("there is no command `{word}`")]
    Unknown { word: String, near: Option<&'static str> },
    #[error("`{word}` can mean {}", candidates.join(", "))]
    Ambiguous { word: String, candidates: Vec<&'static str> },
    #[error("{message}")]
    Usage { message: String, usage: &'static str },
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("{0}")]
    File(String),
    #[error("{0}")]
    Failed(String),
    #[error("line {line}: `{command}`: {error}")]
    Script { line: usize, command: String, error: Box<CommandError> },
}

impl From<ExpressionError> for CommandError {
    fn from(error: ExpressionError) -> CommandError {
        SessionError::from(error).into()
    }
}

impl CommandError {
    /// What could help, without a full stop.
    pub fn help(&self) -> Option<String> {
        let meant = |near: &Option<String>| near.as_ref().map(|near| format!("did you mean `{near}`?"));
        match self {
            CommandError::Unknown { near: Some(near), .. } => Some(format!("did you mean `{near}`?")),
            CommandError::Unknown { near: None, .. } => Some("`help` lists the commands".into()),
            CommandError::Usage { usage, .. } => Some(format!("usage: {usage}")),
            CommandError::Session(SessionError::NoPlace { near, .. } | SessionError::NoMark { near, .. }) => {
                meant(near)
            }
            CommandError::Session(SessionError::Expression(ExpressionError::Unknown { name, hint })) => {
                match hint.as_ref()? {
                    Hint::Near(near) => Some(format!("did you mean `{near}`?")),
                    Hint::Frame { procedure, outward } => {
                        let command = selecting(*outward);
                        Some(format!("`{name}` is {procedure}'s: `{command}` selects its frame"))
                    }
                }
            }
            CommandError::Session(SessionError::Expression(ExpressionError::Assignment)) => {
                Some("`==` compares; the command `set a = 1` changes a cell".into())
            }
            CommandError::Script { error, .. } => error.help(),
            _ => None,
        }
    }
}

/// The command that selects a frame so many calls further out, or further in where negative.
fn selecting(outward: isize) -> String {
    let name = if outward < 0 { "down" } else { "up" };
    match outward.unsigned_abs() {
        1 => name.to_owned(),
        count => format!("{name} {count}"),
    }
}

/// A session that is told what to do in lines of text.
#[derive(Debug)]
pub struct Console {
    pub session: Session,
    /// Expressions that are printed after every motion.
    displays: Vec<String>,
    /// Cells that are plotted: their names and themselves. A name means another cell in another call.
    plots: Vec<(String, Target)>,
    /// The lines that were carried out.
    transcript: Vec<String>,
    /// What an empty line repeats.
    repeated: Option<String>,
    /// Scripts that are being carried out: a script that runs itself would never end.
    depth: usize,
}

impl Console {
    pub fn new(session: Session) -> Console {
        Console {
            session,
            displays: Vec::new(),
            plots: Vec::new(),
            transcript: Vec::new(),
            repeated: None,
            depth: 0,
        }
    }

    /// Carries a line out. An empty one repeats the last motion or choice of a frame, as in gdb; what
    /// follows `#` is a comment.
    ///
    /// # Errors
    /// What is wrong with the line, or why the command failed; nothing has changed then.
    pub fn execute(&mut self, line: &str) -> Result<Outcome, CommandError> {
        let mut line = without_comment(line).trim().to_owned();
        if line.is_empty() {
            match &self.repeated {
                Some(repeated) => line.clone_from(repeated),
                None => return Ok(Outcome::Nothing),
            }
        }
        let (word, rest) = split_command(&line);
        let command = find(word)?;
        let outcome = (command.action)(self, command, rest)?;
        self.repeated = matches!(outcome, Outcome::Motion(_) | Outcome::Frame(_)).then(|| line.clone());
        // A script stands in the transcript as the command that ran it.
        if self.depth == 0 {
            self.transcript.push(line);
        }
        Ok(self.with_displays(outcome))
    }

    /// The cells that are plotted, at most [`plot::MOST_PLOTS`].
    pub fn plots(&self) -> &[(String, Target)] {
        &self.plots
    }

    /// The lines that were carried out so far, as a script.
    pub fn transcript(&self) -> String {
        self.transcript.iter().map(|line| format!("{line}\n")).collect()
    }

    /// A motion is followed by what is to be displayed.
    fn with_displays(&self, outcome: Outcome) -> Outcome {
        if self.displays.is_empty() || !matches!(outcome, Outcome::Motion(_)) {
            return outcome;
        }
        let values = self.displays.iter().map(|text| {
            let value = self.session.evaluate(text);
            (text.clone(), value.map(|(_, text)| text).map_err(|error| error.to_string()))
        });
        Outcome::All(vec![(String::new(), outcome), (String::new(), Outcome::Values(values.collect()))])
    }

    /// Carries the lines of a script out, until one fails. Returns each line with its outcome.
    fn script(&mut self, text: &str) -> Result<Outcome, CommandError> {
        const DEEPEST: usize = 10;
        if self.depth >= DEEPEST {
            return Err(CommandError::Failed("scripts that run scripts are nested too deeply".into()));
        }
        self.depth += 1;
        let outcome = self.script_lines(text);
        self.depth -= 1;
        outcome
    }

    fn script_lines(&mut self, text: &str) -> Result<Outcome, CommandError> {
        let mut outcomes = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if without_comment(line).trim().is_empty() {
                continue;
            }
            let failed = |error| CommandError::Script {
                line: number + 1,
                command: line.trim().to_owned(),
                error: Box::new(error),
            };
            let outcome = self.execute(line).map_err(failed)?;
            let quits = outcome == Outcome::Quit;
            outcomes.push((line.trim().to_owned(), outcome));
            if quits {
                break;
            }
        }
        Ok(Outcome::All(outcomes))
    }
}

/// The command that a word names: its name, an alias, or a beginning that only one name has.
///
/// # Errors
/// None, or several.
pub fn find(word: &str) -> Result<&'static Command, CommandError> {
    let names = |command: &&'static Command| command.name == word || command.aliases.contains(&word);
    if let Some(command) = table::COMMANDS.iter().find(names) {
        return Ok(command);
    }
    let begun: Vec<&'static Command> =
        table::COMMANDS.iter().filter(|command| command.name.starts_with(word)).collect();
    match begun[..] {
        [command] => Ok(command),
        [] => {
            let all =
                table::COMMANDS.iter().flat_map(|c| std::iter::once(c.name).chain(c.aliases.iter().copied()));
            Err(CommandError::Unknown { word: word.to_owned(), near: nearest(word, all) })
        }
        _ => {
            let candidates = begun.iter().map(|command| command.name).collect();
            Err(CommandError::Ambiguous { word: word.to_owned(), candidates })
        }
    }
}

/// What stands before a `#` that begins a word.
pub(crate) fn without_comment(line: &str) -> &str {
    let starts = |(at, _): &(usize, &str)| *at == 0 || line[..*at].ends_with(char::is_whitespace);
    line.match_indices('#').find(starts).map_or(line, |(at, _)| &line[..at])
}

/// The command of a line, and what follows it; a format may follow without a blank, as in `print/x`.
fn split_command(line: &str) -> (&str, &str) {
    let end = line.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    (word, rest.trim())
}

/// The first word of a text, and what follows it.
fn split_word(line: &str) -> (&str, &str) {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (word, rest.trim())
}

/// The name of a reason, for scripts that expect one.
pub fn reason_name(reason: &Reason) -> &'static str {
    match reason {
        Reason::Arrived => "arrived",
        Reason::Points(hits) => match hits.first().map(|hit| &hit.what) {
            Some(crate::outcome::HitKind::Watch { .. }) => "watchpoint",
            _ => "breakpoint",
        },
        Reason::HistoryBegin => "begin",
        Reason::HistoryEnd => "end",
        Reason::Trap(_) => "trap",
        Reason::Interrupted => "interrupted",
        Reason::Fence => "fence",
        Reason::StepLimit => "step-limit",
    }
}
