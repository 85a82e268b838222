//! Generates statements that undo their own beginning: `local … delocal`, `compute … apply … uncompute`, pairs of an
//! update and its inverse, and cells that are vacated for a while.

use reviver_isa::function::Function;
use reviver_isa::instruction::Class;

use super::facts::{Fact, Ints, Reals};
use super::operand::Operand;
use super::scope::{Extent, Variable};
use super::update::Applied;
use super::writer::{Place, Writer};

impl Writer<'_> {
    /// Writes a `local` block. Its variable mostly has a small value, which can serve as an index or an argument.
    pub fn local(&mut self) -> bool {
        let value = self.handy();
        let class = class_of(value.value);
        let name = self.name("u");
        let uses = value.uses();
        let class_text = if class == Class::Real { ": real" } else { "" };
        let head = format!("{name}{class_text} = {}", value.call());
        self.scope.freeze(&uses);
        self.line(format!("local {head}"));
        self.scope.push(Variable::new(name, class, Extent::Scalar, value.value).fixed());
        self.nested(Place::Branch, |w| w.statements(3));
        self.scope.pop();
        self.line(format!("delocal {head}"));
        self.scope.thaw(&uses);
        true
    }

    /// Writes an update that sets a cell, a few statements, and the inverse update. The cell is an ancilla or a
    /// `local` that is 0 before and after.
    pub fn raised(&mut self) -> bool {
        let value = self.handy();
        let class = class_of(value.value);
        let (up, down) = match class {
            Class::Int => *self.rng.pick(&[("add", "sub"), ("xor", "xor")]),
            Class::Real => ("add", "sub"),
        };
        let is_local = self.rng.chance(40);
        let cell = if is_local {
            Variable::new(self.name("u"), class, Extent::Scalar, value.value)
        } else {
            self.ancilla(class, Extent::Scalar, value.value)
        };
        let name = cell.name.clone();
        let class_text = if class == Class::Real { ": real" } else { "" };
        let uses = value.uses();
        self.scope.freeze(&uses);
        if is_local {
            self.line(format!("local {name}{class_text}"));
        }
        self.line(value.update(up, &name));
        self.scope.push(cell.fixed());
        self.nested(Place::Branch, |w| w.statements(3));
        self.scope.pop();
        self.line(value.update(down, &name));
        if is_local {
            self.line(format!("delocal {name}"));
        }
        self.scope.thaw(&uses);
        true
    }

    /// Returns a function application, mostly with a value in a narrow range.
    fn handy(&mut self) -> Applied {
        let class = self.class();
        if self.rng.chance(35) {
            return self.applied(class, None);
        }
        let source = self.source(class, &[]);
        match class {
            Class::Int => self.narrowed(source),
            Class::Real => {
                let function =
                    *self.rng.pick(&[Function::Sin, Function::Cos, Function::Tanh, Function::Atan]);
                let radius = if function == Function::Atan { 1.6 } else { 1.0 };
                let value = Fact::Real(Reals::new(-radius, radius));
                Applied { function, sources: vec![source], value }
            }
        }
    }

    /// Returns an application that masks an integer to a few bits.
    fn narrowed(&mut self, source: Operand) -> Applied {
        let mask = *self.rng.pick(&[1, 3, 3, 7]);
        Applied {
            function: Function::And,
            sources: vec![source, Operand::int(mask)],
            value: Fact::Int(Ints::new(0, mask)),
        }
    }

    /// Writes `compute … apply … uncompute`: ancillas are filled, read, and cleared again.
    pub fn computed(&mut self) -> bool {
        let class = self.class();
        let extent = match self.rng.below(4) {
            0 => Extent::Vector(self.rng.within(2..=5)),
            1 => Extent::Matrix(2, 3),
            _ => Extent::Scalar,
        };
        let fact = self.numbers().any(class);
        let ancilla = self.ancilla(class, extent, fact);
        let id = self.scope.push(ancilla);
        let mark = self.scope.mark();
        self.scope.touch(id);
        let room = self.room;
        self.room /= 3;
        let share = self.room;
        self.line("compute");
        self.nested(Place::Enclosed, |w| w.filling(id));
        let touched = self.scope.touched_since(mark);
        self.room = room.saturating_sub(2 * (share - self.room));
        self.scope.freeze(&touched);
        self.line("apply");
        self.nested(Place::Enclosed, |w| w.statements(3));
        self.line("uncompute");
        self.scope.thaw(&touched);
        self.scope.pop();
        true
    }

    /// Writes statements of which the first adds a value to an ancilla.
    fn filling(&mut self, id: usize) {
        let target = self.cell_of(id);
        let class = self.scope.get(id).class;
        let value = self.applied(class, Some(&target));
        self.line(value.update("add", &target.text));
        self.statements(3);
    }

    /// Moves a value from a cell to a stack or tape, leaves the cell vacant for a few statements, and moves the value
    /// back.
    pub fn shelved(&mut self) -> bool {
        if self.in_rule {
            return false;
        }
        let class = self.class();
        let Some(cell) = self.target(class) else { return false };
        let (away, back) = *self.rng.pick(&[("push", "pop"), ("write", "unwrite"), ("unread", "read")]);
        let uses = cell.uses();
        self.scope.freeze(&uses);
        self.line(format!("{away} {}", cell.text));
        if self.rng.chance(30) {
            self.line(format!("vacate {}", cell.text));
        }
        self.nested(Place::Enclosed, |w| w.statements(2));
        self.line(format!("{back} {}", cell.text));
        self.scope.thaw(&uses);
        true
    }
}

fn class_of(fact: Fact) -> Class {
    match fact {
        Fact::Int(_) => Class::Int,
        Fact::Real(_) => Class::Real,
    }
}
