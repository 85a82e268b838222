//! Generated declarations: settings, constants and globals.

use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Word};

use super::facts::{Fact, Ints, Reals};
use super::scope::{Extent, Variable};
use super::writer::{Writer, class_suffix, shape};

impl Writer<'_> {
    /// Writes `.word`, `.real`, and sometimes limits and a tolerance.
    pub fn settings(&mut self) {
        if self.profile.word != Word::W64 {
            self.line(format!(".word {}", self.profile.word.bits()));
        }
        if self.profile.real != RealSystem::F64 {
            self.line(format!(".real {}", self.profile.real));
        }
        if self.profile.real == RealSystem::F32 {
            // With 32-bit floats, uncomputing a sum leaves a residue of about 1e-4, which must be within the
            // tolerance.
            self.line(".tolerance 0.01");
        }
        if self.rng.chance(20) {
            let (depth, stack) = (self.rng.within(20..=50), self.rng.within(500..=900));
            self.line(format!(".limit depth {depth}"));
            self.line(format!(".limit stack {stack}"));
        }
    }

    /// Writes named constants, which are visible in every procedure.
    pub fn constants(&mut self) {
        let (name, value) = (self.name("K"), self.rng.within(0..=5));
        let text = *self.rng.pick(&["{}", "{} + 1 - 1", "({} << 1) / 2", "0x0{}"]);
        self.line(format!(".const {name} = {}", text.replace("{}", &value.to_string())));
        self.constant(name, Class::Int, Fact::Int(Ints::new(value, value)));
        let (name, value) = (self.name("Q"), self.small_real());
        self.line(format!(".const {name} = {value:?}"));
        self.constant(name, Class::Real, Fact::Real(Reals::new(value, value)));
    }

    fn constant(&mut self, name: String, class: Class, fact: Fact) {
        let constant = Variable::new(name, class, Extent::Scalar, fact).fixed();
        self.scope.push(Variable { passable: false, has_adjoint: false, ..constant });
    }

    /// Writes globals that procedures access by name: constant tables, and cells that are only added to.
    pub fn shared_globals(&mut self) {
        for class in [Class::Int, Class::Real] {
            let table = self.global(class, Extent::Vector(4), &[".var", ".inout"]);
            self.scope.push(Variable { passable: false, ..table.fixed() });
            let sum = self.global(class, Extent::Scalar, &[".out", ".garbage"]);
            self.scope.push(Variable { passable: false, accumulator: true, ..sum });
        }
        let (name, value) = (self.name("n"), self.rng.within(0..=4));
        self.line(format!(".in {name} = {value}"));
        let count = Variable::new(name, Class::Int, Extent::Scalar, Fact::Int(Ints::new(value, value)));
        self.scope.push(Variable { passable: false, ..count.fixed() });
    }

    /// Writes globals that main uses and passes.
    pub fn main_globals(&mut self) {
        let roles = [".inout", ".inout", ".in", ".out", ".var", ".garbage"];
        for class in [Class::Int, Class::Int, Class::Real] {
            for extent in [Extent::Scalar, Extent::Scalar, Extent::Vector(self.rng.within(3..=6))] {
                let global = self.global(class, extent, &roles);
                self.scope.push(global);
            }
        }
        let matrix = self.global(Class::Int, Extent::Matrix(3, 4), &roles);
        self.scope.push(matrix);
        let matrix = self.global(Class::Real, Extent::Matrix(2, 3), &roles);
        self.scope.push(matrix);
        for class in [Class::Int, Class::Real] {
            if self.rng.chance(40) {
                self.stack(class);
            }
        }
        for (prefix, class) in [("r", Class::Int), ("f", Class::Real)] {
            let name = format!("{prefix}{}", self.rng.within(0..=9));
            let fact = self.numbers().any(class);
            self.scope.push(Variable::new(name, class, Extent::Scalar, fact));
        }
    }

    /// Declares the stack of a class, with a default if it is an input.
    fn stack(&mut self, class: Class) {
        let name = self.name("S");
        let role = *self.rng.pick(&[".garbage", ".garbage", ".out", ".inout", ".in", ".var"]);
        let mut line = format!("{role} {name}[]{}", class_suffix(class));
        if role.starts_with(".in") && self.rng.chance(80) {
            let count = self.rng.within(1..=4);
            let values: Vec<String> = (0..count).map(|_| self.literal(class).text).collect();
            line += &format!(" default {{{}}}", values.join(", "));
            self.given[class as usize] = count as u32;
        }
        self.line(line);
    }

    /// Declares a global with initial values and, for an input, sometimes a default.
    fn global(&mut self, class: Class, extent: Extent, roles: &[&str]) -> Variable {
        let name = self.name(if extent == Extent::Scalar { "x" } else { "A" });
        let role = *self.rng.pick(roles);
        let mut line = format!("{role} {name}{}{}", shape(extent), class_suffix(class));
        if self.rng.chance(60) {
            line += &format!(" = {}", self.values(class, extent));
        }
        if role.starts_with(".in") && self.rng.chance(80) {
            line += &format!(" default {}", self.values(class, extent));
        }
        self.line(line);
        Variable::new(name, class, extent, self.numbers().any(class))
    }

    /// Returns one value for all cells, or one per cell.
    fn values(&mut self, class: Class, extent: Extent) -> String {
        let cells = match extent {
            Extent::Scalar => return self.literal(class).text,
            Extent::Vector(n) => n,
            Extent::Matrix(rows, columns) => rows * columns,
        };
        let each: Vec<String> = (0..cells).map(|_| self.literal(class).text).collect();
        if self.rng.chance(25) { self.literal(class).text } else { format!("{{{}}}", each.join(", ")) }
    }
}
