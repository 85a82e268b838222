//! Generates uses of stacks and tapes: short sequences that are valid anywhere, and pushes and writes that the program
//! doesn't undo. The latter are generated only where the contents of stacks and tapes are known.

use reviver_isa::instruction::Class;

use super::facts::{Fact, Ints};
use super::scope::{Extent, Variable};
use super::writer::{Place, Writer};

impl Writer<'_> {
    /// Writes statements that exchange two cells through a stack or a tape.
    pub fn exchange(&mut self) -> bool {
        if self.in_rule {
            return false;
        }
        let class = self.class();
        let Some(a) = self.target(class) else { return false };
        let Some(b) = self.other_target(class, &[&a]) else { return false };
        let (away, back) = *self.rng.pick(&[("push", "pop"), ("write", "unwrite"), ("unread", "read")]);
        for cell in [&a, &b] {
            self.line(format!("{away} {}", cell.text));
        }
        for cell in [&a, &b] {
            self.line(format!("{back} {}", cell.text));
        }
        true
    }

    /// Writes statements that reverse an array through a stack or a tape.
    pub fn turn_around(&mut self) -> bool {
        let arrays =
            self.scope.find(|v| v.frozen == 0 && !v.accumulator && matches!(v.extent, Extent::Vector(2..)));
        if arrays.is_empty() || self.room < 100 || self.in_rule {
            return false;
        }
        let id = *self.rng.pick(&arrays);
        let Variable { name, extent, .. } = self.scope.get(id).clone();
        let Extent::Vector(n) = extent else { return false };
        self.scope.touch(id);
        let (away, back) = *self.rng.pick(&[("push", "pop"), ("write", "unwrite"), ("unread", "read")]);
        for update in [away, back] {
            let i = self.name("i");
            self.line(format!("for {i} in 0..{n}"));
            self.repeated(n as u64, |w| w.line(format!("    {update} {name}[{i}]")));
            self.line("rof");
        }
        true
    }

    /// Writes a push or a write that the program doesn't undo.
    pub fn store_without_inverse(&mut self) -> bool {
        if self.place == Place::Enclosed {
            return false;
        }
        let class = self.class();
        let Some(cell) = self.target(class) else { return false };
        let update = *self.rng.pick(&["push", "write"]);
        self.line(format!("{update} {}", cell.text));
        true
    }

    /// Writes statements that read values from the input tape, use them, and write them to the output tape.
    pub fn echo(&mut self) -> bool {
        if self.place != Place::Trunk || self.room < 200 {
            return false;
        }
        let class = self.class();
        let n = self.rng.within(1..=4);
        let fact = self.numbers().any(class);
        let cell = self.ancilla(class, Extent::Scalar, fact);
        let name = cell.name.clone();
        for _ in 0..n {
            let entry = self.literal(class).text;
            self.tape.push(entry);
        }
        let i = self.name("i");
        self.line(format!("for {i} in 0..{n}"));
        self.line(format!("    read {name}"));
        self.scope.push(cell.fixed());
        self.repeated(n as u64, |w| w.nested(Place::Branch, |w| w.statements(2)));
        self.scope.pop();
        self.line(format!("    write {name}"));
        self.line("rof");
        true
    }

    /// Writes statements that pop an initial value from a stack, use it, and move it elsewhere.
    pub fn unstack(&mut self) -> bool {
        if self.place != Place::Trunk || self.room < 100 {
            return false;
        }
        let class = self.class();
        let Some(left) = self.given[class as usize].checked_sub(1) else { return false };
        self.given[class as usize] = left;
        let fact = self.numbers().any(class);
        let cell = self.ancilla(class, Extent::Scalar, fact);
        let name = cell.name.clone();
        self.line(format!("pop {name}"));
        self.scope.push(cell.fixed());
        self.nested(Place::Trunk, |w| w.statements(2));
        self.scope.pop();
        self.line(format!("write {name}"));
        true
    }

    /// Writes statements that leave a residue within the tolerance in a cell, and then vacate the cell.
    pub fn speck(&mut self) -> bool {
        let cell = self.ancilla(Class::Real, Extent::Scalar, self.numbers().any(Class::Real)).name;
        let speck = *self.rng.pick(&["1e-12", "-3e-13", "2e-30"]);
        self.line(format!("add {cell}, {speck}"));
        self.line(format!("vacate {cell}"));
        true
    }

    /// Writes statements that move a value from a stack to a tape, through a vacant cell.
    pub fn pour(&mut self) -> bool {
        if self.place == Place::Enclosed {
            return false;
        }
        let class = self.class();
        let Some(cell) = self.target(class) else { return false };
        let between = self.ancilla(class, Extent::Scalar, Fact::Int(Ints::new(0, 0))).name;
        self.line(format!("push {}", cell.text));
        self.line(format!("pop {between}"));
        self.line(format!("write {between}"));
        true
    }
}
