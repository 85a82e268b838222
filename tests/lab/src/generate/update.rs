//! Generated statements that only change cells: accumulations of every function in every signature, swaps, rotations,
//! involutions, assertions and marks.

use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::Class;
use reviver_isa::operator::BinaryOperator;
use reviver_isa::update::{Action, Over, Update};

use super::facts::{Fact, Ints};
use super::operand::Operand;
use super::scope::{Extent, Id, Variable};
use super::writer::{Place, Writer};

/// Function applied to sources, with the interval of its value.
pub(super) struct Applied {
    pub function: Function,
    pub sources: Vec<Operand>,
    pub value: Fact,
}

impl Applied {
    /// Returns every variable that the value depends on.
    pub fn uses(&self) -> Vec<Id> {
        self.sources.iter().flat_map(Operand::uses).collect()
    }

    fn texts(&self) -> Vec<&str> {
        self.sources.iter().map(|source| source.text.as_str()).collect()
    }

    /// Formats the application as an expression: `mul(a, b)`.
    pub fn call(&self) -> String {
        match self.function {
            Function::Copy => self.texts().join(", "),
            function => format!("{}({})", function.name(), self.texts().join(", ")),
        }
    }

    /// Formats the application as an update: `add.mul y, a, b`.
    pub fn update(&self, update: &str, target: &str) -> String {
        let function = match self.function {
            Function::Copy => String::new(),
            function => format!(".{}", function.name()),
        };
        let operands: Vec<&str> = std::iter::once(target).chain(self.texts()).collect();
        format!("{update}{function} {}", operands.join(", "))
    }
}

/// Returns the functions and signatures with values of a class. `always` is only a condition.
fn rows(class: Class) -> Vec<(Function, Signature)> {
    let signatures = |f: Function| f.signatures().map(move |signature| (f, signature));
    let rows = Function::ALL.iter().copied().filter(|f| *f != Function::Always).flat_map(signatures);
    rows.filter(|(_, signature)| signature.result() == class).collect()
}

/// Returns the reversible updates that change a target of a class by a function value.
fn accumulations(class: Class) -> Vec<Update> {
    let over = if class == Class::Int { Over::Integers } else { Over::AdditiveReals };
    let fits = |u: &Update| u.action() == Action::Accumulate && u.over().contains(&over);
    Update::ALL.iter().copied().filter(fits).collect()
}

