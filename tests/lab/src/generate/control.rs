//! Generates control flow that can be reversed. An exit condition tests cells that the bodies don't change, or a mark
//! that only one body sets. Loops test a counter.

use reviver_isa::instruction::Class;

use super::facts::{Fact, Ints, Reals};
use super::operand::Term;
use super::scope::{Extent, Id, Variable};
use super::writer::{Place, Writer};

/// Iteration count of a loop: its text, its range, and the variables that must not change during the loop.
struct Rounds {
    text: String,
    range: Ints,
    uses: Vec<Id>,
}

impl Writer<'_> {
    /// Writes `if c … fi c`, with or without `else`.
    pub fn branch(&mut self) -> bool {
        let simple = self.rng.chance(40);
        let (entry, exit, uses) = if simple {
            let comparison = self.block_comparison();
            (comparison.text(), self.reworded(&comparison), comparison.uses)
        } else {
            let condition = self.condition();
            (condition.text.clone(), condition.text, condition.uses)
        };
        self.scope.freeze(&uses);
        self.line(format!("if {entry}"));
        self.nested(Place::Branch, |w| w.statements(3));
        match self.rng.below(10) {
            0..4 => {}
            4..6 => self.ladder(),
            _ => {
                self.line("else");
                self.nested(Place::Branch, |w| w.statements(3));
            }
        }
        let exit = match self.profile.lossy && self.place != Place::Enclosed && self.rng.chance(30) {
            true => "forgotten".to_owned(),
            false if self.dares() => self.condition().text,
            false => exit,
        };
        self.line(format!("fi {exit}"));
        self.scope.thaw(&uses);
        true
    }

    /// Writes `else if c … else … fi c` within another `if`.
    fn ladder(&mut self) {
        let inner = self.condition();
        self.scope.freeze(&inner.uses);
        self.line(format!("else if {}", inner.text));
        self.nested(Place::Branch, |w| w.statements(2));
        if self.rng.chance(50) {
            self.line("else");
            self.nested(Place::Branch, |w| w.statements(2));
        }
        self.line(format!("fi {}", inner.text));
        self.scope.thaw(&inner.uses);
    }

    /// Writes an `if` whose exit condition tests a mark that only the first body sets. A second `if` clears the mark.
    pub fn marked_branch(&mut self) -> bool {
        let condition = self.comparison();
        let mark = self.ancilla(Class::Int, Extent::Scalar, Fact::Int(Ints::new(0, 1))).name;
        let value = self.rng.within(1..=3);
        self.scope.freeze(&condition.uses);
        self.line(format!("if {}", condition.text()));
        self.nested(Place::Branch, |w| {
            w.statements(2);
            w.line(format!("add {mark}, {value}"));
        });
        self.line("else");
        self.nested(Place::Branch, |w| w.statements(2));
        let exits = [format!("{mark} != 0"), format!("{mark} == {value}"), format!("0 < {mark}")];
        let exit = self.rng.pick(&exits).clone();
        self.line(format!("fi {exit}"));
        self.line(format!("if {}", condition.text()));
        self.nested(Place::Branch, |w| w.line(format!("sub {mark}, {value}")));
        self.line(format!("fi {}", condition.text()));
        self.scope.thaw(&condition.uses);
        true
    }

    /// Writes `for i in a..b … rof`.
    pub fn counted(&mut self) -> bool {
        let Some(rounds) = self.rounds(0) else { return false };
        let (from, range, bounds) = self.count_from(&rounds);
        let reversed = if self.rng.chance(30) { " reversed" } else { "" };
        let counter = self.name("i");
        self.scope.freeze(&rounds.uses);
        self.line(format!("for {counter} in {from}..{bounds}{reversed}"));
        let variable = Variable::new(counter, Class::Int, Extent::Scalar, Fact::Int(range)).fixed();
        self.round(variable, rounds.range.hi, Place::Branch);
        self.line("rof");
        self.scope.thaw(&rounds.uses);
        true
    }

    /// Returns the first value of a loop counter, the counter's range, and the bounds as text: `0..n`, `2..8 step 3`.
    fn count_from(&mut self, rounds: &Rounds) -> (i64, Ints, String) {
        if rounds.range.lo < rounds.range.hi || self.rng.chance(50) {
            return (0, Ints::new(0, (rounds.range.hi - 1).max(0)), rounds.text.clone());
        }
        let (from, step) = (self.rng.within(-2..=3), self.rng.within(1..=3));
        let to = from + step * rounds.range.hi;
        let step_text = if step == 1 { String::new() } else { format!(" step {step}") };
        (from, Ints::new(from, (to - step).max(from)), format!("{to}{step_text}"))
    }

    /// Writes the body of a loop; its statements may read the counter.
    fn round(&mut self, counter: Variable, times: i64, place: Place) {
        self.scope.push(counter);
        self.repeated(times.max(0) as u64, |w| w.nested(place, |w| w.statements(3)));
        self.scope.pop();
    }

    /// Returns an iteration count for a loop: a constant, or a cell with a small range.
    fn rounds(&mut self, least: i64) -> Option<Rounds> {
        let most = match self.room {
            0..60 => return None,
            60..400 => 3,
            _ => 8,
        };
        let fits = |range: Ints| range.lo >= least && range.hi <= most;
        let cells = self.scope.find(|v| v.range().is_some_and(fits));
        if !cells.is_empty() && self.rng.chance(60) {
            let id = *self.rng.pick(&cells);
            let range = self.scope.get(id).range()?;
            let text = self.spell(&Term { cell: Some(id), offset: 0 });
            self.scope.touch(id);
            return Some(Rounds { text, range, uses: vec![id] });
        }
        let n = self.rng.within(least..=most);
        Some(Rounds { text: n.to_string(), range: Ints::new(n, n), uses: Vec::new() })
    }

    /// Writes `from i == 0 … until i == n` with a counter in the frame.
    pub fn counted_loop(&mut self) -> bool {
        let with_rest = self.rng.chance(60);
        let Some(rounds) = self.rounds(if with_rest { 0 } else { 1 }) else { return false };
        let counter = self.ancilla(Class::Int, Extent::Scalar, Fact::Int(Ints::new(0, 0)));
        let i = counter.name.clone();
        let n = &rounds.text;
        let entries = [format!("{i} == 0"), format!("{i} <= 0"), format!("not {i} > 0")];
        let exits = [format!("{i} == {n}"), format!("{i} >= {n}"), format!("not ({i} < {n} and {i} != {n})")];
        let (entry, exit) = (self.rng.pick(&entries).clone(), self.rng.pick(&exits).clone());
        let forgets = self.profile.lossy && self.place != Place::Enclosed && self.rng.chance(30);
        let entry = if forgets { "forgotten".to_owned() } else { entry };
        self.scope.freeze(&rounds.uses);
        self.line(format!("from {entry}"));
        if with_rest {
            self.loop_with_rest(counter, &rounds, &exit);
        } else {
            let first = Variable { fact: Fact::Int(Ints::new(0, rounds.range.hi - 1)), ..counter };
            self.round(first.fixed(), rounds.range.hi, Place::Branch);
            self.line(format!("    add {i}, 1"));
            self.line(format!("until {exit}"));
        }
        self.line(format!("sub {i}, {}", rounds.text));
        self.scope.thaw(&rounds.uses);
        true
    }

    /// Writes a loop with its exit test in the middle. The part before the test runs once more than the part after
    /// it.
    fn loop_with_rest(&mut self, counter: Variable, rounds: &Rounds, exit: &str) {
        let (most, i) = (rounds.range.hi, counter.name.clone());
        if self.rng.chance(50) {
            let first = Variable { fact: Fact::Int(Ints::new(0, most)), ..counter.clone() };
            self.round(first.fixed(), most + 1, Place::Branch);
        }
        self.line("loop");
        let again = Variable { fact: Fact::Int(Ints::new(0, (most - 1).max(0))), ..counter };
        self.round(again.fixed(), most, Place::Branch);
        self.line(format!("    add {i}, 1"));
        self.line(format!("until {exit}"));
    }

    /// Writes a loop with a real counter that increases by 0.5, which every number system represents.
    pub fn real_loop(&mut self) -> bool {
        if self.room < 100 {
            return false;
        }
        let rounds = self.rng.within(1..=4);
        let end = rounds as f64 / 2.0;
        let counter = self.ancilla(Class::Real, Extent::Scalar, Fact::Real(Reals::new(0.0, end)));
        let x = counter.name.clone();
        let exits = [format!("{x} == {end:?}"), format!("{x} > {:?}", end - 0.25)];
        let exit = self.rng.pick(&exits).clone();
        self.line(format!("from {x} == 0.0"));
        self.round(counter.fixed(), rounds, Place::Branch);
        self.line(format!("    add {x}, 0.5"));
        self.line(format!("until {exit}"));
        self.line(format!("sub {x}, {end:?}"));
        true
    }
}
