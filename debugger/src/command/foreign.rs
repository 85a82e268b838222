//! Commands of gdb that this debugger doesn't have, each with a replacement. The names of these commands only
//! produce an error message with the replacement.

/// Each row has the gdb commands of one feature, and a text that names the replacement.
const FOREIGN: &[(&[&str], &str)] = &[
    (
        &["attach", "detach", "kill"],
        "the program is part of the session: `start` returns to the start of the program, `quit` ends the session",
    ),
    (&["call"], "`print` shows a value; only the program makes calls"),
    (&["catch", "handle", "signal"], "a trap always stops the run, and programs receive no signals"),
    (&["checkpoint", "restart"], "`mark NAME` names a time point, and `goto NAME` returns to it"),
    (&["commands"], "`break PLACE log MESSAGE` prints and continues; `display` prints at every stop"),
    (&["define", "document"], "`source FILE` executes a file of commands"),
    (&["file", "load", "symbol-file"], "a session has one program: `reviver repl FILE` opens another"),
    (&["jump"], "a jump can't be undone; `until PLACE` runs to a place, `goto STEP` goes to a step"),
    (&["layout", "tui", "refresh"], "`reviver debug FILE` opens the screen"),
    (&["ptype", "whatis"], "cells are integers or reals: `info cells` and `info arrays` list them"),
    (&["record"], "no recording is needed: every run can also go backward"),
    (&["return"], "`finish` runs to the end of the call; a call can't be left earlier"),
    (&["shell", "make", "!"], "the session starts no other programs"),
    (&["show"], "there are no settings to show: `info status` describes the session"),
    (
        &["thread", "threads"],
        "the steps of parallel tasks are counted one task after another: `backtrace` shows the current task",
    ),
    (&["x/i"], "`disassemble` prints instructions"),
];

/// Returns the replacement for a gdb command, or `None` for any other word.
pub fn instead_of(word: &str) -> Option<&'static str> {
    // `x/4i` is `x/i` with a count.
    let plain: String = word.chars().filter(|c| !c.is_ascii_digit()).collect();
    let row = FOREIGN.iter().find(|(names, _)| names.contains(&plain.as_str()))?;
    Some(row.1)
}
