//! Emits each operation as lines of C. This module is independent of blocks.

use reviver_compile::call::region::Region;
use reviver_compile::op::{OpKind, Space, SsaOp, SsaValue};
use reviver_isa::arith::{Elementary, Order};
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use super::{BodyWriter, CheckStatus, array};
use crate::fixed_functions;
use crate::functions::FloatFunction;
use crate::numbers::double;

/// Emits the C lines of an operation.
pub(super) fn write(w: &mut BodyWriter, value: SsaValue, op: &SsaOp) {
    w.region = w.region.after(op.kind);
    match op.kind {
        // Literals are expressions at their use. A function that begins in main has no inputs.
        OpKind::Int(_) | OpKind::Real(_) | OpKind::Input(_) => {}
        OpKind::IntAdd
        | OpKind::IntSub
        | OpKind::IntNeg
        | OpKind::IntMul
        | OpKind::IntAnd
        | OpKind::IntOr
        | OpKind::IntXor
        | OpKind::IntNot
        | OpKind::IntRol
        | OpKind::IntRor
        | OpKind::IntShl
        | OpKind::IntShr
        | OpKind::IntSar
        | OpKind::IntTest(_)
        | OpKind::IntChoose => w.integers(value, op),
        OpKind::IntDiv | OpKind::IntRem | OpKind::IntPow => w.divided(value, op),
        OpKind::Add
        | OpKind::Sub
        | OpKind::Mul
        | OpKind::Div
        | OpKind::Neg
        | OpKind::Magnitude
        | OpKind::Pow
        | OpKind::Powi
        | OpKind::Atan2
        | OpKind::Hypot
        | OpKind::Elementary(_)
        | OpKind::Turn { .. }
        | OpKind::RealOf
        | OpKind::IntOf => {
            if w.numbers.is_fixed() {
                w.fixed(value, op);
            } else {
                w.floats(value, op);
            }
        }
        OpKind::Test(order) => {
            let text = w.tested(order, op);
            w.made(value, text, true);
        }
        OpKind::Choose => {
            let [condition, yes, no] = w.operands(op);
            w.made(value, format!("({condition} != 0 ? {yes} : {no})"), false);
        }
        OpKind::Index { offset } => w.index(value, op, offset),
        OpKind::Place => {
            let [base, index, stride] = w.operands(op);
            let text = match (base.as_str(), stride.as_str()) {
                ("0", "1") => index,
                (_, "1") => format!("({base} + {index})"),
                _ => format!("({base} + {index} * {stride})"),
            };
            w.made(value, text, true);
        }
        OpKind::Load(space) => {
            let [address] = w.operands(op);
            w.made(value, format!("{}[{address}]", array(space)), false);
        }
        OpKind::Clock { here } => {
            w.counts.insert("clock");
            let text = match w.region {
                Region::Forward => format!("(clock + {here})"),
                _ => format!("({here} - clock)"),
            };
            // The expression isn't inlined at its use, because the step counter may change before the use.
            w.made(value, text, false);
        }
        OpKind::Store(space) => w.store(space, op),
        OpKind::RequireAdmitted | OpKind::RequireVacant | OpKind::RequireTrue | OpKind::RequireApart => {
            w.require(op)
        }
        OpKind::CountErased(_) | OpKind::CountDiscarded | OpKind::CountDropped => w.count(op),
        OpKind::Jumped => {
            // The step counter already includes the step that jumped. So the step's number is `clock - 1` in a forward
            // sweep. In a reverse sweep, the counter counts down, and the step's number is `clock`.
            let text = match w.region {
                Region::Forward => "path += rv_mark(clock - 1);",
                _ => "path -= rv_mark(clock);",
            };
            w.counts.extend(["path", "clock"]);
            w.line(text);
        }
        OpKind::Turned { .. } => w.reserve_records(),
        OpKind::Arrived => {}
        OpKind::Largest => {
            let [value] = w.operands(op);
            w.counts.insert("largest");
            w.line(format!("largest = {}_larger(largest, (double){value});", w.cells.prefix));
        }
        OpKind::Missed { .. } => {
            let [from, to, adjoint] = w.operands(op);
            let prefix = w.cells.prefix.clone();
            w.line(format!("if ({to} != {from}) {{"));
            w.line(format!("    {prefix}_missed(m, (double){from}, (double){to}, (double){adjoint});"));
            w.line("}");
        }
        OpKind::Freed { .. } => {
            let [value, adjoint] = w.operands(op);
            let prefix = w.cells.prefix.clone();
            w.line(format!("if ({value} != 0) {{"));
            w.line(format!("    {prefix}_freed(m, (double){value}, (double){adjoint});"));
            w.line("}");
        }
    }
}

