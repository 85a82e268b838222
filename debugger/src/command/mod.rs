//! Commands as text: gdb's names and abbreviations, read from a line and carried out on a session.
//! What a command came to is data; [`crate::render`] puts it into words.

mod actions;
mod arguments;
mod code;
mod foreign;
mod picture;
pub mod plot;
mod scripts;
pub mod table;
pub mod topics;

use reviver_assembler::suggest::nearest;
use reviver_files::UsedFiles;
use reviver_vm::room::OutOfMemory;
use thiserror::Error;

use crate::expression::{ExpressionError, Hint};
use crate::memory::Target;
use crate::outcome::{Check, Edit, History, Motion, Origin, Reason, Seed, StopKind};
use crate::points::Point;
use crate::session::{Session, SessionError};
use crate::timeline::{BranchNumber, Fork, Moment};
use crate::tui::app::Face;
use crate::view::card::CardView;
use crate::view::cells::{ArrayView, CellsPane};
use crate::view::code::CodePane;
use crate::view::plot::Plot;
use crate::view::stack::{FrameView, Row};
use crate::view::status::Status;
use crate::view::timeline::Events;
pub(crate) use scripts::script;
pub use scripts::{SAVED, SESSION};
use table::Command;

/// What a command came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Motion(Motion),
    /// Expressions and their values, or why they have none.
    Values(Vec<(String, Result<String, String>)>),
    Array(ArrayView),
    PointSet(Box<Point>),
    Points(Vec<Point>),
    Deleted(usize),
    Origins(Vec<Origin>),
    History(History),
    /// A cell was set; the session is on this branch now.
    Edited {
        edit: Edit,
        branch: BranchNumber,
    },
    /// A gradient was begun; on this branch it is carried back.
    Seeded {
        seed: Seed,
        branch: BranchNumber,
    },
    Check(Check),
    Code(CodePane),
    /// Instructions: index, text, whether it is the next one.
    Instructions(Vec<(u32, String, bool)>),
    /// A source line and its instructions.
    Line {
        name: String,
        instructions: Vec<(u32, String, bool)>,
    },
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
    /// There is nothing of what was asked for.
    Empty,
    Nothing,
}

/// Why a line is no command, or a command failed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CommandError {
    #[error("there is no {what} `{word}`")]
    Unknown { what: &'static str, word: String, near: Option<&'static str> },
    #[error("`{word}` is a command of gdb that is not needed here")]
    Foreign { word: String, instead: &'static str },
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
    /// A script failed at a line; what came of the lines before it is done.
    #[error("line {line}: `{command}`: {error}")]
    Script { line: usize, command: String, error: Box<CommandError>, done: Vec<(String, Outcome)> },
}

impl Outcome {
    /// Why this went no further than it was to, where the user stopped it or the step limit did.
    pub fn cut_short(&self) -> Option<StopKind> {
        let reason = match self {
            Outcome::Motion(Motion { reason, .. }) | Outcome::Check(Check { stop: reason, .. }) => reason,
            Outcome::History(history) => history.stopped.as_ref()?,
            Outcome::Origins(chain) => chain.iter().find_map(Origin::stopped)?,
            Outcome::Plot(plot) => return (!plot.samples.is_whole).then_some(StopKind::Interrupted),
            Outcome::All(outcomes) => {
                return outcomes.iter().find_map(|(_, outcome)| outcome.cut_short());
            }
            _ => return None,
        };
        let kind = reason.kind();
        matches!(kind, StopKind::Interrupted | StopKind::StepLimit).then_some(kind)
    }

    /// Whether the session is to end, because of this or of the last command of a script.
    pub fn quits(&self) -> bool {
        match self {
            Outcome::Quit => true,
            Outcome::All(all) => all.last().is_some_and(|(_, last)| last.quits()),
            _ => false,
        }
    }

