//! The table of all commands of a session. The row of a command has its name, its aliases, its arguments, its help
//! and its action. Completion, help, parsing and the manual are derived from the table.

use reviver_assembler::suggest::nearest;

use super::actions::*;
use super::arguments::split_word;
use super::code::{disassemble, list};
pub use super::console::{ArgumentKind, Command, CommandAction, CommandGroup, InstructionLine};
use super::console::{CommandError, Console, Outcome};
use super::console::{CommandResult, CommandRow, commands};
use super::explain::explain;
use super::foreign;
use super::names::{EVENTS, REASONS};
use super::over_time::{diff, trace};
use super::picture::picture;
use super::plot::{plot, unplot};
pub use super::screen_rows::SCREEN_COMMANDS;
use super::scripts::{expect, expect_stop, save, source};
use super::topics::TOPICS;

impl Command {
    /// Returns the subcommands of this command: the topics of `info`.
    pub fn topics(&self) -> &'static [Command] {
        if self.argument == ArgumentKind::Topic { TOPICS } else { &[] }
    }
}

commands! {
    Session
    /// Every command of a session, in the order of the help.
    COMMANDS ""
    Travel {
    "step" as "step →" ["s", "stepi", "si"] " [N]" ArgumentKind::Count => step,
        "Make one step forward, or N.";
    "reverse-step" as "back ←" ["rs", "reverse-stepi", "rsi"] " [N]" ArgumentKind::Count => reverse_step,
        "Make one step backward, or N.";
    "next" ["n", "nexti", "ni"] " [N]" ArgumentKind::Count => next,
        "Make one step forward, or N; a whole call counts as one step.";
    "reverse-next" as "next back" ["rn", "reverse-nexti", "rni"] " [N]" ArgumentKind::Count => reverse_next,
        "Make one step backward, or N; a whole call counts as one step.";
    "finish" ["fin"] "" ArgumentKind::None => finish,
        "Run forward until the call of the selected frame is left.";
    "reverse-finish" as "finish back" ["rfin"] "" ArgumentKind::None => reverse_finish,
        "Run backward to the place before the call of the selected frame.";
    "continue" as "run" ["c", "fg"] "" ArgumentKind::None => resume,
        "Run forward to a point, a fence, or history end. Points are breakpoints and watchpoints.";
    "reverse-continue" as "run back" ["rc"] "" ArgumentKind::None => reverse_resume,
        "Run backward to a point, a fence, or history begin.";
    "run" ["r"] "" ArgumentKind::None => run,
        "Go to the start, then run forward as `continue` does.";
    "start" [] "" ArgumentKind::None => start,
        "Go to the start.";
    "end" [] "" ArgumentKind::None => end,
        "Go to the end.";
    "until" ["u", "run-to", "advance"] " PLACE" ArgumentKind::Place => until,
        "Run forward to a place.";
    "reverse-until" as "until back" ["ru"] " PLACE" ArgumentKind::Place => reverse_until,
        "Run backward to a place.";
    "goto" as "go there" ["g"] " STEP | N% | start | end | MARK" ArgumentKind::Step => goto,
        "Go to a step, a percentage of the run, or a mark. Breakpoints, watchpoints and fences don't stop this motion.";
    "last" as "last write" ["last-write"] " CELLS [if CONDITION]" ArgumentKind::Cell => last,
        "Run backward to just before the last write to a cell. An array `A` or a slice `A[2..5]` means any of its cells. Stay if there is no such write. With a condition, run to the last write for which the condition holds: `last x if $new == 55`. Write the condition as for `watch`.";
    "next-write" as "next write" ["nw"] " CELLS [if CONDITION]" ArgumentKind::Cell => next_write,
        "Run forward to just after the next write to a cell. An array or a slice means any of its cells. Stay if there is no such write. With a condition, run to the next write for which the condition holds.";
    "next-event" ["ne"] " [KIND]" ArgumentKind::OneOf(EVENTS) => next_event,
        "Go forward to the next event among the known steps. Events are stops, traps, marks, fences, forks and calls.";
    "last-event" ["le"] " [KIND]" ArgumentKind::OneOf(EVENTS) => last_event,
        "Go backward to the previous event.";
    "undo" [] "" ArgumentKind::None => undo,
        "Return to the step before the last motion.";
    "redo" [] "" ArgumentKind::None => redo,
        "Repeat a motion that was undone.";
    }
    Points {
    "mark" [] " NAME" ArgumentKind::Mark => mark,
        "Name the current time point, for `goto`.";
    "fence" [] " [delete]" ArgumentKind::OneOf(&["delete"]) => fence,
        "Set a fence at the current step. Steps and runs stop at a fence in both directions; `goto` doesn't. With `delete`, remove the fence."
        {"delete": "Remove the fence at the current step"};
    "break" ["b", "br"] " [PLACE] [if CONDITION] [log MESSAGE]" ArgumentKind::Place => break_at,
        "Stop at a place. A place is a line (12, file:12), a label, a procedure or an instruction (*7); the default is the next instruction of the selected frame. With a message, print the message instead of stopping; {x} in the message becomes the value of x.";
    "tbreak" ["tb"] " [PLACE] [if CONDITION]" ArgumentKind::Place => tbreak,
        "Stop at a place once. The first stop deletes the breakpoint.";
    "watch" ["wa"] " CELLS | EXPRESSION [any] [if CONDITION] [log MESSAGE]" ArgumentKind::Cell => watch,
        "Stop where a cell changes; with `any`, at every write. When going backward, stop just before the write. An array `A`, a slice `A[2..5]` of its elements 2, 3 and 4, or a column `M[.., 0]` is watched as a whole, and `watch i + j` stops where the value of `i + j` changes. In a condition and a message, `$old` and `$new` are the watched value before and after the write, in forward order. Other names have their values after the write. So both directions stop at the same writes. `A[i]` watches only the element that `i` names when you enter the command; in a larger expression such as `A[i] + 0` the element changes with `i`.";
    "rwatch" ["rw"] " CELLS [if CONDITION] [log MESSAGE]" ArgumentKind::Cell => rwatch,
        "Stop where a cell is read. An array `A` or a slice `A[2..5]` means any of its cells.";
    "awatch" ["aw"] " CELLS [if CONDITION] [log MESSAGE]" ArgumentKind::Cell => awatch,
        "Stop where a cell is read or written. An array or a slice means any of its cells.";
    "delete" ["d"] " [N | N-M] ..." ArgumentKind::Point => delete,
        "Delete the points with these numbers, or all points.";
    "clear" ["cl"] " [PLACE]" ArgumentKind::Place => clear,
        "Delete the breakpoints of a line.";
    "condition" ["cond"] " N [CONDITION]" ArgumentKind::Point => condition,
        "Make a point stop only if a condition holds. Without a condition, the point always stops.";
    "ignore" [] " N COUNT" ArgumentKind::Point => ignore,
        "Skip the next COUNT hits of a point.";
    "enable" ["en"] " [N | N-M] ..." ArgumentKind::Point => enable,
        "Switch on the points with these numbers, or all points.";
    "disable" ["dis"] " [N | N-M] ..." ArgumentKind::Point => disable,
        "Switch off the points with these numbers, or all points.";
    }
    Values {
    "print" ["p", "inspect"] " [/x] EXPRESSION" ArgumentKind::Expression => print,
        "Print a value: `print a + A[i]`. `$step` is the current step, `$depth` the number of open calls, and `$position` the index of the next instruction. Integers divide as integers: 1/3 is 0, 1.0/3 is a third. A declared stack is printed by its name, and `trail[0]` is its bottom value. `/x`, `/o` and `/t` print bits in base 16, 8 and 2; `/u` prints them in base 10, without a sign.";
    "x" [] " [/8x] ARRAY [FIRST [COUNT]]" ArgumentKind::Cell => examine,
        "Print elements of an array, from element FIRST on. Elements are counted from 0, row by row. `x A'` prints their adjoints. The count and the format may follow a slash: `x /8x A`.";
    "display" [] " [/x] [EXPRESSION]" ArgumentKind::Expression => display,
        "Print a value after every motion. Without an expression, print all displayed values now.";
    "undisplay" [] " [N]" ArgumentKind::Count => undisplay,
        "Stop displaying the N-th displayed value, or all of them.";
    "plot" [] " CELL" ArgumentKind::Cell => plot,
        "Plot a cell over the known steps. On the screen the plot is below the time bar.";
    "unplot" [] " [CELL]" ArgumentKind::Cell => unplot,
        "Stop plotting a cell, or all cells.";
    "info" ["i"] " TOPIC" ArgumentKind::Topic => info,
        "Print a topic. `help info` lists the topics, and `help info TOPIC` explains one.";
    "why" [] " CELL [DEPTH] [all]" ArgumentKind::Cell => why,
        "Print where a cell's value comes from. The answer names the statement that wrote the value, and the cells from which the statement computed the value. It continues with the origins of these cells, up to DEPTH writes back (default: 2). Swaps, and moves through stacks and tapes, are only counted; `all` lists each of them. `A[i]` is the element that `i` names now. On the screen the answer is a tree: → unfolds a row, and Enter goes to the row's time point.";
    "history" ["hist"] " CELLS [N]" ArgumentKind::Cell => history,
        "Print a cell's values over time, up to the current step. The answer lists the last N writes (default: 20) to the cell, to an array `A` or to a slice `A[2..5]`. `A[i]` is the element that `i` names now.";
    "trace" [] " [/20x] EXPRESSION, ... at PLACE [if CONDITION]" ArgumentKind::Expression => trace,
        "Print the values of expressions at each arrival at a place. The table has a row for each step at which `break PLACE if CONDITION` would stop, from the first reached step of this branch to the end of the branch. By default, the table ends after 100 rows; `trace /500 …` allows 500, and a format may follow the number. To continue a table after step 5000, add `if $step > 5000`.";
    "diff" [] " TIME [TIME [COUNT]]" ArgumentKind::Step => diff,
        "Print the differences between two time points. A time point is a step, a percentage, `start`, `end` or a mark; by default, the second one is the current step. The answer lists at most COUNT cells (default: 20), each with both values and the last write between the time points. For an adjoint, that is the last write in the direction of travel. Stacks, tapes and calls follow. The session doesn't move.";
    }
    Program {
    "list" ["l"] " [PLACE | A,B | -]" ArgumentKind::Place => list,
        "Print the source around a place, or lines A to B. A repeated `list` continues after these lines; `list -` prints the lines before them.";
    "disassemble" ["disas"] " [PLACE]" ArgumentKind::Place => disassemble,
        "Print the machine's instructions around a place, each with its line and its statement.";
    "inverse" ["inv"] "" ArgumentKind::None => inverse,
        "Print the inverse program.";
    "backtrace" ["bt", "where"] " [N]" ArgumentKind::Count => backtrace,
        "Print the open calls, the innermost first. A star marks the selected frame.";
    "frame" ["f"] " [N | PROCEDURE]" ArgumentKind::Procedure => frame,
        "Select a frame by its number in the backtrace, or the innermost frame of a procedure. Names then refer to this frame, until the next motion.";
    "up" [] " [N]" ArgumentKind::Count => up,
        "Select the caller's frame, or the one N calls further out.";
    "down" [] " [N]" ArgumentKind::Count => down,
        "Select the callee's frame, or the one N calls further in.";
    }
    Changes {
    "set" [] " CELL = VALUE" ArgumentKind::Cell => set,
        "Change a cell, an adjoint (x') or the mode. The change begins a branch of the timeline; `timeline up` returns to the parent branch. A value for a real cell is computed in reals: 1/3 is a third. The mode is `gradient` or `values`.";
    "gradient" ["grad"] " [LOSS]" ArgumentKind::Cell => gradient,
        "Begin a gradient. The adjoint of the loss becomes 1, all other adjoints become 0, and gradient mode is switched on. If the program has only one real result, that result is the default loss. Running backward from here propagates adjoints, and `print x'` prints them. To add a second loss, `set` its adjoint.";
    "timeline" as "branches" ["tl"] " [up | N]" ArgumentKind::OneOf(&["up"]) => timeline,
        "List the branches, or go to one: `up` is the parent branch."
        {"up": "Go to the parent branch, at its last position"};
    "check" [] "" ArgumentKind::None => check,
        "Run a copy of the current branch to its end and back. Print the garbage at the end, and print if running back restores the start.";
    }
    Scripts {
    "expect" [] " CONDITION" ArgumentKind::Expression => expect,
        "Fail unless a condition holds, for scripts. Numbers of the program are compared to the last bit.";
    "expect-stop" [] " REASON" ArgumentKind::OneOf(REASONS) => expect_stop,
        "Fail unless the last motion stopped for a reason, for scripts. Reasons are arrived, begin, breakpoint, end, fence, interrupted, no-write, step-limit, trap, watchpoint.";
    "source" [] " FILE" ArgumentKind::File => source,
        "Execute the commands in a file, until one fails. `quit` in the file ends the session.";
    "save" [] " FILE" ArgumentKind::File => save,
        "Write the commands of this session to a file. `source` and `--batch` execute the file. An existing file is replaced only if it is a saved session.";
    "picture" [] " FILE [COLUMNSxROWS] [THEME]" ArgumentKind::File => picture,
        "Draw the screen to an SVG file. In line mode the picture shows a newly opened screen of 120x40. Themes are dark, light, 16, 16-light, plain. An existing file is replaced only if it is a picture of the debugger.";
    "help" ["h"] " [COMMAND | info TOPIC]" ArgumentKind::Command => help,
        "Explain a command, a topic of `info`, or all commands.";
    "explain" [] " [CODE]" ArgumentKind::Code => explain,
        "Explain the code of a message. The default is the code of the trap at which the run stopped.";
    "quit" ["q", "exit"] "" ArgumentKind::None => quit,
        "End the session.";
    }
}

