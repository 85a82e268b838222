//! `reviver jacobian`.

use reviver_vm::differentiate::check::check_jacobian;
use reviver_vm::differentiate::matrices::jacobian;
use reviver_vm::differentiate::{Subject, Variable};

use crate::cli::JacobianOptions;
use crate::commands::plan;
use crate::commands::verification::Verification;
use crate::failure::{Failure, Fallible};
use crate::output::derivatives::Spelling;
use crate::output::strategy::StrategyTold;
use crate::output::verified::CheckTold;
use crate::shown::DerivativeShows;
use crate::{output, read, streams, subject};

pub fn run(options: &JacobianOptions) -> Fallible {
    let start = &options.differentiated.start;
    if let Some(printed) = plan::printed(&options.differentiated.strategies, start, &plan::FORWARD) {
        return printed;
    }
    let whole = options.differentiated.whole;
    let shows = DerivativeShows::new(start.json);
    let subject = Subject { whole, shows: shows.of_subject(), ..subject::subject(start)? };
    let subject = subject::by_strategy(subject, &options.differentiated.strategies, None)?;
    let outputs = subject::variables(&subject::outputs(&subject, &options.of)?)?;
    let inputs = subject::variables(&subject::inputs(&subject, &options.differentiated.wrt)?)?;
    subject::check_any("result", &outputs)?;
    subject::check_any("input", &inputs)?;
    let failed = |error| shows.failed(&subject.program, subject::failure(start, &subject.program, error));
    let mut jacobian = jacobian(&subject, &outputs, &inputs).map_err(failed)?;
    let shown = shows.kept();
    let mut verification = Verification::default();
    if options.differentiated.verify {
        let compare = |subject: &Subject| check_jacobian(subject, &outputs, &inputs, &jacobian);
        verification = Verification::of(start, &subject, compare);
    }
    verification.add_seen(&mut jacobian.trust.reports);
    let check = verification.check.take();
    let name = |variables: &[Variable], n: usize| variables.get(n).map(|variable| subject.name(variable));
    let (input, output) = (|n| name(&inputs, n), |n| name(&outputs, n));
    let told = check.as_ref().map(|check| CheckTold {
        program: &subject.program,
        check,
        what: "the Jacobian",
        input: &input,
        output: &output,
    });
    let spelling = Spelling(&subject);
    let strategy = StrategyTold::of_all(&subject, jacobian.journeys, options.differentiated.stats);
    let said = spelling.said(&jacobian.trust);
    let verdict = verification.verdict(told.as_ref(), said.verdict(options.differentiated.strict));
    let printed = streams::print_with(|out| match start.json {
        true => {
            let mut members = spelling.jacobian_members(&outputs, &inputs, &jacobian);
            shown.tell(&subject.program, &mut members);
            members.extend(strategy.members());
            members.extend(told.as_ref().map(CheckTold::member).unwrap_or_default());
            output::ran(members, subject.runner.as_ref(), &verdict, out)
        }
        false => {
            spelling.jacobian_text(&outputs, &inputs, &jacobian, out)?;
            strategy.text(out)?;
            out.write_all(told.as_ref().map_or_else(String::new, CheckTold::line).as_bytes())
        }
    });
    streams::complain(&said.warnings(&read::name(&start.given.file)));
    verdict.map_err(Failure::told).and(printed)
}
