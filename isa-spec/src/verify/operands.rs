//! Rules about operands: number, class and bounds of operands, and permission to change them.

use super::{Checker, Site};
use crate::codes::ProblemCode;
use crate::function::Function;
use crate::instruction::{Base, Class, Index, Instruction, Link, Operand, Place, Term};
use crate::module::{Declaration, Extent, Procedure, Shape as Cells};
use crate::update::{OperandShape, Over};

/// The maximum offset of an index. The number exceeds all array lengths, but is so small that a sum of a cell
/// and an offset isn't in bounds if the sum wraps.
const MAX_OFFSET: u64 = 1 << 62;

impl<'a> Checker<'a> {
    /// Reports an instruction whose function, link or number of operands doesn't fit its update. Returns true
    /// if all of them fit.
    pub(super) fn form(&mut self, at: u32, instruction: &'a Instruction) -> bool {
        let Instruction { update, function, operands, link } = instruction;
        let sources = function.arity();
        let (operand_count, link_fits) = match update.shape() {
            OperandShape::Accumulate => (1 + sources, *link == Link::None),
            OperandShape::Single | OperandShape::Show => (1, *link == Link::None),
            OperandShape::Exchange => (2, *link == Link::None),
            OperandShape::Rotate => (3, *link == Link::None),
            OperandShape::Condition => (sources, *link == Link::None),
            OperandShape::Branch => (sources, matches!(link, Link::Partner(_))),
            OperandShape::Call => (0, matches!(link, Link::Calls(calls) if calls.len() == 1)),
            OperandShape::Tasks | OperandShape::Switch => (0, *link == Link::None),
            OperandShape::Boundary => {
                let message = format!("`{}` is allowed only at the bounds of a procedure", update.name());
                self.report(ProblemCode::MalformedImage, Site::Instruction(at), message);
                return false;
            }
        };
        let is_test = matches!(update.shape(), OperandShape::Condition | OperandShape::Branch);
        let function_fits = match (update.takes_function(), is_test) {
            (true, true) => function.is_condition(),
            // `always` is a condition without a value: source text can't contain `add.always y`.
            (true, false) => *function != Function::Always,
            (false, _) => *function == Function::Copy,
        };
        let fits = operands.len() == operand_count && link_fits && function_fits;
        if !fits {
            let message =
                format!("`{}.{}` is not an instruction with these operands", update.name(), function.name());
            self.report(ProblemCode::MalformedImage, Site::Instruction(at), message);
        }
        fits
    }

    /// Reports operands that don't exist, that have other indices than their declaration requires, or that
    /// have a constant index out of bounds. Returns true if all operands are valid.
    pub(super) fn places(&mut self, procedure: &'a Procedure, at: u32, instruction: &'a Instruction) -> bool {
        let mut sound = true;
        for (n, operand) in instruction.operands.iter().enumerate() {
            sound &= self.operand(procedure, Site::Operand(at, n as u32), operand);
        }
        sound
    }

    pub(super) fn operand(&mut self, procedure: &'a Procedure, site: Site, operand: &'a Operand) -> bool {
        match operand {
            Operand::Int(value) => self.check_int_literal(site, *value),
            Operand::Real(value) => self.check_real_literal(site, *value),
            Operand::Mode => {}
            Operand::Place(place) => return self.place(procedure, site, place),
        }
        true
    }

    fn place(&mut self, procedure: &'a Procedure, site: Site, place: &'a Place) -> bool {
        let Some(declaration) = self.declaration(procedure, place.base) else {
            self.report(ProblemCode::MalformedImage, site, "this operand refers to no declaration");
            return false;
        };
        if declaration.extent == Extent::Cells(Cells::Stack) {
            return self.names_stack(site, declaration.name);
        }
        if place.adjoint && declaration.class == Class::Int {
            self.report(
                ProblemCode::NoSuchAdjoint,
                site,
                format!("`{}` is an integer and has no adjoint", declaration.name),
            );
            return false;
        }
        match (&place.index, declaration.extent) {
            (None, Extent::Cells(Cells::Scalar)) => true,
            (Some(index), extent) => self.index(procedure, site, index, declaration, extent),
            (None, extent) => {
                let name = declaration.name;
                self.report(
                    ProblemCode::ArrayOrCell,
                    site,
                    format!("`{name}` is an array: an element needs an index"),
                )
                .help = Some(format!("write `{name}{}`", if extent.is_matrix() { "[i, j]" } else { "[i]" }));
                false
            }
        }
    }

