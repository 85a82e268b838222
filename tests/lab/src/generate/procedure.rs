//! Generates procedures, calls, and macros. A procedure runs in both directions for all arguments within its
//! parameters' intervals, so any call can be replaced by an uncall.

use reviver_isa::instruction::Class;

use super::facts::{Fact, Ints};
use super::operand::Term;
use super::scope::{Extent, Id, Variable};
use super::writer::{Place, Writer, class_suffix};

/// Way in which a procedure uses a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Use {
    /// Passed as `in`, and only read.
    Read,
    /// Passed as `inout`, and changed.
    Change,
    /// Passed as `inout` and restored at the end. Used for the depth of a recursion.
    Restore,
}

#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub name: String,
    pub class: Class,
    pub usage: Use,
    /// Minimum lengths of an array that is passed.
    pub least: Extent,
    pub fact: Fact,
}

/// Procedure that earlier text defines.
#[derive(Clone, Debug)]
pub(super) struct Procedure {
    pub name: String,
    pub parameters: Vec<Parameter>,
    /// Approximate upper bound on the steps of a call.
    pub cost: u64,
    /// True if the procedure switches gradient mode, so that the mode must be off at a call.
    pub switches: bool,
}

/// Macro that earlier text defines. It changes its first parameter, and reads its second.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    name: String,
    class: Class,
}

/// Text of a call, with the statements that must precede and follow it.
#[derive(Default)]
pub(super) struct Call {
    pub before: Vec<String>,
    pub callee: String,
    pub after: Vec<String>,
}

impl Parameter {
    fn declared(&self) -> String {
        let passing = if self.usage == Use::Read { "in" } else { "inout" };
        let brackets = match self.least {
            Extent::Scalar => "",
            Extent::Vector(_) => "[]",
            Extent::Matrix(..) => "[,]",
        };
        format!("{passing} {}{brackets}{}", self.name, class_suffix(self.class))
    }

    fn variable(&self) -> Variable {
        let maybe_constant = self.usage == Use::Read && self.least == Extent::Scalar;
        let variable = Variable::new(self.name.clone(), self.class, self.least, self.fact);
        let variable = Variable { maybe_constant, ..variable };
        if self.usage == Use::Change { variable } else { variable.fixed() }
    }
}

