//! A straight line of gates as a circuit, or why a program is none. Runs nothing.

use reviver_debugger::listing::spell;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Base, Class, Instruction, Operand, Place};
use reviver_isa::module::{Global, Module, Procedure, Role, Shape, Values};
use reviver_isa::text::Speller;
use reviver_isa::update::Update;
use reviver_pictures::circuit::{Circuit, Gate, Wire};
use reviver_pictures::document::Words;
use reviver_vm::Program;
use reviver_vm::values::element_name;

/// Why a program is no circuit: where, and what stands there.
#[derive(Debug)]
pub struct NoCircuit {
    pub at: u32,
    /// The instruction, or the statement that became it, as it was written.
    pub text: String,
    pub cause: &'static str,
    pub cure: &'static str,
}

/// What is wrong with an instruction, and what to do.
type GateRefusal = (&'static str, &'static str);

const GATES: &str = "gates are `xor y, 1`, `xor y, a`, `xor y, a & b`, `not y` and `swap x, y`";
const FLAT: &str = "a circuit is a straight line: write the rounds out, or let a macro do it";

/// Wires, in the order in which they are first met.
#[derive(Default)]
struct Wiring {
    /// The declaration and the number of the cell in it.
    wires: Vec<(Base, u64)>,
    gates: Vec<Gate>,
}

/// The circuit of main.
///
/// # Errors
/// The first instruction that is no gate.
pub fn circuit(program: &Program, file: &str) -> Result<Circuit, Box<NoCircuit>> {
    let module = program.module();
    let Some(main) = module.procedures.first() else { return Ok(Circuit::default()) };
    let mut wiring = Wiring::default();
    let globals = (0..).zip(&module.globals).filter(|(_, global)| is_wire(global));
    globals.for_each(|(n, _)| wiring.wires.push((Base::Global(n), 0)));
    for at in main.entry + 1..main.exit {
        let Some(instruction) = module.code.get(at as usize) else { break };
        wiring.add(module, main, instruction).map_err(|(cause, cure)| {
            let speller = Speller { module, procedure: main };
            // A part of a statement is told as the statement, and a branch with its label.
            let expressed = speller.with_expressions(instruction).filter(|_| program.seam(at).is_none());
            let text = expressed.unwrap_or_else(|| spell(program, at, false));
            Box::new(NoCircuit { at, text, cause, cure })
        })?;
    }
    Ok(wiring.circuit(module, main, file))
}

/// Scalars that are given or result have their wires whatever happens to them.
fn is_wire(global: &Global) -> bool {
    global.class == Class::Int && global.shape == Shape::Scalar && global.role != Role::Private
}

impl Wiring {
    fn add(
        &mut self,
        module: &Module,
        main: &Procedure,
        instruction: &Instruction,
    ) -> Result<(), GateRefusal> {
        let gate = match (instruction.update, &instruction.operands[..]) {
            (Update::Xor, [target, sources @ ..]) => {
                let target = self.wire(module, main, target)?;
                Gate::Flip { controls: self.controls(module, main, instruction.function, sources)?, target }
            }
            (Update::Not, [target]) => {
                Gate::Flip { controls: Vec::new(), target: self.wire(module, main, target)? }
            }
            (Update::Swap, [first, second]) => {
                let (first, second) = (self.wire(module, main, first)?, self.wire(module, main, second)?);
                Gate::Exchange { first, second }
            }
            (Update::Br | Update::From, _) => {
                return Err(("it branches, and a circuit has no branches", FLAT));
            }
            (Update::Call | Update::Uncall, _) => {
                return Err((
                    "it calls a procedure, and a circuit shows gates",
                    "make a macro of the procedure",
                ));
            }
            _ => return Err(("it is no gate on bits", GATES)),
        };
        self.gates.push(gate);
        Ok(())
    }

    /// The wires that a gate looks at: those of a product of bits.
    fn controls(
        &mut self,
        module: &Module,
        main: &Procedure,
        function: Function,
        sources: &[Operand],
    ) -> Result<Vec<usize>, GateRefusal> {
        if !matches!(function, Function::Copy | Function::And) {
            return Err(("it flips by another function than `&`", GATES));
        }
        let mut controls = Vec::new();
        for source in sources {
            match source {
                Operand::Int(1) => {}
                Operand::Int(_) => return Err(("a constant that isn't 1 is no bit that flips", GATES)),
                source => controls.push(self.wire(module, main, source)?),
            }
        }
        controls.dedup();
        Ok(controls)
    }

