//! Rules about calls. The callee exists, the arguments fit its parameters, and arguments that may change
//! share no cells.

use super::overlap::PassedPlaces;
use super::{Checker, Site};
use crate::codes::ProblemCode;
use crate::instruction::{Argument, Call, Class, Instruction, Link, Operand, Range, Slice};
use crate::module::{Extent, Parameter, Passing, Procedure, Rank, Shape as Cells};

impl<'a> Checker<'a> {
    pub(super) fn calls(&mut self, procedure: &'a Procedure, at: u32, instruction: &'a Instruction) {
        let Link::Calls(calls) = &instruction.link else { return };
        for call in calls.iter() {
            let callee = self.module.procedures.get(call.procedure as usize);
            match callee {
                Some(callee) if call.procedure != 0 => self.arguments(procedure, at, call, callee),
                Some(_) => {
                    self.report(ProblemCode::MalformedImage, Site::Instruction(at), "`main` can't be called");
                }
                None => {
                    self.report(
                        ProblemCode::MalformedImage,
                        Site::Instruction(at),
                        "the called procedure does not exist",
                    );
                }
            }
        }
    }

    fn arguments(&mut self, procedure: &'a Procedure, at: u32, call: &'a Call, callee: &'a Procedure) {
        let (given, wanted) = (call.arguments.len(), callee.parameters.len());
        if given != wanted {
            let message = format!("`{}` takes {wanted} arguments, found {given}", callee.name);
            self.report(ProblemCode::WrongNumberOfArguments, Site::Instruction(at), message).other =
                Some((Site::Procedure(call.procedure), "declared here".into()));
            return;
        }
        for (n, (argument, parameter)) in call.arguments.iter().zip(&callee.parameters).enumerate() {
            let site = Site::Operand(at, n as u32);
            if !self.argument(procedure, site, argument, parameter) {
                let name = &parameter.name;
                let text = format!("the parameter `{name}` of `{}` is declared here", callee.name);
                if let Some(violation) = self.violations.last_mut() {
                    violation.other.get_or_insert((Site::Procedure(call.procedure), text));
                }
            }
        }
        self.overlap(at, call, callee);
    }

    /// Checks that an argument fits its parameter; otherwise reports the reason and returns false.
    fn argument(
        &mut self,
        procedure: &'a Procedure,
        site: Site,
        argument: &'a Argument,
        parameter: &'a Parameter,
    ) -> bool {
        match argument {
            Argument::Scalar(operand) => self.scalar_argument(procedure, site, operand, parameter),
            Argument::Slice(slice) => self.slice_argument(procedure, site, slice, parameter),
        }
    }

    fn scalar_argument(
        &mut self,
        procedure: &'a Procedure,
        site: Site,
        operand: &'a Operand,
        parameter: &'a Parameter,
    ) -> bool {
        match parameter.rank {
            Rank::Scalar => {}
            Rank::Vector => {
                self.report(
                    ProblemCode::ArgumentDoesNotFit,
                    site,
                    format!("`{}` takes an array or a part of an array", parameter.name),
                );
                return false;
            }
            Rank::Matrix => {
                self.report(
                    ProblemCode::ArgumentDoesNotFit,
                    site,
                    format!("`{}` takes a matrix", parameter.name),
                );
                return false;
            }
        }
        if !self.operand(procedure, site, operand) {
            return false;
        }
        if matches!(operand, Operand::Place(place) if place.adjoint) {
            self.report(ProblemCode::NoSuchAdjoint, site, "an adjoint can't be passed").help =
                Some("pass the cell; the procedure can name the adjoint of its parameter".into());
            return false;
        }
        if !self.argument_class(site, self.class(procedure, operand), parameter) {
            return false;
        }
        match (operand, parameter.passing) {
            (_, Passing::In) => true,
            (Operand::Place(place), Passing::InOut) => self.writable(procedure, site, place),
            (_, Passing::InOut) => {
                self.report(
                    ProblemCode::ArgumentDoesNotFit,
                    site,
                    format!("`{}` is `inout`: expected a cell, found a constant", parameter.name),
                );
                false
            }
        }
    }

