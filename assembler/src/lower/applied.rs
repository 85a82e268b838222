//! Operands before their classes are fixed, functions applied to them, and the temporaries that hold such
//! values. This module is independent of statements and emits no code.

use arrayvec::ArrayVec;
use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Base, Class, Operand, Place};

use super::constant::Number;
use super::signature::SourceKind;
use crate::source::Span;

/// An operand; if it is a literal, it has no class yet.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Literal(Number),
    Cell(Operand, Class),
    /// The length of an array parameter. It is also valid as a real, like the length of a global array.
    Length(Operand),
}

impl Source {
    /// Returns the classes that the source is valid as.
    pub(super) fn kind(&self) -> SourceKind {
        match self {
            Source::Literal(number) => number.kind(),
            Source::Cell(_, class) => SourceKind { class: *class, stands_for_real: *class == Class::Real },
            Source::Length(_) => SourceKind { class: Class::Int, stands_for_real: true },
        }
    }

    /// Returns the source's own class, which applies if no other one is required.
    pub(super) fn class(&self) -> Class {
        self.kind().class
    }
}

/// Returns the cell of a frame variable.
pub(super) fn cell(variable: u32) -> Operand {
    Operand::Place(Place::scalar(Base::Frame(variable)))
}

/// A function applied to sources, without a cell for its value.
#[derive(Clone, Debug)]
pub(super) struct AppliedFunction {
    pub(super) function: Function,
    pub(super) sources: ArrayVec<(Source, Span), 2>,
}

/// A temporary and its computation.
#[derive(Clone, Debug)]
pub(super) struct TemporaryStep {
    /// The frame's key for the temporary: the text of its expression.
    pub(super) expression: CompactString,
    pub(super) variable: u32,
    pub(super) class: Class,
    pub(super) function: Function,
    pub(super) sources: ArrayVec<Operand, 2>,
}

/// The temporaries of a statement or a comparison; those of subexpressions come first.
#[derive(Clone, Debug, Default)]
pub(super) struct Temporaries(pub(super) Vec<TemporaryStep>);

impl Temporaries {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends temporaries that are computed after these.
    pub(super) fn extend(&mut self, others: Temporaries) {
        self.0.extend(others.0);
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &Operand> {
        self.0.iter().flat_map(|step| &step.sources)
    }

    /// Returns the declarations that are read, including the temporaries themselves; a declaration may occur
    /// several times.
    pub(super) fn bases(&self) -> impl Iterator<Item = Base> {
        let mut bases = Vec::new();
        self.sources().for_each(|source| source.visit_bases(&mut |base| bases.push(base)));
        bases.into_iter()
    }

    /// Returns the program's scalars that are read; a scalar may occur several times.
    pub(super) fn scalars(&self) -> Vec<Operand> {
        let is_own = |base: Base| self.0.iter().any(|step| Base::Frame(step.variable) == base);
        let mut scalars = Vec::new();
        let mut note =
            |base: Base| scalars.extend((!is_own(base)).then(|| Operand::Place(Place::scalar(base))));
        for source in self.sources() {
            match source {
                Operand::Place(Place { adjoint: true, index: None, .. }) => {}
                Operand::Place(Place { index: Some(index), .. }) => {
                    index.terms().filter_map(|term| term.cell).for_each(&mut note);
                }
                source => source.visit_bases(&mut note),
            }
        }
        scalars
    }
}

/// The changes possible while temporaries hold their values. They determine if a `vacate` checks the
/// temporaries, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checking {
    /// The temporaries are compared, and nothing changes. They aren't checked.
    Compared,
    /// An instruction uses the temporaries and changes none of their sources. The check of a real drops its
    /// adjoint, which may differ from 0 in gradient mode.
    Taken,
    /// The sources of the temporaries may change, so all of them are checked.
    Watched,
}

impl Checking {
    pub(super) fn checks(self, class: Class) -> bool {
        match self {
            Checking::Compared => false,
            Checking::Taken => class == Class::Real,
            Checking::Watched => true,
        }
    }
}

/// Returns the most likely class of a function's value: real if a source is real.
pub(super) fn natural_class(function: Function, sources: &[Source]) -> Class {
    let has_real = sources.iter().any(|source| matches!(source, Source::Cell(_, Class::Real)));
    let makes = |class: Class| function.signatures().any(|signature| signature.result() == class);
    if has_real && makes(Class::Real) || !makes(Class::Int) { Class::Real } else { Class::Int }
}
