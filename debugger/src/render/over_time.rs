//! Rendering of queries about several time points: differences, and tables with one row per time point.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{RenderedText, plural, time_point, words};
use crate::outcome::{CellDifference, Reason, TimePointDifference, Trace, TraceRow, ValueRow};

impl RenderedText<'_> {
    pub(super) fn difference(&mut self, found: &TimePointDifference) {
        if let (Some(reason), false) = (&found.stopped, found.is_compared) {
            line!(self, "{}: nothing was compared", words(reason));
            return;
        }
        line!(self, "from {} to {}:", time_point(found.from), time_point(found.to));
        found.cells.iter().for_each(|cell| self.cell_difference(cell, found));
        if found.left_out > 0 {
            line!(self, "… and {} cell{} more", found.left_out, plural(found.left_out as u64));
        }
        for (before, after) in &found.rows {
            let next = |row: &ValueRow| match row.next.len() < row.total {
                true => format!("{}, …", row.next.join(", ")),
                false => row.next.join(", "),
            };
            let reported =
                |row| Some(format!(" ({})", next(row))).filter(|_| row.total > 0).unwrap_or_default();
            let (name, from, to) = (&before.name, before.total, after.total);
            line!(self, "{name}: {from}{} -> {to}{}", reported(before), reported(after));
        }
        if let Some((before, after)) = &found.calls {
            line!(self, "calls: {before} -> {after}");
        }
        if found.cells.is_empty() && found.rows.is_empty() && found.calls.is_none() {
            line!(self, "nothing differs");
        }
        if let Some(reason) = &found.stopped {
            line!(self, "{}: the last writes of the other cells were not searched for", words(reason));
        }
    }

    fn cell_difference(&mut self, cell: &CellDifference, found: &TimePointDifference) {
        let CellDifference { cell, before, after, writer } = cell;
        match writer {
            Some(write) => {
                let (text, line) = (&write.instruction, self.session.listing().name(write.line));
                line!(
                    self,
                    "{cell}: {before} -> {after}, last by `{text}` ({line}, step {})",
                    write.step + 1
                );
            }
            None if found.from.branch != found.to.branch => {
                line!(
                    self,
                    "{cell}: {before} -> {after}, not written since branch {} began",
                    found.to.branch
                );
            }
            None => line!(self, "{cell}: {before} -> {after}"),
        }
    }

    /// Renders a table with aligned columns; numbers are right-aligned.
    pub(super) fn trace(&mut self, trace: &Trace) {
        self.rows_of(trace);
        let holds = trace.condition.as_ref().map_or(String::new(), |text| format!(" where {text}"));
        match &trace.ended {
            None => line!(self, "… there are more rows: `trace /{} …` prints them", trace.rows.len() * 10),
            Some(Reason::Interrupted | Reason::StepLimit) => {
                let reason = trace.ended.as_ref().map(words).unwrap_or_default();
                line!(self, "{reason}: there may be more rows");
            }
            Some(Reason::Trap(trap)) => line!(self, "the run ended with a trap: {}", trap.message),
            Some(_) if trace.rows.is_empty() => {
                line!(self, "the run never reaches {}{holds}", trace.place);
            }
            Some(_) => {}
        }
    }

    fn rows_of(&mut self, trace: &Trace) {
        if trace.rows.is_empty() {
            return;
        }
        let head = std::iter::once("step").chain(trace.columns.iter().map(String::as_str));
        let head: Vec<String> = head.map(str::to_owned).collect();
        let value = |value: &Result<String, String>| value.clone().unwrap_or_else(|_| "-".to_owned());
        let cells = |row: &TraceRow| {
            let step = row.at.step.to_string();
            std::iter::once(step).chain(row.values.iter().map(value)).collect::<Vec<String>>()
        };
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(trace.rows.iter().map(cells)).collect();
        let count = |text: &String| text.chars().count();
        let widest = |n: usize| rows.iter().filter_map(|row| row.get(n)).map(count).max().unwrap_or(0);
        let widths: Vec<usize> = (0..=trace.columns.len()).map(widest).collect();
        for row in &rows {
            let padded: Vec<String> =
                row.iter().zip(&widths).map(|(text, width)| format!("{text:>width$}")).collect();
            line!(self, "{}", padded.join("  "));
        }
        let values = trace.rows.iter().flat_map(|row| &row.values);
        let errors: BTreeSet<&String> = values.filter_map(|value| value.as_ref().err()).collect();
        errors.iter().for_each(|error| line!(self, "-: {error}"));
    }
}
