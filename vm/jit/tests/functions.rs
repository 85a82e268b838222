//! Every function of reals gives the bits that its row of the instruction table defines: in native code, in the SSA
//! evaluator and in the interpreter, for random arguments of all sizes. `REVIVER_CAMPAIGN` sets the number of arguments
//! for each function: `REVIVER_CAMPAIGN=1000000 cargo test -p reviver-jit --release --test functions`.

use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::FilesInMemory;
use reviver_compile::evaluate::Evaluator;
use reviver_compile::tiered::TieredRuntime;
use reviver_isa::Function;
use reviver_isa::function::Signature;
use reviver_isa::module::RealSystem;
use reviver_isa::number::{Arithmetic, F32, F64, FixedPoint, Reals, Wide};
use reviver_jit::Jit;
use reviver_vm::{Machine, Program, Runner, Stop, Travel};

/// Number of arguments in one program.
const AT_ONCE: usize = 4096;

/// Deterministic pseudorandom number generator.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a real of any size; many are of moderate size.
    fn real<R: Reals<Bits = u64>>(&mut self, reals: R) -> R::Cell {
        loop {
            let bits = self.bits();
            let cell = match bits >> 62 {
                0 => Ok(reals.of_bits(self.bits() >> (64 - reals.width()))),
                1 => reals.literal((bits as f64 / 2_f64.powi(62) - 1.5) * 20.0),
                _ => {
                    let size = (self.bits() as f64 / 2_f64.powi(64) * 40.0 - 30.0).exp2();
                    reals.literal(if bits & 1 == 0 { size } else { -size })
                }
            };
            if let Ok(cell) = cell.and_then(|cell| reals.admit(cell)) {
                return cell;
            }
        }
    }
}

/// Returns arguments at which a function is defined, with the bits of its value. Returns `None` if there are none.
fn samples<R: Reals<Bits = u64>>(reals: R, function: Function, random: &mut Random) -> Option<Vec<[u64; 3]>> {
    let numbers = Arithmetic { words: Wide, reals };
    let mut samples = Vec::new();
    for _ in 0..40 * AT_ONCE {
        let (a, b) = (random.real(reals), random.real(reals));
        // The program adds the value to a cell that holds 0, so this sum is expected.
        let sum = function.real(&numbers, a, b).and_then(|f| reals.add(R::Cell::default(), f));
        if let Ok(value) = sum.and_then(|sum| reals.admit(sum)) {
            samples.push([a, b, value].map(|cell| reals.to_bits(cell)));
            if samples.len() == AT_ONCE {
                return Some(samples);
            }
        }
    }
    None
}

/// Assembles a program that applies a function to each of many arguments.
fn program(function: Function, system: RealSystem) -> Arc<Program> {
    let sources = ["", ", A[i]", ", A[i], B[i]"][function.arity()];
    let text = format!(
        ".real {}\n.in A[{AT_ONCE}]: real\n.in B[{AT_ONCE}]: real\n.out Y[{AT_ONCE}]: real\n\
         for i in 0..{AT_ONCE}\n add.{} Y[i]{sources}\nrof\n",
        match system {
            RealSystem::F64 => "f64".to_owned(),
            RealSystem::F32 => "f32".to_owned(),
            RealSystem::Fixed(bits) => format!("fixed {bits}"),
        },
        function.name()
    );
    let assembly = assemble("function.rasm", text.clone().into(), &FilesInMemory::new());
    let module = assembly.module.unwrap_or_else(|| panic!("{text}: {:?}", assembly.diagnostics));
    Arc::new(Program::new(module, 0).unwrap())
}

fn agree<R: Reals<Bits = u64>>(reals: R, function: Function, count: usize) {
    let program = program(function, reals.system());
    let runners: [(&str, Option<Arc<dyn Runner>>); 3] = [
        ("the interpreter", None),
        ("forms", Some(Arc::new(TieredRuntime::new(&program, Evaluator)))),
        ("native code", Some(Arc::new(TieredRuntime::new(&program, Jit::new().unwrap())))),
    ];
    let globals = program.flow().layout().globals.clone();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..count.div_ceil(AT_ONCE) {
        let Some(samples) = samples(reals, function, &mut random) else { return };
        for (name, runner) in &runners {
            let mut machine = Machine::at_begin(program.clone()).unwrap();
            if let Some(runner) = runner {
                machine.run_by(runner.clone());
            }
            let cell = |global: usize, n: usize| globals[global] as usize + n;
            for (n, [a, b, _]) in samples.iter().enumerate() {
                machine.state_mut().reals[cell(0, n)] = *a;
                machine.state_mut().reals[cell(1, n)] = *b;
            }
            assert_eq!(machine.run(Travel::Forward, u64::MAX >> 2), Ok(Stop::Bound));
            for (n, [a, b, value]) in samples.iter().enumerate() {
                let found = machine.state().reals[cell(2, n)];
                let cell = |bits| reals.text(reals.of_bits(bits));
                assert_eq!(found, *value, "{}({}, {}) by {name}", function.name(), cell(*a), cell(*b));
            }
        }
    }
}

#[test]
fn functions_have_the_same_bits_on_every_engine() {
    let count =
        std::env::var("REVIVER_CAMPAIGN").ok().and_then(|count| count.parse().ok()).unwrap_or(AT_ONCE);
    let of_reals = Function::ALL
        .iter()
        .copied()
        .filter(|function| function.signatures().any(|signature| signature == Signature::Real));
    for function in of_reals {
        agree(F64, function, count);
        agree(F32, function, count);
        agree(FixedPoint::new(43), function, count.min(AT_ONCE));
    }
}
