//! Constant evaluation. A literal is exact until an operation uses it. Operations have the results that the
//! machine computes in the program's word and number system. This module is independent of names.

use arrayvec::ArrayVec;
use reviver_isa::codes::ProblemCode;
use reviver_isa::fault::Fault;
use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Word};
use reviver_isa::number::{PlainValue, evaluate, literal_of_bits, try_literal_bits};

use super::signature::{SourceKind, signature};
use crate::tree::{BinaryOperator, UnaryOperator};

/// The value of a constant expression, not yet converted to the word or number system of the place where it
/// is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// An integer literal as written, or a count such as a length. `pattern` is true for a literal in base 2,
    /// 8 or 16, which may denote any bit pattern of the word.
    Int { value: i128, pattern: bool },
    /// The result of an integer operation in the program's word. `wrapped` is true if the exact result is
    /// outside of the word's range.
    Word { value: i64, wrapped: bool },
    /// A real literal as written, not yet rounded.
    Real(f64),
    /// The result of a real operation, as the bits of the program's number system.
    Cell(u64),
}

/// The error of a constant expression, and the suggestion.
pub(super) struct ConstantProblem {
    pub(super) code: ProblemCode,
    pub(super) message: String,
    pub(super) help: Option<String>,
    /// The index of the source that causes the error, or `None` if the whole expression does.
    pub(super) source: Option<usize>,
}

impl ConstantProblem {
    fn new(code: ProblemCode, message: impl Into<String>) -> ConstantProblem {
        ConstantProblem { code, message: message.into(), help: None, source: None }
    }

    fn help(mut self, help: impl Into<String>) -> ConstantProblem {
        self.help = Some(help.into());
        self
    }
}

type Constant<T> = Result<T, ConstantProblem>;

impl Number {
    pub(super) fn int(value: i128) -> Number {
        Number::Int { value, pattern: false }
    }

    /// Returns the number's own class, in which it is used unless another one is required.
    pub(super) fn class(self) -> Class {
        match self {
            Number::Int { .. } | Number::Word { .. } => Class::Int,
            Number::Real(_) | Number::Cell(_) => Class::Real,
        }
    }

    /// Returns the classes in which the number can be used. An integer can also be used as a real.
    pub(super) fn kind(self) -> SourceKind {
        SourceKind { class: self.class(), stands_for_real: true }
    }

    /// Returns the value of an integer, or `None` for a real.
    pub(super) fn integer(self) -> Option<i128> {
        match self {
            Number::Int { value, .. } => Some(value),
            Number::Word { value, .. } => Some(value.into()),
            Number::Real(_) | Number::Cell(_) => None,
        }
    }

    /// Returns true if the exact result is outside of the word's range. A wrapped number is rejected as a
    /// length, a step or a limit.
    pub(super) fn has_wrapped(self) -> bool {
        matches!(self, Number::Word { wrapped: true, .. })
    }
}

/// The word and the number system of a program, in which its constants are computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramNumbers {
    pub(super) word: Word,
    pub(super) real: RealSystem,
}

impl ProgramNumbers {
    /// Converts the number to a word of the program.
    pub(super) fn to_word(self, number: Number) -> Constant<i64> {
        match number {
            Number::Int { value, pattern } => fit(value, pattern, self.word),
            Number::Word { value, .. } => Ok(value),
            Number::Real(value) => Err(no_integer(value)),
            Number::Cell(bits) => Err(no_integer(literal_of_bits(self.real, bits).unwrap_or(f64::NAN))),
        }
    }

    /// Converts the number to a real literal, which a module stores as an f64. The program's number system
    /// rounds that f64 to the number.
    pub(super) fn to_real(self, number: Number) -> Constant<f64> {
        match number {
            // The verifier checks that the number system can represent the number.
            Number::Real(value) => Ok(value),
            Number::Int { value, .. } if i64::try_from(value).is_err() => {
                self.plain(number).map(|()| value as f64)
            }
            Number::Int { .. } | Number::Word { .. } | Number::Cell(_) => {
                let bits = self.real_bits(number)?;
                literal_of_bits(self.real, bits).ok_or_else(|| too_precise(self.real))
            }
        }
    }

    /// Rejects a bit pattern as a real if it denotes different numbers as a word and as a real. For example,
    /// `0xff` is -1 as an 8-bit word, but 255 as a real.
    fn plain(self, number: Number) -> Constant<()> {
        match number {
            Number::Int { value, pattern: true } if value > i128::from(*self.word.range().end()) => {
                let message = format!(
                    "{value:#x} is one number as a real, and another as a word of {} bits",
                    self.word.bits()
                );
                let help = match fit(value, true, self.word) {
                    Ok(word) => format!("write the real that is meant: `{value}.0`, or `{word}.0`"),
                    Err(_) => format!("write the real that is meant: `{value}.0`"),
                };
                Err(ConstantProblem::new(ProblemCode::NumberDoesNotFit, message).help(help))
            }
            _ => Ok(()),
        }
    }

