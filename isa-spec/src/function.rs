//! The function rows: every pure function `f(a, b)` that an update can apply, defined once.
//!
//! A row states its byte, its spelling, its edges, its value for each combination of operand classes (a
//! *signature*) and its partial derivatives, all over the [`Arith`] trait. Everything else in the project is
//! derived from this table. The table is independent of updates, cells and directions.
//!
//! The row's byte is the second byte of an instruction; bytes are frozen.

use crate::arith::{Arith, Elementary, Order};
use crate::class::Class;
use crate::fault::{Eval, Fault};

/// A combination of operand classes that a function accepts, and the class of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signature {
    /// All sources are integers, and so is the result.
    Int,
    /// All sources are real, and so is the result.
    Real,
    /// The first source is real, the second an integer, the result real.
    RealInt,
    /// All sources are real, the result is an integer.
    RealsToInt,
    /// All sources are integers, the result is real.
    IntsToReal,
}

impl Signature {
    /// Returns the class of the function's value, which is also the class of an update's target.
    pub const fn result(self) -> Class {
        match self {
            Signature::Int | Signature::RealsToInt => Class::Int,
            Signature::Real | Signature::RealInt | Signature::IntsToReal => Class::Real,
        }
    }

    /// Returns the class of source `index` (0 or 1).
    pub fn source(self, index: usize) -> Class {
        match (self, index) {
            (Signature::Int | Signature::IntsToReal, _) | (Signature::RealInt, 1) => Class::Int,
            _ => Class::Real,
        }
    }
}

/// The chapter of the manual that a function belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Arithmetic of integers and reals, with powers and functions such as `min` and `abs`.
    Arithmetic,
    /// Roots, exponentials, trigonometric and other elementary functions; reals only.
    Elementary,
    /// Bitwise functions, shifts and unsigned comparisons; integers only.
    Bits,
    /// Comparisons, which can also be the conditions of `br`, `from` and `assert`.
    Comparison,
    /// Conversions between integers and reals.
    Conversion,
}

/// The evaluators that a row provides. The default of each method reports that the row has no such signature.
pub(crate) trait FunctionRow {
    fn int<S: Arith>(_s: &S, _a: S::Int, _b: S::Int) -> Eval<S::Int> {
        Err(Fault::NoSignature)
    }
    fn real<S: Arith>(_s: &S, _a: S::Real, _b: S::Real) -> Eval<S::Real> {
        Err(Fault::NoSignature)
    }
    fn real_int<S: Arith>(_s: &S, _a: S::Real, _b: S::Int) -> Eval<S::Real> {
        Err(Fault::NoSignature)
    }
    fn reals_to_int<S: Arith>(_s: &S, _a: S::Real, _b: S::Real) -> Eval<S::Int> {
        Err(Fault::NoSignature)
    }
    fn ints_to_real<S: Arith>(_s: &S, _a: S::Int, _b: S::Int) -> Eval<S::Real> {
        Err(Fault::NoSignature)
    }
    fn d_a<S: Arith>(_s: &S, _a: S::Real, _b: S::Real) -> Eval<S::Real> {
        Err(Fault::NoSignature)
    }
    fn d_b<S: Arith>(_s: &S, _a: S::Real, _b: S::Real) -> Eval<S::Real> {
        Err(Fault::NoSignature)
    }
    fn d_a_int<S: Arith>(_s: &S, _a: S::Real, _b: S::Int) -> Eval<S::Real> {
        Err(Fault::NoSignature)
    }
}

/// Generates one method of [`FunctionRow`] from a `signature: expression` line of a row.
macro_rules! method {
    ($name:ident $a_class:ident $b_class:ident $result:ident ($s:ident) $body:expr) => {
        method!($name $a_class $b_class $result ($s, _a, _b) $body);
    };
    ($name:ident $a_class:ident $b_class:ident $result:ident ($s:ident, $a:ident) $body:expr) => {
        method!($name $a_class $b_class $result ($s, $a, _b) $body);
    };
    ($name:ident $a_class:ident $b_class:ident $result:ident
     ($s:ident, $a:ident, $b:ident) $body:expr) => {
        #[inline(always)]
        #[allow(unused_variables)]
        fn $name<S: Arith>($s: &S, $a: S::$a_class, $b: S::$b_class) -> Eval<S::$result> {
            $body
        }
    };
}

