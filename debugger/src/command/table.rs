//! All commands, one row each: name, aliases, arguments, help, action. Completion, help, parsing and
//! the manual of the REPL come from here.

use super::actions::*;
use super::code::{disassemble, list};
use super::picture::picture;
use super::plot::{plot, unplot};
use super::scripts::{expect, expect_stop, save, source};
use super::topics::TOPICS;
use super::{CommandError, Console, Outcome};
use crate::outcome::StopKind;
use crate::session::EventKind;

/// What an argument names, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
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
    File,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// Carries a command out; the text is what follows its name.
pub type Action = fn(&mut Console, &'static Command, &str) -> Result<Outcome, CommandError>;

/// A row of the table.
pub struct Command {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub usage: &'static str,
    pub help: &'static str,
    /// What its first argument names.
    pub argument: Argument,
    pub action: Action,
}

impl Command {
    /// The rows below this one: the topics of `info`.
    pub fn topics(&self) -> &'static [Command] {
        if self.argument == Argument::Topic { TOPICS } else { &[] }
    }
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Command({})", self.name)
    }
}

impl PartialEq for Command {
    fn eq(&self, other: &Command) -> bool {
        self.name == other.name
    }
}

/// The names of all kinds that an enum lists.
macro_rules! names_of {
    ($Kind:ident) => {{
        let mut names = [""; $Kind::ALL.len()];
        let mut n = 0;
        while n < names.len() {
            names[n] = $Kind::ALL[n].name();
            n += 1;
        }
        names
    }};
}

/// The kinds of events on the timeline.
pub const EVENTS: &[&str] = &names_of!(EventKind);

/// Why a motion stops, as `expect-stop` names it.
pub const REASONS: &[&str] = &names_of!(StopKind);

