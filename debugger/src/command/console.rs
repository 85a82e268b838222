//! What commands are made of: a row of the table, the console that it works on, what it came to, or why it
//! failed. Knows no command.

use reviver_files::UsedFiles;
use reviver_isa::codes::CodeEntry;
use reviver_vm::room::OutOfMemory;
use thiserror::Error;

use super::nesting::OpenScripts;
use super::screen::ScreenAction;
use crate::expression::{ExpressionError, Hint};
use crate::memory::Target;
use crate::outcome::ValueRow;
use crate::outcome::{
    CellHistory, Edit, MomentDifference, Motion, RoundTripCheck, Seed, StopKind, Trace, ValueOrigin,
};
use crate::points::Point;
use crate::session::{Session, SessionError};
use crate::timeline::{BranchNumber, Fork, Moment};
use crate::view::card::CardView;
use crate::view::cells::{ArrayView, CellsPane};
use crate::view::code::{CodeLine, CodePane};
use crate::view::plot::Plot;
use crate::view::stack::FrameView;
use crate::view::status::Status;
use crate::view::timeline::Events;

/// What an argument names, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    None,
    Count,
    /// A step, a percentage, `start`, `end` or a mark.
    Step,
    /// A line, a label, a procedure.
    Place,
    Procedure,
    Cell,
    Expression,
    /// The number of a breakpoint or watchpoint.
    Point,
    Command,
    /// A topic of `info`, with an argument of its own.
    Topic,
    Mark,
    /// What stands in the brackets of a message.
    Code,
    File,
    /// A pane of the screen.
    Pane,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A command line.
    Line,
}

/// What carries a command out; the text is what follows its name.
#[derive(Clone, Copy)]
pub enum CommandAction {
    /// Something is done with the session.
    Session(fn(&mut Console, &'static Command, &str) -> Result<Outcome, CommandError>),
    /// Something is asked of the screen that shows it; where there is none, it is refused.
    Screen(fn(&'static Command, &str) -> Result<ScreenAction, CommandError>),
}

/// What a command is about: the heading under which lists have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandGroup {
    Travel,
    Points,
    Values,
    Program,
    Changes,
    Scripts,
    Topics,
    Panes,
    Screen,
}

impl CommandGroup {
    pub const ALL: [CommandGroup; 9] = [
        CommandGroup::Travel,
        CommandGroup::Points,
        CommandGroup::Values,
        CommandGroup::Program,
        CommandGroup::Changes,
        CommandGroup::Scripts,
        CommandGroup::Topics,
        CommandGroup::Panes,
        CommandGroup::Screen,
    ];

    pub fn title(self) -> &'static str {
        match self {
            CommandGroup::Travel => "Travel",
            CommandGroup::Points => "Moments and points",
            CommandGroup::Values => "Values and where they come from",
            CommandGroup::Program => "The program and its calls",
            CommandGroup::Changes => "Changes and branches",
            CommandGroup::Scripts => "Scripts and files",
            CommandGroup::Topics => "Topics",
            CommandGroup::Panes => "Panes",
            CommandGroup::Screen => "Screen",
        }
    }
}

/// A row of the table.
pub struct Command {
    pub group: CommandGroup,
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub usage: &'static str,
    /// What a line of keys calls it, in few words: ` S back ←`.
    pub word: &'static str,
    pub help: &'static str,
    /// Help of first arguments with an effect of their own, without a full stop.
    pub forms: &'static [(&'static str, &'static str)],
    /// What its first argument names.
    pub argument: ArgumentKind,
    pub action: CommandAction,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Command({})", self.name)
    }
}

impl Command {
    /// Whether only a screen can carry it out.
    pub fn is_of_screen(&self) -> bool {
        matches!(self.action, CommandAction::Screen(_))
    }

    /// First sentence of the help for these arguments.
    pub fn summary_with(&self, arguments: &str) -> &'static str {
        let first = arguments.split_whitespace().next().unwrap_or_default();
        let form = self.forms.iter().find(|(form, _)| *form == first);
        form.map_or_else(|| self.summary(), |(_, does)| does)
    }

    /// The first sentence of its help.
    pub fn summary(&self) -> &'static str {
        let (first, _) = self.help.split_once(". ").unwrap_or((self.help, ""));
        first.trim_end_matches('.')
    }
}

impl PartialEq for Command {
    fn eq(&self, other: &Command) -> bool {
        self.name == other.name
    }
}

/// What an action comes to.
pub(super) type CommandResult = Result<Outcome, CommandError>;
/// The row of the command that is carried out.
pub(super) type CommandRow = &'static Command;

/// A table: what its rows act on, its name, what stands before the names of its rows, and the rows in groups. What a
/// line of keys calls a row stands behind its `as`, where that isn't its name. A row whose arguments do different things
/// ends with those and what they do.
macro_rules! commands {
    ($on:ident $(#[$doc:meta])+ $table:ident $before:literal $($group:ident {$(
        $name:literal $(as $word:literal)? [$($alias:literal),*] $usage:literal $argument:expr => $action:expr, $help:literal
        $({$($form:literal: $does:literal),+})?;
    )+})+) => {
        $(#[$doc])+
        pub static $table: &[Command] = &[$($(Command {
            group: $crate::command::console::CommandGroup::$group,
            name: $name,
            aliases: &[$($alias),*],
            usage: concat!($before, $name, $usage),
            word: $crate::command::console::first(&[$($word,)? $name]),
            help: $help,
            forms: &[$($(($form, $does)),+)?],
            argument: $argument,
            action: $crate::command::console::CommandAction::$on($action),
        }),+),+];
    };
}