macro_rules! signature {
    (int $sources:tt $body:expr) => { method!(int Int Int Int $sources $body); };
    (real $sources:tt $body:expr) => { method!(real Real Real Real $sources $body); };
    (real_int $sources:tt $body:expr) => { method!(real_int Real Int Real $sources $body); };
    (reals_to_int $sources:tt $body:expr) => { method!(reals_to_int Real Real Int $sources $body); };
    (ints_to_real $sources:tt $body:expr) => { method!(ints_to_real Int Int Real $sources $body); };
    (d_a $sources:tt $body:expr) => { method!(d_a Real Real Real $sources $body); };
    (d_b $sources:tt $body:expr) => { method!(d_b Real Real Real $sources $body); };
    (d_a_int $sources:tt $body:expr) => { method!(d_a_int Real Int Real $sources $body); };
}

macro_rules! signature_name {
    (int) => {
        Some(Signature::Int)
    };
    (real) => {
        Some(Signature::Real)
    };
    (real_int) => {
        Some(Signature::RealInt)
    };
    (reals_to_int) => {
        Some(Signature::RealsToInt)
    };
    (ints_to_real) => {
        Some(Signature::IntsToReal)
    };
    ($derivative:ident) => {
        None
    };
}

macro_rules! arity {
    (($s:ident)) => {
        0
    };
    (($s:ident, $a:ident)) => {
        1
    };
    (($s:ident, $a:ident, $b:ident)) => {
        2
    };
}

