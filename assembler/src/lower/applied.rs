//! Operands whose classes aren't determined yet, functions applied to them, and the temporaries that hold the
//! values of such functions. This module works on data only, and emits no code.

use arrayvec::ArrayVec;
use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Base, Class, Operand, Place};

use super::constant::Number;
use super::signature::SourceKind;
use crate::source::Span;

/// A source of an instruction. The class of a literal isn't determined yet: it depends on the instruction.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Literal(Number),
    Cell(Operand, Class),
    /// The length of an array parameter: an integer that can also be used as a real, like the length of a
    /// global array.
    Length(Operand),
}

impl Source {
    /// Returns the classes in which the source can be used.
    pub(super) fn kind(&self) -> SourceKind {
        match self {
            Source::Literal(number) => number.kind(),
            Source::Cell(_, class) => SourceKind { class: *class, stands_for_real: *class == Class::Real },
            Source::Length(_) => SourceKind { class: Class::Int, stands_for_real: true },
        }
    }

    /// Returns the source's own class, in which it is used unless the instruction requires another one.
    pub(super) fn class(&self) -> Class {
        self.kind().class
    }
}

/// Returns the operand for a scalar variable of the frame.
pub(super) fn cell(variable: u32) -> Operand {
    Operand::Place(Place::scalar(Base::Frame(variable)))
}

/// A function with its sources, whose value isn't stored in a variable yet.
#[derive(Clone, Debug)]
pub(super) struct AppliedFunction {
    pub(super) function: Function,
    pub(super) sources: ArrayVec<(Source, Span), 2>,
}

/// A temporary, with the function and the sources by which it is computed and uncomputed.
#[derive(Clone, Debug)]
pub(super) struct TemporaryStep {
    /// The key by which the frame finds the temporary again: the text of its expression.
    pub(super) expression: CompactString,
    pub(super) variable: u32,
    pub(super) class: Class,
    pub(super) function: Function,
    pub(super) sources: ArrayVec<Operand, 2>,
}

/// The temporaries of a statement or a comparison, in the order in which they are computed: those of
/// subexpressions come first.
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

    /// Returns the declarations that the temporaries read, including other temporaries. A declaration may
    /// occur several times.
    pub(super) fn bases(&self) -> impl Iterator<Item = Base> {
        let mut bases = Vec::new();
        self.sources().for_each(|source| source.visit_bases(&mut |base| bases.push(base)));
        bases.into_iter()
    }

    /// Returns the scalars that the temporaries read, excluding the temporaries themselves. A scalar may
    /// occur several times.
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

/// The changes that are possible while temporaries hold their values. These changes determine which temporaries
/// must be checked by `vacate`, before the computation and after the uncomputation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checking {
    /// A comparison uses the temporaries, so nothing changes. No temporary is checked.
    Compared,
    /// An instruction uses the temporaries and changes none of their sources. Only real temporaries are
    /// vacated, because in gradient mode their adjoints may differ from 0. A `vacate` sets the adjoint to 0.
    Taken,
    /// The sources of the temporaries may change, so all temporaries are checked.
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

/// Returns the most likely class of a function's value: real if a source is real and the function can return
/// a real.
pub(super) fn natural_class(function: Function, sources: &[Source]) -> Class {
    let has_real = sources.iter().any(|source| matches!(source, Source::Cell(_, Class::Real)));
    let makes = |class: Class| function.signatures().any(|signature| signature.result() == class);
    if has_real && makes(Class::Real) || !makes(Class::Int) { Class::Real } else { Class::Int }
}
