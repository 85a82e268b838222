//! `reviver jacobian`: computes the Jacobian, or its product with a vector.

use reviver_vm::differentiate::check::{check_jacobian, check_jacobian_product};
use reviver_vm::differentiate::matrices::{
    Jacobian, JacobianProduct, ReverseSweeps, jacobian, jacobian_product,
};
use reviver_vm::differentiate::{Subject, Variable, VerificationReport};

use crate::cli::JacobianOptions;
use crate::commands::plan;
use crate::commands::verification::Verification;
use crate::failure::{Failure, Fallible};
use crate::output::derivatives::ValueRenderer;
use crate::output::strategy::StrategyReport;
use crate::output::verified::CheckReport;
use crate::shown::DerivativeShows;
use crate::{output, read, streams, subject, vectors};

pub fn run(options: &JacobianOptions) -> Fallible {
    let start = &options.differentiated.start;
    if let Some(printed) = plan::printed(&options.differentiated.strategies, start, &plan::FORWARD) {
        return printed;
    }
    let whole = options.differentiated.whole;
    let shows = DerivativeShows::new(start.json);
    let subject = subject::subject_besides(start, &vectors::standard_inputs(&options.times))?;
    let subject = Subject { whole, shows: shows.of_subject(), ..subject };
    let subject = subject::by_strategy(subject, &options.differentiated.strategies, None)?;
    let selections = subject::outputs(&subject, &options.of)?;
    let outputs = subject::variables(&selections)?;
    let inputs = subject::variables(&subject::inputs(&subject, &options.differentiated.wrt)?)?;
    subject::check_any("result", &outputs)?;
    subject::check_any("input", &inputs)?;
    let direction = match &options.times[..] {
        [] => None,
        times => Some(vectors::direction(&subject, "--times", &inputs, times)?),
    };
    let failed = |error| shows.failed(&subject.program, subject::failure(start, &subject.program, error));
    let found = match &direction {
        None => jacobian(&subject, &outputs, &inputs).map(FoundJacobian::Whole),
        Some(along) => jacobian_product(&subject, &outputs, &inputs, along).map(FoundJacobian::Product),
    };
    let mut found = found.map_err(failed)?;
    let shown = shows.kept();
    let mut verification = Verification::default();
    if options.differentiated.verify {
        let compare = |subject: &Subject| match &found {
            FoundJacobian::Whole(jacobian) => check_jacobian(subject, &outputs, &inputs, jacobian),
            FoundJacobian::Product(product) => {
                let along = direction.as_deref().unwrap_or_default();
                check_jacobian_product(subject, &outputs, (&inputs, along), product)
            }
        };
        verification = Verification::of(start, &subject, compare);
    }
    verification.add_seen(&mut found.trust_mut().reports);
    let check = verification.check.take();
    let name = |variables: &[Variable], n: usize| variables.get(n).map(|variable| subject.name(variable));
    let (input, output) = (|n| name(&inputs, n), |n| name(&outputs, n));
    let reported = check.as_ref().map(|check| CheckReport {
        program: &subject.program,
        check,
        what: if direction.is_none() { "the Jacobian" } else { "the Jacobian's product" },
        input: &input,
        output: &output,
    });
    let spelling = ValueRenderer(&subject);
    let strategy = StrategyReport::of_all(&subject, found.reverse_sweeps(), options.differentiated.stats);
    let said = spelling.said(found.verification_report());
    let verdict = verification.verdict(reported.as_ref(), said.verdict(options.differentiated.strict));
    let printed = streams::print_with(|out| match start.json {
        true => {
            let mut members = match &found {
                FoundJacobian::Whole(jacobian) => spelling.jacobian_members(&outputs, &inputs, jacobian),
                FoundJacobian::Product(product) => spelling.jacobian_product_members(&selections, product),
            };
            shown.tell(&subject.program, &mut members);
            members.extend(strategy.members());
            members.extend(reported.as_ref().map(CheckReport::member).unwrap_or_default());
            output::ran(members, subject.runner.as_ref(), &verdict, out)
        }
        false => {
            match &found {
                FoundJacobian::Whole(jacobian) => spelling.jacobian_text(&outputs, &inputs, jacobian, out)?,
                FoundJacobian::Product(product) => {
                    spelling.jacobian_product_text(&selections, product, out)?
                }
            }
            strategy.text(out)?;
            out.write_all(reported.as_ref().map_or_else(String::new, CheckReport::line).as_bytes())
        }
    });
    streams::complain(&said.warnings(&read::name(&start.given.file)));
    verdict.map_err(Failure::reported).and(printed)
}

/// The Jacobian, or its product with the direction of `--times`.
enum FoundJacobian {
    Whole(Jacobian),
    Product(JacobianProduct),
}

impl FoundJacobian {
    fn verification_report(&self) -> &VerificationReport {
        match self {
            FoundJacobian::Whole(Jacobian { verification_report, .. })
            | FoundJacobian::Product(JacobianProduct { verification_report, .. }) => verification_report,
        }
    }

    fn trust_mut(&mut self) -> &mut VerificationReport {
        match self {
            FoundJacobian::Whole(Jacobian { verification_report, .. })
            | FoundJacobian::Product(JacobianProduct { verification_report, .. }) => verification_report,
        }
    }

    fn reverse_sweeps(&self) -> Option<ReverseSweeps> {
        match self {
            FoundJacobian::Whole(found) => found.reverse_sweeps,
            FoundJacobian::Product(found) => found.reverse_sweeps,
        }
    }
}