    fn wire(&mut self, module: &Module, main: &Procedure, operand: &Operand) -> Result<usize, GateRefusal> {
        let Operand::Place(place) = operand else {
            return Err(("it takes something that is no cell", GATES));
        };
        let (class, shape) =
            declared(module, main, place.base).ok_or(("it takes a cell of nobody", GATES))?;
        if class == Class::Real {
            return Err(("a real is no bit", GATES));
        }
        let cell = (place.base, number(place, shape).ok_or(("its index is computed in the run", FLAT))?);
        let known = self.wires.iter().position(|wire| *wire == cell);
        Ok(known.unwrap_or_else(|| {
            self.wires.push(cell);
            self.wires.len() - 1
        }))
    }

    fn circuit(self, module: &Module, main: &Procedure, file: &str) -> Circuit {
        let wires: Vec<Wire> = self.wires.iter().map(|(base, n)| wire(module, main, *base, *n)).collect();
        let title = format!("{file} as a circuit");
        let names = |wire: &usize| {
            let (base, n) = self.wires.get(*wire).copied().unwrap_or((Base::Global(0), 0));
            name(module, main, base, n)
        };
        let told: Vec<String> = self.gates.iter().map(|gate| in_words(gate, &names)).collect();
        let description = format!("{} wires, {} gates: {}.", wires.len(), self.gates.len(), told.join("; "));
        Circuit { words: Words { title, description }, wires, gates: self.gates }
    }
}

fn in_words(gate: &Gate, name: &impl Fn(&usize) -> String) -> String {
    match gate {
        Gate::Flip { controls, target } if controls.is_empty() => format!("{} flips", name(target)),
        Gate::Flip { controls, target } => {
            let controls: Vec<String> = controls.iter().map(name).collect();
            format!("{} flips where {} is 1", name(target), controls.join(" and "))
        }
        Gate::Exchange { first, second } => format!("{} and {} change places", name(first), name(second)),
    }
}

fn declared(module: &Module, main: &Procedure, base: Base) -> Option<(Class, Shape)> {
    match base {
        Base::Global(n) => module.globals.get(n as usize).map(|global| (global.class, global.shape)),
        Base::Frame(n) => main.frame.get(n as usize).map(|variable| (variable.class, variable.shape)),
        Base::Parameter(_) => None,
    }
}

/// The number of a cell in its declaration, if it is known without a run.
fn number(place: &Place, shape: Shape) -> Option<u64> {
    let terms: Vec<u64> = place
        .index
        .iter()
        .flat_map(|index| index.terms())
        .map(|term| u64::try_from(term.offset).ok().filter(|_| term.cell.is_none()))
        .collect::<Option<_>>()?;
    match (shape, &terms[..]) {
        (Shape::Matrix(_, columns), [row, column]) => Some(row * u64::from(columns) + column),
        (_, [n]) => Some(*n),
        (_, []) => Some(0),
        _ => None,
    }
}

fn name(module: &Module, main: &Procedure, base: Base, n: u64) -> String {
    let shape = declared(module, main, base).map_or(Shape::Scalar, |(_, shape)| shape);
    element_name(Speller { module, procedure: main }.name(base), shape, usize::try_from(n).unwrap_or(0))
}

/// A wire with its name where it is given or results, and its number where that is known.
fn wire(module: &Module, main: &Procedure, base: Base, n: u64) -> Wire {
    let name = name(module, main, base, n);
    let global = match base {
        Base::Global(global) => module.globals.get(global as usize),
        _ => None,
    };
    let role = global.map_or(Role::Private, |global| global.role);
    let initial = match global.map(|global| &global.initial) {
        Some(Values::Ints(ints)) => usize::try_from(n).ok().and_then(|n| ints.get(n)).copied().unwrap_or(0),
        _ => 0,
    };
    let known = format!("{name} = {initial}");
    let start = if role.is_given() { name.clone() } else { known.clone() };
    let end = if role.is_result() { name } else { known };
    Wire { start, end }
}
