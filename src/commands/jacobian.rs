//! `reviver jacobian`.

use reviver_vm::differentiate::matrices::jacobian;

use crate::cli::Jacobian;
use crate::failure::Outcome;
use crate::output::derivatives::Spelling;
use crate::output::losses;
use crate::{load, subject, write};

pub fn run(options: &Jacobian) -> Outcome {
    let start = &options.differentiated.start;
    let subject = subject::subject(start)?;
    let outputs = subject::variables(&subject::outputs(&subject, &options.of)?);
    let inputs = subject::variables(&subject::inputs(&subject, &options.differentiated.wrt)?);
    subject::check_any("result", &outputs)?;
    subject::check_any("input", &inputs)?;
    let jacobian = jacobian(&subject, &outputs, &inputs)
        .map_err(|error| subject::failure(start, &subject.program, error))?;
    let reported = losses::reported(&subject.program, &jacobian.reports);
    write::complain(&losses::warnings(&reported, &load::name(&start.given.file), false));
    let spelling = Spelling(&subject);
    write::print(&match start.json {
        true => spelling.jacobian_json(&outputs, &inputs, &jacobian),
        false => spelling.jacobian_text(&outputs, &inputs, &jacobian),
    })
}
