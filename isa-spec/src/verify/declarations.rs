//! Rules about the module's header, its names and its cells.

use crate::codes::ProblemCode;
use std::collections::HashSet;

use super::{Checker, MAX_CELLS, MAX_DEPTH, MAX_STACK, MAX_TAPE, MAX_VALUES, Site};
use crate::instruction::Class;
use crate::module::{Global, Procedure, RealSystem, Shape, Values};

impl<'a> Checker<'a> {
    pub(super) fn declarations(&mut self) {
        self.header();
        self.globals();
        self.procedure_headers();
    }

    fn header(&mut self) {
        let module = self.module;
        if let RealSystem::Fixed(bits) = module.real
            && !RealSystem::FRACTION_BITS.contains(&bits)
        {
            self.report(
                ProblemCode::OutOfRange,
                Site::Module,
                format!("fixed point has 16 to 56 fraction bits, not {bits}"),
            );
        }
        if let Some(tolerance) = module.tolerance
            && !(tolerance.is_finite() && tolerance >= 0.0)
        {
            self.report(
                ProblemCode::OutOfRange,
                Site::Module,
                "the tolerance must be a finite number, 0 or above",
            );
        }
        if module.limits.depth > MAX_DEPTH {
            self.report(
                ProblemCode::OutOfRange,
                Site::Module,
                format!("`.limit depth` is at most {MAX_DEPTH}"),
            );
        }
        if module.limits.stack > MAX_STACK {
            self.report(
                ProblemCode::OutOfRange,
                Site::Module,
                format!("`.limit stack` is at most {MAX_STACK}"),
            );
        }
        if module.limits.tape > MAX_TAPE {
            self.report(
                ProblemCode::OutOfRange,
                Site::Module,
                format!("`.limit tape` is at most {MAX_TAPE}"),
            );
        }
    }

    fn globals(&mut self) {
        let module = self.module;
        let mut names = HashSet::with_capacity(module.globals.len());
        for (n, global) in module.globals.iter().enumerate() {
            let site = Site::Global(n as u32);
            if !names.insert(global.name.as_str()) {
                self.report(
                    ProblemCode::DeclaredTwice,
                    site,
                    format!("the name `{}` is declared twice", global.name),
                );
            }
            self.shape(site, &global.name, global.shape);
            self.global_values(site, global);
        }
        self.stacks();
        let shapes = || module.globals.iter().map(|g| (g.class, g.shape));
        self.total(Site::Module, "the globals", shapes().collect());
        let lists = module.globals.iter().flat_map(|g| std::iter::once(&g.initial).chain(&g.default));
        if lists.map(|values| values.len() as u64).sum::<u64>() > MAX_VALUES {
            let message = format!("more than {MAX_VALUES} cells have initial values other than 0");
            self.report(ProblemCode::TooManyCells, Site::Module, message);
        }
    }

    /// Reports every stack of a class except the first one.
    fn stacks(&mut self) {
        for class in [Class::Int, Class::Real] {
            let is_one = |global: &Global| global.shape == Shape::Stack && global.class == class;
            let mut stacks = (0..).zip(&self.module.globals).filter(|(_, global)| is_one(global));
            let Some((first, one)) = stacks.next() else { continue };
            for (other, global) in stacks {
                let (one, name, of) = (&one.name, &global.name, plural(class));
                let message = format!("`{name}` and `{one}` are both the stack of {of}");
                let violation = self.report(ProblemCode::SecondStack, Site::Global(other), message);
                violation.other = Some((Site::Global(first), format!("the stack of {of} is declared here")));
                violation.help = Some("declare only one stack of each class".into());
            }
        }
    }

    fn global_values(&mut self, site: Site, global: &'a Global) {
        self.values(site, global, &global.initial);
        self.sharing(site, global);
        if global.shape == Shape::Stack {
            self.stack_values(site, global);
        }
        if let Some(default) = &global.default {
            self.values(site, global, default);
            if !global.role.is_given() {
                let name = &global.name;
                self.report(
                    ProblemCode::NoSuchBeginning,
                    site,
                    format!("`{name}` has a default but is not an input"),
                )
                .help = Some("declare it by `.in` or `.inout`, or delete the default".into());
            }
        }
    }

    /// Reports a global that is shared between lanes, but is a stack or isn't an input.
    fn sharing(&mut self, site: Site, global: &'a Global) {
        if !global.is_shared {
            return;
        }
        let name = &global.name;
        if !global.role.is_given() {
            self.report(
                ProblemCode::NoSuchBeginning,
                site,
                format!("`{name}` is shared but is not an input"),
            )
            .help = Some("declare it by `.in` or `.inout`, or delete `shared`".into());
        }
        if global.shape == Shape::Stack {
            self.report(
                ProblemCode::NoSuchBeginning,
                site,
                format!("the stack `{name}` is shared, but only cells can be shared"),
            )
            .help = Some("declare an array, which can be shared".into());
        }
    }

    /// Reports a stack with initial values, with an empty default, or with more default values than
    /// `.limit stack` allows.
    fn stack_values(&mut self, site: Site, global: &'a Global) {
        let name = &global.name;
        if !global.initial.is_empty() {
            self.report(
                ProblemCode::NoSuchBeginning,
                site,
                format!("the stack `{name}` has initial values, but a stack begins empty"),
            )
            .help = Some("declare an input with a `default`, or `push` the values".into());
        }
        if global.default.as_ref().is_some_and(Values::is_empty) {
            self.report(
                ProblemCode::NoSuchBeginning,
                site,
                format!("the stack `{name}` is empty by default, so an empty default is not recorded"),
            );
        }
        let (given, limit) = (global.default.as_ref().map_or(0, Values::len), self.module.limits.stack);
        if given as u64 > u64::from(limit) {
            self.report(
                ProblemCode::NoSuchBeginning,
                site,
                format!("`{name}` has {given} default values, more than `.limit stack {limit}` allows"),
            )
            .help = Some("raise the limit, or write fewer values".into());
        }
    }

