//! `reviver jacobian`.

use reviver_vm::differentiate::Subject;
use reviver_vm::differentiate::matrices::jacobian;

use crate::cli::JacobianOptions;
use crate::commands::plan;
use crate::failure::{Failure, Fallible};
use crate::output::derivatives::Spelling;
use crate::output::strategy::StrategyTold;
use crate::{output, read, streams, subject};

pub fn run(options: &JacobianOptions) -> Fallible {
    let start = &options.differentiated.start;
    if let Some(printed) = plan::printed(&options.differentiated.strategies, start, &plan::FORWARD) {
        return printed;
    }
    let whole = options.differentiated.whole;
    let subject = Subject { whole, ..subject::subject(start)? };
    let subject = subject::by_strategy(subject, &options.differentiated.strategies, None)?;
    let outputs = subject::variables(&subject::outputs(&subject, &options.of)?)?;
    let inputs = subject::variables(&subject::inputs(&subject, &options.differentiated.wrt)?)?;
    subject::check_any("result", &outputs)?;
    subject::check_any("input", &inputs)?;
    let jacobian = jacobian(&subject, &outputs, &inputs)
        .map_err(|error| subject::failure(start, &subject.program, error))?;
    let spelling = Spelling(&subject);
    let strategy = StrategyTold::of_all(&subject, jacobian.journeys, options.differentiated.stats);
    let said = spelling.said(&jacobian.trust);
    let verdict = said.verdict(options.differentiated.strict);
    let printed = streams::print_with(|out| match start.json {
        true => {
            let mut members = spelling.jacobian_members(&outputs, &inputs, &jacobian);
            members.extend(strategy.members());
            output::ran(members, subject.runner.as_ref(), &verdict, out)
        }
        false => {
            spelling.jacobian_text(&outputs, &inputs, &jacobian, out)?;
            strategy.text(out)
        }
    });
    streams::complain(&said.warnings(&read::name(&start.given.file)));
    verdict.map_err(Failure::told).and(printed)
}
