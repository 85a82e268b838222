//! Calls: arguments are matched with the parameters of the callee.

use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Argument, Base, Call, Instruction, Link, Operand, Place, Range, Slice};
use reviver_isa::module::{Extent, Parameter, Passing, Rank, Shape};
use reviver_isa::update::Update;
use reviver_isa::verify::classes::converter;

use super::Lowering;
use super::applied::Source;
use super::scope::Meaning;
use crate::diagnostic::Diagnostic;
use crate::format::spelled;
use crate::source::Span;
use crate::tree::{self, Expression};

impl Lowering<'_> {
    /// Returns the instruction of a `call` or an `uncall`, or `None` if it is invalid and has been reported.
    pub(super) fn calling(&mut self, update: Update, call: &tree::CallNode) -> Option<Instruction> {
        let link = Link::Calls(Box::new(Box::new([self.call(call)?])));
        Some(Instruction { update, function: Function::Copy, operands: super::operands([]), link })
    }

    fn call(&mut self, call: &tree::CallNode) -> Option<Call> {
        let procedure = self.declared.procedure_number(&call.procedure, &mut self.report)?;
        let parameters = self.declared.parameters_of(procedure);
        let asked = self.declared.asked_lengths(procedure).to_vec();
        let written = parameters.get(..parameters.len().saturating_sub(asked.len())).unwrap_or_default();
        if written.len() != call.arguments.len() {
            return self.wrong_count(call, procedure, written);
        }
        let fitted: Vec<Option<Argument>> = call
            .arguments
            .iter()
            .zip(written)
            .map(|(argument, (parameter, declared))| self.argument(argument, parameter, *declared))
            .collect();
        let mut arguments: Vec<Argument> = fitted.into_iter().collect::<Option<_>>()?;
        for length in asked {
            let n = length.parameter;
            let span = call.arguments.get(n).map_or(call.procedure.span, |argument| argument.span);
            let argument = arguments.get(n).cloned()?;
            arguments.push(self.length_of_argument(&argument, length.dimension, span)?);
        }
        Some(Call { procedure, arguments })
    }

    fn wrong_count<T>(
        &mut self,
        call: &tree::CallNode,
        procedure: u32,
        parameters: &[(Parameter, Span)],
    ) -> Option<T> {
        let (wanted, given) = (parameters.len(), call.arguments.len());
        let name = &call.procedure.text;
        let noun = if wanted == 1 { "argument" } else { "arguments" };
        let names: Vec<&str> = parameters.iter().map(|(p, _)| p.name.as_str()).collect();
        let declared = match parameters.get(given) {
            Some((missing, place)) => (*place, format!("nothing is passed for `{}`", missing.name)),
            None => (self.declared.head(procedure).span, "declared here".into()),
        };
        self.report.fail(
            Diagnostic::error(
                ProblemCode::WrongNumberOfArguments,
                format!("`{name}` takes {wanted} {noun}"),
                call.procedure.span,
                format!("{given} given"),
            )
            .with(declared.0, declared.1)
            .help(format!("pass one argument for each parameter: ({})", names.join(", "))),
        )
    }

    fn argument(
        &mut self,
        expression: &Expression,
        parameter: &Parameter,
        declared: Span,
    ) -> Option<Argument> {
        let meaning = self.evaluate(expression)?;
        let fitted = match parameter.rank {
            Rank::Scalar => self.scalar_argument(meaning, expression.span, parameter),
            Rank::Vector => self.slice_argument(meaning, expression.span),
            Rank::Matrix => self.matrix_argument(meaning, expression.span),
        };
        match fitted.and_then(|argument| self.passable(argument, parameter)) {
            Ok(argument) => Some(argument),
            Err(Misfit::Reported) => None,
            Err(Misfit::Class(base)) => {
                let name = match self.is_temporary(base) {
                    true => spelled(expression),
                    false => self.base_name(base).to_owned(),
                };
                let text = format!("`{name}` is {}", self.class_of(base).name());
                self.not_fitting(
                    expression,
                    text,
                    parameter,
                    declared,
                    conversion_help(expression, parameter),
                )
            }
            Err(Misfit::Because(text)) => self.not_fitting(expression, text, parameter, declared, None),
        }
    }

    fn not_fitting<T>(
        &mut self,
        expression: &Expression,
        text: String,
        parameter: &Parameter,
        declared: Span,
        help: Option<String>,
    ) -> Option<T> {
        let name = &parameter.name;
        let message = format!("the argument does not fit the parameter `{name}`");
        let wanted = format!("`{name}` takes {}", describe(parameter));
        let diagnostic = Diagnostic::error(ProblemCode::ArgumentDoesNotFit, message, expression.span, text)
            .with(declared, wanted);
        self.report.fail(diagnostic.help_if(help))
    }

    fn slice_argument(&mut self, meaning: Meaning, span: Span) -> Result<Argument, Misfit> {
        match meaning {
            Meaning::Slice(slice) => Ok(Argument::Slice(slice)),
            Meaning::Variable { base, adjoint: false } if self.is_array(base) => Ok(whole(base)),
            Meaning::Variable { adjoint: true, .. } => Err(because("adjoints can't be passed as an array")),
            meaning => {
                self.source_of(meaning, span).ok_or(Misfit::Reported)?;
                Err(because("this is one cell or a constant"))
            }
        }
    }

    /// Returns an argument for a matrix parameter. The argument must be a whole matrix.
    fn matrix_argument(&mut self, meaning: Meaning, span: Span) -> Result<Argument, Misfit> {
        match self.slice_argument(meaning, span)? {
            Argument::Slice(Slice { range, .. }) if range != Range::Whole => {
                Err(because("this is a part of an array"))
            }
            Argument::Slice(Slice { base, .. }) if !self.extent(base).is_matrix() => {
                Err(because("this is a vector"))
            }
            argument => Ok(argument),
        }
    }

    fn scalar_argument(
        &mut self,
        meaning: Meaning,
        span: Span,
        parameter: &Parameter,
    ) -> Result<Argument, Misfit> {
        match meaning {
            Meaning::Slice(_) => return Err(because("this is a part of an array")),
            Meaning::Variable { base, .. } if self.is_array(base) => {
                return Err(because("this is an array"));
            }
            _ => {}
        }
        let source = self.source_of(meaning, span).ok_or(Misfit::Reported)?;
        match &source {
            _ if parameter.passing == Passing::In => {}
            Source::Literal(_) => return Err(because("a constant can't be changed")),
            Source::Cell(Operand::Place(Place { base, index: None, .. }), _) if self.is_temporary(*base) => {
                return Err(because("an expression can't be changed"));
            }
            Source::Cell(..) | Source::Length(_) => {}
        }
        let operand = self.typed(source, parameter.class, span).ok_or(Misfit::Reported)?;
        Ok(Argument::Scalar(operand))
    }

    /// Returns an argument unchanged if its class is that of the parameter and, for an `inout` parameter, the
    /// caller may change it. Otherwise returns the reason.
    fn passable(&self, argument: Argument, parameter: &Parameter) -> Result<Argument, Misfit> {
        let base = match &argument {
            Argument::Scalar(Operand::Place(Place { base, .. })) | Argument::Slice(Slice { base, .. }) => {
                *base
            }
            Argument::Scalar(Operand::Mode) if parameter.passing == Passing::InOut => {
                return Err(because("only `grad.on` and `grad.off` change the mode"));
            }
            Argument::Scalar(_) => return Ok(argument),
        };
        let class = self.class_of(base);
        if class != parameter.class {
            return Err(Misfit::Class(base));
        }
        if parameter.passing == Passing::InOut && !self.is_writable(base) {
            let name = self.base_name(base);
            return Err(Misfit::Because(format!("`{name}` is an `in` parameter and can't be changed")));
        }
        Ok(argument)
    }

    fn is_array(&self, base: Base) -> bool {
        self.extent(base) != Extent::Cells(Shape::Scalar)
    }

    pub(super) fn extent(&self, base: Base) -> Extent {
        self.fact(base).map_or(Extent::Cells(Shape::Scalar), |(_, _, extent)| extent)
    }

    pub(super) fn is_writable(&self, base: Base) -> bool {
        match base {
            Base::Global(_) | Base::Frame(_) => true,
            Base::Parameter(n) => {
                self.current.parameters.get(n as usize).is_some_and(|p| p.passing == Passing::InOut)
            }
        }
    }
}

