//! The classes of the numbers in an expression.

use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;

use super::Records;
use super::classes::NumberClass;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{Expression, ExpressionKind, TextFunction};
use crate::visit;

impl Records {
    /// Returns true if an expression has numbers of the classes, or functions of them.
    pub(super) fn has_numbers(&self, expression: &Expression) -> bool {
        let mut found = false;
        visit::in_expression(expression, &mut |part| {
            found |= matches!(self.number_class(part), Some(NumberClass::Complex | NumberClass::Log));
            if let ExpressionKind::InText(application) = &part.kind {
                found |= is_of_complex(application.function);
            }
        });
        found
    }

    /// Returns true if an expression mentions a number of a class.
    pub(super) fn has_class(&self, expression: &Expression, class: NumberClass) -> bool {
        let mut found = false;
        visit::in_expression(expression, &mut |part| found |= self.number_class(part) == Some(class));
        found
    }

    /// Returns true if a name, or the record before its dot, denotes an array here.
    pub(super) fn is_array_name(&self, name: &str) -> bool {
        let declared = name.split_once('.').map_or(name, |(record, _)| record);
        self.find(declared).is_some_and(|found| found.is_array)
    }

    /// Returns the first operation of reals that has a tropical number as its source.
    fn tropical_source<'e>(&self, value: &'e Expression) -> Option<&'e Expression> {
        let sources = match &value.kind {
            ExpressionKind::Unary(_, inner) => std::slice::from_ref(&**inner),
            ExpressionKind::Binary(_, sides) => &sides[..],
            ExpressionKind::Apply(application) => &application.sources[..],
            ExpressionKind::InText(application) => &application.sources[..],
            _ => return None,
        };
        let is_tropical = |source: &&Expression| self.number_class(source) == Some(NumberClass::Tropical);
        sources.iter().find(is_tropical).or_else(|| sources.iter().find_map(|it| self.tropical_source(it)))
    }

    /// Reports a tropical number in an operation of reals: it would have another meaning there.
    pub(super) fn refuse_tropical_source(&mut self, value: &Expression) {
        if let Some(place) = self.tropical_source(value).map(|source| source.span) {
            let message = "a tropical number in an operation of reals".to_owned();
            let help = "add it to a real cell first, as in `add x, t`; `mul` of a tropical cell has tropical operations";
            self.diagnostics.push(refusal(place, message, "tropical", help));
        }
    }

    /// Returns the class of a value; `None` for a real.
    pub(super) fn class_of_value(&self, value: &Expression) -> Option<NumberClass> {
        let of_any = |parts: &[Expression]| parts.iter().find_map(|part| self.class_of_value(part));
        match &value.kind {
            ExpressionKind::Name { .. } | ExpressionKind::Element(_) => {
                self.number_class(value).filter(|class| *class != NumberClass::Tropical)
            }
            ExpressionKind::Unary(_, inner) => self.class_of_value(inner),
            ExpressionKind::Binary(_, sides) => of_any(&**sides),
            ExpressionKind::Apply(application) => match application.function {
                Function::Abs | Function::ToReal => None,
                _ => of_any(&application.sources),
            },
            ExpressionKind::InText(application) => match application.function {
                TextFunction::Complex | TextFunction::Conj => Some(NumberClass::Complex),
                TextFunction::Re | TextFunction::Im | TextFunction::Arg => None,
                _ => of_any(&application.sources),
            },
            _ => None,
        }
    }

    /// Returns true for a function of complex numbers or logarithms whose value is a real.
    pub(super) fn yields_real(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Apply(application) => {
                matches!(application.function, Function::Abs | Function::ToReal)
                    && application.sources.iter().any(|source| self.class_of_value(source).is_some())
            }
            ExpressionKind::InText(application) => {
                matches!(application.function, TextFunction::Re | TextFunction::Im | TextFunction::Arg)
            }
            _ => false,
        }
    }
}

fn is_of_complex(function: TextFunction) -> bool {
    matches!(
        function,
        TextFunction::Complex | TextFunction::Re | TextFunction::Im | TextFunction::Conj | TextFunction::Arg
    )
}

/// Returns an error about a number of one of the classes.
pub(super) fn refusal(place: Span, message: String, label: &str, help: &str) -> Diagnostic {
    Diagnostic::error(ProblemCode::ClassesMixed, message, place, label).help(help)
}
