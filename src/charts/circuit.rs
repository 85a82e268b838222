//! Main as a circuit, or the reason why main has no circuit. Loops with known bounds are unrolled, and bits become
//! wires with gates. Any other instruction is a box with its text, over the wires that the instruction affects.
//! Nothing is executed.

use std::collections::{BTreeSet, HashSet};

use reviver_inspect::listing::spell;
use reviver_isa::function::Function;
use reviver_isa::instruction::{
    Argument, Base, Class, Index, Instruction, Link, Operand, Place, Range, Slice, Term,
};
use reviver_isa::module::{Module, Procedure, Shape};
use reviver_isa::structure::{Block, BlockKind, Counting, Side};
use reviver_isa::text::TextRenderer;
use reviver_isa::update::{OperandShape, Update};
use reviver_pictures::circuit::{Circuit, Gate};
use reviver_vm::explain::Valued;
use reviver_vm::values::Value;
use reviver_vm::{Program, State};

use super::wiring::{CellKey, CircuitBound, MOST_COLUMNS, MOST_WIRES, Wiring};

/// The reason why a program has no circuit, with its location.
#[derive(Debug)]
pub struct NoCircuit {
    pub at: u32,
    /// The text of the instruction or of its statement, as written.
    pub text: String,
    pub cause: String,
    pub cure: &'static str,
}

/// Reason why an instruction can't be drawn, and advice.
struct Refusal {
    cause: String,
    cure: &'static str,
}

const KNOWN: &str = "move the statement into a procedure, whose call is drawn as one box; a circuit can only draw a `for` with constant bounds, and an `if` on loop counters and constants";
const ARRAY: &str = "declare them as an array: only elements that main uses become wires";
const SMALLER: &str = "unroll less: reduce the bounds of loops with `--const`, or move statements into a procedure, whose call is one box";

/// Maximum number of iterations of all loops together. The limits on columns and wires don't limit the work, because an
/// iteration may draw nothing.
const MOST_ITERATIONS: u64 = 100_000;

/// Builds the circuit of main. `state` is the program's initial state.
///
/// # Errors
/// - An instruction branches on a value known only at run time.
/// - An instruction needs more columns or wires than a circuit can have.
/// - The program has more scalar inputs and results than a circuit can have wires.
pub fn circuit(program: &Program, state: State, file: &str) -> Result<Circuit, Box<NoCircuit>> {
    let module = program.module();
    let Some(main) = module.procedures.first() else { return Ok(Circuit::default()) };
    let wiring = Wiring::new(module, main);
    let mut drawing = Drawing { program, module, main, state, counters: Vec::new(), wiring, rounds: 0 };
    if drawing.wiring.add_interface().is_err() {
        let cause =
            format!("the program has more than {MOST_WIRES} scalar inputs and results, and each is a wire");
        return Err(drawing.refused(main.entry + 1, refusal(cause, ARRAY)));
    }
    drawing.part(main.entry + 1, main.exit)?;
    Ok(drawing.wiring.circuit(file))
}

/// Circuit under construction, with the loop counters that are visible at the current instruction.
struct Drawing<'p> {
    program: &'p Program,
    module: &'p Module,
    main: &'p Procedure,
    /// The program's initial state, in which the counters of the enclosing loops are set to the current iteration.
    state: State,
    counters: Vec<u32>,
    wiring: Wiring<'p>,
    rounds: u64,
}

/// A product of bits: the bitwise AND of cells and a constant.
struct Product {
    cells: Vec<CellKey>,
    /// The constant factor; -1 (all bits set) if there is none.
    constant: i64,
}

/// The symbol for an instruction.
enum Symbol {
    /// The instruction has no effect.
    Nothing,
    Gate(Gate),
    Box,
}

impl<'p> Drawing<'p> {
    /// Draws the instructions of a range.
    fn part(&mut self, from: u32, to: u32) -> Result<(), Box<NoCircuit>> {
        let mut at = from;
        while at < to {
            let next = match self.program.seam(at) {
                Some((block, seam)) => self.block(block, seam, at),
                None => self.instruction(at).map(|()| at + 1).map_err(|refusal| self.refused(at, refusal)),
            }?;
            at = next.max(at + 1);
        }
        Ok(())
    }

    fn refused(&self, at: u32, Refusal { cause, cure }: Refusal) -> Box<NoCircuit> {
        let renderer = self.renderer();
        let instruction = self.module.code.get(at as usize);
        // An instruction that is a part of a statement is rendered as the whole statement, and a branch is rendered
        // with its label.
        let expressed = instruction
            .and_then(|instruction| renderer.with_expressions(instruction))
            .filter(|_| self.program.seam(at).is_none());
        let text = expressed.unwrap_or_else(|| spell(self.program, at, false));
        Box::new(NoCircuit { at, text, cause, cure })
    }