/// Expands the table of rows into the enum [`Function`], the constants of each row, and the methods that
/// evaluate it.
macro_rules! functions {
    ($(
        $(#[doc = $doc:literal])+
        $Name:ident = $byte:literal $text:literal $group:ident $sources:tt edges $edges:literal {
            $( $signature:ident: $body:expr; )+
        }
    )+) => {
        /// A pure function of up to two sources; the second byte of an instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Function { $( $(#[doc = $doc])+ $Name = $byte, )+ }

        /// Each row as a separate type, for engines that select the row at compile time: see [`Functions`].
        ///
        /// [`Functions`]: crate::step::Functions
        pub mod rows {
            $( $(#[doc = $doc])+ pub struct $Name; )+
        }
        $( impl FunctionRow for rows::$Name { $( signature!($signature $sources $body); )+ } )+

        impl Function {
            /// Every row, in byte order.
            pub const ALL: &'static [Function] = &[ $( Function::$Name, )+ ];

            /// Returns the row with this byte.
            pub fn from_byte(byte: u8) -> Option<Function> {
                match byte { $( $byte => Some(Function::$Name), )+ _ => None }
            }

            /// Returns the spelling after the update's dot (`mul` in `add.mul`).
            pub fn name(self) -> &'static str {
                match self { $( Function::$Name => $text, )+ }
            }

            /// Returns the row's description, one or more sentences.
            pub fn doc(self) -> &'static str {
                match self { $( Function::$Name => concat!($($doc, "\n"),+), )+ }
            }

            /// Describes the edges of the function's domain; empty if there are none.
            pub fn edges(self) -> &'static str {
                match self { $( Function::$Name => $edges, )+ }
            }

            /// Returns the chapter of the manual that describes the function.
            pub fn group(self) -> Group {
                match self { $( Function::$Name => Group::$group, )+ }
            }

            /// Returns the number of sources: 0, 1 or 2.
            #[inline(always)]
            pub fn arity(self) -> usize {
                match self { $( Function::$Name => arity!($sources), )+ }
            }

            /// Returns the combinations of operand classes that the function accepts.
            pub fn signatures(self) -> impl Iterator<Item = Signature> {
                let signatures: &'static [Option<Signature>] = match self {
                    $( Function::$Name => &[ $( signature_name!($signature) ),+ ], )+
                };
                signatures.iter().flatten().copied()
            }

            // These methods evaluate the rows without injected faults. All other code uses the methods of
            // `asked.rs`, which wrap them.

            #[inline(always)]
            pub(crate) fn row_int<S: Arith>(self, s: &S, a: S::Int, b: S::Int) -> Eval<S::Int> {
                match self { $( Function::$Name => rows::$Name::int(s, a, b), )+ }
            }

            #[inline(always)]
            pub(crate) fn row_real<S: Arith>(self, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real> {
                match self { $( Function::$Name => rows::$Name::real(s, a, b), )+ }
            }

            #[inline(always)]
            pub(crate) fn row_real_int<S: Arith>(self, s: &S, a: S::Real, b: S::Int) -> Eval<S::Real> {
                match self { $( Function::$Name => rows::$Name::real_int(s, a, b), )+ }
            }

            #[inline(always)]
            pub(crate) fn row_reals_to_int<S: Arith>(self, s: &S, a: S::Real, b: S::Real) -> Eval<S::Int> {
                match self { $( Function::$Name => rows::$Name::reals_to_int(s, a, b), )+ }
            }

            #[inline(always)]
            pub(crate) fn row_ints_to_real<S: Arith>(self, s: &S, a: S::Int, b: S::Int) -> Eval<S::Real> {
                match self { $( Function::$Name => rows::$Name::ints_to_real(s, a, b), )+ }
            }

            #[inline(always)]
            pub(crate) fn row_d_a<S: Arith>(self, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real> {
                match self { $( Function::$Name => rows::$Name::d_a(s, a, b), )+ }
            }

            #[inline(always)]
            pub(crate) fn row_d_b<S: Arith>(self, s: &S, a: S::Real, b: S::Real) -> Eval<S::Real> {
                match self { $( Function::$Name => rows::$Name::d_b(s, a, b), )+ }
            }

            #[inline(always)]
            pub(crate) fn row_d_a_int<S: Arith>(self, s: &S, a: S::Real, b: S::Int) -> Eval<S::Real> {
                match self { $( Function::$Name => rows::$Name::d_a_int(s, a, b), )+ }
            }
        }
    };
}

impl Function {
    /// Returns the row with this spelling.
    pub fn from_name(name: &str) -> Option<Function> {
        Function::ALL.iter().copied().find(|f| f.name() == name)
    }

    /// Returns the byte that identifies the row in an image.
    pub fn byte(self) -> u8 {
        self as u8
    }

    /// Returns true if `br`, `from` and `assert` can test the function.
    pub fn is_condition(self) -> bool {
        self.group() == Group::Comparison
    }
}

functions! {
    /// The source itself.
    Copy = 0x00 "copy" Arithmetic (s, a) edges "" {
        int: Ok(a);
        real: Ok(a);
        d_a: s.real(1.0);
    }
    /// The sum of both sources.
    Sum = 0x01 "sum" Arithmetic (s, a, b)
    edges "Integers wrap; fixed point traps on overflow." {
        int: Ok(s.int_add(a, b));
        real: s.add(a, b);
        d_a: s.real(1.0);
        d_b: s.real(1.0);
    }
    /// The first source minus the second.
    Diff = 0x02 "diff" Arithmetic (s, a, b)
    edges "Integers wrap; fixed point traps on overflow." {
        int: Ok(s.int_sub(a, b));
        real: s.sub(a, b);
        d_a: s.real(1.0);
        d_b: s.real(-1.0);
    }
    /// The product of both sources.
    Mul = 0x03 "mul" Arithmetic (s, a, b)
    edges "Integers wrap; fixed point rounds to even and traps on overflow." {
        int: Ok(s.int_mul(a, b));
        real: s.mul(a, b);
        d_a: Ok(b);
        d_b: Ok(a);
    }
    /// The first source divided by the second; integers truncate toward zero.
    Div = 0x04 "div" Arithmetic (s, a, b)
    edges "Division by zero traps. Integer MIN / -1 wraps to MIN. \
           Fixed point rounds to even and traps on overflow." {
        int: s.int_div(a, b);
        real: s.div(a, b);
        d_a: s.div(s.real(1.0)?, b);
        d_b: s.neg(s.div(s.div(a, b)?, b)?);
    }
    /// The remainder of the truncating integer division; it has the dividend's sign.
    Rem = 0x05 "rem" Arithmetic (s, a, b)
    edges "A zero divisor traps. MIN rem -1 is 0." {
        int: s.int_rem(a, b);
    }
    /// The first source to the power of the second. The error of a float is less than 1.5 units of the last
    /// place.
    Pow = 0x06 "pow" Arithmetic (s, a, b)
    edges "0 to the 0 is 1. Integers wrap, and a negative integer exponent traps. \
           A negative real base traps unless the exponent is whole; 0 to a negative power traps. \
           The derivative by the base is 0 where the exponent is 0; \
           the derivative by the exponent traps where the base is not positive." {
        int: s.int_pow(a, b);
        real: s.pow(a, b);
        d_a: {
            // The textbook derivative b·a^(b - 1) would raise 0 to the power -1 at a = b = 0, which traps. So
            // for b = 0 the power a^0 is divided by a instead, or by 1 if a is 0. The product is 0 in any
            // case, because its factor b is 0.
            let (zero, one) = (s.real(0.0)?, s.real(1.0)?);
            s.written_as(|| s.mul(b, s.pow(a, s.sub(b, one)?)?), || {
                let constant = s.test(Order::Eq, b, zero);
                let divisor = s.choose(constant, s.choose(s.test(Order::Eq, a, zero), one, a), one);
                let exponent = s.sub(b, s.choose(constant, zero, one))?;
                s.div(s.mul(b, s.pow(a, exponent)?)?, divisor)
            })
        };
        d_b: s.mul(s.pow(a, b)?, s.elementary(Elementary::Log, a)?);
    }
    /// A real to an integer power; the exponent is an integer source. The error of a float is less than 1.5
    /// units of the last place.
    Powi = 0x07 "powi" Arithmetic (s, a, b)
    edges "0 to the 0 is 1; 0 to a negative power traps. The derivative is 0 where the exponent is 0. \
           Fixed point traps on overflow; its derivative also traps if the exponent is too large for fixed point." {
        real_int: s.powi(a, b);
        d_a_int: {
            // The textbook derivative b·a^(b - 1) would raise 0 to the power -1 for a = b = 0, which traps,
            // and b - 1 would wrap for b = MIN. So a^b is used instead for b <= 0. For b < 0 it is divided by
            // a; for b = 0 the factor b makes the result 0.
            s.written_as(|| s.mul(s.real_of(b)?, s.powi(a, s.int_sub(b, s.int(1)))?), || {
                let negative = s.int_test(Order::Lt, b, s.int(0));
                let positive = s.int_test(Order::Gt, b, s.int(0));
                let exponent = s.int_sub(b, positive);
                let divisor = s.choose(negative, a, s.real(1.0)?);
                s.mul(s.real_of(b)?, s.div(s.powi(a, exponent)?, divisor)?)
            })
        };
    }
    /// The smaller source.
    Min = 0x08 "min" Arithmetic (s, a, b)
    edges "Equal sources, including ±0, give the first source, which then gets the whole derivative." {
        int: Ok(s.int_choose(s.int_test(Order::Lt, b, a), b, a));
        real: Ok(s.choose(s.test(Order::Lt, b, a), b, a));
        d_a: Ok(s.choose(s.test(Order::Lt, b, a), s.real(0.0)?, s.real(1.0)?));
        d_b: Ok(s.choose(s.test(Order::Lt, b, a), s.real(1.0)?, s.real(0.0)?));
    }
    /// The greater source.
    Max = 0x09 "max" Arithmetic (s, a, b)
    edges "Equal sources, including ±0, give the first source, which then gets the whole derivative." {
        int: Ok(s.int_choose(s.int_test(Order::Gt, b, a), b, a));
        real: Ok(greater(s, a, b));
        d_a: Ok(s.choose(s.test(Order::Gt, b, a), s.real(0.0)?, s.real(1.0)?));
        d_b: Ok(s.choose(s.test(Order::Gt, b, a), s.real(1.0)?, s.real(0.0)?));
    }
    /// The absolute value.
    Abs = 0x0a "abs" Arithmetic (s, a)
    edges "The integer MIN wraps to MIN; in fixed point it traps. The float zero -0 stays -0. \
           The derivative at 0 is 0." {
        int: Ok(s.int_choose(s.int_test(Order::Lt, a, s.int(0)), s.int_sub(s.int(0), a), a));
        // |a| is computed as a times its sign. A choice between -a and a would have the derivative -1 or 1 at
        // 0, not 0.
        real: s.written_as(|| magnitude(s, a), || s.mul(a, sign(s, a)?));
        d_a: sign(s, a);
    }
    /// The source times itself.
    Square = 0x0b "square" Arithmetic (s, a)
    edges "Integers wrap; fixed point traps on overflow." {
        int: Ok(s.int_mul(a, a));
        real: s.mul(a, a);
        d_a: s.add(a, a);
    }
    /// The source if it is positive, else 0.
    Relu = 0x0c "relu" Arithmetic (s, a) edges "The derivative at 0 is 0." {
        int: Ok(s.int_choose(s.int_test(Order::Gt, a, s.int(0)), a, s.int(0)));
        real: Ok(s.choose(s.test(Order::Gt, a, s.real(0.0)?), a, s.real(0.0)?));
        d_a: Ok(s.choose(s.test(Order::Gt, a, s.real(0.0)?), s.real(1.0)?, s.real(0.0)?));
    }
    /// The reciprocal: 1 divided by the source.
    Inv = 0x0d "inv" Arithmetic (s, a)
    edges "0 traps. Fixed point rounds to even and traps on overflow." {
        real: s.div(s.real(1.0)?, a);
        d_a: s.neg(s.div(s.div(s.real(1.0)?, a)?, a)?);
    }
    /// The first source divided by the second, rounded down.
    Floordiv = 0x0e "floordiv" Arithmetic (s, a, b)
    edges "Division by zero traps. Integer MIN / -1 wraps to MIN." {
        int: Ok(s.int_sub(s.int_div(a, b)?, has_other_sign(s, s.int_rem(a, b)?, b)));
    }
    /// The remainder of the division that rounds down, as `floordiv` does; it has the divisor's sign.
    Mod = 0x0f "mod" Arithmetic (s, a, b)
    edges "A zero divisor traps. MIN mod -1 is 0." {
        int: {
            let rest = s.int_rem(a, b)?;
            Ok(s.int_add(rest, s.int_choose(has_other_sign(s, rest, b), b, s.int(0))))
        };
    }
    /// The square root.
    Sqrt = 0x10 "sqrt" Elementary (s, a) edges "A negative source traps; so does the derivative at 0." {
        real: s.elementary(Elementary::Sqrt, a);
        d_a: s.div(s.real(0.5)?, s.elementary(Elementary::Sqrt, a)?);
    }
    /// e to the power of the source.
    Exp = 0x11 "exp" Elementary (s, a) edges "A result out of range traps." {
        real: s.elementary(Elementary::Exp, a);
        d_a: s.elementary(Elementary::Exp, a);
    }
    /// The natural logarithm.
    Log = 0x12 "log" Elementary (s, a) edges "A source that is not positive traps." {
        real: s.elementary(Elementary::Log, a);
        d_a: s.div(s.real(1.0)?, a);
    }
    /// The sine of an angle in radians.
    Sin = 0x13 "sin" Elementary (s, a) edges "" {
        real: s.elementary(Elementary::Sin, a);
        d_a: s.elementary(Elementary::Cos, a);
    }
    /// The cosine of an angle in radians.
    Cos = 0x14 "cos" Elementary (s, a) edges "" {
        real: s.elementary(Elementary::Cos, a);
        d_a: s.neg(s.elementary(Elementary::Sin, a)?);
    }
    /// The tangent of an angle in radians.
    Tan = 0x15 "tan" Elementary (s, a) edges "A result out of range traps." {
        real: s.elementary(Elementary::Tan, a);
        d_a: {
            let tangent = s.elementary(Elementary::Tan, a)?;
            s.add(s.real(1.0)?, s.mul(tangent, tangent)?)
        };
    }
    /// The angle in [-π/2, π/2] whose sine is the source.
    Asin = 0x16 "asin" Elementary (s, a)
    edges "A source outside [-1, 1] traps; so does the derivative at ±1." {
        real: s.elementary(Elementary::Asin, a);
        d_a: s.div(s.real(1.0)?, s.elementary(Elementary::Sqrt, one_minus_square(s, a)?)?);
    }
    /// The angle in [0, π] whose cosine is the source.
    Acos = 0x17 "acos" Elementary (s, a)
    edges "A source outside [-1, 1] traps; so does the derivative at ±1." {
        real: s.elementary(Elementary::Acos, a);
        d_a: s.neg(s.div(s.real(1.0)?, s.elementary(Elementary::Sqrt, one_minus_square(s, a)?)?)?);
    }
    /// The angle in (-π/2, π/2) whose tangent is the source.
    Atan = 0x18 "atan" Elementary (s, a) edges "" {
        real: s.elementary(Elementary::Atan, a);
        d_a: {
            let one = s.real(1.0)?;
            s.written_as(
                || s.div(one, s.add(one, s.mul(a, a)?)?),
                || over_squares(s, one, (a, one), greater(s, magnitude(s, a)?, one)),
            )
        };
    }
    /// The angle of the point (b, a): the first source is y, the second x.
    Atan2 = 0x19 "atan2" Elementary (s, a, b)
    edges "The angle of the origin is 0, or ±0 or ±π by the signs of float zeros; the derivative at the origin traps." {
        real: s.atan2(a, b);
        d_a: over_length(s, b, (a, b));
        d_b: s.neg(over_length(s, a, (a, b))?);
    }
    /// The hyperbolic sine.
    Sinh = 0x1a "sinh" Elementary (s, a) edges "A result out of range traps." {
        real: s.elementary(Elementary::Sinh, a);
        d_a: s.elementary(Elementary::Cosh, a);
    }
    /// The hyperbolic cosine.
    Cosh = 0x1b "cosh" Elementary (s, a) edges "A result out of range traps." {
        real: s.elementary(Elementary::Cosh, a);
        d_a: s.elementary(Elementary::Sinh, a);
    }
    /// The hyperbolic tangent.
    Tanh = 0x1c "tanh" Elementary (s, a) edges "" {
        real: s.elementary(Elementary::Tanh, a);
        d_a: {
            let (one, value) = (s.real(1.0)?, s.elementary(Elementary::Tanh, a)?);
            s.written_as(|| s.sub(one, s.mul(value, value)?), || tanh_slope(s, a, value))
        };
    }
    /// The greatest whole number that is not above the source, as a real.
    Floor = 0x1d "floor" Elementary (s, a) edges "The derivative is 0 everywhere." {
        real: s.elementary(Elementary::Floor, a);
        d_a: s.real(0.0);
    }
    /// The nearest whole number, as a real; halves go to the even neighbour.
    Round = 0x1e "round" Elementary (s, a)
    edges "The derivative is 0 everywhere. Fixed point traps where the neighbour is out of range." {
        real: s.elementary(Elementary::Round, a);
        d_a: s.real(0.0);
    }
    /// Bitwise and.
    And = 0x20 "and" Bits (s, a, b) edges "" {
        int: Ok(s.int_and(a, b));
    }
    /// Bitwise or.
    Or = 0x21 "or" Bits (s, a, b) edges "" {
        int: Ok(s.int_or(a, b));
    }
    /// Bitwise exclusive or.
    Xor = 0x22 "xor" Bits (s, a, b) edges "" {
        int: Ok(s.int_xor(a, b));
    }
    /// The first source shifted left by the second.
    Shl = 0x23 "shl" Bits (s, a, b) edges "Amounts below 0 or at least the width give 0." {
        int: Ok(s.int_shl(a, b));
    }
    /// The first source shifted right by the second; zeros fill the upper bits.
    Shr = 0x24 "shr" Bits (s, a, b) edges "Amounts below 0 or at least the width give 0." {
        int: Ok(s.int_shr(a, b));
    }
    /// The first source shifted right by the second; copies of the sign fill the upper bits.
    Sar = 0x25 "sar" Bits (s, a, b)
    edges "Amounts below 0 or at least the width give the sign: 0 or -1." {
        int: Ok(s.int_sar(a, b));
    }
    /// 1 if the first source is below the second, both read as words without a sign, else 0.
    Ltu = 0x26 "ltu" Bits (s, a, b) edges "" {
        int: Ok(is_below_unsigned(s, a, b));
    }
    /// 1 if the first source is not above the second, both read as words without a sign, else 0.
    Leu = 0x27 "leu" Bits (s, a, b) edges "" {
        int: Ok(s.int_xor(is_below_unsigned(s, b, a), s.int(1)));
    }
    /// 1 if the first source is above the second, both read as words without a sign, else 0.
    Gtu = 0x28 "gtu" Bits (s, a, b) edges "" {
        int: Ok(is_below_unsigned(s, b, a));
    }
    /// 1 if the first source is not below the second, both read as words without a sign, else 0.
    Geu = 0x29 "geu" Bits (s, a, b) edges "" {
        int: Ok(s.int_xor(is_below_unsigned(s, a, b), s.int(1)));
    }
    /// 1 if the sources are equal, else 0.
    Eq = 0x30 "eq" Comparison (s, a, b) edges "The float zeros -0 and +0 are equal." {
        int: Ok(s.int_test(Order::Eq, a, b));
        reals_to_int: Ok(s.test(Order::Eq, a, b));
    }
    /// 1 if the sources differ, else 0.
    Ne = 0x31 "ne" Comparison (s, a, b) edges "The float zeros -0 and +0 are equal." {
        int: Ok(s.int_test(Order::Ne, a, b));
        reals_to_int: Ok(s.test(Order::Ne, a, b));
    }
    /// 1 if the first source is below the second, else 0.
    Lt = 0x32 "lt" Comparison (s, a, b) edges "The float zeros -0 and +0 are equal." {
        int: Ok(s.int_test(Order::Lt, a, b));
        reals_to_int: Ok(s.test(Order::Lt, a, b));
    }
    /// 1 if the first source is not above the second, else 0.
    Le = 0x33 "le" Comparison (s, a, b) edges "The float zeros -0 and +0 are equal." {
        int: Ok(s.int_test(Order::Le, a, b));
        reals_to_int: Ok(s.test(Order::Le, a, b));
    }
    /// 1 if the first source is above the second, else 0.
    Gt = 0x34 "gt" Comparison (s, a, b) edges "The float zeros -0 and +0 are equal." {
        int: Ok(s.int_test(Order::Gt, a, b));
        reals_to_int: Ok(s.test(Order::Gt, a, b));
    }
    /// 1 if the first source is not below the second, else 0.
    Ge = 0x35 "ge" Comparison (s, a, b) edges "The float zeros -0 and +0 are equal." {
        int: Ok(s.int_test(Order::Ge, a, b));
        reals_to_int: Ok(s.test(Order::Ge, a, b));
    }
    /// The constant 1: the condition that always holds.
    Always = 0x3f "always" Comparison (s) edges "" {
        int: Ok(s.int(1));
    }
    /// The real nearest to an integer source.
    ToReal = 0x40 "toreal" Conversion (s, a) edges "Fixed point traps out of range." {
        ints_to_real: s.real_of(a);
    }
    /// The integer part of a real source, rounded toward zero.
    ToInt = 0x41 "toint" Conversion (s, a) edges "A real out of the integers' range traps." {
        reals_to_int: s.int_of(a);
    }
    /// e to the power of the source, minus 1. Near 0 it keeps the digits that a difference would lose.
    ExpM1 = 0x50 "exp_m1" Elementary (s, a)
    edges "A result out of range traps. \
           The derivative is 1 more than the result, and traps out of range." {
        real: s.elementary(Elementary::ExpM1, a);
        d_a: s.elementary(Elementary::Exp, a);
    }
    /// The natural logarithm of 1 plus the source. Near 0 it keeps the digits that a sum would lose.
    Ln1p = 0x51 "ln_1p" Elementary (s, a) edges "A source that is not above -1 traps." {
        real: s.elementary(Elementary::Ln1p, a);
        d_a: {
            let one = s.real(1.0)?;
            s.written_as(|| s.div(one, s.add(one, a)?), || {
                // For a large source a, 1/(1 + a) is computed as 0.5/(0.5 + a/2), because 1 + a may be out of
                // range.
                let factor = s.choose(s.test(Order::Gt, a, one), s.real(0.5)?, one);
                s.div(factor, s.add(factor, s.mul(factor, a)?)?)
            })
        };
    }
    /// The logistic function: 1 divided by 1 plus e to the power of the negated source.
    Sigmoid = 0x52 "sigmoid" Elementary (s, a) edges "" {
        real: s.elementary(Elementary::Sigmoid, a);
        d_a: {
            // 1 - σ(a) equals σ(-a), which keeps its digits where a is large.
            let value = s.elementary(Elementary::Sigmoid, a)?;
            s.written_as(|| s.mul(value, s.sub(s.real(1.0)?, value)?), || {
                s.mul(value, s.elementary(Elementary::Sigmoid, s.neg(a)?)?)
            })
        };
    }
    /// The cubic root; that of a negative source is negative.
    Cbrt = 0x53 "cbrt" Elementary (s, a) edges "The derivative at 0 traps." {
        real: s.elementary(Elementary::Cbrt, a);
        d_a: {
            let root = s.elementary(Elementary::Cbrt, a)?;
            let (one, three) = (s.real(1.0)?, s.real(3.0)?);
            // The derivative root/(3a) contains the root's rounding error once; 1/(3·root²) would contain it
            // twice. The order of the operations depends on the magnitude of a. A small source divided by its
            // root, or three times a large source, would leave the range although the derivative is in range.
            s.written_as(|| s.div(one, s.mul(three, s.mul(root, root)?)?), || {
                let is_small = s.test(Order::Lt, magnitude(s, a)?, one);
                let divisor = s.mul(three, s.choose(is_small, a, one))?;
                s.div(s.div(root, divisor)?, s.choose(is_small, one, a))
            })
        };
    }
    /// The length of the vector (a, b): the square root of the sum of both squares.
    Hypot = 0x54 "hypot" Elementary (s, a, b)
    edges "A result out of range traps; a square out of range does not. The derivative traps if both sources are 0." {
        real: s.hypot(a, b);
        d_a: over_hypot(s, a, (a, b));
        d_b: over_hypot(s, b, (a, b));
    }
    /// The error function: 2/√π times the integral of e^(-t²) from 0 to the source. The error of a float is
    /// less than 1.5 units of the last place. Formulas name its derivative erf_slope: 2/√π times e^(-a²).
    /// Programs can't apply erf_slope.
    Erf = 0x55 "erf" Elementary (s, a) edges "" {
        real: s.elementary(Elementary::Erf, a);
        d_a: s.written_as(
            || s.mul(s.real(std::f64::consts::FRAC_2_SQRT_PI)?, s.elementary(Elementary::Exp, s.neg(s.mul(a, a)?)?)?),
            || s.elementary(Elementary::ErfSlope, a),
        );
    }
    /// The logarithm of the gamma function. The error of a float is less than 1.5 units of the last place.
    /// Formulas name its derivative digamma; programs can't apply digamma.
    LogGamma = 0x56 "lgamma" Elementary (s, a)
    edges "A source that is not positive traps, and so does a result out of range." {
        real: s.elementary(Elementary::LogGamma, a);
        d_a: s.elementary(Elementary::Digamma, a);
    }
}

/// Returns 1 if a nonzero remainder differs in sign from the divisor, otherwise 0.
fn has_other_sign<S: Arith>(s: &S, rest: S::Int, divisor: S::Int) -> S::Int {
    let is_negative = |a| s.int_test(Order::Lt, a, s.int(0));
    let differs = s.int_xor(is_negative(rest), is_negative(divisor));
    s.int_and(s.int_test(Order::Ne, rest, s.int(0)), differs)
}

/// Returns 1 if a < b as unsigned words, otherwise 0. If exactly one of the two is negative as a signed word,
/// that one is the greater.
fn is_below_unsigned<S: Arith>(s: &S, a: S::Int, b: S::Int) -> S::Int {
    let is_negative = |a| s.int_test(Order::Lt, a, s.int(0));
    s.int_xor(s.int_test(Order::Lt, a, b), s.int_xor(is_negative(a), is_negative(b)))
}

/// 1 - a². Near ±1 it is computed as (1 - a)·(1 + a), because the difference would keep few digits. Near 0 it is
/// the difference, because the derivative of the product would keep few digits.
fn one_minus_square<S: Arith>(s: &S, a: S::Real) -> Eval<S::Real> {
    let one = s.real(1.0)?;
    s.written_as(
        || s.sub(one, s.mul(a, a)?),
        || {
            let square = s.mul(a, a)?;
            let is_small = s.test(Order::Lt, square, s.real(0.25)?);
            Ok(s.choose(is_small, s.sub(one, square)?, s.mul(s.sub(one, a)?, s.add(one, a)?)?))
        },
    )
}

/// The derivative of the hyperbolic tangent at a, given the tangent: 1 - tanh(a)². Far from 0 this difference
/// would keep few digits, so the derivative is computed as 1/cosh(a)². With e = e^-|a|, 1/cosh(a) is 2e/(1 + e²),
/// in which nothing overflows.
fn tanh_slope<S: Arith>(s: &S, a: S::Real, tangent: S::Real) -> Eval<S::Real> {
    let (zero, one) = (s.real(0.0)?, s.real(1.0)?);
    let square = s.mul(tangent, tangent)?;
    // -|a| is computed as a difference, because the least fixed-point number can't be negated.
    let negative = s.test(Order::Lt, a, zero);
    let exponent = s.sub(s.choose(negative, a, zero), s.choose(negative, zero, a))?;
    let power = s.elementary(Elementary::Exp, exponent)?;
    let secant = s.div(s.add(power, power)?, s.add(one, s.mul(power, power)?)?)?;
    let is_small = s.test(Order::Lt, square, s.real(0.25)?);
    Ok(s.choose(is_small, s.sub(one, square)?, s.mul(secant, secant)?))
}

/// p / (a² + b²), where p is a or b. Computed by [`over_squares`].
fn over_length<S: Arith>(s: &S, p: S::Real, (a, b): (S::Real, S::Real)) -> Eval<S::Real> {
    s.written_as(
        || s.div(p, s.add(s.mul(a, a)?, s.mul(b, b)?)?),
        || over_squares(s, p, (a, b), greater(s, magnitude(s, a)?, magnitude(s, b)?)),
    )
}

/// p / √(a² + b²), where p is a or b. All three numbers are first divided by the greater of |a| and |b|,
/// because a small length has few digits in fixed point.
fn over_hypot<S: Arith>(s: &S, p: S::Real, (a, b): (S::Real, S::Real)) -> Eval<S::Real> {
    s.written_as(
        || s.div(p, s.hypot(a, b)?),
        || {
            let scale = greater(s, magnitude(s, a)?, magnitude(s, b)?);
            s.div(s.div(p, scale)?, s.hypot(s.div(a, scale)?, s.div(b, scale)?)?)
        },
    )
}

/// p / (a² + b²), where p is a or b, and `scale` is the greater of |a| and |b|. All three numbers are first
/// divided by `scale`. Otherwise the squares might leave the range of fixed point, or keep few digits,
/// although the quotient is in range.
fn over_squares<S: Arith>(s: &S, p: S::Real, (a, b): (S::Real, S::Real), scale: S::Real) -> Eval<S::Real> {
    let (p, a, b) = (s.div(p, scale)?, s.div(a, scale)?, s.div(b, scale)?);
    s.div(s.div(p, s.add(s.mul(a, a)?, s.mul(b, b)?)?)?, scale)
}

fn greater<S: Arith>(s: &S, a: S::Real, b: S::Real) -> S::Real {
    s.choose(s.test(Order::Gt, b, a), b, a)
}

/// The sign of a: -1, 0 or 1.
fn sign<S: Arith>(s: &S, a: S::Real) -> Eval<S::Real> {
    let (zero, one, minus_one) = (s.real(0.0)?, s.real(1.0)?, s.real(-1.0)?);
    let not_positive = s.choose(s.test(Order::Lt, a, zero), minus_one, zero);
    Ok(s.choose(s.test(Order::Gt, a, zero), one, not_positive))
}

/// |a|, for use as a scale only. The derivative at 0 may be wrong, because the derivative of a scale has no
/// effect.
fn magnitude<S: Arith>(s: &S, a: S::Real) -> Eval<S::Real> {
    Ok(s.choose(s.test(Order::Lt, a, s.real(0.0)?), s.neg(a)?, a))
}
