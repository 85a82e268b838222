//! Builds the subject of differentiation from options: a program at its start, and the names of real cells. Computes
//! nothing.

use std::fmt::Display;
use std::path::Path;

use reviver_assembler::suggest::nearest;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, Module, Role, Shape};
use reviver_memory::{OutOfMemory, ask};
use reviver_vm::differentiate::{DifferentiateError, Subject, Variable};
use reviver_vm::{Cause, Program, Travel};

use crate::cli::{Start, StrategyOptions};
use crate::failure::{Exit, Failure, Fallible};
use crate::output::json_values::json_shape;
use crate::{ended, engine, given, interrupt, output, read, start};

/// Cells selected by a name: a whole global, or one of its cells.
#[derive(Clone, Debug)]
pub struct Selection {
    pub name: String,
    pub shape: Shape,
    /// The selected cells in row-major order.
    pub variables: Vec<Variable>,
}

/// Returns the program at its start, as subject of differentiation. `others` are further files that the command reads;
/// only one of the command's files can be standard input.
pub fn subject_besides(options: &Start, others: &[Option<&Path>]) -> Fallible<Subject> {
    start::check_input(&options.given, others)?;
    let program = start::program(options)?;
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
    let found = selection(subject, option, name.trim())?;
    match &found.variables[..] {
        [variable] => Ok(variable.clone()),
        [] => {
            let failure = Failure::usage(format_args!("{option}: `{name}` has no values at the start"));
            Err(failure.help("name a cell, or set the values of the stack with `--set`"))
        }
        many @ [first, ..] => {
            let failure = Failure::usage(format_args!("{option}: `{name}` has {} cells", many.len()));
            Err(failure.help(format_args!("name one of them, such as `{}`", subject.name(first))))
        }
    }
}

/// Returns the cell of `--of`.
pub fn loss(subject: &Subject, name: &str) -> Fallible<Variable> {
    refuse_stack(&subject.program, "--of", name)?;
    one(subject, "--of", name)
}

/// Refuses a stack. A derivative identifies cells by their names at the start of the run, and a value on a stack can
/// have another name at the end of the run.
pub fn refuse_stack(program: &Program, option: &str, name: &str) -> Fallible {
    let base = name.split('[').next().unwrap_or_default().trim();
    match program.global(base) {
        Some((_, global)) if global.shape == Shape::Stack => {
            let failure = Failure::usage(format_args!(
                "{option}: `{base}` is a stack, and only a cell can be a result"
            ));
            Err(failure.help("add the pushed values to a cell, and name this cell"))
        }
        _ => Ok(()),
    }
}

/// Returns the real inputs, or the real cells that `--wrt` names.
pub fn inputs(subject: &Subject, names: &[String]) -> Fallible<Vec<Selection>> {
    selections(subject, "--wrt", names, "input", |global| global.role.is_given())
}

/// Returns the real results that are cells, or the real cells that `--of` names.
pub fn outputs(subject: &Subject, names: &[String]) -> Fallible<Vec<Selection>> {
    for name in names.iter().flat_map(|argument| given::parts(argument)) {
        refuse_stack(&subject.program, "--of", name)?;
    }
    let is_result =
        |global: &Global| matches!(global.role, Role::Out | Role::InOut) && global.shape != Shape::Stack;
    selections(subject, "--of", names, "result", is_result)
}

/// Returns all variables of some selections, in order.
pub fn variables(selections: &[Selection]) -> Fallible<Vec<Variable>> {
    let count = selections.iter().map(|selection| selection.variables.len()).sum();
    let mut variables = ask::list(count).map_err(|_| no_memory())?;
    variables.extend(selections.iter().flat_map(|selection| selection.variables.iter().cloned()));
    Ok(variables)
}

/// Failure for a list of cells that doesn't fit into memory.
fn no_memory() -> Failure {
    Failure::new(Exit::Trap, format_args!("{OutOfMemory} for a list of the cells that are differentiated"))
        .help("name fewer cells with `--wrt` and `--of`")
}

/// Refuses an empty list of outputs or inputs.
pub fn check_any<'v>(what: &str, variables: impl IntoIterator<Item = &'v Variable>) -> Fallible {
    if variables.into_iter().next().is_none() {
        return Err(Failure::usage(format_args!("the program has no real {what}s")));
    }
    Ok(())
}

fn selections(
    subject: &Subject,
    option: &str,
    names: &[String],
    what: &str,
    default: impl Fn(&Global) -> bool,
) -> Fallible<Vec<Selection>> {
    if names.is_empty() {
        return whole(subject, default);
    }
    let names = names.iter().flat_map(|argument| given::parts(argument));
    let selections =
        names.map(|name| selection(subject, option, name.trim())).collect::<Fallible<Vec<_>>>()?;
    if let Some(variable) = named_twice(&selections) {
        let name = subject.name(variable);
        return Err(Failure::usage(format_args!("{option}: the {what} `{name}` is named twice")));
    }
    Ok(selections)
}