pub(super) use commands;

/// The first of some words: the one that a row has, or else its name.
pub(super) const fn first(words: &[&'static str]) -> &'static str {
    match words {
        [word, ..] => word,
        [] => "",
    }
}

/// An instruction as the machine has it, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionLine {
    pub at: u32,
    /// As a disassembly has it: `add.mul value$1, m[i], x`.
    pub text: String,
    /// The line of the source: `line 5`.
    pub line: String,
    /// The part of the statement there that became the instruction, where that is no instruction by itself: `compute m[i] * x`.
    pub words: Option<String>,
    pub is_next: bool,
}

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
    /// Where a value comes from; and whether writes are told that only handed it on.
    Origins {
        chain: Vec<ValueOrigin>,
        all: bool,
    },
    History(CellHistory),
    Difference(Box<MomentDifference>),
    Trace(Trace),
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
    Check(RoundTripCheck),
    Code(CodePane),
    /// Lines with how often they were executed.
    Counts(Vec<CodeLine>),
    Instructions(Vec<InstructionLine>),
    /// A source line and its instructions.
    Line {
        name: String,
        instructions: Vec<InstructionLine>,
    },
    /// The frame that is selected.
    Frame(FrameView),
    Frames(Vec<FrameView>),
    Cells(CellsPane),
    Rows(Vec<ValueRow>),
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
    /// What a code in a message means.
    Explained(&'static CodeEntry),
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
    #[error("`{0}` is a command of the screen, and there is none here")]
    NoScreen(&'static str),
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
            Outcome::Motion(Motion { reason, .. }) | Outcome::Check(RoundTripCheck { stop: reason, .. }) => {
                reason
            }
            Outcome::History(history) => history.stopped.as_ref()?,
            Outcome::Difference(difference) => difference.stopped.as_ref()?,
            Outcome::Trace(trace) => trace.ended.as_ref()?,
            Outcome::Origins { chain, .. } => chain.iter().find_map(ValueOrigin::stopped)?,
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
            CommandError::Unknown { what: "code", .. } => Some("`reviver explain` lists the codes".into()),
            CommandError::Unknown { .. } => Some("`help` lists the commands".into()),
            CommandError::Foreign { instead, .. } => Some((*instead).to_owned()),
            CommandError::NoScreen(_) => {
                Some("`reviver debug FILE` opens one, with its keys and `:` for lines".into())
            }
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
            CommandError::Session(SessionError::BeforeStart(_)) => {
                Some("`main` names its first instruction".into())
            }
            CommandError::Session(SessionError::Expression(ExpressionError::Assignment)) => {
                Some("`==` compares; the command `set a = 1` changes a cell".into())
            }
            CommandError::Session(SessionError::Expression(ExpressionError::NoWrite(name))) => {
                Some(format!("`watch CELL if {name} == 1` and its `log` have one"))
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

/// What `list` has printed: it goes on from there, until the session is somewhere else.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    /// The moment, and the depth of the frame that was selected.
    pub(super) at: (Moment, usize),
    pub(super) file: u32,
    /// The first line, and the one behind the last.
    pub(super) first: u32,
    pub(super) end: u32,
}

/// Draws what a screen shows of a session: that on which it is seen, or one that was just opened.
pub trait Painter: std::fmt::Debug + Send {
    /// The picture of a session. `options` are those of the command, which says what is wrong with them.
    ///
    /// # Errors
    /// Options that don't fit, or no memory for what is drawn.
    fn picture(
        &self,
        console: &Console,
        command: &'static Command,
        options: &str,
    ) -> Result<String, CommandError>;

    /// One that draws what nobody has looked at yet.
    fn unseen(&self) -> Box<dyn Painter>;
}

/// A session that is told what to do in lines of text.
#[derive(Debug)]
pub struct Console {
    pub session: Session,
    /// What was read for the session, and what it reads and writes.
    pub(super) files: UsedFiles,
    /// Draws the pictures of the session.
    pub(crate) painter: Box<dyn Painter>,
    /// Expressions that are printed after every motion.
    pub(super) displays: Vec<String>,
    /// Cells that are plotted: their names and themselves. A name means another cell in another call.
    pub(super) plots: Vec<(String, Target)>,
    /// The lines that were carried out.
    pub(super) transcript: Vec<String>,
    /// Whether the last of them stands for motions that nobody typed.
    pub(super) glides: bool,
    /// What an empty line repeats.
    pub(super) repeated: Option<String>,
    /// Where `list` goes on.
    pub(super) listed: Option<Listed>,
    /// Scripts that are being carried out, the innermost last.
    pub(super) scripts: OpenScripts,
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
            painter: self.painter.unseen(),
            displays: self.displays.clone(),
            plots: self.plots.clone(),
            transcript: self.transcript.clone(),
            glides: self.glides,
            repeated: self.repeated.clone(),
            listed: self.listed,
            scripts: self.scripts.clone(),
        })
    }

    /// `files` knows what was read to open the session: it is never overwritten. `painter` draws it where
    /// no screen shows it.
    pub fn new(session: Session, files: UsedFiles, painter: Box<dyn Painter>) -> Console {
        Console {
            session,
            files,
            painter,
            displays: Vec::new(),
            plots: Vec::new(),
            transcript: Vec::new(),
            glides: false,
            repeated: None,
            listed: None,
            scripts: OpenScripts::default(),
        }
    }

    /// The cells that are plotted, at most [`MOST_PLOTS`](super::plot::MOST_PLOTS).
    pub fn plots(&self) -> &[(String, Target)] {
        &self.plots
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
