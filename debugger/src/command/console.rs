//! Types that all commands share: rows of the command table, the console on which commands act, outcomes, and
//! errors.

use reviver_files::UsedFiles;
use reviver_isa::codes::CodeEntry;
use reviver_vm::allocation::OutOfMemory;
use thiserror::Error;

use super::nesting::OpenScripts;
use super::screen::ScreenAction;
use crate::expression::{ExpressionError, Hint};
use crate::memory::Target;
use crate::outcome::ValueRow;
use crate::outcome::{
    CellHistory, Edit, Motion, RoundTripCheck, Seed, StopKind, TimePointDifference, Trace, ValueOrigin,
};
use crate::points::Point;
use crate::session::{Session, SessionError};
use crate::timeline::{BranchNumber, Fork, TimePoint};
use crate::view::card::CardView;
use crate::view::cells::{ArrayView, CellsPane};
use crate::view::code::{CodeLine, CodePane};
use crate::view::plot::Plot;
use crate::view::stack::FrameView;
use crate::view::status::Status;
use crate::view::timeline::Events;

/// The kind of an argument, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// No argument, or free text without completion.
    None,
    /// A number of repetitions or entries, without completion.
    Count,
    /// A step, a percentage, `start`, `end` or a mark.
    Step,
    /// A line, a label or a procedure.
    Place,
    /// The name of a procedure.
    Procedure,
    /// The name of a cell, an array or a slice.
    Cell,
    /// An expression over cells.
    Expression,
    /// The number of a breakpoint or watchpoint.
    Point,
    /// The name of a command, for `help`.
    Command,
    /// A topic of `info`. Some topics take an argument.
    Topic,
    /// The name of a mark.
    Mark,
    /// The code of a message, such as `T22`, or the name of the code.
    Code,
    /// A path of a file, without completion.
    File,
    /// A pane of the screen.
    Pane,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A complete command line.
    Line,
}

