//! Rendering of answers to queries about the past of a cell, about events, and about the session.

use std::fmt::Write as _;

use reviver_vm::Travel;
use reviver_vm::garbage::Garbage;

use super::{RenderedText, calls, plural, words};
use crate::outcome::{
    CellHistory, OriginCause, Reason, RoundTripCheck, ValueOrigin, ValuePath, WriteRole, path_of_value,
};
use crate::session::{Event, SampleRange};
use crate::timeline::{Fork, SpanEnd};
use crate::view::plot::Plot;
use crate::view::status::Status;
use crate::view::timeline::{Events, Happening};

impl RenderedText<'_> {
    /// Renders the links whose parent is `parent`, and recursively the links below them. `reported` has the
    /// indentation depth, and a flag. The flag is true if writes that only moved a value are listed, too.
    pub(super) fn origins(&mut self, chain: &[ValueOrigin], parent: Option<usize>, reported: (usize, bool)) {
        let (depth, all) = reported;
        let indent = "  ".repeat(depth);
        for (n, origin) in chain.iter().enumerate().filter(|(_, origin)| origin.parent == parent) {
            let path = if all { ValuePath { moves: Vec::new(), maker: n } } else { path_of_value(chain, n) };
            let Some(maker) = chain.get(path.maker) else { continue };
            let through =
                moves_in_words(chain, &path).map_or(String::new(), |moves| format!(", through {moves}"));
            let (name, value) = (&origin.cell, &origin.value);
            match &maker.cause {
                OriginCause::Written { write, sources, store, .. } => {
                    let text = &write.instruction;
                    let same = if write.is_changed() { "" } else { ", unchanged" };
                    let (line, step) = (self.session.listing().name(write.line), write.step + 1);
                    line!(self, "{indent}{name} = {value}: `{text}` ({line}, step {step}{same}){through}");
                    let values = sources.iter().map(|(name, value)| format!("{name} = {value}"));
                    let values: Vec<String> =
                        values.chain(store.map(|store| store.name().to_owned())).collect();
                    if !values.is_empty() {
                        line!(self, "{indent}  from {}", values.join(", "));
                    }
                }
                OriginCause::Initial { step } => {
                    let whose = if path.moves.is_empty() { "" } else { &format!(" as {}", maker.cell) };
                    line!(self, "{indent}{name} = {value} since step {step}{whose}{through}");
                }
                OriginCause::Stopped { step, reason } => {
                    let reason = words(reason);
                    line!(self, "{indent}{name} = {value} at step {step}; {reason}: the search stopped");
                }
                OriginCause::Constant => line!(self, "{indent}{name} = {value}: a constant"),
                OriginCause::Deeper(_) => {}
            }
            self.origins(chain, Some(path.maker), (depth + 1, all));
        }
    }

    pub(super) fn history(&mut self, history: &CellHistory) {
        if history.writes.is_empty() && history.stopped.is_none() {
            let span = if history.is_ahead { "after this" } else { "up to here" };
            line!(self, "{} was not written {span}", history.cell);
        }
        let is_cut = history.further.is_some() && history.stopped.is_none();
        if is_cut && !history.is_ahead {
            line!(self, "…");
        }
        for write in &history.writes {
            self.touch(write);
        }
        if is_cut && history.is_ahead {
            line!(self, "…");
        }
        if let Some(reason) = &history.stopped {
            line!(self, "{}: there may be more writes", words(reason));
        }
    }

    pub(super) fn check(&mut self, check: &RoundTripCheck) {
        let steps = check.steps;
        match &check.stop {
            Reason::HistoryEnd => line!(self, "{steps} step{} to the end", plural(steps)),
            Reason::HistoryBegin => line!(self, "{steps} step{} back to the beginning", plural(steps)),
            Reason::Trap(explanation) => {
                line!(self, "a trap after {steps} step{}", plural(steps));
                self.trap(explanation);
            }
            Reason::StepLimit => line!(self, "the step limit, after {steps} step{}", plural(steps)),
            _ => line!(self, "interrupted after {steps} step{}", plural(steps)),
        }
        for said in check.garbage.iter().flat_map(Garbage::lines) {
            line!(self, "garbage: {said}");
        }
        match check.restored {
            Some(true) => line!(self, "running backward restores the start, bit for bit"),
            Some(false) => {
                line!(self, "running backward without a history does not restore the start bit for bit")
            }
            None if matches!(check.stop, Reason::HistoryEnd | Reason::HistoryBegin) => {
                line!(self, "interrupted while running backward")
            }
            None => {}
        }
        if check.erased_bits > 0 {
            line!(self, "not reversible: {} erased bits", check.erased_bits);
        }
    }

    pub(super) fn status(&mut self, status: &Status) {
        let (first, last) = status.span.steps();
        let end = match status.span.end {
            SpanEnd::Known => "",
            SpanEnd::Reached => " or later",
            SpanEnd::Expected => " (estimated from the parent branch)",
        };
        let percent = status.percent.map_or(String::new(), |percent| format!(" ({percent:.1} %)"));
        line!(self, "step {}{percent} of {first} to {last}{end}", status.step);
        let travel = if status.travel == Travel::Forward { "forward" } else { "backward" };
        let own = if status.machine_inverted { "backward" } else { "forward" };
        let depth = status.depth;
        line!(self, "travel: {travel}; the machine: {own}, {depth} open call{}", plural(depth as u64));
        line!(self, "branch: {}", status.branch);
        line!(
            self,
            "history: {} B of residues, {} B of checkpoints",
            status.history_bytes,
            status.checkpoint_bytes
        );
        line!(
            self,
            "erased: {} bit{}; discarded: {} bit{}",
            status.erased_bits,
            plural(status.erased_bits),
            status.discarded_bits,
            plural(status.discarded_bits)
        );
        if status.gradient_mode || status.drops > 0 {
            let mode = if status.gradient_mode { "on" } else { "off" };
            line!(self, "gradient mode: {mode}; dropped: {} adjoint{}", status.drops, plural(status.drops));
        }
    }

    pub(super) fn events(&mut self, events: &Events) {
        if events.time_points.is_empty() && events.calls.none() {
            line!(self, "there are no events");
        }
        if events.more_time_points > 0 {
            line!(self, "… {} earlier events", events.more_time_points);
        }
        for (step, happening) in &events.time_points {
            match happening {
                Happening::Mark(name) => line!(self, "step {step}: mark {name}"),
                Happening::Fence => line!(self, "step {step}: a fence"),
                Happening::Fork(branch) => line!(self, "step {step}: branch {branch} begins"),
                Happening::Stop(Event::Point(id)) => line!(self, "step {step}: stopped by point {id}"),
                Happening::Stop(Event::Trap) => line!(self, "step {step}: a trap"),
            }
        }
        for interval in &events.intervals {
            let calls = calls(interval.calls);
            match (interval.from + 1, interval.to) {
                (first, last) if first == last => line!(self, "step {last}: {calls}"),
                (first, last) => line!(self, "steps {first} to {last}: {calls}"),
            }
        }
        if events.intervals.len() > 1 {
            line!(self, "total: {}", calls(events.calls));
        }
    }

    pub(super) fn fork(&mut self, fork: &Fork) {
        let marker = if fork.is_current { "*" } else { " " };
        let (first, last) = fork.extent;
        match fork.parent {
            None => line!(self, "{marker} {}: the program's own, steps {first} to {last}", fork.branch),
            Some(parent) => {
                let edits = fork.edits.join(", ");
                let (branch, step) = (fork.branch, fork.step);
                line!(
                    self,
                    "{marker} {branch}: from branch {parent} at step {step} by {edits}, steps {first} to {last}"
                );
            }
        }
    }

    pub(super) fn plot(&mut self, plot: &Plot) {
        let (first, last) = plot.samples.steps;
        if !plot.samples.is_whole {
            line!(self, "interrupted: {} is plotted only in part", plot.name);
        }
        let Some(SampleRange { low, high }) = plot.range() else {
            line!(self, "{} has no value at any of the steps {first} to {last}", plot.name);
            return;
        };
        line!(self, "{}, steps {first} to {last}: from {low} to {high}", plot.name);
        if !plot.samples.is_exact {
            line!(self, "sampled: {} is written too often to show every value", plot.name);
        }
        plot.rows().iter().for_each(|row| line!(self, "|{row}"));
    }
}

/// Renders the number of writes that only moved a value, and their kind: `2 swaps`, `1 move`. Returns `None` if the
/// value wasn't moved.
pub fn moves_in_words(chain: &[ValueOrigin], path: &ValuePath) -> Option<String> {
    let is_swap = |link: &usize| {
        let cause = chain.get(*link).map(|link| &link.cause);
        matches!(cause, Some(OriginCause::Written { role: WriteRole::Swaps, .. }))
    };
    let word = if path.moves.iter().all(is_swap) { "swap" } else { "move" };
    let count = path.moves.len();
    (count > 0).then(|| format!("{count} {word}{}", plural(count as u64)))
}
