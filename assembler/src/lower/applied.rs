//! Operands before they are fitted, functions applied to them, and the temporaries that hold such values. Knows no
//! statement and emits nothing.

use arrayvec::ArrayVec;
use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Base, Class, Operand, Place};

use super::constant::Number;
use super::form::SourceKind;
use crate::source::Span;

/// An operand whose literal, if it is one, has no class yet.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Literal(Number),
    Cell(Operand, Class),
    /// The length of an array parameter. It may be used as a real, like the length of a global array.
    Length(Operand),
}

impl Source {
    /// The classes as which the source may be used.
    pub(super) fn kind(&self) -> SourceKind {
        match self {
            Source::Literal(number) => number.kind(),
            Source::Cell(_, class) => SourceKind { class: *class, stands_for_real: *class == Class::Real },
            Source::Length(_) => SourceKind { class: Class::Int, stands_for_real: true },
        }
    }

    /// The class it has where nothing else is wanted.
    pub(super) fn class(&self) -> Class {
        self.kind().class
    }
}

/// Returns the cell of a frame variable.
pub(super) fn cell(variable: u32) -> Operand {
    Operand::Place(Place::scalar(Base::Frame(variable)))
}

/// A function of sources that has no cell yet.
#[derive(Clone, Debug)]
pub(super) struct AppliedFunction {
    pub(super) function: Function,
    pub(super) sources: ArrayVec<(Source, Span), 2>,
}

/// A temporary and how it is computed.
#[derive(Clone, Debug)]
pub(super) struct TemporaryStep {
    /// The frame's key for it.
    pub(super) expression: CompactString,
    pub(super) variable: u32,
    pub(super) class: Class,
    pub(super) function: Function,
    pub(super) sources: ArrayVec<Operand, 2>,
}

/// The temporaries of a statement or a comparison, parts first.
#[derive(Clone, Debug, Default)]
pub(super) struct Temporaries(pub(super) Vec<TemporaryStep>);

impl Temporaries {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds others, which are computed behind these.
    pub(super) fn extend(&mut self, others: Temporaries) {
        self.0.extend(others.0);
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &Operand> {
        self.0.iter().flat_map(|step| &step.sources)
    }

    /// The declarations that are read, those of its own parts among them, once or more.
    pub(super) fn bases(&self) -> impl Iterator<Item = Base> {
        let mut bases = Vec::new();
        self.sources().for_each(|source| source.visit_bases(&mut |base| bases.push(base)));
        bases.into_iter()
    }

    /// The scalars of the program that are read, once or more.
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

/// What the temporaries may meet until they are uncomputed, and so where a `vacate` checks them, in front and
/// behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checking {
    /// They are compared, and nothing changes: no check.
    Compared,
    /// An instruction takes them and changes none of their sources. Of reals the check drops the adjoint, which
    /// a temporary has when gradient mode is on.
    Taken,
    /// What they were computed from may change.
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

/// The class that the value of a function most likely has: that of reals, where one is among its sources.
pub(super) fn natural_class(function: Function, sources: &[Source]) -> Class {
    let has_real = sources.iter().any(|source| matches!(source, Source::Cell(_, Class::Real)));
    let makes = |class: Class| function.forms().any(|form| form.result() == class);
    if has_real && makes(Class::Real) || !makes(Class::Int) { Class::Real } else { Class::Int }
}