/// Returns an expression for a comparison of `a` with itself, whose result `holds` is known. The comparison isn't
/// emitted, because compilers warn of comparisons of an expression with itself. The `(void)` avoids a warning about an
/// unused variable.
fn known(a: &str, holds: bool) -> String {
    if a.starts_with(|sign: char| sign.is_ascii_digit()) {
        return i32::from(holds).to_string();
    }
    format!("((void){a}, {})", i32::from(holds))
}

impl BodyWriter<'_> {
    /// Returns the name of a helper function for the program's word size.
    fn of_word(&self, name: &str) -> String {
        format!("rv_{name}{}", self.numbers.0.word.bits())
    }

    fn integers(&mut self, value: SsaValue, op: &SsaOp) {
        let [a, b, c] = self.operands(op);
        let call = |w: &Self, name| format!("{}({a}, {b})", w.of_word(name));
        let text = match op.kind {
            OpKind::IntAdd => call(self, "add"),
            OpKind::IntSub => call(self, "sub"),
            OpKind::IntMul => call(self, "mul"),
            OpKind::IntRol => call(self, "rol"),
            OpKind::IntRor => call(self, "ror"),
            OpKind::IntShl => call(self, "shl"),
            OpKind::IntShr => call(self, "shr"),
            OpKind::IntSar => call(self, "sar"),
            OpKind::IntNeg => format!("{}({a})", self.of_word("neg")),
            OpKind::IntNot => format!("(~{a})"),
            OpKind::IntAnd => format!("({a} & {b})"),
            OpKind::IntOr => format!("({a} | {b})"),
            OpKind::IntXor => format!("({a} ^ {b})"),
            OpKind::IntTest(order) => self.compared_integers(order, op),
            _ => format!("({a} != 0 ? {b} : {c})"),
        };
        self.made(value, text, true);
    }

    /// Emits a quotient, a remainder or a power. The divisor or exponent is checked, unless it is a valid literal.
    fn divided(&mut self, value: SsaValue, op: &SsaOp) {
        let [a, b] = self.operands(op);
        let (name, fails, status) = match op.kind {
            OpKind::IntDiv => ("div", format!("{b} == 0"), CheckStatus::DivisionByZero),
            OpKind::IntRem => ("rem", format!("{b} == 0"), CheckStatus::DivisionByZero),
            _ => ("pow", format!("{b} < 0"), CheckStatus::NegativeExponent),
        };
        let literal = op.operands.get(1).and_then(|&b| self.address(b));
        let is_fine = match op.kind {
            OpKind::IntPow => literal.is_some_and(|exponent| exponent >= 0),
            _ => literal.is_some_and(|divisor| divisor != 0),
        };
        if !is_fine {
            self.fail(&fails, op.guard, status);
        }
        match self.plan.uses(value) {
            // The cast avoids a warning about an unused variable.
            0 => self.line(format!("(void){a};")),
            _ => self.made(value, format!("{}({a}, {b})", self.of_word(name)), false),
        }
    }

    /// Returns the expression of a comparison's operand. Wraps an operand that is itself a comparison in `rv_bit`,
    /// because compilers warn of nested comparisons.
    fn compared(&self, operand: SsaValue) -> String {
        let kind = self.ssa.op(self.plan.resolved(operand)).map(|op| op.kind);
        let text = self.value(operand);
        match kind {
            Some(OpKind::IntTest(_) | OpKind::Test(_)) if text.starts_with('(') => {
                format!("rv_bit{text}")
            }
            _ => text,
        }
    }

    /// Returns the C condition for a comparison of an address with the end of the memory for call records. According to
    /// `order`, the condition is true if there is memory for one more call, or if there is none. Returns `None` for all
    /// other comparisons.
    fn has_memory(&self, order: Order, op: &SsaOp) -> Option<String> {
        let [word, _] = self.operands(op);
        let _ = op.operands.get(1).filter(|&&end| self.is_end_of_records(end))?;
        let calls = self.cells.calls?;
        let has_memory = calls.has_memory(&word, self.record(), &self.cells.prefix);
        match order {
            Order::Lt => Some(has_memory),
            Order::Ge => Some(format!("(!{has_memory})")),
            Order::Eq | Order::Ne | Order::Le | Order::Gt => None,
        }
    }

    /// Returns the expression that compares two integers.
    fn compared_integers(&self, order: Order, op: &SsaOp) -> String {
        if let Some(text) = self.has_memory(order, op) {
            return text;
        }
        let [a, b] = self.operands(op);
        let is_with_zero = matches!(order, Order::Eq | Order::Ne) && b == "0";
        match op.operands.as_slice() {
            _ if a == b => known(&a, order.holds(0, 0)),
            &[one, other] if !is_with_zero => {
                format!("({} {} {})", self.compared(one), order.symbol(), self.compared(other))
            }
            _ => format!("({a} {} {b})", order.symbol()),
        }
    }

    /// Returns the expression that compares two reals. A float compared with itself becomes a test for NaN.
    fn tested(&self, order: Order, op: &SsaOp) -> String {
        let [a, b] = self.operands(op);
        match (a == b, self.numbers.is_fixed()) {
            (true, true) => known(&a, order.holds(0, 0)),
            (true, false) => {
                let is_number = format!("rv_is_number_{}({a})", self.numbers.suffix());
                match order {
                    Order::Eq | Order::Le | Order::Ge => is_number,
                    Order::Ne => format!("(!{is_number})"),
                    Order::Lt | Order::Gt => known(&a, false),
                }
            }
            (false, _) => format!("({a} {} {b})", order.symbol()),
        }
    }

    fn floats(&mut self, value: SsaValue, op: &SsaOp) {
        let [a, b, c] = self.operands(op);
        let (suffix, of) = (self.numbers.suffix(), self.numbers.real());
        if let OpKind::IntOf = op.kind {
            return self.integer_of(value, op, &a);
        }
        if let Some(function) = FloatFunction::of(op.kind) {
            let arguments = [a, b, c][..op.operands.len()].join(", ");
            return self.made(value, format!("{}_{suffix}({arguments})", function.name()), false);
        }
        let text = match op.kind {
            OpKind::Add => format!("{a} + {b}"),
            OpKind::Sub => format!("{a} - {b}"),
            OpKind::Mul => format!("{a} * {b}"),
            OpKind::Div => format!("{a} / {b}"),
            OpKind::Neg => format!("-{a}"),
            OpKind::Magnitude => format!("({a} < 0 ? -{a} : {a})"),
            _ => format!("({of}){a}"),
        };
        self.made(value, text, false);
    }

    /// Emits the conversion of a float to an integer. The emitted check returns a status if the float is out of range.
    fn integer_of(&mut self, value: SsaValue, op: &SsaOp, a: &str) {
        let suffix = self.numbers.suffix();
        self.fail(&format!("!rv_has_integer_{suffix}({a})"), op.guard, CheckStatus::OutOfRange);
        self.within_word(value, op, &format!("rv_integer_{suffix}({a})"));
    }

    /// Emits the conversion of a 64-bit integer to a word. The emitted check returns a status if the integer is out of
    /// range.
    fn within_word(&mut self, value: SsaValue, op: &SsaOp, text: &str) {
        let bits = self.numbers.0.word.bits();
        if bits < 64 {
            self.fail(
                &format!("rv_wrap{bits}((uint64_t){text}) != {text}"),
                op.guard,
                CheckStatus::OutOfRange,
            );
        }
        if self.plan.uses(value) > 0 {
            self.made(value, text.to_owned(), false);
        }
    }

    fn fixed(&mut self, value: SsaValue, op: &SsaOp) {
        let RealSystem::Fixed(fraction) = self.numbers.0.system else { return };
        let [a, b, c] = self.operands(op);
        if let Some(function) = fixed_functions::of(op.kind) {
            let arguments = [a, b, c][..op.operands.len()].join(", ");
            return self.fixed_call(value, op, &format!("{}_fixed{fraction}({arguments}, ", function.name()));
        }
        let never_fails = match op.kind {
            OpKind::IntOf => self.numbers.0.word.bits() == 64,
            kind => kind == OpKind::Elementary(Elementary::Floor),
        };
        if never_fails && self.plan.uses(value) == 0 {
            // The cast avoids a warning about an unused variable.
            return self.line(format!("(void){a};"));
        }
        let call = match op.kind {
            OpKind::Add => format!("add({a}, {b}, "),
            OpKind::Sub => format!("sub({a}, {b}, "),
            OpKind::Neg => format!("neg({a}, "),
            OpKind::Mul => format!("mul({a}, {b}, {fraction}, "),
            OpKind::Div => format!("div({a}, {b}, {fraction}, "),
            OpKind::Hypot => format!("hypot({a}, {b}, "),
            OpKind::Elementary(Elementary::Sqrt) => format!("sqrt({a}, {fraction}, "),
            OpKind::Elementary(Elementary::Round) => format!("round({a}, {fraction}, "),
            OpKind::RealOf => format!("of_integer({a}, {fraction}, "),
            OpKind::Elementary(Elementary::Floor) => {
                self.made(value, format!("rv_fixed_floor({a}, {fraction})"), false);
                return;
            }
            OpKind::IntOf => {
                self.within_word(value, op, &format!("rv_fixed_integer({a}, {fraction})"));
                return;
            }
            _ => return,
        };
        self.fixed_call(value, op, &format!("rv_fixed_{call}"));
    }

    /// Emits a call of a helper function. The function returns 1 if it fails, and stores its result through a pointer,
    /// its last argument. `call` is the text of the call up to this argument.
    fn fixed_call(&mut self, value: SsaValue, op: &SsaOp, call: &str) {
        let name = match self.plan.uses(value) {
            0 => "unused".to_owned(),
            _ => self.value(value),
        };
        let is_own = self.plan.uses(value) == 0;
        if is_own {
            self.line("{");
            self.depth += 1;
        }
        if is_own || !self.plan.is_shared(value) {
            self.line(format!("int64_t {name};"));
        }
        self.fail(&format!("{call}&{name})"), None, CheckStatus::OutOfRange);
        // In the condition, the call precedes the guard, so that the call assigns the result even if the guard is 0.
        if let (Some(guard), Some(last)) = (op.guard, self.lines.len().checked_sub(3)) {
            let indent = "    ".repeat(self.depth);
            let guard = self.value(guard);
            self.lines[last] = format!("{indent}if ({call}&{name}) && ({guard}) != 0) {{");
        }
        if is_own {
            self.depth -= 1;
            self.line("}");
        }
    }

    fn index(&mut self, value: SsaValue, op: &SsaOp, offset: i64) {
        let [a, length] = self.operands(op);
        let index = match offset {
            0 => a,
            _ => format!("rv_add64({a}, {})", crate::numbers::integer(offset)),
        };
        self.fail(&format!("(uint64_t){index} >= (uint64_t){length}"), op.guard, CheckStatus::Index);
        if self.plan.uses(value) == 0 {
            return;
        }
        let text = match op.guard {
            Some(_) => format!("((uint64_t){index} < (uint64_t){length} ? {index} : 0)"),
            None => index,
        };
        self.made(value, text, true);
    }

    fn store(&mut self, space: Space, op: &SsaOp) {
        let [address, value] = self.operands(op);
        let known = op.operands.first().and_then(|&address| self.address(address));
        let name = known.and_then(|address| self.cells.cell(space, address));
        let comment = name.map(|name| format!(" /* {name} */")).unwrap_or_default();
        self.line(format!("{}[{address}] = {};{comment}", array(space), super::unwrapped(&value)));
    }

    fn require(&mut self, op: &SsaOp) {
        let [a, b] = self.operands(op);
        // A literal other than 0 is true, so it needs no check.
        if op.kind == OpKind::RequireTrue && a.parse::<u32>().is_ok_and(|value| value != 0) {
            return;
        }
        // A failed check of verification doesn't return, because other evidence also decides the status.
        if op.kind == OpKind::RequireTrue && self.region == Region::Verification {
            self.counts.insert("changed");
            return self.line(format!("changed |= !{a};"));
        }
        let suffix = self.numbers.suffix();
        let (fails, status) = match op.kind {
            OpKind::RequireTrue if self.asks_adjoint(op) => (format!("!{a}"), CheckStatus::LostAdjoint),
            OpKind::RequireTrue => (format!("!{a}"), CheckStatus::Check),
            OpKind::RequireApart if a == b => (known(&a, true), CheckStatus::SameCell),
            OpKind::RequireApart => (format!("{a} == {b}"), CheckStatus::SameCell),
            OpKind::RequireVacant if self.numbers.is_fixed() => (format!("{a} != 0"), CheckStatus::NotVacant),
            OpKind::RequireVacant => {
                let tolerance = double(self.numbers.0.tolerance);
                (format!("!rv_is_vacant_{suffix}({a}, {tolerance})"), CheckStatus::NotVacant)
            }
            // In fixed point every number may be stored.
            _ if self.numbers.is_fixed() => return,
            _ => (format!("!rv_is_finite_{suffix}({a})"), CheckStatus::NotFinite),
        };
        self.fail(&fails, op.guard, status);
    }

    fn count(&mut self, op: &SsaOp) {
        let [a] = self.operands(op);
        let width = self.numbers.0.system.width();
        let text = match op.kind {
            OpKind::CountErased(bits) => {
                self.counts.insert("erased");
                format!("erased += {bits};")
            }
            OpKind::CountDiscarded => {
                self.counts.insert("discarded");
                let bits = match self.numbers.is_fixed() {
                    true => a,
                    false => format!("rv_bits_{}({a})", self.numbers.suffix()),
                };
                format!("discarded += {bits} != 0 ? {width} : 0;")
            }
            _ => {
                self.counts.insert("drops");
                let zero = self.numbers.literal(Class::Real, 0);
                format!("drops += {a} != {zero};")
            }
        };
        self.line(text);
    }
}
