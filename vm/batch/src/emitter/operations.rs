//! Emits each operation. [`crate::operations`] writes the operations on values. This module writes the operations on
//! memory, on the step counter, and for verification.

use reviver_compile::op::{OpKind, Space, SsaOp, SsaValue};
use reviver_isa::instruction::Class;

use super::live::has_name;
use super::{MOST_CELLS, Writer};
use crate::operations::IntegerType;

impl Writer<'_> {
    /// Emits an operation of a block.
    pub(super) fn op(&mut self, value: SsaValue) {
        let function = &self.text.lane_run.function;
        let Some(op) = function.op(value) else { return };
        if !self.plan.has_effect(op, function) && self.plan.uses(value) == 0 {
            return;
        }
        self.region = self.region.after(op.kind);
        let operands = self.operands(value, op);
        let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
        match op.kind {
            // Literals are expressions at their use. A function that begins in main has no inputs.
            OpKind::Int(_) | OpKind::Real(_) | OpKind::Input(_) => {}
            OpKind::IntAdd
            | OpKind::IntSub
            | OpKind::IntNeg
            | OpKind::IntMul
            | OpKind::IntDiv
            | OpKind::IntRem
            | OpKind::IntPow
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
            | OpKind::IntChoose
            | OpKind::Add
            | OpKind::Sub
            | OpKind::Mul
            | OpKind::Div
            | OpKind::Neg
            | OpKind::Pow
            | OpKind::Powi
            | OpKind::Atan2
            | OpKind::Hypot
            | OpKind::Elementary(_)
            | OpKind::Magnitude
            | OpKind::Turn { .. }
            | OpKind::Test(_)
            | OpKind::Choose
            | OpKind::RealOf
            | OpKind::IntOf => self.value_op(value, op, &operands),
            OpKind::Index { offset } => self.index(value, op, offset, &operands),
            OpKind::Place if self.steps.contains(&value) => {
                if let [base, index, stride] = op.operands.as_slice() {
                    let [base, index, stride] =
                        [base, index, stride].map(|operand| self.value_in_steps(*operand));
                    self.make(value, &format!("{base} + {index} * {stride}"));
                }
            }
            OpKind::Place => {
                if let [base, index, stride] = operands.as_slice() {
                    let text = self.placed(base, index, stride);
                    self.make(value, &text);
                }
            }
            OpKind::Load(space) => {
                let text = match self.accessed(value, space, op) {
                    Some(place) => self.of_word(Some(space.class()), &place.held()),
                    None => self.nowhere(space.class()),
                };
                self.make(value, &text);
            }
            OpKind::Store(Space::Results) => self.store_result(op, &operands),
            OpKind::Store(space) => {
                if let (Some(place), Some(stored)) = (self.accessed(value, space, op), operands.get(1)) {
                    let bits = self.to_word(Some(space.class()), stored);
                    self.hold(&place, &bits);
                } else {
                    self.nowhere(space.class());
                }
            }
            OpKind::Clock { here } => {
                let text = match self.leads_back() {
                    true => format!("{here}li - clock"),
                    false => format!("clock + {here}li"),
                };
                self.make(value, &text);
            }
            OpKind::RequireAdmitted => self.require_admitted(op, &operands),
            OpKind::RequireVacant | OpKind::RequireTrue | OpKind::RequireApart => {
                if let Some(fails) = self.operations.fails(op.kind, &operands) {
                    self.fail(&fails, op.guard);
                }
            }
            // Lanes report no statistics.
            OpKind::CountErased(_) | OpKind::CountDiscarded | OpKind::CountDropped => {}
            OpKind::Turned { .. } => self.turned(),
            OpKind::Arrived => self.arrived(),
            OpKind::Largest => {
                if let [value] = operands.as_slice() {
                    self.line(format!("largest = larger(largest, {value});"));
                }
            }
            OpKind::Missed { row } => {
                if let [start, found, adjoint] = operands.as_slice() {
                    self.missed(row, [start, found, adjoint]);
                }
            }
            OpKind::Jumped => {
                // The step counter already includes the step that jumped. So the step's number is `clock - 1` in a
                // forward sweep. In a reverse sweep, the counter counts down, and the step's number is `clock`.
                self.line(match self.leads_back() {
                    false => "path = path + mark_of(bitcast<u64>(clock - 1li));",
                    true => "path = path - mark_of(bitcast<u64>(clock));",
                });
            }
            OpKind::Freed { row, .. } => {
                if let [freed, adjoint] = operands.as_slice() {
                    self.freed(freed, adjoint, (row > 0).then_some(row));
                }
            }
        }
    }

    /// Emits the addition of a number that must be finite to a running sum. The sum is finite only if all terms are
    /// finite. The code checks the sum at the start of each iteration and at the end of the lane.
    fn require_admitted(&mut self, op: &SsaOp, operands: &[&str]) {
        let &[number] = operands else { return };
        if self.operations.fails(OpKind::RequireAdmitted, operands).is_none() {
            return;
        }
        let counted = match op.guard.map(|guard| self.value(guard)) {
            Some(guard) => format!("select(zero, {number}, {guard} != {})", self.zero()),
            None => number.to_owned(),
        };
        self.line(format!("admitted = admitted + {counted};"));
    }

    /// Returns the expressions of an operation's operands. If all operands are literals, gives them names. Without
    /// names, the driver's compiler would evaluate some kinds of operations, with results that differ from the CPU's.
    fn operands(&mut self, value: SsaValue, op: &SsaOp) -> Vec<String> {
        let function = &self.text.lane_run.function;
        let is_literal = |operand: &SsaValue| !has_name(function, self.plan.resolved(*operand));
        let is_place = matches!(op.kind, OpKind::Load(_) | OpKind::Store(_) | OpKind::Index { .. });
        let is_named = !is_place && !op.operands.is_empty() && op.operands.iter().all(is_literal);
        let texts: Vec<String> = op.operands.iter().map(|&operand| self.value(operand)).collect();
        if !is_named {
            return texts;
        }
        let named = texts.into_iter().enumerate().map(|(n, text)| {
            let name = format!("v{}_{n}", value.0);
            self.line(format!("let {name} = {text};"));
            name
        });
        named.collect()
    }

    /// Emits the failure of a lane that accesses a cell that doesn't exist. Returns a literal that replaces the cell's
    /// content.
    fn nowhere(&mut self, class: Class) -> String {
        self.line("failed = true;");
        self.operations.literal(class, 0)
    }

    /// Emits the definition of a value: an assignment if the value is a variable, otherwise a declaration.
    fn make(&mut self, value: SsaValue, text: &str) {
        let name = format!("v{}", value.0);
        match self.variables.contains(&value) {
            true => self.line(format!("{name} = {text};")),
            false => self.line(format!("let {name} = {text};")),
        }
    }

    /// Emits a check that fails the lane if `fails` is true and the guard isn't 0. The lane still executes the
    /// following code, up to the start of the next iteration.
    pub(super) fn fail(&mut self, fails: &str, guard: Option<SsaValue>) {
        let guarded = match guard.map(|guard| self.value(guard)) {
            Some(guard) => format!("(({fails}) & ({guard} != {}))", self.zero()),
            None => format!("({fails})"),
        };
        self.line(format!("failed = failed | {guarded};"));
    }

    fn value_op(&mut self, value: SsaValue, op: &SsaOp, operands: &[&str]) {
        let name = format!("v{}", value.0);
        let Some(written) = self.operations.value(op.kind, &name, operands) else { return };
        written.lines.iter().for_each(|line| self.line(line));
        self.helper_iterations = self.helper_iterations.max(written.iterations);
        if self.plan.uses(value) > 0 {
            self.make(value, &written.text);
        }
        if let Some(fails) = written.fails {
            self.fail(&fails, op.guard);
        }
    }

    fn index(&mut self, value: SsaValue, op: &SsaOp, offset: i64, operands: &[&str]) {
        let ([index, _], &[_, length]) = (operands, op.operands.as_slice()) else { return };
        // The index gets a name, because the driver's compiler would evaluate an expression of literals itself.
        let name = format!("v{}", value.0);
        let of = self.operations.integers();
        let length = self.unsigned(length);
        if offset.unsigned_abs() >= MOST_CELLS {
            let wide = format!("{} + {}", of.widened(index), IntegerType::Wide.literal(offset));
            self.line(format!("let {name}_wide = {wide};"));
            self.make(value, &of.of_wide(&format!("{name}_wide")));
            return self.fail(&format!("bitcast<u64>({name}_wide) >= u64({length})"), op.guard);
        }
        let text = match offset {
            0 => (*index).to_owned(),
            _ => format!("{index} + {}", of.literal(offset)),
        };
        self.make(value, &text);
        self.fail(&format!("bitcast<{}>({name}) >= {length}", of.unsigned()), op.guard);
    }

    /// Returns the expression of an integer, converted to the unsigned type.
    fn unsigned(&self, value: SsaValue) -> String {
        let of = self.operations.integers();
        match self.text.lane_run.function.op(self.plan.resolved(value)).map(|op| op.kind) {
            Some(OpKind::Int(literal)) => of.unsigned_literal(literal as u64),
            Some(_) | None => format!("bitcast<{}>({})", of.unsigned(), self.value(value)),
        }
    }

    /// Returns the expression base + index·stride.
    fn placed(&self, base: &str, index: &str, stride: &str) -> String {
        let [none, one] = [0, 1].map(|value| self.operations.integers().literal(value));
        match (base == none, stride == one) {
            (true, true) => index.to_owned(),
            (false, true) => format!("{base} + {index}"),
            (_, false) => format!("{base} + {index} * {stride}"),
        }
    }
}
