//! `reviver taylor`: computes Taylor series along a path.

use reviver_vm::differentiate::Subject;
use reviver_vm::differentiate::matrices::taylor;

use crate::cli::TaylorOptions;
use crate::failure::{Failure, Fallible};
use crate::output::derivatives::{SeriesPath, ValueRenderer};
use crate::shown::DerivativeShows;
use crate::vectors::{self, SelectedNumbers};
use crate::{output, read, streams, subject};

pub fn run(options: &TaylorOptions) -> Fallible {
    let start = &options.start;
    let shows = DerivativeShows::new(start.json);
    let subject = subject::subject_besides(start, &vectors::standard_inputs(&options.along))?;
    let subject = Subject { shows: shows.of_subject(), ..subject };
    let path = path(&subject, &options.along)?;
    let selections = subject::outputs(&subject, &options.of)?;
    let outputs = subject::variables(&selections)?;
    subject::check_any("result", &outputs)?;
    let failed = |error| shows.failed(&subject.program, subject::failure(start, &subject.program, error));
    let (inputs, direction) = match &path {
        SeriesPath::Cell(cell) => (vec![cell.clone()], vec![1.0]),
        SeriesPath::Direction(vector) => (subject::variables(&vector.selections)?, vector.numbers(&subject)),
    };
    let series = taylor(&subject, &outputs, &inputs, &direction, options.order.into()).map_err(failed)?;
    let shown = shows.kept();
    let spelling = ValueRenderer(&subject);
    let said = spelling.said(&series.verification_report);
    let verdict = said.verdict(options.strict);
    let printed = streams::print_with(|out| match start.json {
        true => {
            let mut members = spelling.taylor_members(&selections, &path, &series);
            shown.tell(&subject.program, &mut members);
            output::ran(members, subject.runner.as_ref(), &verdict, out)
        }
        false => spelling.taylor_text(&selections, &path, &series, out),
    });
    streams::complain(&said.warnings(&read::name(&start.given.file)));
    verdict.map_err(Failure::reported).and(printed)
}

/// Parses `--along`: one cell that changes, or a direction with components.
fn path(subject: &Subject, along: &[String]) -> Fallible<SeriesPath> {
    match along {
        [name] if !name.contains('=') => Ok(SeriesPath::Cell(subject::one(subject, "--along", name)?)),
        parts => Ok(SeriesPath::Direction(SelectedNumbers::read(subject, "--along", parts)?)),
    }
}