    fn slice_argument(
        &mut self,
        procedure: &'a Procedure,
        site: Site,
        slice: &'a Slice,
        parameter: &'a Parameter,
    ) -> bool {
        let Some(declaration) = self.declaration(procedure, slice.base) else {
            self.report(ProblemCode::MalformedImage, site, "this argument refers to no declaration");
            return false;
        };
        if declaration.extent == Extent::Cells(Cells::Stack) {
            return self.names_stack(site, declaration.name);
        }
        match parameter.rank {
            Rank::Scalar => {
                self.report(
                    ProblemCode::ArgumentDoesNotFit,
                    site,
                    format!("`{}` takes one cell: expected a cell, found an array", parameter.name),
                )
                .help = Some("pass an element, `A[i]`".into());
                return false;
            }
            Rank::Matrix if slice.range != Range::Whole || !declaration.extent.is_matrix() => {
                self.report(
                    ProblemCode::ArgumentDoesNotFit,
                    site,
                    format!("`{}` takes a whole matrix", parameter.name),
                );
                return false;
            }
            Rank::Vector | Rank::Matrix => {}
        }
        if !self.slice(procedure, site, slice) || !self.argument_class(site, declaration.class, parameter) {
            return false;
        }
        if parameter.passing == Passing::InOut && !declaration.writable {
            self.report(
                ProblemCode::InParameterChanged,
                site,
                format!("`{}` is an `in` parameter and can't be changed", declaration.name),
            );
            return false;
        }
        true
    }

    fn argument_class(&mut self, site: Site, class: Class, parameter: &'a Parameter) -> bool {
        if class != parameter.class {
            let (name, wanted) = (&parameter.name, parameter.class.name());
            self.report(
                ProblemCode::ArgumentDoesNotFit,
                site,
                format!("`{name}` is `{wanted}`, and the argument is `{}`", class.name()),
            );
        }
        class == parameter.class
    }

    /// Checks that a slice is valid for its array; otherwise reports the reason and returns false.
    fn slice(&mut self, procedure: &'a Procedure, site: Site, slice: &'a Slice) -> bool {
        let Some(array) = self.declaration(procedure, slice.base) else { return false };
        match (&slice.range, array.extent) {
            (_, Extent::Cells(Cells::Scalar)) => {
                self.report(
                    ProblemCode::ArrayOrCell,
                    site,
                    format!("`{}` is a scalar, not an array", array.name),
                );
                false
            }
            (_, Extent::Cells(Cells::Stack)) => self.names_stack(site, array.name),
            (Range::Whole, _) => true,
            (Range::Span { from, to, step }, Extent::Cells(Cells::Vector(_)) | Extent::Slice) => {
                if *step == 0 {
                    self.report(ProblemCode::OutOfRange, site, "the step of a slice is at least 1");
                    return false;
                }
                // `to` is exclusive, so it may be equal to the length.
                let end = match array.extent {
                    Extent::Cells(shape) => Some(shape.cells().min(u64::from(u32::MAX) - 1) as u32 + 1),
                    Extent::Slice | Extent::Matrix => None,
                };
                self.term(procedure, site, from, array, end) & self.term(procedure, site, to, array, end)
            }
            (Range::Row(term), Extent::Cells(Cells::Matrix(rows, _))) => {
                self.term(procedure, site, term, array, Some(rows))
            }
            (Range::Column(term), Extent::Cells(Cells::Matrix(_, columns))) => {
                self.term(procedure, site, term, array, Some(columns))
            }
            (Range::Row(term) | Range::Column(term), Extent::Matrix) => {
                self.term(procedure, site, term, array, None)
            }
            (Range::Span { .. }, _) => {
                self.report(
                    ProblemCode::ArrayOrCell,
                    site,
                    format!("`{}` is a matrix: pass `{0}[i, ..]` or `{0}[.., j]`", array.name),
                );
                false
            }
            (Range::Row(_) | Range::Column(_), _) => {
                self.report(ProblemCode::ArrayOrCell, site, format!("`{}` is not a matrix", array.name));
                false
            }
        }
    }

    /// Reports two arguments that certainly share cells, unless both are `in`. Overlaps that depend on values
    /// are checked when the call is executed.
    fn overlap(&mut self, at: u32, call: &'a Call, callee: &'a Procedure) {
        let mut passed = PassedPlaces::default();
        for ((n, argument), parameter) in (0..).zip(&call.arguments).zip(&callee.parameters) {
            if let Some(m) = passed.add(n, argument, parameter.passing == Passing::InOut) {
                let violation = self.report(
                    ProblemCode::PassedTwice,
                    Site::Operand(at, n),
                    "two arguments are the same cells",
                );
                violation.other = Some((Site::Operand(at, m), "passed here too".into()));
                violation.help = Some("pass different cells, or declare both parameters `in`".into());
            }
        }
    }
}