    fn renderer(&self) -> TextRenderer<'p> {
        TextRenderer { module: self.module, procedure: self.main }
    }

    /// Draws the block to which the seam at instruction `at` belongs. A seam is the instructions of a word that
    /// delimits the block: `if`, `else` or `fi`. Returns the index of the next instruction to draw. That is the end of
    /// the block if the whole block was drawn, otherwise the end of the seam.
    fn block(&mut self, block: &'p Block, seam: usize, at: u32) -> Result<u32, Box<NoCircuit>> {
        let end = block.seams.get(seam).map_or(at, |seam| seam.end);
        match &block.kind {
            BlockKind::For(counting) => {
                self.unrolled(block, counting)?;
                Ok(block.end())
            }
            BlockKind::If { .. } => {
                self.branch(block)?;
                Ok(block.end())
            }
            BlockKind::Loop { .. } => Err(self.refused(
                at,
                refusal(
                    "the number of its iterations is known only in a run, and a circuit has no loops",
                    KNOWN,
                ),
            )),
            // The text of the instruction that uses the temporaries has their expressions.
            BlockKind::Temporaries => Ok(end),
            BlockKind::Local | BlockKind::Delocal | BlockKind::Assert { .. } => {
                let text = self.numbered(&self.renderer().words(block, seam));
                let mut wires = BTreeSet::new();
                let boxed = (at..end).try_for_each(|at| self.touched(at, &mut wires));
                boxed.and_then(|()| self.boxed(text, wires)).map_err(|refusal| self.refused(at, refusal))?;
                Ok(end)
            }
            BlockKind::Compute | BlockKind::Macro { .. } => Ok(end),
        }
    }

    fn unrolled(&mut self, block: &Block, counting: &Counting) -> Result<(), Box<NoCircuit>> {
        let at = block.start();
        let [Some(head), Some(tail)] = [block.seams.first(), block.seams.last()] else { return Ok(()) };
        let counter = Operand::Place(Place::scalar(Base::Frame(counting.counter)));
        let place = self.valued().cell(&counter).and_then(|(_, cell)| usize::try_from(cell).ok());
        let (Some(from), Some(to), Some(place)) =
            (self.known(&counting.from), self.known(&counting.to), place)
        else {
            return Err(self.refused(at, refusal("its bounds are known only in a run", KNOWN)));
        };
        let step = i128::from(counting.step.max(1));
        let count = ((i128::from(to) - i128::from(from)).max(0) + step - 1) / step;
        self.counters.push(counting.counter);
        for n in 0..count {
            self.rounds += 1;
            if self.rounds > MOST_ITERATIONS {
                return Err(self.refused(
                    at,
                    refusal(format!("with this loop, the loops together have more than {MOST_ITERATIONS} iterations, too many for a picture"), SMALLER),
                ));
            }
            let number = if counting.reversed { count - 1 - n } else { n };
            let value = i64::try_from(i128::from(from) + number * step).unwrap_or(i64::MAX);
            self.state.ints.get_mut(place).into_iter().for_each(|cell| *cell = value);
            self.part(head.end, tail.start)?;
        }
        self.state.ints.get_mut(place).into_iter().for_each(|cell| *cell = 0);
        self.counters.pop();
        Ok(())
    }

    /// Draws the body of an `if` that the condition selects. The condition must be known without a run.
    fn branch(&mut self, block: &Block) -> Result<(), Box<NoCircuit>> {
        let holds = block.guard(Side::Entry).and_then(|(predicate, _)| {
            let compared = |function: Function, a: &Operand, b: &Operand| {
                Some(function.order()?.holds(self.known(a)?, self.known(b)?))
            };
            predicate.values(compared).last().copied().flatten()
        });
        let Some(holds) = holds else {
            return Err(self.refused(
                block.start(),
                refusal("its condition depends on a cell, and a circuit has no branches", KNOWN),
            ));
        };
        match (&block.seams[..], holds) {
            ([first, second, ..], true) => self.part(first.end, second.start),
            ([_, second, third, ..], false) => self.part(second.end, third.start),
            _ => Ok(()),
        }
    }

    fn instruction(&mut self, at: u32) -> Result<(), Refusal> {
        let Some(instruction) = self.module.code.get(at as usize) else { return Ok(()) };
        match instruction.update.shape() {
            OperandShape::Branch => {
                return Err(refusal("it branches, and a circuit has no branches", KNOWN));
            }
            OperandShape::Tasks | OperandShape::Boundary => return Ok(()),
            _ => {}
        }
        match self.drawn(instruction)? {
            Symbol::Nothing => Ok(()),
            Symbol::Gate(gate) => self.wiring.add(gate).map_err(too_large),
            Symbol::Box => {
                let text = self.text(instruction);
                let mut wires = BTreeSet::new();
                self.touched(at, &mut wires)?;
                self.boxed(text, wires)
            }
        }
    }

    fn drawn(&mut self, instruction: &Instruction) -> Result<Symbol, Refusal> {
        match (instruction.update, &instruction.operands[..]) {
            (Update::Xor, [target, sources @ ..]) => match self.product(instruction.function, sources) {
                Some(product) => self.flip(target, product),
                None => Ok(Symbol::Box),
            },
            (Update::Not, [target]) => {
                let Some(target) = self.bit(target) else { return Ok(Symbol::Box) };
                Ok(Symbol::Gate(Gate::Flip { controls: Vec::new(), target: self.wire(target)? }))
            }
            (Update::Swap, [first, second]) => {
                let (Some(first), Some(second)) = (self.bit(first), self.bit(second)) else {
                    return Ok(Symbol::Box);
                };
                Ok(Symbol::Gate(Gate::Exchange { first: self.wire(first)?, second: self.wire(second)? }))
            }
            _ => Ok(Symbol::Box),
        }
    }

    /// Adds a box for an instruction: over the wires that the instruction affects, or over all wires if the
    /// instruction affects none (for example, a mode switch).
    fn boxed(&mut self, text: String, wires: BTreeSet<usize>) -> Result<(), Refusal> {
        let wires = if wires.is_empty() { (0..self.wiring.wires()).collect() } else { wires };
        self.wiring.add(Gate::Box { text, wires: wires.into_iter().collect() }).map_err(too_large)
    }

    fn wire(&mut self, cell: CellKey) -> Result<usize, Refusal> {
        self.wiring.wire(cell).map_err(too_large)
    }

    /// Returns the integer cell that an operand names, if the index consists of constants and loop counters.
    fn bit(&self, operand: &Operand) -> Option<CellKey> {
        let Operand::Place(place) = operand else { return None };
        let (class, shape) = self.wiring.declared(place.base)?;
        (class == Class::Int && shape != Shape::Stack && !self.is_counter(place.base)).then_some(())?;
        Some((place.base, self.number(place, shape)?))
    }

    /// Returns the value of a function as a product of bits, if the sources are constants, loop counters, cells, or
    /// products of these.
    fn product(&self, function: Function, sources: &[Operand]) -> Option<Product> {
        if !matches!(function, Function::Copy | Function::And) {
            return None;
        }
        let mut product = Product { cells: Vec::new(), constant: -1 };
        for source in sources {
            let factor = match (self.known(source), self.renderer().temporary(source)) {
                (Some(constant), _) => Product { cells: Vec::new(), constant },
                (None, Some(temporary)) => self.product(temporary.function, &temporary.sources)?,
                (None, None) => Product { cells: vec![self.bit(source)?], constant: -1 },
            };
            product.constant &= factor.constant;
            for cell in factor.cells {
                if !product.cells.contains(&cell) {
                    product.cells.push(cell);
                }
            }
        }
        Some(product)
    }

    /// Returns the symbol for `xor` of a target with a product. If the constant factor is 0, there is no symbol. If the
    /// constant factor is neither 1 nor absent, the product isn't a single bit, and the symbol is a box.
    fn flip(&mut self, target: &Operand, product: Product) -> Result<Symbol, Refusal> {
        let Some(target) = self.bit(target).filter(|target| !product.cells.contains(target)) else {
            return Ok(Symbol::Box);
        };
        match product.constant {
            0 => return Ok(Symbol::Nothing),
            1 => {}
            -1 if !product.cells.is_empty() => {}
            _ => return Ok(Symbol::Box),
        }
        let controls = product.cells.into_iter().map(|cell| self.wire(cell)).collect::<Result<_, _>>()?;
        Ok(Symbol::Gate(Gate::Flip { controls, target: self.wire(target)? }))
    }

    fn is_counter(&self, base: Base) -> bool {
        matches!(base, Base::Frame(variable) if self.counters.contains(&variable))
    }

    /// Returns the value of an operand that depends only on constants and loop counters.
    fn known(&self, operand: &Operand) -> Option<i64> {
        let valued = self.valued();
        let is_known = |part: &Operand| match part {
            Operand::Int(_) | Operand::Real(_) => true,
            Operand::Mode => false,
            Operand::Place(place) => place.index.is_none() && self.is_counter(place.base),
        };
        match valued.value(operand).filter(|_| valued.parts(operand).iter().all(is_known))? {
            Value::Int(value) => Some(value),
            Value::Real(_) => None,
        }
    }

    fn valued(&self) -> Valued<'_> {
        Valued { program: self.program, state: &self.state, at: self.main.entry }
    }

    fn known_term(&self, term: &Term) -> Option<i64> {
        let cell = term.cell.map_or(Some(0), |cell| self.known(&Operand::Place(Place::scalar(cell))));
        cell?.checked_add(term.offset)
    }

    /// Returns the row-major index of a cell in its declaration, if the index is known without a run.
    fn number(&self, place: &Place, shape: Shape) -> Option<u64> {
        let terms: Vec<u64> = place
            .index
            .iter()
            .flat_map(|index| index.terms())
            .map(|term| self.known_term(term).and_then(|n| u64::try_from(n).ok()))
            .collect::<Option<_>>()?;
        let number = match (shape, &terms[..]) {
            (Shape::Matrix(_, columns), [row, column]) => {
                let is_inside = *column < u64::from(columns);
                is_inside.then(|| row.checked_mul(u64::from(columns))?.checked_add(*column))?
            }
            (_, [n]) => Some(*n),
            (_, []) => Some(0),
            _ => None,
        };
        number.filter(|n| shape == Shape::Stack || *n < shape.cells())
    }

    /// Collects the wires that an instruction affects.
    fn touched(&mut self, at: u32, wires: &mut BTreeSet<usize>) -> Result<(), Refusal> {
        let Some(instruction) = self.module.code.get(at as usize) else { return Ok(()) };
        for operand in &instruction.operands {
            self.touched_by(operand, wires)?;
        }
        let Link::Calls(calls) = &instruction.link else { return Ok(()) };
        for call in calls.iter() {
            for argument in &call.arguments {
                match argument {
                    Argument::Scalar(operand) => self.touched_by(operand, wires)?,
                    Argument::Slice(slice) => self.touched_slice(slice, wires)?,
                }
            }
            for global in globals_of(self.module, call.procedure) {
                self.touched_cells(Base::Global(global), None, wires)?;
            }
        }
        Ok(())
    }

    /// Collects the wires of an operand: the wires of its cells, and the wires of the cells in its index.
    fn touched_by(&mut self, operand: &Operand, wires: &mut BTreeSet<usize>) -> Result<(), Refusal> {
        for part in self.valued().parts(operand) {
            let Operand::Place(place) = &part else { continue };
            if self.is_counter(place.base) {
                continue;
            }
            let Some((_, shape)) = self.wiring.declared(place.base) else { continue };
            let number = self.number(place, shape);
            self.touched_cells(place.base, number.map(|n| vec![n]), wires)?;
            for term in place.index.iter().flat_map(|index| index.terms()) {
                self.touched_term(term, wires)?;
            }
        }
        Ok(())
    }

    fn touched_term(&mut self, term: &Term, wires: &mut BTreeSet<usize>) -> Result<(), Refusal> {
        term.cell.map_or(Ok(()), |cell| self.touched_by(&Operand::Place(Place::scalar(cell)), wires))
    }

    fn touched_slice(&mut self, slice: &Slice, wires: &mut BTreeSet<usize>) -> Result<(), Refusal> {
        let Some((_, shape)) = self.wiring.declared(slice.base) else { return Ok(()) };
        let (numbers, terms) = match (slice.range, shape) {
            (Range::Whole, _) => (None, Vec::new()),
            (Range::Span { from, to, step }, _) => {
                let span = (self.known_term(&from), self.known_term(&to));
                let numbers = match span {
                    (Some(from), Some(to)) => {
                        let inside = from.max(0)..to.min(i64::try_from(shape.cells()).unwrap_or(i64::MAX));
                        let step = usize::try_from(step).unwrap_or(1).max(1);
                        Some(inside.step_by(step).take(MOST_WIRES + 1).map(i64::unsigned_abs).collect())
                    }
                    _ => None,
                };
                (numbers, vec![from, to])
            }
            (Range::Row(term), Shape::Matrix(_, columns)) => {
                let columns = u64::from(columns);
                let row = self.known_term(&term).and_then(|row| u64::try_from(row).ok());
                let cells = |row: u64| {
                    (0..columns).take(MOST_WIRES + 1).map(|n| row.saturating_mul(columns) + n).collect()
                };
                (row.map(cells), vec![term])
            }
            (Range::Column(term), Shape::Matrix(rows, columns)) => {
                let (rows, columns) = (u64::from(rows), u64::from(columns));
                let column = self.known_term(&term).and_then(|column| u64::try_from(column).ok());
                let cells =
                    |column: u64| (0..rows).take(MOST_WIRES + 1).map(|n| n * columns + column).collect();
                (column.map(cells), vec![term])
            }
            (Range::Row(term) | Range::Column(term), _) => (None, vec![term]),
        };
        self.touched_cells(slice.base, numbers, wires)?;
        terms.iter().try_for_each(|term| self.touched_term(term, wires))
    }

    /// Collects the wires of a declaration. `numbers` has the row-major indices of the cells; `None` means all cells. A
    /// stack is one wire.
    fn touched_cells(
        &mut self,
        base: Base,
        numbers: Option<Vec<u64>>,
        wires: &mut BTreeSet<usize>,
    ) -> Result<(), Refusal> {
        let Some((_, shape)) = self.wiring.declared(base) else { return Ok(()) };
        let numbers = match (shape, numbers) {
            (Shape::Stack, _) => vec![0],
            (_, Some(numbers)) => numbers,
            (shape, None) => (0..shape.cells()).take(MOST_WIRES + 1).collect(),
        };
        for n in numbers {
            wires.insert(self.wire((base, n))?);
        }
        Ok(())
    }

    /// Renders an instruction as written, with the values of loop counters instead of their names.
    fn text(&self, instruction: &Instruction) -> String {
        let mut instruction = instruction.clone();
        for operand in &mut instruction.operands {
            self.number_in(operand);
        }
        let renderer = self.renderer();
        let text = renderer.with_expressions(&instruction);
        self.numbered(
            &text.unwrap_or_else(|| renderer.instruction(&instruction, |other| format!("#{other}"))),
        )
    }

    fn number_in(&self, operand: &mut Operand) {
        let Operand::Place(Place { index: Some(index), .. }) = operand else { return };
        let known = |term: &Term| match self.known_term(term) {
            Some(offset) => Term { cell: None, offset },
            None => *term,
        };
        **index = match &**index {
            Index::One(term) => Index::One(known(term)),
            Index::Two(row, column) => Index::Two(known(row), known(column)),
        };
    }

    /// Replaces the names of counters in a text by their values.
    fn numbered(&self, text: &str) -> String {
        let renderer = self.renderer();
        let counter = |word: &str| {
            // If several counters have the same name, the innermost one is visible.
            let base = self.counters.iter().rev().map(|counter| Base::Frame(*counter));
            let found = base.into_iter().find(|base| renderer.name(*base) == word)?;
            self.known(&Operand::Place(Place::scalar(found)))
        };
        let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let mut numbered = String::new();
        for part in text.split_inclusive(|c| !is_of_word(c)) {
            let (word, sign) = match part.strip_suffix(|c| !is_of_word(c)) {
                Some(word) => (word, part.get(word.len()..).unwrap_or_default()),
                None => (part, ""),
            };
            numbered += &counter(word).map_or_else(|| word.to_owned(), |value| value.to_string());
            numbered += sign;
        }
        numbered
    }
}