/// Returns the command that a word names. The word is the command's name, one of its aliases, or an unambiguous
/// prefix of its name. Commands of the session take precedence over those of the screen, so that abbreviations mean
/// the same with and without a screen.
///
/// # Errors
/// No command matches, several commands match, or only gdb has a command of this name.
pub fn find(word: &str) -> Result<&'static Command, CommandError> {
    row_of(&[COMMANDS, SCREEN_COMMANDS], "command", word).map_err(|error| match foreign::instead_of(word) {
        Some(instead) => CommandError::Foreign { word: word.to_owned(), instead },
        None => error,
    })
}

/// Returns the topic of `info` that a word names, like [`find`].
///
/// # Errors
/// No topic matches, or several topics match.
pub fn find_topic(word: &str) -> Result<&'static Command, CommandError> {
    row_of(&[TOPICS], "topic", word)
}

fn row_of(
    tables: &[&'static [Command]],
    what: &'static str,
    word: &str,
) -> Result<&'static Command, CommandError> {
    let rows = || tables.iter().copied().flatten();
    let names = |command: &&'static Command| command.name == word || command.aliases.contains(&word);
    if let Some(command) = rows().find(names) {
        return Ok(command);
    }
    let begun = |table: &&'static [Command]| -> Vec<&'static Command> {
        table.iter().filter(|command| command.name.starts_with(word)).collect()
    };
    let begun = tables.iter().map(begun).find(|begun| !begun.is_empty()).unwrap_or_default();
    match begun[..] {
        [command] => Ok(command),
        [] => {
            let all = rows().flat_map(|c| std::iter::once(c.name).chain(c.aliases.iter().copied()));
            Err(CommandError::Unknown { what, word: word.to_owned(), near: nearest(word, all) })
        }
        _ => {
            let candidates = begun.iter().map(|command| command.name).collect();
            Err(CommandError::Ambiguous { word: word.to_owned(), candidates })
        }
    }
}

fn info(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    if rest.is_empty() {
        return Ok(Outcome::Help(vec![row]));
    }
    let (name, rest) = split_word(rest);
    find_topic(name)?.carry_out(console, rest)
}

fn help(_: &mut Console, _: CommandRow, rest: &str) -> CommandResult {
    match rest {
        "" => Ok(Outcome::Help(COMMANDS.iter().collect())),
        words => {
            let (word, rest) = split_word(words);
            let command = find(word)?;
            let is_topic = command.argument == ArgumentKind::Topic && !rest.is_empty();
            Ok(Outcome::Help(vec![if is_topic { find_topic(rest)? } else { command }]))
        }
    }
}
