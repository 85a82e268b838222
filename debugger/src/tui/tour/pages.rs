//! The pages of the tour, as data: their words, the commands that try them out, and required features of
//! the program. Braces contain command lines, which are shown as the keys bound to them.

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
    /// Names of commands that mark the page as tried when one of them is executed; empty for a page that is
    /// only read.
    pub tried_by: &'static [&'static str],
    /// A feature that the program must have.
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

    /// Returns the name of the feature and a program that has it.
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

/// All pages but the last. Each fits into three rows of 80 columns with any key map.
pub const PAGES: &[TourPage] = &[
    page(
        "the screen",
        &[],
        "Left is the program, with ► before what comes next; right are the cells with their values. Below are the \
         card of the next instruction, the time bar, and the keys that matter now. {tour next} turns the page.",
    ),
    page(
        "one step forward",
        &["step"],
        "{step} carries out the instruction behind ►, and here it is told in words what that was. The cells that it \
         changed are marked. Make a few steps.",
    ),
    page(
        "and one back",
        &["reverse-step"],
        "{reverse-step} undoes the last instruction by executing its inverse. Nothing was recorded for it, except \
         where an instruction loses bits. Go back and forth, and compare the two.",
    ),
    page(
        "to the end",
        &["continue", "end"],
        "{continue} runs until something stops it. Nothing does so far, except the end, or what the program fails \
         at. The time bar is full then, and the cells hold the results.",
    ),
    page(
        "all the way back",
        &["reverse-continue", "start"],
        "{reverse-continue} runs backward, to the beginning. There every cell holds what it held before the first \
         step, bit for bit.",
    ),
    page(
        "any moment",
        &["goto", "scrub", "reverse-scrub"],
        "{ask goto} asks where to: 50% or the number of a step, and Enter. {scrub} and {reverse-scrub} go a fiftieth \
         of the run on and back. Go to the middle.",
    ),
    page(
        "choosing a cell",
        &["focus", "cursor"],
        "{focus cells} leads to the cells, {cursor down} and {cursor up} choose one: what you ask next is asked about \
         it. {focus next} goes round the panes. Choose a cell that holds a result.",
    ),
    page(
        "where does it come from?",
        &["why"],
        "{end} goes to the end. There {why @} tells what made the chosen cell's value, and out of what. Walk the \
         answer with {cursor down}; {open} goes to that moment, {close} takes the answer away.",
    ),
    page(
        "who wrote it?",
        &["last", "next-write"],
        "{last @} goes back to just before the last write to the chosen cell, {next-write @} forward to just behind \
         the next. {undo} takes a motion back.",
    ),
    page(
        "stopping at a line",
        &["break"],
        "{focus code} leads to the program. {toggle break @} sets a breakpoint at the line under the cursor, or takes \
         it away. {continue} and {reverse-continue} stop there.",
    ),
    page(
        "stopping where a value changes",
        &["watch"],
        "{focus cells} leads to the cells, and {toggle watch @} watches the chosen one. {continue} then stops behind \
         each change of it, {reverse-continue} before. The same key takes the watchpoint away.",
    ),
    page_of(
        TourNeed::Calls,
        "calls",
        &["next", "reverse-next", "finish", "reverse-finish", "up", "down", "frame"],
        "{next} makes a step over the whole of a call, {finish} runs until it is left. Inside, {up} and {down} choose \
         the caller's cells or the callee's: a name means what it means there.",
    ),
    page(
        "what if?",
        &["set"],
        "{ask set @ =} asks for another value of the chosen cell: type it, and Enter. With it another history begins, \
         a branch. The program's own stays as it was: {timeline up} leads back to it.",
    ),
    page(
        "playing",
        &["play", "reverse-play", "play-pause"],
        "{play} plays forward, {reverse-play} backward, and again pauses. {faster} and {slower} change the pace. \
         {toggle plot @} draws the chosen cell over time.",
    ),
    page_of(
        TourNeed::RealResult,
        "a gradient",
        &["gradient"],
        "At the end ({end}) {gradient} gives the result the derivative 1; with several results, {ask} and `gradient NAME`. \
         Then {reverse-continue}: each step back carries derivatives, and the cells show them.",
    ),
];

/// The last page of the tour.
pub const LAST: TourPage = page(
    "where to go on",
    &["keys", "help"],
    "{keys} shows all keys, {ask} takes any command, {leave} ends the session.",
);
