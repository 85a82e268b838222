//! Data of the cells pane and of the arrays pane: names, values, and the effects of the last step.

use reviver_isa::instruction::{Base, Class};
use reviver_isa::module::Shape;
use reviver_isa::names::adjoint_name;
use reviver_vm::Travel;
use reviver_vm::values::element_name;

use crate::memory::{Cell, Storage};
use crate::outcome::Touch;
use crate::session::{Session, SessionError};

/// The cells of the program and of the selected frame. For arrays, only name, class and shape are included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellsPane {
    /// Registers, such as `r0` and `f3`.
    pub registers: Vec<CellView>,
    /// Scalar globals that aren't registers.
    pub globals: Vec<CellView>,
    /// The name of the selected procedure, to which the parameters and ancillas belong.
    pub procedure: String,
    /// Scalar parameters of the selected procedure.
    pub parameters: Vec<CellView>,
    /// Scalar variables of the selected frame, in the order of declaration.
    pub ancillas: Vec<CellView>,
    /// Arrays of the program and the selected frame; their elements aren't included.
    pub arrays: Vec<ArrayFacts>,
}

/// A scalar, or an element of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellView {
    /// The name as commands accept it: `a`, `A[3]`, `M[1, 2]`.
    pub name: String,
    /// The cell in the current state.
    pub cell: Cell,
    /// The class of the cell: integer or real.
    pub class: Class,
    /// The current value, as text.
    pub value: String,
    /// True if the last step wrote the cell, even if it wrote the same value.
    pub written: bool,
    /// True if the last step changed the value.
    pub changed: bool,
    /// True if the last step read the cell.
    pub read: bool,
    /// The value before the last step; `None` if the last step didn't change the cell. If the last step was a
    /// backward step, the value is the later one in time.
    pub other: Option<String>,
    /// The adjoint of a real cell, if adjoints are shown ([`shows_adjoints`]).
    pub adjoint: Option<AdjointView>,
}

/// The adjoint shown next to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdjointView {
    /// The name of the adjoint: `x'`, `A'[3]`.
    pub name: String,
    /// The current value of the adjoint, as text.
    pub value: String,
    /// True if the last step changed the adjoint.
    pub changed: bool,
    /// The adjoint before the last step; `None` if the last step didn't change the adjoint. If the last step was a
    /// backward step, this adjoint is the later one in time.
    pub other: Option<String>,
}

/// Returns true if adjoints are shown, that is, if gradient mode is on or any adjoint is nonzero.
pub fn shows_adjoints(session: &Session) -> bool {
    let adjoints = session.state().adjoints.as_ref();
    session.state().mode() || adjoints.is_some_and(|adjoints| adjoints.all().any(|&bits| bits != 0))
}

/// Data that is needed to convert each cell to its view.
struct CellContext<'a> {
    session: &'a Session,
    footprint: &'a [Touch],
    depth: usize,
    shows_adjoints: bool,
}

impl<'a> CellContext<'a> {
    fn new(session: &'a Session, footprint: &'a [Touch]) -> CellContext<'a> {
        let depth = session.depth();
        CellContext { session, footprint, depth, shows_adjoints: shows_adjoints(session) }
    }
}

/// Name, class and shape of an array. [`array`](fn@array) returns its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayFacts {
    /// The name of the array: `A`, or `A'` for its adjoints.
    pub name: String,
    /// The class of the elements: integer or real.
    pub class: Class,
    /// The dimensions: a vector's length, or a matrix's rows and columns.
    pub shape: Shape,
}

/// A range of elements of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayView {
    /// The array that the elements belong to.
    pub facts: ArrayFacts,
    /// Index of the first element shown, counted from 0 in row-major order.
    pub first: u64,
    /// The elements in row-major order, starting at index `first`.
    pub elements: Vec<CellView>,
}