/// The reason why an argument can't be passed for a parameter.
enum Misfit {
    Reported,
    /// The argument, a cell of this declaration, has another class than the parameter.
    Class(Base),
    Because(String),
}

fn because(text: &str) -> Misfit {
    Misfit::Because(text.into())
}

fn whole(base: Base) -> Argument {
    Argument::Slice(Slice { base, range: Range::Whole })
}

/// Returns the suggestion to convert an argument. Returns `None` for an `inout` parameter, because a converted
/// value can't be changed.
fn conversion_help(expression: &Expression, parameter: &Parameter) -> Option<String> {
    let readable = parameter.passing == Passing::In && parameter.rank == Rank::Scalar;
    let function = converter(parameter.class).name();
    readable.then(|| format!("pass `{function}({})`", spelled(expression)))
}

fn describe(parameter: &Parameter) -> String {
    let class = parameter.class.name();
    match (parameter.rank, parameter.passing) {
        (Rank::Scalar, Passing::In) => format!("a cell or a constant of class {class}"),
        (Rank::Scalar, Passing::InOut) => format!("a cell of class {class} that the procedure may change"),
        (Rank::Vector, Passing::In) => format!("an array of {class}"),
        (Rank::Vector, Passing::InOut) => format!("an array of {class} that the procedure may change"),
        (Rank::Matrix, Passing::In) => format!("a whole matrix of {class}"),
        (Rank::Matrix, Passing::InOut) => format!("a whole matrix of {class} that the procedure may change"),
    }
}
