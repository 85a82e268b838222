//! `reviver hessian`: computes the Hessian, or its product with a vector.

use reviver_isa::names::adjoint_name;
use reviver_vm::differentiate::check::check_hessian;
use reviver_vm::differentiate::matrices::{self, hessian_products};
use reviver_vm::differentiate::{DifferentiateError, Subject};

use crate::cli::HessianOptions;
use crate::commands::plan::{self, PlannedRun};
use crate::commands::verification::Verification;
use crate::failure::{Failure, Fallible};
use crate::output::derivatives::ValueRenderer;
use crate::output::strategy::StrategyReport;
use crate::output::verified::CheckReport;
use crate::shown::DerivativeShows;
use crate::{output, read, streams, subject, vectors};

pub fn run(options: &HessianOptions) -> Fallible {
    let start = &options.differentiated.start;
    let way = PlannedRun { bytes: matrices::series_bytes, ..plan::FORWARD };
    if let Some(printed) = plan::printed(&options.differentiated.strategies, start, &way) {
        return printed;
    }
    let whole = options.differentiated.whole;
    let shows = DerivativeShows::new(start.json);
    let subject = Subject {
        whole,
        shows: shows.of_subject(),
        ..subject::subject_besides(start, &vectors::standard_inputs(&options.times))?
    };
    let subject = subject::by_strategy(subject, &options.differentiated.strategies, None)?;
    let loss = subject::loss(&subject, &options.loss)?;
    let selections = subject::inputs(&subject, &options.differentiated.wrt)?;
    let inputs = subject::variables(&selections)?;
    subject::check_any("input", &inputs)?;
    let failed = |error: DifferentiateError| {
        shows.failed(&subject.program, subject::failure(start, &subject.program, error))
    };
    let whole = options.times.is_empty();
    let along =
        if whole { None } else { Some(vectors::direction(&subject, "--times", &inputs, &options.times)?) };
    let seeds = subject.seeds_of(&loss).map_err(failed)?;
    let hessian = match &along {
        None => matrices::hessian(&subject, &seeds, &inputs),
        Some(direction) => hessian_products(&subject, &seeds, &inputs, std::slice::from_ref(direction)),
    };
    let hessian = hessian.map_err(failed)?;
    let shown = shows.kept();
    let mut verification = Verification::default();
    if options.differentiated.verify {
        let compare = |subject: &Subject| check_hessian(subject, &loss, &inputs, &hessian, along.as_deref());
        verification = Verification::of(start, &subject, compare);
    }
    let check = verification.check.take();
    let what = format!("the Hessian of `{}`", subject.name(&loss));
    let input = |n: usize| inputs.get(n).map(|variable| subject.name(variable));
    let output = |n: usize| Some(input(n).map_or_else(|| subject.name(&loss), |name| adjoint_name(&name)));
    let reported = check.as_ref().map(|check| CheckReport {
        program: &subject.program,
        check,
        what: &what,
        input: &input,
        output: &output,
    });
    let line = reported.as_ref().map_or_else(String::new, CheckReport::line);
    let spelling = ValueRenderer(&subject);
    let strategy = StrategyReport::of_all(&subject, hessian.reverse_sweeps, options.differentiated.stats);
    let said = spelling.said(&hessian.verification_report);
    let verdict = verification.verdict(reported.as_ref(), said.verdict(options.differentiated.strict));
    let printed = streams::print_with(|out| match (whole, start.json) {
        (true, true) => {
            let mut members = spelling.hessian_members((&selections, &inputs), &hessian);
            shown.tell(&subject.program, &mut members);
            members.extend(strategy.members());
            members.extend(reported.as_ref().map(CheckReport::member).unwrap_or_default());
            output::ran(members, subject.runner.as_ref(), &verdict, out)
        }
        (true, false) => {
            spelling.hessian_text(&loss, (&selections, &inputs), &hessian, out)?;
            strategy.text(out)?;
            out.write_all(line.as_bytes())
        }
        (false, true) => {
            let mut members = spelling.product_members(&selections, &hessian);
            shown.tell(&subject.program, &mut members);
            members.extend(strategy.members());
            members.extend(reported.as_ref().map(CheckReport::member).unwrap_or_default());
            output::ran(members, subject.runner.as_ref(), &verdict, out)
        }
        (false, false) => {
            spelling.product_text(&loss, &selections, &hessian, out)?;
            strategy.text(out)?;
            out.write_all(line.as_bytes())
        }
    });
    streams::complain(&said.warnings(&read::name(&start.given.file)));
    verdict.map_err(Failure::reported).and(printed)
}
