//! Slots: the operands of steps, with as much of their addresses as is known before a run. Knows no state and
//! no instruction.

use reviver_isa::instruction::Class;

/// Where a cell lies, or the first of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Anchor {
    /// An immediate: an offset into all cells of the class. Nothing changes it, and no target is it.
    Constant(u32),
    /// An offset into all cells of the class.
    Fixed(u32),
    /// An offset from the first cell of the class in the frame of the current call.
    Frame(Class, u32),
    /// What the current call passes for the parameter of this number.
    Parameter(u32),
}

/// An index: what an integer cell holds, if there is one, plus a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArrayIndex {
    pub cell: Option<Anchor>,
    pub offset: i64,
}

/// A matrix, row after row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matrix {
    pub base: Anchor,
    /// Rows and columns. A parameter brings its own.
    pub size: Option<(u32, u32)>,
}

impl Matrix {
    /// All its cells.
    pub fn region(&self) -> Region {
        let length = self.size.map_or(u32::MAX, |(rows, columns)| rows * columns);
        Region { anchor: self.base, length }
    }
}

/// An element of an array, whose index is only known when its step is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArrayElement {
    /// `A[i]`. A parameter brings its own length and the distance of its elements.
    Vector { base: Anchor, length: Option<u32>, index: ArrayIndex },
    /// `M[i,j]`
    Matrix { matrix: Matrix, row: ArrayIndex, column: ArrayIndex },
}

impl ArrayElement {
    /// The array.
    pub fn base(&self) -> Anchor {
        match *self {
            ArrayElement::Vector { base, .. } | ArrayElement::Matrix { matrix: Matrix { base, .. }, .. } => {
                base
            }
        }
    }

    /// Its indices in order.
    pub fn subscripts(&self) -> impl Iterator<Item = ArrayIndex> + use<> {
        let (first, second) = match *self {
            ArrayElement::Vector { index, .. } => (index, None),
            ArrayElement::Matrix { row, column, .. } => (row, Some(column)),
        };
        std::iter::once(first).chain(second)
    }
}

/// A cell with all that is known of where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locus {
    Cell(Anchor),
    Element(ArrayElement),
}

/// The cells that a slot may be one of: so many from an anchor on. Of a parameter they needn't be neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub anchor: Anchor,
    pub length: u32,
}

impl Locus {
    /// The cells that it may be one of.
    pub fn region(&self) -> Region {
        match *self {
            Locus::Cell(anchor) => Region { anchor, length: 1 },
            Locus::Element(ArrayElement::Vector { base, length, .. }) => {
                Region { anchor: base, length: length.unwrap_or(u32::MAX) }
            }
            Locus::Element(ArrayElement::Matrix { matrix, .. }) => matrix.region(),
        }
    }
}

/// The cell of a slot, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    Cell(Anchor),
    /// The number of an [`ArrayElement`] of the flow.
    Element(u32),
}

/// An operand of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    pub class: Class,
    /// Whether it is the adjoint of the cell.
    pub adjoint: bool,
    pub location: Location,
}

impl Slot {
    /// The scalar integer cell at an anchor.
    pub fn int(anchor: Anchor) -> Slot {
        Slot { class: Class::Int, adjoint: false, location: Location::Cell(anchor) }
    }

    /// Whether it is an immediate.
    pub fn is_constant(&self) -> bool {
        matches!(self.location, Location::Cell(Anchor::Constant(_)))
    }

    /// All that is known of where its cell lies, among the elements of its flow.
    pub fn locus(&self, elements: &[ArrayElement]) -> Option<Locus> {
        match self.location {
            Location::Cell(anchor) => Some(Locus::Cell(anchor)),
            Location::Element(number) => elements.get(number as usize).copied().map(Locus::Element),
        }
    }

    /// Its address, if it is a cell, or its adjoint, that lies where it lies as long as the program lives.
    pub fn address(&self) -> Option<u32> {
        match self.location {
            Location::Cell(Anchor::Constant(address) | Anchor::Fixed(address)) => Some(address),
            Location::Cell(Anchor::Frame(..) | Anchor::Parameter(_)) | Location::Element(_) => None,
        }
    }
}
