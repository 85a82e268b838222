//! Translation of a module to its flow. Names become slots, and immediates become constants in a pool. If two slots
//! might alias but must not, the pair becomes a guard. The flow depends on neither a direction nor a state.

use std::collections::HashMap;

use arrayvec::ArrayVec;
use reviver_isa::instruction::{Argument, Base, Call, Class, Index, Instruction, Link, Operand};
use reviver_isa::instruction::{Place, Range, Slice, Term};
use reviver_isa::module::{Extent, Module, Rank, Shape as Cells};
use reviver_isa::number::literal_bits;
use reviver_isa::step::Operation;

use crate::call::{Array, CallSite, Passed};
use crate::layout::{Layout, MODE, Pool};
use crate::slot::{Anchor, ArrayElement, ArrayIndex, Location, Locus, Matrix, Slot};
use crate::step::{Guards, Step, StepLink, signature};

/// The parts of a flow that are being built while its module is read.
pub(crate) struct Builder<'m> {
    module: &'m Module,
    pub layout: Layout,
    pool: Pool,
    pub elements: Vec<ArrayElement>,
    numbers: HashMap<ArrayElement, u32>,
    pub calls: Vec<CallSite>,
}

impl<'m> Builder<'m> {
    pub fn new(module: &'m Module) -> Builder<'m> {
        let mut layout = Layout::of(module);
        let pool = Pool::new(&mut layout);
        Builder { module, layout, pool, elements: Vec::new(), numbers: HashMap::new(), calls: Vec::new() }
    }

    /// Appends the steps of a procedure's instructions to `steps`.
    pub fn steps(&mut self, procedure: usize, code: &[Instruction], steps: &mut Vec<Step>) {
        steps.extend(code.iter().map(|instruction| self.step(procedure, instruction)));
    }

    fn step(&mut self, procedure: usize, instruction: &Instruction) -> Step {
        let Instruction { update, function, .. } = *instruction;
        let operands = instruction.operands.iter();
        let slots: ArrayVec<Slot, 3> = operands.map(|operand| self.slot(procedure, operand)).collect();
        let classes: ArrayVec<Class, 3> = slots.iter().map(|slot| slot.class).collect();
        let signature = signature(update, function, &classes);
        let operation = Operation { update, function, signature, undoes: false };
        let link = match &instruction.link {
            Link::None => StepLink::None,
            Link::Partner(partner) => StepLink::Partner(*partner),
            Link::Calls(calls) => StepLink::Call(self.call(procedure, calls)),
        };
        let guards = match slots.iter().all(|slot| slot.address().is_some()) {
            // All addresses are fixed, and `verify` has already compared them.
            true => Guards::default(),
            false => Guards::of(operation, &slots, &self.elements),
        };
        Step { operation, slots, guards, link }
    }

    fn slot(&mut self, procedure: usize, operand: &Operand) -> Slot {
        let constant = |class, address| {
            let location = Location::Cell(Anchor::Constant(address));
            Slot { class, adjoint: false, location }
        };
        match operand {
            Operand::Int(value) => constant(Class::Int, self.pool.int(&mut self.layout, *value)),
            Operand::Mode => Slot::int(Anchor::Fixed(MODE as u32)),
            Operand::Real(value) => {
                let bits = literal_bits(self.module.real, *value);
                constant(Class::Real, self.pool.real(&mut self.layout, bits))
            }
            Operand::Place(place) => {
                let (class, locus) = locate(self.module, &self.layout, procedure, place);
                let location = match locus {
                    Locus::Cell(anchor) => Location::Cell(anchor),
                    Locus::Element(element) => Location::Element(self.number(element)),
                };
                Slot { class, adjoint: place.adjoint, location }
            }
        }
    }

    fn number(&mut self, element: ArrayElement) -> u32 {
        let elements = &mut self.elements;
        *self.numbers.entry(element).or_insert_with(|| {
            elements.push(element);
            elements.len() as u32 - 1
        })
    }

    /// Adds the call site of an instruction and returns its number.
    fn call(&mut self, procedure: usize, calls: &[Call]) -> u32 {
        let site = calls.first().map(|call| {
            let parameters = self.module.procedures.get(call.procedure as usize).map(|p| &p.parameters[..]);
            let ranks = parameters.unwrap_or_default().iter().map(|parameter| parameter.rank);
            let arguments = call.arguments.iter().zip(ranks);
            let arguments =
                arguments.map(|(argument, rank)| self.passed(procedure, argument, rank)).collect();
            CallSite { procedure: call.procedure, arguments }
        });
        self.calls.push(site.unwrap_or(CallSite { procedure: 0, arguments: Vec::new() }));
        self.calls.len() as u32 - 1
    }

    /// Returns the argument that is passed for a parameter of rank `rank`.
    fn passed(&mut self, procedure: usize, argument: &Argument, rank: Rank) -> Passed {
        let slice = match argument {
            Argument::Scalar(operand) => return Passed::Cell(self.slot(procedure, operand)),
            Argument::Slice(slice) => slice,
        };
        let scope = ProcedureView { module: self.module, layout: &self.layout, procedure };
        let (base, length) = (scope.anchor(slice.base), scope.length(slice));
        let (array, matrix) = (Array { base, length }, scope.matrix(slice));
        match &slice.range {
            Range::Whole if rank == Rank::Matrix => Passed::Matrix(matrix),
            Range::Whole if scope.declaration(slice.base).1.is_matrix() => Passed::Flat(matrix),
            Range::Whole => Passed::Whole(array),
            Range::Span { from, to, step } => {
                let [from, to] = [from, to].map(|term| scope.subscript(term));
                Passed::Span { array, from, to, step: *step }
            }
            Range::Row(row) => Passed::Row { matrix, row: scope.subscript(row) },
            Range::Column(column) => Passed::Column { matrix, column: scope.subscript(column) },
        }
    }
}

/// Returns the class of a place in a procedure, and all that is known before a run about the address of its cell.
pub(crate) fn locate(module: &Module, layout: &Layout, procedure: usize, place: &Place) -> (Class, Locus) {
    let scope = ProcedureView { module, layout, procedure };
    let base = scope.anchor(place.base);
    let (class, extent) = scope.declaration(place.base);
    let vector = |length, term| ArrayElement::Vector { base, length, index: scope.subscript(term) };
    let element = match (place.index.as_deref(), extent) {
        (Some(Index::One(term)), Extent::Cells(cells)) => vector(Some(cells.cells() as u32), term),
        (Some(Index::One(term)), Extent::Slice) => vector(None, term),
        (Some(Index::Two(row, column)), extent) if extent.is_matrix() => {
            let [row, column] = [row, column].map(|term| scope.subscript(term));
            ArrayElement::Matrix { matrix: Matrix { base, size: size(extent) }, row, column }
        }
        _ => return (class, Locus::Cell(base)),
    };
    (class, folded(&element).map_or(Locus::Element(element), Locus::Cell))
}

/// Returns the numbers of rows and columns of a matrix; `None` for a parameter, whose size is known only at run time.
/// A vector counts as one row.
fn size(extent: Extent) -> Option<(u32, u32)> {
    match extent {
        Extent::Cells(Cells::Matrix(rows, columns)) => Some((rows, columns)),
        Extent::Cells(cells) => Some((1, cells.cells() as u32)),
        Extent::Slice | Extent::Matrix => None,
    }
}

/// Returns the anchor of an element with constant indices. Returns `None` for other elements, and for elements of
/// parameters and constants.
fn folded(element: &ArrayElement) -> Option<Anchor> {
    let distance = match *element {
        ArrayElement::Vector { length: Some(_), index: ArrayIndex { cell: None, offset }, .. } => offset,
        ArrayElement::Matrix {
            matrix: Matrix { size: Some((_, columns)), .. },
            row: ArrayIndex { cell: None, offset: row },
            column: ArrayIndex { cell: None, offset: column },
            ..
        } => row * i64::from(columns) + column,
        ArrayElement::Vector { .. } | ArrayElement::Matrix { .. } => return None,
    };
    match element.base() {
        Anchor::Fixed(base) => Some(Anchor::Fixed(base + distance as u32)),
        Anchor::Frame(class, base) => Some(Anchor::Frame(class, base + distance as u32)),
        Anchor::Constant(_) | Anchor::Parameter(_) => None,
    }
}

/// Name resolution inside one procedure: maps a base to its declaration and anchor.
struct ProcedureView<'a> {
    module: &'a Module,
    layout: &'a Layout,
    procedure: usize,
}

impl ProcedureView<'_> {
    /// Returns the anchor of a base. In a verified module every base is declared; for any other base the result is
    /// the mode cell.
    fn anchor(&self, base: Base) -> Anchor {
        self.layout.anchor(self.module, self.procedure, base).unwrap_or(Anchor::Fixed(MODE as u32))
    }

    fn declaration(&self, base: Base) -> (Class, Extent) {
        let owner = self.module.procedures.get(self.procedure);
        let declared = owner.and_then(|owner| self.module.declaration(owner, base));
        declared.map_or((Class::Int, Extent::Cells(Cells::Scalar)), |d| (d.class, d.extent))
    }

    fn length(&self, slice: &Slice) -> Option<u32> {
        match self.declaration(slice.base).1 {
            Extent::Cells(cells) => Some(cells.cells() as u32),
            Extent::Slice | Extent::Matrix => None,
        }
    }

    fn matrix(&self, slice: &Slice) -> Matrix {
        Matrix { base: self.anchor(slice.base), size: size(self.declaration(slice.base).1) }
    }

    fn subscript(&self, term: &Term) -> ArrayIndex {
        ArrayIndex { cell: term.cell.map(|base| self.anchor(base)), offset: term.offset }
    }
}
