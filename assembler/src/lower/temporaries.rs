//! Temporaries: frame variables for the values of expressions. Temporaries are computed before the statement
//! that uses them, and uncomputed after this statement.
//!
//! ```text
//! add y, a*b + 3        vacate value$1            where the check is wanted, see `Checking`
//!                       add.mul value$1, a, b
//!                       add.sum y, value$1, 3
//!                       sub.mul value$1, a, b
//!                       vacate value$1
//! ```
//!
//! The update itself applies the outermost function. A temporary is 0 before the statement, and its sources
//! don't change in the statement. So after the statement, the temporary is exactly 0, even with floats: the
//! value is `0 + v - v`. Each temporary has one expression, so that tools can show the variable as that
//! expression.

use arrayvec::ArrayVec;
use compact_str::format_compact;
use reviver_isa::codes::ProblemCode;
use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::{Argument, Base, Class, Instruction, Link, Operand, Place, Slice};
use reviver_isa::module::Passing;
use reviver_isa::operator::advice_on_powers;
use reviver_isa::structure::{BlockKind, Temporary};
use reviver_isa::update::Update;
use reviver_isa::verify::a_class;
use reviver_isa::verify::classes::{Conversion, conversion, converter};
use reviver_isa::verify::temporaries::MOST_FUNCTIONS;

use super::Lowering;
use super::applied::{AppliedFunction, Checking, Source, Temporaries, TemporaryStep, cell, natural_class};
use super::scope::Meaning;
use super::signature::signature;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// The name of temporaries in the frame; each gets a number.
pub(super) const VALUE: &str = "value";