impl Writer<'_> {
    /// Writes a procedure that may call earlier ones, and sometimes itself. Returns its lines.
    pub fn procedure(&mut self) -> Vec<String> {
        let recursive = self.rng.chance(25);
        let name = self.name("p");
        let parameters = self.parameters(recursive);
        for parameter in &parameters {
            self.scope.push(parameter.variable());
        }
        let switches = self.profile.gradient && self.rng.chance(25);
        self.mode_off = switches;
        self.place = Place::Enclosed;
        self.times = 4;
        self.room = self.profile.steps / 12;
        let share = self.room;
        let depth = match parameters.first().map(|p| p.fact) {
            Some(Fact::Int(range)) if recursive => Some(range.hi),
            _ => None,
        };
        match depth {
            Some(depth) => self.recursion(&name, &parameters, depth),
            None => self.nested(Place::Enclosed, |w| w.statements(4)),
        }
        let has_rule = self.profile.gradient && !switches && self.rng.chance(40);
        let rule = has_rule.then(|| self.name("q"));
        let cost = share - self.room + if has_rule { 80 } else { 6 };
        self.finish(&name, &parameters, rule.as_deref());
        if let Some(rule) = rule {
            let lines = self.take_lines();
            self.rule(&parameters);
            self.finish(&rule, &parameters, None);
            self.prepend(lines);
        }
        parameters.iter().for_each(|_| self.scope.pop());
        self.procedures.push(Procedure { name, parameters, cost, switches });
        self.take_lines()
    }

    /// Writes the body of a rule, which reads the parameters and changes adjoints.
    fn rule(&mut self, parameters: &[Parameter]) {
        let ids: Vec<Id> = self.scope.find(|v| parameters.iter().any(|p| p.name == v.name));
        self.scope.freeze(&ids);
        (self.in_rule, self.room) = (true, 80);
        self.nested(Place::Enclosed, |w| w.statements(3));
        self.in_rule = false;
        self.scope.thaw(&ids);
    }

    /// Encloses the body just written in the procedure's head, frame and end.
    fn finish(&mut self, name: &str, parameters: &[Parameter], rule: Option<&str>) {
        let body = self.take_lines();
        let declared: Vec<String> = parameters.iter().map(Parameter::declared).collect();
        let frame = self.take_frame();
        let rule = rule.map_or(String::new(), |rule| format!(" rule {rule}"));
        self.line(format!(".proc {name}({}){rule}", declared.join(", ")));
        frame.into_iter().chain(body).for_each(|line| self.line(line));
        self.line(".end");
        self.line("");
    }

    fn parameters(&mut self, recursive: bool) -> Vec<Parameter> {
        let count = self.rng.within(1..=4);
        let mut parameters: Vec<Parameter> = (0..count).map(|_| self.parameter()).collect();
        if recursive {
            let usage = if self.rng.chance(50) { Use::Read } else { Use::Restore };
            let depth = self.rng.within(2..=4);
            let fact = Fact::Int(Ints::new(0, depth));
            let name = self.name("n");
            parameters.insert(0, Parameter { name, class: Class::Int, usage, least: Extent::Scalar, fact });
        }
        parameters
    }

    fn parameter(&mut self) -> Parameter {
        let (name, class) = (self.name("a"), self.class());
        let any = self.numbers().any(class);
        let narrow = Fact::Int(Ints::new(0, self.rng.within(1..=3)));
        let vector = Extent::Vector(self.rng.within(1..=3));
        // Matrices of a program have at least two rows and three columns, so each may be passed.
        let matrix = Extent::Matrix(self.rng.within(1..=2), self.rng.within(2..=3));
        let (usage, least, fact) = match self.rng.below(11) {
            0..=3 => (Use::Change, Extent::Scalar, any),
            4 => (Use::Read, Extent::Scalar, any),
            5 if class == Class::Int => (Use::Read, Extent::Scalar, narrow),
            5 | 6 => (Use::Change, vector, any),
            7 => (Use::Change, matrix, any),
            8 | 9 => (Use::Read, vector, any),
            _ => (Use::Read, matrix, any),
        };
        Parameter { name, class, usage, least, fact }
    }

    /// Writes the body of a recursive procedure: statements, a call with a smaller depth unless the depth is 0, and
    /// more statements.
    fn recursion(&mut self, name: &str, parameters: &[Parameter], depth: i64) {
        let number = &parameters[0];
        let n = number.name.clone();
        self.line(format!("if {n} > 0"));
        self.repeated(depth as u64, |w| {
            w.nested(Place::Enclosed, |w| {
                w.statements(2);
                w.recur(name, number, parameters);
                w.statements(2);
            });
        });
        self.line(format!("fi {n} > 0"));
    }

    fn recur(&mut self, name: &str, number: &Parameter, parameters: &[Parameter]) {
        let (n, update) = (&number.name, if self.rng.chance(75) { "call" } else { "uncall" });
        let rest: String = parameters.iter().skip(1).map(|p| format!(", {}", p.name)).collect();
        if number.usage == Use::Restore {
            self.line(format!("sub {n}, 1"));
            self.line(format!("{update} {name}({n}{rest})"));
            self.line(format!("add {n}, 1"));
        } else {
            let smaller = self.name("k");
            self.line(format!("local {smaller} = diff({n}, 1)"));
            self.line(format!("{update} {name}({smaller}{rest})"));
            self.line(format!("delocal {smaller} = diff({n}, 1)"));
        }
    }

    /// Writes `call p(…)` or `uncall p(…)`.
    pub fn call(&mut self) -> bool {
        let Some(call) = self.prepare_call() else { return false };
        let update = if self.rng.chance(60) { "call" } else { "uncall" };
        call.before.iter().for_each(|line| self.line(line));
        self.line(format!("{update} {}", call.callee));
        call.after.iter().for_each(|line| self.line(line));
        true
    }

    /// Writes a call, other statements, and the inverse call, which undoes the first one.
    pub fn called_and_taken_back(&mut self) -> bool {
        let mark = self.scope.mark();
        let room = self.room;
        let Some(call) = self.prepare_call() else { return false };
        let (there, back) = if self.rng.chance(60) { ("call", "uncall") } else { ("uncall", "call") };
        call.before.iter().for_each(|line| self.line(line));
        self.line(format!("{there} {}", call.callee));
        let touched = self.scope.touched_since(mark);
        // The call and its inverse both take steps.
        self.room = self.room.saturating_sub(room - self.room);
        self.scope.freeze(&touched);
        self.nested(Place::Enclosed, |w| w.statements(2));
        self.scope.thaw(&touched);
        self.line(format!("{back} {}", call.callee));
        call.after.iter().for_each(|line| self.line(line));
        true
    }

    /// Chooses arguments for a call whose steps fit into the remaining budget.
    fn prepare_call(&mut self) -> Option<Call> {
        if self.in_rule {
            return None;
        }
        let fits = |p: &Procedure| p.cost * 2 < self.room && (self.mode_off || !p.switches);
        let affordable: Vec<usize> =
            (0..self.procedures.len()).filter(|&n| fits(&self.procedures[n])).collect();
        if affordable.is_empty() {
            return None;
        }
        // Prefers later procedures: these call earlier ones, so calls become deeper.
        let choice = self.rng.below(affordable.len()).max(self.rng.below(affordable.len()));
        let procedure = self.procedures[affordable[choice]].clone();
        let mut call = Call::default();
        let mut taken = Vec::new();
        let mut arguments = Vec::new();
        for parameter in &procedure.parameters {
            arguments.push(self.argument(parameter, &mut taken, &mut call)?);
        }
        taken.iter().for_each(|&(id, _)| self.scope.touch(id));
        call.callee = format!("{}({})", procedure.name, arguments.join(", "));
        self.room = self.room.saturating_sub(procedure.cost);
        Some(call)
    }

    pub fn argument(
        &mut self,
        parameter: &Parameter,
        taken: &mut Vec<(Id, Use)>,
        call: &mut Call,
    ) -> Option<String> {
        match (parameter.usage, parameter.least) {
            (Use::Restore, _) => Some(self.depth_argument(parameter, call)),
            (Use::Read, Extent::Scalar) if self.rng.chance(25) => Some(self.constant_argument(parameter)),
            (Use::Read, Extent::Scalar) if parameter.fact != self.numbers().any(parameter.class) => {
                Some(self.range_argument(parameter, taken))
            }
            (_, least) => {
                let id = self.free_variable(parameter, taken)?;
                taken.push((id, parameter.usage));
                Some(match least {
                    Extent::Scalar => self.cell_of(id).text,
                    Extent::Vector(least) => self.slice_of(id, least),
                    Extent::Matrix(..) => self.scope.get(id).name.clone(),
                })
            }
        }
    }

    /// Returns an argument for a recursion's depth: a cell of the frame, which is set before the call and cleared
    /// after it.
    fn depth_argument(&mut self, parameter: &Parameter, call: &mut Call) -> String {
        let Fact::Int(range) = parameter.fact else { return "0".into() };
        let depth = self.rng.within(range.lo..=range.hi);
        let cell = self.ancilla(Class::Int, Extent::Scalar, parameter.fact).name;
        call.before.push(format!("add {cell}, {depth}"));
        call.after.push(format!("sub {cell}, {depth}"));
        cell
    }

    fn constant_argument(&mut self, parameter: &Parameter) -> String {
        match parameter.fact {
            Fact::Int(range) if range.hi.saturating_sub(range.lo) < 32 => {
                self.rng.within(range.lo..=range.hi).to_string()
            }
            _ => self.literal(parameter.class).text,
        }
    }

    /// Returns an argument for an integer parameter: a cell whose range is within the parameter's range, or a
    /// constant.
    pub fn range_argument(&mut self, parameter: &Parameter, taken: &mut Vec<(Id, Use)>) -> String {
        let Fact::Int(wanted) = parameter.fact else { return "0".into() };
        let fits = |range: Ints| wanted.lo <= range.lo && range.hi <= wanted.hi;
        let cells = self.scope.find(|v| v.range().is_some_and(fits));
        if cells.is_empty() {
            return self.constant_argument(parameter);
        }
        let id = *self.rng.pick(&cells);
        taken.push((id, Use::Read));
        self.spell(&Term { cell: Some(id), offset: 0 })
    }

    /// Returns a variable that a call may pass in addition to the variables in `taken`.
    pub fn free_variable(&mut self, parameter: &Parameter, taken: &[(Id, Use)]) -> Option<Id> {
        let reads = parameter.usage == Use::Read;
        let clashes =
            |id: Id| taken.iter().any(|&(other, usage)| other == id && !(reads && usage == Use::Read));
        let large_enough = |extent: Extent| match (parameter.least, extent) {
            (Extent::Scalar, _) => true,
            (Extent::Vector(least), Extent::Vector(n)) => n >= least,
            (Extent::Vector(least), Extent::Matrix(rows, columns)) => rows.max(columns) >= least,
            (Extent::Matrix(rows, columns), Extent::Matrix(own_rows, own_columns)) => {
                own_rows >= rows && own_columns >= columns
            }
            (Extent::Vector(_), Extent::Scalar)
            | (Extent::Matrix(..), Extent::Scalar | Extent::Vector(_)) => false,
        };
        let fits = |v: &Variable| {
            v.class == parameter.class && v.passable && (reads || v.frozen == 0) && large_enough(v.extent)
        };
        let candidates: Vec<Id> = self.scope.find(fits).into_iter().filter(|&id| !clashes(id)).collect();
        if candidates.is_empty() { None } else { Some(*self.rng.pick(&candidates)) }
    }

    /// Returns an array, or a part of it with at least `least` cells.
    fn slice_of(&mut self, id: Id, least: i64) -> String {
        let Variable { name, extent, .. } = self.scope.get(id).clone();
        match extent {
            Extent::Matrix(rows, columns) => {
                let row = self.index(rows);
                let column = self.index(columns);
                self.touch_terms(&[&row, &column]);
                match self.rng.below(3) {
                    0 if columns >= least => format!("{name}[{}, ..]", self.spell(&row)),
                    1 if rows >= least => format!("{name}[.., {}]", self.spell(&column)),
                    _ => name,
                }
            }
            Extent::Vector(n) if self.rng.chance(65) => self.span_of(&name, n, least),
            _ => name,
        }
    }

    /// Returns a slice: `A[2..5]`, `A[i..i+2]` or `A[0..5 step 2]`.
    fn span_of(&mut self, name: &str, length: i64, least: i64) -> String {
        if self.rng.chance(25) && (length + 1) / 2 >= least {
            return format!("{name}[0..{length} step 2]");
        }
        let cells = self.rng.within(least..=length);
        let from = self.index(length - cells + 1);
        let to = Term { offset: from.offset + cells, ..from.clone() };
        self.touch_terms(&[&from]);
        format!("{name}[{}..{}]", self.spell(&from), self.spell(&to))
    }

    fn touch_terms(&mut self, terms: &[&Term]) {
        terms.iter().filter_map(|term| term.cell).for_each(|id| self.scope.touch(id));
    }

    /// Writes a macro of a few updates.
    pub fn macro_definition(&mut self) {
        let (name, class) = (self.name("m"), self.class());
        let updates: &[&str] = match class {
            Class::Int => &["add a, b", "xor.and a, b, 3", "neg a", "rol a, 1", "sub.square a, b", "not a"],
            Class::Real => &["add a, b", "sub.sin a, b", "neg a", "add.mul a, b, 0.5", "sub.atan2 a, b, 1.0"],
        };
        self.line(format!(".macro {name}(a, b)"));
        for _ in 0..self.rng.within(1..=3) {
            let update = *self.rng.pick(updates);
            self.line(format!("    {update}"));
        }
        self.line(".endm");
        self.macros.push(Macro { name, class });
    }

    /// Writes a use of a macro, or of its inverse.
    pub fn macro_use(&mut self) -> bool {
        if self.macros.is_empty() || self.times > 64 {
            return false;
        }
        let Macro { name, class } = self.rng.pick(&self.macros.clone()).clone();
        let Some(a) = self.target(class) else { return false };
        let b = self.source(class, &[&a]);
        let undo = if self.rng.chance(40) { "undo " } else { "" };
        self.line(format!("{undo}{name} {}, {}", a.text, b.text));
        true
    }
}