/// The function that executes a command. It gets the command's row, and the text after the command's name.
#[derive(Clone, Copy)]
pub enum CommandAction {
    /// An action on the session.
    Session(fn(&mut Console, &'static Command, &str) -> Result<Outcome, CommandError>),
    /// A request to the screen. Without a screen, the command fails.
    Screen(fn(&'static Command, &str) -> Result<ScreenAction, CommandError>),
}

/// The subject of a command. Lists of commands have a heading for each subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandGroup {
    /// Motions through time: `step`, `continue`, `goto`.
    Travel,
    /// Marks, fences, breakpoints and watchpoints.
    Points,
    /// Printing, plotting and explaining values.
    Values,
    /// Source text, instructions and frames.
    Program,
    /// Edits, gradients and branches of the timeline.
    Changes,
    /// Scripts, files, help, and the end of the session.
    Scripts,
    /// The topics of `info`.
    Topics,
    /// Actions on panes: focus, cursor, search, zoom.
    Panes,
    /// Actions on the whole screen: help, tour, mouse, redraw.
    Screen,
}

impl CommandGroup {
    /// All groups in the order of the help.
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

    /// Returns the heading of the group in help texts.
    pub fn title(self) -> &'static str {
        match self {
            CommandGroup::Travel => "Travel",
            CommandGroup::Points => "Marks, fences and points",
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

/// A row of the command table.
pub struct Command {
    /// The heading under which help lists the command.
    pub group: CommandGroup,
    /// The full name, as completion inserts it. A prefix suffices if it is unambiguous.
    pub name: &'static str,
    /// Other names with the same meaning. Unlike a prefix of `name`, a prefix of an alias is no command.
    pub aliases: &'static [&'static str],
    /// The arguments as the help prints them after the name; empty if there are none.
    pub usage: &'static str,
    /// A short label for the key bar, such as `back`. The key bar shows it after the key.
    pub word: &'static str,
    /// One or more sentences for the help; the first one is the summary.
    pub help: &'static str,
    /// Pairs of a first argument and a help text, for each first argument that selects a separate action. The texts
    /// have no full stop.
    pub forms: &'static [(&'static str, &'static str)],
    /// The kind of the first argument.
    pub argument: ArgumentKind,
    /// The function that executes the command.
    pub action: CommandAction,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Command({})", self.name)
    }
}

impl Command {
    /// Returns true if the command acts on the screen, and so fails without a screen.
    pub fn is_of_screen(&self) -> bool {
        matches!(self.action, CommandAction::Screen(_))
    }

    /// Returns the help for a first argument with its own entry in `forms`, otherwise the first sentence of
    /// the help.
    pub fn summary_with(&self, arguments: &str) -> &'static str {
        let first = arguments.split_whitespace().next().unwrap_or_default();
        let form = self.forms.iter().find(|(form, _)| *form == first);
        form.map_or_else(|| self.summary(), |(_, does)| does)
    }

    /// Returns the first sentence of the help.
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

/// Result of an action.
pub(super) type CommandResult = Result<Outcome, CommandError>;
/// The row of the command being executed.
pub(super) type CommandRow = &'static Command;

/// Defines a table of commands. The macro takes the variant of [`CommandAction`], the documentation and the name
/// of the table, a prefix for the usage texts, and the rows in groups. In a row, the label for the key bar follows
/// `as` if it differs from the command's name. If the first argument selects different actions, the row ends with
/// a list of these arguments and their help.
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

/// Returns the first of some words. The macro passes the label of a row, if the row has one, and the row's name.
pub(super) const fn first(words: &[&'static str]) -> &'static str {
    match words {
        [word, ..] => word,
        [] => "",
    }
}

/// A machine instruction and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionLine {
    /// Index of the instruction in the module's code.
    pub at: u32,
    /// The disassembled instruction: `add.mul value$1, m[i], x`.
    pub text: String,
    /// The source line: `line 5`.
    pub line: String,
    /// A description of the instruction's part of the statement, such as `compute m[i] * x`. `None` if the
    /// statement consists of this single instruction.
    pub words: Option<String>,
    /// True for the instruction that the next forward step executes.
    pub is_next: bool,
}

/// The outcome of a command, as data from which the line mode or the screen renders a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A motion through time, with its stop.
    Motion(Motion),
    /// Expressions and their values, or the reasons why they have none.
    Values(Vec<(String, Result<String, String>)>),
    /// Elements of an array.
    Array(ArrayView),
    /// A breakpoint or watchpoint that was set or changed.
    PointSet(Box<Point>),
    /// Points that were listed or switched on or off.
    Points(Vec<Point>),
    /// Number of deleted points.
    Deleted(usize),
    /// The origin of a value.
    Origins {
        /// The links of the chain; each has a higher index than its parent.
        chain: Vec<ValueOrigin>,
        /// True if the writes that only moved a value are listed, too. False if they are only counted.
        all: bool,
    },
    /// The writes to a cell, an array or a slice.
    History(CellHistory),
    /// The differences between two time points.
    Difference(Box<TimePointDifference>),
    /// A table of values at each arrival at a place.
    Trace(Trace),
    /// A cell was set to a value, or already had this value.
    Edited {
        /// The cell with its old and new value.
        edit: Edit,
        /// The branch of the session after the edit.
        branch: BranchNumber,
    },
    /// A gradient computation has begun. Travelling backward on this branch propagates adjoints.
    Seeded {
        /// The adjoint that was set to 1, and the number of adjoints that were set to 0.
        seed: Seed,
        /// The branch of the session after the seed.
        branch: BranchNumber,
    },
    /// The round trip over the whole branch.
    Check(RoundTripCheck),
    /// Source lines around a place.
    Code(CodePane),
    /// Lines with their execution counts.
    Counts(Vec<CodeLine>),
    /// Disassembled instructions around a place.
    Instructions(Vec<InstructionLine>),
    /// A source line and its instructions.
    Line {
        /// The name of the line: `line 12`, with the file name if it is needed.
        name: String,
        /// The instructions of the line, in the order of the code.
        instructions: Vec<InstructionLine>,
    },
    /// The selected frame after a selection.
    Frame(FrameView),
    /// Open procedures, innermost first.
    Frames(Vec<FrameView>),
    /// The cells of the program and of the selected frame.
    Cells(CellsPane),
    /// Stacks and tapes, each as a row of values.
    Rows(Vec<ValueRow>),
    /// The instruction card of the current step.
    Card(CardView),
    /// Position, directions and costs of the session.
    Status(Box<Status>),
    /// Marks with their time points, in alphabetical order.
    Marks(Vec<(String, TimePoint)>),
    /// A mark was set at the current time point.
    Marked {
        /// The name that `goto` accepts.
        name: String,
        /// The marked time point.
        at: TimePoint,
    },
    /// The events of the current branch.
    Events(Events),
    /// The steps of the branch's fences, in ascending order.
    Fences(Vec<i64>),
    /// A fence was set or removed.
    Fence {
        /// The time point of the fence.
        at: TimePoint,
        /// True if the fence was set, false if it was removed.
        is_set: bool,
    },
    /// All branches of the timeline.
    Forks(Vec<Fork>),
    /// The lines of the inverse program.
    Inverse(Vec<String>),
    /// A plot of one cell over the known steps.
    Plot(Plot),
    /// Plots were removed. These cells are still plotted.
    Unplotted(Vec<String>),
    /// Commands or topics to explain.
    Help(Vec<&'static Command>),
    /// The explanation of an error code.
    Explained(&'static CodeEntry),
    /// Several outcomes in order, with their commands.
    All(Vec<(String, Outcome)>),
    /// A file was written, with this path.
    Saved(String),
    /// The session is to end.
    Quit,
    /// No item matches the request.
    Empty,
    /// The command succeeded without output.
    Nothing,
}

/// The reason why a line is no command, or why a command failed.
#[derive(Clone, Debug, PartialEq, Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum CommandError {
    #[error("there is no {what} `{word}`")]
    Unknown { what: &'static str, word: String, near: Option<&'static str> },
    #[error("`{word}` is a command of gdb, and not of this debugger")]
    Foreign { word: String, instead: &'static str },
    #[error("`{word}` can mean {}", candidates.join(", "))]
    Ambiguous { word: String, candidates: Vec<&'static str> },
    #[error("`{0}` is a command of the screen, and this session has no screen")]
    NoScreen(&'static str),
    #[error("{message}")]
    Usage { message: String, usage: &'static str },
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("{0}")]
    File(String),
    #[error("{0}")]
    Failed(String),
    /// A script failed at a line; `done` has the outcomes of the lines before it.
    #[error("line {line}: `{command}`: {error}")]
    Script { line: usize, command: String, error: Box<CommandError>, done: Vec<(String, Outcome)> },
}

impl Outcome {
    /// Returns the kind of stop, if the user or the step limit stopped the command early.
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

    /// Returns true if this outcome ends the session. For a script, its last outcome decides.
    pub fn quits(&self) -> bool {
        match self {
            Outcome::Quit => true,
            Outcome::All(all) => all.last().is_some_and(|(_, last)| last.quits()),
            _ => false,
        }
    }

    /// Returns true if the command changed the time point or the selected frame.
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
    /// Returns a suggestion for the user, without a full stop.
    pub fn help(&self) -> Option<String> {
        let meant = |near: &Option<String>| near.as_ref().map(|near| format!("did you mean `{near}`?"));
        match self {
            CommandError::Unknown { near: Some(near), .. } => Some(format!("did you mean `{near}`?")),
            CommandError::Unknown { what: "topic", .. } => Some("`help info` lists the topics".into()),
            CommandError::Unknown { what: "code", .. } => Some("`reviver explain` lists the codes".into()),
            CommandError::Unknown { .. } => Some("`help` lists the commands".into()),
            CommandError::Foreign { instead, .. } => Some((*instead).to_owned()),
            CommandError::NoScreen(_) => {
                Some("open a screen with `reviver debug FILE`, and type the command after `:`".into())
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
                        Some(format!("`{name}` belongs to {procedure}: `{command}` selects its frame"))
                    }
                }
            }
            CommandError::Session(SessionError::BeforeStart(_)) => {
                Some("write `main` for the first instruction of main".into())
            }
            CommandError::Session(SessionError::Expression(ExpressionError::Assignment)) => {
                Some("write `==` to compare; change a cell with the command `set a = 1`".into())
            }
            CommandError::Session(SessionError::Expression(ExpressionError::NoWrite(name))) => Some(format!(
                "write `{name}` after the `if` or the `log` of a `watch`: `watch CELL if {name} == 1`"
            )),
            CommandError::Script { error, .. } => error.help(),
            _ => None,
        }
    }
}

/// Returns the command that selects the frame `outward` calls further out. If `outward` is negative, the frame is
/// `-outward` calls further in.
fn selecting(outward: isize) -> String {
    let name = if outward < 0 { "down" } else { "up" };
    match outward.unsigned_abs() {
        1 => name.to_owned(),
        count => format!("{name} {count}"),
    }
}

/// The lines that `list` printed last. Unless the session has moved since, the next `list` continues after these
/// lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    /// The time point, and the depth of the selected frame, at which the lines were printed.
    pub(super) at: (TimePoint, usize),
    pub(super) file: u32,
    /// Number of the first printed line.
    pub(super) first: u32,
    /// Number of the line after the last printed line.
    pub(super) end: u32,
}

/// Draws pictures for the command `picture`. A picture shows the screen that displays the session, or a
/// freshly opened screen if there is none.
pub trait Painter: std::fmt::Debug + Send {
    /// Draws a session as a text in SVG. `options` are the arguments of `command`. Errors in the options are
    /// reported with the command's usage.
    ///
    /// # Errors
    /// The options are invalid, or there is no memory for the picture.
    fn picture(
        &self,
        console: &Console,
        command: &'static Command,
        options: &str,
    ) -> Result<String, CommandError>;

    /// Returns a painter for a session that isn't displayed on a screen.
    fn unseen(&self) -> Box<dyn Painter>;
}

/// A session controlled by lines of text.
#[derive(Debug)]
pub struct Console {
    /// The debugged program with its timeline and points.
    pub session: Session,
    /// The files that the session has read and written.
    pub(super) files: UsedFiles,
    /// Draws pictures of the session for the command `picture`.
    pub(crate) painter: Box<dyn Painter>,
    /// Expressions printed after every movement.
    pub(super) displays: Vec<String>,
    /// Plotted cells: their names and targets. In another call, the same name may refer to another cell.
    pub(super) plots: Vec<(String, Target)>,
    /// The lines executed so far.
    pub(super) transcript: Vec<String>,
    /// True if the last line of the transcript is a `goto` that replaces movements that the user didn't type
    /// ([`Console::glide`]).
    pub(super) glides: bool,
    /// The command that an empty line repeats.
    pub(super) repeated: Option<String>,
    /// The lines after which the next `list` continues.
    pub(super) listed: Option<Listed>,
    /// The scripts being executed, innermost last.
    pub(super) scripts: OpenScripts,
}

impl Console {
    /// Copies the console. The copy draws pictures like a console without a screen.
    ///
    /// # Errors
    /// There is no memory for the states of the session's copy.
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

    /// Creates a console. `files` contains the files that were read to open the session; the session never
    /// overwrites them. `painter` draws pictures if there is no screen.
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

    /// Returns the plotted cells, at most [`MOST_PLOTS`](super::plot::MOST_PLOTS).
    pub fn plots(&self) -> &[(String, Target)] {
        &self.plots
    }

    /// Returns the expressions displayed after every movement, with their current values or the reasons why
    /// they have none.
    pub fn displayed(&self) -> Vec<(String, Result<String, String>)> {
        let value = |text: &String| {
            let value = self.session.evaluate(text);
            (text.clone(), value.map(|(_, text)| text).map_err(|error| error.to_string()))
        };
        self.displays.iter().map(value).collect()
    }
}