impl Lowering<'_> {
    /// Resolves operands that may be expressions. Returns them with the temporaries of the expressions, which
    /// the caller must emit around the statement. Operands that are resolved without this function can't be
    /// expressions.
    pub(super) fn collect<T>(&mut self, resolve: impl FnOnce(&mut Self) -> T) -> (T, Temporaries) {
        let outer = self.collected.replace(Temporaries::default());
        let resolved = resolve(self);
        let collected = std::mem::replace(&mut self.collected, outer);
        (resolved, collected.unwrap_or_default())
    }

    /// Emits a statement between the computation and the uncomputation of its temporaries.
    pub(super) fn between(
        &mut self,
        temporaries: Temporaries,
        checking: Checking,
        span: Span,
        statement: impl FnOnce(&mut Self),
    ) {
        if temporaries.is_empty() {
            return statement(self);
        }
        let mut seam = self.open_block(BlockKind::Temporaries);
        self.compute_temporaries(&temporaries, checking, span);
        self.seam(&seam, span);
        statement(self);
        seam.start = self.code.here();
        self.uncompute_temporaries(&temporaries, checking, span);
        self.seam(&seam, span);
        self.code.close(seam.block);
        self.release_temporaries(temporaries);
    }

    pub(super) fn compute_temporaries(&mut self, temporaries: &Temporaries, checking: Checking, span: Span) {
        for step in &temporaries.0 {
            if checking.checks(step.class) {
                self.vacate(step.variable, span);
            }
            self.apply_temporary(Update::Add, step, span);
        }
    }

    pub(super) fn uncompute_temporaries(
        &mut self,
        temporaries: &Temporaries,
        checking: Checking,
        span: Span,
    ) {
        for step in temporaries.0.iter().rev() {
            self.apply_temporary(Update::Sub, step, span);
            if checking.checks(step.class) {
                self.vacate(step.variable, span);
            }
        }
    }

    fn apply_temporary(&mut self, update: Update, step: &TemporaryStep, span: Span) {
        let operands = std::iter::once(cell(step.variable)).chain(step.sources.iter().cloned()).take(3);
        self.code.push(update, step.function, operands.collect(), Link::None, span);
    }

    /// Releases the variables of temporaries, which are 0 again, for reuse.
    pub(super) fn release_temporaries(&mut self, temporaries: Temporaries) {
        for step in temporaries.0 {
            self.current.frame.release(&step.expression, step.variable);
        }
    }

    /// Returns which of an instruction's temporaries must be checked. Reports an instruction that certainly
    /// changes a source of one of its temporaries.
    pub(super) fn checking(
        &mut self,
        instruction: &Instruction,
        temporaries: &Temporaries,
        span: Span,
    ) -> Option<Checking> {
        let mut checking = Checking::Taken;
        for written in self.written(instruction) {
            let scalars = temporaries.scalars();
            if written.index.is_none() && scalars.contains(&Operand::Place(written.clone())) {
                let name = self.base_name(written.base).to_owned();
                let message = format!("`{name}` is changed here, but an expression on this line reads it");
                let problem = Diagnostic::error(
                    ProblemCode::TargetIsSource,
                    message,
                    span,
                    "a backward run couldn't recover its value",
                );
                let help = format!(
                    "compute the expression into a `local` before this line, and end the `local` where `{name}` has its old value again"
                );
                return self.report.fail(problem.help(help));
            }
            if temporaries.sources().any(|source| may_share(source, &written)) {
                checking = Checking::Watched;
            }
        }
        // The callee may change globals that aren't arguments, and parameters may be aliases of globals.
        let calls = matches!(instruction.link, Link::Calls(_));
        if calls && temporaries.bases().any(|base| !matches!(base, Base::Frame(_))) {
            checking = Checking::Watched;
        }
        Some(checking)
    }

    /// Returns the places that an instruction may change.
    fn written(&self, instruction: &Instruction) -> Vec<Place> {
        let targets = instruction.operands.iter().take(instruction.update.shape().targets());
        let mut written: Vec<Place> = targets
            .filter_map(|operand| match operand {
                Operand::Place(place) => Some(place.clone()),
                _ => None,
            })
            .collect();
        let Link::Calls(calls) = &instruction.link else { return written };
        for call in calls.iter() {
            let parameters = self.declared.parameters_of(call.procedure);
            for (n, argument) in call.arguments.iter().enumerate() {
                // For a call through a cell, the parameters aren't known, so all its arguments count as
                // changed.
                if parameters.get(n).is_some_and(|(parameter, _)| parameter.passing == Passing::In) {
                    continue;
                }
                match argument {
                    Argument::Scalar(Operand::Place(place)) => written.push(place.clone()),
                    Argument::Slice(Slice { base, .. }) => written.push(Place::scalar(*base)),
                    Argument::Scalar(_) => {}
                }
            }
        }
        written
    }

    /// Returns a function with the given operands as an expression that is computed at run time.
    pub(super) fn formula(
        &mut self,
        function: Function,
        sides: impl IntoIterator<Item = (Meaning, Span)>,
    ) -> Option<Meaning> {
        let mut sources = ArrayVec::new();
        for (meaning, span) in sides.into_iter().take(2) {
            sources.push((self.source_of(meaning, span)?, span));
        }
        Some(Meaning::Computed(Box::new(AppliedFunction { function, sources })))
    }

    /// Returns the temporary for an expression. If the current statement already has a temporary for the same
    /// expression, returns that temporary; otherwise adds a new one.
    pub(super) fn spill(&mut self, formula: &AppliedFunction, span: Span) -> Option<Source> {
        if self.collected.is_none() {
            return self.not_constant(span);
        }
        let AppliedFunction { function, sources } = formula;
        let (own, spans): (Vec<Source>, Vec<Span>) = sources.iter().cloned().unzip();
        let Some(signature) = signature(*function, None, own.iter().map(Source::kind)) else {
            return self.unfit(*function, &own, &spans, span);
        };
        let mut typed = ArrayVec::new();
        for (n, (source, span)) in own.into_iter().zip(spans).take(2).enumerate() {
            typed.push(self.typed(source, signature.source(n), span)?);
        }
        self.temporary(signature, *function, typed, span)
    }

    fn temporary(
        &mut self,
        signature: Signature,
        function: Function,
        sources: ArrayVec<Operand, 2>,
        span: Span,
    ) -> Option<Source> {
        let class = signature.result();
        let steps = self.collected.iter().flat_map(|collected| &collected.0);
        let known = steps.into_iter().find(|step| step.function == function && step.sources == sources);
        if let Some(step) = known {
            return Some(Source::Cell(cell(step.variable), class));
        }
        let weight = self.weight(&sources);
        if weight > MOST_FUNCTIONS {
            let message = format!("this expression and its parts apply more than {MOST_FUNCTIONS} functions");
            let problem = Diagnostic::error(ProblemCode::TooMuch, message, span, "too long");
            return self.report.fail(problem.help("compute parts of the expression into `local` cells"));
        }
        let expression = format_compact!("{function:?}{sources:?}");
        let declared = &self.declared;
        let elsewhere = |name: &str| declared.is_global(name);
        let (variable, is_new) = self.current.frame.acquire_for(&expression, VALUE, class, elsewhere);
        if is_new {
            let procedure = self.current.number;
            let temporary = Temporary { procedure, variable, function, sources: sources.clone() };
            self.temporaries.push(temporary);
            self.current.weights.insert(variable, weight);
        }
        let step = TemporaryStep { expression, variable, class, function, sources };
        self.collected.get_or_insert_default().0.push(step);
        Some(Source::Cell(cell(variable), class))
    }

    /// Returns the number of functions in an expression with these sources, including those of the sources.
    fn weight(&self, sources: &[Operand]) -> u32 {
        let mut weight = 1u32;
        let mut add = |base: Base| {
            let Base::Frame(variable) = base else { return };
            weight = weight.saturating_add(self.current.weights.get(&variable).copied().unwrap_or(0));
        };
        sources.iter().for_each(|source| source.visit_bases(&mut add));
        weight
    }

    /// Returns true if a base is the temporary of an expression.
    pub(super) fn is_temporary(&self, base: Base) -> bool {
        matches!(base, Base::Frame(variable) if self.current.weights.contains_key(&variable))
    }

    /// Reports a function without a signature that fits the classes of its sources.
    fn unfit<T>(&mut self, function: Function, sources: &[Source], spans: &[Span], whole: Span) -> Option<T> {
        let wanted = natural_class(function, sources);
        let classes: Vec<Class> = sources.iter().map(Source::class).collect();
        let Err(Conversion::Source(n, to)) = conversion(function, wanted, &classes) else {
            let message = format!("`{}` can't take these sources", function.name());
            return self.report.fail(Diagnostic::error(
                ProblemCode::ClassesMixed,
                message,
                whole,
                "of these classes",
            ));
        };
        let place = spans.get(n).copied().unwrap_or(whole);
        let other = spans.iter().copied().enumerate().find(|(m, _)| *m != n);
        let class = classes.get(n).copied().unwrap_or(to);
        let (from, want) = (a_class(class), a_class(to));
        let message = format!("expected {want}, found {from}");
        let problem = Diagnostic::error(ProblemCode::ClassesMixed, message, place, from.to_string());
        let problem = match other.filter(|(m, _)| classes.get(*m) == Some(&to)) {
            Some((_, span)) => problem.with(span, want.to_string()),
            None => problem,
        };
        let text = self.sources.text(place).to_owned();
        let help = match sources.get(n) {
            Some(Source::Literal(_)) => "write an integer".to_owned(),
            _ if function == Function::Xor => advice_on_powers(&text),
            _ => format!("convert the value: `{}({text})`", converter(to).name()),
        };
        self.report.fail(problem.help(help))
    }
}

/// Returns true if a source may read a cell that is written. A parameter may be an alias of a global or of
/// its adjoint; there are no other aliases.
pub(super) fn may_share(source: &Operand, written: &Place) -> bool {
    let Operand::Place(place) = source else { return false };
    let other_name = |base: Base| {
        matches!(
            (base, written.base),
            (Base::Parameter(_), Base::Global(_)) | (Base::Global(_), Base::Parameter(_))
        )
    };
    let is_itself = place.base == written.base && place.adjoint == written.adjoint;
    let mut terms = place.index.iter().flat_map(|index| index.terms()).filter_map(|term| term.cell);
    is_itself
        || other_name(place.base)
        || terms.any(|cell| cell == written.base && !written.adjoint || other_name(cell))
}