/// Returns the first cell that occurs in more than one selection. The cells of a selection are adjacent in memory.
pub fn named_twice(selections: &[Selection]) -> Option<&Variable> {
    let mut sorted: Vec<&[Variable]> = selections.iter().map(|selection| &selection.variables[..]).collect();
    sorted.sort_by_key(|variables| variables.first().map(|variable| variable.origin));
    let mut end = None;
    sorted.into_iter().find_map(|variables| {
        let (first, last) = (variables.first()?, variables.last()?);
        let is_twice = end.is_some_and(|end| first.origin <= end);
        end = end.max(Some(last.origin));
        is_twice.then_some(first)
    })
}

/// Returns all real globals that satisfy a condition, as selections.
fn whole(subject: &Subject, wanted: impl Fn(&Global) -> bool) -> Fallible<Vec<Selection>> {
    let globals = subject.program.module().globals.iter().enumerate();
    let wanted = globals.filter(|(_, global)| global.class == Class::Real && wanted(global));
    wanted
        .map(|(n, global)| {
            let variables = subject.variables(n).map_err(|_| no_memory())?;
            let shape = json_shape(global.shape, variables.len());
            Ok(Selection { name: global.name.clone(), shape, variables })
        })
        .collect()
}

/// Returns the cells of a name: `x`, `A`, `A[3]`, `M[1,2]`.
pub fn selection(subject: &Subject, option: &str, name: &str) -> Fallible<Selection> {
    let program = &subject.program;
    let compact: String = name.chars().filter(|c| !c.is_whitespace()).collect();
    let base = compact.split('[').next().unwrap_or_default();
    let Some((n, global)) = program.global(base) else { return Err(unknown(program, option, base)) };
    let variables = subject.variables(n).map_err(|error| match error {
        DifferentiateError::NoMemory(_) => no_memory(),
        error => with_reals(program, Failure::usage(format_args!("{option}: {error}"))),
    })?;
    if compact == base {
        let shape = json_shape(global.shape, variables.len());
        return Ok(Selection { name: compact, shape, variables });
    }
    let count = variables.len();
    let element = variables.into_iter().find(|variable| subject.name(variable) == compact);
    let Some(element) = element else {
        let failure = Failure::usage(format_args!("{option}: there is no cell `{name}`"));
        if global.shape == Shape::Stack {
            return Err(failure.help(format_args!(
                "{} given on the stack `{base}`; indices start at 0, at the bottom",
                if count == 1 { "1 value is".to_owned() } else { format!("{count} values are") }
            )));
        }
        let shape = declared_shape(global.shape);
        return Err(failure.help(format_args!("`{base}` is declared as `{base}{shape}`; indices start at 0")));
    };
    Ok(Selection { name: compact, shape: Shape::Scalar, variables: vec![element] })
}

/// Adds a list of the program's reals to a failure, as advice.
fn with_reals(program: &Program, failure: Failure) -> Failure {
    let reals = program.module().globals.iter().filter(|global| global.class == Class::Real);
    let names: Vec<&str> = reals.map(|global| global.name.as_str()).collect();
    if names.is_empty() {
        failure
    } else {
        failure.help(format_args!("the program's reals are {}", names.join(", ")))
    }
}

fn declared_shape(shape: Shape) -> String {
    match shape {
        Shape::Scalar => String::new(),
        Shape::Vector(length) => format!("[{length}]"),
        Shape::Matrix(rows, columns) => format!("[{rows}, {columns}]"),
        Shape::Stack => "[]".to_owned(),
    }
}

fn unknown(program: &Program, option: &str, name: &str) -> Failure {
    let failure = Failure::usage(format_args!("{option}: the program has no cell `{name}`"));
    let names = || program.module().globals.iter().map(|global| global.name.as_str());
    match nearest(name, names()) {
        Some(near) => failure.help(format_args!("did you mean `{near}`?")),
        None => failure
            .help(format_args!("the program's real cells are {}", real_names(program.module()).join(", "))),
    }
}

fn real_names(module: &Module) -> Vec<&str> {
    let reals = module.globals.iter().filter(|global| global.class == Class::Real);
    reals.map(|global| global.name.as_str()).collect()
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
                // is an erasure.
                Cause::Irreversible if !options.exact => {
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
            Failure::usage(error).help("use `reviver run`: the program computes derivatives itself")
        }
        DifferentiateError::Ruled => Failure::usage(error)
            .help("use `reviver grad`, `jacobian` or `hessian`, which follow rules; or remove `rule NAME`, so that the procedure itself is differentiated"),
        DifferentiateError::Asymmetric => Failure::new(Exit::Check, error).help(
            "use `reviver grad` or `jacobian`, which support rules; or remove `rule NAME`, so that the procedure itself is differentiated",
        ),
        DifferentiateError::NotShown
        | DifferentiateError::ReadsMode
        | DifferentiateError::NotReal { .. }
        | DifferentiateError::OnStack { .. } => Failure::usage(error),
    }
}
