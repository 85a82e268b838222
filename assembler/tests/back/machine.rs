//! Tests that lowered blocks are bijections. A minimal machine for integers runs main forward and backward
//! from many states, and must restore the initial state.

use std::collections::HashMap;

use reviver_isa::Module;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Base, Instruction, Link, Operand};
use reviver_isa::update::Update;

use crate::support::module;

/// The values of scalars by their declaration; missing ones are 0.
type Cells = HashMap<Base, i64>;

/// The index of the instruction that trapped.
#[derive(Debug, PartialEq)]
struct Trap(usize);

struct Machine<'m> {
    module: &'m Module,
    cells: Cells,
    steps: usize,
}

impl<'m> Machine<'m> {
    fn new(module: &'m Module, inputs: &[(&str, i64)]) -> Machine<'m> {
        let base = |name: &str| {
            let n = module.globals.iter().position(|g| g.name == name).expect("a declared input");
            Base::Global(n as u32)
        };
        let cells = inputs.iter().map(|(name, value)| (base(name), *value)).collect();
        Machine { module, cells, steps: 0 }
    }

    fn get(&self, name: &str) -> i64 {
        let n = self.module.globals.iter().position(|g| g.name == name).expect("a declared cell");
        self.cells.get(&Base::Global(n as u32)).copied().unwrap_or(0)
    }

    fn value(&self, operand: &Operand) -> i64 {
        match operand {
            Operand::Int(value) => *value,
            Operand::Place(place) => self.cells.get(&place.base).copied().unwrap_or(0),
            _ => unreachable!("integers only"),
        }
    }

    fn function(&self, function: Function, sources: &[Operand]) -> i64 {
        let value = |n: usize| sources.get(n).map_or(0, |s| self.value(s));
        let (a, b) = (value(0), value(1));
        match function {
            Function::Copy => a,
            Function::Sum => a + b,
            Function::Mul => a * b,
            Function::And => a & b,
            Function::Or => a | b,
            Function::Eq => i64::from(a == b),
            Function::Ne => i64::from(a != b),
            Function::Lt => i64::from(a < b),
            Function::Le => i64::from(a <= b),
            Function::Gt => i64::from(a > b),
            Function::Ge => i64::from(a >= b),
            Function::Always => 1,
            other => unreachable!("{other:?} is not in these tests"),
        }
    }

    fn condition(&self, at: usize) -> bool {
        let instruction = &self.module.code[at];
        self.function(instruction.function, &instruction.operands) != 0
    }

    fn change(&mut self, instruction: &Instruction, backward: bool, at: usize) -> Result<(), Trap> {
        let Some(Operand::Place(target)) = instruction.operands.first() else { return Ok(()) };
        let f = self.function(instruction.function, &instruction.operands[1..]);
        let old = self.cells.get(&target.base).copied().unwrap_or(0);
        let update = if backward { instruction.update.inverse() } else { instruction.update };
        let new = match update {
            Update::Add => old + f,
            Update::Sub => old - f,
            Update::Xor => old ^ f,
            Update::Neg => -old,
            Update::Vacate if old == 0 => 0,
            Update::Vacate => return Err(Trap(at)),
            other => unreachable!("{other:?} is not in these tests"),
        };
        self.cells.insert(target.base, new);
        Ok(())
    }

    /// Runs main from one end to the other. Seen in the direction of the run, a `br` jumps if its condition is true.
    /// The `br` traps if the condition at its partner is false. A `from` that is reached without a jump traps if its
    /// condition is true.
    fn walk(&mut self, backward: bool) -> Result<(), Trap> {
        let main = &self.module.procedures[0];
        let (mut at, end) = if backward { (main.exit, main.entry) } else { (main.entry, main.exit) };
        let onward = |at: u32| if backward { at - 1 } else { at + 1 };
        at = onward(at);
        while at != end {
            self.steps += 1;
            assert!(self.steps < 100_000, "the walk does not end");
            let instruction = &self.module.code[at as usize];
            let holds = |machine: &Machine, n: u32| machine.condition(n as usize);
            let Link::Partner(partner) = instruction.link else {
                self.change(instruction, backward, at as usize)?;
                at = onward(at);
                continue;
            };
            let ahead = if backward { instruction.update.inverse() } else { instruction.update };
            at = match (ahead, holds(self, at)) {
                (Update::Br, true) if !holds(self, partner) => return Err(Trap(at as usize)),
                (Update::Br, true) => onward(partner),
                (Update::From, true) => return Err(Trap(at as usize)),
                _ => onward(at),
            };
        }
        Ok(())
    }

    fn without_zeros(&self) -> Cells {
        self.cells.iter().filter(|(_, v)| **v != 0).map(|(b, v)| (*b, *v)).collect()
    }
}

/// Runs a text forward and then backward, and backward and then forward, from every state in which each name has a
/// value from -4 to 4. Checks that each run back restores the state. Returns how many forward runs and how many
/// backward runs from these states reached the end.
fn round_trip(text: &str, names: &[&str]) -> (usize, usize) {
    let module = module(text);
    let mut through = [0, 0];
    for number in 0..9usize.pow(names.len() as u32) {
        let digit = |n: usize| (number / 9usize.pow(n as u32) % 9) as i64 - 4;
        let inputs: Vec<(&str, i64)> = names.iter().enumerate().map(|(n, name)| (*name, digit(n))).collect();
        for (backward, count) in [false, true].into_iter().zip(&mut through) {
            let mut machine = Machine::new(&module, &inputs);
            let start = machine.without_zeros();
            if machine.walk(backward).is_err() {
                continue;
            }
            *count += 1;
            let frame_is_vacant = machine.cells.iter().all(|(b, v)| !matches!(b, Base::Frame(_)) || *v == 0);
            assert!(frame_is_vacant, "from {inputs:?}, backward {backward}: {:?}", machine.cells);
            machine.walk(!backward).expect("a backward run is free");
            assert_eq!(machine.without_zeros(), start, "from {inputs:?}, backward {backward}");
        }
    }
    (through[0], through[1])
}

fn run(text: &str, inputs: &[(&str, i64)]) -> Result<i64, Trap> {
    let module = module(text);
    let mut machine = Machine::new(&module, inputs);
    machine.walk(false).map(|()| machine.get("s"))
}

#[test]
fn if_takes_the_right_branch_and_is_reversible() {
    let text = ".inout a, b, s\nif a < b\n add s, 5\nelse\n sub s, 5\nfi a < b\n";
    assert_eq!(run(text, &[("a", 1), ("b", 2)]), Ok(5));
    assert_eq!(run(text, &[("a", 2), ("b", 1)]), Ok(-5));
    assert_eq!(round_trip(text, &["a", "b", "s"]), (729, 729));
}

#[test]
fn a_wrong_exit_condition_traps_in_both_directions() {
    let text = ".inout a, s\nif a == 1\n add s, 1\nfi s == 1\n";
    assert_eq!(run(text, &[("a", 1), ("s", 0)]), Ok(1));
    assert!(run(text, &[("a", 1), ("s", 1)]).is_err());
    assert!(run(text, &[("a", 0), ("s", 1)]).is_err());
    let (forward, backward) = round_trip(text, &["a", "s"]);
    assert_eq!(forward, backward);
    assert!(forward < 81);
}

#[test]
fn compound_conditions_decide_like_their_formula() {
    let text = ".inout a, b, s\nif a < 0 and not (b == 1 or b == 2) or a == 3\n add s, 1\nelse\n sub s, 1\n\
                fi a < 0 and not (b == 1 or b == 2) or a == 3\n";
    for a in -4..=4 {
        for b in -4..=4 {
            let wanted = if a < 0 && !(b == 1 || b == 2) || a == 3 { 1 } else { -1 };
            assert_eq!(run(text, &[("a", a), ("b", b)]), Ok(wanted), "{a} {b}");
        }
    }
    assert_eq!(round_trip(text, &["a", "b", "s"]), (729, 729));
}

#[test]
fn if_with_simple_and_compound_conditions_is_reversible() {
    let conditions = ["a < b", "(a < b and a < b)"];
    for entry in conditions {
        for exit in conditions {
            for otherwise in ["", "else\n sub s, 1\n"] {
                let text = format!(".inout a, b, s\nif {entry}\n add s, 1\n{otherwise}fi {exit}\n");
                assert_eq!(round_trip(&text, &["a", "b", "s"]), (729, 729), "{text}");
            }
        }
    }
}

#[test]
fn loops_with_simple_and_compound_conditions_are_reversible() {
    for entry in ["s == a", "(s == a and s == a)"] {
        for exit in ["s == b", "(s == b or s == b)"] {
            for body in [" add s, 1\n", " add s, 1\nloop\n neg a\n neg a\n", "loop\n add s, 1\n"] {
                let first = if body.starts_with("loop") { 0 } else { 1 };
                // The loop terminates because it counts towards the bound.
                let text = format!(".inout a, b, s\nif a < b\nfrom {entry}\n{body}until {exit}\nfi a < b\n");
                for (a, b) in [(-3, 4), (0, 1), (2, 2)] {
                    let wanted = if a + first <= b && a < b { b } else { a };
                    assert_eq!(run(&text, &[("a", a), ("b", b), ("s", a)]), Ok(wanted), "{text}");
                }
                let (forward, backward) = round_trip(&text, &["a", "b", "s"]);
                assert!(forward > 0 && forward == backward, "{forward} {backward}\n{text}");
            }
        }
    }
}

#[test]
fn a_wrong_loop_entry_traps() {
    let text = ".inout a, s\nfrom s == 0 or s == 9\n add s, 1\nuntil s == 4 or s == 5\n";
    assert_eq!(run(text, &[("s", 0)]), Ok(4));
    assert!(run(text, &[("s", 1)]).is_err());
}

#[test]
fn for_visits_its_values_in_both_directions() {
    let up = ".inout a, b, s\nfor i in a..b\n add.mul s, i, i\n neg s\nrof\n";
    let down = ".inout a, b, s\nfor i in a..b reversed\n add.mul s, i, i\n neg s\nrof\n";
    for (a, b) in [(0i64, 4i64), (-2, 3), (3, 3), (4, 1)] {
        let fold = |values: Vec<i64>| values.into_iter().fold(0, |s, i| -(s + i * i));
        assert_eq!(run(up, &[("a", a), ("b", b)]), Ok(fold((a..b).collect())));
        assert_eq!(run(down, &[("a", a), ("b", b)]), Ok(fold((a..b).rev().collect())));
    }
    assert_eq!(round_trip(up, &["a", "b", "s"]), (729, 729));
    assert_eq!(round_trip(down, &["a", "b", "s"]), (729, 729));
}

#[test]
fn bounds_may_be_cells_plus_constants() {
    let pairs = ".inout n, s\nfor i in 0..n\n for j in i+1..n+1\n  add.mul s, i, j\n rof\nrof\n";
    let down =
        ".inout n, s\nfor i in 0..n reversed\n for j in i+1..1+n reversed\n  add.mul s, i, j\n rof\nrof\n";
    round_trip(pairs, &["n"]);
    for n in 0..5_i64 {
        let expected: i64 = (0..n).flat_map(|i| (i + 1..=n).map(move |j| i * j)).sum();
        for text in [pairs, down] {
            assert_eq!(run(text, &[("n", n)]).ok(), Some(expected), "n = {n}");
        }
    }
}

#[test]
fn for_takes_two_steps_per_iteration() {
    let steps = |n: i64| {
        let module = module(".inout n, s\nfor i in 0..n\n add s, i\nrof\n");
        let mut machine = Machine::new(&module, &[("n", n)]);
        machine.walk(false).expect("it runs");
        machine.steps
    };
    // An iteration has three steps: a taken `br` together with its `from`, the body, and the update of the
    // counter.
    assert_eq!(steps(11) - steps(10), 3);
}

#[test]
fn for_with_a_step_must_hit_its_end() {
    let text = ".inout a, b, s\nfor i in a..b step 2\n add s, 1\nrof\n";
    assert_eq!(run(text, &[("a", 0), ("b", 4)]), Ok(2));
    assert!(run(text, &[("a", 0), ("b", 3)]).is_err());
    round_trip(text, &["a", "b", "s"]);
}

#[test]
fn compute_and_local_leave_their_variables_vacant() {
    let text = ".inout a, b, s\ncompute\n local t = mul(a, b)\n if t < 0\n neg t\n fi a < 0 and b > 0 or a > 0 and b < 0\n\
                apply\n add s, t\nuncompute\n";
    assert_eq!(run(text, &[("a", -3), ("b", 4)]), Ok(12));
    assert_eq!(round_trip(text, &["a", "b", "s"]), (729, 729));
}