macro_rules! commands {
    ($(#[$doc:meta])+ $table:ident $before:literal $(
        $name:literal [$($alias:literal),*] $usage:literal $argument:expr => $action:expr, $help:literal;
    )+) => {
        $(#[$doc])+
        pub static $table: &[Command] = &[$(Command {
            name: $name,
            aliases: &[$($alias),*],
            usage: concat!($before, $name, $usage),
            help: $help,
            argument: $argument,
            action: $action,
        }),+];
    };
}

pub(super) use commands;

commands! {
    /// Every command, in the order of the help.
    COMMANDS ""
    "step" ["s", "stepi", "si"] " [N]" Argument::Count => step,
        "Make one step forward, or N.";
    "reverse-step" ["rs", "reverse-stepi", "rsi"] " [N]" Argument::Count => reverse_step,
        "Make one step backward, or N.";
    "next" ["n", "nexti", "ni"] " [N]" Argument::Count => next,
        "Make one step forward, over the whole of a call.";
    "reverse-next" ["rn", "reverse-nexti", "rni"] " [N]" Argument::Count => reverse_next,
        "Make one step backward, over the whole of a call.";
    "finish" ["fin"] "" Argument::None => finish,
        "Run forward until the call of the selected frame is left.";
    "reverse-finish" ["rfin"] "" Argument::None => reverse_finish,
        "Run backward to the place before the call of the selected frame.";
    "continue" ["c", "fg"] "" Argument::None => resume,
        "Run forward to a point, a fence, or history end. Points are breakpoints and watchpoints.";
    "reverse-continue" ["rc"] "" Argument::None => reverse_resume,
        "Run backward to a point, a fence, or history begin.";
    "run" ["r"] "" Argument::None => run,
        "Go to the start, then run forward as `continue` does.";
    "start" [] "" Argument::None => start,
        "Go to the start.";
    "until" ["u", "run-to", "advance"] " PLACE" Argument::Place => until,
        "Run forward to a place.";
    "reverse-until" ["ru"] " PLACE" Argument::Place => reverse_until,
        "Run backward to a place.";
    "goto" ["g"] " STEP | N% | start | end | MARK" Argument::Step => goto,
        "Go to a step, a part of the run, or a mark. Nothing in between stops it.";
    "last" ["last-write"] " CELL" Argument::Cell => last,
        "Run backward to just before the last write to a cell.";
    "next-write" ["nw"] " CELL" Argument::Cell => next_write,
        "Run forward to just behind the next write to a cell.";
    "next-event" ["ne"] " [KIND]" Argument::OneOf(EVENTS) => next_event,
        "Go forward to the next event among the steps that were reached. That is a stop, trap, mark, fence, fork or call.";
    "last-event" ["le"] " [KIND]" Argument::OneOf(EVENTS) => last_event,
        "Go backward to the event before.";
    "undo" [] "" Argument::None => undo,
        "Go back to where one was before the last motion.";
    "redo" [] "" Argument::None => redo,
        "Take an undo back.";
    "mark" [] " NAME" Argument::Mark => mark,
        "Give the current moment a name, for `goto`.";
    "fence" [] " [delete]" Argument::OneOf(&["delete"]) => fence,
        "Put a fence at the current step: travel stops there. Or take it away.";
    "break" ["b", "br"] " [PLACE] [if CONDITION] [log MESSAGE]" Argument::Place => break_at,
        "Stop at a place. That is a line (12, file:12), a label, a procedure or an instruction (*7); without one, here. With a message, print it instead of stopping; {x} in it stands for x's value.";
    "tbreak" ["tb"] " [PLACE] [if CONDITION]" Argument::Place => tbreak,
        "Stop at a place once. The breakpoint goes away with its first stop.";
    "watch" ["wa"] " CELL [any] [if CONDITION] [log MESSAGE]" Argument::Cell => watch,
        "Stop where a cell changes; with `any`, at every write. Going backward one stops just before it. `A[i]` is the element that `i` names now, and stays that.";
    "rwatch" ["rw"] " CELL [if CONDITION] [log MESSAGE]" Argument::Cell => rwatch,
        "Stop where a cell is read.";
    "awatch" ["aw"] " CELL [if CONDITION] [log MESSAGE]" Argument::Cell => awatch,
        "Stop where a cell is read or written.";
    "delete" ["d"] " [N | N-M] ..." Argument::Point => delete,
        "Delete points by their numbers, or all.";
    "clear" ["cl"] " [PLACE]" Argument::Place => clear,
        "Delete the breakpoints of a line.";
    "condition" ["cond"] " N [CONDITION]" Argument::Point => condition,
        "Let a point count only where a condition holds, or always.";
    "ignore" [] " N COUNT" Argument::Point => ignore,
        "Let a point pass its next COUNT hits.";
    "enable" ["en"] " [N | N-M] ..." Argument::Point => enable,
        "Switch points on by their numbers, or all.";
    "disable" ["dis"] " [N | N-M] ..." Argument::Point => disable,
        "Switch points off by their numbers, or all.";
    "print" ["p", "inspect"] " [/x] EXPRESSION" Argument::Expression => print,
        "Print a value: `print a + A[i]`. `$step`, `$depth` and `$position` are the machine's own. Integers divide like integers: 1/3 is 0, 1.0/3 is a third. `/x`, `/o` and `/t` print bits in base 16, 8 and 2, `/u` without a sign.";
    "x" [] " [/8x] ARRAY [FIRST [COUNT]]" Argument::Cell => examine,
        "Print elements of an array, from number FIRST on, or adjoints of them: `x A'`. How many, and the format, may stand behind a slash.";
    "display" [] " [/x] [EXPRESSION]" Argument::Expression => display,
        "Print a value after every motion. Alone, print all that are displayed.";
    "undisplay" [] " [N]" Argument::Count => undisplay,
        "Stop displaying a value, or all.";
    "plot" [] " CELL" Argument::Cell => plot,
        "Plot a cell over the steps that are known. On the screen the plot is below the time bar.";
    "unplot" [] " [CELL]" Argument::Cell => unplot,
        "Stop plotting a cell, or all.";
    "info" ["i"] " TOPIC" Argument::Topic => info,
        "Tell about a topic. `help info` lists them, `help info TOPIC` tells more.";
    "why" [] " CELL [DEPTH]" Argument::Cell => why,
        "Tell where a cell's value comes from. It names who wrote it last, out of what, and so on, DEPTH writes back: two where nothing is said. `A[i]` is the element that `i` names now.";
    "history" ["hist"] " CELL [N]" Argument::Cell => history,
        "Tell what a cell held over time, up to here. Its last N writes are told. `A[i]` is the element that `i` names now.";
    "list" ["l"] " [PLACE | A,B | -]" Argument::Place => list,
        "Print the source around a place, or lines A to B. Asked again, it goes on; `-` goes back.";
    "disassemble" ["disas"] " [PLACE]" Argument::Place => disassemble,
        "Print the instructions around a place.";
    "inverse" ["inv"] "" Argument::None => inverse,
        "Print the inverse program.";
    "backtrace" ["bt", "where"] " [N]" Argument::Count => backtrace,
        "Print the open calls, the innermost first. A star marks the selected frame.";
    "frame" ["f"] " [N | PROCEDURE]" Argument::Procedure => frame,
        "Select a frame, by its number in the backtrace or as the innermost of a procedure. Names are its names then, until the next motion.";
    "up" [] " [N]" Argument::Count => up,
        "Select the caller's frame, or the one N calls further out.";
    "down" [] " [N]" Argument::Count => down,
        "Select the callee's frame, or the one N calls further in.";
    "set" [] " CELL = VALUE" Argument::Cell => set,
        "Change a cell, an adjoint (x') or the mode. That begins a branch of the timeline. `timeline up` leads back. A value for a real cell is computed in reals: 1/3 is a third. The mode is `gradient` or `values`.";
    "gradient" ["grad"] " LOSS" Argument::Cell => gradient,
        "Begin a gradient. The adjoint of the loss becomes 1, all others 0, and gradient mode is switched on: from here the way back carries adjoints. `print x'` tells them. To add a second loss, `set` its adjoint.";
    "timeline" ["tl"] " [up | N]" Argument::OneOf(&["up"]) => timeline,
        "List the branches, or go `up` to the one left, or to another.";
    "check" [] "" Argument::None => check,
        "Run the current branch to its end and back, on a copy. Tell what is left over, and whether the start is restored.";
    "expect" [] " CONDITION" Argument::Expression => expect,
        "Fail unless a condition holds, for scripts. Numbers of the program are compared to the last bit.";
    "expect-stop" [] " REASON" Argument::OneOf(REASONS) => expect_stop,
        "Fail unless the last motion stopped for a reason, for scripts. Reasons are arrived, begin, breakpoint, end, fence, interrupted, step-limit, trap, watchpoint.";
    "source" [] " FILE" Argument::File => source,
        "Carry out the commands in a file, until one fails. `quit` in it ends the session.";
    "save" [] " FILE" Argument::File => save,
        "Write the commands of this session to a file. `source` and `--batch` carry them out. A file that is there already is replaced only if it is a saved session.";
    "picture" [] " FILE [COLUMNSxROWS] [THEME]" Argument::File => picture,
        "Draw the screen to an SVG file. Without a screen it is one of 120x40 that was just opened. Themes are dark, light, 16, 16-light, plain. A file that is there already is replaced only if it is such a picture.";
    "help" ["h"] " [COMMAND | info TOPIC]" Argument::Command => help,
        "Tell about a command, a topic of `info`, or all commands.";
    "quit" ["q", "exit"] "" Argument::None => quit,
        "End the session.";
}
