//! `reviver taylor`.

use reviver_vm::differentiate::Subject;
use reviver_vm::differentiate::matrices::taylor;

use crate::cli::TaylorOptions;
use crate::failure::{Failure, Fallible};
use crate::output::derivatives::Spelling;
use crate::shown::DerivativeShows;
use crate::{output, read, streams, subject};

pub fn run(options: &TaylorOptions) -> Fallible {
    let start = &options.start;
    let shows = DerivativeShows::new(start.json);
    let subject = Subject { shows: shows.of_subject(), ..subject::subject(start)? };
    let along = subject::one(&subject, "--along", &options.along)?;
    let selections = subject::outputs(&subject, &options.of)?;
    let outputs = subject::variables(&selections)?;
    subject::check_any("result", &outputs)?;
    let failed = |error| shows.failed(&subject.program, subject::failure(start, &subject.program, error));
    let series = taylor(&subject, &outputs, &along, options.order.into()).map_err(failed)?;
    let shown = shows.kept();
    let spelling = Spelling(&subject);
    let said = spelling.said(&series.trust);
    let verdict = said.verdict(options.strict);
    let printed = streams::print_with(|out| match start.json {
        true => {
            let mut members = spelling.taylor_members(&selections, &along, &series);
            shown.tell(&subject.program, &mut members);
            output::ran(members, subject.runner.as_ref(), &verdict, out)
        }
        false => spelling.taylor_text(&selections, &along, &series, out),
    });
    streams::complain(&said.warnings(&read::name(&start.given.file)));
    verdict.map_err(Failure::told).and(printed)
}
