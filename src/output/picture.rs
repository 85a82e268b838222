//! Output of pictures: as SVG in a file or on standard output, or as characters on a terminal.

use std::io::{IsTerminal as _, stdout};

use reviver_debugger::columns::{width, wrapped};
use reviver_pictures::plot::Plot;
use reviver_pictures::text_plot::LEAST_COLUMNS;

use crate::failure::{Failure, Fallible};
use crate::streams;
use crate::write::OutputTarget;

/// Writes or prints a picture.
pub fn write(svg: &str, target: Option<OutputTarget>) -> Fallible {
    target.unwrap_or(OutputTarget::Printed).write(svg.as_bytes())
}

/// Writes or prints a plot, as characters if standard output is a terminal.
pub fn write_plot(plot: &Plot, target: Option<OutputTarget>) -> Fallible {
    if target.is_none() && stdout().is_terminal() {
        return print_plot(plot, streams::columns().unwrap_or(USUAL_COLUMNS));
    }
    write(&plot.svg().map_err(Failure::load)?, target)
}

/// Assumed width of a terminal that doesn't report it.
const USUAL_COLUMNS: usize = 80;

/// Prints a plot to a terminal of `columns` columns.
fn print_plot(plot: &Plot, columns: usize) -> Fallible {
    let text = plot.text(columns);
    let rows = text.lines().map(|line| match width(line) <= columns {
        true => format!("{line}\n"),
        false => wrapped(line, columns).join("\n") + "\n",
    });
    streams::print(&rows.collect::<String>())?;
    if columns < LEAST_COLUMNS {
        streams::complain(&format!(
            "note: curves in characters need {LEAST_COLUMNS} columns, and this terminal has {columns}; `-o X.svg` writes a picture instead\n"
        ));
    }
    Ok(())
}
