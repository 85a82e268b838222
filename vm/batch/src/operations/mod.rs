//! How operations on values are written: as much as tests of the control flow need.

use reviver_compile::form::NumberKinds;
use reviver_compile::op::OpKind;
use reviver_isa::arith::{Elementary, Order};
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

#[derive(Clone, Debug)]
pub(crate) struct Operations {
    numbers: NumberKinds,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub lines: Vec<String>,
    pub text: String,
    pub fails: Option<String>,
}

impl Operations {
    pub fn new(numbers: NumberKinds) -> Operations {
        Operations { numbers }
    }

    pub fn type_of(&self, class: Class) -> &'static str {
        match (class, self.numbers.system) {
            (Class::Int, _) | (Class::Real, RealSystem::Fixed(_)) => "i64",
            (Class::Real, RealSystem::F64) => "f64",
            (Class::Real, RealSystem::F32) => "f32",
        }
    }

    pub fn literal(&self, class: Class, bits: u64) -> String {
        match self.type_of(class) {
            "f64" if bits == 0 => "zero".to_owned(),
            "f64" => format!("{:?}lf", f64::from_bits(bits)),
            "f32" if bits == 0 => "zero".to_owned(),
            "f32" => format!("{:?}f", f32::from_bits(bits as u32)),
            _ => match bits as i64 {
                i64::MIN => "(-9223372036854775807li - 1li)".to_owned(),
                value => format!("{value}li"),
            },
        }
    }

    pub fn of_word(&self, class: Class, word: &str) -> String {
        match self.type_of(class) {
            "f64" => format!("bitcast<f64>({word})"),
            "f32" => format!("bitcast<f32>(u32({word}))"),
            _ => format!("bitcast<i64>({word})"),
        }
    }

    pub fn to_word(&self, class: Class, value: &str) -> String {
        match self.type_of(class) {
            "f32" => format!("u64(bitcast<u32>({value}))"),
            _ => format!("bitcast<u64>({value})"),
        }
    }

    pub fn value(&mut self, kind: OpKind, _name: &str, operands: &[&str]) -> Option<Written> {
        let [a, b, c] = [0, 1, 2].map(|n| operands.get(n).copied().unwrap_or(""));
        let bits = self.numbers.word.bits();
        let wrapped = |text: String| match bits {
            64 => text,
            _ => format!("((({text}) << {n}u) >> {n}u)", n = 64 - bits),
        };
        let test = |order: Order| match order {
            Order::Eq => format!("select(0li, 1li, {a} == {b})"),
            Order::Ne => format!("select(1li, 0li, {a} == {b})"),
            Order::Lt => format!("select(0li, 1li, {a} < {b})"),
            Order::Le => format!("select(0li, 1li, {a} <= {b})"),
            Order::Gt => format!("select(0li, 1li, {a} > {b})"),
            Order::Ge => format!("select(0li, 1li, {a} >= {b})"),
        };
        let (text, fails) = match kind {
            OpKind::IntAdd => (wrapped(format!("{a} + {b}")), None),
            OpKind::IntSub => (wrapped(format!("{a} - {b}")), None),
            OpKind::IntMul => (wrapped(format!("{a} * {b}")), None),
            OpKind::IntNeg => (wrapped(format!("0li - {a}")), None),
            OpKind::IntAnd => (format!("{a} & {b}"), None),
            OpKind::IntOr => (format!("{a} | {b}"), None),
            OpKind::IntXor => (format!("{a} ^ {b}"), None),
            OpKind::IntNot => (format!("~{a}"), None),
            OpKind::IntDiv | OpKind::IntRem => {
                let sign = if kind == OpKind::IntDiv { "/" } else { "%" };
                (format!("{a} {sign} select({b}, 1li, {b} == 0li)"), Some(format!("{b} == 0li")))
            }
            OpKind::IntShl | OpKind::IntShr | OpKind::IntSar | OpKind::IntRol | OpKind::IntRor => {
                let (bits, mask) = (u64::from(bits), u64::MAX >> (64 - bits));
                let word = format!("(bitcast<u64>({a}) & {mask}lu)");
                let is_far = format!("(bitcast<u64>({b}) >= {bits}lu)");
                let amount = format!("u32(bitcast<u64>({b}) & {}lu)", bits - 1);
                let rest = format!("(({bits}u - {amount}) & {}u)", bits - 1);
                let text = match kind {
                    OpKind::IntShl => format!("select(bitcast<i64>({word} << {amount}), 0li, {is_far})"),
                    OpKind::IntShr => format!("select(bitcast<i64>({word} >> {amount}), 0li, {is_far})"),
                    OpKind::IntSar => format!("select({a} >> {amount}, {a} >> 63u, {is_far})"),
                    OpKind::IntRol => format!("bitcast<i64>(({word} << {amount}) | ({word} >> {rest}))"),
                    _ => format!("bitcast<i64>(({word} >> {amount}) | ({word} << {rest}))"),
                };
                (wrapped(text), None)
            }
            OpKind::IntTest(order) | OpKind::Test(order) => (test(order), None),
            OpKind::IntChoose | OpKind::Choose => (format!("select({c}, {b}, {a} != 0li)"), None),
            OpKind::Add => (format!("{a} + {b}"), None),
            OpKind::Sub => (format!("{a} - {b}"), None),
            OpKind::Mul | OpKind::Div if self.type_of(Class::Real) == "i64" => {
                ("0li".to_owned(), Some("true".to_owned()))
            }
            OpKind::Mul => (format!("{a} * {b}"), None),
            OpKind::Div => (format!("{a} / {b}"), None),
            OpKind::Neg => (format!("-{a}"), None),
            OpKind::Magnitude => (format!("abs({a})"), None),
            OpKind::Elementary(Elementary::Sqrt) if self.type_of(Class::Real) != "i64" => {
                (format!("sqrt({a})"), None)
            }
            OpKind::RealOf => (format!("{}({a})", self.type_of(Class::Real)), None),
            OpKind::IntOf if self.type_of(Class::Real) == "f64" && bits == 64 => {
                let fails = format!("!(abs({a}) < 9e18lf)");
                (format!("i64(select({a}, zero, {fails}))"), Some(fails))
            }
            _ => match kind.facts().gives? {
                Class::Int => ("0li".to_owned(), Some("true".to_owned())),
                Class::Real => (self.literal(Class::Real, 0), Some("true".to_owned())),
            },
        };
        Some(Written { lines: Vec::new(), text, fails })
    }

    pub fn fails(&mut self, kind: OpKind, operands: &[&str]) -> Option<String> {
        let [a, b] = [0, 1].map(|n| operands.get(n).copied().unwrap_or(""));
        let is_fixed = self.type_of(Class::Real) == "i64";
        match kind {
            OpKind::RequireAdmitted if is_fixed => None,
            OpKind::RequireAdmitted => Some(format!("!({a} - {a} == zero)")),
            OpKind::RequireVacant if is_fixed => Some(format!("{a} != 0li")),
            OpKind::RequireVacant => {
                let of = self.type_of(Class::Real);
                let suffix = if of == "f64" { "lf" } else { "f" };
                Some(format!("!(abs({a}) <= {:?}{suffix})", self.numbers.tolerance))
            }
            OpKind::RequireTrue => Some(format!("{a} == 0li")),
            OpKind::RequireApart => Some(format!("{a} == {b}")),
            _ => None,
        }
    }

    pub fn prelude(&self) -> String {
        String::new()
    }
}
