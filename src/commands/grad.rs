//! `reviver grad`: computes a value and its gradient, with a verification report.

use std::path::Path;
use std::sync::Arc;

use reviver_vm::differentiate::check::check;
use reviver_vm::differentiate::suspended::{HaltedGradient, SuspendedGradient, gradient_from};
use reviver_vm::differentiate::{Gradient, Subject};
use reviver_vm::{Program, checkpoint};

use crate::cli::GradOptions;
use crate::commands::verification::Verification;
use crate::commands::{emit, plan};
use crate::failure::{Failure, Fallible};
use crate::objective::Objective;
use crate::output::gradient::GradientPage;
use crate::shown::DerivativeShows;
use crate::write::OutputTarget;
use crate::{kinds, output, read, start, streams, subject, vectors, write};

pub fn run(options: &GradOptions) -> Fallible {
    if options.emit {
        return emit::run(options);
    }
    let start = &options.differentiated.start;
    if let Some(printed) = plan::printed(&options.differentiated.strategies, start, &plan::FORWARD) {
        return printed;
    }
    let shows = DerivativeShows::new(start.json);
    let (page, mut verification) = page(options, &shows)?;
    let shown = shows.kept();
    let verdict = page.said().verdict(options.differentiated.strict);
    let verdict = page.reported(|reported| verification.verdict(reported, verdict));
    let printed = streams::print_with(|out| match start.json {
        true => {
            let mut members = page.members();
            shown.tell(&page.subject.program, &mut members);
            output::ran(members, page.subject.runner.as_ref(), &verdict, out)
        }
        false => page.text(out),
    });
    streams::complain(&page.warnings(&read::name(&start.given.file)));
    // If the reader of standard output has closed the pipe, the verdict on the gradient still determines the exit code.
    verdict.map_err(Failure::reported).and(printed)
}

fn page(options: &GradOptions, shows: &Arc<DerivativeShows>) -> Fallible<(GradientPage, Verification)> {
    let start = &options.differentiated.start;
    write::check_state_target(options.save_state.as_deref())?;
    let whole = options.differentiated.whole;
    let mut others = vectors::standard_inputs(&options.seed);
    others.push(options.from_state.as_deref());
    let subject = subject::subject_besides(start, &others)?;
    let subject = Subject { whole, shows: shows.of_subject(), ..subject };
    let (strategies, from) = (&options.differentiated.strategies, options.from_state.as_deref());
    let subject = subject::by_strategy(subject, strategies, from)?;
    let objective = match &options.loss {
        Some(loss) => Objective::loss(&subject, loss)?,
        None => Objective::seeded(&subject, &options.seed)?,
    };
    let inputs = subject::inputs(&subject, &options.differentiated.wrt)?;
    let subject = subject.prepared_for_seeds(&objective.seeds, &subject::variables(&inputs)?, true);
    if subject.start.input.is_empty() {
        subject::check_any("input", inputs.iter().flat_map(|input| &input.variables))?;
    }
    let gradient = gradient(options, &subject, &objective);
    let mut gradient = gradient.map_err(|failure| shows.failed(&subject.program, failure))?;
    let mut verification = Verification::default();
    if options.differentiated.verify {
        let variables = subject::variables(&inputs)?;
        verification = Verification::of(start, &subject, |subject| {
            check(subject, &objective.seeds, &variables, &gradient)
        });
    }
    verification.add_seen(&mut gradient.verification_report.reports);
    let check = verification.check.take();
    let stats = options.differentiated.stats;
    Ok((GradientPage { subject, objective, inputs, gradient, stats, check }, verification))
}

/// Returns the gradient, or saves its progress in a file if it is interrupted.
fn gradient(options: &GradOptions, subject: &Subject, objective: &Objective) -> Fallible<Gradient> {
    let program = &subject.program;
    let from = options.from_state.as_deref().map(|path| suspended(subject, path)).transpose()?;
    let target = options.save_state.as_deref();
    let target =
        target.map(|path| OutputTarget::new(path, &kinds::STATE, options.force.force)).transpose()?;
    gradient_from(subject, &objective.seeds, from).map_err(|HaltedGradient { error, suspended }| {
        let failure = subject::failure(&options.differentiated.start, program, error);
        match (suspended, target) {
            (Some(suspended), Some(target)) => saved(options, program, &suspended, target, failure),
            (Some(_), None) => {
                failure.help("add `--save-state FILE` to be able to continue a stopped gradient")
            }
            (None, _) => failure,
        }
    })
}

/// Reads the progress of an interrupted gradient from a file, to resume it.
fn suspended(subject: &Subject, path: &Path) -> Fallible<SuspendedGradient> {
    let suspended = checkpoint::decode_suspended(&subject.program, &read::data(path)?)
        .map_err(|error| Failure::load(format_args!("{}: {error}", read::shown(path))).caused_by(&error))?;
    start::check_level(path, &suspended.state, subject.level)?;
    Ok(suspended)
}

/// Saves the progress of an interrupted gradient, and adds advice to `failure` on continuing the gradient.
fn saved(
    options: &GradOptions,
    program: &Program,
    suspended: &SuspendedGradient,
    target: OutputTarget,
    failure: Failure,
) -> Failure {
    let Some(path) = options.save_state.as_deref() else { return failure };
    let written = checkpoint::encode_suspended(program, suspended)
        .map_err(|error| Failure::load(format_args!("can't save the state: {error}")).caused_by(&error))
        .and_then(|bytes| target.write(&bytes));
    match written {
        Ok(()) => failure
            .help(format_args!(
                "to continue, run the same command with `--from-state {}` and another file for `--save-state`",
                read::shown(path)
            ))
            .detail("saved_state", read::shown(path).into()),
        Err(unsaved) => failure.and(unsaved),
    }
}