/// Builds the cells pane. `footprint` is the result of [`Session::footprint`].
pub fn cells(session: &Session, footprint: &[Touch]) -> CellsPane {
    let look = CellContext::new(session, footprint);
    let module = session.program().module();
    let mut pane = CellsPane {
        registers: Vec::new(),
        globals: Vec::new(),
        procedure: String::new(),
        parameters: Vec::new(),
        ancillas: Vec::new(),
        arrays: Vec::new(),
    };
    for (n, global) in (0..).zip(&module.globals) {
        let list = if is_register(&global.name) { &mut pane.registers } else { &mut pane.globals };
        look.add(Base::Global(n), &global.name, list, &mut pane.arrays);
    }
    if let Some(procedure) = session.memory().procedure(session.state(), look.depth) {
        pane.procedure.clone_from(&procedure.name);
        let parameters = (0..).zip(&procedure.parameters);
        for (n, parameter) in parameters.filter(|(_, parameter)| !parameter.is_length()) {
            look.add(Base::Parameter(n), &parameter.name, &mut pane.parameters, &mut pane.arrays);
        }
        let number = session.memory().frame(session.state(), look.depth).map_or(0, |open| open.procedure);
        for (n, name) in session.program().written_names(number) {
            look.add(Base::Frame(n), name, &mut pane.ancillas, &mut pane.arrays);
        }
    }
    pane
}

/// Returns at most `count` elements of an array, from index `first` on. The array belongs to the selected frame or
/// to the program. A name such as `A'` means the adjoints of the array.
///
/// # Errors
/// There is no such array.
pub fn array(
    session: &Session,
    footprint: &[Touch],
    name: &str,
    first: u64,
    count: usize,
) -> Result<ArrayView, SessionError> {
    let storage = session.array(name)?;
    let look = CellContext::new(session, footprint);
    let (class, shape) = (storage.class(), storage.shape());
    let last = first.saturating_add(count as u64).min(storage.cells());
    let element = |n| look.view(storage, n, element_name(name, shape, n as usize));
    let elements = (first..last).filter_map(element).collect();
    Ok(ArrayView { facts: ArrayFacts { name: name.to_owned(), class, shape }, first, elements })
}

impl CellContext<'_> {
    fn add(&self, base: Base, name: &str, list: &mut Vec<CellView>, arrays: &mut Vec<ArrayFacts>) {
        let session = self.session;
        let Some(storage) = session.memory().storage(session.state(), self.depth, base) else { return };
        match storage.shape() {
            Shape::Scalar => list.extend(self.view(storage, 0, name.to_owned())),
            Shape::Stack => {}
            shape => arrays.push(ArrayFacts { name: name.to_owned(), class: storage.class(), shape }),
        }
    }

    fn view(&self, storage: Storage, n: u64, name: String) -> Option<CellView> {
        let cell = storage.cell(n)?;
        let touch = self.touch(cell);
        Some(CellView {
            cell,
            class: storage.class(),
            value: self.text(cell),
            written: touch.is_some_and(|touch| touch.written),
            changed: touch.is_some_and(Touch::is_changed),
            read: touch.is_some_and(|touch| touch.read),
            other: touch.and_then(|touch| self.other(touch)),
            adjoint: cell
                .adjoint()
                .filter(|_| self.shows_adjoints)
                .map(|adjoint| self.adjoint(adjoint, &name)),
            name,
        })
    }

    fn adjoint(&self, cell: Cell, of: &str) -> AdjointView {
        let touch = self.touch(cell);
        AdjointView {
            name: adjoint_name(of),
            value: self.text(cell),
            changed: touch.is_some_and(Touch::is_changed),
            other: touch.and_then(|touch| self.other(touch)),
        }
    }

    fn touch(&self, cell: Cell) -> Option<&Touch> {
        self.footprint.iter().find(|touch| touch.cell == Some(cell))
    }

    fn text(&self, cell: Cell) -> String {
        self.session.memory().text(self.session.state(), cell)
    }

    /// Returns the value of a cell before the last step; `None` if the last step didn't change the cell.
    fn other(&self, touch: &Touch) -> Option<String> {
        let other = match self.session.facing() {
            Travel::Forward => &touch.before,
            Travel::Backward => &touch.after,
        };
        touch.is_changed().then(|| other.clone())
    }
}

pub(super) fn is_register(name: &str) -> bool {
    let digits = name.strip_prefix(['r', 'f']).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}