    fn values(&mut self, site: Site, global: &'a Global, values: &'a Values) {
        // A module contains values for all cells of a global or for none, like source text.
        let complete = match global.shape {
            Shape::Stack => true,
            shape => values.is_empty() || values.len() as u64 == shape.cells(),
        };
        if values.class() != global.class || !complete {
            self.report(
                ProblemCode::ValuesDoNotFit,
                site,
                format!("the values of `{}` do not fit its declaration", global.name),
            );
        }
        match values {
            Values::Ints(ints) => ints.iter().for_each(|&v| self.check_int_literal(site, v)),
            Values::Reals(reals) => reals.iter().for_each(|&v| self.check_real_literal(site, v)),
        }
    }

    fn procedure_headers(&mut self) {
        let module = self.module;
        let mut names = HashSet::new();
        for (n, procedure) in module.procedures.iter().enumerate() {
            let site = Site::Procedure(n as u32);
            if !names.insert(procedure.name.as_str()) {
                self.report(
                    ProblemCode::DeclaredTwice,
                    site,
                    format!("the procedure `{}` is declared twice", procedure.name),
                );
            }
            self.locals(site, procedure);
            self.rule(site, procedure);
        }
        match module.procedures.first() {
            Some(main) if main.name == "main" && main.parameters.is_empty() && main.rule.is_none() => {}
            _ => {
                self.report(
                    ProblemCode::MalformedImage,
                    Site::Module,
                    "the first procedure must be `main`, without parameters or rule",
                );
            }
        }
    }

    fn locals(&mut self, site: Site, procedure: &'a Procedure) {
        let mut names = HashSet::new();
        if site == Site::Procedure(0) {
            self.hidden_globals(site, procedure);
        }
        let parameters = procedure.parameters.iter().map(|p| &p.name);
        for name in parameters.chain(procedure.frame.iter().map(|v| &v.name)) {
            if !names.insert(name) {
                self.report(
                    ProblemCode::DeclaredTwice,
                    site,
                    format!("the name `{name}` is declared twice in `{}`", procedure.name),
                );
            }
        }
        for variable in &procedure.frame {
            self.shape(site, &variable.name, variable.shape);
            if variable.shape == Shape::Stack {
                let message = format!("the stack `{}` is declared in a frame", variable.name);
                self.report(ProblemCode::NoSuchShape, site, message).help =
                    Some("declare the stack as a global: a stack exists during the whole run".into());
            }
        }
        let shapes = procedure.frame.iter().map(|v| (v.class, v.shape)).collect();
        self.total(site, "the frame", shapes);
    }

    /// Reports a variable in main's frame with the name of a global, because main's text must be able to name
    /// all globals.
    fn hidden_globals(&mut self, site: Site, main: &'a Procedure) {
        let globals: HashSet<&str> = self.module.globals.iter().map(|g| g.name.as_str()).collect();
        for variable in main.frame.iter().filter(|v| globals.contains(v.name.as_str())) {
            self.report(
                ProblemCode::DeclaredTwice,
                site,
                format!("`{}` in main's frame hides a global", variable.name),
            );
        }
    }

    /// Reports a custom adjoint rule that doesn't exist, or that has other parameters than its procedure.
    fn rule(&mut self, site: Site, procedure: &'a Procedure) {
        let Some(rule) = procedure.rule else { return };
        let facts = |p: &'a Procedure| p.parameters.iter().map(|q| (q.class, q.passing, q.rank));
        match self.module.procedures.get(rule as usize) {
            Some(other) if rule != 0 && facts(other).eq(facts(procedure)) => {}
            Some(other) => {
                let message = format!(
                    "the rule `{}` must have the same parameters as `{}`",
                    other.name, procedure.name
                );
                self.report(ProblemCode::NoRule, site, message).other =
                    Some((Site::Procedure(rule), "the rule is declared here".into()));
            }
            None => {
                self.report(
                    ProblemCode::NoRule,
                    site,
                    format!("the rule of `{}` does not exist", procedure.name),
                );
            }
        }
    }

    fn shape(&mut self, site: Site, name: &str, shape: Shape) {
        if shape.cells() == 0 && shape != Shape::Stack {
            self.report(ProblemCode::NoSuchShape, site, format!("the array `{name}` has no cells"));
        }
    }

    fn total(&mut self, site: Site, what: &str, shapes: Vec<(Class, Shape)>) {
        for class in [Class::Int, Class::Real] {
            let cells: u128 =
                shapes.iter().filter(|(c, _)| *c == class).map(|(_, shape)| u128::from(shape.cells())).sum();
            if cells > u128::from(MAX_CELLS) {
                self.report(
                    ProblemCode::TooManyCells,
                    site,
                    format!("{what} have {cells} {} cells, more than {MAX_CELLS}", class.name()),
                );
            }
        }
    }
}

/// Returns "integers" or "reals", the plural of a class for messages.
fn plural(class: Class) -> &'static str {
    match class {
        Class::Int => "integers",
        Class::Real => "reals",
    }
}