    /// Reports a stack that is used as an operand: a stack has no cells that an operand could name. Returns
    /// false.
    pub(super) fn names_stack(&mut self, site: Site, name: &str) -> bool {
        self.report(
            ProblemCode::StackAsOperand,
            site,
            format!("`{name}` is a stack: only `push` and `pop` reach it"),
        )
        .help = Some("`push x` puts x on the stack of its class, `pop x` takes the last value off it".into());
        false
    }

    fn index(
        &mut self,
        procedure: &'a Procedure,
        site: Site,
        index: &'a Index,
        declaration: Declaration<'a>,
        extent: Extent,
    ) -> bool {
        match (index, extent) {
            (Index::One(term), Extent::Cells(Cells::Vector(n))) => {
                self.term(procedure, site, term, declaration, Some(n))
            }
            (Index::One(term), Extent::Slice) => self.term(procedure, site, term, declaration, None),
            (Index::Two(row, column), Extent::Cells(Cells::Matrix(rows, columns))) => {
                self.term(procedure, site, row, declaration, Some(rows))
                    & self.term(procedure, site, column, declaration, Some(columns))
            }
            (Index::Two(row, column), Extent::Matrix) => {
                self.term(procedure, site, row, declaration, None)
                    & self.term(procedure, site, column, declaration, None)
            }
            (_, extent) => {
                let wanted = match extent {
                    Extent::Cells(Cells::Scalar) => "is a scalar: it has no elements",
                    Extent::Cells(Cells::Matrix(..)) | Extent::Matrix => {
                        "is a matrix: an element has two indices"
                    }
                    Extent::Cells(Cells::Stack) => "is a stack: it has no elements",
                    Extent::Cells(Cells::Vector(_)) | Extent::Slice => {
                        "is a vector: an element has one index"
                    }
                };
                self.report(ProblemCode::ArrayOrCell, site, format!("`{}` {wanted}", declaration.name));
                false
            }
        }
    }

    /// Reports an invalid index and returns false: a cell that isn't an integer scalar, a constant that is
    /// negative or not below the length (if that is known), or an offset beyond every array.
    pub(super) fn term(
        &mut self,
        procedure: &'a Procedure,
        site: Site,
        term: &'a Term,
        array: Declaration<'a>,
        length: Option<u32>,
    ) -> bool {
        let Some(cell) = term.cell else {
            let below = length.is_none_or(|n| term.offset < i64::from(n));
            if term.offset < 0 || !below {
                let name = array.name;
                let message = format!("the index {} is outside of `{name}`", term.offset);
                self.report(ProblemCode::IndexOutOfBounds, site, message).help =
                    length.map(|n| format!("the indices of `{name}` go from 0 to {}", i64::from(n) - 1));
                return false;
            }
            return true;
        };
        if term.offset.unsigned_abs() > MAX_OFFSET {
            self.report(
                ProblemCode::IndexOutOfBounds,
                site,
                format!("the offset {} is beyond every array", term.offset),
            );
            return false;
        }
        let sound = self.declaration(procedure, cell).is_some_and(|declaration| {
            declaration.class == Class::Int && declaration.extent == Extent::Cells(Cells::Scalar)
        });
        if !sound {
            self.report(
                ProblemCode::ArrayOrCell,
                site,
                "an index is a constant, an integer scalar, or the sum of both",
            );
        }
        sound
    }

    /// Returns the class of an operand that [`Checker::places`] accepted.
    pub(super) fn class(&self, procedure: &'a Procedure, operand: &'a Operand) -> Class {
        match operand {
            Operand::Int(_) | Operand::Mode => Class::Int,
            Operand::Real(_) => Class::Real,
            Operand::Place(place) => self.declaration(procedure, place.base).map_or(Class::Int, |d| d.class),
        }
    }

    /// Checks that the function has a signature for the operands' classes, and that the update is legal over the
    /// target's class.
    pub(super) fn classes(&mut self, procedure: &'a Procedure, at: u32, instruction: &'a Instruction) {
        let classes: Vec<Class> = instruction.operands.iter().map(|o| self.class(procedure, o)).collect();
        let (targets, sources) = classes.split_at(instruction.update.shape().targets().min(classes.len()));
        match instruction.update.shape() {
            OperandShape::Accumulate => {
                self.function_signature(procedure, at, instruction, targets.first().copied(), sources)
            }
            OperandShape::Condition | OperandShape::Branch => {
                self.function_signature(procedure, at, instruction, Some(Class::Int), sources)
            }
            OperandShape::Exchange => {
                if targets.first() != targets.last() {
                    self.report(
                        ProblemCode::ClassesMixed,
                        Site::Instruction(at),
                        "an integer and a real can't be exchanged",
                    );
                }
            }
            OperandShape::Rotate => {
                if classes.contains(&Class::Int) {
                    let message = format!("`{}` takes reals only", instruction.update.name());
                    self.report(ProblemCode::ClassesMixed, Site::Instruction(at), message);
                }
            }
            // These shapes accept any class.
            OperandShape::Single
            | OperandShape::Boundary
            | OperandShape::Call
            | OperandShape::Tasks
            | OperandShape::Show
            | OperandShape::Switch => {}
        }
        for &class in targets {
            self.legality(at, instruction, class);
        }
    }

