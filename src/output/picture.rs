//! Where pictures go: into files, to standard output, or as characters to somebody who looks at a terminal.

use std::io::{IsTerminal as _, stdout};
use std::path::Path;

use reviver_pictures::plot::Plot;

use crate::cli::Drawn;
use crate::failure::{Failure, Fallible};
use crate::write::OutputTarget;
use crate::{kinds, streams};

/// Where a picture goes that was asked for; none where nobody has said it.
pub fn target(options: &Drawn) -> Fallible<Option<OutputTarget>> {
    let target = |path: &Path| OutputTarget::new(path, &kinds::PICTURE, options.force.force);
    options.output.as_deref().map(target).transpose()
}

/// Writes or prints a picture.
pub fn write(svg: &str, target: Option<OutputTarget>) -> Fallible {
    target.unwrap_or(OutputTarget::Printed).write(svg.as_bytes())
}

/// Writes or prints a plot; on a terminal in characters.
pub fn write_plot(plot: &Plot, target: Option<OutputTarget>) -> Fallible {
    if target.is_none() && stdout().is_terminal() {
        return streams::print(&plot.text());
    }
    write(&plot.svg().map_err(Failure::load)?, target)
}