    fn real_bits(self, number: Number) -> Constant<u64> {
        self.plain(number)?;
        let too_large = |value: &dyn std::fmt::Display| {
            let message = format!("{value} does not fit into the number system ({})", self.real);
            ConstantProblem::new(ProblemCode::NumberDoesNotFit, message)
                .help(format!("write a smaller number{}", or_wider(self.real)))
        };
        let converted = |value: i64| {
            let made =
                evaluate(self.pair(), (Function::ToReal, Signature::IntsToReal), &[PlainValue::Int(value)]);
            match made {
                Ok(PlainValue::Real(bits)) => Ok(bits),
                _ => Err(too_large(&value)),
            }
        };
        match number {
            Number::Int { value, .. } => match i64::try_from(value) {
                // The conversion function accepts every 64-bit word. A longer literal is converted as an f64.
                Ok(value) => converted(value),
                Err(_) => try_literal_bits(self.real, value as f64).map_err(|_| too_large(&value)),
            },
            Number::Word { value, .. } => converted(value),
            Number::Real(value) if self.real.represents(value) => {
                try_literal_bits(self.real, value).map_err(|_| too_large(&format_args!("{value:?}")))
            }
            Number::Real(value) => Err(too_large(&format_args!("{value:?}"))),
            Number::Cell(bits) => Ok(bits),
        }
    }

    fn pair(self) -> (Word, RealSystem) {
        (self.word, self.real)
    }

    /// Negates a number, or complements its bits. `is_literal` is true if the operand is a number written in
    /// digits; then the minus sign is part of the literal.
    pub(super) fn unary(self, operator: UnaryOperator, a: Number, is_literal: bool) -> Constant<Number> {
        match (operator, a) {
            (UnaryOperator::Negate, Number::Real(a)) if is_literal || a != 0.0 => Ok(Number::Real(-a)),
            (UnaryOperator::Negate, Number::Int { value, pattern })
                if !pattern || value <= i128::from(*self.word.range().end()) =>
            {
                let negated = value.checked_neg();
                let too_long =
                    || ConstantProblem::new(ProblemCode::NumberDoesNotFit, "this integer is too long");
                negated.map(Number::int).ok_or_else(too_long)
            }
            (UnaryOperator::Negate, a) => self.apply(Function::Diff, &[Number::int(0), a]),
            (UnaryOperator::Complement, a) if a.class() == Class::Real => {
                Err(ConstantProblem::new(ProblemCode::ClassesMixed, "`~` takes an integer"))
            }
            (UnaryOperator::Complement, a) => self.apply(Function::Xor, &[a, Number::int(-1)]),
        }
    }

    pub(super) fn binary(self, operator: BinaryOperator, a: Number, b: Number) -> Constant<Number> {
        self.apply(operator.function(), &[a, b])
    }

    /// Applies a function to constants, with the result that the machine computes.
    pub(super) fn apply(self, function: Function, sources: &[Number]) -> Constant<Number> {
        let kinds = sources.iter().take(2).map(|number| number.kind());
        let Some(signature) = signature(function, None, kinds) else {
            let message = match BinaryOperator::of(function) {
                Some(_) => "this operator takes integers".to_owned(),
                None => format!("`{}` can't take constants of these classes", function.name()),
            };
            return Err(ConstantProblem::new(ProblemCode::ClassesMixed, message));
        };
        let mut values = ArrayVec::<PlainValue, 2>::new();
        for (n, source) in sources.iter().take(2).enumerate() {
            let value = match signature.source(n) {
                Class::Int => self.to_word(*source).map(PlainValue::Int),
                Class::Real => self.taken_real(*source).map(PlainValue::Real),
            };
            values.push(value.map_err(|problem| ConstantProblem { source: Some(n), ..problem })?);
        }
        match evaluate(self.pair(), (function, signature), &values) {
            Ok(PlainValue::Int(value)) => {
                let wrapped =
                    sources.iter().any(|source| source.has_wrapped()) || wraps(function, &values, value);
                Ok(Number::Word { value, wrapped })
            }
            Ok(PlainValue::Real(bits)) => Ok(Number::Cell(bits)),
            Err(fault) => Err(self.no_value(fault)),
        }
    }

