//! Expressions as operands, indices and slices. This module is independent of instructions.

use arrayvec::ArrayVec;
use compact_str::CompactString;
use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Base, Class, Index, Operand, Place, Range, Slice, Term};
use reviver_isa::module::{Extent, Shape};

use super::Lowering;
use super::applied::{AppliedFunction, Source};
use super::constant::{ConstantProblem, Number, too_far};
use super::report::Unknown;
use super::scope::Meaning;
use super::values::{is_literal, refused, refused_of};
use crate::arrays;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{
    Application, BinaryOperator, Element, Expression, ExpressionKind, Name, Subscript, UnaryOperator,
};

/// Returns a meaning unchanged if it is valid, otherwise `None`.
fn sound(meaning: Meaning) -> Option<Meaning> {
    (!matches!(meaning, Meaning::Broken)).then_some(meaning)
}

/// Returns the values of expressions if all of them are constants.
fn constants(meanings: &[Meaning]) -> Option<ArrayVec<Number, 2>> {
    let number = |meaning: &Meaning| match meaning {
        Meaning::Constant(number) => Some(*number),
        _ => None,
    };
    meanings.iter().take(2).map(number).collect()
}

impl Lowering<'_> {
    /// Returns the meaning of an expression, or `None` after reporting an error.
    pub(super) fn evaluate(&mut self, expression: &Expression) -> Option<Meaning> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Int { value, pattern } => {
                Some(Meaning::Constant(Number::Int { value: (*value).into(), pattern: *pattern }))
            }
            ExpressionKind::LongInt { value, pattern } => {
                Some(Meaning::Constant(Number::Int { value: **value, pattern: *pattern }))
            }
            ExpressionKind::Real(value) => Some(Meaning::Constant(Number::Real(*value))),
            ExpressionKind::Name { name, adjoint } => {
                let meaning = self.lookup(name, span)?;
                if *adjoint { self.adjoint(meaning, span) } else { Some(meaning) }
            }
            ExpressionKind::Element(element) => self.element(element, span),
            ExpressionKind::Unary(operator, a) => match self.evaluate(a)? {
                Meaning::Constant(number) => {
                    let result = self.declared.numbers().unary(*operator, number, is_literal(a));
                    self.number(result, [a.span], span)
                }
                meaning => self.signed(*operator, (meaning, a.span)),
            },
            ExpressionKind::Binary(operator, sides) => {
                let [a, b] = &**sides;
                let (x, y) = (self.evaluate(a), self.evaluate(b));
                self.combine(*operator, (x?, a.span), (y?, b.span), span)
            }
            ExpressionKind::Length(length) => self.length(length, span),
            ExpressionKind::InText(application) => {
                self.report.fail(arrays::misplaced(application.function, span))
            }
            ExpressionKind::Apply(application) => {
                let Application { function, sources } = &**application;
                let meanings: Vec<Option<Meaning>> = sources.iter().map(|s| self.evaluate(s)).collect();
                let meanings: Vec<Meaning> = meanings.into_iter().collect::<Option<_>>()?;
                let spans = sources.iter().map(|source| source.span);
                if self.wants_constant
                    && let Some(numbers) = constants(&meanings)
                {
                    let result = self.declared.numbers().apply(*function, &numbers);
                    return self.number(result, spans, span);
                }
                self.formula(*function, meanings.into_iter().zip(spans))
            }
        }
    }

    /// Returns `-a` or `~a` of an expression that isn't constant: `0 - a`, or `a ^ -1`.
    fn signed(&mut self, operator: UnaryOperator, side: (Meaning, Span)) -> Option<Meaning> {
        let number = |value| (Meaning::Constant(Number::int(value)), side.1);
        match operator {
            UnaryOperator::Negate => self.formula(Function::Diff, [number(0), side]),
            UnaryOperator::Complement => {
                let ones = number(-1);
                self.formula(Function::Xor, [side, ones])
            }
        }
    }

    fn number(
        &mut self,
        result: Result<Number, ConstantProblem>,
        sources: impl IntoIterator<Item = Span>,
        span: Span,
    ) -> Option<Meaning> {
        match result {
            Ok(number) => Some(Meaning::Constant(number)),
            Err(problem) => self.report.fail(refused_of(problem, sources, span)),
        }
    }

    /// Returns the meaning of a binary operation. If both operands are constants, the result is computed during
    /// lowering. A constant that is added to an integer scalar becomes the offset of the scalar. Other expressions are
    /// computed at run time.
    fn combine(
        &mut self,
        operator: BinaryOperator,
        (a, a_span): (Meaning, Span),
        (b, b_span): (Meaning, Span),
        span: Span,
    ) -> Option<Meaning> {
        use BinaryOperator::{Add, Subtract};
        match (operator, &a, &b) {
            (_, Meaning::Constant(x), Meaning::Constant(y)) => {
                let numbers = self.declared.numbers();
                let result = numbers.binary(operator, *x, *y);
                // If the module can't store the value as a literal, the machine computes it at run time, with
                // the same result.
                let is_writable = result.as_ref().map_or(true, |number| numbers.is_writable(*number));
                if self.wants_constant || is_writable {
                    return self.number(result, [a_span, b_span], span);
                }
            }
            (Add, Meaning::Constant(by), cell) | (Add | Subtract, cell, Meaning::Constant(by)) => {
                if let (Some((base, start, wraps)), Some(value)) = (self.shiftable(cell), by.integer()) {
                    let word = self.declared.numbers().to_word(*by);
                    let wraps = wraps && word.is_ok();
                    let by = match (by, word) {
                        (Number::Int { pattern: true, .. }, Ok(word)) => word.into(),
                        _ => value,
                    };
                    let offset = if operator == Add { start.checked_add(by) } else { start.checked_sub(by) };
                    return match offset {
                        Some(offset) => Some(Meaning::Sum { base, offset, wraps }),
                        None => self.report.fail(refused(too_far(), span)),
                    };
                }
            }
            _ => {}
        }
        self.formula(operator.function(), [(a, a_span), (b, b_span)])
    }

    /// If the meaning is an integer scalar plus an offset, returns the scalar, the offset, and true if the sum
    /// wraps like a word. Otherwise returns `None`.
    fn shiftable(&self, meaning: &Meaning) -> Option<(Base, i128, bool)> {
        match meaning {
            Meaning::Variable { base, adjoint: false } if self.is_integer_scalar(*base) => {
                Some((*base, 0, true))
            }
            Meaning::Sum { base, offset, wraps } => Some((*base, *offset, *wraps)),
            _ => None,
        }
    }

    fn is_integer_scalar(&self, base: Base) -> bool {
        self.fact(base)
            .is_some_and(|(_, class, extent)| class == Class::Int && extent == Extent::Cells(Shape::Scalar))
    }

    /// Reports an expression where only constants are valid.
    pub(super) fn not_constant<T>(&mut self, span: Span) -> Option<T> {
        self.report.fail(
            Diagnostic::error(
                ProblemCode::NoConstant,
                "expressions must be constant here",
                span,
                "not a constant",
            )
            .help("compute the value in a statement before this one, with `local t = …`, and write `t` here"),
        )
    }

    /// Returns the meaning of a name.
    pub(super) fn lookup(&mut self, name: &CompactString, span: Span) -> Option<Meaning> {
        let found = self.current.scopes.find(name).map(|local| local.meaning.clone());
        if let Some(meaning) = found {
            return sound(meaning);
        }
        if let Some((meaning, declared)) = self.declared.outer(name) {
            self.not_shadowed_by_parameter(name, span, declared)?;
            self.not_a_stack(&meaning, name, (span, declared))?;
            return sound(meaning);
        }
        match name.as_str() {
            "mode" => return Some(Meaning::Mode),
            "pi" => return Some(Meaning::Constant(Number::Real(std::f64::consts::PI))),
            _ => {}
        }
        self.declared.register(name, span).or_else(|| self.unknown(name, span))
    }

    /// Reports a stack used as an operand. The verifier would report the stack, too, but at the place of the whole
    /// instruction. This error is at the place of the name.
    fn not_a_stack(&mut self, meaning: &Meaning, name: &str, (span, declared): (Span, Span)) -> Option<()> {
        let Meaning::Variable { base, .. } = meaning else { return Some(()) };
        match self.fact(*base) {
            Some((_, _, Extent::Cells(Shape::Stack))) => self.report.fail(
                Diagnostic::error(
                    ProblemCode::StackAsOperand,
                    format!("`{name}` is a stack: only `push` and `pop` reach it"),
                    span,
                    "no operand names a stack",
                )
                .with(declared, "declared here")
                .help("`push x` puts x on the stack of its class, `pop x` takes the last value off it"),
            ),
            _ => Some(()),
        }
    }

    /// Reports a global that a macro names, if a parameter of the procedure that uses the macro shadows it. The
    /// procedure's flat text (without macros, as `disasm` prints it) could not name the global.
    fn not_shadowed_by_parameter(&mut self, name: &str, span: Span, declared: Span) -> Option<()> {
        let hides = self.current.scopes.in_macro() && self.current.parameters.iter().any(|p| p.name == name);
        if !hides {
            return Some(());
        }
        self.report.fail(
            Diagnostic::error(
                ProblemCode::GlobalBehindParameter,
                format!("the macro means the global `{name}`, which a parameter of this procedure hides"),
                span,
                "named in the macro",
            )
            .with(declared, "the global")
            .help("give the parameter another name"),
        )
    }

    fn unknown<T>(&mut self, name: &CompactString, span: Span) -> Option<T> {
        let procedure = (!self.current.scopes.in_macro()).then_some(self.current.number);
        let written = Name { text: name.clone(), span };
        let Lowering { declared, current, report, .. } = self;
        report.unknown(Unknown::Cell(procedure), &written, |report| {
            let message = format!("nothing is named `{name}` here");
            let diagnostic = Diagnostic::error(ProblemCode::UnknownName, message, span, "unknown name");
            if let Some(hidden) = current.scopes.find_hidden(name) {
                return diagnostic
                    .with(hidden.span, "not visible inside of a macro")
                    .help("pass it to the macro as an argument");
            }
            let search = report.may_search().then(|| declared.elsewhere(name, procedure));
            if let Some(elsewhere) = search.flatten() {
                return diagnostic.with(elsewhere.span, elsewhere.what).help(elsewhere.cure);
            }
            let names = current.scopes.names().chain(declared.outer_names());
            diagnostic.help(report.suggest(name, names).unwrap_or_else(|| {
                format!(
                    "declare it: `.var {name}` outside of procedures, `.ancilla {name}` or `local {name} = …`"
                )
            }))
        })
    }

    fn adjoint(&mut self, meaning: Meaning, span: Span) -> Option<Meaning> {
        match meaning {
            Meaning::Variable { base, adjoint: false } => Some(Meaning::Variable { base, adjoint: true }),
            Meaning::Element(place) if !place.adjoint => {
                Some(Meaning::Element(Place { adjoint: true, ..place }))
            }
            Meaning::Variable { .. } | Meaning::Element(_) => {
                let message = "there is no adjoint of an adjoint";
                self.report.fail(Diagnostic::error(
                    ProblemCode::NoSuchAdjoint,
                    message,
                    span,
                    "an adjoint already",
                ))
            }
            _ => {
                let message = "only a cell has an adjoint";
                self.report.fail(Diagnostic::error(ProblemCode::NoSuchAdjoint, message, span, "not a cell"))
            }
        }
    }

    fn element(&mut self, element: &Element, span: Span) -> Option<Meaning> {
        let Element { name, adjoint, subscripts } = element;
        let mut meaning = self.lookup(name, span)?;
        if *adjoint {
            meaning = self.adjoint(meaning, span)?;
        }
        let Meaning::Variable { base, adjoint } = meaning else {
            let message = format!("`{name}` is no array and has no elements");
            return self.report.fail(Diagnostic::error(
                ProblemCode::ArrayOrCell,
                message,
                span,
                "indexed here",
            ));
        };
        if let [Subscript::At(index)] = subscripts.as_slice() {
            let index = Some(Box::new(Index::One(self.term(index)?)));
            return Some(Meaning::Element(Place { base, adjoint, index }));
        }
        if let [Subscript::At(row), Subscript::At(column)] = subscripts.as_slice() {
            let (row, column) = (self.term(row), self.term(column));
            let index = Some(Box::new(Index::Two(row?, column?)));
            return Some(Meaning::Element(Place { base, adjoint, index }));
        }
        let range = self.range(subscripts, span)?;
        if adjoint {
            let message = "a part of an array of adjoints can't be passed";
            return self.report.fail(Diagnostic::error(
                ProblemCode::NoSuchAdjoint,
                message,
                span,
                "adjoint cells",
            ));
        }
        Some(Meaning::Slice(Slice { base, range }))
    }

    fn range(&mut self, subscripts: &[Subscript], span: Span) -> Option<Range> {
        match subscripts {
            [Subscript::Span { from, to, step }] => {
                let (from, to) = (self.term(from), self.term(to));
                let step = match step {
                    Some(step) => self.step(step),
                    None => Some(1),
                };
                Some(Range::Span { from: from?, to: to?, step: step? })
            }
            [Subscript::At(row), Subscript::All] => Some(Range::Row(self.term(row)?)),
            [Subscript::All, Subscript::At(column)] => Some(Range::Column(self.term(column)?)),
            [Subscript::All] | [Subscript::All, Subscript::All] => Some(Range::Whole),
            _ => self.report.fail(
                Diagnostic::error(
                    ProblemCode::ArrayOrCell,
                    "these brackets denote no element and no part of an array",
                    span,
                    "here",
                )
                .help("write `A[i]`, `M[i, j]`, `A[i..j]`, `A[i..j step 2]`, `M[i, ..]` or `M[.., j]`"),
            ),
        }
    }

    /// Returns the step of a slice or a loop, which is a positive constant.
    pub(super) fn step(&mut self, expression: &Expression) -> Option<u32> {
        let number = self.constant(expression)?;
        self.declared.not_wrapped(number, expression.span, &mut self.report)?;
        let step = number.integer().and_then(|value| u32::try_from(value).ok()).filter(|step| *step > 0);
        step.or_else(|| {
            let message = "a step is an integer constant, 1 or above";
            self.report.fail(Diagnostic::error(
                ProblemCode::OutOfRange,
                message,
                expression.span,
                "not a step",
            ))
        })
    }

    /// Returns the value of a constant expression as a word.
    pub(super) fn word(&mut self, expression: &Expression) -> Option<i64> {
        let number = self.constant(expression)?;
        self.declared.word_value(number, expression.span, &mut self.report)
    }

    /// Returns an index or a bound: a constant, an integer scalar, or their sum. Another expression is
    /// replaced by its temporary.
    fn term(&mut self, expression: &Expression) -> Option<Term> {
        let span = expression.span;
        let (cell, offset) = match self.evaluate(expression)? {
            Meaning::Constant(number) => match number.integer() {
                Some(value) => (None, value),
                None => return self.no_index(span),
            },
            Meaning::Variable { base, adjoint: false } => (Some(base), 0),
            Meaning::Sum { base, offset, .. } => (Some(base), offset),
            Meaning::Computed(formula) => (Some(self.index_value(&formula, span)?), 0),
            Meaning::Element(place) if self.class_of(place.base) == Class::Int && !place.adjoint => {
                let source = Source::Cell(Operand::Place(place), Class::Int);
                let sources = ArrayVec::from_iter([(source, span)]);
                let formula = AppliedFunction { function: Function::Copy, sources };
                (Some(self.index_value(&formula, span)?), 0)
            }
            _ => return self.no_index(span),
        };
        match i64::try_from(offset) {
            Ok(offset) => Some(Term { cell, offset }),
            Err(_) => {
                let message = format!("the index {offset} does not fit into 64 bits");
                self.report.fail(Diagnostic::error(ProblemCode::NumberDoesNotFit, message, span, "too large"))
            }
        }
    }

    /// Returns the temporary for an expression that is used as an index.
    fn index_value(&mut self, formula: &AppliedFunction, span: Span) -> Option<Base> {
        match self.spill(formula, span)? {
            Source::Cell(Operand::Place(place), Class::Int) => Some(place.base),
            _ => self.no_index(span),
        }
    }

    fn no_index<T>(&mut self, span: Span) -> Option<T> {
        self.report.fail(Diagnostic::error(
            ProblemCode::ArrayOrCell,
            "an index is an integer",
            span,
            "can't be an index",
        ))
    }

    /// Returns the value of an expression that must be constant.
    pub(super) fn constant(&mut self, expression: &Expression) -> Option<Number> {
        let outer = std::mem::replace(&mut self.wants_constant, true);
        let meaning = self.evaluate(expression);
        self.wants_constant = outer;
        match meaning? {
            Meaning::Constant(number) => Some(number),
            _ => self.not_constant(expression.span),
        }
    }

    /// Returns a source or a target of an instruction.
    pub(super) fn source(&mut self, expression: &Expression) -> Option<Source> {
        let meaning = self.evaluate(expression)?;
        self.source_of(meaning, expression.span)
    }

    pub(super) fn source_of(&mut self, meaning: Meaning, span: Span) -> Option<Source> {
        match meaning {
            Meaning::Constant(number) => Some(Source::Literal(number)),
            Meaning::Mode => Some(Source::Cell(Operand::Mode, Class::Int)),
            Meaning::Variable { base, adjoint } => {
                let operand = Operand::Place(Place { base, adjoint, index: None });
                Some(match self.is_length(base) {
                    true => Source::Length(operand),
                    false => Source::Cell(operand, self.class_of(base)),
                })
            }
            Meaning::Element(place) => {
                let class = self.class_of(place.base);
                Some(Source::Cell(Operand::Place(place), class))
            }
            Meaning::Sum { base, offset, wraps } => {
                let formula = self.sum(base, (offset, wraps), span);
                self.spill(&formula, span)
            }
            Meaning::Computed(formula) => self.spill(&formula, span),
            Meaning::Broken => None,
            Meaning::Slice(_) => self.report.fail(
                Diagnostic::error(
                    ProblemCode::ArrayOrCell,
                    "an operand is one cell, not a part of an array",
                    span,
                    "several cells",
                )
                .help("write an index, as in `A[i]`; only a call can pass a part of an array"),
            ),
        }
    }

    /// Returns the outermost function of an expression with its sources. For a plain operand, it is `copy` of
    /// the operand.
    pub(super) fn taken(&mut self, expression: &Expression) -> Option<AppliedFunction> {
        let span = expression.span;
        Some(match self.evaluate(expression)? {
            Meaning::Computed(formula) => *formula,
            Meaning::Sum { base, offset, wraps } => self.sum(base, (offset, wraps), span),
            meaning => {
                let sources = ArrayVec::from_iter([(self.source_of(meaning, span)?, span)]);
                AppliedFunction { function: Function::Copy, sources }
            }
        })
    }

    /// Returns the sum of an integer scalar and an offset as a function: `sum` or, for a negative offset,
    /// `diff`. If `wraps` is true, the offset is reduced to a word.
    fn sum(&self, base: Base, (offset, wraps): (i128, bool), span: Span) -> AppliedFunction {
        let word = self.declared.word;
        let unused = i128::BITS - word.bits();
        let offset = if wraps { offset << unused >> unused } else { offset };
        // The negation of the least word isn't a word, so the least word is added and not subtracted.
        let is_least = offset == i128::from(*word.range().start());
        let taken_away = offset.checked_neg().filter(|by| *by > 0 && !is_least);
        let (function, by) = taken_away.map_or((Function::Sum, offset), |by| (Function::Diff, by));
        let cell = Source::Cell(Operand::Place(Place::scalar(base)), Class::Int);
        let by = Source::Literal(Number::int(by));
        AppliedFunction { function, sources: ArrayVec::from_iter([(cell, span), (by, span)]) }
    }

    /// Returns a source as an operand of the given class. A literal is rounded to that class, and a length is
    /// converted by a temporary if a real is required.
    pub(super) fn typed(&mut self, source: Source, class: Class, span: Span) -> Option<Operand> {
        match (source, class) {
            (Source::Cell(operand, _), _) | (Source::Length(operand), Class::Int) => Some(operand),
            (Source::Length(operand), Class::Real) => {
                let sources = ArrayVec::from_iter([(Source::Length(operand), span)]);
                let formula = AppliedFunction { function: Function::ToReal, sources };
                match self.spill(&formula, span)? {
                    Source::Cell(operand, _) => Some(operand),
                    Source::Literal(_) | Source::Length(_) => None,
                }
            }
            (Source::Literal(number), Class::Real) => {
                self.declared.real_value(number, span, &mut self.report).map(Operand::Real)
            }
            (Source::Literal(number), Class::Int) => {
                self.declared.word_value(number, span, &mut self.report).map(Operand::Int)
            }
        }
    }

    /// Returns an operand of the given class.
    pub(super) fn operand(&mut self, expression: &Expression, class: Class) -> Option<Operand> {
        let source = self.source(expression)?;
        self.typed(source, class, expression.span)
    }

    /// Returns the name of a base for messages.
    pub(super) fn base_name(&self, base: Base) -> &str {
        self.fact(base).map_or("?", |(name, _, _)| name)
    }
}
