//! All commands, one row each: name, aliases, arguments, help, action. Completion, help, parsing and
//! the manual of the REPL come from here.

use super::actions::*;
use super::plot::{plot, unplot};
use super::{CommandError, Console, Outcome};
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

/// What `info` tells.
pub const INFO: &[&str] = &[
    "arrays",
    "breakpoints",
    "card",
    "cells",
    "display",
    "events",
    "fences",
    "frame",
    "marks",
    "stack",
    "status",
    "tapes",
    "watchpoints",
];

/// The kinds of events on the timeline.
pub const EVENTS: &[&str] = &{
    let mut names = [""; EventKind::ALL.len()];
    let mut n = 0;
    while n < names.len() {
        names[n] = EventKind::ALL[n].name();
        n += 1;
    }
    names
};

/// Why a motion stops, as `expect-stop` names it.
pub const REASONS: &[&str] =
    &["arrived", "begin", "breakpoint", "end", "fence", "interrupted", "step-limit", "trap", "watchpoint"];

macro_rules! commands {
    ($($name:literal [$($alias:literal),*] $usage:literal $argument:expr => $action:expr, $help:literal;)+) => {
        /// Every command, in the order of the help.
        pub static COMMANDS: &[Command] = &[$(Command {
            name: $name,
            aliases: &[$($alias),*],
            usage: concat!($name, $usage),
            help: $help,
            argument: $argument,
            action: $action,
        }),+];
    };
}

