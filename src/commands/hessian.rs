//! `reviver hessian`: the whole Hessian, or its product with a vector.

use reviver_isa::instruction::Class;
use reviver_isa::names::adjoint_name;
use reviver_vm::differentiate::check::check_hessian;
use reviver_vm::differentiate::matrices::{self, hessian_products};
use reviver_vm::differentiate::{Subject, Variable};
use reviver_vm::values::Value;

use crate::cli::HessianOptions;
use crate::commands::plan::{self, PlannedWay};
use crate::commands::verification::Verification;
use crate::failure::{Failure, Fallible, counted};
use crate::given::GivenValues;
use crate::output::derivatives::Spelling;
use crate::output::strategy::StrategyTold;
use crate::output::verified::CheckTold;
use crate::shown::DerivativeShows;
use crate::subject::Selection;
use crate::{given, output, read, streams, subject, table};

pub fn run(options: &HessianOptions) -> Fallible {
    let start = &options.differentiated.start;
    let way = PlannedWay { bytes: matrices::lifted_bytes, ..plan::FORWARD };
    if let Some(printed) = plan::printed(&options.differentiated.strategies, start, &way) {
        return printed;
    }
    let whole = options.differentiated.whole;
    let shows = DerivativeShows::new(start.json);
    let subject = Subject { whole, shows: shows.of_subject(), ..subject::subject(start)? };
    let subject = subject::by_strategy(subject, &options.differentiated.strategies, None)?;
    let loss = subject::loss(&subject, &options.loss)?;
    let selections = subject::inputs(&subject, &options.differentiated.wrt)?;
    let inputs = subject::variables(&selections)?;
    subject::check_any("input", &inputs)?;
    let failed = |error| shows.failed(&subject.program, subject::failure(start, &subject.program, error));
    let whole = options.times.is_empty();
    let along = if whole { None } else { Some(direction(&subject, &inputs, &options.times)?) };
    let hessian = match &along {
        None => matrices::hessian(&subject, &loss, &inputs),
        Some(direction) => hessian_products(&subject, &loss, &inputs, std::slice::from_ref(direction)),
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
    let told = check.as_ref().map(|check| CheckTold {
        program: &subject.program,
        check,
        what: &what,
        input: &input,
        output: &output,
    });
    let line = told.as_ref().map_or_else(String::new, CheckTold::line);
    let spelling = Spelling(&subject);
    let strategy = StrategyTold::of_all(&subject, hessian.journeys, options.differentiated.stats);
    let said = spelling.said(&hessian.trust);
    let verdict = verification.verdict(told.as_ref(), said.verdict(options.differentiated.strict));
    let printed = streams::print_with(|out| match (whole, start.json) {
        (true, true) => {
            let mut members = spelling.hessian_members((&selections, &inputs), &hessian);
            shown.tell(&subject.program, &mut members);
            members.extend(strategy.members());
            members.extend(told.as_ref().map(CheckTold::member).unwrap_or_default());
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
            members.extend(told.as_ref().map(CheckTold::member).unwrap_or_default());
            output::ran(members, subject.runner.as_ref(), &verdict, out)
        }
        (false, false) => {
            spelling.product_text(&loss, &selections, &hessian, out)?;
            strategy.text(out)?;
            out.write_all(line.as_bytes())
        }
    });
    streams::complain(&said.warnings(&read::name(&start.given.file)));
    verdict.map_err(Failure::told).and(printed)
}

/// The vector that `--times` spells: a component for each input, 0 where nothing is said.
fn direction(subject: &Subject, inputs: &[Variable], times: &[String]) -> Fallible<Vec<f64>> {
    let mut components: Vec<Option<f64>> = vec![None; inputs.len()];
    for assignment in times.iter().flat_map(|argument| given::assignments("--times", argument)) {
        let (name, values) = assignment?;
        let selection = subject::selection(subject, "--times", &name)?;
        let cells = &selection.variables;
        let components_given = given_components(subject, &selection, &values)?;
        for (cell, component) in cells.iter().zip(components_given) {
            let place = place(subject, inputs, &mut components, cell)?;
            if place.replace(component).is_some() {
                let cell = subject.name(cell);
                return Err(Failure::usage(format_args!("--times: `{cell}` is named twice")));
            }
        }
    }
    Ok(components.into_iter().map(Option::unwrap_or_default).collect())
}

/// Where the component of an input stands.
fn place<'a>(
    subject: &Subject,
    inputs: &[Variable],
    components: &'a mut [Option<f64>],
    cell: &Variable,
) -> Fallible<&'a mut Option<f64>> {
    let n = inputs.iter().position(|input| input == cell);
    n.and_then(|n| components.get_mut(n)).ok_or_else(|| {
        let cell = subject.name(cell);
        Failure::usage(format_args!("--times: `{cell}` is not differentiated by"))
            .help("name it after `--wrt`, too")
    })
}

/// One number for each cell that a name stands for.
fn given_components(subject: &Subject, selection: &Selection, values: &GivenValues) -> Fallible<Vec<f64>> {
    let name = &selection.name;
    let components = match values {
        GivenValues::Inline(texts) => {
            texts.iter().map(|text| component(subject, text)).collect::<Fallible<Vec<_>>>()?
        }
        GivenValues::File(file) => {
            let parse = |text: &str| {
                let value = subject.program.parse(Class::Real, text)?;
                Ok(subject.program.approximate(value))
            };
            table::cells(file, (name, selection.shape, Class::Real), &parse)?
        }
    };
    if components.len() != selection.variables.len() {
        let (cells, given) = (counted(selection.variables.len(), "cell"), components.len());
        return Err(Failure::usage(format_args!("--times: `{name}` has {cells}, and {given} given")));
    }
    Ok(components)
}

fn component(subject: &Subject, text: &str) -> Fallible<f64> {
    let value: Value = subject
        .program
        .parse(Class::Real, text)
        .map_err(|error| Failure::usage(format_args!("--times: {error}")))?;
    Ok(subject.program.approximate(value))
}