impl Writer<'_> {
    /// Returns a function application whose sources differ from the target. The application certainly has a value,
    /// unless the profile takes risks.
    pub fn applied(&mut self, class: Class, target: Option<&Operand>) -> Applied {
        let rows = rows(class);
        for _ in 0..12 {
            let (function, signature) = *self.rng.pick(&rows);
            for _ in 0..6 {
                let applied = self.with_sources(function, signature, target);
                if let Some(applied) = applied {
                    return applied;
                }
            }
        }
        let source = self.literal(class);
        Applied { function: Function::Copy, value: source.fact, sources: vec![source] }
    }

    fn with_sources(
        &mut self,
        function: Function,
        signature: Signature,
        target: Option<&Operand>,
    ) -> Option<Applied> {
        let mark = self.scope.mark();
        let not: Vec<&Operand> = target.into_iter().collect();
        let sources: Vec<Operand> =
            (0..function.arity()).map(|n| self.value(signature.source(n), &not)).collect();
        let fact = |n: usize, writer: &Self| {
            sources.get(n).map_or(writer.numbers().any(signature.source(n)), |source| source.fact)
        };
        let image = self.numbers().image(function, signature, fact(0, self), fact(1, self));
        let value = match image {
            Some(value) => value,
            None if self.dares() => self.numbers().any(signature.result()),
            None => {
                self.scope.forget(mark);
                return None;
            }
        };
        Some(Applied { function, sources, value })
    }

    /// Returns a source to read: a cell other than `not`, a constant, or an expression that certainly has a value.
    pub fn value(&mut self, class: Class, not: &[&Operand]) -> Operand {
        if self.rng.chance(12)
            && let Some(expression) = self.expression(class, not)
        {
            return expression;
        }
        if class == Class::Int
            && self.rng.chance(4)
            && let Some(length) = self.length()
        {
            return length;
        }
        self.source(class, not)
    }

    /// Returns the length of an array or array parameter.
    fn length(&mut self) -> Option<Operand> {
        let arrays = self.scope.find(|variable| variable.extent != Extent::Scalar);
        let id = if arrays.is_empty() { return None } else { *self.rng.pick(&arrays) };
        let Variable { name, extent, .. } = self.scope.get(id);
        let text = match extent {
            Extent::Matrix(..) => format!("len({name}, {})", self.rng.below(2)),
            Extent::Scalar | Extent::Vector(_) => format!("len({name})"),
        };
        // No array in a generated program has more cells than a matrix of three rows and four columns.
        Some(Operand::expression(text, Fact::Int(Ints::new(1, 12)), Vec::new()))
    }

    fn expression(&mut self, class: Class, not: &[&Operand]) -> Option<Operand> {
        let (function, signature) = *self.rng.pick(&rows(class));
        let mark = self.scope.mark();
        // Most sources are cells or constants, so that the nesting of expressions ends.
        let sources: Vec<Operand> =
            (0..function.arity()).map(|n| self.value(signature.source(n), not)).collect();
        let fact =
            |n: usize| sources.get(n).map_or(self.numbers().any(signature.source(n)), |source| source.fact);
        let uses: Vec<Id> = sources.iter().flat_map(Operand::uses).collect();
        let is_apart = !not.iter().any(|other| other.uses().iter().any(|id| uses.contains(id)));
        let image = self.numbers().image(function, signature, fact(0), fact(1)).filter(|_| is_apart);
        let Some(fact) = image else {
            self.scope.forget(mark);
            return None;
        };
        Some(Operand::expression(self.written(function, &sources), fact, uses))
    }

    /// Formats a function application by its operator if there is one, otherwise by its name.
    fn written(&mut self, function: Function, sources: &[Operand]) -> String {
        let texts: Vec<&str> = sources.iter().map(|source| source.text.as_str()).collect();
        // Operators between constants are avoided: the assembler folds them in its own arithmetic, regardless of
        // words and traps.
        let is_constant =
            |operand: &Operand| operand.uses().into_iter().all(|id| self.scope.get(id).is_constant());
        let is_computed = !sources.iter().all(is_constant);
        match (BinaryOperator::of(function), texts.as_slice()) {
            (Some(operator), [a, b]) if is_computed && self.rng.chance(70) => {
                format!("({a} {} {b})", operator.symbol())
            }
            _ => format!("{}({})", function.name(), texts.join(", ")),
        }
    }

    /// Writes a statement such as `add.f y, a, b`.
    pub fn accumulate(&mut self) -> bool {
        let class = self.class();
        let Some(target) = self.target(class) else { return false };
        let applied = self.addend(class, &target);
        let update = self.rng.pick(&accumulations(class)).name();
        self.line(applied.update(update, &target.text));
        true
    }

    /// Returns a value that may be added to a target as often as the current statement is executed.
    pub fn addend(&mut self, class: Class, target: &Operand) -> Applied {
        for _ in 0..6 {
            let applied = self.applied(class, Some(target));
            match applied.value {
                Fact::Real(value) if value.magnitude() > self.numbers().allowance(self.times) => {}
                _ => return applied,
            }
        }
        let source = self.literal(class);
        Applied { function: Function::Copy, value: source.fact, sources: vec![source] }
    }

    /// Writes a statement that adds to a cell that is never read.
    pub fn contribute(&mut self) -> bool {
        let class = self.class();
        let accumulators = self.scope.find(|v| v.accumulator && v.class == class);
        if accumulators.is_empty() || self.in_rule {
            return false;
        }
        let id = *self.rng.pick(&accumulators);
        let target = self.cell_of(id);
        let applied = self.addend(class, &target);
        let update = *self.rng.pick(&["add", "sub"]);
        self.line(applied.update(update, &target.text));
        true
    }

    /// Writes `overwrite` or `erase`.
    pub fn lose(&mut self) -> bool {
        if !self.profile.lossy || self.place == Place::Enclosed {
            return false;
        }
        let class = self.class();
        let Some(target) = self.target(class) else { return false };
        let line = match self.rng.chance(50) {
            true if class == Class::Int && self.rng.chance(30) => format!("forget {}", target.text),
            true => format!("erase {}", target.text),
            // An `overwrite` may read the value that it replaces.
            false if self.rng.chance(50) => {
                let function = *self.rng.pick(&["min", "max"]);
                let other = self.source(class, &[&target]);
                format!("overwrite.{function} {}, {}, {}", target.text, target.text, other.text)
            }
            false => self.addend(class, &target).update("overwrite", &target.text),
        };
        self.line(line);
        true
    }

    pub fn swap(&mut self) -> bool {
        let class = self.class();
        let Some(a) = self.target(class) else { return false };
        let Some(b) = self.target(class) else { return false };
        self.line(format!("swap {}, {}", a.text, b.text));
        true
    }

    pub fn rotate(&mut self) -> bool {
        let Some(x) = self.target(Class::Real) else { return false };
        let Some(y) = self.other_target(Class::Real, &[&x]) else { return false };
        let angle = self.value(Class::Real, &[&x, &y]);
        let update = *self.rng.pick(&["rot", "irot"]);
        self.line(format!("{update} {}, {}, {}", x.text, y.text, angle.text));
        true
    }

    pub fn involute(&mut self) -> bool {
        let class = self.class();
        let Some(target) = self.target(class) else { return false };
        let update = if class == Class::Int && self.rng.chance(50) { "not" } else { "neg" };
        self.line(format!("{update} {}", target.text));
        true
    }

    /// Writes an assertion that holds in every run, by the intervals of its operands or by its form.
    pub fn assertion(&mut self) -> bool {
        let class = self.class();
        let cell = self.source(class, &[]);
        let claim = match cell.fact {
            _ if self.dares() => format!("{} >= 1", cell.text),
            Fact::Int(range) if self.rng.chance(50) => format!("{} <= {}", cell.text, range.hi),
            Fact::Int(range) => format!("{} >= {}", cell.text, range.lo),
            Fact::Real(_) => format!("{0} == {0}", cell.text),
        };
        let guarded = if self.rng.chance(20) { self.guarded() } else { None };
        self.line(match guarded {
            Some(guarded) => format!("assert ({}) or {claim}", guarded.text),
            None => format!("assert {claim}"),
        });
        true
    }

    pub fn show(&mut self) -> bool {
        let class = self.class();
        let shown = self.value(class, &[]);
        self.line(format!("show {}", shown.text));
        true
    }
}
