//! `reviver bennett`: turns a program that overwrites values into a reversible one by Bennett's method, as readable
//! text.

use reviver_bennett::{BennettText, SegmentPlan, WantedPlan, bennett_within};

use crate::cli::{BennettOptions, Constants};
use crate::failure::{Exit, Failure, Fallible};
use crate::{load, read, write};

pub fn run(options: &BennettOptions) -> Fallible {
    let wanted = wanted(options)?;
    let mut bytes = read::source(&options.file)?;
    if read::is_image(&options.file, &bytes) {
        bytes =
            load::text_of(&options.file, &load::module(&options.file, &Constants::default())?)?.into_bytes();
    }
    let BennettText { sources, text } =
        bennett_within(&read::name(&options.file), bytes, read::files(), &wanted);
    let text = text.map_err(|diagnostics| load::faulty(&sources, &diagnostics, "no reversible program"))?;
    write::text(&options.written, &text)
}

/// Returns the segment plan that the options request. If the options set only a memory limit, returns the plan that
/// fits into this memory with the fewest segment runs.
fn wanted(options: &BennettOptions) -> Fallible<WantedPlan> {
    let rounds = options.rounds;
    let usual = SegmentPlan::default();
    let (segments, levels) = match (options.segments, options.levels) {
        (None, None) => (usual.segments, usual.levels),
        (segments, levels) => (segments.unwrap_or(usual.segments), levels.unwrap_or(1)),
    };
    let plan = SegmentPlan::new(segments, levels, rounds).map_err(|why| Failure::new(Exit::Usage, why))?;
    Ok(match options.space {
        Some(bytes) => WantedPlan::Space { bytes, rounds },
        None => WantedPlan::Exact(plan),
    })
}
