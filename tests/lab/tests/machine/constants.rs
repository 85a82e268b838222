//! Constant expressions: the assembler computes the same value as the machine does for this expression over cells, in
//! each word and number system. If the machine traps, the assembler refuses the text.

use std::fmt::Write as _;

use reviver_isa::instruction::Class;
use reviver_lab::campaign::programs;
use reviver_lab::engine::ALL;
use reviver_lab::rng::Rng;
use reviver_lab::run::{End, trace};
use reviver_lab::subject::Subject;

/// Functions of integers, as operators or names; `u-` is the unary minus. [`REALS`] has the functions of reals.
const INTS: [&str; 22] = [
    "+", "-", "*", "/", "%", "<<", ">>", "&", "^", "|", "max", "min", "mod", "floordiv", "pow", "shr", "lt",
    "geu", "eq", "~", "u-", "abs",
];
const REALS: [&str; 16] = [
    "+", "-", "*", "/", "max", "min", "hypot", "atan2", "sin", "exp", "sqrt", "log", "u-", "relu", "square",
    "inv",
];

/// Random expression in two forms: `folded` has literals, which the assembler folds; `run` has cells with these
/// values.
struct Made {
    folded: String,
    run: String,
}

struct Maker<'r> {
    rng: &'r mut Rng,
    bits: u32,
    /// Factors of real literals, small enough that the number system can represent all results.
    scales: &'static [&'static str],
    /// Text of the declarations of the cells in `run`.
    cells: String,
    count: usize,
}

impl Maker<'_> {
    fn made(&mut self, class: Class, depth: u32) -> Made {
        if depth == 0 || self.rng.chance(15) {
            return self.leaf(class);
        }
        match (class, self.rng.below(12)) {
            (Class::Int, 0) => {
                let a = self.made(Class::Real, depth - 1);
                applied("toint", &[a])
            }
            (Class::Real, 0) => {
                let a = self.made(Class::Int, depth - 1);
                applied("toreal", &[a])
            }
            (Class::Real, 1) => {
                let (a, b) = (self.made(Class::Real, depth - 1), self.made(Class::Int, depth - 1));
                applied("powi", &[a, b])
            }
            (class, _) => {
                let name = match class {
                    Class::Int => *self.rng.pick(&INTS),
                    Class::Real => *self.rng.pick(&REALS),
                };
                let a = self.made(class, depth - 1);
                let one = ["~", "u-", "abs", "sin", "exp", "sqrt", "log", "relu", "square", "inv"];
                if one.contains(&name) {
                    return applied(name, &[a]);
                }
                let b = self.made(class, depth - 1);
                applied(name, &[a, b])
            }
        }
    }

    fn leaf(&mut self, class: Class) -> Made {
        let text = match class {
            Class::Int => self.integer(),
            Class::Real => {
                let digits = self.rng.within(0..=99_999);
                let scale = *self.rng.pick(self.scales);
                format!("{}.{:03}{scale}", digits / 1000, digits % 1000)
            }
        };
        let name = format!("c{}", self.count);
        self.count += 1;
        let class = if class == Class::Int { "int" } else { "real" };
        let _ = writeln!(self.cells, ".var {name}: {class} = {text}");
        Made { folded: text, run: name }
    }

    /// Returns a small integer, or one at the limits of the word, in decimal or hexadecimal.
    fn integer(&mut self) -> String {
        let (ones, half) = (u64::MAX >> (64 - self.bits), 1u64 << (self.bits - 1));
        match self.rng.below(6) {
            0 => format!("{ones:#x}"),
            1 => format!("{half:#x}"),
            2 => format!("{}", half - 1),
            3 => format!("{:#b}", self.rng.bits() & ones),
            _ => self.rng.within(0..=20).to_string(),
        }
    }
}

fn applied(name: &str, sources: &[Made]) -> Made {
    let text = |of: fn(&Made) -> &str| match (name, sources) {
        ("u-", [a]) => format!("(-({}))", of(a)),
        ("~", [a]) => format!("(~{})", of(a)),
        (name, [a, b]) if !name.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            format!("({} {name} {})", of(a), of(b))
        }
        (name, sources) => format!("{name}({})", sources.iter().map(of).collect::<Vec<_>>().join(", ")),
    };
    Made { folded: text(|made| &made.folded), run: text(|made| &made.run) }
}

/// Runs a text, and returns the bits of its result. Returns `None` if it traps.
fn result(engine: usize, text: &str) -> Result<Option<u64>, String> {
    let subject = Subject::on(ALL[engine], text)?;
    let machine = trace(&subject, false);
    let (global, _) = subject.program.global("result").expect("a result");
    let value = subject.program.value(machine.machine.state(), global, 0);
    let bits = match value {
        Some(reviver_vm::values::Value::Int(value)) => value as u64,
        Some(reviver_vm::values::Value::Real(bits)) => bits,
        None => 0,
    };
    Ok((machine.end == End::Bound).then_some(bits))
}

#[test]
fn constants_equal_those_computed_by_the_machine() {
    let (mut values, mut refusals) = (0, 0);
    let systems = ["f64", "f32", "fixed", "fixed 16", "fixed 56"];
    let kinds = [8, 16, 32, 64].into_iter().flat_map(|bits| systems.map(|system| (bits, system)));
    for (kind, (bits, system)) in kinds.enumerate() {
        for seed in 0..programs(60) {
            let mut rng = Rng::new(seed * 32 + kind as u64);
            let class = if rng.chance(50) { Class::Int } else { Class::Real };
            let scales: &[&str] = if system == "fixed 56" { &["", "e-3"] } else { &["", "e-3", "e3"] };
            let mut maker = Maker { rng: &mut rng, bits, scales, cells: String::new(), count: 0 };
            let Made { folded, run } = maker.made(class, 3);
            let cells = maker.cells;
            let class = if class == Class::Int { "int" } else { "real" };
            let head = format!(".word {bits}\n.real {system}\n.out result: {class}\n");
            let named = format!("{head}.const K = {folded}\nadd result, K\n");
            let run = format!("{head}{cells}add result, {run}\n");
            let engine = seed as usize % ALL.len();
            let ran = result(engine, &run).unwrap_or_else(|error| panic!("{run}\n{error}"));
            match (result(engine, &named), ran) {
                (Ok(folded), ran) if folded == ran && ran.is_some() => values += 1,
                (Err(error), None) if error.contains("E51") || error.contains("E52") => refusals += 1,
                // The assembler refuses a fixed-point result with more bits than a literal can have; the machine
                // computes it.
                (Err(error), Some(_)) if error.contains("more than 53 bits") => refusals += 1,
                (named_result, ran) => panic!(
                    "on {}: {ran:?} is computed, and the constant is {named_result:?}\n\n{named}\n{run}",
                    ALL[engine].name
                ),
            }
        }
    }
    assert!(values >= 200 && refusals >= 50, "{values} values, {refusals} refusals");
}