    /// Converts a number to a real source of a function. At run time, the machine would compute the source by
    /// adding it to a temporary that is 0, which turns -0 into 0. So a computed -0 becomes 0 here, too.
    fn taken_real(self, number: Number) -> Constant<u64> {
        let bits = self.real_bits(number)?;
        let Number::Cell(_) = number else { return Ok(bits) };
        let sources = [PlainValue::Real(0), PlainValue::Real(bits)];
        match evaluate(self.pair(), (Function::Sum, Signature::Real), &sources) {
            Ok(PlainValue::Real(bits)) => Ok(bits),
            _ => Ok(bits),
        }
    }

    /// Returns true if a real literal of a module, an f64, can represent the number.
    pub(super) fn is_writable(self, number: Number) -> bool {
        match number {
            Number::Cell(bits) => literal_of_bits(self.real, bits).is_some(),
            _ => true,
        }
    }

    fn no_value(self, fault: Fault) -> ConstantProblem {
        let problem = |message: &str, help: String| {
            ConstantProblem::new(ProblemCode::ConstantWithoutValue, message).help(help)
        };
        match fault {
            Fault::DivisionByZero => problem(
                "this constant expression divides by zero",
                "divide by another number: the machine would trap here, too".into(),
            ),
            Fault::Overflow => problem(
                &format!("this constant expression overflows: {} has no such number", self.real),
                format!("rewrite the expression with smaller intermediate results{}", or_wider(self.real)),
            ),
            Fault::OutOfRange => problem(
                &format!(
                    "this constant expression is out of the range of integers of {} bits",
                    self.word.bits()
                ),
                "choose a wider word (`.word 64`), or use a real".into(),
            ),
            Fault::NonFinite => problem(
                &format!("this constant expression has no value: {fault}"),
                format!("change the expression{}: the machine would trap here, too", or_wider(self.real)),
            ),
            Fault::NegativeExponent | Fault::Domain | Fault::NoSignature => problem(
                &format!("this constant expression has no value: {fault}"),
                "change the expression: the machine would trap here, too".into(),
            ),
        }
    }
}

/// Returns the suggestion to use a wider number system; empty if there is none.
fn or_wider(system: RealSystem) -> &'static str {
    match system {
        RealSystem::F64 => "",
        RealSystem::F32 | RealSystem::Fixed(_) => ", or choose `.real f64`, which has the widest range",
    }
}

/// Returns the error for an index with a sum of constants that overflows.
pub(super) fn too_far() -> ConstantProblem {
    ConstantProblem::new(ProblemCode::ConstantWithoutValue, "this constant expression overflows")
        .help("write smaller constants: no array has so many elements")
}

fn too_precise(system: RealSystem) -> ConstantProblem {
    let message =
        format!("in {system}, this constant has more than 53 bits, the most that a literal can have");
    ConstantProblem::new(ProblemCode::NumberDoesNotFit, message)
        .help("compute it in a statement: the machine keeps all digits")
}

fn no_integer(value: f64) -> ConstantProblem {
    let message = match value.is_nan() {
        true => "expected an integer, found a real".to_owned(),
        false => format!("expected an integer, found the real {value:?}"),
    };
    ConstantProblem::new(ProblemCode::ClassesMixed, message)
        .help("write an integer, or declare the cells `: real`")
}

/// Returns true if the exact result of an integer function is outside of the word's range.
fn wraps(function: Function, sources: &[PlainValue], result: i64) -> bool {
    let &[PlainValue::Int(a), PlainValue::Int(b)] = sources else { return false };
    let (a, b) = (i128::from(a), i128::from(b));
    let exact = match function {
        Function::Sum => a + b,
        Function::Diff => a - b,
        Function::Mul => a * b,
        Function::Div => a.checked_div(b).unwrap_or(0),
        // A shift by 64 or more, or by a negative amount, gives 0. It loses bits unless `a` is 0.
        Function::Shl => match u32::try_from(b) {
            Ok(by) if by < 64 => a << by,
            _ => return a != 0,
        },
        _ => return false,
    };
    exact != i128::from(result)
}

fn unsigned_max(word: Word) -> i128 {
    (1 << word.bits()) - 1
}

fn fit(value: i128, pattern: bool, word: Word) -> Constant<i64> {
    let range = word.range();
    let (least, greatest) = (i128::from(*range.start()), i128::from(*range.end()));
    let wrapped = if pattern && value > greatest && value <= unsigned_max(word) {
        value - unsigned_max(word) - 1
    } else {
        value
    };
    match i64::try_from(wrapped) {
        Ok(fitting) if range.contains(&fitting) => Ok(fitting),
        _ => Err(ConstantProblem::new(
            ProblemCode::NumberDoesNotFit,
            format!("{value} does not fit into {} bits", word.bits()),
        )
        .help(format!(
            "write a number from {least} to {greatest}, or a bit pattern in base 2, 8 or 16 up to {:#x}",
            unsigned_max(word)
        ))),
    }
}