fn refusal(cause: impl Into<String>, cure: &'static str) -> Refusal {
    Refusal { cause: cause.into(), cure }
}

fn too_large(bound: CircuitBound) -> Refusal {
    let cause = match bound {
        CircuitBound::Columns => {
            format!("together with this statement, the circuit has more than {MOST_COLUMNS} columns")
        }
        CircuitBound::Wires => {
            format!("together with this statement, the circuit has more than {MOST_WIRES} wires")
        }
    };
    refusal(cause, SMALLER)
}

/// Returns the globals that a procedure uses, itself or through its callees.
fn globals_of(module: &Module, procedure: u32) -> BTreeSet<u32> {
    let (mut found, mut seen, mut open) = (BTreeSet::new(), HashSet::new(), vec![procedure]);
    while let Some(number) = open.pop() {
        let Some(procedure) = module.procedures.get(number as usize).filter(|_| seen.insert(number)) else {
            continue;
        };
        let code = module.code.get(procedure.entry as usize..procedure.exit as usize).unwrap_or_default();
        for instruction in code {
            instruction.visit_bases(|base| {
                if let Base::Global(global) = base {
                    found.insert(global);
                }
            });
            if let Link::Calls(calls) = &instruction.link {
                open.extend(calls.iter().map(|call| call.procedure));
            }
        }
    }
    found
}
