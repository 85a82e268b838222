//! Generates uses of gradient mode: sections with the mode on, adjoints as operands, and custom derivative rules.
//!
//! Gradient mode changes adjoints, so control flow must not depend on them. Therefore no adjoint affects a cell that
//! a block or a caller may uncompute.

use reviver_isa::function::Function;
use reviver_isa::instruction::Class;

use super::facts::{Fact, Reals};
use super::operand::Operand;
use super::update::Applied;
use super::writer::{Place, Writer};

/// Functions that have a result for every real argument, so that they can be applied to any adjoint.
const TOTAL: [Function; 7] = [
    Function::Copy,
    Function::Sin,
    Function::Cos,
    Function::Tanh,
    Function::Atan,
    Function::Floor,
    Function::Abs,
];

impl Writer<'_> {
    /// Returns the adjoint of a real cell. If `only_added_to` is true, the statement only adds to the adjoint. Then the
    /// cell may also be a parameter to which a constant is passed.
    pub fn adjoint(&mut self, only_added_to: bool) -> Option<Operand> {
        let cells = self
            .scope
            .find(|v| v.class == Class::Real && v.has_adjoint && (only_added_to || !v.maybe_constant));
        if cells.is_empty() {
            return None;
        }
        let id = *self.rng.pick(&cells);
        let mut adjoint = self.cell_of(id).adjoint();
        adjoint.fact = self.numbers().any(Class::Real);
        Some(adjoint)
    }

    /// Returns an adjoint that certainly belongs to another cell than `not`.
    fn other_adjoint(&mut self, not: &Operand) -> Option<Operand> {
        (0..6).find_map(|_| self.adjoint(false).filter(|it| !not.may_be(it)))
    }

    /// Writes a statement that changes adjoints only.
    pub fn touch_adjoint(&mut self) -> bool {
        if !self.profile.gradient {
            return false;
        }
        let added = self.rng.chance(60);
        let Some(adjoint) = self.adjoint(added) else { return false };
        if added {
            let addend = self.addend(Class::Real, &adjoint);
            let update = *self.rng.pick(&["add", "sub"]);
            self.line(addend.update(update, &adjoint.text));
            return true;
        }
        let Some(other) = self.other_adjoint(&adjoint) else { return false };
        let (a, b) = (&adjoint.text, &other.text);
        match self.rng.below(6) {
            0 => self.line(format!("neg {a}")),
            1 => self.line(format!("swap {a}, {b}")),
            2 => {
                let angle = self.source(Class::Real, &[]).text;
                self.line(format!("rot {a}, {b}, {angle}"));
            }
            3 => self.line(format!("add {a}, {b}")),
            4 if !self.in_rule => {
                for (update, cell) in [("push", a), ("push", b), ("pop", a), ("pop", b)] {
                    self.line(format!("{update} {cell}"));
                }
            }
            _ => self.line(format!("sub.mul {a}, {b}, 0.5")),
        }
        true
    }

    /// Writes a statement in which values depend on an adjoint or on the mode.
    pub fn read_adjoint(&mut self) -> bool {
        if !self.profile.gradient || self.place == Place::Enclosed {
            return false;
        }
        let Some(adjoint) = self.adjoint(false) else { return false };
        let class = if self.rng.chance(60) { Class::Real } else { Class::Int };
        let Some(target) = self.target(class) else { return false };
        match (class, self.rng.below(8)) {
            (Class::Real, 0) => self.line(format!("swap {}, {}", target.text, adjoint.text)),
            (Class::Real, _) => {
                let function = *self.rng.pick(&TOTAL);
                let value = Fact::Real(Reals::new(0.0, 0.0));
                let applied = Applied { function, sources: vec![adjoint], value };
                let update = *self.rng.pick(&["add", "sub"]);
                self.line(applied.update(update, &target.text));
            }
            (Class::Int, 0) => self.line(format!("show {}", adjoint.text)),
            (Class::Int, 1) => self.line(format!("assert {0} == {0}", adjoint.text)),
            (Class::Int, 2) => self.line(format!("add {}, mode", target.text)),
            (Class::Int, 3) => self.line(format!("xor.lt {}, {}, 0.25", target.text, adjoint.text)),
            // The body changes no real, so the exit condition finds the same adjoint as the entry condition.
            (Class::Int, _) => {
                self.line(format!("if {} > 0.25", adjoint.text));
                self.line(format!("    add {}, 3", target.text));
                self.line(format!("fi {} > 0.25", adjoint.text));
            }
        }
        true
    }

    /// Writes statements between `grad.on` and `grad.off`, after statements that seed a few adjoints.
    pub fn gradient_section(&mut self) -> bool {
        if !self.profile.gradient || !self.mode_off || self.room < 60 {
            return false;
        }
        self.line("grad.on");
        self.mode_off = false;
        self.nested(Place::Branch, |w| {
            if w.dares() {
                w.line("grad.on");
            }
            for _ in 0..4 {
                w.touch_adjoint();
            }
            w.statements(5);
        });
        self.mode_off = true;
        self.line("grad.off");
        true
    }
}