    fn legality(&mut self, at: u32, instruction: &'a Instruction, class: Class) {
        let update = instruction.update;
        let needed = match class {
            Class::Int => Over::Integers,
            Class::Real => Over::AdditiveReals,
        };
        if update.over().contains(&needed) {
            return;
        }
        let message = match class {
            Class::Int => format!("`{}` has no inverse over integers", update.name()),
            Class::Real => format!("`{}` has no inverse over {}", update.name(), self.module.real),
        };
        let violation = self.report(ProblemCode::NoInverseOver, Site::Instruction(at), message);
        violation.help = match update.over() {
            [Over::MultiplicativeReals] => Some(
                "write `add.mul y, a, b` for a product, or `add.div y, a, b` for a quotient: \
                 this update is for cells of the classes `log` and `tropical`"
                    .into(),
            ),
            [Over::ComplexReals] => Some("this update is for cells of the class `complex`".into()),
            [Over::Integers] => Some("apply this update to an integer: it works on bits".into()),
            _ => None,
        };
    }

    /// Reports targets that aren't cells or that the procedure must not change. Also reports a target that is
    /// a source of the same instruction, unless the update loses the target's old value.
    pub(super) fn targets(&mut self, procedure: &'a Procedure, at: u32, instruction: &'a Instruction) {
        let shape = instruction.update.shape();
        let count = shape.targets();
        for (n, operand) in instruction.operands.iter().enumerate().take(count) {
            let site = Site::Operand(at, n as u32);
            let Operand::Place(target) = operand else {
                self.report(ProblemCode::NoTarget, site, "a target must be a cell, not a constant").help =
                    Some("put the constant into a cell first: an instruction changes its target".into());
                continue;
            };
            self.writable(procedure, site, target);
            self.aliases(procedure, at, instruction, n, target);
        }
    }

    pub(super) fn writable(&mut self, procedure: &'a Procedure, site: Site, target: &'a Place) -> bool {
        let Some(declaration) = self.declaration(procedure, target.base) else { return false };
        // An `in` parameter is read only, but its adjoint may change.
        if target.adjoint {
            return true;
        }
        if !declaration.writable {
            let message = format!("`{}` is an `in` parameter and can't be changed", declaration.name);
            self.report(ProblemCode::InParameterChanged, site, message).help =
                Some("declare the parameter `inout`, or change a copy".into());
        }
        declaration.writable
    }

    fn aliases(
        &mut self,
        procedure: &'a Procedure,
        at: u32,
        instruction: &'a Instruction,
        n: usize,
        target: &'a Place,
    ) {
        let may_be_source = instruction.update.shape() == OperandShape::Exchange
            || instruction.update.action().may_read_target();
        for (m, operand) in instruction.operands.iter().enumerate() {
            let Operand::Place(other) = operand else { continue };
            let site = Site::Operand(at, m as u32);
            if m != n && !may_be_source && same_cell(target, other) {
                self.alias(procedure, site, target, "is the target and a source of one instruction");
            }
            if target.index.is_none() && !target.adjoint && reads_as_index(other, target.base) {
                self.alias(procedure, site, target, "is the target and an index of one instruction");
            }
        }
    }

    fn alias(&mut self, procedure: &'a Procedure, site: Site, target: &'a Place, what: &str) {
        let name = self.declaration(procedure, target.base).map_or("", |d| d.name);
        self.report(ProblemCode::TargetIsSource, site, format!("`{name}` {what}")).help =
            Some("copy the cell into an ancilla first: otherwise its old value could be lost".into());
    }
}

/// Returns true if two places certainly name the same cell.
fn same_cell(a: &Place, b: &Place) -> bool {
    a == b
}

/// Returns true if a cell occurs in the index of a place.
fn reads_as_index(place: &Place, cell: Base) -> bool {
    place.index.as_ref().is_some_and(|index| index.terms().any(|term| term.cell == Some(cell)))
}
