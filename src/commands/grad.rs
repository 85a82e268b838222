//! `reviver grad`: a value, its gradient, and what is to be said about how far to trust it.

use reviver_vm::differentiate::check::{Check, check};
use reviver_vm::differentiate::gradient;
use reviver_vm::reports::{Loss, Reports};

use crate::cli::Grad;
use crate::failure::{Exit, Failure, Outcome};
use crate::output::gradient::Page;
use crate::output::verified;
use crate::{load, output, subject, write};

pub fn run(options: &Grad) -> Outcome {
    let start = &options.differentiated.start;
    let page = page(options)?;
    let verdict = verdict(options, &page);
    let printed = write::print_with(|out| match start.json {
        true => output::object(page.members(), &verdict, out),
        false => page.text(out),
    });
    write::complain(&page.warnings(&load::name(&start.given.file)));
    // A reader that has gone away doesn't change what the gradient is worth.
    verdict.map_err(Failure::told).and(printed)
}

fn page(options: &Grad) -> Outcome<Page> {
    let start = &options.differentiated.start;
    let subject = subject::subject(start)?;
    let failed = |error| subject::failure(start, &subject.program, error);
    let loss = subject::one(&subject, "--loss", &options.loss)?;
    let inputs = subject::inputs(&subject, &options.differentiated.wrt)?;
    if subject.start.input.is_empty() {
        subject::check_any("input", inputs.iter().flat_map(|input| &input.variables))?;
    }
    let mut gradient = gradient(&subject, &loss).map_err(failed)?;
    let verified = match options.verify {
        true => {
            let variables = subject::variables(&inputs)?;
            Some(check(&subject, &loss, &variables, &gradient).map_err(failed)?)
        }
        false => None,
    };
    add_seen(&mut gradient.trust.reports, verified.as_ref());
    Ok(Page { subject, loss, inputs, gradient, verified })
}

/// A conversion whose result nothing depends on by its adjoint may still depend on an input.
const ONLY_SEEN_FORWARD: [Loss; 2] = [Loss::FreedWithTangent, Loss::Converted];

/// Adds what only the tangent runs could see.
fn add_seen(reports: &mut Reports, verified: Option<&Check>) {
    let seen = verified.iter().flat_map(|check| check.reports.iter());
    for (at, loss, tally) in seen.filter(|(_, loss, _)| ONLY_SEEN_FORWARD.contains(loss)) {
        reports.note(at, loss, tally.largest);
    }
}

fn verdict(options: &Grad, page: &Page) -> Outcome {
    if let Some(check) = page.verified.as_ref().filter(|check| !check.agrees()) {
        return Err(disagreement(page, check));
    }
    page.said().verdict(options.differentiated.strict)
}

fn disagreement(page: &Page, check: &Check) -> Failure {
    let loss = page.loss_name();
    let mut failure =
        Failure::new(Exit::Check, format_args!("the gradient of `{loss}` does not stand the check"));
    for line in verified::disagreements(&page.subject, |n| page.input_name(n), check) {
        failure.message.push_str(&format!("  = {line}\n"));
    }
    failure
}