commands! {
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
        "Run forward to a breakpoint, a watchpoint, a fence, or history end.";
    "reverse-continue" ["rc"] "" Argument::None => reverse_resume,
        "Run backward to a breakpoint, a watchpoint, a fence, or history begin.";
    "until" ["u", "run-to", "advance"] " PLACE" Argument::Place => until,
        "Run forward to a place.";
    "reverse-until" ["ru"] " PLACE" Argument::Place => reverse_until,
        "Run backward to a place.";
    "goto" ["g"] " STEP | N% | start | end | MARK" Argument::Step => goto,
        "Go to a step, a part of the whole run, or a mark, past everything in between.";
    "last" ["last-write"] " CELL" Argument::Cell => last,
        "Run backward to just before the last write to a cell.";
    "next-write" ["nw"] " CELL" Argument::Cell => next_write,
        "Run forward to just behind the next write to a cell.";
    "next-event" ["ne"] " [KIND]" Argument::OneOf(EVENTS) => next_event,
        "Go forward to the next event among the steps that were reached: a stop, trap, mark, fence, fork or call.";
    "last-event" ["le"] " [KIND]" Argument::OneOf(EVENTS) => last_event,
        "Go backward to the event before.";
    "undo" [] "" Argument::None => undo,
        "Go back to where one was before the last motion.";
    "redo" [] "" Argument::None => redo,
        "Take an undo back.";
    "mark" [] " NAME" Argument::Mark => mark,
        "Give the current moment a name.";
    "fence" [] " [delete]" Argument::OneOf(&["delete"]) => fence,
        "Put a fence at the current step, at which travel stops; or take it away.";
    "break" ["b", "br"] " [PLACE] [if CONDITION] [log MESSAGE]" Argument::Place => break_at,
        "Stop at a line (12, file:12), a label, a procedure or an instruction (*7). With a message, print it instead; {x} in it stands for x's value.";
    "tbreak" ["tb"] " [PLACE] [if CONDITION]" Argument::Place => tbreak,
        "Stop at a place once.";
    "watch" ["wa"] " CELL [any] [if CONDITION] [log MESSAGE]" Argument::Cell => watch,
        "Stop where a cell changes; with `any`, at every write. Going backward one stops just before it.";
    "rwatch" ["rw"] " CELL [if CONDITION] [log MESSAGE]" Argument::Cell => rwatch,
        "Stop where a cell is read.";
    "awatch" ["aw"] " CELL [if CONDITION] [log MESSAGE]" Argument::Cell => awatch,
        "Stop where a cell is read or written.";
    "delete" ["d"] " [N]" Argument::Point => delete,
        "Delete a breakpoint or watchpoint, or all.";
    "condition" ["cond"] " N [CONDITION]" Argument::Point => condition,
        "Let a point count only where a condition holds, or always.";
    "ignore" [] " N COUNT" Argument::Point => ignore,
        "Let a point pass its next COUNT hits.";
    "enable" ["en"] " N" Argument::Point => enable,
        "Switch a point on.";
    "disable" ["dis"] " N" Argument::Point => disable,
        "Switch a point off.";
    "print" ["p", "inspect"] " [/x] EXPRESSION" Argument::Expression => print,
        "Print a value: `print a + A[i]`. `$step`, `$depth` and `$position` are the machine's own. `/x`, `/o` and `/t` print bits in base 16, 8 and 2.";
    "x" [] " [/8x] ARRAY [FIRST [COUNT]]" Argument::Cell => examine,
        "Print elements of an array, or adjoints of them: `x A'`. How many, and the format, may stand behind a slash.";
    "display" [] " [/x] [EXPRESSION]" Argument::Expression => display,
        "Print a value after every motion.";
    "undisplay" [] " [N]" Argument::Count => undisplay,
        "Stop displaying a value, or all.";
    "plot" [] " CELL" Argument::Cell => plot,
        "Plot a cell over the steps that are known; on the screen below the time bar.";
    "unplot" [] " [CELL]" Argument::Cell => unplot,
        "Stop plotting a cell, or all.";
    "info" ["i"] " TOPIC" Argument::OneOf(INFO) => info,
        "Tell about arrays, breakpoints, card, cells, display, events, fences, frame, marks, stack, status, tapes, watchpoints.";
    "why" [] " CELL [DEPTH]" Argument::Cell => why,
        "Tell where a cell's value comes from: who wrote it last, out of what, and so on; two writes back where no DEPTH is given.";
    "history" ["hist"] " CELL [N]" Argument::Cell => history,
        "Tell what a cell held over time, up to here: its last writes.";
    "list" ["l"] " [PLACE]" Argument::Place => list,
        "Print the source around a place.";
    "disassemble" ["disas"] " [PLACE]" Argument::Place => disassemble,
        "Print the instructions around a place.";
    "inverse" ["inv"] "" Argument::None => inverse,
        "Print the inverse program.";
    "backtrace" ["bt", "where"] " [N]" Argument::Count => backtrace,
        "Print the open calls, the innermost first; a star marks the selected frame.";
    "frame" ["f"] " [N | PROCEDURE]" Argument::Procedure => frame,
        "Select a frame, by its number in the backtrace or as the innermost of a procedure: names are its names then, until the next motion.";
    "up" [] " [N]" Argument::Count => up,
        "Select the caller's frame, or the one N calls further out.";
    "down" [] " [N]" Argument::Count => down,
        "Select the callee's frame, or the one N calls further in.";
    "set" [] " CELL = VALUE" Argument::Cell => set,
        "Change a cell, an adjoint (x') or the mode: that begins a line of history of its own. `timeline up` leads back.";
    "gradient" ["grad"] " LOSS" Argument::Cell => gradient,
        "Make the adjoint of the loss 1 and switch gradient mode on: from here the way back carries adjoints. `print x'` tells them.";
    "timeline" ["tl"] " [up | N]" Argument::OneOf(&["up"]) => timeline,
        "List the lines of history; go to the one above, or to another.";
    "check" [] "" Argument::None => check,
        "Run the current line to its end and back, on a copy: what is left over, and is the start restored?";
    "expect" [] " CONDITION" Argument::Expression => expect,
        "Fail unless a condition holds: for scripts.";
    "expect-stop" [] " REASON" Argument::OneOf(REASONS) => expect_stop,
        "Fail unless the last motion stopped for a reason: for scripts.";
    "source" [] " FILE" Argument::File => source,
        "Carry out the commands in a file.";
    "save" [] " FILE" Argument::File => save,
        "Write the commands of this session to a file.";
    "help" ["h"] " [COMMAND]" Argument::Command => help,
        "Tell about a command, or all.";
    "quit" ["q", "exit"] "" Argument::None => quit,
        "End the session.";
}
