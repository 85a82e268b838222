//! Slots: the operands of steps, with the part of their addresses that is known before a run.

use reviver_isa::instruction::Class;

/// The address of a cell, or of the first of several cells. The address may be known only in part before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Anchor {
    /// An immediate, as an offset into all cells of the class. An immediate is read-only and never a target.
    Constant(u32),
    /// A cell with static storage, such as a global, as an offset into all cells of the class.
    Fixed(u32),
    /// A cell of the current call's frame, as an offset from the first cell of the class in that frame.
    Frame(Class, u32),
    /// The argument that the current call received for the parameter with this number.
    Parameter(u32),
}

/// An array index: the sum of the value of an integer cell and a constant, or only a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArrayIndex {
    /// The integer cell that is read; `None` for a constant index.
    pub cell: Option<Anchor>,
    /// The constant added to the cell's value; the whole index if there is no cell.
    pub offset: i64,
}

/// A matrix, stored in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matrix {
    /// The address of the element in row 0 and column 0.
    pub base: Anchor,
    /// The numbers of rows and columns; `None` for a parameter, because its size is known only at run time.
    pub size: Option<(u32, u32)>,
}

impl Matrix {
    /// Returns the region of all cells of the matrix.
    pub fn region(&self) -> Region {
        let length = self.size.map_or(u32::MAX, |(rows, columns)| rows * columns);
        Region { anchor: self.base, length }
    }
}

/// An array element with an index that is known only when its step is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArrayElement {
    /// `A[i]`. A parameter's length and the stride of its elements are known only at run time.
    Vector {
        /// The address of the vector's first element.
        base: Anchor,
        /// The number of the vector's elements; `None` for a parameter.
        length: Option<u32>,
        /// The index of the element, from 0.
        index: ArrayIndex,
    },
    /// `M[i,j]`
    Matrix {
        /// The matrix that contains the element.
        matrix: Matrix,
        /// The number of the row, from 0.
        row: ArrayIndex,
        /// The number of the column, from 0.
        column: ArrayIndex,
    },
}

impl ArrayElement {
    /// Returns the base address of the array.
    pub fn base(&self) -> Anchor {
        match *self {
            ArrayElement::Vector { base, .. } | ArrayElement::Matrix { matrix: Matrix { base, .. }, .. } => {
                base
            }
        }
    }

    /// Returns the indices of the element, in order.
    pub fn subscripts(&self) -> impl Iterator<Item = ArrayIndex> + use<> {
        let (first, second) = match *self {
            ArrayElement::Vector { index, .. } => (index, None),
            ArrayElement::Matrix { row, column, .. } => (row, Some(column)),
        };
        std::iter::once(first).chain(second)
    }
}

/// A cell with all that is known about its address before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locus {
    /// A scalar, an immediate, or an element with a constant address.
    Cell(Anchor),
    /// An element whose address is computed when its step is executed.
    Element(ArrayElement),
}

/// A superset of the cells that a slot may refer to: `length` cells from an anchor on. If the anchor is a parameter,
/// the cells needn't be contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The address of the first cell.
    pub anchor: Anchor,
    /// The maximum number of cells; `u32::MAX` if it is known only at run time.
    pub length: u32,
}

impl Locus {
    /// Returns a region that contains every cell that the locus may refer to.
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

/// The compact form of a locus, with an element's number instead of the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// A scalar, an immediate, or an element with a constant address.
    Cell(Anchor),
    /// The number of an [`ArrayElement`] of the flow.
    Element(u32),
}

/// An operand of a step, resolved as far as possible before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// The class of the cell. Addresses count the cells of one class.
    pub class: Class,
    /// True if the operand is the adjoint of the cell.
    pub adjoint: bool,
    /// The address of the cell, or for a computed element the number of the element.
    pub location: Location,
}

impl Slot {
    /// Returns the slot of the scalar integer cell at an anchor.
    pub fn int(anchor: Anchor) -> Slot {
        Slot { class: Class::Int, adjoint: false, location: Location::Cell(anchor) }
    }

    /// Returns true if the slot is an immediate.
    pub fn is_constant(&self) -> bool {
        matches!(self.location, Location::Cell(Anchor::Constant(_)))
    }

    /// Returns all that is known about the cell's address; `elements` is the element table of the flow. Returns
    /// `None` if the slot's element number isn't in the table.
    pub fn locus(&self, elements: &[ArrayElement]) -> Option<Locus> {
        match self.location {
            Location::Cell(anchor) => Some(Locus::Cell(anchor)),
            Location::Element(number) => elements.get(number as usize).copied().map(Locus::Element),
        }
    }

    /// Returns the static address of the cell; `None` if the cell is in a frame, a parameter or a computed element.
    /// The address of an adjoint is the address of the cell that the adjoint belongs to.
    pub fn address(&self) -> Option<u32> {
        match self.location {
            Location::Cell(Anchor::Constant(address) | Anchor::Fixed(address)) => Some(address),
            Location::Cell(Anchor::Frame(..) | Anchor::Parameter(_)) | Location::Element(_) => None,
        }
    }
}