    /// Whether this has led somewhere else, in time or among the frames.
    pub fn moves(&self) -> bool {
        match self {
            Outcome::Motion(_) | Outcome::Edited { .. } | Outcome::Seeded { .. } | Outcome::Frame(_) => true,
            Outcome::All(all) => all.iter().any(|(_, outcome)| outcome.moves()),
            _ => false,
        }
    }
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
            CommandError::Unknown { what: "topic", .. } => Some("`help info` lists the topics".into()),
            CommandError::Unknown { .. } => Some("`help` lists the commands".into()),
            CommandError::Foreign { instead, .. } => Some((*instead).to_owned()),
            CommandError::Usage { usage, .. } => Some(format!("usage: {usage}")),
            CommandError::Session(
                SessionError::NoPlace { near, .. }
                | SessionError::NoName { near, .. }
                | SessionError::NoMark { near, .. },
            ) => meant(near),
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
    /// What was read for the session, and what it reads and writes.
    files: UsedFiles,
    /// The screen on which the session is seen; none where there is none.
    pub(crate) face: Option<Box<Face>>,
    /// Expressions that are printed after every motion.
    displays: Vec<String>,
    /// Cells that are plotted: their names and themselves. A name means another cell in another call.
    plots: Vec<(String, Target)>,
    /// The lines that were carried out.
    transcript: Vec<String>,
    /// Whether the last of them stands for motions that nobody typed.
    glides: bool,
    /// What an empty line repeats.
    repeated: Option<String>,
    /// Where `list` goes on.
    listed: Option<code::Listed>,
    /// Scripts that are being carried out, the innermost last.
    scripts: scripts::Open,
}

impl Console {
    /// A copy that no screen shows.
    ///
    /// # Errors
    /// There is no memory for the states of its session.
    pub(crate) fn try_clone(&self) -> Result<Console, OutOfMemory> {
        Ok(Console {
            session: self.session.try_clone()?,
            files: self.files.clone(),
            face: None,
            displays: self.displays.clone(),
            plots: self.plots.clone(),
            transcript: self.transcript.clone(),
            glides: self.glides,
            repeated: self.repeated.clone(),
            listed: self.listed,
            scripts: self.scripts.clone(),
        })
    }

    /// `files` knows what was read to open the session: it is never overwritten.
    pub fn new(session: Session, files: UsedFiles) -> Console {
        Console {
            session,
            files,
            face: None,
            displays: Vec::new(),
            plots: Vec::new(),
            transcript: Vec::new(),
            glides: false,
            repeated: None,
            listed: None,
            scripts: scripts::Open::default(),
        }
    }

    /// Carries a line out. An empty one repeats the last motion or choice of a frame, or prints the next page
    /// of `list`, as in gdb; what follows `#` is a comment.
    ///
    /// # Errors
    /// What is wrong with the line, or why the command failed; nothing has changed then. A script that
    /// fails has done what stands before the line that failed.
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
        let (recorded, ignored) = (self.transcript.len(), ignored(&self.session));
        let outcome = (command.action)(self, command, rest)?;
        self.repeated = match outcome {
            Outcome::Motion(_) | Outcome::Frame(_) => Some(line.clone()),
            // The next page.
            Outcome::Code(_) if rest == "-" => Some(line.clone()),
            Outcome::Code(_) => Some(command.name.to_owned()),
            _ => None,
        };
        // A script stands in the transcript as its lines.
        if self.transcript.len() == recorded {
            self.transcript.extend(replay(line, &outcome));
            if matches!(outcome, Outcome::Motion(_)) && is_interrupted(&outcome) {
                self.ignore_as_now(&ignored);
            }
        }
        self.glides = false;
        Ok(self.with_displays(outcome))
    }

    /// Carries a motion out that nobody typed: of playing, say, where many follow one another. As long as
    /// they meet no point they stand in the transcript as one `goto`, and are undone as one.
    ///
    /// # Errors
    /// As [`Console::execute`].
    pub fn glide(&mut self, line: &str) -> Result<Outcome, CommandError> {
        let hits = |session: &Session| session.points().iter().map(|point| point.hits).sum::<u64>();
        let (glides, before, from) = (self.glides, hits(&self.session), self.session.moment());
        let outcome = self.execute(line)?;
        let is_free = self.session.reason() == Some(&Reason::Arrived) && hits(&self.session) == before;
        if is_free && glides && self.session.moment() != from {
            self.session.join_motions();
        }
        if is_free {
            let joined = 1 + usize::from(glides);
            self.transcript.truncate(self.transcript.len().saturating_sub(joined));
            self.transcript.push(format!("goto {}", self.session.step_number()));
            self.glides = true;
        }
        Ok(outcome)
    }

    /// Notes how many hits are still to be ignored, where that is another number than before: a `goto` doesn't
    /// count them.
    fn ignore_as_now(&mut self, before: &[(u32, u64)]) {
        let changed = ignored(&self.session).into_iter().filter(|now| !before.contains(now));
        self.transcript.extend(changed.map(|(id, count)| format!("ignore {id} {count}")));
    }

    /// The cells that are plotted, at most [`plot::MOST_PLOTS`].
    pub fn plots(&self) -> &[(String, Target)] {
        &self.plots
    }

    /// A motion is followed by what is to be displayed.
    fn with_displays(&self, outcome: Outcome) -> Outcome {
        if self.displays.is_empty() || !matches!(outcome, Outcome::Motion(_)) {
            return outcome;
        }
        let values = Outcome::Values(self.displayed());
        Outcome::All(vec![(String::new(), outcome), (String::new(), values)])
    }

    /// What is displayed after every motion: expressions and their values here, or why they have none.
    pub fn displayed(&self) -> Vec<(String, Result<String, String>)> {
        let value = |text: &String| {
            let value = self.session.evaluate(text);
            (text.clone(), value.map(|(_, text)| text).map_err(|error| error.to_string()))
        };
        self.displays.iter().map(value).collect()
    }
}

