//! The pages of the tour as data. A page has a text, and the commands with which the user tries out the page. A
//! page may require a feature of the program. Command lines in braces are shown as the keys to which they are
//! bound.

use reviver_isa::instruction::Link;
use reviver_vm::Program;

use crate::command::real_results;

/// A page of the tour.
#[derive(Debug)]
pub struct TourPage {
    /// The heading of the page.
    pub title: &'static str,
    /// The explanation. Command lines in braces are replaced by their keys.
    pub words: &'static str,
    /// Names of commands. When one of them is executed, the page is marked as tried. Empty if the page has
    /// nothing to try.
    pub tried_by: &'static [&'static str],
    /// A feature that the page is about; the page is omitted if the program doesn't have the feature. `None` if the
    /// page suits every program.
    pub needs: Option<TourNeed>,
}

/// A program feature that a page requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TourNeed {
    /// Calls of procedures, for pages about frames.
    Calls,
    /// A real result, for which there is a gradient.
    RealResult,
}

impl TourNeed {
    /// Returns true if the program has the feature.
    pub fn is_met(self, program: &Program) -> bool {
        match self {
            TourNeed::Calls => program.module().code.iter().any(|it| matches!(it.link, Link::Calls(_))),
            TourNeed::RealResult => real_results(program).next().is_some(),
        }
    }

    /// Returns a text that names the feature and a program that has it.
    pub fn elsewhere(self) -> &'static str {
        match self {
            TourNeed::Calls => "calls, which programs/hanoi.rasm has",
            TourNeed::RealResult => "a gradient, which programs/besselj.rasm has",
        }
    }
}

const fn page(title: &'static str, tried_by: &'static [&'static str], words: &'static str) -> TourPage {
    TourPage { title, words, tried_by, needs: None }
}

const fn page_of(
    need: TourNeed,
    title: &'static str,
    tried_by: &'static [&'static str],
    words: &'static str,
) -> TourPage {
    TourPage { title, words, tried_by, needs: Some(need) }
}

/// All pages except the last. With any preset of keys, each page fits into three rows of 80 columns.
pub const PAGES: &[TourPage] = &[
    page(
        "the screen",
        &[],
        "The program is on the left: ► marks the next instruction. The cells with their values are on the right. Below are \
         the card of the next instruction, the time bar and the keys. {tour next} turns the page.",
    ),
    page(
        "one step forward",
        &["step"],
        "{step} executes the instruction at ►. The text below then describes the step, and the changed cells are marked. \
         Make a few steps.",
    ),
    page(
        "one step backward",
        &["reverse-step"],
        "{reverse-step} undoes the last instruction by executing its inverse. This needs no history, unless the \
         instruction loses bits. Go forward and backward, and compare.",
    ),
    page(
        "to the end",
        &["continue", "end"],
        "{continue} runs to a breakpoint, to a failure of the program, or to the end. At the end, the time bar is full, \
         and the cells hold the results.",
    ),
    page(
        "back to the start",
        &["reverse-continue", "start"],
        "{reverse-continue} runs backward to the start. At the start, every cell has its initial value again, bit for bit.",
    ),
    page(
        "any step",
        &["goto", "scrub", "reverse-scrub"],
        "{ask goto} asks for a place in the run: type 50% or the number of a step, and press Enter. {scrub} and \
         {reverse-scrub} move by a fiftieth of the run. Go to the middle.",
    ),
    page(
        "selecting a cell",
        &["focus", "cursor"],
        "{focus cells} goes to the cells; {cursor down} and {cursor up} select one. Questions are about the selected \
         cell. {focus next} goes to the next pane. Select a cell that holds a result.",
    ),
    page(
        "where does it come from?",
        &["why"],
        "{end} goes to the end. Then {why @} shows the statement that computed the selected cell's value, and the values \
         that it used. {cursor down} moves in the answer; {open} goes to the row's step, {close} closes the answer.",
    ),
    page(
        "which write changed it?",
        &["last", "next-write"],
        "{last @} goes back to just before the last write to the selected cell; {next-write @} goes forward to just after \
         the next one. {undo} undoes a motion.",
    ),
    page(
        "stopping at a line",
        &["break"],
        "{focus code} goes to the program. {toggle break @} sets a breakpoint at the line under the cursor, or removes it. \
         {continue} and {reverse-continue} stop at a breakpoint.",
    ),
    page(
        "stopping where a value changes",
        &["watch"],
        "{focus cells} goes to the cells, and {toggle watch @} watches the selected one. Then {continue} stops after each \
         change of the cell, and {reverse-continue} before it. The same key removes the watchpoint.",
    ),
    page_of(
        TourNeed::Calls,
        "calls",
        &["next", "reverse-next", "finish", "reverse-finish", "up", "down", "frame"],
        "{next} executes a whole call as one step; {finish} runs to the end of the current call. Inside a call {up} and \
         {down} select the frame of the caller or the callee: names refer to that frame.",
    ),
    page(
        "what if?",
        &["set"],
        "{ask set @ =} asks for a new value of the selected cell: type it, and press Enter. This begins a branch, another \
         history from here on. The program's own branch stays unchanged: {timeline up} returns to it.",
    ),
    page(
        "playing",
        &["play", "reverse-play", "play-pause"],
        "{play} plays forward, {reverse-play} backward; the same key pauses. {faster} and {slower} change the speed. \
         {toggle plot @} plots the selected cell over time.",
    ),
    page_of(
        TourNeed::RealResult,
        "a gradient",
        &["gradient"],
        "At the end ({end}) {gradient} sets the derivative of the result to 1; for several results, type {ask} and \
         `gradient NAME`. Then press {reverse-continue}: running backward computes the derivatives, which the cells show.",
    ),
];

/// The last page of the tour.
pub const LAST: TourPage = page(
    "what comes next",
    &["keys", "help"],
    "{keys} shows all keys, {ask} takes any command, {leave} ends the session.",
);
