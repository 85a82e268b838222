//! The commands `plot` and `unplot`, which choose the cells plotted over time. The screen draws the plots below the
//! timeline bar. In the line mode, each `plot` command prints the plot of its cell.

use super::console::{CommandError, CommandResult, CommandRow, Console, Outcome};
use crate::memory::Target;
use crate::session::SessionError;
use crate::view::plot::Plot;

/// Maximum number of cells plotted at once.
pub const MOST_PLOTS: usize = 4;

/// Number of columns that are sampled for a plot: enough for a wide screen. The line mode draws fewer columns.
const COLUMNS: usize = 240;

/// Plots a cell over the known steps: the command `plot`.
///
/// # Errors
/// There is no such cell, no memory for the samples, or [`MOST_PLOTS`] other cells are plotted already.
pub fn plot(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let name = row.something(rest, "a cell")?;
    let target = target(console, name)?;
    let position = console.plots.iter().position(|(_, plotted)| *plotted == target);
    if position.is_none() && console.plots.len() >= MOST_PLOTS {
        return Err(CommandError::Failed(format!(
            "at most {MOST_PLOTS} cells can be plotted: remove one with `unplot CELL`"
        )));
    }
    let number = position.unwrap_or(console.plots.len());
    let mut targets: Vec<Target> = console.plots.iter().map(|(_, target)| *target).collect();
    targets.extend(position.is_none().then_some(target));
    let extent = console.session.timeline().branch().extent();
    let samples = console.session.samples(&targets, extent, COLUMNS).map_err(SessionError::NoMemory)?;
    if position.is_none() {
        console.plots.push((name.to_owned(), target));
    }
    Ok(Outcome::Plot(Plot { name: name.to_owned(), number, samples }))
}

/// Stops plotting a cell, or all cells if no name is given: the command `unplot`.
///
/// # Errors
/// The named cell isn't plotted.
pub fn unplot(console: &mut Console, _: CommandRow, rest: &str) -> CommandResult {
    let before = console.plots.len();
    if rest.is_empty() {
        console.plots.clear();
    } else {
        // The cell may be a variable of a call that has ended, so that its name can't be resolved. In that case,
        // the names are compared.
        let target = target(console, rest).ok();
        let is_meant = |(name, plotted): &(String, Target)| match target {
            Some(target) if console.plots.iter().any(|(_, other)| *other == target) => *plotted == target,
            _ => name == rest,
        };
        let left = console.plots.iter().filter(|plot| !is_meant(plot)).cloned().collect();
        console.plots = left;
    }
    match before - console.plots.len() {
        0 if rest.is_empty() => Err(CommandError::Failed("nothing is plotted".into())),
        0 => Err(CommandError::Failed(format!("`{rest}` is not plotted"))),
        _ => Ok(Outcome::Unplotted(console.plots.iter().map(|(name, _)| name.clone()).collect())),
    }
}

fn target(console: &Console, name: &str) -> Result<Target, CommandError> {
    let session = &console.session;
    Ok(session.memory().target(session.state(), session.cell(name)?))
}