/// What a line is replaced by in the transcript, so that a replay comes to the same.
fn replay(line: String, outcome: &Outcome) -> Option<String> {
    match outcome {
        // Who replays a session wants to see it again, not to write files.
        Outcome::Saved(_) => None,
        // Nobody interrupts the replay at the same step.
        Outcome::Motion(motion) if is_interrupted(outcome) => Some(format!("goto {}", motion.to.step)),
        // A question that took too long is left out, for it would again; a plot stays.
        Outcome::Plot(_) => Some(line),
        _ if is_interrupted(outcome) => None,
        _ => Some(line),
    }
}

fn is_interrupted(outcome: &Outcome) -> bool {
    outcome.cut_short() == Some(StopKind::Interrupted)
}

/// How many hits of each point are still to be ignored.
fn ignored(session: &Session) -> Vec<(u32, u64)> {
    session.points().iter().map(|point| (point.id, point.ignore)).collect()
}

/// The command that a word names: its name, an alias, or a beginning that only one name has.
///
/// # Errors
/// None, or several; a command that only gdb has.
pub fn find(word: &str) -> Result<&'static Command, CommandError> {
    row_of(table::COMMANDS, "command", word).map_err(|error| match foreign::instead_of(word) {
        Some(instead) => CommandError::Foreign { word: word.to_owned(), instead },
        None => error,
    })
}

/// The topic of `info` that a word names, as [`find`].
///
/// # Errors
/// None, or several.
pub fn find_topic(word: &str) -> Result<&'static Command, CommandError> {
    row_of(topics::TOPICS, "topic", word)
}

fn row_of(
    table: &'static [Command],
    what: &'static str,
    word: &str,
) -> Result<&'static Command, CommandError> {
    let names = |command: &&'static Command| command.name == word || command.aliases.contains(&word);
    if let Some(command) = table.iter().find(names) {
        return Ok(command);
    }
    let begun: Vec<&'static Command> =
        table.iter().filter(|command| command.name.starts_with(word)).collect();
    match begun[..] {
        [command] => Ok(command),
        [] => {
            let all = table.iter().flat_map(|c| std::iter::once(c.name).chain(c.aliases.iter().copied()));
            Err(CommandError::Unknown { what, word: word.to_owned(), near: nearest(word, all) })
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

/// The command of a line, and what follows it. A format may follow without a blank, as in `print/x`; `x/i` is
/// a command of gdb as a whole.
fn split_command(line: &str) -> (&str, &str) {
    let (whole, _) = split_word(line);
    let end = match foreign::instead_of(whole) {
        Some(_) => whole.len(),
        None => whole.find('/').filter(|at| *at > 0).unwrap_or(whole.len()),
    };
    let (word, rest) = line.split_at(end);
    (word, rest.trim())
}

/// The first word of a text, and what follows it.
fn split_word(line: &str) -> (&str, &str) {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (word, rest.trim())
}
