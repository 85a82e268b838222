//! Builds the subject of differentiation from options: a program at its start, and the names of real cells. Computes
//! nothing.

use std::fmt::Display;
use std::path::Path;

use reviver::selection::{Selection, check_cells};
use reviver_vm::differentiate::{DifferentiateError, Subject, Variable};
use reviver_vm::{Cause, Program, Travel};

use crate::cli::{Start, StrategyOptions};
use crate::failure::{Exit, Failure, Fallible};
use crate::{ended, engine, given, interrupt, output, read, start};

/// Returns the program at its start, as subject of differentiation. `others` are further files that the command reads;
/// only one of the command's files can be standard input.
pub fn subject_besides(options: &Start, others: &[Option<&Path>]) -> Fallible<Subject> {
    start::check_input(&options.given, others)?;
    let program = start::differentiable(options)?;
    let state = start::machine(&options.given, &program, Travel::Forward)?.into_state();
    let max_steps = options.max_steps.unwrap_or(u64::MAX);
    let subject = Subject::new(program.clone(), state, options.exact, max_steps)
        .map_err(|error| failure(options, &program, error))?;
    let (runner, level) = (engine::runner(options, &program)?, options.checking.level());
    Ok(Subject { interrupt: Some(interrupt::flag()), runner, level, threads: options.threads(), ..subject })
}

/// Sets a retention strategy for the reverse sweep: the requested one, or an automatic one if the program can't be
/// reversed without one. A resumed computation uses the strategy in its file.
pub fn by_strategy(
    subject: Subject,
    options: &StrategyOptions,
    from_state: Option<&Path>,
) -> Fallible<Subject> {
    let retention = options.retention();
    if retention.is_some() && !subject.level.is_checked() {
        let failure = Failure::usage("a strategy needs all checks, and `--unchecked` skips some");
        return Err(failure.help("leave out `--unchecked`, or `--strategy` and `--memory`"));
    }
    let exact = subject.exact || retention.is_some();
    let subject = Subject { retention, exact, ..subject };
    Ok(if from_state.is_some() { subject } else { subject.with_strategy_where_needed() })
}

/// Returns the single cell that an option names.
pub fn one(subject: &Subject, option: &str, name: &str) -> Fallible<Variable> {
    Selection::one(subject, name).map_err(|error| Failure::refused(option, &error))
}

/// Returns the cell of `--of`.
pub fn loss(subject: &Subject, name: &str) -> Fallible<Variable> {
    Selection::loss(subject, name).map_err(|error| Failure::refused("--of", &error))
}

/// Returns the real inputs, or the real cells that `--wrt` names.
pub fn inputs(subject: &Subject, names: &[String]) -> Fallible<Vec<Selection>> {
    let found =
        if names.is_empty() { Selection::inputs(subject) } else { Selection::list(subject, parts(names)) };
    found.map_err(|error| Failure::refused("--wrt", &error))
}

/// Returns the real results that are cells, or the real cells that `--of` names.
pub fn outputs(subject: &Subject, names: &[String]) -> Fallible<Vec<Selection>> {
    let found = match names {
        [] => Selection::outputs(subject),
        names => parts(names)
            .try_for_each(|name| check_cells(subject, name))
            .and_then(|()| Selection::list(subject, parts(names))),
    };
    found.map_err(|error| Failure::refused("--of", &error))
}

/// Returns the names in the arguments of an option.
fn parts(names: &[String]) -> impl Iterator<Item = &str> {
    names.iter().flat_map(|argument| given::parts(argument))
}

/// Returns all variables of some selections, in order.
pub fn variables(selections: &[Selection]) -> Fallible<Vec<Variable>> {
    Selection::variables(selections).map_err(|error| {
        Failure::new(Exit::Trap, "no memory for a list of the cells that are differentiated")
            .caused_by(&error)
            .help("name fewer cells with `--wrt` and `--of`")
    })
}

/// Refuses an empty list of outputs or inputs.
pub fn check_any<'v>(what: &str, variables: impl IntoIterator<Item = &'v Variable>) -> Fallible {
    if variables.into_iter().next().is_none() {
        return Err(Failure::usage(format_args!("the program has no real {what}s")));
    }
    Ok(())
}

/// Failure for a computation that a signal stopped.
pub fn interrupted(what: &impl Display) -> Failure {
    let (name, exit) = interrupt::received().map_or(("", Exit::StepLimit), |it| (it.name(), it.exit()));
    Failure::new(exit, format_args!("{what}, by {name}")).detail("interrupted", name.into())
}

/// Converts an error of differentiation for the user.
pub fn failure(options: &Start, program: &Program, error: DifferentiateError) -> Failure {
    match error {
        DifferentiateError::Trap { backward, explanation } => {
            let direction = if backward { " in the reverse sweep" } else { "" };
            let failure = output::trap(Exit::Trap, direction, &read::name(&options.given.file), &explanation);
            match explanation.cause {
                cause if cause.is_about_derivatives() => {
                    failure.help("choose inputs at which the function has a derivative, or branch around this statement")
                }
                // Divergence by rounding has already been handled: the sweep was repeated with a history. So the cause
                // is an erasure. The explanation of an erasure in a rule has its own help.
                Cause::Irreversible if !options.exact && explanation.help.is_none() => {
                    failure.help("add `--exact` to keep the lost bits").help(
                        "or add `--strategy checkpoint` to recompute the lost bits, in memory that hardly grows with the steps",
                    )
                }
                _ => failure,
            }
        }
        DifferentiateError::Interrupted { .. } => interrupted(&error),
        DifferentiateError::NotResumed { .. } => Failure::usage(error).help(
            "give all other arguments as before, or leave `--from-state` out to begin again",
        ),
        DifferentiateError::NoMemory(_) => {
            Failure::new(Exit::Trap, error).help("declare smaller arrays, or use `reviver run`, which makes no copy")
        }
        DifferentiateError::NotRestored { .. } => {
            let failure = Failure::new(Exit::Check, error);
            match program.names_adjoints() {
                true => failure.help("don't compute cells from adjoints: the adjoints have other values in the reverse sweep, so such cells can't be restored"),
                false => failure,
            }
        }
        DifferentiateError::HistoryFull { .. } => Failure::new(Exit::Check, error)
            .help("add `--exact`, which keeps a history of any size, or `--real fixed`, which loses no bits"),
        DifferentiateError::MemoryFull { strategy, .. } => {
            Failure::new(Exit::Trap, error).help(ended::less_memory(strategy))
        }
        DifferentiateError::StepLimit { .. } => {
            Failure::new(Exit::StepLimit, error).help("raise `--max-steps`")
        }
        DifferentiateError::SwitchesMode => {
            Failure::usage(error).help("differentiate the text instead of an image, so that its gradients are replaced by statements")
        }
        DifferentiateError::Asymmetric => Failure::new(Exit::Check, error).help(
            "use `reviver grad` or `jacobian`, which support rules; or remove `rule NAME`, so that the procedure itself is differentiated",
        ),
        DifferentiateError::NotShown
        | DifferentiateError::ReadsMode
        | DifferentiateError::NotReal { .. }
        | DifferentiateError::OnStack { .. } => Failure::usage(error),
    }
}
